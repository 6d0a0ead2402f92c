"""What a sentence does by its form, where no list of words could tell: what it names, states, asks or reports."""

from __future__ import annotations

import re

from commonwealth.capture.sentences import clauses

STATED = 6
"""Words from which on a sentence may state something of its own."""

_NUMBER = re.compile(
    r"(?<![\w.-])~?\d[\d,.]*\s?(?:ms|µs|us|ns|s|sec|secs|seconds?|min|mins|minutes?|h|hours?|days?|weeks?|months?|"
    r"years?|kb|mb|gb|tb|kib|mib|gib|%|x|times|rows|requests?|"
    r"queries|calls|bytes|req/s|rps|qps|ops|fps|hz|khz|mhz|v|ma|px|pods?|replicas?|retries|tokens|chars|characters|"
    r"connections?|threads?|records?|"
    r"lines|events|items|files)\b",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")
_PERCENT = re.compile(r"\d\s?%|\b\d+(?:\.\d+)?x\b")
_IDENTIFIER = re.compile(
    r"`[^`\n]{2,80}`|\b[a-z]+[A-Z]\w+\b|\b[A-Z][a-z0-9]+[A-Z]\w*\b|\b\w+_\w+\b|(?<![\w-])--?[a-z][\w-]+|"
    r"\b[A-Z]{2,}[A-Z0-9_]{2,}\b|\b\w+\(\)"
)
_ODD = re.compile(r"[`_0-9]|[(-]|[A-Za-z][A-Z]")
"""What every identifier has at least one of."""
_ENV = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b")
_ORDER = re.compile(
    r"(?:^|, |; )(?:also )?(?:please )?(?:write|add|create|update|implement|document) (?:a|an|the|some|new)\b"
)
_ASIDE = re.compile(r"\([^()]{12,300}\)")

# Of the assistant's

_SO = re.compile(
    r"[,;] so (?!far\b|much\b|many\b)|\bso that\b|\u56e0\u4e3a|\u539f\u56e0|\u56e0\u6b64|\u6240\u4ee5|\u305f\u3081"
)
_MECHANISM = re.compile(
    r", which (?!is\b|was\b|are\b|were\b|fits\b|matches\b|confirms\b|explains\b|agrees\b)\w+s\b|"
    r"\s[\u2013\u2014] (?:\w{3,}ing|it|they|the|each|every|its|which)\b|"
    r"(?<=[\w`)]): (?:it|they|the|its|a|an|each|every|both|all|when|if)\b"
)
_NOT_BUT = re.compile(r"\w[`'\")]?, (?:and )?not (?:a|an|the|by|in|on|from|for|at|to)\b", re.IGNORECASE)
_UNCHANGED = re.compile(
    r"\bno (?:new |other |further )?(?:[\w`./-]+ ){1,4}(?:were|was|are|is|had to be|need(?:s|ed)?(?: to be)?) "
    r"(?:added|changed|removed|needed|required|necessary|introduced|affected|made|updated|touched)\b"
    r"|\b(?:no|don't need|doesn't need|without) (?:further |other |any )?(?:updates?|changes?|adjustments?)"
    r"(?: (?:are|is|were|was))?(?: needed| required| necessary)?\b",
    re.IGNORECASE,
)
_DONE_TO = re.compile(
    r"^now,? (?:it|they|a|an|each|every|all)\b|"
    r"\b(?:we|it|they|this) now (?:\w+s|treat|use|hide|show|keep|return|call)\b|"
    r"^(?:(?:the|this|that|both|all|these|its|their) )?(?:same )?(?:\w+ ){0,2}"
    r"(?:fix(?:es)?|changes?|updates?|adjustments?|"
    r"tests?|docs?|documentation|file|files|code|pattern) (?:were|was|are|is|has been|have been) (?:now |also |both )?"
    r"(?:applied|made|added|updated|fixed|changed|extended|rewritten|adjusted|done|in place|covered)\b",
    re.IGNORECASE,
)
_DID = re.compile(
    r"(?:I|I've|I have|We|We've) (?:also |then |now )?(?:\w+ly )?(?!need|used\b|chose|reproduced|measured)\w{3,}ed\b"
)
_RULED_OUT = re.compile(
    r"\b(?:is|are|was|were)(?:n't| not) (?:it|that|the (?:cause|reason|culprit|problem|issue|bottleneck))\b|"
    r"\bso (?:it's|it is|that's|that is) not (?:that|it|the)\b|\brule[sd]? (?:\w+ )?out\b|"
    r"\b(?:clears|exonerates) the\b|\b(?:is|are|seems) unlikely\b|\bnot to blame\b",
    re.IGNORECASE,
)

# Of the person's

_MAY = re.compile(r"\b(?:it|this|that|there|they|which|we|i|you|he|she) may (?!only\b|not\b|never\b)", re.IGNORECASE)
_PRIVATE = re.compile(
    r"^(?:(?:also|and|but|so|well|ok|true|haha|yeah),? )*i (?:really )?(?:hate|love|like|prefer|should|am|was|'m|feel|"
    r"enjoy|start|go|dream|(?:can|can't|cannot|could|couldn't|do|don't) (?:not )?(?:see|find|tell|remember|understand|"
    r"know))\b|"
    r"\b(?:with|answer|call) me\b|"
    r"\bmy (?:\w+ )?(?:boyfriend|girlfriend|friend|partner|brother|sister|mother|father|mum|dad|wife|husband|kids?)\b|"
    r"\b(?:some(?:one|body)|people|they|everyone|everybody|he|she) (?:always |once )?(?:says?|said|told me|thinks?|"
    r"claims?)\b|\bi (?:heard|read somewhere)\b|\bwe (?:always |never )?(?:talk|chat)\b",
    re.IGNORECASE,
)
"""Tastes, hearsay and chat: they are of one person or of nobody."""
_YES_OR_NO = re.compile(
    r"(?:ok,? |also,? |and,? )?(?:can|could|would|should|shall|may|is|are|does|do|did) "
    r"(?:the|it|we|you|i|this|that|they|there|these|those)\b",
    re.IGNORECASE,
)
_TELLS_TO = re.compile(
    r"(?:(?:and|but|also|so|then|ok|no|yes|please|just|btw|instead),? )*(?:don't|do not|never|use|stop|include|please|"
    r"leave|make|keep|let's|look|remove|update|add|change|put|set|open|take|ask|show|rename|get rid|write|call|try|"
    r"check|only go|if you|can you|could you)\b",
    re.IGNORECASE,
)
_STATES = re.compile(
    r"\b(?:is|are|isn't|aren't|was|were|has|have|had|can|can't|cannot|must|may|will|won't|would|should|doesn't|don't|"
    r"goes|gets|ends?|means?|needs?|only|per|max|at most|no|ist|sind|hat|darf|muss|kann|wird|"
    r"(?:the|a|an|our|their|every|each|this|that) (?:[\w./-]+ ){1,4}?\w{2,}s|"
    r"\w{3,}s \w+ (?:out|in|by|on|to|from|up))\b",
    re.IGNORECASE,
)


# Words of which a form has at least one: most sentences have none, so that they are not looked at twice

_ORDERING = frozenset(("write", "add", "create", "update", "implement", "document"))
_UNCHANGING = frozenset(("no", "don't", "doesn't", "without"))
_DOING = frozenset(("now", "were", "was", "are", "is", "been"))
_RULING_OUT = frozenset((
    "isn't", "aren't", "wasn't", "weren't", "not", "out", "clears", "exonerates", "unlikely",
))  # fmt: skip
_PRIVATE_WORDS = frozenset((
    "i", "i'm", "me", "my", "say", "says", "said", "told", "think", "thinks", "claim", "claims", "talk", "chat",
))  # fmt: skip


def shape(text: str, words: list[str]) -> set[str]:
    """Whoever said it: number, code, env, process (an order), question, short."""
    found: set[str] = set()
    if _DIGIT.search(text) and (_NUMBER.search(text) or _PERCENT.search(text)):
        found.add("number")
    if _ODD.search(text) and _IDENTIFIER.search(text):
        found.add("code")
    if not _ORDERING.isdisjoint(words) and _ORDER.search(text):
        found.add("process")
    if "_" in text and _ENV.search(text):
        found.add("env")
    if text.rstrip("\"')*_` ").endswith("?"):
        found.add("question")
    if len(words) < STATED - 1:
        found.add("short")
    return found


def assistant_forms(text: str, words: list[str]) -> set[str]:
    """Of a sentence of the assistant's: cause, mechanism (how it comes about), unchanged (what needed no work), work,
    done to (work told as a state of things), ruled out (what is not the cause)."""
    found: set[str] = set()
    if _SO.search(text):
        found.add("cause")
    if _MECHANISM.search(text):
        found.add("mechanism")
    if _NOT_BUT.search(text):
        found.add("contrast")
    if not _UNCHANGING.isdisjoint(words) and _UNCHANGED.search(text):
        found.add("unchanged")
    if _DID.match(text):
        found.add("work")
    if (not _DOING.isdisjoint(words)) and _DONE_TO.search(text):
        found |= {"work", "done to"}
    if not _RULING_OUT.isdisjoint(words) and _RULED_OUT.search(text):
        found.add("ruled out")
    return found


def user_forms(text: str, words: list[str]) -> set[str]:
    """Of a sentence of the person's: personal, question, states (a clause of it tells how something is)."""
    found: set[str] = set()
    if not _PRIVATE_WORDS.isdisjoint(words) and _PRIVATE.search(text):
        found.add("personal")
    if _YES_OR_NO.match(text):
        found.add("question")
    if len(words) >= STATED and any(map(_told, clauses(text))):
        found.add("states")
    return found


def _told(part: str) -> bool:
    return part.count(" ") >= STATED - 3 and bool(_STATES.search(part)) and not _TELLS_TO.match(part)


def guessing(text: str, words: list[str]) -> list[str]:
    """The words by which a person may guess: a `may` that allows or forbids (`nothing may stay`) is none."""
    return words if "may" not in words or _MAY.search(text) else [word for word in words if word != "may"]


def outside_brackets(text: str) -> str:
    """`text` without what stands in round brackets: an aside changes not what a sentence does nor how sure it is."""
    return _ASIDE.sub(" ", text) if "(" in text else text
