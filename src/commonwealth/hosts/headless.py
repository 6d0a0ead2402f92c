"""What all hosts have in common where one of them is asked without a person: a call, how it ended, what it said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

NOT_INSTALLED, NOT_LOGGED_IN, TIMED_OUT = "not installed", "not logged in", "timed out"
REFUSED, UNPARSABLE, EXITED = "refused", "unparsable", "exit code"

WHYS = (NOT_INSTALLED, NOT_LOGGED_IN, TIMED_OUT, REFUSED, UNPARSABLE, EXITED)
"""Why a host gave no answer, in the words of the log."""

DISABLE = "COMMONWEALTH_DISABLE"
"""Set to 1 in the environment of the host that we ask: our own hooks do nothing there."""

_OURS = "COMMONWEALTH_"


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked: `guidance` is ours and says what the answer is, `prompt` goes to stdin and nowhere else.

    `schema` is the JSON schema of the answer, `strict` the same for hosts that let the model write nothing else.
    """

    guidance: str
    prompt: str
    schema: str
    strict: str


@dataclass(frozen=True, slots=True)
class Call:
    """A process to start: `files` are to be there before, by path. `answer` is the file that it leaves its answer in;
    None where that is its output."""

    command: tuple[str, ...]
    files: Mapping[str, str]
    answer: str | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended and what it wrote; `answer` is that of the file."""

    code: int
    out: str = ""
    err: str = ""
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model said, or `why` it said nothing: one of `WHYS`, with `detail` in few words that hold nothing of
    what was asked."""

    text: str = ""
    why: str | None = None
    detail: str = ""


def environment(outer: Mapping[str, str], own: Iterable[str]) -> dict[str, str]:
    """The environment for a host: that of ours, so that it finds its login, without the variables of the session
    around it (`own`) and without ours but the one that switches our hooks off."""
    dropped = frozenset(own)
    kept = {name: value for name, value in outer.items() if name not in dropped and not name.startswith(_OURS)}
    return kept | {DISABLE: "1"}
