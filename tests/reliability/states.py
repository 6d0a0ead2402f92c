"""The states that faults are tried in, and the commands that are run there."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from commonwealth.flows import spool
from tests.flows.told import SESSION, Session

from .scene import KILLED, NOW, Scene

SHARED = "memory/2026-07/shared-note.md"
_TEXT = """\
---
title: What everybody edits
tags: [shared]
---
## One

One by {one}.

## Two

Two by {two}.
"""
_REFUSED = """\
#!/bin/sh
git -C {bob} push -q origin HEAD:main
exec git-receive-pack "$@"
"""
_PROTECTED = """\
#!/bin/sh
while read -r old new ref; do
  if [ "$ref" = refs/heads/main ]; then
    echo "error: GH006: Protected branch update failed for refs/heads/main." >&2
    exit 1
  fi
done
"""


def base(scene: Scene) -> None:
    """Alice made a brain and published it; Bob joined."""
    for who in ("alice", "bob"):
        (scene.live / who / "home").mkdir(parents=True)
    scene.git(scene.live, "init", "-q", "--bare", "-b", "main", str(scene.remote))
    scene.good("alice", "init", str(scene.root("alice")), "--name", "acme", "--remote", str(scene.remote), "--json")
    scene.write("alice", SHARED, _TEXT.format(one=scene.fact("fact00001z"), two=scene.fact("fact00002z")))
    remember(scene, "alice", "fact00003z")
    scene.good("alice", "sync", "--json")
    scene.good("bob", "join", str(scene.remote), str(scene.root("bob")), "--json")
    scene.good("bob", "search", "shared", "--json")


def remember(scene: Scene, who: str, token: str) -> None:
    """One fact that was acknowledged."""
    scene.good(who, "remember", f"The note of {token}", "-m", f"It says {token}.", "--json")
    scene.fact(token)


def diverged(scene: Scene) -> None:
    """Bob published an edit and a note; Alice has a note, an edit of the same note and a new one by hand."""
    base(scene)
    text = (scene.root("bob") / SHARED).read_text(encoding="utf-8")
    scene.write("bob", SHARED, text.replace("One by", f"{scene.fact('fact00010z')}: one by"))
    remember(scene, "bob", "fact00011z")
    scene.good("bob", "sync", "--json")
    remember(scene, "alice", "fact00020z")
    scene.write("alice", SHARED, text.replace("Two by", f"{scene.fact('fact00021z')}: two by"))
    scene.write("alice", "memory/2026-07/by-hand.md", f"---\ntitle: By hand\n---\n{scene.fact('fact00022z')}\n")


def alone(scene: Scene) -> None:
    """Alice has a note that is not published; nobody else has any."""
    base(scene)
    remember(scene, "alice", "fact00020z")


def offline(scene: Scene) -> None:
    """As `alone`, and the remote cannot be reached."""
    alone(scene)
    scene.git(scene.root("alice"), "config", "remote.origin.url", str(scene.live / "elsewhere.git"))


def outrun(scene: Scene) -> None:
    """As `diverged`, and Bob pushes another note at the moment at which Alice's push arrives."""
    diverged(scene)
    remember(scene, "bob", "fact00012z")
    script = scene.root("alice") / ".git/outrun"
    script.write_text(_REFUSED.format(bob=shlex.quote(str(scene.root("bob")))), encoding="utf-8")
    script.chmod(0o755)
    scene.git(scene.root("alice"), "config", "remote.origin.receivepack", shlex.quote(str(script)))


def half_moved(scene: Scene) -> None:
    """Alice's sync was killed while it brought the files over."""
    diverged(scene)
    assert scene.run("alice", "sync", fault="move-half=kill").code == KILLED
    scene.reached()


def overtaken(scene: Scene) -> None:
    """As `half_moved`, and then Alice committed by hand: the branch is elsewhere."""
    half_moved(scene)
    scene.write("alice", "README.md", "By hand.\n")
    scene.git(scene.root("alice"), "commit", "-q", "-m", "by hand", "README.md")


