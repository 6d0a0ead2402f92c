"""What is broken in a clone's git folder, found by looking: nothing is changed, and nothing broken stops the look."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass

from commonwealth.errors import BrainError, Damaged
from commonwealth.repo.common import NO_INDEX, common_dir, git_at, read_text
from commonwealth.repo.git import Git
from commonwealth.repo.harden import lacking
from commonwealth.repo.head import is_abandoned
from commonwealth.repo.lock import FOLDER
from commonwealth.repo.objects import Objects
from commonwealth.safetext import one_line

MEND = "`brain doctor --fix` mends what can be mended, and loses nothing."
INDEX_MEND = "The next sync or write makes it anew; so does `brain doctor --fix`."
LOCK_FILES = ("lock", "sync.lock", "index.lock", "worker.lock")
JSON_FILES = ("journal", "debt", "bases", "worker.json")
LINE_FILES = ("branch", "derived")
MANY_LOOSE = 20_000
"""More objects than this in files of their own slow git down; it packs them itself at 6,700."""

_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_BRANCH = re.compile(r"(?!.*(?:\.\.|//|@\{|\.lock$))[^\x00-\x20~^:?*\[\\\x7f]+")
_LOCK_FOLDERS = ("", "objects", "objects/info", "objects/info/commit-graphs", "objects/pack")
_GC_PATIENCE = 5.0
"""The file of a housekeeping names a process and is held open by none."""
_FSCK_SECONDS = 60
_LARGE_INDEX = 1 << 23


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong: `about` groups them, `state` is fail, warn or note."""

    about: str
    state: str
    message: str
    hint: str = MEND
    place: str = ""
    """The file that is to be set aside, where that is the repair."""


def folder_of(root: str) -> str | None:
    """The git folder of a work tree, also where its HEAD is gone; None where there is none at all."""
    dot = os.path.join(root, ".git")
    if os.path.isdir(dot):
        return dot if os.path.isdir(os.path.join(dot, "objects")) else None
    text = read_text(dot, 8192) or ""
    if not text.startswith("gitdir: "):
        return None
    target = os.path.normpath(os.path.join(root, text[len("gitdir: ") :].rstrip("\r\n")))
    return target if os.path.isdir(target) else None


def examine(root: str) -> Iterator[Finding]:
    """Everything wrong in the git folder of the brain at `root`."""
    folder = folder_of(root)
    if folder is None:
        hint = "Clone it anew with `brain join URL`; keep this folder until nothing in it is missing there."
        yield Finding("git", "fail", f"{root} has no git folder that holds objects.", hint)
        return
    yield from states(folder)
    yield from locks(root, folder)
    found = list(head(folder))
    found += () if found else settings(root)
    yield from found
    if any(one.state == "fail" for one in found):
        return  # git answers nothing here
    yield from refs(root)
    yield from staged(root)
    yield from objects(root)


def states(folder: str) -> Iterator[Finding]:
    """Our own files of this clone that are not what we wrote."""
    own = os.path.join(folder, FOLDER)
    if os.path.lexists(own) and not os.path.isdir(own):
        yield Finding("state", "fail", f"{own} is no folder.")
        return
    for name in (*LOCK_FILES, *JSON_FILES, *LINE_FILES):
        place = os.path.join(own, name)
        if os.path.lexists(place) and not stat.S_ISREG(os.lstat(place).st_mode):
            yield Finding("state", "fail", f"{place} is no file.", place=place)
        elif (cause := _unreadable(place, name)) is not None:
            state = "fail" if name == "branch" else "warn"
            yield Finding("state", state, f"{place} {cause}.", place=place)


def _unreadable(place: str, name: str) -> str | None:
    text = read_text(place)
    if text is None or name in LOCK_FILES:
        return None
    if name in JSON_FILES:
        try:
            return None if isinstance(json.loads(text), dict) else "holds something else than it should"
        except ValueError:
            return "cannot be read"
    good = _BRANCH if name == "branch" else _SHA
    return None if good.fullmatch(text.strip()) else "cannot be read"


def locks(root: str, folder: str) -> Iterator[Finding]:
    """Locks that a git process holds, or left behind."""
    for place in lock_files(folder):
        try:
            age = max(0, int(time.time() - os.lstat(place).st_mtime))
        except OSError:
            continue
        if is_abandoned(place, age, root, patience_of(place)):
            hint = "`brain doctor --fix` removes it."
            yield Finding("locks", "warn", f"git's lock {place} was left behind {age} s ago.", hint)
        else:
            hint = "If no git process runs in this clone, remove that file."
            yield Finding("locks", "warn", f"git's lock {place} is {age} s old.", hint)


def patience_of(place: str) -> float:
    """Seconds before a lock without an owner is taken for left behind where a person has the clone looked at."""
    return _GC_PATIENCE if place.endswith("gc.pid") else 0.0


