"""Two histories as one tree, in the object database: no file of the work tree is read or written.

By path: what each side changed since the merge base, both united. A delete with an add of the same file name
elsewhere is a move, as the file name is the note's id. A note that both changed goes through the note-aware
merge; derived files take no part, they are made anew from the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from commonwealth.errors import BadNote, Refused
from commonwealth.repo.content import Content
from commonwealth.repo.git import Git, fields
from commonwealth.repo.objects import Objects
from commonwealth.repo.store import REGULAR, Delta, blob, differences, scratch_files, store_blobs
from commonwealth.repo.tree import Entry, edit_tree

Side = Mapping[str, Delta]
"""What one side changed since one merge base."""


@dataclass(frozen=True, slots=True)
class Integration:
    """The united tree (derived files still those of `theirs`), and what people have to know about it."""

    tree: str
    pulled: frozenset[str] = frozenset()
    """Paths that the other side changed."""
    conflicts: tuple[str, ...] = ()
    """Files that keep a version which could not be united with the other."""
    warnings: tuple[str, ...] = ()


@dataclass(slots=True)
class _Union:
    """The work on one union: `entries` is what differs from the tree of `theirs`."""

    content: Content
    objects: Objects
    git: Git
    entries: dict[str, Entry | None] = field(default_factory=dict)
    blobs: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    siblings: dict[str, bytes] = field(default_factory=dict)
    conflicts: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def merge_bases(git: Git, ours: str, theirs: str) -> tuple[str, ...]:
    """The best common ancestors; none for histories that have nothing in common."""
    done = git.call("merge-base", "--all", ours, theirs)
    if done.code > 1 or "Could not read" in done.err:  # none, because of a commit that could not be read
        raise git.failure(done)
    return tuple(sorted(done.out.decode("ascii").split()))


def integrate(git: Git, bases: Sequence[str], ours: str, theirs: str, content: Content) -> Integration:
    """Unite two commits. Raises Refused where they have no history in common.

    With several bases a side counts as unchanged only where it equals every one of them.
    """
    if not bases:
        raise Refused("The two histories have nothing in common.")
    with Objects(git) as objects:
        left = [without_made(differences(git, base, ours), content, objects) for base in bases]
        right = [without_made(differences(git, base, theirs), content, objects) for base in bases]
        union = _Union(content, objects, git)
        _unite(union, left, right)
        _place_siblings(union, ours, theirs)
        _part_files_from_folders(union, theirs)
        names = store_blobs(git, [data for _, data in union.blobs.values()])
        for (path, (mode, _)), name in zip(union.blobs.items(), names, strict=True):
            union.entries[path] = (mode, name)
    tree = edit_tree(git, theirs, union.entries)
    pulled = frozenset(path for side in right for path in side)
    return Integration(tree, pulled, tuple(sorted(union.conflicts)), tuple(union.warnings))


def _place_siblings(union: _Union, ours: str, theirs: str) -> None:
    """Write each sibling that is not there yet.

    One that is there was made from the same conflict, and may have been edited since: then its path had these bytes
    once. Any other file at its path is somebody else's, and the sibling stands beside it.
    """
    for path, data in union.siblings.items():
        (name,) = store_blobs(union.git, [data])
        there = union.entries.get(path) or _file_at(union, theirs, path)
        if path not in union.blobs and (there is None or there[1] == name):
            union.blobs[path] = (REGULAR[0], data)
        elif not _had(union.git, (ours, theirs), path, name):
            stem, _, ending = path.rpartition(".")
            beside = f"{stem}.{name[:8]}.{ending}"
            union.blobs[beside] = (REGULAR[0], data)
            union.conflicts[union.conflicts.index(path)] = beside
            union.warnings.append(f"{path} was there before: the version that belongs there is {beside}.")


def _had(git: Git, commits: Sequence[str], path: str, name: str) -> bool:
    """Whether a path held this blob at any commit of these histories."""
    command = ("log", "-1", "-m", "--format=%H", f"--find-object={name}", *commits, "--", path)
    return bool(git.run(*command).strip())


def without_made(deltas: Mapping[str, Delta], content: Content, objects: Objects) -> dict[str, Delta]:
    """The changes of what people write: a derived file that we made counts as none."""
    found: dict[str, Delta] = {}
    for path, delta in deltas.items():
        old, new = delta.old, delta.new
        if content.is_derived(path):
            old, new = _by_hand(old, content, objects), _by_hand(new, content, objects)
        if old != new:
            found[path] = Delta(old, new)
    return found


def _by_hand(entry: Entry | None, content: Content, objects: Objects) -> Entry | None:
    if entry is None or entry[0] not in REGULAR or content.is_made(blob(objects, entry) or b""):
        return None
    return entry


def _unite(union: _Union, left: Sequence[Side], right: Sequence[Side]) -> None:
    paths = {path for side in (*left, *right) for path in side}
    ours, theirs = _reader(left, right), _reader(right, left)
    done: set[str] = set()
    if len(left) == 1:
        done = _unite_moves(union, left[0], right[0])
    for path in sorted(paths - done):
        mine, other = ours(path), theirs(path)
        if not any(path in side for side in left) or mine == other:
            continue
        if not any(path in side for side in right):
            union.entries[path] = mine
        elif mine is None or other is None:
            union.entries[path] = mine or other
            union.warnings.append(f"{path} was deleted on one side and changed on the other: the change stays.")
        else:
            found = [_base(path, one, two, mine) for one, two in zip(left, right, strict=True)]
            _merge(union, path, found, mine, other)


def _reader(side: Sequence[Side], other: Sequence[Side]) -> Callable[[str], Entry | None]:
    """What a side has at a path that either changed: its own change, else what the base had."""

    def at(path: str) -> Entry | None:
        for changes in side:
            if path in changes:
                return changes[path].new
        for changes in other:
            if path in changes:
                return changes[path].old
        return None

    return at


def _base(path: str, left: Side, right: Side, same: Entry | None) -> Entry | None:
    """What one base had at a path; where neither side changed it since, what they both have."""
    for changes in (left, right):
        if path in changes:
            return changes[path].old
    return same


def _unite_moves(union: _Union, left: Side, right: Side) -> set[str]:
    """Moved notes that the other side edited or moved too: one file again, at one place. The paths settled."""
    mine, other = _moves(left, union.content), _moves(right, union.content)
    done: set[str] = set()
    for path in sorted(mine.keys() | other.keys()):
        places = [_place(path, moves, side) for moves, side in ((mine, left), (other, right))]
        if None in places or path not in left or path not in right:
            continue  # one side deleted it or left it alone: the general rule does that
        here, there = (str(place) for place in places)
        target = min({here, there} - {path} or {path})
        if any(p in side for p, side in ((here, right), (there, left)) if p != path and here != there):
            continue  # the other side has a file of its own there
        note = any(union.content.owns(place) for place in (path, here, there))
        _merge(union, target, [left[path].old], left[here].new, right[there].new, note=note)
        for place in {path, here, there} - {target}:
            union.entries[place] = None
        done |= {path, here, there, target}
    return done


def _moves(side: Side, content: Content) -> dict[str, str]:
    """Old path → new path of notes whose file name went from one place to one other.

    One of the two has to be a note's place: a side that moves a kind's folder says so in a config that is not ours yet.
    """
    gone = _by_name(path for path, delta in side.items() if delta.new is None)
    come = _by_name(path for path, delta in side.items() if delta.old is None)
    found: dict[str, str] = {}
    for name in gone.keys() & come.keys():
        old, new = gone[name], come[name]
        for known in (content.owns, _is_any):  # among notes alone, then with places that are none yet
            one, other = [path for path in old if known(path)], [path for path in new if known(path)]
            if len(one) == len(other) == 1 and (content.owns(one[0]) or content.owns(other[0])):
                found[one[0]] = other[0]
                break
    return found


def _is_any(path: str) -> bool:
    return path.endswith(".md")


def _by_name(paths: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in paths:
        found.setdefault(path.rsplit("/", 1)[-1], []).append(path)
    return found


def _place(path: str, moves: Mapping[str, str], side: Side) -> str | None:
    """Where a side has the note of `path` now; None where it deleted it."""
    if path in moves:
        return moves[path]
    return path if path in side and side[path].new is not None else None


def _merge(
    union: _Union,
    path: str,
    bases: Sequence[Entry | None],
    mine: Entry | None,
    other: Entry | None,
    *,
    note: bool = False,
) -> None:
    """A file that both sides changed, each in its own way; `note`: one whose place is no note's here, and is one."""
    if mine is None or other is None or mine == other:
        union.entries[path] = mine or other
        return
    mode = _mode(bases[0], mine, other)
    regular = mine[0] in REGULAR and other[0] in REGULAR
    if mine[1] == other[1]:
        union.entries[path] = (mode, other[1])
        return
    if regular and (note or union.content.owns(path)):
        united = _merge_notes(union, path, bases, mine, other, mode)
    else:
        united = regular and _merge_lines(union, path, bases[0], mine, other, mode)
    if not united:
        _keep_both(union, path, mine, other)


