"""The text of a note and the note: strict in, canonical out, and edits that leave every other byte alone.

Law: `render(parse(x)) == x` for every text that `render` made, and `parse(render(n)) == n` for every note that
`parse` could have made.
"""

from __future__ import annotations

from collections.abc import Mapping

from commonwealth.errors import BadNote, Bug, Refused
from commonwealth.model import Extra, Note, Problem
from commonwealth.notes import document, edits, lineyaml, naming, schema, strictyaml, yamlwrite
from commonwealth.notes.yamlwrite import Value
from commonwealth.yamlnodes import Node, YamlError

MAX_NOTE = 256 * 1024
LARGE_NOTE = 32 * 1024


def decode(data: bytes, path: str) -> str:
    """The text of a file; a byte order mark stays in it. Raises BadNote with the line where it stops being text."""
    if len(data) > MAX_NOTE:
        raise BadNote(path, 0, f"the file has {len(data):,} bytes; a note has at most {MAX_NOTE // 1024} KiB")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise BadNote(path, 1, "the file is UTF-16; save it as UTF-8")
    if (nul := data.find(b"\0")) >= 0:
        raise BadNote(path, data.count(b"\n", 0, nul) + 1, "the file holds a NUL byte, so it is not text")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadNote(path, line, f"byte 0x{data[error.start]:02x} is not UTF-8") from None


def parse(text: str, path: str, kind: str) -> tuple[Note, tuple[Problem, ...]]:
    """The note that `text` holds, and doubts that do not stop it from being read.

    `path` is relative to the brain's root; `kind` is that of its folder (empty: as the text says). A text without
    frontmatter is a note with defaults. Raises BadNote.
    """
    parts = document.split(text, path)
    problems: list[Problem] = []

    def doubt(key: str, cause: str) -> None:
        problems.append(Problem(path, _line_of(parts, key), f"{key}: {cause}", fatal=False))

    values, mended = front(parts, path)
    problems.extend(Problem(path, found.line + 2, found.cause, fatal=False) for found in mended)
    note = schema.to_note(values, parts.body, naming.stem(path), kind, doubt)
    if not parts.opening:
        problems.append(Problem(path, 1, "the file has no frontmatter; it was read with defaults", fatal=False))
    if len(text) > LARGE_NOTE:
        problems.append(Problem(path, 0, f"the note is larger than {LARGE_NOTE // 1024} KiB", fatal=False))
    return note, tuple(problems)


def front(parts: document.Document, path: str) -> tuple[dict[str, Extra], tuple[YamlError, ...]]:
    """The values of a frontmatter as text, and the doubts about it. Raises BadNote."""
    if not parts.frontmatter:
        return {}, ()
    values = lineyaml.read(parts.yaml)
    if values is not None:
        return values, ()
    root, mended = compose(parts, path)
    return (root.value if isinstance(root.value, dict) else {}), mended


def compose(parts: document.Document, path: str) -> tuple[Node, tuple[YamlError, ...]]:
    """The frontmatter with the places of its keys, and the doubts about it. Raises BadNote."""
    try:
        return strictyaml.compose_tolerant(parts.yaml)
    except YamlError as error:
        raise BadNote(path, error.line + 2, error.cause) from None


def _line_of(parts: document.Document, key: str) -> int:
    for number, line in enumerate(parts.frontmatter.split("\n"), start=2):
        if line.startswith((f"{key}:", f'"{key}"', f"'{key}'")):
            return number
    return 2


def render(note: Note) -> str:
    """The canonical text of a note: keys in canonical order, one line each; the body as it is."""
    lines = [yamlwrite.entry(key, value, block=key == "provenance") for key, value in schema.fields(note).items()]
    return f"---\n{''.join(lines)}---\n{note.body}"


def to_bytes(note: Note, path: str) -> bytes:
    """The canonical bytes of a note, read back before they are returned.

    Raises Refused where the note cannot be a file: its id is no file name, it is too large, has too many keys,
    NUL or half characters in it.
    """
    if not naming.valid_id(note.id):
        raise Refused(f"{note.id!r} cannot be the id of a note: it has to be a file name.")
    text = render(note)
    try:
        data = text.encode("utf-8")
        again, _ = parse(decode(data, path), path, note.kind)
    except UnicodeEncodeError as error:
        raise Refused(f"{path}: {text[error.start]!r} is half of a character, not text.") from None
    except BadNote as error:
        hint = "Take that character out." if "\0" in text else "Shorten the note or split it."
        raise Refused(f"{path} cannot be written: {error.cause}.", hint=hint) from None
    if render(again) != text:
        raise Bug(f"{path}: the note reads back as another note.")
    return data


def changes(old: Note, new: Note) -> dict[str, Value | None]:
    """What `edit` has to change in the text of `old` so that it says `new`; None removes a key."""
    before, after = schema.fields(old), schema.fields(new)
    found: dict[str, Value | None] = {key: None for key in before if key not in after}
    found.update({key: value for key, value in after.items() if before.get(key) != value})
    return found


def edit(text: str, changes: Mapping[str, Value | None], body: str | None = None, path: str = "note") -> str:
    """`text` with some top-level keys changed (None removes one) and, where given, another body.

    The lines of all other keys, comments and the body stay byte-identical, as do byte order mark, line ends and a
    missing final newline. A new key goes to its canonical place; a text without frontmatter gets one. Inside
    provenance, reviewed, source and verified, unchanged and unknown keys keep their lines as well.
    Raises BadNote where `text` cannot be read, Refused where the result could not be: too large, too deep, NUL in it.
    """
    parts = document.split(text, path)
    root, _ = compose(parts, path)
    wanted = edits.wanted(root, changes)
    result = edits.apply(parts, root, changes, body)
    try:
        after = document.split(result, path)
        read, _ = compose(after, path)
        decode(result.encode("utf-8"), path)
    except UnicodeEncodeError as error:
        raise Refused(f"{path}: {result[error.start]!r} is half of a character, not text.") from None
    except BadNote as error:
        raise Refused(f"{path} cannot be changed so: {error.cause}.", hint="It was left as it is.") from None
    if read.value != wanted or (body is None and after.body != parts.body):
        raise Bug(f"{path}: the edit did not come out as asked.")
    return result
