"""Finding secrets in text, at three doors: where a note is drafted, committed and pushed.

Nothing here keeps, prints or returns a value: a finding says which rule saw it and where.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator

from commonwealth.curate import secret_contexts, secret_manifests, secret_prose, secret_providers
from commonwealth.curate.randomness import compiled, decoded, entropy, is_blank, is_name, is_placeholder, is_random
from commonwealth.curate.secret_contexts import Span
from commonwealth.curate.secret_rules import FRAMED, NAMED, SHAPED, Rule
from commonwealth.model import Finding


def scan(text: str, where: str, *, sign: Callable[[str], str] | None = None) -> list[Finding]:
    """The secrets in `text`, each once a rule and line, in the order of the text.

    `where` names the field or file for the reader; of a text with several lines the finding's `where`
    adds the line ("body, line 3"). Also finds a value that is base64-wrapped once, or split over lines.
    `sign` makes the fingerprint of a value.
    """
    spans = _spans(text)
    if not spans:
        return []
    place = mask(where)
    several = "\n" in text
    findings, line, done = [], 1, 0
    for span in spans:
        line, done = line + text.count("\n", done, span.start), span.start
        name = sign(text[span.start : span.end]) if sign else ""
        findings.append(Finding(span.rule, f"{place}, line {line}" if several else place, name))
    return list(dict.fromkeys(findings))


def mask(text: str) -> str:
    """`text` with every secret that `scan` would find replaced by `[secret]`, for logs and messages."""
    shown, done = [], 0
    for span in _spans(text):
        shown += [text[done : span.start], "[secret]"]
        done = span.end
    return "".join((*shown, text[done:])) if shown else text


def _spans(text: str) -> list[Span]:
    """What is secret in `text`, first to last, without overlaps: the more specific rule wins."""
    kept: list[Span] = []
    starts: list[int] = []
    for span in (*_plain(text), *_split(text), *_wrapped(text)):
        at = bisect_right(starts, span.start)
        before, after = kept[at - 1 : at], kept[at : at + 1]
        if not (before and before[0].end > span.start) and not (after and after[0].start < span.end):
            kept.insert(at, span)
            starts.insert(at, span.start)
    return kept


def _plain(text: str) -> Iterator[Span]:
    lower = secret_contexts.lowered(text)
    yield from _framed(text)
    if runs := _runs(text):
        yield from _by_shape(text, "\n".join(runs))
        yield from _by_name(text, lower)
    yield from secret_providers.beside_name(text, lower)
    yield from secret_contexts.framed(text, lower)
    yield from secret_manifests.of_cluster(text, lower)
    yield from secret_contexts.assigned(text, lower)
    yield from secret_prose.told(text, lower)


_RUN = r"[^\s\"'`<>(),;]{16,}"


def _runs(text: str) -> list[str]:
    """The stretches of `text` in which a provider's token can lie: long, and no plain word.

    They are a small part of a note, so that searching them for every needle costs little.
    """
    long = " ".join([word for word in text.split() if len(word) >= 16])
    return [run for run in compiled(_RUN).findall(long) if not (run.isalpha() and run.islower())]


def _framed(text: str) -> Iterator[Span]:
    for rule in FRAMED:
        if any(needle in text for needle in rule.needles):
            yield from _matches(rule, text, _is_shaped)


def _by_shape(text: str, runs: str) -> Iterator[Span]:
    """Tokens that are known for what they are. `runs` are the lines of `_runs`."""
    for rule in SHAPED:
        for needle in rule.needles:
            if needle in runs:
                if compiled(rule.pattern).search(runs):
                    yield from _matches(rule, text, _is_shaped)
                break


def _by_name(text: str, lower: str) -> Iterator[Span]:
    """Tokens that only the provider's name beside them gives away."""
    for rule in NAMED:
        for needle in rule.needles:
            if needle in lower:
                yield from _matches(rule, text, _is_drawn)
                break


def _matches(rule: Rule, text: str, test: Callable[[str], bool]) -> Iterator[Span]:
    pattern = compiled(rule.pattern)
    group = min(pattern.groups, 1)
    for match in pattern.finditer(text):
        if test(match[group]):
            yield Span(rule.name, *match.span(group))


def _is_shaped(value: str) -> bool:
    """Whether a value of a provider's exact shape is one: however it looks, unless it is clearly a stand-in."""
    return not is_blank(value) and not is_name(value)


def _is_drawn(value: str) -> bool:
    """Whether a value beside a provider's name is drawn at random; base 32 has long runs of letters."""
    if is_placeholder(value[:80]) or entropy(value[-32:]) < 2.5:
        return False
    return is_random(value) or (value.isalnum() and not value.isalpha() and entropy(value) >= 3.3)


# values that are split over lines, or wrapped in base64 once

_JOINTS = (
    r"[\"'`][ \t]*(?:\+|\.|\\|&)?[ \t]*(?:\r?\n)?[ \t]*(?:\+|\.|&)?[ \t]*[\"'`]"  # "abc" + "def"
    r"|\\\r?\n[ \t]*"  # abc\ and the next line
    r"|\n(?:(?<=[\w/+=-]{6}\n)|(?<=[\w/+=-]{6}\r\n))[ \t>|]*(?=[\w/+=-]{6})"
)
_DIGIT = r"[0-9]"
_BASE64 = r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,}(?:\r?\n[ \t]*[A-Za-z0-9+/_-]{4,})*={0,2}"
_BASE64_LIMIT = 16_384  # characters of one wrapped value


def _split(text: str) -> Iterator[Span]:
    """Tokens that appear once line continuations and borders between literals are taken out."""
    starts, shifts, pieces, done = [0], [0], [], 0
    for joint in compiled(_JOINTS).finditer(text):
        pieces.append(text[done : joint.start()])
        done = joint.end()
        shifts.append(shifts[-1] + done - joint.start())
        starts.append(done - shifts[-1])
    if not pieces:
        return
    joined = "".join((*pieces, text[done:]))
    known = frozenset(_runs(text))
    runs = (run for run in _runs(joined) if run not in known)
    unworded = "\n".join(run for run in runs if compiled(_DIGIT).search(run) or not run[1:].islower())
    for span in _by_shape(joined, unworded):
        start = span.start + shifts[bisect_right(starts, span.start) - 1]
        end = span.end + shifts[bisect_right(starts, span.end - 1) - 1]
        if end - start > span.end - span.start:
            yield Span(span.rule, start, end)


def _wrapped(text: str) -> Iterator[Span]:
    for match in compiled(_BASE64).finditer(text):
        if len(match[0]) <= _BASE64_LIMIT and (inner := decoded(match[0])):
            for span in _plain(inner):
                yield Span(f"{span.rule} in base64", *match.span())
                break
