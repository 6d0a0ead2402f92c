"""Advice to loosen what protects people: skip a check, switch off a scan, approve unseen. A person looks at such a note
before a team's tools follow it, whoever wrote it; what only describes a switch, or warns of it, is no advice."""

from __future__ import annotations

import re

from commonwealth.curate.texts import fold

REASON = "it advises to loosen a safety control"
_LIMIT = 50_000

_SWITCH = (
    r"--no-verify\b|--dangerously-[\w-]+|--no-gpg-sign\b|--insecure\b|--yolo\b|--trusted-host\b|--no-check-certificate\b"
    r"|--skip-(?:checks?|review|scan\w*|hooks?|verif\w*)\b|--disable-(?:ssl|tls|verif\w*|sandbox)\b|--no-sandbox\b"
    r"|\bgit_ssl_no_verify\b|\bnode_tls_reject_unauthorized\W{1,3}0|\bpythonhttpsverify\W{1,3}0|\bverify ?= ?false\b"
    r"|\bstricthostkeychecking\W{1,3}no\b|\bssl_?verify\W{1,3}(?:false|0|no)\b|\bstrict-ssl(?:\W{1,3}| to )false\b"
    r"|\bcommonwealth_disable\b|\bgpgsign\W{1,3}false\b|\bchmod (?:-r )?0?777\b|\bsetenforce 0\b|\bnopasswd\b"
    r"|\binsecureskipverify\W{1,3}true\b|\brejectunauthorized\W{1,3}false\b|\bhooks_?path\W{1,3}/dev/null"
    r"|\bskip=[\w,-]*(?:secret|gitleaks|scan)\w*|\bbypasspermissions\b|\bbash\(\*\)"
    r"|\bcurl (?:-[\w-]+ )*-[a-z]{0,4}k\b|\b(?:git commit (?:-\w+ )*|commit with `?)-n\b"
)
_GUARD = (
    r"(?:secrets?[ -]?scan\w*|push[ -]protection|branch[ -]protection|code[ -]?reviews?|reviews?\b|approvals?"
    r"|signature (?:checks?|verification)|(?:commit )?signing|tls|ssl|certificate (?:checks?|verification|validation)"
    r"|certificates?|permission (?:prompts?|checks?)|permissions|sandbox\w*|audit[ -]?log\w*|2fa|mfa"
    r"|security (?:scans?|checks?|reviews?)|virus ?scan\w*|firewall|selinux|pre-(?:commit|push)(?: hooks?)?|git hooks"
    r"|allow-?list|safety checks?|guardrails?|rate limit\w*)"
)
_OFF = r"(?:disable|turn off|switch off|deactivate|skip|bypass|circumvent|ignore|get around|work around|comment out)"
_OFFED = r"(?:disabled|turned off|switched off|deactivated|skipped|bypassed|circumvented|ignored|commented out)"
_REQUEST = r"(?:prs?|pull[ -]requests?|merge[ -]requests?|mrs?)"
_FEW = r"(?:[\w'-]+ ){0,3}?"
_PHRASE = (
    rf"\b{_OFF} {_FEW}{_GUARD}|\b(?:turn|switch) {_FEW}{_GUARD} off\b"
    rf"|\b(?:approve|accept|merge|allow) (?:all|every|any)(?: [\w-]+)? (?:{_REQUEST}|requests?|candidates?|commands?"
    r"|tools?|changes)\b"
    rf"|\bauto-?approve {_FEW}(?:{_REQUEST}|requests?|commands?|tools?)\b"
    rf"|\bforce[ -]push(?:es)? {_FEW}(?:main|master|trunk)\b"
    rf"|\b(?:deaktivier\w*|umgeh\w*|uberspring\w*|überspring\w*|ignorier\w*|schalt\w*) {_FEW}"
    r"(?:secret\w*|geheimnis\w*|pruf\w*|prüf\w*|signatur\w*|zertifikat\w*|freigabe\w*|reviews?|schutz\w*|sandbox|firewall)"
    r"|\b(?:[\w-]{0,30}pr[uü]fung\w*|[\w-]{0,30}schutz|zertifikat\w*|freigaben?|reviews?|sandbox|firewall) "
    r"(?:[\w-]+ ){0,2}?(?:deaktivier\w*|umgeh\w*|überspring\w*|ignorier\w*|abschalt\w*|ausschalt\w*)"
    rf"|\b(?:desactiva\w*|deshabilita\w*|omite|omitir|salta\w*|ignora\w*) {_FEW}"
    r"(?:escaneo|verificaci\w*|revisi\w*|certificado\w*|firmas?|protecci\w*|permisos|cortafuegos)"
    rf"|\b(?:d[eé]sactive\w*|contourne\w*|ignore\w*|saute\w*) {_FEW}"
    r"(?:l'analyse|analyse|v[eé]rification\w*|revues?|certificats?|signatures?|protections?|autorisations?|pare-feu)"
)
_ADVISING = (
    rf"\b{_GUARD} (?:should|must|shall|has to|have to|needs? to|ought to) be {_OFFED}\b"
    rf"|\b(?:all|every|each|any) {_FEW}{_REQUEST}\b[^.;]{{0,40}}?\b(?:approved|merged|accepted) (?:automatically"
    r"|blindly|unseen|unread)\b"
    rf"|\b{_REQUEST}\b[^.;]{{0,40}}?\b(?:approved|merged|accepted) without (?:an? |any )?(?:review|approval|look)\w*"
    r"|\b(?:run|execute|use|call|allow) (?:all|any|every) (?:[\w-]+ )?(?:commands?|tools?) without (?:asking"
    r"|confirmation|permission|approval|a prompt|prompts)\b"
    rf"|\b(?:alle|jede[nrs]?) {_FEW}{_REQUEST} {_FEW}(?:genehmigen|freigeben|mergen|annehmen|akzeptieren)\b"
    rf"|\b(?:genehmig|akzeptier|merg)(?:e|t|en)\b {_FEW}(?:alle|jede[nrs]?) {_FEW}{_REQUEST}\b"
    r"|\b(?:secret-?scan\w*|(?:commit-?)?signi\w+|signatur\w*)\b[^.;,]{0,30} (?:abschalten|ausschalten|deaktivieren)\b"
    rf"|\b(?:aprueb[ae]\w*|aprobar|acept[ae]\w*|fusion[ae]\w*) {_FEW}(?:todos|todas|cada|cualquier) {_FEW}{_REQUEST}\b"
    rf"|\b(?:approuve\w*|accepte\w*|fusionne\w*|valide\w*) {_FEW}(?:toutes|tous|chaque) {_FEW}{_REQUEST}\b"
)
_LOOSE = re.compile(f"(?P<switch>{_SWITCH})|(?P<advising>{_ADVISING})|(?P<phrase>{_PHRASE})")
_SENTENCE = re.compile(r"[.!?;]\s+|\n|,? but |,? aber |,? pero |,? mais ")
_CLAUSE = re.compile(
    r", (?:so|then|therefore|thus|hence|deshalb|daher|also|así que|por eso|donc) |: |^(?:no|nein|non|nope),? "
)
"""Where a clause begins that a denial before it says nothing about."""
_DO = (
    r"(?:use|run|set|add|pass|push|commit|put|export|call|disable|turn|switch|deactivate|skip|bypass|circumvent|ignore|get"
    r"|work|comment|approve|accept|merge|allow|start|configure|clone|force|auto-?approve|deaktivier\w*|umgeh\w*"
    r"|überspring\w*|schalt\w*|nutz\w*|verwend\w*|setz\w*|desactiva|deshabilita|omite|usa|pon|ejecuta|salta"
    r"|d[eé]sactive\w*|contourne\w*|utilise\w*|lance\w*)\b"
)
_ADVICE = re.compile(
    r"(?:^|[:,(–—] ?|- |\b(?:we|you|agents?|everybody|everyone|then|and|so|to|please|just|simply|always|first|bitte"
    rf"|einfach|immer|dann|siempre|primero|toujours|d'abord) ){_DO}|\b(?:always|must|should|have to|has to|need to"
    r"|needs to|from now on|immer|muss|müssen|soll\w*|siempre|debe\w*|hay que|toujours|doit|doivent|il faut)\b"
    r"|^(?:sudo )?chmod (?:-r )?0?777 (?:the |all |every |each |your |[~/.$]|[\w.-]+/)"
)
_NEEDED = re.compile(
    r"\b(?:is|are) (?:needed|required|necessary)\b|\b(?:needs?|requires?|brauch\w*|ben[oö]tig\w*|necesita\w*"
    r"|requiere\w*|n[eé]cessite\w*)\b|\b(?:go|goes|runs?|starts?|push|pushes|commits?|clones?) (?:\w+ ){0,2}with\b"
)
"""That a switch is needed, or a habit: advice without an order."""
_AGAINST = re.compile(
    r"\b(?:never|not|no|avoid|forbid\w*|forbidden|banned|instead of|rather than|without|reject\w*|refus\w*|prevent\w*"
    r"|cannot|nobody|nie|niemals|nicht|kein\w*|ohne|nunca|jam[aá]s|sin|evita\w*|jamais|ne|pas|sans)\b|n't\b"
)


def advised(text: str) -> str | None:
    """The passage (folded, at most 120 characters) that advises to loosen a safety control; None where none does."""
    for sentence in _SENTENCE.split(fold(text[:_LIMIT])):
        found = _LOOSE.search(sentence)
        if found is None or denied(sentence[: found.start()]):
            continue
        if found["advising"] or _is_advice(sentence, found):
            return " ".join(found[0].split())[:120]
    return None


def denied(before: str) -> bool:
    """Whether what stands before an act in its sentence speaks against it."""
    return bool(_AGAINST.search(_CLAUSE.split(before)[-1]))


def _is_advice(sentence: str, found: re.Match[str]) -> bool:
    if found["switch"]:
        return bool(_ADVICE.search(sentence) or _NEEDED.search(sentence))
    return bool(_ADVICE.search(sentence[: found.start() + 12]))
