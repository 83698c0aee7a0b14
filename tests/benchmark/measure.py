"""How long calls take and how much memory they need."""

from __future__ import annotations

import gc
import json
import os
import platform
import random
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Clock: TypeAlias = Literal["wall", "cpu"]

TINY = 1e-9
ROOT = Path(__file__).parents[2]
PACKAGES = (
    "frame_metrics", "polars", "pandas", "pyarrow", "numpy", "pytrec-eval-terrier", "ir-measures", "ranx", "numba",
    "polars-ds", "rectools", "scikit-learn", "duckdb",
)  # fmt: skip


@dataclass(frozen=True)
class Cost:
    """The smallest wall and CPU time of some runs, in seconds; CPU time is that of all threads."""

    wall: float
    cpu: float
    runs: int

    def over(self, other: Cost, minus: Cost | None = None) -> dict[Clock, float]:
        """Return the ratio to another cost by each clock, after taking a third off."""
        off = minus or Cost(0.0, 0.0, 0)
        wall, cpu = max(self.wall - off.wall, TINY), max(self.cpu - off.cpu, TINY)
        return {"wall": wall / max(other.wall, TINY), "cpu": cpu / max(other.cpu, TINY)}


def interleaved(
    calls: Mapping[str, Callable[[], object]],
    *,
    repeat: int,
    enough: float = 15.0,
    tick: Callable[[str], None] = lambda _: None,
) -> dict[str, Cost]:
    """Return the cost of each call: one warming run, then rounds in which every call has a turn.

    Each round has an order of its own, since the memory that a call gives back makes the next one faster or slower, up
    to twice. A call that has used `enough` seconds is left out of further rounds.
    """
    for name, call in calls.items():
        tick(name)
        call()
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    for turn in range(repeat):
        gc.collect()
        for name in random.Random(turn).sample(list(calls), len(calls)):  # noqa: S311 an order, no secret
            tick(name)
            if not taken[name] or sum(wall for wall, _ in taken[name]) < enough:
                taken[name].append(timed(calls[name]))
    return {name: Cost(min(w for w, _ in runs), min(c for _, c in runs), len(runs)) for name, runs in taken.items()}


def timed(call: Callable[[], object]) -> tuple[float, float]:
    """Return wall and CPU seconds of one call; garbage collection counts, since users pay for it too."""
    cpu, wall = time.process_time(), time.perf_counter()
    kept = call()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    del kept
    return wall, cpu


def smallest(call: Callable[[], object], *, runs: int) -> Cost:
    """Return the cost of a short call, the smallest of many runs."""
    call()
    best = float("inf")
    cpu = time.process_time()
    for _ in range(runs):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return Cost(best, (time.process_time() - cpu) / runs, runs)


def peak() -> int:
    """Return the largest resident memory of this process so far, in bytes.

    Linux carries `ru_maxrss` over from the process that started this one; `VmHWM` belongs to this one alone.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    import resource

    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return largest if sys.platform == "darwin" else largest * 1024


def alone(*arguments: str, **environment: str) -> dict[str, Any]:
    """Return what `tests.benchmark.alone` says in a process of its own."""
    command = [sys.executable, "-m", "tests.benchmark.alone", *arguments]
    around = os.environ | environment
    done = subprocess.run(command, cwd=ROOT, env=around, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit {done.returncode}")
    return json.loads(done.stdout)


def surroundings(arguments: list[str]) -> dict[str, Any]:
    """Return what a reader needs to judge the numbers: date, command, versions and machine."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": " ".join(["python -m tests.benchmark", *arguments]),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in PACKAGES},
        "machine": {
            "system": platform.platform(),
            "cpu": _processor(),
            "cores": os.cpu_count(),
            "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
            "load": round(os.getloadavg()[0], 1),
        },
    }


def version(package: str) -> str | None:
    """Return the version of a package, None if it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if not info.exists():
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
    return names[0] if names else platform.machine()
