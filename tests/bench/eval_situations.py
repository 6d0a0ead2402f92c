"""The situations of the relevance evaluation as objects: read from `situations/*.yaml`, checked, nothing run.

A situation is one moment of one session. The file says which event: `prompts_*`, `edits`, `starts`. Its fields:

- `name`, unique; `half`: `dev` (may be looked at while the chooser is worked on) or `held` (only its sums may);
  `at`: the place in `brains.yaml`, which is a code repository and the brain that is mapped to it;
- `must`: notes that have to be told: without them somebody breaks something; `should`: those that a senior colleague
  would say aloud at this moment as well; `may`: fine, but not asked for (neither hit nor miss); `never`: a trap, which
  documents why the situation is there: any note that is in no other list is as wrong; `again`: notes that were told
  `before` in this session. With none of the first three, silence is right;
- `prompt`; or `file` and the `change` that comes in; or for a start `source` (startup, resume, clear, compact);
- the state: `branch`, files `committed` on it, files `changed` in the work tree, `folder` that the session stands in;
- `before`: earlier moments of the same session, with the fields of their own event; `host`: claude or codex.

To add one: write it down and label it from the notes alone, before it is run. Half of the new ones go to `held`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).resolve().parent / "situations"
HALVES = ("dev", "held")
EVENTS = ("start", "prompt", "edit")


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """What a host says at one event of a session."""

    event: str
    prompt: str = ""
    file: str = ""
    change: str = ""
    source: str = "startup"
    host: str = "claude"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A code repository by its remote, the brain that a rule maps it to (None: no rule), and its other branches."""

    origin: str
    brain: str | None
    branches: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """One moment, the state of the repository, and which notes belong into it. See this module's first page."""

    name: str
    half: str
    at: str
    moment: Moment
    before: tuple[Moment, ...] = ()
    branch: str = "main"
    committed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    folder: str = ""
    must: tuple[str, ...] = ()
    should: tuple[str, ...] = ()
    may: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    again: tuple[str, ...] = ()

    @property
    def silent(self) -> bool:
        """Whether nothing is to be said."""
        return not (self.must or self.should or self.may)

    @property
    def files(self) -> tuple[str, ...]:
        """The files of the repository that the situation speaks of."""
        edited = [one.file for one in (self.moment, *self.before) if one.file and not one.file.startswith("/")]
        return (*self.committed, *self.changed, *edited)


def load() -> tuple[Situation, ...]:
    """Every situation, in the order of the files. Raises ValueError for one that says something unknown."""
    found = [
        _situation(given, event)
        for event, pattern in (("start", "starts*.yaml"), ("prompt", "prompts*.yaml"), ("edit", "edits*.yaml"))
        for path in sorted(FOLDER.glob(pattern))
        for given in _read(path)
    ]
    names = [one.name for one in found]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"more than one situation is called {', '.join(sorted(twice))}")
    return tuple(found)


@lru_cache(maxsize=1)
def recipes() -> Mapping[str, Any]:
    """How the brains are made: the content of `brains.yaml`."""
    made: Mapping[str, Any] = _read(FOLDER / "brains.yaml")
    return made


def places() -> Mapping[str, Place]:
    """The places by name."""
    return {
        name: Place(origin=given["origin"], brain=given["brain"], branches=tuple(given.get("branches", ())))
        for name, given in recipes()["places"].items()
    }


def _read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


_OF_MOMENT = tuple(field.name for field in fields(Moment))
_LISTS = ("committed", "changed", "must", "should", "may", "never", "again")
_WORDS = ("name", "half", "at", "branch", "folder")


def _situation(given: Mapping[str, Any], event: str) -> Situation:
    known = {*_OF_MOMENT, *_LISTS, *_WORDS, "before"} - {"event"}
    name = given.get("name", "?")
    if unknown := set(given) - known:
        raise ValueError(f"{name}: unknown {', '.join(sorted(unknown))}")
    if given.get("half") not in HALVES:
        raise ValueError(f"{name}: half is one of {', '.join(HALVES)}")
    said: dict[str, Any] = {key: given[key] for key in _WORDS if key in given}
    said |= {key: tuple(given[key]) for key in _LISTS if key in given}
    before = tuple(_moment(one, one["event"]) for one in given.get("before", ()))
    made = Situation(moment=_moment(given, event), before=before, **said)
    groups: Sequence[tuple[str, ...]] = (made.must, made.should, made.may, made.never)
    if len({key for keys in groups for key in keys}) < sum(map(len, groups)):
        raise ValueError(f"{name}: a note stands in two lists")
    return made


def _moment(given: Mapping[str, Any], event: str) -> Moment:
    if event not in EVENTS:
        raise ValueError(f"unknown event {event}")
    return Moment(event=event, **{key: given[key] for key in _OF_MOMENT if key in given and key != "event"})


def of_half(found: Sequence[Situation], half: str) -> Iterator[Situation]:
    """Those of one half."""
    return (one for one in found if one.half == half)
