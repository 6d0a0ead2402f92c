"""What people do with an editor, a file manager and plain git."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import TypeAlias

from . import texts
from .clones import Person
from .run import Run

Operation: TypeAlias = Callable[[Run, Person, random.Random], str | None]

MONTHS = ("2026-06", "2026-07", "2026-08")


def _edited(
    run: Run, person: Person, rng: random.Random, what: str, change: Callable[[str], str | None], under: str = ""
) -> str | None:
    path = run.pick(person, rng, under)
    before = run.world.read(person, path) if path else None
    if path is None or before is None:
        return None
    text = before.decode("utf-8", "surrogateescape")
    crlf = "\r\n" in text
    after = change(text.replace("\r\n", "\n"))
    if after is None:
        return None
    if crlf:
        after = after.replace("\n", "\r\n")
    run.save(person, path, after.encode("utf-8", "surrogateescape"))
    return f"{what} {path}"


def add(run: Run, person: Person, rng: random.Random) -> str | None:
    """A note of one's own, with or without frontmatter."""
    said = run.facts.new()
    path = f"memory/{rng.choice(MONTHS)}/by-hand-{run.number}.md"
    body = f"Seen by hand: {said}.\n\n## Details\n\n{run.facts.new()}"
    text = texts.note(f"By hand {run.number}", body) if rng.random() < 0.8 else f"# By hand {run.number}\n\n{body}\n"
    run.save(person, path, text.encode())
    return f"add {path}"


def add_same_name(run: Run, person: Person, rng: random.Random) -> str | None:
    """A note at a place where others may put one too."""
    path = f"memory/2026-07/shared-{rng.randrange(6)}.md"
    if run.world.read(person, path) is not None:
        return None
    said = run.facts.new()
    times = {"created_at": run.world.now(person)} if rng.random() < 0.7 else {}
    text = texts.note("A shared name", f"Mine: {said}.\n\n## Details\n\n{run.facts.new()}", **times)
    run.save(person, path, text.encode())
    return f"add {path}"


def edit_line(run: Run, person: Person, rng: random.Random) -> str | None:
    heading, said = rng.choice(texts.HEADINGS), run.facts.new()
    return _edited(
        run, person, rng, f"line below {heading} in", lambda text: texts.with_line(text, heading, f"- {said}")
    )


def edit_section(run: Run, person: Person, rng: random.Random) -> str | None:
    heading, said = rng.choice(texts.HEADINGS), run.facts.new()
    return _edited(
        run, person, rng, f"rewrite {heading} of", lambda text: texts.with_section(text, heading, [f"Anew: {said}."])
    )


def edit_start(run: Run, person: Person, rng: random.Random) -> str | None:
    """The text before the first heading, in other words."""
    said = run.facts.new()

    def change(text: str) -> str:
        front, body = texts.split(text)
        at = next((n for n, line in enumerate(body) if line.startswith("## ")), len(body))
        kept = [line for line in body[:at] if line.startswith("# ")]
        after = [*kept, f"Said otherwise: {said}.", "", *body[at:]]
        return texts.joined(front, after) if front else "\n".join(after)

    return _edited(run, person, rng, "rewrite the start of", change)


def edit_field(run: Run, person: Person, rng: random.Random) -> str | None:
    key, said = rng.choice(("summary", "title", "x-note", "repository")), run.facts.new()
    return _edited(run, person, rng, f"{key} of", lambda text: texts.with_field(text, key, f"Told {said}"))


def edit_list(run: Run, person: Person, rng: random.Random) -> str | None:
    key, said = rng.choice(("tags", "components", "relates", "x-list")), run.facts.new()
    if rng.random() < 0.7:
        return _edited(run, person, rng, f"more {key} in", lambda text: texts.with_item(text, key, said))
    number = rng.randrange(9)
    return _edited(
        run, person, rng, f"fewer {key} in",
        lambda text: texts.without_item(text, key, number) if texts.items(text, key) else None,
    )  # fmt: skip


