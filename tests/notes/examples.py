"""Notes and titles for the tests of this folder: real ones, hurtful ones, and generated ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from commonwealth.model import (
    CONFIDENCES,
    STATUSES,
    TYPES,
    VERIFICATIONS,
    WORK_STATUSES,
    Extra,
    Note,
    Provenance,
    Reviewed,
    Source,
    Verified,
)
from commonwealth.notes import schema

TITLES = (
    "2026-05-26", "yes", "No", "0x10", "0123", "1e5", "1_000", "12:30:00", "1.10", "~", "null", "NULL", "=", "<<",
    "a: b", "Governance: Split (Core): x", "a #b", "#x", "- x", "? x", ": x", "x:", "[a]", "{a: b}", "&a", "*a",
    "!!python/object:os.system", "%TAG", "@x", "`x`", "|", ">", "'", '"', "it's", 'say "hi"', "a\\b", "\\n", "---",
    "...", "../../x", "/etc/passwd", "C:\\x", "CON", "nul", ".", "..", " x", "x ", "🎉", "👨‍👩‍👧 family", "漢字",
    "日本語のメモ",
    "Ünïcödé", "Café", "Cafe\u0301", "a" * 300, "two\nlines", "cr\rlf\r\n", "tab\tx", "\x1b[31mred\x1b[0m",
    "\u202eevil\u202c", "zero\u200bwidth", "\ufeffbom", "line\u2028sep\u2029x\x85y", "nul\x00x", "\x7f\x9f",
    "\U000e0041tag",
    "сталь", "עברית", "नमस्ते", "ไทย", "on", "y", "2026-06-02T12:20:00Z", "\uffff", "\ue000", "a,b", "a, b",
    "'a' b", "\xa0x",
)  # fmt: skip

NOTE = Note(
    id="2026-06-02-http-409-means-payment-already-succeeded-9f3d7k2m",
    kind="memory",
    type="gotcha",
    title="HTTP 409 means an idempotent payment already succeeded",
    summary="Treat PaymentService HTTP 409 as success; retrying can duplicate downstream processing.",
    status="confirmed",
    confidence="high",
    created_at="2026-06-02T12:20:00Z",
    updated_at="2026-06-02T12:20:00Z",
    observed_at="2026-06-02T12:15:00Z",
    valid_from="2026-01-10T00:00:00Z",
    repository="acme/commerce-platform",
    components=("payments", "retry-policy"),
    tags=("idempotency", "http-409"),
    author="Alice",
    author_ref="alice-4b1d90c2",
    provenance=Provenance(
        human="Alice",
        agent="Codex",
        repository="acme/commerce-platform",
        branch="investigate/duplicate-payments",
        commit="4f8c2ab",
        issue="PAY-1842",
        files=("src/payments/PaymentService.ts", "src/payments/RetryPolicy.ts"),
        evidence=("An integration test reproduced 409 after a completed idempotency key.",),
    ),
    verified=Verified("2026-06-02T12:20:00Z", "4f8c2ab", "fresh"),
    body="Details in markdown, with `[[wikilinks]]` to other ids.\n",
)

TEXT = """---
id: 2026-06-02-http-409-means-payment-already-succeeded-9f3d7k2m
kind: memory
type: gotcha
title: HTTP 409 means an idempotent payment already succeeded
summary: Treat PaymentService HTTP 409 as success; retrying can duplicate downstream processing.
status: confirmed
confidence: high
created_at: 2026-06-02T12:20:00Z
updated_at: 2026-06-02T12:20:00Z
observed_at: 2026-06-02T12:15:00Z
valid_from: 2026-01-10T00:00:00Z
repository: acme/commerce-platform
components: [payments, retry-policy]
tags: [idempotency, http-409]
author: Alice
author_ref: alice-4b1d90c2
provenance:
  human: Alice
  agent: Codex
  repository: acme/commerce-platform
  branch: investigate/duplicate-payments
  commit: 4f8c2ab
  issue: PAY-1842
  files: [src/payments/PaymentService.ts, src/payments/RetryPolicy.ts]
  evidence: [An integration test reproduced 409 after a completed idempotency key.]
verified: {at: 2026-06-02T12:20:00Z, commit: 4f8c2ab, result: fresh}
---
Details in markdown, with `[[wikilinks]]` to other ids.
"""
"""The canonical text of NOTE."""

_PRINTED = st.characters(exclude_categories=["Cs"])
texts = st.one_of(
    st.sampled_from(TITLES),
    st.text(_PRINTED, min_size=1, max_size=40),
    st.text("abz09 -_:#,[]{}\"'\\/.@&*!|>%`?~", min_size=1, max_size=20),
)
maybe = st.none() | texts
lists = st.lists(texts, max_size=4).map(tuple)
times = st.none() | st.datetimes().map(lambda t: t.strftime("%Y-%m-%dT%H:%M:%SZ").zfill(20))
keys = st.one_of(
    st.sampled_from(["x-team", "no", "on", "a b", "1", "true", "créé", "due_at", "a: b", "#", "\u2028"]), texts
).filter(lambda key: key not in schema.KEYS and len(key) < 100)


def _extras(levels: int) -> st.SearchStrategy[Extra]:
    text: st.SearchStrategy[Extra] = texts | st.just("")
    if not levels:
        return text
    inner = _extras(levels - 1)
    return st.one_of(text, st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=3))


extras = st.dictionaries(keys, _extras(2), max_size=3)
provenances = st.builds(
    Provenance, maybe, maybe, maybe, maybe, maybe, maybe, maybe, lists, lists, lists, maybe,
    st.dictionaries(keys.filter(lambda key: key not in schema.SUB_KEYS["provenance"]), _extras(1), max_size=2),
)  # fmt: skip
verifications = st.builds(Verified, times, maybe, st.sampled_from(VERIFICATIONS))
reviews = st.builds(Reviewed, maybe, times).filter(lambda r: bool(r.by or r.at))
sources = st.builds(Source, texts, texts)
_BODIES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=200)

notes = st.builds(
    Note,
    id=st.just("2026-06-02-a-note-9f3d7k2m"),
    kind=st.sampled_from(["memory", "decision", "work-state", "person"]),
    title=texts,
    body=_BODIES | st.sampled_from(["", "---\n", "---\na: b\n---\n", "\r\n", "# T\n\n---\n", "no newline"]),
    type=st.sampled_from(TYPES),
    summary=maybe,
    status=st.sampled_from(STATUSES),
    confidence=st.sampled_from(CONFIDENCES),
    created_at=times,
    updated_at=times,
    valid_until=times,
    superseded_by=maybe,
    supersedes=lists,
    components=lists,
    tags=lists,
    branch=maybe,
    number=maybe,
    name=maybe,
    provenance=provenances,
    reviewed=st.none() | reviews,
    source=st.none() | sources,
    verified=st.none() | verifications,
    extra=extras,
).flatmap(lambda note: _work(note) if note.kind == "work-state" else st.just(note))


def _work(note: Note) -> st.SearchStrategy[Note]:
    """A work record that is otherwise this note."""
    made: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
        {"status": st.sampled_from(WORK_STATUSES), "owner": maybe, "agent": maybe, "files": lists}
        | dict.fromkeys(("started_at", "completed_at", "lease_until"), times)
    )
    return made.map(lambda fields: replace(note, **fields))
