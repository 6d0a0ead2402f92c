"""The files and the text of an edit, from the arguments that the hosts' tools get."""

from __future__ import annotations

import pytest

from commonwealth.hosts.edits import LONGEST, MOST_FILES, Edit, edit_of

PATCH = """*** Begin Patch
*** Update File: src/pay.py
@@ def retry():
-RETRIES = 3
+RETRIES = 0
 unchanged
*** Add File: docs/new page.md
+# New
*** Delete File: old.py
*** Update File: a.py
*** Move to: b.py
*** End Patch"""
PATCHED = Edit(("src/pay.py", "docs/new page.md", "old.py", "a.py", "b.py"), "RETRIES = 0\n# New")


@pytest.mark.parametrize(
    ("tool", "given", "found"),
    [
        ("Edit", {"file_path": "/w/a.py", "old_string": "x", "new_string": "y"}, Edit(("/w/a.py",), "y")),
        ("Write", {"file_path": "/w/a.py", "content": "all"}, Edit(("/w/a.py",), "all")),
        (
            "MultiEdit",
            {"file_path": "/w/a.py", "edits": [{"new_string": "1"}, 7, {"old_string": "x"}, {"new_string": "2"}]},
            Edit(("/w/a.py",), "1\n2"),
        ),
        ("NotebookEdit", {"notebook_path": "/w/n.ipynb", "new_source": "z"}, Edit(("/w/n.ipynb",), "z")),
        ("apply_patch", {"command": PATCH}, PATCHED),
        ("Bash", {"command": f"cd /w && apply_patch <<'EOF'\n{PATCH}\nEOF\necho +done"}, PATCHED),
        ("shell", {"command": ["apply_patch", PATCH]}, PATCHED),
    ],
)
def test_an_edit_names_its_files_and_its_new_text(tool: str, given: object, found: Edit) -> None:
    assert edit_of(tool, given) == found


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Read", {"file_path": "/w/a.py"}),
        ("Bash", {"command": "cat a.py"}),
        ("Bash", {"command": 7}),
        ("Bash", {"command": "grep '*** Begin Patch' a.py"}),
        ("mcp__brain__memory_record", {"file_path": "/w/a.py"}),
        ("Edit", {"file_path": 7, "new_string": "y"}),
        ("Edit", {"file_path": "a\0b"}),
        ("Edit", {"file_path": "x" * 5000}),
        ("Edit", None),
        (None, {}),
        ("apply_patch", {"command": "*** Begin Patch\n*** End Patch"}),
    ],
)
def test_what_is_no_edit_is_none(tool: object, given: object) -> None:
    assert edit_of(tool, given) is None


def test_a_huge_edit_is_looked_at_in_part() -> None:
    files = "".join(f"*** Add File: f{number}.py\n+{'x' * 2000}\n" for number in range(100))
    found = edit_of("apply_patch", {"command": f"*** Begin Patch\n{files}*** End Patch"})
    assert found is not None
    assert len(found.paths) == MOST_FILES
    assert len(found.added) == LONGEST