def touch_time(run: Run, person: Person, rng: random.Random) -> str | None:
    return _edited(
        run, person, rng, "updated_at of", lambda text: texts.with_field(text, "updated_at", run.world.now(person))
    )


def change_line_ends(run: Run, person: Person, rng: random.Random) -> str | None:
    path = run.pick(person, rng)
    before = run.world.read(person, path) if path else None
    if path is None or before is None:
        return None
    after = before.replace(b"\r\n", b"\n") if b"\r\n" in before else before.replace(b"\n", b"\r\n")
    run.save(person, path, after)
    return f"line ends of {path}"


def supersede(run: Run, person: Person, rng: random.Random) -> str | None:
    """A replacement written by hand."""
    path = run.pick(person, rng)
    if path is None:
        return None
    old, said, now = run.id_of(person, path), run.facts.new(), run.world.now(person)
    text = texts.note(f"Now otherwise {run.number}", f"Since then: {said}.", supersedes=f"[{old}]", valid_from=now)
    run.save(person, f"memory/2026-07/replaces-{run.number}.md", text.encode())
    return f"supersede {path}"


def retract(run: Run, person: Person, rng: random.Random) -> str | None:
    said = run.facts.new()

    def change(text: str) -> str:
        return texts.with_field(texts.with_field(text, "status", "retracted"), "retract_reason", f"Wrong {said}")

    return _edited(run, person, rng, "retract", change, under="memory/")


def delete(run: Run, person: Person, rng: random.Random) -> str | None:
    path = run.pick(person, rng)
    if path is None:
        return None
    run.save(person, path, None)
    return f"delete {path}"


def delete_many(run: Run, person: Person, rng: random.Random) -> str | None:
    """A folder's worth at once: held until somebody accepts it or puts it back."""
    paths = run.notes(person, "memory/2026-06/")
    if len(paths) < 3:
        return None
    for path in paths:
        run.causes.doubted(texts.tokens(run.world.read(person, path)))
        run.save(person, path, None)
    return f"delete {len(paths)} notes"


def move(run: Run, person: Person, rng: random.Random) -> str | None:
    """To another folder, or under another name."""
    path = run.pick(person, rng)
    if path is None:
        return None
    top, _, name = path.partition("/")
    name = name.rpartition("/")[2]
    if rng.random() < 0.3:
        name = f"{name[:-3]}-renamed.md"
    target = f"{top}/{rng.choice(MONTHS)}/{name}"
    data = run.world.read(person, path)
    if target == path or data is None or run.world.read(person, target) is not None:
        return None
    place = person.root / target
    place.parent.mkdir(parents=True, exist_ok=True)
    (person.root / path).rename(place)
    run.causes.edited(person.name, texts.tokens(data), texts.tokens(data))
    return f"move {path} to {target}"


def work(run: Run, person: Person, rng: random.Random) -> str | None:
    """A work record is begun, goes on, or ends."""
    under = "work-state/"
    if rng.random() < 0.4 or not run.notes(person, under):
        now = run.world.now(person)
        text = texts.note(
            f"Working {run.number}", f"Plan: {run.facts.new()}.", status="in-progress", started_at=now, updated_at=now,
            owner=person.name, files="[src/a.py]", lease_until=now,
        )  # fmt: skip
        path = f"work-state/2026-07/work-{run.number}.md"
        run.save(person, path, text.encode())
        return f"start {path}"
    now, said = run.world.now(person), run.facts.new()
    if rng.random() < 0.6:
        return _edited(
            run, person, rng, "work on", lambda text: texts.with_line(text, "Details", f"- {said}"), under
        )  # fmt: skip

    def done(text: str) -> str:
        text = texts.with_field(texts.with_field(text, "status", "completed"), "completed_at", now)
        return texts.with_field(text, "updated_at", now)

    return _edited(run, person, rng, "complete", done, under)