def lock_files(folder: str) -> list[str]:
    """Every lock of git's in a git folder."""
    shared = common_dir(folder)
    found: list[str] = []
    for top in dict.fromkeys((folder, *(os.path.join(shared, inner).rstrip(os.sep) for inner in _LOCK_FOLDERS))):
        with contextlib.suppress(OSError):
            found += [os.path.join(top, name) for name in sorted(os.listdir(top)) if name.endswith((".lock", "gc.pid"))]
    for place, _, names in os.walk(os.path.join(shared, "refs")):
        found += [os.path.join(place, name) for name in sorted(names) if name.endswith(".lock")]
    return found


def head(folder: str) -> Iterator[Finding]:
    """Whether HEAD can be read, and a branch is recorded that there is."""
    text = (read_text(os.path.join(folder, "HEAD"), 1024) or "").strip()
    name = text.removeprefix("ref: refs/heads/")
    if not (_SHA.fullmatch(text) or (text.startswith("ref: refs/heads/") and _BRANCH.fullmatch(name))):
        yield Finding("git", "fail", f"{os.path.join(folder, 'HEAD')} is missing or cannot be read.")


def settings(root: str) -> Iterator[Finding]:
    """Whether git takes the repository's own settings, and we the repository."""
    git = Git(root)
    place = os.path.join(git.common_dir, "config")
    if is_blank(place):
        yield Finding("git", "fail", f"{place} is {'empty' if os.path.lexists(place) else 'missing'}.")
        return
    try:
        answers = git.text("rev-parse", "--is-bare-repository", "--is-shallow-repository").split("\n")
    except BrainError as error:
        yield Finding(
            "git", "fail", f"git does not work with {place}: {error.message}", error.hint or "Mend that file."
        )
        return
    if answers[0] == "true":
        hint = f"If this folder holds notes: `{git_at(root)} config core.bare false`."
        yield Finding("git", "fail", f"{root} is a bare repository: it has no files.", hint)
    if missing := lacking(git):
        yield Finding("git", "warn", f"{place} lacks settings that a brain needs: {', '.join(missing)}.")
    if answers[1:] == ["true"]:
        hint = f"It works; `{git_at(root)} fetch --unshallow` brings the older history."
        yield Finding("git", "note", "This clone is shallow: older versions of notes are not here.", hint)


def is_blank(place: str) -> bool:
    """Whether a file that should say something holds nothing but blanks or zeros, as after a power cut."""
    text = read_text(place)
    return text is None or not text.strip("\0 \t\r\n")


def recorded_branch(git: Git) -> str | None:
    """The brain's branch as it is recorded, else the one that HEAD names; None where neither can be read."""
    own = (read_text(os.path.join(git.git_dir, FOLDER, "branch"), 1024) or "").strip()
    text = (read_text(os.path.join(git.git_dir, "HEAD"), 1024) or "").strip()
    name = own or text.removeprefix("ref: refs/heads/")
    return name if _BRANCH.fullmatch(name) and not _SHA.fullmatch(name) else None


def refs(root: str) -> Iterator[Finding]:
    """Refs that cannot be read, or that point to nothing."""
    git = Git(root)
    branch = recorded_branch(git)
    broken = broken_refs(git)
    for ref in broken:
        what = (
            "is missing, though it was there"
            if ref == f"refs/heads/{branch}" and not _is_there(git, ref)
            else "is broken"
        )
        yield Finding("git", "fail", f"{os.path.join(git.common_dir, ref)} {what}.")
    own = (read_text(os.path.join(git.git_dir, FOLDER, "branch"), 1024) or "").strip()
    if own and branch == own and f"refs/heads/{own}" not in broken and git.resolve(f"refs/heads/{own}") is None:
        text = (read_text(os.path.join(git.git_dir, "HEAD"), 1024) or "").strip()
        if text.startswith("ref: ") and text != f"ref: refs/heads/{own}" and git.resolve("HEAD"):
            place = os.path.join(git.git_dir, FOLDER, "branch")
            yield Finding("state", "fail", f"{place} names the branch {one_line(own, 80)}, and there is none.")


def _is_there(git: Git, ref: str) -> bool:
    return os.path.lexists(os.path.join(git.common_dir, ref))


