"""The doctor: looks at everything that has to work here, names what is wrong, and says what to do about it."""

from __future__ import annotations

import os
import shlex
import sqlite3
import stat
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from commonwealth import config, userconfig
from commonwealth.errors import BadNote, BrainError
from commonwealth.flows import allowed, brains, identity, leaks, looking, standing, syncing
from commonwealth.flows.brains import Brain
from commonwealth.flows.content import content_of
from commonwealth.flows.upkeep import SETTLE, summary
from commonwealth.index import health, lookup, schema
from commonwealth.notes import derived, listing, naming, store, waiting
from commonwealth.repo import deletions, examine, ownfolders
from commonwealth.repo.common import git_at
from commonwealth.repo.git import Git
from commonwealth.repo.move import ABSENT
from commonwealth.repo.pending import Pending, blocked, pending
from commonwealth.repo.sync import read_debt

_SHOWN = 5
_SHOWN_STRAYS = 20


@dataclass(frozen=True, slots=True)
class Check:
    """One thing the doctor looked at. `state` is ok, note, warn or fail."""

    name: str
    state: str
    message: str
    hint: str | None = None


def doctor(selector: str | None, cwd: str, say: Callable[[str], None] = lambda _: None) -> tuple[Check, ...]:
    """Look at everything that has to work here, and say what does not and how to mend it. Changes nothing.

    `say` is told how far it is where that takes its time.
    """
    checks = list(_machine())
    try:
        brain = brains.resolve(selector, cwd)
    except BrainError as error:
        return (*checks, Check("brain", "fail", error.message, error.hint))
    checks.append(Check("brain", "ok", f"{brain.name} at {brain.root}"))
    checks += [Check("config", "warn", text) for text in brain.config.warnings]
    checks += _guarded("person", lambda: _person(brain))
    checks += _guarded("files", lambda: _of_index(brain))
    checks += _guarded("names", lambda: _twins(brain))
    checks += _guarded("queue", lambda: _queue(brain))
    broken = _guarded("git", lambda: _clone(brain))
    checks += broken + _gone_remote(brain)
    if not any(check.state == "fail" and check.name == "git" for check in broken):
        checks += _guarded("repository", lambda: _repository(brain))
        checks += _guarded("secrets", lambda: _leaks(brain, say))
    return tuple(checks)


def _guarded(name: str, look: Callable[[], Iterator[Check]]) -> list[Check]:
    checks: list[Check] = []
    try:
        checks.extend(look())
    except BrainError as error:
        checks.append(Check(name, "fail", error.message, error.hint))
    except OSError as error:
        checks.append(Check(name, "fail", f"Something could not be looked at: {error}.", "Mend it, then ask again."))
    return checks


def _machine() -> Iterator[Check]:
    try:
        version = Git(os.getcwd()).text("--version")
        yield Check("git", "ok", version)
    except BrainError as error:
        yield Check("git", "fail", error.message, error.hint)
    try:
        rules = config.load_registry().rules
        yield Check("rules", "ok", f"{len(rules)} in {config.registry_path()}")
        for text in userconfig.load().warnings:
            yield Check("settings", "warn", text, "Mend or remove that line.")
    except BrainError as error:
        yield Check("rules", "fail", error.message, error.hint)
    try:
        allowed.load()
    except BrainError as error:
        yield Check("allowed", "warn", error.message, error.hint)
    home = config.home()
    if home.exists() and not os.access(home, os.W_OK):
        yield Check("home", "fail", f"{home} cannot be written.", "Give yourself the right to write there.")


def _person(brain: Brain) -> Iterator[Check]:
    person = identity.whoami(brain)
    if person.email:
        yield Check("person", "ok", f"{person.name} <{person.email}>")
        return
    hint = "`git config --global user.email you@example.com`, or `COMMONWEALTH_AUTHOR_EMAIL`."
    yield Check("person", "note", f"Commits are by {person.name}, without an e-mail address.", hint)


def _of_index(brain: Brain) -> Iterator[Check]:
    """What an index of the files as they are says, and how the brain's own index is."""
    try:
        with looking.look(brain) as found:
            yield from _notes(brain, found.answers)
            for about in summary(found.answers)[1]:
                message = f"{about} has versions or replacements that cannot both stand."
                yield Check("conflicts", "warn", message, SETTLE)
            yield from _index(brain, found)
    except OSError as error:
        yield Check("index", "fail", f"No temporary index could be made ({error}).", "Make room on that disk.")


def _notes(brain: Brain, answers: sqlite3.Connection) -> Iterator[Check]:
    found = lookup.problems(answers)
    for problem in found:
        hint = _mend_file(brain, problem.path) if problem.fatal else None
        yield Check("notes", "fail" if problem.fatal else "note", str(problem), hint)
    for note_id, paths in health.doubled_ids(answers).items():
        hint = "Give one of them another `id`, or remove the copy."
        yield Check("notes", "warn", f"The id {note_id} is in {' and in '.join(paths)}.", hint)
    if not found:
        yield Check("notes", "ok", f"{sum(lookup.counts(answers).values())} notes, all readable")


