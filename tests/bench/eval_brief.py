"""How good the notes are that a session is told unasked: the right ones, at the right moment, or none.

Run as `python -m tests.bench.eval_brief`, with `--half dev`, `--event prompt` or `--only NAME` for some of it, with
`--misses` to be told what went wrong, and with `--check` to end with 1 where a goal is missed. It needs the corpora
below `COMMONWEALTH_SHARED` (default `../shared` beside the repository), and says so where they are not there.

Each situation of `situations/*.yaml` is played in a real repository with a real brain and the hooks' own functions:
`ask` is the one place that knows how the product is called, and reads from the injected text what was told. How to add
a situation is in `eval_situations.py`; which notes lie in which brain, in `situations/brains.yaml`.

What the table says, for each event:

- precision: of the notes that were told, those that a colleague would have told (`may` counts for nothing);
- recall: of the notes that belong there (`must` and `should`), those that were told, within the token budget;
- must missed: notes without which somebody breaks something, known to the brain and not told;
- false fire: of the moments that deserve silence, those at which something was said;
- isolation: notes of another brain, repository or branch; untrue: superseded, retracted or expired ones; again: notes
  that the session had been told before. All three have to be 0;
- tokens: mean and maximum of what was injected where anything was.

`held` situations are for the sum only: `--misses` names those of `dev` alone, so that nobody tunes to the others.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from commonwealth import userconfig
from commonwealth.adapters import telling
from commonwealth.flows import brains
from commonwealth.hosts import claude, codex, hook
from commonwealth.model import Note
from commonwealth.safetext import tokens
from tests.bench import eval_world
from tests.bench.eval_situations import EVENTS, HALVES, Moment, Situation, load, of_half
from tests.bench.eval_world import NOW, SHARED, World

BUDGETS = {"start": 1200, "prompt": 400, "edit": 200}
PRECISION, RECALL, FALSE_FIRE = 0.90, 0.80, 0.03
"""The goals."""

_HOSTS = {"claude": claude.HOST, "codex": codex.HOST}
_EVENT_OF = {"start": "SessionStart", "prompt": "UserPromptSubmit", "edit": "PreToolUse"}
_TOLD = re.compile(r"(?m)^\s+id ([a-z0-9][a-z0-9-]*)(?:;|$)")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a session was told at one moment: the ids in the injected text, the text, and its size."""

    ids: tuple[str, ...] = ()
    text: str = ""

    @property
    def tokens(self) -> int:
        """The size of the text."""
        return tokens(self.text) if self.text else 0


def ask(moment: Moment, *, session: str, cwd: Path, root: Path) -> Answer:
    """Tell a session what the hook of this moment would: by the functions that the hook itself calls, without the
    network and the worker around them. `root` is the work tree, `cwd` the folder that the session stands in."""
    host, event = _HOSTS[moment.host], _EVENT_OF[moment.event]
    said: dict[str, object] = {"session_id": session, "cwd": str(cwd), "hook_event_name": event}
    if moment.event == "start":
        said["source"] = moment.source
    elif moment.event == "prompt":
        said["prompt"] = moment.prompt
    else:
        said |= _edit(moment, root)
    call = hook.parse(host, event, json.dumps(said).encode(), {})
    assert call is not None
    if moment.event == "start":
        brain = brains.for_session(call.cwd, call.project_dir)
        text = telling.at_start(host, call, brain, userconfig.load()).text if brain else ""
    else:
        answer = telling.answer(host, call).text
        text = json.loads(answer)["hookSpecificOutput"]["additionalContext"] if answer else ""
    return Answer(tuple(_TOLD.findall(text)), text)


def _edit(moment: Moment, root: Path) -> dict[str, object]:
    path = str(root / moment.file)
    if moment.host == "claude":
        return {"tool_name": "Edit", "tool_input": {"file_path": path, "old_string": "", "new_string": moment.change}}
    added = "".join(f"+{line}\n" for line in moment.change.splitlines())
    patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n{added}*** End Patch\n"
    return {"tool_name": "apply_patch", "tool_input": {"command": patch}}


