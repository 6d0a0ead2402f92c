"""What the gate has to know of a brain and a code repository, read once for all candidates of a session."""

from __future__ import annotations

import os
import sqlite3
from functools import cached_property

from commonwealth.conversation import Conversation, Said, Used
from commonwealth.curate.gate import Facts, judge
from commonwealth.curate.texts import STOP, claim_of, words
from commonwealth.flows import indexing, verifying
from commonwealth.flows.brains import Brain
from commonwealth.flows.identity import Session
from commonwealth.index import query
from commonwealth.model import Candidate, Note, Span, Verdict
from commonwealth.notes import candidate as candidates
from commonwealth.notes import store
from commonwealth.repo.project import Project, repository_of

_NEIGHBOURS = 12
_WORDS = 8
_STATIC = ("README.md", "README.rst", "README.txt", "README", "AGENTS.md", "CLAUDE.md", "CONTRIBUTING.md", "GEMINI.md")
_STATIC_BYTES = 256 << 10


class Around:
    """A brain, and the code repository of a session, as its candidates are judged against them: read once, on demand.

    `conversation` is where the candidates come from; nobody's, for a fact that was handed in.
    """

    def __init__(
        self, brain: Brain, *, session: Session, project_dir: str | None, conversation: Conversation | None = None
    ) -> None:
        self.brain = brain
        self.session = session
        self.project_dir = project_dir or (brain.project.root if brain.project else None)
        self.conversation = conversation

    @cached_property
    def waiting(self) -> tuple[Note, ...]:
        """What is staged in this clone."""
        return tuple(file.note for file in store.staged(self.brain.root)[0])

    @cached_property
    def static(self) -> tuple[str, ...]:
        """The texts that the code repository states itself."""
        return tuple(static_texts(self.project_dir)) if self.project_dir else ()

    @cached_property
    def project(self) -> Project | None:
        """The code repository that the citations are looked up in."""
        return repository_of(self.project_dir) if self.project_dir else None

    @property
    def commit(self) -> str | None:
        """The last commit that the session made or went to: what it said of the code it still knew there."""
        return self.conversation.commits[-1] if self.conversation and self.conversation.commits else None

    def heard(self, candidate: Candidate) -> tuple[str, ...]:
        """What tools gave out at the lines of the evidence."""
        if self.conversation is None:
            return ()
        span = candidate.evidence
        uses = (event for event in self.conversation.events if isinstance(event, Used) and event.result)
        return tuple(use.result for use in uses if span.first <= (use.result_line or use.line) <= span.last)

    def spoken(self, candidate: Candidate) -> tuple[str, ...]:
        """What was said at the lines of the evidence, whole."""
        if self.conversation is None:
            return ()
        span = candidate.evidence
        said = (event for event in self.conversation.events if isinstance(event, Said))
        return tuple(one.text for one in said if span.first <= one.line <= span.last)


def facts_for(
    brain: Brain,
    candidate: Candidate,
    *,
    session: Session,
    project_dir: str | None,
    conversation: Conversation | None = None,
    around: Around | None = None,
    now: str,
) -> Facts:
    """The facts for judging `candidate`. Hand in the same `around` for all candidates of one run: it reads once.

    Raises as `indexing.ask` does. Notes that the run itself stages meanwhile: hand in a new `around`.
    """
    around = around or Around(brain, session=session, project_dir=project_dir, conversation=conversation)
    cited = verifying.checked(candidate, around.project, now=now, since=around.commit)
    return Facts(
        neighbours=neighbours(brain, candidate, now),
        waiting=around.waiting,
        own=frozenset(note.id for note in around.waiting if _is_of(note, session)),
        static=around.static,
        heard=around.heard(candidate),
        spoken=around.spoken(candidate),
        cited=cited.verified,
        details=cited.details,
        repository=brain.repository,
        branch=candidate.scope,
    )


def _is_of(note: Note, session: Session) -> bool:
    """Whether a staged note comes from this session."""
    origin = candidates.origin_of(note)
    named = origin.session if origin and origin.session else note.provenance.session
    return session.session is not None and named == session.session


def neighbours(brain: Brain, candidate: Candidate, now: str) -> tuple[Note, ...]:
    """The notes of canon that are most like a candidate and hold now. Raises as `indexing.ask` does."""
    return indexing.ask(brain, lambda conn: nearest(conn, candidate, now))


def nearest(conn: sqlite3.Connection, candidate: Candidate, now: str) -> tuple[Note, ...]:
    """As `neighbours`, from an index that is open: one query of few words."""
    asked = query.Query(text=telling(candidate), kind=("memory", "decision"), limit=_NEIGHBOURS, now=now)
    return tuple(hit.note for hit in query.search(conn, asked)[0])


def telling(candidate: Candidate) -> str:
    """The words that a note which says the same is most likely to hold: those of the title, then the longest."""
    title = [word for word in words(candidate.title) if word.stem not in STOP]
    rest = [word for word in words(claim_of(candidate)) if word.stem not in STOP]
    rest.sort(key=lambda word: (-len(word.written), word.written))
    chosen = {word.stem: word.written for word in reversed((*title[:_WORDS], *rest))}
    return " ".join(list(reversed(chosen.values()))[:_WORDS])


def of_note(note: Note, near: tuple[Note, ...]) -> Verdict:
    """The verdict on a note that somebody asked to record, beside those of canon that are most like it."""
    return judge(
        candidate_of(note), Facts(neighbours=near, repository=note.repository, branch=note.branch, explicit=True)
    )


def candidate_of(note: Note) -> Candidate:
    """A note as the gate judges it. It has no lines of a session."""
    return Candidate(
        title=note.title,
        summary=note.summary or "",
        evidence=Span(0, 0),
        body=note.body,
        kind=note.kind,
        type=note.type,
        status=note.status,
        confidence=note.confidence,
        observed_at=note.observed_at,
        files=note.provenance.files,
        components=note.components,
        tags=note.tags,
        quotes=note.provenance.evidence,
        scope=note.branch,
    )


def static_texts(folder: str) -> list[str]:
    """What a repository says of itself in its root: README, AGENTS.md, CLAUDE.md and the like, bounded."""
    found = []
    for name in _STATIC:
        path = os.path.join(folder, name)
        try:
            if os.path.isfile(path) and not os.path.islink(path):
                with open(path, encoding="utf-8", errors="replace") as file:
                    found.append(file.read(_STATIC_BYTES))
        except OSError:
            continue
    return found
