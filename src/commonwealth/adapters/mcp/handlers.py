"""What each tool does: arguments → flow → answer. Loaded behind the server's first answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TypeAlias

from commonwealth.adapters import wire
from commonwealth.adapters.mcp import answers, handlers_review, handlers_work, models, wording
from commonwealth.adapters.mcp.arguments import InvalidArguments, check, listed
from commonwealth.adapters.mcp.calling import Call
from commonwealth.adapters.mcp.sweeps import SWEEPS
from commonwealth.adapters.wire import JsonObject
from commonwealth.errors import BrainError
from commonwealth.flows import identity, recall, remember, retract, supersede, syncing, update
from commonwealth.index.query import Query
from commonwealth.model import Provenance, planned_end


def call(name: str, given: JsonObject, one: Call) -> JsonObject:
    """The result of `tools/call` for a tool that exists; faults of the caller and of the domain are "
    "answers too."""
    try:
        return _HANDLERS[name](given, one)
    except InvalidArguments as error:
        count = len(error.complaints)
        told = f"{name}: {count} invalid argument{'s' if count > 1 else ''}."
        return answers.failure(told, "Mend the arguments and call again.", listed(error.complaints))
    except BrainError as error:
        return answers.failure(wording.reworded(error.message), wording.reworded(error.hint) if error.hint else None)


def _search(given: JsonObject, one: Call) -> JsonObject:
    asked = check(models.SearchArguments, given)
    brain = one.brain()
    query = Query(
        text=asked.query,
        repository=asked.repository,
        kind=asked.kind,
        type=asked.type,
        status=asked.status,
        confidence=asked.confidence,
        person=asked.person,
        agent=asked.agent,
        component=asked.component,
        tag=asked.tag,
        file=asked.file,
        branch=asked.branch,
        created_after=asked.created_after,
        created_before=asked.created_before,
        observed_after=asked.observed_after,
        observed_before=asked.observed_before,
        updated_after=asked.updated_after,
        updated_before=asked.updated_before,
        valid_at=asked.valid_at,
        include_superseded=asked.include_superseded,
        limit=asked.limit,
        now=one.now,
        first_repository=brain.repository,
    )
    found = recall.search(brain, query, as_of=asked.as_of, sweep=SWEEPS.due_now(brain))
    one.afterwards.append(lambda: SWEEPS.follow(brain))
    return answers.result(answers.search(wording.with_warnings(_as_now(found, one.now))))


def _as_now(found: recall.SearchResult, now: str) -> JsonObject:
    """The hits with the end of what is true until a replacement that is planned, in place of a status that tells what
    will be."""
    shown = wire.search_json(found)
    hits, at = shown["results"], found.then.at if found.then else now
    assert isinstance(hits, list)
    for hit, row in zip(found.hits, hits, strict=True):
        if isinstance(row, dict) and (planned := planned_end(hit.note, at)):
            row["status"] = planned
    return shown


def _read(given: JsonObject, one: Call) -> JsonObject:
    asked = check(models.ReadArguments, given)
    reading = recall.read(one.brain(), asked.id, as_of=asked.as_of, now=one.now)
    shown = answers.note(wording.with_warnings(wire.reading_json(reading)), asked.page)
    if shown is None:
        return answers.failure(
            f"{asked.id} has no page {asked.page}.", "Read it without `page` to see how many it has."
        )
    return answers.result(shown)


def _record(given: JsonObject, one: Call) -> JsonObject:
    asked = check(models.RecordArguments, given)
    brain = one.brain()
    return one.written(remember.remember(brain, _draft(asked), session=one.session(), now=one.now), brain)


def _draft(asked: models.RecordArguments) -> remember.Draft:
    return remember.Draft(
        title=asked.title,
        summary=asked.summary,
        body=asked.body or "",
        kind=asked.kind,
        type=asked.type,
        status=asked.status,
        confidence=asked.confidence,
        observed_at=asked.observed_at,
        valid_from=asked.valid_from,
        valid_until=asked.valid_until,
        repository=asked.repository,
        components=asked.components,
        tags=asked.tags,
        relates=asked.relates,
        deciders=asked.deciders,
        branch=asked.branch,
        provenance=Provenance(**dict(asked.provenance)),
        idempotency_key=asked.idempotency_key,
    )


def _supersede(given: JsonObject, one: Call) -> JsonObject:
    asked = check(models.SupersedeArguments, given)
    brain = one.brain()
    named = "kind" in asked.replacement.model_fields_set
    receipt = supersede.supersede(
        brain,
        asked.id,
        replace(_draft(asked.replacement), kind=asked.replacement.kind if named else ""),
        effective_at=asked.effective_at,
        session=one.session(),
        now=one.now,
    )
    return one.written(receipt, brain)


def _retract(given: JsonObject, one: Call) -> JsonObject:
    asked = check(models.RetractArguments, given)
    brain = one.brain()
    return one.written(retract.retract(brain, asked.id, asked.reason, session=one.session(), now=one.now), brain)


_NO_FIELDS = ("id", "body", "section", "append", "insert", "replace", "provenance")


def _update(given: JsonObject, one: Call) -> JsonObject:
    asked = check(models.UpdateArguments, given)
    changes: dict[str, update.FieldValue] = {
        name: getattr(asked, name) for name in asked.model_fields_set if name not in _NO_FIELDS
    }
    if asked.provenance is not None:
        for name in asked.provenance.model_fields_set:
            changes[f"provenance.{name}"] = getattr(asked.provenance, name)
    section = None
    if asked.section is not None:
        section = update.SectionEdit(asked.section, append=asked.append, insert=asked.insert, replace=asked.replace)
    brain = one.brain()
    receipt = update.update(
        brain, asked.id, changes, section=section, body=asked.body, session=one.session(), now=one.now
    )
    return one.written(receipt, brain)


def _whoami(given: JsonObject, one: Call) -> JsonObject:
    check(models.WhoamiArguments, given)
    brain = one.brain()
    who = identity.whoami(brain)
    project, rule = brain.project, brain.rule
    shown: JsonObject = {
        "person": {"name": who.name, "ref": who.ref, "agent": one.client.agent},
        "brain": {"name": brain.name, "path": str(brain.root), "review": brain.config.review},
        "rule": {"match": rule.match, "brain": rule.brain} if rule else None,
        "repository": None,
        "sync": {"remote": syncing.has_remote(brain), "unpublished": syncing.unpublished(brain)},
        "work": handlers_work.own(brain, who, one),
    }
    if project is not None:
        facts = ("identity", "branch", "commit")
        shown["repository"] = {name: getattr(project, name) for name in facts if getattr(project, name)}
    return answers.result(shown)


Handler: TypeAlias = Callable[[JsonObject, Call], JsonObject]

_HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        "memory_search": _search,
        "memory_read": _read,
        "memory_record": _record,
        "memory_update": _update,
        "memory_supersede": _supersede,
        "memory_retract": _retract,
        "work_start": handlers_work.start,
        "work_search": handlers_work.search,
        "work_update": handlers_work.change,
        "work_complete": handlers_work.complete,
        "review_list": handlers_review.listing,
        "review_decide": handlers_review.decide,
        "whoami": _whoami,
    }
)
