"""What lies behind, as people see it: syncs and writes of the log, the versions of a note, and who syncs meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from commonwealth.adapters.terminal import Screen
from commonwealth.safetext import one_line

if TYPE_CHECKING:
    from commonwealth.flows.heartbeat import Pulse
    from commonwealth.flows.history import History
    from commonwealth.flows.past import Moment
    from commonwealth.flows.requestlog import Request
    from commonwealth.flows.synclog import Round, Written

_LOG = ["SYNC", "BY", "STATE", "PULLED", "PUSHED", "CONFLICTS", "REFUSED", "MS", "REASON"]
_RECEIPTS = ["WRITE", "BY", "STATE", "COMMIT", "NOTES", "REASON"]


def log(screen: Screen, rounds: Sequence[Round], receipts: Sequence[Written]) -> None:
    """The last syncs and writes, newest first."""
    screen.table(_LOG, [_round_cells(line) for line in rounds])
    screen.table(_RECEIPTS, [_written_cells(line) for line in receipts])


def round_line(line: Round) -> str:
    """One sync in a few words."""
    moved = [f"{count} {word}" for count, word in ((line.pulled, "pulled"), (line.pushed, "pushed")) if count]
    return f"{line.at}: {', '.join([line.state, *moved])}{_because(line.reason)}"


def _round_cells(line: Round) -> tuple[str, ...]:
    figures = (line.pulled, line.pushed, line.conflicts, line.refused, line.ms)
    return line.at, line.trigger, line.state, *map(str, figures), line.reason or ""


def _written_cells(line: Written) -> tuple[str, ...]:
    more = f" and {line.count - len(line.ids)} more" if line.count > len(line.ids) else ""
    return line.at, line.command, line.state, (line.commit or "")[:12], " ".join(line.ids) + more, line.reason or ""


def pulse_line(found: Pulse) -> str:
    """A daemon in a few words."""
    beat = found.beat
    if not found.alive:
        return "none runs"
    if beat is None or not found.fresh:
        return "it does not answer; sessions and commands sync by themselves"
    polled = f", last poll {beat.polled}: {beat.state or 'under way'}{_because(beat.reason)}" if beat.polled else ""
    return f"process {beat.pid}, every {beat.interval:g} s{polled}"


def daemon(screen: Screen, found: Pulse) -> None:
    """Whether a daemon serves the brain."""
    screen.styled(("daemon  ", "dim"), (pulse_line(found), ""))
    if found.beat is not None and found.beat.next:
        screen.remark(found.beat.next, "hint")


def history(screen: Screen, found: History) -> None:
    """The versions of a note, newest first: when, who, why, and what differs from the one before."""
    as_of(screen, found.then)
    for warning in found.warnings:
        screen.remark(warning, "warning")
    screen.styled((found.id, "bold"), (f"  {found.path}{' (deleted)' if found.deleted else ''}", "dim"))
    if found.conflict_of:
        screen.styled((f"another version of {found.conflict_of}", "yellow"))
    for sibling in found.siblings:
        screen.styled((f"in conflict with {sibling}", "yellow"))
    for version in found.versions:
        screen.styled(
            (version.commit[:12], "cyan"),
            (f"  {version.at}  ", "dim"),
            (one_line(f"{version.author}: {version.subject}"), ""),
        )
        why = f"  [{one_line('; '.join(version.trailers), 200)}]" if version.trailers else ""
        screen.styled((f"              {', '.join(version.changed)}{why}", "dim"))
    if found.truncated:
        screen.remark("Older versions are not listed; `--limit` shows more.")


def as_of(screen: Screen, then: Moment | None) -> None:
    """At which point of the brain's history an answer stands."""
    if then is not None:
        screen.remark(f"As of {then.at}, commit {then.commit[:12]}: what the brain said then.")


def _because(reason: str | None) -> str:
    return f": {reason}" if reason else ""


def request_line(request: Request) -> str:
    """A request for candidates in one line."""
    state = "open" if request.is_open else "closed, its candidates wait again"
    count = len(request.notes)
    return f"{one_line(request.place)} ({count} candidate{'' if count == 1 else 's'}, {state})"
