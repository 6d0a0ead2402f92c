"""`brain rules`: which repository or folder uses which brain."""

from __future__ import annotations

import click

from commonwealth import config
from commonwealth.adapters import show
from commonwealth.adapters.cli import documents
from commonwealth.adapters.cli.call import Call, with_call
from commonwealth.adapters.cli.frame import Group, command
from commonwealth.errors import Usage
from commonwealth.flows import setup
from commonwealth.routing import Rule

rules_command = Group(
    "rules",
    help="Say which repository or folder uses which brain.\n\n"
    "The most specific rule wins, and on a tie the one that says no brain. "
    "Rules are yours alone: no brain and no repository can set one.",
)


@command("list", "brain rules list", "brain rules list --json")
@with_call
def list_command(call: Call) -> int:
    """List your rules and the file that they are in."""
    rules = config.load_registry().rules
    if call.screen.as_json:
        call.screen.document(documents.rules(rules))
    else:
        show.rules(call.screen, rules)
    return 0


@command(
    "add",
    "brain rules add github.com/acme/shop acme",
    "brain rules add 'github.com/acme/*' acme --remote git@github.com:acme/brain.git",
    "brain rules add ~/private none",
)
@click.argument("match")
@click.argument("brain", required=False)
@click.option("--none", is_flag=True, help="Use no brain at all there, as BRAIN `none` does.")
@click.option("--remote", metavar="URL", help="Where the brain is cloned from when it is not here yet.")
@with_call
def add_command(call: Call, match: str, brain: str | None, none: bool, remote: str | None) -> int:
    """Use BRAIN, a name or a path or `none`, for MATCH; a rule with the same MATCH is replaced.

    MATCH is a repository (github.com/acme/shop), all of an organisation or host (github.com/acme/*), or a
    folder with everything below it (~/src/acme).
    """
    if brain == "none":
        brain, none = None, True
    if (brain is None) != none:
        raise Usage("A rule names a brain, or `none`.", hint="brain rules add MATCH BRAIN")
    rule, added = setup.add_rule(call.path(match) if match.startswith(".") else match, brain, remote=remote)
    return _answer(call, "added" if added else "unchanged", rule)


@command("remove", "brain rules remove github.com/acme/shop")
@click.argument("match")
@with_call
def remove_command(call: Call, match: str) -> int:
    """Take the rule for MATCH away. The brain itself stays."""
    return _answer(call, "removed", setup.remove_rule(call.path(match) if match.startswith(".") else match))


@command("check", "brain rules check", "brain rules check -C ~/src/shop --json")
@with_call
def check_command(call: Call) -> int:
    """Say which brain is used in a folder, and which rule says so."""
    found = setup.check_rules(call.folder)
    if call.screen.as_json:
        call.screen.document(documents.routing(found))
    else:
        show.routing(call.screen, found)
    return 0


def _answer(call: Call, state: str, rule: Rule) -> int:
    if call.screen.as_json:
        call.screen.document({"state": state, "rule": documents.rule(rule)})
    else:
        show.rule(call.screen, state, rule)
    return 0


for made in (list_command, add_command, remove_command, check_command):
    rules_command.add_command(made)
