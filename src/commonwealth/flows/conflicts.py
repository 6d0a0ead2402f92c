"""Conflicts, listed and resolved: one commit, made of what the notes say and of no clock.

Nothing is deleted. A version that is not kept is closed as superseded by the one that is; where another version takes
over the id, the old text goes to that version's file. Two clones that decide the same way make the same files, and two
that decide differently lose nothing: what they disagree about is a conflict again.
"""

from __future__ import annotations

import posixpath
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from commonwealth.errors import Refused, Usage
from commonwealth.flows import guarding, identity, indexing, origins, recall, saving
from commonwealth.flows.brains import Brain
from commonwealth.flows.differing import Difference, differences
from commonwealth.flows.edits import Edits
from commonwealth.flows.identity import Session
from commonwealth.index import disputes, lookup
from commonwealth.index.disputes import Dispute
from commonwealth.model import CLOSED_STATUSES, Item, Note, NoteFile, Receipt
from commonwealth.notes import closing, codec, naming, schema
from commonwealth.notes.yamlwrite import Value
from commonwealth.repo.commit import Change
from commonwealth.repo.git import Git
from commonwealth.safetext import one_line

_HELP = "`brain conflicts resolve --help` says how."


@dataclass(frozen=True, slots=True)
class Rival:
    """One of the notes that cannot all stand; `differs` names what it says otherwise than the first of them.

    `author` wrote the commit that brought this text; where that is not known, it is what the note says.
    """

    id: str
    path: str
    title: str
    status: str
    author: str | None = None
    updated_at: str | None = None
    summary: str | None = None
    differs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Conflict:
    """`cause` is version (`id` is one of the rivals, if it is still there) or replacement (all replace `id`).

    `differs` holds what each of them says where they do not all say the same.
    """

    id: str
    cause: str
    rivals: tuple[Rival, ...]
    differs: tuple[Difference, ...] = ()


@dataclass(frozen=True, slots=True)
class _Found:
    """`root` is the note in question among the rivals, `replaced` the one that they all replace."""

    dispute: Dispute
    files: tuple[NoteFile, ...]
    root: NoteFile | None
    replaced: NoteFile | None


def conflicts(brain: Brain) -> tuple[Conflict, ...]:
    """Every conflict of the brain, the same list in every clone."""
    every = indexing.ask(brain, _all, sweep=True)
    wrote = origins.writers(Git(brain.root), [_asked(found) for found in every])
    return tuple(_told(found, wrote) for found in every)


def count_open(brain: Brain) -> int:
    """How many conflicts `conflicts` would list."""
    return len(indexing.ask(brain, _all))


def rivals_of(brain: Brain, ids: Sequence[str]) -> tuple[str, ...] | None:
    """The rivals of one conflict that `ids` name, None where they name anything else: to approve them is to say that
    they stand."""
    keys = {naming.id_key(id_.strip()) for id_ in ids}
    for found in indexing.ask(brain, _all):
        rivals = tuple(file.note.id for file in found.files if naming.id_key(file.note.id) in keys)
        if rivals and len(rivals) == len(keys):
            return rivals
    return None


