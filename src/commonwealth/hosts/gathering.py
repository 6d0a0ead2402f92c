"""What a reader of transcripts gathers, whichever host's: events in their order, in bounded memory, each once.

Everything is gathered by turns. A turn becomes part of what was gathered when it is over; one that is still going on
can be left for the next run, which then begins where it began.
"""

from __future__ import annotations

import hashlib
import os
import re
import struct
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from types import MappingProxyType

from commonwealth import timeline
from commonwealth.conversation import Conversation, Event, Said, Used
from commonwealth.errors import BrainError
from commonwealth.hosts import tidy

MOST_TEXT = 16 * 1024 * 1024
"""Characters of one run that are held. The oldest turns are left out, and counted, where there are more."""

MOST_SEEN = 3_000
"""Records that are remembered to know their copies. Of older ones only the time of the newest is."""

MOST_NAMES = 500
MOST_BROKEN = 10_000
MOST_KINDS = 100
ENTRY = struct.Struct(">8sI")
"""A record that was met: fingerprint and time."""

FACTS = ("session", "cwd", "repository", "branch", "version", "subagent", "beginning")

_OVERHEAD = 300
_COMMIT = re.compile(r"^\[(?P<branch>[^\]\n]{1,200}) (?P<sha>[0-9a-f]{7,40})\] ", re.MULTILINE)
_HEAD = re.compile(r"^HEAD is now at (?P<sha>[0-9a-f]{7,40})\b", re.MULTILINE)
_GOES = re.compile(r"\s*cd\s+(?P<folder>\"[^\"\n]+\"|'[^'\n]+'|[^\s;&|'\"$`]+)\s*(?:&&|;|\n)")
_KIND = re.compile(r"[^A-Za-z0-9_. :-]")


@lru_cache(maxsize=64)
def _moment(stamp: str) -> tuple[str | None, int]:
    """A host's time as canonical text and in whole seconds since 1970."""
    try:
        at = timeline.canonical(stamp)
        return at, max(0, min(int(datetime.fromisoformat(at).timestamp()), 0xFFFFFFFF))
    except (ValueError, BrainError, OverflowError):
        return None, 0


def _name(names: dict[str, None], more: Iterable[str]) -> None:
    """Adds `more`, and lets go of the oldest where there are too many."""
    names.update(dict.fromkeys(more))
    while len(names) > MOST_NAMES:
        del names[next(iter(names))]


@dataclass(slots=True)
class _Open:
    """A use of a tool whose result has not come."""

    line: int
    use: str
    name: str
    text: str
    files: tuple[str, ...]
    at: str | None
    ours: bool
    folder: str | None = None
    result: str = ""
    result_line: int | None = None
    failed: bool = False
    dropped: bool = False

    @property
    def size(self) -> int:
        return len(self.text) + len(self.result) + _OVERHEAD

    def shut(self) -> Used:
        return Used(
            self.line,
            self.use,
            self.name,
            self.text,
            self.files,
            "" if self.ours else self.result,
            self.result_line,
            self.failed,
            self.at,
            self.folder,
        )


@dataclass(slots=True)
class _Turn:
    events: deque[Said | _Open] = field(default_factory=deque)
    files: dict[str, None] = field(default_factory=dict)
    commits: dict[str, None] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)
    broken: list[int] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)
    began: str | None = None
    ended: str | None = None
    text: int = 0


@dataclass(frozen=True, slots=True)
class Place:
    """A place between two records: bytes and ended lines before it."""

    offset: int
    line: int


