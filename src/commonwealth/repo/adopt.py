"""`--adopt-remote`: the remote's rewritten history is taken, with what was never published on top as one commit.

Never published is what our branch changed since the newest of its commits that the remote ever had. Such new notes
and edits go on top as ordinary canon, not into staging: they were canon here already, past the review that the team
asks for, and where the main branch takes requests only they go out as a request. A rewritten history may have taken
something out for good, so three kinds of change stay behind, in the rescue ref alone, and are named: an edit of a
note that is gone; one that does not unite with the new version without keeping words that were taken out; a new note
that repeats such words. All others are united three-way, from the version that was published last.

The whole is one commit and one move with its journal: killed anywhere, the next sync goes on from either side of it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from commonwealth.errors import BadNote, BrainError, Refused
from commonwealth.faults import fault
from commonwealth.repo import request, workfiles
from commonwealth.repo.commit import shown
from commonwealth.repo.common import git_at
from commonwealth.repo.git import decode
from commonwealth.repo.head import ref_value
from commonwealth.repo.integrate import integrate, without_made
from commonwealth.repo.kept import read_bases, write_bases
from commonwealth.repo.move import move
from commonwealth.repo.objects import Objects
from commonwealth.repo.outcome import seen_ref
from commonwealth.repo.purged import purged
from commonwealth.repo.refresh import refreshed, write_mark
from commonwealth.repo.run import Run
from commonwealth.repo.store import REGULAR, Delta, blob, commit_info, differences, make_commit, matches, stamp
from commonwealth.repo.tree import Entry, edit_tree

ADOPT_MESSAGE = "Notes that were never published, on top of the remote's new history"
_MOST_NAMED = 20
_WORD = re.compile(r"[A-Za-z0-9_+/=.:@!#$%^&*~?-]{12,}")
_NO_SECRET = re.compile(r"\d{4}-\d\d-\d\d.*|[0-9a-f]{40}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""Times, commits, sessions: notes that have nothing to do with each other share them."""


@dataclass(slots=True)
class _Plan:
    """What goes on top of the new history (entries over the published base), and what stays behind."""

    entries: dict[str, Entry | None] = field(default_factory=dict)
    edited: dict[str, Entry | None] = field(default_factory=dict)
    """For each of those: the published version that it comes from; None for a new note."""
    held: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Sides:
    """What we changed and what the rewrite changed since the published base, without derived files."""

    ours: Mapping[str, Delta]
    theirs: Mapping[str, Delta]
    our_moves: Mapping[str, str]
    """Old path → new path of files that kept their name."""
    their_moves: Mapping[str, str]


def published_tips(run: Run) -> tuple[str, ...]:
    """Commits of ours that the remote's branch once had, as far as this clone remembers: the one it took for the
    remote's history, the log of the tracking ref, and a request that the remote no longer has."""
    tracking = f"refs/remotes/{run.remote}/{run.branch}"
    log = run.git.run("log", "--walk-reflogs", "--format=%H", tracking, check=False)
    seen = ref_value(run.git, seen_ref(run.branch))
    names = [seen, run.known, request.withdrawn(run), *decode(log).split()]
    return tuple(name for name in dict.fromkeys(names) if name is not None and name != run.theirs)


def adopt(run: Run, kept: str) -> Refused | None:
    """Move our branch to the remote's history with our unpublished notes on top; `kept` is the rescue ref.

    Where an edit that cannot be committed lies in the way, nothing changes, and the answer says so.
    """
    theirs, tip = str(run.theirs), run.tip
    plan = _Plan()
    target = theirs
    if tip is not None:
        target = _on_top(run, plan, tip, theirs)
        hidden = _hidden_edit(run, tip, target)
        if hidden is not None:
            return hidden
        _forget_bases(run, tip, target)
    fault("adopt-commit")
    run.pulled |= run.notes_in(tip, theirs)
    run.warnings.extend(move(run.git, run.branch, tip, target, run.content))
    fault("adopt-moved")
    run.tip, run.adopted = target, True
    if target != theirs:
        write_mark(run.git, target)
    _tell(run, plan, kept)
    return None


