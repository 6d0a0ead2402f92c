"""Before a file is changed: what is attached to it, and the decisions that the change seems to go against."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from commonwealth.flows import attached, contradicting
from commonwealth.flows.brains import Brain

from .shelf import SHOP, before_edit, note, shelf, told


@pytest.fixture(scope="module")
def shop() -> Brain:
    return shelf(SHOP)


@pytest.mark.parametrize(
    ("path", "change", "wanted"),
    [
        ("src/payments/PaymentService.ts", "if (status === 409) return again();", ["n409"]),
        ("SRC/Payments/paymentservice.ts", "", ["n409"]),
        ("src/inventory/sync.py", "codes = [c.upper() for c in codes]", ["sku"]),
        ("locales/de.json", '{"a": "b"}', ["locale"]),
        ("locales/shop/fr.json", "", ["locale"]),
        ("src/db/pool.py", "SIZE = 50", ["pool"]),
        ("README.md", "# Shop", []),
        ("src/payments/refund.ts", "export {}", []),
        ("src/utils/strings.py", "def rev(s): return s[::-1]", []),
        ("jobs/payments.py", "", []),
    ],
)
def test_what_is_attached_to_the_file_is_told(shop: Brain, path: str, change: str, wanted: list[str]) -> None:
    assert told(before_edit(shop, path, change)) == wanted


def test_a_path_may_be_absolute_and_has_to_lie_inside(shop: Brain, tmp_path: Path) -> None:
    assert shop.project is not None
    assert told(before_edit(shop, os.path.join(shop.project.root, "src/inventory/sync.py"))) == ["sku"]
    outside = before_edit(shop, str(tmp_path / "src/inventory/sync.py"))
    assert (outside.text, outside.reason) == ("", "the file lies outside the repository")
    assert before_edit(shop, "../src/inventory/sync.py").text == ""
    assert before_edit(replace(shop, project=None), "src/inventory/sync.py").text == ""


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ("import requests\nrequests.get(URL)\n", ["httpx"]),
        ("from requests import Session\n", ["httpx"]),
        ("import httpx\nhttpx.get(URL)\n", []),
        ("# it requests the page\n", []),
        ("import moment from 'moment';\n", ["dates"]),
        ("const moment = require('moment')\n", ["dates"]),
        ("import { format } from 'date-fns';\n", []),
        ("*** Update File: a.py\n@@\n-import requests\n+import httpx\n", []),
        ("*** Update File: a.py\n@@\n-import httpx\n+import requests\n", ["httpx"]),
    ],
)
def test_a_decision_that_the_change_goes_against_is_named(shop: Brain, change: str, wanted: list[str]) -> None:
    found = before_edit(shop, "src/shipping/client", change)
    assert told(found) == list(found.against) == wanted
    assert ("this change may go against it" in found.text) is bool(wanted)


@pytest.mark.parametrize(
    ("said", "change", "held"),
    [
        ("Never call `time.sleep` in a handler", "time.sleep(3)", "time.sleep"),
        ("Do not use LegacyClient", "client = LegacyClient()", "legacyclient"),
        ("Redis is banned in this service", "cache = Redis()", "redis"),
        ("We chose Kafka over RabbitMQ for events", "connect(RabbitMQ)", "rabbitmq"),
        ("We chose Kafka over RabbitMQ for events", "connect(Kafka)", None),
        ("Never retry a declined card", "retry(order)", None),
        ("Never retry a declined card", "retry(declined)", "retry declined"),
        ("Prices are integers", "price = 1.5", None),
        ("Do not use the new thing", "use(thing)", None),
    ],
)
def test_what_a_note_speaks_against(said: str, change: str, held: str | None) -> None:
    found = contradicting.against(note("x", said), change, contradicting.imported(change))
    assert found == held


def test_a_guess_rules_nothing() -> None:
    assert not contradicting.rules(note("x", "Never use Redis", status="hypothesis"))
    assert not contradicting.rules(note("x", "Never use Redis", type_="discovery"))


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"files": ["src/pay/a.py"]}, "file src/pay/a.py"),
        ({"files": ["./src/pay/a.py"]}, "file src/pay/a.py"),
        ({"files": ["pay/a.py"]}, "file pay/a.py"),
        ({"files": ["packages/shop/src/pay/a.py"]}, "file packages/shop/src/pay/a.py"),
        ({"files": ["src/pay/"]}, "folder src/pay"),
        ({"files": ["src/**/*.py"]}, "pattern src/**/*.py"),
        ({"files": ["*.py"]}, "pattern *.py"),
        ({"files": ["src/pay/b.py"]}, "file src/pay/b.py in the same folder"),
        ({"components": ["Pay"]}, "component Pay"),
        ({"files": ["src/payday/a.py"]}, ""),
        ({"components": ["payday"]}, ""),
        ({"files": ["*.ts"]}, ""),
        ({"files": ["a.py/b"]}, ""),
    ],
)
def test_how_a_note_is_attached(fields: dict[str, list[str]], why: str) -> None:
    one = note("x", "Title", **fields)  # type: ignore[arg-type]
    found = attached.attachment(one, "src/pay/a.py")
    assert found.why == why
    assert bool(found.worth) is bool(why)


def test_a_component_counts_for_less_where_the_note_names_files_of_its_own() -> None:
    of_all = note("x", "Title", components=["pay"])
    of_one = note("x", "Title", components=["pay"], files=["lib/other.py"])
    path = "src/pay/a.py"
    assert attached.attachment(of_all, path).worth > attached.attachment(of_one, path).worth


def test_a_hot_file_brings_the_two_that_matter_most_within_the_budget() -> None:
    words = ("apple", "birch", "cedar", "daisy", "elder", "fern")
    many = [note(f"n{n}", f"{word} {word}s need care", f"{word} " * 60, files=["a.py"]) for n, word in enumerate(words)]
    found = before_edit(shelf(many), "a.py", "x = 1")
    assert 1 <= len(found.notes) <= 2
    assert found.tokens <= 200
    assert before_edit(shelf(many), "a.py", "x = 1", budget=20).text == ""


def test_nothing_is_told_twice(shop: Brain) -> None:
    assert told(before_edit(shop, "src/inventory/sync.py", skip=frozenset(["sku"]))) == []
