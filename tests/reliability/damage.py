"""The damage zoo: one case for each way in which a brain breaks, with what the doctor says and what becomes of it."""

from __future__ import annotations

from . import damage_files, damage_git, damage_own
from .damage_core import CASES, Case, applied

__all__ = ["CASES", "MODULES", "Case", "applied"]

MODULES = (damage_git, damage_files, damage_own)
"""Where the cases are; to load them is to put them into the table."""
