"""The CI files that run `brain check` on every change of a brain."""

from __future__ import annotations

import json
import os

from commonwealth.errors import Refused
from commonwealth.flows import installing
from commonwealth.flows.brains import Brain
from commonwealth.repo.git import Git
from commonwealth.repo.head import main_branch

_HEAD = "# Made by `brain check --ci {name}`, and yours from now on: it is never written again.\n"

_GITHUB = """\
name: brain check
on:
  pull_request:
  push:
    branches: [{branch}]
permissions:
  contents: read
jobs:
  check:
    runs-on: ubuntu-latest
    timeout-minutes: 15
    steps:
      - uses: actions/checkout@v4
        with:
          fetch-depth: 0
          persist-credentials: false
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - name: Install
        run: python -m pip install --quiet "{source}"
      - name: Check the notes
        env:
          BASE: ${{{{ github.event.pull_request.base.sha }}}}
        run: brain check --brain . --annotate github ${{BASE:+--base "$BASE"}}
"""

_GITLAB = """\
brain-check:
  image: python:3.12
  variables:
    GIT_DEPTH: "0"
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
  script:
    - python -m pip install --quiet "{source}"
    - brain check --brain . ${{CI_MERGE_REQUEST_DIFF_BASE_SHA:+--base "$CI_MERGE_REQUEST_DIFF_BASE_SHA"}}
"""

PLACES = {"github": ".github/workflows/brain-check.yml", "gitlab": ".gitlab-ci.yml"}


def text(brain: Brain, name: str, install: str | None = None) -> str:
    """The CI file for `name`, github or gitlab, that installs this package from `install`.

    Raises as `installing.source` does.
    """
    source = installing.source(install)
    body, branch = {"github": _GITHUB, "gitlab": _GITLAB}[name], json.dumps(main_branch(Git(brain.root)))
    return _HEAD.format(name=name) + body.format(source=source, branch=branch)


def write(brain: Brain, name: str, install: str | None = None) -> tuple[str, bool]:
    """Put the CI file into the brain; its path, and whether it was written.

    Raises Refused where another file is there: it is a person's and stays; and as `text` does.
    """
    path = PLACES[name]
    place = os.path.join(brain.root, *path.split("/"))
    wanted = text(brain, name, install)
    folder = brain.root
    for part in path.split("/")[:-1]:
        folder = folder / part
        if folder.is_symlink():
            raise Refused(f"{folder} is a link.", hint="Put a folder there.")
    try:
        os.makedirs(folder, exist_ok=True)
        with open(place, "x", encoding="utf-8", newline="\n") as file:
            file.write(wanted)
    except FileExistsError:
        if not os.path.islink(place) and _is(place, wanted):
            return path, False
        raise Refused(
            f"{path} is there already, and it is yours.",
            hint=f"`brain check --ci {name} --show` prints the job; put it into your file.",
        ) from None
    except OSError as error:
        raise Refused(f"{path} cannot be written ({error.strerror}).", hint="Make the folder writable.") from None
    return path, True


def _is(place: str, wanted: str) -> bool:
    try:
        with open(place, encoding="utf-8", newline="") as file:
            return file.read(len(wanted) + 1) == wanted
    except (OSError, UnicodeDecodeError):
        return False
