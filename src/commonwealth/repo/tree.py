"""A new tree from an old one: only the folders on the way are rewritten, so the cost follows the change."""

from __future__ import annotations

from collections.abc import Mapping

from commonwealth.errors import Damaged, Refused
from commonwealth.repo.git import Git, Pipe, decode, encode
from commonwealth.repo.objects import Objects

Entry = tuple[str, str]
"""(mode, sha) of a file as git writes them: `("100644", "4f8c…")`."""

_FOLDER_MODE = "040000"
_TYPES = {_FOLDER_MODE: "tree", "160000": "commit"}


class TreeClash(Refused):
    """One path would have to be a file and a folder at once."""


class _Folder:
    """One folder of the tree while it is edited: its entries, and the sub-folders that are edited too."""

    __slots__ = ("entries", "folders")

    def __init__(self, entries: dict[str, Entry]) -> None:
        self.entries = entries
        self.folders: dict[str, _Folder] = {}


def edit_tree(git: Git, tree: str | None, changes: Mapping[str, Entry | None]) -> str:
    """The sha of `tree` (a tree-ish; None is empty) with `changes` by path: an entry to set, None to remove.

    Folders left empty disappear; removing what is not there changes nothing. The blobs must exist. Two git
    processes, whatever the size. Raises TreeClash, Refused for a path git cannot hold, Damaged.
    """
    plan = [(_split(path), entry) for path, entry in changes.items()]
    with Objects(git) as objects:  # removals come first: they may make room for a folder or a file
        root = _Folder({} if tree is None else _read(objects, f"{tree}^{{tree}}"))
        for parts, entry in plan:
            if entry is None:
                _remove(objects, root, parts)
        _prune(root)
        for parts, entry in plan:
            if entry is not None:
                _put(objects, root, parts, entry)
    with git.open("mktree", "-z", "--missing", "--batch") as writer:
        return _write(writer, root)


def _split(path: str) -> list[str]:
    parts = path.split("/")
    if "\0" in path or any(part in ("", ".", "..") or part.lower() == ".git" for part in parts):
        raise Refused(f"{path!r} is not a path that a brain can hold.")
    return parts


def _read(objects: Objects, name: str) -> dict[str, Entry]:
    """The entries of a tree object: `<octal mode> <name> NUL <raw sha>`, repeated."""
    info = objects.info(name)
    data = objects.read(name)
    if info is None or data is None or info[1] != "tree":
        raise Damaged(f"There is no tree {name}.", hint="`brain doctor --fix` mends what can be mended.")
    width = len(info[0]) // 2
    entries: dict[str, Entry] = {}
    start, end = 0, len(data)
    while start < end:
        nul = data.index(0, start)
        mode, _, raw_name = data[start:nul].partition(b" ")
        start = nul + 1 + width
        entries[decode(raw_name)] = (mode.decode("ascii").zfill(6), data[nul + 1 : start].hex())
    return entries


def _open(objects: Objects, folder: _Folder, name: str) -> _Folder | None:
    """The sub-folder `name`, read for editing; None where there is none."""
    if name in folder.folders:
        return folder.folders[name]
    entry = folder.entries.get(name)
    if entry is None or entry[0] != _FOLDER_MODE:
        return None
    del folder.entries[name]
    folder.folders[name] = _Folder(_read(objects, entry[1]))
    return folder.folders[name]


def _is_folder(folder: _Folder, name: str) -> bool:
    return name in folder.folders or folder.entries.get(name, ("", ""))[0] == _FOLDER_MODE


def _remove(objects: Objects, root: _Folder, parts: list[str]) -> None:
    folder: _Folder | None = root
    for name in parts[:-1]:
        folder = _open(objects, folder, name) if folder is not None else None
    if folder is None:
        return
    if _is_folder(folder, parts[-1]):
        raise TreeClash(f"{'/'.join(parts)} is a folder; only files are removed by name.")
    folder.entries.pop(parts[-1], None)


def _prune(folder: _Folder) -> None:
    for name, child in list(folder.folders.items()):
        _prune(child)
        if not child.entries and not child.folders:
            del folder.folders[name]


def _put(objects: Objects, root: _Folder, parts: list[str], entry: Entry) -> None:
    folder = root
    for depth, name in enumerate(parts[:-1], 1):
        child = _open(objects, folder, name)
        if child is None:
            if name in folder.entries:
                file = "/".join(parts[:depth])
                raise TreeClash(f"{'/'.join(parts)} needs a folder where {file} is a file.")
            child = folder.folders[name] = _Folder({})
        folder = child
    if _is_folder(folder, parts[-1]):
        raise TreeClash(f"{'/'.join(parts)} cannot be a file: there is a folder of that name.")
    if entry[0] not in _TYPES and objects.info(entry[1]) is None:
        raise Damaged(f"The object {entry[1]} for {'/'.join(parts)} is not in the repository.")
    folder.entries[parts[-1]] = entry


def _write(writer: Pipe, folder: _Folder) -> str:
    """The sha of `folder` once it and the edited folders below it are written; mktree sorts."""
    for name, child in folder.folders.items():
        folder.entries[name] = (_FOLDER_MODE, _write(writer, child))
    records = [f"{mode} {_TYPES.get(mode, 'blob')} {sha}\t{name}\0" for name, (mode, sha) in folder.entries.items()]
    writer.send(encode("".join(records) + "\0"))
    return writer.line().decode("ascii").strip()
