"""What a person has said is no secret, and the scan that knows of it.

The list is the user's own (`COMMONWEALTH_HOME/allow.yaml`), never a brain's: a brain is data from a remote and may
only tighten safety. An entry names a value by its fingerprint, or one rule in one note, and says why. A fingerprint is
a keyed hash: neither the list nor a message that names one lets anybody guess the value.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from commonwealth import atomic, config
from commonwealth.curate import secrets
from commonwealth.errors import Damaged, Refused, Usage
from commonwealth.model import Finding
from commonwealth.repo.common import read_bytes
from commonwealth.safetext import one_line

if TYPE_CHECKING:
    from commonwealth.plainyaml import Value

_FORM = re.compile(r"[0-9a-f]{20}")
_KEY = re.compile(r"[0-9a-f]{64}\n?")
_LIMIT = 1 << 20
_LONGEST_REASON = 300
_HINT = "Mend the file; until then it allows nothing."


@dataclass(frozen=True, slots=True)
class Allowed:
    """One entry of the list: a value by its `fingerprint`, or what `rule` sees in `note`, and the reason."""

    reason: str
    fingerprint: str | None = None
    note: str | None = None
    rule: str | None = None

    def covers(self, finding: Finding, note: str) -> bool:
        """Whether this entry says that `finding`, seen in the note with the id `note`, is no secret."""
        if self.fingerprint is not None:
            return finding.fingerprint == self.fingerprint
        return bool(note) and note == self.note and finding.rule == self.rule


def list_path() -> Path:
    """Where the user's list is."""
    return config.home() / "allow.yaml"


def scan(text: str, where: str, *, note: str = "", also: Iterable[Allowed] = ()) -> list[Finding]:
    """`secrets.scan` without what the user has allowed; every finding has its fingerprint.

    `note` is the id of the note that holds the text. A list that cannot be read allows nothing. A text without a
    secret costs no file access.
    """
    if not secrets.scan(text, where):
        return []
    entries: tuple[Allowed, ...] = tuple(also)
    with suppress(Damaged):
        entries += load()
    return [
        finding
        for finding in secrets.scan(text, where, sign=sign if _may_sign() else None)
        if not any(entry.covers(finding, note) for entry in entries)
    ]


_LOOKING_ONLY: ContextVar[bool] = ContextVar("looking_only", default=False)


@contextmanager
def looking_only() -> Iterator[None]:
    """Within this no key is made: without one no value is allowed yet, and no finding has a fingerprint."""
    token = _LOOKING_ONLY.set(True)
    try:
        yield
    finally:
        _LOOKING_ONLY.reset(token)


def _may_sign() -> bool:
    return not _LOOKING_ONLY.get() or _key_path(str(config.home())).exists()


def _key_path(home: str) -> Path:
    return Path(home) / "fingerprint.key"


def sign(value: str) -> str:
    """The fingerprint of a value, whatever its line breaks and the end of the sentence that it stands in."""
    key = _key(str(config.home()))
    plain = "".join(value.split()).strip(".,:;!?'\"`()")
    return hmac.new(key, plain.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:20]


@cache
def _key(home: str) -> bytes:
    """The user's own key, made when first needed. Where none can be kept, one that nothing matches."""
    place = _key_path(home)
    for _ in range(2):
        with suppress(OSError, UnicodeDecodeError):
            if _KEY.fullmatch(text := place.read_text(encoding="ascii")):
                return bytes.fromhex(text)
        with suppress(OSError):
            atomic.make_folders(os.path.dirname(place))
            spare = atomic.write_beside(os.path.dirname(place), os.urandom(32).hex().encode(), mode=lambda _: 0o600)
            try:
                os.link(spare, place)  # of two processes one wins, and both read what it wrote
            finally:
                atomic.drop(spare)
    return os.urandom(32)


def load() -> tuple[Allowed, ...]:
    """The user's list. Raises Damaged where it cannot be read, or an entry of it has no reason."""
    path = list_path()
    return _parsed(_text(path), path)


def _text(path: Path) -> str:
    try:
        return read_bytes(str(path), _LIMIT + 1).decode("utf-8-sig")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        if path.is_dir():
            raise Damaged(f"{path} is a folder, where a file belongs.", hint=f"Move it away. {_HINT}") from None
        cause = getattr(error, "strerror", None) or error
        raise Damaged(f"{path} cannot be read ({cause}).", hint=_HINT) from None


