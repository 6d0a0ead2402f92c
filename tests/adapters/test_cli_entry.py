"""The entry of the process: exit codes, what is said, and that nothing reaches the terminal raw."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from commonwealth import __version__
from commonwealth.adapters import faultlog

Brain = Callable[..., "subprocess.CompletedProcess[bytes]"]


def run_main(code: str, *args: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run `main` in a process in which `code` has replaced what a command does."""
    script = f"import sys, commonwealth.__main__ as entry\n{code}\nsys.exit(entry.main())"
    return subprocess.run(
        [sys.executable, "-c", script, *args],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=os.environ | (env or {}),
        timeout=60,
        check=False,
    )


RAISING = "def fail(_):\n    {0}\nentry._dispatch = fail"


def test_the_version_is_printed_without_loading_click() -> None:
    code = "import atexit\natexit.register(lambda: print('click' in sys.modules, 'yaml' in sys.modules))"

    done = run_main(code, "--version")

    assert done.stdout == f"brain {__version__}\nFalse False\n"
    assert done.returncode == 0


def test_an_unknown_command_names_the_near_one(brain: Brain) -> None:
    done = brain("serach", "x")

    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.decode().splitlines() == [
        "error: There is no command 'serach'.",
        "hint: Did you mean `brain search`?",
    ]


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("Refused", 1),
        ("Usage", 2),
        ("Bug", 3),
        ("NeedsReview", 4),
        ("Offline", 5),
        ("Busy", 6),
        ("Damaged", 7),
    ],
)
def test_each_kind_of_error_is_a_sentence_a_hint_and_an_exit_code(kind: str, code: int) -> None:
    raising = f"from commonwealth import errors; raise errors.{kind}('It \\x1b[31mfailed.', hint='Do this.')"

    done = run_main(RAISING.format(raising), "status")

    assert done.returncode == code
    assert done.stderr == "error: It failed.\nhint: Do this.\n"


@pytest.mark.parametrize("kind", ["Refused", "Usage", "NeedsReview", "Offline", "Busy", "Damaged"])
def test_a_failure_under_json_is_one_receipt_on_stdout(kind: str) -> None:
    raising = f"from commonwealth import errors; raise errors.{kind}('It failed.', hint='Do this.')"

    done = run_main(RAISING.format(raising), "status", "--json")

    state = "deferred" if kind == "Offline" else "refused"
    assert json.loads(done.stdout) == {
        "state": state, "ids": [], "commit": None, "reason": "It failed.", "warnings": [], "next": "Do this.",
    }  # fmt: skip
    assert done.stderr == "error: It failed.\nhint: Do this.\n"


def test_a_fault_of_ours_under_json_is_one_receipt_too() -> None:
    done = run_main(RAISING.format("raise KeyError(1)"), "status", "--json")

    assert (done.returncode, json.loads(done.stdout)["state"]) == (3, "refused")
    assert "KeyError" in json.loads(done.stdout)["reason"]


def test_a_document_that_was_printed_gets_no_second_one() -> None:
    raising = (
        "from commonwealth import errors; from commonwealth.adapters.terminal import Screen; "
        "Screen(as_json=True).document({'rounds': 1}); raise errors.Refused('Too late.')"
    )

    done = run_main(RAISING.format(raising), "status", "--json")

    assert (done.returncode, json.loads(done.stdout)) == (1, {"rounds": 1})


def test_a_fault_of_ours_is_one_sentence_and_a_log_file_without_the_users_text() -> None:
    raising = "raise ValueError('no \"top-secret-title\" in ' + 'k' * 40)"
    secret = ["remember", "top-secret-title", "--body", "top-secret-body", "--tag=top-secret-tag"]

    done = run_main(RAISING.format(raising), *secret)

    assert done.returncode == 3
    assert "Traceback" not in done.stderr
    assert "ValueError" in done.stderr.splitlines()[0]
    log = next((Path(os.environ["COMMONWEALTH_HOME"]) / "logs").iterdir())
    assert str(log) in done.stderr
    text = log.read_text(encoding="utf-8")
    assert "brain remember --body --tag" in text
    assert "in main" in text
    assert "top-secret" not in text
    assert "kkkk" not in text


def test_a_fault_is_told_even_where_no_log_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")

    done = run_main(RAISING.format("raise KeyError(1)"), env={"COMMONWEALTH_HOME": str(tmp_path / "file" / "x")})

    assert done.returncode == 3
    assert "could not be written" in done.stderr
    assert "Traceback" not in done.stderr


