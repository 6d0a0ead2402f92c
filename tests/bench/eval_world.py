"""The brains and the repositories in which the situations of the relevance evaluation take place: real ones, made new.

The notes come from corpora that are no part of the project, below `COMMONWEALTH_SHARED`; `situations/brains.yaml` says
which, and what people have set in their fields since. A brain is filled by the product's own import, then edited as a
person would; a repository is a git repository with branches and changed files.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import os
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from commonwealth.flows import brains, importing, indexing, setup
from commonwealth.model import Note, Provenance, same_repository
from commonwealth.notes import codec
from commonwealth.repo.project import normalise_remote
from tests.bench.eval_situations import Place, Situation, places, recipes

NOW = "2026-11-30T12:00:00Z"
SHARED = Path(os.environ.get("COMMONWEALTH_SHARED", Path(__file__).resolve().parents[3] / "shared"))
_CREATED = "2026-06-01T09:00:00Z"
_PATH = re.compile(r"\b(?:[\w.-]+/)+[\w.-]+\.(?:py|sh|js|md)\b")
_SENTENCE = re.compile(r"(?<=[\w)])[.:;](?=\s)")
_REPOSITORY = "acme/shop-platform"
_FILES = 8


@dataclass(frozen=True, slots=True)
class Shelf:
    """One brain, and its notes by id."""

    root: Path
    notes: Mapping[str, Note]


@dataclass(slots=True)
class World:
    """The brains, which note a name of a situation means, and the repositories as they are made."""

    folder: Path
    shelves: dict[str, Shelf] = field(default_factory=dict)
    names: dict[str, dict[str, str]] = field(default_factory=dict)
    """By group the id of each note, by the name of what it was made from."""

    places: Mapping[str, Place] = field(default_factory=places)
    files: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _made: dict[tuple[object, ...], Path] = field(default_factory=dict)

    def ids(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """The ids that these names mean. Raises ValueError for a name that means no note, or several."""
        return tuple(dict.fromkeys(itertools.chain.from_iterable(map(self._meant, names))))

    def _meant(self, name: str) -> tuple[str, ...]:
        if name.startswith("@"):
            return self.ids(tuple(recipes()["everybody"][name[1:]]))
        group, _, part = name.partition(":")
        known = self.names[group]
        if part in known:
            return (known[part],)
        found = [id_ for stem, id_ in known.items() if part in stem]
        if len(found) != 1:
            raise ValueError(f"{name} means {len(found)} notes")
        return (found[0],)

    def named(self, id_: str) -> str:
        """A short name for an id."""
        for group, known in self.names.items():
            for name, other in known.items():
                if other == id_:
                    return f"{group}:{name[:40]}"
        return id_

    def note(self, id_: str) -> tuple[str, Note] | None:
        """The brain that holds an id, and the note; None where no brain does."""
        return next(((name, shelf.notes[id_]) for name, shelf in self.shelves.items() if id_ in shelf.notes), None)

    def repository(self, one: Situation) -> Path:
        """A work tree in the state of the situation; equal states share one, as nothing writes there."""
        state = (one.at, one.branch, one.committed, one.changed)
        if state not in self._made:
            self._made[state] = self._repository(one, self.folder / "code" / f"{len(self._made):03d}-{one.at}")
        return self._made[state]

    def _repository(self, one: Situation, folder: Path) -> Path:
        place = self.places[one.at]
        folder.mkdir(parents=True)
        git(folder, "init", "-q", "-b", "main")
        git(folder, "remote", "add", "origin", place.origin)
        for path in {"README.md", *self.files.get(one.at, ())}:
            write(folder / path, "as it was\n")
        if one.folder:
            (folder / one.folder).mkdir(parents=True, exist_ok=True)
        commit(folder, "Start")
        git(folder, "update-ref", "refs/remotes/origin/main", "HEAD")
        for branch in {*place.branches, one.branch} - {"main"}:
            git(folder, "switch", "-q", "-c", branch, "main")
            write(folder / "CHANGES.txt", f"{branch}\n")
            for path in one.committed if branch == one.branch else ():
                write(folder / path, "as the branch has it\n")
            commit(folder, f"Work on {branch}")
        git(folder, "switch", "-q", one.branch)
        for path in one.changed:
            write(folder / path, "as it is being changed\n")
        return folder

    def is_of(self, note: Note, at: str) -> bool:
        """Whether a note may be told in the repository of a place: it is about that, or about none."""
        own = note.repository or note.provenance.repository
        return own is None or same_repository(own, normalise_remote(self.places[at].origin))


def git(folder: Path, *words: str) -> str:
    """Plain git, as a person would run it."""
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, encoding="utf-8").stdout


def environment(folder: Path) -> dict[str, str]:
    """Variables that give a process a home below `folder`, with a person in it, and stop its clock."""
    home = folder / "home"
    person = "[user]\n\tname = Alice\n\temail = alice@example.com\n[init]\n\tdefaultBranch = main\n"
    write(home / ".gitconfig", person)
    names = {"HOME": str(home), "COMMONWEALTH_HOME": str(home / ".commonwealth"), "COMMONWEALTH_NOW": NOW}
    return names | {"GIT_CONFIG_NOSYSTEM": "1"}


def write(path: Path, text: str) -> None:
    """Write a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def commit(folder: Path, message: str) -> None:
    """Commit everything, also where nothing has changed."""
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", message)


