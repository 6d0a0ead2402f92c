"""The queue on a terminal: one candidate after the other, one key for each decision."""

from __future__ import annotations

from dataclasses import dataclass, replace

import click

from commonwealth import timeline
from commonwealth.adapters import forge, show, show_review
from commonwealth.adapters.cli import editor
from commonwealth.adapters.cli.call import Call
from commonwealth.adapters.cli.written import leave_worker
from commonwealth.adapters.terminal import Screen
from commonwealth.errors import BrainError, Refused
from commonwealth.flows import evidence, requestlog, requests, review
from commonwealth.flows.brains import Brain
from commonwealth.flows.identity import Session
from commonwealth.flows.requestanswer import Wanted
from commonwealth.flows.review import Filters, Waiting

_KEYS = "[a]pprove  [r]eject  [e]dit  [s]kip  [d]etails  [q]uit  [?]"
_KEYS_BY_REQUEST = _KEYS.replace("[a]pprove", "[p]ropose")
_APPROVE = "a  approve: it becomes a note of canon, in a commit of its own"
_PROPOSE = "p  propose: the team is asked to take it, in one request with the others that you propose now"
_HELP = """\
r  reject: it is set aside for 30 days; `brain review list --dropped` shows it
e  edit: open its file in your editor, then decide
s  skip: it waits on
d  details: all of it, with the nearest notes of canon
q  quit: the rest waits on"""
_QUIT = "quit"
_ENDS = ("q", "\x03", "\x04", "\x1b")


def walk(call: Call, filters: Filters) -> int:
    """Show each candidate that waits and do what the person's key says; 0."""
    brain, screen = call.brain(), call.screen
    found = review.listed(brain, filters)
    for problem in found.broken:
        screen.remark(f"{problem} (`brain review edit` opens it; left as it is)", "warning")
    if not found.candidates:
        screen.remark("Nothing waits for review." if not found.waiting else f"None of {found.waiting} fits.")
        return 0
    committed, walking = False, _Walk(brain, screen)
    for number, one in enumerate(found.candidates, 1):
        if number > 1:
            screen.line()
        screen.styled((f"{number} of {len(found.candidates)}", "dim"))
        decided = walking.decide(one)
        if decided == _QUIT:
            break
        committed = committed or decided == "committed"
    if committed:
        leave_worker(brain)
    left = len(review.listed(brain, filters).candidates)
    screen.remark(f"{left} still {'waits' if left == 1 else 'wait'}." if left else "Nothing waits any more.")
    return 0


@dataclass(slots=True)
class _Walk:
    """One walk through the queue. `branch` is that of the request which it has opened: what is proposed afterwards is
    added to that."""

    brain: Brain
    screen: Screen
    branch: str | None = None
    warned: str | None = None
    """The path of the candidate that was held back, and is approved when the person says so again."""

    def decide(self, one: Waiting) -> str:
        """Ask until one candidate is decided on or skipped; what was decided."""
        show_review.head(self.screen, one)
        by_request = review.by_request(self.brain, one)
        while True:
            self.screen.styled((_KEYS_BY_REQUEST if by_request else _KEYS, "cyan"))
            key = _key()
            try:
                if key == "e":
                    one = self._edited(one)
                elif decided := self._act(key, one, by_request=by_request):
                    return decided
            except BrainError as error:
                self.screen.remark(error.message, "error")
                if error.hint:
                    self.screen.remark(error.hint, "hint")
                if isinstance(error, Refused) and key in ("a", "r"):
                    return "refused"

    def _act(self, key: str, one: Waiting, *, by_request: bool) -> str | None:
        """Do what a key says; what was decided by it, None where nothing was."""
        if key in _ENDS:
            return _QUIT
        if key == "s":
            return "skipped"
        if key == "r" or (key == "a" and not by_request):
            return self._settled(one, key)
        if key == "p" and by_request:
            return self._proposed(one)
        if key == "d":
            found = review.shown(self.brain, one.path, now=timeline.now())
            request = requestlog.by_candidate(self.brain.root).get(found.candidate.note.id.casefold())
            show_review.shown(self.screen, found, evidence.words(found.candidate.origin), request)
        else:
            self.screen.line(f"{_PROPOSE if by_request else _APPROVE}\n{_HELP}")
        return None

    def _settled(self, one: Waiting, key: str) -> str | None:
        """Approve or reject a candidate; None where it is held back, and the person can look at it, or say so again."""
        now = timeline.now()
        if key == "r":
            receipt = review.reject(self.brain, [one.path], session=Session(), now=now)
            show_review.rejected(self.screen, replace(receipt, items=()))
            return receipt.state
        anyway = self.warned == one.path
        receipt = review.approve(self.brain, [one.path], session=Session(), now=now, anyway=anyway)
        if receipt.state != "staged":
            show.receipt(self.screen, receipt)
            return receipt.state
        self.warned = one.path
        self.screen.remark(f"{receipt.reason}; a once more approves it all the same, e mends it", "warning")
        return None

    def _proposed(self, one: Waiting) -> str | None:
        """Ask the team to take a candidate; None where that did not come about, and something else can be done."""
        wanted, now = Wanted(add_to=self.branch), timeline.now()
        with self.screen.working("Asking the team"):
            answered = requests.send(self.brain, [one.path], wanted, connect=forge.connect, session=Session(), now=now)
        show.receipt(self.screen, answered.receipt)
        show_review.proposed(self.screen, answered)
        if answered.receipt.state not in ("staged", "unchanged"):
            return None
        if self.branch is None and answered.requests:
            self.branch = answered.requests[0].request.branch
        return "proposed"

    def _edited(self, one: Waiting) -> Waiting:
        show.receipt(self.screen, editor.edit(self.brain, one.path))
        again = review.find(self.brain, one.path)
        show_review.head(self.screen, again)
        return again


def _key() -> str:
    """One key of the person's; the end of the input counts as the wish to quit."""
    try:
        return click.getchar().lower()[:1] or "q"
    except (KeyboardInterrupt, EOFError):
        return "q"