def _queue(brain: Brain) -> Iterator[Check]:
    """What lies among the candidates and is none."""
    for dropped in (False, True):
        for problem in waiting.listed(brain.root, dropped=dropped)[1]:
            hint = f"Mend the file, or set it aside: `brain review reject {naming.stem(problem.path)}`."
            yield Check("queue", "note" if dropped else "fail", str(problem), None if dropped else hint)


def _mend_file(brain: Brain, path: str) -> str:
    """The next step for a file that cannot be read; where git has one that can, how it comes back."""
    hint = "Mend the file in an editor; until then it is left untouched."
    with suppress(BrainError, OSError):
        if Git(brain.root).call("cat-file", "-t", f"HEAD:{path}").out == b"blob\n":
            return f"{hint} `{git_at(brain.root)} restore {shlex.quote(path)}` brings the last version back."
    return hint


def _index(brain: Brain, found: looking.Look) -> Iterator[Check]:
    for place, wanted in ((brain.index_dir, stat.S_ISDIR), (brain.index_dir / schema.POINTER, stat.S_ISREG)):
        if os.path.lexists(place) and not wanted(os.lstat(place).st_mode):
            yield Check("index", "fail", f"{place} stands in the way of the search index.", examine.MEND)
            return
    if found.damage:
        message = f"The search index is damaged: {found.damage.rstrip('.')}."
        yield Check("index", "fail", message, "`brain rebuild-index`, or `brain doctor --fix`.")
    elif found.missing:
        yield Check("index", "note", found.missing, "The next search makes it anew.")
    else:
        yield Check("index", "ok", f"{health.file_count(found.answers)} files")


def _twins(brain: Brain) -> Iterator[Check]:
    """Names that some file systems cannot tell apart."""
    yield from _by_hand(brain, derived.ROUTER)
    seen: set[str] = set()
    todo = list(naming.places(brain.folders))
    while todo:
        here = todo.pop()
        if here in seen:
            continue
        seen.add(here)
        found = listing.list_folder(brain.root, here, brain.folders)
        todo += found.folders
        yield from _odd(brain, here)
        yield from _by_hand(brain, f"{here}/{derived.INDEX}")
        names = defaultdict(list)
        for path in (*(path for path, _, _ in found.files), *found.folders):
            names[unicodedata.normalize("NFC", path).casefold()].append(path)
        for paths in names.values():
            if len(paths) > 1:
                message = f"{' and '.join(paths)} differ in case or normal form only."
                yield Check("names", "warn", message, "Rename one; macOS and Windows see one file.")


def _by_hand(brain: Brain, path: str) -> Iterator[Check]:
    """A file of a person's in the place of one that is made."""
    with suppress(BadNote, FileNotFoundError):
        if not derived.is_made(store.read_bytes(brain.root, path)[0]):
            yield Check("tables", "warn", f"{path} is not made by `brain`.", "Move it away and the table is made.")


def _odd(brain: Brain, folder: str) -> Iterator[Check]:
    """What has a note's name and is no file: a pipe, a socket, a device."""
    with suppress(FileNotFoundError, NotADirectoryError), os.scandir(brain.root / folder) as entries:
        for entry in entries:
            path = f"{folder}/{entry.name}"
            plain = entry.is_dir(follow_symlinks=False) or entry.is_symlink() or entry.is_file(follow_symlinks=False)
            if not plain and naming.kind_of(path, brain.folders) is not None:
                yield Check("notes", "warn", f"{path} is not a file, and no note.", "Move it away.")


def _gone_remote(brain: Brain) -> list[Check]:
    """Also where the loss of the remote is part of a damage that ends the look at this clone."""
    with suppress(BrainError):
        return [Check("sync", "warn", one.message, one.next) for one in standing.gone_remote(Git(brain.root))]
    return []


def _clone(brain: Brain) -> Iterator[Check]:
    """What is broken in the git folder, and what is kept there for a person."""
    fine = True
    for found in examine.examine(str(brain.root)):
        fine = fine and found.state != "fail"
        yield Check(found.about, found.state, found.message, found.hint)
    if not fine:
        return
    git = Git(brain.root)
    for one in standing.out_of_place(git):
        yield Check("head", "warn", one.message, one.next)
    yield from _kept(git)


def _kept(git: Git) -> Iterator[Check]:
    """Refs that keep what a sync could not place."""
    listed = git.call("for-each-ref", "--format=%(refname)", "refs/commonwealth/rescue", "refs/commonwealth/kept")
    names = listed.out.decode("utf-8", "replace").split()
    rescued = [name for name in names if "/rescue/" in name]
    for name in rescued[:_SHOWN]:
        at = git_at(git.root)
        hint = f"`{at} log {name}` shows them; `{at} update-ref -d {name}` once nothing in them is missed."
        yield Check("kept", "note", f"{name} keeps commits that are not on the branch.", hint)
    if kept := len(names) - len(rescued):
        at = git_at(git.root)
        hint = f"`{at} for-each-ref refs/commonwealth/kept` lists them, `{at} cat-file -p NAME` shows one."
        yield Check("kept", "note", f"{kept} versions of files that were replaced are kept.", hint)


