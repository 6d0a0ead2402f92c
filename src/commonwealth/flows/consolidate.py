"""Notes of canon that say the same become one: the others are superseded by a survivor, and none is deleted.

Which one survives, and every byte that is written, comes from the notes alone, so that all machines that consolidate
one state make the same files of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from commonwealth.curate.dedupe import REWORDED, SAME, compare
from commonwealth.errors import BadNote, BrainError, Refused
from commonwealth.flows import curation, identity, recall, replaced, saving
from commonwealth.flows.brains import Brain
from commonwealth.flows.identity import Session
from commonwealth.model import CLOSED_STATUSES, Item, Note, Receipt
from commonwealth.notes import closing, codec
from commonwealth.repo.commit import Change

_STATUS = ("confirmed", "decision", "observed", "hypothesis")
_CONFIDENCE = ("high", "medium", "low")


@dataclass(frozen=True, slots=True)
class Group:
    """Notes that say the same: the one that says all of it and stays, and those that it would supersede.

    `survivor` is None where none of them says all that the others do: a person has to unite them.
    """

    survivor: str | None
    ids: tuple[str, ...]


def groups(brain: Brain, now: str) -> tuple[Group, ...]:
    """What could be consolidated, in order of the first id."""
    notes = {hit.note.id: hit.note for hit in curation.standing(brain, now)}
    pairs = [pair for pair in curation.pairs_in(brain, list(notes.values()), now) if pair.kind in (SAME, REWORDED)]
    found = []
    for ids in _joined([(pair.one, pair.other) for pair in pairs]):
        members = [notes[id_] for id_ in ids if id_ in notes]
        survivor = surviving(members)
        found.append(Group(survivor.id if survivor else None, tuple(ids)))
    return tuple(found)


def surviving(notes: Sequence[Note]) -> Note | None:
    """The note that stays of some that say the same: one that says all that each of the others does, and does not
    begin after one of them has begun to hold by its own word; of several the best supported, then the oldest."""
    whole = [
        note
        for note in notes
        if all(
            compare(other, note).kind in (SAME, REWORDED) and _covers(note, other)
            for other in notes
            if other.id != note.id
        )
    ]
    return min(whole, key=_rank, default=None)


def _covers(note: Note, other: Note) -> bool:
    """Whether `other` would have held for a while, or `note` holds all the time that it did; and both are one scope."""
    same_place = (note.repository or "").casefold() == (other.repository or "").casefold()
    begins = closing.begins(note)
    sound = other.valid_from is None or (begins is not None and other.valid_from < begins)
    return sound and same_place and note.branch == other.branch and note.kind == other.kind


def _rank(note: Note) -> tuple[int, int, str, str]:
    status = _STATUS.index(note.status) if note.status in _STATUS else len(_STATUS)
    confidence = _CONFIDENCE.index(note.confidence) if note.confidence in _CONFIDENCE else len(_CONFIDENCE)
    return status, confidence, note.created_at or "", note.id


def _joined(pairs: Sequence[tuple[str, str]]) -> Iterator[list[str]]:
    """The ids that pairs connect, each set sorted, in order of their first."""
    of: dict[str, set[str]] = {}
    for one, other in pairs:
        both = of.get(one, {one}) | of.get(other, {other})
        for id_ in both:
            of[id_] = both
    done: set[str] = set()
    for id_ in sorted(of):
        if id_ not in done:
            done |= of[id_]
            yield sorted(of[id_])


def consolidate(brain: Brain, found: Sequence[Group], *, session: Session, now: str) -> Receipt:
    """Let the survivor of each group supersede the others, in one commit for all groups.

    Each group is looked at again under the lock: one of which a note has changed its words or was closed meanwhile
    stays as it is, with a warning. Raises as `saving.save` does.
    """
    wanted = [group for group in found if group.survivor]
    if not wanted:
        return Receipt("unchanged", reason="no two notes say the same")
    author = identity.whoami(brain)
    items: list[Item] = []

    def plan() -> saving.Planned | Receipt:
        items.clear()
        changes: list[Change] = []
        warnings: list[str] = []
        for group in wanted:
            try:
                changes += _of_group(brain, group, items)
            except (BadNote, BrainError) as error:
                warnings.append(f"{', '.join(group.ids)} stay as they are: {getattr(error, 'message', error)}")
        if not changes:
            return Receipt("unchanged", warnings=tuple(warnings))
        return saving.Planned(changes, ids=tuple(item.id for item in items), warnings=tuple(warnings))

    closed = sum(len(group.ids) - 1 for group in wanted)
    message = f"Consolidate: {closed} {'note' if closed == 1 else 'notes'}{identity.trailers(session)}"
    ids = tuple(id_ for group in wanted for id_ in group.ids)
    receipt = saving.save(brain, plan, ids=ids, message=message, author=author, now=now, command="consolidate")
    return replace(receipt, items=tuple(items)) if receipt.state == "committed" else receipt


def _of_group(brain: Brain, group: Group, items: list[Item]) -> Iterator[Change]:
    """The changes of one group. Raises Refused where it is no such group any more."""
    olds = {id_: replaced.read(brain, recall.located_once(brain, id_)) for id_ in group.ids}
    notes = [old.note for old in olds.values()]
    best = surviving(notes)
    if best is None or best.id != group.survivor or any(note.status in CLOSED_STATUSES for note in notes):
        raise Refused("they were changed meanwhile.")
    others = [note for note in notes if note.id != best.id]
    ids = (*best.supersedes, *(note.id for note in others if note.id not in best.supersedes))
    kept = olds[best.id]
    text = codec.edit(kept.text, {"supersedes": list(ids)}, path=kept.path)
    by = replace(best, supersedes=ids)
    items.append(Item(best.id, "kept", "says what the others said"))
    yield Change(kept.path, text.encode(), kept.data)
    for note in others:
        old = olds[note.id]
        items.append(Item(note.id, "closed", f"superseded by {best.id}"))
        yield Change(old.path, old.edited(brain, [*old.others, by]), old.data)