def build(folder: Path, situations: Iterable[Situation], given: Mapping[str, Any] | None = None) -> World:
    """Make every brain of a recipe (`brains.yaml`), with the rules that lead to it from its repositories, in the home
    that the environment names."""
    world = World(folder)
    given = given or recipes()
    for name, parts in given["brains"].items():
        root = folder / "brains" / name
        brain = setup.init(root, name=name, remote=None, cwd=str(folder), now=NOW).brain
        for part in parts:
            own = part["kind"] == "written"
            world.names[part["group"]] = _write_own(brain, given["written"]) if own else _fill(brain, part)
        _mark(brain, world, {group: given["marks"].get(group, {}) for group in world.names})
        commit(root, "Notes as people have them")
        indexing.rebuild(brain)
        world.shelves[name] = Shelf(root, {note.id: note for _, note, _ in _notes(brain)})
    for place in world.places.values():
        if place.brain in world.shelves:
            setup.add_rule(place.origin, str(folder / "brains" / place.brain))
    for one in situations:
        world.files[one.at] = (*world.files.get(one.at, ()), *one.files)
    return world


def _notes(brain: brains.Brain) -> Iterator[tuple[Path, Note, str]]:
    """Every note of a brain as it lies there, with its text."""
    for kind, folder in (("memory", "memory"), ("decision", "decisions"), ("work-state", "work-state")):
        for path in sorted((brain.root / folder).rglob("*.md")):
            if path.name != "INDEX.md":
                text = path.read_text(encoding="utf-8")
                yield path, codec.parse(text, path.relative_to(brain.root).as_posix(), kind)[0], text


def _fill(brain: brains.Brain, part: Mapping[str, Any]) -> dict[str, str]:
    """Bring in one corpus; the ids of its notes by the name of what each was made from."""
    before = {note.id for _, note, _ in _notes(brain)}
    _KINDS[part["kind"]](brain, part)
    found: dict[str, str] = {}
    for path, note, text in _notes(brain):
        if note.id in before:
            continue
        if part.get("repository"):
            _rewrite(path, note, replace(note, repository=part["repository"]), text)
        source = note.source.path.rpartition("/")[2] if note.source else str(note.extra.get("issue", note.id))
        found[source.removesuffix(".md")] = note.id
    return found


def _import(brain: brains.Brain, part: Mapping[str, Any]) -> None:
    importing.import_folder(brain, SHARED / "corpora" / part["corpus"], kind=part["kind"], now=NOW)


