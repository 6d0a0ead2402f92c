"""`brain capture`: what the hooks do when a session ends, by hand."""

from __future__ import annotations

import os

import click

from commonwealth import timeline
from commonwealth.adapters import show_capture
from commonwealth.adapters.cli import written
from commonwealth.adapters.cli.call import Call, with_call
from commonwealth.adapters.cli.frame import command
from commonwealth.adapters.wire import JsonObject, receipt_json
from commonwealth.errors import Refused
from commonwealth.flows.sweep import FOREIGN, UNREADABLE, Drafted, Swept, Told, sweep

_HINTS = {
    FOREIGN: "Nothing was captured. `--brain NAME` names its own brain, `--anyway` takes it into this one.",
    UNREADABLE: "Nothing was captured; check the file and `--host`.",
}


@command(
    "capture",
    "brain capture --host claude --transcript ~/.claude/projects/-home-me-shop/86044ae1.jsonl --dry-run",
    "brain capture --host codex --transcript rollout.jsonl --json | jq '.drafts[] | {verdict, title}'",
)
@click.option(
    "--host", type=click.Choice(["claude", "codex"]), required=True, help="The tool that wrote the transcript."
)
@click.option("--transcript", metavar="FILE", required=True, help="The session's transcript, as the tool wrote it.")
@click.option("--session", metavar="ID", help="The session's id, where the transcript does not say it.")
@click.option("--anyway", is_flag=True, help="Take a session of a repository whose notes go elsewhere.")
@click.option("--dry-run", is_flag=True, help="Show the drafts and what would become of them; write nothing.")
@with_call
def capture_command(call: Call, host: str, transcript: str, session: str | None, *, anyway: bool, dry_run: bool) -> int:
    """Draw drafts of notes from a session's transcript.

    The end of a session does so by itself. Each draft names the lines that it rests on and is judged; what passes
    waits for a review (`brain review list`). What was swept before is not looked at again, and a session may be swept
    as often as you like: its notes stay the same. Repository, branch and commit are those of the session, wherever you
    stand: one that was held in a repository whose notes go elsewhere is refused, and what it said in other repositories
    is left out. The exit code is 0 also where nothing is found, 1 for a file that is no transcript of this tool, or
    that is of another brain.
    """
    brain = call.brain()
    told = Told(host, os.path.abspath(call.path(transcript)), session)
    with call.screen.working("Reading the session"):
        swept = sweep(brain, told, trigger="by hand", now=timeline.now(), dry_run=dry_run, anyway=anyway)
    refused = swept.receipt.state == "refused"
    if call.screen.as_json:
        call.screen.document(_document(swept, refused=refused))
    elif refused:
        raise Refused(f"{swept.receipt.reason}.", hint=_HINTS.get(swept.outcome, _HINTS[UNREADABLE]))
    else:
        show_capture.swept(call.screen, swept, dry_run=dry_run)
    if swept.receipt.commit:
        written.leave_worker(brain)
    return Refused.exit_code if refused else 0


def _document(swept: Swept, *, refused: bool) -> JsonObject:
    if refused:
        return {"drafts": [], "reason": swept.receipt.reason}
    return {"drafts": [_draft(one) for one in swept.drafts], "receipt": receipt_json(swept.receipt)}


def _draft(one: Drafted) -> JsonObject:
    """A draft as others build on it. Of one that holds a secret only the lines are told."""
    draft, verdict = one.judged.draft, one.judged.verdict
    hidden = one.judged.secret
    return {
        "title": "" if hidden else draft.title,
        "summary": "" if hidden else draft.summary,
        "kind": draft.kind,
        "type": draft.type,
        "status": draft.status,
        "confidence": draft.confidence,
        "evidence": {"from": draft.evidence.first, "to": draft.evidence.last},
        "verdict": verdict.verdict,
        "reasons": [*verdict.reasons, *([one.reason] if one.reason and one.reason not in verdict.reasons else [])],
        "id": one.id,
        "state": one.state,
    }
