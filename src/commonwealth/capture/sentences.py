"""What was said, cut into sentences that can stand in a note: markdown gone, lists joined with what introduces them.

Every step is linear in the text: no pattern here can be made to backtrack over a hostile line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

MOST = 12_000
"""Characters of one message that are looked at, from its beginning; with `TAIL` more from its end."""
TAIL = 4_000
LONGEST = 520
"""Characters of one sentence; a longer one is left out, since nobody states a fact in more. A list loses items."""

ASIDE = "aside"
"""The heading of what stands between two drawn rules: a box with something to learn in general."""

_PLAIN = str.maketrans(
    {
        "\u2011": "-", "\u2010": "-", "\u00a0": " ", "\u202f": " ", "\u2009": " ", "\u2007": " ", "\ufe0f": None,
        "\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u200b": None,
    }
)  # fmt: skip
_LINK = re.compile(r"!?\[([^\[\]\n]{1,200})\]\([^()\s\n]{1,500}\)")
_URL = re.compile(r"<?\bhttps?://[^\s<>)\]`'\"]+>?")
_STRONG = re.compile(r"\*\*|__(?=\W|$)|(?<![\w_])__|(?<![\w*])\*(?=[^\s*])|(?<=[^\s*])\*(?![\w*])")
_PLACE = re.compile(
    r"\s?\((?:see |in |at |from |currently )?(?:lines? [\d\s,–-]{1,20}(?: (?:of|in) [^()\n]{1,80})?|"
    r"(?:`?[^()\s`]{1,120}(?:\.\w{1,5}|`):\d[\d:,\u2013-]{0,20}`?(?:,|;| and)?\s?){1,4})\)"
)
_PATHS = re.compile(r"\s?\((?:see |in )?(?:`[^`\n]{1,200}`(?:,| and|;)?\s?){1,4}\)")
_AT_LINES = re.compile(r"(?<=[^\W\d]):\d{1,5}(?:-\d{1,5})?\b(?=[`\s,.;)]|$)")
_SYMBOLS = re.compile("[\u2190-\u21ff\u2300-\u23ff\u2460-\u27bf\u2900-\u297f\u2b00-\u2bff\U0001f000-\U0001faff]+")
_ARROW = re.compile(" ?[\u2192\u21d2\u27a1\u27f6] ?")
_ITEM = re.compile(r"^(\s*)(?:[-*+•]|\d{1,2}[.)])\s+(?:\[[ xX]\]\s+)?")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(.*?)\s*#*\s*$")
_BOLD_LINE = re.compile(r"^\s*(?:\d{1,2}[.)]\s*)?\*\*([^*\n]{1,120})\*\*:?\s*$")
_LABEL = re.compile(
    r"^\*\*([^*\n]{2,60})\*\*\s*[:\u2013\u2014-]\s+|^\*\*([^*\n]{2,60}):\*\*\s+|^([A-Z][A-Za-z' ]{2,28}):\s+"
)
_END = re.compile(r"[.!?]+[\"')\]*_]*(?:\s+|$)|[\u3002\uff01\uff1f]+[\"')\]*_]*\s*")
_POINTER = re.compile(
    r"\(?(?:see|cf\.?|docs?|more|sources?|refs?|references?|links?|siehe|ver|voir)\b[^.]{0,60}https?://", re.IGNORECASE
)
"""A sentence that only says where more stands."""
_LOOSE = re.compile(r" ([.;!?])(?=\s|$)")
_CLAUSE = re.compile(r"[,;:] |\s+[-\u2013\u2014]+\s+|(?<=\w) (?=(?:and|but) (?:btw|by the way)\b)")
_ID = r"`?(?<![\w./-])(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}(?![\w/-])`?"
_HEX = re.compile(r"[0-9a-f]{7}")
_COMMIT = re.compile(
    rf"\s\((?:commit )?{_ID}\)|\s(?:in|by|as|at|with) (?:commit )?{_ID}(?=[.,;:!?]*$|[.;!?] )"
    rf"|(?<=\b[Tt]he commit)\s{_ID}(?=\s\w)"
)
"""The id of a commit where a sentence says the same without it: in brackets, at its end, or after `the commit`."""
_RULE = re.compile(r"^\s*(?:[-*_=]{3,}|\|?[\s:|-]+\|[\s:|-]*)\s*$")
_ABBREVIATED = ("e.g", "i.e", "etc", "vs", "cf", "approx", "resp", "incl", "z.b", "d.h", "bzw", "p.ej")
_NUMBERED = ("no", "nr", "fig")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One statement. `line` and `event` say where it was said, `block` which paragraph or item of the message.

    `heading` is the nearest heading or label above, lower-case; `item` says that it is a list item. `bare` marks one
    that opens with a word that points back, so that it does not stand alone.
    """

    text: str
    line: int
    event: int
    block: int
    heading: str = ""
    item: bool = False
    at: str | None = None