def _closed_issues(brain: brains.Brain, part: Mapping[str, Any]) -> None:
    """A note for each issue that was closed with a reason worth the name; its first sentence is the title."""
    seen: set[str] = set()
    for line in (SHARED / "corpora" / part["corpus"]).read_text(encoding="utf-8").splitlines():
        event = json.loads(line)
        issue, reason = event["issue_id"].partition("-")[2], event.get("extra", {}).get("reason") or ""
        if len(reason) < 180 or issue in seen:
            continue
        seen.add(issue)
        first, _, _ = reason.removeprefix("Completed: ").removeprefix("Completed. ").partition("\n")
        title = _SENTENCE.split(first, maxsplit=1)[0][:120].strip()
        made = Note(
            f"{event['created_at'][:10]}-closed-{issue.replace('.', '-')}", "memory", title, f"{reason}\n",
            created_at=f"{event['created_at'][:19]}Z", source=None,
            provenance=Provenance(human=event["actor"], issue=event["issue_id"], files=_files_in(reason)),
        )  # fmt: skip
        _add(brain, replace(made, extra={"issue": issue}))


def _files_in(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_PATH.findall(text)))[:_FILES]


def _generated(brain: brains.Brain, part: Mapping[str, Any]) -> None:
    place = SHARED / "bench" / "make_brain.py"
    spec = importlib.util.spec_from_file_location("make_brain", place)
    assert spec is not None
    assert spec.loader is not None
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    for path, text in maker.notes(part["notes"], 1, "monthly"):
        write(brain.root / path, text)


_KINDS: Mapping[str, Callable[[brains.Brain, Mapping[str, Any]], None]] = {
    "markdown": _import,
    "adr": _import,
    "closed-issues": _closed_issues,
    "generated": _generated,
}


def _write_own(brain: brains.Brain, given: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """The notes that are written down with the situations."""
    usual = {"status": "confirmed", "confidence": "high", "created_at": _CREATED, "author": "Dana"}
    ids = {name: f"2026-06-01-{name}-shop0000" for name in given}
    for name, said in given.items():
        values = {"repository": _REPOSITORY, **usual, **said}
        kind = values.pop("kind", "memory")
        if kind == "work-state":
            values |= {"author": said["owner"], "created_at": said["started_at"], "updated_at": said["started_at"]}
        _add(brain, _with(Note(ids[name], kind, values.pop("title")), values, lambda key: ids[key.partition(":")[2]]))
    return ids


def _add(brain: brains.Brain, note: Note) -> None:
    folder = {"memory": "memory", "decision": "decisions", "work-state": "work-state"}[note.kind]
    write(brain.root / folder / (note.created_at or NOW)[:7] / f"{note.id}.md", codec.render(note))


def _mark(brain: brains.Brain, world: World, marks: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> None:
    """Set the fields that `marks` names, as the people of the notes would have."""
    known = {note.id: (path, note, text) for path, note, text in _notes(brain)}
    for group, of_group in marks.items():
        for name, values in of_group.items():
            (id_,) = world.ids((f"{group}:{name}",))
            if id_ not in known:
                continue
            path, note, text = known[id_]
            made = _with(note, values, lambda key: world.ids((key,))[0])
            if made.kind == note.kind:
                _rewrite(path, note, made, text)
            else:
                path.unlink()
                _add(brain, made)


def _with(note: Note, values: Mapping[str, Any], id_of: Callable[[str], str]) -> Note:
    """The note with these fields; `files` go to its provenance, those of a work record are `work_files`."""
    said = dict(values)
    origin = replace(note.provenance, human=said.get("author", "Dana"), files=tuple(said.pop("files", ())))
    if said.get("type") == "decision":
        said["kind"] = "decision"
    if "superseded_by" in said:
        said["superseded_by"] = id_of(said["superseded_by"])
    if "work_files" in said:
        said["files"] = said.pop("work_files")
    lists = {key: tuple(value) for key, value in said.items() if isinstance(value, list)}
    return replace(note, provenance=origin, **(said | lists))


def _rewrite(path: Path, old: Note, new: Note, text: str) -> None:
    path.write_text(codec.edit(text, codec.changes(old, new), path=path.name), encoding="utf-8")
