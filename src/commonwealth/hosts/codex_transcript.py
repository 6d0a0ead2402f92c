"""Codex's rollouts: one JSON object a line, each a `type` with a `payload`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from commonwealth.hosts import ours, tidy
from commonwealth.hosts.gathering import Gathering

NAME = "codex"

TYPES = frozenset(
    {"session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state", "token_usage_record"}
)
_USES = {
    "shell": "run",
    "shell_command": "run",
    "local_shell": "run",
    "exec_command": "run",
    "container.exec": "run",
    "write_stdin": "run",
    "unified_exec": "run",
    "apply_patch": "edit",
    "update_plan": "plan",
    "view_image": "read",
    "read_file": "read",
    "list_dir": "search",
    "grep_files": "search",
    "web_search": "search",
    "request_user_input": "ask",
    "spawn_agent": "delegate",
    "send_input": "delegate",
    "wait": "delegate",
    "close_agent": "delegate",
}
_TURN_ENDS = frozenset({"task_complete", "turn_complete", "turn_aborted"})

_own = tidy.unwrapping(
    *("environment_context", "user_instructions", "INSTRUCTIONS", "turn_aborted", "subagent_notification"),
    *("user_shell_command", "permissions instructions", "collaboration_mode", "system-reminder", "skill"),
    *("apps_instructions", "skills_instructions", "plugins_instructions", "personality_spec", "model_switch"),
    *("hook_prompt", "recommended_plugins"),
)
_AGENTS = re.compile(r"\A# AGENTS\.md instructions\b[^\n]*\n*")
_IDE = re.compile(
    r"\A# (?:Context from my IDE setup|Files mentioned by the user):.*?(?:^## My request for Codex:[ \t]*\n?|\Z)",
    re.DOTALL | re.MULTILINE,
)
_EXIT = re.compile(r"^(?:Process exited with code|Exit code:) ?(-?\d+)\s*$", re.MULTILINE)
_HEADER = re.compile(
    r"\A(?:(?:(?:Chunk ID|Wall time|Original token count|Exit code|Total output lines): ?[^\n]*"
    r"|Process (?:exited with code|running with)[^\n]*|Output:[ \t]*)(?:\n|\Z))+"
)
_USER = re.compile(r"://[^/]*@")
"""A remote's user and password."""

_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$", re.MULTILINE)
_REFUSED = re.compile(
    r"\A\s*(?:exec command rejected by user|rejected(?:\(| by user)|patch rejected by user)", re.IGNORECASE
)


def known(record: Mapping[str, object]) -> bool:
    """Whether Codex writes such a record into a rollout."""
    kind = record.get("type")
    return isinstance(kind, str) and kind in TYPES and isinstance(record.get("payload"), dict)


class Reader:
    """Tells a gathering what the records of a session say."""

    def __init__(self, gathering: Gathering) -> None:
        self.to = gathering
        self.asked: dict[str, dict[str, str]] = {}

    def take(self, record: dict[str, object]) -> bool:
        """One record. True where it says that a turn is over."""
        self.to.record(record.get("timestamp"))
        kind, payload = record.get("type"), record.get("payload")
        if not isinstance(payload, dict):
            self.to.skip(kind if isinstance(kind, str) else "without a type")
            return False
        inner = payload.get("type")
        if kind == "session_meta":
            self._meta(payload)
        elif kind == "turn_context":
            self.to.skip("turn_context")
            if not self.to.fact_now("cwd"):
                self.to.fact("cwd", payload.get("cwd"))
            self.to.stands(payload.get("cwd"))
        elif kind == "event_msg":
            return self._event(payload)
        elif kind != "response_item":
            self.to.skip(kind if isinstance(kind, str) else "without a type")
        elif self.to.fact_now("subagent"):
            self.to.skip("sidechain")
        else:
            self._item(inner if isinstance(inner, str) else "", payload)
        return False

    def _meta(self, payload: Mapping[str, object]) -> None:
        self.to.skip("session_meta")
        if self.to.fact_now("session"):
            return  # that of the session which this one was forked from
        source = payload.get("source")
        if payload.get("thread_source") == "subagent" or (isinstance(source, dict) and "subagent" in source):
            self.to.fact("subagent", "yes")
        self.to.fact("session", payload.get("id"))
        self.to.fact("cwd", payload.get("cwd"))
        self.to.fact("version", payload.get("cli_version"))
        git = payload.get("git")
        if isinstance(git, dict):
            self.to.fact("branch", git.get("branch"))
            self.to.fact("repository", _USER.sub("://", str(git.get("repository_url") or "")))
            self.to.commit(git.get("commit_hash"))

    def _event(self, payload: Mapping[str, object]) -> bool:
        kind = str(payload.get("type"))
        self.to.skip(f"event_msg {kind}")
        by_user = kind == "turn_aborted" and payload.get("reason") in (None, "interrupted")
        if by_user and not self.to.fact_now("subagent") and self.to.fresh("aborted", str(payload.get("turn_id"))):
            self.to.said("user", "", manner="interruption")
        return kind in _TURN_ENDS

    def _item(self, kind: str, payload: Mapping[str, object]) -> None:
        if kind == "message":
            self._message(payload)
        elif kind in ("function_call", "custom_tool_call", "local_shell_call", "web_search_call"):
            self._use(kind, payload)
        elif kind in ("function_call_output", "custom_tool_call_output"):
            self._result(payload)
        else:
            self.to.skip(kind or "without a type")

    def _message(self, payload: Mapping[str, object]) -> None:
        role = payload.get("role")
        if role not in ("user", "assistant"):
            self.to.skip("injected context" if "hooks.additional_context" in _kinds(payload) else f"{role} message")
            return
        words = []
        kinds = _kinds(payload)
        content = payload.get("content")
        for at, block in enumerate(content if isinstance(content, list) else ()):
            if not isinstance(block, dict):
                continue
            text = block.get("text")
            if not isinstance(text, str):
                self.to.skip(str(block.get("type")))
            elif role == "user" and at < len(kinds) and not kinds[at].startswith(("user.", "unknown")):
                self.to.skip("injected context" if kinds[at].startswith("hooks.") else "host wrapper")
            else:
                words.append(text)
        text = "\n".join(words)
        if not text or not self.to.fresh("text", str(role), text):
            return
        own = _prompt(text) if role == "user" else text
        if own:
            self.to.said(str(role), own)
        else:
            self.to.skip("host wrapper")

    def _use(self, kind: str, payload: Mapping[str, object]) -> None:
        call = payload.get("call_id") or payload.get("id")
        call = call if isinstance(call, str) else ""
        name = payload.get("name")
        name = name if isinstance(name, str) else kind.removesuffix("_call")
        space = payload.get("namespace")
        full = f"{space}__{name}" if isinstance(space, str) and space else name
        text = _input(kind, payload)
        if not self.to.fresh("use", call, name, text):
            return
        if name == "request_user_input":
            self.asked = {call: _questions(payload.get("arguments"))}
        use = "edit" if "*** Begin Patch" in text else _USES.get(name, "other")
        files = [one or other for one, other in _PATCHED.findall(text)] if use == "edit" else []
        own = ours.tool(full) or ours.command(name, text)
        self.to.used(call, use, full, text, files, ours=own, folder=_folder(kind, payload))

    def _result(self, payload: Mapping[str, object]) -> None:
        call = payload.get("call_id")
        call = call if isinstance(call, str) else ""
        if not self.to.fresh("result", call):
            return
        text, failed = _output(payload.get("output"))
        if _REFUSED.match(text):
            self.to.refused(call, "")
            return
        answers = _answers(text, self.asked.pop(call, {}))
        self.to.result(call, text, failed=failed)
        for question, answer in answers:
            self.to.said("user", answer, manner="answer", question=question)


