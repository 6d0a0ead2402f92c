"""A host that does not close its end, says nothing or says too much holds no hook up."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from commonwealth.adapters import hook_input
from commonwealth.adapters.hook_input import read_call
from commonwealth.hosts import claude
from commonwealth.hosts.hook import parse

from .sessions import TITLE, Machine, until

LONG = 600.0


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    made = Machine(tmp_path / "alice").build()
    yield made
    made.clear()


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        try:
            os.close(end)
        except OSError:
            continue


@pytest.fixture(params=["ready", "thread"])
def pipe_read(
    request: pytest.FixtureRequest, pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> tuple[int, int]:
    """The pipe, read as on each kind of system."""
    if request.param == "thread":
        monkeypatch.setattr(hook_input, "_read_when_ready", hook_input._read_in_thread)
    return pipe


def test_a_complete_object_is_enough_without_an_end(pipe_read: tuple[int, int]) -> None:
    os.write(pipe_read[1], b'{"cwd": "/x", "deep": {"a": "}"}}\n')
    said = read_call(LONG, stdin=pipe_read[0])
    assert said.whole
    assert json.loads(said.data)["cwd"] == "/x"


def test_an_object_that_comes_in_pieces_is_awaited(pipe_read: tuple[int, int]) -> None:
    ready = threading.Event()

    def say() -> None:
        os.write(pipe_read[1], b'{"deep": {"a": 1}')
        ready.wait(0.2)
        os.write(pipe_read[1], b', "cwd": "/x"}')

    host = threading.Thread(target=say)
    host.start()
    said = read_call(LONG, stdin=pipe_read[0])
    host.join()
    assert said.whole
    assert json.loads(said.data) == {"deep": {"a": 1}, "cwd": "/x"}


def test_a_host_that_says_nothing_is_not_awaited_for_ever(pipe: tuple[int, int]) -> None:
    assert read_call(0.05, stdin=pipe[0]).data == b""


def test_no_stdin_at_all_is_no_call() -> None:
    read, write = os.pipe()
    os.close(read)
    os.close(write)
    assert read_call(LONG, stdin=read).data == b""


def test_what_is_too_long_is_read_to_its_end_and_known_by_its_beginning(pipe_read: tuple[int, int]) -> None:
    said = json.dumps({"cwd": "/x", "text": "y" * 300_000}).encode()

    def say() -> None:
        left = memoryview(said)
        while left:
            left = left[os.write(pipe_read[1], left) :]
        os.close(pipe_read[1])

    host = threading.Thread(target=say)
    host.start()
    found = read_call(LONG, stdin=pipe_read[0], limit=1000)
    host.join()
    assert (len(found.data), found.whole) == (1000, False)
    call = parse(claude.HOST, "SessionEnd", found.data, {}, whole=False)
    assert call is not None
    assert call.cwd == "/x"


@pytest.mark.parametrize(
    ("raw", "cwd"),
    [
        (b'{"cwd": "/x", "session_id": "a', "/x"),
        (b'{"a": [1, {"b": 2}], "cwd": "/x",', "/x"),
        (b'{"cwd": "/x"}', "/x"),
        (b'{"cwd": "/x', None),
        (b'{"a": 1, "cw', None),
        (b'{"cwd": "/x", "cwd": 12', "/x"),
    ],
)
def test_what_breaks_off_is_taken_as_far_as_it_is_complete(raw: bytes, cwd: str | None) -> None:
    call = parse(claude.HOST, "SessionEnd", raw, {}, whole=False)
    assert (call.cwd if call else None) == cwd


@pytest.mark.parametrize("raw", [b"", b"{", b"[1, 2", b'"x', b'"a": 1, "cwd": "/x"', b',"cwd": "/x", ', b"\xff"])
def test_what_never_was_an_object_is_no_call(raw: bytes) -> None:
    assert parse(claude.HOST, "SessionEnd", raw, {}, whole=False) is None


@pytest.mark.parametrize("event", ["SessionStart", "SessionEnd", "Stop", "PreCompact"])
@pytest.mark.parametrize("cut", [0, 4], ids=["complete", "cut"])
def test_a_host_that_keeps_its_end_open_gets_its_answer(machine: Machine, event: str, cut: int) -> None:
    process = machine.start_hook(event)
    assert process.stdin is not None
    said = machine.stdin()
    process.stdin.write(said[: len(said) - cut])
    process.stdin.flush()
    assert process.wait(60) == 0
    assert process.stdout is not None
    assert (TITLE.encode() in process.stdout.read()) == (event == "SessionStart")
    until(machine.log, "the log")
    assert machine.log()[-1]["outcome"] in ("injected", "worker left")
    process.communicate()


def test_a_host_that_says_nothing_and_keeps_its_end_open_is_left(machine: Machine) -> None:
    for event in ("SessionStart", "SessionEnd"):
        process = machine.start_hook(event)
        assert process.wait(60) == 0
        process.communicate()
    assert [line["outcome"] for line in machine.log()] == ["ignored"] * 2


def test_a_call_of_fifty_megabytes_still_leaves_a_worker(machine: Machine) -> None:
    path = machine.write("by-hand")
    said = b'{"last_assistant_message": "' + b"x" * (50 << 20) + b'", ' + machine.stdin()[1:]
    done = machine.hook("SessionEnd", said)
    assert (done.code, done.out, done.err) == (0, b"", b"")
    until(lambda: machine.published(path), "publishing")
