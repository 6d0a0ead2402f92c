"""Any client without the plugin: the lines of docs/clients.md as they stand there, in the real clients."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from commonwealth.adapters.mcp.instructions import INSTRUCTIONS

from .documented import CLIENTS, block, line
from .harness import fake_anthropic, fake_openai
from .harness.fake_base import Say
from .harness.runner import Box, ClaudeBox, CodexBox

pytestmark = pytest.mark.client

PROJECT = "https://git.example.com/acme/shop.git"
SUMMARY = "Treat PaymentService HTTP 409 as success; retrying can duplicate downstream processing."
ELSEWHERE = "The other brain says so."
WAIT = {"claude": ("Bash", "command"), "codex": ("exec_command", "cmd")}


def settle_in(box: Box) -> None:
    """A person with a code repository, a brain that a rule gives to it, and another brain that no rule names."""
    (box.home / ".gitconfig").write_text(
        "[user]\n\tname = Alice\n\temail = alice@example.com\n[init]\n\tdefaultBranch = main\n", encoding="utf-8"
    )
    box.shell("git", "init", "-q")
    box.shell("git", "remote", "add", "origin", PROJECT)
    box.shell("brain", "init", str(box.root / "ours"))
    box.shell("brain", "remember", "HTTP 409 means an idempotent payment already succeeded", "-m", SUMMARY)
    other = box.home / ".commonwealth" / "brains" / "acme"
    box.shell("brain", "init", str(other), "--name", "acme", cwd=box.home)
    box.shell("brain", "remember", "A payment answered 409", "-m", ELSEWHERE, "--brain", str(other))


@pytest.fixture
def claude(claude_box: ClaudeBox) -> ClaudeBox:
    """Alice with Claude Code and no plugin."""
    settle_in(claude_box)
    return claude_box


@pytest.fixture
def codex(codex_box: CodexBox) -> CodexBox:
    """Alice with Codex and no plugin."""
    settle_in(codex_box)
    return codex_box


def do(box: Box, command: str) -> str:
    """Run a line of the page."""
    return box.shell(*shlex.split(line(command), comments=True))


def turns(client: str, tool: str = "memory_search", **arguments: object) -> list[Say]:
    """A model that gives the server a moment, calls one tool of it, and ends."""
    shell, argument = WAIT[client]
    call = {"tool": f"mcp__brain__{tool}", "input": arguments or {"query": "409 payment"}}
    return [{"tool": shell, "input": {argument: "sleep 2"}}, call, "done"]


def offered(names: list[str]) -> list[str]:
    return [name for name in names if name.startswith("mcp__brain__")]


@pytest.mark.parametrize(
    ("scope", "status"),
    [("local", "✔ Connected"), ("user", "✔ Connected"), ("project", "Pending approval")],
)
def test_claude_searches_by_one_line_and_forgets_by_another(claude: ClaudeBox, scope: str, status: str) -> None:
    added = "claude mcp add brain" if scope == "local" else f"claude mcp add --scope {scope} brain"
    do(claude, f"{added} -- brain mcp")
    assert f"brain: brain mcp - {status}" in do(claude, "claude mcp list").replace("⏸ ", "")
    assert scope.capitalize() in do(claude, "claude mcp get brain")

    told = claude.run("Why does a retry fail?", turns("claude"))
    assert told.returncode == 0, told.stderr
    assert offered(fake_anthropic.tool_names(told.main[0])), "the server is there for the first request"
    assert INSTRUCTIONS in told.context(0)
    assert SUMMARY in told.context()

    do(claude, f"claude mcp remove brain --scope {scope}")
    assert "No MCP servers configured" in claude.shell("claude", "mcp", "list")


def test_what_claude_writes_for_a_project_is_what_the_page_shows(claude: ClaudeBox) -> None:
    do(claude, "claude mcp add --scope project brain -- brain mcp")
    written = json.loads((claude.cwd / ".mcp.json").read_text(encoding="utf-8"))
    shown = json.loads(block("json", '"type": "stdio"'))
    assert written["mcpServers"]["brain"].pop("env") == {}
    assert written == shown


def test_the_settings_of_a_trusted_project_answer_claudes_questions(claude: ClaudeBox) -> None:
    (claude.cwd / ".mcp.json").write_text(block("json", '"type": "stdio"'), encoding="utf-8")
    asked = claude.run("Why?", turns("claude"), bypass=False)
    assert "haven't granted it yet" in asked.context()
    assert SUMMARY not in asked.context()
    once = claude.run("Why?", turns("claude"), bypass=False, args=("--allowedTools", "mcp__brain"))
    assert SUMMARY in once.context()

    settings = claude.cwd / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(block("json", "enabledMcpjsonServers"), encoding="utf-8")
    assert "brain: brain mcp - ✔ Connected" in claude.shell("claude", "mcp", "list")
    assert SUMMARY in claude.run("Why?", turns("claude"), bypass=False).context()

    state = claude.home / ".claude.json"
    known = json.loads(state.read_text(encoding="utf-8"))
    state.write_text(json.dumps({**known, "projects": {}}), encoding="utf-8")
    assert "Pending approval" in claude.shell("claude", "mcp", "list")
    assert "haven't granted it yet" in claude.run("Why?", turns("claude"), bypass=False).context()


@pytest.mark.parametrize("end", ["-e COMMONWEALTH_BRAIN=acme -- brain mcp", "-- brain mcp --brain acme"])
def test_a_brain_that_is_named_comes_before_the_rule_in_claude(claude: ClaudeBox, end: str) -> None:
    do(claude, f"claude mcp add --scope user brain {end}")
    told = claude.run("Why?", turns("claude")).context()
    assert ELSEWHERE in told
    assert SUMMARY not in told


def test_codex_searches_by_one_line_and_forgets_by_another(codex: CodexBox) -> None:
    do(codex, "codex mcp add brain -- brain mcp")
    assert "enabled" in do(codex, "codex mcp list")
    assert "args: mcp" in do(codex, "codex mcp get brain")

    told = codex.run("Why does a retry fail?", turns("codex"))
    assert told.returncode == 0, told.stderr
    assert offered(fake_openai.tool_names(told.main[-1]))
    assert INSTRUCTIONS in json.dumps(told.main[-1]["tools"], ensure_ascii=False).replace("\\n", "\n")
    assert SUMMARY in told.context()

    do(codex, "codex mcp remove brain")
    assert not offered(fake_openai.tool_names(codex.run("And now?", turns("codex")).main[-1]))


def test_codex_reads_a_projects_file_only_where_it_is_trusted(codex: CodexBox) -> None:
    folder = codex.cwd / ".codex"
    folder.mkdir()
    (folder / "config.toml").write_text(block("toml", "[mcp_servers.brain]"), encoding="utf-8")
    assert SUMMARY in codex.run("Why?", turns("codex")).context()
    own = codex.config_dir / "config.toml"
    own.write_text(own.read_text(encoding="utf-8").replace('"trusted"', '"untrusted"'), encoding="utf-8")
    assert not offered(fake_openai.tool_names(codex.run("Why?", turns("codex")).main[-1]))


def test_codex_keeps_the_environment_from_a_server_unless_it_is_named(codex: CodexBox) -> None:
    codex.extra = {"COMMONWEALTH_BRAIN": "acme"}
    do(codex, "codex mcp add brain -- brain mcp")
    filtered = codex.run("Why?", turns("codex")).context()
    assert SUMMARY in filtered
    assert ELSEWHERE not in filtered
    do(codex, "codex mcp remove brain")

    own = codex.config_dir / "config.toml"
    kept = own.read_text(encoding="utf-8")
    own.write_text(f"{kept}\n{block('toml', '[mcp_servers.brain]')}", encoding="utf-8")
    assert ELSEWHERE in codex.run("Why?", turns("codex")).context()


@pytest.mark.parametrize("end", ["--env COMMONWEALTH_BRAIN=acme -- brain mcp", "-- brain mcp --brain acme"])
def test_a_brain_that_is_named_comes_before_the_rule_in_codex(codex: CodexBox, end: str) -> None:
    do(codex, f"codex mcp add brain {end}")
    told = codex.run("Why?", turns("codex")).context()
    assert ELSEWHERE in told
    assert SUMMARY not in told


def test_codex_asks_nobody_before_a_note_is_recorded(codex: CodexBox) -> None:
    do(codex, "codex mcp add brain -- brain mcp")
    fact = {"title": "Refunds are booked a day later", "summary": "By the nightly run."}
    told = codex.run("Keep it", turns("codex", "memory_record", **fact), bypass=False)
    assert '"state":"committed"' in told.context().replace('\\"', '"').replace(" ", "")
    assert "Refunds are booked" in codex.shell("brain", "search", "refunds")


def test_the_page_names_the_versions_that_are_tested() -> None:
    script = Path(__file__).with_name("install_clients.sh").read_text(encoding="utf-8")
    text = CLIENTS.read_text(encoding="utf-8")
    assert "Claude Code 2.1 and Codex 0.171" in text
    assert "claude-code@2.1." in script
    assert "codex@0.171." in script
