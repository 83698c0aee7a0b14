"""The values of single queries, from which every number of a report is made: one frame for each way to divide them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from frame_metrics.formulas import Metric
    from frame_metrics.surfaces.ranking import Ranking

PREFIX = "frame_metrics "
SYSTEM, TREND, SEGMENT, QUERY = (f"{PREFIX}{name}" for name in ("system", "trend", "segment", "query"))
TIMES = " \u00d7 "
"""What stands between the names of columns that divide the queries together."""

KEYS = (SYSTEM, TREND, SEGMENT, QUERY)


@dataclass(frozen=True)
class Subject:
    """A table that a report is about.

    Attributes
    ----------
    ranking
        The table, with its columns and settings; no segments yet.
    query, relevance
        The columns that play these roles.
    name
        What its system is called, where no column says so.
    system, trend
        The columns that tell systems apart, and times; a query of two days is two lists.
    """

    ranking: Ranking[pl.LazyFrame, pl.LazyFrame]
    query: str = "query"
    relevance: str = "relevance"
    name: str = ""
    system: str | None = None
    trend: str | None = None

    @property
    def lists(self) -> Ranking[pl.LazyFrame, pl.LazyFrame]:
        """The table with all columns that tell lists apart."""
        return self._by(())

    def _by(self, columns: Sequence[str]) -> Ranking[pl.LazyFrame, pl.LazyFrame]:
        keys = [name for name in (self.system, self.trend, *columns) if name is not None]
        return self.ranking.by(*keys) if keys else self.ranking

    def values(self, metrics: Sequence[Metric], columns: Sequence[str] = ()) -> pl.LazyFrame:
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
        return self._by(columns).per_query().evaluate(*metrics).select(*keys, *map(str, metrics))

    def explained(self, metric: Metric, system: str, trend: Any, query: Any) -> pl.LazyFrame:
        """Return the rows of one list, and what they add to a metric."""
        where = {self.system: system, self.trend: trend}
        return self.ranking.explain(metric, query=query, **{name: value for name, value in where.items() if name})


def _text(column: pl.Expr) -> pl.Expr:
    return column.cast(pl.String).fill_null("null")
