"""What a sweep without a model drafts, held against hand-written expectations.

    python tests/bench/bench_capture.py [FOLDER …]

Each folder has expectations in the form that `gold/README.md` below the shared corpora describes; without one, that
folder is taken. Their transcripts lie below `transcripts/`, beside the folder or below the shared corpora
(`COMMONWEALTH_SHARED`, default `../shared` beside the repository). Per session: facts found of those that must and
should be, drafts that match no fact, drafts that hit a junk pattern, notes and how many are expected at most, and of
the drafts that state a fact how many rest on lines that say it. CPU seconds of the rules come last.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from commonwealth.capture import rules
from commonwealth.hosts import transcript
from commonwealth.model import Candidate

SHARED = Path(os.environ.get("COMMONWEALTH_SHARED", Path(__file__).resolve().parents[3] / "shared"))
CORPORA = SHARED / "corpora"


@dataclass(slots=True)
class Figures:
    """What became of one session: counts of facts and drafts, and the texts behind them."""

    name: str
    must: tuple[int, int] = (0, 0)
    should: tuple[int, int] = (0, 0)
    junk: int = 0
    patterns: list[str] = field(default_factory=list)
    notes: int = 0
    most: int = 0
    rested: tuple[int, int] = (0, 0)
    missed: list[str] = field(default_factory=list)
    seconds: float = 0.0
    lines: list[str] = field(default_factory=list)


def text_of(draft: Candidate) -> str:
    """What a fact's words are looked for in."""
    return f"{draft.title} {draft.summary}".lower()


def states(draft: Candidate, fact: dict[str, Any]) -> bool:
    """Whether a draft has a word of every group of a fact."""
    text = text_of(draft)
    return all(any(word in text for word in group) for group in fact["match_all_groups"])


def judged(gold: dict[str, Any], drafts: tuple[Candidate, ...]) -> Figures:
    """The figures of one session."""
    figures = Figures(gold["gold"], notes=len(drafts), most=gold["expected_notes"]["max"])
    for tier in ("must", "should"):
        facts = [fact for fact in gold["facts"] if fact["tier"] == tier]
        hit = [fact for fact in facts if any(states(draft, fact) for draft in drafts)]
        setattr(figures, tier, (len(hit), len(facts)))
        figures.missed += [f"{fact['id']} ({tier}) {fact['title']}" for fact in facts if fact not in hit]
    rested = matched = 0
    for draft in drafts:
        facts = [fact for fact in gold["facts"] if states(draft, fact)]
        span = range(draft.evidence.first, draft.evidence.last + 1)
        figures.junk += not facts
        matched += bool(facts)
        rested += any(line in span for fact in facts for line in fact["evidence_lines"])
        hits = [
            junk["id"]
            for junk in gold.get("junk", ())
            if any(re.search(pattern, text_of(draft), re.IGNORECASE) for pattern in junk.get("reject_patterns", ()))
        ]
        figures.patterns += hits
        names = ", ".join(fact["id"] for fact in facts) or "NO FACT"
        warned = f" PATTERN {', '.join(hits)}" if hits else ""
        figures.lines.append(
            f"  [{names}{warned}] {draft.signal} {draft.type}/{draft.status} "
            f"{draft.evidence.first}-{draft.evidence.last}: {draft.title}"
        )
    figures.rested = (rested, matched)
    return figures


def transcript_of(gold: dict[str, Any], folder: Path) -> Path:
    """The file that an expectation belongs to."""
    name = str(gold["transcript"])
    for base in (folder, folder.parent, CORPORA):
        if (base / name).is_file():
            return base / name
    raise FileNotFoundError(f"{name}: neither beside {folder} nor below {CORPORA}")


def run(folder: Path) -> list[Figures]:
    """The figures of every session that a folder has expectations for."""
    results: list[Figures] = []
    for path in sorted(folder.glob("*.json")):
        gold = json.loads(path.read_text(encoding="utf-8"))
        host = "codex" if "codex" in gold["transcript"] else "claude"
        conversation = transcript.read(host, str(transcript_of(gold, folder))).conversation
        began = time.process_time()
        drafts = rules.drafts(conversation)
        figures = judged(gold, drafts)
        figures.seconds = time.process_time() - began
        results.append(figures)
    return results


def described(one: Figures) -> str:
    """The figures in one line."""
    return (
        f"must {one.must[0]}/{one.must[1]} should {one.should[0]}/{one.should[1]} no-fact {one.junk} patterns "
        f"{len(one.patterns)} notes {one.notes} (at most {one.most}) evidence {one.rested[0]}/{one.rested[1]}"
    )


def summed(everything: list[Figures]) -> Figures:
    """The figures of all sessions together."""
    total = Figures("TOTAL")
    for one in everything:
        for key in ("must", "should", "rested"):
            mine, more = getattr(total, key), getattr(one, key)
            setattr(total, key, (mine[0] + more[0], mine[1] + more[1]))
        total.junk += one.junk
        total.patterns += one.patterns
        total.notes += one.notes
        total.most += one.most
    return total


def main(folders: list[Path], *, told: bool) -> None:
    """Prints a line per session, with its drafts where asked for, and the totals."""
    everything: list[Figures] = []
    for folder in folders:
        for one in run(folder):
            everything.append(one)
            print(f"{one.name}: {described(one)}")
            for line in [*one.lines, *(f"  MISSED {missed}" for missed in one.missed)] if told else ():
                print(line)
    over = sum(one.notes > one.most for one in everything)
    seconds = sum(one.seconds for one in everything)
    total = f"TOTAL {len(everything)} sessions: {described(summed(everything))}"
    print(f"{total}; over their limit {over}; cpu {seconds:.3f} s")


if __name__ == "__main__":
    arguments = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    main([Path(argument) for argument in arguments] or [CORPORA / "gold"], told="-q" not in sys.argv)