def _kinds(payload: Mapping[str, object]) -> list[str]:
    told = payload.get("internal_chat_message_metadata_passthrough")
    kinds = told.get("content_item_kinds") if isinstance(told, dict) else None
    return [str(kind) for kind in kinds] if isinstance(kinds, list) else []


def _prompt(text: str) -> str:
    """The user's own words in a prompt."""
    text = _own(_AGENTS.sub("", text)).strip()
    return _IDE.sub("", text).strip()


def _input(kind: str, payload: Mapping[str, object]) -> str:
    """What went into a tool, as one text."""
    if kind == "custom_tool_call":
        return str(payload.get("input") or "")
    asked = _questions(payload.get("arguments"))
    if asked:
        return "\n".join(asked.values())
    values = _parsed(payload.get("action" if kind in ("local_shell_call", "web_search_call") else "arguments"))
    for key in ("command", "cmd", "input", "patch", "query", "message", "path", "explanation", "chars"):
        value = values.get(key)
        if isinstance(value, list) and value:
            words = [str(word) for word in value]
            return words[-1] if len(words) == 3 and words[1] in ("-c", "-lc") else " ".join(words)
        if isinstance(value, str) and value:
            return value
    return ""


def _folder(kind: str, payload: Mapping[str, object]) -> str:
    """The folder that a command was run in, where the call names one."""
    values = _parsed(payload.get("action" if kind == "local_shell_call" else "arguments"))
    found = values.get("workdir") or values.get("working_directory")
    return found if isinstance(found, str) and len(found) <= 4096 else ""


def _questions(arguments: object) -> dict[str, str]:
    """The questions of a `request_user_input` by their id."""
    asked = _parsed(arguments).get("questions")
    found = [one for one in (asked if isinstance(asked, list) else ()) if isinstance(one, dict)]
    return {str(one.get("id")): str(one.get("question") or one.get("header") or "") for one in found}


def _answers(text: str, questions: Mapping[str, str]) -> list[tuple[str, str]]:
    """The user's answers to `questions`, each with what was asked."""
    answers = _parsed(text).get("answers") if questions else None
    told = []
    for key, answer in answers.items() if isinstance(answers, dict) else ():
        words = answer.get("answers") if isinstance(answer, dict) else answer
        words = words if isinstance(words, list) else [words]
        told.append((questions.get(key, ""), ", ".join(word for word in words if isinstance(word, str))))
    return told


def _parsed(text: object) -> dict[str, object]:
    try:
        value = json.loads(text) if isinstance(text, str) else text
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _output(output: object) -> tuple[str, bool]:
    """What a tool answered, and whether it failed."""
    if isinstance(output, list):
        texts = [block.get("text") for block in output if isinstance(block, dict)]
        output = "\n".join(text for text in texts if isinstance(text, str))
    if isinstance(output, dict):
        content = output.get("content")
        return (content if isinstance(content, str) else ""), output.get("success") is False
    if not isinstance(output, str):
        return "", False
    inner = _parsed(output) if output.startswith('{"output":') else {}
    told = inner.get("output")
    if isinstance(told, str):
        about = inner.get("metadata")
        code = about.get("exit_code") if isinstance(about, dict) else 0
        return told, isinstance(code, int) and code != 0
    head = _HEADER.match(output)
    if head:
        code_text = _EXIT.search(head[0])
        return output[head.end() :], code_text is not None and int(code_text[1]) != 0
    return output, False
