"""Every event of every host: read its JSON, answer with its JSON or with nothing, exit 0 in time.

A session's start waits for a bounded sync and is told what the team knows; a prompt and an edit are told what bears on
them. The other events only leave a worker behind and say nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from commonwealth import config, timeline, userconfig
from commonwealth.adapters import detach, hook_input, worker
from commonwealth.errors import BrainError, Damaged, Refused
from commonwealth.flows import brains, capturelog, sessions, spool
from commonwealth.hosts import claude, codex, hook
from commonwealth.hosts.hook import HookCall, Host
from commonwealth.routing import Rule
from commonwealth.safetext import one_line

HOSTS = {host.name: host for host in (claude.HOST, codex.HOST)}
SYNC_LIMIT = 5.0
"""Seconds that a session's start waits for sync at most, whatever the user's config says."""

WALL = 8.0
"""Seconds after which a session starts without us."""

_PATIENCE = 2.0
"""Seconds that a host has to say why a session starts."""

_SHORT_PATIENCE = 0.5
"""The same for the other events: Codex gives the end of a session 1 s in all, Claude Code 1.5 s."""

_LOG_LIMIT = 1 << 20
_QUIET = 60
"""Seconds between the rounds of turns that follow each other quickly."""

_RESOLVING = 30
_LEAST = 0.5


@dataclass(slots=True)
class Entry:
    """One line of the log: what a hook did, without anything that a person or a note said."""

    event: str
    host: str
    session: str | None = None
    outcome: str = ""
    notes: int = 0
    reason: str | None = None


def main(arguments: list[str]) -> int:
    """`brain hook EVENT --host HOST`. Always 0: a session goes on whatever happens here."""
    event, name = _asked(arguments)
    host = HOSTS.get(name)
    handler = _HANDLERS.get(event)
    if os.environ.get("COMMONWEALTH_DISABLE") == "1" or host is None or handler is None:
        return 0
    started = time.monotonic()
    said = hook_input.read_call(_PATIENCE if event in host.context_events else _SHORT_PATIENCE)
    call = hook.parse(host, event, said.data, os.environ, whole=said.whole)
    if call is None:
        _log(Entry(event, host.name, outcome="ignored", reason="no JSON object on stdin"), started)
    elif not call.again:
        handler(host, call, started)
    return 0


def _asked(arguments: list[str]) -> tuple[str, str]:
    """Event and host, in whatever order they come."""
    words: list[str] = []
    host, left = "", list(arguments)
    while left:
        word = left.pop(0)
        if word == "--host":
            host = left.pop(0) if left else ""
        elif word.startswith("--host="):
            host = word.removeprefix("--host=")
        elif not word.startswith("-"):
            words.append(word)
    return (words[0] if words else ""), host


def _answered(host: Host, call: HookCall, started: float, wall: float, job: Callable[[Entry], str]) -> None:
    """Print what `job` answers within `wall` seconds of the hook's start, if anything."""
    entry = Entry(call.event, host.name, call.session)

    def answer() -> bytes:
        return _logged(lambda: job(entry), entry, started).encode()

    left = max(_LEAST, wall - (time.monotonic() - started))
    text = (detach.answer_within(answer, left) if detach.FORKS else answer()).decode()
    if text:
        sys.stdout.write(text + "\n")


# A prompt, an edit


def _tell(host: Host, call: HookCall, started: float) -> None:
    from commonwealth.adapters import telling  # noqa: PLC0415  # most events have nothing to tell

    def job(entry: Entry) -> str:
        told = telling.answer(host, call)
        entry.outcome, entry.notes, entry.reason = told.outcome, told.notes, told.reason
        return told.text

    _answered(host, call, started, telling.WALL, job)


# A session starts


def _start(host: Host, call: HookCall, started: float) -> None:
    _answered(host, call, started, WALL, lambda entry: _start_text(host, call, entry))


def _start_text(host: Host, call: HookCall, entry: Entry) -> str:
    try:
        own = userconfig.load()
        brain = brains.for_session(call.cwd, call.project_dir)
    except Damaged as error:
        entry.outcome, entry.reason = "damaged", one_line(error.message)
        return hook.render(host, call.event, _trouble(error), _trouble(error))
    except Refused as error:
        entry.outcome, entry.reason = "no clone", one_line(error.message)
        return hook.render(host, call.event, "", _bring(call) or _trouble(error))
    if brain is None:
        entry.outcome = "no brain"
        return ""
    try:
        return _loaded(host, call, entry, brain, own)
    except Damaged as error:
        entry.outcome, entry.reason = "damaged", one_line(error.message)
        return hook.render(host, call.event, _trouble(error), _trouble(error))


