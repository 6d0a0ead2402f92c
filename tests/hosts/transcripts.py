"""Transcripts of both hosts as a test writes them, record by record."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from commonwealth.conversation import Conversation
from commonwealth.hosts import transcript

CWD = "/home/alice/src/shop"


def moment(second: int) -> str:
    return f"2026-06-02T{second // 3600 % 24:02d}:{second // 60 % 60:02d}:{second % 60:02d}.120Z"


class Claude:
    """Records of a session of Claude Code's, one second apart."""

    host = "claude"

    def __init__(self) -> None:
        self.second = 0

    def record(self, kind: str, **more: object) -> dict[str, object]:
        self.second += 1
        common = {"uuid": f"u{self.second}", "timestamp": moment(self.second), "sessionId": "s-1", "cwd": CWD}
        return {"type": kind, **common, "gitBranch": "main", "version": "2.1.197", "isSidechain": False, **more}

    def user(self, text: object, **more: object) -> dict[str, object]:
        return self.record("user", message={"role": "user", "content": text}, **more)

    def assistant(self, text: str, **more: object) -> dict[str, object]:
        block = {"type": "text", "text": text}
        return self.record("assistant", message={"id": f"m{self.second}", "content": [block]}, **more)

    def use(self, call: str, name: str, **given: object) -> dict[str, object]:
        block = {"type": "tool_use", "id": call, "name": name, "input": given}
        return self.record("assistant", message={"id": f"m{self.second}", "content": [block]})

    def result(self, call: str, content: object, *, error: bool = False, told: object = None) -> dict[str, object]:
        block = {"type": "tool_result", "tool_use_id": call, "content": content, "is_error": error}
        return self.record("user", message={"role": "user", "content": [block]}, toolUseResult=told)

    def over(self) -> dict[str, object]:
        return self.record("system", subtype="turn_duration", durationMs=5)


class Codex:
    """Records of a rollout of Codex's, one second apart."""

    host = "codex"

    def __init__(self) -> None:
        self.second = 0

    def record(self, kind: str, payload: Mapping[str, object]) -> dict[str, object]:
        self.second += 1
        return {"timestamp": moment(self.second), "ordinal": self.second, "type": kind, "payload": payload}

    def meta(self, **more: object) -> dict[str, object]:
        git = {
            "commit_hash": "9d35684" * 5,
            "branch": "main",
            "repository_url": "https://git.example.com/acme/shop.git",
        }
        return self.record("session_meta", {"id": "s-1", "cwd": CWD, "cli_version": "0.171.0", "git": git, **more})

    def message(self, role: str, text: str, kind: str | None = None) -> dict[str, object]:
        about = {"internal_chat_message_metadata_passthrough": {"content_item_kinds": [kind]}} if kind else {}
        content = [{"type": "output_text" if role == "assistant" else "input_text", "text": text}]
        return self.record("response_item", {"type": "message", "role": role, "content": content, **about})

    def user(self, text: str) -> dict[str, object]:
        return self.message("user", text, "user.text")

    def assistant(self, text: str) -> dict[str, object]:
        return self.message("assistant", text, "unknown")

    def use(self, call: str, name: str, **given: object) -> dict[str, object]:
        payload = {"type": "function_call", "name": name, "call_id": call, "arguments": json.dumps(given)}
        return self.record("response_item", payload)

    def result(self, call: str, output: object) -> dict[str, object]:
        return self.record("response_item", {"type": "function_call_output", "call_id": call, "output": output})

    def over(self) -> dict[str, object]:
        return self.record("event_msg", {"type": "task_complete", "turn_id": "t"})


def line(record: Mapping[str, object]) -> str:
    return json.dumps(record, ensure_ascii=False) + "\n"


def write(path: Path, records: Iterable[Mapping[str, object]]) -> str:
    path.write_text("".join(line(record) for record in records), encoding="utf-8")
    return str(path)


def read(path: object, host: str = "claude", **more: object) -> Conversation:
    return transcript.read(host, str(path), **more).conversation  # type: ignore[arg-type]


def two_turns() -> list[dict[str, object]]:
    c = Claude()
    return [
        c.user("Fix the payment"),
        c.use("t1", "Bash", command="pytest"),
        c.result("t1", "1 failed"),
        c.assistant("It fails"),
        c.user("Now the refund"),
        c.assistant("Refund it is"),
    ]
