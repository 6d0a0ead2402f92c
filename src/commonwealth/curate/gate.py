"""The gate between what a session seems to have taught and what a team knows: pure judgement, with reasons.

Three outcomes: `promote` (it may become canon where the review mode lets it), `review` (a person decides) and `drop`
(nothing to keep; recoverable for a while). A fact that somebody asked to record by name is judged more mildly: only
what may do harm is held back, every other doubt is told as a warning beside a `promote`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from commonwealth.curate import contradict, disclosure, injection, loosening, secrets, static, transient, value
from commonwealth.curate.contradict import Contradiction
from commonwealth.curate.dedupe import ALIKE, CHANGED, MORE, NEAR, OTHER, REWORDED, SAME, Likeness, compare
from commonwealth.curate.texts import claim_of, fold, sentences
from commonwealth.model import Candidate, Finding, Note, Verdict, Verified
from commonwealth.safetext import one_line


@dataclass(frozen=True, slots=True)
class Policy:
    """What a team or a person may tighten: how alike two texts are that say the same (0 to 1), and the fewest telling
    words of a fact."""

    alike: float = ALIKE
    fewest_words: int = 3


@dataclass(frozen=True, slots=True)
class Facts:
    """What the gate has to know about the world to judge one candidate.

    `neighbours` are the notes of canon that are most like it, `waiting` what is staged already, `own` the ids among
    those that the same session staged. `static` are texts that the code repository states itself. `heard` is what
    tools gave out at the lines of the evidence: text that nobody in the session said; `spoken` is what was said there.
    `cited` is what checking its files, symbols and commits found, `details` in sentences. `repository` and `branch` are
    where it is to hold. `explicit` says that a person or an agent asked for it by name. `scan` finds the secrets in a
    text, less what a person has said is none.
    """

    neighbours: tuple[Note, ...] = ()
    waiting: tuple[Note, ...] = ()
    own: frozenset[str] = frozenset()
    static: tuple[str, ...] = ()
    heard: tuple[str, ...] = ()
    spoken: tuple[str, ...] = ()
    cited: Verified | None = None
    details: tuple[str, ...] = ()
    repository: str | None = None
    branch: str | None = None
    explicit: bool = False
    policy: Policy = field(default_factory=Policy)
    scan: Callable[[str, str], Sequence[Finding]] = secrets.scan


@dataclass(frozen=True, slots=True)
class _Finding:
    """One thing that speaks against a candidate, and what it asks for by itself."""

    reason: str
    verdict: str = "review"


def judge(candidate: Candidate, facts: Facts) -> Verdict:
    """Whether `candidate` may become canon (`promote`), needs a person (`review`) or is nothing to keep (`drop`).

    The reasons are sentences that a person understands; the first is the one that decided. A reason that begins with
    `secret:` names field and rule, never the value.
    """
    for where, text in () if facts.explicit else texts(candidate):  # the door before has looked at what is explicit
        for finding in facts.scan(text, where):
            return Verdict("drop", (finding.told,), verified=facts.cited)
    beside = _Beside(candidate, facts)
    if beside.same is not None:
        return replace(beside.verdict(), verified=facts.cited)
    findings = [*_injected(candidate, facts), *_spoken(facts), *_loosened(candidate), *_worthless(candidate, facts)]
    findings += [*beside.findings(), *_cited(facts)]
    if not facts.explicit:
        findings += _unsure(candidate)
    findings.sort(key=lambda one: _ORDER[one.verdict])
    verdict = findings[0].verdict if findings else "promote"
    return Verdict(
        verdict,
        tuple(dict.fromkeys(one.reason for one in findings)),
        contradicts=tuple(one.id for one in beside.contradictions),
        replaces=beside.replaces,
        verified=facts.cited,
    )


CLOSE = 0.6
"""So much two notes are about the same, where one is said to say nearly what the other says."""
_MOST_TOLD = 3
"""So many notes that say otherwise are named: those that are most alike, as they come from the search."""
_ORDER = {"drop": 0, "review": 1, "promote": 2}


def texts(candidate: Candidate) -> Iterator[tuple[str, str]]:
    """Every text of a candidate with the name of its field."""
    for name in ("title", "summary", "body", "signal", "scope", "observed_at"):
        yield name, getattr(candidate, name) or ""
    for name in ("files", "components", "tags", "quotes"):
        for one in getattr(candidate, name):
            yield name, one


# What it says to whom


def _injected(candidate: Candidate, facts: Facts) -> Iterator[_Finding]:
    """Text that speaks to a model: for a person to see, and nothing to keep where a tool had given it out."""
    for sign in injection.found(texts(candidate)):
        from_tool = not facts.explicit and any(_holds(text, sign.passage) for text in facts.heard)
        if from_tool:
            yield _Finding(f"{sign.where}: {sign.what}; the text came from a tool, not from a person", "drop")
        elif facts.explicit and not sign.firm:
            yield _Finding(f"{sign.where}: {sign.what}", "promote")
        else:
            yield _Finding(f"{sign.where}: {sign.what}, so a person has to look at it")


def _loosened(candidate: Candidate) -> Iterator[_Finding]:
    for where in ("title", "summary", "body"):
        text = getattr(candidate, where) or ""
        if (passage := loosening.advised(text)) is not None:
            yield _Finding(f"{where}: {loosening.REASON} ({one_line(passage, 120)}), so a person has to look at it")
        if (advice := disclosure.advised(text)) is not None:
            why, passage = advice
            yield _Finding(f"{where}: {why} ({one_line(passage, 120)}), so a person has to look at it")


def _spoken(facts: Facts) -> Iterator[_Finding]:
    """What the lines of the session hold beside what the draft took of them."""
    if signs := [sign for sign in injection.found(("evidence", text) for text in facts.spoken) if sign.firm]:
        yield _Finding(f"the lines that it rests on: {signs[0].what}, so a person has to look at it")


def _holds(text: str, passage: str) -> bool:
    return " ".join(passage.split()) in " ".join(fold(text).split())


# What it is worth


def _worthless(candidate: Candidate, facts: Facts) -> Iterator[_Finding]:
    fewest = facts.policy.fewest_words
    found = (
        transient.reason(candidate.title, candidate.summary, candidate.body),
        value.reason(candidate.title, candidate.summary, candidate.body, fewest=fewest),
    )
    for reason, firm in filter(None, found):
        yield _Finding(reason, "promote" if facts.explicit else "drop" if firm else "review")
    if static.restated(claim_of(candidate), facts.static):
        where = "the repository states it itself"
        yield _Finding(where, "promote" if facts.explicit else "drop")
    if not facts.explicit and any(value.holds_home_path(text) for _, text in texts(candidate)):
        yield _Finding("it names a person's home folder")


# What stands beside it


class _Beside:
    """A candidate beside the notes that are like it."""

    def __init__(self, candidate: Candidate, facts: Facts) -> None:
        self.facts = facts
        place = {"repository": facts.repository, "branch": facts.branch or candidate.scope}
        around = [*facts.neighbours, *facts.waiting]
        near = ((note, compare(candidate, note, alike=facts.policy.alike)) for note in around)
        self.pairs: list[tuple[Note, Likeness]] = [
            (note, like) for note, like in near if like.kind != OTHER and contradict.in_scope(candidate, note, **place)
        ]
        self.same = next((pair for pair in self.pairs if self._says_the_same(candidate, *pair)), None)
        others = [pair for pair in self.pairs if pair[0].id not in facts.own]
        self.contradictions: tuple[Contradiction, ...] = contradict.found(candidate, others, **place)[:_MOST_TOLD]
        self.replaces = tuple(
            note.id for note, like in self.pairs if note.id in facts.own and like.kind in (MORE, CHANGED)
        )

    def _says_the_same(self, candidate: Candidate, note: Note, like: Likeness) -> bool:
        """Whether a note makes the candidate needless: all of it is said there, or the session said it already."""
        if self.facts.explicit:
            return like.kind == SAME and _words(candidate) == _words(note)
        if note.id in self.facts.own and like.kind in (NEAR, REWORDED):
            return min(like.score, like.subject) >= self.facts.policy.alike and not like.differences
        return like.kind == SAME

    def _is_close(self, like: Likeness) -> bool:
        return like.score >= self.facts.policy.alike and like.subject >= CLOSE

    def verdict(self) -> Verdict:
        """The verdict on a candidate that is said already."""
        assert self.same is not None
        note, like = self.same
        how = "the same" if like.score >= 1 else "nearly the same"
        return Verdict("drop", (f"{note.id} says {how} already",), duplicate_of=note.id)

    def findings(self) -> Iterator[_Finding]:
        """What the notes that are like it, and not the same, ask of a person."""
        told = {one.id for one in self.contradictions}
        verdict = "promote" if self.facts.explicit else "review"
        for one in self.contradictions:
            step = (
                f"if it replaces that note: `brain supersede {one.id}`"
                if one.is_value
                else "a person has to tell which"
            )
            yield _Finding(f"{one}; {step}", verdict)
        for note, like in self.pairs:
            if note.id in told or note.id in self.facts.own:
                continue
            if like.kind == MORE:
                yield _Finding(f"it says what {note.id} says, and more: `brain update` may be the better way", verdict)
            elif like.kind in (SAME, REWORDED) or (like.kind == NEAR and self._is_close(like)):
                yield _Finding(f"{note.id} says nearly the same", verdict)


def _words(note: Note | Candidate) -> list[str]:
    return fold("\n".join((note.title, note.summary or "", note.body))).split()


# What it rests on


def _cited(facts: Facts) -> Iterator[_Finding]:
    if facts.cited is None or facts.cited.result not in ("missing", "changed"):
        return
    mild = facts.explicit or facts.cited.result == "changed"
    for detail in facts.details:
        yield _Finding(detail, "promote" if mild else "review")


_GUESSING = re.compile(
    r"\b(?:probably|likely|presumably|perhaps|maybe|possibly|apparently|(?:i|we) (?:suspect|guess|think|believe)"
    r"|might be|may be (?:because|due|caused|a|the)|could be (?:because|due|caused)|seems?|appears to"
    r"|my (?:guess|suspicion)|vermutlich|wahrscheinlich|vielleicht|möglicherweise|anscheinend|scheint|probablemente"
    r"|quizás?|tal vez|parece|sospecho|supongo|probablement|peut-être|sans doute|semble|je (?:pense|crois|soupçonne))\b"
)


def _unsure(candidate: Candidate) -> Iterator[_Finding]:
    if candidate.evidence.first < 1 or candidate.evidence.last < candidate.evidence.first:
        yield _Finding("it rests on no line of the session")
    claim = candidate.title, *sentences(candidate.summary)[:1]
    guessed = any(_GUESSING.search(fold(text[:1000])) for text in claim)
    if candidate.status == "hypothesis" or candidate.confidence == "low" or guessed:
        yield _Finding("it is a guess: nobody has confirmed it")
