"""Secrets that are in the history already: found by the doctor, and gone after the steps of the manual."""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path

from commonwealth.flows import allowed, leaks, syncing
from commonwealth.flows.brains import Brain
from commonwealth.flows.doctor import Check, doctor
from tests.curate import tokens

from .conftest import PlainGit, Teammate, note_text, record, search_all, write

WHO = ("-c", "user.name=Al", "-c", "user.email=al@example.com")


def token(seed: object) -> str:
    return tokens.make("ghp_{36:b62}", random.Random(f"20261202 {seed}"))


def commit(git: PlainGit, brain: Brain, path: str, text: str, *more: str) -> None:
    write(brain, {path: text})
    git(brain.root, "add", "-f", path)
    git(brain.root, *WHO, "commit", "-q", "-m", "by hand", *more)


def told(brain: Brain) -> list[Check]:
    return [check for check in doctor(str(brain.root), "/") if check.name == "secrets"]


def places(brain: Brain) -> list[str]:
    return [leak.place for leak in leaks.look(brain).leaks]


def test_a_secret_that_was_replaced_in_a_later_commit_is_still_found(brain: Brain, git: PlainGit) -> None:
    value = token("replaced")
    commit(git, brain, "memory/leak.md", note_text("Leak", f"{value}\n"))
    first = git(brain.root, "rev-parse", "--short", "HEAD").strip()
    commit(git, brain, "memory/leak.md", note_text("Leak", "redacted\n"))
    (check,) = told(brain)
    assert (check.state, value in repr(check)) == ("warn", False)
    assert f"memory/leak.md, line 4 (github-token), commit {first}" in check.message
    assert "Revoke" in str(check.hint)
    state = Path(brain.root, ".git", "commonwealth", "history-secrets.json")
    assert value not in state.read_text(encoding="utf-8")


def test_every_ref_and_every_kind_of_object_is_looked_through(brain: Brain, git: PlainGit) -> None:
    root = brain.root
    for where in ("another branch", "a tag", "a tag's message", "git's notes", "a name", "a message"):
        value = token(where)
        match where:
            case "another branch" | "a tag":
                commit(git, brain, "src/a.py", f"KEY = '{value}'\n")
                git(root, "branch" if where == "another branch" else "tag", f"aside-{len(where)}")
                git(root, "reset", "-q", "--hard", "HEAD~1")
            case "a tag's message":
                git(root, *WHO, "tag", "-a", "-m", f"said {value}", "v1")
            case "git's notes":
                git(root, *WHO, "notes", "add", "-m", f"said {value}")
            case "a name":
                commit(git, brain, f"memory/{value}.md", note_text("x"))
                git(root, "rm", "-q", f"memory/{value}.md")
                git(root, *WHO, "commit", "-q", "-m", "away")
            case _:
                commit(git, brain, "memory/x.md", note_text("x"), "-m", value)
        found = leaks.look(brain).leaks
        assert allowed.sign(value) in {leak.fingerprint for leak in found}, where
        assert value not in repr(found)
    every = leaks.look(brain).leaks
    assert len(every) == 6
    assert not any(leak.published for leak in every)


def test_a_second_look_reads_only_what_is_new_and_forgets_what_is_gone(brain: Brain, git: PlainGit) -> None:
    commit(git, brain, "memory/leak.md", note_text("Leak", f"{token(1)}\n"))
    everything = leaks.look(brain).objects
    assert everything > 5
    again = leaks.look(brain)
    assert (again.objects, len(again.leaks)) == (0, 1)
    commit(git, brain, "memory/second.md", note_text("Second", f"{token(2)}\n"))
    third = leaks.look(brain)
    assert 0 < third.objects <= 4
    assert places(brain) == ["memory/leak.md, line 4", "memory/second.md, line 4"]
    git(brain.root, "reset", "-q", "--hard", "HEAD~2")
    assert places(brain) == []


def test_a_look_that_runs_out_of_time_goes_on_the_next_time(brain: Brain, git: PlainGit) -> None:
    for number in range(300):
        write(brain, {f"memory/{number}.md": note_text(f"Note {number}")})
    commit(git, brain, "memory/zz.md", note_text("Leak", f"{token('late')}\n"))
    git(brain.root, "add", "-A")
    git(brain.root, "commit", "-q", "-m", "many")
    short = leaks.look(brain, seconds=0)
    assert short.left > 0
    rest = leaks.look(brain)
    assert rest.left == 0
    assert len(rest.leaks) == 1


def test_a_memory_that_cannot_be_read_is_made_anew(brain: Brain, git: PlainGit) -> None:
    commit(git, brain, "memory/leak.md", note_text("Leak", f"{token(1)}\n"))
    place = Path(brain.root, ".git", "commonwealth", "history-secrets.json")
    for damage in ("", "{", "[]", '{"edition": 2}', '{"edition": 2, "tips": 1, "done": [], "found": []}'):
        leaks.look(brain)
        place.write_text(damage, encoding="utf-8")
        assert len(places(brain)) == 1, damage


def test_what_a_person_has_allowed_is_none(brain: Brain, git: PlainGit) -> None:
    commit(git, brain, "memory/leak.md", note_text("Leak", f"{token(1)}\n"))
    (leak,) = leaks.look(brain).leaks
    assert leak.fingerprint in str(told(brain)[0].hint)
    allowed.allow(leak.fingerprint, "a sample")
    assert [check.state for check in told(brain)] == ["ok"]
    allowed.revoke(leak.fingerprint)
    assert len(places(brain)) == 1


def test_a_published_secret_is_purged_by_the_steps_of_the_manual(
    team: tuple[Teammate, Teammate], remote: Path, tmp_path: Path, git: PlainGit
) -> None:
    alice, bob = team
    value = token("published")
    brain = alice.act()
    kept = record(brain, "Kept", body="This stays.").ids[0]
    commit(git, brain, "memory/leak.md", note_text("Leak", f"before {value} after\n"))
    commit(git, brain, "memory/leak.md", note_text("Leak", "redacted\n"))
    git(brain.root, "push", "-q", "origin", "main")  # by hand, past our door
    assert syncing.sync(brain).state in ("unchanged", "published")
    theirs = bob.act()
    assert syncing.sync(theirs).state in ("unchanged", "published")
    (check,) = told(theirs)
    assert (check.state, "docs/secrets.md" in str(check.hint)) == ("fail", True)

    manual = (Path(__file__).parents[2] / "docs" / "secrets.md").read_text(encoding="utf-8")
    (script,) = re.findall(r"```sh\n(# plain git\n.*?)```", manual, re.DOTALL)
    script = script.replace("URL", str(remote)).replace("VALUE", value)
    done = subprocess.run(["sh", "-euc", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (server,) = re.findall(r"```sh\n(# on the server\n.*?)```", manual, re.DOTALL)
    subprocess.run(["sh", "-euc", server], cwd=remote, capture_output=True, check=True)
    assert search_all(remote, value) == []

    for one in (bob, alice):
        here = one.act()
        assert syncing.sync(here).state == "refused"
        assert syncing.sync(here, adopt_remote=True).state in ("published", "unchanged", "committed")
        (after,) = re.findall(r"```sh\n(# every clone\n.*?)```", manual, re.DOTALL)
        subprocess.run(["sh", "-euc", after], cwd=here.root, capture_output=True, check=True)
        assert search_all(here.root, value) == []
        assert [found.state for found in told(here)] == ["ok"]
        assert "This stays." in next(here.root.rglob(f"{kept}.md")).read_text(encoding="utf-8")
    assert search_all(remote, value) == []
