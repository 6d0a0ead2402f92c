"""The people of the demo: each on a machine of their own, with the command line and a coding tool that speaks MCP."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commonwealth.errors import Refused
from commonwealth.safetext import clean, one_line

Say = Callable[[str], None]
Answer = Mapping[str, Any]

_SECONDS = 60
_CALL_WIDTH = 120
_WIDTH = 116
_CLIENTS = {"Codex": "codex-mcp-client", "Claude Code": "claude-code"}
_PROTOCOL = "2025-06-18"
_OTHERS = ("GIT_", "COMMONWEALTH_", "CLAUDE_", "CODEX_")


@dataclass(frozen=True, slots=True)
class Teammate:
    """One person of the story, who works with `agent`."""

    name: str
    agent: str
    machine: Path
    say: Say

    @property
    def code(self) -> Path:
        """Their clone of the code repository."""
        return self.machine / "code"

    @property
    def clone(self) -> Path:
        """Their clone of the brain."""
        return self.machine / "brain"

    @property
    def conversation(self) -> str:
        """The id of their one session with their tool."""
        return f"demo-{self.name.lower()}"

    def environment(self, now: str) -> dict[str, str]:
        """Theirs alone, at the instant `now`: nothing of the user's configuration takes part."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith(_OTHERS)}
        return kept | {
            "HOME": str(self.machine),
            "USERPROFILE": str(self.machine),
            "COMMONWEALTH_HOME": str(self.machine / ".commonwealth"),
            "COMMONWEALTH_AUTHOR": self.name,
            "COMMONWEALTH_AUTHOR_EMAIL": f"{self.name.lower()}@example.com",
            "COMMONWEALTH_NOW": now,
            "CLAUDE_CODE_SESSION_ID": self.conversation,
            "GIT_CONFIG_NOSYSTEM": "1",
            "NO_COLOR": "1",
        }

    def brain(self, now: str, *words: str, show: bool = True) -> str:
        """Run `brain *words` in their code repository, and tell what was typed and what came back."""
        done = self._run(now, words)
        if show:
            self.say(f"  {self.name}$ brain {' '.join(map(self._typed, words))}")
            self.show(done)
        return done

    def show(self, text: str) -> None:
        """Tell what a command answered, long lines on several."""
        for line in clean(text).rstrip().splitlines():
            deeper = " " * (8 + len(line) - len(line.lstrip()))
            self.say(textwrap.fill(f"      {line}", _WIDTH, subsequent_indent=deeper, break_on_hyphens=False))

    def tools(self, now: str, *calls: tuple[str, Answer]) -> list[Answer]:
        """Have their coding tool start `brain mcp` and make `calls`, and tell each with what was answered."""
        answers = self._called(now, calls)
        for (name, arguments), answer in zip(calls, answers, strict=True):
            self.say(f"  {self.name}'s {self.agent}> {one_line(f'{name} {json.dumps(arguments)}', _CALL_WIDTH)}")
            self.show("\n".join(_told(answer)))
        return answers

    def session(self, now: str) -> str:
        """What their coding tool is told when they come back to their session, before its first word."""
        host = "codex" if self.agent == "Codex" else "claude"
        call = {"session_id": self.conversation, "cwd": str(self.code), "hook_event_name": "SessionStart"}
        answer = self._run(now, ("hook", "SessionStart", "--host", host), json.dumps({**call, "source": "resume"}))
        if not answer.strip():
            raise Refused(f"{self.name}'s session was told nothing, which must not happen here.")
        told: str = json.loads(answer)["hookSpecificOutput"]["additionalContext"]
        return told

    def _called(self, now: str, calls: Sequence[tuple[str, Answer]]) -> list[Answer]:
        begin = {"protocolVersion": _PROTOCOL, "capabilities": {}, "clientInfo": {"name": _CLIENTS[self.agent]}}
        messages: list[Answer] = [
            {"id": -1, "method": "initialize", "params": begin},
            {"method": "notifications/initialized"},
        ]
        for number, (name, arguments) in enumerate(calls):
            messages.append({"id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}})
        feed = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages)
        answered = {one.get("id"): one for one in map(json.loads, self._run(now, ("mcp",), feed).splitlines())}
        results = [answered.get(number, {}).get("result", {}) for number in range(len(calls))]
        for (name, _), result in zip(calls, results, strict=True):
            if result.get("isError", True):
                raise Refused(f"`{name}` failed in the demo: {one_line(json.dumps(result), 400)}")
        return [result["structuredContent"] for result in results]

    def _run(self, now: str, words: tuple[str, ...], feed: str = "") -> str:
        done = subprocess.run(
            [sys.executable, "-m", "commonwealth", *words],
            cwd=self.code,
            env=self.environment(now),
            input=feed,
            capture_output=True,
            encoding="utf-8",
            timeout=_SECONDS,
            check=False,
        )
        if done.returncode:
            raise Refused(f"`brain {words[0]}` failed in the demo: {clean(done.stderr).strip()}")
        return done.stdout

    def _typed(self, word: str) -> str:
        """A word as a person would type it: their machine's folder is their home."""
        word = word.replace(str(self.machine), "~").replace(str(self.machine.parent), "..")
        return f'"{word}"' if " " in word or not word else word


def _told(answer: Answer) -> Iterator[str]:
    """An answer in a line or two: the notes or records that it holds, or the receipt."""
    hits = answer.get("results")
    if hits is None:
        named = answer["ids"][0] if answer["ids"] else ""
        yield f"{answer['state']} {named}{_commit(answer)}"
        hits = answer.get("overlaps", ())
    elif not hits:
        yield "nothing found"
    for hit in hits:
        yield from _work(hit) if "overlap" in hit else _note(hit)


def _work(hit: Answer) -> Iterator[str]:
    yield f"! {hit.get('owner')} with {hit.get('agent')}: {hit['title']} ({'; '.join(hit['overlap'])})"


def _note(hit: Answer) -> Iterator[str]:
    labels = (hit["kind"], hit["status"]) if hit["kind"] == "work-state" else (hit["type"], hit["status"])
    since, until = hit.get("validFrom", "")[:10], hit.get("validUntil", "")[:10]
    true = f"; true{f' from {since}' if since else ''}{f' until {until}' if until else ''}" if since or until else ""
    yield f"- {hit['title']} [{', '.join(labels)}{true}]"
    if hit.get("summary"):
        yield f"  {hit['summary']}"


def _commit(answer: Answer) -> str:
    return f" ({answer['commit'][:12]})" if answer.get("commit") else ""
