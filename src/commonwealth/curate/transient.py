"""Whether a text tells the state of the work itself, which belongs to a work record and is no lasting fact."""

from __future__ import annotations

import re
from typing import NamedTuple

from commonwealth.curate.texts import fold, sentences


class _Rule(NamedTuple):
    what: str
    pattern: str


_LASTING = re.compile(
    r"\b(?:because|since|when(?:ever)?|if|unless|always|never|must(?:n't)?|due to|caused? (?:by|of)|so that|only"
    r"|requires?"
    r"|until|whereas|reason|otherwise|root cause|turns? out|instead of|rather than|after|before|every|each|means?"
    r"|weil|wenn|damit|sonst|immer|nie|denn|parce que|lorsque|toujours|porque|cuando|siempre|потому|если|всегда"
    r"|никогда)\b"
    r"|因为|因為|如果|必须|总是|から|ので|場合|لأن|إذا|دائما"
)

_SUBJECT = r"(?:\w[\w,.'-]{0,30} ){0,6}"

_STATES = (
    _Rule(
        "it tells how the tests stand",
        rf"^{_SUBJECT}(?:tests?|specs?|checks?|suites?|builds?|ci|pipelines?|lint(?:er|ing)?"
        rf"|type.?checks?)(?: suites?| runs?| jobs?| results?| status)?"
        r"(?: (?:is|are|was|were|now|all|still|have|has|currently|also))* (?:pass(?:es|ed|ing)?|fail(?:s|ed"
        r"|ing)?|green|red|clean|broken|succeed(?:s|ed)?|running|ok)\b"
        r"|\b\d[\d,]* (?:tests? |specs? )?(?:passed|failed|passing|failing)\b"
        r"|^(?:there (?:are|is) |we have |now )?\d[\d,]* (?:new |unit |integration )*tests?\b"
        r"|^(?:\d+|two|three|four|five|six|seven|eight|nine|ten|several|some) (?:\w+ ){0,2}tests? (?:named"
        r"|called|cover|in|for)\b"
        r"|^test (?:inventory|files|list|results?|summary)(?: ?:|$)|^tests? (?:added|written)\b"
        r"|^(?:the )?test suite (?:has|contains|covers)\b",
    ),
    _Rule(
        "it tells how a request or a branch stands",
        r"^(?:(?:the|my|our|this|a) )?(?:draft )?(?:pr|mr|pull request|merge request|patch|commit|branch|change"
        r"|ticket|issue|release)\b(?: ?[#!]?\d+| [\w./-]+){0,2}"
        r" (?:is|was|has been|have been|got|needs to be|remains)(?: now| still| already"
        r"| not yet)* (?:open(?:ed)?|merged|closed|ready|pending|waiting|created|pushed|up\b|approved"
        r"|under review|in review|submitted|rebased|conflict\w*|done|finished|complete[d]?|assigned)"
        r"|^(?:opened|created|merged|closed|pushed|submitted|rebased) (?:(?:the|a|my|our) )?(?:draft )?(?:pr|mr"
        r"|pull request|merge request|branch|commits?)\b",
    ),
    _Rule(
        "it tells what somebody is doing",
        r"^(?:(?:i|we) (?:am|are|'m|'re)|i'm|we're|currently|right now|now|today|at the moment"
        r"|still)(?: \w+){0,2}? (?:\w+ing\b|in the middle of|about to|going to|blocked)"
        r"|^(?:working on|in progress|wip\b|work in progress|blocked (?:on|by)|waiting (?:for|on) (?:the |a |an "
        r"|ci\b|your |his |her |their |my |somebody|someone|approval|review|feedback|merge)|about to"
        r"|in the middle of)"
        r"|\b(?:on|in) my (?:branch|fork|checkout|worktree)\b|\bnot (?:yet )?(?:committed|pushed|merged) yet\b",
    ),
    _Rule(
        "it tells what is left to do",
        r"^(?:todo|to-do|fixme)(?: ?[:\-–—]|$)|^(?:next steps?|next up|remaining (?:work|steps?|tasks?|items?)"
        r"|follow-?ups?"
        r"|left to do|open (?:items|points|tasks)|action items?)(?: ?:|$)"
        r"|^(?:(?:i|we) )?(?:still|yet) (?:need|have|has) to\b|^(?:i|we)(?:'ll| will| should| need to| want to"
        r"| plan to) (?:now |next |then |also )?\w+\b.{0,60}\b(?:next|later|tomorrow|afterwards|soon"
        r"|in a follow-?up)\b"
        r"|\b(?:remains|is still|still needs) to be (?:done|written|implemented|fixed)\b",
    ),
    _Rule(
        "it tells what was done in the session",
        r"^(?:(?:i|we)(?:'ve| have)?(?: just| now| also)? )(?:added|fixed|updated|implemented|refactored|renamed"
        r"|created|removed|changed|committed|pushed|merged|deployed|finished|completed|moved|wrote|cleaned"
        r"|bumped|ran|checked|verified|reviewed)\b"
        r"|^(?:added|implemented|refactored|committed|pushed|finished|completed|cleaned up|updated|wrote|bumped"
        r"|renamed) \w+"
        r"|^(?:done|finished|completed|all done|task complete)\b|^(?:the )?(?:refactoring|implementation"
        r"|migration|feature|fix|change|task|work)s? (?:is|are) (?:now )?(?:done|complete[d]?|finished|in place"
        r"|ready)\b",
    ),
    _Rule(
        "it is true only at the moment",
        r"\bcurrently (?:broken|failing|down|blocked|red|in progress|unavailable|being \w+ed|under \w+)\b"
        r"|\b(?:is|are) (?:down|broken|failing|flaky|unavailable|slow) (?:right now|at the moment|today"
        r"|currently|this (?:morning|week|afternoon))\b"
        r"|^(?:as of (?:now|today)|for now)\b|^temporarily (?:\w+ed|broken|off|using)\b",
    ),
)  # fmt: skip


def reason(title: str, summary: str | None, body: str = "") -> tuple[str, bool] | None:
    """Why the text is the state of work, and whether that is beyond doubt: nothing in its claim outlasts the work.

    None where it is not. What has a cause, a rule or a condition in it may last: then it is no more than a doubt, and
    none at all where only a later sentence tells the state.
    """
    claim = [fold(part) for part in (*sentences(title), *sentences((summary or "")[:4000]))]
    if not claim:
        return None
    hits = [_what(sentence) for sentence in claim]
    if hits[0] is None:
        return None
    lasts = any(_LASTING.search(sentence) for sentence in (*claim, *map(fold, sentences(body)[:6])))
    if lasts and any(hit is None for hit in hits):
        return None
    return hits[0], not lasts


def _what(sentence: str) -> str | None:
    """Which state of work a sentence tells, if it tells one."""
    sentence = sentence.strip(" *_`\"'([")
    return next((what for what, pattern in _STATES if re.search(pattern, sentence)), None)
