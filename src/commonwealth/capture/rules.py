"""Drafts without a model: what a conversation seems to have taught, by the form of what was said.

`episodes` cuts the conversation into turns and sentences, `claims` weighs what the assistant stated, `topics` knows
which problems came back, `refuting` leaves out what was taken back. `findings`, `corrections`, `decisions`, `trials`,
`handed_in` and `open_ends` each know one kind of thing worth keeping; `ranking` keeps one draft of each subject and few
of a session, `problems` adds what it was about, `wording` makes title and summary.
"""

from __future__ import annotations

from commonwealth.capture.claims import claims
from commonwealth.capture.corrections import stated
from commonwealth.capture.decisions import decided
from commonwealth.capture.episodes import Episodes, episodes
from commonwealth.capture.finding import Finding
from commonwealth.capture.findings import found
from commonwealth.capture.handed_in import handed_in
from commonwealth.capture.off_record import on_record
from commonwealth.capture.open_ends import left_open
from commonwealth.capture.problems import with_problems
from commonwealth.capture.ranking import chosen
from commonwealth.capture.refuting import standing
from commonwealth.capture.sentences import cut
from commonwealth.capture.signals import assistant_flags
from commonwealth.capture.topics import reopened
from commonwealth.capture.trials import tried
from commonwealth.capture.wording import scrubbed, summary, title
from commonwealth.conversation import Conversation, Used
from commonwealth.model import Candidate, Span

LINES = 40
QUOTE = 200
FILES = 6


def drafts(conversation: Conversation) -> tuple[Candidate, ...]:
    """The candidates that a session has earned, strongest first; none is a usual result. Pure and deterministic."""
    if not conversation.events:
        return ()
    told = on_record(episodes(conversation))
    claimed = claims(told)
    back = reopened(told)
    stand = standing(told, claimed, back)
    findings = [
        *found(told, stand),
        *stated(told),
        *decided(told, stand),
        *tried(told),
        *handed_in(told),
        *left_open(told, claimed, back),
    ]
    return tuple(_candidate(told, finding) for finding in with_problems(told, chosen(told, findings)))


def _candidate(told: Episodes, finding: Finding) -> Candidate:
    cwd = told.conversation.cwd
    heading = scrubbed(title(finding.title or finding.seed.text), cwd)
    text = scrubbed(summary(finding.seed, finding.support, finding.context), cwd)
    decision = finding.status == "decision"
    guessed = finding.status in ("observed", "confirmed") and "hedge" in assistant_flags(heading)
    return Candidate(
        title=heading,
        summary=text,
        evidence=_span(finding),
        kind="decision" if decision else "memory",
        type=finding.type,
        status="hypothesis" if guessed else finding.status,
        confidence="low" if guessed else finding.confidence,
        observed_at=finding.seed.at,
        files=_files(told, finding, text),
        quotes=tuple(scrubbed(cut(one.text, QUOTE), cwd) for one in (finding.seed, *finding.support[:2])),
        signal=finding.signal,
        strength=round(max(0.05, min(1.0, finding.score / 6)), 2),
    )


def _span(finding: Finding) -> Span:
    """The lines of the seed and of as much of its support as lies within `LINES` of it, nearest first."""
    first = last = finding.seed.line
    others = [*finding.lines, *(one.line for one in finding.support if one.line)]
    for line in sorted(others, key=lambda line: abs(line - finding.seed.line)):
        low, high = min(first, line), max(last, line)
        if high - low < LINES:
            first, last = low, high
    return Span(first, last)


def _files(told: Episodes, finding: Finding, text: str) -> tuple[str, ...]:
    """Files of the project that the draft speaks of, or that were changed in its turn."""
    named: list[str] = []
    turn = told.turn_of(finding.seed.event)
    for event in told.conversation.events[turn.start : turn.end]:
        if not isinstance(event, Used):
            continue
        for file in event.files:
            base = file.replace("\\", "/").rsplit("/", 1)[-1]
            relative = not file.startswith(("/", "~", "..")) and ":" not in file[:3]
            if relative and file not in named:
                if base.rsplit(".", 1)[0].lower() in text.lower():
                    named.insert(0, file)
                elif event.use == "edit" and finding.role in ("cause", "remedy"):
                    named.append(file)
    return tuple(named[:FILES])
