"""Counts of rows; over queries they add up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from frame_metrics.formulas.base import Formula, Metrics, T, metric
from frame_metrics.formulas.cutoff import hits, is_hit

if TYPE_CHECKING:
    from frame_metrics.formulas.terms import Terms


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
        return self._of(lambda t: Formula(_whole(t.listed.sum()), rows="all", total=True).shown(t.listed))

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
        return self._of(lambda t: Formula(_whole(t.number_relevant), total=True).shown(t.relevant))

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

        def formula(t: Terms) -> Formula:
            hit = is_hit(t, None)
            return Formula(_whole(hit.sum()), total=True).shown(hit, hit=hits(t, None))

        return self._of(formula)

    @metric
    def num_nonrel_judged_ret(self) -> T:
        """Number of retrieved items that were judged and are not relevant; queries add up.

        A negative grade does not count.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": [1, 1, 2], "rank": [1, 2, None], "relevance": [1, 0, 0]})
        >>> df.rank.num_nonrel_judged_ret()
        1.0
        """

        def formula(t: Terms) -> Formula:
            passed = t.nonrelevant & t.listed
            return Formula(_whole(passed.sum()), rows="judged", total=True).shown(passed, nonrelevant=t.nonrelevant)

        return self._of(formula)

    @metric
    def num_q(self) -> T:
        """Number of queries, 1 for each; queries add up.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": [1, 1, 2], "rank": [1, 2, None], "relevance": [1, 0, 1]})
        >>> df.rank.num_q()
        2.0
        """

        def formula(t: Terms) -> Formula:
            first = pl.int_range(pl.len()) == 0
            return Formula(_whole(t.listed.len() > 0), rows="all", total=True).shown(first)

        return self._of(formula)


def _whole(count: pl.Expr) -> pl.Expr:
    return count.cast(pl.Int64)
