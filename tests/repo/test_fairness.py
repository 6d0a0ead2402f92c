"""Many writers at once: all land, nobody sees an error, and whoever has lost often waits less."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

from commonwealth.repo import fairness
from commonwealth.repo.git import Git
from commonwealth.repo.outcome import read_debt

from .brains import assert_equal, finish, plain, settle, start, team, tree
from .linenotes import remember, run_sync

WRITERS, NOTES = 32, 10


def test_32_writers_with_10_notes_each_all_land_and_nobody_sees_an_error(tmp_path: Path) -> None:
    remote, (first,) = team(tmp_path, 1)
    run_sync(first)
    clones = [first]
    for number in range(1, WRITERS):
        shutil.copytree(first, tmp_path / f"clone{number}")
        clones.append(tmp_path / f"clone{number}")
    writers = [start("session", str(clone), f"w{number}", str(NOTES)) for number, clone in enumerate(clones)]
    answers = [finish(writer) for writer in writers]
    assert {answer.split()[0] for answer in answers} <= {"published", "deferred"}, answers
    for clone, answer in zip(clones, answers, strict=True):
        if answer.startswith("deferred"):  # its time was over on a busy machine: the next sync pays the debt
            assert read_debt(Git(clone)) is not None
            run_sync(clone)
    settle([first])
    notes = {path for path in tree(first) if path.startswith("memory/2026-07/w")}
    assert notes == {f"memory/2026-07/w{w}-{n}.md" for w in range(WRITERS) for n in range(NOTES)}
    assert plain(remote, "rev-parse", "main") == plain(first, "rev-parse", "HEAD")
    some = [first, *clones[1::10]]
    settle(some)
    assert_equal(some)


def test_a_loser_makes_room_for_a_crowd_first_and_then_waits_less_each_time() -> None:
    longest = [fairness.longest_pause(lost, took=0.5) for lost in range(16)]
    assert longest[1 : fairness.PEAK + 1] == sorted(longest[1 : fairness.PEAK + 1])
    assert longest[fairness.PEAK :] == sorted(longest[fairness.PEAK :], reverse=True)
    assert longest[-1] < longest[1]  # in the end less than any newcomer
    assert max(longest) <= fairness.LONGEST
    pauses = [fairness.pause(random.Random(7), lost, took=0.5) for lost in (fairness.PEAK, fairness.PEAK + 3)]
    assert pauses[1] < pauses[0]


def test_a_slow_remote_makes_longer_pauses() -> None:
    assert fairness.longest_pause(1, took=2.0) == 2 * fairness.longest_pause(1, took=1.0)


def outrun(clone: Path, rival: Path) -> None:
    """Before each push of `clone`, `rival` pushes first."""
    hook = clone / ".git/rival"
    hook.write_text(
        "#!/bin/sh\n"
        f"cd {rival} && git commit -q --allow-empty -m rival && git push -q origin main\n"
        'exec git-receive-pack "$@"\n',
        encoding="utf-8",
    )
    hook.chmod(0o755)
    plain(clone, "config", "remote.origin.receivepack", str(hook))


def test_lost_rounds_are_remembered_until_a_push_lands_and_nobody_sees_an_error(tmp_path: Path) -> None:
    _, (here, there) = team(tmp_path, 2)
    settle([here, there])
    remember(here, "a", "text: a\n")
    outrun(here, there)
    first = run_sync(here, timeout=3)
    assert first.state == "deferred"
    assert first.trouble is not None
    assert (first.trouble.hint or "").startswith("Nothing ")  # is lost; or was pushed, where the time ended earlier
    lost = fairness.lost_rounds(Git(here))
    assert lost == first.refused >= 1
    again = run_sync(here, timeout=3)
    assert fairness.lost_rounds(Git(here)) == lost + again.refused > lost
    plain(here, "config", "--unset", "remote.origin.receivepack")
    assert run_sync(here).state == "published"
    assert fairness.lost_rounds(Git(here)) == 0
    assert read_debt(Git(here)) is None


def test_a_memory_of_lost_rounds_that_cannot_be_read_counts_as_none(tmp_path: Path) -> None:
    _, (clone,) = team(tmp_path, 1)
    run_sync(clone)
    (clone / ".git/commonwealth/lost").write_text("many\n", encoding="utf-8")
    assert fairness.lost_rounds(Git(clone)) == 0


def test_a_push_that_was_accepted_while_its_answer_was_lost_is_found_out(tmp_path: Path) -> None:
    _, (here, there) = team(tmp_path, 2)
    settle([here, there])
    remember(here, "a", "text: a\n")
    cut = tmp_path / "cut.sh"
    cut.write_text('#!/bin/sh\ngit-receive-pack "$@" | head -c 600\nexit 1\n', encoding="utf-8")
    cut.chmod(0o755)
    plain(here, "config", "remote.origin.receivepack", str(cut))
    outcome = run_sync(here, timeout=3)
    assert outcome.state in ("published", "deferred", "committed")
    plain(here, "config", "--unset", "remote.origin.receivepack")
    settle([here, there])
    assert "memory/2026-07/a.md" in assert_equal([here, there])
    assert read_debt(Git(here)) is None


def test_two_syncs_at_once_in_one_clone_both_end_well(tmp_path: Path) -> None:
    _, (here, there) = team(tmp_path, 2)
    remember(here, "a", "text: a\n")
    answers = [finish(process) for process in [start("sync", str(here)) for _ in range(4)]]
    assert {answer.split()[0] for answer in answers} <= {"published", "unchanged"}
    settle([here, there])
    assert "memory/2026-07/a.md" in assert_equal([here, there])


def far_ahead(remote: Path, count: int) -> None:
    """Put `count` notes on the remote, by one stream into git."""
    tip = plain(remote, "rev-parse", "main").strip()
    lines = [b"commit refs/heads/main\ncommitter R <r@e> 1782900000 +0000\ndata 4\nmany\nfrom " + tip.encode() + b"\n"]
    for number in range(count):
        text = f"text: note {number}\ntitle: note {number}\n".encode()
        place = f"memory/2026-{number % 12 + 1:02}/many-{number}.md".encode()
        lines.append(b"M 100644 inline " + place + b"\ndata %d\n" % len(text) + text + b"\n")
    subprocess.run(["git", "-C", str(remote), "fast-import", "--quiet"], input=b"".join(lines), check=True)


def test_a_remote_ahead_by_2000_notes_comes_in_at_once_with_ours_on_top(tmp_path: Path) -> None:
    remote, (here,) = team(tmp_path, 1)
    remember(here, "ours", "text: ours\n")
    far_ahead(remote, 2000)
    outcome = run_sync(here)
    assert (outcome.state, outcome.pulled, outcome.rounds) == ("published", 2000, 1)
    files = tree(here)
    assert len([path for path in files if "/many-" in path]) == 2000
    assert "memory/2026-07/ours.md" in files
    assert plain(here, "status", "--porcelain") == ""
