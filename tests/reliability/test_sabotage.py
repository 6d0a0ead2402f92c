"""The list of sabotage keeps up with the code: every edit applies, and every test that it names is there."""

from __future__ import annotations

import pytest

from .sabotage import ROOT, Edit, edits


@pytest.mark.parametrize("edit", edits(), ids=lambda edit: edit.name)
def test_an_act_of_sabotage_still_applies_and_names_tests_that_exist(edit: Edit) -> None:
    assert edit.fault() is None
    assert edit.new != edit.old
    assert edit.red
    for name in edit.red:
        path, _, rest = name.partition("::")
        text = (ROOT / path).read_text(encoding="utf-8")
        assert f"def {rest.partition('[')[0]}(" in text, name


def test_acts_of_sabotage_have_names_of_their_own() -> None:
    names = [edit.name for edit in edits()]
    assert len(names) == len(set(names))
