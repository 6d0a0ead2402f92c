"""Who is working: the person behind a write, and the session that the write came from."""

from __future__ import annotations

import getpass
import hashlib
import os
import unicodedata
from dataclasses import dataclass, replace

from commonwealth import config
from commonwealth.flows.brains import Brain
from commonwealth.model import Note, Provenance
from commonwealth.notes.naming import slug
from commonwealth.repo.git import Git
from commonwealth.routing import is_folder
from commonwealth.safetext import one_line


@dataclass(frozen=True, slots=True)
class Identity:
    """A person as a brain knows them. `email` goes into commits as git asks, never into a note."""

    name: str
    email: str
    ref: str


@dataclass(frozen=True, slots=True)
class Session:
    """What is known of the session behind a call: the coding tool and its session id; neither for a person."""

    agent: str | None = None
    session: str | None = None


def whoami(brain: Brain) -> Identity:
    """The person at this machine: environment, own config, git's `user.name` and `user.email`, login name."""
    return committer(brain.root, brain.config.key)


def committer(root: str | os.PathLike[str], key: str = "") -> Identity:
    """The person at this machine as `whoami`, for a repository at `root` that may not be a brain yet."""
    own = config.load_user_config()
    name = os.environ.get("COMMONWEALTH_AUTHOR") or own.name
    email = os.environ.get("COMMONWEALTH_AUTHOR_EMAIL") or own.email
    if not (name and email):
        configured = _git_identity(root)
        name = name or configured.get("user.name") or _login()
        email = email or configured.get("user.email") or ""
    name, email = _plain(name) or "someone", _plain(email)
    return Identity(name, email, author_ref(name, email, key))


def _plain(text: str) -> str:
    """`text` as git takes it into a commit: one line, and none of the marks around an address."""
    return one_line(text.replace("<", " ").replace(">", " "), 100)


def _git_identity(root: str | os.PathLike[str]) -> dict[str, str]:
    listed = Git(root).run("config", "-z", "--get-regexp", r"^user\.(name|email)$", check=False)
    entries = (entry.partition("\n") for entry in listed.decode("utf-8", "replace").split("\0") if entry)
    return {key: value.strip() for key, _, value in entries}


def _login() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):  # no entry for this user id, as in some containers
        return "someone"


def author_ref(name: str, email: str, key: str) -> str:
    """The id of a person's note: name and keyed hash, the same in every clone, telling no address."""
    who = unicodedata.normalize("NFC", (email or name).strip().casefold()).encode("utf-8", "replace")
    digest = hashlib.blake2b(who, key=key.encode()[:64], digest_size=4).hexdigest()
    return f"{slug(name)[:40].strip('-')}-{digest}"


def person(identity: Identity) -> Note:
    """The note of a person. It carries no time, so that two clones that both make it make the same file."""
    return Note(id=identity.ref, kind="person", title=identity.name, name=identity.name)


def provenance(given: Provenance, brain: Brain, identity: Identity, session: Session) -> Provenance:
    """`given` with what the session knows filled in where the caller said nothing."""
    project = brain.project
    where = project.identity if project else None
    if project and is_folder(project.identity):
        where = project.name  # a path on this machine tells a colleague nothing
    return replace(
        given,
        human=given.human or identity.name,
        agent=given.agent or session.agent,
        repository=given.repository or where,
        branch=given.branch or (project.branch if project else None),
        commit=given.commit or (project.commit if project else None),
        session=given.session or session.session,
    )


def trailers(session: Session) -> str:
    """The end of a commit message that says which tool and session wrote it; empty for a person."""
    lines = [("Agent", session.agent), ("Session", session.session)]
    said = "".join(f"{key}: {one_line(value, 120)}\n" for key, value in lines if value)
    return f"\n\n{said}" if said else ""