def _mode(base: Entry | None, mine: Entry, other: Entry) -> str:
    if base is not None and base[0] in (mine[0], other[0]):
        return other[0] if base[0] == mine[0] else mine[0]
    return max(mine[0], other[0])


def _merge_notes(union: _Union, path: str, bases: Sequence[Entry | None], mine: Entry, other: Entry, mode: str) -> bool:
    """The note-aware merge; False where a version cannot be read as a note.

    Several bases that lead to different results leave it open who changed what: then none of them counts.
    """
    one, two = blob(union.objects, mine) or b"", blob(union.objects, other) or b""
    merge = union.content.merge
    try:
        olds = {entry[1] if entry else None: blob(union.objects, entry) for entry in bases}
        results = [merge(old, one, two, path) for old in olds.values()]
        same = all((result.data, result.siblings) == (results[0].data, results[0].siblings) for result in results)
        merged = results[0] if same else merge(None, one, two, path)
    except BadNote:
        return False
    union.blobs[path] = (mode, merged.data)
    union.siblings.update(merged.siblings)
    union.conflicts.extend(merged.siblings)
    union.warnings.extend(merged.warnings)
    return True


def _merge_lines(union: _Union, path: str, base: Entry | None, mine: Entry, other: Entry, mode: str) -> bool:
    """git's own line merge, for files that are no notes; False unless it is clean."""
    if base is None or base[0] not in REGULAR:
        return False
    versions = [blob(union.objects, entry) or b"" for entry in (mine, base, other)]
    with scratch_files(union.git, versions) as places:
        done = union.git.call("merge-file", "-p", "-q", *places)
    if done.code == 0 and union.content.check(path, done.out) is None:
        union.blobs[path] = (mode, done.out)
        return True
    return False