def _parsed(text: str, path: Path) -> tuple[Allowed, ...]:
    from commonwealth import plainyaml  # noqa: PLC0415 - only where somebody has allowed something

    if not text.strip():
        return ()
    entries = plainyaml.mapping(text, str(path), _LIMIT).get("allow") or []
    if not isinstance(entries, list):
        raise Damaged(f"{path}: unparsable (it holds no list of what to `allow`).", hint=_HINT)
    return tuple(_entry(entry, number, path) for number, entry in enumerate(entries, 1))


def _entry(entry: Value, number: int, path: Path) -> Allowed:
    said = entry if isinstance(entry, dict) else {}
    texts = {key: value for key, value in said.items() if isinstance(value, str)}
    found = Allowed(texts.get("reason", "").strip(), texts.get("fingerprint"), texts.get("note"), texts.get("rule"))
    if not found.reason:
        raise Damaged(f"{path}: entry {number} has no `reason`.", hint=_HINT)
    if found.fingerprint is None and not (found.note and found.rule):
        raise Damaged(f"{path}: entry {number} has neither a `fingerprint` nor a `note` and a `rule`.", hint=_HINT)
    return found


def allow(name: str, reason: str, *, rule: str | None = None) -> bool:
    """Put `name`, a fingerprint, or the id of a note with the `rule`, on the user's list. False when it stood there.

    Raises Usage without a reason or for what is neither, Refused where the list cannot be written.
    """
    reason = one_line(reason, _LONGEST_REASON).strip()
    if not reason:
        raise Usage("An allowance needs a reason.", hint="Say why it is no secret: `--reason WHY`.")
    if secrets.scan(f"{name} {rule}", "") or secrets.scan(reason, ""):
        raise Refused("secret: the name or the reason holds one.", hint="Name the fingerprint, never the value.")
    if rule is None and not _FORM.fullmatch(name):
        raise Usage(
            f"{one_line(name, 60)} is no fingerprint.",
            hint="It has 20 digits and stands in the refusal; for a note give `--rule RULE` too.",
        )
    new = Allowed(reason, None, name, rule) if rule else Allowed(reason, name)
    entries = load()
    kept = tuple(entry for entry in entries if not _same(entry, new))
    if new in entries:
        return False
    _write(entries, [at for at, entry in enumerate(entries) if entry not in kept], new)
    return True


def _same(one: Allowed, other: Allowed) -> bool:
    return (one.fingerprint, one.note, one.rule) == (other.fingerprint, other.note, other.rule)


def revoke(name: str) -> tuple[Allowed, ...]:
    """Take the entries for a fingerprint or a note off the user's list, and return them. Raises Refused for none."""
    entries = load()
    found = [at for at, entry in enumerate(entries) if name in (entry.fingerprint, entry.note)]
    if not found:
        raise Refused(f"{one_line(name, 60)} is not allowed.", hint="`brain secrets list` shows what is.")
    _write(entries, found, None)
    return tuple(entries[at] for at in found)


def _write(entries: tuple[Allowed, ...], dropped: list[int], added: Allowed | None) -> None:
    """Write the list so that a person's comments stay where its form allows it."""
    from commonwealth import plainyaml  # noqa: PLC0415 - for writing only

    path = list_path()
    wanted = [entry for at, entry in enumerate(entries) if at not in dropped]
    if added:
        wanted.insert(min(dropped, default=len(wanted)), added)
    present = _text(path)
    edited = plainyaml.with_entry(present, "allow", dropped, _spelled(added) if added else None)
    for text in (edited, plainyaml.dumped({"allow": [_spelled(entry) for entry in wanted]})):
        with suppress(Damaged):
            if text and _parsed(text, path) == tuple(wanted):
                config.replace_file(path, text)
                return
    raise Refused(f"{path} cannot be written so that it is read back.", hint="Use another reason.")


def _spelled(entry: Allowed) -> dict[str, str | None]:
    given = {"fingerprint": entry.fingerprint, "note": entry.note, "rule": entry.rule, "reason": entry.reason}
    return {key: value for key, value in given.items() if value is not None}
