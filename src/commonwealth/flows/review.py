"""What waits for a person: listed, shown with what speaks for and against it, approved, turned down, edited."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from commonwealth.errors import BadNote, Refused, Usage
from commonwealth.flows import (
    allowed,
    deciding,
    identity,
    modes,
    ownqueue,
    recall,
    requestlog,
    saving,
    update,
)
from commonwealth.flows.approval import APPROVED, Approval, dropped
from commonwealth.flows.beside import Shown, shown
from commonwealth.flows.brains import Brain, review_mode
from commonwealth.flows.identity import Session
from commonwealth.flows.picking import find, place
from commonwealth.flows.update import FieldValue, SectionEdit
from commonwealth.model import Item, Problem, Receipt
from commonwealth.notes import codec, naming, store, waiting
from commonwealth.notes.candidate import Origin
from commonwealth.notes.waiting import Waiting
from commonwealth.safetext import one_line

__all__ = [
    "Filters", "Listing", "Origin", "Shown", "Waiting", "approve", "edit", "find", "listed", "place", "reject", "shown",
]  # fmt: skip

REJECTED = "it was rejected already"

_BY_REQUEST = "what is captured from sessions comes into this brain by pull request only (sweeps: pull-request)"

MAX_REASON = 2000
"""Characters."""


@dataclass(frozen=True, slots=True)
class Filters:
    """Which candidates are meant: of several filters all have to fit, of several values of one any. The beginning of a
    session's id is enough. `since` is canonical time; `mine` means those whose author is the person here."""

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
    found, broken = ownqueue.listed(brain.root, dropped=filters.dropped)
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
        (filters.type, (one.note.type,)),
        (filters.status, (one.note.status,)),
        (filters.verdict, (origin.verdict,)),
        (filters.component, one.note.components),
    )
    if any(wanted and not _meets(wanted, has) for wanted, has in said):
        return False
    if filters.session and not _begins(filters.session, (origin.session, one.note.provenance.session)):
        return False
    return filters.since is None or waiting.staged_at(one) >= filters.since


def _meets(wanted: tuple[str, ...], has: Iterable[str | None]) -> bool:
    keys = {value.casefold() for value in wanted}
    return any(value is not None and value.casefold() in keys for value in has)


def _begins(wanted: tuple[str, ...], has: Iterable[str | None]) -> bool:
    keys = tuple(value.casefold() for value in wanted if value)
    return any(value is not None and value.casefold().startswith(keys) for value in has)


# Decisions


def approve(brain: Brain, ids: Sequence[str] | Filters, *, session: Session, now: str, anyway: bool = False) -> Receipt:
    """Bring candidates into canon, all in one commit: those of `ids`, or all that filters let through.

    The receipt is `committed` where anything was, with an item for each: `committed`, `unchanged` (it was approved
    before, or a note says the same), `refused` with the reason, which then waits on, or `staged` where something speaks
    against it that nobody was told of, or that the gate said of one that no person named (`anyway`: approve it all the
    same, with a warning); and one for each note that was closed, as a candidate replaces it. Raises Refused for an id
    that is unknown or ambiguous, and where this brain takes notes by pull request only.
    """
    mode = review_mode(brain)
    if mode == "pull-request":
        named = " ".join(ids) if not isinstance(ids, Filters) else "--all"
        raise Refused(
            "Notes come into this brain by pull request only (review: pull-request).",
            hint=f"`brain review pr {one_line(named, 300)}` asks for one with them.",
        )
    chosen, items = _chosen(brain, ids)
    if swept := [one for one in chosen if by_request(brain, one)]:
        items += [Item(one.note.id, "refused", _BY_REQUEST) for one in swept]
        chosen = [one for one in chosen if one not in swept]
    if not chosen and any(item.state == "refused" for item in items):
        step = f"`brain review pr {items[-1].id}` asks for one with it."
        return Receipt("refused", tuple(item.id for item in items), reason=_BY_REQUEST, next=step, items=tuple(items))
    if not chosen:
        return Receipt("unchanged", tuple(item.id for item in items), reason=_why(items), items=tuple(items))
    unread = isinstance(ids, Filters) or session.agent is not None  # where a person has to look, a tool is none
    receipt = Approval(brain, chosen, identity.whoami(brain), session, now, anyway=anyway, unread=unread).run()
    receipt = replace(receipt, warnings=(*receipt.warnings, *_still_asked(brain, receipt)))
    if receipt.next is None and (left := next((one.id for one in receipt.items if one.state == "staged"), None)):
        receipt = replace(receipt, next=f"`brain review show {left}` tells more; `--anyway` approves it all the same.")
    return replace(receipt, items=(*items, *receipt.items)) if items else receipt