def resolve(
    brain: Brain,
    conflict_id: str,
    *,
    keep: Sequence[str] = (),
    everything: bool = False,
    body: str | None = None,
    session: Session,
    now: str,
) -> Receipt:
    """End one conflict, named by the id in question or by that of a rival, in one commit.

    The notes in `keep` stand (`everything`: all of them), the others are closed as superseded by them. Of the versions
    of a note one stands under its id, others that are kept become notes of their own. `body` is a new text for the one
    that is kept. The receipt is `committed`, with what each id says now as an item, `refused` for a secret, or
    `unchanged` where somebody was faster.
    Raises Refused for an id that is unknown, ambiguous or in no conflict, Usage for a choice that is none.
    """
    found = _one(brain, conflict_id)
    kept = _chosen(found, keep, everything=everything, body=body)
    author = identity.whoami(brain)
    about = found.dispute.about
    items: dict[str, Item] = {}

    def plan() -> Sequence[Change] | Receipt:
        again = [other for other in indexing.ask(brain, _all, sweep=True) if other.dispute.about == about]
        current = next((other for other in again if other.dispute.cause == found.dispute.cause), None)
        if current is None or not kept <= {file.note.id for file in current.files}:
            return Receipt("unchanged", (found.dispute.about,), reason="the conflict is resolved already")
        edits = Edits(brain)
        first = _versions(edits, current, kept) if current.root else _replacements(edits, current, kept)
        if body is not None:
            edits.edit(first, {"updated_at": now}, _clean(body))
            if (refusal := guarding.refused(edits.note(first), found.files[0].note)) is not None:
                return replace(refusal, ids=(first.note.id,))
            edits.say(first, "stands", "says the new text")
        items.clear()
        items.update(edits.items)
        return [Change(*file) for file in edits.files()]

    title = (found.root or found.replaced or found.files[0]).note.title
    message = f"Resolve: {one_line(title, 60)}{identity.trailers(session)}"
    ids = tuple(sorted(file.note.id for file in found.files))
    receipt = saving.save(brain, plan, ids=ids, message=message, author=author, now=now, command="conflicts resolve")
    return replace(receipt, items=tuple(items.values())) if receipt.state == "committed" else receipt


# Which conflict, and what of it stands


def _all(conn: sqlite3.Connection) -> list[_Found]:
    found: list[_Found] = []
    every = disputes.disputes(conn)
    ids = {id_ for dispute in every for id_ in (dispute.about, *dispute.rivals)}
    by_id = {id_: _file(conn, id_) for id_ in ids}  # each once: one note may be in many conflicts
    for dispute in every:
        files = [file for id_ in dispute.rivals if (file := by_id[id_]) is not None]
        about = by_id[dispute.about]
        if files and dispute.cause == "version":  # where the note itself is gone, its first version takes its part
            found.append(_Found(dispute, tuple(files), about or files[0], None))
        elif files:
            found.append(_Found(dispute, tuple(files), None, about))
    return found


def _file(conn: sqlite3.Connection, id_: str) -> NoteFile | None:
    return min(lookup.of_id(conn, id_), key=lambda file: file.path, default=None)


def _one(brain: Brain, wanted: str) -> _Found:
    """The conflict that an id, a short id or the unique beginning of an id means."""
    every = indexing.ask(brain, _all, sweep=True)
    for match in (_is, _begins):
        of_it = [found for found in every if match(found.dispute.about, wanted)]
        found = of_it or [one for one in every if any(match(id_, wanted) for id_ in one.dispute.rivals)]
        if len(found) == 1:
            return found[0]
        if found:
            listed = ", ".join(one.dispute.about for one in found[:5])
            raise Refused(
                f"{one_line(wanted, 120)!r} is in {len(found)} conflicts: {listed}.", hint="Name one of them."
            )
    located = recall.locate(brain, wanted)  # says what is wrong with an id that means nothing
    raise Refused(f"{located.id} is in no conflict.", hint="`brain conflicts list` shows those that there are.")


def _is(id_: str, wanted: str) -> bool:
    key = naming.id_key(wanted.strip())
    return bool(key) and (naming.id_key(id_) == key or (len(key) >= 8 and naming.id_key(id_).endswith(f"-{key}")))


def _begins(id_: str, wanted: str) -> bool:
    key = naming.id_key(wanted.strip())
    return bool(key) and naming.id_key(id_).startswith(key)


