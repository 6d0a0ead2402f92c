"""What a team's review mode means for the changes of notes that are canon already."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from commonwealth import config
from commonwealth.errors import Refused
from commonwealth.flows import brains, history, work
from commonwealth.flows.brains import Brain
from commonwealth.flows.drafts import Draft
from commonwealth.flows.identity import Session
from commonwealth.flows.retract import retract
from commonwealth.flows.supersede import supersede
from commonwealth.flows.update import SectionEdit, update
from commonwealth.model import Receipt

from .conftest import NOW, recorded
from .test_work import start

PlainGit = Callable[..., str]
LATER = "2026-07-02T10:00:00Z"
ACTS: dict[str, Callable[[Brain, str], Receipt]] = {
    "update": lambda brain, id_: update(brain, id_, {"summary": "Other."}, session=Session(agent="Codex"), now=LATER),
    "append": lambda brain, id_: update(
        brain, id_, {}, section=SectionEdit("Log", append="More."), session=Session(), now=LATER
    ),
    "retract": lambda brain, id_: retract(brain, id_, "never true", session=Session(), now=LATER),
    "restore": lambda brain, id_: history.restore(brain, id_, "HEAD~1", session=Session(), now=LATER),
}


def in_mode(brain: Brain, mode: str, whose: str) -> Brain:
    if whose == "team":
        return replace(brain, config=replace(brain.config, review=mode))
    config.home().mkdir(exist_ok=True)
    (config.home() / "config.yaml").write_text(f"review: {mode}\n", encoding="utf-8")
    return brain


@pytest.mark.parametrize("whose", ["team", "person"])
@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("kind", ["memory", "decision"])
def test_facts_change_by_request_only_where_the_team_says_so(
    brain: Brain, git: PlainGit, act: str, whose: str, kind: str
) -> None:
    id_ = recorded(brain, kind=kind)
    update(brain, id_, {"confidence": "high"}, session=Session(), now=NOW)
    head = git(brain.root, "rev-parse", "HEAD")
    strict = in_mode(brain, "pull-request", whose)
    with pytest.raises(Refused, match="by pull request only") as refused:
        ACTS[act](strict, id_)
    assert f"brain supersede {id_}" in (refused.value.hint or "")
    assert "brain review pr" in (refused.value.hint or "")
    assert git(brain.root, "rev-parse", "HEAD") == head
    assert git(brain.root, "status", "--porcelain") == ""


@pytest.mark.parametrize("mode", ["auto", "queue"])
@pytest.mark.parametrize("act", ACTS)
def test_elsewhere_they_change_as_before(brain: Brain, act: str, mode: str) -> None:
    id_ = recorded(brain)
    update(brain, id_, {"confidence": "high"}, session=Session(), now=NOW)
    assert ACTS[act](in_mode(brain, mode, "team"), id_).state == "committed"


def test_the_way_that_is_named_is_open(brain: Brain, git: PlainGit) -> None:
    id_ = recorded(brain)
    head = git(brain.root, "rev-parse", "HEAD")
    strict = in_mode(brain, "pull-request", "team")
    receipt = supersede(strict, [id_], Draft("Retries cost"), effective_at=None, session=Session(), now=LATER)
    assert receipt.state == "staged"
    assert "brain review pr" in (receipt.next or "")
    assert git(brain.root, "rev-parse", "HEAD") == head


def test_work_is_announced_and_ends_there_without_a_review(brain: Brain) -> None:
    strict = in_mode(brain, "pull-request", "team")
    assert brains.review_mode(strict) == "pull-request"
    id_ = start(strict).receipt.ids[0]
    assert work.complete(strict, id_, session=Session(), now=LATER).state == "committed"
