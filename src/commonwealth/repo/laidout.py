"""Which files git has laid out for an operation that is brought to its end, and which hold a person's words.

What git wrote itself goes back to HEAD's version, from where the move takes it. Whatever else lies in a file or was
staged is an edit, also where nobody committed it: it stays, or is kept under a private ref and named.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from commonwealth import atomic
from commonwealth.errors import BrainError
from commonwealth.faults import fault
from commonwealth.repo import markers, ownfolders, stranded, workfiles
from commonwealth.repo.common import git_at, read_text
from commonwealth.repo.content import Content
from commonwealth.repo.git import Git, fields
from commonwealth.repo.head import state_file
from commonwealth.repo.kept import keep_bytes
from commonwealth.repo.objects import Objects
from commonwealth.repo.store import REGULAR, blob, entries_at, matches
from commonwealth.repo.stranded import Stranded
from commonwealth.repo.tree import Entry

_PUT_BACK = "put-back"


@dataclass(frozen=True, slots=True)
class _Known:
    """What git may have laid out: `head` and `committed` are versions in commits, `made` what git made of them
    (AUTO_MERGE, the stages of its index), `index` what is staged."""

    head: Mapping[str, Entry]
    committed: Sequence[Mapping[str, Entry]]
    made: Mapping[str, Sequence[Entry]]
    index: Mapping[str, Entry]

    def is_kept(self, path: str, data: bytes) -> bool:
        """Whether a commit that stays has these bytes."""
        return any(matches(data, entries.get(path)) for entries in (self.head, *self.committed))

    def is_gits(self, path: str, data: bytes | None) -> bool:
        """Whether this is a version that git laid out, not counting HEAD's."""
        versions = [*(entries.get(path) for entries in self.committed), *self.made.get(path, ())]
        return any(matches(data, version) for version in versions)

    def is_staged_by_git(self, path: str) -> bool:
        """Whether git put another version than HEAD's into its index for this file."""
        entry = self.index.get(path)
        versions = [*(entries.get(path) for entries in self.committed), *self.made.get(path, ())]
        return entry != self.head.get(path) and entry in versions


def clear(git: Git, found: Stranded, sources: Sequence[str], content: Content, warnings: list[str]) -> list[str]:
    """Put files that git has laid out for its operation back to HEAD's version; the files that hold a decision.

    `sources` are the commits and trees that git may have laid them out from; the branch's tip, now and to be, last.

    A file that a person has changed since stays: as an edit on HEAD's version, or, where git had asked for a
    decision, as that decision; those are returned. What is put back and in no commit is kept under a private ref,
    and named in `warnings`. Which files are put back is written down first: one that is edited after a kill is an
    edit of HEAD's version and no decision about a version that nobody saw any more.
    """
    candidates, unmerged = _candidates(git, found.head, sources), stranded.unmerged(git)
    candidates |= unmerged.keys()
    lasting = [name for name in (stranded.autostash(git), *sources[-2:]) if name and git.resolve(name)]
    known = _known(git, found.head, sources, candidates, unmerged, lasting)
    resolved = stranded.resolved(git)
    before, back, settled = _put_back_before(git, found.head), dict[str, bytes | None](), list[str]()
    for path in sorted(candidates):
        try:
            current = workfiles.read(git.root, path)
        except BrainError:
            continue
        if matches(current, known.head.get(path)):
            continue
        marked = current is not None and path in unmerged and _is_undecided(git, current, unmerged[path])
        absent = current is None and path not in unmerged  # git unlinks a file before it writes it
        if absent or marked or known.is_gits(path, current):
            back[path] = current
        elif path in before:
            continue
        elif path in unmerged or path in resolved or known.is_staged_by_git(path) or content.is_derived(path):
            settled.append(path)
        elif found.what == "merge" and found.on_branch and known.index.get(path) != known.head.get(path):
            settled.append(path)  # what the person's own merge commit would have said
    if back:
        record = {"head": found.head, "paths": sorted(before | back.keys())}
        atomic.replace(state_file(git, _PUT_BACK), json.dumps(record).encode("utf-8"))
    with Objects(git) as objects:
        for path, current in back.items():
            warnings += _put_back(git, objects, path, current, known)
            fault("stranded-half")
    return settled


