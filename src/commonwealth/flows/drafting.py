"""Who drafts the notes of a session: the rules, or the host's own model where the person's own config says so.

A model is asked once about each stretch of a session, and its drafts are kept in the clone's git folder: the notes of a
session are then the same at every sweep, as with the rules. Where it fails the rules draft that stretch, and stay with
it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from commonwealth import atomic, safetext, userconfig
from commonwealth.capture import answered, model, rules
from commonwealth.capture import sent as sending
from commonwealth.conversation import Conversation
from commonwealth.curate import gate, injection, secrets
from commonwealth.errors import BrainError, Damaged
from commonwealth.flows import asking
from commonwealth.hosts import headless
from commonwealth.hosts.headless import Asked, Reply
from commonwealth.model import Candidate, Span
from commonwealth.repo.common import git_dir, read_text
from commonwealth.repo.lock import FOLDER

SECONDS = 90.0
"""Seconds that a host may take for one answer."""

SHORTEST = 10.0
"""With fewer seconds left no host is asked."""

MOST = 128
"""So many sessions' drafts are remembered, the latest."""

BY_MODEL, BY_RULES = "model", "rules"
_LIMIT = 4 << 20
_DETAIL = 120


@dataclass(frozen=True, slots=True)
class Drafts:
    """The drafts of a session. `by` is who was to make those of its newest stretch, and `failed` why the model did
    not, in which case the rules did. `problems` are drafts of the model's that were none, a sentence each."""

    candidates: tuple[Candidate, ...]
    by: str = BY_RULES
    failed: str | None = None
    problems: tuple[str, ...] = ()

    @property
    def told(self) -> str | None:
        """What became of asking a model, for the log; None where none was to be asked."""
        return None if self.by == BY_RULES and self.failed is None else self.failed or "answered"

    @property
    def warnings(self) -> tuple[str, ...]:
        """The same for people; nothing where all went well."""
        failed = f"the model gave no drafts ({self.failed}); these are drawn by rules" if self.failed else None
        return (*([failed] if failed else ()), *self.problems)


@dataclass(frozen=True, slots=True)
class Session:
    """Whose drafts these are: the clone, the host and its transcript; `head` tells another file in its place.

    With `keep` the answers are remembered. `seconds` are left for asking.
    """

    root: Path
    host: str
    transcript: str
    head: str = ""
    keep: bool = True
    seconds: float = SECONDS


@dataclass(frozen=True, slots=True)
class _Stretch:
    """What was drafted of the lines up to `last`, and by whom. Those of the rules are made anew each time."""

    last: int
    by: str
    candidates: tuple[Candidate, ...] = field(default=())


def drafts(session: Session, conversation: Conversation) -> Drafts:
    """The drafts of a session up to now."""
    if not allowed():
        return Drafts(tuple(rules.drafts(conversation)))
    before = _load(session)
    covered = before[-1].last if before else 0
    events = [event for event in conversation.events if event.line > covered]
    if not events:
        return Drafts(_joined(before, conversation), BY_MODEL)
    reply, text = _asked(session, conversation, covered)
    found = answered.answered(reply.text, text, speaks=_speaks) if reply.why is None else None
    failed = reply.why if found is None else headless.UNPARSABLE if found.unparsable else None
    drawn = found.drafts if found is not None and failed is None else ()
    stretch = _Stretch(conversation.last, BY_RULES if failed else BY_MODEL, drawn)
    if session.keep:
        _save(session, (*before, replace(stretch, candidates=tuple(one for one in drawn if not _holds_secret(one)))))
    detail = reply.detail or (found.unparsable if found and found.unparsable else "")
    return Drafts(
        _joined((*before, stretch), conversation),
        BY_RULES if failed else BY_MODEL,
        f"{failed}: {safetext.one_line(detail, _DETAIL)}" if failed and detail else failed,
        found.problems if found is not None else (),
    )


