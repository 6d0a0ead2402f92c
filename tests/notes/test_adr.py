"""Decision records of other tools, and what they say about each other."""

from __future__ import annotations

import pytest

from commonwealth.model import Note
from commonwealth.notes import adr, foreign
from commonwealth.notes.foreign import Origin


def nygard(number: int, title: str, status: str, date: str = "2020-01-01", context: str = "Why.") -> tuple[str, str]:
    name = f"{number:04}-{title.lower().replace(' ', '-')}.md"
    sections = f"## Status\n\n{status}\n\n## Context\n\n{context}\n\n## Decision\n\nSo.\n"
    return name, f"# {number}. {title}\n\nDate: {date}\n\n{sections}"


def linked(*sources: tuple[str, str]) -> dict[str, Note]:
    records = [adr.record(foreign.read(text, path), origin(path)) for path, text in sources]
    return {note.title: note for note in adr.link(records)}


def origin(path: str, *, told: bool = False) -> Origin:
    return Origin(foreign.short_id("adr", path, None), None, "2026-07-01T10:00:00Z", told)


def one(text: str, path: str = "0007-use-kafka.md") -> Note:
    return next(iter(linked((path, text)).values()))


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("Accepted", "decision"),
        ("**Accepted** on 2020-01-01", "decision"),
        ("✅ approved", "decision"),
        ("Proposed", "hypothesis"),
        ("Pending", "hypothesis"),
        ("on hold", "hypothesis"),
        ("Rejected", "retracted"),
        ("Deprecated", "superseded"),
        ("Superseded by something that is not here", "superseded"),
        ("Partly superseded", "decision"),
        ("", "decision"),
    ],
)
def test_the_status_becomes_one_of_ours_and_stays_as_written(said: str, status: str) -> None:
    path, text = nygard(7, "Use Kafka", said)
    note = one(text, path)
    assert note.status == status
    assert note.extra.get("adr_status", "") == said
    assert (note.retract_reason is not None) == (status == "retracted")


@pytest.mark.parametrize(
    ("path", "heading", "number", "title"),
    [
        ("0010-use-kafka.md", "# 10. Use Kafka", "0010", "Use Kafka"),
        ("adr-7-use-kafka.md", "# ADR-0007: Use Kafka", "7", "Use Kafka"),
        ("ADR_012.md", "# ADR 12 – Use Kafka", "012", "Use Kafka"),
        ("use-kafka.md", "# 3. Use Kafka", "3", "Use Kafka"),
        ("0010-use-kafka.md", "# Use Kafka 3.5", "0010", "Use Kafka 3.5"),
        ("0010-use-kafka.md", "no heading", "0010", "use kafka"),
        ("0011-3-tiers.md", "# 3-tier layout", "0011", "3-tier layout"),
        ("use-kafka.md", "# Use Kafka", None, "Use Kafka"),
    ],
)
def test_number_and_title_are_told_apart(path: str, heading: str, number: str | None, title: str) -> None:
    note = one(f"{heading}\n\n## Decision\n\nSo.\n", path)
    assert (note.number, note.title) == (number, title)


def test_a_record_with_frontmatter_says_status_date_and_deciders_there() -> None:
    note = one(
        "---\nstatus: accepted\ndate: 2023-04-05\ndecision-makers: Alice, Bob\nconsulted: [Chen]\n---\n# Use Kafka\n"
    )
    assert (note.status, note.created_at) == ("decision", "2023-04-05T00:00:00Z")
    assert note.valid_from == note.created_at
    assert note.deciders == ("Alice", "Bob")
    assert dict(note.extra) == {"adr_status": "accepted", "consulted": ["Chen"]}


def test_a_status_line_counts_above_the_sections_only() -> None:
    assert one("# Use Kafka\n\n* Status: proposed\n\n## Decision\n\nSo.\n").status == "hypothesis"
    assert one("# Use Kafka\n\n## Options\n\nStatus: proposed\n").status == "decision"
    assert one("# Use Kafka\n\n```\n## Status\n\nproposed\n```\n").status == "decision"


@pytest.mark.parametrize(
    "said",
    [
        "Superseded by [2. Use Pulsar](0002-use-pulsar.md)",
        "superceded by [x](./0002-use-pulsar.md#decision)",
        "Accepted\n\nReplaced by <b>[x](https://example.com/docs/adr/0002-use-pulsar.md)</b>",
        "superseded by ADR-0002",
        "Superseded by [[0002-use-pulsar]]",
    ],
)
def test_a_superseded_record_and_its_replacement_point_to_each_other(said: str) -> None:
    notes = linked(nygard(1, "Use Kafka", said), nygard(2, "Use Pulsar", "Accepted", "2021-02-03"))
    old, new = notes["Use Kafka"], notes["Use Pulsar"]
    assert old.status == "superseded"
    assert old.superseded_by == new.id
    assert old.valid_until == old.superseded_at == new.valid_from == "2021-02-03T00:00:00Z"
    assert new.supersedes == (old.id,)
    assert new.status == "decision"


def test_the_replacement_alone_closes_the_old_record() -> None:
    notes = linked(
        nygard(1, "Use Kafka", "Accepted"),
        nygard(2, "Use Pulsar", "Accepted\n\nSupersedes [1. Use Kafka](0001-use-kafka.md)", "2021-02-03"),
    )
    assert notes["Use Kafka"].superseded_by == notes["Use Pulsar"].id