def _on_top(run: Run, plan: _Plan, tip: str, theirs: str) -> str:
    """The commit to move to: the new history itself where nothing of ours goes on top."""
    bases = _bases(run, tip)
    base = bases[0] if bases else run.git.run("mktree", input=b"").decode("ascii").strip()
    with Objects(run.git) as objects:
        _sort(run, objects, plan, _sides(run, objects, (base, *bases[1:]), tip, theirs))
        for old in dict.fromkeys((base, run.known or base)):
            _hold_words(run, objects, plan, old, theirs)
            lost = purged(run.git, run.content, objects, old, theirs)
            back = [p for p, e in plan.entries.items() if lost.comes_back(objects, p, plan.edited.get(p), e)]
            plan.held.update(back)
            plan.entries = {path: entry for path, entry in plan.entries.items() if path not in plan.held}
        their_tree = commit_info(objects, theirs).tree
    ours = edit_tree(run.git, base, plan.entries)
    united = integrate(run.git, [base], ours, theirs, run.content)
    run.warnings.extend(united.warnings)
    run.conflicts.update(united.conflicts)
    if united.tree == their_tree:
        return theirs
    tree = refreshed(run.git, united.tree, None, run.content, run.warnings, history=[theirs, tip])
    return make_commit(run.git, tree, [theirs], ADOPT_MESSAGE, stamp(run.author, run.now), sign=True)


def _bases(run: Run, tip: str) -> tuple[str, ...]:
    """The newest commits of our branch that were published."""
    if run.follows(tip, str(run.theirs)):  # a rebase by hand has put it there already
        return (str(run.theirs),)
    found = {base for old in published_tips(run) for base in run.bases(tip, old)}
    if len(found) < 2:
        return tuple(found)
    return tuple(sorted(decode(run.git.run("merge-base", "--independent", *sorted(found))).split()))


def _sides(run: Run, objects: Objects, bases: Sequence[str], tip: str, theirs: str) -> _Sides:
    base, *others = bases
    ours = without_made(differences(run.git, base, tip), run.content, objects)
    for other in others:  # with several, ours is what differs from each
        mine = differences(run.git, other, tip)
        ours = {path: delta for path, delta in ours.items() if path in mine}
    new = without_made(differences(run.git, base, theirs), run.content, objects)
    return _Sides(ours, new, _moves(run, ours), _moves(run, new))


def _moves(run: Run, deltas: Mapping[str, Delta]) -> dict[str, str]:
    come = {_name(path): path for path, delta in deltas.items() if delta.old is None and run.content.owns(path)}
    gone = [path for path, delta in deltas.items() if delta.new is None and run.content.owns(path)]
    return {path: come[_name(path)] for path in gone if _name(path) in come}


def _sort(run: Run, objects: Objects, plan: _Plan, sides: _Sides) -> None:
    """Each change of ours goes on top or stays behind."""
    purged = {
        _name(path) for path, delta in sides.theirs.items() if delta.new is None and path not in sides.their_moves
    }
    arrived = {new: old for old, new in sides.our_moves.items()}
    for path, delta in sides.ours.items():
        if path in sides.our_moves:
            continue  # goes with its other half
        origin = arrived.get(path, path)
        if delta.new is None:
            if path not in sides.theirs:
                plan.entries[path] = None
        elif delta.old is None and origin == path:
            if run.content.owns(path) and _name(path) in purged:
                plan.held.add(path)
            else:
                plan.entries[path], plan.edited[path] = delta.new, None
        elif _unites(run, objects, path, (sides.ours[origin].old, delta.new), _there(sides, origin)):
            plan.entries[path], plan.edited[path] = delta.new, sides.ours[origin].old
            if origin != path:
                plan.entries[origin] = None
        else:
            plan.held.add(path)


def _there(sides: _Sides, path: str) -> Entry | str | None:
    """The new history's version of a published file: its entry, None where it is gone, "same" where it is as it was."""
    place = sides.their_moves.get(path, path)
    if place not in sides.theirs:
        return "same"
    return sides.theirs[place].new


