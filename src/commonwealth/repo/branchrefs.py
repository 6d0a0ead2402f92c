"""The branches of a code repository as one look at its refs shows them, and which of them is the default one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from commonwealth.repo.git import Git, decode
from commonwealth.repo.head import is_object_name

_LOCAL, _REMOTE = "refs/heads/", "refs/remotes/"
_USUAL = ("main", "master", "trunk")


@dataclass(frozen=True, slots=True)
class Refs:
    """Tips by full ref name, local branches first; `symbolic` are the refs that stand for others (a remote's HEAD)."""

    tips: Mapping[str, str]
    symbolic: Mapping[str, str]

    def of(self, branch: str) -> tuple[str, ...]:
        """The refs of a branch: the local one, and what was last seen of it at each remote."""
        found = [name for name in (f"{_LOCAL}{branch}",) if name in self.tips]
        return (*found, *(name for name in self.tips if _remote_branch(name) == branch))

    def default(self, usual: str = "") -> tuple[str, ...]:
        """The refs of the default branch: what the HEAD of `origin` or of the only remote stands for, else a branch
        with a usual name, or with the name `usual`; the local branch of that name beside it. Empty where there is none.
        """
        name = next(filter(None, self._defaults(usual)), None)
        if name is None:
            return ()
        local = f"{_LOCAL}{_remote_branch(name)}"
        return (name, local) if name.startswith(_REMOTE) and local in self.tips else (name,)

    def _defaults(self, usual: str) -> Iterator[str | None]:
        heads = {name: target for name, target in self.symbolic.items() if target in self.tips}
        yield heads.get(f"{_REMOTE}origin/HEAD")
        yield next(iter(heads.values())) if len(heads) == 1 else None
        for place in (f"{_REMOTE}origin/", _LOCAL):
            for name in (*_USUAL, usual):
                yield f"{place}{name}" if name and f"{place}{name}" in self.tips else None


def short(ref: str) -> str:
    """The name of the branch that a ref is of."""
    return ref.removeprefix(_LOCAL) if ref.startswith(_LOCAL) else _remote_branch(ref) or ref


def _remote_branch(ref: str) -> str | None:
    return ref.removeprefix(_REMOTE).partition("/")[2] or None if ref.startswith(_REMOTE) else None


def read(git: Git, seconds: float) -> Refs:
    """The refs as they are. Raises BrainError where git has no answer within `seconds`."""
    form = "--format=%(objectname)%00%(refname)%00%(symref)"
    tips: dict[str, str] = {}
    symbolic: dict[str, str] = {}
    for line in decode(git.run("for-each-ref", form, _LOCAL, _REMOTE, timeout=seconds)).splitlines():
        tip, name, target = line.split("\0")
        if target.startswith(_REMOTE) and name.endswith("/HEAD"):
            symbolic[name] = target
        elif is_object_name(tip):
            tips[name] = tip
    return Refs(tips, symbolic)


def default(git: Git, refs: Refs, seconds: float) -> tuple[str, ...]:
    """`Refs.default`, with the person's own name for a default branch where that tells it. Raises as `read` does."""
    if found := refs.default():
        return found
    done = git.call("config", "--get", "init.defaultBranch", timeout=seconds)
    return refs.default(done.out.decode("utf-8", "replace").strip())
