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
    r"|\bstricthostkeychecking\W{1,3}no\b|\bssl_?verify\W{1,3}(?:false|0|no)\b|\bstrict-ssl\W{1,3}false\b"
    r"|\bcommonwealth_disable\b|\bgpgsign\W{1,3}false\b|\bchmod (?:-r )?0?777\b|\bsetenforce 0\b|\bnopasswd\b"
    r"|\binsecureskipverify\W{1,3}true\b|\brejectunauthorized\W{1,3}false\b|\bhooks_?path\W{1,3}/dev/null"
    r"|\bskip=[\w,-]*(?:secret|gitleaks|scan)\w*|\bbypasspermissions\b"
)
_GUARD = (
    r"(?:secrets?[ -]?scan\w*|push[ -]protection|branch[ -]protection|code[ -]?reviews?|reviews?\b|approvals?"
    r"|signature (?:checks?|verification)|signing|tls|ssl|certificate (?:checks?|verification|validation)|certificates?"
    r"|permission (?:prompts?|checks?)|permissions|sandbox\w*|audit[ -]?log\w*|2fa|mfa|security (?:scans?|checks?)"
    r"|virus ?scan\w*|firewall|selinux|pre-(?:commit|push)(?: hooks?)?|git hooks|allow-?list|safety checks?"
    r"|guardrails?|rate limit\w*)"
)
_OFF = r"(?:disable|turn off|switch off|deactivate|skip|bypass|circumvent|ignore|get around|work around|comment out)"
_PHRASE = (
    rf"\b{_OFF} (?:[\w'-]+ ){{0,3}}?{_GUARD}|\b(?:turn|switch) (?:[\w'-]+ ){{1,3}}?{_GUARD} off\b"
    r"|\b(?:approve|accept|merge|allow) (?:all|every|any)(?: [\w-]+)? (?:prs?|pull requests?|merge requests?|mrs?"
    r"|requests?|candidates?|commands?|tools?|changes)\b"
    r"|\b(?:deaktivier\w*|umgeh\w*|uberspring\w*|überspring\w*|ignorier\w*|schalt\w*) (?:[\w-]+ ){0,3}?"
    r"(?:secret\w*|geheimnis\w*|pruf\w*|prüf\w*|signatur\w*|zertifikat\w*|freigabe\w*|reviews?|schutz\w*|sandbox|firewall)"
    r"|\b(?:[\w-]*pr[uü]fung\w*|[\w-]*schutz|zertifikat\w*|freigaben?|reviews?|sandbox|firewall) (?:[\w-]+ ){0,2}?"
    r"(?:deaktivier\w*|umgeh\w*|überspring\w*|ignorier\w*|abschalt\w*|ausschalt\w*)"
    r"|\b(?:desactiva\w*|deshabilita\w*|omite|omitir|salta\w*|ignora\w*) (?:[\w-]+ ){0,3}?"
    r"(?:escaneo|verificaci\w*|revisi\w*|certificado\w*|firmas?|protecci\w*|permisos|cortafuegos)"
    r"|\b(?:d[eé]sactive\w*|contourne\w*|ignore\w*|saute\w*) (?:[\w'-]+ ){0,3}?"
    r"(?:l'analyse|analyse|v[eé]rification\w*|revues?|certificats?|signatures?|protections?|autorisations?|pare-feu)"
)
_LOOSE = re.compile(f"(?P<switch>{_SWITCH})|(?P<phrase>{_PHRASE})")
_SENTENCE = re.compile(r"[.!?;]\s+|\n|,? but |,? aber |,? pero |,? mais ")
_DO = (
    r"(?:use|run|set|add|pass|push|commit|put|export|call|disable|turn|switch|deactivate|skip|bypass|circumvent|ignore|get"
    r"|work|comment|approve|accept|merge|allow|start|configure|deaktivier\w*|umgeh\w*|überspring\w*|schalt\w*|nutz\w*"
    r"|verwend\w*|setz\w*|desactiva|deshabilita|omite|usa|pon|ejecuta|salta|d[eé]sactive\w*|contourne\w*|utilise\w*"
    r"|lance\w*)\b"
)
_ADVICE = re.compile(
    r"(?:^|[:,(–—] ?|- |\b(?:then|and|so|to|please|just|simply|always|first|bitte|einfach|immer|dann|siempre|primero"
    rf"|toujours|d'abord) ){_DO}|\b(?:always|must|should|have to|has to|need to|needs to|from now on|immer|muss|müssen"
    r"|soll\w*|siempre|debe\w*|hay que|toujours|doit|doivent|il faut)\b"
)
_AGAINST = re.compile(
    r"\b(?:never|not|no|avoid|forbid\w*|forbidden|banned|instead of|rather than|without|reject\w*|refus\w*|prevent\w*"
    r"|cannot|nobody|nie|niemals|nicht|kein\w*|ohne|nunca|jam[aá]s|sin|evita\w*|jamais|ne|pas|sans)\b|n't\b"
)


def advised(text: str) -> str | None:
    """The passage (folded, at most 120 characters) that advises to loosen a safety control; None where none does."""
    for sentence in _SENTENCE.split(fold(text[:_LIMIT])):
        found = _LOOSE.search(sentence)
        if found is None or _AGAINST.search(sentence[: found.start()]):
            continue
        if _ADVICE.search(sentence[: found.start() + 12]) or (found["switch"] and _ADVICE.search(sentence)):
            return " ".join(found[0].split())[:120]
    return None
