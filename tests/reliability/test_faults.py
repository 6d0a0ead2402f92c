"""Any instant may be the last: each fault point killed or failing in a real brain loses nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .matrix import PLACES, Case, failures, kills, try_case, unplaced
from .scene import Scene


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    made = Scene(tmp_path_factory.mktemp("faults"))
    yield made
    made.close()


def test_every_fault_point_is_reached_by_a_command() -> None:
    assert unplaced() == set()
    named = [point for points in PLACES.values() for point in points]
    assert len(named) == len(set(named))


@pytest.mark.parametrize("case", kills(), ids=str)
def test_a_command_killed_at_any_point_loses_nothing(scene: Scene, case: Case) -> None:
    try_case(scene, case)


@pytest.mark.parametrize("case", failures(), ids=str)
def test_a_disk_that_fails_at_a_point_loses_nothing(scene: Scene, case: Case) -> None:
    try_case(scene, case)