def edit_derived(run: Run, person: Person, rng: random.Random) -> str | None:
    """A file that is made from the notes, changed or removed by hand: nobody's fact."""
    found = sorted(path.relative_to(person.root).as_posix() for path in person.root.glob("*/**/INDEX.md"))
    path = rng.choice([*found, "COMMONWEALTH.md"])
    place = person.root / path
    if rng.random() < 0.3:
        place.unlink(missing_ok=True)
    else:
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("ab") as file:
            file.write(b"by hand\n")
    return f"derived {path}"


def break_note(run: Run, person: Person, rng: random.Random) -> str | None:
    """A note left unreadable, and mended later by whoever did it."""
    path = run.pick(person, rng)
    before = run.world.read(person, path) if path else None
    if path is None or before is None or not before.startswith(b"---\n"):
        return None
    said = run.facts.new()
    run.save(person, path, before.replace(b"---\n", b"---\n" + texts.HALF_WRITTEN + f"{said}\n".encode(), 1))
    person.broken.add(path)
    run.causes.doubted(texts.tokens(before))
    return f"break {path}"


def mend_note(run: Run, person: Person, rng: random.Random) -> str | None:
    if not person.broken:
        return None
    path = min(person.broken)
    run.mend(person, path)
    return f"mend {path}"


def settle_conflict(run: Run, person: Person, rng: random.Random) -> str | None:
    """Somebody decides: one version's words go into the other, or one is dropped."""
    found = [path for path in run.notes(person) if b"\nconflict_of:" in (run.world.read(person, path) or b"")]
    if not found:
        return None
    path = rng.choice(found)
    run.save(person, path, None)
    return f"settle {path}"


def git_commit(run: Run, person: Person, rng: random.Random) -> str | None:
    """Everything, as people do."""
    if run.busy(person):
        return None
    # Nobody else is at work here: as git advises, the lock of a git that was killed is removed.
    (person.root / ".git/index.lock").unlink(missing_ok=True)
    run.world.git(person, "add", "-A")
    run.world.tried(person, "commit", "-q", "-m", f"By hand {run.number}")
    return "git commit"


def git_pull(run: Run, person: Person, rng: random.Random) -> str | None:
    """A merge or a rebase by hand, which may stop at a conflict and stay so for a while."""
    if run.busy(person) or not person.linked:
        return None
    how = rng.choice(("--no-rebase", "--rebase"))
    run.causes.muddled(person.name)
    run.world.tried(person, "pull", "-q", "--no-edit", how, "origin", "main")
    if not run.busy(person):
        run.choose_sides(person, rng)
    if run.busy(person) and rng.random() < 0.6:
        return f"git pull {how}: {end_operation(run, person, rng)}"
    return f"git pull {how}" + (": left in the middle" if run.busy(person) else "")


def end_operation(run: Run, person: Person, rng: random.Random) -> str | None:
    """What was left in the middle is ended, or undone."""
    what = run.busy(person)
    if what is None:
        return None
    return run.give_up(person, what) if rng.random() < 0.3 else run.go_on(person, what, rng)


def git_push(run: Run, person: Person, rng: random.Random) -> str | None:
    if run.busy(person) or not person.linked:
        return None
    run.world.tried(person, "push", "-q", "origin", "HEAD:main")
    return "git push"


HAND: Mapping[Operation, int] = {
    add: 5, add_same_name: 5, edit_line: 8, edit_section: 5, edit_start: 4, edit_field: 7, edit_list: 6, touch_time: 2,
    change_line_ends: 1, supersede: 3, retract: 2, delete: 2, delete_many: 1, move: 5, work: 5, edit_derived: 3,
    break_note: 1, mend_note: 2, settle_conflict: 3,
}  # fmt: skip
GIT: Mapping[Operation, int] = {git_commit: 2, git_pull: 2, end_operation: 6}
GIT_ONLY: Mapping[Operation, int] = {git_commit: 14, git_pull: 12, git_push: 10}
"""By how much more often those do it who have nothing else."""
