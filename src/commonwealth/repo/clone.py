"""The beginnings of a brain on this machine: made here, adopted from a repository, or cloned."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from commonwealth import atomic
from commonwealth.errors import BrainError, Busy, Refused
from commonwealth.faults import fault
from commonwealth.repo import address as addresses
from commonwealth.repo import workfiles
from commonwealth.repo.common import find_git_dir, git_at
from commonwealth.repo.content import Person
from commonwealth.repo.git import Git, decode, encode, fields, redact
from commonwealth.repo.harden import CONFIG, harden
from commonwealth.repo.head import branch_tip, current_branch, main_branch, refuse_unfinished, state_file
from commonwealth.repo.kept import write_bases
from commonwealth.repo.listed import refuse_rewritten
from commonwealth.repo.lock import WriterLock
from commonwealth.repo.objects import Objects
from commonwealth.repo.outcome import seen_ref
from commonwealth.repo.place import new_folder, require_empty, require_outside
from commonwealth.repo.project import normalise_remote
from commonwealth.repo.remote import require_git
from commonwealth.repo.store import blob, entries_at, make_commit, move_ref, set_index, stamp, store_files
from commonwealth.repo.tree import Entry, edit_tree
from commonwealth.safetext import one_line

Read = Callable[[str], bytes | None]
"""The bytes of a file of the remote's tip by its path, or None where it has none."""

_READ_LIMIT = 1 << 20
_FOLDER_MODE = "040000"


@dataclass(frozen=True, slots=True)
class Clone:
    """A brain on this machine. `commit` is None while nothing is committed; `fresh` is False if it was there
    already and only what was missing was added."""

    root: str
    branch: str
    commit: str | None
    fresh: bool
    added: tuple[str, ...] = ()


def init(
    folder: str | os.PathLike[str],
    files: Mapping[str, bytes],
    *,
    author: Person,
    now: str,
    branch: str = "main",
    remote: str | None = None,
    own: tuple[str, ...] = (),
    message: str = "Start a brain",
) -> Clone:
    """Make `folder` a brain that holds `files`, in one commit by `author` at `now` (UTC).

    A folder that is missing or empty becomes a repository; the root of a repository is adopted: files that it
    has stay as they are, except that missing lines are added to `.gitignore` and `.gitattributes`. `own`
    names the folders of this clone that git ignores. Safe to repeat. Raises Refused for a folder with other
    things in it, or inside another repository.
    """
    root = os.path.realpath(folder)
    address = addresses.checked(remote) if remote else None
    fresh = find_git_dir(root) is None
    if fresh:
        require_empty(root)
        require_outside(root)
        os.makedirs(root, exist_ok=True)
        _template_free_init(root, branch)
        fault("init-made")
    git = Git(root)
    if git.text("rev-parse", "--is-bare-repository") == "true":
        raise Refused(f"{root} is a bare repository: it has no files.", hint="Give a folder with files.")
    with WriterLock(git.git_dir, operation="init"):
        current = _branch_to_adopt(git)
        harden(git, own, adopted=branch_tip(git, current) is not None)
        if address:
            _set_remote(git, address)
        fault("init-hardened")
        added, commit = _add(git, current, files, author=author, now=now, message=message)
    return Clone(root, current, commit, fresh, added)


def _template_free_init(root: str, branch: str) -> None:
    git = Git(root)
    git.run("init", "--quiet", "--template=", f"--initial-branch={branch}", "--", root)


def _branch_to_adopt(git: Git) -> str:
    refuse_unfinished(git)
    branch = current_branch(git)
    if branch is None:
        raise Refused(
            f"No branch is checked out in {git.root}.",
            hint=f"Go to the branch for the notes: `{git_at(git.root)} switch main`.",
        )
    return branch


def _set_remote(git: Git, address: str) -> None:
    present = git.run("config", "--get", "remote.origin.url", check=False)
    url = decode(present).strip()
    if not url:
        git.run("remote", "add", "--", "origin", address)
    elif normalise_remote(url, git.root) != normalise_remote(address):
        raise Refused(
            f"{git.root} already has the remote {one_line(redact(url))}.",
            hint=f"If the brain moves: `{git_at(git.root)} remote set-url origin {address}`.",
        )


# The first commit


