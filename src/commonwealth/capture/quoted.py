"""Somebody else's words in what a person said: what a ticket, a page, a mail or a log says is no rule of theirs."""

from __future__ import annotations

import re

_TEXTS = (
    r"(?:tickets?|docs?|documentation|readme|e-?mails?|mails?|messages?|slack|comments?|posts?|articles?|wiki|reports?"
    r"|stack ?overflow|chatgpt|copilot|gemini|blogs?|release notes|changelog|jira|confluence|forum|thread|manuals?"
    r"|man ?page|doku(?:mentation)?|handbuch|documentaci[oó]n)"
)
_PEOPLE = (
    r"(?:customers?|users?|clients?|vendors?|support|bots?|reviewers?|boss|colleagues?|someone|somebody|he|she|they|people"
    r"|everyone|everybody|kunden?|nutzer|kollegen?|chef|jemand|clientes?|usuarios?|jefe|alguien|coll[eè]gues?|quelqu'un)"
)
_SOURCE = rf"(?:{_TEXTS}|{_PEOPLE}|issues?|logs?|errors?|output|spec|pages?|descriptions?|fehlermeldung)"
_SAYS = (
    r"(?:says?|said|states?|stated|claims?|claimed|told|mentions?|mentioned|argues?|thinks?|believes?|suggests?|posted"
    r"|sagte?|schreibt|schrieb|meint|behauptet|dice|dijo|afirma|dit|pr[eé]tend)"
)
_TELLS = rf"(?:{_SAYS}|wrote|writes?|reads?|asks?|asked|tells?|steht|escribe|escribi[oó]|[eé]crit)"
_FIRST = r"^(?:\W|(?:no|but|and|so|well|also|hmm?|ok|yes)\b,?\s)*"
_RELAYED = re.compile(
    rf"^(?:\W|\b[\w'-]+\s){{0,5}}?{_SOURCE}\b[^.:!?\n]{{0,40}}?\b{_TELLS}\b"
    r"(?:\s+\w+){0,3}\s*(?::|[\"'\u201c\u201e\u00ab](?=\w)|$)"
    rf"|{_FIRST}(?:(?:the|an?|our|my|their|this|that|der|die|das|el|la|le|un) )?(?:[\w'-]+ ){{0,2}}?{_SOURCE}"
    rf"(?: (?:in|on|of|from|at) (?:the )?[\w-]+)? {_SAYS}\b"
    rf"|{_FIRST}(?!(?:legal|compliance|security|policy)\b)(?-i:[A-Z][a-z]+)(?: from [\w-]+)? {_SAYS}\b"
    rf"|\b(?:according to|as per|per (?=the|our|their)|laut|gem[aä](?:ß|ss)|según|selon|d'après) (?:[\w'-]+ ){{0,3}}?"
    rf"{_SOURCE}\b"
    rf"|{_FIRST}(?:[\w'-]+ ){{0,2}}?from (?:the |a |my |our )?(?:[\w-]+ )?(?:{_SOURCE}|pr|pull request): "
    rf"|{_FIRST}(?:jira|slack|wiki|ticket|release notes|readme|stack ?overflow|chatgpt|copilot)(?: [\w#-]+)?: "
    r"|^(?-i:[A-Z][A-Z0-9]{1,9}-\d+): |\btold me\b|\bi (?:read|heard|was told)\b.{0,40}\bthat\b"
    r"|^\"[^\"]+\"\W*$|^\u201c[^\u201d]+\u201d\W*$",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(
    rf"{_FIRST}(?:suppose|supposing|imagine|assume|assuming|let's (?:say|assume|pretend)|what if|pretend|hypothetically"
    r"|angenommen|stell dir vor|supongamos|imagina|supposons|imagine[sz])\b",
    re.IGNORECASE,
)
_LOG = re.compile(
    r"\s*\W?(?:\d{4}-\d\d-\d\d[T ]\d\d:|\d\d:\d\d:\d\d"
    r"|(?:ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL|TRACE|CRITICAL)\b\s?[:\]|\[-]"
    r"|Traceback \(most|\[\d{4}-\d\d|[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d )"
)
"""How a row of a log begins."""
_HEADER = re.compile(r"\s*(?:From|To|Cc|Subject|Date|Sent|Von|An|Betreff|Datum|De|Para|Asunto|Fecha|Objet): ?\S")
_ANNOUNCED = re.compile(
    r"\s*(?:(?:On|Am|El|Le)\b.{0,120}\b(?:wrote|schrieb|escribi[oó]|a [eé]crit)\s?:\s*$"
    r"|-{2,} ?(?:Original|Forwarded|Weitergeleitete|Urspr)"
    r"|.{0,60}\b(?:here(?:'s| is| are)|this is|that's|below is|hier ist|aqu[ií] est[aá]|voici)\b.{0,40}\b"
    rf"(?:what (?:they|he|she|\w+) (?:wrote|said|posted|sent)|{_TEXTS})\b.{{0,40}}:\s*$"
    rf"|.{{0,60}}\b(?:{_TEXTS}|{_PEOPLE})\b.{{0,30}}\b{_TELLS}\b.{{0,20}}:\s*$)",
    re.IGNORECASE,
)
"""A row after which somebody else speaks."""


def relayed(text: str) -> bool:
    """Whether a sentence, or the label above it, hands on what a ticket, a page or somebody else says, or only
    supposes something."""
    return bool(_RELAYED.search(text) or _SUPPOSED.match(text))


def own_words(text: str) -> str:
    """A person's message without what was pasted into it: rows of logs, and from a mail or from what is announced as
    somebody's words on, the rest."""
    rows = text.split("\n")
    kept: list[str] = []
    for number, row in enumerate(rows):
        if _ANNOUNCED.match(row[:300]) or (
            _HEADER.match(row) and any(map(_HEADER.match, rows[number + 1 : number + 3]))
        ):
            break
        kept.append("" if _LOG.match(row) else row)
    return "\n".join(kept)