def waiting(scene: Scene) -> None:
    """As `base`, and a candidate waits that replaces a note."""
    base(scene)
    said = "supersedes: [shared-note]\nvalid_from: 2026-07-01T00:00:00Z\ncandidate: {source: sweep, host: codex}\n"
    text = f"---\nid: candidate-0000\ntitle: What is new\n{said}---\nIt says fact00060z.\n"
    place = scene.root("alice") / "staging/candidate-0000.md"
    place.parent.mkdir(exist_ok=True)
    place.write_text(text, encoding="utf-8")


def sources(scene: Scene) -> None:
    """A folder of markdown to be imported."""
    base(scene)
    for number in range(3):
        place = scene.live / f"src/doc{number}.md"
        place.parent.mkdir(exist_ok=True)
        place.write_text(f"# Document {number}\n\nIt says fact0003{number}z.\n", encoding="utf-8")


def nothing(scene: Scene) -> None:
    """An empty remote, and a person without a brain."""
    (scene.live / "alice/home").mkdir(parents=True)
    scene.git(scene.live, "init", "-q", "--bare", "-b", "main", str(scene.remote))


def newcomer(scene: Scene) -> None:
    """As `base`, with somebody who has not joined yet."""
    base(scene)
    (scene.live / "carol/home").mkdir(parents=True)


def rewritten(scene: Scene) -> None:
    """As `alone`, and somebody has rewritten the remote's history: the same notes in other commits."""
    alone(scene)
    admin = scene.live / "admin"
    scene.git(scene.live, "clone", "-q", str(scene.remote), str(admin))
    scene.git(admin, "commit", "-q", "--amend", "-m", "Rewritten")
    scene.git(admin, "push", "-q", "--force")


def renamed(scene: Scene) -> None:
    """As `alone`, and the remote's branch has another name."""
    alone(scene)
    scene.git(scene.remote, "branch", "-m", "main", "trunk")


def protected(scene: Scene) -> None:
    """As `alone`, and the remote's main branch takes no pushes."""
    alone(scene)
    hook = scene.remote / "hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(_PROTECTED, encoding="utf-8")
    hook.chmod(0o755)


def stuck(scene: Scene) -> None:
    """As `diverged`, with all committed by hand, and a merge by hand that nobody has ended for an hour."""
    diverged(scene)
    root = scene.root("alice")
    scene.git(root, "add", "-A")
    scene.git(root, "commit", "-q", "-m", "by hand")
    scene.git(root, "pull", "-q", "--no-rebase", "--no-commit", "origin", "main")
    scene.pass_time()


def told(scene: Scene) -> None:
    """As `base`, and Alice had a session in which she corrected the model."""
    base(scene)
    talk = Session(scene.live / "talk.jsonl", scene.live / "alice")
    talk.say("user", "Connect to the staging database").say("assistant", "I connect to the old cluster.")
    talk.say("user", "No, never connect to fact00060z, because the old cluster is switched off in May.")
    talk.say("assistant", "Understood.").say("user", "Thanks").say("assistant", "Done.")


def left_behind(scene: Scene) -> None:
    """As `told`, and the session ended while the brain could not be opened."""
    told(scene)
    scene.good("alice", "rules", "add", str(scene.live / "alice"), str(scene.root("alice")), "--json")
    folder = scene.live / "alice/home/.commonwealth/spool"
    talk = str(scene.live / "talk.jsonl")
    spool.put(folder, spool.Entry("SessionEnd", "claude", SESSION, talk, str(scene.live / "alice"), NOW, ended=True))


@dataclass(frozen=True, slots=True)
class Play:
    """A command in a state: `facts` are those that it acknowledges.

    `after` ends what made the trouble, before the command is repeated; `ends` comes between that and the last syncs.
    """

    state: Callable[[Scene], None]
    who: str
    command: Callable[[Scene], tuple[str, ...]]
    facts: tuple[str, ...] = ()
    after: Callable[[Scene], None] = lambda _: None
    ends: Callable[[Scene], None] = lambda _: None


def _in_order(scene: Scene) -> None:
    """What made the trouble is over: the remote is where it was, and nobody pushes in between."""
    root = scene.root("alice")
    if root.exists():
        scene.git(root, "config", "remote.origin.url", str(scene.remote))
        scene.git(root, "config", "--unset", "remote.origin.receivepack", check=False)


def _bob_adopts(scene: Scene) -> None:
    scene.good("bob", *ADOPT)


