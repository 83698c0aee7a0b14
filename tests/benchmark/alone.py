"""One call in a process of its own, for what depends on all that a process did before: memory, import, compilation.

python -m tests.benchmark.alone file NAME PATH      a call of `file.FILE` on a Parquet file: seconds, peak memory
python -m tests.benchmark.alone import              seconds that `import frame_metrics` takes after Polars and pandas
python -m tests.benchmark.alone first PEER          seconds of the first run of a peer, on 1,000 rows
"""

from __future__ import annotations

import importlib
import json
import sys
import time


def main(kind: str, *arguments: str) -> dict[str, float]:
    """Return what was asked for, as numbers by name."""
    return {"file": _file, "import": _import, "first": _first}[kind](*arguments)


def _file(name: str, path: str) -> dict[str, float]:
    import polars as pl

    from tests.benchmark import file, measure

    before = measure.peak()
    wall, cpu = measure.timed(lambda: file.FILE[name](pl.scan_parquet(path)))
    return {"wall": wall, "cpu": cpu, "peak": measure.peak(), "before": before}


def _import() -> dict[str, float]:
    import pandas as pd
    import polars as pl

    assert pd.__name__ != pl.__name__
    start = time.perf_counter()
    importlib.import_module("frame_metrics")
    return {"wall": time.perf_counter() - start}


def _first(name: str) -> dict[str, float]:
    from tests.benchmark import measure, packages, peers

    peer = peers.find(name)
    tables = packages.Tables(1_000)
    wall, cpu = measure.timed(lambda: peer.numbers(tables))
    return {"wall": wall, "cpu": cpu}


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
