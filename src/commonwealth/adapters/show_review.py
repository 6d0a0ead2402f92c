"""What candidates look like to a person."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from commonwealth import timeline
from commonwealth.adapters import show
from commonwealth.adapters.terminal import Screen
from commonwealth.adapters.wrapping import paragraph
from commonwealth.flows.review import REJECTED
from commonwealth.safetext import one_line

if TYPE_CHECKING:
    from commonwealth.flows.evidence import Words
    from commonwealth.flows.recall import Link
    from commonwealth.flows.requestanswer import Answered
    from commonwealth.flows.requestlog import Request
    from commonwealth.flows.review import Listing, Origin, Shown, Waiting
    from commonwealth.model import Receipt

_GONE = "(no such note)"
_NAMES = 18
_REASON = 300


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
        for place, one in enumerate(page):
            if place:
                screen.line()
            head(screen, one, whole=False)
            if request := _request(one, asked):
                screen.styled(("  " + request, "dim"))
    else:
        screen.table([], [(*_cells(one), _request(one, asked)) for one in page])
    for problem in found.broken:
        screen.remark(f"{problem} (`brain review edit` opens it; left as it is)", "warning")
    count = len(found.candidates)
    if not count:
        what = "was dropped in the last 30 days" if dropped else "waits for review"
        none = "No candidate" if found.broken else "Nothing"
        screen.remark(f"{none} {what}." if not found.waiting else f"None of {found.waiting} fits.")
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
    return _told_of(asked.get(one.note.id.casefold()))


def _told_of(request: Request | None) -> str:
    """In which request a candidate is, or was."""
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


def head(screen: Screen, one: Waiting, *, whole: bool = True, now: str | None = None) -> None:
    """A candidate in a few lines: what it says, its id, and why it waits; not `whole`, its summary in two lines."""
    note, origin = one.note, one.origin
    paragraph(screen, note.title, "bold")
    if note.summary:
        paragraph(screen, note.summary if whole else one_line(note.summary, 2 * screen.columns - 8), indent="  ")
    labels = " · ".join(filter(None, (note.type, note.status, note.confidence, note.repository, note.branch)))
    screen.styled(("  " + note.id, "cyan"), ("  " + labels, "dim"))
    if origin is not None:
        paragraph(screen, _whence(origin, now or timeline.now()), "dim", indent="  ")
        for reason in origin.reasons:
            paragraph(screen, one_line(reason, _REASON), indent="  ", mark="! ")
    for doubt in one.doubts:
        where = f"line {doubt.line}: " if doubt.line else ""
        paragraph(screen, one_line(f"{where}{doubt.cause}", _REASON), indent="  ", mark="! ")


def _whence(origin: Origin, now: str) -> str:
    """Which session a candidate comes from, how long ago, and what became of it."""
    words = [f"from {origin.host or origin.source}"]
    if origin.session:
        words.append(f"session {origin.session}")
    if origin.evidence:
        first, last = origin.evidence.first, origin.evidence.last
        words.append(f"line {first}" if first == last else f"lines {first}–{last}")
    if origin.signal:
        words.append(f"signal {origin.signal}")
    if origin.at and (age := timeline.age(origin.at, now)):
        words.append(f"{age} ago")
    if origin.dropped_at:
        by = f" by {origin.dropped_by}" if origin.dropped_by else ""
        because = f": {origin.dropped_because}" if origin.dropped_because else ""
        words.append(f"dropped {origin.dropped_at}{by}{because}")
    return one_line(", ".join(words), 600)


def shown(screen: Screen, found: Shown, said: Words, request: Request | None = None) -> None:
    """One candidate whole, with what speaks for and against it; `request` is the one that it is in, or was."""
    one = found.candidate
    head(screen, one)
    screen.styled(("  " + one.path, "dim"))
    screen.line()
    for name, value in (("state", _state(found, request)), ("verdict", _verdict(one))):
        screen.styled((f"{name:<{_NAMES}}", "dim"), (value, ""))
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
            screen.styled(("  " + hit.note.id, "cyan"))
            paragraph(screen, hit.note.title, indent="    ")
            if hit.note.summary:
                paragraph(screen, one_line(hit.note.summary, 300), "dim", indent="    ")
    if found.mode == "pull-request":
        screen.remark(f"`brain review pr {one.note.id}` asks the team to take it.", "hint")


def _state(found: Shown, request: Request | None) -> str:
    """What became of a candidate so far."""
    if found.candidate.is_dropped:
        return "turned down; `brain review approve` brings it into canon all the same"
    return _told_of(request) or "waits"


def _verdict(one: Waiting) -> str:
    """What the gate said of a candidate."""
    if one.origin is None:
        return "none: it was not captured from a session"
    words = {"promote": "nothing speaks against it", "review": "a person has to look at it", "drop": "nothing to keep"}
    return f"{one.origin.verdict} ({words[one.origin.verdict]})"


def rejected(screen: Screen, answer: Receipt) -> None:
    """What became of candidates that were turned down."""
    before = answer.items and not answer.dropped and all(item.reason == REJECTED for item in answer.items)
    if answer.state == "refused" or not (answer.dropped or before):
        show.receipt(screen, answer)
        return
    what = f": {answer.reason}" if answer.reason and not before else ""
    screen.styled(("already rejected" if before else "rejected", "dim" if before else "yellow"), (what, ""))
    for item in answer.items:
        gone, because = item.state == "dropped", "" if before or not item.reason else f": {item.reason}"
        screen.styled(("  rejected" if gone or before else f"  {item.state}", "dim"), (f" {item.id}{because}", ""))
    for warning in answer.warnings:
        screen.remark(warning, "warning")
    if answer.next:
        screen.remark(answer.next, "hint")


def _evidence(screen: Screen, one: Waiting, said: Words) -> None:
    """What was said in the session, and where."""
    if said.lines or (one.origin and one.origin.quotes):
        _heading(screen, "Said in the session")
    for line, who, text in said.lines:
        paragraph(screen, f"{line} {who}: {one_line(text, 600)}", indent="  ")
    if one.origin and one.origin.quotes and not said.lines:
        for quote in one.origin.quotes:
            paragraph(screen, one_line(quote, 400), indent="  > ")
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
