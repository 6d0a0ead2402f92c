"""The one function that makes note commits.

Files, then git's index, then the branch, in this order here and in every move: whatever a person does with git
at any instant in between sees our change as uncommitted work, never a branch ahead of its files, whose next
commit would take the change back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from commonwealth.errors import BrainError, Refused
from commonwealth.faults import fault
from commonwealth.repo import workfiles
from commonwealth.repo.content import Content, Person
from commonwealth.repo.git import Git
from commonwealth.repo.head import branch_tip, main_branch, require_branch
from commonwealth.repo.lock import WriterLock
from commonwealth.repo.objects import Objects, reading
from commonwealth.repo.recovery import recover
from commonwealth.repo.store import (
    Overtaken,
    commit_info,
    entries_at,
    make_commit,
    move_ref,
    set_index,
    stamp,
    store_files,
    wait_for_git,
)
from commonwealth.repo.tree import Entry, edit_tree


class Expect(Enum):
    """What a change may find in place of the file."""

    ANY = "any"


ANY = Expect.ANY
"""The file as it is at the moment of the commit, whatever it holds."""


@dataclass(frozen=True, slots=True)
class Change:
    """One file of a commit: its new bytes (None: removed), and what its writer read (None: no such file)."""

    path: str
    data: bytes | None
    expect: bytes | Expect | None = None


def commit(
    git: Git,
    changes: Sequence[Change],
    message: str,
    author: Person,
    *,
    now: str,
    content: Content,
    held: WriterLock | None = None,
    timeout: float = 10,
) -> str:
    """Write `changes` and commit exactly them; the sha of the branch's tip, new unless nothing differs.

    `held` is the writer lock if the caller has it, and has recovered under it; otherwise it is taken, within
    `timeout` seconds. Raises workfiles.Changed where a file is not what its writer read; Refused for a secret, an
    unreadable note, a path that is no note's, a HEAD elsewhere or a full disk; Busy; Overtaken where a commit by hand
    was faster. A write that is refused leaves files and index as they were.
    """
    if held is None:
        with WriterLock(git.git_dir, operation="commit", timeout=timeout):
            return _guarded(git, changes, message, author, now, content, first=True)
    return _guarded(git, changes, message, author, now, content, first=False)


def _guarded(
    git: Git, changes: Sequence[Change], message: str, author: Person, now: str, content: Content, *, first: bool
) -> str:
    try:
        with reading(git):
            if first:
                recover(git, content)
            return _commit(git, changes, message, author, now, content)
    except OSError as error:
        raise disk_trouble(git, error) from error


def disk_trouble(git: Git, error: OSError) -> Refused:
    """The error to tell when the file system refuses a write."""
    if isinstance(error, (IsADirectoryError, NotADirectoryError, FileExistsError)):
        place = error.filename2 or error.filename or git.root
        return Refused(
            f"{place} is in the way of what has to be written there ({error.strerror}).",
            hint="`brain doctor` says what stands where; move it away, then try again. Nothing was lost.",
        )
    return Refused(
        f"The disk refused a write in {git.root}: {error.strerror or error}.",
        hint="Make room or mend the permissions, then try again; nothing was lost.",
    )


def _commit(git: Git, changes: Sequence[Change], message: str, author: Person, now: str, content: Content) -> str:
    branch = main_branch(git)
    require_branch(git, branch)
    wait_for_git(git)
    refuse_unfit(changes, message, author, content)
    current = {change.path: workfiles.read(git.root, change.path) for change in changes}
    for change in changes:
        if change.expect is not ANY and current[change.path] != change.expect:
            raise workfiles.Changed(change.path)
    tip = branch_tip(git, branch)
    undo: list[Callable[[], None]] = []
    try:
        prepared = _prepare(git, changes, current, undo)
        new, entries = _make(git, changes, message, stamp(author, now), tip)
        fault("commit-object")
        _place(git, changes, current, prepared, undo)
        new = _point(git, branch, tip, new, entries, undo)
    except (OSError, BrainError):
        workfiles.undoing(undo)
        raise
    fault("commit-done")
    return new


def refuse_secrets(path: str, data: bytes, content: Content) -> None:
    """Raises Refused where the bytes or the path of a file (or a commit message, path "") hold a secret."""
    for finding in content.scan(path, data):
        place = shown(path, content) if path else "commit message"
        raise Refused(
            f"secret: {place}: {finding.where} ({finding.rule})",
            hint="Take the secret out and try again; if it is a real one, revoke it where it was issued."
            f"{finding.allowing}",
        )


def shown(path: str, content: Content) -> str:
    """A path as it may be told to people: without the name of a file whose name is itself a secret."""
    if not content.scan(path, b""):
        return path
    folder = path.rpartition("/")[0]
    return f"{folder or '.'}/(a file with a secret in its name)"


def refuse_unfit(changes: Sequence[Change], message: str, author: Person, content: Content) -> None:
    """Raises Refused for a secret anywhere in what is to be committed, and for a file that cannot be canon."""
    refuse_secrets("", message.encode("utf-8", "replace"), content)
    for finding in content.scan("", f"{author.name}\n{author.email}".encode("utf-8", "replace")):
        raise Refused(
            f"secret: author's name or e-mail ({finding.rule})",
            hint="Give yourself another in `COMMONWEALTH_AUTHOR` and `COMMONWEALTH_AUTHOR_EMAIL`, or in git's "
            "`user.name` and `user.email`; if the secret is a real one, revoke it where it was issued.",
        )
    for change in changes:
        if content.owns(change.path) is None and not content.is_config(change.path):
            raise Refused(f"{change.path} is not the place of a note.")
        if change.data is None:
            continue
        refuse_secrets(change.path, change.data, content)
        cause = content.check(change.path, change.data)
        if cause is not None:
            raise Refused(f"{change.path} cannot be committed: {cause}.", hint="Mend the note and try again.")


def _prepare(
    git: Git,
    changes: Sequence[Change],
    current: Mapping[str, bytes | None],
    undo: list[Callable[[], None]],
) -> dict[str, workfiles.Prepared]:
    prepared: dict[str, workfiles.Prepared] = {}
    for change in changes:
        if change.data is not None and change.data != current[change.path]:
            file = workfiles.Prepared(git.root, change.path, change.data)
            undo.append(file.drop)
            prepared[change.path] = file
    fault("commit-temp-written")
    return prepared


def _make(
    git: Git, changes: Sequence[Change], message: str, env: Mapping[str, str], tip: str | None
) -> tuple[str, dict[str, Entry | None]]:
    """The new commit object (the tip itself where nothing differs from it), and the entries it sets."""
    files = {change.path: change.data for change in changes if change.data is not None}
    modes = _modes(git, tip, [path for path in files if workfiles.is_executable(git.root, path)])
    entries: dict[str, Entry | None] = {change.path: None for change in changes}
    entries.update(store_files(git, files, modes))
    tree = edit_tree(git, tip, entries)
    if tip is not None:
        with Objects(git) as objects:
            if commit_info(objects, tip).tree == tree:
                return tip, entries
    parents = () if tip is None else (tip,)
    return make_commit(git, tree, parents, message, env, sign=True), entries


def _modes(git: Git, tip: str | None, executable: list[str]) -> dict[str, str]:
    """Files that stay executable; on some file systems every file seems to be, so the last commit decides."""
    if tip is None or not executable:
        return {}
    return {path: mode for path, (mode, _) in entries_at(git, tip, executable).items() if mode == "100755"}


def _place(
    git: Git,
    changes: Sequence[Change],
    current: Mapping[str, bytes | None],
    prepared: Mapping[str, workfiles.Prepared],
    undo: list[Callable[[], None]],
) -> None:
    for number, change in enumerate(changes):
        before = current[change.path]
        if change.path in prepared:
            prepared[change.path].place(before)
            undo.append(_undo_write(git.root, change.path, before, prepared[change.path].data))
        elif change.data is None and before is not None:
            workfiles.remove(git.root, change.path, before)
            undo.append(_undo_write(git.root, change.path, before, None))
        if number == 0:
            fault("commit-half-renamed")
    workfiles.sync_folders(git.root, [change.path for change in changes])
    fault("commit-renamed")


def _undo_write(root: str, path: str, before: bytes | None, written: bytes | None) -> Callable[[], None]:
    def step() -> None:
        if before is not None:
            workfiles.replace(root, path, before, written)
        elif written is not None:
            workfiles.remove(root, path, written)

    return step


def _point(
    git: Git,
    branch: str,
    tip: str | None,
    new: str,
    entries: Mapping[str, Entry | None],
    undo: list[Callable[[], None]],
) -> str:
    """The commit at the branch's tip that holds the change."""
    undo.insert(0, lambda: _restore_index(git, branch, entries))
    set_index(git, entries, {})
    fault("commit-indexed")
    require_branch(git, branch)
    if new == tip or move_ref(git, f"refs/heads/{branch}", new, tip, "commonwealth: notes"):
        return new
    wait_for_git(git)
    there = branch_tip(git, branch)
    if there is not None and _holds(git, there, entries):
        return there  # a commit by hand took everything along that was in the index
    raise Overtaken(git, branch)


def _holds(git: Git, commit_name: str, entries: Mapping[str, Entry | None]) -> bool:
    return entries_at(git, commit_name, entries) == {path: entry for path, entry in entries.items() if entry}


def _restore_index(git: Git, branch: str, paths: Iterable[str]) -> None:
    tip = branch_tip(git, branch)  # not the tip of before: an index behind the branch takes its last commit back
    found = entries_at(git, tip, paths) if tip is not None else {}
    set_index(git, (), {path: found.get(path) for path in paths})
