"""Several clones, random work, killed processes: no fact is lost, and all end with the same bytes."""

from __future__ import annotations

import random
import re
import shutil
from pathlib import Path

import pytest

from commonwealth import faults
from commonwealth.faults import POINTS
from commonwealth.repo.git import Git
from commonwealth.repo.outcome import read_debt

from .brains import assert_equal, dies, finish, head, plain, put, settle, start, team
from .linenotes import remember, run_sync

FIRST = "memory/2026-07/first.md"


def act(rng: random.Random, clone: Path, number: int, counter: int) -> str | None:
    """One random thing that happens in a clone; the token that it leaves in a note."""
    token = f"t{number}x{counter}"
    notes = sorted(path.relative_to(clone).as_posix() for path in (clone / "memory").rglob("*.md"))
    notes = [path for path in notes if not path.endswith("INDEX.md")]
    choice = rng.random()
    if choice < 0.4 or not notes:
        remember(clone, token, f"text: {token}\n", month=rng.choice(["2026-07", "2026-08"]))
    elif choice < 0.7:
        path = clone / rng.choice(notes)
        lines = path.read_text(encoding="utf-8").splitlines()
        path.write_text("".join(f"{line}\n" for line in [*lines, f"k{token}: {token}"]), encoding="utf-8")
    elif choice < 0.8:
        path = clone / rng.choice(notes)
        target = clone / "memory" / rng.choice(["2026-07", "2026-08", "2026-09"]) / path.name
        if not target.exists():
            target.parent.mkdir(exist_ok=True)
            shutil.move(path, target)
        return None
    elif choice < 0.9:
        shared = clone / "memory/2026-07/shared.md"
        before = shared.read_text(encoding="utf-8") if shared.exists() else ""
        put(clone, "memory/2026-07/shared.md", f"{before}k{token}: {token}\n")
        run_sync(clone, push=False)
    else:
        put(clone, "memory/2026-07/INDEX.md", f"by hand {token}\n")
        return None
    return token


@pytest.mark.parametrize(("count", "steps", "seed"), [(2, 20, 1), (5, 24, 2)])
def test_random_work_in_several_clones_converges_with_no_fact_lost(
    tmp_path: Path, count: int, steps: int, seed: int
) -> None:
    rng = random.Random(seed)
    _, clones = team(tmp_path, count)
    tokens = []
    for counter in range(steps):
        number = rng.randrange(count)
        tokens.append(act(rng, clones[number], number, counter))
        if rng.random() < 0.3:
            run_sync(clones[number], push=rng.random() < 0.7)
    settle(clones)
    files = assert_equal(clones)
    everything = b"\n".join(files.values()).decode()
    assert [token for token in tokens if token and token not in everything] == []


def test_writers_in_many_clones_at_once_all_land(tmp_path: Path) -> None:
    _, clones = team(tmp_path, 5)
    writers = [start("session", str(clone), f"w{number}", "3") for number, clone in enumerate(clones)]
    answers = [finish(writer) for writer in writers]
    assert answers == ["published"] * 5
    settle(clones, 1)
    files = assert_equal(clones)
    assert len([path for path in files if "/w" in path]) == 15


MOVES = (
    "recover-half",
    "fetched",
    "merge-tree",
    "merge-commit",
    "move-journal",
    "move-half",
    "move-files",
    "move-index",
    "move-done",
    "derived",
    "push-before",
    "push-accepted",
    "push-refused",
    "debt",
)


@pytest.mark.parametrize("point", MOVES)
def test_a_sync_killed_anywhere_loses_nothing_and_the_next_one_converges(tmp_path: Path, point: str) -> None:
    remote, clones = team(tmp_path, 2)
    here, there = clones
    settle(clones)
    remember(there, "theirs", "text: theirs\n")
    put(there, FIRST, "tags: theirs\ntitle: first\n")
    if point != "derived":  # without news from the remote, the refresh is a commit of its own
        run_sync(there)
    remember(here, "ours", "text: ours\n")
    put(here, FIRST, "tags: a\ntitle: ours\n")
    if point == "recover-half":
        dies(start("sync", str(here), fault="move-half=kill"))
    if point == "push-refused":
        hook = here / ".git/refused"
        hook.write_text(
            f'#!/bin/sh\ngit -C {there} push -q origin HEAD:main\nexec git-receive-pack "$@"\n', encoding="utf-8"
        )
        hook.chmod(0o755)
        remember(there, "late", "text: late\n")
        plain(here, "config", "remote.origin.receivepack", str(hook))
    dies(start("sync", str(here), fault=f"{point}=kill"))
    plain(here, "config", "--unset", "remote.origin.receivepack", check=False)
    put(here, "memory/2026-07/after.md", "text: by hand after the crash\n")
    settle(clones)
    files = assert_equal(clones)
    assert files[FIRST] == b"tags: theirs\ntitle: ours\n"
    assert {f"memory/2026-07/{name}.md" for name in ("ours", "theirs", "after")} <= files.keys()
    assert not (here / ".git/commonwealth/journal").exists()
    assert plain(remote, "rev-parse", "main").strip() == head(here)
    assert read_debt(Git(here)) is None


def test_every_fault_point_is_named_once_and_reached_by_code() -> None:
    folder = Path(faults.__file__).parent
    used = re.findall(
        r'(?:\bfault\(|half: str = |half=)"([a-z-]+)"',
        "".join(p.read_text(encoding="utf-8") for p in folder.rglob("*.py")),
    )
    assert sorted(used) == sorted(POINTS)
