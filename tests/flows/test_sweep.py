"""A session's drafts are the same however often it is swept, and nothing else of the session is anywhere."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from commonwealth import config, faults
from commonwealth.conversation import Conversation
from commonwealth.errors import Damaged, Refused
from commonwealth.flows import brains, cursors, review, sweep, work
from commonwealth.flows.brains import Brain
from commonwealth.flows.identity import Session as Caller
from commonwealth.flows.sweep import Swept, Told
from commonwealth.flows.work import WorkDraft
from commonwealth.hosts import transcript
from commonwealth.model import Candidate, Note, Span
from commonwealth.notes import candidate, store

from .conftest import NOW, PlainGit, recorded, search_all
from .told import SESSION, Session, facts

PORT = "the staging database listens on port 5433"
RETRY = "refunds are retried only by the nightly job"
TOKEN = "ghp" + "_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hJ5"


@pytest.fixture
def session(tmp_path: Path, code: Path) -> Session:
    """A session in the code repository that taught one fact."""
    made = Session(tmp_path / "transcripts" / f"{SESSION}.jsonl", code)
    made.path.parent.mkdir()
    made.say("user", "Connect to the database").say("assistant", "Connecting on port 5432.")
    return made.say("user", f"FACT {PORT}").say("assistant", "Understood, port 5433.")


def swept(brain: Brain, session: Session, trigger: str = "SessionEnd", **how: object) -> Swept:
    told = Told("claude", str(session.path), SESSION)
    given = {"now": NOW, "drafter": facts(), "complete": trigger in ("SessionEnd", "by hand"), **how}
    return sweep.sweep(brain, told, trigger=trigger, **given)  # type: ignore[arg-type]


def queue(brain: Brain) -> dict[str, bytes]:
    """What waits, by name."""
    folder = brain.root / "staging"
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.md"))} if folder.exists() else {}


def notes(brain: Brain) -> list[Note]:
    return [file.note for file in store.staged(brain.root)[0]]


def log() -> list[dict[str, object]]:
    path = config.home() / "logs" / "capture.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def test_what_a_session_taught_waits_in_the_queue_with_where_it_comes_from(
    brain: Brain, session: Session, git: PlainGit, code: Path
) -> None:
    config.home().mkdir(exist_ok=True)
    head = git(brain.root, "rev-parse", "HEAD")
    answer = swept(brain, session)
    (note,) = notes(brain)
    assert answer.receipt.state == "staged"
    assert answer.receipt.ids == (note.id,)
    assert note.title.startswith(PORT)
    assert (note.status, note.observed_at, note.author) == ("confirmed", "2026-06-30T09:00:02Z", "Alice")
    origin = candidate.origin_of(note)
    assert origin is not None
    assert (origin.evidence, origin.host, origin.session) == (Span(3, 3), "claude", SESSION)
    said = note.provenance
    assert (said.human, said.agent, said.session, said.branch) == ("Alice", "Claude Code", SESSION, "main")
    assert said.commit == git(code, "rev-parse", "HEAD").strip()
    assert said.repository == "git.example.com/acme/shop"
    assert said.evidence == (f"FACT {PORT}", "line 3 of the session")
    assert git(brain.root, "rev-parse", "HEAD") == head
    assert git(brain.root, "status", "--porcelain") == ""
    (line,) = log()
    assert list(line) == ["at", "trigger", "host", "session", "from", "to", "drafts", "kept", "outcome"]
    assert line == {
        "at": NOW, "trigger": "SessionEnd", "host": "claude", "session": SESSION,
        "from": 1, "to": 4, "drafts": 1, "kept": 1, "outcome": "swept",
    }  # fmt: skip


def test_a_dry_run_says_the_same_and_writes_nothing(brain: Brain, session: Session) -> None:
    before = {path: path.read_bytes() for path in brain.root.rglob("*") if path.is_file() and "index" not in path.parts}
    for _ in range(2):
        answer = swept(brain, session, "by hand", dry_run=True)
        assert [one.state for one in answer.drafts] == ["staged"]
    after = {path: path.read_bytes() for path in brain.root.rglob("*") if path.is_file() and "index" not in path.parts}
    assert after == before
    assert log() == []


EVENTS = ("Stop", "PreCompact", "SessionEnd", "by hand", "rested")


@pytest.mark.parametrize("order", list(itertools.permutations(EVENTS))[::17], ids=" ".join)
def test_the_notes_are_the_same_in_whatever_order_a_session_is_swept(
    brain: Brain, session: Session, order: Sequence[str]
) -> None:
    """Between two sweeps the session goes on; at the end all of it was said, and it is swept once more."""
    for number, trigger in enumerate(order):
        swept(brain, session, trigger, now=f"2026-07-0{number + 1}T10:00:00Z")
        session.say("user", f"And {number}?").say("assistant", "Done.")
        if number == 2:
            session.say("user", f"FACT {RETRY}").say("assistant", "I see.")
    swept(brain, session)
    assert sorted(note.title[:20] for note in notes(brain)) == sorted((PORT[:20], RETRY[:20]))
    there = queue(brain)
    for trigger in order:
        answer = swept(brain, session, trigger)
        assert answer.outcome == "nothing new"
    assert queue(brain) == there


def test_a_lost_cursor_makes_no_second_note(brain: Brain, session: Session) -> None:
    swept(brain, session)
    there = queue(brain)
    cursors.place_of(brain.root, "claude", str(session.path)).unlink()
    swept(brain, session, now="2026-08-01T10:00:00Z")
    assert queue(brain) == there


def test_a_copy_of_the_transcript_makes_no_second_note(brain: Brain, session: Session, tmp_path: Path) -> None:
    swept(brain, session)
    there = queue(brain)
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(session.path.read_bytes())
    sweep.sweep(brain, Told("claude", str(copy)), trigger="by hand", now=NOW, drafter=facts())
    assert list(queue(brain)) == list(there)


def test_the_last_turn_of_a_session_that_goes_on_waits_for_its_end(brain: Brain, session: Session) -> None:
    session.say("user", f"FACT {RETRY}")
    swept(brain, session, "Stop")
    assert [note.title[:12] for note in notes(brain)] == [PORT[:12]]
    swept(brain, session, "SessionEnd")
    assert len(notes(brain)) == 2


def test_what_the_session_takes_back_later_is_withdrawn_and_can_be_found(brain: Brain, session: Session) -> None:
    swept(brain, session)
    session.say("user", "CORRECTION it is 5434").say("assistant", "All right.")
    swept(brain, session, drafter=facts("CORRECTION "))
    (note,) = notes(brain)
    assert note.title.startswith("it is 5434")
    (dropped,) = (brain.root / "staging" / "dropped").glob("*.md")
    assert PORT in dropped.read_text(encoding="utf-8")
    assert "dropped_because" in dropped.read_text(encoding="utf-8")


def test_a_draft_that_somebody_edited_is_theirs(brain: Brain, session: Session) -> None:
    swept(brain, session)
    (path,) = (brain.root / "staging").glob("*.md")
    edited = path.read_text(encoding="utf-8").replace("in so many words", "when asked")
    path.write_text(edited, encoding="utf-8")
    session.say("user", "Go on").say("assistant", "Going on.")
    for drafter in (facts(), facts("CORRECTION "), facts(confidence="high")):
        session.say("user", "Go on").say("assistant", "Going on.")
        swept(brain, session, drafter=drafter)
        assert path.read_text(encoding="utf-8") == edited
    assert len(notes(brain)) == 1


def test_a_draft_that_was_taken_out_of_the_queue_does_not_come_back(brain: Brain, session: Session) -> None:
    swept(brain, session)
    (path,) = (brain.root / "staging").glob("*.md")
    path.unlink()
    session.say("user", f"FACT {RETRY}").say("assistant", "I see.")
    answer = swept(brain, session)
    assert [note.title[:12] for note in notes(brain)] == [RETRY[:12]]
    assert sorted(one.state for one in answer.drafts) == ["staged", "unchanged"]
    # Nor in other words of the same lines.
    session.say("user", "Go on").say("assistant", "Going on.")
    swept(brain, session, drafter=facts("FACT the staging", title="Port 5433 is the one of the staging database"))
    assert not any("5433" in note.title for note in notes(brain))


def test_what_canon_says_already_is_dropped_with_the_reason(brain: Brain, session: Session) -> None:
    (draft,) = facts()(_conversation(session))
    recorded(brain, draft.title, summary=draft.summary)
    answer = swept(brain, session)
    (one,) = answer.drafts
    assert (one.state, one.judged.verdict.verdict) == ("dropped", "drop")
    assert "already" in (one.reason or "")
    assert answer.receipt.dropped == (one.judged.id,)
    assert answer.receipt.items[0].reason == one.reason
    assert notes(brain) == []
    assert len(list((brain.root / "staging" / "dropped").glob("*.md"))) == 1


def _conversation(session: Session) -> Conversation:
    return transcript.read("claude", str(session.path)).conversation


def test_a_secret_reaches_neither_a_draft_nor_anything_that_we_write(
    brain: Brain, session: Session, tmp_path: Path
) -> None:
    config.home().mkdir(exist_ok=True)
    private = "Grandmother's maiden name is Winterbottom"
    session.say("user", f"FACT the token is {TOKEN}").say("assistant", f"Using {TOKEN}.")
    session.say("user", private).say("assistant", "Noted.")
    answer = swept(brain, session)
    assert sorted(one.state for one in answer.drafts) == ["dropped", "staged"]
    (secret,) = (one for one in answer.drafts if one.state == "dropped")
    assert secret.judged.secret
    assert (secret.reason or "").startswith("secret:")
    assert TOKEN not in repr(answer.receipt)
    session.path.unlink()
    assert search_all(tmp_path, TOKEN) == []
    assert search_all(tmp_path, "Winterbottom") == []
    outside = [path for path in search_all(tmp_path, PORT) if "staging" not in path]
    assert outside == []


def test_a_quote_with_a_secret_is_left_out_and_the_fact_stays(brain: Brain, session: Session, tmp_path: Path) -> None:
    swept(brain, session, drafter=facts(quotes=(f"use {TOKEN}", "the port is 5433")))
    (note,) = notes(brain)
    assert note.provenance.evidence == ("the port is 5433", "line 3 of the session")
    assert search_all(tmp_path / "brain", TOKEN) == []


@pytest.mark.parametrize("field", ["title", "summary", "body", "tags", "components", "files"])
def test_a_secret_in_any_field_of_a_draft_is_dropped_and_not_kept(brain: Brain, session: Session, field: str) -> None:
    value = f"the token {TOKEN} opens it" if field in ("title", "summary", "body") else (TOKEN,)
    given: dict[str, object] = {field: value}
    answer = swept(brain, session, drafter=facts("FACT ", **given))
    assert [one.state for one in answer.drafts] == ["dropped"]
    assert search_all(brain.root, TOKEN) == []


def test_no_home_of_anybodys_gets_into_a_draft(brain: Brain, session: Session, code: Path) -> None:
    text = f"The settings lie in {Path.home()}/.shop and /home/bob/.shop, the code in {code}/src/pay.ts"
    swept(
        brain, session, drafter=facts(summary=text, body=text, files=(f"{code}/src/pay.ts", "/etc/passwd", "lib/a.ts"))
    )
    (note,) = notes(brain)
    assert note.summary == "The settings lie in ~/.shop and ~/.shop, the code in src/pay.ts"
    assert note.provenance.files == ("src/pay.ts", "lib/a.ts")
    data = next(iter(queue(brain).values())).decode()
    assert str(Path.home()) not in data
    assert "/home/bob" not in data


def test_files_of_a_session_in_a_folder_of_the_repository_are_named_from_its_root(
    brain: Brain, session: Session, code: Path
) -> None:
    inner = code / "services" / "pay"
    inner.mkdir(parents=True)
    here = brains.open_brain(brain.root, cwd=str(inner))
    session.cwd = inner
    session.say("user", f"FACT {RETRY}").say("assistant", "I see.")
    session.lines = [line.replace(f'"cwd": "{code}"', f'"cwd": "{inner}"') for line in session.lines]
    session.say("user", "Thanks").say("assistant", "Welcome.")
    swept(here, session, drafter=facts(files=("pay.ts",)))
    assert {note.provenance.files for note in notes(brain)} == {("services/pay/pay.ts",)}


def test_a_branch_limits_what_rests_on_files_that_only_it_has_changed(
    brain: Brain, session: Session, git: PlainGit, code: Path
) -> None:
    (code / "old.ts").write_text("old\n", encoding="utf-8")
    git(code, "add", "-A")
    git(code, "commit", "-q", "-m", "old")
    git(code, "checkout", "-q", "-b", "feature")
    (code / "new.ts").write_text("new\n", encoding="utf-8")
    git(code, "add", "-A")
    git(code, "commit", "-q", "-m", "new")
    here = brains.open_brain(brain.root, cwd=str(code))
    session.branch = "feature"
    scopes: dict[str, tuple[object, ...]] = {}
    for number, files in enumerate(((), ("new.ts",), ("old.ts",), ("new.ts", "old.ts"))):
        session.say("user", f"FACT{number} rule {number} is about {files}").say("assistant", "I see.")
        session.lines = [line.replace('"gitBranch": "main"', '"gitBranch": "feature"') for line in session.lines]
        swept(here, session, drafter=facts(f"FACT{number} ", files=files))
        for note in notes(here):
            scopes.setdefault(note.id, (note.provenance.files, note.branch, note.provenance.branch))
        for path in (brain.root / "staging").glob("*.md"):
            path.unlink()
    assert set(scopes.values()) == {
        ((), None, "feature"),
        (("new.ts",), "feature", "feature"),
        (("old.ts",), None, "feature"),
        (("new.ts", "old.ts"), None, "feature"),
    }


def test_the_work_that_the_session_announced_learns_its_files_and_no_note_is_made(
    brain: Brain, session: Session, code: Path
) -> None:
    caller = Caller("Claude Code", SESSION)
    started = work.start(brain, WorkDraft("Mend the retries", files=("a.ts",)), session=caller, now=NOW)
    other = work.start(brain, WorkDraft("Something else", files=("z.ts",)), session=Caller("Codex", "other"), now=NOW)
    session.edit(code / "src" / "retry.ts").edit("/etc/hosts")
    swept(brain, session, drafter=facts("NOTHING "))
    found = {hit.note.id: hit.note for hit in work.search(brain, work.WorkQuery(now=NOW)).results}
    mine = found[started.receipt.ids[0]]
    assert set(mine.files) == {"a.ts", "src/retry.ts"}
    assert found[other.receipt.ids[0]].files == ("z.ts",)
    assert notes(brain) == []


def test_of_many_drafts_the_clearest_are_kept_and_the_rest_is_named(brain: Brain, session: Session) -> None:
    def many(conversation: Conversation) -> Sequence[Candidate]:
        def words(number: int) -> str:
            return " ".join(f"{hashlib.sha256(f'{number} {at}'.encode()).hexdigest()[:7]}" for at in range(8))

        return [
            Candidate(
                f"Service {words(number)} goes first",
                f"Before {words(number + 1000)} comes {words(number + 2000)}.",
                Span(3, 3),
                status="confirmed",
                strength=number / 500,
                observed_at=NOW,
            )
            for number in range(500)
        ]

    answer = swept(brain, session, drafter=many)
    assert len(answer.drafts) == 500
    assert len(notes(brain)) == answer.kept == 20
    waits = {note.title for note in notes(brain)}
    strength = {one.judged.draft.title: one.judged.draft.strength for one in answer.drafts}
    assert min(strength[title] for title in waits) > max(v for title, v in strength.items() if title not in waits)
    assert sum("clearest" in (one.reason or "") for one in answer.drafts) >= 400
    assert all(one.reason for one in answer.drafts if one.state == "dropped")


BAD: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "unreadable"),
    "binary": (bytes(range(256)) * 64, "unreadable"),
    "prose": (b"Dear diary,\nnothing happened.\n" * 10, "unreadable"),
    "another host": (
        b'{"timestamp":"2026-06-30T09:00:00Z","type":"session_meta","payload":{"id":"x","cwd":"/x"}}\n' * 3,
        "unreadable",
    ),
    "a newer schema": (
        b'{"type":"user","v":99,"sessionId":"s","uuid":"u","message":{"role":"user","content":{"new":true}}}\n',
        "no drafts",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_cannot_be_read_is_a_named_outcome(brain: Brain, tmp_path: Path, name: str) -> None:
    config.home().mkdir(exist_ok=True)
    data, outcome = BAD[name]
    path = tmp_path / "strange.jsonl"
    path.write_bytes(data)
    answer = sweep.sweep(brain, Told("claude", str(path)), trigger="SessionEnd", now=NOW)
    assert answer.outcome == outcome
    assert (answer.receipt.state == "refused") == (outcome == "unreadable")
    assert answer.receipt.reason
    assert log()[-1]["outcome"] == outcome
    assert notes(brain) == []


def test_a_file_that_is_gone_is_a_named_outcome(brain: Brain, tmp_path: Path) -> None:
    config.home().mkdir(exist_ok=True)
    for place in (tmp_path / "gone.jsonl", tmp_path):
        answer = sweep.sweep(brain, Told("claude", str(place)), trigger="SessionEnd", now=NOW)
        assert answer.receipt.state == "refused"
    assert [line["outcome"] for line in log()] == ["vanished", "unreadable"]


def test_a_file_that_still_grows_is_swept_as_far_as_it_is_whole(brain: Brain, session: Session) -> None:
    whole = session.path.read_bytes()
    session.path.write_bytes(whole + b'{"type":"user","sessionId":"0c9d6a52","mess')
    swept(brain, session, "Stop")
    session.path.write_bytes(whole)
    session.say("user", f"FACT {RETRY}").say("assistant", "I see.")
    swept(brain, session)
    assert len(notes(brain)) == 2


def test_another_file_in_the_place_of_a_transcript_is_read_from_its_beginning(brain: Brain, session: Session) -> None:
    swept(brain, session)
    session.lines = []
    session.name = "other-session"
    session.say("user", "Something else").say("assistant", "Yes.")
    session.say("user", f"FACT {RETRY}").say("assistant", "I see.")
    sweep.sweep(brain, Told("claude", str(session.path)), trigger="by hand", now=NOW, drafter=facts())
    assert sorted(note.title[:12] for note in notes(brain)) == sorted((PORT[:12], RETRY[:12]))


@pytest.mark.parametrize("point", ["draft-staged", "drafts-staged", "cursor-moved", "drafts-made", "drafts-planned"])
def test_a_disk_that_fails_at_any_step_is_made_good_by_the_next_sweep(
    brain: Brain, session: Session, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    session.say("user", f"FACT {RETRY}").say("assistant", "I see.")
    monkeypatch.setattr(faults, "_seen", {})
    monkeypatch.setenv("COMMONWEALTH_FAULT", f"{point}=ENOSPC")
    with pytest.raises(OSError, match="No space"):
        swept(brain, session)
    monkeypatch.delenv("COMMONWEALTH_FAULT")
    swept(brain, session)
    assert len(notes(brain)) == 2
    session.say("user", "Thanks").say("assistant", "Welcome.")
    there = queue(brain)
    swept(brain, session)
    assert queue(brain) == there


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_queue_that_cannot_be_written_is_told_and_loses_nothing(brain: Brain, session: Session) -> None:
    folder = brain.root / "staging"
    folder.mkdir(exist_ok=True)
    folder.chmod(0o500)
    with pytest.raises(Damaged, match="staging"):
        swept(brain, session)
    folder.chmod(0o700)
    assert swept(brain, session).kept == 1


def test_a_queue_that_is_a_link_is_told_and_loses_nothing(brain: Brain, session: Session, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    folder = brain.root / "staging"
    if folder.exists():
        folder.rmdir()
    folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises((Damaged, Refused)):
        swept(brain, session)
    assert list((tmp_path / "elsewhere").iterdir()) == []
    folder.unlink()
    assert swept(brain, session).kept == 1


def test_a_log_that_cannot_be_written_is_no_reason_to_lose_a_draft(brain: Brain, session: Session) -> None:
    config.home().mkdir(exist_ok=True)
    (config.home() / "logs").write_text("a file in the folder's place", encoding="utf-8")
    assert swept(brain, session).kept == 1


def settings(text: str) -> None:
    config.home().mkdir(exist_ok=True)
    (config.home() / "config.yaml").write_text(text, encoding="utf-8")


def test_drafts_land_by_themselves_only_where_the_person_says_so(brain: Brain, session: Session, git: PlainGit) -> None:
    settings("sweeps: auto\n")
    session.say("user", "Go on").say("assistant", "Going on.")
    assert [one.state for one in swept(brain, session, "PreCompact").drafts] == ["staged"]
    answer = swept(brain, session)
    assert [one.state for one in answer.drafts] == ["committed"]
    assert answer.receipt.commit == git(brain.root, "rev-parse", "HEAD").strip()
    assert queue(brain) == {}
    (path,) = (brain.root / "memory").rglob("2026-06-30-the-staging-database*.md")
    text = path.read_text(encoding="utf-8")
    assert "candidate:" not in text
    assert "reviewed:" not in text
    assert git(brain.root, "status", "--porcelain") == ""
    for trigger in EVENTS:
        session.say("user", "Go on").say("assistant", "Going on.")
        swept(brain, session, trigger)
    cursors.place_of(brain.root, "claude", str(session.path)).unlink()
    swept(brain, session)
    assert queue(brain) == {}
    assert len(list((brain.root / "memory").rglob("2026-06-30-the-staging-database*.md"))) == 1


@pytest.mark.parametrize(
    ("own", "team", "state"),
    [
        ("", "sweeps: auto", "staged"),
        ("sweeps: auto", "sweeps: queue", "staged"),
        ("sweeps: auto", "review: queue", "staged"),
        ("sweeps: auto", "sweeps: auto", "committed"),
    ],
)
def test_a_brain_can_only_tighten_how_drafts_land(
    brain: Brain, session: Session, own: str, team: str, state: str
) -> None:
    settings(f"name: Alice\n{own}\n")
    path = brain.root / config.CONFIG_PATH
    key = team.partition(":")[0]
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith(key)]
    path.write_text("\n".join([*lines, team, ""]), encoding="utf-8")
    answer = swept(brains.open_brain(brain.root, cwd=brain.cwd), session)
    assert [one.state for one in answer.drafts] == [state]


def test_what_a_person_rejected_does_not_come_back_though_the_cursor_is_lost(brain: Brain, session: Session) -> None:
    (note_id,) = swept(brain, session).receipt.ids
    review.reject(brain, [note_id], reason="it is not so", session=Caller(), now=NOW)
    cursors.place_of(brain.root, "claude", str(session.path)).unlink()
    answer = swept(brain, session)
    assert [(one.state, one.reason) for one in answer.drafts] == [("unchanged", "it was decided on before")]
    assert queue(brain) == {}


def test_what_a_person_approved_does_not_come_back(brain: Brain, session: Session) -> None:
    (note_id,) = swept(brain, session).receipt.ids
    assert review.approve(brain, [note_id], session=Caller(), now=NOW).state == "committed"
    session.say("user", "Go on").say("assistant", "Going on.")
    swept(brain, session)
    cursors.place_of(brain.root, "claude", str(session.path)).unlink()
    swept(brain, session)
    assert queue(brain) == {}


def test_a_later_sweep_at_another_commit_changes_no_byte_of_a_draft(
    brain: Brain, session: Session, git: PlainGit, code: Path
) -> None:
    swept(brain, session)
    there = queue(brain)
    git(code, "commit", "-q", "--allow-empty", "-m", "more")
    session.say("user", "Go on").say("assistant", "Going on.")
    here = brains.open_brain(brain.root, cwd=str(code))
    assert swept(here, session, now="2026-09-01T10:00:00Z").outcome == "swept"
    assert queue(brain) == there


def test_a_draft_that_a_sweep_withdrew_comes_back_when_the_session_earns_it_again(
    brain: Brain, session: Session
) -> None:
    for drafter, expected in ((facts(), 1), (facts("NOTHING "), 0), (facts(), 1)):
        session.say("user", "Go on").say("assistant", "Going on.")
        swept(brain, session, drafter=drafter)
        assert len(notes(brain)) == expected


@pytest.mark.parametrize("point", ["drafts-planned", "draft-staged", "drafts-staged"])
def test_a_draft_that_was_about_to_change_is_still_nobodys_but_ours(
    brain: Brain, session: Session, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    swept(brain, session)
    session.say("user", "Go on").say("assistant", "Going on.")
    monkeypatch.setattr(faults, "_seen", {})
    monkeypatch.setenv("COMMONWEALTH_FAULT", f"{point}=ENOSPC")
    with pytest.raises(OSError, match="No space"):
        swept(brain, session, drafter=facts(confidence="high"))
    monkeypatch.delenv("COMMONWEALTH_FAULT")
    swept(brain, session, drafter=facts(confidence="high"))
    assert [note.confidence for note in notes(brain)] == ["high"]
    session.say("user", "Go on").say("assistant", "Going on.")
    swept(brain, session, drafter=facts("NOTHING "))
    assert notes(brain) == []


def test_a_secret_in_the_name_of_a_branch_or_a_session_is_dropped(
    brain: Brain, session: Session, tmp_path: Path
) -> None:
    config.home().mkdir(exist_ok=True)
    session.branch = TOKEN
    session.lines = [line.replace('"gitBranch": "main"', f'"gitBranch": "{TOKEN}"') for line in session.lines]
    session.say("user", "Go on").say("assistant", "Going on.")
    answer = swept(brain, session)
    assert [(one.state, (one.reason or "")[:7]) for one in answer.drafts] == [("dropped", "secret:")]
    session.path.unlink()
    assert search_all(tmp_path, TOKEN) == []


def test_a_decision_on_one_draft_leaves_the_other_of_the_same_lines_in_the_queue(
    brain: Brain, session: Session
) -> None:
    def two(conversation: Conversation) -> Sequence[Candidate]:
        one = facts()(conversation)[0]
        other = "Orders are written by the ledger service and by nobody else"
        return [one, replace(one, title=other, summary=f"{other}, said the user.", quotes=())]

    ids = swept(brain, session, drafter=two).receipt.ids
    assert len(ids) == 2
    review.approve(brain, ids[:1], session=Caller(), now=NOW)
    session.say("user", "Go on").say("assistant", "Going on.")
    swept(brain, session, drafter=two)
    assert [note.id for note in notes(brain)] == [ids[1]]


def test_only_whole_names_are_taken_for_folders(brain: Brain, session: Session, code: Path) -> None:
    text = f"{code} and {code}/src and {code}-old/src and {code}s and /mnt/home/bob and /rootfs/x and {Path.home()}."
    swept(brain, session, drafter=facts(body=text))
    (note,) = notes(brain)
    assert note.body == f". and src and {code}-old/src and {code}s and /mnt/home/bob and /rootfs/x and ~.\n"
