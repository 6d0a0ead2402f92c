"""The suite again under settings that a machine may have: `python -m tests.reliability.switches [NAME …]`.

Each switch changes one thing around the same tests: a kind of repository, git's global configuration, locale, time
zone, file modes, odd paths, hash seeds and order, warnings as errors.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .actor import REPOSITORY

SELECTION = (
    "tests/notes",
    "tests/flows",
    "tests/repo/test_sync.py",
    "tests/repo/test_commit.py",
    "tests/repo/test_move.py",
)
TEAM = ("tests/reliability/test_convergence.py",)
HOSTILE = """
[commit]
	gpgSign = true
	template = /nonexistent/template
[tag]
	gpgSign = true
[gpg]
	program = false
[init]
	templateDir = /nonexistent/templates
[core]
	hooksPath = /nonexistent/hooks
	quotePath = true
	pager = false
	editor = false
	excludesFile = /nonexistent/excludes
[branch]
	autoSetupRebase = always
[pull]
	ff = only
[merge]
	ff = false
	conflictStyle = diff3
[rebase]
	autoStash = true
	autoSquash = true
[status]
	showUntrackedFiles = no
	short = true
[diff]
	noprefix = true
	external = false
	renames = copies
[color]
	ui = always
[log]
	showSignature = true
[push]
	default = nothing
	followTags = true
[fetch]
	prune = true
[alias]
	status = !false
"""
"""What a person may have in their own configuration. Plain git of the same person is left usable: see `usable`."""

USABLE = HOSTILE.replace("gpgSign = true", "gpgSign = false").replace("template = /nonexistent/template\n", "\n")
CRLF = "\n[core]\n\tautocrlf = true\n\tsafecrlf = false\n\teol = crlf\n"


@dataclass(frozen=True)
class Switch:
    """One setting: variables, words for pytest, a umask, and which tests."""

    name: str
    variables: Mapping[str, str] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    umask: int = -1
    folder: str = ""
    tests: tuple[str, ...] = SELECTION


SWITCHES = (
    Switch("sha-256 repositories", {"RELIABILITY_OBJECT_FORMAT": "sha256"}, tests=TEAM),
    Switch("autocrlf", {"RELIABILITY_GITCONFIG": CRLF}, tests=TEAM),
    Switch("hostile gitconfig", {"RELIABILITY_GITCONFIG": USABLE}, tests=TEAM),
    Switch("LANG=C", {"LANG": "C", "LC_ALL": "C", "LANGUAGE": ""}),
    Switch("Turkish", {"LANG": "tr_TR.UTF-8", "LC_ALL": "tr_TR.UTF-8", "LANGUAGE": "tr"}),
    Switch("UTC+14", {"TZ": "XXX-14"}),
    Switch("UTC-12", {"TZ": "XXX+12"}),
    # That test plays another user, who by this very setting may read nothing.
    Switch("umask 077", umask=0o077, words=("-k", "not a_brain_of_somebody_elses_is_read")),
    Switch("spaces and accents", folder="a brain é ü"),
    Switch("random hashes and order", words=("-p", "tests.reliability.shuffled")),
    Switch("warnings as errors", {"PYTHONWARNDEFAULTENCODING": "1", "PYTHONDEVMODE": "1"}),
)


def run_switch(switch: Switch, seed: int) -> str | None:
    """The suite under one switch; the end of what pytest said where it failed."""
    base = Path(tempfile.mkdtemp(prefix="switch-"))
    folder = base / (switch.folder or "plain")
    folder.mkdir()
    environment = {
        **os.environ,
        "PYTHONHASHSEED": str(seed % 2**32),
        "RELIABILITY_ORDER": str(seed),
        **switch.variables,
    }
    words = [
        "-q",
        "-n",
        "2",
        "--dist",
        "loadfile",
        "-p",
        "no:cacheprovider",
        "--basetemp",
        str(folder / "pytest"),
        *switch.words,
        *switch.tests,
    ]
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *words],
            cwd=REPOSITORY, env=environment, umask=switch.umask, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
    finally:
        shutil.rmtree(base, ignore_errors=True)
    said = done.stdout.decode("utf-8", "replace")
    return None if done.returncode == 0 else f"under {switch.name} (seed {seed}):\n{said[-4000:]}"


def run_all(names: Iterable[str] = ()) -> list[str]:
    """The suite under every switch, or those named; the failures."""
    wanted, failed = set(names), []
    for switch in SWITCHES:
        if wanted and switch.name not in wanted:
            continue
        seed, started = random.SystemRandom().randrange(2**31), time.monotonic()
        failure = run_switch(switch, seed)
        print(
            f"{switch.name}: {'holds' if failure is None else 'FAILS'} ({time.monotonic() - started:.0f} s)", flush=True
        )
        if failure is not None:
            failed.append(failure)
    return failed


if __name__ == "__main__":
    found = run_all(sys.argv[1:])
    print("\n\n".join(found))
    sys.exit(1 if found else 0)