def _loaded(host: Host, call: HookCall, entry: Entry, brain: brains.Brain, own: userconfig.UserConfig) -> str:
    """What a session of the brain is told, after a bounded sync."""
    sessions.beat(brain, call.session, host.agent, timeline.now())
    with contextlib.suppress(BrainError):  # the session's end will say it again
        _leave_entry(host, call, brain)
    seconds = min(own.sync_seconds, SYNC_LIMIT)
    sync = worker.spawn_awaited(brain.root, seconds)
    from commonwealth.adapters import telling  # noqa: PLC0415  # loaded while the network is waited for
    from commonwealth.flows import freshness  # noqa: PLC0415

    # Without a remote there is nothing to wait for: the worker commits what people edited, and the index follows.
    told = sync.wait(seconds if freshness.is_shared(brain) else 0)
    chosen = telling.at_start(host, call, brain, own)
    entry.outcome = "injected" if chosen.notes else "empty"
    entry.notes, entry.reason = len(chosen.notes), f"sync {told['state']}"
    return hook.render(host, call.event, chosen.text, _stopped(told))


def _trouble(error: BrainError) -> str:
    return one_line(f"Commonwealth could not load the team's notes. {error.message} {error.hint or ''}", 600)


def _stopped(told: dict[str, object]) -> str | None:
    """What the person is told when sync cannot go on by itself; a missing network is no such thing."""
    if told["state"] != "refused":
        return None
    return one_line(f"Commonwealth: sync with the team's brain has stopped. {told.get('reason') or ''}", 600)


def _bring(call: HookCall) -> str | None:
    """Have a brain cloned that a rule names and that is not here yet; what the person is told."""
    from commonwealth.flows import arriving  # noqa: PLC0415  # once in the life of a rule

    rule = arriving.awaited(call.cwd, call.project_dir)
    if rule is None:
        return None
    if detach.FORKS:
        detach.detached(lambda: _cloned(arriving.bring, rule), worker.LIFE)
    name = one_line(rule.brain or "", 80)
    return f"Commonwealth: the brain {name} is being cloned; the next session will know it."


def _cloned(bring: Callable[[Rule], bool], rule: Rule) -> None:
    entry = Entry("clone", "worker")
    started = time.monotonic()

    def job() -> str:
        entry.outcome = "cloned" if bring(rule) else "another is at it"
        return ""

    _logged(job, entry, started)


# A turn or a session ends


def _end(host: Host, call: HookCall, started: float) -> None:
    _leave_worker(host, call, started, delay=0)


def _turn(host: Host, call: HookCall, started: float) -> None:
    _leave_worker(host, call, started, delay=worker.DEBOUNCE)


def _leave_worker(host: Host, call: HookCall, started: float, *, delay: float) -> None:
    """Leave a process that finds the brain and serves it: the host does not even wait for the finding."""
    met: set[Path] = set()

    def serve(call: HookCall) -> None:
        entry = Entry(call.event, host.name, call.session)
        root = _logged(lambda: _brain_to_serve(host, call, entry, met, throttled=delay > 0), entry, started)
        if root:
            worker.spawn(Path(root), delay=delay)

    def job() -> None:
        serve(call)
        if (home := _of_project(call, met)) is not None:
            serve(home)

    if detach.FORKS:
        detach.detached(job, _RESOLVING)
    else:
        job()


def _of_project(call: HookCall, met: set[Path]) -> HookCall | None:
    """The call as it is for the session's own project, where the session stands in one of another brain or of none."""
    folder, project = call.cwd, call.project_dir
    if not folder or not project or f"{folder}/".startswith(f"{project.rstrip('/')}/"):
        return None
    with contextlib.suppress(BrainError):  # it has been told of where the session stands
        brain = brains.for_session(project, None)
        if brain is not None and brain.root not in met:
            return replace(call, cwd=project)
    return None


def _brain_to_serve(host: Host, call: HookCall, entry: Entry, met: set[Path], *, throttled: bool) -> str:
    at = timeline.now()
    try:
        brain = brains.for_session(call.cwd, call.project_dir)
    except BrainError:
        _leave_for_later(host, call)
        raise
    if brain is None:
        entry.outcome = "no brain"
        return ""
    met.add(brain.root)
    if call.event == "SessionEnd":
        sessions.end(brain, call.session)
    else:
        sessions.beat(brain, call.session, host.agent, at)
    asked = _keep(host, call, brain, entry, at)
    if throttled and (not asked or _rests(brain)):
        entry.outcome = entry.outcome or "throttled"
        _note_capture(host, call, "throttled")
        return ""
    entry.outcome = entry.outcome or "worker left"
    return str(brain.root)


