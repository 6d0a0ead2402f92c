"""What became of a claim: taken back, turned down, qualified or replaced by what was said later."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Mapping
from dataclasses import dataclass

from commonwealth.capture.claims import Claim
from commonwealth.capture.episodes import Episodes
from commonwealth.capture.sentences import Sentence
from commonwealth.capture.signals import takes_back, user_flags
from commonwealth.capture.subjects import names, nearness
from commonwealth.capture.topics import Reopened
from commonwealth.conversation import Said, Used

_REAL = re.compile(
    r"\b(?:real|actual|true|underlying) (?:\w+ )?(?:issue|problem|cause|reason|bug|culprit)\b", re.IGNORECASE
)
WITHDRAWN = re.compile(
    r"\b(?:never ?mind|scratch that|forget (?:that|it|what i)|ignore (?:that|what i)|my (?:bad|mistake)|"
    r"i was wrong|sorry,? (?:i|that)|vergiss es|doch nicht|mein fehler|olv[ií]dalo|me equivoqu[eé])\b",
    re.IGNORECASE,
)
_DOUBTS = re.compile(
    r"^(?:wait|actually|no|hmm?)\b|\bwrong\b|\bnot (?:the|what|it|that)\b|isn't|wasn't|\bstill\b|\bsame\b|didn't|"
    r"did not|doesn't|no effect|incorrect|mistaken|misread|misunderstood|red herring|opposite",
    re.IGNORECASE,
)
"""Words that doubt the thought before, and not only something that came up beside it."""
REPLACED = 0.12
_NOT = re.compile(
    r"\b(?:not|never|no longer|no|without|cannot|nor|neither|none|nothing|kein\w*|nicht|nunca|ningun\w*)\b|n't\b",
    re.IGNORECASE,
)
REMENTIONED = 0.25
"""Nearness at which a conclusion still speaks of what an earlier thought claimed."""
SAME = 0.55
OF_ONE_NAME = 12
"""Claims of one name that an earlier one is held against."""
AHEAD = 6
"""Messages within which a doubt meets the thought it doubts."""


def standing(told: Episodes, claimed: list[Claim], back_again: list[Reopened]) -> list[Claim]:
    """The claims that nothing later in the conversation took back, in order."""
    conclusions: dict[int, list[Claim]] = {}
    for claim in claimed:
        if claim.final and claim.score > 0:
            conclusions.setdefault(claim.turn.number, []).append(claim)
    doubts = [claim for claim in claimed if "refute" in claim.flags and not claim.final]
    qualified = [
        claim
        for claim in claimed
        if (claim.flags & {"hedge"} and claim.final and "offer" in claim.flags) or _excepts(claim)
    ]
    back = _reversals(told, claimed) | _rejected(told, claimed) | _outdone(claimed) | _in_vain(back_again, claimed)
    return [
        claim
        for claim in claimed
        if claim.score > 0
        and not _turned_down(told, claim)
        and not (_doubted(claim, doubts) and not _rementioned(claim, conclusions.get(claim.turn.number, ())))
        and not any(_qualifies(later, claim) for later in qualified)
        and claim.sentence not in back
    ]


def _excepts(claim: Claim) -> bool:
    return claim.final and claim.sentence.text.lower().startswith(
        ("the only ", "except ", "one exception", "correction")
    )


def _qualifies(later: Claim, claim: Claim) -> bool:
    """Whether a conclusion of a later turn makes an exception of a name that this claim speaks of."""
    if later.turn.number <= claim.turn.number:
        return False
    shared = _narrow(later.sentence) & _narrow(claim.sentence)
    return bool(shared)


def _narrow(sentence: Sentence) -> frozenset[str]:
    return frozenset(name for name in names(sentence.text) if len(name) > 5)


def _doubted(claim: Claim, doubts: list[Claim]) -> bool:
    """Whether soon after it, in the same turn, something was said that takes back what was thought so far."""
    if claim.final:
        return False
    places = claim.turn.messages
    index = places.index(claim.sentence.event)
    soon = places[index + 1 : index + 1 + AHEAD]
    for doubt in doubts:
        if doubt.sentence.event not in soon or doubt.turn is not claim.turn:
            continue
        near = doubt.sentence.event == (soon[0] if soon else -1) and bool(_DOUBTS.search(doubt.sentence.text))
        if near or names(doubt.sentence.text) & names(claim.sentence.text):
            return True
    return False


def _rementioned(claim: Claim, conclusions: tuple[Claim, ...] | list[Claim]) -> bool:
    return any(
        nearness(claim.sentence.text, later.sentence.text) >= REMENTIONED
        and names(claim.sentence.text) & names(later.sentence.text)
        for later in conclusions
    )


def _turned_down(told: Episodes, claim: Claim) -> bool:
    """Whether the person's next prompt says that a conclusion is wrong or did not help."""
    if not claim.final or claim.turn.reaction != "denied":
        return False
    following = told.turns[claim.turn.number + 1]
    said = following.prompt.text[:600] if following.prompt else ""
    flags = user_flags(said.split("\n", 1)[0])
    if flags & {"deny", "refuse"} and ("hedge" in claim.flags or "remedy" in claim.flags or "cause" in claim.flags):
        return True
    return bool(names(said) & names(claim.sentence.text))


