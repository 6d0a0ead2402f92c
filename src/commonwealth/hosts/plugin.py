"""The plugin's files and the state of an installation, for any host.

The files are the ones at the top of the repository; a wheel carries them inside the package. Hosts are
pointed at a copy in `COMMONWEALTH_HOME`, because a host keeps the path: an environment may move, a checkout
may change branch.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import commonwealth
from commonwealth import config
from commonwealth.errors import Damaged, Refused

NAME = "commonwealth"
IDENTIFIER = f"{NAME}@{NAME}"
"""The plugin in its marketplace, as both hosts spell it."""

_PARTS = (".claude-plugin", ".agents", "plugin")
_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that keeps the plugin from working, and the step that mends it."""

    what: str
    fix: str


@dataclass(frozen=True, slots=True)
class PluginStatus:
    """Whether the plugin works in one host.

    `version` is that of the installed plugin, None where there is none; `notes` are steps that may be open
    and cannot be seen from here.
    """

    host: str
    version: str | None
    faults: tuple[Fault, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def works(self) -> bool:
        """No fault was found."""
        return not self.faults


@dataclass(frozen=True, slots=True)
class Installed:
    """What a host says of our plugin. `folder` is the host's own copy, where it tells."""

    version: str | None
    enabled: bool
    folder: Path | None


def source() -> Path:
    """The folder with the marketplace's files: in the package where a wheel put them, else the checkout.

    Raises Damaged where neither has them.
    """
    package = Path(commonwealth.__file__).parent
    for folder in (package / "_marketplace", package.parent.parent):
        if all((folder / part).is_dir() for part in _PARTS):
            return folder
    raise Damaged(
        f"The plugin's files are missing from the installation at {package}.",
        hint="Install Commonwealth again.",
    )


def marketplace() -> Path:
    """The folder that hosts are pointed at."""
    return config.home() / "marketplace"


def publish() -> Path:
    """Bring the marketplace folder up to date with this version's files; returns the folder.

    Unchanged files are not written, files of an older version go. Raises Refused where it cannot be written.
    """
    wanted, target = _files(source()), marketplace()
    found = _files(target)
    for path, text in wanted.items():
        if found.get(path) != text:
            config.replace_file(target / path, text)
    for path in found.keys() - wanted.keys():
        (target / path).unlink(missing_ok=True)
    return target


def _files(root: Path) -> dict[str, str]:
    """The text of each file of a marketplace, by its path below `root`."""
    paths = [path for part in _PARTS for path in (root / part).rglob("*") if path.is_file()]
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def same_files(copy: Path) -> bool:
    """Whether a host's copy of the plugin has the files of this version."""
    theirs = {path: file.read_bytes() for path, file in _below(copy) if not path.startswith(".orphaned")}
    return theirs == {path: file.read_bytes() for path, file in _below(source() / "plugin")}


def _below(root: Path) -> list[tuple[str, Path]]:
    return [(path.relative_to(root).as_posix(), path) for path in root.rglob("*") if path.is_file()]


@dataclass(frozen=True, slots=True)
class Client:
    """The host's own command, the only way in which we change its settings."""

    command: str
    product: str

    def run(self, *args: str, env: Mapping[str, str]) -> str:
        """Run a sub-command and return what it printed.

        Raises Refused, with the host's own words, where it is not installed, fails or does not end.
        """
        executable = shutil.which(self.command, path=env.get("PATH"))
        if executable is None:
            raise Refused(
                f"{self.product} is not installed: there is no `{self.command}` on the PATH.",
                hint=f"Install {self.product}, or run this where `{self.command}` is found.",
            )
        said = f"`{self.command} {' '.join(args)}`"
        try:
            done = subprocess.run(
                [executable, *args],
                env=dict(env),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Refused(f"{said} did not run ({error}).", hint="Run it by hand to see why.") from None
        out = done.stdout.decode("utf-8", "replace")
        if done.returncode:
            words = (done.stderr.decode("utf-8", "replace").strip() or out.strip()).splitlines()
            raise Refused(f"{said} failed: {' '.join(words[-3:])}", hint="Run it by hand to see why.")
        return out


def faults(host: str, installed: Installed | None, enable: str, env: Mapping[str, str]) -> tuple[Fault, ...]:
    """What is wrong with an installation, as far as it can be seen without starting a session."""
    again = f"Run `brain plugin install --host {host}`."
    if installed is None:
        return (Fault("The plugin is not installed.", again), *_command_faults(env))
    found: list[Fault] = []
    if not installed.enabled:
        found.append(Fault("The plugin is switched off.", f"Run `{enable}`."))
    if installed.folder and not same_files(installed.folder):
        found.append(Fault(f"The host has the files of another version ({installed.version}).", again))
    return (*found, *_command_faults(env))


def _command_faults(env: Mapping[str, str]) -> list[Fault]:
    """Hooks and server call `brain` by name: is there one, does it start, and is it this one?"""
    executable = shutil.which("brain", path=env.get("PATH", os.defpath))
    if executable is None:
        return [Fault("There is no `brain` on the PATH.", "Install it from its checkout: `pipx install .`.")]
    try:
        done = subprocess.run(
            [executable, "--version"], env=dict(env), capture_output=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return [Fault(f"{executable} does not start ({error}).", "Install Commonwealth again.")]
    if done.returncode:
        return [Fault(f"{executable} ends with {done.returncode}.", "Install Commonwealth again.")]
    version = done.stdout.decode("utf-8", "replace").split()
    if commonwealth.__version__ not in version:
        wrong = f"{executable} is {' '.join(version)[:80]}, and this is {commonwealth.__version__}."
        return [Fault(wrong, "Remove the one that you do not want from the PATH.")]
    return []
