"""Objects, refs and git's index brought back: from the work tree, from the remote, from the record of moves."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import zlib
from collections.abc import Iterator

from commonwealth.errors import BrainError
from commonwealth.repo import examine
from commonwealth.repo.common import read_text
from commonwealth.repo.git import Git, decode, encode, fields
from commonwealth.repo.head import state_file
from commonwealth.repo.lock import FOLDER
from commonwealth.repo.outcome import seen_ref
from commonwealth.repo.remote import remote_name, tracking_ref

_FETCH_SECONDS = 120


def aside(folder: str, place: str) -> str:
    """Move a broken file or folder into our folder of damaged things; where it is now."""
    target = os.path.join(folder, FOLDER, "damaged")
    os.makedirs(target, exist_ok=True)
    name = os.path.join(target, f"{os.urandom(4).hex()}-{os.path.basename(place)}")
    os.rename(place, name)
    return name


# Objects


def objects(git: Git) -> Iterator[str]:
    """Bring back what is missing or broken in the object database, as far as the files and the remote have it."""
    yield from _index_packs(git)
    if not _needs_objects(git):
        return
    moved = _set_broken_aside(git)
    if moved:
        yield f"Set {moved} broken objects or packs aside in {state_file(git, 'damaged')}."
    before = _complaints(git)
    _from_files(git)
    if before and _complaints(git) and _from_remote(git):
        yield "Fetched the remote's objects anew."
    left = _complaints(git)
    if left < before:
        yield f"Brought objects back that were missing: git had {before} complaints and has {left}."


def _needs_objects(git: Git) -> bool:
    return bool(examine.fsck(git))


def _complaints(git: Git) -> int:
    return len(examine.fsck(git) or ())


def _index_packs(git: Git) -> Iterator[str]:
    packs = os.path.join(git.common_dir, "objects", "pack")
    for name in examine.unindexed(packs):
        place = os.path.join(packs, name)
        if git.call("index-pack", place, timeout=600).code == 0:
            yield f"Made the index of {place} anew."
        else:
            _salvage(git, place)
            yield f"Took what could be read out of {place}, which is set aside."


def _set_broken_aside(git: Git) -> int:
    """Move away every loose object that is not what its name says, and every pack that git finds broken."""
    top, moved = os.path.join(git.common_dir, "objects"), 0
    for folder in sorted(os.listdir(top)):
        if len(folder) == 2:
            for name in os.listdir(os.path.join(top, folder)):
                place = os.path.join(top, folder, name)
                if not name.startswith("tmp_obj") and not _is_sound(place, folder + name):
                    aside(git.git_dir, place)
                    moved += 1
    packs = os.path.join(top, "pack")
    for name in sorted(os.listdir(packs)) if os.path.isdir(packs) else ():
        if name.endswith(".idx") and git.call("verify-pack", os.path.join(packs, name), timeout=600).code:
            _salvage(git, os.path.join(packs, f"{name[:-4]}.pack"))
            moved += 1
    return moved + _drop_derived(git, top)


def _drop_derived(git: Git, top: str) -> int:
    """What git makes of other objects and can do without, where it is broken."""
    moved = 0
    for name, check in (
        ("info/commit-graph", ("commit-graph", "verify")),
        ("pack/multi-pack-index", ("multi-pack-index", "verify")),
    ):
        place = os.path.join(top, name)
        if os.path.lexists(place) and git.call(*check, timeout=600).code:
            aside(git.git_dir, place)
            moved += 1
    return moved


def _is_sound(place: str, name: str) -> bool:
    """Whether a loose object inflates to what its name is the hash of."""
    try:
        with open(place, "rb") as file:
            data = zlib.decompress(file.read())
    except (OSError, zlib.error):
        return False
    found = hashlib.sha256(data) if len(name) == 64 else hashlib.sha1(data, usedforsecurity=False)
    return found.hexdigest() == name


def _salvage(git: Git, pack: str) -> None:
    """Take every object out of a broken pack that can be read, and set the pack aside."""
    moved = None
    folder, stem = os.path.split(pack[: -len(".pack")])
    for name in os.listdir(folder):
        if name.startswith(f"{stem}."):
            target = aside(git.git_dir, os.path.join(folder, name))
            moved = target if name.endswith(".pack") else moved
    if moved is not None:
        with open(moved, "rb") as file:
            git.call("unpack-objects", "-r", "-q", input=file.read(), timeout=600)


def _from_files(git: Git) -> None:
    """The blobs of the files in the work tree, and the trees of git's index: their names tell what they are."""
    listed = git.call("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    names = [name for name in fields(listed.out) if _is_plain(os.path.join(git.root, name)) and "\n" not in name]
    if names:
        listing = encode("".join(f"{name}\n" for name in names))
        git.call("hash-object", "-w", "--no-filters", "--stdin-paths", input=listing, timeout=600)
    if examine.index_is_sound(git):
        git.call("write-tree")


def _is_plain(place: str) -> bool:
    return os.path.isfile(place) and not os.path.islink(place) and os.path.getsize(place) <= 1 << 20


def _from_remote(git: Git) -> bool:
    """Everything that the remote has, through a repository of its own: this one may be too broken to ask."""
    name = remote_name(git)
    if name is None:
        return False
    scratch = state_file(git, f"scratch-{os.urandom(8).hex()}")
    wide = any(len(entry) > 60 for entry in examine.reflog(git, f"refs/heads/{examine.recorded_branch(git)}")[:1])
    try:
        os.makedirs(scratch)
        other = Git(scratch)
        kind = ("--object-format=sha256",) if wide else ()
        other.run("init", "--quiet", "--template=", *kind)
        for key in ("core.sshCommand", "http.proxy"):
            value = decode(git.call("config", "--get", key).out).strip()
            if value:
                other.run("config", key, value)
        url = git.text("remote", "get-url", name)
        other.run(
            "-c",
            "fetch.unpackLimit=1",
            "fetch",
            "--quiet",
            "--no-tags",
            url,
            "+refs/heads/*:refs/all/*",
            timeout=_FETCH_SECONDS,
        )
        _copy_packs(other, git)
    except BrainError:
        return False
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return True


def _copy_packs(source: Git, target: Git) -> None:
    """Copy the packs of one repository into another, the index of each last: git sees the pack by it."""
    packs = os.path.join(source.common_dir, "objects", "pack")
    into = os.path.join(target.common_dir, "objects", "pack")
    os.makedirs(into, exist_ok=True)
    for name in sorted(os.listdir(packs), key=lambda name: name.endswith(".idx")):
        if not os.path.exists(os.path.join(into, name)):
            temporary = os.path.join(into, f"tmp_{name}")
            shutil.copyfile(os.path.join(packs, name), temporary)
            os.replace(temporary, os.path.join(into, name))


# Refs


def branch(git: Git) -> Iterator[str]:
    """The brain's branch at the newest commit of its that is here with everything it needs.

    Files of the work tree that are newer stay as they are: they become edits that the next sync commits.
    """
    name = examine.recorded_branch(git)
    ref = f"refs/heads/{name}"
    if name is None:
        return
    place = os.path.join(git.common_dir, *ref.split("/"))
    broken = ref in examine.broken_refs(git)
    now = None if broken else git.resolve(ref)
    if now is not None and _is_complete(git, now):
        return
    remote = remote_name(git)
    known = [
        read_text(os.path.join(git.common_dir, *other.split("/")), 256)
        for other in (seen_ref(name), tracking_ref(remote or "origin", name))
    ]
    candidates = [*examine.reflog(git, ref), *(text.strip() for text in known if text)]
    target = next((sha for sha in dict.fromkeys(candidates) if _is_complete(git, sha)), None)
    if target is None or target == now:
        return
    if os.path.lexists(place):
        aside(git.git_dir, place)
    git.call("update-ref", "-m", "commonwealth: mended", ref, target)
    if git.resolve(ref) == target:
        git.call("read-tree", target)
        yield f"Put {ref} at {target[:12]}, the newest commit that is whole; files that are newer stay as edits."


def _is_complete(git: Git, sha: str) -> bool:
    return git.call("rev-list", "--objects", "--quiet", sha, "--", timeout=120).code == 0


def other_refs(git: Git) -> Iterator[str]:
    """Broken refs of ours, and of what was seen of the remote: the next sync makes them again."""
    for ref in examine.broken_refs(git):
        if ref.startswith(("refs/commonwealth/", "refs/remotes/")):
            place = os.path.join(git.common_dir, *ref.split("/"))
            if os.path.lexists(place):
                yield f"Set the broken ref {ref} aside as {aside(git.git_dir, place)}."


# The index


def index(git: Git) -> Iterator[str]:
    """Git's index made anew from the branch where it is missing or broken; no file of the work tree is touched."""
    place = os.path.join(git.git_dir, "index")
    if git.resolve("HEAD") is None or (os.path.lexists(place) and examine.index_is_sound(git)):
        return
    kept = f"; the old one is {aside(git.git_dir, place)}" if os.path.lexists(place) else ""
    git.run("read-tree", "HEAD")
    with contextlib.suppress(BrainError):
        git.call("update-index", "-q", "--refresh", timeout=600)
    yield f"Made git's index anew{kept}."
