"""How a change of notes reaches a commit: secrets named by field, the lost race repeated, the index brought along.

Every write of a note goes through `save`, whoever asks for it: one queue a clone, which is the writer lock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace

from commonwealth.curate import secrets
from commonwealth.errors import Busy, Damaged, Refused
from commonwealth.faults import fault
from commonwealth.flows import allowed, indexing, synclog
from commonwealth.flows.brains import Brain
from commonwealth.flows.content import content_of
from commonwealth.flows.identity import Identity, person
from commonwealth.model import Finding, Note, Receipt
from commonwealth.notes import codec, naming
from commonwealth.repo import workfiles
from commonwealth.repo.commit import Change, commit, disk_trouble
from commonwealth.repo.content import Content
from commonwealth.repo.git import Git
from commonwealth.repo.head import branch_tip, main_branch
from commonwealth.repo.kept import read_bases
from commonwealth.repo.lock import WriterLock
from commonwealth.repo.pending import commit_pending
from commonwealth.repo.recovery import recover
from commonwealth.repo.store import Overtaken, entries_at
from commonwealth.repo.workfiles import Changed

_ROUNDS = 8
"""How often a write that lost a race reads the newer version and tries again."""


@dataclass(frozen=True, slots=True)
class Planned:
    """The files to change, and what the caller has to be told of it: the ids of notes that keep what could not be
    united, and warnings."""

    changes: Sequence[Change]
    conflicts: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    ids: tuple[str, ...] | None = None
    """The notes that are written, where these are others than the caller expected."""


Plan = Callable[[], Sequence[Change] | Planned | Receipt]
"""Reads what is there and says which files to change, or that nothing needs doing. Called anew after a lost race."""


def save(
    brain: Brain,
    plan: Plan,
    *,
    ids: tuple[str, ...],
    message: str,
    author: Identity,
    now: str,
    command: str = "write",
    then: Callable[[], object] | None = None,
) -> Receipt:
    """Commit what `plan` says. The receipt is `committed` with the commit, or whatever `plan` found instead.

    `plan` runs as the only writer of the clone, so that only an edit by hand can come between; it is then asked again.
    `command` names the write in the log of receipts; `then` is done once it stands, while nobody else can write.
    Raises Busy when the brain is in use for too long, Refused when the files cannot be written.
    """
    receipt = _saved(brain, plan, then, ids=ids, message=message, author=author, now=now)
    synclog.keep_receipt(brain.root, receipt, command=command, at=now)
    return receipt


def _saved(
    brain: Brain,
    plan: Plan,
    then: Callable[[], object] | None,
    *,
    ids: tuple[str, ...],
    message: str,
    author: Identity,
    now: str,
) -> Receipt:
    git = Git(brain.root)
    content = content_of(brain)
    if allowed.scan(message, ""):  # what is allowed in one note by its rule: the title is there, not in the log
        message = secrets.mask(message)
    for _ in range(_ROUNDS):
        try:
            with WriterLock(git.git_dir, operation="commit") as held:
                warnings = _settle(git, content, author, now, held)
                planned = plan()
                if isinstance(planned, Receipt):
                    _do(then)
                    return replace(planned, warnings=(*planned.warnings, *warnings))
                wanted = planned if isinstance(planned, Planned) else Planned(planned)
                made = commit(git, wanted.changes, message, author, now=now, content=content, held=held)
                _do(then)
        except (Changed, Overtaken):
            continue
        _index(brain)
        return Receipt(
            "committed",
            wanted.ids or ids,
            made,
            warnings=(*wanted.warnings, *_unnamed(brain, wanted.changes, author, now), *warnings),
            conflicts=wanted.conflicts or None,
        )
    raise Busy("Others changed the same note, or moved the branch, again and again.", hint="Try again.")


def _do(then: Callable[[], object] | None) -> None:
    if then is not None:
        then()


def _settle(git: Git, content: Content, author: Identity, now: str, held: WriterLock) -> tuple[str, ...]:
    """Commit people's edits first where one of them began before the last sync; the warnings.

    As it lies there, such a file lacks what came in since: a change on top of it would take that back.
    """
    try:
        warnings = recover(git, content)
        if not read_bases(git):
            return warnings
        tip = branch_tip(git, main_branch(git))
        return (*warnings, *commit_pending(git, content, author, now=now, held=held, tip=tip).warnings)
    except OSError as error:
        raise disk_trouble(git, error) from error


def _index(brain: Brain) -> None:
    """Make the write searchable at once. The note is safe already: an index that balks heals at the next read."""
    with suppress(Damaged, Busy, Refused, OSError):
        fault("write-committed")
        indexing.refresh(brain)


def is_committed(brain: Brain, path: str) -> bool:
    """Whether the brain's branch has a file at `path`, whatever it holds there."""
    git = Git(brain.root)
    tip = branch_tip(git, main_branch(git))
    return tip is not None and bool(entries_at(git, tip, [path]))


