"""The laws of merging, over notes as people and tools write them: nothing depends on who merges, nothing is lost."""

from __future__ import annotations

import random
import re

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from commonwealth.notes import codec
from commonwealth.notes.merge import MergeResult, merge3

PATH = "memory/2026-01/2026-01-01-retries-aaaaaaaa.md"
TOKEN = re.compile(r"tok[a-z]\d+")
SCALARS = ("title", "summary", "confidence", "type", "repository", "x-team", "branch")
LISTS = ("tags", "components", "relates", "x-list")
NESTED = ("files", "evidence", "commit", "x-seen")
STATE = ("status", "valid_until", "superseded_by", "retracted_at", "retract_reason")
HEADINGS = ("", "## Context", "## Log", "### Details", "## Log", "## Consequences")
TIMES = ("2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z", "2026-01-03")


class Draft:
    """A note that is being written: keys with their lines, and sections."""

    def __init__(self) -> None:
        self.keys: dict[str, list[str]] = {
            "id": ["id: 2026-01-01-retries-aaaaaaaa"],
            "kind": ["kind: memory"],
            "type": ["# what it is", "type: gotcha"],
            "title": ["title: Retries are safe"],
            "summary": ["summary: >-", "  In one", "  sentence # not a comment."],
            "status": ["status: observed"],
            "confidence": ["confidence: low   # so far"],
            "updated_at": ["updated_at: 2026-01-01T00:00:00Z"],
            "tags": ["tags: [a, b]"],
            "components": ["components:", "- pay  # the old name", "- ledger"],
            "provenance": [
                "provenance:", "  human: Alice", "  # seen there", "  files: [x.py]", "  evidence:", "  - a test",
                "  commit: 4f8c2ab",
            ],
            "x-team": ["x-team: 7"],
        }  # fmt: skip
        self.sections: list[list[str]] = [
            ["intro", ""],
            ["## Context", "", "why", "```", "## no heading", "```", ""],
            ["## Log", "- first", ""],
            ["## Log", "- second", ""],
            ["### Details", "deep", ""],
            ["## Consequences", "what"],
        ]
        self.style = set[str]()

    def text(self) -> str:
        front = "".join(f"{line}\n" for lines in self.keys.values() for line in lines)
        body = "\n".join(line for lines in self.sections for line in lines) + "\n"
        text = f"---\n{front}---\n{body}"
        if "open end" in self.style:
            text = text.rstrip("\n")
        if "crlf" in self.style:
            text = text.replace("\n", "\r\n")
        return ("\ufeff" if "bom" in self.style else "") + text


