"""Calls on a file. Nothing is imported here but what a job that makes them imports: their memory is measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

import frame_metrics  # noqa: F401 puts .rank on frames

if TYPE_CHECKING:
    from collections.abc import Callable

NINE = ("ndcg@10", "map", "map@10", "mrr", "p@5", "p@10", "recall@10", "recall@100", "hit_rate@10")


def bare(table: Any) -> Any:
    """Return the query that everything is compared with."""
    return table.group_by("query").agg(pl.col("relevance").sum())


def streamed(plan: pl.LazyFrame) -> pl.DataFrame:
    """Return the result of the streaming engine."""
    return plan.collect(engine="streaming")


FILE: dict[str, Callable[[pl.LazyFrame], pl.DataFrame]] = {
    "bare": lambda scan: streamed(bare(scan)),
    "nine": lambda scan: streamed(scan.rank.evaluate(*NINE)),
    "nothing": lambda scan: scan.select(pl.len()).collect(),
}
"""Calls on a Parquet file."""
