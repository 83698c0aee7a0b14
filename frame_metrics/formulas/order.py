"""Metrics of where in the list the relevant items stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import polars as pl

from frame_metrics.formulas.base import Formula, Metrics, T, added, metric
from frame_metrics.formulas.cutoff import capped, is_hit
from frame_metrics.formulas.graded import masked
from frame_metrics.formulas.parameters import K, Persistence, Share

if TYPE_CHECKING:
    from frame_metrics.formulas.terms import Terms


class Order(Metrics[T]):
    """Sums over the ranks of relevant items."""

    __slots__ = ()

    @metric
    def average_precision(self, k: K = None, *, denominator: Literal["relevant", "capped", "hits"] = "relevant") -> T:
        """Average precision: the sum of the precision at each hit within the first k, over the relevant items.

        An item that was missed adds nothing to the sum and one to the denominator. The mean over queries is MAP.

        Parameters
        ----------
        k
            How many places to look at; without it, the whole list.
        denominator
            `"relevant"` divides by all relevant items of the query, as trec_eval does; `"capped"` by k where there are
            more than k of them; `"hits"` by those found within k.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2, 3, 4, 5], "relevance": [1, 0, 1, 0, 1]})
        >>> round(df.rank.average_precision(), 4)
        0.7556
        """

        def formula(t: Terms) -> Formula:
            precision = masked(t.found, k, t.hit / t.found)
            if denominator == "hits":
                return Formula(precision.sum(), is_hit(t, k).sum(), t.number_relevant)
            over = capped(t.number_relevant, k) if denominator == "capped" else t.number_relevant
            return added(precision, over, t.number_relevant)

        return self._of(formula)

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
            first = pl.when(t.hit == 1).then(1.0 / t.found).otherwise(0.0)
            return added(masked(t.found, k, first), relevant=t.number_relevant)

        return self._of(formula)

    mrr = rr = reciprocal_rank

    @metric
    def rbp(self, k: K = None, *, p: Persistence = 0.8) -> T:
        """Rank-biased precision: (1 - p) times the sum of p^(rank - 1) over the relevant items within the first k.

        What a reader gets per place, who goes on to the next place with probability p. Items that were missed or not
        judged add nothing.

        Parameters
        ----------
        k
            How many places to look at; without it, the whole list.
        p
            The reader's persistence.

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
            weight = (1.0 - p) * pl.lit(p).pow(t.found.cast(pl.Float64) - 1.0)
            return added(masked(t.found, k, weight), relevant=t.number_relevant)

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
            lost = pl.when(t.relevant).then(t.outranked).sum()
            return Formula(pairs - lost, pairs, t.number_relevant, undefined=None, rows="all")

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
            return Formula(
                t.found.count() - pl.when(t.hit.is_not_null()).then(lost).sum(), relevant, relevant, rows="judged"
            )

        return self._of(formula)

    @metric
    def iprec(self, *, recall: Share = 0.0) -> T:
        """Interpolated precision: the highest precision at or below the place where this recall is reached.

        The recall is reached with the hit whose number is `recall` times the number of relevant items, rounded to the
        nearest whole number, as trec_eval 10 does; 0 where the list never gets there.

        Parameters
        ----------
        recall
            The recall level, from 0 to 1.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2, 3, 4], "relevance": [0, 1, 1, 0]})
        >>> df.rank.iprec(recall=0.5)
        0.6666666666666666
        """

        def formula(t: Terms) -> Formula:
            reached = t.hit >= (recall * t.number_relevant.cast(pl.Float64) + 0.5).floor()
            best = pl.when(reached).then(t.hit / t.found).max()
            return Formula(best.fill_null(0.0), relevant=t.number_relevant)

        return self._of(formula)
