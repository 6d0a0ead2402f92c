"""A candidate as a file: a note with one mapping more, which says where it comes from, and which approval strips.

```yaml
candidate: {source: sweep, host: codex, session: 01J…, from: "214", to: "220", signal: correction, verdict: review,
  reasons: [it contradicts 2026-06-02-…], at: 2026-07-01T12:00:00Z, quotes: [no, the port is 5433]}
```

The file may be edited by hand: what does not fit is passed over, never an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from commonwealth import timeline
from commonwealth.model import VERDICTS, Candidate, Extra, Note, Provenance, Span, Verdict

KEY = "candidate"
"""The key of the mapping in a staged file's frontmatter."""

SOURCES = ("sweep", "remember", "curate")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a candidate comes from, and what was said of it since.

    `transcript` and `evidence` are the file and its lines that the draft rests on, `quotes` short passages from there.
    `place` is a hash of when and in which words it was said. `at` is when it was staged. `dropped_at` is when the gate
    or a person (`dropped_by`) turned it down, for `dropped_because`.
    """

    source: str = "sweep"
    host: str | None = None
    session: str | None = None
    transcript: str | None = None
    place: str | None = None
    evidence: Span | None = None
    signal: str | None = None
    verdict: str = "review"
    reasons: tuple[str, ...] = ()
    at: str | None = None
    quotes: tuple[str, ...] = ()
    duplicate_of: str | None = None
    contradicts: tuple[str, ...] = ()
    dropped_at: str | None = None
    dropped_by: str | None = None
    dropped_because: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """Where and by whom a candidate was found: `at` is when it is staged, which also counts as when it was made.

    `provenance` is what the session knows; the candidate's files and quotes are added to it.
    """

    at: str
    host: str | None = None
    session: str | None = None
    transcript: str | None = None
    place: str | None = None
    source: str = "sweep"
    author: str | None = None
    author_ref: str | None = None
    repository: str | None = None
    provenance: Provenance = field(default_factory=Provenance)


def to_note(
    candidate: Candidate,
    verdict: Verdict,
    *,
    id: str,  # noqa: A002 - the schema's own word
    found: Found,
    supersedes: tuple[str, ...] = (),
) -> Note:
    """The note that a judged candidate would become, with its origin in the mapping that `stripped` takes off."""
    known = found.provenance
    decided = "decision" in (candidate.kind, candidate.type)
    return with_origin(
        Note(
            id=id,
            kind="decision" if decided else candidate.kind,
            title=candidate.title,
            body=_body(candidate.body),
            type="decision" if decided and candidate.type == "discovery" else candidate.type,
            summary=candidate.summary or None,
            status="decision" if decided and candidate.status in ("observed", "confirmed") else candidate.status,
            confidence=candidate.confidence,
            created_at=found.at,
            updated_at=found.at,
            observed_at=candidate.observed_at or found.at,
            supersedes=supersedes,
            branch=candidate.scope,
            repository=found.repository or known.repository,
            components=candidate.components,
            tags=candidate.tags,
            author=found.author,
            author_ref=found.author_ref,
            provenance=replace(
                known,
                files=tuple(dict.fromkeys((*known.files, *candidate.files))),
                evidence=known.evidence or candidate.quotes,
            ),
            verified=verdict.verified,
        ),
        _origin(candidate, verdict, found),
    )


def _origin(candidate: Candidate, verdict: Verdict, found: Found) -> Origin:
    return Origin(
        source=found.source,
        host=found.host,
        session=found.session,
        transcript=found.transcript,
        place=found.place,
        evidence=candidate.evidence,
        signal=candidate.signal or None,
        verdict=verdict.verdict,
        reasons=verdict.reasons,
        at=found.at,
        quotes=candidate.quotes,
        duplicate_of=verdict.duplicate_of,
        contradicts=verdict.contradicts,
        dropped_at=found.at if verdict.verdict == "drop" else None,
    )


def _body(text: str) -> str:
    text = text.replace("\r\n", "\n").strip("\n")
    return f"{text}\n" if text.strip() else ""


def with_origin(note: Note, origin: Origin) -> Note:
    """`note` with the mapping that tells its origin, in place of one that it has."""
    return replace(note, extra=MappingProxyType({**note.extra, KEY: to_extra(origin)}))


def stripped(note: Note) -> Note:
    """`note` as it goes into canon: without the mapping that tells its origin."""
    if KEY not in note.extra:
        return note
    return replace(note, extra=MappingProxyType({key: value for key, value in note.extra.items() if key != KEY}))


_DROPS = ("dropped_at", "dropped_by", "dropped_because")


def to_extra(origin: Origin) -> dict[str, Extra]:
    """The mapping as it stands in a file; what is empty is left out."""
    values: dict[str, Extra] = {}
    for name in ("source", "host", "session", "transcript", "place"):
        values[name] = getattr(origin, name) or ""
    if origin.evidence is not None:
        values["from"], values["to"] = str(origin.evidence.first), str(origin.evidence.last)
    values |= {"signal": origin.signal or "", "verdict": origin.verdict, "reasons": list(origin.reasons)}
    values |= {"at": origin.at or "", "quotes": list(origin.quotes), "duplicate_of": origin.duplicate_of or ""}
    values["contradicts"] = list(origin.contradicts)
    values |= {name: getattr(origin, name) or "" for name in _DROPS}
    return {key: value for key, value in values.items() if value not in ("", [])}


def origin_of(note: Note) -> Origin | None:
    """Where a staged note comes from; None where its file does not say, as of a `remember` that waits."""
    said = note.extra.get(KEY)
    if not isinstance(said, dict):
        return None
    source, verdict = _text(said, "source"), _text(said, "verdict")
    return Origin(
        source=source if source in SOURCES else "sweep",
        host=_text(said, "host"),
        session=_text(said, "session"),
        transcript=_text(said, "transcript"),
        place=_text(said, "place"),
        evidence=_span(said),
        signal=_text(said, "signal"),
        verdict=verdict if verdict in VERDICTS else "review",
        reasons=_list(said, "reasons"),
        at=_time(said, "at"),
        quotes=_list(said, "quotes"),
        duplicate_of=_text(said, "duplicate_of"),
        contradicts=_list(said, "contradicts"),
        dropped_at=_time(said, "dropped_at"),
        dropped_by=_text(said, "dropped_by"),
        dropped_because=_text(said, "dropped_because"),
    )


def _text(said: Mapping[str, Extra], name: str) -> str | None:
    value = said.get(name)
    return value if isinstance(value, str) and value.strip() else None


def _list(said: Mapping[str, Extra], name: str) -> tuple[str, ...]:
    value = said.get(name)
    given = value if isinstance(value, list) else [value]
    return tuple(item for item in given if isinstance(item, str) and item.strip())


def _time(said: Mapping[str, Extra], name: str) -> str | None:
    value = _text(said, name)
    try:
        return timeline.canonical(value) if value else None
    except ValueError:
        return None


def _span(said: Mapping[str, Extra]) -> Span | None:
    numbers = [_text(said, name) or "" for name in ("from", "to")]
    if not all(number.isascii() and number.isdecimal() and len(number) < 10 for number in numbers):
        return None
    first, last = map(int, numbers)
    return Span(first, last) if 0 < first <= last else None
