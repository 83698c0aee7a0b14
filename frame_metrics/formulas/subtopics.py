"""Metrics of diversity: how soon, and how often, a list covers the subtopics of its query."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import polars as pl

from frame_metrics.errors import OptionError
from frame_metrics.formulas.base import Formula, Metrics, T, subtopic_metric
from frame_metrics.formulas.graded import gained
from frame_metrics.formulas.parameters import K, Share
from frame_metrics.formulas.terms import masked

if TYPE_CHECKING:
    from collections.abc import Callable

    from frame_metrics.formulas.terms import BySubtopic, Terms

DEEPEST = 100
"""The last place of ideal lists: each place is a step of the plan."""


class Subtopics(Metrics[T]):
    """Metrics of tables with one row for each query, item and subtopic.

    All of them are those of ndeval, the program of the TREC Web Track (version 4.5). Relevance is binary, from
    `min_relevance` on; a subtopic to which nothing is relevant does not count.
    """

    __slots__ = ()

    @subtopic_metric
    def alpha_dcg(self, k: K = None, *, alpha: Share = 0.5, denominator: Literal["bound", "none"] = "bound") -> T:
        """Discounted gain within the first k, where each further item on a subtopic gains 1 - alpha times as much.

        The item at rank r gains the sum of (1 - alpha)^n over its subtopics, n being how many items above have the
        subtopic; it keeps 1 / log2(r + 1) of that.

        Parameters
        ----------
        k
            How many places to look at.
        alpha
            How little a reader cares for more on the same subtopic: from 0, all items count, to 1, only the first does.
        denominator
            `"bound"` divides by what a list would gain that has every subtopic at each place, as ndeval does for every
            k but 1; `"none"` gives the sum, as in the paper.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "item": ["a", "b", "b"], "subtopic": [1, 1, 2], "rank": [1, 2, 2]})
        >>> round(df.with_columns(relevance=1).rank.alpha_dcg(2, denominator="none"), 4)  # 1 + (0.5 + 1) / log2(3)
        1.9464

        References
        ----------
        C. Clarke et al., Novelty and diversity in information retrieval evaluation, SIGIR 2008.
        """
        bound = _bound(_cut("alpha_dcg", k), alpha, _log2) if denominator == "bound" else None

        def formula(t: Terms) -> Formula:
            gain = gained(_new(t.subtopics, alpha), t.rank, k, "linear", "log2")
            if bound is None:
                return Formula(gain.sum(), rows="subtopics")
            return _ratio(t, gain, t.subtopics.number * bound)

        return self._of(formula)

    @subtopic_metric
    def alpha_ndcg(self, k: K = None, *, alpha: Share = 0.5) -> T:
        """Alpha-DCG over that of an ideal list of the judged items, both within the first k.

        The ideal list takes at each place the item that gains most, missed items too; among equals the one whose name
        sorts last. The best list of all would be too costly to find: so a list can, seldom, score above 1.

        Parameters
        ----------
        k
            How many places to look at, up to 100.
        alpha
            How little a reader cares for more on the same subtopic: from 0, all items count, to 1, only the first does.

        Examples
        --------
        Item c has a subtopic that nothing above has, and b has not:

        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "item": ["a", "b", "c"], "subtopic": [1, 1, 2], "rank": [1, 2, 3]})
        >>> round(df.with_columns(relevance=1).rank.alpha_ndcg(3), 4)
        0.9652

        References
        ----------
        C. Clarke et al., Novelty and diversity in information retrieval evaluation, SIGIR 2008.
        """
        cut = _cut("alpha_ndcg", k, DEEPEST)

        def formula(t: Terms) -> Formula:
            place, gain = t.subtopics.greedy(alpha, cut)
            best = gained(gain, place, cut, "linear", "log2").sum()
            return _ratio(t, gained(_new(t.subtopics, alpha), t.rank, cut, "linear", "log2"), best)

        return self._of(formula)

    @subtopic_metric
    def err_ia(self, k: K = None, *, alpha: Share = 0.5, denominator: Literal["bound", "subtopics"] = "bound") -> T:
        """Intent-aware expected reciprocal rank: ERR within the first k for each subtopic, put together.

        A reader of one subtopic is satisfied by an item on it with probability alpha, and goes on otherwise.

        Parameters
        ----------
        k
            How many places to look at.
        alpha
            The probability that a relevant item satisfies.
        denominator
            `"bound"` divides by the sum of a list that has every subtopic at each place, as ndeval does for every k but
            1; `"subtopics"` gives the mean of ERR over the subtopics.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "item": ["a", "b", "b"], "subtopic": [1, 1, 2], "rank": [1, 2, 2]})
        >>> df.with_columns(relevance=1).rank.err_ia(2)  # (1 + (0.5 + 1) / 2) / (2 + 1 / 2)
        0.7

        References
        ----------
        O. Chapelle et al., Intent-based diversification of web search results: metrics and algorithms, Information
        Retrieval 14(6), 2011.
        """
        bound = _bound(_cut("err_ia", k), alpha, _reciprocal) if denominator == "bound" else 1.0
        share = 1.0 if denominator == "bound" else alpha

        def formula(t: Terms) -> Formula:
            gain = share * gained(_new(t.subtopics, alpha), t.rank, k, "linear", "reciprocal")
            return _ratio(t, gain, t.subtopics.number * bound)

        return self._of(formula)

    @subtopic_metric
    def nerr_ia(self, k: K = None, *, alpha: Share = 0.5) -> T:
        """ERR-IA over that of an ideal list of the judged items, both within the first k.

        The ideal list is that of `alpha_ndcg`.

        Parameters
        ----------
        k
            How many places to look at, up to 100.
        alpha
            The probability that a relevant item satisfies.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "item": ["a", "b", "b"], "subtopic": [1, 1, 2], "rank": [1, 2, 2]})
        >>> round(df.with_columns(relevance=1).rank.nerr_ia(2), 4)  # (1 + 1.5 / 2) / (2 + 0.5 / 2)
        0.7778
        """
        cut = _cut("nerr_ia", k, DEEPEST)

        def formula(t: Terms) -> Formula:
            place, gain = t.subtopics.greedy(alpha, cut)
            best = gained(gain, place, cut, "linear", "reciprocal").sum()
            return _ratio(t, gained(_new(t.subtopics, alpha), t.rank, cut, "linear", "reciprocal"), best)

        return self._of(formula)

    @subtopic_metric
    def subtopic_recall(self, k: K = None) -> T:
        """Share of the query's subtopics to which an item within the first k is relevant.

        Parameters
        ----------
        k
            How many places to look at; without it, the whole list.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "item": ["a", "b", "b"], "subtopic": [1, 1, 2], "rank": [1, 2, 2]})
        >>> df.with_columns(relevance=1).rank.subtopic_recall(1)
        0.5

        References
        ----------
        C. Zhai, W. Cohen, J. Lafferty, Beyond independent relevance, SIGIR 2003.
        """
        return self._of(lambda t: _ratio(t, masked(t.rank, k, t.subtopics.seen == 0), t.subtopics.number))

    st_recall = subtopic_recall

    @subtopic_metric
    def p_ia(self, k: K = None) -> T:
        """Intent-aware precision: the mean of precision within the first k over the query's subtopics.

        Parameters
        ----------
        k
            How many places to look at.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "item": ["a", "b", "b"], "subtopic": [1, 1, 2], "rank": [1, 2, 2]})
        >>> df.with_columns(relevance=1).rank.p_ia(2)  # (2 / 2 + 1 / 2) / 2
        0.75

        References
        ----------
        R. Agrawal, S. Gollapudi, A. Halverson, S. Ieong, Diversifying search results, WSDM 2009.
        """
        cut = _cut("p_ia", k)
        return self._of(lambda t: _ratio(t, masked(t.rank, cut, pl.lit(1.0)), t.subtopics.number * float(cut)))

    @subtopic_metric
    def ap_ia(self, k: K = None) -> T:
        """Intent-aware average precision: the mean of average precision over the query's subtopics.

        Parameters
        ----------
        k
            How many places to look at; without it, the whole list.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "item": ["a", "b", "b"], "subtopic": [1, 1, 2], "rank": [1, 2, 2]})
        >>> df.with_columns(relevance=1).rank.ap_ia()  # ((1 + 2 / 2) / 2 + 1 / 2) / 2
        0.75

        References
        ----------
        R. Agrawal, S. Gollapudi, A. Halverson, S. Ieong, Diversifying search results, WSDM 2009.
        """

        def formula(t: Terms) -> Formula:
            s = t.subtopics
            return _ratio(t, masked(t.rank, k, (s.seen + 1) / s.rank / s.items), s.number)

        return self._of(formula)

    map_ia = ap_ia


def _ratio(t: Terms, row: pl.Expr, over: pl.Expr) -> Formula:
    return Formula(row.sum().cast(pl.Float64), over, t.number_relevant, rows="subtopics", adds=row)


def _new(s: BySubtopic, alpha: float) -> pl.Expr:
    """Return what a row gains for its subtopic, less with each item above that has it too."""
    return pl.lit(1.0 - alpha).pow(s.seen)


def _cut(name: str, k: int | None, most: int | None = None) -> int:
    if k is None:
        raise OptionError(
            f"{name} needs `k`: what it divides by has a place for each k. Hint: {name}@10, or .{name}(10)"
        )
    if most is not None and k > most:
        raise OptionError(f"{name} takes `k` up to {most}, got {k}: its ideal list is made place by place")
    return k


def _bound(k: int, alpha: float, weight: Callable[[int], float]) -> float:
    """Return what a list gains for each subtopic that has it at every place."""
    return math.fsum((1.0 - alpha) ** (place - 1) * weight(place) for place in range(1, k + 1))


def _log2(place: int) -> float:
    return 1.0 / math.log2(place + 1)


def _reciprocal(place: int) -> float:
    return 1.0 / place
