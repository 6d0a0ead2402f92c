"""Notes as a person's editor sees them: lines of text, with no help from the code under test.

Every fact that a run writes carries a token of its own, so that a fact can be looked for by its bytes.
"""

from __future__ import annotations

import re

TOKEN = re.compile(rb"fact[0-9]{5}z")
HEADINGS = ("Context", "Details", "Evidence")
HALF_WRITTEN = b"x-draft: ["
"""Below the first line of a note that somebody leaves unreadable for a while."""


def token(number: int) -> str:
    """The token of the fact with this number: a word that survives as a tag, a list item or prose."""
    return f"fact{number:05d}z"


def tokens(data: bytes | None) -> set[str]:
    """The tokens in some bytes."""
    return {found.decode() for found in TOKEN.findall(data or b"")}


def is_half_written(line: bytes) -> bool:
    """Whether this is such a line, and nobody has mended it."""
    return line.startswith(HALF_WRITTEN) and b"]" not in line


def note(title: str, body: str, **fields: str) -> str:
    """A note as a person writes it by hand."""
    lines = "".join(f"{key}: {value}\n" for key, value in fields.items())
    return f"---\ntitle: {title}\n{lines}---\n{body}\n"


def split(text: str) -> tuple[list[str], list[str]]:
    """The lines of frontmatter (fences left out) and of the body; no frontmatter where the fence is not closed."""
    lines = text.split("\n")
    if lines[0].rstrip("\r").lstrip("\ufeff") != "---":
        return [], lines
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip("\r") == "---":
            return lines[1:number], lines[number + 1 :]
    return [], lines


def joined(front: list[str], body: list[str]) -> str:
    return "\n".join(["---", *front, "---", *body])


def block(front: list[str], key: str) -> tuple[int, int]:
    """Where the lines of a top-level key begin and end; the end twice where there is none."""
    for start, line in enumerate(front):
        if line.startswith(f"{key}:"):
            stop = start + 1
            while stop < len(front) and front[stop].startswith((" ", "- ", "\t")):
                stop += 1
            return start, stop
    return len(front), len(front)


def with_field(text: str, key: str, value: str | None) -> str:
    """The text with one key set to what stands after the colon, or without it."""
    front, body = split(text)
    start, stop = block(front, key)
    front[start:stop] = [] if value is None else [f"{key}: {value}"]
    return joined(front, body)


def items(text: str, key: str) -> list[str]:
    """The plain items of a list in the frontmatter, in flow or block style."""
    front, _ = split(text)
    start, stop = block(front, key)
    inside = " ".join(line.strip().removeprefix("- ") + "," for line in front[start:stop])
    inside = inside.partition(":")[2].replace("[", " ").replace("]", " ")
    return [item.strip() for item in inside.split(",") if item.strip()]


def with_item(text: str, key: str, added: str) -> str:
    return with_field(text, key, f"[{', '.join([*items(text, key), added])}]")


def without_item(text: str, key: str, number: int) -> str:
    left = items(text, key)
    if left:
        left.pop(number % len(left))
    return with_field(text, key, f"[{', '.join(left)}]" if left else None)


def with_line(text: str, heading: str, line: str) -> str:
    """The text with a line at the end of the section under `heading`, which is made where there is none."""
    front, body = split(text)
    while body and not body[-1].strip():
        body.pop()
    at = next((number for number, found in enumerate(body) if found == f"## {heading}"), None)
    if at is None:
        body += ["", f"## {heading}", "", line]
    else:
        stop = next((n for n in range(at + 1, len(body)) if body[n].startswith("## ")), len(body))
        body[stop:stop] = [line, ""] if stop < len(body) else [line]
    return joined(front, [*body, ""])


def with_section(text: str, heading: str, lines: list[str]) -> str:
    """The text with other words under `heading`."""
    front, body = split(text)
    at = next((number for number, found in enumerate(body) if found == f"## {heading}"), None)
    if at is None:
        return with_line(text, heading, "\n".join(lines))
    stop = next((n for n in range(at + 1, len(body)) if body[n].startswith("## ")), len(body))
    body[at + 1 : stop] = ["", *lines, ""]
    return joined(front, body)


def section(text: str, heading: str) -> str:
    """What stands under `heading`."""
    _, body = split(text)
    at = next((number for number, found in enumerate(body) if found == f"## {heading}"), None)
    if at is None:
        return ""
    stop = next((n for n in range(at + 1, len(body)) if body[n].startswith("## ")), len(body))
    return "\n".join(body[at + 1 : stop])