def _repository(brain: Brain) -> Iterator[Check]:
    git = Git(brain.root)
    content = content_of(brain)
    open_work = pending(git, content, without_index=not standing.has_index(git))
    if tracked := ownfolders.tracked(git):
        yield Check("own-folder", "warn", ownfolders.told(git, tracked, "HEAD"), ownfolders.way_out(git, tracked))
    in_the_way = blocked(git, content)
    for path, cause in in_the_way:
        yield Check("folders", "warn", f"{path} is {cause}.", "Move it away, then `brain sync`.")
    for path, cause in open_work.held:
        if (path, cause) in in_the_way:
            continue
        if cause.startswith(ABSENT):
            yield Check("edits", "warn", f"{path} is {cause.rstrip('.')}.", "Do that, then `brain sync`.")
            continue
        yield Check("edits", "warn", f"{path} is not committed: {cause.rstrip('.')}.", "Mend it, then `brain sync`.")
    if open_work.deletions:
        yield from _withheld(git, open_work)
    yield from _open_edits(git, open_work)
    yield from _strays(open_work)
    yield from _others(open_work)
    debt = read_debt(git)
    if debt is not None:
        yield Check(
            "sync", "warn", f"Not published since {debt.since}: {debt.reason}", debt.next or "`brain sync` tries again."
        )
    if not syncing.has_remote(brain) and not list(standing.gone_remote(git)):
        yield Check(
            "sync", "note", "This brain has no remote.", f"`{git_at(git.root)} remote add origin URL` makes it shared."
        )
    yield Check("hooks", "note", "Git hooks of this clone do not run on commits that `brain` makes.")


def _leaks(brain: Brain, say: Callable[[str], None]) -> Iterator[Check]:
    """Secrets that are in the history already: who has a clone has them."""
    looked = leaks.look(brain, say)
    for leak in looked.leaks[:_SHOWN_STRAYS]:
        at = f"{leak.place} ({leak.rule}), commit {leak.commit}" if leak.commit else f"{leak.place} ({leak.rule})"
        if leak.published:
            hint = (
                "Revoke and replace it where it was issued: every clone has it. docs/secrets.md says how to purge it."
            )
        else:
            hint = "Revoke it; nobody else has it yet, and `brain sync` says the steps that keep it so."
        allow = f" One that is none: `brain secrets allow {leak.fingerprint} --reason WHY`."
        state = "fail" if leak.published else "warn"
        yield Check("secrets", state, f"The history holds a secret: {at}.", hint + allow)
    if (more := len(looked.leaks) - _SHOWN_STRAYS) > 0:
        yield Check("secrets", "fail", f"The history holds {more} more secrets.", "Purge all of them at once.")
    if looked.left:
        message = f"{looked.left} of {looked.objects} objects of the history were not looked through in time."
        yield Check("secrets", "note", message, "`brain doctor` goes on from there.")
    elif not looked.leaks:
        yield Check("secrets", "ok", "none is known in the history")


def _withheld(git: Git, open_work: Pending) -> Iterator[Check]:
    lost = [edit.path for edit in open_work.deletions]
    hint = f"`brain sync --accept-deletions` commits that; {deletions.restore(git.root, lost)} brings them back."
    yield Check("edits", "warn", deletions.counted(lost), hint)


def _open_edits(git: Git, open_work: Pending) -> Iterator[Check]:
    gone = sorted(edit.path for edit in open_work.edits if edit.data is None)
    changed = sorted(edit.path for edit in open_work.edits if edit.data is not None)
    if gone:
        hint = f"`brain sync` commits that; {deletions.restore(git.root, gone)} brings them back."
        yield Check("edits", "note", f"{len(gone)} files were deleted by hand: {_listed(gone)}.", hint)
    if changed:
        yield Check(
            "edits",
            "note",
            f"{len(changed)} files were edited by hand: {_listed(changed)}.",
            "`brain sync` commits them.",
        )
    for path, _ in open_work.derived:
        hint = "It is made from the notes: `brain sync` makes it anew and keeps what was written into it."
        yield Check("edits", "note", f"{path} differs from what the notes say.", hint)


def _others(open_work: Pending) -> Iterator[Check]:
    if open_work.others:
        message = f"{len(open_work.others)} files in git are no notes and differ from the last commit: "
        yield Check(
            "others", "note", f"{message}{_listed(open_work.others)}.", "Commit them with git, or put them back."
        )


def _listed(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return ", ".join(paths[:_SHOWN]) + more


def _strays(open_work: Pending) -> Iterator[Check]:
    for path in open_work.strays[:_SHOWN_STRAYS]:
        yield Check("strays", "note", f"{path} is no note and is never committed.", "Move it out, or ignore it.")
    if (more := len(open_work.strays) - _SHOWN_STRAYS) > 0:
        yield Check("strays", "note", f"{more} other files are no notes and are never committed.", "Move them out.")
