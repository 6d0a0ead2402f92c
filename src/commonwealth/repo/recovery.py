"""The first step of every write and sync: the clone is brought back to where work can go on.

A move of ours that was interrupted is finished by its journal. What a git that died or a person who left has made of
HEAD, index and files (a merge, a rebase, a detached HEAD) is brought to its end without losing a commit or an edit:
commits off the branch are united with it in the object database, files follow by a journaled move, git's notes of the
operation go last. Killed anywhere in between, the next start finds the same state and goes on.
"""

from __future__ import annotations

import hashlib
import os
import stat

from commonwealth.errors import Refused
from commonwealth.faults import fault
from commonwealth.repo import ownfolders, stranded, workfiles
from commonwealth.repo.branchname import finish_rename
from commonwealth.repo.common import git_at, read_bytes
from commonwealth.repo.content import Content
from commonwealth.repo.git import Git, fields
from commonwealth.repo.halfway import put_back
from commonwealth.repo.head import (
    clear_locks,
    clear_other_locks,
    current_branch,
    head_commit,
    main_branch,
    require_branch,
)
from commonwealth.repo.integrate import integrate, merge_bases
from commonwealth.repo.laidout import clear, forget, keep_staged
from commonwealth.repo.move import Journal, carry_out, finish_move, read_journal, take_back
from commonwealth.repo.objects import Objects
from commonwealth.repo.outcome import rescue
from commonwealth.repo.store import (
    blob,
    commit_info,
    differences,
    make_own_commit,
    matches,
    reset_index,
    wait_for_git,
)
from commonwealth.repo.stranded import PATIENCE, Stranded
from commonwealth.repo.worktrees import checked_out_at

MESSAGE = "Unite notes that an interrupted operation left apart"
_LARGE_INDEX = 1 << 23


def recover(git: Git, content: Content, *, patience: float = PATIENCE) -> tuple[str, ...]:
    """Bring the clone back to where work can go on; the warnings. The first step under every writer lock.

    Finishes a move of ours, rebuilds an index that is missing or damaged, and brings to its end what was certainly
    left behind: no git process works in this clone and nothing of it was touched for `patience` seconds. What a
    person is in the middle of stays; where that is in the way (HEAD is elsewhere), the caller finds out by
    `require_branch`. Costs a few looks for files where there is nothing to do. Raises Busy, Refused, Damaged.
    """
    finish_rename(git)
    branch = main_branch(git)
    found = stranded.look(git, branch)
    left = found is not None and stranded.is_left(git, found, patience)
    warnings = _put_back_halfway(git, content, patience, found) if left or found is None else []
    warnings += [*_mend_index(git), *_finish_journal(git, content, patience)]
    found = stranded.look(git, branch) if left else None
    if found is not None and checked_out_at(git, branch) is None:
        warnings += _end(git, found, content)
    return tuple(warnings)


def recover_branch(git: Git, content: Content, *, patience: float = PATIENCE) -> tuple[str, tuple[str, ...]]:
    """`recover`, then the brain's branch with HEAD on it. Raises Refused where HEAD is elsewhere."""
    warnings = recover(git, content, patience=patience)
    branch = main_branch(git)
    require_branch(git, branch)
    return branch, warnings


def finish_stranded(git: Git, content: Content, *, patience: float = PATIENCE) -> tuple[str, ...]:
    """`recover` at a person's word: locks that a dead git left are removed as well; what was done, in sentences.

    The caller holds the writer lock. With a `patience` of 0 whatever no git process is at work on counts as left
    behind. Raises as `recover` does, and Refused with the next step for what only a person can end.
    """
    found = stranded.look(git, main_branch(git))
    if found is None or stranded.is_left(git, found, patience):
        warnings = _put_back_halfway(git, content, patience, found)
    else:
        warnings = []
    clear_locks(git, patience)
    clear_other_locks(git, patience)
    return (*warnings, *recover_branch(git, content, patience=patience)[1])


def _put_back_halfway(git: Git, content: Content, patience: float, found: Stranded | None) -> list[str]:
    warnings = put_back(git, content, patience)
    if warnings and found is None:  # else the end of the operation needs what the index knows, and mends it
        warnings += keep_staged(git, "HEAD")
        clear_locks(git, patience)
        reset_index(git, "HEAD")
    return warnings


def _finish_journal(git: Git, content: Content, patience: float) -> tuple[str, ...]:
    journal = read_journal(git)
    if journal is None:
        return ()
    head = head_commit(git)
    if current_branch(git) == journal.branch or head == journal.head:
        return finish_move(git, content)
    found = stranded.look(git, journal.branch)
    if found is None or not stranded.is_left(git, found, patience):
        return finish_move(git, content)  # which says where HEAD should be
    wait_for_git(git)
    take_back(git, journal, head)
    return ("An interrupted sync was taken back, as HEAD had moved meanwhile.",)


def _mend_index(git: Git) -> list[str]:
    """Make git's index anew where it is missing or damaged: no file is touched, only what was staged is not."""
    place = os.path.join(git.git_dir, "index")
    if _is_sound(place, git):
        return []
    head = head_commit(git)
    if head is None:
        return []
    wait_for_git(git)
    if os.path.lexists(place):
        os.replace(place, f"{place}.damaged")
    reset_index(git, head)
    return ["git's index was missing or damaged and was made anew; nothing is staged now."]


