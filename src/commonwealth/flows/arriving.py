"""A brain that a rule names with its remote, and that is not here yet, is cloned in the background."""

from __future__ import annotations

import os

from commonwealth import config
from commonwealth.flows import brains, setup
from commonwealth.repo.lock import FileLock
from commonwealth.routing import Rule


def awaited(cwd: str | None, project_dir: str | None) -> Rule | None:
    """The rule for a session, if the brain that it names is missing and can be cloned.

    None where the environment names the brain: that is no rule's. Raises Damaged when the registry cannot be read.
    """
    if os.environ.get("COMMONWEALTH_BRAIN"):
        return None
    rule = brains.rule_for(cwd or project_dir or os.sep, project_dir)
    if rule is None or rule.brain is None or rule.remote is None:
        return None
    return None if os.path.lexists(brains.brain_folder(rule.brain)) else rule


def bring(rule: Rule) -> bool:
    """Clone the brain of `rule` to where the rule expects it. False where another process is doing so.

    Raises what `setup.join` raises.
    """
    assert rule.brain is not None
    assert rule.remote is not None
    lock = FileLock(str(config.home() / "arriving.lock"), f"clone {rule.brain}")
    if not lock.try_acquire():
        return False
    try:
        setup.join(rule.remote, brains.brain_folder(rule.brain), cwd=os.sep)
    finally:
        lock.release()
    return True
