"""Canon looked through: what no longer rests on its code, what is said twice, what cannot both be true.

Re-verification writes `verified` where its result has changed; everything else is listed for a person or an agent.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from commonwealth.curate import contradict
from commonwealth.curate.dedupe import CHANGED, MORE, NEAR, REWORDED, SAME, Likeness, compare
from commonwealth.errors import BadNote, Refused
from commonwealth.flows import curating, identity, indexing, recall, saving, verifying
from commonwealth.flows.brains import Brain
from commonwealth.flows.identity import Session
from commonwealth.index import query
from commonwealth.model import CLOSED_STATUSES, Hit, Note, Receipt, Verified, same_repository
from commonwealth.notes import codec, store
from commonwealth.notes.yamlwrite import Value
from commonwealth.repo.commit import Change
from commonwealth.repo.project import Project

MOST = 20_000
"""So many notes are looked at in one run."""

SECONDS = 600.0
"""So long one run looks at code; what is left is looked at in the next."""

_KINDS = ("memory", "decision")
_CLOSE = 0.6


@dataclass(frozen=True, slots=True)
class Rechecked:
    """A note beside its code repository: what was known before, what is found now, and what a person should know."""

    id: str
    title: str
    path: str
    before: str | None
    verified: Verified
    details: tuple[str, ...] = ()

    @property
    def is_news(self) -> bool:
        """Whether the note has to say something else than it does. An unknown result says nothing."""
        return self.verified.result not in ("unknown", self.before)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two notes of canon that are alike: `kind` is `same`, `near` or `changed`, `why` says what differs."""

    one: str
    other: str
    kind: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class Waits:
    """A candidate that waits, and what canon says of it by now."""

    id: str
    why: str


@dataclass(frozen=True, slots=True)
class Curation:
    """What a run found: notes checked anew, those that are stale, pairs that say the same or otherwise, candidates
    that canon has overtaken, and the receipt of what was written."""

    checked: int
    rechecked: tuple[Rechecked, ...]
    stale: tuple[Rechecked, ...]
    alike: tuple[Pair, ...]
    contradicting: tuple[Pair, ...]
    waiting: tuple[Waits, ...]
    receipt: Receipt


def curate(brain: Brain, project: Project | None, *, session: Session, now: str, write: bool = True) -> Curation:
    """Look through canon and the queue. Raises as `indexing.ask` and `saving.save` do."""
    notes = standing(brain, now)
    found = tuple(rechecked(project, [hit for hit in notes if _is_of(hit.note, project)], now))
    pairs = tuple(pairs_in(brain, [hit.note for hit in notes], now))
    receipt = written(brain, found, session=session, now=now) if write else Receipt("unchanged")
    return Curation(
        len(notes),
        tuple(one for one in found if one.is_news),
        tuple(one for one in found if one.verified.result == "missing"),
        tuple(pair for pair in pairs if pair.kind != CHANGED),
        tuple(pair for pair in pairs if pair.kind == CHANGED),
        tuple(_overtaken(brain, now)),
        receipt,
    )


def standing(brain: Brain, now: str) -> tuple[Hit, ...]:
    """The facts that hold now, by id."""
    wanted = query.Query(kind=_KINDS, now=now, limit=MOST)
    hits = indexing.ask(brain, lambda conn: query.search(conn, wanted)[0], sweep=True)
    return tuple(sorted((hit for hit in hits if not hit.note.conflict_of), key=lambda hit: hit.note.id))


def _is_of(note: Note, project: Project | None) -> bool:
    named = note.repository or note.provenance.repository
    return project is not None and named is not None and same_repository(named, project.identity)


# Against the code


def rechecked(project: Project | None, hits: Sequence[Hit], now: str, seconds: float = SECONDS) -> Iterator[Rechecked]:
    """Each note beside the code, as long as the time lasts."""
    end = time.monotonic() + seconds
    for hit in hits:
        left = end - time.monotonic()
        if left <= 0:
            return
        note = hit.note
        seen = verifying.checked(note, project, now=now, seconds=min(left, verifying.SECONDS))
        before = note.verified.result if note.verified else None
        yield Rechecked(note.id, note.title, hit.path, before, seen.verified, seen.details)


