"""A conversation as episodes: what a person asked, what was tried, what was concluded, and how the person took it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from commonwealth.capture.quoted import own_words
from commonwealth.capture.sentences import Sentence, sentences
from commonwealth.capture.signals import user_flags
from commonwealth.conversation import Conversation, Event, Said, Used

BEFORE = 12
"""Events before a turn whose uses of tools still ground what is said in it."""
PASTED = 1_600
"""Characters of a prompt beyond which it is mostly something pasted."""

_ASKS = re.compile(
    r"\b(?:why|how come|reasons?|investigate|figure out|find out|debug|diagnose|root cause|understand|look into|"
    r"necessary|expect(?:ed)?|supposed to|"
    r"bugs?|crash\w*|errors?|fails?|failing|failed|failure|broken|breaks|slow\w*|hangs?|stuck|flaky|exception|"
    r"traceback|regression|leak\w*|unexpected|"
    r"\w+(?:error|exception)s?|wrongly|incorrect\w*|although|mismatch|lost|lose[sd]?|random\w*|twice|double[ds]?|"
    r"getting|reduce|optimi[sz]\w*|speed ?up|faster|performance|profile|takes \d|too (?:many|much|long)|"
    r"shouldn.t|not working|does not|doesn.t work|doesn.t|isn.t|delay\w*|annoying|timeouts?|strange|weird|wrong|"
    r"missing|still|again|empty|duplicate[ds]?|"
    r"throws?|throwing|reproduce\w*|"
    r"garbled|corrupt\w*|wont|won.t|warum|wieso|weshalb|woran|fehler|langsam|kaputt|h[aä]ngt|por qu[eé]|falla|"
    r"lent[oa]|error|pourquoi|erreur)\b"
    r"|\u4e3a\u4ec0\u4e48|\u4e3a\u4f55|\u600e\u4e48|\u9519\u8bef|\u5931\u8d25|\u62a5\u9519|\u306a\u305c|"
    r"\u30a8\u30e9\u30fc|\u539f\u56e0",
    re.IGNORECASE,
)

_SLIP = re.compile(
    r"no such file|does not exist|not found|parse error|syntax error|not been read|string to replace|unknown option|"
    r"not a git",
    re.IGNORECASE,
)
_REPORTS = re.compile(
    r"\b(?:is|are|was|were|has|have|had|goes|keeps|takes|shows|stays|becomes|gets|got|returns|comes|stops|contains|"
    r"fail\w*|jump|"
    r"\w{3,}(?:zes|ses|xes|shes|ches|oes)|ist|sind|wird|hat|bleibt|zeigt|est[aá]n?|tiene|muestra|est|sont|affiche)\b",
    re.IGNORECASE,
)
_TOLD = re.compile(
    r"^(?:[\w./`-]+ ){1,5}?[a-z]{3,}s\b.* (?:when|if|but|instead|although|after|while|even)\b", re.IGNORECASE
)
_WANTS = re.compile(r"\b(?:should|needs?|wants?|must|could|would|let's|please|add|new)\b", re.IGNORECASE)
_ORDERS = re.compile(
    r"(?:hm+,? |ok,? |okay,? |now |and |please |can you |could you |let's |bitte |por favor )*(?:store|simplify|"
    r"speed|bump|scaffold|use|keep|"
    r"try|build|deploy|install|render|parse|split|convert|generate|plan|upgrade|migrate|start|send|register|release|"
    r"cut|convert|merge|document|"
    r"rename|give|tell|help|make|have|i want|i need|i'd like|we need|we want|we should|you should|find|search|list|"
    r"open|close|draft|go|what|"
    r"where|how|which|who|when|ideas?)\b",
    re.IGNORECASE,
)
_LOOKS = frozenset((
    "awk", "cat", "curl", "diff", "du", "find", "git", "grep", "head", "jq", "less", "ls", "nl", "od", "ps", "rg",
    "sed", "stat", "tail", "wc",
))  # fmt: skip
_WORDING = re.compile(
    r"\b(?:translat\w*|proofread|grammar|spelling|rephrase|reword|rewrite (?:this|the following)|summari[sz]e "
    r"(?:this|the following)|"
    r"convert this|übersetz\w*|traduc\w*|tradui\w*|korrektur lesen|reformulier\w*)\b",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"\b(?:root cause|the cause|real cause|found it|found the|(?:see|found) the (?:problem|issue|bug|culprit)|"
    r"confirmed:|the culprit|the bug is)\b",
    re.IGNORECASE,
)
_BACK = re.compile(
    r"(?:wait|hmm|actually|interesting|found it|still|oh|that's odd|strange|the issue|the problem|important)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Turn:
    """One prompt and what followed. Places are positions in the conversation's events.

    `asked` says that the prompt reports or asks for a cause, `rough` that something went otherwise than expected: that
    is where knowledge is made; `wording` that a text was to be put in other words, which states nothing. `reaction` is
    how the next prompt took it: denied, affirmed, accepted or empty. `final` is the place of the last thing the
    assistant said. `broken` says that the person broke it off.
    """

    number: int
    prompt: Said | None
    start: int
    end: int
    messages: tuple[int, ...]
    final: int | None
    asked: bool
    rough: bool
    wording: bool
    used: bool
    looked: int
    edited: int
    failed: int
    proved: bool
    broken: bool
    reaction: str = ""


@dataclass(frozen=True, slots=True)
class Episodes:
    """The turns of a conversation and every sentence by who said it, in order.

    `spoken` has the person's by event, `heard` the assistant's.
    """

    conversation: Conversation
    turns: tuple[Turn, ...]
    assistant: tuple[Sentence, ...]
    user: tuple[Sentence, ...]

    spoken: dict[int, tuple[Sentence, ...]]
    heard: dict[int, tuple[Sentence, ...]]

    def event(self, place: int) -> Event:
        """The event at a place."""
        return self.conversation.events[place]

    def turn_of(self, place: int) -> Turn:
        """The turn that an event belongs to."""
        low, high = 0, len(self.turns) - 1
        while low < high:
            middle = (low + high + 1) // 2
            if self.turns[middle].start <= place:
                low = middle
            else:
                high = middle - 1
        return self.turns[low]


def episodes(conversation: Conversation) -> Episodes:
    """The conversation cut at its prompts."""
    events = conversation.events
    starts = [place for place, event in enumerate(events) if place == 0 or _is_prompt(event)]
    bounds = [*starts, len(events)]
    turns: list[Turn] = []
    for number in range(len(starts)):
        open_ = bool(turns) and turns[-1].asked and not turns[-1].edited
        turns.append(_turn(number, events, bounds[number], bounds[number + 1], open_=open_))
    told: dict[str, list[Sentence]] = {"assistant": [], "user": []}
    for place, event in enumerate(events):
        if isinstance(event, Said) and event.who in told and event.text.strip():
            loose = event.who == "user"
            text = own_words(event.text) if loose else event.text
            told[event.who].extend(sentences(text, line=event.line, event=place, at=event.at, loose=loose))
    return Episodes(
        conversation,
        tuple(turns),
        tuple(told["assistant"]),
        tuple(told["user"]),
        _by_event(told["user"]),
        _by_event(told["assistant"]),
    )


def _by_event(said: list[Sentence]) -> dict[int, tuple[Sentence, ...]]:
    found: dict[int, list[Sentence]] = {}
    for sentence in said:
        found.setdefault(sentence.event, []).append(sentence)
    return {place: tuple(one) for place, one in found.items()}


def asks(text: str) -> bool:
    """Whether a text reports something that went otherwise than expected, or asks why."""
    return bool(_ASKS.search(text))


def _is_prompt(event: Event) -> bool:
    return isinstance(event, Said) and event.who == "user" and event.manner == "message"


def _turn(number: int, events: tuple[Event, ...], start: int, end: int, *, open_: bool) -> Turn:
    first = events[start]
    prompt = first if isinstance(first, Said) and _is_prompt(first) else None
    messages = tuple(
        place
        for place in range(start, end)
        if isinstance(event := events[place], Said) and event.who == "assistant" and event.text.strip()
    )
    used = [event for event in events[start:end] if isinstance(event, Used)]
    text = prompt.text[:PASTED] if prompt else ""
    final = events[messages[-1]] if messages else None
    last = final.text if isinstance(final, Said) else ""
    asked = bool(_ASKS.search(text)) or (
        open_ and 20 < len(text) < 400 and "process" not in user_flags(text.split("\n", 1)[0])
    )
    looked = sum(use.use in ("read", "search", "fetch", "delegate") or _probes(use) for use in used)
    if not asked and looked + sum(use.use == "run" for use in used):
        asked = _reported(text)
    broken = any(isinstance(event, Said) and event.manner == "interruption" for event in events[start:end])
    return Turn(
        number=number,
        prompt=prompt,
        start=start,
        end=end,
        messages=messages,
        final=messages[-1] if messages else None,
        asked=asked,
        rough=asked or _rough(events[start:end]) or _experimented(used),
        wording=bool(_WORDING.search(text[:200])),
        used=bool(used) or any(isinstance(event, Used) for event in events[max(0, start - BEFORE) : start]),
        looked=looked,
        edited=sum(use.use == "edit" for use in used),
        failed=sum(use.failed for use in used),
        proved=_proved(used),
        broken=broken,
        reaction=_reaction(events[end], last) if end < len(events) else "",
    )


def _probes(use: Used) -> bool:
    """Whether a command only looks at something."""
    return use.use == "run" and program(use.text).split(" ", 1)[0] in _LOOKS


def _experimented(used: list[Used]) -> bool:
    """Whether one program was run in several forms that gave out different things: somebody tried something out."""
    forms: dict[str, dict[str, str]] = {}
    for use in used:
        if use.use == "run" and not use.failed and not _probes(use):
            forms.setdefault(program(use.text).split(" ", 1)[0], {})[use.text] = use.result[:200]
    return any(len(tried) > 1 and len(set(tried.values())) > 1 for tried in forms.values())


def _reported(text: str) -> bool:
    """Whether a prompt tells how something is instead of ordering something: then it reports what surprised."""
    first = text.strip().split("\n", 1)[0][:160]
    flags = user_flags(first)
    if (
        len(first) < 20
        or flags & {"process", "accept", "question", "propose", "remember", "affirm"}
        or _ORDERS.match(first)
    ):
        return False
    return bool(_REPORTS.search(first) or (_TOLD.search(first) and not _WANTS.search(first)))


def _proved(used: list[Used]) -> bool:
    """Whether a command that failed succeeded after an edit: an experiment with a before and an after."""
    failed: set[str] = set()
    edited = False
    for use in used:
        if use.use == "edit":
            edited = bool(failed)
        elif use.use == "run":
            key = program(use.text)
            if use.failed:
                failed.add(key)
            elif edited and key in failed:
                return True
    return False


def _rough(events: tuple[Event, ...]) -> bool:
    """Whether something failed that was not just mistyped, a person broke in, or a thought was taken back."""
    for event in events:
        if isinstance(event, Used):
            if event.failed and event.use in ("run", "edit", "plan", "fetch") and not _SLIP.search(event.result[:400]):
                return True
        elif event.manner in ("refusal", "interruption") or (
            event.who == "assistant" and (_BACK.match(event.text[:80]) or _NAMED.search(event.text[:2000]))
        ):
            return True
    return False


def program(command: str) -> str:
    """What a command line runs: its first words that are no assignment, folder change or wrapper."""
    for part in re.split(r"&&|;|\n", command[:400]):
        words = [word for word in part.split() if "=" not in word]
        words = words[1:] if words[:1] == ["do"] else words
        if words and words[0] not in (
            "for",
            "while",
            "until",
            "cd",
            "export",
            "source",
            "set",
            "echo",
            "sleep",
            "timeout",
            "time",
            "sudo",
        ):
            return " ".join(words[:3])
    return command[:40]


def _reaction(event: Event, last: str) -> str:
    """How a prompt took what was said last; a `no` to a question turns nothing down."""
    if not isinstance(event, Said):
        return ""
    flags = user_flags(event.text.strip()[:300].split("\n", 1)[0])
    denied = "deny" in flags or ("refuse" in flags and "?" not in last[-240:])
    if denied and "affirm" not in flags:
        return "denied"
    if "affirm" in flags:
        return "affirmed"
    return "accepted" if "accept" in flags else ""
