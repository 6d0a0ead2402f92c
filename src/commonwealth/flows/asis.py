"""The index as it stands, asked without a look at the files that it was made from: all that a hurried hook needs."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import TypeVar

from commonwealth.flows.brains import Brain
from commonwealth.index import schema

T = TypeVar("T")


def ask_as_it_is(brain: Brain, question: Callable[[sqlite3.Connection], T]) -> T:
    """The answer of the index as it stands. Raises Unusable where there is none that works."""
    with closing(schema.connect(brain.index_dir)) as conn:
        return question(conn)
