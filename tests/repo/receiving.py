"""Bare repositories that take push options and say what a host would say, with everything that arrives written down."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

from .brains import plain

_HOOK = """#!/bin/sh
echo "push" >> '{log}'
i=0
while [ "$i" -lt "${{GIT_PUSH_OPTION_COUNT:-0}}" ]; do
  eval "printf 'option %s\\n' \\"\\$GIT_PUSH_OPTION_$i\\"" >> '{log}'
  i=$((i + 1))
done
while read -r old new ref; do printf 'ref %s\\n' "$ref" >> '{log}'; done
{then}
"""

_AGIT = '''#!{python}
"""Takes pushes to refs/for/ as a host does that makes requests of them (the protocol of git's proc-receive hook)."""
import subprocess, sys
inp, out = sys.stdin.buffer, sys.stdout.buffer
def lines():
    while True:
        size = int(inp.read(4), 16)
        if size == 0:
            return
        yield inp.read(size - 4)
def send(*texts):
    for text in texts:
        out.write(b"%04x" % (len(text) + 4) + text)
    out.write(b"0000"); out.flush()
hello = list(lines())
options = b"push-options" in hello[0]
send(b"version=1\\0push-options" if options else b"version=1")
commands = [line.decode().split() for line in lines()]
given = [line.decode().rstrip() for line in lines()] if options else []
with open({log!r}, "a", encoding="utf-8") as log:
    log.writelines(f"option {{one}}\\n" for one in given)
    log.writelines(f"ref {{ref}}\\n" for _, _, ref in commands)
topic = next((one.partition("=")[2] for one in given if one.startswith("topic=")), "none")
for _, new, ref in commands:
    subprocess.run(["git", "update-ref", "refs/pull/" + topic + "/head", new], check=True)
print("Visit the existing pull request:\\n  {url}/pulls/7 merges into main", file=sys.stderr)
send(*[f"ok {{ref}}".encode() for _, _, ref in commands])
'''


def listen(bare: Path, *, then: str = "exit 0") -> Path:
    """Write down each push to `bare` with its options, then run `then`; the log."""
    log = bare.parent / f"{bare.name}.log"
    log.touch()
    plain(bare, "config", "receive.advertisePushOptions", "true")
    plain(bare, "config", "http.receivepack", "true")
    hook(bare, "pre-receive", _HOOK.format(log=log, then=then))
    return log


def takes_agit(bare: Path, url: str) -> Path:
    """Take pushes to `refs/for/` as requests; the log."""
    log = bare.parent / f"{bare.name}.log"
    log.touch()
    plain(bare, "config", "receive.advertisePushOptions", "true")
    plain(bare, "config", "http.receivepack", "true")
    plain(bare, "config", "receive.procReceiveRefs", "refs/for")
    hook(bare, "proc-receive", _AGIT.format(python=sys.executable, log=str(log), url=url))
    return log


def hook(bare: Path, name: str, text: str) -> None:
    place = bare / "hooks" / name
    place.write_text(text, encoding="utf-8")
    place.chmod(place.stat().st_mode | stat.S_IXUSR)


def options(log: Path) -> list[str]:
    """The push options that arrived."""
    lines = log.read_text(encoding="utf-8").splitlines()
    return [line.removeprefix("option ") for line in lines if line.startswith("option ")]


def refs(log: Path) -> list[str]:
    """The refs that somebody tried to push."""
    lines = log.read_text(encoding="utf-8").splitlines()
    return [line.removeprefix("ref ") for line in lines if line.startswith("ref ")]
