"""Transcripts as Claude Code writes them, made from what a test says, and drafts that a test wants of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from commonwealth.conversation import Conversation, Said
from commonwealth.model import Candidate, Span

SESSION = "0c9d6a52-7f7c-4f0e-9f55-2d1c6a1f0b11"


@dataclass
class Session:
    """A session that goes on: every line that is said is added to its file."""

    path: Path
    cwd: Path
    name: str = SESSION
    branch: str = "main"
    lines: list[str] = field(default_factory=list)

    def say(self, who: str, text: str) -> Session:
        """One thing that the user or the assistant says."""
        content: object = text if who == "user" else [{"type": "text", "text": text}]
        return self.add(who, content)

    def edit(self, file: Path | str) -> Session:
        """The assistant changes a file."""
        number = len(self.lines)
        use = {"type": "tool_use", "id": f"use{number}", "name": "Edit"}
        self.add("assistant", [{**use, "input": {"file_path": str(file), "old_string": "a", "new_string": "b"}}])
        return self.add("user", [{"type": "tool_result", "tool_use_id": f"use{number}", "content": "done"}])

    def add(self, who: str, content: object) -> Session:
        """One record."""
        number = len(self.lines)
        record = {
            "type": who,
            "uuid": f"{self.name[:8]}-{number}",
            "parentUuid": f"{self.name[:8]}-{number - 1}" if number else None,
            "isSidechain": False,
            "cwd": str(self.cwd),
            "sessionId": self.name,
            "version": "2.1.0",
            "gitBranch": self.branch,
            "timestamp": f"2026-06-30T09:{number // 60:02}:{number % 60:02}.000Z",
            "message": {"role": who, "content": content},
        }
        self.lines.append(json.dumps(record))
        self.path.write_text("\n".join(self.lines) + "\n", encoding="utf-8")
        return self


def facts(prefix: str = "FACT ", **fields: object) -> Callable[[Conversation], Sequence[Candidate]]:
    """A drafter for which every line of the user's that begins with `prefix` is a fact."""

    def draw(conversation: Conversation) -> Sequence[Candidate]:
        found = []
        for event in conversation.events:
            if isinstance(event, Said) and event.who == "user" and event.text.startswith(prefix):
                text = event.text.removeprefix(prefix)
                one = Candidate(
                    f"{text} is how it is done here",
                    f"In this code base, {text}, as the user said in so many words.",
                    Span(event.line, event.line),
                    status="confirmed",
                    observed_at=event.at and event.at[:19].removesuffix("Z") + "Z",
                    quotes=(event.text,),
                    signal="correction",
                )
                found.append(replace(one, **fields))  # type: ignore[arg-type]
        return found

    return draw
