"""A small stand-in for the real notes: `key: value` lines, merged key by key. Run as a program, it writes and
syncs like any other process, so that tests can kill it."""

from __future__ import annotations

import hashlib
import random
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from commonwealth.errors import BadNote
from commonwealth.model import Finding
from commonwealth.repo.commit import Change, commit
from commonwealth.repo.content import Content, Merged, Snapshot
from commonwealth.repo.git import Git
from commonwealth.repo.sync import Consent, Outcome, sync

NOW = "2026-07-01T12:00:00Z"
FOLDERS = {"memory": "memory", "decisions": "decision"}


@dataclass(frozen=True)
class Writer:
    name: str = "Alice"
    email: str = "alice@example.com"


def owns(path: str) -> str | None:
    if not path.endswith(".md") or path.endswith("INDEX.md"):
        return None
    return FOLDERS.get(path.split("/", maxsplit=1)[0]) if "/" in path else None


def is_derived(path: str) -> bool:
    return path == "ROUTER.md" or (path.endswith("/INDEX.md") and path.split("/", maxsplit=1)[0] in FOLDERS)


def parse(data: bytes, path: str) -> dict[str, str]:
    values = {}
    for number, line in enumerate(data.decode("utf-8").splitlines(), 1):
        key, colon, value = line.partition(": ")
        if not colon:
            raise BadNote(path, number, "no colon")
        values[key] = value
    return values


def render(values: Mapping[str, str]) -> bytes:
    return "".join(f"{key}: {value}\n" for key, value in sorted(values.items())).encode()


def check(path: str, data: bytes) -> str | None:
    if owns(path) is None:
        return None
    try:
        parse(data, path)
    except BadNote as error:
        return error.cause
    except UnicodeDecodeError:
        return "not UTF-8"
    return None


def scan(path: str, data: bytes) -> list[Finding]:
    where = "text" if b"SECRET" in data else "path" if "SECRET" in path else ""
    return [Finding(rule="test", where=where)] if where else []


def merge(base: bytes | None, ours: bytes, theirs: bytes, path: str) -> Merged:
    old = parse(base, path) if base is not None else {}
    one, two = parse(ours, path), parse(theirs, path)
    result: dict[str, str] = {}
    lost: dict[str, str] = {}
    for key in sorted(one.keys() | two.keys() | old.keys()):
        mine, other, before = one.get(key), two.get(key), old.get(key)
        if mine != other and before not in (mine, other):
            values = sorted(value for value in (mine, other) if value is not None)
            chosen: str | None = values[-1]
            if len(values) == 2:
                lost[key] = values[0]
        else:
            chosen = other if mine in (before, other) else mine
        if chosen is not None:
            result[key] = chosen
    siblings = {}
    if lost:
        kept = render({"conflict_of": path, **lost})
        siblings[f"{path[:-3]}-{hashlib.sha1(kept).hexdigest()[:8]}.md"] = kept
    return Merged(render(result), siblings)


def derive(paths: frozenset[str] | None, snapshot: Snapshot) -> dict[str, bytes | None]:
    folders = set()
    if paths is None:
        for top in FOLDERS:
            folders |= {f"{top}/{name}" for name, is_folder in snapshot.list(top).items() if is_folder}
    else:
        folders = {path.rsplit("/", 1)[0] for path in paths if owns(path) or is_derived(path)} - {"ROUTER.md"}
    files: dict[str, bytes | None] = {}
    for folder in sorted(folders):
        names = sorted(name for name in snapshot.list(folder) if owns(f"{folder}/{name}"))
        files[f"{folder}/INDEX.md"] = "".join(f"- {name}\n" for name in names).encode() if names else None
    below = [f"{top}/{name}" for top in FOLDERS for name in sorted(snapshot.list(top))]
    tops = [path for path in below if any(owns(f"{path}/{name}") for name in snapshot.list(path))]
    files["ROUTER.md"] = "".join(f"{name}\n" for name in tops).encode() if tops else None
    return files


def disputes(path: str, data: bytes) -> str | None:
    if owns(path) is None or not data.startswith(b"conflict_of: "):
        return None
    return Path(data.decode("utf-8", "replace").splitlines()[0].removeprefix("conflict_of: ")).stem


CONTENT = Content(
    watched=("memory", "decisions", ".commonwealth", "ROUTER.md"),
    owns=owns,
    is_derived=is_derived,
    is_config=lambda path: path == ".commonwealth/config.yaml",
    check=check,
    scan=scan,
    merge=merge,
    derive=derive,
    disputes=disputes,
)


def remember(folder: Path, name: str, text: str, who: str = "Alice", month: str = "2026-07") -> str:
    """Commit one new note."""
    change = Change(f"memory/{month}/{name}.md", text.encode())
    return commit(Git(folder), [change], f"Remember {name}", Writer(who), now=NOW, content=CONTENT, timeout=30)


def run_sync(
    folder: Path,
    who: str = "Alice",
    *,
    timeout: float = 30,
    push: bool = True,
    consent: Consent | None = None,
    now: str = NOW,
) -> Outcome:
    rng = random.Random(str(folder))
    return sync(Git(folder), CONTENT, Writer(who), now=now, timeout=timeout, push=push, consent=consent, rng=rng)


CONSENTS = {"sync": Consent(), "adopt": Consent(adopt_remote=True), "request": Consent(request="brain/alice")}


def main(words: list[str]) -> None:
    """`remember FOLDER NAME TEXT`, `sync FOLDER` (or `adopt`, `request`), `many FOLDER PREFIX COUNT`, `session` as
    `many`."""
    verb, folder = words[0], Path(words[1])
    if verb == "remember":
        print(remember(folder, words[2], words[3]))
    elif verb in CONSENTS:
        outcome = run_sync(folder, consent=CONSENTS[verb])
        print(outcome.state, outcome.trouble or "")
    else:
        for number in range(int(words[3])):
            remember(folder, f"{words[2]}-{number}", f"text: {words[2]} {number}\n", words[2])
        if verb == "session":
            outcome = run_sync(folder, words[2], timeout=60)
            print(outcome.state, outcome.trouble or "")


if __name__ == "__main__":
    main(sys.argv[1:])