def written(brain: Brain, found: Sequence[Rechecked], *, session: Session, now: str) -> Receipt:
    """Write `verified` into the notes whose result has changed, in one commit."""
    news = [one for one in found if one.is_news]
    if not news:
        return Receipt("unchanged", reason="every note says already how it stands beside the code")
    author = identity.whoami(brain)

    def plan() -> saving.Planned | Receipt:
        changes, ids = [], []
        for one in news:
            try:
                data = recall.at_its_place(partial(_bytes, brain, one.path), one.path)
                changed = _with(codec.decode(data, one.path), one)
            except (BadNote, Refused):
                continue
            if changed != data:
                changes.append(Change(one.path, changed, data))
                ids.append(one.id)
        return saving.Planned(changes, ids=tuple(ids)) if changes else Receipt("unchanged")

    what = "1 note" if len(news) == 1 else f"{len(news)} notes"
    message = f"Verify: {what}{identity.trailers(session)}"
    ids = tuple(one.id for one in news)
    return saving.save(brain, plan, ids=ids, message=message, author=author, now=now, command="verify")


def _bytes(brain: Brain, path: str) -> bytes:
    return store.read_bytes(brain.root, path)[0]


def _with(text: str, one: Rechecked) -> bytes:
    said: dict[str, Value | None] = {"at": one.verified.at, "result": one.verified.result}
    if one.verified.commit:
        said["commit"] = one.verified.commit
    changes: dict[str, Value | None] = {"verified": {key: value for key, value in said.items() if value is not None}}
    return codec.edit(text, changes, path=one.path).encode()


# Beside each other


def pairs_in(brain: Brain, notes: Sequence[Note], now: str) -> Iterator[Pair]:
    """The pairs among `notes` that say the same, nearly the same, or otherwise, each once, in order of their ids."""

    def question(conn: sqlite3.Connection) -> dict[str, tuple[Note, ...]]:
        return {note.id: curating.nearest(conn, curating.candidate_of(note), now) for note in notes}

    around = indexing.ask(brain, question)
    seen: set[tuple[str, str]] = set()
    for note in notes:
        for other in around[note.id]:
            key = (min(note.id, other.id), max(note.id, other.id))
            if other.id == note.id or key in seen or _are_related(note, other):
                continue
            seen.add(key)
            pair = _pair(note, other)
            if pair is not None:
                yield pair


def _are_related(one: Note, other: Note) -> bool:
    """Whether the one replaces the other, or is its version in a conflict: that is told elsewhere."""
    return other.id in one.supersedes or one.id in other.supersedes or other.conflict_of == one.id


def _pair(one: Note, other: Note) -> Pair | None:
    scope = curating.candidate_of(one)
    if other.status in CLOSED_STATUSES or not contradict.in_scope(
        scope, other, repository=one.repository, branch=one.branch
    ):
        return None
    forth, back = compare(one, other), compare(other, one)
    if says_same(forth, back):
        return Pair(one.id, other.id, SAME)
    if forth.kind == CHANGED:
        return Pair(one.id, other.id, CHANGED, "; ".join(map(str, forth.differences[:3])))
    close = max(forth.score, back.score) >= 0.8 and forth.subject >= _CLOSE
    return Pair(one.id, other.id, NEAR) if close and forth.kind in (NEAR, MORE) else None


def says_same(forth: Likeness, back: Likeness) -> bool:
    """Whether of two notes one says all that the other does."""
    kinds = {forth.kind, back.kind}
    return bool(kinds & {SAME, REWORDED}) and kinds <= {SAME, REWORDED, MORE}


def _overtaken(brain: Brain, now: str) -> Iterator[Waits]:
    """The candidates of the queue that canon says already."""
    for file in store.staged(brain.root)[0]:
        draft = curating.candidate_of(file.note)
        for note in curating.neighbours(brain, draft, now):
            if note.id != file.note.id and compare(draft, note).kind == SAME:
                yield Waits(file.note.id, f"{note.id} says the same already")
                break


def of_one(brain: Brain, note_id: str, project: Project | None, now: str) -> Rechecked:
    """One note beside the code. Raises Refused for an id that is unknown or ambiguous."""
    reading = recall.read(brain, note_id, now=now)
    note = reading.note
    seen = verifying.checked(note, project, now=now)
    before = note.verified.result if note.verified else None
    return Rechecked(note.id, note.title, reading.path, before, seen.verified, seen.details)


def of_project(brain: Brain, project: Project | None, now: str) -> Iterator[Rechecked]:
    """The notes of one code repository beside it."""
    return rechecked(project, [hit for hit in standing(brain, now) if _is_of(hit.note, project)], now)
