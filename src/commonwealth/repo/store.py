"""Small pieces of plumbing shared by commits, merges and moves: blobs, commits, index entries, refs, trees."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from commonwealth import timeline
from commonwealth.errors import Bug, Busy, Damaged
from commonwealth.repo.content import Person
from commonwealth.repo.git import Git, decode, encode, fields
from commonwealth.repo.head import clear_locks, is_object_name, ref_value, state_file
from commonwealth.repo.objects import Objects
from commonwealth.repo.tree import Entry
from commonwealth.repo.workfiles import blob_id

_LARGEST = 1 << 25
REGULAR = ("100644", "100755")
_EMPTY_TREES = {
    40: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    64: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}


def store_blobs(git: Git, blobs: Sequence[bytes]) -> list[str]:
    """The object names of `blobs` once they are in the object database."""
    if len(blobs) <= 2:
        return [git.run("hash-object", "-w", "--stdin", input=data).decode("ascii").strip() for data in blobs]
    with scratch_files(git, blobs) as places:
        listing = encode("".join(f"{place}\n" for place in places))
        out = git.run("hash-object", "-w", "--no-filters", "--stdin-paths", input=listing)
    names = out.decode("ascii").split()
    if len(names) != len(blobs):
        raise Bug(f"git hash-object named {len(names)} of {len(blobs)} blobs in {git.root}.")
    return names


@contextlib.contextmanager
def scratch_files(git: Git, contents: Sequence[bytes]) -> Iterator[list[str]]:
    """Files below the git folder with these contents, for commands that read nothing else; gone afterwards."""
    folder = state_file(git, f"scratch-{os.urandom(8).hex()}")
    os.makedirs(folder)
    places = [os.path.join(folder, str(number)) for number in range(len(contents))]
    try:
        for place, data in zip(places, contents, strict=True):
            with open(place, "wb") as file:
                file.write(data)
        yield places
    finally:
        for place in places:
            with contextlib.suppress(OSError):  # what stays is swept away by a later sync
                os.unlink(place)
        with contextlib.suppress(OSError):
            os.rmdir(folder)


def store_files(git: Git, files: Mapping[str, bytes], modes: Mapping[str, str]) -> dict[str, Entry]:
    """Tree entries of `files`, stored; the mode is 100644 where `modes` has none."""
    names = store_blobs(git, list(files.values()))
    return {path: (modes.get(path, "100644"), name) for path, name in zip(files, names, strict=True)}


def stamp(person: Person, moment: str) -> dict[str, str]:
    """The environment that gives a commit its author, committer and time (`moment` in canonical text)."""
    seconds = max(0, int(timeline.parse(moment).timestamp()))
    return _stamp(person.name, person.email, f"@{seconds} +0000")


def _stamp(name: str, email: str, date: str) -> dict[str, str]:
    values = {"NAME": name, "EMAIL": email, "DATE": date}
    return {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in values.items()}


@dataclass(frozen=True, slots=True)
class Ours:
    """The person who makes merges and derived-only commits: the same in every clone."""

    name: str = "Commonwealth"
    email: str = "commonwealth@localhost"


OURS = Ours()


def make_commit(
    git: Git, tree: str, parents: Sequence[str], message: str, env: Mapping[str, str], *, sign: bool
) -> str:
    """A commit object; no ref moves."""
    args = [word for parent in parents for word in ("-p", parent)]
    signing = git.signing() if sign else ()
    text = message.rstrip("\n") + "\n"
    out = git.run("commit-tree", *signing, tree, *args, input=text.encode("utf-8", "replace"), env=env)
    return out.decode("ascii").strip()


def make_own_commit(git: Git, tree: str, parents: Sequence[str], message: str, seconds: int) -> str:
    """A commit of ours: nothing in it depends on who makes it, or when."""
    env = _stamp(OURS.name, OURS.email, f"@{seconds} +0000")
    return make_commit(git, tree, parents, message, env, sign=False)


@dataclass(frozen=True, slots=True)
class CommitInfo:
    """What a commit object says."""

    tree: str
    parents: tuple[str, ...]
    author: str
    committer: str
    seconds: int
    message: str

    def is_ours(self, message: str) -> bool:
        """Whether it is a commit that `make_own_commit` made with `message`."""
        who = f"{OURS.name} <{OURS.email}>"
        return self.author == who and self.committer == who and self.message.strip() == message


def commit_info(objects: Objects, name: str) -> CommitInfo:
    """Read a commit. Raises Damaged where it is missing."""
    data = objects.read(name)
    if data is None:
        raise MissingObject(name)
    head, _, message = decode(data).partition("\n\n")
    lines = [line.partition(" ") for line in head.split("\n")]
    value = {key: rest for key, _, rest in reversed(lines)}
    who, _, when = value.get("committer", "").rpartition("> ")
    author, _, _ = value.get("author", "").rpartition("> ")
    parents = tuple(rest for key, _, rest in lines if key == "parent")
    seconds = when.split(" ", 1)[0]
    return CommitInfo(
        value.get("tree", ""),
        parents,
        f"{author}>",
        f"{who}>",
        timeline.shown_seconds(seconds),
        message,
    )


def set_index(git: Git, clean: Iterable[str], entries: Mapping[str, Entry | None], *, patience: float = 2) -> None:
    """Bring the index up to date for these paths only; whatever else a person staged stays staged.

    `clean` are taken from the work tree, which records their times too; `entries` get exactly these entries
    (None: removed). Raises Busy where another git process keeps the index longer than `patience` seconds.
    """
    exact = [f"{entry[0]} {entry[1]}\t{path}" for path, entry in entries.items() if entry is not None]
    groups = (
        (("--add", "--remove", "--replace", "-z", "--stdin"), list(clean)),
        (("--force-remove", "-z", "--stdin"), [path for path, entry in entries.items() if entry is None]),
        (("--replace", "-z", "--index-info"), exact),
    )
    for args, records in groups:
        if records:
            listing = encode("".join(f"{record}\0" for record in records))
            _patiently(partial(git.run, "update-index", *args, input=listing), patience)


def reset_index(git: Git, tree: str, *, patience: float = 2) -> None:
    """Make the index anew from a tree-ish: nothing is staged or unmerged then, and no file changes."""
    _patiently(partial(git.run, "read-tree", tree), patience)
    git.call("update-index", "-q", "--refresh")  # exits 1 where files differ, which they may


def wait_for_git(git: Git, patience: float = 6) -> None:
    """Wait until no git process holds index, HEAD or branch. Raises Busy after `patience` seconds: long enough for
    a lock that a killed git has left just now to be known as one."""
    _patiently(lambda: clear_locks(git), patience)


def _patiently(step: Callable[[], object], patience: float) -> None:
    deadline = time.monotonic() + patience
    while True:
        try:
            step()
        except Busy:
            if time.monotonic() >= deadline:
                raise
            time.sleep(0.02)
        else:
            return


def move_ref(git: Git, ref: str, new: str, old: str | None, reason: str) -> bool:
    """Move a ref from `old` (None: it must not exist) to `new`; whether it is there now, by reading it."""
    git.call("update-ref", "-m", reason, ref, new, old or "0" * len(new))
    return ref_value(git, ref) == new


class Overtaken(Busy):
    """Another git process moved the branch while a commit of ours was on its way there: trying again helps."""

    def __init__(self, git: Git, branch: str) -> None:
        super().__init__(f"Another git process moved {branch} of {git.root} at the same moment.", hint="Try again.")


class MissingObject(Damaged):
    """Something that a commit needs is not in the repository."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"The object {name} is not in the repository.",
            hint="`brain doctor --fix` brings back what the files or the remote still have.",
        )


