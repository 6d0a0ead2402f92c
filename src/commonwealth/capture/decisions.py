"""What was decided: answers to questions, orders while a plan was being made, options picked, plans approved."""

from __future__ import annotations

import re

from commonwealth.capture.claims import Claim
from commonwealth.capture.episodes import Episodes
from commonwealth.capture.finding import Finding
from commonwealth.capture.sentences import LONGEST, Sentence, clauses, cleaned, split, within
from commonwealth.capture.signals import user_flags
from commonwealth.capture.subjects import names, terms
from commonwealth.capture.wording import shareable
from commonwealth.conversation import Said, Used

_PROCESS = re.compile(
    r"\b(?:proceed|continue|commit|push|start (?:implement|cod|work)|shall i|should i (?:run|start|go|commit|push|"
    r"create|open|make|fix|apply|also)|"
    r"ready to|which style|commit message|want me to|go ahead|run the|open a pr|pull request|what would you like|how "
    r"would you like (?:me )?to "
    r"proceed|which (?:task|issue|file|one) (?:first|next)|"
    r"next step|review (?:first|it|the)|look(?:s)? good|approve)\b",
    re.IGNORECASE,
)
_EMPTY = re.compile(r"^(?:yes|no|ok|okay|sure|other|skip|none|cancel|n/a|ja|nein|s[ií])\W*$", re.IGNORECASE)
_ORDER = re.compile(
    r"^(?:name|use|call|keep|default|support|drop|skip|store|put|make|limit|require|don't|do not|no|only|prefer|"
    r"avoid|stick|go with|target|rely|"
    r"never|always|nimm|verwende|nutze|usa|utilise)\b",
    re.IGNORECASE,
)
_ORDERED_WORK = re.compile(r"\b(?:write|readme|docs?|tests?|commit|todo|changelog)\b", re.IGNORECASE)
_PICK = re.compile(
    r"\b(?:option|approach|variant|alternative|choice|number|variante|opci[oó]n|l[oö]sung|#)\s*#?(\d|[a-e])\b|"
    r"^\W*(\d|[a-e])\W*$|"
    r"\b(?:the )?(first|second|third|fourth|1st|2nd|3rd)(?: (?:one|option|approach|variant))?\b|"
    r"\b(?:go(?:ing)? with|take|do|pick|choose|prefer|nehmen|vamos con) #?(\d)\b"
    r"(?![.:]?\d|\s?[a-z]{1,3}\b(?<!and)(?<!but))",
    re.IGNORECASE,
)
_ORDINAL = {"first": "1", "1st": "1", "second": "2", "2nd": "2", "third": "3", "3rd": "3", "fourth": "4"}
_TAKEN = re.compile(
    r"\b(?:go(?:ing)? with|let's (?:do|use|take)|i'd (?:go with|take)|i (?:prefer|choose)|pick|nehmen wir|wir nehmen|"
    r"vamos con|prefiero) "
    r"([\w`./-]+(?: [\w`./-]+){0,2})",
    re.IGNORECASE,
)
_OFFERED = re.compile(
    r"^\s*(?:#{1,4}\s*)?(?:[-*]\s+)?(?:\*\*)?(?:(?:option|approach|variant|alternative|opci[oó]n|variante)\s*)?#?(\d|"
    r"[A-Ea-e])[.):]\s*(?:\*\*)?\s*(.{8,400})$",
    re.IGNORECASE,
)


LONGEST_QUESTION = 160
OPTION = 110
"""Characters of a question that an answer is told with, and of an option that was not chosen."""
CONDITION = 5
"""Words of a condition that a person adds when taking something up."""


def decided(told: Episodes, standing: list[Claim]) -> list[Finding]:
    """Findings of decisions that a person took, in order."""
    return [
        *_answers(told),
        *_picks(told),
        *_agreed(told, standing),
        *_settled(told, standing),
        *_plans(told, standing),
    ]