class Editor:
    """Random edits; every word that it adds is a token of its own."""

    def __init__(self, seed: int, name: str) -> None:
        self.random, self.name, self.count = random.Random(seed), name, 0

    def token(self) -> str:
        self.count += 1
        return f"tok{self.name}{self.count}"

    def edit(self, draft: Draft, what: str) -> None:
        getattr(self, what)(draft)

    def scalar(self, draft: Draft) -> None:
        key = self.random.choice(SCALARS)
        value = {"confidence": "high", "type": "architecture"}.get(key, f'"{self.token()}: a # b"')
        draft.keys[key] = [f"{key}: {value}"]

    def item(self, draft: Draft) -> None:
        key = self.random.choice(LISTS)
        lines = draft.keys.get(key, [f"{key}:"])
        if "[" in lines[-1]:
            lines = [*lines[:-1], lines[-1].replace("[", f"[{self.token()}, ")]
        elif self.random.random() < 0.5:
            lines = [*lines, f"- {self.token()}  # {self.token()}"]
        else:
            at = next(number for number, line in enumerate(lines) if line.startswith(key)) + 1
            lines = [*lines[:at], f"- {self.token()}", *lines[at:]]
        draft.keys[key] = lines

    def nested(self, draft: Draft) -> None:
        key, lines = self.random.choice(NESTED), list(draft.keys.get("provenance", ["provenance:"]))
        found = [number for number, line in enumerate(lines) if line.startswith(f"  {key}:")]
        if key == "files" and found:
            lines[found[0]] = lines[found[0]].replace("[", f"[{self.token()}.py, ")
        elif key == "evidence" and found:
            lines.insert(found[0] + 1, f"  - seen by {self.token()}")
        elif found:
            lines[found[0]] = f"  {key}: {self.token()}"
        else:
            lines.append(f"  {key}: [{self.token()}]" if key in ("files", "evidence") else f"  {key}: {self.token()}")
        draft.keys["provenance"] = lines

    def remove_key(self, draft: Draft) -> None:
        draft.keys.pop(self.random.choice([*SCALARS, *LISTS]), None)

    def remark(self, draft: Draft) -> None:
        key = self.random.choice([key for key in draft.keys if key not in STATE])
        lines = draft.keys[key]
        if self.random.random() < 0.5 or len(lines) > 1 or "#" in lines[0]:
            draft.keys[key] = [f"# {self.token()}", *lines]
        else:
            draft.keys[key] = [f"{lines[0]}  # {self.token()}"]

    def move_key(self, draft: Draft) -> None:
        key = self.random.choice(list(draft.keys))
        draft.keys[key] = draft.keys.pop(key)

    def updated(self, draft: Draft) -> None:
        draft.keys["updated_at"] = [f"updated_at: {self.random.choice(TIMES)}"]

    def section(self, draft: Draft) -> None:
        lines = self.random.choice(draft.sections) if draft.sections else []
        at = self.random.randint(0 if lines and not lines[0].startswith("#") else 1, len(lines)) if lines else 0
        lines.insert(at, f"line {self.token()}")

    def add_section(self, draft: Draft) -> None:
        heading = self.random.choice([*HEADINGS[1:], f"## New {self.random.randint(0, 2)}", f"## {self.token()}"])
        draft.sections.insert(self.random.randint(1, len(draft.sections) + 1), [heading, self.token(), ""])

    def remove_section(self, draft: Draft) -> None:
        if draft.sections:
            draft.sections.pop(self.random.randrange(len(draft.sections)))

    def move_section(self, draft: Draft) -> None:
        if len(draft.sections) > 2:
            draft.sections.append([*draft.sections.pop(self.random.randrange(1, len(draft.sections))), ""])

    def restyle(self, draft: Draft) -> None:
        draft.style ^= {self.random.choice(["crlf", "bom", "open end"])}

    def retract(self, draft: Draft) -> None:
        self.reopen(draft)
        draft.keys["status"] = ["status: retracted"]
        draft.keys["retracted_at"] = [f"retracted_at: {self.random.choice(TIMES)}"]
        draft.keys["retract_reason"] = [f"retract_reason: {self.token()}"]

    def supersede(self, draft: Draft) -> None:
        self.reopen(draft)
        draft.keys["status"] = ["status: superseded"]
        draft.keys["valid_until"] = [f"valid_until: {self.random.choice(TIMES)}"]
        draft.keys["superseded_by"] = [f"superseded_by: {self.random.choice(['y', 'z'])}"]

    def reopen(self, draft: Draft) -> None:
        draft.keys["status"] = ["status: confirmed"]
        for key in STATE[1:]:
            draft.keys.pop(key, None)


PLAIN = ["scalar", "item", "nested", "remark", "updated", "section", "add_section", "restyle"]
REMOVING = ["remove_key", "remove_section", "move_key", "move_section"]
CLOSING = ["retract", "supersede", "reopen"]
EDITS = st.lists(st.sampled_from(PLAIN * 2 + REMOVING + CLOSING), max_size=5)
SEEDS = st.integers(0, 2**32)


def version(*steps: tuple[str, int, list[str]]) -> str:
    """The note after the edits of some editors, one after the other."""
    draft = Draft()
    for name, seed, edits in steps:
        editor = Editor(seed, name)
        for edit in edits:
            editor.edit(draft, edit)
    return draft.text()


