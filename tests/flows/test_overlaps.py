"""Whether two entries of work records touch the same: the laws, and the cases that people meet."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonwealth.flows.overlaps import meet, why

# Few letters, so that entries meet often.
_NAMES = st.sampled_from(("a", "b", "ab", "abc", "*", "?", "a*", "*b", "a?c", "*a*b", "**", "?*", "a*b*c"))
_PATTERNS = st.lists(_NAMES, min_size=1, max_size=4).map(tuple)
_PATHS = st.lists(st.sampled_from(("a", "b", "ab", "abc", "aab", "cab", "c")), min_size=1, max_size=5).map(tuple)
_ENTRIES = _PATTERNS.map("/".join)


def names(pattern: tuple[str, ...], path: tuple[str, ...]) -> bool:
    """A second opinion by a regular expression: whether a pattern names a path or a folder above it."""
    made = ""
    for part in pattern:
        one = re.escape(part).replace(r"\*", "[^/]*").replace(r"\?", "[^/]")
        made += "(?:[^/]+/)*" if part == "**" else f"(?:{one})/"
    return re.match(made, "/".join(path) + "/") is not None


@given(_PATTERNS, _PATTERNS, _PATHS)
def test_two_patterns_that_name_one_path_meet(
    one: tuple[str, ...], other: tuple[str, ...], path: tuple[str, ...]
) -> None:
    if names(one, path) and names(other, path):
        assert meet(one, other)


@given(_PATTERNS, _PATHS)
def test_a_pattern_and_a_path_meet_where_something_at_or_below_the_path_is_named(
    pattern: tuple[str, ...], path: tuple[str, ...]
) -> None:
    filled = tuple(part.replace("*", "b").replace("?", "b") or "b" for part in pattern)
    below = any(names(pattern, (*path, *more)) for more in [filled[start:] for start in range(len(filled) + 1)])
    assert not names(pattern, path) or meet(pattern, path)
    assert not below or meet(pattern, path)
    if "**" not in pattern and len(pattern) <= len(path):
        assert meet(pattern, path) == names(pattern, path)


@given(st.lists(_ENTRIES, max_size=3), st.lists(_ENTRIES, max_size=3), st.lists(_NAMES), st.lists(_NAMES))
def test_an_overlap_is_one_whichever_side_is_asked(
    files: list[str], others: list[str], components: list[str], other_components: list[str]
) -> None:
    one = why(files, components, others, other_components)
    other = why(others, other_components, files, components)
    assert bool(one) == bool(other)


@given(_ENTRIES)
def test_everything_overlaps_with_itself(entry: str) -> None:
    assert why((entry,), (), (entry,), ())
    assert why((), (entry,), (), (entry.upper(),))


@pytest.mark.parametrize(
    ("entry", "other", "reason"),
    [
        ("src/a.py", "src/a.py", "file src/a.py"),
        ("src/a.py", "./src//a.py", "file src/a.py"),
        ("src/a.py", "src\\a.py", "file src/a.py"),
        ("src/Pay.ts", "SRC/pay.ts", "file src/Pay.ts"),
        ("src/a.py", "src", "folder src"),
        ("src/payments/", "src/payments/deep/a.ts", "folder src/payments"),
        ("src/**", "src/a.py", "glob src/**"),
        ("src/a.py", "src/**", "glob src/**"),
        ("src/**", "src", "glob src/**"),
        ("src/**/x.ts", "src/x.ts", "glob src/**/x.ts"),
        ("src/**/x.ts", "src/a/b/x.ts", "glob src/**/x.ts"),
        ("src/**/x.ts", "src/a", "glob src/**/x.ts"),
        ("*.py", "deep/down/a.py", "glob *.py"),
        ("src/pay*/x.ts", "src/payments/x.ts", "glob src/pay*/x.ts"),
        ("src/pay*", "src/payments/deep/x.ts", "glob src/pay*"),
        ("src/*.ts", "src/pay*", "glob src/*.ts"),
        ("**/test_*.py", "tests/**", "glob **/test_*.py"),
        ("**", "anything/at/all", "glob **"),
        ("app/[id]/page.tsx", "app/[id]/page.tsx", "file app/[id]/page.tsx"),
        ("app/[id]/*.tsx", "app/[id]/page.tsx", "glob app/[id]/*.tsx"),
        ("日本/漢字.md", "日本", "folder 日本"),
        ("src/a.py", "src/a.pyc", None),
        ("src/pay", "src/payments", None),
        ("src/*.ts", "src/deep/a.ts", None),
        ("src/pay*/x.ts", "src/payments/y.ts", None),
        ("src/*.ts", "src/*.py", None),
        ("*.py", "src/a.ts", None),
        ("*.py", "*.ts", None),
        ("*.py", "src/deep", "glob *.py"),
        ("**/test_*.py", "src/app.ts", None),
        ("src/v1.2", "src/v1.2/**", "glob src/v1.2/**"),
        (".github", ".github/workflows/*.yml", "glob .github/workflows/*.yml"),
        ("lib/**", "src/**", None),
        ("app/[id]/page.tsx", "app/i/page.tsx", None),
        ("", "src/a.py", None),
    ],
)  # fmt: skip
def test_what_overlaps_says_why(entry: str, other: str, reason: str | None) -> None:
    assert why((entry,), (), (other,), ()) == ((reason,) if reason else ())
    assert bool(why((other,), (), (entry,), ())) == (reason is not None)


def test_components_overlap_whatever_their_case() -> None:
    assert why((), ("Payments", "billing"), (), ("payments",)) == ("component Payments",)


def test_a_hostile_pattern_costs_no_more_than_its_length() -> None:
    stars = "*a" * 190 + "b"
    calls = ["/".join(["**", "a"] * 100), stars, "**/" * 130 + "b", "?*" * 190, "a" * 100_000, "*" * 399]
    for one in calls:
        for other in (*calls, "a" * 390, "a/" * 190 + "c"):
            assert bool(why((one,), (), (other,), ())) == bool(why((other,), (), (one,), ()))
    assert not why((stars,), (), ("a" * 390 + ".ts",), ())


def test_of_many_reasons_a_few_are_told() -> None:
    files = [f"src/{number}.py" for number in range(100)]
    assert len(why(files, (), ("src",), ())) == 1
    assert len(why(files, (), files, ())) == 5
