"""A session of a coding tool as its transcript tells it, whichever tool it was.

The readers in `hosts` make it, `capture` draws on it. Lines are 1-based physical lines of the transcript file, blank
and broken ones counted. Only what people, model and tools said to each other is here: summaries of other sessions,
repeated copies, injected context and a host's own messages are left out and counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias

MANNERS = ("message", "answer", "refusal", "interruption")
"""How a person said something: by a prompt, in answer to a question of the model's, by turning down what the model
was about to do (the text is the reason, if there was one), or by breaking it off."""

USES = ("read", "search", "edit", "run", "fetch", "ask", "plan", "delegate", "other")


@dataclass(frozen=True, slots=True)
class Said:
    """What the user or the assistant said at one line.

    `question` is what an answer answers, or the tool use that a refusal turned down. `thinking` is never here: private
    reasoning is no evidence. `folder` is where the session stood, if elsewhere than in its own folder.
    """

    line: int
    who: str
    text: str
    at: str | None = None
    manner: str = "message"
    question: str = ""
    folder: str | None = None


@dataclass(frozen=True, slots=True)
class Used:
    """One use of a tool: what went in and the beginning and end of what came out.

    `use` is one of `USES`, `name` the host's own word. `text` is the command, path, query or address; of an edit the
    text that was put in. `files` are as the host spelled them, but relative to the session's folder where they lie
    inside. `result_line` is None where no result came. `folder` as in `Said`.
    """

    line: int
    use: str
    name: str
    text: str = ""
    files: tuple[str, ...] = ()
    result: str = ""
    result_line: int | None = None
    failed: bool = False
    at: str | None = None
    folder: str | None = None


Event: TypeAlias = Said | Used


def _none() -> Mapping[str, int]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Conversation:
    """What lies between two places of a transcript.

    `events` are in the order of the file. `first` and `last` are the lines looked at (0 where none was); `skipped`
    counts the records that are no conversation by kind, `broken` the lines that could not be read. `files` were
    edited in the session, `commits` made or checked out in it. `beginning` is a hash of when and in which words it
    began, None where the host tells no time. `complete` says that the session is known to have ended, so that its last
    turn is final. `before` is the end of what an earlier run looked at: it tells what the first events answer, and
    nothing is drafted from it again.
    """

    host: str
    session: str | None = None
    cwd: str | None = None
    repository: str | None = None
    branch: str | None = None
    version: str | None = None
    events: tuple[Event, ...] = ()
    files: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    began_at: str | None = None
    beginning: str | None = None
    ended_at: str | None = None
    first: int = 0
    last: int = 0
    skipped: Mapping[str, int] = field(default_factory=_none)
    broken: tuple[int, ...] = ()
    complete: bool = True
    before: tuple[Event, ...] = ()


def turns(conversation: Conversation) -> Iterator[tuple[Event, ...]]:
    """The events from one prompt of the user's up to the next; what comes before the first prompt is a turn too."""
    turn: list[Event] = []
    for event in conversation.events:
        if turn and isinstance(event, Said) and event.who == "user" and event.manner == "message":
            yield tuple(turn)
            turn = []
        turn.append(event)
    if turn:
        yield tuple(turn)