def allowed() -> bool:
    """Whether the person's own config lets a model see their sessions; one that cannot be read does not."""
    try:
        return userconfig.load().capture == BY_MODEL
    except Damaged:
        return False


def _joined(stretches: Sequence[_Stretch], conversation: Conversation) -> tuple[Candidate, ...]:
    """The drafts of all stretches, each by who drafted it."""
    made: list[Candidate] = []
    by_rules: tuple[Candidate, ...] | None = None
    after = 0
    for one in stretches:
        if one.by == BY_RULES and by_rules is None:
            by_rules = tuple(rules.drafts(conversation))
        own = one.candidates if one.by == BY_MODEL else tuple(by_rules or ())
        made += [draft for draft in own if one.by == BY_MODEL or after < draft.evidence.last <= one.last]
        after = one.last
    if len(stretches) == 1 and by_rules is not None:
        return by_rules
    return tuple(replace(draft, reverses=()) for draft in made)  # which count the places in another list


def _asked(session: Session, conversation: Conversation, covered: int) -> tuple[Reply, sending.Sent]:
    """Ask the host of the session. What is sent holds no secret, and cannot leave its fence."""
    text = sending.sent(conversation, mask=secrets.mask, since=covered)
    if not text.heard:
        return Reply('{"notes": []}'), text
    if session.seconds < SHORTEST:
        return Reply(why=headless.TIMED_OUT, detail="no time was left to ask"), text
    prompt = f"{safetext.fence([secrets.mask(text.text)], model.before(text))}\n\n{model.AFTER}\n"
    asked = Asked(model.GUIDANCE, prompt, model.schema(strict=False), model.schema(strict=True))
    return asking.ask(session.host, asked, seconds=min(SECONDS, session.seconds), env=os.environ), text


def _speaks(text: str) -> bool:
    return any(sign.firm for sign in injection.found([("tool", text)]))


def _holds_secret(draft: Candidate) -> bool:
    return any(secrets.scan(text, where) for where, text in gate.texts(draft))


# What is remembered


def place_of(session: Session) -> Path:
    """Where the drafts of a session are remembered. Raises Damaged where the brain has no git folder."""
    key = hashlib.sha256(f"{session.host}\0{session.transcript}".encode("utf-8", "surrogateescape")).hexdigest()[:24]
    return Path(git_dir(str(session.root)), FOLDER, "drafts", f"{key}.json")


def _load(session: Session) -> tuple[_Stretch, ...]:
    """What was drafted of a session before; nothing where it cannot be read or its file is another one."""
    try:
        said = json.loads(read_text(str(place_of(session)), _LIMIT) or "")
        if said["head"] != session.head:
            return ()
        return tuple(_stretch(given) for given in said["stretches"])
    except (ValueError, TypeError, KeyError, AttributeError, BrainError):
        return ()


def _stretch(given: dict[str, object]) -> _Stretch:
    drawn, last, by = given["candidates"], given["last"], given["by"]
    if not isinstance(drawn, list) or type(last) is not int or by not in (BY_MODEL, BY_RULES):
        raise ValueError(by)
    return _Stretch(last, str(by), tuple(_candidate(one) for one in drawn))


def _candidate(given: dict[str, object]) -> Candidate:
    lists = {name: tuple(value) for name, value in given.items() if isinstance(value, list)}
    span = given["evidence"]
    if not isinstance(span, dict):
        raise TypeError(span)
    return Candidate(**{**given, **lists, "evidence": Span(**span)})  # type: ignore[arg-type]


def _save(session: Session, stretches: Sequence[_Stretch]) -> None:
    """Remember the drafts. A disk that does not take them costs the next sweep an answer, and nothing else."""
    said = {"head": session.head, "stretches": [asdict(one) for one in stretches]}
    with suppress(OSError, BrainError):
        place = place_of(session)
        atomic.replace(place, json.dumps(said).encode())
        files = sorted(place.parent.glob("*.json"), key=lambda path: path.stat().st_mtime, reverse=True)
        for old in files[MOST:]:
            old.unlink(missing_ok=True)
