"""Reading a transcript: where a run begins and ends, and files that are none."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonwealth.conversation import Conversation, Event
from commonwealth.hosts import gathering, jsonl, transcript
from commonwealth.hosts.transcript import Mark
from tests.hosts.transcripts import Claude, Codex, line, read, two_turns, write


def texts(conversation: Conversation) -> list[str]:
    return [event.text for event in conversation.events]


# Where a run ends


def test_a_second_run_over_the_same_file_finds_nothing(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", two_turns())
    first = transcript.read("claude", path)
    again = transcript.read("claude", path, since=first.mark)
    assert len(first.conversation.events) == 5
    assert again.conversation.events == ()
    assert again.mark == first.mark
    assert (again.conversation.first, again.conversation.last) == (0, 0)


def test_the_last_turn_is_left_while_the_session_goes_on(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", two_turns())
    first = transcript.read("claude", path, complete=False)
    rest = transcript.read("claude", path, since=first.mark)
    assert texts(first.conversation) == ["Fix the payment", "pytest", "It fails"]
    assert (first.conversation.first, first.conversation.last, first.conversation.complete) == (1, 4, False)
    assert texts(rest.conversation) == ["Now the refund", "Refund it is"]
    assert (rest.conversation.first, rest.conversation.last) == (5, 6)


@pytest.mark.parametrize("client", [Claude, Codex])
def test_a_turn_that_the_host_has_closed_is_not_left(tmp_path: Path, client: type[Claude | Codex]) -> None:
    c = client()
    records = [c.user("Fix the payment"), c.assistant("Fixed"), c.over()]
    path = write(tmp_path / "t.jsonl", records[:2])
    assert read(path, c.host, complete=False).events == ()
    path = write(tmp_path / "t.jsonl", records)
    assert texts(read(path, c.host, complete=False)) == ["Fix the payment", "Fixed"]


def test_a_later_run_knows_what_the_first_events_answer(tmp_path: Path) -> None:
    records = two_turns()
    path = write(tmp_path / "t.jsonl", records[:4])
    first = transcript.read("claude", path)
    assert first.conversation.before == ()
    write(tmp_path / "t.jsonl", records)
    rest = transcript.read("claude", path, since=first.mark).conversation
    assert rest.before == first.conversation.events
    assert [event.line for event in rest.events] == [5, 6]
    assert rest.session == "s-1"
    assert rest.branch == "main"


def test_a_mark_survives_json(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", two_turns())
    mark = transcript.read("claude", path, complete=False).mark
    assert Mark.from_json(json.loads(json.dumps(mark.to_json()))) == mark


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        "x",
        {"offset": -1},
        {"offset": True},
        {"seen": "%"},
        {"seen": "QUJD"},
        {"head": 3},
        {"facts": {"cwd": 1}},
    ],
)
def test_a_mark_that_makes_no_sense_is_one_of_the_beginning(data: object) -> None:
    assert Mark.from_json(data) == Mark()


def test_a_mark_of_a_file_that_was_cut_starts_anew(tmp_path: Path) -> None:
    records = two_turns()
    path = write(tmp_path / "t.jsonl", records)
    mark = transcript.read("claude", path).mark
    c = Claude()
    c.second = 500
    write(tmp_path / "t.jsonl", [*records[:1], c.user("Something new")])
    again = read(path, since=mark)
    assert texts(again) == ["Something new"]
    assert again.skipped["copy"] == 1
    assert again.first == 1


def test_a_mark_of_a_replaced_file_starts_anew(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", two_turns())
    mark = transcript.read("claude", path).mark
    c = Claude()
    c.second = 900
    write(tmp_path / "t.jsonl", [c.user(f"Another session {n} " * 20) for n in range(20)])
    assert len(read(path, since=mark).events) == 20


def test_a_clock_that_stands_still_makes_no_copies(tmp_path: Path) -> None:
    c = Claude()
    records = [
        {**c.user(f"prompt {n}"), "timestamp": "2026-06-02T00:00:01.120Z"} for n in range(gathering.MOST_SEEN + 500)
    ]
    found = transcript.read("claude", write(tmp_path / "t.jsonl", records)).conversation
    assert len(found.events) == len(records)
    assert "copy" not in found.skipped


def test_marks_stay_small_and_old_copies_are_still_known(tmp_path: Path) -> None:
    c = Claude()
    records = [c.user(f"prompt {n}") for n in range(2 * gathering.MOST_SEEN)]
    path = write(tmp_path / "t.jsonl", [*records, *records])
    reading = transcript.read("claude", path)
    assert len(reading.conversation.events) == len(records)
    assert reading.conversation.skipped == {"copy": len(records)}
    assert len(json.dumps(reading.mark.to_json())) < 60_000
    write(tmp_path / "t.jsonl", [*records, *records, *records])
    assert read(path, since=Mark.from_json(reading.mark.to_json())).events == ()


@pytest.fixture(autouse=True)
def limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a test sets of these is undone after it."""
    for name in ("MOST_SEEN", "MOST_TEXT"):
        monkeypatch.setattr(gathering, name, getattr(gathering, name))


