"""Notes in which a merge by hand has left git's conflict markers become notes again.

The versions come from git's index where it still has them, else from between the markers. They are united as a sync
unites them: the same bytes in every clone that repairs the same file. What was there is in git before it is replaced.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping

from commonwealth import atomic
from commonwealth.errors import BadNote, BrainError, Refused
from commonwealth.repo import markers, workfiles
from commonwealth.repo.commit import Change, commit
from commonwealth.repo.common import read_text
from commonwealth.repo.content import Content, Merged
from commonwealth.repo.git import Git, fields
from commonwealth.repo.head import state_file
from commonwealth.repo.kept import keep_bytes, read_marked, write_marked
from commonwealth.repo.lock import WriterLock
from commonwealth.repo.objects import Objects, is_commit
from commonwealth.repo.refresh import is_marked
from commonwealth.repo.store import OURS, blob, commit_info, differences, entries_at, set_index
from commonwealth.repo.stranded import is_abandoned, unmerged
from commonwealth.repo.tree import Entry

_MARK = "unmarked"
_SUBMODULE = "160000"
_MESSAGE = "Unite notes in which a merge left its markers"


def settle_unmerged(git: Git, content: Content, tip: str | None, paths: Iterable[str], patience: float) -> list[str]:
    """Make edits of those of `paths` that are unmerged in the index, or hold markers, and that nobody has saved for
    `patience` seconds; what was done, in sentences. `paths` are notes, config and derived files."""
    stages = unmerged(git)
    done: list[str] = []
    index: dict[str, Entry | None] = {}
    with Objects(git) as objects:
        for path in paths:
            try:
                current = workfiles.read(git.root, path)
                if not is_abandoned(git, path, patience):
                    continue
                united = _united(objects, content, path, current, stages.get(path, {}))
            except BrainError:
                continue
            if current is not None and united is not None:
                keep_bytes(git, current)
                _write(git, path, current, united)
                done += [f"{path} held git's conflict markers and was united from both sides.", *united.warnings]
            if path in stages:
                index[path] = None
    if index:
        heads = entries_at(git, tip, index) if tip is not None else {}
        set_index(git, (), {path: heads.get(path) for path in index})
    return done


def _united(
    objects: Objects, content: Content, path: str, current: bytes | None, stages: Mapping[int, Entry]
) -> Merged | None:
    """The note that both versions of a file make; None where it holds no markers, or is no note."""
    if current is None or content.owns(path) is None or not markers.may_hold(current):
        return None
    if 2 in stages and 3 in stages:
        ours, theirs = blob(objects, stages[2]) or b"", blob(objects, stages[3]) or b""
        if not markers.is_undecided(current, (ours, theirs)):
            return None
        return _fit(content, path, blob(objects, stages.get(1)), ours, theirs)
    return _from_markers(content, path, current)


def _from_markers(content: Content, path: str, data: bytes) -> Merged | None:
    sides = markers.split(data)
    return _fit(content, path, sides.base, sides.ours, sides.theirs) if sides is not None else None


def _fit(content: Content, path: str, base: bytes | None, ours: bytes, theirs: bytes) -> Merged | None:
    try:
        merged = content.merge(base, ours, theirs, path)
    except BadNote:
        return None
    files = {path: merged.data, **merged.siblings}
    fit = all(content.check(name, data) is None and not markers.split(data) for name, data in files.items())
    return merged if fit else None


def _write(git: Git, path: str, current: bytes, merged: Merged) -> None:
    for sibling, data in merged.siblings.items():
        if workfiles.read(git.root, sibling) is None:
            workfiles.replace(git.root, sibling, data, None)
    workfiles.replace(git.root, path, merged.data, current)


def repair_committed(git: Git, content: Content, tip: str | None, held: WriterLock) -> tuple[str | None, list[str]]:
    """Repair the notes of `tip` in which a person committed markers, by one commit of ours; the branch's tip, and
    what was done.

    Only what changed since the last look is read: a sync that ended at this tip has listed what came in. The commit's
    time is its parent's, so that clones that repair the same tip make the same commit. A note that cannot be taken
    apart is named, each time.
    """
    mark, listed = (read_text(state_file(git, _MARK), 256) or "").strip(), read_marked(git)
    if tip is None or (mark and not listed and (mark == tip or is_marked(git, tip))):
        return tip, []
    changes, failed = _repairs(git, content, _suspects(git, content, mark, tip, listed))
    warnings = [f"{path} holds git's conflict markers and was left as it is: mend it in an editor." for path in failed]
    if changes:
        with Objects(git) as objects:
            seconds = max(0, commit_info(objects, tip).seconds)
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
        try:
            tip = commit(git, changes, _MESSAGE, OURS, now=moment, content=content, held=held)
        except Refused as error:  # edited at this moment, or a secret in it
            return tip, [*warnings, error.message]
        warnings += map(_told, changes)
    atomic.replace(state_file(git, _MARK), f"{tip}\n".encode())
    write_marked(git, set(failed))
    return tip, warnings


def _told(change: Change) -> str:
    if change.expect is None:
        return f"{change.path} keeps the version that could not be united with it."
    return f"{change.path} was committed with conflict markers and was united from both sides."


def _suspects(git: Git, content: Content, mark: str, tip: str, listed: set[str]) -> dict[str, Entry]:
    """The notes of `tip` that may hold markers: those of `listed`, with those that changed since `mark`, or all that
    git finds them in."""
    if mark and is_commit(git, mark):
        changed = {path: delta.new for path, delta in differences(git, mark, tip).items() if content.owns(path)}
        files = {path: new for path, new in changed.items() if new is not None and new[0] != _SUBMODULE}
        return files | entries_at(git, tip, sorted(listed - changed.keys()))
    words = ("grep", "-l", "-z", "-I", "--full-name", "-e", "^<<<<<<< ", tip)
    found = fields(git.call(*words, "--", *content.watched).out)
    return entries_at(
        git, tip, sorted({*listed, *filter(content.owns, (name.removeprefix(f"{tip}:") for name in found))})
    )


def _repairs(git: Git, content: Content, suspects: Mapping[str, Entry]) -> tuple[list[Change], list[str]]:
    changes: list[Change] = []
    failed: list[str] = []
    if not suspects:
        return changes, failed
    with Objects(git) as objects:
        for path, entry in sorted(suspects.items()):
            data = blob(objects, entry) or b""
            if markers.split(data) is None:
                continue
            merged = _from_markers(content, path, data)
            if merged is None or workfiles.read(git.root, path) != data:
                failed.append(path)
                continue
            changes.append(Change(path, merged.data, data))
            for sibling, more in merged.siblings.items():
                if workfiles.read(git.root, sibling) is None:
                    changes.append(Change(sibling, more, None))
    return changes, failed
