"""The gate of a brain's CI: what is wrong with its files, each defect with its file and line.

It reads the files as they lie, tracked or not yet ignored, and changes nothing. With a base, only what differs from
there is judged, and every commit since then is looked through for secrets.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from commonwealth.config import CONFIG_PATH
from commonwealth.curate import dedupe, injection, secrets
from commonwealth.errors import BadNote, Refused
from commonwealth.flows import allowed, curating, leaks, looking
from commonwealth.flows.allowed import Allowed
from commonwealth.flows.brains import Brain
from commonwealth.flows.content import content_of
from commonwealth.model import Finding, Note
from commonwealth.notes import codec, naming
from commonwealth.repo import markers, ownfolders, workfiles
from commonwealth.repo.content import Content
from commonwealth.repo.git import Git, fields
from commonwealth.safetext import one_line

KINDS = ("schema", "secret", "injection", "duplicate", "link", "derived", "own-folder", "conflict-marker")

_NEAR_AT_MOST = 400
"""So many notes at most are compared with the ones most like them; of a larger brain, those that changed."""

_NEAR = 0.9
"""How much of a note another has to say in other words."""

_WIKILINK = re.compile(r"\[\[([^\[\]|#\n]{1,200})")


@dataclass(frozen=True, slots=True)
class Defect:
    """One thing that is wrong. `level` is error or warning; `line` is 0 where the whole file is meant."""

    kind: str
    path: str
    line: int
    message: str
    level: str = "error"


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check looked at and found, by path and line."""

    files: int
    defects: tuple[Defect, ...]


@dataclass(frozen=True, slots=True)
class _Files:
    """The files that are judged (`scope`), and what all of them hold."""

    brain: Brain
    content: Content
    data: Mapping[str, bytes]
    notes: Mapping[str, Note]
    scope: frozenset[str]
    also: tuple[Allowed, ...]


def check(brain: Brain, *, base: str | None = None, allow: Iterable[str] = (), now: str) -> Checked:
    """What is wrong with the files of `brain`.

    `allow` are pairs `NOTE:RULE` that a person has looked at: what a rule (or a whole kind) says of a note. Raises
    Refused for a `base` that git does not know.
    """
    git = Git(brain.root)
    content = content_of(brain)
    pairs = [tuple(pair.rsplit(":", 1)) for pair in allow]
    also = tuple(Allowed("said to the check", None, pair[0], pair[-1]) for pair in pairs if len(pair) == 2)
    since = _commit(git, base) if base else None
    paths = _paths(git, content)
    data, defects = _read(brain, paths)
    scope = frozenset(data) if since is None else frozenset(data) & _changed(git, since)
    notes, unreadable = _parse(content, data, scope)
    files = _Files(brain, content, data, notes, scope, also)
    defects += unreadable
    defects += _own_folders(git)
    for look in (_markers, _secrets, _injections, _ids, _links, _derived):
        defects += look(files)
    defects += _duplicates(files, now)
    if since is not None:
        defects += _range(git, files, since)
    silent = {(entry.note, entry.rule) for entry in also}
    left = {defect: None for defect in defects if (naming.stem(defect.path), defect.kind) not in silent}
    return Checked(len(scope), tuple(sorted(left, key=lambda one: (one.path, one.line, one.kind, one.message))))


def _commit(git: Git, base: str) -> str:
    """The commit that a branch or range begins at. A name that git could take for an option is refused."""
    found = git.call("rev-parse", "--verify", "--quiet", "--end-of-options", f"{base}^{{commit}}")
    if found.code:
        raise Refused(
            f"There is no commit {one_line(base, 80)} here.",
            hint="Name a commit or branch that is fetched: in CI, check out the whole history (`fetch-depth: 0`).",
        )
    name = found.out.decode("ascii").split()[-1]
    merged = git.call("merge-base", name, "HEAD")
    return merged.out.decode("ascii").split()[0] if merged.code == 0 else name


def _paths(git: Git, content: Content) -> list[str]:
    listed = fields(git.run("ls-files", "-z", "--cached", "--others", "--exclude-standard"))
    return sorted(path for path in set(listed) if content.owns(path) or content.is_derived(path) or path == CONFIG_PATH)


def _changed(git: Git, since: str) -> frozenset[str]:
    tracked = fields(git.run("diff", "--name-only", "-z", "--no-renames", since, "--"))
    return frozenset((*tracked, *fields(git.run("ls-files", "-z", "--others", "--exclude-standard"))))