_STEPS = st.lists(
    st.sampled_from(["user", "say", "use", "result", "late", "other", "over", "copy", "junk", "note", "glued", "stop"]),
    min_size=1,
    max_size=24,
)


def _record(client: Claude | Codex, step: str, n: int, call: str) -> Mapping[str, object]:
    shell = "Bash" if client.host == "claude" else "shell"
    made: dict[str, Callable[[], Mapping[str, object]]] = {
        "user": lambda: client.user(f"prompt {n}"),
        "say": lambda: client.assistant(f"answer {n}"),
        "use": lambda: client.use(f"t{n}", shell, command=f"run {n}"),
        "result": lambda: client.result(call, "out"),
        "late": lambda: client.result(call, "late"),
        "over": client.over,
        "stop": lambda: client.user("[Request interrupted by user]"),
    }
    return made[step]() if step in made else {"type": "of a newer version", "sessionId": "s-1"}


def _lines(client: Claude | Codex, steps: list[str]) -> list[str]:
    """Lines of a session in which nearly anything may follow anything."""
    made: list[Mapping[str, object]] = [client.meta()] if isinstance(client, Codex) else [client.user("Start")]
    told = [line(made[0])]
    for n, step in enumerate(steps):
        call = f"t{n - 1 if step == 'result' else n // 2}"
        if step == "copy":
            told.append(line(made[n % len(made)]))
            continue
        if step in ("junk", "note"):
            told.append('{"type": "user", "mess\n' if step == "junk" else "// a comment\n")
            continue
        record = _record(client, step, n, call)
        made.append(record)
        if step == "glued":
            told[-1] = told[-1].rstrip("\n")
        told.append(line(client.user(f"glued {n}") if step == "glued" else record))
    return told


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=_STEPS,
    cuts=st.lists(st.integers(1, 25), max_size=6),
    codex=st.booleans(),
    remembered=st.sampled_from([3, 3000]),
)
def test_any_number_of_pieces_gives_what_one_run_gives(
    tmp_path: Path, steps: list[str], cuts: list[int], codex: bool, remembered: int
) -> None:
    gathering.MOST_SEEN = remembered
    client: Claude | Codex = Codex() if codex else Claude()
    lines = _lines(client, steps)
    path = tmp_path / "t.jsonl"
    mark, events, broken = Mark(), list[Event](), list[int]()
    skipped = dict[str, int]()
    for cut in [*sorted(cuts), len(lines)]:
        path.write_text("".join(lines[:cut]), encoding="utf-8")
        reading = transcript.read(client.host, str(path), since=mark, complete=cut == len(lines))
        mark = Mark.from_json(json.loads(json.dumps(reading.mark.to_json())))
        events += reading.conversation.events
        broken += reading.conversation.broken
        for kind, count in reading.conversation.skipped.items():
            skipped[kind] = skipped.get(kind, 0) + count
    whole = read(path, client.host)
    assert tuple(events) == whole.events
    assert tuple(broken) == whole.broken
    assert skipped == dict(whole.skipped)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(0, 3000))
def test_a_file_that_grows_byte_by_byte_loses_nothing(tmp_path: Path, cut: int) -> None:
    records = two_turns()
    path = tmp_path / "t.jsonl"
    write(path, records)
    whole, raw = read(path), path.read_bytes()
    cut = min(cut, len(raw) - 1)
    path.write_bytes(raw[:cut])
    mark, begun = Mark(), tuple[Event, ...]()
    if cut:
        reading = transcript.read("claude", str(path), complete=False)
        mark, begun = reading.mark, reading.conversation.events
    path.write_bytes(raw)
    assert begun + read(path, since=mark).events == whole.events


# Lines


def test_glued_and_torn_and_odd_lines_are_recovered_or_counted(tmp_path: Path) -> None:
    c = Claude()
    first, second, third, fourth = (c.user(text) for text in ("one", "two", "three", "four"))
    glued = line(first).rstrip() + line(second)
    half = line(first)[:60] + line(third)
    odd = b"// a note\n\n[1, 2]\n\xff\xfe{]\n\x00\x00\n"
    (tmp_path / "t.jsonl").write_bytes((glued + half).encode() + odd + line(fourth).encode() + b'{"type":"user","mes')
    found = read(tmp_path / "t.jsonl")
    assert [(event.line, event.text) for event in found.events] == [(1, "one"), (1, "two"), (2, "three"), (8, "four")]
    assert found.broken == (2, 5, 6, 7, 9)
    assert found.skipped == {"comment": 1}