def _unites(run: Run, objects: Objects, path: str, ours: tuple[Entry | None, Entry], there: Entry | str | None) -> bool:
    """Whether our edit and the new version unite without any line that the new version has lost."""
    old, mine = ours
    if isinstance(there, str) or there in (old, mine):
        return True
    if there is None or old is None or run.content.owns(path) is None:
        return False
    if any(entry[0] not in REGULAR for entry in (old, mine, there)):
        return False
    before, new = blob(objects, old) or b"", blob(objects, there) or b""
    try:
        merged = run.content.merge(before, blob(objects, mine) or b"", new, path)
    except BadNote:
        return False
    lost = set(before.split()) - set(new.split())
    return not merged.siblings and lost.isdisjoint(merged.data.split())


def _hold_words(run: Run, objects: Objects, plan: _Plan, base: str, theirs: str) -> None:
    """Hold what repeats a word that only notes had which the new history has lost or changed: a copy, a quotation.

    Words are what secrets look like: long, of letters and digits. Names of notes are none, nor `_NO_SECRET`.
    """
    lost: set[str] = set()
    names: set[str] = set()
    for path, delta in differences(run.git, base, theirs).items():
        names.add(os.path.splitext(_name(path))[0])
        if delta.old is not None and delta.old[0] in REGULAR and run.content.owns(path):
            lost |= _words(blob(objects, delta.old)) - _words(blob(objects, delta.new))
    lost -= names
    suspects: dict[str, set[str]] = {}
    for path, entry in plan.entries.items():
        if entry is not None and entry[0] in REGULAR:  # what an edit has kept of its own note, `_unites` has judged
            said = _words(blob(objects, entry)) - _words(blob(objects, plan.edited[path]))
            if said & lost:
                suspects[path] = said & lost
    kept = {word for word in set().union(*suspects.values()) if _has_word(run, theirs, word)} if suspects else set()
    for path, found in suspects.items():
        if found - kept:
            plan.held.add(path)
            del plan.entries[path]


def _words(data: bytes | None) -> set[str]:
    text = (data or b"").decode("utf-8", "replace")
    return {
        word
        for word in _WORD.findall(text)
        if any(map(str.isdigit, word)) and any(map(str.isalpha, word)) and not _NO_SECRET.fullmatch(word)
    }


def _has_word(run: Run, tree: str, word: str) -> bool:
    return run.git.holds("grep", "--quiet", "--fixed-strings", "--text", "-e", word, tree)


def _hidden_edit(run: Run, tip: str, target: str) -> Refused | None:
    """An edit that could not be committed may hold what was taken out, and would be kept by the move."""
    for path, delta in differences(run.git, tip, target).items():
        if delta.old is None:
            continue
        current: bytes | None = None
        with suppress(BrainError):
            current = workfiles.read(run.git.root, path)
        if current is not None and run.content.is_derived(path) and run.content.is_made(current):
            continue
        if current is not None and not matches(current, delta.old) and not matches(current, delta.new):
            return Refused(
                f"{shown(path, run.content)} has an edit that is not committed, and the remote's new history has "
                "another version of it, or none.",
                hint="Mend that file, or move it out of the brain; then repeat. Nothing was taken over.",
            )
    return None


def _forget_bases(run: Run, tip: str, target: str) -> None:
    """What an uncommitted edit began from is of no use where the new history has no such note."""
    bases = read_bases(run.git)
    if bases:
        gone = {path for path, delta in differences(run.git, tip, target).items() if delta.new is None}
        write_bases(run.git, {path: base for path, base in bases.items() if path not in gone})


def _tell(run: Run, plan: _Plan, kept: str) -> None:
    count = sum(entry is not None for entry in plan.entries.values())
    some = (
        f"{count} change{'s' if count != 1 else ''} that {'were' if count != 1 else 'was'}" if count else "Nothing was"
    )
    run.warnings.append(
        f"The remote's history was taken. {some} never published{' went on top of it' if count else ''}. "
        f"What was here before is kept as {kept}."
    )
    for path in sorted(plan.held)[:_MOST_NAMED]:
        run.warnings.append(
            f"{shown(path, run.content)} stays behind, as it holds what the new history has lost; "
            f"`{git_at(run.git.root)} show {kept}:FILE` shows it. What may be public of it, record as a new note."
        )
    if len(plan.held) > _MOST_NAMED:
        run.warnings.append(f"{len(plan.held) - _MOST_NAMED} other files stay behind in {kept}.")


def _name(path: str) -> str:
    return path.rsplit("/", 1)[-1]
