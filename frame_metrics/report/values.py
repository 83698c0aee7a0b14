"""The values of single queries, from which every number of a report is made: one frame for each way to divide them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from frame_metrics.formulas import Metric
    from frame_metrics.surfaces.ranking import Ranking

PREFIX = "frame_metrics "
SYSTEM, TREND, SEGMENT, QUERY = (f"{PREFIX}{name}" for name in ("system", "trend", "segment", "query"))
TIMES = " \u00d7 "
"""What stands between the names of columns that divide the queries together."""

KEYS = (SYSTEM, TREND, SEGMENT, QUERY)


class Named(NamedTuple):
    """What a list is called: its system, its time and its query."""

    system: str
    trend: Any
    query: Any


@dataclass(frozen=True, eq=False)
class Subject:
    """A table that a report is about.

    Attributes
    ----------
    ranking
        The table, with its columns and settings; no segments yet.
    collect
        Computes what was asked of it.
    near
        Gives, on this machine, the table with the lists of some queries, and what computes there.
    query, relevance
        The columns that play these roles.
    name
        What its system is called, where no column says so.
    system, trend
        The columns that tell systems apart, and times; a query of two days is two lists.
    """

    ranking: Ranking[Any, Any]
    collect: Callable[[Any], pl.DataFrame]
    near: Callable[[Sequence[Any]], tuple[Ranking[pl.LazyFrame, pl.LazyFrame], Callable[[pl.LazyFrame], pl.DataFrame]]]
    query: str = "query"
    relevance: str = "relevance"
    name: str = ""
    system: str | None = None
    trend: str | None = None

    def problems(self) -> pl.DataFrame:
        """Return what is wrong with the table."""
        return self.collect(self._by(()).check())

    def _by(self, columns: Sequence[str]) -> Ranking[Any, Any]:
        keys = [name for name in (self.system, self.trend, *columns) if name is not None]
        return self.ranking.by(*keys) if keys else self.ranking

    def asked(self, metrics: Sequence[Metric], columns: Sequence[str] = ()) -> Any:
        """Return the plan of the metrics of each query; `values` has its result."""
        return self._by(columns).per_query().evaluate(*metrics)

    def values(self, metrics: Sequence[Metric], columns: Sequence[str] = ()) -> pl.DataFrame:
        """Return the metrics of each query, under the names of this module.

        Parameters
        ----------
        metrics
            The metrics.
        columns
            What else divides the table. A query with rows in several segments is a list of its own in each.
        """
        segment = pl.concat_str([_text(pl.col(name)) for name in columns], separator=" · ") if columns else pl.lit("")
        system = pl.lit(self.name) if self.system is None else _text(pl.col(self.system))
        trend = pl.lit("") if self.trend is None else pl.col(self.trend)
        keys = (system.alias(SYSTEM), trend.alias(TREND), segment.alias(SEGMENT), pl.col(self.query).alias(QUERY))
        return self.collect(self.asked(metrics, columns)).select(*keys, *map(str, metrics)).sort(KEYS)

    def explained(self, metric: Metric, lists: Sequence[Named]) -> dict[Named, pl.DataFrame]:
        """Return the rows of some lists, and what they add to a metric."""
        ranking, collect = self.near([one.query for one in lists])
        return {one: collect(ranking.explain(metric, query=one.query, **self._where(one))) for one in lists}

    def _where(self, one: Named) -> dict[str, Any]:
        return {name: value for name, value in ((self.system, one.system), (self.trend, one.trend)) if name}


def _text(column: pl.Expr) -> pl.Expr:
    return column.cast(pl.String).fill_null("null")