BASES = st.tuples(st.just("b"), SEEDS, EDITS)
OURS = st.tuples(st.just("o"), SEEDS, EDITS)
THEIRS = st.tuples(st.just("t"), SEEDS, EDITS)
HEAVY = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def everything(result: MergeResult) -> str:
    return result.text + (result.sibling[1] if result.sibling else "")


@given(BASES, OURS, THEIRS, st.booleans())
@HEAVY
def test_merging_is_the_same_for_everybody_settles_and_loses_nothing(
    before: tuple[str, int, list[str]],
    ours: tuple[str, int, list[str]],
    theirs: tuple[str, int, list[str]],
    added: bool,
) -> None:
    base = None if added else version(before)
    one, other = version(before, ours), version(before, theirs)
    result = merge3(base, one, other, PATH)
    assert result == merge3(base, other, one, PATH)
    note, _ = codec.parse(result.text, PATH, "memory")
    told = everything(result)
    for side in (one, other):
        new = set(TOKEN.findall(side)) - set(TOKEN.findall(base or ""))
        assert {token for token in new if token not in told} == set()
    if result.sibling:
        assert codec.parse(result.sibling[1], result.sibling[0], "memory")[0].conflict_of == note.id
    if not set(ours[2] + theirs[2]) & set(REMOVING) and not set(before[2]) & set(CLOSING):
        for side in (one, other):  # united again, from the same base, with what is in it already
            again = merge3(base, result.text, side, PATH)
            assert again.text == result.text
            assert again.sibling in (None, result.sibling)


@given(BASES, OURS, THEIRS)
@HEAVY
def test_what_only_one_side_changed_is_taken_to_the_byte(
    before: tuple[str, int, list[str]], ours: tuple[str, int, list[str]], theirs: tuple[str, int, list[str]]
) -> None:
    base, one = version(before), version(before, ours)
    assert merge3(base, one, base, PATH) == merge3(base, one, one, PATH) == MergeResult(one)
    merged = merge3(base, one, version(before, theirs), PATH)
    assert merge3(one, one, merged.text, PATH) == MergeResult(merged.text)


TARGETS = ("title", "summary", "repository", "branch", "x-team", "## Context", "## Consequences", "intro")


def disjoint(name: str, seed: int, targets: list[str], base: Draft) -> str:
    """A side that changes only what no other side touches, and adds what cannot be in anybody's way."""
    editor = Editor(seed, name)
    for target in targets:
        if target[0] in "#i":
            (lines,) = (lines for lines in base.sections if lines[0] == target)
            lines.insert(1, editor.token())
        else:
            base.keys[target] = [f"{target}: {editor.token()}"]
    for edit in editor.random.sample(["item", "updated"], 2):
        editor.edit(base, edit)
    base.sections.insert(editor.random.randint(1, 6), [f"## New {editor.token()}", editor.token(), ""])
    base.keys[f"x-{editor.token()}"] = [f"x-{editor.name}{editor.count}: {editor.token()}"]
    return base.text()


@given(st.permutations(TARGETS), SEEDS)
@HEAVY
@example(list(TARGETS), 0)
def test_changes_that_do_not_touch_each_other_unite_in_any_order(targets: list[str], seed: int) -> None:
    base = Draft().text()
    sides = [disjoint(name, seed + at, targets[at::3], Draft()) for at, name in enumerate("otu")]
    found = set[str]()
    for first, second, third in ((0, 1, 2), (1, 2, 0), (0, 2, 1)):
        pair = merge3(base, sides[first], sides[second], PATH)
        whole = merge3(base, pair.text, sides[third], PATH)
        assert (pair.sibling, pair.warnings, whole.sibling, whole.warnings) == (None, (), None, ())
        found.add(whole.text)
    assert len(found) == 1
    assert all(token in min(found) for side in sides for token in TOKEN.findall(side))
