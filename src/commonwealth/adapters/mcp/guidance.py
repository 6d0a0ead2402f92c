"""Write docs/guidance.md: what a server tells every model, as a text to merge into CLAUDE.md or AGENTS.md.

Run it in the folder of a checkout after a change of the rules: `python -m commonwealth.adapters.mcp.guidance`. With
`--check` nothing is written; the exit code says whether the page is what the rules make.
"""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

from commonwealth.adapters.mcp.instructions import INTRO, RULES

PATH = Path("docs", "guidance.md")
BEGIN = "<!-- commonwealth guidance: begin -->"
END = "<!-- commonwealth guidance: end -->"

_PAGE = """\
# Guidance for models

A model that is connected to `brain mcp` hears these rules from the server itself: Claude Code and Codex put a server's
instructions before the model. Merge the text into `CLAUDE.md` or `AGENTS.md` of a code repository where a client
leaves instructions out, or where the team wants the rules to be seen and reviewed like code.

Copy all from the first marker to the last, markers included. A later version replaces what stands between them; what
you write outside them is yours. The page is made from `src/commonwealth/adapters/mcp/instructions.py`, so both say the
same.

{block}"""

_COMMANDS = (
    "Where the tools are missing, the command line does the same: `brain search`, `brain read`, `brain remember`, "
    "`brain update`, `brain supersede`, `brain retract`, `brain work start`."
)


def block() -> str:
    """The text between its markers, as it stands in another file."""
    rules = [textwrap.fill(rule, 110, initial_indent="- ", subsequent_indent="  ") for rule in (*RULES, _COMMANDS)]
    lines = [BEGIN, "", "## The team's memory", "", INTRO, "", *rules, "", END]
    return "\n".join(lines) + "\n"


def page() -> str:
    """The text of docs/guidance.md."""
    return _PAGE.format(block=block())


def main(arguments: list[str]) -> int:
    """Write the page, or with `--check` say whether it is current (0) or not (1)."""
    if "--check" in arguments:
        return 0 if PATH.read_text(encoding="utf-8") == page() else 1
    PATH.write_text(page(), encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
