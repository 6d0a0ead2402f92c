"""Candidates go to the team as a request: a branch with nothing but their files, pushed and opened on its host.

Every step can be the last: a branch that arrived is known again by what is in it, and a request that could not be
opened is opened by the same call later. Nothing leaves the queue here; that happens once the notes are canon (see
`requestwatch`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from commonwealth.errors import BadNote, Offline, Refused
from commonwealth.flows import fitting, identity, requestlog, requesttext, review
from commonwealth.flows.brains import Brain
from commonwealth.flows.content import content_of
from commonwealth.flows.forges import CLOSED, Ask, Connect, Forge, Opened
from commonwealth.flows.identity import Identity, Session
from commonwealth.flows.requestanswer import Answered, Proposed, Wanted, again, receipt_of
from commonwealth.flows.requestlog import Book, Request, Sent
from commonwealth.flows.requesttext import Planned, digest, placed, says_same
from commonwealth.flows.review import Filters
from commonwealth.model import Item, Receipt
from commonwealth.notes import naming
from commonwealth.notes.waiting import Waiting
from commonwealth.repo import notebranch, remote
from commonwealth.repo.commit import refuse_secrets
from commonwealth.repo.content import Content
from commonwealth.repo.git import Git
from commonwealth.repo.head import main_branch
from commonwealth.repo.listed import listed
from commonwealth.safetext import one_line

_PATIENCE = 10.0
"""Seconds that another look at the requests may take."""

_MOST_BRANCHES, _MOST_NAMES = 32, 100
"""So many branches of ours that are not remembered are looked into, and so many names tried."""


def send(
    brain: Brain,
    chosen: Sequence[str] | Filters,
    wanted: Wanted,
    *,
    connect: Connect,
    session: Session,
    now: str,
    timeout: float = 60,
) -> Answered:
    """Ask the team to take candidates: those of the ids, or all that filters let through, in one request.

    One that is in an open request stays there, in its newest text. The receipt has an item for each: `staged` with the
    request, `unchanged`, or `refused` with the reason. `timeout` in seconds bounds each call of the network. Raises
    Refused for an unknown id, without a remote and for a secret; Offline, Declined and what else the remote's answer
    means; Busy.
    """
    found = _chosen(brain, chosen)
    if not found:
        return Answered(Receipt("unchanged", reason="no candidate waits that fits"))
    with requestlog.alone(brain.root, _PATIENCE) as book:
        try:
            sending = _sending(brain, wanted, book, connect, session, now, timeout)
        except Offline as error:
            hint = f"Nothing was sent, and the queue is as it was. {again(one.note.id for one in found)}"
            raise Offline(error.message, hint=hint) from None
        return sending.run(found)


def _chosen(brain: Brain, chosen: Sequence[str] | Filters) -> list[Waiting]:
    if isinstance(chosen, Filters):
        return list(review.listed(brain, chosen).candidates)
    return list({one.path: one for one in (review.find(brain, note_id) for note_id in chosen)}.values())


def _sending(
    brain: Brain, wanted: Wanted, book: Book, connect: Connect, session: Session, now: str, timeout: float
) -> _Sending:
    """Learn what the remote has. Branches are asked for before the main branch is fetched: what was merged and deleted
    in between is on it then."""
    git = Git(brain.root)
    name = remote.remote_name(git)
    if name is None:
        raise Refused(
            "This brain has no remote that a request could be opened on.",
            hint="`git remote add origin URL` in it, then `brain sync`.",
        )
    url = next((url for who, url, way in listed(git) if (who, way) == (name, "push")), "")
    author = identity.whoami(brain)
    tips = remote.tips(git, name, f"{notebranch.NOTES}{author.ref}/*", timeout)
    base = main_branch(git)
    main = notebranch.main_tip(git, name, base, timeout)
    return _Sending(
        brain=brain,
        wanted=wanted,
        book=book,
        git=git,
        content=content_of(brain),
        name=name,
        base=base,
        main=main,
        tips=tips,
        forge=connect(url),
        author=author,
        session=session,
        now=now,
        timeout=timeout,
        paths=notebranch.paths(git, main, sorted(naming.places(brain.folders))),
    )


@dataclass(slots=True)
class _Sending:
    """One call on its way."""

    brain: Brain
    wanted: Wanted
    book: Book
    git: Git
    content: Content
    name: str
    base: str
    main: str
    """The tip of the remote's main branch."""
    tips: dict[str, str]
    """The tips of our branches with notes on the remote."""
    forge: Forge
    author: Identity
    session: Session
    now: str
    timeout: float
    paths: list[str]
    """The notes of the remote's main branch."""
    items: list[Item] = field(default_factory=list)
    proposed: list[Proposed] = field(default_factory=list)

    def run(self, found: Sequence[Waiting]) -> Answered:
        """Plan each candidate, then bring each request about."""
        ready = [one for one in map(self._planned, found) if one is not None]
        self._recover(ready)
        groups = self._groups(ready)
        for request, files in groups:
            self._request(request, files)
        return Answered(receipt_of(self.items, self.proposed), tuple(self.proposed))

    # What is asked

    def _planned(self, one: Waiting) -> Planned | None:
        """The file of a candidate, unless something is in its way, which is told."""
        try:
            fitting.require_fit(one)
            plan = requesttext.planned(self.brain, one, self.author, self.now)
            self._require_new(plan)
        except _OnMain as error:
            self.items.append(Item(one.note.id, "unchanged", error.message))
        except (Refused, BadNote) as error:
            self.items.append(Item(one.note.id, "refused", f"{error.message} {error.hint or ''}".strip()))
        else:
            return plan
        return None

    def _require_new(self, plan: Planned) -> None:
        """Raises Refused where the main branch has a note of this id."""
        path = placed(self.paths, plan.note.id)
        if path is None:
            return
        there = notebranch.read(self.git, self.main, [path]).get(path, b"")
        if says_same(there, plan.data, path):
            raise _OnMain("it is canon already; the next sync takes it out of the queue")
        raise Refused(
            f"{self.base} of the remote has {path}, which says something else.",
            hint="`brain update` changes a note of canon; or reject the candidate.",
        )

    def _recover(self, ready: Iterable[Planned]) -> None:
        """Find requests that this clone has forgotten: branches of ours that hold just what a candidate says."""
        lost = [plan for plan in ready if self.book.open_with(plan.note.id) is None]
        unknown = [branch for branch in self.tips if not self._knows(branch)]
        for branch in unknown[:_MOST_BRANCHES] if lost else ():
            tip = notebranch.fetch(self.git, self.name, branch, self.timeout)
            there = notebranch.read(self.git, tip, [plan.path for plan in lost]) if tip else {}
            same = tuple(_sent(plan) for plan in lost if there.get(plan.path) == plan.data)
            if same and tip and not self.wanted.dry_run:
                self.book.put(Request(branch, self.base, self.now, same, kind=self.forge.kind, commit=tip))

    def _knows(self, branch: str) -> bool:
        known = self.book.requests.get(branch)
        return known is not None and known.is_open

    def _groups(self, ready: Sequence[Planned]) -> list[tuple[Request | None, list[Planned]]]:
        """The requests to bring about, each with the candidates that it has to get: those that are in one, by request;
        all others together."""
        grown: dict[str, list[Planned]] = {}
        fresh: dict[str, Planned] = {}
        for plan in ready:
            request = self.book.open_with(plan.note.id)
            if request is not None and not self._is_gone(request):
                grown.setdefault(request.branch, []).append(plan)
            elif naming.id_key(plan.note.id) in fresh:
                self.items.append(Item(plan.note.id, "refused", "another candidate that is asked for has this id"))
            else:
                fresh[naming.id_key(plan.note.id)] = plan
        if self.wanted.add_to is not None and fresh:
            grown.setdefault(self._named(self.wanted.add_to).branch, []).extend(fresh.values())
            fresh = {}
        groups: list[tuple[Request | None, list[Planned]]] = [
            (self.book.requests[branch], plans) for branch, plans in grown.items()
        ]
        return [*groups, (None, list(fresh.values()))] if fresh else groups

    def _is_gone(self, request: Request) -> bool:
        """Whether the remote has the branch of a request no more; then the request is over, and what it held is not on
        the main branch."""
        if request.agit or request.branch in self.tips or (request.commit is None and request.trying is None):
            return False
        if not self.wanted.dry_run:
            self.book.put(replace(request, state=CLOSED))
        return request.commit is not None or request.trying is not None

    def _named(self, text: str) -> Request:
        """The open request that a person names."""
        wanted = text.strip()
        key = naming.id_key(wanted)
        found = [
            one
            for one in self.book.requests.values()
            if one.is_open
            and (
                wanted in (one.branch, one.url, str(one.number or ""), one.branch.rpartition("/")[2])
                or any(naming.id_key(sent.id) == key or sent.id.endswith(f"-{key}") for sent in one.notes)
            )
        ]
        if len(found) == 1 and not self._is_gone(found[0]):
            return found[0]
        there = ", ".join(one.place for one in self.book.requests.values() if one.is_open)
        told = "means several open requests" if len(found) > 1 else "is no open request of this clone"
        raise Refused(f"{one_line(wanted, 120)!r} {told}.", hint=f"There are: {there or 'none'}.")

    # One request

    def _request(self, request: Request | None, plans: list[Planned]) -> None:
        """Bring one request about; what is in its way is told, and keeps no other from its turn."""
        try:
            self._bring_about(request, plans)
        except (Refused, Offline) as error:
            state, step = "refused", error.hint or ""
            if isinstance(error, Offline):
                state, step = "deferred", again(plan.note.id for plan in plans)
            self.items += [Item(plan.note.id, state, f"{error.message} {step}".strip()) for plan in plans]

    def _bring_about(self, request: Request | None, plans: list[Planned]) -> None:
        new = [plan for plan in plans if request is None or not _has(request, plan)]
        if request is not None and not new and (request.opened or request.manual):
            self._tell(Proposed(request, "found", self._ask(request.branch, plans, request)), plans, "unchanged")
            return
        parent = self.main if request is None else self._parent(request)
        branch = self._branch(plans) if request is None else request.branch
        ask = self._ask(branch, plans, request)
        self._refuse_words(ask)
        before = request or Request(branch, self.base, self.now, (), kind=self.forge.kind)
        kept = tuple(one for one in before.notes if all(one.id != plan.note.id for plan in plans))
        after = replace(
            before, notes=(*kept, *map(_sent, plans)), title=request.title if request else ask.title, draft=ask.draft
        )
        if self.wanted.dry_run:
            self._tell(Proposed(after, "planned", ask, tuple(plan.path for plan in plans)), plans, "staged")
            return
        after, said = self._push(after, parent, plans, ask)
        self._open(after, plans, ask, said, grown=request is not None and request.opened)

    def _ask(self, branch: str, plans: Sequence[Planned], request: Request | None) -> Ask:
        title = self.wanted.title or (request.title if request is not None else None) or None
        draft = self.wanted.draft or (request is not None and request.draft)
        return requesttext.ask(self.brain, branch, self.base, plans, title=title, draft=draft)

    def _refuse_words(self, ask: Ask) -> None:
        """The words of a request leave the machine as well. Raises Refused for a secret in them."""
        refuse_secrets("", f"{ask.title}\n{ask.body}".encode(), self.content)

    def _parent(self, request: Request) -> str:
        """The commit that a request grows from. Raises Refused where somebody else has pushed to its branch."""
        tip = self.tips.get(request.branch) or request.commit or request.trying
        if tip is None or (request.branch not in self.tips and not request.agit):
            return self.main  # it never arrived
        if tip not in (request.commit, request.trying):
            self.book.put(replace(request, changed=True))
            raise Refused(
                f"Somebody else has pushed to the branch {request.branch}: this clone adds nothing to it.",
                hint="Change the note there, or close that request and ask again.",
            )
        return tip

    def _branch(self, plans: Sequence[Planned]) -> str:
        """A name for these notes, the same whenever it is asked for, that no branch of the remote has."""
        ids = sorted(plan.note.id for plan in plans)
        short = ids[0].rpartition("-")[2] if len(ids) == 1 else ""
        if len(short) != len(naming.short_id(b"")) or not short.isascii() or not short.isalnum():
            short = naming.short_id("\x1f".join(ids).encode("utf-8", "surrogatepass"))
        stem = f"{notebranch.NOTES}{self.author.ref}/{short}"
        names = (stem if number == 1 else f"{stem}-{number}" for number in range(1, _MOST_NAMES))
        return next(name for name in names if name not in self.tips and not self._knows(name))

    def _push(
        self, request: Request, parent: str, plans: Sequence[Planned], ask: Ask
    ) -> tuple[Request, tuple[str, ...]]:
        """Make the commit and push it, unless the remote has it; the request as it is kept then, and what the remote
        printed."""
        files = {plan.path: plan.data for plan in plans}
        message = f"Propose: {one_line(ask.title, 80)}{identity.trailers(self.session)}"
        commit = notebranch.make(self.git, self.content, parent, files, message, self.author, now=self.now)
        if commit == parent != self.main:
            notebranch.keep(self.git, request.branch, commit)
            request = replace(request, commit=commit, trying=None)
            self.book.put(request)
            return request, ()
        pushing, before = self.forge.pushing(ask), self.book.requests.get(request.branch)
        request = replace(request, trying=commit, agit=pushing.ref is not None, kind=self.forge.kind)
        self.book.put(request)
        known = [self.main, *filter(None, [request.commit, self.tips.get(request.branch)])]
        target = notebranch.Target(self.name, request.branch, pushing.ref, pushing.options)
        try:
            answer = notebranch.offer(self.git, self.content, target, commit, known, self.timeout)
        except Refused:
            self._take_back(request.branch, before)
            raise
        notebranch.keep(self.git, request.branch, commit)
        request = replace(request, commit=commit, trying=None, changed=False)
        self.book.put(request)
        self._forget_closed(request)
        return request, answer.said

    def _take_back(self, branch: str, before: Request | None) -> None:
        """The remote did not take the push: what is remembered of the branch is what was before."""
        if before is None:
            self.book.drop(branch)
        else:
            self.book.put(before)

    def _forget_closed(self, request: Request) -> None:
        """A candidate is in one request: those that were closed before have no more to tell of it."""
        for other in list(self.book.requests.values()):
            if other.branch != request.branch and not other.is_open:
                left = tuple(one for one in other.notes if request.of(one.id) is None)
                if not left:
                    self.book.drop(other.branch)
                elif left != other.notes:
                    self.book.put(replace(other, notes=left))

    def _open(
        self, request: Request, plans: Sequence[Planned], ask: Ask, said: tuple[str, ...], *, grown: bool
    ) -> None:
        paths = tuple(plan.path for plan in plans)
        if grown:
            self._tell(Proposed(request, "grown", ask, paths), plans, "staged")
            return
        try:
            opened = self.forge.open(ask, said)
        except (Refused, Offline) as error:
            state = "deferred" if isinstance(error, Offline) else "refused"
            self.proposed.append(Proposed(request, "pushed", ask, paths, error))
            reason = (
                f"The branch {request.branch} is on the remote, but its request is not open: {error.message} "
                f"{error.hint or ''} `brain review pr {plans[0].note.id}` tries again."
            )
            self.items += [Item(plan.note.id, state, " ".join(reason.split())) for plan in plans]
            return
        request = _opened(request, opened)
        self.book.put(request)
        done = "manual" if opened.manual else "found" if opened.existed else "opened"
        self._tell(Proposed(request, done, ask, paths), plans, "staged")

    def _tell(self, proposed: Proposed, plans: Sequence[Planned], state: str) -> None:
        self.proposed.append(proposed)
        where = proposed.request.place
        reason = f"would go into {where}" if proposed.done == "planned" else f"it is in {where}"
        self.items += [Item(plan.note.id, state, reason) for plan in plans]


class _OnMain(Refused):
    """The note is canon already."""


def _sent(plan: Planned) -> Sent:
    return Sent(plan.note.id, plan.path, plan.one.path, digest(plan.one.data))


def _has(request: Request, plan: Planned) -> bool:
    sent = request.of(plan.note.id)
    return sent is not None and request.commit is not None and sent.digest == digest(plan.one.data)


def _opened(request: Request, opened: Opened) -> Request:
    return replace(
        request,
        url=opened.url or request.url,
        number=opened.number or request.number,
        opened=not opened.manual,
        manual=opened.manual,
    )
