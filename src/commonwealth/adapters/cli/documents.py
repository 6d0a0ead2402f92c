"""The JSON documents that only the command line has; those of notes and receipts are in `wire`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from commonwealth.adapters.wire import Json, JsonObject
from commonwealth.routing import Rule

if TYPE_CHECKING:  # a command loads only its own flow
    from commonwealth.flows.brains import Brain
    from commonwealth.flows.doctor import Check
    from commonwealth.flows.identity import Identity
    from commonwealth.flows.importing import ImportReport
    from commonwealth.flows.setup import RuleCheck, Setup
    from commonwealth.flows.upkeep import Status
    from commonwealth.hosts.plugin import PluginStatus


def rule(found: Rule) -> JsonObject:
    """One rule; `brain` is null where no brain is used."""
    shown: JsonObject = {"match": found.match, "brain": found.brain, "source": found.source}
    if found.remote:
        shown["remote"] = found.remote
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


def status(found: Status) -> JsonObject:
    """`status`: everything that is not simply shared canon."""
    debt = found.debt
    return {
        "brain": found.name,
        "path": found.root,
        "rule": found.rule,
        "repository": found.repository,
        "person": found.person,
        "counts": dict[str, Json](found.counts),
        "remote": found.remote,
        "unpublished": found.unpublished,
        "debt": {"since": debt.since, "reason": debt.reason} if debt else None,
        **{
            name: list[Json](getattr(found, name))
            for name in ("edited", "held", "strays", "staged", "problems", "conflicts")
        },
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
    """`import`."""
    return {
        "imported": report.imported,
        "unchanged": report.unchanged,
        "skipped": [{"path": file.path, "reason": file.reason} for file in report.skipped],
    }