def _read(brain: Brain, paths: Sequence[str]) -> tuple[dict[str, bytes], list[Defect]]:
    found: dict[str, bytes] = {}
    defects = []
    for path in paths:
        try:
            data = workfiles.read(str(brain.root), path)
        except (BadNote, Refused) as error:
            defects.append(Defect("schema", path, 0, getattr(error, "cause", error.message)))
            continue
        if data is not None:
            found[path] = data
    return found, defects


def _parse(content: Content, data: Mapping[str, bytes], scope: frozenset[str]) -> tuple[dict[str, Note], list[Defect]]:
    notes: dict[str, Note] = {}
    defects = []
    for path, raw in data.items():
        kind = content.owns(path)
        if kind is None:
            if path == CONFIG_PATH and path in scope and (cause := content.check(path, raw)):
                defects.append(Defect("schema", path, 0, cause))
            continue
        try:
            notes[path], doubts = codec.parse(codec.decode(raw, path), path, kind)
        except BadNote as error:
            if not markers.first_line(raw):
                defects.append(Defect("schema", path, error.line, error.cause))
            continue
        defects += [Defect("schema", path, doubt.line, doubt.cause, "warning") for doubt in doubts]
    return notes, [defect for defect in defects if defect.path in scope or defect.path == CONFIG_PATH]


def _own_folders(git: Git) -> Iterator[Defect]:
    tracked: dict[str, list[str]] = defaultdict(list)
    for path in fields(git.run("ls-files", "-z", "--cached")):
        if ownfolders.holds(path):
            tracked[path.partition("/")[0]].append(path)
    for folder, paths in tracked.items():
        came = ownfolders.since(git, paths[0])
        message = f"{folder}/ belongs to one clone and is tracked ({len(paths)} files{f', {came}' if came else ''})"
        yield Defect("own-folder", paths[0], 0, f"{message}: `git rm -r --cached {folder}`, then commit")


def _markers(files: _Files) -> Iterator[Defect]:
    for path in sorted(files.scope):
        if line := markers.first_line(files.data[path]):
            yield Defect("conflict-marker", path, line, "it holds git's conflict markers")


def _secrets(files: _Files) -> Iterator[Defect]:
    for path in sorted(files.scope):
        note = naming.stem(path)
        text = files.data[path].decode("utf-8", "replace")
        for finding in (*allowed.scan(text, "line", note=note, also=files.also), *_of_name(path, note, files.also)):
            line = int(finding.where.rpartition(" ")[2]) if finding.where.startswith("line, line ") else 0
            line = line or int(finding.where == "line")
            yield Defect("secret", secrets.mask(path), line, f"a secret ({finding.rule})")


def _of_name(path: str, note: str, also: tuple[Allowed, ...]) -> Iterator[Finding]:
    yield from allowed.scan(path, "name", note=note, also=also)


def _injections(files: _Files) -> Iterator[Defect]:
    for path, note in files.notes.items():
        if path in files.scope:
            for sign in injection.found(_texts(note)):
                line = _line_of(files.data[path], sign.passage)
                yield Defect("injection", path, line, f"{sign.where}: {sign.what}")


def _texts(note: Note) -> Iterator[tuple[str, str]]:
    """The fields of a note that a model reads, each with its name."""
    yield "title", note.title
    yield "summary", note.summary or ""
    yield "body", note.body
    for name, values in (("tags", note.tags), ("components", note.components), ("evidence", note.provenance.evidence)):
        yield from ((name, value) for value in values)


def _line_of(data: bytes, passage: str) -> int:
    """The line on which the first words of a passage stand; 0 where they are not found as they are."""
    words = passage.casefold().split()[:3]
    for number, line in enumerate(data.decode("utf-8", "replace").casefold().split("\n"), 1):
        if words and all(word in line for word in words):
            return number
    return 0


def _ids(files: _Files) -> Iterator[Defect]:
    """Two files with one id, or with one text."""
    ids: dict[str, list[str]] = defaultdict(list)
    texts: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for path, note in files.notes.items():
        ids[naming.id_key(note.id)].append(path)
        if note.kind in ("memory", "decision") and not note.conflict_of:
            texts[(note.title.casefold(), *note.body.split())].append(path)
    for what, found in (("the id", ids), ("the title and text", texts)):
        for paths in found.values():
            if len(paths) > 1 and files.scope.intersection(paths):
                at = max(path for path in paths if path in files.scope)
                other = next(path for path in paths if path != at)
                yield Defect("duplicate", at, 0, f"{what} is also that of {other}")


