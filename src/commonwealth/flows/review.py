"""What waits for a person: listed, shown with what speaks for and against it, approved, turned down, edited."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from commonwealth.errors import BadNote, Refused, Usage
from commonwealth.flows import allowed, identity, indexing, modes, recall, saving, update
from commonwealth.flows.approval import APPROVED, Approval, dropped
from commonwealth.flows.brains import Brain, review_mode
from commonwealth.flows.identity import Session
from commonwealth.flows.recall import Link
from commonwealth.flows.update import FieldValue, SectionEdit
from commonwealth.index import lookup, query
from commonwealth.model import Hit, Item, NoteFile, Problem, Receipt
from commonwealth.notes import codec, naming, store, waiting
from commonwealth.notes.candidate import Origin
from commonwealth.notes.waiting import Waiting
from commonwealth.safetext import one_line

__all__ = ["Filters", "Listing", "Origin", "Shown", "Waiting", "approve", "edit", "listed", "reject", "shown"]

_BY_REQUEST = "what is captured from sessions comes into this brain by pull request only (sweeps: pull-request)"

MAX_REASON = 2000
"""Characters."""

_NEIGHBOURS = 5


@dataclass(frozen=True, slots=True)
class Filters:
    """Which candidates are meant: of several filters all have to fit, of several values of one any. `since` is
    canonical time; `mine` means those whose author is the person here."""

    host: tuple[str, ...] = ()
    session: tuple[str, ...] = ()
    type: tuple[str, ...] = ()
    status: tuple[str, ...] = ()
    verdict: tuple[str, ...] = ()
    component: tuple[str, ...] = ()
    since: str | None = None
    mine: bool = False
    dropped: bool = False

    @property
    def any(self) -> bool:
        """Whether they leave anything out."""
        return replace(self, dropped=False) != Filters()


ALL = Filters()


@dataclass(frozen=True, slots=True)
class Listing:
    """The candidates that were asked for, the oldest first, and the files in their folder that are none. `waiting`
    counts all that wait, or were dropped, whatever the filters."""

    candidates: tuple[Waiting, ...]
    broken: tuple[Problem, ...] = ()
    waiting: int = 0


def listed(brain: Brain, filters: Filters = ALL) -> Listing:
    """The candidates of this clone that `filters` let through. Raises nothing for what lies in the folder."""
    found, broken = waiting.listed(brain.root, dropped=filters.dropped)
    me = identity.whoami(brain) if filters.mine else None
    kept = tuple(
        one
        for one in found
        if _fits(one, filters) and (me is None or one.note.author_ref == me.ref or one.note.author == me.name)
    )
    return Listing(kept, tuple(broken), len(found))


def _fits(one: Waiting, filters: Filters) -> bool:
    origin = one.origin or Origin(source="remember")
    said: tuple[tuple[tuple[str, ...], Iterable[str | None]], ...] = (
        (filters.host, (origin.host,)),
        (filters.session, (origin.session, one.note.provenance.session)),
        (filters.type, (one.note.type,)),
        (filters.status, (one.note.status,)),
        (filters.verdict, (origin.verdict,)),
        (filters.component, one.note.components),
    )
    if any(wanted and not _meets(wanted, has) for wanted, has in said):
        return False
    return filters.since is None or waiting.staged_at(one) >= filters.since


def _meets(wanted: tuple[str, ...], has: Iterable[str | None]) -> bool:
    keys = {value.casefold() for value in wanted}
    return any(value is not None and value.casefold() in keys for value in has)


# One of them


@dataclass(frozen=True, slots=True)
class Shown:
    """A candidate with what a person wants to know before deciding: the notes of canon that are most like it, what it
    would replace, of what it is a double, and beside what it cannot stand. `mode` is how notes come into canon."""

    candidate: Waiting
    neighbours: tuple[Hit, ...] = ()
    supersedes: tuple[Link, ...] = ()
    duplicate_of: Link | None = None
    contradicts: tuple[Link, ...] = ()
    mode: str = "auto"


def shown(brain: Brain, note_id: str, *, now: str) -> Shown:
    """A candidate that waits, or was dropped, with what speaks for and against it.

    Raises Refused for an unknown or ambiguous id, BadNote for a file that cannot be read.
    """
    one = find(brain, note_id)
    note, origin = one.note, one.origin or Origin()
    asked = query.Query(text=" ".join(filter(None, (note.title, note.summary)))[:600], now=now, limit=_NEIGHBOURS)
    named = (*note.supersedes, *origin.contradicts, *filter(None, (origin.duplicate_of,)))
    hits, titles = indexing.ask(
        brain,
        lambda conn: (
            query.search(conn, asked)[0] if asked.text.strip() else (),
            {id_: _titled(lookup.get(conn, id_), id_) for id_ in named},
        ),
    )
    facts = tuple(hit for hit in hits if hit.note.kind in ("memory", "decision") and hit.note.id != note.id)
    return Shown(
        one,
        facts,
        tuple(Link(id_, "supersedes", titles[id_]) for id_ in note.supersedes),
        Link(origin.duplicate_of, "duplicate_of", titles[origin.duplicate_of]) if origin.duplicate_of else None,
        tuple(Link(id_, "contradicts", titles[id_]) for id_ in origin.contradicts),
        review_mode(brain),
    )


def _titled(files: Sequence[NoteFile], id_: str) -> str | None:
    return next((file.note.title for file in files if naming.id_key(file.note.id) == naming.id_key(id_)), None)


def find(brain: Brain, note_id: str) -> Waiting:
    """The candidate of an id, a beginning or short id that is unique, or a path: of those that wait, else of those that
    were dropped.

    Raises Refused for an unknown id and one that several have, BadNote for a file that cannot be read.
    """
    wanted = _plain(note_id)
    broken: list[Problem] = []
    for dropped_ones in (False, True):
        found, problems = waiting.listed(brain.root, dropped=dropped_ones)
        broken += problems
        if meant := _meant(found, wanted):
            if len(meant) > 1:
                raise _ambiguous(note_id, meant)
            return meant[0]
    for problem in broken:
        if _names_file(problem.path, wanted):
            raise BadNote(problem.path, problem.line, problem.cause)
    raise Refused(
        f"No candidate has the id {one_line(note_id.strip(), 120)!r}.",
        hint="`brain review list` shows those that wait, `brain review list --dropped` those that were turned down.",
    )


def _plain(note_id: str) -> str:
    return naming.id_key(note_id.strip().removesuffix(".md"))


def _names_file(path: str, wanted: str) -> bool:
    return wanted in (naming.id_key(path.removesuffix(".md")), naming.id_key(naming.stem(path)))


def _meant(found: Sequence[Waiting], wanted: str) -> list[Waiting]:
    """Those whose file or id this is; else whose short id; else whose id begins so."""
    if not wanted:
        return []
    tests: tuple[Callable[[Waiting], bool], ...] = (
        lambda one: naming.id_key(one.path.removesuffix(".md")) == wanted,
        lambda one: naming.id_key(one.note.id) == wanted,
        lambda one: naming.id_key(naming.stem(one.path)) == wanted,
        lambda one: len(wanted) >= 8 and naming.id_key(one.note.id).endswith(f"-{wanted}"),
        lambda one: naming.id_key(one.note.id).startswith(wanted),
    )
    for test in tests:
        if meant := [one for one in found if test(one)]:
            return meant
    return []


def _ambiguous(note_id: str, meant: Sequence[Waiting]) -> Refused:
    ids = {naming.id_key(one.note.id) for one in meant}
    told = recall.some([one.path if len(ids) == 1 else one.note.id for one in meant])
    step = "Name one by its path." if len(ids) == 1 else "Give more of it."
    return Refused(f"The id {one_line(note_id, 120)!r} means {len(meant)} candidates: {told}.", hint=step)


# Decisions


def approve(brain: Brain, ids: Sequence[str] | Filters, *, session: Session, now: str, anyway: bool = False) -> Receipt:
    """Bring candidates into canon, all in one commit: those of `ids`, or all that filters let through.

    The receipt is `committed` where anything was, with an item for each: `committed`, `unchanged` (it was approved
    before, or a note says the same), `refused` with the reason, which then waits on, or `staged` where something speaks
    against it that nobody was told of (`anyway`: approve it all the same); and one for each note that was closed, as a
    candidate replaces it. Raises Refused for an id that is unknown or ambiguous, and where this brain
    takes notes by pull request only.
    """
    mode = review_mode(brain)
    if mode == "pull-request":
        named = " ".join(ids) if not isinstance(ids, Filters) else "--all"
        raise Refused(
            "Notes come into this brain by pull request only (review: pull-request).",
            hint=f"`brain review pr {one_line(named, 300)}` asks for one with them.",
        )
    chosen, items = _chosen(brain, ids)
    if modes.sweep_mode(brain) == "pull-request":
        swept = [one for one in chosen if one.origin is not None and one.origin.source == "sweep"]
        items += [Item(one.note.id, "refused", _BY_REQUEST) for one in swept]
        chosen = [one for one in chosen if one not in swept]
    if not chosen and any(item.state == "refused" for item in items):
        step = f"`brain review pr {items[-1].id}` asks for one with it."
        return Receipt("refused", tuple(item.id for item in items), reason=_BY_REQUEST, next=step, items=tuple(items))
    if not chosen:
        return Receipt("unchanged", tuple(item.id for item in items), reason=_why(items), items=tuple(items))
    receipt = Approval(brain, chosen, identity.whoami(brain), session, now, anyway=anyway).run()
    return replace(receipt, items=(*items, *receipt.items)) if items else receipt


def _why(items: Sequence[Item]) -> str:
    return (items[0].reason or "") if items else "no candidate waits that fits"


def _chosen(brain: Brain, ids: Sequence[str] | Filters) -> tuple[list[Waiting], list[Item]]:
    """The candidates that are meant, each once, and what is to be said of those that were approved before."""
    if isinstance(ids, Filters):
        return list(listed(brain, ids).candidates), []
    found: dict[str, Waiting] = {}
    items: list[Item] = []
    for note_id in ids:
        try:
            one = find(brain, note_id)
            found[one.path] = one
        except Refused:
            known = _in_canon(brain, note_id)
            if known is None:
                raise
            items.append(Item(known, "unchanged", APPROVED))
    return list(found.values()), items


def _in_canon(brain: Brain, note_id: str) -> str | None:
    """The id of a note of canon that was reviewed, where `note_id` names it."""
    with suppress(Refused, BadNote):
        found = recall.locate(brain, note_id)
        if store.read(brain.root, found.path, found.kind)[0].note.reviewed and saving.is_committed(brain, found.path):
            return found.id
    return None


def reject(
    brain: Brain, ids: Sequence[str] | Filters, *, reason: str | None = None, session: Session, now: str
) -> Receipt:
    """Set candidates aside for 30 days, with the reason; nothing is committed, and `approve` brings them back.

    The receipt is `unchanged`, as canon is, and names them in `dropped`. Raises Refused for an id that is unknown or
    ambiguous and for a secret in the reason, Usage for a reason that is too long, Damaged where staging cannot be
    written.
    """
    reason = _checked(reason)
    chosen, broken = _rejected(brain, ids)
    who = identity.whoami(brain).name
    by = f"{who} with {session.agent}" if session.agent else who
    items: list[Item] = []
    for one in chosen:
        if one.is_dropped:
            items.append(Item(one.note.id, "unchanged", "it was dropped before"))
            continue
        waiting.drop(brain.root, one, dropped(one, by=by, because=reason, now=now))
        items.append(Item(one.note.id, "dropped", reason))
    for path in broken:
        waiting.drop_file(brain.root, path)
        items.append(Item(naming.stem(path), "dropped", reason))
    gone = tuple(item.id for item in items if item.state == "dropped")
    told = "1 candidate was" if len(gone) == 1 else f"{len(gone)} candidates were"
    return Receipt(
        "unchanged",
        tuple(item.id for item in items),
        reason=f"{told} set aside; `brain review approve` brings them back within {waiting.DAYS} days"
        if gone
        else _why(items),
        items=tuple(items),
        dropped=gone,
    )


def _checked(reason: str | None) -> str | None:
    reason = one_line(reason, MAX_REASON + 1).strip() if reason else None
    if reason and len(reason) > MAX_REASON:
        raise Usage(f"reason: it is too long; at most {MAX_REASON} characters are possible.")
    for finding in allowed.scan(reason or "", "reason"):
        hint = f"Take it out; nothing was changed.{finding.allowing}"
        raise Refused(f"secret: {finding.where} ({finding.rule}).", hint=hint)
    return reason or None


def _rejected(brain: Brain, ids: Sequence[str] | Filters) -> tuple[list[Waiting], list[str]]:
    """The candidates that are meant, and the paths of files that are none: those can be set aside as well."""
    if isinstance(ids, Filters):
        return list(listed(brain, ids).candidates), []
    found: dict[str, Waiting] = {}
    broken: list[str] = []
    for note_id in ids:
        try:
            one = find(brain, note_id)
            found[one.path] = one
        except BadNote as error:
            if error.path.startswith(f"{store.DROPPED}/") or not error.path.startswith(f"{store.STAGING}/"):
                raise
            broken.append(error.path)
    return list(found.values()), list(dict.fromkeys(broken))


def edit(
    brain: Brain,
    note_id: str,
    changes: Mapping[str, FieldValue],
    *,
    section: SectionEdit | None = None,
    body: str | None = None,
    now: str,
) -> Receipt:
    """Change fields, one section or the whole body of a candidate, as `update` changes a note of canon.

    The receipt is `staged`, `unchanged` where the file says so already, or `refused` for a secret. Raises Usage that
    names every invalid field, Refused for an unknown or ambiguous id, Damaged where staging cannot be written.
    """
    one = find(brain, note_id)
    data = update.edited(one.data, one.path, changes, section=section, body=body, now=now)
    if data is None:
        return Receipt("unchanged", (one.note.id,), reason="the candidate says so already")
    refusal = saving.refused_for_secret(codec.parse(codec.decode(data, one.path), one.path, "")[0])
    if refusal is not None:
        return replace(refusal, ids=(one.note.id,))
    store.put(brain.root, one.path, data)
    return Receipt("staged", (one.note.id,), next=f"`brain review approve {one.note.id}` brings it into canon.")


def checked(brain: Brain, path: str) -> Receipt:
    """What a file of the queue is after a person had it in an editor: `staged`, or `refused` for a secret.

    Raises BadNote with line and cause where it is no note any more; the file stays as it is.
    """
    try:
        one = waiting.read(brain.root, path)
    except FileNotFoundError:
        raise Refused(f"{path} is gone.", hint="`brain review list` shows what waits.") from None
    finding = saving.secret_in(one.note)
    if finding is not None:
        refusal = saving.refused_for(finding)
        step = f"Take it out of {path} before it is approved.{finding.allowing}"
        return replace(refusal, ids=(one.note.id,), next=step)
    doubts = tuple(map(str, one.doubts))
    return Receipt("staged", (one.note.id,), warnings=doubts)
