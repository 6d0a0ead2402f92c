"""Damage to git's own files: locks, HEAD, refs, operations under way, objects, packs, index, settings."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from .damage_core import case
from .machine import MONTH, World

OLD = 3600
"""Seconds: older than any lock that may still be somebody's."""


def age(path: Path, seconds: float = OLD) -> None:
    then = time.time() - seconds
    os.utime(path, (then, then))


def stale(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"")
    age(path)


# Locks of git's


@case("index.lock", "healed")
def stale_lock_on_the_index(world: World) -> None:
    stale(world.git_dir / "index.lock")


@case("HEAD.lock", "healed")
def stale_lock_on_HEAD(world: World) -> None:  # noqa: N802
    stale(world.git_dir / "HEAD.lock")


@case("refs/heads/main.lock", "healed")
def stale_lock_on_the_branch(world: World) -> None:
    stale(world.git_dir / "refs/heads/main.lock")


@case("packed-refs.lock", "fixed")
def stale_lock_on_packed_refs(world: World) -> None:
    stale(world.git_dir / "packed-refs.lock")


@case("refs/remotes/origin/main.lock", "fixed")
def stale_lock_on_the_tracking_ref(world: World) -> None:
    stale(world.git_dir / "refs/remotes/origin/main.lock")


@case("config.lock", "fixed")
def stale_lock_on_the_config(world: World) -> None:
    stale(world.git_dir / "config.lock")


@case("objects/maintenance.lock", "fixed")
def stale_lock_of_the_maintenance(world: World) -> None:
    stale(world.git_dir / "objects/maintenance.lock")


@case("index.lock", "healed")
def young_lock_on_the_index(world: World) -> None:
    (world.git_dir / "index.lock").write_bytes(b"")


@case("index.lock", "refused", writable=False)
def old_lock_that_a_process_holds(world: World) -> Callable[[], None]:
    lock = world.git_dir / "index.lock"
    stale(lock)
    script = "import sys; held = open(sys.argv[1]); print('held', flush=True); sys.stdin.read()"
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd="/", env={}
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"

    def end() -> None:
        process.communicate(b"")

    return end


# HEAD and the branch


@case("HEAD", "fixed", readable=False, writable=False)
def missing_HEAD(world: World) -> None:  # noqa: N802
    (world.git_dir / "HEAD").unlink()


@case("HEAD", "fixed", writable=False)
def empty_HEAD(world: World) -> None:  # noqa: N802
    (world.git_dir / "HEAD").write_bytes(b"")


@case("HEAD", "fixed", writable=False)
def garbage_in_HEAD(world: World) -> None:  # noqa: N802
    (world.git_dir / "HEAD").write_bytes(b"\0\xff\xfe garbage\n" * 3)


@case("refs/heads/main", "fixed", writable=False)
def empty_branch_ref(world: World) -> None:
    (world.git_dir / "refs/heads/main").write_bytes(b"")


@case("refs/heads/main", "fixed", writable=False)
def garbage_in_the_branch_ref(world: World) -> None:
    (world.git_dir / "refs/heads/main").write_bytes(b"\0" * 41)


@case("refs/heads/main", "fixed", writable=False)
def branch_ref_to_a_missing_object(world: World) -> None:
    (world.git_dir / "refs/heads/main").write_text("1234567890" * 4 + "\n", encoding="utf-8")


@case("refs/heads/main", "fixed", writable=False)
def missing_branch_ref(world: World) -> None:
    (world.git_dir / "refs/heads/main").unlink()


@case("refs/commonwealth/seen/main", "fixed")
def garbage_in_the_ref_of_what_was_seen(world: World) -> None:
    (world.git_dir / "refs/commonwealth/seen/main").write_bytes(b"garbage\n")


@case("refs/remotes/origin/main", "fixed")
def empty_tracking_ref(world: World) -> None:
    (world.git_dir / "refs/remotes/origin/main").write_bytes(b"")


@case("merge", "fixed")
def merge_by_hand_under_way(world: World) -> None:
    world.git("switch", "-q", "-c", "other", "HEAD~1")
    _by_hand(world, "other")
    world.git("switch", "-q", "main")
    world.git("merge", "-q", "--no-commit", "--no-ff", "other")


@case("rebase", "fixed", writable=False)
def rebase_by_hand_under_way(world: World) -> None:
    _rebase(world)


@case("rebase", "fixed", writable=False)
def rebase_of_patches_under_way(world: World) -> None:
    _rebase(world, "--apply")


@case("cherry-pick", "fixed")
def cherry_pick_under_way(world: World) -> None:
    _clash(world)
    world.git("cherry-pick", "other", check=False)


def _by_hand(world: World, text: str) -> None:
    note = world.note("Bob")
    note.write_text(note.read_text(encoding="utf-8") + f"Added by hand: {text}.\n", encoding="utf-8")
    world.git("commit", "-qam", text)


