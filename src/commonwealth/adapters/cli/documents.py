"""The JSON documents that only the command line has; those of notes and receipts are in `wire`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import TYPE_CHECKING

from commonwealth import timeline
from commonwealth.adapters import wire_review
from commonwealth.adapters.wire import Json, JsonObject
from commonwealth.flows import brains
from commonwealth.routing import Rule

if TYPE_CHECKING:  # a command loads only its own flow
    from commonwealth.flows.brains import Brain
    from commonwealth.flows.conflicts import Conflict
    from commonwealth.flows.doctor import Check
    from commonwealth.flows.heartbeat import Pulse
    from commonwealth.flows.history import History
    from commonwealth.flows.identity import Identity
    from commonwealth.flows.importing import ImportReport
    from commonwealth.flows.setup import RuleCheck, Setup
    from commonwealth.flows.synclog import Round, Written
    from commonwealth.flows.upkeep import Status
    from commonwealth.hosts.plugin import PluginStatus


def rule(found: Rule) -> JsonObject:
    """One rule; `brain` is null where no brain is used."""
    shown: JsonObject = {"match": found.match, "brain": found.brain, "source": found.source}
    if found.remote:
        shown["remote"] = brains.told_remote(found)
    return shown


def rules(found: Iterable[Rule]) -> JsonObject:
    """`rules list`."""
    return {"rules": [rule(one) for one in found]}


def routing(found: RuleCheck) -> JsonObject:
    """`rules check`: what applies in a folder, and what keeps it from working."""
    return {
        "folder": found.folder,
        "repository": found.repository,
        "rule": rule(found.rule) if found.rule else None,
        "brain": found.brain,
        "problem": found.problem,
    }


def setup(done: Setup) -> JsonObject:
    """`init` and `join`."""
    return {
        "brain": done.brain.name,
        "path": str(done.brain.root),
        "fresh": done.fresh,
        "rule": rule(done.rule) if done.rule else None,
        "ruleAdded": done.rule_added,
        "published": done.published,
        "warnings": list[Json](done.warnings),
    }


def whoami(brain: Brain, person: Identity, unpublished: int) -> JsonObject:
    """`whoami`: person, brain, rule, repository and what is not shared yet (commits)."""
    project = brain.project
    return {
        "person": {"name": person.name, "ref": person.ref},
        "brain": {"name": brain.name, "path": str(brain.root), "review": brain.config.review},
        "rule": rule(brain.rule) if brain.rule else None,
        "repository": {"identity": project.identity, "branch": project.branch, "commit": project.commit}
        if project
        else None,
        "sync": {"unpublished": unpublished},
    }


def status(found: Status, now: str) -> JsonObject:
    """`status`: everything that is not simply shared canon.

    `debt.age` is in words. `lastSync` is the newest round; with `--log`, `log` and `receipts` hold the last ones.
    """
    debt, last = found.debt, found.last
    shown: JsonObject = {
        "brain": found.name,
        "path": found.root,
        "rule": found.rule,
        "repository": found.repository,
        "person": found.person,
        "counts": dict[str, Json](found.counts),
        "remote": found.remote,
        "unpublished": found.unpublished,
        "debt": {"since": debt.since, "age": timeline.age(debt.since, now), "reason": debt.reason, "next": debt.next}
        if debt
        else None,
        "obstacles": [{"kind": one.kind, "message": one.message, "next": one.next} for one in found.obstacles],
        "stopped": found.stopped,
        "rescued": list[Json](found.rescued),
        "lastSync": _round(last) if last else None,
        "daemon": daemon(found.daemon),
        "requests": [wire_review.request_json(one) for one in found.requests],
        **{
            name: list[Json](getattr(found, name))
            for name in ("edited", "held", "strays", "others", "staged", "problems", "conflicts")
        },
    }
    if found.log is not None:
        shown["log"] = [_round(line) for line in found.log]
        shown["receipts"] = [_written(line) for line in found.receipts]
    return shown


def _round(line: Round) -> JsonObject:
    """One sync of the log; `ms` is its wall time, `refused` counts pushes for which others were faster."""
    return {field.name: getattr(line, field.name) for field in fields(line)}


def _written(line: Written) -> JsonObject:
    """One write of the log; `ids` are at most 20 of its `count` notes."""
    return {**{field.name: getattr(line, field.name) for field in fields(line)}, "ids": list[Json](line.ids)}


def daemon(found: Pulse) -> JsonObject:
    """`daemon status`: `running` is whether it lives, `fresh` whether it has shown itself within two polls."""
    beat = found.beat
    return {
        "running": found.alive,
        "fresh": found.fresh,
        "pid": beat.pid if beat else None,
        "since": beat.since if beat else None,
        "interval": beat.interval if beat else None,
        "lastPoll": beat.polled if beat else None,
        "busy": beat.busy if beat else False,
        "state": beat.state if beat else None,
        "reason": beat.reason if beat else None,
        "next": beat.next if beat else None,
    }


def history(found: History) -> JsonObject:
    """`history`: the versions, newest first; `changed` names fields and sections that differ from the one before.

    `trailers` are those of the commit's message, as lines; `asOf` is there where an earlier time was asked for.
    """
    shown: JsonObject = {
        "id": found.id,
        "path": found.path,
        "deleted": found.deleted,
        "conflictOf": found.conflict_of,
        "siblings": list[Json](found.siblings),
        "versions": [
            {
                "commit": version.commit,
                "at": version.at,
                "author": version.author,
                "subject": version.subject,
                "path": version.path,
                "deleted": version.deleted,
                "changed": list[Json](version.changed),
                "trailers": list[Json](version.trailers),
            }
            for version in found.versions
        ],
        "truncated": found.truncated,
    }
    if found.warnings:
        shown["warnings"] = list[Json](found.warnings)
    if found.then is not None:
        shown["asOf"] = {"commit": found.then.commit, "at": found.then.at}
    return shown


def conflicts(found: Iterable[Conflict]) -> JsonObject:
    """`conflicts list`: `cause` is version or replacement; `author` is that of the commit that brought the text.

    `differs` of a rival names in what it differs from the first; that of the conflict has the texts whole, by id.
    """
    return {
        "conflicts": [
            {
                "id": conflict.id,
                "cause": conflict.cause,
                "rivals": [
                    {
                        "id": rival.id,
                        "path": rival.path,
                        "title": rival.title,
                        "status": rival.status,
                        "author": rival.author,
                        "updatedAt": rival.updated_at,
                        "summary": rival.summary,
                        "differs": list[Json](rival.differs),
                    }
                    for rival in conflict.rivals
                ],
                "differs": [{"what": one.what, "texts": dict[str, Json](one.texts)} for one in conflict.differs],
            }
            for conflict in found
        ]
    }


def checks(found: Iterable[Check]) -> JsonObject:
    """`doctor`."""
    return {
        "checks": [
            {"name": check.name, "state": check.state, "message": check.message, "hint": check.hint} for check in found
        ]
    }


def plugin(found: Iterable[PluginStatus]) -> JsonObject:
    """`plugin status`, `install` and `uninstall`."""
    return {
        "plugins": [
            {
                "host": state.host,
                "version": state.version,
                "works": state.works,
                "faults": [{"what": fault.what, "fix": fault.fix} for fault in state.faults],
                "notes": list[Json](state.notes),
            }
            for state in found
        ]
    }


def imported(report: ImportReport) -> JsonObject:
    """`import`; `warnings` only where something of a source that was imported could not be read."""
    shown: JsonObject = {
        "imported": report.imported,
        "unchanged": report.unchanged,
        "skipped": [{"path": file.path, "reason": file.reason} for file in report.skipped],
    }
    if report.doubts:
        shown["warnings"] = [{"path": file.path, "reason": file.reason} for file in report.doubts]
    return shown
