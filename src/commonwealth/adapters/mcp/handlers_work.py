"""What the tools about active work do: arguments → flow → answer."""

from __future__ import annotations

from commonwealth.adapters import wire
from commonwealth.adapters.mcp import answers, answers_work, models_work
from commonwealth.adapters.mcp.arguments import check
from commonwealth.adapters.mcp.calling import Call
from commonwealth.adapters.wire import Json, JsonObject
from commonwealth.flows import brains, work
from commonwealth.flows.identity import Identity
from commonwealth.flows.update import FieldValue
from commonwealth.model import Provenance

_OWN = 10


def start(given: JsonObject, one: Call) -> JsonObject:
    """`work_start`."""
    asked = check(models_work.WorkStartArguments, given)
    draft = work.WorkDraft(
        title=asked.title,
        summary=asked.summary,
        repository=asked.repository,
        files=asked.files,
        components=asked.components,
        branch=asked.branch,
        lease_minutes=asked.lease_minutes,
        status=asked.status,
        provenance=Provenance(**dict(asked.provenance or {})),
        idempotency_key=asked.idempotency_key,
    )
    brain = one.brain()
    return _announced(work.start(brain, draft, session=one.session(), now=one.now), brain, one)


def search(given: JsonObject, one: Call) -> JsonObject:
    """`work_search`."""
    asked = check(models_work.WorkSearchArguments, given)
    wanted = work.WorkQuery(
        query=asked.query,
        repository=asked.repository,
        files=asked.files,
        components=asked.components,
        person=asked.person,
        agent=asked.agent,
        status=asked.status,
        limit=asked.limit,
        now=one.now,
    )
    return answers.result(answers_work.search(wire.work_found_json(work.search(one.brain(), wanted))))


def change(given: JsonObject, one: Call) -> JsonObject:
    """`work_update`."""
    asked = check(models_work.WorkUpdateArguments, given)
    changes: dict[str, FieldValue | int] = {
        name: getattr(asked, name) for name in asked.model_fields_set if name not in ("id", "provenance")
    }
    if asked.provenance is not None:
        for name in asked.provenance.model_fields_set:
            changes[f"provenance.{name}"] = getattr(asked.provenance, name)
    brain = one.brain()
    return _announced(work.update(brain, asked.id, changes, session=one.session(), now=one.now), brain, one)


def complete(given: JsonObject, one: Call) -> JsonObject:
    """`work_complete`."""
    asked = check(models_work.WorkCompleteArguments, given)
    brain = one.brain()
    return one.written(work.complete(brain, asked.id, asked.summary, session=one.session(), now=one.now), brain)


def own(brain: brains.Brain, who: Identity, one: Call) -> list[Json]:
    """The ids of a person's open work records, the latest few."""
    wanted = work.WorkQuery(person=(who.ref,), limit=_OWN, now=one.now)
    return [hit.note.id for hit in work.search(brain, wanted).results]


def _announced(started: work.Started, brain: brains.Brain, one: Call) -> JsonObject:
    return one.written(started.receipt, brain, answers_work.started(wire.started_json(started)))
