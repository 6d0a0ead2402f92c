"""Damage to what is ours (state, search index, configs), and kinds of repository that are not quite ours."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

from commonwealth.index import schema

from .damage_core import CASES, Case, case
from .machine import World

# Our own state


def _state(name: str, data: bytes) -> Callable[[World], None]:
    def does(world: World) -> None:
        (world.state / name).write_bytes(data)

    return does


def _states() -> None:
    journal = b'{"branch": "main", "old": null, "new": "%s"}' % (b"1" * 40)
    for name, data, what, says, ends in (
        ("journal", b"\0garbage", "garbage in", "journal", "healed"),
        ("journal", journal[:30], "half of", "journal", "healed"),
        ("journal", journal, "a missing commit in", "", "healed"),
        ("debt", b"\0\xffgarbage", "garbage in", "debt", "healed"),
        ("bases", b"[1, 2", "garbage in", "bases", "fixed"),
        ("derived", b"garbage", "garbage in", "derived", "healed"),
        ("worker.json", b"{", "garbage in", "worker.json", "healed"),
        ("clean", b"\0\xff{", "garbage in", "", "healed"),
    ):
        CASES.append(Case(f"{what} our {name}", _state(name, data), says, ends))
    CASES.append(Case("garbage in our branch", _state("branch", b"\0\xffnowhere"), "branch", "fixed", writable=False))
    CASES.append(Case("unknown branch in our branch", _state("branch", b"gone\n"), "branch", "fixed", writable=False))
    for name in ("lock", "sync.lock", "index.lock", "worker.lock", "journal", "debt", "branch", "derived"):

        def does(world: World, name: str = name) -> None:
            place = world.state / name
            place.unlink(missing_ok=True)
            place.mkdir()
            (place / "x").touch()

        says = f"commonwealth/{name} is no file"
        CASES.append(Case(f"folder in the place of our {name}", does, says, "fixed", writable=name != "lock"))


_states()


@case("", "healed")
def our_whole_state_folder_gone(world: World) -> None:
    shutil.rmtree(world.state)


@case("commonwealth", "fixed", writable=False)
def our_state_folder_replaced_by_a_file(world: World) -> None:
    shutil.rmtree(world.state)
    world.state.write_text("odd", encoding="utf-8")


# The index


def _database(world: World) -> Path:
    path = schema.current(world.brain / "index")
    assert path is not None
    return path


def _sql(world: World, statement: str) -> None:
    with contextlib.closing(sqlite3.connect(_database(world), isolation_level=None)) as conn:
        conn.execute(statement)


@case("search index", "healed")
def no_index(world: World) -> None:
    shutil.rmtree(world.brain / "index")


@case("search index", "healed")
def empty_index(world: World) -> None:
    _database(world).write_bytes(b"")


@case("search index", "healed")
def garbage_at_the_head_of_the_index(world: World) -> None:
    with open(_database(world), "r+b") as file:
        file.write(os.urandom(200))


@case("search index", "fixed")
def garbage_in_a_page_of_the_index(world: World) -> None:
    _sql(world, "PRAGMA wal_checkpoint(TRUNCATE)")
    database = _database(world)
    page = _page_of(world, "notes_updated")
    with open(database, "r+b") as file:
        file.seek((page - 1) * schema.PAGE)
        file.write(b"\xa5" * schema.PAGE)


def _page_of(world: World, name: str) -> int:
    with contextlib.closing(sqlite3.connect(_database(world))) as conn:
        return int(conn.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (name,)).fetchone()[0])


@case("search index", "fixed")
def postings_of_the_index_gone(world: World) -> None:
    _sql(world, "DELETE FROM words_data WHERE id > 10")


@case("search index", "healed")
def truncated_index(world: World) -> None:
    with open(_database(world), "r+b") as file:
        file.truncate(schema.PAGE * 3)


@case("search index", "healed")
def index_of_an_older_version(world: World) -> None:
    _sql(world, "PRAGMA user_version = 1")


@case("search index", "healed")
def index_of_a_newer_version(world: World) -> None:
    _sql(world, f"PRAGMA user_version = {schema.SCHEMA + 1}")


@case("", "healed")
def index_with_anothers_log(world: World) -> None:
    database = _database(world)
    database.with_name(database.name + "-wal").write_bytes(os.urandom(5000))


@case("search index", "healed")
def index_of_another_brain(world: World) -> None:
    _sql(world, "UPDATE state SET value = '/elsewhere' WHERE key = 'root'")


@case("search index", "healed")
def garbage_in_the_pointer_of_the_index(world: World) -> None:
    (world.brain / "index/current").write_bytes(b"\xff\0/../../x")


@case("search index", "fixed")
def folder_in_the_place_of_the_database(world: World) -> None:
    database = _database(world)
    for name in (world.brain / "index").iterdir():
        name.unlink()
    database.mkdir()
    (world.brain / "index/current").mkdir()


@case("index", "fixed")
def file_in_the_place_of_the_index_folder(world: World) -> None:
    shutil.rmtree(world.brain / "index")
    (world.brain / "index").write_text("odd", encoding="utf-8")


# Configs


@case("config.yaml", "refused", readable=False, writable=False)
def broken_config_of_the_brain(world: World) -> None:
    (world.brain / ".commonwealth/config.yaml").write_text("name: [\n", encoding="utf-8")


@case("config.yaml", "refused", readable=False, writable=False)
def empty_config_of_the_brain(world: World) -> None:
    (world.brain / ".commonwealth/config.yaml").write_text("\0" * 60, encoding="utf-8")


@case("", "healed")
def byte_order_mark_in_the_config_of_the_brain(world: World) -> None:
    config = world.brain / ".commonwealth/config.yaml"
    config.write_bytes(b"\xef\xbb\xbf" + config.read_bytes())


@case("has lost its", "refused", readable=False, writable=False)
def config_of_the_brain_gone(world: World) -> None:
    (world.brain / ".commonwealth/config.yaml").unlink()


@case("registry.yaml", "named")
def broken_registry(world: World) -> None:
    (world.home / ".commonwealth/registry.yaml").write_text("rules: {", encoding="utf-8")


@case("", "healed")
def byte_order_mark_in_the_registry(world: World) -> None:
    registry = world.home / ".commonwealth/registry.yaml"
    registry.write_bytes(b"\xef\xbb\xbf" + registry.read_bytes())


@case("config.yaml", "refused", writable=False)
def broken_config_of_the_user(world: World) -> None:
    (world.home / ".commonwealth/config.yaml").write_text('{"a":1,}', encoding="utf-8")


# Kinds of repository


@case("shallow", "named")
def shallow_clone(world: World) -> None:
    world.git("push", "-q", "origin", "main")
    shutil.rmtree(world.brain)
    world.git("clone", "-q", "--depth=1", f"file://{world.remote}", str(world.brain), folder=world.top)


@case("", "healed")
def linked_worktree(world: World) -> None:
    main = world.top / "main"
    world.brain.rename(main)
    world.git("switch", "-q", "--detach", folder=main)
    world.git("worktree", "add", "-q", str(world.brain), "main", folder=main)


@case("bare", "refused", writable=False)
def bare_repository(world: World) -> None:
    world.git("config", "core.bare", "true")


@case("extension", "refused", writable=False)
def repository_of_an_unknown_format(world: World) -> None:
    world.git("config", "core.repositoryFormatVersion", "1")
    world.git("config", "extensions.fromTheFuture", "true")
