"""Sessions in a few lines: what was said and done, in order, as the conversation that a reader would make of it."""

from __future__ import annotations

from dataclasses import replace

from commonwealth.conversation import Conversation, Event, Said, Used


def user(text: str) -> Said:
    return Said(0, "user", text)


def says(text: str) -> Said:
    return Said(0, "assistant", text)


def answer(question: str, text: str) -> Said:
    return Said(0, "user", text, manner="answer", question=question)


def refusal(text: str, of: str = "Edit: src/app.py") -> Said:
    return Said(0, "user", text, manner="refusal", question=of)


def run(command: str, result: str = "ok", *, failed: bool = False) -> Used:
    return Used(0, "run", "Bash", command, (), result, 0, failed)


def read(*files: str, result: str = "…") -> Used:
    return Used(0, "read", "Read", files[0], files, result, 0)


def search(query: str, result: str = "…") -> Used:
    return Used(0, "search", "Grep", query, (), result, 0)


def fetch(address: str, result: str = "…") -> Used:
    return Used(0, "fetch", "WebFetch", address, (), result, 0)


def edit(file: str, text: str = "…", *, failed: bool = False, result: str = "done") -> Used:
    return Used(0, "edit", "Edit", text, (file,), result, 0, failed)


def plan(text: str, *, approved: bool) -> Used:
    result = "User has approved your plan. You can now start coding." if approved else "User chose to stay in plan mode"
    return Used(0, "plan", "ExitPlanMode", text, (), result, 0, not approved)


def session(*events: Event, cwd: str = "/home/kim/src/shop", host: str = "claude") -> Conversation:
    """The events at growing lines: a tool's result stands on the line after its use."""
    line, placed = 1, list[Event]()
    for event in events:
        if isinstance(event, Used):
            placed.append(replace(event, line=line, result_line=line + 1, at="2026-05-04T10:00:00Z"))
            line += 2
        else:
            placed.append(replace(event, line=line, at="2026-05-04T10:00:00Z"))
            line += 1
    return Conversation(host, "s1", cwd, events=tuple(placed), first=1, last=line)
