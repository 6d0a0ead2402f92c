"""Text that speaks to a model or a tool instead of telling a fact.

What is found is a sign, not a proof: a person looks at it. Rules of engineering ("never call X from Y", "always use
UTC") are no such text, however strictly they are worded. Every field is looked at as a reader sees it, as a model may
read it (hidden characters taken out, look-alike letters folded), and what base64, hex or percent signs wrap.
"""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import unquote

from commonwealth.curate.texts import fold
from commonwealth.safetext import clean


class _Rule(NamedTuple):
    what: str
    pattern: str


_LIMIT = 200_000
"""Characters of one field that are looked at."""


@dataclass(frozen=True, slots=True)
class Sign:
    """What was seen in which field; `passage` is the text that shows it, folded, at most 200 characters.

    `firm` is off for a stray hidden character or two, which no message fits into: every reader of ours takes them out.
    """

    where: str
    what: str
    passage: str
    firm: bool = True


_LESS = (
    r"(?:all |any |every |the |your |my |our |these |those |of |earlier |previous |prior |above |preceding |existing "
    r"|current )*"
)
_GUIDES = r"(?:instructions?|prompts?|directions|guidelines|directives|safety rules|system rules|system messages?)"
_OWNER = r"(?:the |your |this to the |to the |this from the )?(?:user|human|operator|owner|developer|reviewer|person)s?"

