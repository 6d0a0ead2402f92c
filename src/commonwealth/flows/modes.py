"""Who lets what into canon here: the strictest of what the team and the person say, loosened by the person alone.

A brain's config is data from a remote. Where it asks to loosen something, that counts once the person has agreed to
exactly that: the consent is kept by a hash of what was asked for, so that another wish is another question.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import TypeVar

from commonwealth import config, userconfig
from commonwealth.curate import secrets
from commonwealth.errors import Refused, Usage
from commonwealth.flows.brains import Brain, review_mode
from commonwealth.notes import closing
from commonwealth.repo.lock import FileLock

T = TypeVar("T")

_SECONDS = 10.0
_DEFAULT_SWEEPS = "queue"


def sweep_mode(brain: Brain) -> str:
    """How what is captured from sessions comes into canon here: auto, queue or pull-request."""
    own, team = userconfig.load(), brain.config
    wished = team.sweeps if team.sweeps and has_consent(brain) else None
    modes = [own.sweeps or wished or _DEFAULT_SWEEPS, team.review, team.sweeps, own.review]
    return max(filter(None, modes), key=config.REVIEW_MODES.index)


def require_direct(brain: Brain, note_id: str, kind: str, path: str, *, does: str) -> None:
    """Raises Refused where a fact of canon changes by pull request only; `does` says what was to be done to it.

    A work record and the note of a person tell no fact that a team reviews.
    """
    if kind not in closing.KINDS or review_mode(brain) != "pull-request":
        return
    raise Refused(
        f"{note_id} was not {does}: notes of this brain change by pull request only (review: pull-request).",
        hint=f"`brain supersede {note_id} TITLE` has a note in its place wait, and `brain review pr` asks the team to "
        f"take it. Or change {path} on a branch of its own, and open a request for that.",
    )


def agents_may_approve(brain: Brain) -> bool:
    """Whether a coding tool may approve and reject candidates here: the person says so, and the team does not
    forbid it."""
    own, team = userconfig.load().agents, brain.config.agents
    if team == "propose":
        return False
    return own == "approve" or (own is None and team == "approve" and has_consent(brain))


def asked(brain: Brain) -> dict[str, str]:
    """What the brain's config asks to loosen: settings and their values."""
    wishes: dict[str, str] = {}
    if brain.config.sweeps == "auto":
        wishes["sweeps"] = "auto"
    if brain.config.agents == "approve":
        wishes["agents"] = "approve"
    return wishes


def digest(brain: Brain) -> str:
    """What a consent is kept by: the brain's own key and everything that it asks to loosen."""
    said = json.dumps([brain.config.key, sorted(asked(brain).items())])
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def has_consent(brain: Brain) -> bool:
    """Whether the person agreed to what the brain's config asks for, as it stands now."""
    return bool(asked(brain)) and digest(brain) in userconfig.load().consents


def consent(brain: Brain, *, now: str) -> bool:
    """Keep that the person agrees to what the brain's config asks for; False where they did before.

    Raises Refused where it asks for nothing.
    """
    if not asked(brain):
        raise Refused(
            f"The config of the brain {brain.name} asks to loosen nothing.",
            hint="`brain config set` changes what is yours.",
        )
    entry = {"hash": digest(brain), "brain": brain.name, "at": now}
    return _alone(lambda: userconfig.add_consent(entry))


def withdraw(brain: Brain) -> bool:
    """Take that consent back; False where there is none."""
    return _alone(lambda: userconfig.remove_consent(digest(brain)))


# The person's settings


def setting(key: str) -> userconfig.Setting:
    """The setting of this name. Raises Usage that names near ones."""
    found = userconfig.SETTINGS.get(key)
    if found is None:
        near = get_close_matches(key, userconfig.SETTINGS, n=3, cutoff=0.5)
        step = f"Did you mean {' or '.join(near)}?" if near else f"There are {', '.join(userconfig.SETTINGS)}."
        raise Usage(f"There is no setting {secrets.mask(key)[:60]!r}.", hint=step)
    return found


def values() -> dict[str, str | None]:
    """Every setting and its value, None where the person has set none. Raises Damaged as `userconfig.load` does."""
    given = userconfig.said()
    return {key: given.get(key) for key in userconfig.SETTINGS}


def change(key: str, value: str | None) -> bool:
    """Set one setting of the person's, or take it away (None); False where that changes nothing.

    Raises Usage for a name or a value that cannot be, Refused for a secret and where the file cannot be written.
    """
    setting(key)
    if value is not None:
        value = value.strip()
        if not value:
            raise Usage(f"{key}: the value is empty.", hint=f"`brain config unset {key}` takes the setting away.")
        if (cause := userconfig.unfit(key, value)) is not None:
            raise Usage(f"{key} cannot be {secrets.mask(value)[:60]!r}.", hint=f"{cause}; nothing was changed.")
        if secrets.scan(value, key):
            raise Refused(f"{key}: the value looks like a secret.", hint="Nothing was written.")
    return _alone(lambda: userconfig.change(key, value))


def _alone(write: Callable[[], T]) -> T:
    with _locked():
        return write()


@contextmanager
def _locked() -> Iterator[None]:
    """Nobody else changes a setting meanwhile. Raises Busy."""
    home = config.home()
    lock = FileLock(str(home / "config.lock"), "change settings", "Another process is changing settings")
    try:
        home.mkdir(parents=True, exist_ok=True)
        lock.acquire(_SECONDS)
    except (OSError, Refused) as error:
        cause = error.message.rstrip(".") if isinstance(error, Refused) else f"{home}: {error.strerror or error}"
        raise Refused(
            f"No setting was changed, as nothing can be written in {home}: {cause}.",
            hint="Make it a folder that you may write in, on a disk with free space, or set COMMONWEALTH_HOME to one.",
        ) from None
    try:
        yield
    finally:
        lock.release()
