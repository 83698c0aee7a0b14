"""What Spark costs, beside Polars on one machine, on the same files: `python -m tests.benchmark.spark`.

Ways to the same two numbers, nDCG@10 and average precision: the package on Polars, streaming; the package on Spark; the
same without dropping rows before the shuffle; and two window columns and sums in Spark SQL, written by hand. Times are
the smallest of several, after one call that starts the workers.
"""

from __future__ import annotations

import argparse
import os
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

import frame_metrics as fm
from frame_metrics.plan import parted
from tests import spark
from tests.benchmark import data

if TYPE_CHECKING:
    from collections.abc import Callable

METRICS = ("ndcg@10", "map")
PEAK = 0.05
"""How often memory is looked at, in seconds."""


class Workers(threading.Thread):
    """Watches the Python workers below this process: the highest resident memory of one of them, in MB."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak = 0.0
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.wait(PEAK):
            for status in Path("/proc").glob("[0-9]*/cmdline"):
                with suppress(OSError, ValueError):
                    if b"pyspark.daemon" in status.read_bytes():
                        lines = (status.parent / "status").read_text().splitlines()
                        used = next(line for line in lines if line.startswith("VmRSS")).split()[1]
                        self.peak = max(self.peak, int(used) / 1e3)


def cpu(pid: int) -> float:
    """Return the CPU seconds of a process and of all below it, those that have ended included."""
    parents, used = {}, {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = status.read_text().rpartition(")")[2].split()
            number = int(status.parent.name)
            parents[number] = int(fields[1])
            used[number] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    found, below = 0.0, {pid}
    while below:
        found += sum(used.get(one, 0.0) for one in below)
        below = {child for child, parent in parents.items() if parent in below}
    return found


def by_hand(frame: Any) -> list[float]:
    """Return both numbers by windows and sums of Spark."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    down = Window.partitionBy("query").orderBy("rank")
    best = Window.partitionBy("query").orderBy(f.desc("relevance"))
    rows = frame.select("query", "rank", "relevance")
    rows = rows.withColumn("hit", f.sum((f.col("relevance") > 0).cast("int")).over(down))
    rows = rows.withColumn("ideal", f.row_number().over(best))
    gain = f.col("relevance")
    each = rows.groupBy("query").agg(
        f.sum(f.when(f.col("rank") <= 10, gain / f.log2(f.col("rank") + 1))).alias("dcg"),
        f.sum(f.when(f.col("ideal") <= 10, gain / f.log2(f.col("ideal") + 1))).alias("idcg"),
        f.sum(f.when(gain > 0, f.col("hit") / f.col("rank"))).alias("precision"),
        f.sum((gain > 0).cast("int")).alias("relevant"),
    )
    ndcg = f.avg(f.when(f.col("idcg") > 0, f.coalesce("dcg", f.lit(0)) / f.col("idcg")).otherwise(0))
    ap = f.avg(f.when(f.col("relevant") > 0, f.coalesce("precision", f.lit(0)) / f.col("relevant")).otherwise(0))
    return list(each.agg(ndcg, ap).collect()[0])


def whole(frame: Any) -> list[float]:
    """Return both numbers with all rows shuffled."""
    reduced = parted.kind_of_rows
    parted.kind_of_rows = lambda asked, metrics: "all"  # noqa: ARG005
    try:
        return list(fm.rank(frame).evaluate(*METRICS).collect()[0])
    finally:
        parted.kind_of_rows = reduced


def polars(path: Path) -> list[float]:
    """Return both numbers on one machine."""
    return list(pl.scan_parquet(path).rank.evaluate(*METRICS).collect(engine="streaming").row(0))


def measured(ask: Callable[[], list[float]], session: Any, repeat: int) -> dict[str, Any]:
    """Return the numbers, and what they cost."""
    ask()
    times, used, numbers = [], [], []
    rows, sent = spark.shuffled(session)
    watch = Workers()
    watch.start()
    for _ in range(repeat):
        start, before = time.perf_counter(), cpu(os.getpid())
        numbers = ask()
        times.append(time.perf_counter() - start)
        used.append(cpu(os.getpid()) - before)
    watch.over.set()
    after = spark.shuffled(session)
    return {
        "numbers": numbers,
        "wall": min(times),
        "cpu": min(used),
        "rows": (after[0] - rows) / repeat,
        "bytes": (after[1] - sent) / repeat,
        "worker": watch.peak,
    }


def main() -> None:
    """Measure, and print a table in Markdown."""
    parser = argparse.ArgumentParser("python -m tests.benchmark.spark", description=__doc__)
    parser.add_argument("--rows", default="1000000,10000000", help="numbers of rows, with commas")
    parser.add_argument("--forms", default="sorted,shuffled", help="forms of the data, with commas")
    parser.add_argument("--repeat", type=int, default=3, help="rounds of which the smallest time counts")
    parser.add_argument("--ours", action="store_true", help="the package on Polars and on Spark, and no other way")
    parser.add_argument("--master", default=spark.MASTER, help="the cluster")
    asked = parser.parse_args()
    if (reason := spark.lacking()) is not None:
        parser.error(reason)
    with spark.cluster(asked.master) as session:
        head = "| rows | order | way | wall s | CPU s | rows shuffled | MB shuffled | MB a worker |"
        print(head, "|---:|---|---|---:|---:|---:|---:|---:|", sep="\n")
        for size in map(int, asked.rows.split(",")):
            for form in asked.forms.split(","):
                path = data.files(form, size).table
                # Small files too are read in parts, so that all executors have some; large ones as Spark would.
                session.conf.set("spark.sql.files.maxPartitionBytes", min(path.stat().st_size // 8, 128 * 2**20))
                frame = session.read.parquet(str(path))
                ways = {
                    "Polars, streaming": lambda path=path: polars(path),
                    "Spark": lambda frame=frame: list(fm.rank(frame).evaluate(*METRICS).collect()[0]),
                    "Spark, all rows shuffled": lambda frame=frame: whole(frame),
                    "Spark SQL by hand": lambda frame=frame: by_hand(frame),
                }
                if asked.ours:
                    ways = {name: ways[name] for name in ("Polars, streaming", "Spark")}
                expected = None
                for name, ask in ways.items():
                    found = measured(ask, session, asked.repeat)
                    expected = expected or found["numbers"]
                    assert all(abs(a - b) < 1e-9 for a, b in zip(found["numbers"], expected, strict=True)), name
                    cells = [f"{size:,}", form, name, f"{found['wall']:.1f}", f"{found['cpu']:.1f}"]
                    cells += [f"{found['rows']:,.0f}", f"{found['bytes'] / 1e6:,.1f}"]
                    cells += [f"{found['worker']:.0f}" if found["rows"] and name != "Spark SQL by hand" else ""]
                    print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
