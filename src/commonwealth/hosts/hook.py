"""One call of a hook, whoever the host is: its JSON on stdin read without trust, our answer as its JSON."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from commonwealth.hosts.edits import Edit, edit_of

CONTEXT_LIMIT = 9_500
"""UTF-16 units of context in one answer. Above 10,000 Claude Code shows a stub, Codex cuts out the middle."""

LONGEST_PROMPT = 20_000
"""Characters of a prompt that are looked at: what stands first says what it is about."""

_LONGEST_FIELD = 4096


@dataclass(frozen=True, slots=True)
class Host:
    """What differs between the hosts' hooks.

    `project_variable` names the host's own word for the session's project. Only the answer to one of
    `context_events` may carry text for the model: others reject it, or show it as an error. `asks` where a hook can
    have the person asked before a tool is used.
    """

    name: str
    agent: str
    project_variable: str | None
    context_events: frozenset[str]
    asks: bool = False


@dataclass(frozen=True, slots=True)
class HookCall:
    """What a host said to a hook. A field that it left out, or that makes no sense, is None.

    `event` is spelled as the host spells it; `source` says why a session starts (startup, resume, clear,
    compact); `again` is true when a Stop hook has already made the model go on; `agent` names a helper of the session;
    `prompt` is what the person asks, and `edit` what a tool is about to change.
    """

    event: str
    session: str | None = None
    cwd: str | None = None
    project_dir: str | None = None
    transcript: str | None = None
    source: str | None = None
    again: bool = False
    agent: str | None = None
    prompt: str = ""
    edit: Edit | None = None

    @property
    def subagent(self) -> bool:
        """Whether a session's helper speaks, and not the session itself."""
        return self.agent is not None

    @property
    def reader(self) -> str | None:
        """Who reads the answer: the session, or a helper of it with a context of its own."""
        return f"{self.session} {self.agent}" if self.session and self.agent else self.session


def parse(host: Host, event: str, raw: bytes, env: Mapping[str, str], *, whole: bool = True) -> HookCall | None:
    """The call in `raw`, or None where that is empty, broken, or no JSON object. Never raises.

    Of a call that is not `whole`, the members that stand complete before it breaks off are taken.
    """
    data = _object(raw) if whole else _beginning(raw)
    if data is None or not (data or whole):
        return None
    project = env.get(host.project_variable) if host.project_variable else None
    return HookCall(
        event,
        session=_text(data.get("session_id")),
        cwd=_folder(data.get("cwd")),
        project_dir=_folder(project),
        transcript=_folder(data.get("transcript_path")),
        source=_text(data.get("source")),
        again=data.get("stop_hook_active") is True,
        agent=_text(data.get("agent_id")),
        prompt=_prompt(data.get("prompt")),
        edit=edit_of(data.get("tool_name"), data.get("tool_input")),
    )


def _object(raw: bytes) -> dict[str, object] | None:
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


_MEMBER = re.compile(r'\s*[{,]\s*(?=")')
_COLON = re.compile(r"\s*:\s*")


def _beginning(raw: bytes) -> dict[str, object]:
    """The complete members at the beginning of an object that breaks off."""
    text = raw.decode("utf-8", "ignore")
    decoder = json.JSONDecoder()
    found: dict[str, object] = {}
    at = 0
    try:
        while (start := _MEMBER.match(text, at)) and (start[0].strip() == ",") == bool(found):
            key, at = decoder.raw_decode(text, start.end())
            colon = _COLON.match(text, at)
            if colon is None:
                break
            value, at = decoder.raw_decode(text, colon.end())
            if text[at : at + 64].strip()[:1] not in (",", "}"):
                break  # a number may go on
            found[key] = value
    except (ValueError, RecursionError):
        pass
    return found


def _text(value: object) -> str | None:
    """`value` where it is text that the file system can take, else None."""
    if not isinstance(value, str) or not value or len(value) > _LONGEST_FIELD or "\0" in value:
        return None
    try:
        os.fsencode(value)
    except UnicodeEncodeError:  # half of a surrogate pair, as JSON can spell it
        return None
    return value


def _prompt(value: object) -> str:
    return value[:LONGEST_PROMPT].replace("\0", " ") if isinstance(value, str) else ""


def _folder(value: object) -> str | None:
    path = _text(value)
    return path if path and os.path.isabs(path) else None


def render(host: Host, event: str, context: str, notice: str | None = None, question: str | None = None) -> str:
    """The answer to `event` as one line of JSON, or nothing where there is nothing that the host may be told.

    `context` is for the model, `notice` for the person. No key but these two: Codex rejects an answer with an
    unknown one as a whole. `question` has the person asked whether the tool may be used, where the host can ask.
    """
    if event not in host.context_events or not (context or notice):
        return ""
    answer: dict[str, object] = {}
    if context:
        said = {"hookEventName": event, "additionalContext": _within(context)}
        if question and host.asks and event == "PreToolUse":
            said |= {"permissionDecision": "ask", "permissionDecisionReason": question}
        answer["hookSpecificOutput"] = said
    if notice:
        answer["systemMessage"] = notice
    return json.dumps(answer)


def _units(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _within(text: str) -> str:
    """`text` cut to the limit at a line. Its last line stays, for it may close a fence."""
    if _units(text) <= CONTEXT_LIMIT:
        return text
    *lines, last = text.split("\n")
    left = CONTEXT_LIMIT - _units(last) - 3
    kept: list[str] = []
    for line in lines:
        left -= _units(line) + 1
        if left < 0:
            break
        kept.append(line)
    return "\n".join([*kept, "…", last]) if left > -CONTEXT_LIMIT else ""