def _still_asked(brain: Brain, receipt: Receipt) -> Iterator[str]:
    """The requests that ask the team for what has just been approved here."""
    asked = requestlog.by_candidate(brain.root)
    for item in receipt.items:
        if item.state == "committed" and (request := asked.get(item.id)) is not None and request.is_open:
            yield f"{item.id} is also asked for by {request.place}: take it out there, or close that"


def by_request(brain: Brain, one: Waiting) -> bool:
    """Whether a candidate comes into canon by a request to the team alone."""
    is_swept = one.origin is not None and one.origin.source == "sweep"
    return "pull-request" in (review_mode(brain), modes.sweep_mode(brain) if is_swept else None)


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

    The receipt is `unchanged`, as canon is, and names them in `dropped`; it is `refused` where all of them were
    approved meanwhile. Raises Refused for an id that is unknown or ambiguous and for a secret in the reason, Usage for
    a reason that is too long, Damaged where staging cannot be written, Busy.
    """
    reason = _checked(reason)
    chosen, broken = _rejected(brain, ids)
    who = identity.whoami(brain).name
    by = f"{who} with {session.agent}" if session.agent else who
    items: list[Item] = []
    with deciding.alone(brain):
        items += [_set_aside(brain, one, by=by, reason=reason, now=now) for one in chosen]
        for path in broken:
            waiting.drop_file(brain.root, path)
            items.append(Item(naming.stem(path), "dropped", reason))
    ids_ = tuple(item.id for item in items)
    if items and all(item.state == "refused" for item in items):
        step = "`brain retract` withdraws a note of canon."
        return Receipt("refused", ids_, reason=items[0].reason, next=step, items=tuple(items))
    gone = tuple(item.id for item in items if item.state == "dropped")
    told = "1 candidate was" if len(gone) == 1 else f"{len(gone)} candidates were"
    return Receipt(
        "unchanged",
        ids_,
        reason=f"{told} set aside; {_back(chosen)}" if gone else _why(items),
        items=tuple(items),
        dropped=gone,
    )


def _back(chosen: Sequence[Waiting]) -> str:
    if not chosen:
        return f"what cannot be read is removed after {waiting.DAYS} days"
    return f"`brain review approve` brings them back within {waiting.DAYS} days"


def _set_aside(brain: Brain, one: Waiting, *, by: str, reason: str | None, now: str) -> Item:
    """Drop one candidate as its file is by now, unless somebody has decided on it meanwhile; what became of it."""
    if one.is_dropped:
        return Item(one.note.id, "unchanged", REJECTED)
    there = deciding.still(brain, one)
    if isinstance(there, Item):
        return there
    waiting.drop(brain.root, there, dropped(there, by=by, because=reason, now=now))
    return Item(there.note.id, "dropped", reason)


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

    The receipt is `staged`, `unchanged` where the file says so already, or `refused` for a secret and for one that
    somebody has decided on meanwhile. Raises Usage that names every invalid field, Refused for an unknown or ambiguous
    id, Damaged where staging cannot be written, Busy.
    """
    found = find(brain, note_id)
    with deciding.alone(brain):
        one = deciding.still(brain, found)
        if isinstance(one, Item):
            step = f"`brain update {one.id}` changes a note of canon." if one.state == "refused" else None
            return Receipt("refused", (one.id,), reason=one.reason, next=step)
        data = update.edited(one.data, one.path, changes, section=section, body=body, now=now)
        if data is None:
            return Receipt("unchanged", (one.note.id,), reason="the candidate says so already")
        refusal = saving.refused_for_secret(codec.parse(codec.decode(data, one.path), one.path, "")[0])
        if refusal is not None:
            return replace(refusal, ids=(one.note.id,))
        store.put(brain.root, one.path, data)
    return _edited(waiting.read(brain.root, one.path))


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
    if deciding.in_canon(brain, one) is None:
        return _edited(one)
    return _edited(
        one,
        f"{one.note.id} is in canon by now, without this edit: `brain update` changes it there; approved, this "
        "becomes a note of its own",
    )


def _edited(one: Waiting, *more: str) -> Receipt:
    """The receipt of an edit: what is still odd about the file, and what comes next."""
    said, warnings = one.origin, (*map(str, one.doubts), *more)
    if not one.is_dropped:
        step = f"`brain review approve {one.note.id}` brings it into canon."
        return Receipt("staged", (one.note.id,), warnings=warnings, next=step)
    by = f" by {said.dropped_by}" if said and said.dropped_by else ""
    because = f" ({said.dropped_because})" if said and said.dropped_because else ""
    reason = f"it was turned down{by}{because}, and does not wait in the queue"
    step = f"`brain review approve {one.note.id}` brings it into canon all the same."
    return Receipt("staged", (one.note.id,), reason=reason, warnings=warnings, next=step)
