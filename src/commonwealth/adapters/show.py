"""What each answer looks like to a person; `terminal` decides how it reaches the terminal or the pipe."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from commonwealth import timeline
from commonwealth.adapters import show_past
from commonwealth.adapters.terminal import Screen
from commonwealth.model import Hit, Note, Receipt, goes_without_saying, planned_end
from commonwealth.safetext import one_line

if TYPE_CHECKING:
    from commonwealth.adapters.wire import JsonObject
    from commonwealth.flows.brief import Brief
    from commonwealth.flows.doctor import Check
    from commonwealth.flows.heartbeat import Pulse
    from commonwealth.flows.importing import ImportReport
    from commonwealth.flows.recall import Link, Reading, SearchResult
    from commonwealth.flows.setup import RuleCheck, Setup
    from commonwealth.flows.upkeep import Status
    from commonwealth.hosts.plugin import PluginStatus
    from commonwealth.repo.outcome import Debt
    from commonwealth.routing import Rule

_STYLES = {
    "published": "green",
    "committed": "green",
    "staged": "yellow",
    "deferred": "yellow",
    "unchanged": "dim",
}
_FACTS = (
    "type", "status", "confidence", "owner", "agent", "started_at", "completed_at", "lease_until", "files",
    "created_at", "updated_at", "observed_at", "valid_from", "valid_until",
    "superseded_at", "superseded_by", "supersedes", "retracted_at", "retract_reason", "conflict_of", "branch",
    "repository", "components", "tags", "author", "deciders", "number",
)  # fmt: skip
_NAMES = 18
_DISPUTED = "disputed"
SETTLE = "`brain conflicts list` shows them, `brain conflicts resolve` ends it"
_MISSING = "(no such note)"
_ORIGIN = (
    "human",
    "agent",
    "branch",
    "commit",
    "pull_request",
    "issue",
    "files",
    "urls",
    "evidence",
    "session",
)


def receipt(screen: Screen, answer: Receipt) -> None:
    """What happened to a write or a sync; refusals and warnings go to stderr."""
    if answer.state == "refused":
        screen.remark(answer.reason or "The request was refused; nothing was changed.", "error")
    else:
        only_pulled = answer.state == "published" and answer.pulled and not answer.pushed
        word = "up to date" if only_pulled else answer.state
        screen.styled((word, _STYLES.get(answer.state, "")), (_receipt_rest(answer), ""))
    for item in answer.items:
        screen.styled(("  " + item.state, "dim"), (f" {item.id}{_because(item.reason)}", ""))
    for conflict in answer.conflicts or ():
        screen.remark(f"{conflict} is in conflict with another note; both are kept", "warning")
    if answer.conflicts and "`brain conflicts list`" not in (answer.next or ""):
        screen.remark("`brain conflicts list` shows what is in conflict, `brain conflicts resolve` ends it.", "hint")
    for dropped in answer.dropped or ():
        screen.remark(f"{dropped} was left out", "warning")
    for warning in answer.warnings:
        screen.remark(warning, "warning")
    if answer.next:
        screen.remark(answer.next, "hint")


def _receipt_rest(answer: Receipt) -> str:
    words = [] if answer.items else [f" {note}" for note in answer.ids]
    if answer.commit:
        words.append(f" ({answer.commit[:12]})")
    moved = [f"{count} {word}" for word in ("pulled", "pushed") if (count := getattr(answer, word))]
    if moved:
        words.append(f": {', '.join(moved)}")
    return "".join(words) + _because(answer.reason)


def _because(reason: str | None) -> str:
    return f": {reason}" if reason else ""


def results(screen: Screen, found: SearchResult) -> None:
    """A ranked list: blocks on a terminal, one line of id, type, status, title, summary in a pipe."""
    notes = [hit.note for hit in found.hits]
    now = found.then.at if found.then else timeline.now()
    if screen.is_terminal:
        for hit in found.hits:
            _hit(screen, hit, now)
    else:
        screen.table(
            [],
            [
                (
                    note.id,
                    _said(note, "type") or note.kind,
                    _standing(hit, now),
                    note.title,
                    note.summary or hit.snippet,
                )
                for hit, note in zip(found.hits, notes, strict=True)
            ],
        )
    show_past.as_of(screen, found.then)
    for warning in found.warnings:
        screen.remark(warning, "warning")
    if any(_DISPUTED in _standing(hit, now) for hit in found.hits):
        screen.remark(f"What is disputed has rivals: {SETTLE}.", "hint")
    if not notes:
        screen.remark("Nothing was found. Fewer or other words, or --include-superseded, may help.", "hint")
    elif found.total > len(notes):
        screen.remark(f"{len(notes)} of {found.total} are listed; `--limit` shows more.")


def _standing(hit: Hit, now: str) -> str:
    doubts = [_DISPUTED] if _DISPUTED in hit.why or hit.note.conflict_of else []
    if hit.note.branch:  # a search tells first how the branch stands
        doubts += [why for why in hit.why[:1] if "branch" in why]
    status = planned_end(hit.note, now) or hit.note.status
    return f"{status} ({'; '.join(doubts)})" if doubts else status


def _said(note: Note, choice: str) -> str:
    """A choice of a note, unless it says nothing in its kind."""
    return "" if goes_without_saying(note, choice) else str(getattr(note, choice))


def _hit(screen: Screen, hit: Hit, now: str) -> None:
    note = hit.note
    said = (_said(note, "type"), _standing(hit, now), _said(note, "confidence"), note.repository)
    labels = " · ".join(filter(None, said))
    screen.styled((note.title, "bold"))
    text = note.summary or hit.snippet
    if text:
        screen.styled(("  " + one_line(text, 2 * screen.columns), ""))
    screen.styled(("  " + note.id, "cyan"), ("  " + labels, "dim"))


def reading(screen: Screen, found: Reading) -> None:
    """One note whole: its title, facts, body, links and versions."""
    note = found.note
    show_past.as_of(screen, found.then)
    screen.styled((note.title, "bold"))
    screen.styled((f"{note.id}  {found.path}", "dim"))
    screen.line()
    facts_of(screen, note)
    if note.kind in ("memory", "decision"):
        _pairs(screen, {"reviewed": _review(note)})
    if note.summary:
        screen.line("\n" + note.summary)
    if note.body:
        screen.line("\n" + note.body.strip("\n"))
    _links(screen, "Links to", found.links)
    _links(screen, "Linked from", found.backlinks)
    if found.history:
        screen.line()
        screen.styled(("Versions", "bold"))
        for version in found.history:
            screen.line(f"  {version.at}  {version.commit[:12]}  {one_line(f'{version.author}: {version.subject}')}")
    for warning in found.warnings:
        screen.remark(warning, "warning")


def _review(note: Note) -> str:
    """Who let a note into canon, and when; or that nobody looked at it."""
    if note.reviewed is None or not note.reviewed.by:
        return "by nobody"
    return f"by {note.reviewed.by}{f', {note.reviewed.at}' if note.reviewed.at else ''}"


def facts_of(screen: Screen, note: Note) -> None:
    """The fields of a note that say something, one a line."""
    pairs = [(name, getattr(note, name)) for name in _FACTS if not goes_without_saying(note, name)]
    pairs += [(f"from {name}", getattr(note.provenance, name)) for name in _ORIGIN]
    for name, value in pairs:
        text = ", ".join(value) if isinstance(value, tuple) else value
        _pairs(screen, {name.replace("_", " "): text})


def _links(screen: Screen, heading: str, links: Sequence[Link]) -> None:
    if links:
        screen.line()
        screen.styled((heading, "bold"))
    for link in links:
        screen.line(f"  {link.id}  {one_line(f'{link.relation}: {link.title or _MISSING}')}")


def brief(screen: Screen, found: Brief, *, reasons: bool = False) -> None:
    """Exactly the text of a brief on stdout; beside it, where asked for, why each note was taken or left."""
    if found.text:
        screen.exactly(found.text)
    else:
        screen.remark(f"There is nothing to tell{f': {found.reason}' if found.reason else ''}.")
    if reasons:
        for note, why in found.notes:
            screen.remark(f"{note}: {why}", "taken")
        for note, reason in found.left:
            screen.remark(f"{note}: {reason}", "left")


def setup(screen: Screen, done: Setup, what: str) -> None:
    """Where a brain is now, the rule that leads to it, and what to do next."""
    screen.styled((f"{what} the brain ", ""), (done.brain.name, "bold"), (f" at {done.brain.root}", ""))
    for warning in done.warnings:
        screen.remark(warning, "warning")
    if done.published:
        screen.line("It is on its remote: your colleagues can join it")
    if done.rule is not None:
        screen.line(f"{done.rule.match} uses it{'' if done.rule_added else ', as before'}")
    else:
        screen.remark("You are in no code repository: `brain rules add MATCH BRAIN` says what uses it.", "hint")


def rules(screen: Screen, found: Sequence[Rule]) -> None:
    """The registry as a table."""
    screen.table(["MATCH", "BRAIN", "SOURCE"], [_rule_cells(one) for one in found], elastic=1)
    if not found:
        screen.remark("There are no rules yet: `brain join`, `brain init` and `brain rules add` make them.", "hint")


def _rule_cells(rule: Rule) -> tuple[str, str, str]:
    return rule.match, rule.brain or "none", rule.source


def rule(screen: Screen, state: str, changed: Rule) -> None:
    """What happened to one rule."""
    use = f"uses {changed.brain}" if changed.brain else "uses no brain"
    screen.styled((state, "green"), (f" {changed.match} {use}", ""))


def routing(screen: Screen, found: RuleCheck) -> None:
    """Which brain is used in a folder, and why."""
    _pairs(
        screen,
        {
            "folder": found.folder,
            "repository": found.repository,
            "rule": f"{found.rule.match} ({found.rule.source})" if found.rule else "none",
            "brain": found.brain or "none",
        },
    )
    if found.problem:
        screen.remark(found.problem, "warning")


def status(screen: Screen, found: Status, now: str) -> None:
    """What waits, where; lists only for what there is."""
    counts = ", ".join(f"{count} {kind}" for kind, count in found.counts.items())
    unsettled = [f"{name}: {SETTLE}" for name in found.conflicts]
    said = {found.debt.reason if found.debt else None}
    stopped = None if any(one.stops for one in found.obstacles) else _once(found.stopped, said)
    _pairs(
        screen,
        {
            "brain": f"{found.name} at {found.root}",
            "notes": counts or "none",
            "person": found.person,
            "repository": found.repository,
            "rule": found.rule,
            "remote": None if found.remote else "none; nothing is published",
            "unpublished": _number(found.unpublished, "commit") if found.unpublished else None,
            "deferred since": _debt(found.debt, now) if found.debt else None,
            "next step": found.debt.next if found.debt else None,
            "stopped": stopped,
            "kept aside": ", ".join(found.rescued) or None,
            "last sync": _last_sync(found, {*said, found.stopped}),
            "daemon": _daemon(found.daemon, {*said, found.stopped}),
        },
    )
    for heading, entries in (
        ("In the way", tuple(f"{one.message} {one.next}" for one in found.obstacles)),
        ("Edited, committed by the next sync", found.edited),
        ("Held back", found.held),
        ("No notes, never committed", found.strays),
        ("No notes, yours to commit with git", found.others),
        ("Staged, waiting for review", found.staged),
        ("Requests for candidates", tuple(map(show_past.request_line, found.requests))),
        ("In conflict", unsettled),
        ("Unreadable", found.problems),
    ):
        _entries(screen, heading, entries)

    if found.log is not None:
        show_past.log(screen, found.log, found.receipts)


def _once(reason: str | None, said: Collection[str | None]) -> str | None:
    """A reason, unless it was said already."""
    return None if reason in said else reason


def _last_sync(found: Status, said: Collection[str | None]) -> str | None:
    last = found.last
    return show_past.round_line(replace(last, reason=_once(last.reason, said))) if last else None


def _daemon(found: Pulse, said: Collection[str | None]) -> str | None:
    beat = replace(found.beat, reason=_once(found.beat.reason, said)) if found.beat else None
    return show_past.pulse_line(replace(found, beat=beat)) if found.alive else None


def _debt(debt: Debt, now: str) -> str:
    age = timeline.age(debt.since, now)
    return f"{debt.since}{f' ({age})' if age else ''}: {debt.reason}"


def _number(count: int, thing: str) -> str:
    return f"{count} {thing}{'' if count == 1 else 's'}"


def _entries(screen: Screen, heading: str, entries: Sequence[str]) -> None:
    if entries:
        screen.styled((f"{heading}:", "bold"))
    for entry in entries:
        screen.styled((f"  {entry}", ""))


def _pairs(screen: Screen, pairs: Mapping[str, str | None]) -> None:
    for name, value in pairs.items():
        if value:
            screen.styled((f"{name:<{_NAMES}}", "dim"), (value, ""))


def facts(screen: Screen, found: JsonObject) -> None:
    """A document of sections as names and values."""
    taken: set[str] = set()
    for name, section in found.items():
        values = section if isinstance(section, dict) else {"": section}
        told = {key: str(value) for key, value in values.items() if value not in (None, "")}
        for key, value in told.items():
            label = name if key in ("", "name") else _spaced(key)
            label = f"{name} {label}" if label in taken else label
            taken.add(label)
            _pairs(screen, {label: value})
        if not told:
            _pairs(screen, {name: "none"})


def _spaced(key: str) -> str:
    """`defaultBranch` as people read it: default branch."""
    return "".join(f" {char.lower()}" if char.isupper() else char for char in key)


_CHECK_STYLES = {"ok": "green", "note": "dim", "warn": "yellow", "fail": "red"}


def checks(screen: Screen, found: Sequence[Check]) -> None:
    """What the doctor saw, each with the step that mends it."""
    for check in found:
        label = (f"{check.state:<5}", _CHECK_STYLES.get(check.state, ""))
        screen.styled(label, (f" {check.name}: {check.message}", ""))
        if check.hint and check.state != "ok":
            screen.styled((f"      {check.hint}", "dim"))


def plugin(screen: Screen, found: Sequence[PluginStatus]) -> None:
    """Whether the plugin works in each host, and what to do where it does not."""
    for state in found:
        word, style = ("works", "green") if state.works else ("does not work", "red")
        version = f" (version {state.version})" if state.version else ""
        screen.styled((f"{state.host}: ", "bold"), (word, style), (version, ""))
        for fault in state.faults:
            screen.styled((f"  {fault.what} {fault.fix}", ""))
        for note in state.notes:
            screen.styled((f"  {note}", "dim"))


_TAKEN_AS = {"adr": "decision records", "markdown": "markdown", "sqlite": "rows of a database"}


def imported(screen: Screen, report: ImportReport) -> None:
    """What became of every file of an import, and as what the files were taken."""
    new = report.imported - report.updated
    counts = f"{new} imported, {report.updated} updated, {report.unchanged} unchanged, {len(report.skipped)} skipped"
    taken = ", ".join(f"{count} as {_TAKEN_AS[kind]}" for kind, count in sorted(report.kinds.items()))
    screen.styled((counts, "bold"), (f" ({taken})" if taken else "", ""))
    for file in report.skipped:
        screen.styled((f"  {file.path}", ""), (f": {file.reason}", "dim"))
    if report.doubts:
        screen.styled(("not read as they are:", "bold"))
    for file in report.doubts:
        screen.styled((f"  {file.path}", ""), (f": {file.reason}", "dim"))
