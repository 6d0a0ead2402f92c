"""Advice on who gets to know what: to keep something from somebody at work, or to carry keys and secrets out. A person
looks at such a note before a team's tools follow it; what forbids it is no such advice."""

from __future__ import annotations

import re

from commonwealth.curate.loosening import denied
from commonwealth.curate.texts import fold

KEPT = "it advises to keep something from a person"
CARRIED = "it advises to hand out what is secret"
_LIMIT = 50_000

_SENTENCE = re.compile(r"[.!?;](?:\s+|$)|\n")
_PERSON = (
    r"(?:users?|humans?|operators?|owners?|reviewers?|customers?|clients?|maintainers?|developers?)"
    r"(?=[^\w\s'-]|$| (?:that|about|the|an?|any|this|it|when|if|what|how|why|which|of|from|or|and|because|until|unless"
    r"|before|after|in|on|with|their|his|her|raw)\b)"
)
"""Somebody, and not the first half of the name of a thing (`the user menu`)."""
_KEEPING = re.compile(
    r"\b(?:never|do not|don't|must not|mustn't|should not|shouldn't) (?:ever )?(?:tell|inform|notify|alert|warn|show"
    r"|reveal|disclose|mention|report|admit|expose|confess)\b[^.;:,\n]{0,60}?\b(?:the|your|our|to|an?) "
    rf"{_PERSON}|\b(?:hide|conceal|withhold|keep) (?:[\w'-]+ ){{1,5}}?from (?:the |your |our )?{_PERSON}"
    r"|\b(?:no|nunca|jamás) (?:(?:le|les|se lo) )?(?:digas?|muestres?|menciones?|informes?|avises?|reveles?|cuentes?"
    r"|mostrar|decir|informar|avisar)\b[^.;\n]{0,60}?\b(?:usuari[oa]s?|clientes?|humanos?|desarrollador\w*)\b"
    r"|\b(?:ne |n')(?:jamais )?(?:montre|dis|dites|mentionne|informe|révèle|signale|préviens|montrer|dire|informer"
    r"|mentionner)\w*\b[^.;\n]{0,60}?\b(?:utilisateur|client|humain|développeur)\w*"
)
_GERMAN = tuple(
    re.compile(rf"\b(?:{words})\b")
    for words in (
        r"nie|niemals|nicht|nichts|kein\w*",
        r"(?:nutzer|benutzer|anwender|kunden?|menschen|user|entwickler)[ns]?",
        r"(?:sag|zeig|erzähl|erwähn|verrat|verheimlich|meld|informier)(?:e|en|t|st|est)?",
    )
)
"""What a sentence has, in any order, that keeps something from a person."""
_KEYS = (
    r"(?:\.env\b(?![\w.-])|\b(?:secrets|credentials?|passwords?|private keys?|ssh keys?|api[ -]?keys?|access tokens?"
    r"|tokens|keys|env(?:ironment)?(?: vars?| variables?| file)?(?= to\b| into\b| as\b)|environment variables"
    r"|umgebungsvariablen|geheimnisse|passwörter|schlüssel|zugangsdaten|claves|contraseñas|credenciales|secretos"
    r"|variables de entorno|clés|mots de passe|identifiants|variables d'environnement)\b)"
)
_PRIVATE = r"(?:~/\.ssh\b|\bid_(?:rsa|ed25519|ecdsa)\b(?!\.pub)|\.aws/credentials\b|/etc/shadow\b)"
_CARRY = (
    r"(?:^|[:,(] ?|\b(?:and|then|always|please|to|must|should|und|immer|bitte|dann|y|siempre|et|toujours|no|we"
    r"|agents?) )"
    r"(?:send|post|upload|exfiltrate|forward|e-?mail|transmit|submit|paste|copy|publish|push|commit|print|echo|log|dump"
    r"|schick\w*|sende\w*|lade|poste\w*|kopier\w*|env[ií]a\w*|sube\w*|manda\w*|publica\w*|copia\w*|envoie\w*|publie\w*"
    r"|transmets|téléverse\w*|copie\w*|poste\w*)\b"
)
_OUT = (
    r"(?:https?://|\bwebhook|\b(?:the|a|our|your|this|my|every|each) (?:[\w-]+ )?(?:logs?|chat|channel|gist|pastebin"
    r"|slack|ticket|issue|pr|pull request|comments?|descriptions?)\b)"
)
_CARRYING = re.compile(
    rf"{_CARRY}[^.;\n]{{0,60}}?(?:{_KEYS}[^\n]{{0,60}}?{_OUT}|{_PRIVATE})"
    rf"|{_CARRY.replace('send|', 'commit|check in|send|')} (?:the |your |a |all )?(?:\.env\b(?![\w.-])|private keys?\b"
    r"|api[ -]?keys?\b|credentials\b|passwords\b)"
)


def advised(text: str) -> tuple[str, str] | None:
    """Why a text is advice that a person has to see (`KEPT`, `CARRIED`), with its passage (folded, at most 120
    characters); None where it is none."""
    for sentence in _SENTENCE.split(fold(text[:_LIMIT])):
        if all(word.search(sentence) for word in _GERMAN):
            return KEPT, " ".join(sentence.split())[:120]
        if (found := _KEEPING.search(sentence)) is not None and not denied(sentence[: found.start()]):
            return KEPT, " ".join(sentence[found.start() :].split())[:120]
        if (found := _CARRYING.search(sentence)) is not None and not denied(sentence[: found.start()]):
            return CARRIED, " ".join(found[0].split())[:120]
    return None