def _answers(told: Episodes) -> list[Finding]:
    """Answers to the assistant's questions, one finding for those of one phase of planning."""
    phases: dict[int, list[Sentence]] = {}
    phase = 0
    for place, event in enumerate(told.conversation.events):
        if isinstance(event, Used):
            if event.use == "plan" and approved(event):
                phase += 1
            continue
        if event.who != "user":
            continue
        if event.manner == "answer":
            sentence = _answered(event, place)
            if sentence is not None:
                phases.setdefault(phase, []).append(sentence)
        elif event.manner == "message" and _planning(told, place):
            phases.setdefault(phase, []).extend(_ordered(told, place))
    results = []
    for said in filter(None, phases.values()):
        score = 3.0 + 0.3 * min(2, len(said) - 1)
        lines = tuple(sentence.line for sentence in said)
        title = "; ".join(one.text.rstrip(" .;") for one in said[-3:])
        results.append(
            Finding(
                said[-1], score, "decided", "answer", "decision", "decision", "high", tuple(said[:-1]), title, lines
            )
        )
    return results


def _answered(event: Said, place: int) -> Sentence | None:
    answer, question = cleaned(event.text), cleaned(event.question)
    if (
        not answer
        or not question
        or _PROCESS.search(question)
        or len(answer) > 600
        or (_EMPTY.match(answer) and len(question) < 20)
    ):
        return None
    if "question" in user_flags(answer) or not shareable(question + " " + answer):
        return None
    asked = question if len(question) <= LONGEST_QUESTION else list(split(question))[-1]
    if len(asked) > LONGEST_QUESTION or not (said := within(answer, LONGEST - len(asked) - 2)):
        return None
    return Sentence(f"{asked.rstrip('? ')}: {said}", event.line, place, 0, "", False, event.at)


def _planning(told: Episodes, place: int) -> bool:
    """Whether a prompt came right after a plan or a question that the person did not let pass."""
    for event in reversed(told.conversation.events[max(0, place - 4) : place]):
        if isinstance(event, Used):
            return event.use in ("plan", "ask") and not approved(event) and (event.use == "plan" or event.failed)
    return False


def _ordered(told: Episodes, place: int) -> list[Sentence]:
    said = told.spoken.get(place, ())
    return [
        one
        for one in said[:8]
        if _ORDER.match(one.text)
        and not _ORDERED_WORK.search(one.text)
        and "question" not in user_flags(one.text)
        and shareable(one.text)
    ]


def approved(use: Used) -> bool:
    """Whether a person let a plan pass."""
    return not use.failed and "approved" in use.result[:400].lower()


def _picks(told: Episodes) -> list[Finding]:
    """An option of the assistant's that the person picked in words."""
    results: list[Finding] = []
    for turn in told.turns[1:]:
        before = told.turns[turn.number - 1]
        if turn.prompt is None or before.final is None or len(turn.prompt.text) > 400:
            continue
        picked = _PICK.search(turn.prompt.text[:200])
        if not picked or "question" in user_flags(turn.prompt.text):
            continue
        key = (picked[1] or picked[2] or picked[4] or _ORDINAL.get((picked[3] or "").lower(), "")).lower()
        final = told.event(before.final)
        options = _options(final.text) if isinstance(final, Said) else {}
        if key not in options or len(options) < 2:
            continue
        text = cleaned(options[key])
        seed = Sentence(text, turn.prompt.line, turn.start, 0, "", False, turn.prompt.at)
        if len(text) <= LONGEST and shareable(text) and not _PROCESS.search(text):
            others = [_named(cleaned(value)) for other, value in options.items() if other != key][:3]
            rejected = Sentence("Not chosen: " + "; ".join(filter(None, others)), final.line, turn.start, 1)
            why = [one for one in told.spoken.get(turn.start, ()) if len(one.text.split()) >= CONDITION]
            reasons = [one for one in why if shareable(one.text) and not _PROCESS.search(one.text)][:2]
            results.append(
                Finding(
                    seed,
                    3.2,
                    "decided",
                    "pick",
                    "decision",
                    "decision",
                    "high",
                    (*reasons, rejected),
                    "",
                    (final.line, turn.prompt.line),
                )
            )
    return results