def _links(files: _Files) -> Iterator[Defect]:
    known = set()
    for path, note in files.notes.items():
        known |= {naming.id_key(note.id), naming.id_key(naming.stem(path)), note.title.casefold()}
        known.add(naming.id_key(note.id).rpartition("-")[2])
    for path, note in files.notes.items():
        if path not in files.scope:
            continue
        named = [("supersedes", target) for target in note.supersedes]
        named += [("relates", target) for target in note.relates]
        named += [(name, str(getattr(note, name))) for name in ("superseded_by", "conflict_of") if getattr(note, name)]
        named += [("link", target) for target in dict.fromkeys(_WIKILINK.findall(note.body))]
        for name, target in named:
            if naming.id_key(target.strip()) not in known and target.strip().casefold() not in known:
                line = _line_of(files.data[path], target)
                yield Defect("link", path, line, f"{name}: there is no note {one_line(target, 120)}", "warning")


class _Plain:
    """The notes alone, as a snapshot from which derived files are made."""

    def __init__(self, data: Mapping[str, bytes], content: Content) -> None:
        self.data = {path: raw for path, raw in data.items() if not content.is_derived(path)}
        self.folders: dict[str, dict[str, bool]] = defaultdict(dict)
        for path in self.data:
            parts = path.split("/")
            for depth in range(len(parts)):
                self.folders["/".join(parts[:depth])][parts[depth]] = depth < len(parts) - 1

    def read(self, path: str) -> bytes | None:
        """The bytes of a file."""
        return self.data.get(path)

    def list(self, folder: str) -> Mapping[str, bool]:
        """The names in a folder."""
        return self.folders.get(folder, {})

    def warn(self, text: str) -> None:
        """Nothing: what cannot be read is a defect of its own."""


def _derived(files: _Files) -> Iterator[Defect]:
    """A table that differs may only be behind, as in a request that holds one note: the next sync refreshes it."""
    made = files.content.derive(None, _Plain(files.data, files.content))
    for path in sorted(set(made) | {path for path in files.data if files.content.is_derived(path)}):
        there = files.data.get(path)
        if there is not None and path in files.scope and not files.content.is_made(there):
            yield Defect("derived", path, 0, "it stands in the place of a file that is made, and was written by hand")
        elif there != made.get(path):
            yield Defect("derived", path, 0, "it differs from what the notes say; `brain sync` refreshes it", "warning")


def _duplicates(files: _Files, now: str) -> Iterator[Defect]:
    """Notes that say what another says already, in other words."""
    asked = [path for path, note in files.notes.items() if path in files.scope and note.kind in ("memory", "decision")]
    if not 0 < len(asked) <= _NEAR_AT_MOST:
        return
    told: set[frozenset[str]] = set()
    with suppress(OSError), looking.look(files.brain) as found:
        for path in asked:
            note = files.notes[path]
            for other in curating.nearest(found.answers, curating.candidate_of(note), now):
                pair = frozenset((note.id, other.id))
                if (
                    len(pair) < 2
                    or pair in told
                    or other.id in (*note.supersedes, note.superseded_by, note.conflict_of)
                ):
                    continue
                if _repeats(note, other) or _repeats(other, note):
                    told.add(pair)
                    yield Defect("duplicate", path, 0, f"it says what {other.id} says already", "warning")


def _repeats(one: Note, other: Note) -> bool:
    found = dedupe.compare(one, other)
    return found.kind in (dedupe.SAME, dedupe.REWORDED, dedupe.MORE) or (
        found.kind == dedupe.NEAR and found.score >= _NEAR
    )


def _range(git: Git, files: _Files, since: str) -> Iterator[Defect]:
    """Secrets in any commit since the base, also in one that a later commit has put right."""
    for where, rule, fingerprint in leaks.between(git, files.content, since, "HEAD"):
        path, _, line = where.partition(", line ")
        finding = Finding(rule, where, fingerprint)
        if not any(entry.covers(finding, naming.stem(path)) for entry in files.also):
            number = int(line) if line.isdigit() else 0
            yield Defect("secret", path, number, f"a secret ({rule}) in a commit since {since[:12]}")
