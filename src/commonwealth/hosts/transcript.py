"""A host's transcript as a conversation: from its beginning, or from where the last run left off."""

from __future__ import annotations

import base64
import hashlib
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import BinaryIO, Protocol

from commonwealth import safetext
from commonwealth.conversation import Conversation, Event
from commonwealth.errors import Refused
from commonwealth.hosts import claude_transcript, codex_transcript, foreign, jsonl
from commonwealth.hosts.gathering import ENTRY, FACTS, Gathering, Place

HOSTS: Mapping[str, str] = MappingProxyType({"claude": "Claude Code", "codex": "Codex"})

_NUMBERS = ("offset", "line", "horizon", "turn_offset", "turn_line")
_TEXTS = ("head", "tail")
_PRINT = 1024
_PATIENCE = 1000
_HEAD = 4096
_BLOCK = 1 << 16
_MOST_BEFORE = 4 * 1024 * 1024
_MOST_EVENTS_BEFORE = 200


@dataclass(frozen=True, slots=True)
class Mark:
    """Where the next run over a transcript goes on: `offset` bytes and `line` ended lines lie before it.

    `head` and `tail` are fingerprints of the file's beginning and of what lies right before the mark. A file that
    does not fit them was cut or written anew and is read from its beginning; `seen` then still knows, in bounded
    size, which records were looked at. `horizon` (seconds since 1970) is the time of the newest record that `seen`
    had no place for. `turn_offset` and `turn_line` are where the last turn that was looked at begins, `facts` those
    of the session as a whole.
    """

    offset: int = 0
    line: int = 0
    head: str = ""
    tail: str = ""
    horizon: int = 0
    turn_offset: int = 0
    turn_line: int = 0
    seen: bytes = b""
    facts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def to_json(self) -> dict[str, object]:
        """Values that JSON knows; at most about 50 KB of text."""
        told: dict[str, object] = {key: getattr(self, key) for key in (*_NUMBERS, *_TEXTS)}
        return {**told, "seen": base64.b64encode(self.seen).decode("ascii"), "facts": dict(self.facts)}

    @classmethod
    def from_json(cls, data: object) -> Mark:
        """The mark that `to_json` gave, or one of a file's beginning where `data` makes no sense."""
        if not isinstance(data, dict):
            return cls()
        numbers = [data.get(key, 0) for key in _NUMBERS]
        texts = [data.get(key, "") for key in (*_TEXTS, "seen")]
        facts = data.get("facts", {})
        if (
            any(type(number) is not int or not 0 <= number < 2**53 for number in numbers)
            or any(not isinstance(text, str) for text in texts)
            or not isinstance(facts, dict)
            or any(not isinstance(value, str) for value in facts.values())
        ):
            return cls()
        try:
            seen = base64.b64decode(texts[-1], validate=True)
        except ValueError:
            return cls()
        if len(seen) % ENTRY.size:
            return cls()
        kept = MappingProxyType({key: facts[key] for key in FACTS if key in facts})
        return cls(**dict(zip(_NUMBERS, numbers, strict=True)), head=texts[0], tail=texts[1], seen=seen, facts=kept)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a run found, and the mark for the next one."""

    conversation: Conversation
    mark: Mark


class _Reader(Protocol):
    def take(self, record: dict[str, object]) -> bool: ...


def read(host: str, path: str, *, since: Mark | None = None, complete: bool = True) -> Reading:
    """The conversation that the transcript at `path` holds after `since`.

    Where the session is not known to be `complete`, the last turn is left for the next run unless the host has
    written that it is over. Memory is bounded, whatever the file. Raises `Refused` where the file cannot be read, is
    empty, or is none of `host`'s transcripts.
    """
    if host not in HOSTS:
        raise Refused(f"There is no reader for transcripts of {safetext.one_line(host)}.", hint="Known: claude, codex.")
    with _opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        if not size:
            raise Refused(f"{_name(path)} is empty.", hint="There is nothing to capture in it.")
        mark = since or Mark()
        known = _fits(file, mark, size)
        place = Place(mark.offset, mark.line) if known else Place(0, 0)
        to = Gathering(host, mark.facts if known else {}, mark.seen, mark.horizon if known else 0, place)
        to.turn_place = Place(mark.turn_offset, mark.turn_line) if known else place
        file.seek(0)
        _run(file, to, _Sniffer(host, path, file.read(_HEAD), sure=known and mark.offset > 0), size, complete)
        before = _before(file, host, mark) if known and to.place.offset > mark.offset else ()
        return Reading(to.conversation(complete=complete, before=before), _mark(file, to))


def _before(file: BinaryIO, host: str, mark: Mark) -> tuple[Event, ...]:
    """The turn before `mark`, which an earlier run looked at."""
    if not 0 <= mark.turn_offset < mark.offset <= mark.turn_offset + _MOST_BEFORE:
        return ()
    to = Gathering(host, mark.facts, b"", 0, Place(mark.turn_offset, mark.turn_line))
    _run(file, to, _Sniffer(host, "", b"", sure=True), mark.offset, complete=True)
    return to.conversation(complete=True).events[-_MOST_EVENTS_BEFORE:]


def at_lines(host: str, path: str, first: int, last: int) -> tuple[Event, ...]:
    """What was said and done at these lines of a transcript, read by itself. Raises `Refused` as `read` does."""
    if host not in HOSTS:
        raise Refused(f"There is no reader for transcripts of {safetext.one_line(host)}.", hint="Known: claude, codex.")
    with _opened(path) as file:
        start = _start_of(file, 0, first - 1)
        end = _start_of(file, start, last - first + 1)
        to = Gathering(host, {}, b"", 0, Place(start, first - 1))
        _run(file, to, _Sniffer(host, "", b"", sure=True), end, complete=True)
        return to.conversation(complete=True).events


def _start_of(file: BinaryIO, offset: int, lines: int) -> int:
    """Where the line begins that is so many lines after the one at `offset`; the file's end where it has fewer."""
    file.seek(offset)
    while lines > 0 and (block := file.read(_BLOCK)):
        ends = block.count(b"\n")
        if ends >= lines:
            at = -1
            for _ in range(lines):
                at = block.index(b"\n", at + 1)
            return offset + at + 1
        lines, offset = lines - ends, offset + len(block)
    return offset


