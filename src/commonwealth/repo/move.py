"""The branch moves to a commit that was made elsewhere, and the work tree follows without losing an edit.

A journal (branch, old, new) is durable before anything changes. Then files, then git's index, then the branch,
with its expected old value, then HEAD where it was off the branch. Killed anywhere in between, `finish_move` finishes
the move first of all; where the branch has moved meanwhile by other hands, it takes the half-made move back instead.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from commonwealth import atomic
from commonwealth.errors import BrainError
from commonwealth.faults import fault
from commonwealth.repo import markers, ownfolders, workfiles
from commonwealth.repo.common import git_at, read_text
from commonwealth.repo.content import Content
from commonwealth.repo.git import Git
from commonwealth.repo.head import branch_tip, current_branch, head_commit, require_branch, state_file
from commonwealth.repo.kept import keep_bytes, kept_aside, read_bases, read_marked, write_bases, write_marked
from commonwealth.repo.objects import Objects
from commonwealth.repo.store import (
    REGULAR,
    Delta,
    MissingObject,
    Overtaken,
    blob,
    differences,
    entries_at,
    matches,
    move_ref,
    reset_index,
    set_index,
    wait_for_git,
)
from commonwealth.repo.tree import Entry
from commonwealth.repo.worktrees import refuse_elsewhere

_JOURNAL = "journal"
_LINK = "120000"
_FLUSHED_ALONE = 64
NOT_MADE = "is not made by `brain`: move it away and the table is made"
ABSENT = "not here"
"""Begins the cause for which a file of the last commit is not in the work tree."""


@dataclass(slots=True)
class _Report:
    """What happened to the files while they were brought over."""

    clean: list[str] = field(default_factory=list)
    edited: dict[str, Entry | None] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    marked: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Journal:
    """A move: `branch` goes from `old` to `new`, and files and index with it.

    For the way back from elsewhere: `head` is the commit at which HEAD is detached or on another branch, from which
    the files start; `reset` says that the index is made anew, as an operation of git's has left it half done;
    `settled` names files that a person has brought to their end already: they stay as they lie.
    """

    branch: str
    old: str | None
    new: str
    head: str | None = None
    reset: bool = False
    settled: tuple[str, ...] = ()

    @property
    def start(self) -> str | None:
        """The commit that the files come from."""
        return self.head or self.old


def move(git: Git, branch: str, old: str | None, new: str, content: Content) -> tuple[str, ...]:
    """Move `branch` and the work tree from `old` to `new`, whose objects are here; the warnings.

    The caller holds the writer lock and has recovered. A file that is not what `old` says is merged with
    what `new` says, or kept, as an edit that is not committed yet. Raises Busy where another git process
    moved the branch or keeps the index, Refused where HEAD is elsewhere: then nothing has changed.
    """
    return carry_out(git, Journal(branch, old, new), content)


def carry_out(git: Git, journal: Journal, content: Content) -> tuple[str, ...]:
    """`move`, for any journal: HEAD is on the branch, or at the journal's `head`."""
    _require_head(git, journal)
    wait_for_git(git)
    if branch_tip(git, journal.branch) != journal.old:
        raise Overtaken(git, journal.branch)
    record = json.dumps({key: getattr(journal, key) for key in Journal.__slots__})
    atomic.replace(state_file(git, _JOURNAL), record.encode("utf-8"))
    fault("move-journal")
    return _finish(git, journal, content)


def _require_head(git: Git, journal: Journal) -> None:
    refuse_elsewhere(git, journal.branch)
    if journal.head is None or head_commit(git) != journal.head:
        require_branch(git, journal.branch)


def finish_move(git: Git, content: Content) -> tuple[str, ...]:
    """Finish a move that was interrupted, or take it back where the branch went elsewhere; the warnings.

    The first step under every writer lock. Costs one look for a file where there is nothing to do. Raises Refused
    where HEAD is elsewhere; the journal then waits.
    """
    journal = read_journal(git)
    if journal is None:
        return ()
    _require_head(git, journal)
    wait_for_git(git)
    tip = branch_tip(git, journal.branch)
    back = current_branch(git) == journal.branch
    if (tip == journal.new and back) or not _present(git, journal.new):
        _close(git)
        return ()
    if tip in (journal.old, journal.new):
        return _finish(git, journal, content, half="recover-half")
    take_back(git, journal, tip if back else journal.head)
    return (f"An interrupted sync was taken back, as {journal.branch} had moved meanwhile.",)


def take_back(git: Git, journal: Journal, target: str | None) -> None:
    """Bring the files of a half-made move to the commit `target`, and forget the move."""
    _take_back(git, journal.start, journal.new, target)
    _close(git)


