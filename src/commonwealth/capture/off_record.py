"""What the person does not want to be kept: nothing of such a turn is drafted, nor of one that it points back to."""

from __future__ import annotations

import re
from dataclasses import replace

from commonwealth.capture.episodes import Episodes
from commonwealth.capture.sentences import Sentence
from commonwealth.conversation import Said

SHORT = 120
"""Characters of a message up to which it says nothing but that something before it is not to be kept."""

_IT = r"(?:this|that|it|any of (?:this|that|it))"
_NOTES = r"(?:the |any |your |our )?(?:notes?|memory|brain|records?)\b"
_SAID = r"(?:what i (?:just )?(?:said|wrote|told you)|a word of (?:this|that|it)|the (?:above|last (?:message|part)))"
_ENDS = rf"(?=\s*(?:[.!,;:)]|$|please\b|anywhere\b|(?:in|to) {_NOTES}))"
_VETO = re.compile(
    rf"\b(?:do not|don.?t|never|no need to|not to) (?:remember|save|store|record|note|capture|memori[sz]e|keep|log) "
    rf"(?:{_IT}{_ENDS}|{_SAID}\b)"
    rf"|\b(?:do not|don.?t|never) (?:write|jot|put|note|take) {_IT} (?:down\b|(?:in|into|to) {_NOTES})"
    rf"|\bno notes? (?:about|on|of|for) {_IT}\b|\bnot for {_NOTES}|\bbetween (?:you and me|us)\b|\bstrike that{_ENDS}"
    rf"|^scratch that{_ENDS}|(?<!don't )(?<!not )(?<!never )\bforget (?:{_IT}(?=\W*$)|what i (?:just )?said)"
    rf"|\b(?:delete|erase|remove|wipe) {_IT} from {_NOTES}|\b(?:off|not for) the record\b"
    rf"|\b(?:keep|leave) {_IT} (?:between us|private|to yourself)\b"
    rf"|\bkeep {_IT} out of {_NOTES}|\bforget (?:i|that i) (?:said|mentioned)\b"
    r"|\b(?:das|dies|es|bitte) (?:bitte )?nicht (?:merken|speichern|notieren|festhalten|aufschreiben)\b"
    r"|^nicht (?:merken|speichern|notieren|festhalten|aufschreiben)\b|\bmerk dir das (?:bitte )?nicht\b"
    r"|\bno (?:lo |la |me )?(?:guardes|recuerdes|anotes|apuntes)\b|\bque quede entre nosotros\b"
    r"|\bne (?:le |la |l.|me )?(?:retiens|enregistre|note|m[ée]morise)[sz]? pas\b"
    r"|\bn.enregistre[sz]? pas\b|\bunter uns\b|\bentre nous\b",
    re.IGNORECASE,
)


def on_record(told: Episodes) -> Episodes:
    """The conversation without the sentences that are not to be kept."""
    silent: set[int] = set()
    for turn in told.turns:
        for place in range(turn.start, turn.end):
            event = told.event(place)
            if not isinstance(event, Said) or event.who != "user" or not _VETO.search(event.text):
                continue
            before = told.turns[turn.number - 1 : turn.number] if turn.number and len(event.text) <= SHORT else ()
            for one in (turn, *before):
                silent.update(range(one.start, one.end))
    if not silent:
        return told
    return replace(
        told,
        assistant=_without(told.assistant, silent),
        user=_without(told.user, silent),
        spoken={place: said for place, said in told.spoken.items() if place not in silent},
        heard={place: said for place, said in told.heard.items() if place not in silent},
    )


def _without(said: tuple[Sentence, ...], silent: set[int]) -> tuple[Sentence, ...]:
    return tuple(one for one in said if one.event not in silent)
