"""Who is working: the person behind a write, and the session that the write came from."""

from __future__ import annotations

import getpass
import hashlib
import os
import re
import unicodedata
from dataclasses import dataclass, field, replace
from typing import Any

from commonwealth import userconfig
from commonwealth.flows.brains import Brain
from commonwealth.model import Note, Provenance, same_repository
from commonwealth.notes.naming import slug
from commonwealth.repo.git import Git
from commonwealth.repo.merged import tip_of
from commonwealth.repo.project import Project
from commonwealth.routing import is_folder
from commonwealth.safetext import one_line


@dataclass(frozen=True, slots=True)
class Identity:
    """A person as a brain knows them. `email` goes into commits as git asks, never into a note."""

    name: str
    email: str
    ref: str
    is_login: bool = field(default=False, compare=False)
    """Whether nobody told who this is: `name` is the login name."""


@dataclass(frozen=True, slots=True)
class Session:
    """What is known of the session behind a call: the coding tool and its session id; neither for a person."""

    agent: str | None = None
    session: str | None = None


def whoami(brain: Brain) -> Identity:
    """The person at this machine: environment, own config, git's `user.name` and `user.email`, login name.

    Whoever the brain knows already keeps their reference under a new name: its end, the hash of the address, is theirs.
    """
    me = committer(brain.root, brain.config.key)
    known = _known_ref(brain, me.ref) if me.email else None
    return replace(me, ref=known) if known else me


def _known_ref(brain: Brain, ref: str) -> str | None:
    """The reference of the people's notes that ends as this one; the first where there are several."""
    end = ref.rpartition("-")[2]
    own = re.compile(rf"([a-z0-9][a-z0-9-]{{0,39}}-{end})\.md")
    try:
        listed = os.listdir(os.path.join(brain.root, brain.folders["person"]))
    except OSError:
        return None
    return min((match[1] for match in map(own.fullmatch, listed) if match), default=None)


def committer(root: str | os.PathLike[str], key: str = "") -> Identity:
    """The person at this machine as `whoami`, for a repository at `root` that may not be a brain yet."""
    own = userconfig.load()
    name = os.environ.get("COMMONWEALTH_AUTHOR") or own.name
    email = os.environ.get("COMMONWEALTH_AUTHOR_EMAIL") or own.email
    if not (name and email):
        configured = _git_identity(root)
        name = name or configured.get("user.name")
        email = email or configured.get("user.email") or ""
    is_login = not name
    name, email = _plain(name or _login()) or "someone", _plain(email)
    return Identity(name, email, author_ref(name, email, key), is_login=is_login)


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


def cleaned(given: Provenance) -> Provenance:
    """`given` without blanks: around its texts, texts that are nothing else, empty items of lists, and doubles."""
    texts: dict[str, Any] = {name: (getattr(given, name) or "").strip() or None for name in _TEXTS}
    lists: dict[str, Any] = {name: _filled(getattr(given, name)) for name in ("files", "urls", "evidence")}
    return replace(given, **texts, **lists)


_TEXTS = ("human", "agent", "repository", "branch", "commit", "pull_request", "issue", "session")


def _filled(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value.strip() for value in values if value.strip()))


def provenance(
    given: Provenance, brain: Brain, identity: Identity, session: Session, *, scope: str | None = None
) -> Provenance:
    """`given` with what the session knows filled in where the caller said nothing: never empty, for a person is known.

    `scope` is the branch that the fact is limited to. Branch and commit are the session's only where the caller speaks
    of its repository, and the commit that of the branch that is meant.
    """
    given = cleaned(given)
    project = brain.project
    where = project.identity if project else None
    if project and is_folder(project.identity):
        where = project.name  # a path on this machine tells a colleague nothing
    own = project is not None and same_repository(given.repository or project.identity, project.identity)
    branch = given.branch or scope or (project.branch if project and own else None)
    return replace(
        given,
        human=given.human or identity.name,
        agent=given.agent or session.agent,
        repository=given.repository or where,
        branch=branch,
        commit=given.commit or (_commit(project, branch, scope) if project and own else None),
        session=given.session or session.session,
    )


def _commit(project: Project, branch: str | None, scope: str | None) -> str | None:
    """The commit of a fact that was found on `branch`, where the session need not be."""
    if project.branch is None or branch is None or branch == project.branch:
        return project.commit
    return tip_of(project, branch) or (None if branch == scope else project.commit)


def trailers(session: Session) -> str:
    """The end of a commit message that says which tool and session wrote it; empty for a person."""
    lines = [("Agent", session.agent), ("Session", session.session)]
    said = "".join(f"{key}: {one_line(value, 120)}\n" for key, value in lines if value)
    return f"\n\n{said}" if said else ""