@dataclass(frozen=True, slots=True)
class Delta:
    """One path that differs between two trees."""

    old: Entry | None
    new: Entry | None


def differences(git: Git, old: str | None, new: str) -> dict[str, Delta]:
    """The files that differ between two tree-ishes (None: the empty tree)."""
    before = old or _EMPTY_TREES[len(new)]
    ask = git.fact if is_object_name(before) and is_object_name(new) else git.run
    parts = fields(ask("diff-tree", "-r", "-z", "--no-renames", "--raw", before, new))
    deltas: dict[str, Delta] = {}
    for meta, path in zip(parts[::2], parts[1::2], strict=True):
        old_mode, new_mode, old_sha, new_sha, _ = meta.lstrip(":").split(" ")
        deltas[path] = Delta(_entry(old_mode, old_sha), _entry(new_mode, new_sha))
    return deltas


def _entry(mode: str, sha: str) -> Entry | None:
    return None if mode == "000000" else (mode, sha)


def entries_at(git: Git, tree: str, paths: Iterable[str]) -> dict[str, Entry]:
    """The entries of some files in a tree-ish; files it does not have are left out."""
    found: dict[str, Entry] = {}
    wanted = list(paths)
    for start in range(0, len(wanted), 500):
        for record in fields(git.run("ls-tree", "-z", tree, "--", *wanted[start : start + 500])):
            meta, _, path = record.partition("\t")
            mode, kind, sha = meta.split(" ")
            if kind == "blob":
                found[path] = (mode, sha)
    return found


def blob(objects: Objects, entry: Entry | None) -> bytes | None:
    """The bytes behind an entry. Raises Damaged where the object is missing."""
    if entry is None:
        return None
    data = objects.read(entry[1])
    if data is None:
        raise MissingObject(entry[1])
    return data


def matches(data: bytes | None, entry: Entry | None) -> bool:
    """Whether a file of the work tree is the file that `entry` names."""
    if data is None or entry is None:
        return data is None and entry is None
    return blob_id(data, len(entry[1])) == entry[1]


class TreeSnapshot:
    """The files of one tree-ish, read through one git process."""

    def __init__(self, objects: Objects, tree: str) -> None:
        self._objects = objects
        self._tree = tree
        self.warnings: list[str] = []

    def read(self, path: str) -> bytes | None:
        """The bytes of a file, or None where there is none, or one too large for a note or a table of them."""
        name = f"{self._tree}:{path}"
        info = self._objects.info(name)
        if info is None or info[1] != "blob" or info[2] > _LARGEST:
            return None
        return self._objects.read(info[0])

    def warn(self, text: str) -> None:
        """Say something about these files to whoever works with them."""
        self.warnings.append(text)

    def list(self, folder: str) -> Mapping[str, bool]:
        """The names directly in `folder`; True for sub-folders. Empty where there is no such folder."""
        name = f"{self._tree}:{folder}" if folder else f"{self._tree}^{{tree}}"
        info = self._objects.info(name)
        if info is None or info[1] != "tree":
            return {}
        data = self._objects.read(info[0]) or b""
        width, names, start = len(info[0]) // 2, {}, 0
        while start < len(data):
            nul = data.index(0, start)
            mode, _, entry = data[start:nul].partition(b" ")
            names[decode(entry)] = mode.startswith(b"4")
            start = nul + 1 + width
        return names
