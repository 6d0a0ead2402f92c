"""The command line: a tree of click commands, each loaded only when it is called."""

from __future__ import annotations

from collections.abc import Sequence

from commonwealth.adapters.cli.frame import LazyGroup, run_group

TREE = {
    "Write": {
        "remember": ("writing", "Record a fact as a new note."),
        "decide": ("writing", "Record a decision as a new note."),
        "update": ("writing", "Correct or extend a note."),
        "supersede": ("replacing", "Replace a note, as reality has changed."),
        "retract": ("replacing", "Withdraw a note that was never true."),
        "capture": ("capturing", "Draw drafts of notes from a session's transcript."),
        "import": ("importing", "Make notes of a folder of markdown files."),
    },
    "Find": {
        "search": ("finding", "List the notes that match a query, best first."),
        "recall": ("finding", "Print what the brain knows about a subject, ready to read."),
        "read": ("finding", "Show one note with its links and history."),
        "history": ("versions", "Show the versions of a note, or bring one back."),
        "brief": ("finding", "Show what a session here would be told, and why."),
    },
    "Share": {
        "work": ("work", "Say what you are changing, and see who is changing the same."),
        "sync": ("moving", "Exchange commits with the team's remote."),
        "status": ("moving", "Show what is unsynced, staged or in conflict."),
        "review": ("reviewing", "See what waits for a person, and decide about it."),
        "conflicts": ("conflicts", "List what cannot both stand, and say what does."),
        "daemon": ("daemon", "Keep a brain in sync without waiting for a session or a command."),
    },
    "Set up": {
        "init": ("setup", "Make a brain."),
        "join": ("setup", "Clone a team's brain."),
        "rules": ("rules", "Say which repository or folder uses which brain."),
        "config": ("settings", "See and change your own settings on this machine."),
        "whoami": ("upkeep", "Show who you are, and which brain is used here."),
        "plugin": ("plugin", "Connect a coding tool with your brains."),
        "demo": ("demo", "Watch three teammates share facts, in a temporary folder."),
    },
    "Look after": {
        "doctor": ("upkeep", "Check that everything works, and say what to do where it does not."),
        "check": ("checking", "Check a brain's files, as the gate of its CI does."),
        "secrets": ("secrets", "See what would be refused as a secret, and say what is none."),
        "curate": ("curating", "Look through the notes: what is stale, said twice or contradicted."),
        "verify": ("curating", "Check whether the files, names and commits that notes cite are still in the code."),
        "consolidate": ("curating", "Make one note of several that say the same."),
        "rebuild-index": ("upkeep", "Make the search index anew from the files."),
    },
    "For coding tools": {
        "mcp": ("hosts", "Serve a brain to a coding tool over MCP."),
        "hook": ("hosts", "Answer a lifecycle event of a coding tool."),
    },
}
"""Heading of the help, command, and the module of this package that holds it with its one-line summary."""

HIDDEN = {"merge-note": "merging"}
"""Commands that no person types, and their modules: the help leaves them out."""

root = LazyGroup(
    "brain",
    package=__name__,
    tree=TREE,
    hidden=HIDDEN,
    help="The memory of an engineering team, kept as notes in a git repository that the team owns.",
)


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code. Raises BrainError, which the process's entry shows."""
    return run_group(root, arguments)
