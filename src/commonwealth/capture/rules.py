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
from commonwealth.capture.sentences import Sentence, cut
from commonwealth.capture.signals import assistant_flags
from commonwealth.capture.topics import reopened
from commonwealth.capture.touched import touched
from commonwealth.capture.trials import tried
from commonwealth.capture.wording import scrubbed, summary, title
from commonwealth.conversation import Conversation
from commonwealth.model import Candidate, Span

LINES = 40
QUOTE = 200


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
    made = (_candidate(told, finding) for finding in with_problems(told, chosen(told, findings)))
    return tuple(draft for draft in made if draft is not None)


def _candidate(told: Episodes, finding: Finding) -> Candidate | None:
    """A finding as a draft that says nothing but what its lines say; None where no sentence of it makes a title."""
    cwd = told.conversation.cwd
    span = _span(finding)
    support = tuple(one for one in finding.support if span.first <= one.line <= span.last)
    heading = scrubbed(_heading(finding, support), cwd)
    if not heading:
        return None
    context = finding.context if span.first <= finding.asked <= span.last else ""
    text = scrubbed(summary(finding.seed, support, context), cwd)
    decision = finding.status == "decision"
    guessed = not decision and bool({"hedge"} & (assistant_flags(heading) | assistant_flags(finding.seed.text)))
    return Candidate(
        title=heading,
        summary=text,
        evidence=span,
        kind="decision" if decision else "memory",
        type=finding.type,
        status="hypothesis" if guessed else finding.status,
        confidence="low" if guessed else finding.confidence,
        observed_at=finding.seed.at,
        files=touched(told, finding, span, text),
        quotes=tuple(scrubbed(cut(one.text, QUOTE), cwd) for one in (finding.seed, *support[:2])),
        signal=finding.signal,
        strength=round(max(0.05, min(1.0, finding.score / 6)), 2),
    )


def _heading(finding: Finding, support: tuple[Sentence, ...]) -> str:
    """The title of a finding: of its statement, or of what stands beside it in the same message and alone."""
    beside = (
        one.text
        for one in support
        if one.event == finding.seed.event and not {"bare", "hedge", "question"} & assistant_flags(one.text)
    )
    return next(filter(None, map(title, (finding.title, finding.seed.text, *beside))), "")


def _span(finding: Finding) -> Span:
    """The lines of the seed and of as much of its support and of what it was asked as lies within `LINES` of it,
    nearest first."""
    first = last = finding.seed.line
    others = [*finding.lines, *(one.line for one in finding.support)]
    others.sort(key=lambda line: abs(line - finding.seed.line))
    for line in (*others, finding.asked):
        low, high = min(first, line), max(last, line)
        if line and high - low < LINES:
            first, last = low, high
    return Span(first, last)
