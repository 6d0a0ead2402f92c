"""Which notes a session is told at its start: those that bear on what it is about, then the few that everybody in the
repository has to know."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from commonwealth.flows import relevance
from commonwealth.flows.about import About
from commonwealth.flows.attached import Attachment, attachment, names_of
from commonwealth.flows.brains import Brain
from commonwealth.flows.seeing import Seen, as_hits, is_here, own_name, seen
from commonwealth.index import candidates, lookup, schema
from commonwealth.index import scope as scopes
from commonwealth.index.terms import terms
from commonwealth.model import Hit, Note, same_repository
from commonwealth.repo import changed_here

NEAR = 8
"""So many notes that bear on the session are told."""

GENERAL = 5
"""So many are told that everybody has to know; of one topic at most `PER_TOPIC`."""

PER_TOPIC = 1

YOUNG = 5
"""A repository with no more notes than this is told all that is worth anything: there is nothing to choose from."""

FLOOR = 0.5
"""What a note has to be worth to be near."""

_READ = 120
_LATEST = 60
_IMPORTANT = ("gotcha", "decision", "domain-rule", "architecture")
_TYPES = {
    "gotcha": 1.0,
    "decision": 1.0,
    "domain-rule": 0.95,
    "architecture": 0.9,
    "discovery": 0.8,
    "investigation": 0.7,
}
_NOT = re.compile(r"(?i)\b(?:do not|don['’]t|not to|no longer|never|won['’]t|rejected?|against)\b")
_FOLDER = 0.75
_BRANCH = 0.9
_ELSEWHERE = 0.7
"""What a note counts for everybody that is attached to some files: those of all files come first."""


class Chosen(NamedTuple):
    """Hits in the order in which they are told, and why the other candidates were left."""

    hits: tuple[Hit, ...] = ()
    left: tuple[tuple[str, str], ...] = ()


class _Judged(NamedTuple):
    """A note beside a session: what it is worth as one that is near, and as one that everybody has to know."""

    row: int
    note: Note
    near: float
    general: float
    why: str


def choose(
    brain: Brain, conn: sqlite3.Connection, about: About, now: str, skip: frozenset[str], lost: frozenset[str]
) -> Chosen:
    """The notes for the start of a session: `lost` ones first, then near ones, then general ones; none of `skip`."""
    name = brain.repository
    if name is None:
        return Chosen()
    sees = seen(brain, conn)
    said = relevance.weighed(conn, terms(about.words))
    own = _of_branch(brain, conn, sees)
    near = candidates.here(conn, [*own, *_near_rows(conn, about, said)], name, now, sees.hidden)[:_READ]
    general = candidates.here(conn, candidates.latest(conn, name, _LATEST, _IMPORTANT), name, now, sees.hidden)
    young = candidates.here(conn, candidates.latest(conn, name, _LATEST), name, now, sees.hidden)
    again = candidates.here(conn, candidates.of_ids(conn, lost), name, now, sees.hidden)
    # A repository without any note is no young one: what its brain holds is about others, or about nothing here.
    whole = frozenset(young if len(young) <= YOUNG else ())
    rows = list(dict.fromkeys([*again, *near, *general, *sorted(whole)]))
    notes = {row: file.note for row, file in lookup.stored(conn, rows).items()}
    me = own_name() if notes else None
    judged = [
        _judge(row, note, about, said, me, row in whole, row in own)
        for row, note in notes.items()
        if is_here(note, name)
    ]
    return _picked(conn, judged, sees, skip, lost)


def _of_branch(brain: Brain, conn: sqlite3.Connection, sees: Seen) -> list[int]:
    """The rows of notes that are limited to the branch that the session stands on, unless that is the default one."""
    project = brain.project
    found = [scopes.of_key(key) for key in sees.labels]
    if project is None or not found or changed_here.is_default(project, project.branch):
        return []
    found = [one for one in found if one.repository and same_repository(one.repository, project.identity)]
    return candidates.named(conn, schema.SCOPE, [one.key for one in found if one.branch == project.branch])


def _near_rows(conn: sqlite3.Connection, about: About, said: relevance.Said) -> list[int]:
    rows = [row for path in about.files for row in candidates.of_file(conn, path)]
    places = [*about.files, *([about.folder + "/"] if about.folder else [])]
    rows += candidates.of_components(conn, [*about.components, *names_of(places)])
    if about.folder:
        rows += candidates.below(conn, about.folder)
    return list(dict.fromkeys([*rows, *relevance.rows_of(said)]))


def _judge(
    row: int, note: Note, about: About, said: relevance.Said, me: str | None, young: bool, mine: bool
) -> _Judged:
    kind = _TYPES.get("decision" if note.kind == "decision" else note.type, 0.6)
    own = kind * relevance.standing(note, me)
    how = Attachment(_BRANCH, "it is about this branch") if mine else _attached(note, about)
    found = relevance.evidence(said, note)
    enough = relevance.enough(found)
    spoken = min(1.0, found.score / 2.5) if enough else min(0.4, found.score / 6)
    both = max(how.worth, spoken) + 0.3 * min(how.worth, spoken)
    words = f"the branch or your work says {', '.join(found.words)}" if found.words else ""
    why = "; ".join(filter(None, (how.why, words)))
    return _Judged(row, note, own * both, _general(note, own, about, young), why)


def _attached(note: Note, about: About) -> Attachment:
    """How a note is attached to what the session is about: to a changed file, a component of its work, its folder."""
    ways = [attachment(note, path) for path in about.files]
    mine = {name.casefold() for name in about.components}
    ways += [Attachment(0.7, f"component {name}") for name in note.components if name.casefold() in mine]
    if about.folder:
        inside = attachment(note, about.folder + "/.")
        ways.append(Attachment(inside.worth * _FOLDER, inside.why))
        below = [name for name in (*note.provenance.files, *note.files) if name.startswith(about.folder + "/")]
        ways += [Attachment(_FOLDER, f"file {below[0]} in this folder")] if below else []
    return max(ways, key=lambda way: way.worth, default=Attachment(0.0))


def _general(note: Note, own: float, about: About, young: bool) -> float:
    """What a note is worth to everybody in the repository: 0 for one that is only for those who come near it."""
    if young:
        return own if own >= 0.6 else 0.0
    kind = "decision" if note.kind == "decision" else note.type
    if kind not in _IMPORTANT or note.status == "hypothesis" or note.confidence != "high":
        return 0.0
    if own < 0.9:
        return 0.0
    if not (note.components or note.provenance.files or note.files):
        # What was turned down concerns whoever proposes it.
        return 0.0 if about.focused and kind == "decision" and _NOT.search(note.title) else own
    return 0.0 if about.focused else own * _ELSEWHERE


def _picked(
    conn: sqlite3.Connection,
    judged: Iterable[_Judged],
    sees: Seen,
    skip: frozenset[str],
    lost: frozenset[str],
) -> Chosen:
    taken: dict[int, tuple[Note, str]] = {}
    left: list[tuple[str, str]] = []
    topics: Counter[str] = Counter()
    number = {"near": 0, "general": 0}
    for one in sorted(judged, key=lambda one: _order(one, lost)):
        reason = _against(one, [note for note, _ in taken.values()], number, topics, skip, lost)
        if reason:
            left.append((one.note.id, reason))
            continue
        is_near = one.near >= FLOOR
        number["near" if is_near else "general"] += 1
        topics.update(one.note.components or one.note.tags[:1])
        again = "told before the compaction" if one.note.id in lost else ""
        taken[one.row] = (one.note, again or (one.why if is_near else "") or "about this repository")
    return Chosen(tuple(as_hits(conn, taken, sees.labels)), tuple(left))


def _order(one: _Judged, lost: frozenset[str]) -> tuple[bool, float, float, str, str]:
    newest_first = "".join(chr(0x10FFFF - ord(char)) for char in one.note.updated_at or one.note.created_at or "")
    near = one.near if one.near >= FLOOR else 0.0
    return one.note.id not in lost, -near, -one.general, newest_first or "\U0010ffff", one.note.id


def _against(
    one: _Judged,
    taken: list[Note],
    number: dict[str, int],
    topics: Counter[str],
    skip: frozenset[str],
    lost: frozenset[str],
) -> str | None:
    """Why a note is left; None where it is taken."""
    if one.note.id in lost:
        return None
    if one.note.id in skip:
        return "told already in this session"
    is_near = one.near >= FLOOR
    if not is_near and not one.general:
        return f"not near what the session is about, nor for everybody ({one.why or 'nothing in common'})"
    if (other := relevance.says_again(one.note, taken)) is not None:
        return f"says much the same as {other}"
    if is_near:
        return "others are nearer" if number["near"] >= NEAR else None
    return _too_much(one.note, number["general"], topics)


def _too_much(note: Note, number: int, topics: Counter[str]) -> str | None:
    """Why a note that everybody has to know is one too many."""
    if number >= GENERAL:
        return "others matter more"
    topic = next((name for name in note.components or note.tags[:1] if topics[name] >= PER_TOPIC), None)
    return f"enough is told of {topic}" if topic else None