@dataclass(slots=True)
class _Block:
    text: str
    heading: str
    item: bool
    depth: int = 0
    ordered: bool = False


def sentences(text: str, *, line: int, event: int, at: str | None = None, loose: bool = False) -> Iterator[Sentence]:
    """The sentences of one message in order. Code, rules and headings are none. With `loose`, one may begin with a
    small letter, as people write."""
    for number, block in enumerate(_joined(list(_blocks(_bounded(text))))):
        heading, rest = _label(block.text, block.heading)
        plain = cleaned(rest)
        for piece in split(plain, loose=loose):
            said = len(piece) >= 8 and any(character.isalpha() for character in piece)
            if not said or ("http" in piece and _POINTER.match(piece)) or (loose and piece.endswith(":")):
                continue
            if len(piece) <= LONGEST or (piece := _items(piece, LONGEST)):  # half a sentence may say the opposite
                yield Sentence(piece, line, event, number, heading, block.item, at)


def cleaned(text: str) -> str:
    """One paragraph as plain words: no emphasis, places in files or pictures. Backticks and addresses stay: a sentence
    without the address that it is about may say the opposite."""
    if not text.isascii():
        text = _ARROW.sub(" -> ", text.translate(_PLAIN))
        text = _SYMBOLS.sub("", text)
    if "](" in text:
        text = _LINK.sub(lambda found: found[1], text)
    if "http" in text:
        text = _URL.sub(lambda found: found[0].strip("<>"), text)
    if "*" in text or "__" in text:
        text = "`".join(part if place % 2 else _STRONG.sub("", part) for place, part in enumerate(text.split("`")))
    if "(" in text:
        text = _PLACE.sub("", text)
        text = _PATHS.sub(lambda found: "" if _is_path(found[0]) else found[0], text)
    if ":" in text:
        text = _AT_LINES.sub("", text)
    if _HEX.search(text):
        text = _COMMIT.sub("", text)
    if "(" in text:
        text = text.replace("()", "\0").replace("( )", "").replace("(,", "(").replace("\0", "()")
    text = " ".join(_LOOSE.sub(r"\1", text).split())
    return text.replace(" ,", ",").strip(" -\u2013\u2014*>")


def split(text: str, *, loose: bool = False) -> Iterator[str]:
    """The sentences of a cleaned paragraph: an end mark outside backticks and before something that begins one."""
    start = 0
    for found in _END.finditer(text):
        end = found.end()
        if end < len(text) and not _begins(text[end]) and not (text[end].isalpha() and (loose or found[0][0] == ".")):
            continue
        if text.count("`", start, found.start()) % 2:
            continue
        before = text[max(0, found.start() - 8) : found.start()].lower().rsplit(" ", 1)[-1].lstrip("(")
        numbered = before in _NUMBERED and text[end : end + 1].isdigit()
        if found[0][0] == "." and (before in _ABBREVIATED or numbered):
            continue
        yield text[start:end].strip()
        start = end
    if text[start:].strip():
        yield text[start:].strip()


