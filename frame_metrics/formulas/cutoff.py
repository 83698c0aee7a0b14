"""Metrics of what is within the first k: precision, recall and their kin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import polars as pl

from frame_metrics.formulas.base import Formula, Metrics, Rows, T, added, metric
from frame_metrics.formulas.terms import masked

if TYPE_CHECKING:
    from frame_metrics.formulas.terms import Terms
from frame_metrics.formulas.parameters import K, Positive


class Cutoff(Metrics[T]):
    """Counts of hits within the first k, over this or that number."""

    __slots__ = ()

    @metric
    def precision(self, k: K = None, *, denominator: Literal["k", "retrieved", "capped"] = "k") -> T:
        """Share of the first k places that hold a relevant item.

        A place that is empty, because the list is shorter than k, counts against the list: 2 hits in a list of 2 are a
        precision@5 of 0.4. Unjudged items count as not relevant.

        Parameters
        ----------
        k
            How many places to look at; without it, the rows that were retrieved.
        denominator
            `"k"` divides by k; `"retrieved"` by the rows that stand within the first k; `"capped"` by the relevant
            items where these are fewer than k, or than the retrieved rows, so that a perfect list scores 1.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2], "relevance": [1, 1]})
        >>> df.rank.precision(5), df.rank.precision(5, denominator="retrieved")
        (0.4, 1.0)
        """

        def formula(t: Terms) -> Formula:
            over, rows = _places(t, None if denominator == "retrieved" else k, k)
            over = pl.min_horizontal(over, t.number_relevant) if denominator == "capped" else over
            return added(is_hit(t, k), over, t.number_relevant, rows).shown(hit=hits(t, k))

        return self._of(formula)

    p = precision

    @metric
    def recall(self, k: K = None, *, denominator: Literal["relevant", "capped", "retrieved"] = "relevant") -> T:
        """Share of the query's relevant items that stand within the first k.

        Relevant items that were not retrieved are rows without a rank; they make the denominator.

        Parameters
        ----------
        k
            How many places to look at; without it, the whole list.
        denominator
            `"relevant"` divides by all relevant items; `"capped"` by k where there are more than k of them, so that a
            perfect list scores 1; `"retrieved"` by those that stand anywhere in the list, as libraries do that see
            nothing else.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2, None, None], "relevance": [1, 1, 1, 1]})
        >>> df.rank.recall(2), df.rank.recall(2, denominator="capped")
        (0.5, 1.0)
        """

        def formula(t: Terms) -> Formula:
            if denominator == "retrieved":
                found = Formula(is_hit(t, k).sum(), is_hit(t, None).sum(), t.number_relevant)
                return found.shown(is_hit(t, k), hit=hits(t, k))
            over = capped(t.number_relevant, k) if denominator == "capped" else t.number_relevant
            return added(is_hit(t, k), over, t.number_relevant).shown(hit=hits(t, k))

        return self._of(formula)

    r = recall

    @metric
    def f_score(self, k: K = None, *, beta: Positive = 1.0) -> T:
        """Weighted harmonic mean of precision and recall within the first k; 0 where there is no hit.

        Computed for each query from its own precision and recall, and then averaged.

        Parameters
        ----------
        k
            How many places to look at; without it, the rows that were retrieved.
        beta
            How many times as much recall counts as precision.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2, 3, None], "relevance": [1, 0, 0, 1]})
        >>> df.rank.f_score(3)
        0.4

        References
        ----------
        C. J. van Rijsbergen, Information Retrieval, 1979.
        """

        def formula(t: Terms) -> Formula:
            places, rows = _places(t, k, k)
            square = beta * beta
            over = square * t.number_relevant + places
            hit = is_hit(t, k).cast(pl.Float64)
            return added((1 + square) * hit, over, t.number_relevant, rows).shown(hit=hits(t, k))

        return self._of(formula)

    f1 = f_score

    @metric
    def hit_rate(self, k: K = None) -> T:
        """1 if a relevant item stands within the first k, else 0; the mean is the share of queries with a hit.

        Parameters
        ----------
        k
            How many places to look at; without it, the whole list.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": [1, 1, 2, 2], "rank": [1, 2, 1, 2], "relevance": [0, 1, 0, 0]})
        >>> df.rank.hit_rate(1), df.rank.hit_rate(2)
        (0.0, 0.5)
        """

        def formula(t: Terms) -> Formula:
            if k is None:
                found = Formula(is_hit(t, k).any().cast(pl.Float64), relevant=t.number_relevant)
                return found.shown(t.first, hit=hits(t, k))
            return added(masked(t.found, k, t.first), relevant=t.number_relevant).shown(hit=hits(t, k))

        return self._of(formula)

    success = hr = hit_rate

    @metric
    def r_precision(self, *, multiple: Positive = 1.0) -> T:
        """Precision at rank R, where R is the number of the query's relevant items.

        A list shorter than R is still divided by R.

        Parameters
        ----------
        multiple
            Look at so many times R places; a fraction of a place counts as one from a tenth on, as in trec_eval.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2, 3], "relevance": [1, 0, 1]})
        >>> df.rank.r_precision()
        0.5
        """

        def formula(t: Terms) -> Formula:
            if multiple == 1:
                found = t.found <= t.number_relevant
                return added(found, t.number_relevant, t.number_relevant).shown(hit=pl.when(found).then(t.hit))
            places = (multiple * t.number_relevant.cast(pl.Float64) + 0.9).floor()
            # Nothing is divided by nothing.
            found = pl.when(places > 0).then(t.found <= places)
            return added(found, places, t.number_relevant).shown(hit=pl.when(found).then(t.hit))

        return self._of(formula)

    @metric
    def fallout(self, k: K = None) -> T:
        """Share of the query's judged non-relevant items that stand within the first k; less is better.

        Unjudged rows and negative grades do not count. 0 where nothing was judged non-relevant.

        Parameters
        ----------
        k
            How many places to look at; without it, the whole list.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2, 3, None], "relevance": [1, 0, 0, 0]})
        >>> df.rank.fallout(2)
        0.3333333333333333
        """

        def formula(t: Terms) -> Formula:
            passed = t.nonrelevant & within(t, k)
            return Formula(passed.sum(), t.nonrelevant.sum(), rows="judged").shown(passed, nonrelevant=t.nonrelevant)

        return self._of(formula)

    @metric
    def judged(self, k: K = None) -> T:
        """Share of the first k rows that have a judgment; 0 where nothing was retrieved.

        A low share says that a score is held down by what nobody has looked at.

        Parameters
        ----------
        k
            How many places to look at; without it, the whole list.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2, 3], "relevance": [1, None, 0]})
        >>> df.rank.judged(2)
        0.5
        """

        def formula(t: Terms) -> Formula:
            judged = t.judged & within(t, k)
            return Formula(judged.sum(), within(t, k).sum(), rows="all").shown(judged, judged=t.judged)

        return self._of(formula)

    @metric
    def hole(self, k: K = None) -> T:
        """Share of the first k places that hold an item without a judgment; less is better.

        A negative grade is no judgment. A place that is empty counts as judged, as in trec_eval's `unj`.

        Parameters
        ----------
        k
            How many places to look at; without it, the rows that were retrieved.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2, 3], "relevance": [1, None, 0]})
        >>> df.rank.hole(2), df.rank.hole(10)
        (0.5, 0.1)
        """

        def formula(t: Terms) -> Formula:
            unjudged = within(t, k) & ~graded_or_not(t)
            found = Formula(unjudged.sum(), _places(t, k, k)[0], rows="all")
            return found.shown(unjudged, judged=graded_or_not(t))

        return self._of(formula)

    unjudged = hole


def within(t: Terms, k: int | None) -> pl.Expr:
    """Return whether the row stands within the first k."""
    return t.listed if k is None else (t.rank <= k).fill_null(False)


def graded_or_not(t: Terms) -> pl.Expr:
    """Return whether the row was judged, relevant or not; a negative grade is no judgment."""
    return t.relevant | t.nonrelevant


def is_hit(t: Terms, k: int | None) -> pl.Expr:
    """Return whether the row is relevant and stands within the first k."""
    return t.relevant & t.listed if k is None else t.found <= k


def hits(t: Terms, k: int | None) -> pl.Expr:
    """Return the number of the hit, for an explanation; null for rows that are none."""
    return pl.when(is_hit(t, k)).then(t.hit)


def capped(number: pl.Expr, k: int | None) -> pl.Expr:
    """Return the number, or k where that is less."""
    return number if k is None else pl.min_horizontal(number, pl.lit(k, dtype=pl.UInt32))


def _places(t: Terms, k: int | None, cut: int | None) -> tuple[pl.Expr, Rows]:
    """Return how many places precision looks at, k or those filled up to `cut`, and the rows needed to know."""
    return (pl.lit(float(k)), "relevant") if k is not None else (within(t, cut).sum(), "all")
