"""A note as it is stored in one row, and back: exactly the note that was handed in, proven by a checksum."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from json import JSONEncoder, loads
from operator import attrgetter
from typing import Any
from zlib import crc32

from commonwealth.index.schema import NOTE_FIELDS, PROVENANCE_FIELDS, Unusable
from commonwealth.model import Note, Provenance, Reviewed, Source, Verified

_NESTED = {"reviewed": Reviewed, "source": Source, "verified": Verified}
_NESTED_FIELDS = {name: tuple(field.name for field in fields(made)) for name, made in _NESTED.items()}
_AT = {name: NOTE_FIELDS.index(name) for name in ("provenance", *_NESTED)}

_values = attrgetter(*NOTE_FIELDS)
_origin = attrgetter(*PROVENANCE_FIELDS)
_encode = JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=dict).encode


def pack(note: Note) -> tuple[str, str, int]:
    """Everything but the body as JSON, the body, and a checksum of both. Raises UnicodeEncodeError.

    The JSON is a list in the order of the fields, with 0 for what is empty: half the size of one with names.
    """
    values = [value if value or value == "" else 0 for value in _values(note)]
    origin = _origin(note.provenance)
    values[_AT["provenance"]] = [value if value or value == "" else 0 for value in origin] if any(origin) else 0
    for name, names in _NESTED_FIELDS.items():
        if values[_AT[name]]:
            values[_AT[name]] = [getattr(values[_AT[name]], field) for field in names]
    rest = _encode(values)
    return rest, note.body, checksum(rest, note.body)


def checksum(rest: str, body: str) -> int:
    """CRC-32 over both texts."""
    return crc32(body.encode(), crc32(rest.encode()))


def proven(rest: str, body: str, expected: int) -> Note:
    """The note of a stored row. Raises Unusable where the row is damaged."""
    try:
        if checksum(rest, body) != expected:
            raise Unusable("a stored note does not match its checksum")
        plain = _given(zip(NOTE_FIELDS, loads(rest), strict=True))
        origin = plain.pop("provenance", None)
        for name, made in _NESTED.items():
            if name in plain:
                plain[name] = made(*plain[name])
        if origin:
            plain["provenance"] = Provenance(**_given(zip(PROVENANCE_FIELDS, origin, strict=True)))
        return Note(body=body, **plain)
    except (ValueError, TypeError, AttributeError) as error:
        raise Unusable(f"a stored note cannot be read back ({error})") from None


def _given(named: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    return {name: tuple(value) if type(value) is list else value for name, value in named if value != 0}
