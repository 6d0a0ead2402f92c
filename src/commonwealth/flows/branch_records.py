"""The work records on colleagues' branches for requests, read from the object database of this clone."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from commonwealth import atomic
from commonwealth.errors import BadNote, BrainError, Offline
from commonwealth.flows.brains import Brain, review_mode
from commonwealth.flows.teammates import Unmerged, kept, place
from commonwealth.index import packing, schema
from commonwealth.notes import codec, naming
from commonwealth.repo import remote, teambranches
from commonwealth.repo.git import Git
from commonwealth.repo.head import branch_tip, main_branch, state_file
from commonwealth.safetext import one_line

MOST_RECORDS = 100
"""So many records are kept in all."""

_RECORD_LIMIT = 8192
"""Characters of a record as it is kept; its body is not."""

_REST = 30.0
"""Seconds between two looks at the remote's branches where the team shares by request."""

_LONG_REST = 1800.0
"""The same for a team that does not seem to."""

_KIND = "work-state"


@dataclass(frozen=True, slots=True)
class Found:
    """What the branches with these `tips` hold that the main branch, at `main`, did not have when they left it."""

    tips: Mapping[str, str]
    main: str
    records: tuple[Unmerged, ...]
    warnings: tuple[str, ...] = ()


def are_expected(brain: Brain) -> bool:
    """Whether the team shares by request: by its rule, because the main branch takes nothing else, or as seen."""
    if review_mode(brain) == "pull-request" or kept(brain).get("tips"):
        return True
    return os.path.exists(state_file(Git(brain.root), "protected"))


def look(brain: Brain, own: str, timeout: float, *, by_request: bool) -> tuple[str, ...]:
    """Learn what colleagues' branches hold, and keep it for `teammates.records`; what could not be read, as warnings.

    `own` is the beginning of the names of our own branches; `timeout` in seconds bounds each call of the network.
    Nothing is asked where the last look was a moment ago, or some time ago where nothing says that the team shares
    `by_request`. Raises Offline and whatever else the remote's answer means.
    """
    before = kept(brain)
    rest = _REST if by_request else _LONG_REST
    if 0 <= time.time() - _looked(brain) < rest:
        return ()
    found = _read(brain, re.compile(rf"{re.escape(own)}(-\d+)?"), timeout, before)
    if found is None:
        with suppress(OSError, BrainError):
            os.utime(place(brain))
        return ()
    _keep(brain, found)
    return found.warnings


def _looked(brain: Brain) -> float:
    with suppress(OSError, BrainError):
        return os.stat(place(brain)).st_mtime
    return 0.0


def _keep(brain: Brain, found: Found) -> None:
    rows = [row for record in found.records if (row := _packed(record)) is not None][:MOST_RECORDS]
    data = json.dumps({"form": schema.SCHEMA, "main": found.main, "tips": dict(found.tips), "records": rows})
    with suppress(OSError, BrainError):
        atomic.replace(place(brain), data.encode("utf-8", "surrogateescape"))


def _packed(record: Unmerged) -> list[object] | None:
    """A record as it is kept; None for one that is too large."""
    try:
        rest, _, check = packing.pack(replace(record.note, body=""))
    except UnicodeEncodeError:
        return None
    return [record.branch, record.path, rest, check] if len(rest) <= _RECORD_LIMIT else None


def _read(brain: Brain, own: re.Pattern[str], timeout: float, before: Mapping[str, object]) -> Found | None:
    """Fetch the branches and read their records; None where nothing has changed since what was kept `before`."""
    git = Git(brain.root)
    name = remote.remote_name(git)
    main = branch_tip(git, main_branch(git))
    if name is None or main is None:
        return Found({}, main or "", ())
    fetched = teambranches.fetch(git, name, timeout, skip=lambda branch: bool(own.fullmatch(branch)))
    same = (before.get("form"), before.get("tips"), before.get("main")) == (schema.SCHEMA, dict(fetched.tips), main)
    if same and not fetched.warnings:
        return None
    records: list[Unmerged] = []
    warnings = list(fetched.warnings)
    for branch, tip in sorted(fetched.tips.items()):
        try:
            warnings += _of_branch(brain, git, main, (branch, tip), records)
        except Offline:
            raise
        except BrainError as error:
            warnings.append(f"The branch {one_line(branch, 80)} of the remote is not read: {one_line(error.message)}")
    return Found(fetched.tips, main, tuple(records), tuple(warnings))


def _of_branch(brain: Brain, git: Git, main: str, branch: tuple[str, str], records: list[Unmerged]) -> Iterator[str]:
    """Read one branch (name, tip) into `records`; what was passed over of it."""
    name, tip = branch
    folders = [folder for folder, kind in naming.places(brain.folders).items() if kind == _KIND]
    changed = teambranches.changed(git, main, tip, folders)
    for path, data in changed.files.items():
        note = None
        if naming.kind_of(path, brain.folders) == _KIND:
            try:
                note = codec.parse(codec.decode(data, path), path, _KIND)[0]
            except BadNote:
                yield f"{one_line(path, 120)} on the branch {one_line(name, 80)} is no note that can be read"
        if note is not None and naming.valid_id(note.id):
            records.append(Unmerged(note, path, name))
    for warning in changed.warnings:
        yield f"On the branch {one_line(name, 80)}: {warning}"
