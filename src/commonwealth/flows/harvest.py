"""What the drafts of a session are worth: each made fit to be read elsewhere, judged, and named.

The whole session is judged anew at each sweep, so that its notes are the same however often and at which turns it was
swept. An id comes from the brain, the session and the fact.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from commonwealth.conversation import Conversation
from commonwealth.curate import gate
from commonwealth.flows import allowed, curating, evidence, identity
from commonwealth.flows.brains import Brain
from commonwealth.flows.identity import Identity, Session
from commonwealth.model import Candidate, Note, Provenance, Span, Verdict
from commonwealth.notes import candidate as candidates
from commonwealth.notes import naming
from commonwealth.repo import changed_here
from commonwealth.repo.project import Project, name_of, normalise_remote
from commonwealth.routing import is_folder
from commonwealth.safetext import one_line

MOST_JUDGED = 100
"""So many drafts of one session are judged, the clearest."""

MOST_KEPT = 20
"""So many are kept of one session."""

LINES = 40
"""Lines that a draft rests on, at most."""

_QUOTE = 300
_QUOTES = 4
_FILES = 50
_GIT_SECONDS = 5.0
_TOO_MANY = "more drafts than one session can earn: only the {} clearest are {}"
_START, _END = r"(?<![\w.~-])", r"(?![\w.-]*\w)"
"""Where a path begins and ends in a text: it is no part of a longer name."""
_HOMES = re.compile(_START + r"(?:(?:/home/|/Users/|[A-Za-z]:\\Users\\)[^\s/\\:\"'`<>|,;)]+|/root(?=/))")


@dataclass(frozen=True, slots=True)
class Judged:
    """A draft with its verdict and the id that its note has or would have. `draft` is as it is kept.

    `secret` says that nothing of it may be kept. `place` is a hash of when and in which words it was said; empty where
    the transcript does not tell the time.
    """

    draft: Candidate
    verdict: Verdict
    id: str
    secret: bool = False
    place: str = ""

    @property
    def short(self) -> str:
        """The end of the id, which names the fact."""
        return self.id.rpartition("-")[2]

    @property
    def kept(self) -> bool:
        """Whether it waits for a person or becomes canon."""
        return self.verdict.verdict != "drop"


@dataclass(frozen=True, slots=True)
class Ground:
    """Where the drafts of one session come from. `waiting` are the candidates of others in this clone's queue,
    `transcript` is the file."""

    brain: Brain
    conversation: Conversation
    session: Session
    host: str
    now: str
    waiting: tuple[Note, ...] = ()
    transcript: str | None = None


def judged(ground: Ground, drafts: Sequence[Candidate]) -> tuple[Judged, ...]:
    """The verdict on each draft, in the order of the session. Raises as `curating.facts_for` does."""
    branch = _branch_of_files(ground)
    around = curating.Around(
        ground.brain,
        session=ground.session,
        project_dir=ground.brain.project.root if ground.brain.project else None,
        conversation=ground.conversation,
    )
    corrected = {number for draft in drafts for number in draft.reverses}
    clearest = sorted(range(len(drafts)), key=lambda number: (-drafts[number].strength, _place(drafts[number]), number))
    rank = {number: at for at, number in enumerate(clearest)}
    found: dict[str, Judged] = {}
    for number in sorted(rank, key=lambda number: (_place(drafts[number]), rank[number])):
        draft = _fit(ground, drafts[number], branch)
        reason = None
        if number in corrected:
            reason = "the session itself corrected it later"
        elif rank[number] >= MOST_JUDGED:
            reason = _TOO_MANY.format(MOST_JUDGED, "judged")
        one = _one(ground, draft, around, found, reason)
        found.setdefault(one.id, one)
        for other in one.verdict.replaces if one.kept else ():
            if other in found and found[other].kept and other != one.id:
                found[other] = _dropped(found[other], "the session said it better later")
    return tuple(_limited(found))


def _one(
    ground: Ground, draft: Candidate, around: curating.Around, found: dict[str, Judged], reason: str | None
) -> Judged:
    named, place = _named(ground, draft), evidence.said_at(ground.conversation.events, draft.evidence)
    secret = secret_in(draft, named)
    if secret is not None:
        return Judged(draft, Verdict("drop", (secret,)), named, secret=True, place=place)
    if reason is not None:
        return Judged(draft, Verdict("drop", (reason,)), named, place=place)
    facts = curating.facts_for(
        ground.brain,
        draft,
        session=ground.session,
        project_dir=around.project_dir,
        conversation=ground.conversation,
        around=around,
        now=ground.now,
    )
    own = tuple(note_of(ground, one, author=None) for one in found.values() if one.kept)
    facts = replace(
        facts,
        waiting=(*(note for note in ground.waiting if note.id != named), *own),
        own=frozenset(note.id for note in own),
        scan=partial(allowed.scan, note=named),
    )
    verdict = gate.judge(draft, facts)
    secret_seen = any(reason.startswith("secret:") for reason in verdict.reasons)
    return Judged(draft, verdict, named, secret=secret_seen, place=place)


def _limited(found: dict[str, Judged]) -> Iterator[Judged]:
    """The clearest of what would be kept; the rest is dropped with the reason."""
    kept = sorted((one for one in found.values() if one.kept), key=lambda one: (-one.draft.strength, _place(one.draft)))
    over = {one.id for one in kept[MOST_KEPT:]}
    for one in found.values():
        yield _dropped(one, _TOO_MANY.format(MOST_KEPT, "kept")) if one.id in over else one


def _dropped(one: Judged, reason: str) -> Judged:
    return replace(one, verdict=replace(one.verdict, verdict="drop", reasons=(reason, *one.verdict.reasons)))


def _place(draft: Candidate) -> tuple[int, int]:
    return draft.evidence.first, draft.evidence.last


# Names and notes


def _named(ground: Ground, draft: Candidate) -> str:
    """The id of the note: the same whenever this session is found to have taught this, and in each that was forked from
    it, which begins at the same time in the same words under another name."""
    words = (" ".join(text.casefold().split()) for text in (draft.title, draft.summary))
    session = ground.conversation.beginning or ground.conversation.session or ground.session.session or ""
    seed = "\x1f".join((ground.brain.config.key, ground.host, session, draft.kind, *words))
    short = naming.short_id(seed.encode("utf-8", "surrogatepass"))
    return naming.new_id(draft.title, draft.observed_at or ground.now, short)


def note_of(ground: Ground, one: Judged, *, author: Identity | None) -> Note:
    """The note of a judged draft as it waits, with where it comes from. Without `author` it names nobody."""
    draft, conversation = one.draft, ground.conversation
    said = Provenance(
        agent=ground.session.agent,
        session=ground.session.session,
        branch=conversation.branch,
        commit=_commit(conversation, ground.brain.project),
        repository=_repository(conversation) if ground.brain.project is None else None,
        files=draft.files,
        evidence=(*draft.quotes, _lines(draft.evidence)),
    )
    if author is not None:
        said = identity.provenance(said, ground.brain, author, ground.session, scope=draft.scope)
    found = candidates.Found(
        at=ground.now,
        host=ground.host,
        session=ground.session.session,
        transcript=_file_of(ground),
        place=one.place or None,
        author=author.name if author else None,
        author_ref=author.ref if author else None,
        repository=said.repository,
        provenance=said,
    )
    return candidates.to_note(draft, one.verdict, id=one.id, found=found)


def _file_of(ground: Ground) -> str | None:
    """The transcript, for showing its words again in this clone, and without the name of the person's folder; a name
    that holds a secret is not kept."""
    if not ground.transcript or allowed.scan(ground.transcript, ""):
        return None
    home = os.path.join(os.path.expanduser("~"), "")
    return f"~/{ground.transcript.removeprefix(home)}" if ground.transcript.startswith(home) else ground.transcript


def _lines(span: Span) -> str:
    where = f"line {span.first}" if span.first == span.last else f"lines {span.first}-{span.last}"
    return f"{where} of the session"


def _commit(conversation: Conversation, project: Project | None) -> str | None:
    """The commit that the session was at: the last that it made or went to; else the project's fills it in."""
    if conversation.commits:
        return conversation.commits[-1]
    return None if project is not None else ""