@dataclass(frozen=True, slots=True)
class Outcome:
    """A situation as it went. The tuples are ids: of notes that were told and had to be (`hits`), that were told and
    should not have been (`wrong`), that were not told (`missed`, and of those the ones that had to be: `must`)."""

    situation: Situation
    answer: Answer
    hits: tuple[str, ...]
    wrong: tuple[str, ...]
    missed: tuple[str, ...]
    must: tuple[str, ...]
    isolation: tuple[str, ...]
    untrue: tuple[str, ...]
    again: tuple[str, ...]

    @property
    def fired(self) -> bool:
        """Whether something was said where silence is right."""
        return self.situation.silent and bool(self.answer.text)


def play(world: World, one: Situation) -> Outcome:
    """Play a situation, with what came before it in its session."""
    root = world.repository(one)
    told: set[str] = set()
    for moment in one.before:
        told.update(ask(moment, session=one.name, cwd=root / one.folder, root=root).ids)
    return judge(world, one, ask(one.moment, session=one.name, cwd=root / one.folder, root=root), told)


def judge(world: World, one: Situation, answer: Answer, before: Iterable[str] = ()) -> Outcome:
    """Compare an answer with what belongs there."""
    wanted = world.ids((*one.must, *one.should))
    accepted = {*wanted, *world.ids(one.may)}
    again = set(world.ids(one.again))
    told = dict.fromkeys(answer.ids)
    # What was not told before may be told now: that it was not is a miss of another situation.
    accepted |= again - set(before)
    return Outcome(
        one,
        answer,
        hits=tuple(id_ for id_ in wanted if id_ in told),
        wrong=tuple(id_ for id_ in told if id_ not in accepted),
        missed=tuple(id_ for id_ in wanted if id_ not in told),
        must=tuple(id_ for id_ in world.ids(one.must) if id_ not in told),
        isolation=tuple(id_ for id_ in told if _is_foreign(world, one, id_)),
        untrue=tuple(id_ for id_ in told if _is_untrue(world, id_)),
        again=tuple(id_ for id_ in told if id_ in again and id_ in before),
    )


def _is_foreign(world: World, one: Situation, id_: str) -> bool:
    """Whether a note is of another brain, another repository, or another branch."""
    found = world.note(id_)
    if found is None:
        return True
    brain, note = found
    limited = note.branch if note.kind != "work-state" else None
    return brain != world.places[one.at].brain or not world.is_of(note, one.at) or limited not in (None, one.branch)


def _is_untrue(world: World, id_: str) -> bool:
    found = world.note(id_)
    return found is not None and not _holds(found[1])


def _holds(note: Note) -> bool:
    over = note.valid_until is not None and note.valid_until <= NOW
    return not over and note.status not in ("superseded", "retracted", "completed", "abandoned")


@dataclass(frozen=True, slots=True)
class Figures:
    """The sums over some outcomes."""

    outcomes: Sequence[Outcome]

    def count(self, name: str) -> int:
        """How many notes all outcomes have under this name."""
        return sum(len(getattr(one, name)) for one in self.outcomes)

    @property
    def precision(self) -> float:
        """Of the notes that count, those that belong there; 1 where none was told."""
        hits, wrong = self.count("hits"), self.count("wrong")
        return hits / (hits + wrong) if hits + wrong else 1.0

    @property
    def recall(self) -> float:
        """Of the notes that belong there, those that were told; 1 where none does."""
        hits, missed = self.count("hits"), self.count("missed")
        return hits / (hits + missed) if hits + missed else 1.0

    @property
    def silences(self) -> int:
        """How many situations deserve silence."""
        return sum(one.situation.silent for one in self.outcomes)

    @property
    def fired(self) -> int:
        """In how many of them something was said."""
        return sum(one.fired for one in self.outcomes)

    @property
    def false_fire(self) -> float:
        """Their share."""
        return self.fired / self.silences if self.silences else 0.0

    @property
    def violations(self) -> int:
        """Notes that may not be told in any case."""
        return self.count("isolation") + self.count("untrue") + self.count("again") + len(self.over)

    @property
    def over(self) -> list[Outcome]:
        """Outcomes that cost more tokens than their budget."""
        return [one for one in self.outcomes if one.answer.tokens > BUDGETS[one.situation.moment.event]]

    @property
    def reached(self) -> bool:
        """Whether every goal is."""
        good = self.precision >= PRECISION and self.recall >= RECALL and self.false_fire <= FALSE_FIRE
        return good and not self.violations

    def row(self, half: str, event: str) -> str:
        """A line of the table."""
        sizes = [one.answer.tokens for one in self.outcomes if one.answer.text]
        mean = sum(sizes) / len(sizes) if sizes else 0
        hits, musts = self.count("hits"), sum(len(one.situation.must) for one in self.outcomes)
        cells = (
            half,
            event,
            str(len(self.outcomes)),
            f"{self.precision:.2f} ({hits}/{hits + self.count('wrong')})",
            f"{self.recall:.2f} ({hits}/{hits + self.count('missed')})",
            f"{self.count('must')}/{musts}",
            f"{self.false_fire:.2f} ({self.fired}/{self.silences})",
            f"{self.count('isolation')} / {self.count('untrue')} / {self.count('again')}",
            f"{mean:.0f} / {max(sizes, default=0)}" + (f", {len(self.over)} over" if self.over else ""),
        )
        return f"| {' | '.join(cells)} |"