def _is_sound(place: str, git: Git) -> bool:
    try:
        data = read_bytes(place, _LARGE_INDEX + 1)
    except FileNotFoundError:
        return False
    except OSError:
        mode = os.stat(place).st_mode
        return not (stat.S_ISFIFO(mode) or stat.S_ISCHR(mode))  # else not ours to judge: git says what is wrong
    if len(data) > _LARGE_INDEX:
        return data[:4] == b"DIRC"
    if data[:4] != b"DIRC":
        return False
    width = 32 if b"sha256" in _config(git) else 20
    digest = hashlib.sha256 if width == 32 else hashlib.sha1
    return data[-width:] in (digest(data[:-width]).digest(), bytes(width))


def _config(git: Git) -> bytes:
    try:
        return read_bytes(os.path.join(git.common_dir, "config"))
    except OSError:
        return b""


def _end(git: Git, found: Stranded, content: Content) -> list[str]:
    """Bring to its end what was left behind. What is not for us to end is left as it is."""
    merging, laid_out = stranded.named_commits(git)
    moving = stranded.rebased_branch(git)
    if moving not in (None, f"refs/heads/{found.branch}", "detached HEAD"):
        return []  # a rebase of another branch is nobody's business here
    if not found.on_branch and current_branch(git) is not None:
        return _back_from_a_branch(git, found, content)
    wait_for_git(git)
    warnings: list[str] = []
    target = found.tip
    try:
        for other in (*filter(None, [found.elsewhere]), *(merging if found.what != "rebase" else ())):
            target = _united(git, target, other, content, warnings)
    except Refused:
        return []  # histories without a common root: only a person can say what is meant
    for tip in (*stranded.original(git), found.head):
        if not git.holds("merge-base", "--is-ancestor", tip, target):
            rescue(git, tip)
    stash = stranded.autostash(git)
    if stash is not None and git.resolve(stash) is not None:
        laid_out += [f"{stash}^1", stash]
    warnings += keep_staged(git, found.head, [*laid_out, found.tip, target])
    settled = clear(git, found, [*laid_out, found.tip, target], content, warnings)
    fault("stranded-kept")
    journal = Journal(found.branch, found.tip, target, found.elsewhere, reset=True, settled=tuple(settled))
    warnings += carry_out(git, journal, content)
    fault("stranded-moved")
    warnings += _unstash(git, content)
    stranded.put_away(git)
    forget(git)
    fault("stranded-done")
    return [_told(found, target), *warnings]


def _told(found: Stranded, target: str) -> str:
    united = "" if target == found.tip else "; its commits are united with the branch"
    if found.what in ("detached", "branch"):
        where = "HEAD was detached" if found.what == "detached" else "HEAD was on another branch"
        return f"{where} and no git process was at work: it is back on {found.branch}{united}."
    return f"A {found.what} was left unfinished and no git process was at work: it was brought to its end{united}."


def _united(git: Git, tip: str, other: str, content: Content, warnings: list[str]) -> str:
    """A commit that holds both; one of them where it holds the other already."""
    bases = merge_bases(git, other, tip)
    if other in bases:
        return tip
    if tip in bases:
        return other
    union = integrate(git, bases, other, tip, content)
    warnings.extend(union.warnings)
    with Objects(git) as objects:
        seconds = max(commit_info(objects, name).seconds for name in (tip, other))
    return make_own_commit(git, union.tree, [tip, other], MESSAGE, seconds)


def _back_from_a_branch(git: Git, found: Stranded, content: Content) -> list[str]:
    """Leave another branch that holds nothing of its own, where nothing is under way and no file is changed."""
    if found.what != "branch" or not git.holds("merge-base", "--is-ancestor", found.head, found.tip):
        return []
    changed = fields(git.run("status", "--porcelain", "-z", "--no-renames", "--untracked-files=no"))
    if any(not ownfolders.holds(record[3:]) for record in changed):
        return []
    wait_for_git(git)
    journal = Journal(found.branch, found.tip, found.tip, found.head, reset=True)
    warnings = carry_out(git, journal, content)
    return [_told(found, found.tip), *warnings]


def _unstash(git: Git, content: Content) -> list[str]:
    """Bring back, as edits, what git had put aside before it began; the commit stays under a private ref."""
    stash = stranded.autostash(git)
    if stash is None or git.resolve(stash) is None:
        return []
    git.run("update-ref", f"refs/commonwealth/kept/{stash}", stash)
    warnings: list[str] = []
    with Objects(git) as objects:
        for path, delta in differences(git, f"{stash}^1", stash).items():
            current = workfiles.read(git.root, path)
            if matches(current, delta.new):
                continue
            new = blob(objects, delta.new)
            if matches(current, delta.old):
                _put_edit(git, path, current, new)
            elif current is None or new is None or content.owns(path) is None:
                warnings.append(
                    f"{path} was edited before and changed since; `{git_at(git.root)} show {stash[:12]}:{path}` has it."
                )
            else:
                merged = content.merge(blob(objects, delta.old), current, new, path)
                for sibling, data in merged.siblings.items():
                    if workfiles.read(git.root, sibling) is None:
                        workfiles.replace(git.root, sibling, data, None)
                _put_edit(git, path, current, merged.data)
                warnings.extend(merged.warnings)
    return warnings


def _put_edit(git: Git, path: str, current: bytes | None, new: bytes | None) -> None:
    if new is None and current is not None:
        workfiles.remove(git.root, path, current)
    elif new is not None and new != current:
        workfiles.replace(git.root, path, new, current)
