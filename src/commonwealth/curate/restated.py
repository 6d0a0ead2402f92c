"""Whether a sentence says another again, word for word but for what carries no meaning.

Two texts made of nearly the same words may say different things: who calls whom, `may` and `must`, `<` and `>`, `-v`
and `-V`. So the words are compared in their order, small ones and signs included; articles, punctuation, the case of
prose, English endings, contractions and the spelling of a unit are all that may differ. Of the rest, words that turn a
sentence (`only`, `until`, a negation, a sign, a name, or the same words in another order) make another fact of it.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from functools import lru_cache

from commonwealth.curate.opposites import UNITS, Change
from commonwealth.curate.texts import fold, stem

KIND = "wording"
_FREE = frozenset(
    """
    a an the that this these those please also note der die das dem den des ein eine einen einem einer le la les l' un
    une des du el los las una il lo gli i o os as um uma de het een
    """.split()  # noqa: SIM905 (a list of one word a line hides what is next to what)
)
_W = r"[\w\u0900-\u0dff\u0e00-\u0eff]"  # with the vowel signs that no `\w` takes
_TOKEN = re.compile(
    rf"(?<![\w-])--?\w[\w-]*|[+\-−~±]?\d[\w.,:]*\w|[+\-−~±]?\d|{_W}(?:{_W}|['’./:@-](?={_W}))*|[<>=≤≥≠≈]+|!=|[←-⇿∀-⋿]|"
    r"[\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]"
)
_TURNING = frozenset(
    stem(word)
    for word in """
    and or nor xor either neither both but not no non none nothing without except unless only just all any some every
    each most few many more less fewer least may might must should can could will would shall from until till since
    before after while during within per than if was were still longer yet always often sometimes usually rarely first
    last next again too instead rather over under above below up down
    und oder aber nicht kein keine nie nur alle jede einige mehr weniger darf muss soll kann von bis seit vor nach
    während war noch wieder immer ohne außer
    et ou mais ne pas jamais seulement tous toutes chaque plus moins peut doit jusque depuis avant après était encore
    toujours sans sauf
    y o u pero no nunca solo todos todas cada más menos puede debe desde hasta antes después era todavía siempre sin
    e ma non mai solo tutti ogni più meno può deve da fino prima dopo ancora sempre senza
    mas não nunca apenas todos cada mais menos pode deve desde até antes depois ainda sempre sem
    en of maar niet geen nooit alleen alle elke meer minder mag moet van tot sinds voor was nog altijd zonder
    och eller men inte ingen aldrig bara alla varje mer mindre får måste från till sedan före efter var alltid utan
    ja tai mutta ei eivät älä vain kaikki jokainen enemmän vähemmän saa pitää ennen jälkeen oli aina ilman
    i lub ale nie nigdy tylko wszystkie każdy więcej mniej może musi od do przed po był zawsze bez
    и или но не нет никогда только все каждый больше меньше может должен от до перед после был всегда без
    ve veya ama değil hiç sadece tüm her daha en önce sonra yok
    và hoặc nhưng không chưa chỉ tất mọi hơn ít trước sau phải có
    और या लेकिन नहीं मत केवल सिर्फ सभी हर अधिक कम पहले बाद
    """.split()  # noqa: SIM905 (as above)
)
_PREFIX = 4
"""So much of two words is the same where one may deny the other by its ending, as in Turkish."""
_LATIN = re.compile(r"[a-z\u00e0-\u024f\u1e00-\u1eff]+")
_MOST = 400


def difference(one: str, other: str) -> tuple[Change, ...]:
    """What turns the sentence `one` into `other`, each run of words once; empty where it says the same again."""
    mine, theirs = _tokens(one), _tokens(other)
    if mine == theirs:
        return ()
    if mine > theirs:  # the matcher favours one side; the differences of two sentences are the same from either
        return tuple(Change(KIND, found.other, found.one) for found in difference(other, one))
    blocks = SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes()
    return tuple(
        Change(KIND, " ".join(mine[a:b]), " ".join(theirs[c:d])) for what, a, b, c, d in blocks if what != "equal"
    )


def turns(found: tuple[Change, ...]) -> bool:
    """Whether what differs makes another fact of a sentence, and not only other words of the same."""
    mine = [token for one in found for token in one.one.split()]
    theirs = [token for one in found for token in one.other.split()]
    if sorted(mine) == sorted(theirs):
        return True
    differ = {*mine} ^ {*theirs}
    return any(map(_turns, differ)) or any(_denies(one.one, one.other) for one in found)


def _turns(token: str) -> bool:
    return token in _TURNING or not any(map(str.isalnum, token)) or _is_name(token)


def _denies(one: str, other: str) -> bool:
    """Whether one word stands for another that begins alike: an ending may deny what the word says."""
    if not _LATIN.fullmatch(one) or not _LATIN.fullmatch(other):
        return False
    return one[:_PREFIX] == other[:_PREFIX] and min(len(one), len(other)) > _PREFIX


@lru_cache(maxsize=4096)
def _tokens(text: str) -> tuple[str, ...]:
    text = re.sub(r"(?i)\bcan(?:no|')t\b", "can not", text.replace("’", "'"))
    text = re.sub(r"(?i)(?:\b(?:do|does|did)(?: not|n't)|(?<=\w)n't|\bnever)\b", " not", text)
    found = (_form(token) for token in _TOKEN.findall(text[:8_000]))
    return tuple(form for form in found if form not in _FREE)[:_MOST]


def _form(token: str) -> str:
    """A token as it is compared: names in code as they stand, words of prose without case and ending."""
    if _is_name(token):
        return token
    plain = fold(token)
    return UNITS.get(plain) or (stem(plain) if plain.isalpha() else plain)


def _is_name(token: str) -> bool:
    """Whether a token is spelled as names in code are: its case tells it from others."""
    return token.startswith("-") or "_" in token or (token[1:].lower() != token[1:] and not token.isupper())