def test_log_files_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = []
    for second in range(faultlog.KEPT + 5):
        monkeypatch.setenv("COMMONWEALTH_NOW", f"2026-01-01T00:00:{second:02}Z")
        paths.append(Path(faultlog.write(ValueError("x"), ["sync"])))

    assert sorted(paths[0].parent.iterdir()) == paths[5:]


def test_an_interrupt_ends_quietly_with_130() -> None:
    done = run_main(RAISING.format("raise KeyboardInterrupt"), "sync")

    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_a_reader_that_stops_reading_is_no_error() -> None:
    code = RAISING.format("[print('x' * 1000) for _ in range(1000)]")
    script = f"import sys, commonwealth.__main__ as entry\n{code}\nsys.exit(entry.main())"
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(10)
    process.stdout.close()

    with process.stderr as errors:
        assert errors.read() == b""
    assert process.wait(60) == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_a_full_disk_under_stdout_is_a_sentence() -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "commonwealth", "--version"],
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )

    assert done.returncode == 1
    assert done.stderr.decode().startswith("error: The output could not be written (")


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "gbk", "utf-8"])
def test_no_console_is_crashed_by_a_title(encoding: str) -> None:
    """Users of other tools met UnicodeEncodeError on cp1252 and GBK consoles, most often in a redirection."""
    printing = "from commonwealth.adapters.terminal import Screen; Screen().line('✓ café … 日本 🎉'); return 0"

    done = run_main_bytes(printing, {"PYTHONIOENCODING": encoding})

    assert done.returncode == 0
    assert done.stderr == b""
    shown = done.stdout.decode(encoding).strip()
    assert (
        shown
        == {
            "ascii": "? cafe ... ?? ?",
            "cp1252": "? café … ?? ?",
            "gbk": "? café … 日本 ?",
            "utf-8": "✓ café … 日本 🎉",
        }[encoding]
    )


def run_main_bytes(raising: str, env: dict[str, str]) -> subprocess.CompletedProcess[bytes]:
    code = RAISING.format(raising)
    script = f"import sys, commonwealth.__main__ as entry\n{code}\nsys.exit(entry.main())"
    return subprocess.run(
        [sys.executable, "-X", "utf8=0", "-c", script],
        capture_output=True,
        env=os.environ | env,
        timeout=60,
        check=False,
    )


def test_an_error_about_text_that_the_console_lacks_is_still_told() -> None:
    raising = "from commonwealth.errors import Refused; raise Refused('No note ✓ 日本.')"

    done = run_main_bytes(raising, {"PYTHONIOENCODING": "ascii"})

    assert done.returncode == 1
    assert done.stderr == b"error: No note ? ??.\n"


def test_an_argument_that_is_no_text_is_a_wrong_call() -> None:
    done = subprocess.run(
        [sys.executable.encode(), b"-m", b"commonwealth", b"remember", b"caf\xe9"],
        capture_output=True,
        env=os.environ | {"PYTHONUTF8": "1"},
        timeout=60,
        check=False,
    )

    assert done.returncode == 2
    assert b"is not valid text" in done.stderr


def test_a_clock_that_is_set_wrongly_is_a_wrong_call(brain: Brain) -> None:
    done = brain("status", env={"COMMONWEALTH_NOW": "noon"})

    assert done.returncode == 2
    assert done.stderr.startswith(b"error: COMMONWEALTH_NOW: 'noon' is not")


@pytest.mark.parametrize("closing", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_fault(closing: str) -> None:
    command = f'"{sys.executable}" -m commonwealth rules list --json {closing}'
    done = subprocess.run(["sh", "-c", command], capture_output=True, timeout=60, check=False)

    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("event", ["SessionStart", "NoSuchEvent", "", "--host"])
def test_a_hook_exits_0_and_is_silent_whatever_breaks(event: str) -> None:
    code = "sys.modules['commonwealth.adapters.hooks'] = None"

    done = run_main(code, "hook", event, "--host", "claude")

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_real_interrupt_ends_a_waiting_command() -> None:
    """A command that waits for standard input is ended by ctrl-C without a traceback."""
    process = subprocess.Popen(
        [sys.executable, "-m", "commonwealth", "remember", "T", "--body-file", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Whoever runs the tests in the background has this signal ignored, and its children with it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - no threads here
    )
    assert process.stdin is not None
    process.stdin.write(b"x" * (1 << 17))  # more than a pipe holds: it returns once the command reads
    process.stdin.flush()
    process.send_signal(signal.SIGINT)

    out, errors = process.communicate(timeout=60)

    assert (process.returncode, out, errors) == (130, b"", b"")
