"""What a hook tells: at a session's start what bears on it, at a prompt and before an edit what bears on that.

Each note is told once in a session. A person waits for a prompt and for an edit, so nothing there starts a worker,
touches the network or brings the index up to date; what stands in the way is said at the next start of a session.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from commonwealth import timeline, userconfig
from commonwealth.flows import brains, brief, moments, told
from commonwealth.flows.brains import Brain
from commonwealth.hosts import hook
from commonwealth.hosts.hook import HookCall, Host
from commonwealth.safetext import one_line
from commonwealth.userconfig import UserConfig

if TYPE_CHECKING:
    from commonwealth.flows.brief import Brief

WALL = 2.0
"""Seconds after which a prompt or an edit goes on without us."""

MOMENT_OF = {"UserPromptSubmit": "prompt", "PreToolUse": "edit"}
_EMPTIED = ("startup", "clear", "compact")
"""Why a session starts with nothing of what it was told before."""


@dataclass(frozen=True, slots=True)
class Told:
    """The answer to a hook, and for the log what became of it, how many notes it holds, and why there is none."""

    text: str = ""
    outcome: str = "silent"
    notes: int = 0
    reason: str | None = None


def at_start(host: Host, call: HookCall, brain: Brain, own: UserConfig) -> Brief:
    """What a session that starts is told; after a compaction, first what that took from it.

    The index is brought up to date where it is not. Raises BrainError where it cannot be read.
    """
    from commonwealth.flows import freshness, identity  # noqa: PLC0415  # for a start alone

    known = told.forget(brain, call.reader) if call.source in _EMPTIED else told.seen(brain, call.reader)
    if call.source in ("startup", "clear"):
        known = frozenset()  # what was told before is gone, and nobody has to hear it first
    budget = moments.tokens("start", own, brain, os.environ)
    ask: brief.Ask = freshness.ask_as_it_is
    if not freshness.is_current(brain):
        from commonwealth.flows import indexing  # noqa: PLC0415  # most sessions find the index as it should be

        ask = indexing.ask
    of = identity.Session(host.agent, call.session)
    source, now = call.source or "startup", timeline.now()
    found = brief.session_start(brain, now=now, budget=budget, ask=ask, session=of, source=source, skip=known)
    told.remember(brain, call.reader, (id_ for id_, _ in found.notes))
    return found


def answer(host: Host, call: HookCall) -> Told:
    """The answer to a prompt or an edit. Raises BrainError where a brain or a setting cannot be read."""
    moment = MOMENT_OF[call.event]
    if moment == "edit" and call.edit is None:
        return Told(outcome="ignored", reason="no edit of a file")
    if moment == "prompt" and (call.subagent or not call.prompt.strip()):
        return Told(outcome="ignored", reason="no prompt of a person")
    own = userconfig.load()
    brain = brains.for_session(call.cwd, call.project_dir)
    if brain is None:
        return Told(outcome="no brain")
    budget = moments.tokens(moment, own, brain, os.environ)
    if not budget:
        return Told(outcome="off", reason=f"{moment} is switched off")
    found = _found(call, brain, budget)
    if not found.text:
        return Told(reason=found.reason or next((reason for _, reason in found.left), "nothing bears on it"))
    ids = [id_ for id_, _ in found.notes]
    told.remember(brain, call.reader, ids)
    question = _question(found) if own.edit_question == "contradiction" else None
    return Told(hook.render(host, call.event, found.text, question=question), "injected", len(ids))


def _found(call: HookCall, brain: Brain, budget: int) -> Brief:
    now, seen = timeline.now(), told.seen(brain, call.reader)
    if call.edit is None:
        return brief.at_prompt(brain, call.prompt, now=now, budget=budget, skip=seen)
    return brief.before_edit(brain, _from_cwd(call), call.edit.added, now=now, budget=budget, skip=seen)


def _from_cwd(call: HookCall) -> list[str]:
    """The files of an edit as absolute paths, as far as the session's folder is known."""
    assert call.edit is not None
    return [os.path.join(call.cwd, path) if call.cwd else path for path in call.edit.paths]


def _question(found: Brief) -> str | None:
    """What the person is asked before an edit that a decision speaks against."""
    if not found.against:
        return None
    return one_line(f"The team's decision {found.against[0]} speaks against this edit.", 300)
