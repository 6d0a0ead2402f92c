"""What can become a note of canon, whoever lets it in: a fact of a known kind, still open, without a secret."""

from __future__ import annotations

from commonwealth.errors import Refused
from commonwealth.flows import allowed, saving
from commonwealth.model import CLOSED_STATUSES
from commonwealth.notes import closing
from commonwealth.notes.waiting import Waiting


def require_fit(one: Waiting) -> None:
    """Raises Refused for a candidate that cannot be a note of canon."""
    edit = f"Correct it in {one.path}, or reject the candidate."
    for doubt in one.doubts:
        if doubt.cause.startswith("kind:"):  # what it was meant to be is not known, so nor is where it belongs
            raise Refused(f"{doubt}; a candidate is a memory or a decision.", hint=edit)
    if one.note.kind not in closing.KINDS:
        raise Refused(f"{one.path} is of kind {one.note.kind}; a candidate is a memory or a decision.", hint=edit)
    if one.note.status in CLOSED_STATUSES:
        raise Refused(f"{one.path} has the status {one.note.status}: a new note cannot be closed already.", hint=edit)
    finding = saving.secret_in(one.note)
    step = "Take it out with `brain review edit`, or reject the candidate."
    if finding is None:
        step = f"Take it out of {one.path}."
        finding = next(iter(allowed.scan(one.data.decode("utf-8", "replace"), "the file", note=one.note.id)), None)
    if finding is not None:
        raise Refused(f"secret: {finding.where} ({finding.rule}).", hint=f"{step}{finding.allowing}")
