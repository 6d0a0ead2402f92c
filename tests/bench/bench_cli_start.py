"""What starting `brain` costs: CPU milliseconds of the process, beside those of a bare interpreter.

Run as `python tests/bench/bench_cli_start.py [RUNS]`. The runs of all cases are interleaved, so that a busy
machine slows all of them alike; medians are printed. Budget: `brain --version` at most 110 ms.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
from pathlib import Path

BRAIN = str(Path(sys.executable).with_name("brain"))
CASES = {
    "python -I -c pass": [sys.executable, "-I", "-c", "pass"],
    "brain --version": [BRAIN, "--version"],
    "brain --help": [BRAIN, "--help"],
    "brain search --help": [BRAIN, "search", "--help"],
    "brain remember --help": [BRAIN, "remember", "--help"],
}


def cpu_ms(command: list[str]) -> float:
    """User and system time of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=60)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


def main(runs: int) -> None:
    """Print a table of medians."""
    figures: dict[str, list[float]] = {name: [] for name in CASES}
    for _ in range(runs):
        for name, command in CASES.items():
            figures[name].append(cpu_ms(command))
    bare = statistics.median(figures["python -I -c pass"])
    for name, values in figures.items():
        median = statistics.median(values)
        print(f"{name:<26}{median:8.0f} ms CPU{median / bare:8.1f} x bare")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 11)