def broken_refs(git: Git) -> list[str]:
    """Full names of the refs that have a file which is no ref or points to nothing, and of the brain's branch where
    its history of moves is there and it is not."""
    found: list[str] = []
    pointed: dict[str, str] = {}
    top = git.common_dir
    for place, _, names in os.walk(os.path.join(top, "refs")):
        for name in names:
            ref = os.path.relpath(os.path.join(place, name), top).replace(os.sep, "/")
            text = (read_text(os.path.join(place, name), 1024) or "").strip()
            if ref.endswith(".lock") or text.startswith("ref: "):
                continue
            if _SHA.fullmatch(text):
                pointed[ref] = text
            else:
                found.append(ref)
    with Objects(git) as objects_:
        for ref, sha in pointed.items():
            if not _readable(objects_, sha):
                found.append(ref)
    branch = recorded_branch(git)
    main = f"refs/heads/{branch}"
    if branch and main not in pointed and main not in found and reflog(git, main) and git.resolve(main) is None:
        found.append(main)
    return sorted(found)


def _readable(objects_: Objects, sha: str) -> bool:
    return objects_.info(sha) is not None


def reflog(git: Git, ref: str) -> list[str]:
    """Where a ref has been, newest first."""
    text = read_text(os.path.join(git.common_dir, "logs", *ref.split("/")), 1 << 26) or ""
    names = [line.split(" ", 2)[1] for line in text.splitlines() if line.count(" ") >= 2]
    return [name for name in dict.fromkeys(reversed(names)) if _SHA.fullmatch(name) and name.strip("0")]


def staged(root: str) -> Iterator[Finding]:
    """Whether git's index is there and can be read."""
    git = Git(root)
    place = os.path.join(git.git_dir, "index")
    if not os.path.exists(place):
        if git.resolve("HEAD") is not None:
            yield Finding("git", "warn", f"git's index {place} is missing.", INDEX_MEND)
        return
    if not index_is_sound(git):
        yield Finding("git", "warn", f"git's index {place} cannot be read.", INDEX_MEND)


def index_is_sound(git: Git) -> bool:
    """Whether git's index has its checksum and git can list it; a large one is taken at its first word."""
    try:
        with open(os.path.join(git.git_dir, "index"), "rb") as file:
            data = file.read(_LARGE_INDEX + 1)
    except OSError:
        return False
    if not data.startswith(b"DIRC"):
        return False
    whole = len(data) > _LARGE_INDEX or any(_ends_in_its_sum(data, name) for name in ("sha1", "sha256"))
    return whole and git.call("ls-files", "--stage", "-z").code == 0


def _ends_in_its_sum(data: bytes, name: str) -> bool:
    width = hashlib.new(name, usedforsecurity=False).digest_size
    found = hashlib.new(name, data[:-width], usedforsecurity=False).digest()
    return data[-width:] in (found, bytes(width))


def objects(root: str) -> Iterator[Finding]:
    """Whether every object that a ref needs is there and sound; packs without an index; what slows git down."""
    git = Git(root)
    packs = os.path.join(git.common_dir, "objects", "pack")
    for name in unindexed(packs):
        yield Finding("git", "fail", f"The pack {os.path.join(packs, name)} has no index.")
    complaints = fsck(git)
    if complaints is None:
        yield Finding(
            "git", "note", "The objects were not looked at: it takes too long.", f"`{git_at(root)} fsck` looks at all."
        )
    elif complaints:
        more = f" (and {len(complaints) - 1} more)" if len(complaints) > 1 else ""
        yield Finding("git", "fail", f"The repository is damaged: {complaints[0]}{more}.")
    if (loose := loose_objects(git)) > MANY_LOOSE:
        yield Finding(
            "git",
            "note",
            f"{loose} objects lie in files of their own, which slows git down.",
            "`brain doctor --fix` packs them.",
        )


def unindexed(packs: str) -> list[str]:
    """The packs in a folder that git does not see."""
    names = set(os.listdir(packs)) if os.path.isdir(packs) else set()
    return sorted(name for name in names if name.endswith(".pack") and f"{name[:-5]}.idx" not in names)


def loose_objects(git: Git) -> int:
    """How many objects have a file of their own, told from one folder of 256 as git does."""
    place = os.path.join(git.common_dir, "objects", "17")
    return 256 * len(os.listdir(place)) if os.path.isdir(place) else 0


def fsck(git: Git) -> list[str] | None:
    """What git's own check complains of, one line each; None where it takes too long."""
    words = ("fsck", "--no-dangling", "--no-progress", "--no-reflogs")
    # A broken index ends git's look at the objects before it begins; it is named by itself.
    env = None if index_is_sound(git) else {"GIT_INDEX_FILE": os.path.join(git.git_dir, NO_INDEX)}
    try:
        done = git.call(*words, timeout=_FSCK_SECONDS, env=env)
    except Damaged:
        raise
    except BrainError:
        return None
    lines = [one_line(line, 200) for line in (done.out.decode("utf-8", "replace") + done.err).splitlines() if line]
    wrong = [line for line in lines if line.startswith(("missing", "error", "fatal", "broken", "corrupt"))]
    if not wrong and done.code:
        wrong = lines or [f"git fsck ends with {done.code}"]
    return [line for line in wrong if not line.startswith("error: bad index file")]