def _chosen(found: _Found, keep: Sequence[str], *, everything: bool, body: str | None) -> set[str]:
    """The ids of the notes that stand."""
    ids = [file.note.id for file in found.files]
    if everything and keep:
        raise Usage("`--keep` and `--both` exclude each other: keep some of the notes, or all.", hint=_hint(found))
    if not everything and not keep and (body is None or found.root is None):
        raise Usage("Say what stands: `--keep` with one or more ids, or `--both`.", hint=_hint(found))
    if everything:
        return set(ids)
    kept: set[str] = set()
    for wanted in keep:
        match = [id_ for id_ in ids if _is(id_, wanted)] or [id_ for id_ in ids if _begins(id_, wanted)]
        if len(match) != 1:
            what = "means several notes" if match else "is no note"
            raise Refused(
                f"{one_line(wanted, 120)!r} {what} of the conflict about {found.dispute.about}.", hint=_hint(found)
            )
        kept.add(match[0])
    if not kept and found.root:
        kept.add(found.root.note.id)
    if body is not None and len(kept) > 1:
        raise Usage("A new text is for one note, and several are kept.", hint=f"Keep one, or give no text. {_HELP}")
    return kept


def _hint(found: _Found) -> str:
    ids = ", ".join(file.note.id for file in found.files)
    return f"The notes of this conflict: {ids}. {_HELP}"


# What becomes of the files


def _versions(edits: Edits, found: _Found, kept: set[str]) -> NoteFile:
    """One version stands under the id; returns its file."""
    root = found.root or found.files[0]
    others = [file for file in found.files if file.path != root.path]
    chosen = root if root.note.id in kept else next(file for file in others if file.note.id in kept)
    written = chosen.note.updated_at
    edits.say(root, "stands", "says what it said")
    if chosen is not root:
        _swap(edits, root, chosen)
        others.remove(chosen)
    if root.note.conflict_of:
        edits.edit(root, {"conflict_of": None})
    for file in others:
        if file.note.id in kept:
            relates = (*edits.note(file).relates, root.note.id)
            edits.edit(file, {"conflict_of": None, "relates": list(dict.fromkeys(relates))})
            edits.say(file, "stands", "is a note of its own")
        else:
            _close(edits, file, edits.note(root), written)
            edits.say(file, "closed", f"keeps its text, superseded by {root.note.id}")
    return root


def _swap(edits: Edits, root: NoteFile, chosen: NoteFile) -> None:
    """Give the id to the text of another version, whose file keeps the old text, closed."""
    old, new = edits.text(root), edits.text(chosen)
    times = [time for time in (root.note.updated_at, chosen.note.updated_at) if time]
    taken: dict[str, Value | None] = {"id": root.note.id, "conflict_of": root.note.conflict_of}
    if root.note.created_at:
        taken["created_at"] = root.note.created_at
    if times:
        taken["updated_at"] = max(times)
    edits.put(root, codec.edit(new, taken, path=root.path))
    edits.put(chosen, codec.edit(old, {"id": chosen.note.id}, path=chosen.path))
    _close(edits, chosen, edits.note(root), chosen.note.updated_at)
    edits.say(root, "stands", f"says what {chosen.note.id} said")
    edits.say(chosen, "closed", f"keeps the text that {root.note.id} had, superseded by it")


def _replacements(edits: Edits, found: _Found, kept: set[str]) -> NoteFile:
    """Some replacements stand and name each other, the others are closed by the first of them; returns that one."""
    first, *more = (file for file in found.files if file.note.id in kept)
    for file in (first, *more):
        _reopen(edits, file)
        edits.say(file, "stands", "says what it said")
    for file in more:
        relates = (*edits.note(file).relates, first.note.id)
        edits.edit(file, {"relates": list(dict.fromkeys(relates))})
    for file in found.files:
        if file.note.id not in kept:
            _close(edits, file, first.note)
            edits.say(file, "closed", f"keeps its text, superseded by {first.note.id}")
            _end_before(edits, file, found, first.note)
    if found.replaced is not None and found.replaced not in found.files:
        note = edits.note(found.replaced)
        by = first.note
        if note.status == "superseded" and note.superseded_by not in kept and closing.replaces(by, note):
            edits.edit(found.replaced, closing.closing(replace(note, valid_until=None), by))
    return first


