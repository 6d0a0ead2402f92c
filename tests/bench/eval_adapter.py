"""Our search as an engine of a retrieval evaluation: `make(notes)` indexes one corpus, `search` ranks its ids.

The evaluation is any harness that hands in notes as dicts with id, title and text. With the shared one:
`PYTHONPATH=src:tests/bench python $COMMONWEALTH_SHARED/eval/retrieval_eval.py --data … --engine py:eval_adapter:make`.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from commonwealth.index.build import build
from commonwealth.index.query import Query, search
from commonwealth.index.schema import connect
from commonwealth.model import Note, NoteFile


class Engine:
    """One corpus, indexed in a folder of its own."""

    def __init__(self, notes: Sequence[Mapping[str, str]]) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="commonwealth-eval-"))
        build(self._folder, map(_file, notes), {})
        self._conn = connect(self._folder)
        self._ids = {note["id"].casefold(): note["id"] for note in notes}

    def search(self, query: str, k: int) -> list[str]:
        """The ids of the best `k` notes."""
        hits, _ = search(self._conn, Query(query, limit=k))
        return [self._ids[hit.note.id.casefold()] for hit in hits]

    def close(self) -> None:
        """Forget the corpus."""
        self._conn.close()
        shutil.rmtree(self._folder)


def _file(note: Mapping[str, str]) -> NoteFile:
    made = Note(id=note["id"], kind="memory", title=note.get("title") or "", body=note["text"])
    return NoteFile(made, f"memory/{note['id']}.md", len(note["text"]), 0)


def make(notes: Sequence[Mapping[str, str]]) -> Engine:
    """The factory that the evaluation calls once for each corpus."""
    return Engine(notes)
