"""Metrics of graded relevance: cumulated gain and its kin, and the cascade of a reader who stops when satisfied."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl

from frame_metrics.failing import failing
from frame_metrics.formulas.base import Formula, Metrics, T, added, metric
from frame_metrics.formulas.parameters import Discount, Gain, Ideal, K, MaxGrade
from frame_metrics.formulas.terms import IdealSum, exponential

if TYPE_CHECKING:
    from frame_metrics.formulas.terms import Terms


class Graded(Metrics[T]):
    """Sums of gain times discount down the list, over the best that could have been."""

    __slots__ = ()

    @metric
    def cg(self, k: K = None, *, gain: Gain = "linear") -> T:
        """Cumulated gain: the sum of the gains within the first k.

        Parameters
        ----------
        k
            How many places to look at; without it, the whole list.
        gain
            What a grade g is worth: `"linear"` g, `"exponential"` 2^g - 1, or a mapping of grades to gains.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2, 3, 4, 5, 6], "relevance": [3, 2, 3, 0, 1, 2]})
        >>> df.rank.cg(6)
        11.0
        """

        def formula(t: Terms) -> Formula:
            if k is None:
                return added(pl.when(t.listed).then(_gain(t.grade, gain)))
            return added(masked(t.rank, k, _gain(t.grade, gain)))

        return self._of(formula)

    @metric
    def dcg(self, k: K = None, *, gain: Gain = "linear", discount: Discount = "log2") -> T:
        """Discounted cumulated gain: the sum of gain times discount within the first k.

        Parameters
        ----------
        k
            How many places to look at; without it, the whole list.
        gain
            What a grade g is worth: `"linear"` g, `"exponential"` 2^g - 1, or a mapping of grades to gains.
        discount
            What rank r leaves of it: `"log2"` 1 / log2(r + 1), `"jarvelin"` 1 at the top, else 1 / log2(r),
            `"reciprocal"` 1 / r, `"none"` all.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2, 3, 4, 5, 6], "relevance": [3, 2, 3, 0, 1, 2]})
        >>> round(df.rank.dcg(6), 4), round(df.rank.dcg(6, discount="jarvelin"), 4)
        (6.8611, 8.0972)

        References
        ----------
        K. Järvelin, J. Kekäläinen, Cumulated gain-based evaluation of IR techniques, TOIS 20(4), 2002.
        """
        return self._of(lambda t: added(gained(t.grade, t.rank, k, gain, discount)))

    @metric
    def idcg(self, k: K = None, *, gain: Gain = "linear", discount: Discount = "log2", ideal: Ideal = "judged") -> T:
        """Ideal discounted cumulated gain: the DCG of the best possible order of the first k.

        Parameters
        ----------
        k
            How many places to look at; without it, the whole list.
        gain, discount
            As for `dcg`.
        ideal
            What may be put in order: `"judged"` every graded item of the query, missed ones too; `"retrieved"` only
            those that were retrieved.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2, 3, 4, 5, 6], "relevance": [3, 2, 3, 0, 1, 2]})
        >>> round(df.rank.idcg(6), 4)
        7.141
        """
        return self._of(lambda t: added(_ideal(k, gain, discount, ideal).row(t)))

    @metric
    def ndcg(self, k: K = None, *, gain: Gain = "linear", discount: Discount = "log2", ideal: Ideal = "judged") -> T:
        """Normalised discounted cumulated gain: DCG over the DCG of the ideal order, both within the first k.

        The defaults are those of trec_eval: linear gain, 1 / log2(rank + 1), and an ideal order of everything judged,
        whether it was retrieved or not. `min_relevance` has no influence: every positive grade counts.

        Parameters
        ----------
        k
            How many places to look at; without it, the whole list.
        gain
            What a grade g is worth: `"linear"` g, `"exponential"` 2^g - 1, or a mapping of grades to gains.
        discount
            What rank r leaves of it: `"log2"` 1 / log2(r + 1), `"jarvelin"` 1 at the top, else 1 / log2(r),
            `"reciprocal"` 1 / r, `"none"` all.
        ideal
            What may be put in order: `"judged"` every graded item of the query, missed ones too; `"retrieved"` only
            those that were retrieved, as libraries do that see nothing but the list.

        Examples
        --------
        A missed item of grade 3 costs, unless it is left out of the ideal:

        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2, None], "relevance": [2, 1, 3]})
        >>> round(df.rank.ndcg(), 4), df.rank.ndcg(ideal="retrieved")
        (0.5525, 1.0)

        References
        ----------
        K. Järvelin, J. Kekäläinen, Cumulated gain-based evaluation of IR techniques, TOIS 20(4), 2002.
        """

        def formula(t: Terms) -> Formula:
            best = t.over_ideal(_ideal(k, gain, discount, ideal))
            return added(gained(t.grade, t.rank, k, gain, discount), best, t.number_graded)

        return self._of(formula)

    @metric
    def err(self, k: K = None, *, max_grade: MaxGrade | None = None) -> T:
        """Expected reciprocal rank: the mean of 1 / rank where a reader stops who stops when satisfied.

        An item of grade g satisfies with probability (2^g - 1) / 2^max_grade.

        Parameters
        ----------
        k
            How many places to look at; without it, the whole list.
        max_grade
            The highest grade there is; without it, the highest one in the table. An expression needs it.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2, 3], "relevance": [2, 0, 1]})
        >>> df.rank.err(max_grade=2)
        0.7708333333333334

        References
        ----------
        O. Chapelle, D. Metzler, Y. Zhang, P. Grinspan, Expected reciprocal rank for graded relevance, CIKM 2009.
        """

        def formula(t: Terms) -> Formula:
            stops = t.stop(max_grade) * t.reach(max_grade) / t.rank
            return added(masked(t.rank, k, stops), relevant=t.number_graded)

        return self._of(formula)


def masked(place: pl.Expr, k: int | None, value: pl.Expr) -> pl.Expr:
    """Return the value where the place is within the first k, and 0 elsewhere."""
    counts = place.is_not_null() if k is None else place <= k
    return pl.when(counts).then(value).otherwise(0.0)


def gained(grade: pl.Expr, place: pl.Expr, k: int | None, gain: Gain, discount: Discount) -> pl.Expr:
    """Return gain times discount of a grade at a place."""
    return masked(place, k, _gain(grade, gain) * _discount(place, discount))


def _ideal(k: int | None, gain: Gain, discount: Discount, ideal: Ideal) -> IdealSum:
    return IdealSum(
        gain=lambda grade: _gain(grade, gain),
        weight=lambda place: masked(place, k, _discount(place, discount)),
        listed=ideal == "retrieved",
    )


def _gain(grade: pl.Expr, gain: Gain) -> pl.Expr:
    if isinstance(gain, Mapping):
        known, grade = list(gain), grade.cast(pl.Float64)
        strange = (grade > 0) & ~grade.is_in(known)
        hint = "Hint: give every positive grade of the table a gain"
        check = failing(strange, f"the mapping `gain` has no grade {{}}, only {known}. {hint}", grade)
        return pl.when(check.is_null()).then(
            grade.replace_strict(known, list(gain.values()), default=None, return_dtype=pl.Float64)
        )
    return grade.cast(pl.Float64) if gain == "linear" else exponential(grade)


def _discount(place: pl.Expr, discount: Discount) -> pl.Expr:
    rank = place.cast(pl.Float64)
    if discount == "log2":
        return math.log(2) / (rank + 1.0).log()
    if discount == "jarvelin":
        return pl.when(rank <= 2).then(1.0).otherwise(math.log(2) / rank.log())  # noqa: PLR2004 log2(2) is 1
    return 1.0 / rank if discount == "reciprocal" else pl.lit(1.0)