def test_a_last_line_without_its_end_is_taken_where_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    records = two_turns()
    path.write_text("".join(line(record) for record in records).rstrip("\n"), encoding="utf-8")
    reading = transcript.read("claude", str(path))
    assert texts(reading.conversation)[-1] == "Refund it is"
    with path.open("a", encoding="utf-8") as file:
        file.write("\n" + line(Claude().user("Later")))
    later = read(path, since=reading.mark)
    assert [(event.line, event.text) for event in later.events] == [(7, "Later")]


def test_marks_of_order_and_ends_of_windows_lines_do_no_harm(tmp_path: Path) -> None:
    raw = "".join(line(record) for record in two_turns()).replace("\n", "\r\n")
    (tmp_path / "t.jsonl").write_bytes(b"\xef\xbb\xbf" + raw.encode())
    assert len(read(tmp_path / "t.jsonl").events) == 5


def test_text_that_no_file_can_hold_is_replaced(tmp_path: Path) -> None:
    c = Claude()
    raw = line(c.user("ab")).replace("ab", "a\\ud800\\u0000b") + line(c.user("caf_")).replace("_", "\\u00e9")
    (tmp_path / "t.jsonl").write_bytes(raw.encode() + line(c.user("na@ve")).encode().replace(b"@", b"\xef"))
    assert texts(read(tmp_path / "t.jsonl")) == ["a\ufffd\ufffdb", "café", "na\ufffdve"]


def test_a_line_of_endless_depth_or_digits_is_broken_only(tmp_path: Path) -> None:
    raw = '{"type":' * 100_000 + "\n" + '{"a":' + "9" * 10_000 + "}\n" + line(Claude().user("Go on"))
    (tmp_path / "t.jsonl").write_text(raw, encoding="utf-8")
    found = read(tmp_path / "t.jsonl")
    assert texts(found) == ["Go on"]
    assert found.broken == (1, 2)


def test_a_line_that_is_too_long_is_counted_and_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "LONGEST", 1000)
    c = Claude()
    records = [c.user("one"), c.user("long " * 1000), c.user("x" * 1400), c.user("two")]
    found = read(write(tmp_path / "t.jsonl", records))
    assert [(event.line, event.text) for event in found.events] == [(1, "one"), (4, "two")]
    assert found.broken == (2, 3)


def test_records_of_a_newer_version_are_counted_by_kind(tmp_path: Path) -> None:
    c = Claude()
    records = [
        c.user("one"),
        c.record("hologram"),
        c.record("hologram"),
        {"sessionId": "s", "type": 7},
        c.record("a\n\x1b[1m" * 99),
    ]
    skipped = read(write(tmp_path / "t.jsonl", records)).skipped
    assert skipped["hologram"] == 2
    assert skipped["without a type"] == 1
    assert all(kind.isprintable() and len(kind) <= 60 for kind in skipped)


_STRANGE: st.SearchStrategy[object] = st.sampled_from(
    [None, True, -1, 10**40, 1.5, "", "x", "\ud800", [], {}, [None], [[]], {"type": "text"}]
)


def _mutated(value: object, choose: Callable[[int], int], strange: Callable[[], object]) -> object:
    """`value` with one part of it replaced by something that no host would write there."""
    if isinstance(value, dict) and value and choose(4):
        key = list(value)[choose(len(value) - 1)]
        return {**value, key: _mutated(value[key], choose, strange)}
    if isinstance(value, list) and value and choose(4):
        at = choose(len(value) - 1)
        return [*value[:at], _mutated(value[at], choose, strange), *value[at + 1 :]]
    return strange()


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), codex=st.booleans())
def test_whatever_a_record_looks_like_the_others_are_read(tmp_path: Path, data: st.DataObject, codex: bool) -> None:
    client: Claude | Codex = Codex() if codex else Claude()
    question = [{"id": "q", "question": "Which?", "options": [{"label": "a"}]}]
    ask = "request_user_input" if codex else "AskUserQuestion"
    records = [
        client.user("Go"),
        client.use("t1", ask, questions=question),
        client.result("t1", '{"answers": {"q": {"answers": ["a"]}}}'),
        client.use("t2", "shell" if codex else "Edit", command=["bash", "-lc", "ls"], edits=[{"new_string": "x"}]),
        client.result("t2", [{"type": "text", "text": "out"}]),
        client.over(),
    ]
    if isinstance(client, Claude):
        records.append(client.record("attachment", attachment={"type": "queued_command", "prompt": "x"}))
        records.append(client.result("t3", "x", told={"questions": question, "answers": {"Which?": "a"}}))
    at = data.draw(st.integers(0, len(records) - 1))
    odd = _mutated(records[at], lambda most: data.draw(st.integers(0, most)), lambda: data.draw(_STRANGE))
    last = client.user("The last word")
    path = tmp_path / "t.jsonl"
    told = [json.dumps(record) for record in (*records[:at], odd, *records[at + 1 :], last)]
    path.write_text("\n".join(told), encoding="utf-8")
    assert read(path, client.host).events[-1].text == "The last word"
