"""The generator: what people and tools do in a clone, one small thing at a time.

Each operation takes the run, the person and a random source, does its thing, and says in a few words what it did;
None where there was nothing to do it to. What a person's hand does goes through `Run.save`, which tells the model.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import TypeAlias

from . import byhand, nemesis, texts
from .clones import Person
from .run import Run

Operation: TypeAlias = Callable[[Run, Person, random.Random], str | None]

MONTHS = ("2026-06", "2026-07", "2026-08")
SHELVES = ("memory", "memory", "memory", "decisions")
TOPICS = ("retries", "payments", "login", "deploys", "caches", "queues", "schemas", "alerts")


def a_body(run: Run, rng: random.Random) -> str:
    lines = [f"It is so ({run.facts.new()})."]
    for heading in rng.sample(texts.HEADINGS, rng.randrange(3)):
        lines += ["", f"## {heading}", "", f"As seen: {run.facts.new()}."]
    return "\n".join(lines)


# What the tool does


def remember(run: Run, person: Person, rng: random.Random) -> str | None:
    """A new note by the tool."""
    topic, body = rng.choice(TOPICS), a_body(run, rng)
    kind = rng.choice(("memory", "memory", "decision"))
    call = {"call": "remember", "title": f"About {topic} {run.number}", "body": body, "kind": kind}
    answer = run.call(person, call, rng)
    if answer.get("state") in ("committed", "staged"):
        run.facts.edited(None, body.encode(), run.what(person, "remember"))
    return f"remember: {run.shown(answer)}"


def update_section(run: Run, person: Person, rng: random.Random) -> str | None:
    """A section that the tool appends to or replaces."""
    path = run.pick(person, rng)
    if path is None:
        return None
    heading, said = rng.choice(texts.HEADINGS), run.facts.new()
    verb = rng.choice(("append", "append", "replace"))
    call = {"call": "update", "id": run.id_of(person, path), "section": {"heading": heading, verb: f"By tool {said}."}}
    return run.update(
        person, path, call, said, rng, lambda text: texts.section(text, heading) if verb == "replace" else ""
    )


def update_fields(run: Run, person: Person, rng: random.Random) -> str | None:
    """A field that the tool sets."""
    path = run.pick(person, rng)
    if path is None:
        return None
    key, said = rng.choice(("summary", "tags", "components", "title")), run.facts.new()
    value = [said, rng.choice(TOPICS)] if key in ("tags", "components") else f"In short {said}"
    call = {"call": "update", "id": run.id_of(person, path), "fields": {key: value}}

    def replaced(text: str) -> str:
        front, _ = texts.split(text.replace("\r\n", "\n"))
        start, stop = texts.block(front, key)
        return "\n".join(front[start:stop])

    return run.update(person, path, call, said, rng, replaced)


def sync(run: Run, person: Person, rng: random.Random) -> str | None:
    """A sync, by the command or as the worker does it."""
    call = {"call": rng.choice(("sync", "sync", "sync", "worker")), "timeout": 30}
    return f"{call['call']}: {run.shown(run.call(person, call, rng))}"


def look(run: Run, person: Person, rng: random.Random) -> str | None:
    """Somebody asks how things stand, which brings the index up to date."""
    return f"status: {run.shown(run.call(person, {'call': 'status'}, rng))}"


def adopt(run: Run, person: Person, rng: random.Random) -> str | None:
    """A person agrees to the history that the remote has now."""
    if not person.linked or run.busy(person) or person.away:
        return None
    answer = run.call(person, {"call": "sync", "timeout": 30, "adopt_remote": True}, rng)
    if answer.get("state") in ("published", "unchanged", "committed"):
        person.adopted = run.world.rewrites
    return f"sync --adopt-remote: {run.shown(answer)}"


TOOL: Mapping[Operation, int] = {remember: 12, update_section: 14, update_fields: 12, sync: 45, look: 4}
"""How often each is done, relative to the others."""

HAND: Mapping[Operation, int] = byhand.HAND


def choose(run: Run, person: Person, rng: random.Random) -> Operation:
    table = {**HAND, **byhand.GIT, **(TOOL if person.tool else byhand.GIT_ONLY)}
    if run.level.wander:
        table |= {nemesis.wander: 1, nemesis.come_back: 5}
    if run.level.rewrite and person.tool and person.adopted < run.world.rewrites:
        table |= {adopt: 30}
    return rng.choices(list(table), list(table.values()))[0]
