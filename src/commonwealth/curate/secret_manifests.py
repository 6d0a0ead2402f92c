"""The values of a cluster's Secret manifest: base64 of anything, also of a short plain word."""

from __future__ import annotations

from collections.abc import Iterator

from commonwealth.curate.randomness import compiled, decoded, is_placeholder, is_reference
from commonwealth.curate.secret_contexts import Span

_KIND = r"(?i)[\"']?kind[\"']?\s*:\s*[\"']?(?:sealed)?secret[\"']?(?![\w-])"
_BLOCK = r"(?im)^([ \t>]*)(?:string)?data:[ \t]*\r?\n((?:\1[ \t]+[^\n]*(?:\n|\Z)){1,100})"
_ENTRY = r"(?m)^[ \t>]*[\w.-]{1,100}[ \t]*:[ \t]*[\"']?([^\s\"'#|>]{4,4096})"
_OBJECT = r"(?i)[\"'](?:string)?data[\"']\s*:\s*\{([^{}]{1,20000})\}"
_MEMBER = r"[\"'][\w.-]{1,100}[\"']\s*:\s*[\"']([^\s\"']{4,4096})[\"']"
_NEAR = 4000  # characters between the kind and its data
_AT_MOST = 50  # manifests of one text


def of_cluster(text: str, lower: str) -> Iterator[Span]:
    """What stands under `data` or `stringData` near `kind: Secret`, in YAML or JSON."""
    if "secret" not in lower or "data" not in lower or "kind" not in lower:
        return
    for number, kind in enumerate(compiled(_KIND).finditer(text)):
        if number == _AT_MOST:
            return
        begin, end = max(0, kind.start() - _NEAR), min(len(text), kind.end() + _NEAR)
        for outer, inner, group in ((_BLOCK, _ENTRY, 2), (_OBJECT, _MEMBER, 1)):
            for block in compiled(outer).finditer(text, begin, end):
                for entry in compiled(inner).finditer(text, *block.span(group)):
                    if _is_value(entry[1]):
                        yield Span("cluster-secret", *entry.span(1))


def _is_value(value: str) -> bool:
    inner = decoded(value).strip() or value
    return not (is_placeholder(value) or is_placeholder(inner) or is_reference(value) or inner.isdigit())