def _keep_both(union: _Union, path: str, mine: Entry, other: Entry) -> None:
    """The published version keeps the name, unless only ours can be read as a note; the other stands beside it
    under a name made from its content."""
    winner, rescued = other, mine
    if union.content.owns(path) and not _readable(union, path, other) and _readable(union, path, mine):
        winner, rescued = mine, other
    stem, dot, ending = path.rpartition(".")
    if not dot or "/" in ending or stem.endswith("/") or not stem:
        stem, dot, ending = path, "", ""
    rescue = f"{stem}.{rescued[1][:8]}{dot}{ending}"
    union.entries[path] = winner
    union.entries[rescue] = rescued
    union.conflicts.append(rescue)
    union.warnings.append(f"{path} was changed on both sides and could not be united: {rescue} is the other one.")


def _readable(union: _Union, path: str, entry: Entry) -> bool:
    return entry[0] in REGULAR and union.content.check(path, blob(union.objects, entry) or b"") is None


def _part_files_from_folders(union: _Union, theirs: str) -> None:
    """Where one side has a file and the other a folder of that name, the file steps aside."""
    present = {path for path, entry in union.entries.items() if entry is not None} | union.blobs.keys()
    parents = {
        "/".join(parts[:depth]) for path in present if (parts := path.split("/")) for depth in range(1, len(parts))
    }
    for parent in sorted(parents):
        entry = union.entries[parent] if parent in union.entries else _file_at(union, theirs, parent)
        if entry is not None:
            union.entries[parent] = None
            _step_aside(union, parent, entry)
    for path in sorted(present - parents):
        entry = union.entries.get(path)
        if entry is not None and _is_folder(union, theirs, path):
            del union.entries[path]
            _step_aside(union, path, entry)


def _step_aside(union: _Union, path: str, entry: Entry) -> None:
    aside = f"{path}.{entry[1][:8]}"
    union.entries[aside] = entry
    union.conflicts.append(aside)
    union.warnings.append(f"{path} is a folder on the other side: the file is {aside}.")


def _file_at(union: _Union, tree: str, path: str) -> Entry | None:
    info = union.objects.info(f"{tree}:{path}")
    return (REGULAR[0], info[0]) if info is not None and info[1] == "blob" else None


def _is_folder(union: _Union, theirs: str, path: str) -> bool:
    """Whether anything below `path` of theirs is left once our removals are applied."""
    info = union.objects.info(f"{theirs}:{path}")
    if info is None or info[1] != "tree":
        return False
    names = fields(union.git.run("ls-tree", "-r", "-z", "--name-only", info[0]))
    return any(union.entries.get(f"{path}/{name}", ("", "")) is not None for name in names)
