"""What a request says: the note as it would become canon, and the words that go with it.

What notes say is shown to people on a host that takes markdown, mentions and closing words for what they are, so it
stands there as code and on lines of its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from commonwealth.errors import BadNote
from commonwealth.flows import approval
from commonwealth.flows.brains import Brain
from commonwealth.flows.forges import Ask
from commonwealth.flows.identity import Identity
from commonwealth.model import Note
from commonwealth.notes import codec, naming
from commonwealth.notes.waiting import Waiting
from commonwealth.safetext import one_line

_TITLE = 120
_SHOWN = 50


@dataclass(frozen=True, slots=True)
class Planned:
    """A candidate as a file of the team's: the note without a word of where it was captured, unreviewed."""

    one: Waiting
    note: Note
    path: str
    data: bytes


def planned(brain: Brain, one: Waiting, author: Identity, now: str) -> Planned:
    """The note that a candidate asks to become. The same candidate gives the same bytes, whenever it is asked for."""
    text = codec.decode(one.data, one.path)
    as_read = codec.parse(text, one.path, "")[0]
    made = one.note.created_at or (one.origin.at if one.origin else None) or now
    of = one.note.provenance
    note = replace(
        one.note,
        reviewed=None,
        created_at=made,
        updated_at=one.note.updated_at or made,
        author=one.note.author or author.name,
        author_ref=one.note.author_ref or (None if one.note.author else author.ref),
        provenance=of if of.human or of.agent or of.session else replace(of, human=author.name),
        extra={key: value for key, value in one.note.extra.items() if key != "id"},
    )
    data = codec.edit(text, codec.changes(as_read, note), path=one.path).encode()
    return Planned(one, note, naming.note_path(note.kind, note.id, made, brain.folders), data)


def title_of(notes: Sequence[Note]) -> str:
    """The title of a request for these notes."""
    first = one_line(notes[0].title, _TITLE)
    return f"Note: {first}" if len(notes) == 1 else one_line(f"{len(notes)} notes: {first} …", _TITLE + 20)


def ask(brain: Brain, branch: str, base: str, found: Sequence[Planned], *, title: str | None, draft: bool) -> Ask:
    """The request for these notes."""
    notes = [one.note for one in found]
    count = f"{len(found)} note{'' if len(found) == 1 else 's'}"
    head = f"{count} for the brain {one_line(brain.name, 60)}, drafted by `brain` and reviewed by nobody yet."
    blocks = ["\n".join(f"    {line}" for line in _lines(one)) for one in found[:_SHOWN]]
    more = [f"… and {len(found) - _SHOWN} more."] if len(found) > _SHOWN else []
    foot = (
        "Merged in whatever way, they become canon. Change them here as you like: what is merged counts. Tables of "
        "contents are not part of this; the next sync refreshes them."
    )
    said = one_line(title, _TITLE + 20) if title else title_of(notes)
    paths = " ".join(f"`{one.path}`" for one in found[:5])
    line = f"{count} to become canon: {paths}{' …' if len(found) > 5 else ''}"
    return Ask(branch, base, said, "\n\n".join([head, *blocks, *more, foot]) + "\n", line, draft)


def _lines(one: Planned) -> list[str]:
    note = one.note
    facts = " · ".join(filter(None, (note.type, note.status, f"confidence {note.confidence}", note.repository)))
    said = [one_line(note.title, 300), one_line(note.summary or "", 600), facts, one.path]
    said += [f"replaces {id_}" for id_ in note.supersedes]
    if one.one.origin and one.one.origin.reasons:
        said.append(f"the gate says: {'; '.join(one.one.origin.reasons)}")
    return [one_line(line, 600) for line in said if line]


def says_same(there: bytes, here: bytes, path: str) -> bool:
    """Whether two files are the same note, whatever was added by whoever let it in."""
    if there == here:
        return True
    try:
        one, other = (approval.told(codec.parse(codec.decode(data, path), path, "")[0]) for data in (there, here))
    except BadNote:
        return False
    return replace(one, kind=other.kind) == other


def placed(paths: Sequence[str], note_id: str) -> str | None:
    """Which of `paths` is that of a note, wherever it was moved: the one of its name, else of its short id."""
    short = note_id.rpartition("-")[2]
    ends = (f"/{note_id}.md", *([f"-{short}.md"] if len(short) == len(naming.short_id(b"")) else []))
    return next((path for end in ends for path in paths if path.endswith(end)), None)


def digest(data: bytes) -> str:
    """By which a file of the queue is known again."""
    return hashlib.sha256(data).hexdigest()[:32]