def _add(
    git: Git, branch: str, files: Mapping[str, bytes], *, author: Person, now: str, message: str
) -> tuple[tuple[str, ...], str | None]:
    """Write and commit what is missing of `files`. Returns the committed paths and the branch's tip."""
    tip = branch_tip(git, branch)
    staged = _staged(git, files)
    before = entries_at(git, tip, files) if tip else {}
    with Objects(git) as objects:
        blobs = {path: blob(objects, before.get(path)) for path in files}
    wanted: dict[str, bytes] = {}
    for path, data in files.items():
        here = workfiles.read(git.root, path)
        if blobs[path] is None and here not in (None, data) and not _by_line(path):
            continue  # a person's file that is not committed yet is theirs to commit
        committed, local = _united(path, blobs[path], data), _united(path, here, data)
        if committed is not None:
            wanted[path] = committed
        if local is not None:
            workfiles.replace(git.root, path, local, here)
    entries = store_files(git, wanted, {path: entry[0] for path, entry in before.items()})
    fault("init-files")
    clash = [path for path in entries if path in staged and staged[path] != before.get(path)]
    if clash:
        raise Refused(
            f"{', '.join(clash)} in {git.root} has staged changes.",
            hint="Commit or unstage them, then repeat.",
        )
    if entries:
        tip = _commit_entries(git, branch, tip, entries, author=author, now=now, message=message)
    fault("init-committed")
    unlisted = {path: entry for path, entry in before.items() if path not in staged}
    set_index(git, (), unlisted | entries)
    return tuple(sorted(entries)), tip


def _commit_entries(
    git: Git,
    branch: str,
    tip: str | None,
    entries: Mapping[str, Entry],
    *,
    author: Person,
    now: str,
    message: str,
) -> str:
    tree = edit_tree(git, tip, entries)
    new = make_commit(git, tree, [tip] if tip else [], message, stamp(author, now), sign=True)
    if not move_ref(git, f"refs/heads/{branch}", new, tip, "brain init"):
        raise Busy(f"The branch {branch} of {git.root} moved meanwhile.", hint="Run the same command again.")
    return new


def _staged(git: Git, paths: Iterable[str]) -> dict[str, Entry]:
    """What the git index holds of `paths`."""
    records = fields(git.run("ls-files", "--stage", "-z", "--", *paths)) if paths else []
    parts = (record.partition("\t") for record in records)
    return {path: (meta.split()[0], meta.split()[1]) for meta, _, path in parts}


def _by_line(path: str) -> bool:
    return path in (".gitignore", ".gitattributes")


def _united(path: str, present: bytes | None, data: bytes) -> bytes | None:
    """The bytes that `path` should get: all of `data` if it is missing, missing lines where lines count; None
    where it may stay as it is."""
    if present is None:
        return data
    if not _by_line(path):
        return None
    end = b"\r\n" if b"\r\n" in present else b"\n"
    there = {line.rstrip() for line in present.splitlines()}
    missing = [line for line in data.splitlines() if line.strip() and line.rstrip() not in there]
    if not missing:
        return None
    start = present if not present or present.endswith(b"\n") else present + end
    return start + b"".join(line + end for line in missing)


# A clone of a remote


def join(
    url: str,
    folder: str | os.PathLike[str],
    *,
    own: tuple[str, ...] = (),
    folders: tuple[str, ...] = (),
    inspect: Callable[[Read], Iterable[str]] | None = None,
    timeout: float = 600,
) -> Clone:
    """Clone the brain at `url` into `folder`, which is new, empty, or already that clone.

    Before anything is checked out, the remote's tip is looked at: it must not track the folders `own`, which
    belong to one clone, nor have a link or a file in the place of one of `folders`. `inspect` may read files
    of the tip, name more such folders, or raise. `timeout` in seconds is for the transfer. A join that fails
    leaves nothing on disk. Raises Refused, NoAccess, Offline.
    """
    address = addresses.checked(url)
    root = os.path.realpath(folder)
    if find_git_dir(root) is not None:
        return _joined_before(root, address, own)
    require_empty(root)
    require_outside(root)
    with new_folder(root) as temporary:
        git = _fetch(address, temporary, timeout)
        fault("join-cloned")
        branch = _canon_branch(git)
        if branch is None:
            require_git(git, "origin", timeout)
        else:
            _inspect(git, f"refs/remotes/origin/{branch}", own, folders, inspect)
        harden(git, own)
        fault("join-hardened")
        _check_out(git, branch)
        fault("join-checked-out")
    return Clone(root, branch or _DEFAULT, branch_tip(Git(root), branch or _DEFAULT), fresh=True)


_DEFAULT = "main"


def _joined_before(root: str, address: str, own: tuple[str, ...]) -> Clone:
    git = Git(root)
    url = decode(git.run("config", "--get", "remote.origin.url", check=False)).strip()
    if not url or normalise_remote(url, root) != normalise_remote(address):
        other = f"a clone of {one_line(redact(url))}" if url else "another repository"
        raise Refused(f"{root} is {other}.", hint="Join into a new folder.")
    harden(git, own)
    branch = main_branch(git)
    return Clone(root, branch, branch_tip(git, branch), fresh=False)


