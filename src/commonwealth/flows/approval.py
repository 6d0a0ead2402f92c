"""From the queue to canon: one commit for everything that a person approves at once.

Each candidate is looked at again under the lock: a secret, a note that says the same by now, an id that is taken. What
it replaces is closed in the same commit. Its file leaves the queue after that commit; whatever ends the process in
between, the next approval finds the note there and only takes the file away.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from commonwealth import timeline
from commonwealth.curate import secrets
from commonwealth.errors import BadNote, Damaged, Refused, Usage
from commonwealth.faults import fault
from commonwealth.flows import fitting, identity, indexing, recall, replaced, saving, supersede, unseen
from commonwealth.flows.brains import Brain
from commonwealth.flows.identity import Identity, Session
from commonwealth.flows.replaced import Old
from commonwealth.index import lookup
from commonwealth.model import CLOSED_STATUSES, Item, Note, NoteFile, Receipt, Reviewed
from commonwealth.notes import candidate, closing, codec, naming, store, waiting
from commonwealth.notes.waiting import Waiting
from commonwealth.repo.commit import Change
from commonwealth.safetext import one_line

APPROVED = "it was approved before"
_TOLD = 5


@dataclass(slots=True)
class Approval:
    """One approval, planned anew whenever a race is lost. `done` are the files that may leave the queue once the
    commit stands, `aside` those that say what canon says already, with the id of that note, and `left` tells of those
    that did not leave it."""

    brain: Brain
    chosen: Sequence[Waiting]
    author: Identity
    session: Session
    now: str
    by_itself: bool = False
    """Nobody has looked at them, as of drafts that land by themselves: then no `reviewed` says so."""
    anyway: bool = False
    """The person knows what speaks against them."""
    unread: bool = False
    """No person named them: what the gate said against one of them may not have been read."""
    doubts: dict[str, str] = field(default_factory=dict)
    """By path of a candidate, what nobody was told of when it was staged."""
    items: list[Item] = field(default_factory=list)
    done: list[Waiting] = field(default_factory=list)
    aside: list[tuple[Waiting, str]] = field(default_factory=list)
    made: dict[str, Note] = field(default_factory=dict)
    """By key of their ids the notes that this approval brings into canon."""
    changes: dict[str, Change] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    left: tuple[str, ...] = ()
    known: dict[str, NoteFile] = field(default_factory=dict)
    alike: dict[str, tuple[NoteFile, ...]] = field(default_factory=dict)

    def run(self) -> Receipt:
        """Commit what can be approved, and take it out of the queue. Raises as `saving.save` does."""
        titles = [one_line(one.note.title, 60) for one in self.chosen]
        what = titles[0] if len(titles) == 1 else f"{len(titles)} notes"
        word = "Capture" if self.by_itself else "Approve"
        # Before the lock: a search for each takes its time, and a lost race is no harm here.
        self.doubts = unseen.reasons(self.brain, self.chosen, self.now)
        receipt = saving.save(
            self.brain,
            self._plan,
            ids=(),
            message=f"{word}: {secrets.mask(what)}{identity.trailers(self.session)}",
            author=self.author,
            now=self.now,
            command="capture" if self.by_itself else "review",
            then=self._clear,
        )
        return replace(receipt, items=tuple(self.items), warnings=(*receipt.warnings, *self.left))

    # The plan

    def _plan(self) -> saving.Planned | Receipt:
        for kept in (self.items, self.done, self.aside, self.made, self.changes, self.warnings):
            kept.clear()
        present = list(self._present())
        self._look(present)
        for one in _in_order(present):
            try:
                self._take(one)
            except (Refused, Usage, Damaged) as error:
                self._refuse(one.note.id, f"{error.message} {error.hint or ''}".strip())
        if not self.changes:
            return self._nothing()
        killed = any(change.data == change.expect for change in self.changes.values())
        people = saving.people_change(self.brain, self.author, self.now, killed=killed)
        closed = tuple(item.id for item in self.items if item.state == "closed")
        ids = (*(note.id for note in self.made.values()), *closed)
        return saving.Planned([*self.changes.values(), *people], ids=ids, warnings=tuple(self.warnings))

    def _nothing(self) -> Receipt:
        if doubted := [item for item in self.items if item.state == "staged"]:
            named = doubted[0].id
            step = f"`brain review edit {named}` mends it, `brain review approve {named} --anyway` takes it as it is."
            return Receipt("staged", tuple(item.id for item in doubted), reason=doubted[0].reason, next=step)
        refused = [item for item in self.items if item.state == "refused"]
        fine = tuple(item.id for item in self.items if item.state == "unchanged")
        if fine or not refused:
            return Receipt("unchanged", fine, reason=self.items[0].reason if len(self.items) == 1 else None)
        reasons = list(dict.fromkeys(item.reason or "" for item in refused))
        more = f" … and {len(reasons) - _TOLD} more reasons" if len(reasons) > _TOLD else ""
        return Receipt(
            "refused",
            tuple(item.id for item in refused),
            reason=" ".join(reasons[:_TOLD]) + more,
            next="`brain review show ID` tells more of each; they wait as they were.",
        )

    def _present(self) -> Iterator[Waiting]:
        """The candidates as their files are by now."""
        for one in self.chosen:
            try:
                yield waiting.read(self.brain.root, one.path)
            except BadNote as error:
                self._refuse(one.note.id, error.message)
            except FileNotFoundError:
                found = indexing.ask(self.brain, partial(exactly, note_id=one.note.id))
                if found is not None and saving.is_committed(self.brain, found.path):
                    self.items.append(Item(one.note.id, "unchanged", APPROVED))
                else:
                    self._refuse(one.note.id, "It waits no more: somebody decided on it meanwhile.")

    def _look(self, present: Sequence[Waiting]) -> None:
        """What canon has under the same ids and titles, in one question for all."""

        def question(conn: sqlite3.Connection) -> None:
            for one in present:
                found = exactly(conn, one.note.id)
                if found is not None:
                    self.known[naming.id_key(one.note.id)] = found
                self.alike[one.path] = lookup.by_title(conn, one.note.title)

        self.known, self.alike = {}, {}
        indexing.ask(self.brain, question)

    def _take(self, one: Waiting) -> None:
        """Plan one candidate. Raises Refused with what is in its way."""
        fitting.require_fit(one)
        note, text = self._reviewed(one)
        place = self._place(note)
        if place is not None and self._is_same(one, place):
            self._again(one, place)
            return
        if place is not None:
            note, text = self._renamed(one, note, text)
            place = self._place(note)
            if place is not None:
                self._again(one, place)
                return
        double = self._double(one.path, note)
        if double is not None:
            self.items.append(Item(one.note.id, "unchanged", f"{double} says the same already"))
            self.aside.append((one, double))
            return
        told, doubts = unseen.told(one), [doubt for doubt in (unseen.slip(one), self.doubts.get(one.path)) if doubt]
        if not self.anyway and (held := [*doubts, *(told if self.unread else ())]):
            self.items.append(Item(one.note.id, "staged", held[0]))
            return
        self._add(one, note, Change(self._path(note), text.encode()))
        self.warnings += [f"{note.id} is canon now, though: {reason}" for reason in (*told, *doubts)]

    def _add(self, one: Waiting, note: Note, change: Change) -> None:
        """Plan the file of a note and the ends of what it replaces."""
        closed = list(self._closed(note))
        self.changes[change.path] = change
        self.made[naming.id_key(note.id)] = note
        reason = None if note.id == one.note.id else f"its id {one.note.id} was taken by another note"
        self.items.append(Item(note.id, "committed", reason))
        self.done.append(one)
        for old, data, by in closed:
            there = self.changes.get(old.path)
            self.changes[old.path] = Change(old.path, data, there.expect if there else old.data)
            end = closing.begins(by)
            self.items.append(Item(old.note.id, "closed", f"is true until {end}" if end else None))

    def _again(self, one: Waiting, place: str) -> None:
        """A candidate whose note is there: an approval before this one was ended between two steps."""
        if saving.is_committed(self.brain, place):
            self.items.append(Item(naming.stem(place), "unchanged", APPROVED))
            self.done.append(one)
            return
        data = store.read_bytes(self.brain.root, place)[0]
        note = codec.parse(codec.decode(data, place), place, naming.kind_of(place, self.brain.folders) or "")[0]
        self._add(one, note, Change(place, data, data))

    def _reviewed(self, one: Waiting) -> tuple[Note, str]:
        """The note and its text as they go into canon: what the file says, less where it comes from, and by whom and
        when it was let in."""
        text = codec.decode(one.data, one.path)
        as_read = codec.parse(text, one.path, "")[0]
        note, of = one.note, one.note.provenance
        note = replace(
            note,
            reviewed=None if self.by_itself else Reviewed(by=self._by(), at=self.now),
            created_at=note.created_at or self.now,
            updated_at=note.updated_at or note.created_at or self.now,
            author=note.author or self.author.name,
            author_ref=note.author_ref or (None if note.author else self.author.ref),
            provenance=of if of.human or of.agent or of.session else replace(of, human=self.author.name),
            extra={key: value for key, value in note.extra.items() if key != "id"},
        )
        return note, codec.edit(text, codec.changes(as_read, note), path=one.path)

    def _by(self) -> str:
        return f"{self.author.name} with {self.session.agent}" if self.session.agent else self.author.name

    def _renamed(self, one: Waiting, note: Note, text: str) -> tuple[Note, str]:
        """The note under another id, always the same one for the same candidate."""
        seed = "\x1f".join((note.id, note.title, note.summary or "", note.body))
        short = naming.short_id(seed.encode("utf-8", "surrogatepass"))
        new = replace(note, id=naming.new_id(note.title, note.created_at or self.now, short))
        return new, codec.edit(text, {"id": new.id}, path=one.path)

    # What is there

    def _path(self, note: Note) -> str:
        return naming.note_path(note.kind, note.id, note.created_at or self.now, self.brain.folders)

    def _place(self, note: Note) -> str | None:
        """Where a note of this id lies: as the index knows, or where a killed approval has left it."""
        found = self.known.get(naming.id_key(note.id))
        if found is not None and indexing.stat_file(self.brain, found.path) is not None:
            return found.path
        path = self._path(note)
        return path if path in self.changes or indexing.stat_file(self.brain, path) is not None else None

    def _is_same(self, one: Waiting, place: str) -> bool:
        """Whether the note there is this candidate, in the version that lies there or an earlier one."""
        if place in self.changes:
            return False
        wanted = told(one.note)
        kind = naming.kind_of(place, self.brain.folders) or ""

        def says_so(data: bytes) -> bool:
            try:
                return told(codec.parse(codec.decode(data, place), place, kind)[0]) == wanted
            except BadNote:
                return False

        try:
            if says_so(store.read_bytes(self.brain.root, place)[0]):
                return True
        except (BadNote, FileNotFoundError):
            pass
        return any(map(says_so, replaced.earlier(self.brain, place)))

    def _double(self, path: str, note: Note) -> str | None:
        """The id of a note that holds and says the very same, in canon or in this approval."""
        there = (
            file.note
            for file in self.alike.get(path, ())
            if file.note.status not in CLOSED_STATUSES
            and timeline.holds(file.note.valid_from, file.note.valid_until, self.now)
            and indexing.stat_file(self.brain, file.path) is not None
        )
        return next((other.id for other in (*there, *self.made.values()) if _same_words(note, other)), None)

    # What it replaces

    def _closed(self, note: Note) -> Iterator[tuple[Old, bytes, Note]]:
        """The notes that this one closes, with their new bytes. Raises Refused where one cannot be closed by it."""
        for id_ in dict.fromkeys(note.supersedes):
            key = naming.id_key(id_)
            rival = next((by for by in self.made.values() if key in map(naming.id_key, by.supersedes)), None)
            if rival is not None:
                raise Refused(
                    f"{rival.id}, approved at the same time, replaces {id_} as well.",
                    hint="`brain review edit` changes what it supersedes, or reject one of them.",
                )
            old = self._old(id_)
            if old is None:
                self.warnings.append(f"{note.id} supersedes {id_}, which this brain does not have")
                continue
            others = [*(other for other in old.others if naming.id_key(other.id) != naming.id_key(note.id)), note]
            standing = not any(other.id == note.id for other in old.others)
            if standing:
                supersede.require_open(old, note)
            yield old, old.edited(self.brain, others), note

    def _old(self, id_: str) -> Old | None:
        """The note of this id: one that this approval adds, else that of canon; None where there is none."""
        own = self.made.get(naming.id_key(id_))
        if own is not None:
            change = self.changes[self._path(own)]
            text = codec.decode(change.data or b"", change.path)
            return Old(change.path, change.data or b"", text, own, ())
        try:
            found = recall.located_once(self.brain, id_)
        except Refused:
            return None
        if naming.id_key(found.id) != naming.id_key(id_):
            return None
        replaced.require_fact(found, "supersedes", "superseded")
        return replaced.read(self.brain, found)

    # Afterwards

    def _refuse(self, note_id: str, reason: str) -> None:
        self.items.append(Item(note_id, "refused", reason))

    def _clear(self) -> None:
        """`_cleared`, before anybody else can decide about one of them."""
        fault("approve-committed")
        self.left = tuple(self._cleared())

    def _cleared(self) -> Iterator[str]:
        """Take what was approved out of the queue, and set aside what canon says already; what stood in the way."""
        for one in self.done:
            try:
                if not waiting.remove(self.brain.root, one.path, one.data):
                    yield f"{one.path} was edited meanwhile and stays in the queue; canon has it as it was before"
            except (Damaged, Refused) as error:
                yield f"{error.message} The note is in canon; approve it again to take it out of the queue."
        for one, double in self.aside:
            if one.is_dropped:
                continue
            because = f"{double} says the same"
            try:
                waiting.drop(self.brain.root, one, dropped(one, by=self._by(), because=because, now=self.now))
            except (Damaged, Refused) as error:
                yield error.message


def as_canon(brain: Brain, one: Waiting, *, session: Session, now: str) -> tuple[str, bytes, Note]:
    """The file that a candidate would be in canon, where somebody else is to let it in: path, bytes and note, not
    reviewed yet. Raises Refused for one that cannot be a note, or holds a secret."""
    fitting.require_fit(one)
    approval = Approval(brain, [one], identity.whoami(brain), session, now, by_itself=True)
    note, text = approval._reviewed(one)
    return approval._path(note), text.encode(), note


def says_so(brain: Brain, one: Waiting, place: str) -> bool:
    """Whether the note of canon at `place` is this candidate, in the version that lies there or an earlier one."""
    return Approval(brain, [one], identity.whoami(brain), Session(), "")._is_same(one, place)


def dropped(one: Waiting, *, by: str | None, because: str | None, now: str) -> candidate.Origin:
    """The origin of a candidate that is turned down."""
    known = one.origin or candidate.Origin(source="remember", at=one.note.created_at)
    return replace(known, dropped_at=now, dropped_by=by, dropped_because=because)


def _in_order(present: Sequence[Waiting]) -> Iterator[Waiting]:
    """The candidates, each after those that it supersedes: what is replaced has to be there to be closed."""
    by_id = {naming.id_key(one.note.id): one for one in present}
    seen: set[str] = set()

    def visit(one: Waiting) -> Iterator[Waiting]:
        if one.path not in seen:
            seen.add(one.path)
            for id_ in one.note.supersedes:
                if (target := by_id.get(naming.id_key(id_))) is not None:
                    yield from visit(target)
            yield one

    for one in present:
        yield from visit(one)


def exactly(conn: sqlite3.Connection, note_id: str) -> NoteFile | None:
    """The note of canon with this very id."""
    key = naming.id_key(note_id)
    return next((file for file in lookup.get(conn, note_id) if naming.id_key(file.note.id) == key), None)


def told(note: Note) -> Note:
    """What a note tells, without what approval adds to it."""
    origin = replace(note.provenance, human=None)
    extra = {key: value for key, value in candidate.stripped(note).extra.items() if key != "id"}
    bare = {"author": None, "author_ref": None, "created_at": None, "updated_at": None, "reviewed": None}
    return replace(note, id="", provenance=origin, extra=extra, **bare)  # type: ignore[arg-type]


def _same_words(one: Note, other: Note) -> bool:
    where = (one.repository or "").casefold() == (other.repository or "").casefold() and one.branch == other.branch
    words = (one.kind, one.title, one.summary, one.body) == (other.kind, other.title, other.summary, other.body)
    return where and words and set(one.supersedes) == set(other.supersedes)
