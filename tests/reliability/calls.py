"""Calls of the product by name and plain values, so that one process can ask another for them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from commonwealth import timeline
from commonwealth.errors import BrainError
from commonwealth.flows import brains, publishing, remember, syncing, update, upkeep
from commonwealth.flows.brains import Brain
from commonwealth.flows.identity import Session
from commonwealth.flows.update import SectionEdit
from commonwealth.model import Receipt

SESSION = Session("Codex", "s-1")


def perform(call: Mapping[str, Any]) -> dict[str, Any]:
    """Do what `call` names and tell of it: `state`, `ids`, `reason`; or `error` with its class and message."""
    brain = brains.open_brain(Path(call["root"]), cwd=str(call.get("cwd", "/")))
    try:
        return told(_CALLS[call["call"]](brain, call))
    except BrainError as error:
        return {"error": type(error).__name__, "message": error.message, "hint": error.hint}


def told(receipt: Receipt | None) -> dict[str, Any]:
    if receipt is None:
        return {"state": "elsewhere"}
    names = ("state", "ids", "commit", "reason", "warnings", "pulled", "pushed", "conflicts")
    return {name: getattr(receipt, name) for name in names}


def _remember(brain: Brain, call: Mapping[str, Any]) -> Receipt:
    draft = remember.Draft(
        call["title"], body=call.get("body", ""), kind=call.get("kind", "memory"), summary=call.get("summary")
    )
    return remember.remember(brain, draft, session=SESSION, now=timeline.now())


def _update(brain: Brain, call: Mapping[str, Any]) -> Receipt:
    edit = call.get("section")
    section = SectionEdit(**edit) if edit else None
    fields = call.get("fields", {})
    return update.update(brain, call["id"], fields, section=section, session=SESSION, now=timeline.now())


def _sync(brain: Brain, call: Mapping[str, Any]) -> Receipt:
    consent = {key: call.get(key, False) for key in ("accept_deletions", "adopt_remote")}
    return syncing.sync(brain, timeout=call.get("timeout", 30), **consent)


def _worker(brain: Brain, call: Mapping[str, Any]) -> Receipt | None:
    return publishing.serve(
        brain, publishing.Pace(0, patience=call.get("patience", 10), seconds=call.get("timeout", 30))
    )


def _status(brain: Brain, _call: Mapping[str, Any]) -> Receipt:
    found = upkeep.status(brain)
    return Receipt("unchanged", conflicts=found.conflicts, warnings=found.problems)


_CALLS = {"remember": _remember, "update": _update, "sync": _sync, "worker": _worker, "status": _status}