def read_journal(git: Git) -> Journal | None:
    """The move that was begun and not ended. What makes no sense is dropped: a journal is written whole or not
    at all, so it is no move of ours."""
    text = read_text(state_file(git, _JOURNAL))
    if text is None:
        return None
    journal = _parse(text)
    if journal is None:
        _close(git)
    return journal


def _parse(text: str) -> Journal | None:
    try:
        record = json.loads(text)
    except ValueError:
        return None
    if not isinstance(record, dict):
        return None
    branch, old, new, head = (record.get(key) for key in ("branch", "old", "new", "head"))
    settled = record.get("settled") or []
    if not isinstance(branch, str) or not isinstance(new, str) or not isinstance(settled, list):
        return None
    if not all(name is None or isinstance(name, str) for name in (old, head)):
        return None
    return Journal(branch, old, new, head, bool(record.get("reset")), tuple(map(str, settled)))


def _present(git: Git, commit: str) -> bool:
    return git.resolve(commit) is not None


def _close(git: Git) -> None:
    place = state_file(git, _JOURNAL)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(place)
    atomic.flush_folder(os.path.dirname(place))


def _finish(git: Git, journal: Journal, content: Content, *, half: str = "move-half") -> tuple[str, ...]:
    branch, old, new = journal.branch, journal.old, journal.new
    deltas = differences(git, journal.start, new)
    report = _bring_over(git, {path: deltas[path] for path in deltas.keys() - {*journal.settled}}, content, half)
    if theirs := [path for path, delta in deltas.items() if delta.new is not None and ownfolders.holds(path)]:
        report.warnings.append(f"{ownfolders.told(git, theirs, new)} {ownfolders.way_out(git, theirs)}")
    fault("move-files")
    if journal.reset or journal.head is not None:
        reset_index(git, new)
    else:
        _index(git, report.clean, report.edited, {path: delta.new for path, delta in deltas.items()})
    fault("move-index")
    if not move_ref(git, f"refs/heads/{branch}", new, old, "commonwealth: sync"):
        tip = branch_tip(git, branch)
        take_back(git, journal, tip if current_branch(git) == branch else journal.head)
        raise Overtaken(git, branch)
    fault("move-done")
    if current_branch(git) != branch:
        git.run("symbolic-ref", "-m", "back on the branch", "HEAD", f"refs/heads/{branch}")
    _close(git)
    fault("move-closed")
    return tuple(report.warnings)


def _index(git: Git, clean: list[str], edited: Mapping[str, Entry | None], wanted: Mapping[str, Entry | None]) -> None:
    """The index as the branch has it; a mode that a file of the work tree may not show is taken from there."""
    special = {path: wanted.get(path) for path in clean if (wanted.get(path) or (REGULAR[0],))[0] != REGULAR[0]}
    set_index(git, [path for path in clean if path not in special], {**edited, **special})


def _bring_over(git: Git, deltas: Mapping[str, Delta], content: Content, half: str) -> _Report:
    """Every file from its old to its new version; removals first, as they may make room for folders."""
    report = _Report()
    ordered = sorted(deltas.items(), key=lambda item: (item[1].new is not None, item[0]))
    with Objects(git) as objects:
        for number, (path, delta) in enumerate(ordered):
            if ownfolders.holds(path):
                _pass_by(git, path, delta, report)
                continue
            if delta.new is not None and delta.new[0] not in (*REGULAR, _LINK):
                report.edited[path] = delta.new  # a nested repository: nothing of it lies in our tree
                continue
            try:
                _bring(git, objects, path, delta, content, report)
            except MissingObject:
                raise
            except (workfiles.Unfit, OSError) as error:
                if isinstance(error, OSError) and not workfiles.is_unfit(error):
                    raise
                _leave_out(git, path, delta, report, error)
            except BrainError as error:
                _keep(git, path, delta, report, str(error))
            if number == 0:
                fault(half)
    _flush(git, list(deltas))
    if report.marked:
        write_marked(git, read_marked(git) | report.marked)
    return report


def _pass_by(git: Git, path: str, delta: Delta, report: _Report) -> None:
    """A file in a folder of this clone alone: git's index has it as the branch has, and what lies there stays.

    A version that the branch has had and has no more was laid out by other hands: left there, it would pass for this
    clone's own from now on.
    """
    report.edited[path] = delta.new
    if delta.old is None or delta.new is not None:
        return
    with contextlib.suppress(BrainError):
        current = workfiles.read(git.root, path)
        if current is not None and matches(current, delta.old):
            name = keep_bytes(git, current)
            workfiles.remove(git.root, path, current)
            report.warnings.append(
                f"{path} came in with git and is no more in it, so it was taken out of this clone as well; "
                f"`{git_at(git.root)} cat-file -p {name[:12]}` still shows it."
            )


