"""From sentences to a title and a summary that stand alone, free of what belongs to one person or one moment."""

from __future__ import annotations

import re

from commonwealth.capture.sentences import Sentence

TITLE = 100
LONGEST_TITLE = 180
"""Characters of a title that has no clause to cut it at; what is longer is none."""
SHORTEST = 40
"""Characters of a title that was cut at a clause, at least."""
LIMITS = 4
"""Words after a cut that may not limit what was said before it."""
SUMMARY = 560
MOST = 680
"""Characters of a summary with the problem in it."""

_LEAD = re.compile(
    r"^(?:(?:ok but|okay but|looks good,? but|nice,? but|good,? but|agreed|can't|cannot|next one|one bug|found the "
    r"(?:reason|cause|issue|problem|bug|culprit)|"
    r"no|nope|yes|yeah|ok|okay|actually|wait|hmm+|so|well|and|but|also|now|great|excellent|interesting|perfect|"
    r"exactly|right|correct|sorry|oh|"
    r"hm|good catch|you're right|you are right|interestingly|importantly|notably|basically|essentially|in short|"
    r"found it|got it|done|fixed|aha|"
    r"important finding|key finding|key insight|finding|note|important|the key insight is|the key is|it turns out|"
    r"turns out|as it turns out|"
    r"i found that|i found|i see|this means|that means|which means|this is because|that's because|that is because|"
    r"however|therefore|thus|hence|"
    r"remember|please remember|remember this|note that|please note|keep in mind|for future reference|for the record|"
    r"from now on|going forward|"
    r"fyi|btw|by the way|please|i forgot to tell you|i forgot to mention|as i said|like i said|i said|i told you|i "
    r"meant|"
    r"the issue is|the issue was|the problem is|the problem was|the root cause is|the root cause was|root cause|the "
    r"real issue is|the real problem is|"
    r"the actual issue is|the bug is|the bug was|the reason is|the cause is|the cause was|"
    r"nein|falsch|bitte|merk dir|merke dir|bitte merken|denk daran|denk dran|vergiss nicht|zur info|ab jetzt|ab "
    r"sofort|stopp|halt|also|"
    r"recuerda|ten en cuenta|no olvides|por favor|a partir de ahora|eso no|non|souviens-toi|rappelle-toi)"
    r"(?:[,:!.\u2013\u2014-]+\s*|\s+that\s+|\s+dass\s+|\s+que\s+|,?\s+(?=`)|\s+(?=the |a |we |you |our |all |every |"
    r"always |never |do |don't |use |it |this |that |"
    r"in |for |when |if |i |git |wir |die |der |das |el |la |los |las |usa|nunca |siempre |immer |nie )))",
    re.IGNORECASE,
)
_AFTER_DASH = re.compile(r"\s+(?:-|\u2013|\u2014)\s+|; |: (?=[a-z])|, (?:which|so|and|because|since|even)\b")
_ANY_CLAUSE = re.compile(
    r", | \(| (?:and|because|since|so that|which|weil|und|porque|parce que) ",
    re.IGNORECASE,
)
_LIMITS = re.compile(
    r"\b(?:unless|except|excluding|only|without|instead|rather|but|not|never|no|until|if|when|whenever|while|whereas|"
    r"au(?:ß|ss)er|nur|ohne|aber|sondern|nicht|nie|wenn|bis|salvo|excepto|solo|sin|pero|sino|nunca|cuando|si|sauf|seulement|sans|mais|"
    r"jamais|quand)\b|n't\b",
    re.IGNORECASE,
)
"""What may narrow or turn what stands before it, so that a title is not cut there."""
_ASIDE = re.compile(r"\s?\([^()`]{2,200}\)")
_MINE = re.compile(r"^(?:I|We)(?:'ve| have)? (?=\w+ed\b|chose\b|set\b|made\b|kept\b)")
_HOME = re.compile(r"(?:[A-Za-z]:\\Users\\[^\\\s`'\"]+|/(?:Users|home)/[^/\s`'\"]+|/root)(?=[/\\\s`'\"),.:]|$)")
_LONG_PATH = re.compile(r"(?<![\w.~/])/(?:[\w.@+-]+/){2,}([\w.@+-]+/[\w.@+-]+|[\w.@+-]+)")
_PASSING = re.compile(r"/(?:private|tmp|var/folders)/")
"""Folders whose paths mean nothing to anybody else."""
_UUID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.IGNORECASE)
_HASH = re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b")
_MAIL = re.compile(r"\b[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{2,32}\b")
_TOKEN = re.compile(r"[\w+-]{20,200}")
_ASKED = re.compile(r"\b(?:[Aa]sk|[Pp]ing|[Tt]ell|cc|[Tt]hanks,?|[Ee]mail) [A-Z][a-z]{2,}\b")
_HANDLE = re.compile(r"(?<![\w`/@.])@[a-z][\w-]{2,38}(?![\w/(-])")


