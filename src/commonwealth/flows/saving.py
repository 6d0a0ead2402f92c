"""How a change of notes reaches a commit: secrets named by field, the lost race repeated, the index brought along."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import fields, replace

from commonwealth.curate import secrets
from commonwealth.errors import Busy, Damaged, Refused
from commonwealth.flows import indexing
from commonwealth.flows.brains import Brain
from commonwealth.flows.content import content_of
from commonwealth.flows.identity import Identity, person
from commonwealth.model import Note, Receipt
from commonwealth.notes import codec, naming
from commonwealth.repo.commit import Change, commit, disk_trouble
from commonwealth.repo.content import Content
from commonwealth.repo.git import Git
from commonwealth.repo.head import branch_tip, main_branch
from commonwealth.repo.lock import WriterLock
from commonwealth.repo.move import read_bases, recover
from commonwealth.repo.pending import commit_pending
from commonwealth.repo.store import Overtaken
from commonwealth.repo.workfiles import Changed

_ROUNDS = 8
"""How often a write that lost a race reads the newer version and tries again."""

Plan = Callable[[], Sequence[Change] | Receipt]
"""Reads what is there and says which files to change, or that nothing needs doing. Called anew after a lost race."""


def save(brain: Brain, plan: Plan, *, ids: tuple[str, ...], message: str, author: Identity, now: str) -> Receipt:
    """Commit what `plan` says. The receipt is `committed` with the commit, or whatever `plan` found instead.

    `plan` runs as the only writer of the clone, so that only an edit by hand can come between; it is then asked again.
    Raises Busy when the brain is in use for too long, Refused when the files cannot be written.
    """
    git = Git(brain.root)
    content = content_of(brain)
    for _ in range(_ROUNDS):
        try:
            with WriterLock(git.git_dir, operation="commit") as held:
                warnings = _settle(git, content, author, now, held)
                planned = plan()
                if isinstance(planned, Receipt):
                    return replace(planned, warnings=(*planned.warnings, *warnings))
                made = commit(git, planned, message, author, now=now, content=content, held=held)
        except (Changed, Overtaken):
            continue
        _index(brain)
        return Receipt("committed", ids, made, warnings=warnings)
    raise Busy("Others changed the same note, or moved the branch, again and again.", hint="Try again.")


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
    with suppress(Damaged, Busy, Refused):
        indexing.refresh(brain)


def refused_for_secret(note: Note) -> Receipt | None:
    """The refusal of a note that holds a secret in any field, naming field and rule and never the value."""
    for name, text in _texts(note):
        for finding in secrets.scan(text, name):
            return Receipt(
                "refused",
                reason=f"secret: {finding.where} ({finding.rule})",
                next="Take the secret out and record the note again; if it is a real one, revoke it where it was "
                "issued.",
            )
    return None


def _texts(value: object, name: str = "") -> Iterator[tuple[str, str]]:
    """Every text in a note with the name of its field, `provenance.evidence` for example."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _texts(item, name)
    elif hasattr(value, "items"):
        for key, item in value.items():
            yield name, str(key)
            yield from _texts(item, f"{name}.{key}".lstrip("."))
    elif hasattr(value, "__dataclass_fields__"):
        for field in fields(value):  # type: ignore[arg-type]
            yield from _texts(getattr(value, field.name), f"{name}.{field.name}".lstrip("."))


def people_change(brain: Brain, author: Identity, now: str) -> list[Change]:
    """The author's own note, where the brain has none yet."""
    path = naming.note_path("person", author.ref, now, brain.folders)
    if indexing.stat_file(brain, path) is not None:
        return []
    return [Change(path, codec.to_bytes(person(author), path))]
