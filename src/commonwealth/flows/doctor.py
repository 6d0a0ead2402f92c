"""The doctor: looks at everything that has to work here, names what is wrong, and says what to do about it."""

from __future__ import annotations

import os
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass

from commonwealth import config
from commonwealth.errors import BrainError
from commonwealth.flows import brains, indexing, recall, syncing
from commonwealth.flows.brains import Brain
from commonwealth.flows.content import content_of
from commonwealth.flows.upkeep import SETTLE, summary
from commonwealth.index import health, lookup, schema
from commonwealth.notes import listing
from commonwealth.repo.git import Git
from commonwealth.repo.head import git_locks
from commonwealth.repo.pending import blocked, pending
from commonwealth.repo.sync import read_debt


@dataclass(frozen=True, slots=True)
class Check:
    """One thing the doctor looked at. `state` is ok, note, warn or fail."""

    name: str
    state: str
    message: str
    hint: str | None = None


def doctor(selector: str | None, cwd: str) -> tuple[Check, ...]:
    """Look at everything that has to work here, and say what does not and how to mend it. Changes nothing."""
    checks = list(_machine())
    try:
        brain = brains.resolve(selector, cwd)
    except BrainError as error:
        return (*checks, Check("brain", "fail", error.message, error.hint))
    checks.append(Check("brain", "ok", f"{brain.name} at {brain.root}"))
    checks += [Check("config", "warn", text) for text in brain.config.warnings]
    for look in (_notes, _conflicts, _twins, _repository, _index):
        checks += _guarded(look, brain)
    return tuple(checks)


def _guarded(look: Callable[[Brain], Iterator[Check]], brain: Brain) -> list[Check]:
    try:
        return list(look(brain))
    except BrainError as error:
        return [Check(look.__name__.strip("_"), "fail", error.message, error.hint)]


def _machine() -> Iterator[Check]:
    try:
        version = Git(os.getcwd()).text("--version")
        yield Check("git", "ok", version)
    except BrainError as error:
        yield Check("git", "fail", error.message, error.hint)
    try:
        rules = config.load_registry().rules
        yield Check("rules", "ok", f"{len(rules)} in {config.registry_path()}")
        for text in config.load_user_config().warnings:
            yield Check("settings", "warn", text, "Mend or remove that line.")
    except BrainError as error:
        yield Check("rules", "fail", error.message, error.hint)
    home = config.home()
    if home.exists() and not os.access(home, os.W_OK):
        yield Check("home", "fail", f"{home} cannot be written.", "Give yourself the right to write there.")


def _conflicts(brain: Brain) -> Iterator[Check]:
    for about in indexing.ask(brain, summary)[1]:
        yield Check("conflicts", "warn", f"{about} has versions or replacements that cannot both stand.", SETTLE)


def _notes(brain: Brain) -> Iterator[Check]:
    found = recall.problems(brain)
    for problem in found:
        hint = "Mend the file in an editor; until then it is left untouched." if problem.fatal else None
        yield Check("notes", "fail" if problem.fatal else "note", str(problem), hint)
    for note_id, paths in indexing.ask(brain, health.doubled_ids).items():
        hint = "Give one of them another `id`, or remove the copy."
        yield Check("notes", "warn", f"The id {note_id} is in {' and in '.join(paths)}.", hint)
    if not found:
        total = sum(indexing.ask(brain, lookup.counts).values())
        yield Check("notes", "ok", f"{total} notes, all readable")


def _twins(brain: Brain) -> Iterator[Check]:
    """Names that some file systems cannot tell apart."""
    seen: set[str] = set()
    todo = list(brain.folders.values())
    while todo:
        here = todo.pop()
        if here in seen:
            continue
        seen.add(here)
        found = listing.list_folder(brain.root, here, brain.folders)
        todo += found.folders
        names = defaultdict(list)
        for path in (*(path for path, _, _ in found.files), *found.folders):
            names[unicodedata.normalize("NFC", path).casefold()].append(path)
        for paths in names.values():
            if len(paths) > 1:
                message = f"{' and '.join(paths)} differ in case or normal form only."
                yield Check("names", "warn", message, "Rename one; macOS and Windows see one file.")


def _repository(brain: Brain) -> Iterator[Check]:
    git = Git(brain.root)
    open_work = pending(git, content_of(brain))
    in_the_way = blocked(git, content_of(brain))
    for path, cause in in_the_way:
        yield Check("folders", "warn", f"{path} is {cause}.", "Move it away, then `brain sync`.")
    for path, cause in open_work.held:
        if (path, cause) in in_the_way:
            continue
        yield Check("edits", "warn", f"{path} is not committed: {cause}.", "Mend it, then `brain sync`.")
    for path in open_work.strays:
        yield Check("strays", "note", f"{path} is no note and is never committed.", "Move it out, or ignore it.")
    for place, age in git_locks(git):
        hint = "If no git process runs in this clone, remove that file."
        yield Check("locks", "warn", f"git's lock {place} is {int(max(age, 0))} s old.", hint)
    debt = read_debt(git)
    if debt is not None:
        yield Check("sync", "warn", f"Not published since {debt.since}: {debt.reason}", "`brain sync` tries again.")
    if not syncing.has_remote(brain):
        yield Check("sync", "note", "This brain has no remote.", "`git remote add origin URL` makes it shared.")
    yield Check("hooks", "note", "Git hooks of this clone do not run on commits that `brain` makes.")


def _index(brain: Brain) -> Iterator[Check]:
    indexing.ensure(brain, sweep=True)
    with closing(schema.connect(brain.index_dir, read_only=False)) as conn:
        files, damage = health.file_count(conn), health.damage(conn)
    if damage:
        yield Check("index", "fail", f"The search index is damaged: {damage.rstrip('.')}.", "`brain rebuild-index`.")
    else:
        yield Check("index", "ok", f"{files} files")
