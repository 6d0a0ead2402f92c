"""What a markdown text says first in prose, as plain text: a summary for lists and briefs."""

from __future__ import annotations

import re
from collections.abc import Iterator

LIMIT = 300
"""Characters of a summary."""

_ANNOUNCING = (":", " because", " because,")

_TOP = 20_000  # characters of a text in which its first paragraph is looked for

_LEFT_OUT = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|^[ \t>]*(?P<fence>```|~~~).*?(?:^[ \t>]*(?P=fence)[`~]*[ \t]*$|\Z)"
    r"|^\$\$.*?(?:^\$\$[ \t]*$|\Z)",
    re.DOTALL | re.MULTILINE,
)
_BETWEEN = re.compile(r"\n(?:[ \t>]*\n)+")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(?=\S)")
_UNDERLINED = re.compile(r"\A[^\n]+\n {0,3}(?:=+|-{2,})[ \t]*(?:\n|\Z)")
_CODE = re.compile(r"(?:(?: {4}|\t)[^\n]*(?:\n|\Z))+\Z")
_NO_PROSE = re.compile(
    r"#{1,6}(?:[ \t]|\Z)"  # a heading
    r"|(?:[-*_=][ \t]*){3,}\Z"  # a rule
    r"|\||\{[{%]|</?[a-zA-Z!]"  # a table, a template, a block of HTML
    r"|\[[^\]]+\]:[ \t]"  # where a link leads
    r"|(?:!\[\[[^\]]*\]\]|!\[[^\]]*\]\([^)]*\)|\[!\[[^\]]*\]\([^)]*\)\]\([^)]*\)|\[![\w-]+\][+-]?|[ \t])+\Z"  # pictures
)
_FACT = re.compile(
    r"[-*+ \t]*[*_]{0,2}(?:date|status|deciders?|decision[- ]makers?|authors?|tags?|created|updated|modified"
    r"|consulted|informed|technical story|categor(?:y|ies)|source|type|related|topics?)[*_]{0,2}[ \t]?:",
    re.IGNORECASE,
)


def first_paragraph(text: str, *, or_list: bool = False) -> str | None:
    """The first paragraph of prose in `text` as plain text of at most `LIMIT` characters; None without one.

    Headings, code, tables, pictures and lines such as `Date: …` are no prose. A paragraph that ends with a colon
    takes along the list that it announces. With `or_list` a text of lists gives its first list.
    """
    waiting: str | None = None  # for the list that a paragraph announces
    first_list: str | None = None
    for items in _blocks(text[:_TOP]):
        if isinstance(items, str):
            if waiting:
                break
            if not items.endswith(_ANNOUNCING):
                return clip(items)
            waiting = items
        else:
            listed = "; ".join(item.rstrip(".;,") for item in items)
            if waiting:
                return clip(f"{waiting} {listed}")
            first_list = first_list or (listed if or_list else None)
    if waiting and waiting.endswith(":"):  # what it announces is code or a table
        waiting = re.sub(r"(?<=[.!?])\s[^.!?]*:\Z", "", waiting)
    found = waiting or first_list
    return clip(found) if found else None


def _blocks(text: str) -> Iterator[str | list[str]]:
    """The paragraphs of a text, and its lists as their items, all as plain text."""
    items: list[str] = []
    for chunk in _BETWEEN.split(_LEFT_OUT.sub("\n\n", text.replace("\r\n", "\n"))):
        chunk = _UNDERLINED.sub("", chunk.strip("\n"), count=1)  # noqa: PLW2901 - a heading of two lines goes
        if _CODE.fullmatch(chunk) and not (items or _ITEM.match(chunk)):
            continue
        paragraph: list[str] = []
        for line in chunk.split("\n"):
            bare = re.sub(r"^(?:[ \t]{0,3}>)+", "", line).strip()
            if not bare or _NO_PROSE.match(bare) or (_FACT.match(bare) and not paragraph):
                continue
            if item := _ITEM.match(line):
                if paragraph:
                    yield from _told(items, paragraph)
                    items, paragraph = [], []
                items.append(line[item.end() :].strip())
            elif items and not paragraph and (line[:1].isspace() or chunk.lstrip()[:1] in "-*+0123456789"):
                items[-1] += f" {bare}"
            else:
                paragraph.append(bare)
        if paragraph:
            yield from _told(items, paragraph)
            items = []
    yield from _told(items, [])


def _told(items: list[str], paragraph: list[str]) -> Iterator[str | list[str]]:
    """The list before a paragraph and the paragraph, where they say something."""
    if said := [words for item in items if _has_words(words := plain(item))]:
        yield said
    if _has_words(text := plain(" ".join(paragraph))):
        yield text


def _has_words(text: str) -> bool:
    return any(map(str.isalnum, text))


_CODE_SPAN = re.compile(r"(`+)[ ]?(.+?)[ ]?\1(?!`)")
_MARKUP: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), into)
    for pattern, into in (
        (r"!\[\[[^\]]*\]\]|!\[[^\]]*\]\((?:[^()]|\([^()]*\))*\)", ""),  # pictures
        (r"\[\^[^\]]+\]", ""),  # footnotes
        (r"\[\[[^\]|]*\|([^\]]+)\]\]", r"\1"),
        (r"\[\[([^\]]+)\]\]", r"\1"),
        (r"\[([^\[\]]+)\]\((?:[^()]|\([^()]*\))*\)", r"\1"),
        (r"\[([^\[\]]+)\]\[[^\]]*\]", r"\1"),
        (r"<((?:https?|mailto):[^>\s]+)>", r"\1"),
        (r"</?[a-zA-Z][^<>]*>", ""),
        (r"(\*\*\*|\*\*|~~|==)(?=\S)(.+?)(?<=\S)\1", r"\2"),
        (r"(?<!\w)(__|_)(?=\S)(.+?)(?<=\S)\1(?!\w)", r"\2"),
        (r"(?<![\w*])\*(?=[^\s*])([^*]+?)(?<=\S)\*(?!\*)", r"\1"),
        (r"\\([!-/:-@\[-`{-~])", r"\1"),
        (r"&nbsp;", " "),
        (r"&lt;", "<"),
        (r"&gt;", ">"),
        (r"&quot;", '"'),
        (r"&amp;", "&"),
    )
)


def plain(text: str) -> str:
    """A paragraph without its markup: links and code as their text, pictures left out, on one line."""
    kept: list[str] = []

    def keep(match: re.Match[str]) -> str:
        kept.append(match[2])
        return f"\x00{len(kept) - 1}\x00"

    text = _CODE_SPAN.sub(keep, " ".join(text.replace("\x00", "").split()))
    for pattern, into in _MARKUP:
        text = pattern.sub(into, text)
    text = re.sub("\x00(\\d+)\x00", lambda match: kept[int(match[1])], text)
    return " ".join(text.split())


def clip(text: str) -> str:
    """`text` in at most `LIMIT` characters: up to the end of a sentence in its second half, else of a word."""
    if len(text) <= LIMIT:
        return text
    ends = [match.end(1) for match in re.finditer(r"([.!?][)\"”’]?)\s", text[: LIMIT + 1])]
    if ends and ends[-1] * 2 > LIMIT:
        return text[: ends[-1]]
    return text[: LIMIT - 1].rpartition(" ")[0].rstrip(",;:–—-(") + " …" if " " in text[: LIMIT - 1] else text[:LIMIT]