def _reversals(told: Episodes, claimed: list[Claim]) -> frozenset[Sentence]:
    """Sentences whose like was said later with the opposite sign, with no change to the code in between."""
    edits = [
        place for place, event in enumerate(told.conversation.events) if isinstance(event, Used) and event.use == "edit"
    ]
    by_name: dict[str, list[tuple[Claim, bool]]] = {}
    back: set[Sentence] = set()
    for claim in reversed(claimed):
        if claim.score < 0.8:
            continue
        text = claim.sentence.text
        negative = bool(_NOT.search(text))
        for name in names(text):
            for later, other in by_name.get(name, ()):
                if other == negative or later.sentence.event <= claim.sentence.event:
                    continue
                changed = bisect(edits, later.sentence.event) > bisect(edits, claim.sentence.event)
                if not changed and nearness(text, later.sentence.text) >= SAME:
                    back.add(claim.sentence)
            by_name.setdefault(name, []).append((claim, negative))
            del by_name[name][:-OF_ONE_NAME]
    return frozenset(back)


def _rejected(told: Episodes, claimed: list[Claim]) -> frozenset[Sentence]:
    """Sentences that announce what the person then turned down."""
    down: set[int] = set()
    last = -1
    for place, event in enumerate(told.conversation.events):
        if isinstance(event, Said) and event.who == "assistant":
            last = place
        elif isinstance(event, Said) and event.manner == "refusal" and last >= 0:
            down.add(last)
    return frozenset(
        claim.sentence
        for claim in claimed
        if claim.sentence.event in down and claim.flags & {"choice", "remedy", "work", "narration", "offer"}
    )


def _in_vain(back_again: list[Reopened], claimed: list[Claim]) -> frozenset[Sentence]:
    """Causes and remedies of a problem that the person later said was still there."""
    vain = {number for one in back_again for number in one.earlier}
    return frozenset(claim.sentence for claim in claimed if claim.turn.number in vain and "shown" not in claim.flags)


def _outdone(claimed: list[Claim]) -> frozenset[Sentence]:
    """Causes of earlier turns that a later turn replaces by the real one."""
    gone: set[Sentence] = set()
    for later in claimed:
        if "found" not in later.flags or not _REAL.search(later.sentence.text):
            continue
        gone.update(
            claim.sentence
            for claim in claimed
            if claim.sentence.event < later.sentence.event
            and later.turn.number - claim.turn.number <= 2
            and claim.flags & {"cause", "found"}
            and nearness(claim.sentence.text, later.sentence.text) >= REPLACED
        )
    return frozenset(gone)


@dataclass(frozen=True, slots=True)
class Withdrawals:
    """What a person took back: the prompts that take back what was said before them, and by name the last place at
    which something was called wrong."""

    prompts: frozenset[int]
    names: Mapping[str, int]

    def cover(self, told: Episodes, sentence: Sentence) -> bool:
        """Whether a statement of the person's was taken back: by its name, or by the next thing they said."""
        number = told.turn_of(sentence.event).number + 1
        if number < len(told.turns) and told.turns[number].start in self.prompts:
            return True
        return any(self.names.get(name, -1) > sentence.event for name in names(sentence.text))


def withdrawals(told: Episodes) -> Withdrawals:
    """Everything that the person took back in a conversation."""
    prompts: set[int] = set()
    wrong: dict[str, int] = {}
    for said in told.user:
        if WITHDRAWN.search(said.text[:80]):
            prompts.add(said.event)
        if takes_back(said.text):
            wrong.update(dict.fromkeys(names(said.text), said.event))
    return Withdrawals(frozenset(prompts), wrong)