def clauses(text: str) -> list[str]:
    """The parts of a sentence between commas, colons and dashes; one too short to say anything stays with the last."""
    parts: list[str] = []
    for part in _CLAUSE.split(text):
        if parts and len(part.split()) < 3:
            parts[-1] = f"{parts[-1]}, {part}"
        else:
            parts.append(part)
    return parts


def cut(text: str, limit: int) -> str:
    """`text` in at most `limit` characters, cut at a word."""
    if len(text) <= limit:
        return text
    short = text[: limit - 1]
    return (short.rsplit(" ", 1)[0] if " " in short[limit // 2 :] else short).rstrip(" ,;:(-") + "…"


def within(text: str, limit: int) -> str:
    """The first sentences of `text`, whole, as many as `limit` characters hold; none where the first is longer."""
    kept = ""
    for piece in split(text, loose=True):
        if len(kept) + len(piece) + 1 > limit:
            break
        kept = f"{kept} {piece}".strip()
    return kept


def _items(text: str, limit: int) -> str:
    """A list in one sentence with as many of its items as `limit` characters hold; empty where it is none."""
    short = text[: limit - 2].rpartition("; ")[0]
    return f"{short}; …" if ": " in short else ""


def _is_path(text: str) -> bool:
    """Whether what stands in brackets is nothing but where it stands in files."""
    return all("/" in part or re.search(r"\.\w{1,5}(?::\d|$)", part) for part in text.split("`")[1::2])


def _begins(character: str) -> bool:
    return character.isupper() or character.isdigit() or character in "`\"'([¿¡*" or ord(character) > 0x2E80


def _bounded(text: str) -> str:
    if len(text) <= MOST + TAIL:
        return text
    return text[:MOST].rsplit("\n", 1)[0] + "\n\n" + text[-TAIL:].split("\n", 1)[-1]


def _blocks(text: str) -> Iterator[_Block]:
    """Paragraphs and items as they stand, with the heading above each."""
    cutter = _Cutter()
    for row in text.split("\n"):
        cutter.take(row[:2_000])
    cutter.flush()
    yield from cutter.blocks


class _Cutter:
    """Cuts a message row by row."""

    def __init__(self) -> None:
        self.blocks: list[_Block] = []
        self._lines: list[str] = []
        self._now = _Block("", "", item=False)
        self._fence = ""

    def flush(self) -> None:
        """The rows since the last break are one block."""
        if self._lines:
            self.blocks.append(replace(self._now, text=" ".join(self._lines)))
            self._lines.clear()

    def take(self, row: str) -> None:
        """One row more."""
        bare = row.lstrip(" >\t")
        if self._fence or bare.startswith(("```", "~~~")):
            self._take_code(bare)
        elif not bare.strip() or _RULE.match(row):
            self._break()
        elif row.lstrip().startswith(">"):  # a quotation: somebody else's words
            self.flush()
        elif "\u2500\u2500\u2500" in row:
            self._break("" if self._now.heading == ASIDE else ASIDE)
        elif title := _HEADING.match(row) or _BOLD_LINE.match(row):
            self._break(cleaned(title[1]).rstrip(":").lower())
        elif bare.startswith("|"):
            self.flush()
            cells = [cell.strip() for cell in bare.strip(" |").split("|")]
            told = f"{cells[0]}: {', '.join(cells[1:])}" if len(cells) > 1 else cells[0]
            self.blocks.append(_Block(told, self._now.heading, item=True, depth=1))
        elif marker := _ITEM.match(row):
            self.flush()
            depth = len(marker[1].expandtabs(4)) // 2 + 1
            self._now = replace(self._now, item=True, depth=depth, ordered=row[marker.end(1)].isdigit())
            self._lines.append(row[marker.end() :])
        else:
            self._lines.append(bare)

    def _take_code(self, bare: str) -> None:
        if not self._fence:
            self.flush()
            self._fence = bare[:3]
        elif bare.startswith(self._fence):
            self._fence = ""

    def _break(self, heading: str | None = None) -> None:
        self.flush()
        self._now = _Block("", self._now.heading if heading is None else heading, item=False)


def _joined(blocks: list[_Block]) -> Iterator[_Block]:
    """Blocks with what they introduce: `It checks for:` with its short items is one statement, and so is an item
    with its sub-items. A label without a verb stays a heading for what follows."""
    place = 0
    while place < len(blocks):
        block = blocks[place]
        below = place + 1
        while below < len(blocks) and blocks[below].item and blocks[below].depth > block.depth:
            first, other = blocks[place + 1], blocks[below]
            if other.depth == first.depth and other.ordered != first.ordered:
                break
            below += 1
        items = [other for other in blocks[place + 1 : below] if other.depth == blocks[place + 1].depth]
        ends = block.text.rstrip().rstrip("*").endswith(":")
        if not items or (not ends and not block.item):
            yield block
            place += 1
            continue
        parts = [other.text.strip().rstrip(".") for other in items]
        if ends and len(block.text.split()) < 4 and not block.item:
            for other in blocks[place + 1 : below]:
                other.heading = cleaned(block.text).rstrip(":").lower()
            place += 1
            continue
        if sum(map(len, parts)) > 2.2 * LONGEST or len(parts) > 8 or max(map(len, parts)) > 160:
            yield block
            if ends and not block.item:
                for other in blocks[place + 1 : below]:
                    other.heading = cleaned(block.text).rstrip(":").lower()[-60:]
            place += 1
            continue
        head = block.text.rstrip().rstrip("*:").rstrip()
        yield _Block(f"{head}: " + "; ".join(_unmarked(part) for part in parts), block.heading, block.item, block.depth)
        place = below


def _unmarked(part: str) -> str:
    """An item without its end marks, so that a joined list stays one sentence."""
    return part.replace(". ", ", ")


def _label(text: str, heading: str) -> tuple[str, str]:
    """A paragraph's own label (`Root cause: …`) as its heading, where it is one, and the rest of it."""
    found = _LABEL.match(text)
    if not found:
        return heading, text
    label = next(group for group in found.groups() if group).strip().rstrip(":")
    if len(label.split()) > 5:
        return heading, text
    rest = text[found.end() :]
    if _names(label):
        return heading, f"{label}: {rest}"
    return cleaned(label).lower(), rest


def _names(label: str) -> bool:
    """Whether a label is the subject of what it labels (`SessionStart hook: …`) and not its kind (`Note: …`)."""
    from_code = (
        "`" in label
        or any(mark in label for mark in "_./(")
        or any(word[1:] != word[1:].lower() for word in label.split())
    )
    return from_code or label.lower() not in LABELS


LABELS = frozenset((
    "actual cause", "after", "answer", "background", "before", "behavior", "behaviour", "bottom line", "causa",
    "cause", "caveat", "caveats", "changes", "conclusion", "context", "correction", "decision", "effect", "example",
    "explanation", "finding", "findings", "fix", "gotcha", "grund", "hinweis", "impact", "important", "importante",
    "in short", "insight", "issue", "key finding", "key insight", "key point", "lesson", "limitation",
    "limitations", "merke", "next steps", "nota", "note", "options", "problem", "problema", "question", "questions",
    "rationale", "reason", "recommendation", "recuerda", "regel", "regla", "remember", "reminder", "result",
    "results", "root cause", "rule", "short answer", "solution", "sources", "status", "suggestion", "summary",
    "takeaway", "test plan", "tests", "the cause", "the fix", "the issue", "the problem", "the real issue",
    "the solution", "tl;dr", "tldr", "todo", "trade-off", "trade-offs", "tradeoff", "update", "ursache", "usage",
    "verification", "warning", "what changed", "what happened", "why", "wichtig",
))  # fmt: skip
