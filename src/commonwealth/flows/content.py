"""What the files of a brain mean, handed to the code that moves them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial

from commonwealth import config
from commonwealth.errors import BadNote, Damaged
from commonwealth.flows import allowed, closures
from commonwealth.flows.brains import Brain
from commonwealth.flows.contents import derive
from commonwealth.model import Finding
from commonwealth.notes import codec, derived, naming
from commonwealth.notes.merge import merge3
from commonwealth.repo import markers
from commonwealth.repo.content import Content, Merged, Snapshot


def content_of(brain: Brain) -> Content:
    """The meaning of the files of `brain`."""
    owns = partial(naming.kind_of, folders=brain.folders)
    return Content(
        watched=(*sorted(naming.places(brain.folders)), config.CONFIG_PATH, derived.ROUTER),
        owns=owns,
        is_derived=partial(_is_derived, tuple(naming.places(brain.folders))),
        is_config=config.CONFIG_PATH.__eq__,
        check=partial(_check, owns),
        scan=_scan,
        merge=_merge,
        derive=partial(_derive, brain),
        disputes=partial(_disputes, owns),
        is_made=derived.is_made,
        close=partial(closures.close, brain),
    )


def _derive(brain: Brain, paths: frozenset[str] | None, snapshot: Snapshot) -> dict[str, bytes | None]:
    """The derived files by the config of the snapshot itself, so that they are the same in every clone."""
    data, settings = snapshot.read(config.CONFIG_PATH), brain.config
    with suppress(Damaged):
        settings = config.brain_config((data or b"").decode("utf-8-sig", "replace"), config.CONFIG_PATH)
    if paths is not None and config.CONFIG_PATH in paths:
        paths = None
    return derive(settings.name, settings.folders, paths, snapshot)


def _is_derived(folders: tuple[str, ...], path: str) -> bool:
    if path == derived.ROUTER:
        return True
    return path.endswith("/" + derived.INDEX) and path.startswith(tuple(f"{folder}/" for folder in folders))


def _check(owns: Callable[[str], str | None], path: str, data: bytes) -> str | None:
    """Why these bytes cannot be canon, in one clause."""
    if line := markers.first_line(data):
        return f"line {line}: it holds git's conflict markers"
    try:
        if path == config.CONFIG_PATH:
            config.read_brain_config(data, path)
        else:
            codec.parse(codec.decode(data, path), path, owns(path) or "")
    except BadNote as error:
        return f"line {error.line}: {error.cause}" if error.line else error.cause
    except Damaged as error:
        return error.message.rstrip(".")
    return None


def _disputes(owns: Callable[[str], str | None], path: str, data: bytes) -> str | None:
    kind = owns(path)
    if kind is None or b"conflict_of" not in data:
        return None
    try:
        return codec.parse(codec.decode(data, path), path, kind)[0].conflict_of
    except BadNote:
        return None


def _scan(path: str, data: bytes) -> Sequence[Finding]:
    scan = partial(allowed.scan, note=naming.stem(path))
    found = scan(data.decode("utf-8", "replace"), "text")
    if not found and b"\0" in data:  # UTF-16 or UTF-32, of either order and wherever in a binary file it begins
        for coding in ("utf-16-le", "utf-16-be"):
            found = found or scan(data.decode(coding, "replace").replace("\0", ""), "text")
    return [*found, *scan(path, "file name")] if path else found


def _merge(base: bytes | None, ours: bytes, theirs: bytes, path: str) -> Merged:
    merged = merge3(None if base is None else _text(base), _text(ours), _text(theirs), path)
    siblings: Mapping[str, bytes] = {merged.sibling[0]: _bytes(merged.sibling[1])} if merged.sibling else {}
    return Merged(_bytes(merged.text), siblings, merged.warnings)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
