"""A brain of a few notes as an index alone, and what is told of it: no git and no files, so many looks are cheap."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from commonwealth.config import BrainConfig
from commonwealth.flows import brief
from commonwealth.flows.brains import Brain
from commonwealth.flows.brief import Brief
from commonwealth.index.build import build
from commonwealth.model import Note, NoteFile, Provenance
from commonwealth.repo.project import Project

NOW = "2026-07-01T10:00:00Z"
HERE = "git.example.com/acme/shop"


def note(
    id_: str,
    title: str,
    summary: str = "",
    *,
    type_: str = "gotcha",
    files: Sequence[str] = (),
    components: Sequence[str] = (),
    repository: str | None = HERE,
    **fields: object,
) -> Note:
    """A sure note of the repository."""
    given: dict[str, object] = {"status": "confirmed", "confidence": "high", "created_at": "2026-06-01T00:00:00Z"}
    kind = "decision" if type_ == "decision" else "memory"
    return Note(
        id_, kind, title, type=type_, summary=summary or None, components=tuple(components), repository=repository,
        provenance=Provenance(human="Dana", files=tuple(files)), **(given | fields),  # type: ignore[arg-type]
    )  # fmt: skip


def shelf(notes: Sequence[Note], repository: str | None = HERE) -> Brain:
    """A brain that holds these notes, for a session in `repository`."""
    root = Path(tempfile.mkdtemp(prefix="shelf-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    build(root / "index", [NoteFile(one, f"memory/{one.id}.md", 1, 0) for one in notes], {})
    project = Project(str(root), repository, "acme/shop", "main", None) if repository else None
    return Brain(root, BrainConfig(), str(root), None, project)


def told(found: Brief) -> list[str]:
    """The ids of the notes that were told."""
    return [id_ for id_, _ in found.notes]


def at_prompt(brain: Brain, prompt: str, budget: int = 400, skip: frozenset[str] = frozenset()) -> Brief:
    """What a prompt is told."""
    return brief.at_prompt(brain, prompt, now=NOW, budget=budget, skip=skip)


def before_edit(
    brain: Brain, path: str, change: str = "", budget: int = 200, skip: frozenset[str] = frozenset()
) -> Brief:
    """What is told before the file at `path` is changed."""
    return brief.before_edit(brain, [path], change, now=NOW, budget=budget, skip=skip)


SHOP = (
    note("n409", "HTTP 409 means an idempotent payment already succeeded",
         "Treat PaymentService HTTP 409 as success; retrying can duplicate downstream processing.",
         files=["src/payments/PaymentService.ts"], components=["payments", "retry-policy"]),
    note("queue", "Payment processing is queue-based", "Payments are enqueued and handled by a worker.",
         type_="architecture", files=["src/payments/queue.ts"], components=["payments"]),
    note("httpx", "Use httpx instead of requests for outgoing calls", "requests has no default timeout.",
         type_="decision", status="decision"),
    note("dates", "Dates in the frontend use date-fns", "It is small.", type_="decision", status="decision",
         components=["frontend"], body="## Decision\ndate-fns\n\n## Rejected\n\n- moment: size\n- luxon: Safari\n"),
    note("sku", "SKU codes are case-sensitive in the warehouse", "Keep them as imported.",
         files=["src/inventory/sync.py"], components=["inventory"]),
    note("locale", "Translations come from the nightly pull", "Changes of locale files are overwritten.",
         files=["locales/**"], components=["frontend"]),
    note("pool", "The database pool holds 10 connections per pod", "More exhausts pgbouncer.",
         type_="discovery", files=["src/db/pool.py"], components=["database"]),
    note("tokens", "Refresh tokens rotate on every use", "A token that is used twice revokes the family.",
         files=["src/auth/tokens.py"], components=["auth"]),
    note("data", "Payments export counts refunds twice", "Filter refunds.", repository="git.example.com/acme/data",
         files=["jobs/payments.py"], components=["payments"]),
    note("old", "Payments are synchronous", "The request charges the card.", status="superseded",
         valid_until="2026-04-17T00:00:00Z", files=["src/payments/PaymentService.ts"], components=["payments"]),
)  # fmt: skip
