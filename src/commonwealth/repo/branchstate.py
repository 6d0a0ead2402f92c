"""Whether the branch that a fact was found on has come into the default branch, as this clone of the code can tell.

Three questions to git answer for any number of branches; one more look at the changes themselves where a branch may
have been squashed. What is certain is kept by the tips that it follows from, so that asking again reads the refs only.
"""

from __future__ import annotations

import contextlib
import enum
import json
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from zlib import crc32

from commonwealth import atomic
from commonwealth.errors import BrainError
from commonwealth.repo import branchrefs, common, squashed
from commonwealth.repo.branchrefs import Refs
from commonwealth.repo.git import Git
from commonwealth.repo.project import Project

MOST_COMMITS = 20_000
"""So many commits that the default branch lacks are looked at; a repository with more of them is not judged."""

_OTHERS = 200
_KEPT = 400
_KEPT_BYTES = 1 << 20
_HEX = frozenset("0123456789abcdef")


class State(enum.Enum):
    """How a branch stands to the default branch. Only a fact of an `OPEN` one is untrue elsewhere.

    MERGED: its tip is in there. SQUASHED: its changes are, as one commit or each by itself. BEGUN: the commit in
    question is in there, the branch goes on. GONE: no such branch is left, and its commits are in no other.
    UNKNOWN: this clone cannot tell.
    """

    MERGED = "merged"
    SQUASHED = "squashed"
    BEGUN = "begun"
    OPEN = "open"
    GONE = "gone"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Told:
    """What became of a branch. `name` is what it is called now; `here` says that HEAD holds its commits."""

    state: State
    name: str
    here: bool = False


Asked = tuple[str, str | None]
"""A branch, and the commit that a fact of it was found at: full or short, None where that is not known."""


def merged(project: Project, branch: str, commit: str | None, *, seconds: float = 10.0) -> State:
    """How `branch` stands to the default branch of this code repository. Never raises: UNKNOWN where git cannot say."""
    return told(project, [(branch, commit)], seconds=seconds)[branch, commit].state


def told(project: Project, asked: Iterable[Asked], *, seconds: float, kept: str | None = None) -> dict[Asked, Told]:
    """The answer for each branch with its commit, within about `seconds`. `kept` is the file that answers are kept in.

    Never raises: what cannot be told is UNKNOWN.
    """
    wanted = list(dict.fromkeys(asked))
    if not wanted:
        return {}
    look = _Look(project, time.monotonic() + seconds)
    try:
        refs = branchrefs.read(look.git, look.left())
        default = branchrefs.default(look.git, refs, look.left())
        known = _kept(kept)
        marks = {one: _mark(project, refs, default, one) for one in wanted}
        answers = {one: found for one in wanted if (found := _unpacked(known.get(marks[one]))) is not None}
        fresh = look.judged(refs, default, [one for one in wanted if one not in answers])
    except BrainError:
        return {one: Told(State.UNKNOWN, one[0]) for one in wanted}
    _keep(kept, known, {marks[one]: found for one, found in fresh.items() if look.is_sure(one)})
    return answers | fresh


