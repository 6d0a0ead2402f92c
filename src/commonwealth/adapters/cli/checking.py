"""`brain check`: the gate of a brain's CI, by hand or there."""

from __future__ import annotations

import click

from commonwealth import timeline
from commonwealth.adapters.cli.call import Call, with_call
from commonwealth.adapters.cli.frame import command
from commonwealth.adapters.wire import Json, JsonObject
from commonwealth.errors import Refused, Usage
from commonwealth.flows import check, checkfiles
from commonwealth.flows.check import Checked, Defect
from commonwealth.safetext import one_line


@command(
    "check",
    "brain check",
    "brain check --base origin/main --json",
    "brain check --ci github",
    "brain check --ci github --install 'git+https://git.example.com/acme/commonwealth.git@v1.0'",
)
@click.option("--base", metavar="REF", help="Judge only what changed since REF, and every commit since then.")
@click.option("--strict", is_flag=True, help="Fail for warnings too.")
@click.option(
    "--allow",
    multiple=True,
    metavar="NOTE:RULE",
    help="Pass over what RULE says of the note with the id NOTE: a rule for secrets, or a kind of defect. "
    "May be repeated.",
)
@click.option("--annotate", type=click.Choice(["github"]), help="Print lines that this CI shows beside the file.")
@click.option("--ci", type=click.Choice(["github", "gitlab"]), help="Write the CI file that runs this check.")
@click.option(
    "--install",
    metavar="SOURCE",
    help="With --ci: what the CI installs this package from, a repository at a commit or tag, or a wheel; where this "
    "copy was installed from if left out.",
)
@click.option("--show", is_flag=True, help="With --ci: print the file instead.")
@with_call
def check_command(
    call: Call,
    *,
    base: str | None,
    strict: bool,
    allow: tuple[str, ...],
    annotate: str | None,
    ci: str | None,
    install: str | None,
    show: bool,
) -> int:
    """Check a brain's files, as the gate of its CI does.

    It looks for files that cannot be read, secrets, text that gives orders to a model, duplicates, links to nothing,
    tables that differ from the notes, folders of one clone that are tracked, and conflict markers. Nothing is
    changed. The exit code is 1 when something has to be mended; warnings alone do not count.
    """
    brain = call.brain()
    if ci is None and (install is not None or show):
        name = "--show" if install is None else "--install"
        raise Usage(f"{name} goes with --ci.", hint="`brain check --ci github` writes the CI file of that host.")
    if ci is not None:
        return _write(call, ci, install, show=show)
    if wrong := [pair for pair in allow if ":" not in pair.strip(":")]:
        raise Usage(f"--allow {one_line(wrong[0], 60)} names no note and rule.", hint="It is NOTE:RULE.")
    with call.screen.working(f"Checking {brain.name}"):
        found = check.check(brain, base=base, allow=allow, now=timeline.now())
    if call.screen.as_json:
        call.screen.document(_document(found))
    else:
        _show(call, found, annotate)
    failed = any(strict or defect.level == "error" for defect in found.defects)
    return Refused.exit_code if failed else 0


def _write(call: Call, name: str, install: str | None, *, show: bool) -> int:
    brain = call.brain()
    if show:
        call.screen.exactly(checkfiles.text(brain, name, install))
        return 0
    path, written = checkfiles.write(brain, name, install)
    if call.screen.as_json:
        call.screen.document({"state": "written" if written else "unchanged", "path": path})
    elif written:
        call.screen.line(f"Wrote {path}: commit it with git, and every request is checked")
    else:
        call.screen.line(f"{path} is there already")
    return 0


def _document(found: Checked) -> JsonObject:
    rows: list[Json] = [
        {"kind": one.kind, "level": one.level, "path": one.path, "line": one.line or None, "message": one.message}
        for one in found.defects
    ]
    return {"files": found.files, "defects": rows}


def _show(call: Call, found: Checked, annotate: str | None) -> None:
    for defect in found.defects:
        call.screen.line(_annotation(defect) if annotate else _line(defect))
    errors = sum(defect.level == "error" for defect in found.defects)
    warnings = len(found.defects) - errors
    call.screen.line(f"{found.files} files checked: {errors} errors, {warnings} warnings")


def _line(defect: Defect) -> str:
    place = f"{defect.path}:{defect.line}" if defect.line else defect.path
    return f"{one_line(place)}: {defect.level}: {defect.kind}: {one_line(defect.message)}"


def _annotation(defect: Defect) -> str:
    """A workflow command: what a note says must not begin another one."""
    at = f",line={defect.line}" if defect.line else ""
    place = _escaped(one_line(defect.path)).replace(":", "%3A").replace(",", "%2C")
    return f"::{defect.level} file={place}{at}::{_escaped(one_line(f'{defect.kind}: {defect.message}'))}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
