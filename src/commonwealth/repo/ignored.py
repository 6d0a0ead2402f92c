"""Notes that git ignores: by a rule of this brain, or only by what a person has excluded everywhere."""

from __future__ import annotations

import os

from commonwealth.repo.git import Git, fields


def ignored_on_purpose(git: Git, paths: list[str]) -> dict[str, str]:
    """For each ignored note the rule of this brain that ignores it; "" where only the person's own excludes do,
    which were made for other folders."""
    if not paths:
        return {}
    listing = "".join(f"{path}\0" for path in paths).encode("utf-8", "surrogateescape")
    words = ("check-ignore", "--verbose", "--no-index", "-z", "--stdin")
    done = git.call(*words, input=listing, env={"GIT_LITERAL_PATHSPECS": "0"})
    parts = fields(done.out)
    causes = dict.fromkeys(paths, "")
    for source, line, pattern, path in zip(*(parts[start::4] for start in range(4)), strict=True):
        local = not os.path.isabs(source) or source == os.path.join(git.common_dir, "info", "exclude")
        if local and path in causes:
            causes[path] = f"git ignores it by {source}, line {line} ({pattern})"
    return causes
