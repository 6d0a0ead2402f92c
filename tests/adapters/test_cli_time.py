"""Times as people type them: one table of spellings through the flows and the command line; and what was said then."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from commonwealth.errors import Usage
from commonwealth.flows import brains, recall
from commonwealth.flows.identity import Session
from commonwealth.flows.remember import Draft, remember
from commonwealth.index.query import Query

Done = subprocess.CompletedProcess[bytes]
Run = Callable[..., Done]

READ = {
    "2026-06-02": "2026-06-02T00:00:00Z",
    "2026-06-02T12:20": "2026-06-02T12:20:00Z",
    "2026-06-02 12:20:30": "2026-06-02T12:20:30Z",
    "2026-06-02T12:20:00+05:30": "2026-06-02T06:50:00Z",
    "2026-06-02T12:20:00+14:00": "2026-06-01T22:20:00Z",
    "2026-06-02T12:20:00-12": "2026-06-03T00:20:00Z",
    "2016-12-31T23:59:60Z": "2017-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z": "9999-12-31T23:59:59Z",
}
REFUSED = [
    "2026-06-02T12:20:00 Europe/Paris",
    "2026-06-02T12:20:00 CET",
    "2026-06-02T12:20:00+15:00",
    "2026-06-02T12:20:61Z",
    "9999-12-31T23:59:60Z",
    "10000-01-01",
    "0000-01-01",
    "2026-W23-2",
    "2026-153",
    "2026-06-02T24:00:00Z",
    "2026-02-29",
    "٢٠٢٦-٠٦-٠٢",
    "2026-06-0\uff12",
    "yesterday",
    "2026-06-02\x1b[31m",
    "2026-06-02T12:20:30." + "9" * 5_000,
    " ",
]
FILTERS = [f"{what}_{side}" for what in ("created", "observed", "updated") for side in ("after", "before")]
FIELDS = ("observed_at", "valid_from", "valid_until")


def test_what_is_a_time_is_one_in_every_field(root: Path) -> None:
    brain = brains.open_brain(root)
    for spelling, instant in READ.items():
        made = Draft(f"A fact of {spelling}", observed_at=spelling, valid_from=spelling)
        note_id = remember(brain, made, session=Session(), now="2026-07-01T10:00:00Z").ids[0]
        note = recall.read(brain, note_id).note
        assert (note.observed_at, note.valid_from) == (instant, instant)
        found = recall.search(brain, Query(observed_after=spelling, valid_at=spelling, kind=("memory",)), sweep=False)
        assert note_id in {hit.note.id for hit in found.hits}


def test_what_is_none_is_refused_by_the_name_of_its_field_and_nothing_is_written(root: Path) -> None:
    brain = brains.open_brain(root)
    tip = (root / ".git/refs/heads/main").read_bytes()
    for text in REFUSED:
        for name in ("valid_at", *FILTERS):
            with pytest.raises(Usage, match=rf"^{name}: .*(not an ISO 8601|not a possible time)") as told:
                recall.search(brain, Query(**{name: text}))  # type: ignore[arg-type]
            assert told.value.message.isprintable()
            assert len(told.value.message) < 300
        for name in FIELDS:
            draft = Draft("A fact", **{name: text})  # type: ignore[arg-type]
            with pytest.raises(Usage, match=rf"^{name}: .*(not an ISO 8601|not a possible time)"):
                remember(brain, draft, session=Session(), now="2026-07-01T10:00:00Z")
    with pytest.raises(Usage, match=r"^created_after: .*; valid_at: "):
        recall.search(brain, Query(created_after="x", valid_at="y"))
    assert (root / ".git/refs/heads/main").read_bytes() == tip


@pytest.mark.parametrize("text", [REFUSED[0], REFUSED[6], REFUSED[9], REFUSED[11], REFUSED[15]])
def test_the_command_line_names_the_option(brain: Run, root: Path, text: str) -> None:
    for option in ("--valid-at", "--as-of"):
        done = brain("search", "x", option, text, "--brain", str(root))
        assert done.returncode == 2
        said = done.stderr.decode("utf-8")
        assert option in said or "as_of: " in said
        assert "Traceback" not in said
        assert len(said) < 800


def test_a_story_is_asked_about_as_of_then(brain: Run, root: Path) -> None:
    def at(now: str, *args: str) -> Done:
        done = brain(*args, "--brain", str(root), env={"COMMONWEALTH_NOW": now})
        assert done.returncode == 0, done.stderr
        return done

    made = json.loads(at("2126-02-01", "remember", "Payments are synchronous", "-m", "One answer.", "--json").stdout)
    note = made["ids"][0]
    at("2126-04-17", "update", note, "--title", "Payments are queued")
    found = json.loads(at("2126-08-01", "search", "payments", "--as-of", "2126-03-01", "--json").stdout)
    assert [hit["title"] for hit in found["results"]] == ["Payments are synchronous"]
    assert found["asOf"] == {"commit": made["commit"], "at": "2126-03-01T00:00:00Z"}
    read = json.loads(at("2126-08-01", "read", note, "--as-of", made["commit"][:10], "--json").stdout)
    assert (read["title"], len(read["history"])) == ("Payments are synchronous", 1)
    told = json.loads(at("2126-08-01", "history", note, "--as-of", "2126-03-01", "--json").stdout)
    assert [version["commit"] for version in told["versions"]] == [made["commit"]]
    people = at("2126-08-01", "search", "payments", "--as-of", "2126-03-01")
    assert b"As of 2126-03-01T00:00:00Z, commit" in people.stderr
    context = at("2126-08-01", "recall", "payments", "--as-of", "2126-03-01").stdout
    assert b"Payments are synchronous" in context
    late = json.loads(at("2126-08-01", "search", "payments", "--as-of", "2126-09-01", "--json").stdout)
    assert "is in the future" in late["warnings"][0]
    early = brain("search", "payments", "--as-of", "2001-01-01", "--brain", str(root))
    assert early.returncode == 1
    assert b"lies before the first commit of main" in early.stderr
    both = brain("history", note, "--as-of", "2126-03-01", "--at", "HEAD", "--brain", str(root))
    assert both.returncode == 2


def test_a_note_that_ends_before_it_begins_is_named_and_stays_as_it_is(root: Path) -> None:
    brain = brains.open_brain(root)
    ends = {"before": "2026-01-31", "same": "2026-02-01", "after": "2026-02-02"}
    for name, end in ends.items():
        text = f"---\ntitle: {name}\nvalid_from: 2026-02-01\nvalid_until: {end}\n---\n"
        (root / "memory").mkdir(exist_ok=True)
        (root / f"memory/{name}.md").write_text(text, encoding="utf-8")
    said = {problem.path: problem for problem in recall.problems(brain)}
    assert set(said) == {"memory/before.md", "memory/same.md"}
    problem = said["memory/before.md"]
    assert (problem.line, problem.fatal) == (4, False)
    assert "valid_until: it is not after valid_from 2026-02-01T00:00:00Z" in problem.cause
    found = recall.search(brain, Query(kind=("memory",), valid_at="2026-02-01"))
    assert [hit.note.title for hit in found.hits] == ["after"]


def test_a_clock_two_hours_ahead_gives_no_negative_ages(brain: Run, root: Path) -> None:
    ahead, now = {"COMMONWEALTH_NOW": "2126-02-01T02:00:00Z"}, {"COMMONWEALTH_NOW": "2126-02-01T00:00:00Z"}
    assert brain("remember", "From ahead", "-m", "x", "--brain", str(root), env=ahead).returncode == 0
    found = json.loads(brain("search", "ahead", "--json", "--brain", str(root), env=now).stdout)
    assert [hit["title"] for hit in found["results"]] == ["From ahead"]
    for command in (("status",), ("search",), ("status", "--json"), ("brief",)):
        done = brain(*command, "--brain", str(root), env=now)
        assert done.returncode == 0, done.stderr
        assert b" -" not in done.stdout.replace(b" --", b"").replace(b" - ", b"")


def test_people_see_what_is_true_until_a_planned_replacement(brain: Run, root: Path) -> None:
    def said(*args: str) -> tuple[str, str]:
        done = brain(*args, "--brain", str(root))
        assert done.returncode == 0, done.stderr
        return done.stdout.decode(), done.stderr.decode()

    old = json.loads(said("remember", "Payments are synchronous", "-m", "x", "--json")[0])["ids"][0]
    new = json.loads(said("supersede", old, "Payments are queued", "--at", "2999-01-01", "--json")[0])["ids"][0]
    until = f"until 2999-01-01T00:00:00Z, then {new}"
    for asked in ((), ("--as-of", "HEAD")):
        assert until in said("search", "payments", *asked)[0]
        assert f"warning: it is still true: {until}" in said("read", old, *asked)[1]
        assert until in said("recall", "payments synchronous", *asked)[0]
    assert "planned" not in said("read", new)[1]
    (hit,) = json.loads(said("search", "payments synchronous", "--json")[0])["results"]
    assert (hit["status"], hit["supersededBy"]) == ("superseded", new)


def test_warnings_name_the_option_that_was_given(brain: Run, root: Path) -> None:
    note = json.loads(brain("remember", "A fact", "-m", "x", "--json", "--brain", str(root)).stdout)["ids"][0]
    for words in (("search", "fact"), ("read", note), ("history", note)):
        for form in ((), ("--json",)):
            done = brain(*words, "--as-of", "2999-01-01", *form, "--brain", str(root))
            assert done.returncode == 0, done.stderr
            told = (done.stderr + done.stdout).decode()
            assert "--as-of: 2999-01-01T00:00:00Z is in the future" in told, words
            assert "as_of" not in told