def shareable(text: str) -> bool:
    """Whether a sentence may stand in a note: no address or handle of a person, no id of one commit or run, nothing
    that looks like a key."""
    if (
        _MAIL.search(text)
        or _HANDLE.search(text)
        or _UUID.search(text)
        or _HASH.search(text.lower())
        or _ASKED.search(text)
    ):
        return False
    return not any(_is_key(token) for token in _TOKEN.findall(text))


def _is_key(token: str) -> bool:
    digits = sum(character.isdigit() for character in token)
    mixed = any(character.isupper() for character in token) and any(character.islower() for character in token)
    return (digits >= 3 and mixed) or token.startswith(("sk-", "ghp_", "gho_", "xox", "AKIA", "glpat-"))


def scrubbed(text: str, cwd: str | None = None) -> str:
    """`text` with the session's folder and home folders taken off its paths."""
    if cwd and len(cwd) > 3:
        text = text.replace(cwd.rstrip("/\\") + "/", "").replace(cwd.rstrip("/\\"), ".")
    if _HOME.search(text):
        text = _HOME.sub("~", text)
    return _LONG_PATH.sub(lambda found: f"…/{found[1]}" if _PASSING.match(found[0]) else found[0], text)


def title(text: str) -> str:
    """A short statement made from a sentence: without what leads in, cut where a clause gives no more than a reason or
    a detail. Empty where a long one cannot be cut without another meaning."""
    text = _FIRST.sub("", unled(text))
    text = _MINE.sub("", text.rstrip(" .;:,!"))
    if len(text) > TITLE:
        text = _ASIDE.sub("", text)
    if len(text) > TITLE:
        ends = _ends(_AFTER_DASH, text) or _ends(_ANY_CLAUSE, text)
        text = text[: ends[-1]] if ends else text if len(text) <= LONGEST_TITLE else ""
    return capital(_DANGLING.sub("", text).rstrip(" .;:,!-\u2013\u2014"))


_DANGLING = re.compile(
    r"[\s,;:]+(?:so|and|but|or|because|since|that|which|when|where|if|while|as|the|a|an|to|of|with|for|und|aber|oder|weil|dass|"
    r"y|pero|o|porque|que|et|mais|ou|parce que)$",
    re.IGNORECASE,
)
"""What a clause that was cut off ends with."""


def _ends(mark: re.Pattern[str], text: str) -> list[int]:
    """Where a text may end after a clause, so that what stays is whole, long enough to say something, and not
    narrowed or turned by what follows at once."""
    return [
        found.start()
        for found in mark.finditer(text)
        if SHORTEST <= found.start() <= TITLE
        and _whole(text[: found.start()])
        and not _LIMITS.search(" ".join(text[found.start() :].split()[:LIMITS]))
    ]


def unled(text: str) -> str:
    """`text` without words that only lead in."""
    for _ in range(4):
        found = _LEAD.match(text)
        if not found or len(text) - found.end() < 12:
            break
        text = text[found.end() :].lstrip(" ,:-\u2013\u2014")
    return text


_FIRST = re.compile(
    r"\b(?:I'll|I will|I'd|I've|I have|we'll|we've)\s+(?=use\b|used\b|chose\b|set\b|kept\b|make\b|made\b)",
    re.IGNORECASE,
)


def capital(text: str) -> str:
    """`text` with a capital first letter, where it begins with a plain word."""
    first = text.split(" ", 1)[0]
    return text[:1].upper() + text[1:] if first.rstrip(",:").replace("'", "").isalpha() and first.islower() else text


def summary(seed: Sentence, support: tuple[Sentence, ...], context: str = "", limit: int = SUMMARY) -> str:
    """The seed and what supports it in the order in which it was said, each sentence once, within `limit`; then the
    problem that it was found for."""
    chosen = [seed]
    size = len(seed.text) + 1
    for one in support:
        if size + len(one.text) > limit:
            continue
        chosen.append(one)
        size += len(one.text) + 1
    told: list[str] = []
    for one in sorted(set(chosen), key=lambda sentence: (sentence.event, sentence.block, chosen.index(sentence))):
        text = ended(capital(unled(one.text)))
        if text not in told:
            told.append(text)
    if context and size + len(context) <= MOST:
        told = [text for text in told if text not in ended(context)]
        told.append(f"Problem: {ended(context)}")
    return " ".join(told)


def ended(text: str) -> str:
    """`text` with an end mark."""
    text = text.rstrip(" ,;:")
    return text if text.endswith((".", "!", "?", "…")) else text + "."


def _whole(text: str) -> bool:
    return text.count("`") % 2 == 0 and text.count("(") == text.count(")") and text.count('"') % 2 == 0
