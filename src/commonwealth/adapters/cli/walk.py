"""The queue on a terminal: one candidate after the other, one key for each decision."""

from __future__ import annotations

import click

from commonwealth import timeline
from commonwealth.adapters import show, show_review
from commonwealth.adapters.cli import editor
from commonwealth.adapters.cli.call import Call
from commonwealth.adapters.cli.written import leave_worker
from commonwealth.adapters.terminal import Screen
from commonwealth.errors import BrainError, Refused
from commonwealth.flows import evidence, review
from commonwealth.flows.brains import Brain
from commonwealth.flows.identity import Session
from commonwealth.flows.review import Filters, Waiting
from commonwealth.model import Receipt

_KEYS = "[a]pprove  [r]eject  [e]dit  [s]kip  [d]etails  [q]uit  [?]"
_HELP = """\
a  approve: it becomes a note of canon, in a commit of its own
r  reject: it is set aside for 30 days; `brain review list --dropped` shows it
e  edit: open its file in your editor, then decide
s  skip: it waits on
d  details: all of it, with the nearest notes of canon
q  quit: the rest waits on"""
_ENDS = ("q", "\x03", "\x04", "\x1b")


def walk(call: Call, filters: Filters) -> int:
    """Show each candidate that waits and do what the person's key says; 0."""
    brain, screen = call.brain(), call.screen
    found = review.listed(brain, filters)
    for problem in found.broken:
        screen.remark(f"{problem} (not a candidate; left as it is)", "warning")
    if not found.candidates:
        screen.remark("Nothing waits for review." if not found.waiting else f"None of {found.waiting} fits.")
        return 0
    committed = False
    for number, one in enumerate(found.candidates, 1):
        screen.styled((f"{number} of {len(found.candidates)}", "dim"))
        decided = _one(brain, screen, one)
        if decided is None:
            break
        committed = committed or decided == "committed"
    if committed:
        leave_worker(brain)
    left = len(review.listed(brain, filters).candidates)
    screen.remark(f"{left} still {'waits' if left == 1 else 'wait'}." if left else "Nothing waits any more.")
    return 0


def _one(brain: Brain, screen: Screen, one: Waiting) -> str | None:
    """Ask until one candidate is decided on or skipped; the state of the receipt, None to end the walk."""
    show_review.head(screen, one)
    while True:
        screen.styled((_KEYS, "cyan"))
        key = _key()
        try:
            if key in _ENDS:
                return None
            if key == "s":
                return "skipped"
            if key in ("a", "r"):
                receipt = _decide(brain, one, key)
                show.receipt(screen, receipt)
                return receipt.state
            if key == "e":
                one = _edited(brain, screen, one)
            elif key == "d":
                found = review.shown(brain, one.path, now=timeline.now())
                show_review.shown(screen, found, evidence.words(found.candidate.origin))
            else:
                screen.line(_HELP)
        except BrainError as error:
            screen.remark(error.message, "error")
            if error.hint:
                screen.remark(error.hint, "hint")
            if isinstance(error, Refused) and key in ("a", "r"):
                return "refused"


def _key() -> str:
    """One key of the person's; the end of the input counts as the wish to quit."""
    try:
        return click.getchar().lower()[:1] or "q"
    except (KeyboardInterrupt, EOFError):
        return "q"


def _decide(brain: Brain, one: Waiting, key: str) -> Receipt:
    if key == "a":
        return review.approve(brain, [one.path], session=Session(), now=timeline.now())
    receipt = review.reject(brain, [one.path], session=Session(), now=timeline.now())
    return Receipt("unchanged", receipt.ids, reason=receipt.reason)


def _edited(brain: Brain, screen: Screen, one: Waiting) -> Waiting:
    show.receipt(screen, editor.edit(brain, one))
    again = review.find(brain, one.path)
    show_review.head(screen, again)
    return again