def _repository(conversation: Conversation) -> str | None:
    """The repository's name where its folder is gone; a path on this machine tells a colleague nothing."""
    given = (conversation.repository or "").strip()
    found = normalise_remote(given) if given else ""
    return None if not found else name_of(found).rsplit("/", 1)[-1] if is_folder(found) else found


# What may leave the machine


def _fit(ground: Ground, draft: Candidate, branch: Sequence[str]) -> Candidate:
    """The draft without what is this machine's: homes, absolute paths; and with quotes that hold no secret."""
    span = draft.evidence
    first, last = max(1, span.first), max(1, span.first, span.last)
    files = tuple(dict.fromkeys(filter(None, (relative(ground, path) for path in draft.files))))[:_FILES]
    here = ground.brain.project.branch if ground.brain.project else None
    scope = draft.scope
    if scope is not None or files:
        scope = here if files and set(files) <= set(branch) else None
    return replace(
        draft,
        title=one_line(_homeless(ground, draft.title), 1000),
        summary=_homeless(ground, draft.summary).strip(),
        body=_homeless(ground, draft.body),
        evidence=Span(first, min(last, first + LINES - 1)),
        observed_at=draft.observed_at or _when(ground.conversation, first) or ground.now,
        files=files,
        tags=tuple(dict.fromkeys(filter(None, map(naming.normal_tag, draft.tags)))),
        quotes=tuple(_quotes(ground, draft.quotes)),
        scope=scope,
    )