class Gathering:
    """Takes what a reader finds, record by record; `conversation` is the outcome.

    `seen` and `horizon` tell what was met in earlier runs, as the attributes of these names tell it to the next one.
    """

    def __init__(self, host: str, facts: Mapping[str, str], seen: bytes, horizon: int, place: Place) -> None:
        self.host = host
        self.facts = {key: facts[key] for key in FACTS if key in facts}
        self.horizon = horizon
        self.place = place
        self.turn_place = place
        self.first = place.line + 1
        self._met = dict(ENTRY.iter_unpack(seen))
        self._horizon = horizon
        self._newest = max(self._met.values(), default=0)
        self._turns: deque[tuple[tuple[Event, ...], int]] = deque()
        self._held = 0
        self._files: dict[str, None] = {}
        self._commits: dict[str, None] = {}
        self._skipped: Counter[str] = Counter()
        self._broken: list[int] = []
        self._began: str | None = None
        self._ended: str | None = None
        self._turn = _Turn()
        self._open: dict[str, _Open] = {}
        self._here = place
        self._first_of_line = True
        self._of_line = self._since_place = 0
        self._pushed_out: dict[bytes, int] = {}
        self._line_skipped: Counter[str] = Counter()
        self.line = place.line
        self.stamp = ""
        self._seconds = 0
        self._at: str | None = None
        self._folder: str | None = None

    # Where the reader is

    def begin(self, line: int, place: Place) -> None:
        """A new line begins at `place`."""
        self._line_over()
        self.line = line
        self._here = place
        self._first_of_line = True

    def record(self, stamp: object) -> None:
        """The next record of the line, made at `stamp` by the host's own clock."""
        self.stamp = stamp if isinstance(stamp, str) and len(stamp) <= 40 else ""
        self._at, self._seconds = _moment(self.stamp) if self.stamp else (None, 0)

    def done(self) -> None:
        """The record is over."""
        self._first_of_line = False

    def _line_over(self) -> None:
        for kind, count in self._line_skipped.items():
            known = kind in self._turn.skipped or len(self._turn.skipped) < MOST_KINDS
            self._turn.skipped[kind if known else "more"] += count
        self._line_skipped.clear()
        self._of_line = 0

    # What it finds

    def fact(self, name: str, value: object) -> None:
        """Something of the session as a whole. Text that is too long or empty is no fact."""
        if isinstance(value, str) and 0 < len(value) <= 4096:
            self._turn.facts[name] = tidy.plain(value)

    def stands(self, folder: object) -> None:
        """Where the session stands from here on: noted where that is not its own folder."""
        elsewhere = isinstance(folder, str) and 0 < len(folder) <= 4096 and folder != self.fact_now("cwd")
        self._folder = str(folder) if elsewhere else None

    def is_home(self, folder: str | None) -> bool:
        """Whether a folder is the session's own or lies in it."""
        return folder is None or f"{folder}/".startswith(f"{(self.fact_now('cwd') or '').rstrip('/')}/")

    def fact_now(self, name: str) -> str | None:
        """The fact `name` as far as it was told."""
        return self._turn.facts.get(name, self.facts.get(name))

    def skip(self, kind: str) -> None:
        """Counts a record, or a part of one, that is no conversation."""
        self._line_skipped[_KIND.sub("_", kind)[:60]] += 1

    def broken(self) -> None:
        """Something of the line could not be read."""
        if len(self._turn.broken) + len(self._broken) < MOST_BROKEN:
            self._turn.broken.append(self.line)

    def fresh(self, *parts: str) -> bool:
        """Whether this was not met before: a host writes records anew when it resumes a session."""
        told = "\0".join((self.stamp, *parts)).encode("utf-8", "surrogatepass")
        key = hashlib.blake2b(told, digest_size=ENTRY.size - 4).digest()
        # Of a second that is not over, records may have been forgotten that are no copies of what comes now.
        passed = self._seconds < self._newest or self._seconds < self._horizon
        if key in self._met or (0 < self._seconds <= self._horizon and passed):
            self.skip("copy")
            return False
        self._newest = max(self._newest, self._seconds)
        self._met[key] = self._seconds
        self._of_line += 1
        self._since_place += 1
        if len(self._met) > MOST_SEEN:
            oldest = next(iter(self._met))
            seconds = self._met.pop(oldest)
            self._horizon = max(self._horizon, seconds)
            if self._since_place <= len(self._met):
                self._pushed_out[oldest] = seconds
        return True

    def said(self, who: str, text: str, *, manner: str = "message", question: str = "") -> None:
        """Words of the user's or the assistant's. A prompt ends the turn before it."""
        if who == "user" and manner == "message":
            if self._first_of_line:
                self.turn_over(self._here)
            self._open.clear()
        cwd = self.fact_now("cwd")
        if self.stamp and text and not self.fact_now("beginning"):
            told = "\0".join((self.stamp, who, text[:4096])).encode("utf-8", "surrogatepass")
            self.fact("beginning", hashlib.blake2b(told, digest_size=8).hexdigest())
        text = tidy.shown(text, cwd, tidy.LONGEST_SAID)
        question = tidy.shown(question, cwd, tidy.LONGEST_QUESTION)
        if text or manner in ("interruption", "refusal"):
            event = Said(self.line, who, text, self._at, manner, question, self._folder)
            self._add(event, len(text) + len(question) + _OVERHEAD)

    def used(
        self, call: str, use: str, name: str, text: str, files: Iterable[str], *, ours: bool = False, folder: str = ""
    ) -> None:
        """A use of a tool. Of one of `ours` neither what went in nor what came out is kept. `folder` is where it was
        used, if not where the session stands; a command says so too by going there first."""
        cwd = self.fact_now("cwd")
        stood = self._folder
        if use == "run" and (gone := _GOES.match(text[:4096])):
            folder = os.path.join(folder or stood or cwd or "", os.path.expanduser(gone["folder"].strip("\"'")))
        if folder:
            stood = os.path.normpath(os.path.join(stood or cwd or "", folder))
            stood = None if stood == cwd else stood
        paths = tuple(dict.fromkeys(path for file in files if (path := tidy.path(file, cwd))))[:MOST_NAMES]
        shown = "" if ours else tidy.shown(text, cwd, tidy.LONGEST_USED)
        named = tidy.plain(name)[:200]
        event = _Open(self.line, "other" if ours else use, named, shown, paths, self._at, ours, stood)
        self._add(event, event.size)
        if use == "edit" and not ours:
            _name(self._turn.files, paths)
        if call:
            self._open[call] = event

    def result(self, call: str, text: str, *, failed: bool) -> None:
        """What came out of a use. A result whose use is not of this turn is counted only."""
        self._first_of_line = False
        event = self._open.pop(call, None)
        if event is None:
            self.skip("result without its use")
            return
        if event.use == "run" and not failed and self.is_home(event.folder):
            self._commits_in(event.text, text)
        if event.dropped:
            return
        event.result = tidy.ends(text, self.fact_now("cwd"))
        event.result_line = self.line
        event.failed = failed
        self._turn.text += len(event.result)

    def refused(self, call: str, reason: str) -> None:
        """The user turned down a use, perhaps with a reason."""
        event = self._open.pop(call, None)
        question = ""
        if event is not None:
            event.failed = True
            event.result_line = self.line
            question = f"{event.name}: {event.text or ', '.join(event.files)}"
        self.said("user", reason, manner="refusal", question=question)

    def asked(self, call: str) -> str:
        """The text of the open use `call`, empty where there is none."""
        event = self._open.get(call)
        return event.text if event is not None else ""

    def _commits_in(self, command: str, output: str) -> None:
        if "git" not in command and "commit" not in command:
            return
        for match in _COMMIT.finditer(output[-65_536:]):
            self.commit(match["sha"])
            branch = match["branch"].removesuffix(" (root-commit)")
            if not branch.startswith("detached"):
                self.fact("branch", branch)
        for match in _HEAD.finditer(output[-65_536:]):
            self.commit(match["sha"])

    def commit(self, sha: object) -> None:
        """A commit that was made or checked out."""
        if isinstance(sha, str) and re.fullmatch(r"[0-9a-f]{7,64}", sha):
            _name(self._turn.commits, (sha,))

    def _add(self, event: Said | _Open, size: int) -> None:
        self._first_of_line = False
        turn = self._turn
        turn.events.append(event)
        turn.text += size
        if self._at:
            turn.began = turn.began or self._at
            turn.ended = self._at
        while turn.text > MOST_TEXT and len(turn.events) > 1:
            oldest = turn.events.popleft()
            if isinstance(oldest, Said):
                turn.text -= len(oldest.text) + len(oldest.question) + _OVERHEAD
            else:
                turn.text -= oldest.size
                oldest.dropped = True
            self.skip("left out for size")

    # Turns

    def turn_over(self, place: Place) -> None:
        """What was gathered since the last turn's end is final; the next run begins at `place`.

        Where that is the beginning of the line at hand, what this line has told belongs to the next turn.
        """
        if place is not self._here:
            self._line_over()
        turn = self._turn
        if turn.events:
            self.turn_place = self.place
            self._turns.append((tuple(one.shut() if isinstance(one, _Open) else one for one in turn.events), turn.text))
            self._held += turn.text
        while self._held > MOST_TEXT and len(self._turns) > 1:
            events, size = self._turns.popleft()
            self._held -= size
            self._skipped["left out for size"] += len(events)
        _name(self._files, turn.files)
        _name(self._commits, turn.commits)
        self._skipped.update(turn.skipped)
        self._broken.extend(turn.broken)
        self.facts.update(turn.facts)
        self._began = self._began or turn.began
        self._ended = turn.ended or self._ended
        self._open.clear()
        self._turn = _Turn()
        self.place = place
        self._since_place = self._of_line
        self._pushed_out.clear()
        self.horizon = self._horizon

    @property
    def seen(self) -> bytes:
        """What was met before `place`, as the next run takes it."""
        met = list(self._met.items())
        before = met[: max(0, len(met) - self._since_place)]
        return b"".join(ENTRY.pack(*entry) for entry in (*self._pushed_out.items(), *before))

    def conversation(self, *, complete: bool, before: tuple[Event, ...] = ()) -> Conversation:
        """All turns that are over, after those of `before`."""
        place = self.place
        return Conversation(
            host=self.host,
            session=self.facts.get("session"),
            cwd=self.facts.get("cwd"),
            repository=self.facts.get("repository"),
            branch=self.facts.get("branch"),
            version=self.facts.get("version"),
            events=tuple(event for events, _ in self._turns for event in events),
            files=tuple(self._files),
            commits=tuple(self._commits),
            began_at=self._began,
            ended_at=self._ended,
            beginning=self.facts.get("beginning"),
            first=self.first if place.line >= self.first else 0,
            last=place.line if place.line >= self.first else 0,
            skipped=MappingProxyType(dict(sorted(self._skipped.items()))),
            broken=tuple(dict.fromkeys(self._broken)),
            complete=complete,
            before=before,
        )
