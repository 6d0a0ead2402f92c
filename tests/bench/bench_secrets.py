"""What the scan for secrets finds and what it costs: recall on generated credentials, false alarms, time.

Run as `python -m tests.bench.bench_secrets [SEED]` in the repository's folder. Every credential is made on the
spot from the shapes in `tests/curate/tokens.py`; the seed is printed. Notes of real developers come from the
corpora below `COMMONWEALTH_SHARED` (default `../shared` beside the repository).
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from commonwealth.curate import secrets
from tests.curate import test_secrets as sets
from tests.curate import tokens

SHARED = Path(os.environ.get("COMMONWEALTH_SHARED", Path(__file__).resolve().parents[3] / "shared"))
EACH = 20
CLEAN = ("til-jbranchaud", "adr-govuk-aws", "adr-madr", "memory-mnemonic", "memory-recommendarr", "obsidian-kepano")


def share(name: str, goal: str, texts: Iterable[str]) -> None:
    """Print which part of `texts` is flagged."""
    every = list(texts)
    found = sum(sets.found(text) for text in every)
    print(f"| {name} | {len(every):,} | {found / len(every):.2%} | {goal} |", flush=True)


def recall(seed: int) -> None:
    """Credentials, which should be found."""
    chance = random.Random(seed)
    every = {**tokens.MARKED, **tokens.UNMARKED}
    made: list[tuple[str, str]] = [
        (name, tokens.make(shape, chance)) for name, shape in every.items() for _ in range(EACH)
    ]
    share(f"{len(every)} families in a line or sentence", ">= 98 %", [tokens.in_context(*one, chance) for one in made])
    bare = [tokens.make(shape, chance) for shape in tokens.MARKED.values() for _ in range(EACH)]
    share(f"{len(tokens.MARKED)} families with a mark, bare", ">= 95 %", bare)
    beside = [(name, tokens.make(shape, chance)) for name, shape in tokens.BESIDE.items() for _ in range(EACH)]
    share(
        f"{len(tokens.BESIDE)} families beside their provider's name only",
        "",
        [tokens.beside(*one, chance) for one in beside],
    )
    framed = [text for _ in range(40) for text in sets.framed(chance)]
    share("private keys, JWT, URL, connection string, .env, basic auth, curl", ">= 98 %", framed)
    share("passwords and keys of no provider, assigned", ">= 85 %", sets.generic(chance, 500))
    marked = [shape for shape in tokens.MARKED.values() if shape[0] not in "{h" and "://" not in shape]
    split = [text for shape in marked for _ in range(3) for text in sets.hidden(tokens.make(shape, chance), chance)]
    share("split over lines, in base64, in JSON, percent-encoded", ">= 80 %", split)
    shown = [text for shape in tokens.MARKED.values() for text in sets.in_frontmatter(tokens.make(shape, chance))]
    share("in frontmatter and in file names", ">= 98 %", shown)
    words = {"password": "sommer", "token": "hunter22"}
    share("values of a cluster's Secret", "", [tokens.cluster_secret(words, chance) for _ in range(100)])


def alarms(seed: int) -> None:
    """Texts without a credential, which should be left alone."""
    chance = random.Random(seed)
    share(
        "hashes, UUIDs, commits, lock files, placeholders",
        "<= 0.5 %",
        [t for _ in range(40) for t in sets.harmless(chance)],
    )
    notes = [
        path.read_text(encoding="utf-8")
        for folder in CLEAN
        for path in sorted((SHARED / "corpora" / folder).rglob("*.md"))
    ]
    if notes:
        share("notes of real developers", "<= 0.3 %", notes)


def cost(texts: list[str]) -> None:
    """CPU time of `scan` for notes and of `mask` for long texts."""
    for text in texts[:50]:
        secrets.scan(text, "body")
    size = sum(map(len, texts))
    spent = _seconds(lambda: [secrets.scan(text, "body") for text in texts])
    print(f"| scan of a note of 2 KB | {spent / size * 2048 * 1000:.2f} ms |")
    line = json.dumps({"type": "user", "content": "I looked at the file and ran the tests; they pass. " * 3})
    whole = "\n".join(texts) + (line + "\n") * (4_000_000 // len(line))
    for length in (100_000, 1_000_000, 4_000_000):
        spent = _seconds(partial(secrets.mask, whole[:length]))
        print(f"| mask of {length / 1e6:g} MB | {length / 1e6 / spent:.1f} MB/s |")


def _seconds(act: Callable[[], object]) -> float:
    begin = time.process_time()
    act()
    return time.process_time() - begin


def main(seed: int) -> None:
    """Print all tables."""
    print(f"seed {seed}\n\n| set | texts | flagged | goal |\n|---|---|---|---|")
    recall(seed)
    alarms(seed)
    print("\n| what | CPU |\n|---|---|")
    notes = [path.read_text(encoding="utf-8") for path in sorted((SHARED / "corpora" / CLEAN[0]).rglob("*.md"))]
    cost(notes or ["A note about retries and keys.\n" * 60] * 500)


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 20261201)