def _rests(brain: brains.Brain) -> bool:
    """Whether a worker would find nothing to do."""
    from commonwealth.flows import due  # noqa: PLC0415  # in the process that is left behind

    if due.anything_due(brain.root):
        return False
    from commonwealth.flows import publishing  # noqa: PLC0415  # as above

    return publishing.rests(brain.root, _QUIET)


def _keep(host: Host, call: HookCall, brain: brains.Brain, entry: Entry, at: str) -> bool:
    """Ask for a sweep, in the user's own folder where the brain cannot be written: the next worker takes it from there.

    False where the same was asked for a moment ago, and whoever did has left a worker. The log tells the truth of it.
    """
    if not call.transcript or call.subagent:
        return True
    wanted = _spooled(host, call, brain.cwd, at)
    try:
        return spool.put(spool.of_brain(brain.root), wanted)
    except BrainError as error:
        entry.outcome, entry.reason = "kept aside", one_line(error.message)
    try:
        spool.put(spool.of_home(), wanted)
    except BrainError as error:
        entry.outcome, entry.reason = "not kept", f"{entry.reason} {one_line(error.message)}"
        _note_capture(host, call, "not kept")
    return True


def _leave_entry(host: Host, call: HookCall, brain: brains.Brain) -> None:
    """Note that a session began whose end nobody may tell. A sub-agent's is part of its session's."""
    if call.transcript and not call.subagent:
        spool.put(spool.of_brain(brain.root), _spooled(host, call, brain.cwd, timeline.now()), flush=False)


def _leave_for_later(host: Host, call: HookCall) -> None:
    """Keep the request of a session whose brain is not here, or cannot be opened."""
    outcome, folder = "no clone", call.cwd or call.project_dir
    if call.transcript and not call.subagent and folder and config.home().is_dir():
        try:
            spool.put(spool.of_home(), _spooled(host, call, folder, timeline.now()))
        except BrainError:
            outcome = "not kept"
    _note_capture(host, call, outcome)


def _spooled(host: Host, call: HookCall, folder: str, at: str) -> spool.Entry:
    ended = call.event == "SessionEnd"
    return spool.Entry(call.event, host.name, call.session, call.transcript or "", folder, at, ended)


def _note_capture(host: Host, call: HookCall, outcome: str) -> None:
    if call.transcript and not call.subagent:
        capturelog.note(at=timeline.now(), trigger=call.event, host=host.name, session=call.session, outcome=outcome)


# The edge


def _logged(job: Callable[[], str], entry: Entry, started: float) -> str:
    """What `job` says; one line in the log whatever it does, and nothing said when it fails."""
    try:
        return job()
    except BrainError as error:
        entry.outcome, entry.reason = "failed", one_line(error.message)
    except Exception as error:  # noqa: BLE001  # the edge of the process: a session goes on
        entry.outcome, entry.reason = "fault", type(error).__name__
        _report(error)
    except detach.TimeIsUp:
        entry.outcome, entry.reason = "late", "the time was over"
        raise
    finally:
        _log(entry, started)
    return ""


def _report(error: Exception) -> None:
    from commonwealth.adapters import faultlog  # noqa: PLC0415  # needed once in a blue moon

    with contextlib.suppress(OSError):
        faultlog.write(error, ["hook"])


def _log(entry: Entry, started: float) -> None:
    """Add a line to the log in the user's folder, where there is one. One full log is kept aside."""
    line = {
        "at": timeline.now(),
        "event": entry.event,
        "host": entry.host,
        "session": capturelog.shown_session(entry.session),
        "ms": round((time.monotonic() - started) * 1000),
        "outcome": entry.outcome,
        "notes": entry.notes,
        "reason": _masked(entry.reason) if entry.reason else None,
    }
    home = config.home()
    path = home / "logs" / "hooks.jsonl"
    try:
        if not home.is_dir():
            return
        path.parent.mkdir(exist_ok=True)
        if path.exists() and path.stat().st_size > _LOG_LIMIT:
            os.replace(path, path.with_suffix(".old.jsonl"))
        with open(path, "ab") as file:
            file.write(json.dumps(line).encode() + b"\n")
    except OSError:  # a full disk or a folder that cannot be written
        pass


def _masked(reason: str) -> str:
    """`reason` without a secret that a path in it may hold."""
    if "/" not in reason and "\\" not in reason:
        return reason
    from commonwealth.curate import secrets  # noqa: PLC0415  # for the few reasons that are an error's message

    return secrets.mask(reason)


_HANDLERS: dict[str, Callable[[Host, HookCall, float], None]] = {
    "SessionStart": _start,
    "UserPromptSubmit": _tell,
    "PreToolUse": _tell,
    "SessionEnd": _end,
    "PreCompact": _turn,
    "Stop": _turn,
}