def _known(
    git: Git,
    head: str,
    sources: Sequence[str],
    paths: set[str],
    unmerged: Mapping[str, Mapping[int, Entry]],
    lasting: Sequence[str],
) -> _Known:
    made: dict[str, list[Entry]] = {path: list(stages.values()) for path, stages in unmerged.items()}
    committed = []
    for source in dict.fromkeys(sources):
        entries = entries_at(git, source, paths)
        if _stays(git, source, lasting):
            committed.append(entries)
            continue
        for path, entry in entries.items():  # a tree that git merged, or a commit that nothing names any more
            made.setdefault(path, []).append(entry)
    heads = {path: entry for path, entry in entries_at(git, head, paths).items() if not ownfolders.holds(path)}
    return _Known(heads, committed, made, stranded.staged(git, paths))


def _is_undecided(git: Git, current: bytes, stages: Mapping[int, Entry]) -> bool:
    if not markers.may_hold(current):
        return False
    with Objects(git) as objects:
        return markers.is_undecided(current, [blob(objects, entry) or b"" for entry in stages.values()])


def _stays(git: Git, name: str, lasting: Sequence[str]) -> bool:
    """Whether it is a commit that a ref reaches, or one of `lasting`, to which a ref is about to go."""
    commit = git.resolve(name)
    if commit is None:
        return False
    if any(git.holds("merge-base", "--is-ancestor", commit, tip) for tip in lasting):
        return True
    return bool(git.text("for-each-ref", "--count=1", f"--contains={commit}"))


def _candidates(git: Git, head: str, sources: Sequence[str]) -> set[str]:
    paths: set[str] = set()
    for source in dict.fromkeys(sources):
        if source != head:
            paths.update(fields(git.run("diff-tree", "-r", "-z", "--no-renames", "--name-only", head, source)))
    return paths


def _put_back(git: Git, objects: Objects, path: str, current: bytes | None, known: _Known) -> list[str]:
    """Give a file HEAD's version; what has to be said about it."""
    said: list[str] = []
    if current is not None and not known.is_kept(path, current):
        name = keep_bytes(git, current)
        if not known.is_gits(path, current):
            said.append(_told(git, path, name))
    elif current is None and not known.is_gits(path, None):
        said.append(f"{path} was missing and is back.")
    entry = known.head.get(path)
    if entry is not None:
        workfiles.replace(git.root, path, blob(objects, entry) or b"", current)
    elif current is not None:
        workfiles.remove(git.root, path, current)
    return said


def _told(git: Git, path: str, name: str) -> str:
    return f"{path}: what was there and in no commit is kept: `{git_at(git.root)} cat-file -p {name[:12]}` has it."


def keep_staged(git: Git, head: str, sources: Iterable[str] = ()) -> list[str]:
    """Keep what is staged in no commit and in no file, before the index is made anew; what was kept, in sentences.

    `sources` are commits and trees that git may have staged from."""
    listed = git.call("diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev", head)
    if listed.code:
        return []  # an index that cannot be read holds nothing that could be kept
    parts = fields(listed.out)
    staged: dict[str, Entry] = {}
    for meta, path in zip(parts[::2], parts[1::2], strict=True):
        _, mode, _, name, _ = meta.lstrip(":").split(" ")
        if mode in REGULAR and name.strip("0"):
            staged[path] = (mode, name)
    if staged:
        for source in dict.fromkeys(sources):
            known = entries_at(git, source, staged)
            staged = {path: entry for path, entry in staged.items() if known.get(path, ("", ""))[1] != entry[1]}
    said = []
    for path, entry in staged.items():
        with contextlib.suppress(BrainError):
            if matches(workfiles.read(git.root, path), entry):
                continue
        done = git.call("update-ref", f"refs/commonwealth/kept/{entry[1]}", entry[1])
        if done.code == 0:
            said.append(_told(git, path, entry[1]))
    return said


def _put_back_before(git: Git, head: str) -> frozenset[str]:
    """The files that a recovery which was killed has put back to their version in the commit `head`."""
    text = read_text(state_file(git, _PUT_BACK))
    try:
        record = json.loads(text) if text else {}
    except ValueError:
        return frozenset()
    return frozenset(map(str, record["paths"])) if record.get("head") == head else frozenset()


def forget(git: Git) -> None:
    """The files are moved: which ones were put back before means nothing any more."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(state_file(git, _PUT_BACK))