def _run(file: BinaryIO, to: Gathering, sniffer: _Sniffer, size: int, complete: bool) -> None:
    reader: _Reader = (claude_transcript if to.host == "claude" else codex_transcript).Reader(to)
    end = to.place
    for line in jsonl.lines(file, to.place.offset, to.place.line + 1):
        if line.start >= size:
            break
        to.begin(line.number, end)
        if not line.ended and (line.broken or not complete):
            _unfinished(line, to, sniffer, complete)
            break
        end = Place(line.end, line.number if line.ended else line.number - 1)
        over = False
        for record in line.records:
            sniffer.look(record)
            over = reader.take(record)
            to.done()
        if line.broken:
            to.broken()
            sniffer.look({})
        elif line.comment:
            to.skip("comment")
        if over:
            to.turn_over(end)
    sniffer.ended()
    if complete:
        to.turn_over(end)


def _unfinished(line: jsonl.Line, to: Gathering, sniffer: _Sniffer, complete: bool) -> None:
    """A last line that is still being written, or never will be: the next run looks at it again."""
    sniffer.torn = True
    for record in line.records:
        sniffer.look(record)
    if complete:
        to.broken()


class _Sniffer:
    """Finds out whose file this is, by the first record that any host is known to write."""

    def __init__(self, host: str, path: str, head: bytes, *, sure: bool) -> None:
        self.host = host
        self.path = path
        self.head = head
        self.sure = sure
        self.torn = False
        self.looked = 0

    def look(self, record: Mapping[str, object]) -> None:
        """Raises `Refused` where `record` shows that the file is not of this host."""
        if self.sure:
            return
        self.looked += 1
        found = "claude" if claude_transcript.known(record) else "codex" if codex_transcript.known(record) else ""
        if found == self.host:
            self.sure = True
        elif found:
            raise Refused(
                f"{_name(self.path)} is a transcript of {HOSTS[found]}, not of {HOSTS[self.host]}.",
                hint=f"Give the host as {found}.",
            )
        if not self.sure and self.looked > _PATIENCE:
            self.ended()

    def ended(self) -> None:
        """Raises `Refused` where nothing of this host's was found, and nothing is being written."""
        if self.sure or (self.torn and not self.looked and self.head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")):
            return
        guess = foreign.guess(self.head)
        raise Refused(
            f"{_name(self.path)} is no transcript of {HOSTS[self.host]}{': ' if guess else ''}{guess}.",
            hint="Give the file that the host itself wrote during the session.",
        )


def _opened(path: str) -> BinaryIO:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError as error:
        raise Refused(f"There is no file {_name(path)}.", hint="The host may have removed the session.") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a path"
        raise Refused(f"{_name(path)} cannot be read: {reason}.", hint="Look at its permissions.") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise Refused(f"{_name(path)} is not a file.", hint="Give the transcript itself.")
    return os.fdopen(descriptor, "rb", buffering=1 << 20)


def _name(path: str) -> str:
    return safetext.one_line(os.path.basename(path.rstrip("/")) or path)


def _fits(file: BinaryIO, mark: Mark, size: int) -> bool:
    if mark.offset > size:
        return False
    return (mark.head, mark.tail) == _prints(file, mark.offset)


def _prints(file: BinaryIO, offset: int) -> tuple[str, str]:
    return _print(file, 0, min(_PRINT, offset)), _print(file, max(0, offset - _PRINT), offset)


def _print(file: BinaryIO, start: int, end: int) -> str:
    if start == end:
        return ""
    file.seek(start)
    return hashlib.blake2b(file.read(end - start), digest_size=8).hexdigest()


def _mark(file: BinaryIO, to: Gathering) -> Mark:
    head, tail = _prints(file, to.place.offset)
    return Mark(
        offset=to.place.offset,
        line=to.place.line,
        head=head,
        tail=tail,
        horizon=to.horizon,
        turn_offset=to.turn_place.offset,
        turn_line=to.turn_place.line,
        seen=to.seen,
        facts=MappingProxyType(dict(to.facts)),
    )
