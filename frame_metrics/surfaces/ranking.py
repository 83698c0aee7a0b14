"""What can be asked of a frame, whatever its kind."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, NoReturn

from frame_metrics.formulas import AllMetrics, parse, parse_all
from frame_metrics.formulas.base import T
from frame_metrics.library import library as named_library
from frame_metrics.plan import checks, curves
from frame_metrics.plan.evaluate import evaluated
from frame_metrics.plan.table import prepared
from frame_metrics.surfaces.asking import Many
from frame_metrics.surfaces.comparing import Comparing
from frame_metrics.surfaces.method import unknown_attribute
from frame_metrics.surfaces.plotting import Plotting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import polars as pl

    from frame_metrics.formulas import Metric
    from frame_metrics.plan.intervals import Method
    from frame_metrics.plan.question import Question

    Plan = Callable[[pl.LazyFrame, Question], pl.LazyFrame]


class Ranking(Comparing[Many], AllMetrics[T], Generic[T, Many]):
    """Ranking metrics of a long table: one row for each query and item, with the rank and the relevance.

    Every metric is a method. `using` names columns and settings, `by` and `per_query` ask for more than one number,
    `from_scores` and `judged_by` make ranks and judgments; each returns a new object, and they chain in any order.
    Nothing changes the frame.
    """

    __slots__ = ()

    plot = Plotting()

    @abstractmethod
    def _one(self, plan: Plan) -> T:
        """Return the result of a plan that ends in a single metric."""

    def _many_of_all(self, plan: Plan) -> Many:
        """Return the result of a plan that needs all rows, and so checks all of them."""
        return self._with(self._asked.using(check_rows="all"))._many(plan)  # noqa: SLF001 the same class

    def _measure(self, metric: Metric) -> T:
        (meant,) = self._asked.meant([metric])
        return self._one(lambda frame, asked: evaluated(frame, asked, [meant]))

    if not TYPE_CHECKING:
        # Type checkers take this method for "has every attribute" and would let typos pass.
        def __getattr__(self, name: str) -> NoReturn:
            raise unknown_attribute(type(self), name)

    def explain_difference(self, first: str, second: str, /, metric: str | Metric) -> Many:
        """Return why two libraries give a metric different values here: a row for each choice in which they differ.

        The first row has the value of the first library. Each of the others changes one choice to that of the second
        library, all earlier ones staying changed, and has the value after it; the last value is that of the second
        library. What was given, to `using` or in the text of the metric, is no choice of a library.

        Parameters
        ----------
        first, second
            Names of libraries, see `fm.libraries()`.
        metric
            The text of a metric that both have.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2, None], "relevance": [2, 1, 3]})
        >>> steps = df.rank.explain_difference("trec_eval", "lightgbm", "ndcg@5")
        >>> steps.filter(choice="gain").select("from", "to", pl.col("value").round(4)).row(0)
        ('linear', 'exponential', 0.3866)
        """
        from frame_metrics.plan.switched import switched

        one, other, parsed = named_library(first), named_library(second), parse(metric)
        return self._many(lambda frame, asked: switched(frame, asked, parsed, one, other))

    def evaluate(
        self,
        *metrics: str | Metric,
        ci: float | None = None,
        method: Method = "normal",
        resamples: int = 2000,
        seed: int = 0,
        cluster: str | None = None,
        weight: str | None = None,
    ) -> Many:
        """Return several metrics at once, in one pass: a column for each, named by its text.

        Parameters
        ----------
        *metrics
            Texts such as `"ndcg@10"`, `"map"`, `"precision(denominator=retrieved)@5"`.
        ci
            How sure an interval is, such as 0.95: each metric is then followed by columns with its ends, such as
            `"map_low"` and `"map_high"`. They are null where there are fewer than two queries.
        method
            How the interval is made: `"normal"` (default) is mean -+ z s / sqrt(n), of a micro average with the
            standard error of a ratio; `"bootstrap"` is between percentiles of the means of resampled queries, and needs
            a frame in memory. Neither is cut off at 0 or 1.
        resamples, seed
            Of the bootstrap: how many, and the seed of the random numbers. The order of rows does not matter.
        cluster
            The column that says which queries belong together, such as `"user"`: the interval then is robust against
            what they have in common, or resamples users.
        weight
            The column that says how much a query counts, such as `"impressions"`: a number >= 0, the same in all rows
            of the query. The mean is then sum of w x over sum of w.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2], "relevance": [0, 1]})
        >>> df.rank.evaluate("mrr", "p@1").to_dicts()
        [{'mrr': 0.5, 'p@1': 0.0}]
        >>> df = pl.DataFrame({"query": [1, 2, 3], "rank": [1, 2, 4], "relevance": 1})
        >>> df.rank.evaluate("mrr", ci=0.95).select(pl.all().round(4)).row(0)
        (0.5833, 0.1512, 1.0155)
        """
        parsed = self._asked.meant(map(parse, metrics)) or parse_all(())
        from frame_metrics.plan.intervals import Summary, summed

        how = Summary(ci, method, resamples, seed, cluster, weight)
        if ci is None and weight is None:
            return self._many(lambda frame, asked: evaluated(frame, asked, parsed))
        reading = self._with(replace(self._asked, also=how.columns))
        return reading._many(lambda frame, asked: summed(frame, asked, parsed, how))  # noqa: SLF001 the same class

    def check(self) -> Many:
        """Return every kind of problem that the table has, with a count and an example; no rows if there is none.

        Looks at all rows, unlike the checks of the metrics, and raises nothing about values.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": [1, 1], "rank": [0, 0], "relevance": [1, 0]})
        >>> df.rank.check().select("kind", "count").rows()
        [('bad rank', 2)]
        """
        return self._many_of_all(lambda frame, asked: checks.problems(prepared(frame, asked), asked))

    def at_k(self, metric: str, ks: Iterable[int]) -> Many:
        """Return a metric at several cuts: a row for each k.

        Parameters
        ----------
        metric
            The text of a metric that can be cut, without the cut.
        ks
            The cuts.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2, 3], "relevance": [1, 0, 1]})
        >>> df.rank.at_k("precision", [1, 2]).rows()
        [(1, 1.0), (2, 0.5)]
        """
        cuts = list(ks)
        return self._many(lambda frame, asked: curves.at_k(frame, asked, metric, cuts))

    def explain(self, metric: str | Metric, /, *, query: Any, **segments: Any) -> Many:
        """Return the rows of one query, from the top, and what each of them adds to a metric.

        The columns are item, rank and relevance; the parts of the formula, such as `gain`, `discount` and
        `ideal_place`, the place of the row in the ideal order; `adds`, what the row adds to the value; and `running`,
        the value so far, so that the last one is the value for the query. Missed items come last, and a row beyond k
        adds 0.

        Parameters
        ----------
        metric
            The text of a metric, such as `"ndcg@10"`.
        query
            The query.
        **segments
            Where a query has several lists, the values of the columns that tell them apart, such as
            `system="neural"`.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": "q", "item": ["a", "b", "c"], "rank": [1, 2, None], "relevance": [0, 1, 1]})
        >>> df.rank.explain("map", query="q").select("item", "rank", "precision", "adds", "running").rows()
        [('a', 1, None, 0.0, 0.0), ('b', 2, 0.5, 0.25, 0.25), ('c', None, None, 0.0, 0.25)]
        """
        from frame_metrics.plan.explained import Chosen, explained

        parsed, chosen = parse(metric), Chosen(query, segments)
        return self._many(lambda frame, asked: explained(frame, asked, parsed, chosen))

    def roc_curve(self) -> Many:
        """Return the ROC curve down the ranks: share of non-relevant rows passed, against relevant rows found.

        Columns `k`, `fpr`, `tpr`, averaged over the queries that have both relevant rows and others; with
        `average="micro"`, pooled. It starts at (0, 0) and ends at (1, 1), where missed rows are (`k` is null). The area
        below the curve of one query is its `auc`.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2, 3], "relevance": [1, 0, 1]})
        >>> df.rank.roc_curve().rows()
        [(0, 0.0, 0.0), (1, 0.0, 0.5), (2, 1.0, 0.5), (3, 1.0, 1.0)]
        """
        return self._many(curves.roc)

    def pr_curve(self) -> Many:
        """Return precision and recall at each rank, averaged over queries; with `average="micro"`, pooled.

        Columns `k`, `recall`, `precision`.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2], "relevance": [1, 0]})
        >>> df.rank.pr_curve().rows()
        [(1, 1.0, 1.0), (2, 1.0, 0.5)]
        """
        return self._many(curves.precision_recall)

    def cascade(self, *, max_grade: float | None = None) -> Many:
        """Return the table with one more column, `cascade`: the probability that a reader stops at this row.

        The reader goes down from the top and stops when satisfied, which an item of grade g does with probability
        (2^g - 1) / 2^max_grade. `err` is the mean of 1 / rank under these probabilities.

        Parameters
        ----------
        max_grade
            The highest grade there is; without it, the highest one in the table.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2, 3], "relevance": [1, 0, 2]})
        >>> df.rank.cascade()["cascade"].to_list()
        [0.25, 0.0, 0.5625]
        """
        return self._many_of_all(lambda frame, asked: curves.cascade(frame, asked, max_grade))