_ORDERS = (
    _Rule(
        "it tells a reader to set aside their instructions",
        rf"(?:ignore|disregard|forget|override|bypass|do not follow|don't follow|stop following) {_LESS}"
        rf"(?:previous|prior|above|earlier|preceding|existing|system|your|safety)[\w\s]{{0,20}}?{_GUIDES}"
        rf"|(?:ignore|disregard|forget) (?:everything|all|anything) (?:above|before|you (?:were|have been|know)"
        rf"|that came)"
        rf"|{_GUIDES} (?:above |before )?(?:are|is) (?:now )?(?:void|cancelled|obsolete|no longer valid"
        rf"|superseded by)"
        r"|\bnew (?:system )?instructions?(?: for (?:you|the (?:assistant|agent|model)))? ?:"
        r"|(?:vergiss|ignoriere|missachte) (?:alle |die |deine |bisherigen |vorherigen |obigen )*(?:anweisungen"
        r"|regeln|instruktionen)"
        r"|(?:ignore[zr]?|oublie[zr]?) (?:toutes |les |tes |vos )*(?:instructions|consignes)"
        r"|(?:ignora|olvida) (?:todas |las |tus |sus )*(?:instrucciones|indicaciones|reglas) (?:anteriores|previas)"
        r"|(?:игнорируй|забудь|игнорируйте|забудьте) (?:все |предыдущие |прежние |выше)*\s*(?:инструкции|указания)"
        r"|(?:忽略|无视|無視|忘记)[^。\n]{0,8}(?:指令|指示|提示|规则|说明)|(?:以前|これまで|上記)の(?:指示|命令)を(?:無視|忘れ)"
        r"|تجاهل (?:جميع |كل )?التعليمات",
    ),
    _Rule(
        "it gives a model another role",
        r"\byou are now (?:an? |the |in )?(?:unrestricted|jailbroken|dan\b|developer mode|admin|root|free|evil"
        r"|not bound|\w+gpt)"
        r"|\bfrom now on,? (?:you (?:will|must|are|should|only|always|never)|act|respond|answer|behave"
        r"|always (?:say|answer|reply))"
        r"|\b(?:pretend|act|behave) (?:to be|as if you|as though you|like you)\b|\benable (?:developer|god"
        r"|dan) mode\b"
        r"|\b(?:reveal|print|repeat|output|show|leak) (?:me )?(?:your|the) (?:full |entire |hidden "
        r"|initial )*(?:system prompt|instructions|developer message)",
    ),
    _Rule(
        "it asks for approval without a review",
        r"(?<!never )(?<!not )(?<!n't )\b(?:always |automatically |just |please |immediately )(?:approve|accept"
        r"|merge|rubber-?stamp|allow|whitelist|auto-?approve)"
        r" (?:all |any |every |the |this |these |my |its |each )*(?:prs?\b|pull requests?|mrs?\b|merge requests?"
        r"|permission|tool (?:calls?|uses?)|commands?|reviews?|requests? (?:from|by))"
        r"|(?<!never )(?<!not )(?<!n't )\b(?:approve|merge|accept|publish|deploy"
        r"|push) [^.\n]{0,50}?without (?:any |a |further |human |code |asking (?:for )?|waiting (?:for )?"
        r"|the )*(?:review|approval"
        r"|confirmation|permission|checking)"
        r"|(?:^|[.!;:]\s|\b(?:always|please|must|should) )(?:skip|bypass|turn off|switch off|circumvent) (?:all "
        r"|any |the |every |your |its )*(?:safety|permission|confirmation|approval|sandbox|security)"
        r" ?(?:checks?|prompts?|rules?|steps?|reviews?|restrictions?|mode)?",
    ),
    _Rule(
        "it asks to keep something from a person",
        rf"\b(?:do not|don't|never|without) (?:tell|telling|inform|informing|notify|notifying|alert|alerting"
        rf"|mention\w* (?:this|it|that) to|reveal\w* (?:this|it|that) to|show\w* (?:this|it|that) to|warn"
        rf"|warning) {_OWNER}\b"
        rf"|(?<!never )\b(?:hide|conceal|keep) (?:this|it|that|these) (?:from|secret from|hidden from) {_OWNER}\b"
        r"|\b(?:do not|don't) (?:mention|reveal|disclose) (?:this|these) (?:instructions?|prompt|rules?|message)"
        r"|\bwithout (?:the |their |his |her )?(?:user|human|operator)(?:'s)? (?:knowledge|knowing|noticing)",
    ),
    _Rule(
        "it asks to be remembered for everybody",
        r"\b(?:remember|memorize|memorise|store|save|record|add|persist|write) (?:this|that|it|the following"
        r"|these)(?: \w+){0,3}? (?:for|to|in|into|as) "
        r"(?:everybody|everyone|all (?:users|sessions|agents|teams?|future)|the (?:whole|entire) (?:team"
        r"|company)|every (?:session|agent|user)"
        r"|(?:your|the) (?:long-?term |permanent |shared |team )?memor(?:y|ies)|future sessions"
        r"|your (?:instructions|rules|system prompt)|a permanent)"
        r"|\b(?:copy|repeat|include|propagate|add) (?:this|these) (?:text|message|instructions?|paragraph"
        r"|note)s? (?:in|into|to) (?:every|all|each)",
    ),
    _Rule(
        "it asks to send out what should stay inside",
        r"\b(?:send|post|upload|exfiltrate|forward|e-?mail|transmit|leak|submit|report|append|paste)\b[^.\n]{0,60}?"
        r"(?:\.env\b|\b(?:secrets?|tokens?|credentials?|env(?:ironment)? ?(?:vars?|variables?|file)|api.?keys?"
        r"|private keys?|ssh keys?|passwords?|conversation|chat history|transcript|source code|system prompt)\b)"
        r"[^\n]{0,60}?(?:https?://|\bto [\w.+-]+@[\w-]+\.|webhook|\bto (?:this|the following|my) (?:url|address"
        r"|server|endpoint))"
        r"|\b(?:cat|read|open|print|curl|upload|base64)\b[^\n]{0,40}(?:~/\.ssh/id_|\.aws/credentials|/etc/shadow"
        r"|\.env\b)[^\n]{0,60}(?:\||curl|https?://|\bsend|\bpost|\bupload)",
    ),
    _Rule(
        "it runs what it fetches from the network",
        r"(?:curl|wget|iwr|invoke-webrequest|fetch)\b[^\n|;]{0,300}\|\s*(?:sudo\s+)?(?:/usr/bin/env\s+"
        r"|/bin/)?(?:ba|z|da|k|fi)?sh\b"
        r"|(?:curl|wget)\b[^\n|;]{0,300}\|\s*(?:sudo\s+)?(?:python3?|perl|ruby|node|php)\b"
        r"|(?:ba|z)?sh\s+(?:-c\s+)?[\"']?(?:<\(|\$\()\s*(?:curl|wget)\b|eval\s+[\"']?\$\((?:curl|wget)\b"
        r"|(?:iex|invoke-expression)\b[^\n]{0,200}(?:downloadstring|iwr|invoke-webrequest|https?://)"
        r"|(?:curl|wget)\b[^\n]{0,200}&&\s*(?:chmod \+x|(?:ba|z)?sh )",
    ),
    _Rule(
        "it is a command that destroys",
        r"\brm\s+-(?:rf|fr|r\s+-f|f\s+-r)\s+(?:--no-preserve-root\s+)?(?:/|~|\$home)/?(?:\s|$|\*|;)"
        r"|:\(\)\s*\{\s*:\|:&\s*\};:",
    ),
)  # fmt: skip
_FAKE = (
    _Rule(
        "it imitates a message of a host or a tool",
        r"</?(?:system|system[-_](?:reminder|prompt|message|instructions?)|assistant|function_(?:calls?"
        r"|results?)|tool_(?:use|result|results|call|calls|response)"
        r"|antml:\w+|user_(?:instructions|query|message)|developer_(?:message|instructions)"
        r"|environment_context)(?:\s[^<>\n]{0,100})?>"
        r"|<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id|end_header_id)\|?>?"
        r"|\[/?inst\]|<</?sys>>|(?:^|\n) ?(?:#{1,4} ?|\*\*)?(?:system|developer)(?: message| prompt"
        r"| note)?(?:\*\*)?\s*:\s*(?:you|ignore|always|never|from|the (?:assistant|agent|user)|new|important|do "
        r"|run|execute|approve)"
        r"|(?:^|\n) ?(?:human|user) ?:[^\n]*\n{1,3} ?(?:assistant|ai) ?:|\[system (?:message|notice|override"
        r"|note)[^\]\n]{0,40}\]",
    ),
    _Rule("it imitates the lines around shared notes", r"<<<\s*\w+\s+[0-9a-f]{8,}|\b\w+ [0-9a-f]{8,}\s*>>>"),
)  # fmt: skip
_LEAKS = (
    _Rule(
        "it holds an address that carries data away",
        r"!\[[^\]\n]{0,200}\]\(\s*<?https?://[^)\s]*[?&#/=][^)\s]*(?:\{|%7b|\$|<|\[)[^)]*\)"
        r"|!\[[^\]\n]{0,200}\]\(\s*<?https?://[^)\s]*\?[^)\s]*\b(?:data|secret|token|leak|exfil|payload|content"
        r"|history|conversation|prompt|key|stolen|c|d|q)=[^)]*\)"
        r"|<img\b[^>]*\bsrc\s*=\s*[\"']?https?://[^>\s]*\?[^>]*(?:=|\{|\$)"
        r"|\[[^\]\n]{0,200}\]\(\s*<?(?:javascript|data|vbscript):[^)]*\)"
        r"|https?://[^\s)>\"]*[?&](?:data|secret|token|leak|exfil|payload|history|conversation|prompt"
        r"|stolen)=(?:\{|%7b|\$|<|\[)",
    ),
)
_HIDDEN = "it holds characters that nobody sees"
_UNSEEN = ("Cf", "Cc", "Co", "Mn", "Zl", "Zp")
_MESSAGE = 12
"""So many characters that nobody sees may carry something."""

