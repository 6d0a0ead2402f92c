"""What each tool does: arguments → flow → answer. Loaded behind the server's first answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias

from commonwealth import timeline
from commonwealth.adapters import wire, worker
from commonwealth.adapters.mcp import answers, models
from commonwealth.adapters.mcp.arguments import InvalidArguments, check, listed
from commonwealth.adapters.mcp.session import Client, Place, project_of, session_of
from commonwealth.adapters.mcp.sweeps import SWEEPS
from commonwealth.adapters.wire import JsonObject
from commonwealth.errors import BrainError
from commonwealth.flows import brains, identity, recall, remember, syncing, update
from commonwealth.index.query import Query
from commonwealth.model import Provenance, Receipt


@dataclass(slots=True)
class Call:
    """One call of a tool: from which session, and what is left to do once it is answered."""

    place: Place
    client: Client
    meta: JsonObject
    now: str = field(default_factory=timeline.now)
    afterwards: list[Callable[[], None]] = field(default_factory=list)

    def brain(self) -> brains.Brain:
        """The brain of the session: named at the start, or by the user's rule; never by an argument."""
        return brains.resolve(self.place.selector, self.place.folder, project_of(self.place, self.meta))

    def session(self) -> identity.Session:
        """What provenance is to know of the session."""
        return identity.Session(self.client.agent, session_of(self.meta))


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
        return answers.refused(error)


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
    found = recall.search(brain, query, sweep=SWEEPS.due_now(brain))
    one.afterwards.append(lambda: SWEEPS.follow(brain))
    return answers.result(answers.search(wire.search_json(found)))


def _read(given: JsonObject, one: Call) -> JsonObject:
    asked = check(models.ReadArguments, given)
    shown = answers.note(wire.reading_json(recall.read(one.brain(), asked.id)), asked.page)
    if shown is None:
        return answers.failure(
            f"{asked.id} has no page {asked.page}.", "Read it without `page` to see how many it has."
        )
    return answers.result(shown)


def _record(given: JsonObject, one: Call) -> JsonObject:
    asked = check(models.RecordArguments, given)
    draft = remember.Draft(
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
    brain = one.brain()
    return _written(remember.remember(brain, draft, session=one.session(), now=one.now), brain, one)


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
    return _written(receipt, brain, one)


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
    }
    if project is not None:
        facts = ("identity", "branch", "commit")
        shown["repository"] = {name: getattr(project, name) for name in facts if getattr(project, name)}
    return answers.result(shown)


def _written(receipt: Receipt, brain: brains.Brain, one: Call) -> JsonObject:
    """The receipt as an answer; what was committed is published by a worker of its own, once this is "
    "answered."""
    if receipt.state == "committed" and syncing.has_remote(brain):
        one.afterwards.append(lambda: _publish(brain))
    return answers.result(wire.receipt_json(receipt), is_error=receipt.state == "refused")


def _publish(brain: brains.Brain) -> None:
    with suppress(OSError):  # no process to be had now: the debt stands in the clone for the next worker
        worker.launch(brain.root)


Handler: TypeAlias = Callable[[JsonObject, Call], JsonObject]

_HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        "memory_search": _search,
        "memory_read": _read,
        "memory_record": _record,
        "memory_update": _update,
        "whoami": _whoami,
    }
)
