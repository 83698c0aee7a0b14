"""Queries that are worth reading: where the baseline is beaten, where it is not, where little is found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from frame_metrics.report.model import Group, Listed, Query, plain
from frame_metrics.report.values import QUERY, SYSTEM, TREND

if TYPE_CHECKING:
    from frame_metrics.formulas import Metric
    from frame_metrics.report.build import Context

_ROWS, _MOST_ROWS = 10, 30
_VALUE, _BASE, _RELEVANT, _CHANGE = (
    f"frame_metrics {name}" for name in ("value", "base value", "relevant", "difference")
)


def groups(
    values: pl.DataFrame, metric: Metric, systems: tuple[str, str | None], most: int, context: Context
) -> list[Group]:
    """Return groups of queries of the system in focus, with what explains their values.

    Parameters
    ----------
    values, metric
        The metrics of each query, and the one that decides.
    systems
        The system that the examples are about, and the one it is compared with, if there is one.
    most
        How many queries a group has.
    context
        Where their rows are.
    """
    if not most:
        return []
    focus, baseline = systems
    known: dict[tuple[Any, Any], Query] = {}  # a query may be in several groups

    def shown(row: dict[str, Any]) -> Query:
        key = (row[TREND], row[QUERY])
        if key not in known:
            known[key] = _query(row, metric, focus, baseline, context)
        return known[key]

    rows = _lined_up(values, str(metric), focus, baseline)
    return [
        Group(name, title, says, [shown(row) for row in some.iter_rows(named=True)])
        for name, title, says, some in _chosen(rows, str(metric), focus, baseline, most)
        if some.height
    ]


def _lined_up(values: pl.DataFrame, name: str, focus: str, baseline: str | None) -> pl.DataFrame:
    keys = (TREND, QUERY)
    columns = (pl.col(name).alias(_VALUE), pl.col("num_rel").alias(_RELEVANT))
    ours = values.filter(pl.col(SYSTEM) == focus).select(*keys, *columns)
    others = pl.lit(False) if baseline is None else pl.col(SYSTEM) == baseline
    theirs = values.filter(others).select(*keys, pl.col(name).alias(_BASE))
    both = ours.join(theirs, on=keys, how="left", nulls_equal=True).drop_nulls(_VALUE)
    return both.with_columns((pl.col(_VALUE) - pl.col(_BASE)).alias(_CHANGE))


def _chosen(
    rows: pl.DataFrame, name: str, focus: str, baseline: str | None, most: int
) -> list[tuple[str, str, str, pl.DataFrame]]:
    """Return the groups: a name, a title, what they are, and their queries, whatever the order of rows."""
    ties = (pl.col(TREND), pl.col(QUERY))
    change, value, relevant = pl.col(_CHANGE), pl.col(_VALUE), pl.col(_RELEVANT)
    some = rows.filter(relevant > 0)
    worst = some.sort(value, -relevant, *ties).head(most)
    low = ("worst", "Lowest values", f"Lists of {focus} with the lowest {name}, where something is relevant.", worst)
    if baseline is None:
        best = some.sort(-value, -relevant, *ties).head(most)
        return [low, ("best", "Highest values", f"Lists with the highest {name}.", best)]
    gains = rows.filter(change > 0).sort(-change, *ties).head(most)
    losses = rows.filter(change < 0).sort(change, *ties).head(most)
    return [
        ("losses", "Largest losses", f"Queries for which {focus} is furthest below {baseline} in {name}.", losses),
        ("gains", "Largest gains", f"Queries for which {focus} is furthest above {baseline} in {name}.", gains),
        low,
    ]


def _query(row: dict[str, Any], metric: Metric, focus: str, baseline: str | None, context: Context) -> Query:
    shown = [(focus, row[_VALUE])]
    if baseline is not None and row[_BASE] is not None:
        shown.append((baseline, row[_BASE]))
    lists = [_listed(system, value, row, metric, context) for system, value in shown]
    trend = "" if row[TREND] in ("", None) else str(row[TREND])
    return Query(str(row[QUERY]), trend, row[_VALUE], row[_BASE], row[_RELEVANT], lists)


def _listed(system: str, value: float, row: dict[str, Any], metric: Metric, context: Context) -> Listed:
    subject = context.find(system, row[TREND])
    rows = context.collect(subject.explained(metric, system, row[TREND], row[QUERY]))
    # What was missed stands at the end, and is worth more to a reader than the rows in the middle.
    kept = rows.filter((pl.int_range(pl.len()) < _ROWS) | (pl.col(subject.relevance) > 0)).head(_MOST_ROWS)
    cells = [[plain(cell) for cell in one] for one in kept.rows()]
    return Listed(system, value, list(rows.columns), cells, rows.height - kept.height)