_WRAPPED = "an instruction is wrapped in it"

_LOOK_ALIKE = str.maketrans("аеорсухіјѕԁһӏɡοαινᴀᴇɪᴏ", "aeopcyxijsdhlgoaivaeio")
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/_-]{4}){6,}[A-Za-z0-9+/_-]{0,3}={0,2}")
_HEX = re.compile(r"(?:\\x[0-9a-fA-F]{2}){12,}|\b(?:[0-9a-fA-F]{2}){16,}\b")
_PERCENT = re.compile(r"(?:%[0-9A-Fa-f]{2}|[\w.+-]){12,}")
_RUN_TOGETHER = re.compile(r"(ignore|disregard|forget|previous|prior|all|instructions?)")
_SPELLED = re.compile(r"\b(?:[a-z][ .\-_*]){4,}[a-z]\b")


def found(fields: Iterable[tuple[str, str]]) -> tuple[Sign, ...]:
    """The signs in the given (field, text) pairs, each kind once a field, in their order."""
    signs = (sign for where, text in fields if text for sign in _of_field(where, text[:_LIMIT]))
    return tuple({(sign.where, sign.what): sign for sign in signs}.values())


def _of_field(where: str, text: str) -> Iterator[Sign]:
    hidden = _hidden(text)
    if hidden:
        shown = " ".join(f"u+{ord(char):04x}" for char in hidden[:8])
        yield Sign(where, _HIDDEN, shown, firm=_carries_a_message(hidden))
    for plain in _readings(text):
        yield from _matches(where, plain, (*_ORDERS, *_FAKE, *_LEAKS))
    for inner in _unwrapped(text):
        for sign in _matches(where, " ".join(fold(inner).split()), (*_ORDERS, *_FAKE)):
            yield Sign(where, _WRAPPED, sign.passage)


