"""What candidates look like to a person."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from commonwealth import timeline
from commonwealth.adapters import show
from commonwealth.adapters.terminal import Screen
from commonwealth.safetext import one_line

if TYPE_CHECKING:
    from commonwealth.flows.evidence import Words
    from commonwealth.flows.recall import Link
    from commonwealth.flows.requestanswer import Answered
    from commonwealth.flows.requestlog import Request
    from commonwealth.flows.review import Listing, Origin, Shown, Waiting

_GONE = "(no such note)"


def listing(
    screen: Screen,
    found: Listing,
    page: Sequence[Waiting],
    number: int,
    pages: int,
    *,
    dropped: bool,
    asked: Mapping[str, Request],
) -> None:
    """A page of the queue: blocks on a terminal; id, verdict, type, status, title, summary, reasons and request in a
    pipe."""
    if screen.is_terminal:
        for one in page:
            head(screen, one)
            if request := _request(one, asked):
                screen.styled(("  " + request, "dim"))
    else:
        screen.table([], [(*_cells(one), _request(one, asked)) for one in page])
    for problem in found.broken:
        screen.remark(f"{problem} (not a candidate; left as it is)", "warning")
    count = len(found.candidates)
    if not count:
        what = "was dropped in the last 30 days" if dropped else "waits for review"
        screen.remark(f"Nothing {what}." if not found.waiting else f"None of {found.waiting} fits.")
    elif pages > 1:
        screen.remark(f"Page {number} of {pages}, {count} in all; `--page` and `--limit` show others.")
    elif not dropped and screen.is_terminal:
        screen.remark("`brain review` walks through them; `brain review show ID` tells more of one.", "hint")


def _cells(one: Waiting) -> tuple[str, ...]:
    note, origin = one.note, one.origin
    reasons = "; ".join(origin.reasons) if origin else ""
    verdict = origin.verdict if origin else "review"
    return note.id, verdict, note.type, note.status, note.title, note.summary or "", reasons


def _request(one: Waiting, asked: Mapping[str, Request]) -> str:
    """In which request a candidate is, or was."""
    request = asked.get(one.note.id.casefold())
    if request is None:
        return ""
    if not request.is_open:
        return f"request closed: {one_line(request.place)}"
    more = "" if request.opened or request.manual else " (not open yet)"
    return f"in the request {one_line(request.place)}{more}{', changed by others' if request.changed else ''}"


def proposed(screen: Screen, answered: Answered) -> None:
    """The text of each request that a person has to send, or that would be sent."""
    for one in answered.requests:
        if one.done not in ("manual", "planned"):
            continue
        _heading(screen, one.ask.title)
        screen.line(f"from {one_line(one.request.branch)} into {one_line(one.request.base)}")
        for path in one.paths:
            screen.line(f"  {one_line(path)}")
        screen.line()
        screen.line(one.ask.body.rstrip("\n"))


def head(screen: Screen, one: Waiting, *, now: str | None = None) -> None:
    """A candidate in a few lines: what it says, its id, and why it waits."""
    note, origin = one.note, one.origin
    screen.styled((one_line(note.title), "bold"))
    if note.summary:
        screen.styled(("  " + one_line(note.summary, 2 * screen.columns), ""))
    labels = " · ".join(filter(None, (note.type, note.status, note.confidence, note.repository, note.branch)))
    screen.styled(("  " + note.id, "cyan"), ("  " + labels, "dim"))
    if origin is not None:
        screen.styled(("  " + _whence(origin, now or timeline.now()), "dim"))
        for reason in origin.reasons:
            screen.styled(("  ! ", "yellow"), (one_line(reason, 300), ""))
    for doubt in one.doubts:
        screen.styled(("  ! ", "yellow"), (one_line(str(doubt), 300), ""))


def _whence(origin: Origin, now: str) -> str:
    """Which session a candidate comes from, how long ago, and what became of it."""
    words = [f"from {origin.host or origin.source}"]
    if origin.session:
        words.append(f"session {origin.session}")
    if origin.evidence:
        words.append(f"lines {origin.evidence.first}–{origin.evidence.last}")
    if origin.signal:
        words.append(f"signal {origin.signal}")
    if origin.at and (age := timeline.age(origin.at, now)):
        words.append(f"{age} ago")
    if origin.dropped_at:
        by = f" by {origin.dropped_by}" if origin.dropped_by else ""
        because = f": {origin.dropped_because}" if origin.dropped_because else ""
        words.append(f"dropped {origin.dropped_at}{by}{because}")
    return one_line(", ".join(words), 600)


def shown(screen: Screen, found: Shown, said: Words) -> None:
    """One candidate whole, with what speaks for and against it."""
    one = found.candidate
    head(screen, one)
    screen.styled(("  " + one.path, "dim"))
    screen.line()
    show.facts_of(screen, one.note)
    if one.note.body.strip():
        screen.line("\n" + one.note.body.strip("\n"))
    _evidence(screen, one, said)
    _links(screen, "Would supersede", found.supersedes)
    _links(screen, "Contradicts", found.contradicts)
    _links(screen, "Says the same as", [found.duplicate_of] if found.duplicate_of else [])
    if found.neighbours:
        _heading(screen, "The nearest notes of canon")
        for hit in found.neighbours:
            screen.styled(("  " + hit.note.id, "cyan"), (f"  {one_line(hit.note.title, 160)}", ""))
            if hit.note.summary:
                screen.styled(("    " + one_line(hit.note.summary, 200), "dim"))
    if found.mode == "pull-request":
        screen.remark(f"`brain review pr {one.note.id}` asks the team to take it.", "hint")


def _evidence(screen: Screen, one: Waiting, said: Words) -> None:
    """What was said in the session, and where."""
    if said.lines or (one.origin and one.origin.quotes):
        _heading(screen, "Said in the session")
    for line, who, text in said.lines:
        screen.styled((f"  {line} {who}: ", "dim"), (one_line(text, 600), ""))
    if one.origin and one.origin.quotes and not said.lines:
        for quote in one.origin.quotes:
            screen.line(f"  > {one_line(quote, 400)}")
    if said.missing:
        screen.styled((f"  ({said.missing})", "dim"))
    if one.origin and one.origin.transcript and one.origin.evidence:
        screen.line(f"  {one_line(one.origin.transcript, 400)}:{one.origin.evidence.first}")


def _heading(screen: Screen, text: str) -> None:
    screen.line()
    screen.styled((text, "bold"))


def _links(screen: Screen, heading: str, links: Iterable[Link]) -> None:
    links = list(links)
    if links:
        _heading(screen, heading)
    for link in links:
        screen.styled(("  " + link.id, "cyan"), (f"  {one_line(link.title or _GONE, 160)}", ""))
