"""`brain curate`, `verify` and `consolidate`: canon looked through for what is stale, said twice or contradicted."""

from __future__ import annotations

import click

from commonwealth import timeline
from commonwealth.adapters import show_curation
from commonwealth.adapters.cli.call import Call, with_call
from commonwealth.adapters.cli.frame import command
from commonwealth.adapters.wire import JsonObject, receipt_json
from commonwealth.errors import NeedsReview, Refused
from commonwealth.flows import consolidate, curation
from commonwealth.flows.brains import Brain
from commonwealth.flows.consolidate import Group
from commonwealth.flows.curation import Curation, Rechecked
from commonwealth.flows.identity import Session
from commonwealth.repo.project import Project, repository_of

_REPO = click.option("--repo", metavar="DIR", help="The code repository to look in, instead of the one of this folder.")
_DRY = click.option("--dry-run", is_flag=True, help="Write nothing; only tell.")


def _project(call: Call, brain: Brain, folder: str | None) -> Project | None:
    """The code repository to look in. Raises Refused where a folder was named and there is none."""
    if folder is None:
        return brain.project
    found = repository_of(call.path(folder))
    if found is None or found.commit is None:
        raise Refused(f"{folder} is in no git repository with a commit.", hint="Name the folder of a code repository.")
    return found


@command("curate", "brain curate", "brain curate --dry-run --json | jq '.stale[].id'")
@_REPO
@_DRY
@with_call
def curate_command(call: Call, *, repo: str | None, dry_run: bool) -> int:
    """Look through the notes: what is stale, said twice or contradicted.

    Notes that cite this code repository are checked against its present commit, and say in `verified` what was found
    where that has changed. Pairs of notes that say the same or otherwise, and candidates that canon has overtaken, are
    listed. Nothing is merged or deleted. Made for a nightly job.
    """
    brain = call.brain()
    with call.screen.working(f"Looking through {brain.name}"):
        found = curation.curate(
            brain, _project(call, brain, repo), session=Session(), now=timeline.now(), write=not dry_run
        )
    if call.screen.as_json:
        call.screen.document(_curation(found))
    else:
        show_curation.curation(call.screen, found)
    return 0


@command("verify", "brain verify", "brain verify 2026-06-02-http-409 --repo ../shop")
@click.argument("note_id", metavar="[ID]", required=False)
@_REPO
@_DRY
@with_call
def verify_command(call: Call, note_id: str | None, *, repo: str | None, dry_run: bool) -> int:
    """Check whether the files, names and commits that notes cite are still in the code.

    Without an ID all notes of this repository are checked. The result is fresh, changed, missing or unknown, and is
    written into a note where it differs from what the note says. The exit code is 4 when something is missing.
    """
    brain = call.brain()
    project, now = _project(call, brain, repo), timeline.now()
    with call.screen.working("Looking at the code"):
        if note_id:
            found: tuple[Rechecked, ...] = (curation.of_one(brain, note_id, project, now),)
        else:
            found = tuple(curation.of_project(brain, project, now))
        receipt = None if dry_run else curation.written(brain, found, session=Session(), now=now)
    if call.screen.as_json:
        document: JsonObject = {"notes": [_rechecked(one) for one in found]}
        call.screen.document(document | ({"receipt": receipt_json(receipt)} if receipt else {}))
    else:
        show_curation.verified(call.screen, found)
    return NeedsReview.exit_code if any(one.verified.result == "missing" for one in found) else 0


@command("consolidate", "brain consolidate", "brain consolidate --apply")
@click.option("--apply", "do_it", is_flag=True, help="Let the survivor of each group supersede the others.")
@with_call
def consolidate_command(call: Call, *, do_it: bool) -> int:
    """Make one note of several that say the same.

    Without --apply the groups are listed. With it, the best supported note of each group that says all that the others
    do supersedes them, in one commit; nothing is deleted. Every machine chooses the same survivor.
    """
    brain, now = call.brain(), timeline.now()
    with call.screen.working(f"Looking through {brain.name}"):
        found = consolidate.groups(brain, now)
    if do_it:
        return call.answer(consolidate.consolidate(brain, found, session=Session(), now=now))
    if call.screen.as_json:
        call.screen.document({"groups": [_group(one) for one in found]})
    else:
        show_curation.groups(call.screen, found)
    return 0


def _curation(found: Curation) -> JsonObject:
    return {
        "notes": found.checked,
        "verified": [_rechecked(one) for one in found.rechecked],
        "stale": [_rechecked(one) for one in found.stale],
        "alike": [{"one": one.one, "other": one.other, "kind": one.kind} for one in found.alike],
        "contradicting": [{"one": one.one, "other": one.other, "why": one.why} for one in found.contradicting],
        "waiting": [{"id": one.id, "why": one.why} for one in found.waiting],
        "receipt": receipt_json(found.receipt),
    }


def _rechecked(one: Rechecked) -> JsonObject:
    verified = one.verified
    return {
        "id": one.id,
        "title": one.title,
        "before": one.before,
        "result": verified.result,
        "at": verified.at,
        "commit": verified.commit,
        "details": list(one.details),
    }


def _group(one: Group) -> JsonObject:
    return {"survivor": one.survivor, "ids": list(one.ids)}
