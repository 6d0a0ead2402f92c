"""What the environment taught by trial: a command that hung or failed, and the other form of it that worked.

Only a difference in options or settings of one and the same program counts, and only where the failure says that the
program or its surroundings refused: a misspelt path or a missing file teaches nothing.
"""

from __future__ import annotations

import re

from commonwealth.capture.episodes import Episodes, program
from commonwealth.capture.finding import Finding
from commonwealth.capture.sentences import Sentence, cut
from commonwealth.capture.wording import shareable
from commonwealth.conversation import Used

AHEAD = 10
"""Tool uses within which the other form has to follow."""
_HUNG = re.compile(
    r"timed? ?out|timeout|still running|running in background|no output|killed|hang|interrupted", re.IGNORECASE
)
_NOISE = re.compile(
    r"parse error|syntax error|no such file|not found|unknown option|unrecognized|unexpected token|usage:|typeerror|"
    r"assertionerror|--- fail|"
    r"\bfailed\b.*\bpassed\b|expected .* got|cannot find module|undefined:|imported and not used",
    re.IGNORECASE,
)
_OPTION = re.compile(r"^--?[A-Za-z][\w-]*(?:=\S+)?$|^[A-Z][A-Z0-9_]{2,}=\S*$")


def tried(told: Episodes) -> list[Finding]:
    """Findings of commands whose other form worked, in order."""
    runs = [(place, event) for place, event in enumerate(told.conversation.events) if isinstance(event, Used)]
    results: list[Finding] = []
    for index, (place, use) in enumerate(runs):
        if use.use != "run" or len(use.text) > 600:
            continue
        hung = _is_hung(use, [other for _, other in runs[index + 1 : index + 4]])
        if not hung and not (use.failed and use.result and not _NOISE.search(use.result[:1500])):
            continue
        for _, other in runs[index + 1 : index + 1 + AHEAD]:
            if other.use == "edit" and not hung:
                break
            if (
                other.use != "run"
                or other.failed
                or _HUNG.search(other.result[:300])
                or _NOISE.search(other.result[:300])
            ):
                continue
            added = _added(use.text, other.text)
            if added and other.result_line is not None:
                results.append(_finding(use, place, other, added, hung))
                break
    return results[:2]


def _is_hung(use: Used, after: list[Used]) -> bool:
    if not _HUNG.search(use.result[:400]):
        return False
    return use.failed or any(
        _HUNG.search(f"{other.result[:300]} {other.name}") and other.use in ("other", "run", "read") for other in after
    )


def _added(first: str, second: str) -> list[str]:
    """The options that the second command line has and the first has not, where they run the same."""
    if program(first).split()[:1] != program(second).split()[:1]:
        return []
    one, two = _tokens(first), _tokens(second)
    if len(set(one) & set(two)) < 0.5 * len(set(one)):
        return []
    added: list[str] = []
    take = False
    for token in two:
        if token in one:
            take = False
        elif _OPTION.match(token):
            added.append(token)
            take = True
        elif take and not token.startswith(("|", ">", "2>")):
            added[-1] += f" {token}"
            take = False
    return added[:3]


def _tokens(command: str) -> list[str]:
    return command.split("|", 1)[0].replace('"', " ").replace("'", " ").split()[:60]


def _finding(use: Used, place: int, other: Used, added: list[str], hung: bool) -> Finding:
    first = cut(" ".join(use.text.split("|", 1)[0].replace("2>&1", "").split()), 120)
    options = " ".join(added)
    failing = "hangs" if hung else "fails"
    title = f"`{program(use.text)}` {failing} without `{options}`"
    told = f"`{first}` {'did not come to an end' if hung else 'failed'}; the same command with `{options}` worked."
    reason = "" if hung else _reason(use.result)
    text = f"{told} It said: {reason}" if reason else told
    seed = Sentence(text, other.line, place, 0, "", False, other.at)
    lines = (use.line, other.line, other.result_line or other.line)
    return Finding(seed, 2.9 if hung else 2.6, "trial", "trial", "gotcha", "observed", "high", (), title, lines)


def _reason(result: str) -> str:
    """The line of an error that says why, where it may be shared."""
    for row in map(str.strip, result.split("\n")[:40]):
        if 15 <= len(row) <= 200 and re.search(
            r"error|denied|refused|must|require|cannot|invalid|not allowed", row, re.IGNORECASE
        ):
            return cut(row, 160) if shareable(row) else ""
    return ""
