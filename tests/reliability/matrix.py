"""Every fault point, killed or failing, in a real brain; then an edit by hand, the command again, and all sync.

`run_matrix` is the whole of it; the ordinary suite plays every point killed, and the errors at those points where
an error has something to undo.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

from commonwealth.faults import POINTS

from .scene import DOCUMENTED, KILLED, Answer, Scene
from .states import PLAYS, Play, discard, edit_by_hand

ERRORS = ("ENOSPC", "EIO", "EACCES")

PLACES = {
    "remember": (
        "commit-temp-written",
        "commit-object",
        "commit-half-renamed",
        "commit-renamed",
        "commit-indexed",
        "commit-done",
        "write-committed",
        "index-update",
        "worker-spawn",
    ),
    "approve": ("approve-committed",),
    "sync": (
        "fetched",
        "settled",
        "merge-tree",
        "merge-commit",
        "move-journal",
        "move-half",
        "move-files",
        "move-index",
        "move-done",
        "move-closed",
        "push-before",
        "push-accepted",
        "debt",
    ),
    "sync-alone": ("derived",),
    "sync-offline": ("debt-recorded",),
    "sync-outrun": ("push-refused",),
    "sync-half-moved": ("recover-half",),
    "sync-overtaken": ("take-back-half",),
    "sync-adopt": ("adopt-commit", "adopt-moved"),
    "sync-renamed": ("rename-journal", "rename-made", "rename-head", "rename-recorded"),
    "sync-protected": ("request-offered",),
    "sync-stuck": ("stranded-half", "stranded-kept", "stranded-moved", "stranded-done"),
    "rebuild": ("index-built", "index-switched", "index-swept"),
    "import": ("import-batch",),
    "capture": ("drafts-made", "drafts-planned", "draft-staged", "drafts-staged", "cursor-moved"),
    "sweep": ("spool-asked", "spool-temp-written", "swept"),
    "worker": ("worker-started", "worker-locked", "worker-taken", "worker-told"),
    "init": ("init-made", "init-hardened", "init-files", "init-committed"),
    "join": ("join-cloned", "join-hardened", "join-checked-out", "setup-placed", "setup-indexed", "setup-mapped"),
}
"""Where each point is tried. Every point is in one play at least."""

MORE = {
    "update": ("commit-temp-written", "commit-half-renamed", "commit-renamed", "commit-indexed", "commit-done"),
    "sync": ("commit-half-renamed", "commit-indexed", "index-update"),
    "import": ("commit-half-renamed", "commit-indexed", "write-committed"),
    "init": ("setup-placed", "setup-indexed", "setup-mapped", "push-accepted"),
    "sweep": ("drafts-made", "drafts-planned", "draft-staged", "drafts-staged", "cursor-moved"),
    "worker": ("derived", "push-accepted", "debt"),
}
"""The same points in other plays, for the night."""

KILL_ONLY = frozenset(
    {
        "approve-committed", "index-update", "import-batch", "drafts-made", "cursor-moved", "swept",
        "worker-started", "worker-locked", "worker-taken", "worker-told",
    }
)  # fmt: skip
"""Points at which nothing can fail: between two steps that have failures of their own."""

FAILED_IN_GATE = (
    ("remember", "commit-temp-written"),
    ("remember", "commit-renamed"),
    ("remember", "commit-indexed"),
    ("remember", "worker-spawn"),
    ("update", "commit-half-renamed"),
    ("sync", "move-half"),
    ("sync", "move-index"),
    ("sync-half-moved", "recover-half"),
    ("rebuild", "index-switched"),
    ("sweep", "spool-temp-written"),
    ("init", "init-committed"),
    ("join", "setup-indexed"),
)


@dataclass(frozen=True, slots=True)
class Case:
    """One point of one play, and what happens there."""

    play: str
    point: str
    action: str = "kill"

    def __str__(self) -> str:
        return f"{self.play}-{self.point}-{self.action}"


def kills() -> list[Case]:
    """Every point once, killed."""
    return [Case(play, point) for play, points in PLACES.items() for point in points]


def failures() -> list[Case]:
    """The errors of the ordinary suite."""
    return [Case(play, point, ERRORS[number % 2]) for number, (play, point) in enumerate(FAILED_IN_GATE)]


def everything() -> list[Case]:
    """Every point in every play with every action."""
    pairs = [(play, point) for table in (PLACES, MORE) for play, points in table.items() for point in points]
    return [
        Case(play, point, action)
        for play, point in pairs
        for action in ("kill", *(() if point in KILL_ONLY else ERRORS))
    ]


def try_case(scene: Scene, case: Case) -> None:
    """Play one case. Raises AssertionError where an invariant does not hold."""
    play = PLAYS[case.play]
    scene.load(play.state.__name__, play.state)
    scene.reached()
    answer = scene.run(play.who, *play.command(scene), fault=f"{case.point}={case.action}")
    assert case.point in scene.reached(), (case, answer)
    assert answer.code == KILLED if case.action == "kill" else answer.code in DOCUMENTED, (case, answer)
    go_on(scene, play, answer)


def go_on(scene: Scene, play: Play, answer: Answer) -> None:
    """After a run that failed or was killed: an edit by hand, the same command again, all sync, all is well."""
    require_honest(scene, play, answer)
    edit_by_hand(scene)
    scene.pass_time()
    play.after(scene)
    again = scene.run(play.who, *play.command(scene))
    assert again.code == 0, again
    assert "Traceback" not in again.err
    play.ends(scene)
    scene.tokens.update(play.facts)
    scene.settle()
    scene.check(play.who)


def require_honest(scene: Scene, play: Play, answer: Answer) -> None:
    """What the caller was told is so: an acknowledged fact is in a commit, whatever happens from here on."""
    assert "Traceback" not in answer.err, answer
    if not answer.acknowledged:
        return
    root = scene.root(play.who)
    if answer.said.get("commit"):
        scene.git(root, "merge-base", "--is-ancestor", answer.said["commit"], "HEAD")
    for token in play.facts:
        assert scene.git(root, "grep", "-l", "-e", token, "HEAD"), (token, answer)


def run_matrix(seed: int, folder: Path) -> dict[str, int]:
    """Every case in a random order below `folder`; how many were played by action.

    Raises AssertionError for the first that fails, naming it.
    """
    scene, cases, played = Scene(folder), everything(), dict.fromkeys(("kill", *ERRORS), 0)
    random.Random(seed).shuffle(cases)
    try:
        for case in cases:
            try:
                try_case(scene, case)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}, {case}: {error}") from error
            played[case.action] += 1
    finally:
        scene.close()
    discard(folder)
    return played


def unplaced() -> set[str]:
    """Points that no play reaches, and names that are none."""
    placed = [point for points in PLACES.values() for point in points]
    return set(POINTS) ^ set(placed)