def united(brain: Brain, path: str, base: bytes, ours: bytes) -> Planned:
    """The change of a file to `ours`, which was made from `base`, united with what stands there by now.

    What cannot be united leaves the version that counts in its place and the other beside it, as a sync would.
    Raises Changed where the file is gone.
    """
    there = workfiles.read(str(brain.root), path)
    if there is None:
        raise Changed(path)
    if there == base:
        return Planned([Change(path, ours, base)])
    merged = content_of(brain).merge(base, ours, there, path)
    beside = [Change(name, data, workfiles.read(str(brain.root), name)) for name, data in merged.siblings.items()]
    kept = tuple(map(naming.stem, merged.siblings))
    return Planned([Change(path, merged.data, there), *beside], kept, merged.warnings)


def refused_for_secret(note: Note) -> Receipt | None:
    """The refusal of a note that holds a secret in any field, naming field and rule and never the value."""
    finding = secret_in(note)
    return None if finding is None else refused_for(finding)


def refused_for(finding: Finding) -> Receipt:
    """The refusal of a note for one secret in it."""
    return Receipt(
        "refused",
        reason=f"secret: {finding.where} ({finding.rule})",
        next="Take the secret out and record the note again; if it is a real one, revoke it where it was "
        f"issued.{finding.allowing}",
    )


def secret_in(note: Note) -> Finding | None:
    """The first secret in any field of a note that nobody has allowed."""
    return next(
        (finding for name, text in texts(note) for finding in allowed.scan(text, name, note=note.id)),
        None,
    )


def texts(value: object, name: str = "") -> Iterator[tuple[str, str]]:
    """Every text in a note with the name of its field, `provenance.evidence` for example."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from texts(item, name)
    elif hasattr(value, "items"):
        for key, item in value.items():
            yield name, str(key)
            yield from texts(item, f"{name}.{key}".lstrip("."))
    elif hasattr(value, "__dataclass_fields__"):
        for field in fields(value):  # type: ignore[arg-type]
            yield from texts(getattr(value, field.name), f"{name}.{field.name}".lstrip("."))


def _unnamed(brain: Brain, changes: Sequence[Change], author: Identity, now: str) -> tuple[str, ...]:
    """The warning of the write that makes a person of somebody of whom only the login name is known."""
    path = naming.note_path("person", author.ref, now, brain.folders)
    if not author.is_login or not any(change.path == path for change in changes):
        return ()
    warning = (
        f"nobody told who you are, so the brain knows you by the login name {author.name} from now on: set "
        "`git config --global user.name` and `user.email`, or COMMONWEALTH_AUTHOR and COMMONWEALTH_AUTHOR_EMAIL"
    )
    return (warning,)


def people_change(brain: Brain, author: Identity, now: str, *, killed: bool = False) -> list[Change]:
    """The author's own note, where the brain has none yet, or only as a writer left it that was `killed`."""
    path = naming.note_path("person", author.ref, now, brain.folders)
    if indexing.stat_file(brain, path) is not None:
        there = workfiles.read(str(brain.root), path) if killed and not is_committed(brain, path) else None
        return [] if there is None else [Change(path, there, there)]
    return [Change(path, codec.to_bytes(person(author), path))]
