"""Counts of rows; over queries they add up."""

from __future__ import annotations

import polars as pl

from frame_metrics.formulas.base import Formula, Metrics, T, metric
from frame_metrics.formulas.cutoff import is_hit


class Counts(Metrics[T]):
    """How many rows there are of each kind."""

    __slots__ = ()

    @metric
    def num_ret(self) -> T:
        """Number of rows that were retrieved; queries add up.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": [1, 1, 2], "rank": [1, 2, None], "relevance": [1, 0, 1]})
        >>> df.rank.num_ret()
        2.0
        """
        return self._of(lambda t: Formula(_whole(t.listed.sum()), rows="all", total=True))

    @metric
    def num_rel(self) -> T:
        """Number of relevant items, whether retrieved or not; queries add up.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": [1, 1, 2], "rank": [1, 2, None], "relevance": [1, 0, 1]})
        >>> df.rank.num_rel()
        2.0
        """
        return self._of(lambda t: Formula(_whole(t.number_relevant), total=True))

    @metric
    def num_rel_ret(self) -> T:
        """Number of relevant items that were retrieved; queries add up.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": [1, 1, 2], "rank": [1, 2, None], "relevance": [1, 0, 1]})
        >>> df.rank.num_rel_ret()
        1.0
        """
        return self._of(lambda t: Formula(_whole(is_hit(t, None).sum()), total=True))


def _whole(count: pl.Expr) -> pl.Expr:
    return count.cast(pl.Int64)
