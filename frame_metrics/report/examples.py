"""Queries that are worth reading: where the baseline is beaten, where it is not, where little is found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from frame_metrics.report.model import Group, Listed, Query, plain
from frame_metrics.report.values import QUERY, SYSTEM, TREND, Named

if TYPE_CHECKING:
    from collections.abc import Iterable

    from frame_metrics.formulas import Metric
    from frame_metrics.report.build import Context
    from frame_metrics.report.values import Subject

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
    rows = _lined_up(values, str(metric), focus, baseline)
    chosen = _chosen(rows, str(metric), focus, baseline, most)
    # A query may be in several groups.
    shown = {
        (row[TREND], row[QUERY]): _shown(row, focus, baseline) for *_, some in chosen for row in some.rows(named=True)
    }
    lists = _explained([one for several in shown.values() for one in several], metric, context)

    def query(row: dict[str, Any]) -> Query:
        trend = "" if row[TREND] in ("", None) else str(row[TREND])
        several = [_listed(one, value, *lists[one]) for one, value in shown[row[TREND], row[QUERY]].items()]
        return Query(str(row[QUERY]), trend, row[_VALUE], row[_BASE], row[_RELEVANT], several)

    return [
        Group(name, title, says, [query(row) for row in some.rows(named=True)])
        for name, title, says, some in chosen
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


def _shown(row: dict[str, Any], focus: str, baseline: str | None) -> dict[Named, float]:
    """Return the lists of a query that are shown, with their values."""
    shown = {Named(focus, row[TREND], row[QUERY]): row[_VALUE]}
    if baseline is not None and row[_BASE] is not None:
        shown[Named(baseline, row[TREND], row[QUERY])] = row[_BASE]
    return shown


def _explained(lists: Iterable[Named], metric: Metric, context: Context) -> dict[Named, tuple[pl.DataFrame, str]]:
    """Return the rows of lists, those of one table together, each with the column that has the relevance."""
    tables: dict[Subject, list[Named]] = {}
    for one in lists:
        tables.setdefault(context.find(one.system, one.trend), []).append(one)
    return {
        one: (rows, subject.relevance)
        for subject, some in tables.items()
        for one, rows in subject.explained(metric, some).items()
    }


def _listed(one: Named, value: float, rows: pl.DataFrame, relevance: str) -> Listed:
    # What was missed stands at the end, and is worth more to a reader than the rows in the middle.
    kept = rows.filter((pl.int_range(pl.len()) < _ROWS) | (pl.col(relevance) > 0)).head(_MOST_ROWS)
    cells = [[plain(cell) for cell in row] for row in kept.rows()]
    return Listed(one.system, value, list(rows.columns), cells, rows.height - kept.height)
