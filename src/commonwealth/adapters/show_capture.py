"""What a sweep looks like to a person."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from commonwealth.adapters.terminal import Screen

if TYPE_CHECKING:
    from commonwealth.flows.sweep import Drafted, Swept

_HEADERS = ("STATE", "LINES", "TYPE", "STATUS", "TITLE", "WHY")
_WOULD = {"staged": "would wait", "dropped": "would drop"}


def swept(screen: Screen, answer: Swept, *, dry_run: bool) -> None:
    """The drafts of a session with what became of each, those that are kept first."""
    drafts = sorted(answer.drafts, key=lambda one: not one.judged.kept)
    if drafts:
        screen.table(_HEADERS, [tuple(_cells(one, dry_run=dry_run)) for one in drafts], elastic=4)
    else:
        screen.line(answer.receipt.reason or "nothing to keep")
    for warning in answer.receipt.warnings:
        screen.remark(warning, "warning")
    if answer.receipt.next and not dry_run:
        screen.remark(answer.receipt.next, "hint")


def _cells(one: Drafted, *, dry_run: bool) -> Iterator[str]:
    draft = one.judged.draft
    yield _WOULD.get(one.state, one.state) if dry_run else one.state
    yield f"{draft.evidence.first}-{draft.evidence.last}"
    yield draft.type
    yield draft.status
    yield "(a secret is in it)" if one.judged.secret else draft.title
    yield one.reason or "; ".join(one.judged.verdict.reasons)