def _flush(git: Git, paths: list[str]) -> None:
    """Make the files durable before the journal goes: one by one while they are few."""
    if len(paths) > _FLUSHED_ALONE and hasattr(os, "sync"):
        os.sync()
        return
    for path in paths:
        workfiles.flush_file(os.path.join(git.root, path))
    workfiles.sync_folders(git.root, paths)


def _bring(git: Git, objects: Objects, path: str, delta: Delta, content: Content, report: _Report) -> None:
    current = workfiles.read(git.root, path)
    if current is None and delta.new is not None and os.path.isdir(os.path.join(git.root, path)):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if matches(current, delta.new):
        report.clean.append(path)
    elif matches(current, delta.old):
        data = _write(git, objects, path, current, delta.new)
        report.clean.append(path)
        if content.owns(path) and markers.may_hold(data):
            report.marked.add(path)
    elif current is None:
        # Deleted here and changed there: the edit stays.
        _write(git, objects, path, None, delta.new)
        report.clean.append(path)
        report.warnings.append(f"{path} was deleted here and changed elsewhere: it is back.")
    elif content.is_derived(path) and not _ours(objects, delta.old, content) and not content.is_made(current):
        _keep(git, path, delta, report, f"{path} {NOT_MADE}.")
    elif content.is_derived(path):
        report.warnings.append(kept_aside(git, path, current))
        _write(git, objects, path, current, delta.new)
        report.clean.append(path)
    elif delta.new is None:
        report.edited[path] = None
        report.warnings.append(f"{path} was deleted elsewhere and edited here: the edit stays.")
    else:
        _merge_edit(git, objects, path, delta, current, content, report)


def _ours(objects: Objects, entry: Entry | None, content: Content) -> bool:
    """Whether a derived file was of our making before somebody wrote over it."""
    return entry is not None and entry[0] in REGULAR and content.is_made(blob(objects, entry) or b"")


def _write(git: Git, objects: Objects, path: str, current: bytes | None, new: Entry | None) -> bytes:
    """Give a file the bytes of an entry; those bytes."""
    data = b""
    if new is not None:
        data = blob(objects, new) or b""
        executable = new[0] == "100755"
        workfiles.Prepared(git.root, path, data, executable=executable, flush=False).place(current)
    elif current is not None:
        workfiles.remove(git.root, path, current)
    return data


def _merge_edit(
    git: Git, objects: Objects, path: str, delta: Delta, current: bytes, content: Content, report: _Report
) -> None:
    """An edit that is not committed yet meets a new version: as one, still to be committed."""
    if content.owns(path) is None:
        _keep(git, path, delta, report, f"{path} was edited here and changed elsewhere: yours stays in place.")
        return
    theirs = blob(objects, delta.new) or b""
    merged = content.merge(blob(objects, delta.old), current, theirs, path)
    for sibling, data in merged.siblings.items():
        if workfiles.read(git.root, sibling) != data:
            workfiles.replace(git.root, sibling, data, None)
    if merged.data != current:
        workfiles.replace(git.root, path, merged.data, current)
    report.edited[path] = delta.new
    report.warnings.extend(merged.warnings)


def _keep(git: Git, path: str, delta: Delta, report: _Report, why: str) -> None:
    """Leave the file as it is; what it was edited from is remembered, so that its commit reverts nothing."""
    report.edited[path] = delta.new
    report.warnings.append(why)
    bases = read_bases(git)
    bases.setdefault(path, delta.old[1] if delta.old else "")
    write_bases(git, bases)


def _leave_out(git: Git, path: str, delta: Delta, report: _Report, error: OSError | workfiles.Unfit) -> None:
    """Go on without a file that cannot be where it belongs; `unplaced` tries it again, and tells of it."""
    if delta.new is None:
        report.edited[path] = None
        return
    cause = workfiles.obstacle(git.root, path) or f"the file system refuses it ({error})"
    _keep(git, path, delta, report, f"{path} is {ABSENT}: {cause}.")


def _take_back(git: Git, old: str | None, new: str, tip: str | None) -> None:
    """Bring the files that the move has changed, and only those, to what the branch says now."""
    deltas = differences(git, old, new)
    wanted = entries_at(git, tip, deltas) if tip is not None else {}
    clean: list[str] = []
    with Objects(git) as objects:
        for path, delta in sorted(deltas.items(), key=lambda item: item[0] in wanted):
            if ownfolders.holds(path):
                continue
            try:
                current = workfiles.read(git.root, path)
                target = wanted.get(path)
                if matches(current, target):
                    clean.append(path)
                elif matches(current, delta.new) or matches(current, delta.old):
                    _write(git, objects, path, current, target)
                    clean.append(path)
            except MissingObject:
                raise
            except BrainError:
                continue  # not ours to touch: it stays as an edit
            except OSError as error:
                if not workfiles.is_unfit(error):
                    raise
                continue
            fault("take-back-half")
    _index(git, clean, {path: wanted.get(path) for path in deltas if path not in clean}, wanted)