def _matches(where: str, plain: str, rules: Iterable[_Rule]) -> Iterator[Sign]:
    for what, pattern in rules:
        if match := re.search(pattern, plain):
            yield Sign(where, what, " ".join(match[0].split())[:200])


def _readings(text: str) -> Iterator[str]:
    """The text as it may be read: as it stands; with look-alike letters folded; with spelled-out words joined."""
    text = re.sub("[\u200b-\u200f\u2060-\u2064\ufeff\u00ad\U000e0000-\U000e007f]", "", text)
    plain = re.sub(r"[^\S\n]+", " ", fold(text))
    yield plain
    if not plain.isascii():
        yield re.sub(r"(?<=[a-z])[\u0300-\u036f]+", "", plain.translate(_LOOK_ALIKE))
    joined = _SPELLED.sub(lambda match: re.sub(r"[ .\-_*]", "", match[0]), plain)
    if joined != plain:
        yield " ".join(_RUN_TOGETHER.sub(r" \1 ", joined).split())


def _hidden(text: str) -> list[str]:
    """What `text` holds that no reader sees, in its order: what every delivery of ours takes out."""
    text = text.removeprefix("\ufeff").replace("\r", "")
    if text.isascii() and not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", text):
        return []
    kept = Counter(clean(text))
    every = Counter(text)
    gone = {char for char in every if every[char] > kept[char] and char != "\u00ad"}
    return [char for char in text if char in gone and unicodedata.category(char) in _UNSEEN]


def _carries_a_message(hidden: list[str]) -> bool:
    """Whether so many characters are hidden that they may say something, or such as stand for letters."""
    return len(hidden) >= _MESSAGE or any("\U000e0000" <= char <= "\U000e01ef" for char in hidden)


def _unwrapped(text: str) -> Iterator[str]:
    """What is wrapped in `text` as base64, hex or percent signs, where that is text."""
    for match in _BASE64.finditer(text):
        if inner := _as_text(_base64(match[0])):
            yield inner
    for match in _HEX.finditer(text):
        digits = match[0].replace("\\x", "")
        if inner := _as_text(bytes.fromhex(digits)):
            yield inner
    for match in _PERCENT.finditer(text):
        if match[0].count("%") >= 4:
            yield unquote(match[0])


def _base64(run: str) -> bytes:
    run = run.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(run[: len(run) - (len(run) % 4 == 1)] + "=" * (-len(run) % 4))
    except (binascii.Error, ValueError):
        return b""


def _as_text(data: bytes) -> str:
    """The bytes as text where most of them are printable and there are words in it."""
    text = data.decode("utf-8", "ignore")
    printable = sum(char.isprintable() or char.isspace() for char in text)
    return text if len(text) >= 12 and " " in text and printable >= 0.9 * max(len(data), 1) else ""
