"""A pytest plugin: the modules in a random order, and the tests of each; `RELIABILITY_ORDER` is the seed."""

from __future__ import annotations

import os
import random

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    rng = random.Random(os.environ.get("RELIABILITY_ORDER", "0"))
    modules: dict[str, list[pytest.Item]] = {}
    for item in items:
        modules.setdefault(item.nodeid.partition("::")[0], []).append(item)
    order = list(modules.values())
    rng.shuffle(order)
    for module in order:
        rng.shuffle(module)
    items[:] = [item for module in order for item in module]
