"""What a remote means that does not take a push: its reason and words on one line, and the next step."""

from __future__ import annotations

import re

from commonwealth.repo.failures import remote_words
from commonwealth.safetext import one_line

_NEXT = (
    (
        r"quota|no space left|disk is full|too large|exceeds|maximum|pack size",
        "Whoever keeps the remote has to make room there, or to allow larger pushes; the commits are kept here.",
    ),
    (
        r"checked out",
        "The remote is somebody's working copy. Share a bare repository instead (`git clone --bare`).",
    ),
    (
        r"unpack|insufficient permission|read-only|unable to (?:create|write)",
        "The remote cannot write to its own folder: whoever keeps it has to mend that. The commits are kept here.",
    ),
)


def words_of(line: str, err: str) -> str:
    """The remote's reason from a `!` line of `git push --porcelain`, then what it said, cleaned."""
    reason = re.sub(r"^\[?(?:remote )?rejected\]?\s*", "", line.rpartition("\t")[2]).strip("() ")
    unpacked = re.search(r"^error: (remote unpack failed: .*)$", err, re.MULTILINE)
    return one_line(": ".join(filter(None, [reason, unpacked and unpacked[1], remote_words(err)])), 300)


def next_step(words: str) -> str | None:
    """What a person can do about it, where the words tell; None else."""
    return next((hint for pattern, hint in _NEXT if re.search(pattern, words, re.IGNORECASE)), None)
