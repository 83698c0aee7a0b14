"""Measures of trec_eval that are not among the others, under names that say what they are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from frame_metrics.formulas.base import DEFINITIONS, Formula, Metrics, T, added, metric
from frame_metrics.formulas.cutoff import is_hit
from frame_metrics.formulas.graded import gained, worth
from frame_metrics.formulas.order import interpolated, reaching
from frame_metrics.formulas.parameters import Gain, K, Number, Rounding
from frame_metrics.formulas.terms import masked

if TYPE_CHECKING:
    from frame_metrics.formulas.terms import Terms

_EPSILON = 1e-5
_POINTS = 11


class Trec(Metrics[T]):
    """What `trec_eval -m all_trec` prints beside the usual measures."""

    __slots__ = ()

    @metric
    def geometric_map(self, k: K = None) -> T:
        """Average precision of each query; over queries, the geometric mean, no query counting less than 0.00001.

        A list that finds nothing pulls it down much more than a good list lifts it. There is no micro average.

        Parameters
        ----------
        k
            How many places to look at; without it, the whole list.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": [1, 2, 2], "rank": [1, 1, 4], "relevance": [1, 0, 1]})
        >>> round(df.rank.geometric_map(), 4), df.rank.average_precision()
        (0.5, 0.625)

        References
        ----------
        S. Robertson, On GMAP: and other transformations, CIKM 2006.
        """
        return self._of(lambda t: _geometric(DEFINITIONS["average_precision"](k).formula(t)))

    gm_map = geometric_map

    @metric
    def geometric_bpref(self) -> T:
        """Bpref of each query; over queries, the geometric mean, no query counting less than 0.00001.

        There is no micro average.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": [1, 2, 2], "rank": [1, 1, 2], "relevance": [1, 0, 1]})
        >>> round(df.rank.geometric_bpref(), 4), df.rank.bpref()
        (0.0032, 0.5)
        """
        return self._of(lambda t: _geometric(DEFINITIONS["bpref"]().formula(t)))

    gm_bpref = geometric_bpref

    @metric
    def inferred_ap(self) -> T:
        """Inferred average precision: an estimate of it where only a sample of the pool was judged.

        The pool are all items with a grade. Those with a negative grade were not in the sample, and count as being
        relevant as often as the judged ones above the hit; items outside the pool count as not relevant.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2, 3], "relevance": [1, -1, 1]})
        >>> round(df.rank.inferred_ap(), 4), round(df.rank.average_precision(), 4)
        (1.0, 0.8333)

        References
        ----------
        E. Yilmaz, J. A. Aslam, Estimating average precision with incomplete and imperfect judgments, CIKM 2006.
        """

        def formula(t: Terms) -> Formula:
            rank, hits = t.found.cast(pl.Float64), t.hit.cast(pl.Float64) - 1.0
            pooled = pl.when(t.judged).then(t.rank).rank("ordinal").cast(pl.Float64) - 1.0
            share = (hits + _EPSILON) / (hits + t.above + 2.0 * _EPSILON)
            precision = masked(rank, None, (1.0 + pooled * share) / rank)
            found = Formula(precision.sum(), t.number_relevant, t.number_relevant, rows="judged")
            return found.shown(precision, hit=t.hit, pooled_above=pooled, share=share)

        return self._of(formula)

    infap = inferred_ap

    @metric
    def eleven_point_average(self, *, rounding: Rounding = "nearest") -> T:
        """Interpolated precision, averaged over the recalls 0, 0.1, 0.2, ..., 1.

        Parameters
        ----------
        rounding
            As for `iprec`.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2, 3, 4], "relevance": [1, 0, 0, 1]})
        >>> round(df.rank.eleven_point_average(), 4)
        0.8636
        """

        def formula(t: Terms) -> Formula:
            points = [interpolated(t, point / (_POINTS - 1), rounding) for point in range(_POINTS)]
            found = Formula(pl.sum_horizontal(points) / _POINTS, relevant=t.number_relevant)
            hits = [reaching(t, point / (_POINTS - 1), rounding).fill_null(0.0) for point in range(_POINTS)]
            so_far = pl.sum_horizontal(point.cum_max() for point in hits) / _POINTS
            return found.shown(so_far - so_far.shift(fill_value=0.0), hit=t.hit, precision=t.hit / t.found)

        return self._of(formula)

    @metric
    def set_average_precision(self) -> T:
        """Precision times recall of the retrieved items, whatever their order.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2, None], "relevance": [1, 0, 1]})
        >>> df.rank.set_average_precision()
        0.25
        """

        def formula(t: Terms) -> Formula:
            hits, relevant = is_hit(t, None).sum().cast(pl.Float64), t.number_relevant.cast(pl.Float64)
            found = Formula(hits * hits, relevant * t.listed.sum(), t.number_relevant, rows="all")
            return found.shown(is_hit(t, None) * hits, hit=pl.when(is_hit(t, None)).then(t.hit))

        return self._of(formula)

    set_map = set_average_precision

    @metric
    def utility(self, *, hit: Number = 1.0, wrong: Number = -1.0, missed: Number = 0.0) -> T:
        """Worth of the retrieved set: so much for each item that is relevant, is not, or was missed.

        Parameters
        ----------
        hit, wrong, missed
            What a retrieved relevant item, a retrieved other one, and a relevant one that was not retrieved count.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2, 3, None], "relevance": [1, 0, 1, 1]})
        >>> df.rank.utility(), df.rank.utility(missed=-0.5)
        (1.0, 0.5)
        """

        def formula(t: Terms) -> Formula:
            hits, listed, relevant = is_hit(t, None).sum(), t.listed.sum(), t.number_relevant
            hits, listed, relevant = (number.cast(pl.Float64) for number in (hits, listed, relevant))
            found = Formula(hit * hits + wrong * (listed - hits) + missed * (relevant - hits), rows="all")
            other = pl.when(t.relevant).then(missed).otherwise(0.0)
            adds = pl.when(is_hit(t, None)).then(hit).when(t.listed).then(wrong).otherwise(other)
            return found.shown(adds, hit=pl.when(is_hit(t, None)).then(t.hit))

        return self._of(formula)

    @metric
    def binary_gain(self) -> T:
        """Mean over the relevant items of 1 / log2(2 + n), where n items that are not relevant stand above.

        A missed item adds 0. trec_eval calls it binG.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2, 3, 4], "relevance": [1, 0, 0, 1]})
        >>> df.rank.binary_gain()
        0.75
        """

        def formula(t: Terms) -> Formula:
            passed = t.found.cast(pl.Float64) - t.hit
            gain = masked(t.found, None, 1.0 / (2.0 + passed).log(2.0))
            return added(gain, t.number_relevant, t.number_relevant, linear=False).shown(hit=t.hit, others_above=passed)

        return self._of(formula)

    @metric
    def normalized_gain(self, *, gain: Gain = "linear") -> T:
        """Gain of each item over log2(2 + what the ideal list has gained more until there), over the gain of all items.

        The ideal list gains at least 1 at every place, past its end too. trec_eval calls it G.

        Parameters
        ----------
        gain
            As for `ndcg`.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2, 3], "relevance": [3, 0, 1]})
        >>> round(df.rank.normalized_gain(), 4)
        0.9077
        """

        def formula(t: Terms) -> Formula:
            gains = worth(t.grade, gain).fill_null(0.0)
            got = _by_rank(masked(t.rank, None, gains), t)
            more = (gains.sort(descending=True) - 1.0).clip(lower_bound=0.0).cum_sum()
            ahead = t.rank.sort(nulls_last=True) + more.gather(_place(t.rank.sort(nulls_last=True))) - got.cum_sum()
            row = got / (2.0 + ahead).log(2.0)
            return Formula(row.sum(), gains.sum(), t.number_graded).shown(row, gain=gains, ideal_ahead=ahead)

        return self._of(formula)

    @metric
    def ndcg_at_hits(self, *, gain: Gain = "linear") -> T:
        """Mean over the items with a gain of nDCG down to the item; a missed one counts as nDCG of the whole list.

        trec_eval calls it ndcg_rel.

        Parameters
        ----------
        gain
            As for `ndcg`.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2, 3], "relevance": [1, 0, 3]})
        >>> round(df.rank.ndcg_at_hits(), 4)
        0.5109
        """

        def formula(t: Terms) -> Formula:
            counts = worth(t.grade, gain).fill_null(0.0) > 0
            found = _by_rank(gained(t.grade, t.rank, None, gain, "log2").fill_null(0.0), t).cum_sum()
            ideal = _ideal(t, gain).cum_sum().gather(_place(t.rank.sort(nulls_last=True)))
            ratio = pl.when(_by_rank(counts, t) & (ideal > 0)).then(found / ideal)
            mean = Formula(ratio.sum(), counts.sum(), t.number_graded)
            return mean.shown(ratio, gain=worth(t.grade, gain), ndcg=ratio)

        return self._of(formula)

    @metric
    def ndcg_at_grades(self, *, gain: Gain = "linear") -> T:
        """Mean of nDCG at the places where the ideal list goes over to a smaller gain, and at the end of the list.

        With 5 items of grade 3 and 3 of grade 1 it is the mean of nDCG@5, nDCG@8, and nDCG of the whole list where that
        goes on for more than one place. trec_eval calls it Rndcg.

        Parameters
        ----------
        gain
            As for `ndcg`.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2, 3], "relevance": [1, 0, 3]})
        >>> round(df.rank.ndcg_at_grades(), 4)
        0.3044
        """

        def formula(t: Terms) -> Formula:
            gains = worth(t.grade, gain).fill_null(0.0).sort(descending=True)
            ideal = _ideal(t, gain).cum_sum()
            ends = gains > gains.shift(-1, fill_value=0.0)
            # An item adds its part of DCG to nDCG at every such place that is not above it.
            part = pl.when(ends).then(1.0 / ideal).otherwise(0.0).cum_sum(reverse=True)
            part = pl.when(t.rank <= pl.len()).then(part.gather(_place(t.rank))).otherwise(0.0)
            dcg = gained(t.grade, t.rank, None, gain, "log2").fill_null(0.0)
            longer = (t.rank.max() > (gains > 0).sum() + 1).fill_null(False)
            whole = pl.when(longer).then(dcg.sum() / ideal.max()).otherwise(0.0)
            places = ends.sum() + longer.cast(pl.UInt32)
            mean = ((dcg * part).sum() + whole) / places
            # Nothing divided by nothing, where no grade has a gain. A grade too low to be relevant may have one.
            mean = pl.when(t.number_relevant > 0).then(mean.fill_nan(0.0)).otherwise(0.0)
            found = Formula(mean, relevant=t.number_relevant, rows="all")
            adds = dcg * (part + pl.when(longer).then(1.0 / ideal.max()).otherwise(0.0)) / places
            return found.shown(pl.when(dcg > 0).then(adds), gain=worth(t.grade, gain))

        return self._of(formula)


def _geometric(formula: Formula) -> Formula:
    return replace(formula, mean="geometric", row=None, adds=formula.row if formula.adds is None else formula.adds)


def _by_rank(value: pl.Expr, t: Terms) -> pl.Expr:
    """Return the values of the rows in the order of the list, missed rows last."""
    return value.sort_by(t.rank, nulls_last=True)


def _ideal(t: Terms, gain: Gain) -> pl.Expr:
    """Return what each place of the ideal list adds to its DCG, one place for each row."""
    best = t.grade.sort(descending=True, nulls_last=True)
    return gained(best, pl.int_range(1, pl.len() + 1), None, gain, "log2").fill_null(0.0)


def _place(rank: pl.Expr) -> pl.Expr:
    """Return where something at this rank stands in what has one place for each row; below it all, at the last."""
    return pl.min_horizontal(rank.fill_null(pl.len()), pl.len()) - 1
