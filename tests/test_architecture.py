"""The house keeps its floors: who may import whom, who starts git, and what a hook never loads."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "src"
PACKAGE = SOURCE / "commonwealth"

YAML = {"yamlnodes", "plainyaml", "settings"}
FLOOR_0 = YAML | {
    "errors",
    "model",
    "timeline",
    "safetext",
    "routing",
    "atomic",
    "config",
    "userconfig",
    "faults",
    "conversation",
}
MAY_IMPORT = {
    **dict.fromkeys(FLOOR_0, FLOOR_0),
    "notes": FLOOR_0,
    "repo": FLOOR_0,
    "index": FLOOR_0,
    "curate": FLOOR_0,
    "capture": FLOOR_0,
    "hosts": FLOOR_0,
    "flows": FLOOR_0 | {"notes", "repo", "index", "curate", "capture", "hosts"},
    "adapters": FLOOR_0 | {"flows", "hosts"},
    "__main__": FLOOR_0 | {"flows", "adapters"},
    "__init__": set[str](),
}
# What the adapters need of floors 1 and 2 as it is, named one by one.
ALSO = {"adapters": ("index.query", "repo.lock", "repo.project", "repo.git", "repo.common", "curate.secrets")}
OUTSIDE = {
    "click": "adapters",
    "pydantic": "adapters.mcp",
    "mcp": "nowhere",
    "git": "nowhere",
    "sqlite_utils": "nowhere",
    "frontmatter": "nowhere",
}


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


def imported(path: Path) -> set[str]:
    """The modules that a file imports, those for the type checker alone left out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            node.body = []
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    return found


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_imports_point_down_the_floors(path: Path) -> None:
    name = name_of(path)
    floor = name.split(".")[0]
    for target in imported(path):
        if not target.startswith("commonwealth."):
            continue
        below = target.removeprefix("commonwealth.")
        head = below.split(".")[0]
        if head in (floor, "__version__") or head in MAY_IMPORT[floor]:
            continue
        named = ALSO.get(floor, ())
        assert any(f"{below}.".startswith(f"{other}.") or other.startswith(f"{below}.") for other in named), (
            f"{name} imports {target}"
        )


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_heavy_packages_stay_where_they_are_named(path: Path) -> None:
    for target in imported(path):
        where = OUTSIDE.get(target.split(".")[0])
        assert where is None or name_of(path).startswith(where), f"{name_of(path)} imports {target}"


def test_modules_do_not_import_each_other_in_a_circle() -> None:
    names = {name_of(path).removesuffix(".__init__") for path in modules()}
    edges = {
        name_of(path).removesuffix(".__init__"): {
            other
            for target in imported(path)
            if (other := target.removeprefix("commonwealth.")) in names and other != name_of(path)
        }
        for path in modules()
    }
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " → ".join((*trail, name))
        if name not in done:
            for other in edges[name]:
                visit(other, (*trail, name))
            done.add(name)

    for name in edges:
        visit(name, ())


def test_git_is_started_in_one_place() -> None:
    starters = {name_of(path) for path in modules() if "subprocess" in imported(path)}
    assert {name for name in starters if name.startswith(("repo", "notes", "index", "curate"))} == {"repo.git"}


@pytest.mark.parametrize("event", ["SessionStart", "SessionEnd", "Stop", "PreCompact", "Nonsense"])
@pytest.mark.parametrize("host", ["claude", "codex"])
def test_a_hook_loads_nothing_heavy(event: str, host: str, tmp_path: Path) -> None:
    program = (
        "import sys, runpy\n"
        f"sys.argv = ['brain', 'hook', {event!r}, '--host', {host!r}]\n"
        "try:\n    runpy.run_module('commonwealth', run_name='__main__')\n"
        "finally:\n    print('\\n'.join(sys.modules), file=sys.stderr)\n"
    )
    payload = f'{{"session_id": "s", "cwd": "{tmp_path}", "hook_event_name": "{event}"}}'
    done = subprocess.run(
        [sys.executable, "-c", program], input=payload, capture_output=True, encoding="utf-8", check=True, timeout=30
    )
    loaded = set(done.stderr.split())
    assert "commonwealth" in loaded
    assert not loaded & {"click", "pydantic", "mcp", "git", "sqlite_utils", "asyncio", "importlib.metadata", "numpy"}


HURRIED = "at_prompt(brain, 'a payment is charged twice after HTTP 409', now='2026-07-01T10:00:00Z', budget=400)"
EDITING = "before_edit(brain, ['src/a.py'], 'x = 1', now='2026-07-01T10:00:00Z', budget=200)"


@pytest.mark.parametrize("call", [HURRIED, EDITING])
def test_what_a_person_waits_for_loads_only_what_it_uses(call: str, tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from commonwealth.config import BrainConfig\n"
        "from commonwealth.flows import brief\n"
        "from commonwealth.flows.brains import Brain\n"
        "from commonwealth.index.build import build\n"
        "from commonwealth.repo.project import Project\n"
        f"root = Path({str(tmp_path)!r})\n"
        "made = set(sys.modules)\n"
        "build(root / 'index', [], {})\n"
        "for name in set(sys.modules) - made:\n    del sys.modules[name]\n"
        "brain = Brain(root, BrainConfig(), str(root), None, Project(str(root), 'acme/shop', 'shop', 'main', None))\n"
        f"brief.{call}\n"
        "print('\\n'.join(sys.modules))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True, timeout=30
    )
    loaded = set(done.stdout.split())
    assert "commonwealth.flows.brief" in loaded
    heavy = {"subprocess", "hashlib", "yaml", "click", "pydantic", "asyncio", "importlib.metadata"}
    ours = {"flows.nearby", "flows.starting", "flows.scope", "flows.identity", "flows.freshness", "index.query",
            "index.disputes", "repo.git", "curate.dedupe", "notes.codec"}  # fmt: skip
    assert not loaded & (heavy | {f"commonwealth.{name}" for name in ours})
