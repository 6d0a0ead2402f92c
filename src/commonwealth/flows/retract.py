"""It was never true: the note stays, closed, with the reason; no answer takes it for a fact any more."""

from __future__ import annotations

from dataclasses import replace

from commonwealth.errors import Refused, Usage
from commonwealth.flows import allowed, guarding, identity, modes, recall, replaced, saving
from commonwealth.flows.brains import Brain
from commonwealth.flows.identity import Session
from commonwealth.flows.replaced import Old
from commonwealth.model import Item, Note, Receipt
from commonwealth.notes import closing, codec, naming
from commonwealth.repo.commit import Change
from commonwealth.safetext import one_line

MAX_REASON = 4000
"""Characters."""


def retract(brain: Brain, note_id: str, reason: str, *, session: Session, now: str) -> Receipt:
    """Mark a note as never true, for `reason`, in one commit.

    What the note had superseded is true again, or superseded by another note that replaces it as well; the receipt's
    items say so of each. The receipt is `committed`, `unchanged` for a note that was retracted before, or `refused`
    for a secret. Raises Usage for an empty reason, Refused for an id that is unknown, ambiguous or no fact's, and where
    the team takes changes by pull request only.
    """
    reason = reason.replace("\r\n", "\n").strip()
    if not reason:
        raise Usage("reason: it is empty.", hint="Say why the note was never true; nothing was written.")
    if len(reason) > MAX_REASON:
        raise Usage(f"reason: it has {len(reason)} characters, and at most {MAX_REASON} are possible.")
    for finding in allowed.scan(reason, "reason"):
        step = f"Take the secret out and retract the note again.{finding.allowing}"
        return Receipt("refused", reason=f"secret: {finding.where} ({finding.rule})", next=step)
    if (refusal := guarding.refused_text("reason", reason)) is not None:
        return refusal
    author = identity.whoami(brain)
    found = recall.located_once(brain, note_id)
    replaced.require_fact(found, "id", "retracted")
    modes.require_direct(brain, found.id, found.kind, found.path, does="retracted")
    items: list[Item] = []

    def plan() -> saving.Planned | Receipt:
        items.clear()
        old = replaced.read(brain, found)
        gone, data = old.note, old.data
        if gone.status != "retracted":
            changes = {"status": "retracted", "retracted_at": now, "retract_reason": reason, "updated_at": now}
            text = codec.edit(old.text, changes, path=old.path)
            gone, data = codec.parse(text, old.path, found.kind)[0], text.encode()
        items.append(Item(gone.id, "retracted", "was never true"))
        freed = _freed(brain, gone, items)
        if data == old.data and not freed and replaced.is_committed(brain, old):
            said = f": {one_line(gone.retract_reason, 200)}" if gone.retract_reason else ""
            return Receipt("unchanged", (gone.id,), reason=f"it was retracted before{said}")
        return saving.Planned([Change(old.path, data, old.data), *freed], ids=tuple(item.id for item in items))

    message = f"Retract: {one_line(found.title, 60)}{identity.trailers(session)}"
    receipt = saving.save(brain, plan, ids=(found.id,), message=message, author=author, now=now, command="retract")
    if receipt.state != "committed":
        return receipt
    return replace(receipt, items=tuple(items))


def _freed(brain: Brain, gone: Note, items: list[Item]) -> list[Change]:
    """What becomes of the notes around one that is `gone` now: what it closed is open, or closed by what is left."""
    heirs = [_read(brain, other.id) for other in replaced.naming_it(brain, gone.id) if other.status != "retracted"]
    made: list[Change] = []
    after: dict[str, Note] = {naming.id_key(gone.id): gone}
    for heir in filter(None, heirs):
        ids = closing.inherited(heir.note, closing.retracted([gone]))
        after[naming.id_key(heir.note.id)] = replace(heir.note, supersedes=ids)
        if ids != heir.note.supersedes:
            text = codec.edit(heir.text, {"supersedes": list(ids)}, path=heir.path)
            made.append(Change(heir.path, text.encode(), heir.data))
            items.append(Item(heir.note.id, "changed", f"supersedes now what {gone.id} had superseded"))
    for id_ in dict.fromkeys(gone.supersedes):
        old = _read(brain, id_)
        if old is None:
            continue
        others = {naming.id_key(other.id): other for other in old.others} | after
        data = old.edited(brain, others.values())
        if data != old.data:
            made.append(Change(old.path, data, old.data))
            items.append(_item(old, data))
    return made


def _item(old: Old, data: bytes) -> Item:
    after = codec.parse(codec.decode(data, old.path), old.path, old.note.kind)[0]
    if after.status == "superseded":
        return Item(after.id, "closed", f"is superseded by {after.superseded_by} now")
    return Item(after.id, "reopened", f"is no longer superseded; its status is {after.status} again")


def _read(brain: Brain, note_id: str) -> Old | None:
    """A note that is named by another; None where there is none, or none that can be told from others."""
    try:
        return replaced.read(brain, recall.located_once(brain, note_id))
    except Refused:
        return None
