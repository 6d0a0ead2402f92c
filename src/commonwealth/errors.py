"""The one exception family: each kind has an exit code, a sentence for people and a next step."""

from __future__ import annotations


class BrainError(Exception):
    """A failure that is told to the user as `message` and `hint`, never as a traceback.

    `message` says what happened and to which file or ref; `hint` says what to do next.
    """

    exit_code = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class Refused(BrainError):
    """The request cannot be done as asked; nothing was changed."""

    exit_code = 1


class Usage(BrainError):
    """The call itself is wrong: an unknown option, a malformed value."""

    exit_code = 2


class Bug(BrainError):
    """An invariant of ours does not hold; the details are in the log file that the message names."""

    exit_code = 3


class NeedsReview(BrainError):
    """A person has to decide before this can go on."""

    exit_code = 4


class Offline(BrainError):
    """The remote could not be reached, or did not answer in time."""

    exit_code = 5


class Busy(BrainError):
    """Another process holds the lock and did not let go in time."""

    exit_code = 6


class Damaged(BrainError):
    """A file or repository is not in a state we can work with; it was left as it is."""

    exit_code = 7


class BadNote(Damaged):
    """One note file cannot be read. `line` is 1-based (0: the file as a whole); `cause` is one clause."""

    def __init__(self, path: str, line: int, cause: str) -> None:
        where = f"{path}, line {line}" if line else path
        super().__init__(f"{where}: {cause}.", hint="Mend the file in an editor; until then it is left untouched.")
        self.path = path
        self.line = line
        self.cause = cause
