"""The relevance evaluation measures what it says: its situations are sound, and each kind of mistake is counted."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.bench import eval_situations, eval_world
from tests.bench.eval_brief import BUDGETS, Answer, Figures, Outcome, ask, judge, play
from tests.bench.eval_situations import EVENTS, HALVES, Moment, Situation, load, recipes
from tests.bench.eval_world import World

PSP = "services/payments/psp_client.py"


def small() -> dict[str, Any]:
    """The brain of the notes that are written down with the situations: it needs no corpus."""
    return {**recipes(), "brains": {"acme": [{"group": "shop", "kind": "written"}]}}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[World, dict[str, str]]:
    """One world for all, as nothing writes there but what is told in a session; and its environment."""
    folder = tmp_path_factory.mktemp("world")
    with pytest.MonkeyPatch.context() as patch:
        names = eval_world.environment(folder)
        for name, value in names.items():
            patch.setenv(name, value)
        world = eval_world.build(folder, [at("shop", changed=(PSP,))], small())
    world.names["elsewhere"] = {"note": "2026-01-01-of-another-brain"}
    return world, names


@pytest.fixture
def world(made: tuple[World, dict[str, str]], monkeypatch: pytest.MonkeyPatch) -> World:
    world, names = made
    for name, value in names.items():
        monkeypatch.setenv(name, value)
    return world


def at(place: str, **said: Any) -> Situation:
    return Situation(name="one", half="dev", at=place, **{"moment": Moment(event="prompt"), **said})


def told(world: World, *names: str) -> Answer:
    return Answer(world.ids(names), "text")


def test_the_situations_are_sound() -> None:
    found = load()
    assert len(found) >= 72
    assert sum(one.silent for one in found) >= len(found) / 3
    number = Counter((one.half, one.moment.event) for one in found)
    assert set(number) == {(half, event) for half in HALVES for event in EVENTS}
    for event in EVENTS:
        assert abs(number["dev", event] - number["held", event]) <= 2, event
    places, known = (
        eval_situations.places(),
        {part["group"] for parts in recipes()["brains"].values() for part in parts},
    )
    for one in found:
        assert one.at in places, one.name
        for name in (*one.must, *one.should, *one.may, *one.never, *one.again):
            assert name.startswith("@") or name.partition(":")[0] in known, (one.name, name)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"name": "x", "half": "dev", "at": "arr", "shuold": ["arr:lint"]}, "unknown shuold"),
        ({"name": "x", "half": "test", "at": "arr"}, "half is one of"),
        ({"name": "x", "half": "dev", "at": "arr", "must": ["a:b"], "may": ["a:b"]}, "two lists"),
    ],
)
def test_a_situation_with_a_slip_of_the_pen_is_refused(
    given: dict[str, Any], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(eval_situations, "_read", lambda path: [given])
    with pytest.raises(ValueError, match=reason):
        load()


def test_what_the_product_tells_is_read_from_its_text(world: World) -> None:
    state = at("shop", changed=(PSP,))
    root = world.repository(state)
    moments = (
        Moment(event="start"),
        Moment(event="prompt", prompt=f"the payment provider answers 409 for an idempotency key in {PSP}"),
        Moment(event="edit", file=PSP, change="retries = 3"),
        Moment(event="edit", file=PSP, change="retries = 3", host="codex"),
    )
    for number, moment in enumerate(moments):
        answer = ask(moment, session=f"s{number}", cwd=root, root=root)
        assert world.ids(("shop:idem-key",))[0] in answer.ids, moment
        assert all(world.note(id_) for id_ in answer.ids)
        assert 0 < answer.tokens <= BUDGETS[moment.event]
    assert ask(moments[1], session="s1", cwd=root, root=root) == Answer()


def test_a_state_of_a_repository_is_made_as_it_is_said(world: World) -> None:
    root = world.repository(at("shop", branch="fix/x", committed=("src/a.py",), changed=("README.md",), folder="src"))
    assert eval_world.git(root, "branch", "--show-current").strip() == "fix/x"
    assert set(eval_world.git(root, "diff", "--name-only", "origin/main", "HEAD").split()) == {
        "CHANGES.txt",
        "src/a.py",
    }
    assert eval_world.git(root, "diff", "--name-only").split() == ["README.md"]
    assert "feature/partition-orders" in eval_world.git(root, "branch")


def test_each_note_counts_as_it_is_labelled(world: World) -> None:
    one = at("shop", must=("shop:sepa",), should=("shop:vat", "shop:httpx"), may=("shop:friday",))
    seen = judge(world, one, told(world, "shop:vat", "shop:friday", "shop:lager"))
    assert (seen.hits, seen.wrong) == (world.ids(("shop:vat",)), world.ids(("shop:lager",)))
    assert (seen.missed, seen.must) == (world.ids(("shop:sepa", "shop:httpx")), world.ids(("shop:sepa",)))
    assert (seen.isolation, seen.untrue, seen.again, seen.fired) == ((), (), (), False)
    assert (Figures([seen]).precision, Figures([seen]).recall) == (1 / 2, 1 / 3)


@pytest.mark.parametrize("place", ["shop", "web"])
@pytest.mark.parametrize("name", ["shop:ios", "shop:partition", "elsewhere:note"])
def test_what_belongs_elsewhere_is_a_violation_even_where_it_is_allowed(world: World, name: str, place: str) -> None:
    assert judge(world, at(place, may=(name,)), told(world, name)).isolation == world.ids((name,))


def test_a_note_of_a_branch_belongs_to_that_branch(world: World) -> None:
    one = at("shop", branch="feature/partition-orders", must=("shop:partition",))
    assert not judge(world, one, told(world, "shop:partition")).isolation
    assert judge(world, at("web"), told(world, "shop:csp", "shop:vault")).isolation == ()


@pytest.mark.parametrize("name", ["shop:celery", "shop:vary", "shop:freeze", "shop:chen"])
def test_what_is_over_is_a_violation(world: World, name: str) -> None:
    assert judge(world, at("shop", may=(name,)), told(world, name)).untrue == world.ids((name,))


def test_what_was_told_before_is_wrong_and_what_was_not_is_free(world: World) -> None:
    one, (id_,) = at("shop", again=("shop:idem-key",)), world.ids(("shop:idem-key",))
    repeated = judge(world, one, told(world, "shop:idem-key"), [id_])
    assert (repeated.again, repeated.wrong) == ((id_,), (id_,))
    first = judge(world, one, told(world, "shop:idem-key"))
    assert (first.again, first.wrong) == ((), ())


def test_a_session_goes_on_from_what_came_before(world: World) -> None:
    edit = Moment(event="edit", file=PSP, change="retries = 3")
    assert play(world, at("shop", moment=edit, before=(edit,), again=("shop:idem-key",))).answer == Answer()


def test_speech_where_silence_is_right_is_counted(world: World) -> None:
    spoken = judge(world, at("shop"), Answer((), "one candidate waits"))
    quiet = judge(world, at("shop"), Answer())
    found = Figures([spoken, quiet])
    assert (found.fired, found.silences, found.false_fire, found.reached) == (1, 2, 0.5, False)
    assert Figures([quiet]).reached


def test_a_text_over_its_budget_is_counted(world: World) -> None:
    found: list[Outcome] = [judge(world, at("shop", may=("shop:sepa",)), Answer((), "word " * 2000))]
    assert (len(Figures(found).over), Figures(found).violations, Figures(found).reached) == (1, 1, False)
