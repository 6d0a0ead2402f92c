"""A program that stands where a coding tool's would: it writes down how it was asked, and answers as a test says."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

_PROGRAM = """#!{python}
import json, os, subprocess, sys, time
folder = {folder!r}
plan = json.load(open(os.path.join(folder, "plan.json"), encoding="utf-8"))
told = sys.stdin.read() if plan["listens"] else ""
number = len([name for name in os.listdir(folder) if name.startswith("asked")])
seen = {{"argv": sys.argv, "env": dict(os.environ), "stdin": told, "cwd": os.getcwd(), "there": os.listdir(".")}}
seen["pid"] = os.getpid()
if plan["child"]:
    seen["child"] = subprocess.Popen(["sleep", "600"], start_new_session=False).pid
with open(os.path.join(folder, "asked.tmp"), "w", encoding="utf-8") as file:
    json.dump(seen, file)
os.rename(os.path.join(folder, "asked.tmp"), os.path.join(folder, "asked%03d.json" % number))
if plan["flood"]:
    while True:
        sys.stdout.write("x" * 65536)
if plan["sleeps"]:
    time.sleep(600)
said = plan["answers"].pop(0) if plan["answers"] else ""
json.dump(plan, open(os.path.join(folder, "plan.json"), "w", encoding="utf-8"))
if "--output-last-message" in sys.argv:
    path = sys.argv[sys.argv.index("--output-last-message") + 1]
    open(path, "w", encoding="utf-8").write(said)
else:
    sys.stdout.write(said)
sys.stderr.write(plan["stderr"])
sys.exit(plan["code"])
"""


@dataclass(frozen=True, slots=True)
class Asking:
    """How the program was asked once."""

    argv: list[str]
    env: dict[str, str]
    stdin: str
    cwd: str
    there: list[str]
    pid: int
    child: int | None = None


class Scripted:
    """The program `name` in the folder `bin`, and what it is to answer."""

    def __init__(self, root: Path, name: str) -> None:
        self.name = name
        self.bin, self.folder = root / "bin", root / f"scripted-{name}"
        for folder in (self.bin, self.folder):
            folder.mkdir(parents=True, exist_ok=True)
        program = self.bin / name
        program.write_text(_PROGRAM.format(python=sys.executable, folder=str(self.folder)), encoding="utf-8")
        program.chmod(0o755)
        self.plan()

    def plan(self, *answers: str, code: int = 0, stderr: str = "", listens: bool = True, **odd: bool) -> None:
        """What it answers from now on, one after the other; then nothing."""
        given = {"answers": answers, "code": code, "stderr": stderr, "listens": listens}
        given |= {name: odd.get(name, False) for name in ("sleeps", "flood", "child")}
        (self.folder / "plan.json").write_text(json.dumps(given), encoding="utf-8")

    def notes(self, *notes: object) -> None:
        """The notes that it answers, in the form of its tool."""
        self.plan(*(self.form({"notes": notes}),))

    def form(self, said: object) -> str:
        """An answer as its tool puts it."""
        if self.name == "codex":
            return json.dumps(said)
        return json.dumps({"type": "result", "is_error": False, "result": "done", "structured_output": said})

    @property
    def asked(self) -> list[Asking]:
        """Each time that it was asked."""
        files = sorted(self.folder.glob("asked*.json"))
        return [Asking(**json.loads(file.read_text(encoding="utf-8"))) for file in files]
