"""Metrics of where in the list the relevant items stand."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

import polars as pl

from frame_metrics.errors import OptionError
from frame_metrics.formulas.base import DEFINITIONS, Formula, Metrics, T, added, metric
from frame_metrics.formulas.cutoff import capped, graded_or_not, hits, is_hit, within
from frame_metrics.formulas.graded import worth
from frame_metrics.formulas.parameters import Gain, K, Persistence, Rounding, Share
from frame_metrics.formulas.terms import masked

if TYPE_CHECKING:
    from frame_metrics.formulas.terms import Terms


Precisions: TypeAlias = Literal["relevant", "capped", "listed", "retrieved", "hits", "k", "places"]


class Order(Metrics[T]):
    """Sums over the ranks of relevant items."""

    __slots__ = ()

    @metric
    def average_precision(self, k: K = None, *, denominator: Precisions = "relevant") -> T:
        """Average precision: the sum of the precision at each hit within the first k, over the relevant items.

        An item that was missed adds nothing to the sum and one to the denominator. The mean over queries is MAP.

        Parameters
        ----------
        k
            How many places to look at; without it, the whole list.
        denominator
            `"relevant"` divides by all relevant items of the query, as trec_eval does; `"capped"` by k where there are
            more than k of them; `"listed"` by the rows within the first k where there are more of them than those;
            `"retrieved"` by the relevant items that stand anywhere in the list; `"hits"` by those found within k;
            `"k"` by k, or by the rows retrieved where there is none; `"places"` takes the mean of the precision at
            every place down to k, relevant or not, and needs k.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2, 3, 4, 5], "relevance": [1, 0, 1, 0, 1]})
        >>> round(df.rank.average_precision(), 4)
        0.7556
        """

        def formula(t: Terms) -> Formula:
            precision = masked(t.found, k, _at_every_place(t, k) if denominator == "places" else t.hit / t.found)
            if denominator in ("hits", "retrieved"):
                over = is_hit(t, k if denominator == "hits" else None).sum()
                return Formula(precision.sum(), over, t.number_relevant, adds=precision)
            if denominator == "listed":
                over = pl.min_horizontal(t.number_relevant, within(t, k).sum())
                return added(precision, over, t.number_relevant, "all")
            if denominator in ("k", "places") and k is not None:
                return added(precision, pl.lit(float(k)), t.number_relevant)
            if denominator == "k":
                return added(precision, within(t, k).sum(), t.number_relevant, "all")
            over = capped(t.number_relevant, k) if denominator == "capped" else t.number_relevant
            return added(precision, over, t.number_relevant)

        def shown(t: Terms) -> Formula:
            return formula(t).shown(hit=hits(t, k), precision=pl.when(is_hit(t, k)).then(t.hit / t.found))

        return self._of(shown)

    map = ap = average_precision

    @metric
    def reciprocal_rank(self, k: K = None) -> T:
        """1 / rank of the first relevant item, 0 where none stands within the first k. The mean over queries is MRR.

        Parameters
        ----------
        k
            How many places to look at; without it, the whole list.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2, 3], "relevance": [0, 1, 1]})
        >>> df.rank.reciprocal_rank(), df.rank.reciprocal_rank(1)
        (0.5, 0.0)
        """

        def formula(t: Terms) -> Formula:
            return added(masked(t.found, k, t.first / t.found), relevant=t.number_relevant).shown(hit=hits(t, k))

        return self._of(formula)

    mrr = rr = reciprocal_rank

    @metric
    def rbp(self, k: K = None, *, p: Persistence = 0.8, gain: Gain = "binary") -> T:
        """Rank-biased precision: (1 - p) times the sum of p^(rank - 1) over the relevant items within the first k.

        What a reader gets per place, who goes on to the next place with probability p. Items that were missed or not
        judged add nothing.

        Parameters
        ----------
        k
            How many places to look at; without it, the whole list.
        p
            The reader's persistence.
        gain
            What an item is worth: `"binary"` 1 if it is relevant; `"linear"` its grade, `"exponential"` 2^g - 1, or a
            mapping of grades to gains, over the highest gain among the query's items where that is more than 1.
            trec_eval 10 has p = 0.9 and `"linear"`.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2, 3], "relevance": [1, 0, 1]})
        >>> df.rank.rbp(p=0.5)
        0.625

        References
        ----------
        A. Moffat, J. Zobel, Rank-biased precision for measurement of retrieval effectiveness, TOIS 27(1), 2008.
        """

        def formula(t: Terms) -> Formula:
            if gain == "binary":
                row = masked(t.found, k, attention(t.found, p))
                return added(row, relevant=t.number_relevant).shown(hit=hits(t, k), weight=attention(t.rank, p))
            gains = worth(t.grade, gain)
            gained, most = masked(t.rank, k, gains * attention(t.rank, p)), pl.max_horizontal(gains.max(), 1.0)
            found = Formula(gained.sum() / most, relevant=t.number_graded)
            return found.shown(gained / most, gain=gains / most, weight=attention(t.rank, p))

        return self._of(formula)

    @metric
    def rbp_residual(self, k: K = None, *, p: Persistence = 0.8, tail: Literal["always", "unjudged"] = "always") -> T:
        """Residual of rank-biased precision: how much more `rbp` could be, if all that is not known were relevant.

        Not known are items without a judgment or with a negative grade, empty places, and places below the list or
        the first k.

        Parameters
        ----------
        k
            How many places to look at; without it, the whole list.
        p
            The reader's persistence.
        tail
            Whether places below count: `"always"`, or `"unjudged"` as in trec_eval, which gives 0 for a list of which
            all items are judged.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2, 3], "relevance": [1, None, 1]})
        >>> df.rank.rbp_residual(p=0.5)
        0.375

        References
        ----------
        A. Moffat, J. Zobel, Rank-biased precision for measurement of retrieval effectiveness, TOIS 27(1), 2008.
        """

        def formula(t: Terms) -> Formula:
            judged = graded_or_not(t)
            known = masked(pl.when(judged).then(t.rank), k, attention(t.rank, p))
            some = pl.lit(True) if tail == "always" else (within(t, k) & ~judged).any()
            rest = pl.when(some).then(1.0 - known.sum()).otherwise(0.0)
            adds, start = (pl.when(some).then(part).otherwise(0.0) for part in (-known, pl.lit(1.0)))
            return Formula(rest, rows="all").shown(adds, start=start, judged=judged, weight=attention(t.rank, p))

        return self._of(formula)

    @metric
    def auc(self) -> T:
        """Probability that a relevant row of the query stands above one that is not relevant; shared ranks count half.

        Every row that is not relevant takes part, judged or not. A missed row stands below every retrieved one, and two
        missed rows share their place. Undefined, and left out of the mean, where all rows are relevant.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2, 3, 3], "relevance": [0, 1, 1, 0]})
        >>> df.rank.auc()
        0.375

        References
        ----------
        J. A. Hanley, B. J. McNeil, The meaning and use of the area under a ROC curve, Radiology 143, 1982.
        """

        def formula(t: Terms) -> Formula:
            pairs = t.number_relevant.cast(pl.Float64) * (~t.relevant).sum()
            outranked = pl.when(t.relevant).then(t.outranked)
            found = Formula(pairs - outranked.sum(), pairs, t.number_relevant, undefined=None, rows="all")
            return found.shown((~t.relevant).sum() - outranked, outranked=outranked)

        return self._of(formula)

    @metric
    def gauc(self) -> T:
        """AUC of each query, averaged with the number of its relevant items as weight.

        For one query it is `auc`. Queries whose rows are all relevant, or none of them, have no weight.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": [1, 1, 1, 2, 2], "rank": [1, 2, 3, 1, 2], "relevance": [1, 1, 0, 0, 1]})
        >>> df.rank.gauc(), df.rank.auc()
        (0.6666666666666666, 0.5)

        References
        ----------
        H. Zhu et al., Optimized cost per click in Taobao display advertising, KDD 2017.
        """

        def formula(t: Terms) -> Formula:
            auc = DEFINITIONS["auc"]().formula(t)
            pairs, weight = cast("pl.Expr", auc.over), t.number_relevant
            over = pl.when(pairs > 0).then(weight).otherwise(0).cast(pl.Float64)
            value = pl.when(pairs > 0).then(auc.value / pairs * weight).otherwise(0.0)
            adds = None if auc.adds is None else auc.adds / pairs * weight
            return replace(auc, value=value, over=over, mean="pooled", adds=adds)

        return self._of(formula)

    @metric
    def bpref(self) -> T:
        """Preference of judged relevant over judged non-relevant items; what nobody judged is passed over.

        The mean, over the relevant items, of 1 - min(n, R) / min(N, R), where n judged non-relevant items stand above
        the item, N is the number of the query's judged non-relevant items, and R of its relevant ones; a missed item
        adds 0. As trec_eval computes it.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2, 3, None], "relevance": [0, None, 1, 1]})
        >>> df.rank.bpref()
        0.0

        References
        ----------
        C. Buckley, E. Voorhees, Retrieval evaluation with incomplete information, SIGIR 2004.
        """

        def formula(t: Terms) -> Formula:
            relevant = t.number_relevant.cast(pl.Float64)
            worst = pl.min_horizontal(t.nonrelevant.sum().cast(pl.Float64), relevant)
            lost = (
                pl.when(t.above > 0).then(pl.min_horizontal(t.above.cast(pl.Float64), relevant) / worst).otherwise(0.0)
            )
            lost = pl.when(t.hit.is_not_null()).then(lost)
            found = Formula(t.found.count() - lost.sum(), relevant, relevant, rows="judged")
            return found.shown(1.0 - lost, nonrelevant_above=t.above)

        return self._of(formula)

    @metric
    def iprec(self, *, recall: Share = 0.0, rounding: Rounding = "nearest") -> T:
        """Interpolated precision: the highest precision at or below the place where this recall is reached.

        The recall is reached with the hit whose number is `recall` times the number of relevant items, rounded; 0 where
        the list never gets there.

        Parameters
        ----------
        recall
            The recall level, from 0 to 1.
        rounding
            How the number of that hit is rounded: `"nearest"` as trec_eval 10 does; `"trec_eval_9"` up from a tenth on.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2, 3, 4], "relevance": [0, 1, 1, 0]})
        >>> df.rank.iprec(recall=0.5)
        0.6666666666666666
        """

        def formula(t: Terms) -> Formula:
            found = Formula(interpolated(t, recall, rounding), relevant=t.number_relevant)
            row = reaching(t, recall, rounding)
            return found.shown(row, highest=True, hit=t.hit, precision=t.hit / t.found)

        return self._of(formula)


def attention(rank: pl.Expr, p: float) -> pl.Expr:
    """Return which part of a reader's attention a place gets, who goes on to the next with probability p."""
    return (1.0 - p) * pl.lit(p).pow(rank.cast(pl.Float64) - 1.0)


def interpolated(t: Terms, recall: float, rounding: Rounding) -> pl.Expr:
    """Return the highest precision at or below the place where a recall is reached, 0 where it is not."""
    return reaching(t, recall, rounding).max().fill_null(0.0)


def reaching(t: Terms, recall: float, rounding: Rounding) -> pl.Expr:
    """Return the precision at a hit, if it is at or below the place where a recall is reached."""
    up = 0.5 if rounding == "nearest" else 0.9
    reached = t.hit >= (recall * t.number_relevant.cast(pl.Float64) + up).floor()
    return pl.when(reached).then(t.hit / t.found)


def _at_every_place(t: Terms, k: int | None) -> pl.Expr:
    """Return what a hit adds to the precisions from its place down to k: 1/r + ... + 1/k."""
    if k is None:
        raise OptionError("average_precision(denominator='places') needs `k`: how many places the mean is taken over")
    sums = list(accumulate(1.0 / place for place in range(k, 0, -1)))[::-1]
    return t.found.replace_strict(list(range(1, k + 1)), sums, default=None, return_dtype=pl.Float64)