def _quotes(ground: Ground, quotes: Sequence[str]) -> Iterator[str]:
    for quote in quotes[:_QUOTES]:
        if not allowed.scan(quote, "quotes"):
            yield one_line(_homeless(ground, quote), _QUOTE)


def _when(conversation: Conversation, line: int) -> str | None:
    """The time of the last event that had a time by that line."""
    times = [event.at for event in conversation.events if event.at and event.line <= line]
    return times[-1] if times else conversation.began_at or conversation.ended_at


def _homeless(ground: Ground, text: str) -> str:
    """`text` with paths of the session's folder as they are called inside it, and with no home of a person's."""
    for folder in _folders(ground):
        text = re.sub(
            rf"{_START}{re.escape(folder)}(?:/|{_END})", lambda found: "" if found[0][-1:] == "/" else ".", text
        )
    own = os.path.expanduser("~").rstrip("/\\")
    if len(own) > 1:
        text = re.sub(rf"{_START}{re.escape(own)}{_END}", "~", text)
    return _HOMES.sub("~", text)


def _folders(ground: Ground) -> tuple[str, ...]:
    given = (ground.conversation.cwd, ground.brain.project.root if ground.brain.project else None)
    return tuple(folder.rstrip("/\\") for folder in given if folder and os.path.isabs(folder) and folder.count("/") > 1)


def relative(ground: Ground, path: str) -> str | None:
    """A file's path from the root of the repository; None where it lies elsewhere."""
    project, folder = ground.brain.project, ground.conversation.cwd or ground.brain.cwd
    path = path.strip().replace("\\", "/")
    if not path or "\0" in path or path.startswith("~"):
        return None
    whole = os.path.normpath(os.path.join(folder, path))
    for root, real in _roots(ground, folder):
        if whole.startswith(f"{root}/"):
            inside = os.path.relpath(os.path.join(real, whole[len(root) + 1 :]), project.root if project else real)
            return None if inside.startswith("..") else inside.replace(os.sep, "/")
    return None


def _roots(ground: Ground, folder: str) -> Iterator[tuple[str, str]]:
    """The session's folder and the repository's root as they are spelled, and where they really are."""
    project = ground.brain.project
    if project is not None:
        yield project.root, project.root
    spelled = os.path.normpath(folder)
    real = os.path.realpath(folder)
    if project is None or f"{real}/".startswith(f"{project.root}/"):
        yield spelled, real if project is not None else spelled


def secret_in(draft: Candidate, note: str) -> str | None:
    """Why nothing of a draft may be kept: field and rule of a secret in it. `note` is the id of its note."""
    for name, text in gate.texts(draft):
        for finding in allowed.scan(text, name, note=note):
            return finding.told
    return None


# A branch that the evidence is on


def _branch_of_files(ground: Ground) -> tuple[str, ...]:
    """The files that the session's branch has changed and the default branch does not have yet.

    Nothing where the session was on another branch than the one that is checked out by now: git cannot say it then.
    """
    project = ground.brain.project
    if project is None or not project.branch or changed_here.is_default(project, project.branch):
        return ()
    if ground.conversation.branch not in (None, project.branch) or changed_here.default_ref(project) is None:
        return ()
    return changed_here.changed_files(project, _GIT_SECONDS)
