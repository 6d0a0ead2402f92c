"""Whatever call of a command fails, the caller learns it, nothing is lost, and the next run succeeds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .nth_call import GATE, Sweep, sweep_through
from .scene import Scene


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    made = Scene(tmp_path_factory.mktemp("nth"))
    yield made
    made.close()


@pytest.mark.parametrize("sweep", GATE, ids=str)
def test_a_command_survives_the_failure_of_any_one_call(scene: Scene, sweep: Sweep) -> None:
    assert sweep_through(scene, sweep, full=False) >= 2
