"""Whether a text is worth a note at all: no question, greeting or empty phrase, nothing personal, no mere location."""

from __future__ import annotations

import re

from commonwealth.curate.texts import STOP, fold, sentences, words

_GREETING_WORDS = """
hi hey hello thanks thank thx you ok okay yes no yep nope sure great perfect nice cool done good job work morning sounds
looks lgtm please continue go ahead on hallo danke merci bonjour gracias hola спасибо привет there very much so all
everyone a lot to me team it that claude codex 谢谢 你好 ありがとう
"""
_GREETINGS = frozenset(_GREETING_WORDS.split())
_MOST_POLITE = 8

_MOST = 2000
"""Characters of a title or a summary that are looked at."""

_QUESTION = re.compile(
    r"^(?:why|what|how|when|where|who|which|can|could|should|shall|would|is|are|do|does|did|will|may|have"
    r"|has)\b[^.!]*\?\s*$|[?？؟]\s*$"
)
_POINTING = re.compile(
    r"^(?:it|this|that|these|those|they|he|she|here|there|the (?:same|above|following|issue|problem|bug|fix"
    r"|thing|code|change|file))\b"
)
_FILLING = """
thing things stuff issue issues problem problems bug fix fixed work works working important good better best bad nice
great interesting note remember careful handle correct correctly properly right way change changes code file files
something anything everything new update updated want need try look see know think attention improve improvement cleanup
refactor various some useful
"""
_FILLER = frozenset(_FILLING.split())
_HOME = re.compile(
    r"(?:/home/|/users/|[a-z]:\\+users\\+)(?!(?:runner|node|app|ubuntu|vscode|user|me|you|username|name|shared"
    r"|public|default|circleci|gitpod|deploy|jenkins|dev|admin|root|git|builder|postgres)\b)[\w.-]+"
)
_ANY_HOME = re.compile(r"(?:/home/|/Users/|[A-Za-z]:\\+Users\\+)[\w.-]+[/\\]")
_PERSONAL = re.compile(
    r"\b(?:my|his|her) (?:\w+ )?(?:editor|terminal|shell|machine|laptop|ide|vimrc|dotfiles|keyboard|theme|fonts?"
    r"|monitor|desktop|mac(?:book)?|setup|aliases|zshrc|bashrc|home folder|home directory|name|e-?mail|phone"
    r"|birthday)\b"
    r"|\bi (?:really |always |usually |personally |mostly )?(?:prefer|like|use|love|hate|work with"
    r"|am used to) (?:\w+ )?(?:vim|neovim|nvim|emacs|vs ?code|vscode|sublime|intellij|dark mode|light mode|zsh"
    r"|fish|tmux|iterm|tabs over spaces|mac|linux|windows)\b"
    r"|\bon my (?:machine|laptop|computer|mac|pc)\b|\bcall me \w+|\bmy name is\b|\bi(?:'m| am) (?:based|living"
    r"|located) in\b"
    r"|\b(?:user|developer|he|she)(?:'s)? (?:prefers?|likes?|uses?) (?:vim|neovim|emacs|vs ?code|vscode"
    r"|dark mode|light mode|zsh|fish|tmux)\b"
)
_LOCATION = re.compile(
    r"\b(?:is|are|can be|gets?) (?:defined|located|implemented|declared|found|placed|stored|set up|handled"
    r"|configured|registered|exported|lives?)\b.{0,20}?\b(?:in|at|under|inside|on lines?)\b"
    r"|\b(?:lives?|sits?|resides?) (?:in|at|under|inside)\b|^(?:see|look (?:in|at)|check"
    r"|open) [`\"']?[\w./-]+\.\w{1,5}\b|\b(?:on|at|around) lines? \d+"
    r"|^(?:the )?(?:file|folder|directory|module|class|function|code) [`\"']?[\w./-]+[`\"']? (?:contains|holds"
    r"|has|is for)\b"
    r"|^(?:the (?:file |module )?)?[`\"']?[\w./-]+\.\w{1,5}[`\"']? (?:contains|holds|has|defines|implements"
    r"|exports|declares"
    r"|does not exist|doesn't exist|exists)\b"
)
_PATHS = re.compile(
    r"[`\"']?(?:[\w.@-]+/)*[\w@-]+\.(?:py|pyi|js|jsx|ts|tsx|mjs|rs|go|rb|java|kt|c|h|cc|cpp|hpp|cs|php|swift|sql"
    r"|sh|md|ya?ml|toml|json|vue|css|html)\b(?::\d+)?|[\w.@-]+(?:/[\w.@-]+)+/?"
)
_REASONED = re.compile(
    r"\b(?:because|since|so that|must|never|always|not|don't|cannot|only|if|when|unless|otherwise|instead|fails?"
    r"|breaks?|causes?|requires?|needs?|due to|before|after)\b"
    r"|因为|必须|不|ない|から|لأن|не|потому"
)
_DOCS = re.compile(
    r"^(?:according to|as per|per) (?:the )?(?:\w+ ){0,3}(?:docs?|documentation|manual|reference|man ?pages?|rfc)\b"
    r"|^(?:the )?(?:official )?(?:\w+ ){0,2}(?:docs?|documentation|manual) (?:says?|states?|explains?|recommends?)\b"
    r"|^[\w.+#-]+ is an? (?:[\w-]+ ){0,4}(?:library|framework|programming language|package manager|build tool"
    r"|database|web server|runtime|operating system|test runner|bundler|linter|orm|protocol)\b(?: (?:for|that"
    r"|written|used|to)\b.*)?\.?$"
)  # fmt: skip
_CODELIKE = re.compile(
    r"^(?:[\w.@:/\\#+=-]*[\d_./\\@:#=(){}\[\]<>-][\w.@:/\\#+=(){}\[\]<>-]*|[A-Z][A-Z0-9_]+|\w+[a-z][A-Z]\w*)$"
)


