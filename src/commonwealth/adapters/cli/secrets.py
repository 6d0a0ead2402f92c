"""`brain secrets`: what would be refused, and what you have said is no secret."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from commonwealth.adapters.cli.call import Call, with_call
from commonwealth.adapters.cli.frame import Group, command
from commonwealth.adapters.wire import Json, JsonObject
from commonwealth.errors import Refused
from commonwealth.flows import allowed
from commonwealth.flows.allowed import Allowed

secrets_command = Group(
    "secrets",
    help="See what would be refused as a secret, and say what is none.\n\n"
    "What you allow is allowed for you, on this machine, in every brain. No brain can allow anything.",
)


@command("check", "brain secrets check notes.md", "git diff | brain secrets check -")
@click.argument("file", type=click.Path(allow_dash=True, dir_okay=False))
@with_call
def check_command(call: Call, file: str) -> int:
    """Look for secrets in FILE, or in standard input for -, as every write does.

    The exit code is 1 where there is one. The value is never shown.
    """
    found = allowed.scan(_text(call, file), "text")
    if call.screen.as_json:
        rows: list[Json] = [{"where": item.where, "rule": item.rule, "fingerprint": item.fingerprint} for item in found]
        call.screen.document({"findings": rows})
    elif found:
        call.screen.table(
            ("where", "rule", "fingerprint"), [(item.where, item.rule, item.fingerprint) for item in found]
        )
        call.screen.line("One that is none: `brain secrets allow FINGERPRINT --reason WHY`.")
    else:
        call.screen.line("No secret was found")
    return Refused.exit_code if found else 0


def _text(call: Call, file: str) -> str:
    if file == "-":
        return sys.stdin.read()
    try:
        return Path(call.path(file)).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise Refused(f"{file} cannot be read ({error.strerror or error}).", hint="Name a file of text.") from None


@command("allow", "brain secrets allow 736d53d96fe05d140bb7 --reason 'a checksum of the sample file'")
@click.argument("name", metavar="FINGERPRINT|ID")
@click.option("--reason", required=True, metavar="WHY", help="Why it is no secret.")
@click.option("--rule", metavar="RULE", help="Allow what this rule sees in the note ID, whatever the value.")
@with_call
def allow_command(call: Call, name: str, reason: str, rule: str | None) -> int:
    """Say that what a refusal named by FINGERPRINT is no secret, or that RULE is wrong about the note ID.

    The list is yours, in `allow.yaml` of your own folder; it holds no value.
    """
    added = allowed.allow(name, reason, rule=rule)
    return _answer(call, "allowed" if added else "unchanged", name)


@command("list", "brain secrets list")
@with_call
def list_command(call: Call) -> int:
    """List what you have allowed, with the reasons."""
    entries = allowed.load()
    if call.screen.as_json:
        call.screen.document({"path": str(allowed.list_path()), "allow": list(map(_row, entries))})
    elif entries:
        call.screen.table(("allowed", "why"), [(_shown(entry), entry.reason) for entry in entries])
    else:
        call.screen.line("Nothing is allowed")
    return 0


def _row(entry: Allowed) -> JsonObject:
    return {"fingerprint": entry.fingerprint, "note": entry.note, "rule": entry.rule, "reason": entry.reason}


def _shown(entry: Allowed) -> str:
    return entry.fingerprint or f"{entry.rule} in {entry.note}"


@command("revoke", "brain secrets revoke 736d53d96fe05d140bb7")
@click.argument("name", metavar="FINGERPRINT|ID")
@with_call
def revoke_command(call: Call, name: str) -> int:
    """Take FINGERPRINT, or all that is allowed in the note ID, off the list."""
    allowed.revoke(name)
    return _answer(call, "revoked", name)


def _answer(call: Call, state: str, name: str) -> int:
    if call.screen.as_json:
        call.screen.document({"state": state, "name": name})
    else:
        call.screen.line(f"{state} {name}")
    return 0


for made in (check_command, allow_command, list_command, revoke_command):
    secrets_command.add_command(made)
