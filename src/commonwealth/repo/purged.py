"""What a rewritten history has taken out or changed, so that no copy of it comes back from the files of a clone.

A merge or rebase by hand onto that history unites notes by the same rules as a sync: of a conflict, the version that
was taken out may win, or lie beside the note as another version of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from commonwealth.repo.content import Content
from commonwealth.repo.git import Git
from commonwealth.repo.objects import Objects
from commonwealth.repo.store import REGULAR, blob, differences
from commonwealth.repo.tree import Entry


@dataclass(frozen=True, slots=True)
class Purged:
    """The words that each note lost between two histories, by the note's file name; all of them where it is gone."""

    content: Content
    words: dict[str, frozenset[bytes]]

    def comes_back(self, objects: Objects, path: str, old: Entry | None, new: Entry | None) -> bool:
        """Whether a change of ours from `old`, on top of the new history, says what that has lost: in the note itself,
        or as another version of a note that it has changed."""
        if new is None or new[0] not in REGULAR or self.content.owns(path) is None:
            return False
        data = blob(objects, new) or b""
        root = self.content.disputes(path, data)
        if old is None and root is not None and f"{root}.md" in self.words:
            return True
        lost = self.words.get(path.rsplit("/", 1)[-1], frozenset())
        return not lost.isdisjoint(set(data.split()) - set((blob(objects, old) or b"").split()))


def purged(git: Git, content: Content, objects: Objects, old: str, new: str) -> Purged:
    """What notes of the published history `old` lost in the history `new`."""
    kept: dict[str, set[bytes]] = {}
    lost: dict[str, set[bytes]] = {}
    for path, delta in differences(git, old, new).items():
        if content.owns(path) is None:
            continue
        name = path.rsplit("/", 1)[-1]
        if delta.new is not None and delta.new[0] in REGULAR:
            kept.setdefault(name, set()).update((blob(objects, delta.new) or b"").split())
        if delta.old is not None and delta.old[0] in REGULAR:
            lost.setdefault(name, set()).update((blob(objects, delta.old) or b"").split())
    return Purged(content, {name: frozenset(words - kept.get(name, set())) for name, words in lost.items()})
