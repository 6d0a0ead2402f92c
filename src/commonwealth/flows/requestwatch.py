"""What became of requests: merged, in whatever way; closed; changed by somebody else.

A candidate leaves the queue only when the note is in this clone's canon too, and only if its file still says what was
asked for, or what canon says. In every other case it stays, and that is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from commonwealth.errors import BadNote, BrainError, Busy, Damaged, Offline, Refused
from commonwealth.flows import requestlog, requesttext
from commonwealth.flows.brains import Brain
from commonwealth.flows.forges import CLOSED, MERGED, Connect
from commonwealth.flows.requestlog import Book, Request, Sent
from commonwealth.model import Item
from commonwealth.notes import codec, naming, store, waiting
from commonwealth.repo import notebranch, remote
from commonwealth.repo.git import Git
from commonwealth.repo.head import branch_tip, main_branch, ref_value
from commonwealth.repo.listed import listed
from commonwealth.safetext import one_line


@dataclass(slots=True)
class Noticed:
    """What is to be told: an item for each note that was merged, and sentences about everything else."""

    items: list[Item] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)


def notice(brain: Brain, *, timeout: float, connect: Connect | None = None, patience: float = 0) -> Noticed:
    """See what became of the open requests of this clone, after a sync.

    Where there are none, nothing is asked of anybody; else the remote is asked once for its branches, and with
    `connect` each host for the state of a request. `timeout` in seconds bounds each call. What cannot be asked now
    is asked by the next sync. Raises Damaged where the clone itself is broken.
    """
    told = Noticed()
    if not requestlog.load(brain.root).requests:
        return told
    with suppress(Busy, Refused), requestlog.alone(brain.root, patience) as book:
        git = Git(brain.root)
        name, base = remote.remote_name(git), main_branch(git)
        if name is not None:
            _Watch(brain, git, book, name, base, timeout, connect, told).run()
        _tidy(brain.root, book)
    return told


@dataclass(slots=True)
class _Watch:
    brain: Brain
    git: Git
    book: Book
    name: str
    base: str
    timeout: float
    connect: Connect | None
    told: Noticed

    def run(self) -> None:
        """Look at every open request, by what is here first."""
        for request in self._open():
            self._settle_merged(request)
        if not self._open():
            return
        tips = self._tips()
        if tips is None:
            return
        for request in self._open():
            self._settle_over(request, tips)

    def _open(self) -> list[Request]:
        return [one for one in self.book.requests.values() if one.is_open and (one.commit or one.trying)]

    def _tips(self) -> dict[str, str] | None:
        """The branches that the remote has, with the main branch as it is after that: what was merged and deleted is on
        it. None where the remote cannot be asked."""
        folders = {request.branch.rpartition("/")[0] for request in self._open() if not request.agit}
        tips: dict[str, str] = {}
        try:
            for folder in sorted(folders):
                tips |= remote.tips(self.git, self.name, f"{folder}/*", self.timeout)
            if any(request.branch not in tips for request in self._open()):
                notebranch.main_tip(self.git, self.name, self.base, self.timeout)
        except BrainError:
            return None
        return tips

    # Merged

    def _settle_merged(self, request: Request) -> None:
        """Take what is canon out of the queue, and out of the request."""
        theirs, ours = self._main(), branch_tip(self.git, self.base)
        if theirs is None or ours is None:
            return
        there, here = self._places(request, theirs), self._places(request, ours)
        done = [one for one in request.notes if one.id in there and one.id in here]
        for one in done:
            self._settle_note(request, one, ours, here[one.id])
        left = tuple(one for one in request.notes if one not in done)
        if not left:
            self.book.drop(request.branch)
            notebranch.forget(self.git, request.branch)
        elif done:
            self.book.put(replace(request, notes=left))

    def _main(self) -> str | None:
        return ref_value(self.git, remote.tracking_ref(self.name, self.base))

    def _places(self, request: Request, tip: str) -> dict[str, str]:
        """Where in a tree the notes of a request lie, by id: a reviewer may have moved or renamed one."""
        paths = notebranch.paths(self.git, tip, sorted(naming.places(self.brain.folders)))
        found = {one.id: requesttext.placed(paths, one.id) for one in request.notes}
        return {note_id: path for note_id, path in found.items() if path is not None}

    def _settle_note(self, request: Request, one: Sent, tip: str, path: str) -> None:
        who = notebranch.added_by(self.git, tip, path)
        by = f" by {one_line(who, 60)}" if who else ""
        canon = notebranch.read(self.git, tip, [path]).get(path, b"")
        if self._approved_here(request, one, canon, path):
            self.told.lines.append(
                f"{one.id} came into canon by an approval here{by}, and not by {request.place}, which may ask for it "
                "still: take it out there, or close that."
            )
            return
        try:
            candidate = waiting.read(self.brain.root, one.staged)
        except (FileNotFoundError, BadNote, Refused):
            self.told.items.append(Item(one.id, "merged", f"{request.place}{by}"))
            return
        changed = requesttext.digest(candidate.data) != one.digest
        if changed and not requesttext.says_same(canon, candidate.data, path):
            self.told.lines.append(
                f"{one.id} was merged{by} as {request.place} had it; its candidate was changed here since and stays: "
                f"`brain review show {one.id}`, then `brain update` what is canon, or reject it."
            )
            return
        try:
            gone = waiting.remove(self.brain.root, one.staged, candidate.data)
        except (Damaged, Refused) as error:
            self.told.lines.append(f"{one.id} was merged{by}. {error.message}")
            return
        if gone:
            self.told.items.append(Item(one.id, "merged", f"{request.place}{by}"))

    def _approved_here(self, request: Request, one: Sent, canon: bytes, path: str) -> bool:
        """Whether canon has the note because a person has approved the candidate: that says so in the note itself, as
        no request of ours does."""
        if not _is_reviewed(canon, path):
            return False
        tip, sent = request.commit or request.trying, b""
        with suppress(BrainError):
            sent = notebranch.read(self.git, tip, [one.path]).get(one.path, b"") if tip else b""
        return not _is_reviewed(sent, one.path)

    # Over

    def _settle_over(self, request: Request, tips: dict[str, str]) -> None:
        """Whether a request that has something unmerged has ended all the same."""
        tip = tips.get(request.branch)
        gone = not request.agit and request.commit is not None and tip is None
        state = None if gone else self._state(request)
        main = self._main()
        whole = tip is not None and main is not None and self._follows(main, tip)
        if request.commit is None and tip is None and not request.agit:
            self.book.drop(request.branch)  # it never arrived
            return
        if not (gone or whole or state in (CLOSED, MERGED)):
            self._settle_changed(request, tip)
            return
        if main is not None and set(self._places(request, main)) & {one.id for one in request.notes}:
            return  # merged a moment ago: the next sync brings it here, and then it leaves the queue
        count = len(request.notes)
        waits = "1 candidate waits" if count == 1 else f"{count} candidates wait"
        how = "was merged without them" if whole or state == MERGED else "was closed"
        self.told.lines.append(f"The request {request.place} {how}: {waits} for review again.")
        self.book.put(replace(request, state=CLOSED))
        notebranch.forget(self.git, request.branch)

    def _follows(self, new: str, old: str) -> bool:
        return self.git.call("merge-base", "--is-ancestor", old, new).code == 0

    def _settle_changed(self, request: Request, tip: str | None) -> None:
        changed = tip is not None and tip not in (request.commit, request.trying)
        if changed and not request.changed:
            self.told.lines.append(
                f"Somebody else has pushed to {request.place}: what is merged counts, and the candidate here stays "
                "until then."
            )
        if tip is not None and tip == request.trying:
            request = replace(request, commit=tip, trying=None)
        if request != self.book.requests[request.branch] or changed != request.changed:
            self.book.put(replace(request, changed=changed))

    def _state(self, request: Request) -> str | None:
        if self.connect is None or not request.opened:
            return None
        url = next((url for who, url, way in listed(self.git) if (who, way) == (self.name, "push")), "")
        try:
            return self.connect(url).state(request.branch, request.base, request.number)
        except (Refused, Offline):
            return None


def _is_reviewed(data: bytes, path: str) -> bool:
    try:
        return codec.parse(codec.decode(data, path), path, "")[0].reviewed is not None
    except BadNote:
        return False


def _tidy(root: Path, book: Book) -> None:
    """Forget closed requests of which no candidate waits any more."""
    for request in list(book.requests.values()):
        if not request.is_open and not _waits(root, request.notes):
            book.drop(request.branch)


def _waits(root: Path, notes: Sequence[Sent] | Iterable[Sent]) -> bool:
    return any((root / one.staged).is_file() for one in notes if one.staged.startswith(f"{store.STAGING}/"))