def _fetch(address: str, folder: str, timeout: float) -> Git:
    """A clone without files: the configuration that keeps content data is in place before it is used."""
    git = Git(folder)
    refuse_rewritten(git, address)
    settings = [word for name, value in CONFIG.items() for word in ("--config", f"{name}={value}")]
    how = ("--quiet", "--no-checkout", "--no-local", "--no-tags", "--template=", "--origin=origin")
    git.run("clone", *how, *settings, "--", address, folder, timeout=timeout)
    return git


def _canon_branch(git: Git) -> str | None:
    """The remote's default branch; `main`, `master` or the only one where it names none that exists; None for
    an empty remote."""
    default = git.run("symbolic-ref", "--quiet", "refs/remotes/origin/HEAD", check=False).decode().strip()
    prefix = "refs/remotes/origin/"
    if default and git.resolve(default):
        return default[len(prefix) :]
    listed = decode(git.run("for-each-ref", "--format=%(refname)", prefix)).split()
    branches = [ref[len(prefix) :] for ref in listed if ref != f"{prefix}HEAD"]
    canon = [name for name in branches if not name.startswith(("brain/", "notes/"))]  # those are requests
    for name in (_DEFAULT, "master"):
        if name in canon:
            return name
    if len(canon) == 1:
        return canon[0]
    if branches:
        raise Refused(
            f"The remote names no default branch, and has {', '.join(map(one_line, sorted(branches)[:10]))}.",
            hint="Set its default branch on the server to the one that holds the notes.",
        )
    return None


def _inspect(
    git: Git,
    tip: str,
    own: tuple[str, ...],
    folders: tuple[str, ...],
    inspect: Callable[[Read], Iterable[str]] | None,
) -> None:
    with Objects(git) as objects:

        def read(path: str) -> bytes | None:
            info = objects.info(f"{tip}:{path}")
            return objects.read(info[0], _READ_LIMIT) if info is not None and info[1] == "blob" else None

        more = tuple(inspect(read)) if inspect is not None else ()
    _refuse_tracked(git, tip, own)
    _refuse_links(git, tip, (*folders, *more))


def _refuse_tracked(git: Git, tip: str, own: tuple[str, ...]) -> None:
    taken = {name.casefold() for name in own}
    for name in fields(git.run("ls-tree", "-z", "--name-only", tip)):
        if name.casefold() in taken:
            raise Refused(
                f"The remote tracks {one_line(name)}/, which belongs to each clone alone.",
                hint="Whoever keeps the brain should remove it there: `git rm -r --cached`, commit, push.",
            )


def _refuse_links(git: Git, tip: str, folders: tuple[str, ...]) -> None:
    split = [name.strip("/").split("/") for name in folders]
    levels = {"/".join(parts[: depth + 1]) for parts in split for depth in range(len(parts))}
    if not levels:
        return
    for record in fields(git.run("ls-tree", "-z", tip, "--", *sorted(levels))):
        meta, _, name = record.partition("\t")
        if not meta.startswith(_FOLDER_MODE):
            what = {"120000": "a link", "160000": "a submodule"}.get(meta.split(" ")[0], "a file")
            raise Refused(
                f"{one_line(name)} of the remote is {what} where notes should lie.",
                hint="Whoever keeps the brain should make it a folder.",
            )


def _check_out(git: Git, branch: str | None) -> None:
    """Put the tip of `branch` into the work tree, on a branch of our own that follows it."""
    name = branch or _DEFAULT
    git.run("symbolic-ref", "HEAD", f"refs/heads/{name}")
    atomic.replace(state_file(git, "branch"), f"{name}\n".encode())
    git.run("config", "--local", f"branch.{name}.remote", "origin")
    git.run("config", "--local", f"branch.{name}.merge", f"refs/heads/{name}")
    if branch is not None:
        tip = git.text("rev-parse", "--verify", f"refs/remotes/origin/{branch}^{{commit}}")
        for ref in (f"refs/heads/{branch}", seen_ref(branch)):
            git.run("update-ref", "-m", "brain join", ref, tip)
        try:
            git.run("read-tree", "--reset", "-u", "HEAD", timeout=600)
        except BrainError:
            if not _check_out_what_fits(git):
                raise


def _check_out_what_fits(git: Git) -> bool:
    """Check out without the files that this file system cannot hold, which git would end at; whether there are any."""
    paths = fields(git.run("ls-tree", "-r", "-z", "--name-only", "HEAD"))
    left_out = {path for path in paths if workfiles.obstacle(git.root, path) is not None}
    if not left_out:
        return False
    git.run("read-tree", "--reset", "HEAD")
    listing = encode("".join(f"{path}\0" for path in paths if path not in left_out))
    git.run("checkout-index", "-f", "-q", "-u", "-z", "--stdin", input=listing, timeout=600)
    write_bases(git, dict.fromkeys(sorted(left_out), ""))
    return True