class _Look:
    """One look at a repository, with the time that is left for it."""

    def __init__(self, project: Project, end: float) -> None:
        self.git = Git(project.root)
        self.head = project.commit
        self._end = end
        self._unsure: set[Asked] = set()

    def left(self) -> float:
        return max(0.02, self._end - time.monotonic())

    def is_sure(self, one: Asked) -> bool:
        """Whether an answer stays right as long as the refs stay."""
        return one not in self._unsure

    def judged(self, refs: Refs, default: Sequence[str], asked: Sequence[Asked]) -> dict[Asked, Told]:
        if not default or not asked:
            self._unsure.update(asked)
            return {one: Told(State.UNKNOWN, one[0]) for one in asked}
        commits = self._commits([commit for _, commit in asked if commit])
        lost = any(not refs.of(branch) for branch, _ in asked)
        graph = self._graph(refs, default, asked, commits, lost=lost)
        if graph is None:
            return {one: Told(State.UNKNOWN, one[0]) for one in asked}
        return {one: self._judge(graph, one, commits.get(one[1] or "")) for one in asked}

    def _commits(self, names: Iterable[str]) -> dict[str, str]:
        """The commits that are here, in full, by the name that was given."""
        wanted = [name for name in dict.fromkeys(names) if 7 <= len(name) <= 64 and _HEX.issuperset(name)]
        if not wanted:
            return {}
        lines = "".join(f"{name}^{{commit}}\n" for name in wanted).encode()
        out = self.git.run("cat-file", "--batch-check", input=lines, timeout=self.left()).decode("utf-8", "replace")
        found = (line.split(" ") for line in out.splitlines())
        pairs = zip(wanted, found, strict=False)
        return {name: words[0] for name, words in pairs if len(words) == 3 and words[1] == "commit"}

    def _graph(
        self, refs: Refs, default: Sequence[str], asked: Iterable[Asked], commits: Mapping[str, str], *, lost: bool
    ) -> _Graph | None:
        """What the default branch lacks of HEAD, the branches and the commits; None where it is too much."""
        starts = [refs.tips[name] for branch, _ in asked for name in refs.of(branch)]
        others = list(refs.tips.items())[:_OTHERS] if lost else []
        starts += [*commits.values(), *(tip for _, tip in others), *([self.head] if self.head else [])]
        ends = [refs.tips[name] for name in default]
        lines = "".join(f"{name}\n" for name in dict.fromkeys([*starts, *(f"^{end}" for end in ends)])).encode()
        words = ("rev-list", "--parents", f"--max-count={MOST_COMMITS}", "--stdin")
        rows = self.git.run(*words, input=lines, timeout=self.left()).decode("ascii", "replace").splitlines()
        if len(rows) >= MOST_COMMITS:
            return None
        above: dict[str, list[str]] = {}
        for row in rows:
            commit, *parents = row.split(" ")
            above.setdefault(commit, [])
            for parent in parents:
                above.setdefault(parent, []).append(commit)
        missing = frozenset(row.partition(" ")[0] for row in rows)
        shallow = bool(common.read_text(os.path.join(self.git.common_dir, "shallow"), 64))
        return _Graph(refs, tuple(ends), missing, above, dict(others), shallow)

    def _judge(self, graph: _Graph, one: Asked, commit: str | None) -> Told:
        branch = one[0]
        names = graph.refs.of(branch)
        tips = {graph.refs.tips[name] for name in names}
        waiting = sorted(tips & graph.missing)
        if commit is not None and commit not in graph.missing:
            fresh = _is_fresh(self.git, names, commit) and tips == {commit}
            return Told(State.BEGUN if waiting or fresh else State.MERGED, branch)
        if not waiting and (tips or commit is None):
            return Told(State.MERGED if tips else State.UNKNOWN, branch)
        if any(self._is_squashed(graph, one, tip) for tip in waiting or [str(commit)]):
            return Told(State.SQUASHED, branch)
        return self._left(graph, one, {*waiting, *([commit] if commit else [])}, is_there=bool(tips))

    def _left(self, graph: _Graph, one: Asked, commits: set[str], *, is_there: bool) -> Told:
        """The answer for commits that the default branch lacks, of a branch that `is_there` or not."""
        branch = one[0]
        holders = graph.holders(commits)
        here = self.head in holders
        if graph.shallow:  # where history ends early, a merge may lie beyond
            self._unsure.add(one)
            return Told(State.UNKNOWN, branch, here)
        if is_there:
            return Told(State.OPEN, branch, here)
        other = next((name for name, tip in graph.others.items() if tip in holders), None)
        return Told(State.GONE, branch, here) if other is None else Told(State.OPEN, branchrefs.short(other), here)

    def _is_squashed(self, graph: _Graph, one: Asked, tip: str) -> bool:
        """A question that cannot be answered in time is answered no, and put again the next time."""
        try:
            return any(squashed.landing(self.git, end, tip, self._end) for end in graph.ends)
        except BrainError:
            self._unsure.add(one)
            return False


@dataclass(frozen=True, slots=True)
class _Graph:
    """The commits that the default branch (its tips are `ends`) lacks; `above` are the children of a commit."""

    refs: Refs
    ends: tuple[str, ...]
    missing: frozenset[str]
    above: Mapping[str, Sequence[str]]
    others: Mapping[str, str]
    shallow: bool

    def holders(self, commits: Iterable[str]) -> set[str]:
        """These commits and all that come after them."""
        found, left = set(commits), list(commits)
        while left:
            new = [child for child in self.above.get(left.pop(), ()) if child not in found]
            found.update(new)
            left += new
        return found


def _is_fresh(git: Git, names: Sequence[str], commit: str) -> bool:
    """Whether a local branch was made at this commit and nothing has happened on it since: it began there."""
    if len(names) != 1 or not names[0].startswith("refs/heads/"):
        return False
    log = common.read_text(os.path.join(git.common_dir, "logs", *names[0].split("/")), 4096) or ""
    return log.count("\n") == 1 and log.split(" ")[1:2] == [commit]


# What is kept


def _mark(project: Project, refs: Refs, default: Sequence[str], one: Asked) -> str:
    """All that an answer follows from."""
    names = refs.of(one[0])
    rest = () if names else (str(crc32(repr(sorted(refs.tips.items())).encode("utf-8", "replace"))),)
    tips = (refs.tips[name] for name in (*default, "", *names) if name)
    return "|".join((project.root, one[0], one[1] or "", project.commit or "", *tips, *rest))


def _kept(place: str | None) -> dict[str, object]:
    try:
        found = json.loads((place and common.read_text(place, _KEPT_BYTES)) or "{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _unpacked(row: object) -> Told | None:
    if not isinstance(row, list) or len(row) != 3 or not isinstance(row[1], str):
        return None
    try:
        return Told(State(row[0]), row[1], row[2] is True)
    except ValueError:
        return None


def _keep(place: str | None, known: Mapping[str, object], fresh: Mapping[str, Told]) -> None:
    if place is None or not fresh:
        return
    rows = {**known, **{mark: [one.state.value, one.name, one.here] for mark, one in fresh.items()}}
    newest = dict(list(rows.items())[-_KEPT:])
    with contextlib.suppress(OSError):
        atomic.replace(place, json.dumps(newest).encode())