_HEAD = (
    "| half | event | situations | precision | recall | must missed | false fire | isolation / untrue / again "
    "| tokens mean / max |\n|---|---|---|---|---|---|---|---|---|"
)


def report(outcomes: Sequence[Outcome], halves: Sequence[str]) -> bool:
    """Print the table; whether every goal is reached in each half."""
    print(_HEAD)
    reached = True
    for half in halves:
        of = [one for one in outcomes if one.situation.half == half]
        for event in EVENTS:
            if some := [one for one in of if one.situation.moment.event == event]:
                print(Figures(some).row(half, event))
        print(Figures(of).row(half, "all"))
        reached = reached and Figures(of).reached
    return reached


def misses(world: World, outcomes: Iterable[Outcome]) -> None:
    """Name what went wrong, of the situations that may be looked at."""
    for one in outcomes:
        lists = {name: getattr(one, name) for name in ("wrong", "missed", "isolation", "untrue", "again")}
        lists = {name: [world.named(id_) for id_ in ids] for name, ids in lists.items() if ids}
        if lists or one.fired:
            said = "; ".join(f"{name} {', '.join(ids)}" for name, ids in lists.items())
            print(f"{one.situation.moment.event:6} {one.situation.name}: {said or 'said something'}")


def run(situations: Sequence[Situation], folder: Path) -> tuple[World, list[Outcome]]:
    """Play situations in a world of their own in `folder`, to which the environment is pointed."""
    for name in [name for name in os.environ if name.startswith(("COMMONWEALTH_", "GIT_", "CLAUDE_"))]:
        del os.environ[name]
    os.environ |= eval_world.environment(folder)
    world = eval_world.build(folder, situations)
    return world, [play(world, one) for one in situations]


def main() -> int:
    """Play the situations that are asked for, and print the table."""
    parser = argparse.ArgumentParser(description="Relevance of what sessions are told.")
    parser.add_argument("--half", choices=HALVES)
    parser.add_argument("--event", choices=EVENTS)
    parser.add_argument("--only", help="the name of one situation; its text is printed")
    parser.add_argument("--misses", action="store_true", help="name what went wrong in the dev half")
    parser.add_argument("--check", action="store_true", help="end with 1 where a goal is missed")
    given = parser.parse_args()
    if not (SHARED / "corpora").is_dir():
        print(f"skipped: no corpora below {SHARED}; set COMMONWEALTH_SHARED to the folder that has them")
        return 0
    halves = [given.half] if given.half else list(HALVES)
    wanted = [one for half in halves for one in of_half(load(), half)]
    wanted = [one for one in wanted if given.event in (None, one.moment.event) and given.only in (None, one.name)]
    with tempfile.TemporaryDirectory(prefix="commonwealth-brief-") as folder:
        world, outcomes = run(wanted, Path(os.path.realpath(folder)))
    if given.only:
        print("\n".join(one.answer.text or "(nothing)" for one in outcomes))
    reached = report(outcomes, halves)
    if given.misses or given.only:
        misses(world, (one for one in outcomes if one.situation.half == "dev"))
    return 1 if given.check and not reached else 0


if __name__ == "__main__":
    sys.exit(main())