def _agreed(told: Episodes, standing: list[Claim]) -> list[Finding]:
    """A reasoned proposal of the assistant's that the person took up by its name (`go with …`)."""
    results: list[Finding] = []
    by_event: dict[int, list[Claim]] = {}
    for claim in standing:
        by_event.setdefault(claim.sentence.event, []).append(claim)
    for turn in told.turns[1:]:
        before = told.turns[turn.number - 1]
        if turn.prompt is None or before.final is None or len(turn.prompt.text) > 600:
            continue
        said = told.spoken.get(turn.start, ())
        taken = next((_TAKEN.search(one.text) for one in said if "question" not in user_flags(one.text)), None)
        about = terms(taken[1]) if taken else frozenset()
        if not about or _PICK.search(turn.prompt.text[:200]):
            continue
        near = [claim for claim in by_event.get(before.final, ()) if about <= terms(claim.sentence.text)]
        best = max(near, key=lambda claim: claim.score, default=None)
        if best is not None and best.score > 0.5 and "question" not in best.flags and shareable(best.sentence.text):
            why = tuple(one for one in said if shareable(one.text) and "short" not in user_flags(one.text))[:2]
            lines = (best.sentence.line, turn.prompt.line)
            results.append(
                Finding(best.sentence, 3.0, "decided", "choice", "decision", "decision", "high", why, lines=lines)
            )
    return results


def _settled(told: Episodes, standing: list[Claim]) -> list[Finding]:
    """What an experiment showed, where the person took it up with conditions of their own and it was carried out."""
    shown: dict[int, list[Claim]] = {}
    for claim in standing:
        tells = "shown" in claim.flags and bool(
            claim.flags & {"cause", "law", "mechanism", "contrast", "choice", "code"}
        )
        if claim.final and tells and shareable(claim.sentence.text):
            shown.setdefault(claim.turn.number, []).append(claim)
    results: list[Finding] = []
    for turn in told.turns[1:]:
        said = told.spoken.get(turn.start, ())
        best = max(shown.get(turn.number - 1, ()), key=lambda claim: claim.score, default=None)
        if best is None or not turn.edited or turn.prompt is None or len(turn.prompt.text) > 600:
            continue
        flags = user_flags(re.split(r"[.!,\n]", turn.prompt.text.lstrip()[:80], maxsplit=1)[0])
        more = [one for one in said if len(one.text.split()) >= CONDITION and shareable(one.text)]
        more = [
            one for one in more if not user_flags(one.text) & {"question", "process"} and not _PROCESS.search(one.text)
        ]
        if not flags & {"accept", "affirm"} or flags & {"deny"} or not more:
            continue
        beside = [claim.sentence for claim in shown[turn.number - 1] if claim is not best][:2]
        results.append(
            Finding(
                best.sentence,
                3.4,
                "decided",
                "choice",
                "decision",
                "decision",
                "high",
                (*more[:3], *beside),
                lines=(best.sentence.line, turn.prompt.line),
            )
        )
    return results


def _named(option: str) -> str:
    """An option that was not chosen, whole or by its name."""
    return option if len(option) <= OPTION else next((part for part in clauses(option)[:1] if len(part) <= OPTION), "")


def _options(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for row in text[-6000:].split("\n"):
        match = _OFFERED.match(row[:500])
        if match:
            found.setdefault(match[1].lower(), match[2])
    return found


def _plans(told: Episodes, standing: list[Claim]) -> list[Finding]:
    """The reasoned choices of a plan that a person approved: those that the approved text still names."""
    results: list[Finding] = []
    events = told.conversation.events
    for place, event in enumerate(events):
        if not isinstance(event, Used) or event.use != "plan" or not approved(event):
            continue
        planned = names(f"{event.text[:8000]} {event.result[:8000]}")
        turn = told.turn_of(place)
        since = told.turns[max(0, turn.number - 1)].start
        near = [
            claim
            for claim in standing
            if since <= claim.sentence.event < place
            and claim.flags & {"choice", "cause", "law"}
            and names(claim.sentence.text)
            and names(claim.sentence.text) <= planned
            and "question" not in claim.flags
        ]
        best = max(near, key=lambda claim: (bool({"choice"} & claim.flags), claim.score), default=None)
        if best is None or best.score + 1.0 < 2.4:
            continue
        seed = best.sentence
        support = tuple(
            other.sentence
            for other in sorted(near, key=lambda claim: -claim.score)
            if other is not best and names(other.sentence.text) & names(seed.text)
        )[:3]
        results.append(
            Finding(
                seed, best.score + 0.6, "planned", "plan", "decision", "decision", "high", support, lines=(seed.line,)
            )
        )
    return results
