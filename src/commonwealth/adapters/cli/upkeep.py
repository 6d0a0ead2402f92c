"""`brain doctor`, `rebuild-index` and `whoami`: what is, and whether it works."""

from __future__ import annotations

from collections.abc import Iterator

import click

from commonwealth.adapters import show
from commonwealth.adapters.cli import documents, hosted
from commonwealth.adapters.cli.call import Call, with_call
from commonwealth.adapters.cli.frame import command
from commonwealth.errors import Damaged, Refused
from commonwealth.flows import doctor, hooklog, identity, indexing, mending, syncing
from commonwealth.flows.doctor import Check


@command(
    "doctor",
    "brain doctor",
    "brain doctor --fix",
    "brain doctor --json | jq '.checks[] | select(.state == \"fail\")'",
)
@click.option("--fix", is_flag=True, help="Mend what can be mended without losing anything.")
@with_call
def doctor_command(call: Call, *, fix: bool) -> int:
    """Check that everything works, and say what to do where it does not.

    Without --fix nothing is changed. With it, what is broken in the clone is mended as far as no byte is lost: stale
    locks, refs, objects, git's index, our own files. What is set aside lies in `.git/commonwealth/damaged`. The exit
    code is 1 when a check fails.
    """
    with call.screen.working("Mending" if fix else "Looking") as say:
        mended = tuple(_mended(call)) if fix else ()
        checks = (*mended, *doctor.doctor(call.selector, call.folder, say), *_plugins(), *hooklog.checks())
    if call.screen.as_json:
        call.screen.document(documents.checks(checks))
    else:
        show.checks(call.screen, checks)
    return Refused.exit_code if any(check.state == "fail" for check in checks) else 0


def _mended(call: Call) -> Iterator[Check]:
    """The repairs done now, and what stood in their way; where there is no brain, the doctor says so."""
    try:
        for repair in mending.fix(call.selector, call.folder):
            yield Check("mended", "ok" if repair.done else "warn", repair.what)
    except (Refused, Damaged):
        return


def _plugins() -> Iterator[Check]:
    """What the doctor says of each coding tool that is installed here."""
    for name in hosted.present():
        status = hosted.status(name)
        if status.works:
            yield Check("plugin", "ok", f"it works in {name} (version {status.version})")
        for fault in status.faults:
            yield Check("plugin", "warn", f"{name}: {fault.what}", fault.fix)
        for note in status.notes:
            yield Check("plugin", "note", f"{name}: {note}")


@command("rebuild-index", "brain rebuild-index")
@with_call
def rebuild_index_command(call: Call) -> int:
    """Make the search index anew from the files.

    The index heals by itself; this is for when you want to be sure. No note is touched.
    """
    brain = call.brain()
    with call.screen.working(f"Reading {brain.name}"):
        built = indexing.rebuild(brain)
    if call.screen.as_json:
        call.screen.document({"files": built.files, "seconds": round(built.seconds, 3)})
    else:
        call.screen.line(f"{built.files} files indexed in {built.seconds:.1f} s")
    return 0


@command("whoami", "brain whoami", "brain whoami --json | jq -r .brain.path")
@with_call
def whoami_command(call: Call) -> int:
    """Show who you are, and which brain is used here, by which rule, for which repository."""
    brain = call.brain()
    facts = documents.whoami(brain, identity.whoami(brain), syncing.unpublished(brain))
    if call.screen.as_json:
        call.screen.document(facts)
    else:
        show.facts(call.screen, facts)
    return 0
