"""What a model drafts of real sessions passes the same gate: the facts that must be found are kept, with true lines."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commonwealth import config, userconfig
from commonwealth.capture.answered import LINES, normal
from commonwealth.capture.sent import Heard, Sent, sent
from commonwealth.curate import secrets
from commonwealth.flows import sweep
from commonwealth.flows.brains import Brain
from commonwealth.flows.sweep import Told
from commonwealth.hosts import transcript

from .conftest import NOW
from .scripted import Scripted

GOLD = ("gold-a-posthog-latency", "gold-b-rebase-hook", "gold-c-dashboard-queries", "gold-d-session-share-plugin")


def window(lines: list[int]) -> tuple[int, int]:
    """The lines within reach of each other that hold most of the evidence, the last where several do."""
    best = max(lines, key=lambda first: (sum(first <= line < first + LINES for line in lines), first))
    return best, max(line for line in lines if best <= line < best + LINES)


def quoted(heard: list[Heard], fact: dict[str, Any]) -> str:
    """A passage of what was sent of these lines that is nearest to a fact."""
    words = set(normal(f"{fact['title']} {fact['summary']}").split())
    parts = (part.strip() for one in heard for part in one.text.splitlines())
    ready = [part for part in parts if len(normal(part)) >= 12 and "[…]" not in part]
    return max(ready, key=lambda part: len(words & set(normal(part).split())))[:200]


def must(gold: dict[str, Any], text: Sent) -> Iterator[dict[str, Any]]:
    """The facts that a sweep must find, as a model would draft them."""
    for fact in gold["facts"]:
        if fact["tier"] != "must":
            continue
        first, last = window([line for line in fact["evidence_lines"] if line in text.heard])
        kept = ("title", "summary", "type", "status", "confidence", "files")
        quote = quoted(list(text.within(first, last)), fact)
        yield {name: fact[name] for name in kept} | {"body": "", "from": first, "to": last, "quote": quote}


@pytest.mark.parametrize("name", GOLD)
def test_every_fact_that_must_be_found_is_kept_when_a_model_drafts_it(
    brain: Brain, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    gold = json.loads((shared / "corpora" / "gold" / f"{name}.json").read_text(encoding="utf-8"))
    place = str(shared / "corpora" / gold["transcript"])
    host = "codex" if "codex" in gold["transcript"].split("/")[1] else "claude"
    text = sent(transcript.read(host, place).conversation, mask=secrets.mask)
    program = Scripted(tmp_path, host)
    monkeypatch.setenv("PATH", f"{program.bin}{os.pathsep}{os.environ['PATH']}")
    config.home().mkdir(exist_ok=True)
    userconfig.change("capture", "model")
    facts = list(must(gold, text))
    program.notes(*facts)
    answer = sweep.sweep(brain, Told(host, place, "s-1"), trigger="by hand", now=NOW, dry_run=True)
    assert answer.model == "answered"
    assert answer.receipt.warnings == ()
    found = {one.judged.draft.title: one.judged for one in answer.drafts}
    assert sorted(found) == sorted(fact["title"] for fact in facts) != []
    for fact in facts:
        one = found[fact["title"]]
        assert one.kept, (fact["title"], one.verdict)
        assert (one.draft.evidence.first, one.draft.evidence.last) == (fact["from"], fact["to"])
        assert one.draft.status in (fact["status"], "observed")
    asked = program.asked[0].stdin
    assert not [leak for leak in gold.get("must_not_leak", []) if leak in asked]
