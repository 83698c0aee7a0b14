"""Seeded tables: 100 rows a query, grades 0 to 3, 7 % relevant.

All forms hold the same lists: integer keys in order of the query, integer keys shuffled, text keys, and a run with its
judgments in a table of their own. So every form has the same metrics. A row is a function of its place alone, which
lets a file be written in chunks, whatever its size.
"""

from __future__ import annotations

import math
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import polars as pl
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Form: TypeAlias = Literal["sorted", "shuffled", "string", "qrels"]

ROWS_A_QUERY = 100
PERCENT_RELEVANT = 7
CHUNK = 250_000
SEED = 20_240_229
ITEMS = 1_000_003
SEGMENTS = ("br", "cn", "de", "fr", "in", "jp", "ng", "us")
FOLDER = Path(tempfile.gettempdir()) / f"frame_metrics_benchmark_{SEED}"


@dataclass(frozen=True)
class Files:
    """Where the Parquet files of a form are; only the form `qrels` has judgments of their own."""

    table: Path
    qrels: Path | None = None

    def scan(self) -> pl.LazyFrame:
        """Return the table, not read yet."""
        return pl.scan_parquet(self.table)

    def scan_qrels(self) -> pl.LazyFrame | None:
        """Return the judgments, not read yet."""
        return None if self.qrels is None else pl.scan_parquet(self.qrels)


def files(form: Form, rows: int, tick: Callable[[], None] = lambda: None) -> Files:
    """Return the files of a form with this many rows, written if they are not there yet."""
    FOLDER.mkdir(exist_ok=True)
    table = FOLDER / f"{form}_{rows}.parquet"
    if form == "qrels":
        qrels = FOLDER / f"{form}_{rows}_judgments.parquet"
        _write(table, (run(c) for c in chunks(form, rows)), tick)
        _write(qrels, (judgments(c) for c in chunks(form, rows)), tick)
        return Files(table, qrels)
    _write(table, (c.drop("judged") for c in chunks(form, rows)), tick)
    return Files(table)


def free_gb() -> float:
    """Return how many GB are free where the files go."""
    return shutil.disk_usage(tempfile.gettempdir()).free / 1e9


def clean() -> None:
    """Delete every file that was written."""
    shutil.rmtree(FOLDER, ignore_errors=True)


def chunks(form: Form, rows: int) -> Iterator[pl.DataFrame]:
    """Return the table in parts, with a column `judged` that says which rows the judgments have."""
    stride = _stride(rows) if form == "shuffled" else 1
    for start in range(0, rows, CHUNK):
        places = np.arange(start, min(start + CHUNK, rows)) * stride % rows
        if form == "shuffled":
            np.random.default_rng(SEED + start).shuffle(places)
        yield _spelt(_at(places)) if form == "string" else _at(places)


def run(table: pl.DataFrame) -> pl.DataFrame:
    """Return the lists without relevance."""
    return table.select("query", "item", "rank", "segment")


def judgments(table: pl.DataFrame) -> pl.DataFrame:
    """Return the judgments: the relevant rows, some others, and at least one of every query."""
    return table.filter("judged").select("query", "item", "relevance")


def _at(places: np.ndarray) -> pl.DataFrame:
    """Return the rows at these places; place 100 q + r - 1 is rank r of query q."""
    query, rank = places // ROWS_A_QUERY, places % ROWS_A_QUERY + 1
    draw, list_draw = _mixed(places), _mixed(query + 2**40)
    relevant = draw % 100 < PERCENT_RELEVANT
    judged = relevant | ((draw >> np.uint64(16)) % 100 < PERCENT_RELEVANT) | (rank == ROWS_A_QUERY)
    segment = pl.Series((list_draw % len(SEGMENTS)).astype(np.uint8)).replace_strict(dict(enumerate(SEGMENTS)))
    return pl.DataFrame(
        {
            "query": query,
            "item": (list_draw % ITEMS).astype(np.int64) + rank * 7919,
            "rank": rank,
            "relevance": np.where(relevant, 1 + (draw >> np.uint64(32)) % 3, 0).astype(np.int64),
            "segment": segment,
            "judged": judged,
        }
    ).with_columns(pl.col("item") % ITEMS)


def _spelt(table: pl.DataFrame) -> pl.DataFrame:
    """Return the table with keys of 14 and 13 characters, more than a text view holds by itself."""
    return table.with_columns(
        pl.format("query-{}", pl.col("query").cast(pl.String).str.zfill(8)).alias("query"),
        pl.format("item-{}", pl.col("item").cast(pl.String).str.zfill(8)).alias("item"),
    )


def _stride(rows: int) -> int:
    """Return a step that visits every row once, far from the one before."""
    step = int(rows * 0.618) | 1
    while math.gcd(step, rows) != 1:
        step += 2
    return step


def _mixed(values: np.ndarray) -> np.ndarray:
    """Return random-looking numbers, each a function of its value alone (splitmix64)."""
    mixed = (values.astype(np.uint64) + np.uint64(SEED)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def _write(path: Path, parts: Iterator[pl.DataFrame], tick: Callable[[], None]) -> None:
    if path.exists():
        return
    unfinished = path.with_suffix(".part")
    writer = None
    for part in parts:
        arrow = part.to_arrow(compat_level=pl.CompatLevel.oldest())
        writer = writer or pq.ParquetWriter(unfinished, arrow.schema, compression="zstd")
        writer.write_table(arrow)
        tick()
    writer.close()
    unfinished.rename(path)