def _clash(world: World) -> None:
    world.git("switch", "-q", "-c", "other")
    _by_hand(world, "one")
    world.git("switch", "-q", "main")
    _by_hand(world, "two")


def _rebase(world: World, *how: str) -> None:
    _clash(world)
    world.git("rebase", *how, "other", check=False)


@case("detached", "fixed", writable=False)
def detached_HEAD(world: World) -> None:  # noqa: N802
    world.git("checkout", "-q", "--detach", "HEAD~1")


@case("branch other", "fixed", writable=False)
def HEAD_on_another_branch(world: World) -> None:  # noqa: N802
    world.git("switch", "-q", "-c", "other")


# Objects


def _gone(path: Path) -> None:
    path.unlink()


def _emptied(path: Path) -> None:
    path.chmod(0o644)
    path.write_bytes(b"")


def _rotten(path: Path) -> None:
    path.chmod(0o644)
    data = path.read_bytes()
    path.write_bytes(b"rot" + data[3:])


def _path(world: World, who: str) -> str:
    return str(world.note(who).relative_to(world.brain))


@case("damaged", "fixed")
def missing_object_of_a_published_note(world: World) -> None:
    _gone(world.loose(f"HEAD:{_path(world, 'Bob')}"))


@case("damaged", "fixed")
def missing_object_of_a_note_that_is_not_published(world: World) -> None:
    _gone(world.loose(f"HEAD:{_path(world, 'unpublished')}"))


@case("damaged", "fixed")
def empty_object_of_a_note_that_is_not_published(world: World) -> None:
    _emptied(world.loose(f"HEAD:{_path(world, 'unpublished')}"))


@case("damaged", "fixed")
def rotten_object_of_a_published_note(world: World) -> None:
    _rotten(world.loose(f"HEAD:{_path(world, 'Bob')}"))


@case("damaged", "fixed", writable=False)
def missing_tree_of_the_tip(world: World) -> None:
    _gone(world.loose("HEAD^{tree}"))


@case("damaged", "fixed")
def empty_tree_of_the_month(world: World) -> None:
    _emptied(world.loose(f"HEAD:{MONTH}"))


@case("damaged", "fixed")
def missing_published_commit(world: World) -> None:
    _gone(world.loose("origin/main~1"))


@case("refs/heads/main", "fixed", writable=False)
def empty_commit_at_the_tip(world: World) -> None:
    _emptied(world.loose("HEAD"))


@case("damaged", "fixed", writable=False)
def truncated_pack(world: World) -> None:
    world.git("repack", "-qad")
    [pack] = (world.git_dir / "objects/pack").glob("*.pack")
    pack.chmod(0o644)
    with open(pack, "r+b") as file:
        file.truncate(pack.stat().st_size * 2 // 3)


@case("damaged", "fixed")
def garbage_in_a_pack(world: World) -> None:
    world.git("repack", "-qad")
    [pack] = (world.git_dir / "objects/pack").glob("*.pack")
    pack.chmod(0o644)
    with open(pack, "r+b") as file:
        file.seek(pack.stat().st_size // 2)
        file.write(os.urandom(200))


@case("has no index", "fixed", writable=False)
def pack_without_its_index(world: World) -> None:
    world.git("repack", "-qad")
    for name in (world.git_dir / "objects/pack").glob("*.idx"):
        name.unlink()


@case("commit-graph", "fixed")
def garbage_in_the_commit_graph(world: World) -> None:
    world.git("commit-graph", "write", "--reachable")
    graph = world.git_dir / "objects/info/commit-graph"
    graph.chmod(0o644)
    graph.write_bytes(b"CGPH" + os.urandom(500))


# git's own files


@case("git's index", "healed")
def garbage_in_gits_index(world: World) -> None:
    (world.git_dir / "index").write_bytes(b"DIRC" + os.urandom(300))


@case("git's index", "healed")
def truncated_gits_index(world: World) -> None:
    index = world.git_dir / "index"
    index.write_bytes(index.read_bytes()[:150])


@case("git's index", "healed")
def missing_gits_index(world: World) -> None:
    (world.git_dir / "index").unlink()


@case(".git/config", "refused", writable=False)
def broken_git_config(world: World) -> None:
    config = world.git_dir / "config"
    config.write_text(config.read_text(encoding="utf-8") + '[remote "x\nurl = \n', encoding="utf-8")


@case(".git/config", "fixed", writable=False)
def zeroed_git_config(world: World) -> None:
    config = world.git_dir / "config"
    config.write_bytes(b"\0" * config.stat().st_size)


@case("lacks settings", "fixed")
def settings_of_the_clone_gone(world: World) -> None:
    world.git("config", "--remove-section", "merge.commonwealth")
    world.git("config", "--unset", "core.symlinks")


@case(".git/config", "fixed")
def empty_git_config(world: World) -> None:
    (world.git_dir / "config").write_bytes(b"")