@pytest.mark.parametrize(
    ("said_old", "said_new", "context"),
    [
        ("Partly superseded", "Pending", "This ADR in part supersedes [0001](0001-use-kafka.md)."),
        ("Accepted\n\nAmended by [x](0002-use-pulsar.md)", "Accepted", "Why."),
        ("Accepted", "Accepted\n\nAmends [x](0001-use-kafka.md)", "Why."),
        ("Partially superseded by [x](0002-use-pulsar.md)", "Accepted", "Why."),
        ("Accepted", "Accepted", "It supersedes the broker of [1](0001-use-kafka.md)."),
    ],
)
def test_both_stay_true_where_one_only_touches_the_other(said_old: str, said_new: str, context: str) -> None:
    notes = linked(nygard(1, "Use Kafka", said_old), nygard(2, "Use Pulsar", said_new, context=context))
    old, new = notes["Use Kafka"], notes["Use Pulsar"]
    assert old.status == "decision"
    assert (old.superseded_by, old.valid_until, new.supersedes) == (None, None, ())
    assert new.id in old.relates or old.id in new.relates


def test_circles_loose_ends_and_second_replacements_do_no_harm() -> None:
    notes = linked(
        nygard(1, "A", "Superseded by [x](0002-b.md)"),
        nygard(2, "B", "Superseded by [x](0001-a.md)"),
        nygard(3, "C", "Superseded by [x](0003-c.md)"),
        nygard(4, "D", "Superseded by [x](0099-gone.md)"),
        nygard(5, "E", "Superseded by [x](0006-f.md) and by [y](0004-d.md)"),
        nygard(6, "F", "Accepted"),
    )
    assert (notes["A"].superseded_by is None) != (notes["B"].superseded_by is None)
    assert notes["C"].superseded_by is None
    assert notes["D"].status == "superseded"
    assert notes["E"].superseded_by == notes["F"].id
    assert notes["D"].id in notes["E"].relates


def test_templates_and_tables_of_contents_are_no_decisions() -> None:
    def why(path: str, text: str) -> str | None:
        return adr.unfit(foreign.read(text, path))

    assert why("adr-template.md", "# x\n") == "a template, not a decision"
    assert why("0000-x.md", "# {short title}\n") == "a template, not a decision"
    assert why("index.md", "# Decisions\n") == "a table of contents, not a decision"
    assert why("README.md", "# Decisions\n") == "a table of contents, not a decision"
    assert why("0001-x.md", "# Use templates\n") is None


def test_a_record_without_a_date_holds_since_its_first_commit_if_that_is_known() -> None:
    source = foreign.read("# 1. X\n\n## Decision\n\nSo.\n", "0001-x.md")
    for told, since in ((False, None), (True, "2026-07-01T10:00:00Z")):
        note = adr.record(source, origin("0001-x.md", told=told)).note
        assert (note.created_at, note.valid_from) == ("2026-07-01T10:00:00Z", since)


@pytest.mark.parametrize(
    ("body", "summary"),
    [
        ("## Context\n\nWhy.\n\n## Decision\n\nWe use [Kafka](https://x.test).\n\nMore.\n", "We use Kafka."),
        ("## Context\n\nWhich?\n\n## Decision Drivers\n\n* price\n\n## Decision Outcome\n\n"  # noqa: ISC004
         "Chosen option: \"Kafka\", because\n\n* it is **fast**\n* it is known.\n",
         'Chosen option: "Kafka", because it is fast; it is known'),
        ("## Decision\n\n- Use Kafka\n- Keep Rabbit\n", "Use Kafka; Keep Rabbit"),
        ("## Decision\n\n### In short\n\nWe use Kafka.\n", "We use Kafka."),
        ("## Context\n\nWe are slow.\n\n## Decision\n\n```\nx\n```\n", "We are slow."),
        ("Date: 2020-01-01\n\nWe use Kafka.\n\n## Status\n\nAccepted\n", "We use Kafka."),
        ("## Status\n\nAccepted\n", "Accepted"),
        ("", None),
    ],
)  # fmt: skip
def test_the_summary_says_what_was_decided(body: str, summary: str | None) -> None:
    note = one(f"# 7. Use Kafka\n\n{body}")
    assert note.summary == summary
    assert note.body == f"# 7. Use Kafka\n\n{body}"


def test_records_are_told_from_what_lies_beside_them() -> None:
    def among(*sources: tuple[str, str]) -> list[str]:
        return sorted(adr.records_among([foreign.read(text, path) for path, text in sources]))

    real = nygard(1, "A", "Accepted")
    bare = ("0002-b.md", "# 2. B\n\ntext\n")
    stray = ("guide.md", "# Guide\n\n## Context\n")
    named = ("use-kafka.md", "# Use Kafka\n\n## Context\n\nx\n\n## Decision\n\nx\n")
    assert among(real, stray, ("notes.md", "text\n"), ("x.md", "text\n")) == ["0001-a.md"]
    assert among(real, named, stray) == ["0001-a.md", "use-kafka.md"]
    assert among(real, nygard(3, "C", "Accepted"), bare) == ["0001-a.md", "0002-b.md", "0003-c.md"]
    assert among(real, bare) == []
    assert among(named) == []
    assert among(("1-on-1 notes.md", "# One\n\n## Context\n")) == []
    assert among(real, ("adr-template.md", "# {title}\n")) == ["0001-a.md", "adr-template.md"]
