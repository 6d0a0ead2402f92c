"""At which moments a session is told notes by itself: as its person, the brain's team and the session itself allow."""

from __future__ import annotations

from collections.abc import Mapping

from commonwealth.flows.brains import Brain
from commonwealth.userconfig import UserConfig

VARIABLE = "COMMONWEALTH_SILENT"
"""Names of moments (start, prompt, edit), with commas between them, at which one session is told nothing."""


def tokens(moment: str, own: UserConfig, brain: Brain, env: Mapping[str, str]) -> int:
    """How many tokens of notes a session is told at `moment`, one of `config.MOMENTS`; 0 where it is switched off."""
    if moment in brain.config.silent or moment in quiet(env):
        return 0
    return {"start": own.start_tokens, "prompt": own.prompt_tokens, "edit": own.edit_tokens}[moment]


def quiet(env: Mapping[str, str]) -> frozenset[str]:
    """The moments that the environment of a session switches off."""
    return frozenset(name.strip().lower() for name in env.get(VARIABLE, "").split(","))
