"""Metrics of graded relevance: cumulated gain and its kin, and the cascade of a reader who stops when satisfied."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from frame_metrics.failing import failing
from frame_metrics.formulas.base import DEFINITIONS, Formula, Metrics, T, added, metric
from frame_metrics.formulas.parameters import Discount, Gain, Ideal, K, MaxGrade
from frame_metrics.formulas.terms import IdealSum, exponential, masked

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
            What a grade g is worth: `"linear"` g, `"exponential"` 2^g - 1, `"binary"` 1 whatever the grade, or a
            mapping of grades to gains.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2, 3, 4, 5, 6], "relevance": [3, 2, 3, 0, 1, 2]})
        >>> df.rank.cg(6)
        11.0
        """

        def formula(t: Terms) -> Formula:
            if k is None:
                return added(pl.when(t.listed).then(worth(t.grade, gain))).shown(gain=_shown(t, gain))
            return added(masked(t.rank, k, worth(t.grade, gain))).shown(gain=_shown(t, gain))

        return self._of(formula)

    @metric
    def dcg(self, k: K = None, *, gain: Gain = "linear", discount: Discount = "log2") -> T:
        """Discounted cumulated gain: the sum of gain times discount within the first k.

        Parameters
        ----------
        k
            How many places to look at; without it, the whole list.
        gain
            What a grade g is worth: `"linear"` g, `"exponential"` 2^g - 1, `"binary"` 1 whatever the grade, or a
            mapping of grades to gains.
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

        def formula(t: Terms) -> Formula:
            return added(gained(t.grade, t.rank, k, gain, discount)).shown(
                gain=_shown(t, gain), discount=masked(t.rank, k, _discount(t.rank, discount))
            )

        return self._of(formula)

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
            those that were retrieved; `"full"` as many items of the query's highest grade as there are places, where k
            says how many.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2, 3, 4, 5, 6], "relevance": [3, 2, 3, 0, 1, 2]})
        >>> round(df.rank.idcg(6), 4)
        7.141
        """

        def formula(t: Terms) -> Formula:
            best = _ideal(k, gain, discount, ideal)
            place = best.place(t)
            return added(best.row(t)).shown(
                best.own(t), gain=_shown(t, gain), ideal_place=place, ideal_discount=best.weight(place)
            )

        return self._of(formula)

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
            What a grade g is worth: `"linear"` g, `"exponential"` 2^g - 1, `"binary"` 1 whatever the grade, or a
            mapping of grades to gains.
        discount
            What rank r leaves of it: `"log2"` 1 / log2(r + 1), `"jarvelin"` 1 at the top, else 1 / log2(r),
            `"reciprocal"` 1 / r, `"none"` all.
        ideal
            What may be put in order: `"judged"` every graded item of the query, missed ones too; `"retrieved"` only
            those that were retrieved, as libraries do that see nothing but the list; `"full"` as many items of the
            query's highest grade as there are places, where k says how many, so that a query with fewer relevant items
            than k cannot reach 1.

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
            best = _ideal(k, gain, discount, ideal)
            over, place = t.over_ideal(best), best.place(t)
            return added(gained(t.grade, t.rank, k, gain, discount), over, t.number_graded).shown(
                gain=_shown(t, gain),
                discount=masked(t.rank, k, _discount(t.rank, discount)),
                ideal_place=place,
                ideal_adds=gained(t.grade, place, k, gain, discount) / over,
            )

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
            reached, stops = t.reach(max_grade), t.stop(max_grade)
            row = masked(t.rank, k, stops * reached / t.rank)
            return added(row, relevant=t.number_graded, linear=False).shown(reached=reached, stops=stops)

        return self._of(formula)

    @metric
    def nerr(self, k: K = None, *, max_grade: MaxGrade | None = None) -> T:
        """Normalised expected reciprocal rank: ERR over the ERR of the ideal order, both within the first k.

        The ideal order is of everything judged, whether it was retrieved or not.

        Parameters
        ----------
        k
            How many places to look at; without it, the whole list.
        max_grade
            The highest grade there is; without it, the highest one in the table. An expression needs it.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2, None], "relevance": [1, 0, 1]})
        >>> df.rank.nerr(max_grade=1)
        0.8

        References
        ----------
        O. Chapelle, D. Metzler, Y. Zhang, P. Grinspan, Expected reciprocal rank for graded relevance, CIKM 2009.
        """

        def formula(t: Terms) -> Formula:
            stop = t.stop(max_grade).sort(descending=True, nulls_last=True).fill_null(0.0)
            place = pl.int_range(1, pl.len() + 1)
            ideal = stop * (1.0 - stop).cum_prod().shift(1, fill_value=1.0) / place
            best = masked(place, k, ideal).sum()
            err = DEFINITIONS["err"](k, max_grade=max_grade).formula(t)
            return replace(err, over=best, row=None, adds=err.row)

        return self._of(formula)


def gained(grade: pl.Expr, place: pl.Expr, k: int | None, gain: Gain, discount: Discount) -> pl.Expr:
    """Return gain times discount of a grade at a place."""
    return masked(place, k, worth(grade, gain) * _discount(place, discount))


def _ideal(k: int | None, gain: Gain, discount: Discount, ideal: Ideal) -> IdealSum:
    def weight(place: pl.Expr) -> pl.Expr:
        return masked(place, k, _discount(place, discount))

    def all_places(place: pl.Expr) -> pl.Expr:
        # The highest grade stands at the first place, and is worth as much at all of them.
        whole = pl.select(weight(pl.int_range(1, k + 1)).sum() if k else 0.0).item()
        return pl.when(place == 1).then(whole).otherwise(0.0)

    full = ideal == "full" and k is not None
    return IdealSum(lambda grade: worth(grade, gain), all_places if full else weight, listed=ideal == "retrieved")


def _shown(t: Terms, gain: Gain) -> pl.Expr:
    """Return what a row is worth, for an explanation."""
    return worth(t.grade, gain).fill_null(0.0)


def worth(grade: pl.Expr, gain: Gain) -> pl.Expr:
    """Return what a grade is worth."""
    if isinstance(gain, Mapping):
        known, grade = list(gain), grade.cast(pl.Float64)
        strange = (grade > 0) & ~grade.is_in(known)
        hint = "Hint: give every positive grade of the table a gain"
        check = failing(strange, f"the mapping `gain` has no grade {{}}, only {known}. {hint}", grade)
        return pl.when(check.is_null()).then(
            grade.replace_strict(known, list(gain.values()), default=None, return_dtype=pl.Float64)
        )
    if gain == "binary":
        return (grade > 0).cast(pl.Float64)
    return grade.cast(pl.Float64) if gain == "linear" else exponential(grade)


def _discount(place: pl.Expr, discount: Discount) -> pl.Expr:
    rank = place.cast(pl.Float64)
    if discount == "log2":
        return math.log(2) / (rank + 1.0).log()
    if discount == "jarvelin":
        return pl.when(rank <= 2).then(1.0).otherwise(math.log(2) / rank.log())  # noqa: PLR2004 log2(2) is 1
    return 1.0 / rank if discount == "reciprocal" else pl.lit(1.0)