def _merged_by_request(scene: Scene) -> None:
    """A reviewer takes what was asked for."""
    (scene.remote / "hooks/pre-receive").unlink()
    for ref in scene.git(scene.remote, "for-each-ref", "--format=%(refname)", "refs/heads/brain/").split():
        scene.git(scene.remote, "update-ref", "refs/heads/main", ref)
        scene.git(scene.remote, "update-ref", "-d", ref)


def _one_draft(scene: Scene) -> None:
    """What was swept again and again waits once, and nobody has to sweep it again."""
    root = scene.root("alice")
    waits = [path.read_text(encoding="utf-8") for path in (root / "staging").glob("*.md")]
    assert len(waits) == 1, waits
    assert "fact00060z" in waits[0]
    assert not list((root / "staging").glob("dropped/*.md"))
    assert not list((root / ".git/commonwealth/spool").glob("*.json"))


_KEYED = ("--idempotency-key", "one", "--json")
SYNC = ("sync", "--json")
ADOPT = ("sync", "--adopt-remote", "--json")

PLAYS = {
    "remember": Play(
        base,
        "alice",
        lambda _: ("remember", "A new note", "-m", "It says fact00040z.", *_KEYED),
        ("fact00040z",),
    ),
    "update": Play(
        base,
        "alice",
        lambda _: ("update", "shared-note", "--section", "Two", "--replace", "fact00002z, fact00041z.", "--json"),
        ("fact00041z",),
    ),
    "approve": Play(waiting, "alice", lambda _: ("review", "approve", "candidate-0000", "--json"), ("fact00060z",)),
    "sync": Play(diverged, "alice", lambda _: SYNC),
    "sync-alone": Play(alone, "alice", lambda _: SYNC),
    "sync-offline": Play(offline, "alice", lambda _: SYNC, (), _in_order),
    "sync-outrun": Play(outrun, "alice", lambda _: SYNC, (), _in_order),
    "sync-half-moved": Play(half_moved, "alice", lambda _: SYNC),
    "sync-overtaken": Play(overtaken, "alice", lambda _: SYNC),
    "sync-adopt": Play(rewritten, "alice", lambda _: ADOPT, (), lambda _: None, _bob_adopts),
    "sync-renamed": Play(renamed, "alice", lambda _: SYNC),
    "sync-protected": Play(protected, "alice", lambda _: SYNC, (), lambda _: None, _merged_by_request),
    "sync-stuck": Play(stuck, "alice", lambda _: SYNC),
    "rebuild": Play(base, "alice", lambda _: ("rebuild-index", "--json")),
    "import": Play(
        sources,
        "alice",
        lambda scene: ("import", str(scene.live / "src"), "--json"),
        ("fact00030z", "fact00031z", "fact00032z"),
    ),
    "worker": Play(alone, "alice", lambda scene: ("worker", str(scene.root("alice")), "0")),
    "capture": Play(
        told,
        "alice",
        lambda scene: ("capture", "--host", "claude", "--transcript", str(scene.live / "talk.jsonl"), "--json"),
        ("fact00060z",),
        lambda _: None,
        _one_draft,
    ),
    "sweep": Play(
        left_behind,
        "alice",
        lambda scene: ("worker", str(scene.root("alice")), "0"),
        ("fact00060z",),
        lambda _: None,
        _one_draft,
    ),
    "init": Play(
        nothing,
        "alice",
        lambda scene: ("init", str(scene.root("alice")), "--name", "acme", "--remote", str(scene.remote), "--json"),
    ),
    "join": Play(newcomer, "carol", lambda scene: ("join", str(scene.remote), str(scene.root("carol")), "--json")),
}


def edit_by_hand(scene: Scene) -> None:
    """Somebody who knows nothing of what happened saves two files."""
    for who in scene.people():
        root = scene.root(who)
        scene.write(who, "memory/2026-07/afterwards.md", f"---\ntitle: Afterwards\n---\n{scene.fact('fact00050z')}\n")
        shared = root / SHARED
        if who == "alice" and shared.exists():
            text = shared.read_text(encoding="utf-8")
            shared.write_text(f"{text}\n## Three\n\n{scene.fact('fact00051z')}\n", encoding="utf-8")
        return


def discard(folder: Path) -> None:
    """Remove a folder of states."""
    shutil.rmtree(folder, ignore_errors=True)
