"""Passwords that people tell each other in a sentence: after the word for one, in the languages that teams write."""

from __future__ import annotations

from collections.abc import Iterator

from commonwealth.curate.randomness import compiled, is_identifier, is_placeholder, is_random, is_reference
from commonwealth.curate.secret_contexts import Span

_WORDS = ("pass", "pw", "kennwort", "contrase", "senha", "parola", "wachtwoord", "парол", "hasło", "haslo", "lösenord")
_WORD = (
    r"(?<![\w.])(?:pass ?(?:word|phrase|code|wort)|passwd|pwd|pw|kennwort|mot de passe|contraseña|contrasena|senha"
    r"|parola|wachtwoord|пароль|hasło|haslo|lösenord)(?!\w)"
)
_FOR = r"(?:\s(?:for|of|to|on|von|für|de|del|du|para|pour)\s[\w.@' -]{1,40}?)?"
_ADVERB = (
    r"(?:\s(?:always|now|currently|still|just|simply|again|immer|jetzt|noch|einfach|siempre|ahora|toujours|maintenant"
    r"|sempre|agora))?"
)
_IS = r"(?:is|was|lautet|ist|war|es|est|é|è|jest|är)"
_VALUE = r"[\"'`“„«*]{0,3}(?P<value>[^\s\"'`“”„«»,;<>()\[\]{}|]{6,64})"
_STATED = rf"{_FOR}(?:\s?(?::=|=>|->|=|:)\s?|\s{_IS}{_ADVERB}(?:\sset to)?[: ]\s?){_VALUE}"
_BARE = rf"\s{_VALUE}"
_MADE = r"[A-Za-zÀ-ÿ]{4,24}[-_.]?\d{1,6}[!?.#*$%&+@]{0,3}"
_SIGN = r"[!@#$%^&*?+~]"
_TECHNICAL = (
    r"(?i)(?:oauth|office|python|node|sha|md|utf|base|argon|bcrypt|scrypt|pbkdf|aes|rsa|ipv|https?|tls|ssl|saml|openid|win(?:dows)?\d"
    r"|java|postgres|mysql|ubuntu|debian|rfc|owasp|nist|iso|v\d|x\.?509|f2fa|[12]fa|level|step|section|line|option)"
)


def told(text: str, lower: str) -> Iterator[Span]:
    """Chosen passwords after a word for one: letters with digits, as nobody writes a word."""
    if not any(word in lower for word in _WORDS):
        return
    for word in compiled(_WORD).finditer(lower):
        for pattern in (_STATED, _BARE):
            match = compiled(pattern).match(text, word.end())
            value = match["value"].rstrip(".:*_") if match else ""
            if match and _is_chosen(value, bare=pattern is _BARE):
                yield Span("password", match.start("value"), match.start("value") + len(value))
                break


def _is_chosen(value: str, *, bare: bool) -> bool:
    """Whether somebody made this up as a password. With nothing but a blank before it (`bare`), it has to look like
    no name in code either."""
    if len(value) < 6 or is_placeholder(value) or is_reference(value) or is_identifier(value):
        return False
    if compiled(_TECHNICAL).match(value) or not any(map(str.isdigit, value)) or not any(map(str.isalpha, value)):
        return False
    if compiled(_MADE).fullmatch(value) and (value.lower() != value or compiled(_SIGN).search(value)):
        return True
    signed = compiled(_SIGN).search(value) is not None
    mixed = value.lower() != value and value.upper() != value
    if bare:
        return len(value) >= 8 and (signed or (mixed and len(value) >= 10 and is_random(value)))
    return len(value) >= 8 and (signed or mixed)
