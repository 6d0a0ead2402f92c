"""Damage to files and folders of notes, and to the files that are derived from them."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable

from .damage_core import case
from .machine import World

# Files of notes


def _write(world: World, who: str, change: Callable[[bytes], bytes]) -> None:
    note = world.note(who)
    note.write_bytes(change(note.read_bytes()))


@case("is empty", "named", unread="Bob")
def note_of_no_bytes(world: World) -> None:
    _write(world, "Bob", lambda data: b"")


@case("memory/2026-06", "named", unread="Bob")
def note_cut_in_its_frontmatter(world: World) -> None:
    _write(world, "Bob", lambda data: data[:60])


@case("memory/2026-06", "named", unread="Bob")
def note_cut_in_a_letter(world: World) -> None:
    _write(world, "Bob", lambda data: data + "é".encode()[:1])


@case("", "healed")
def note_with_CRLF(world: World) -> None:  # noqa: N802
    _write(world, "Bob", lambda data: data.replace(b"\n", b"\r\n"))


@case("", "healed")
def note_with_a_byte_order_mark(world: World) -> None:
    _write(world, "Bob", lambda data: b"\xef\xbb\xbf" + data)


@case("", "healed")
def note_without_its_last_line_end(world: World) -> None:
    _write(world, "Bob", lambda data: data.rstrip(b"\n"))


@case("memory/2026-06", "named", unread="Bob")
def note_in_latin_1(world: World) -> None:
    _write(world, "Bob", lambda data: data + "Müller says so.\n".encode("latin-1"))


@case("memory/2026-06", "named", unread="Bob")
def note_in_UTF_16(world: World) -> None:  # noqa: N802
    _write(world, "Bob", lambda data: data.decode().encode("utf-16"))


@case("memory/2026-06", "named", unread="Bob")
def note_with_zeros(world: World) -> None:
    _write(world, "Bob", lambda data: data + b"\0" * 100)


@case("memory/2026-06", "named", unread="Bob")
def note_of_zeros_only(world: World) -> None:
    _write(world, "Bob", lambda data: b"\0" * len(data))


@case("conflict markers", "named")
def note_with_conflict_markers(world: World) -> None:
    _write(world, "Bob", lambda data: data + b"<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n")


@case("", "healed")
def note_with_an_unclosed_fence(world: World) -> None:
    _write(world, "Bob", lambda data: data + b"```python\nprint(1)\n")


@case("The id", "named")
def two_notes_of_one_id(world: World) -> None:
    note = world.note("Bob")
    shutil.copy(note, note.with_name("copy.md"))


@case("", "healed")
def note_of_another_name_than_its_id(world: World) -> None:
    note = world.note("Bob")
    note.rename(note.with_name("renamed.md"))


@case("differ in case", "named")
def names_that_differ_in_case(world: World) -> None:
    for name in ("Twin.md", "twin.md"):
        (world.brain / "memory" / name).write_text(f"---\ntitle: {name}\n---\nx\n", encoding="utf-8")


@case("differ in case", "named")
def names_that_differ_in_normal_form(world: World) -> None:
    for name in ("cafe\u0301.md", "caf\u00e9.md"):
        (world.brain / "memory" / name).write_text(f"---\ntitle: {len(name)}\n---\nx\n", encoding="utf-8")


@case("is not a file", "named")
def pipe_in_the_place_of_a_note(world: World) -> None:
    os.mkfifo(world.brain / "memory/pipe.md")


@case("is not a file", "named")
def socket_in_the_place_of_a_note(world: World) -> Callable[[], None]:
    end = socket.socket(socket.AF_UNIX)
    here = os.getcwd()
    os.chdir(world.brain / "memory")  # the path of a socket is short
    try:
        end.bind("socket.md")
    finally:
        os.chdir(here)
    return end.close


@case("is not a file", "named")
def device_in_the_place_of_a_note(world: World) -> str | None:
    try:
        os.mknod(world.brain / "memory/zero.md", 0o020644, os.makedev(1, 5))
    except OSError as error:
        return f"no device can be made here: {error}"
    return None


@case("larger than", "named")
def note_of_100_megabytes(world: World) -> None:
    with open(world.brain / "memory/large.md", "wb") as file:
        file.truncate(100 << 20)


@case("no note", "named")
def folder_with_thousands_of_strange_files(world: World) -> None:
    for number in range(3000):
        (world.brain / f"memory/file{number}.txt").touch()


# Folders


@case("memory", "refused", readable=False, writable=False, silent=True)
def notes_folder_replaced_by_a_file(world: World) -> None:
    (world.brain / "memory").rename(world.top / "away")
    (world.brain / "memory").write_text("odd", encoding="utf-8")


@case("memory", "refused", readable=False, writable=False, silent=True)
def notes_folder_replaced_by_a_link(world: World) -> None:
    (world.brain / "memory").rename(world.top / "away")
    (world.brain / "memory").symlink_to(world.top / "away")


@case("were deleted", "named", readable=False)
def notes_folder_gone(world: World) -> None:
    shutil.rmtree(world.brain / "memory")


# Derived files


@case("COMMONWEALTH.md differs", "healed")
def derived_file_edited(world: World) -> None:
    (world.brain / "COMMONWEALTH.md").write_text("mine\n", encoding="utf-8")


@case("INDEX.md differs", "healed")
def derived_file_deleted(world: World) -> None:
    (world.brain / "memory/INDEX.md").unlink()


@case("INDEX.md", "named")
def derived_file_replaced_by_a_folder(world: World) -> None:
    (world.brain / "memory/INDEX.md").unlink()
    (world.brain / "memory/INDEX.md").mkdir()
    (world.brain / "memory/INDEX.md/mine.txt").write_text("mine", encoding="utf-8")