def _end_before(edits: Edits, file: NoteFile, found: _Found, by: Note) -> None:
    """End what led to a replacement that is not kept, where it goes on after the one that is kept begins."""
    at = closing.begins(by)
    for other in _led_to(edits, file, found.dispute.about, by):
        note = edits.note(other)
        if at and note.status == "superseded" and (note.valid_until is None or at < note.valid_until):
            edits.edit(other, {"valid_until": at})


def _led_to(edits: Edits, file: NoteFile, about: str, by: Note) -> list[NoteFile]:
    """The notes between the one in question and a replacement of it, but for those that led to `by` as well."""

    def question(conn: sqlite3.Connection) -> list[NoteFile]:
        kept, lost = (_chain(conn, note, about) for note in (by, file.note))
        return [found for id_, found in lost.items() if id_ not in kept]

    return indexing.ask(edits.brain, question)


def _chain(conn: sqlite3.Connection, note: Note, about: str) -> dict[str, NoteFile]:
    """What a note replaced, and what that had replaced, back to the note in question."""
    found: dict[str, NoteFile] = {}
    ids = list(note.supersedes)
    for id_ in ids:  # it grows while it is walked
        key = naming.id_key(id_)
        file = None if key in found or key == naming.id_key(about) else _file(conn, id_)
        if file is not None:
            found[key] = file
            ids += file.note.supersedes
    return found


def _close(edits: Edits, file: NoteFile, by: Note, written: str | None = None) -> None:
    note = edits.note(file)
    changes: dict[str, Value | None] = {"conflict_of": None, "superseded_by": by.id}
    edits.edit(file, changes if note.status in CLOSED_STATUSES else {**changes, **closing.closing(note, by, written)})


def _reopen(edits: Edits, file: NoteFile) -> None:
    """Take back that a note was closed, where two people closed the rivals by each other."""
    note = edits.note(file)
    if note.status == "superseded":
        ends: dict[str, Value | None] = {"superseded_by": None, "superseded_at": None}
        if note.valid_until == note.superseded_at:
            ends["valid_until"] = None
        edits.edit(file, {"status": schema.default(note.kind, "status", note.type), **ends})


def _clean(body: str) -> str:
    return body.replace("\r\n", "\n").rstrip("\n") + "\n" if body.strip() else ""


# How it is told


def _asked(found: _Found) -> list[origins.Asked]:
    """What to ask the history about the notes of a conflict."""
    place: str | None = None
    if found.dispute.cause == "version":
        first = found.root or found.files[0]
        place = first.path
        if naming.id_key(first.note.id) != found.dispute.about:  # the note itself is gone; it lay beside its versions
            place = posixpath.join(posixpath.dirname(first.path), f"{first.note.conflict_of or found.dispute.about}.md")
    return [origins.Asked(file.note.id, file.path, place) for file in found.files]


def _told(found: _Found, wrote: Mapping[str, str]) -> Conflict:
    first = (found.root or found.files[0]).note
    ordered = sorted(found.files, key=lambda file: (file.note.id != first.id, file.note.id))
    named = found.root if found.root and naming.id_key(found.root.note.id) == found.dispute.about else found.replaced
    about = named.note.id if named else found.dispute.about
    differs = differences([file.note for file in ordered])
    rivals = tuple(_rival(file, first, differs, wrote.get(file.path)) for file in ordered)
    return Conflict(about, found.dispute.cause, rivals, differs)


def _rival(file: NoteFile, first: Note, differs: Sequence[Difference], wrote: str | None) -> Rival:
    note = file.note
    return Rival(
        note.id,
        file.path,
        note.title,
        note.status,
        wrote or note.author or note.provenance.human,
        note.updated_at or note.created_at,
        note.summary,
        tuple(found.what for found in differs if found.between(first.id, note.id)),
    )
