"""What stands at each rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from frame_metrics.formulas.terms import RANK
from frame_metrics.plan import checks
from frame_metrics.plan.table import RELEVANCE, free, prepared

if TYPE_CHECKING:
    from frame_metrics.plan.question import Question


def positions(frame: pl.LazyFrame, asked: Question) -> pl.LazyFrame:
    """Return, for each rank, how many rows stand there, and how many and what share of them are relevant."""
    free(asked, "k", "rows", "relevant", "share")
    table = prepared(frame, asked)
    relevance, level = pl.col(RELEVANCE), asked.min_relevance
    relevant = (relevance > 0 if level is None else relevance >= level).fill_null(False)
    fine = checks.fine(checks.values(table, asked), asked, table.frame)
    rows = table.frame.with_columns(pl.when(fine).then(pl.col(RANK)).alias(RANK)).filter(pl.col(RANK).is_not_null())
    counts = [pl.len().cast(pl.Int64).alias("rows"), relevant.sum().cast(pl.Int64).alias("relevant")]
    ranks = rows.group_by(*asked.groups, pl.col(RANK).cast(pl.Int64).alias("k")).agg(counts)
    ranks = ranks.with_columns((pl.col("relevant") / pl.col("rows")).alias("share"))
    return checks.guarded(ranks, table, asked, ordered=True).sort(*asked.groups, "k", nulls_last=True)