def reason(title: str, summary: str | None, body: str = "", *, fewest: int = 3) -> tuple[str, bool] | None:
    """Why the text is not worth a note, and whether that is beyond doubt; None where it may be.

    `fewest` is how many telling words a fact has at least.
    """
    claim = "\n".join(part[:_MOST] for part in (title, summary or "") if part.strip())
    plain = fold(claim)
    lines = [fold(line) for line in sentences(claim)]
    rest = len(words(body[:_MOST]))
    if not any(char.isalnum() for char in claim):
        return "it says nothing", True
    if _is_greeting(plain):
        return "it is a greeting or an answer, not a fact", rest < 12
    if all(_QUESTION.search(line) for line in lines) and rest < 12:
        return "it is a question without an answer", True
    return _personal(claim, plain) or _known(lines, rest) or _empty(claim, lines, rest, fewest)


def _is_greeting(plain: str) -> bool:
    spoken = re.findall(r"\w+", plain[:400])
    return 0 < len(spoken) <= _MOST_POLITE and all(word in _GREETINGS for word in spoken)


def _empty(claim: str, lines: list[str], rest: int, fewest: int) -> tuple[str, bool] | None:
    written = [word[:200].strip(".,;:!?`\"'*") for word in claim.split()]
    if rest < 6 and all(_CODELIKE.match(word) for word in written if word):
        return "it is nothing but a name, a path or a number", True
    telling = [word for word in words(claim) if word.stem not in STOP and word.written.casefold() not in _FILLER]
    if len(telling) < fewest and rest < 12:
        return "it is too vague: it does not say what happens where", len(telling) < 2 and rest < 3
    if _POINTING.match(lines[0]) and len(telling) < 2 * fewest and rest < 12 and not re.search(r"[`_/]|\d", claim):
        return "it does not say what it is about", False
    return None


def _personal(claim: str, plain: str) -> tuple[str, bool] | None:
    if _PERSONAL.search(plain):
        return "it is about one person's own setup", not _REASONED.search(plain)
    if _HOME.search(plain) and _ANY_HOME.search(claim):
        return "it names a person's home folder", False
    return None


def _known(lines: list[str], rest: int) -> tuple[str, bool] | None:
    reasoned = any(_REASONED.search(line) for line in lines)
    if rest < 25 and not reasoned and all(_LOCATION.search(line) and _PATHS.search(line) for line in lines):
        return "it only says where code is", True
    if any(_DOCS.search(line) for line in lines) and not reasoned:
        return "it restates public documentation", False
    return None


def holds_home_path(text: str) -> bool:
    """Whether `text` names the home folder of a person."""
    return bool(_HOME.search(fold(text)) and _ANY_HOME.search(text))
