"""`df.rank.plot`: what can be drawn of a ranking."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from frame_metrics.errors import wanted
from frame_metrics.formulas import parse, parse_all
from frame_metrics.needs import needed
from frame_metrics.plan.positions import positions
from frame_metrics.plots import bars, differences, lines, segments
from frame_metrics.surfaces.method import unknown_attribute

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import NoReturn

    import altair as alt

    from frame_metrics.formulas import Metric
    from frame_metrics.surfaces.ranking import Ranking


class Plots:
    """Pictures of a ranking, as Altair charts: show them in a notebook, `save` them, or take `fm.plots.svg`.

    The numbers are those of `at_k`, `evaluate` and the other methods of `.rank`; `using`, `by`, `from_scores` and
    `judged_by` are said before `plot`. A picture is a result: of a LazyFrame, what is drawn is collected.

    Parameters
    ----------
    ranking
        What is drawn.

    Examples
    --------
    >>> import polars as pl, frame_metrics
    >>> df = pl.DataFrame({"query": 1, "rank": [1, 2], "relevance": [1, 0]})
    >>> df.rank.plot.at_k("precision", [1, 2]).title["text"]
    ['precision at k']
    """

    __slots__ = ("_ranking",)

    def __init__(self, ranking: Ranking[Any, Any]) -> None:
        self._ranking = ranking

    if not TYPE_CHECKING:
        # Type checkers take this method for "has every attribute" and would let typos pass.
        def __getattr__(self, name: str) -> NoReturn:
            raise unknown_attribute(type(self), name)

    def __repr__(self) -> str:
        return f"<plot of {self._ranking!r}>"

    @property
    def _asked(self) -> Any:
        return self._ranking._asked  # noqa: SLF001 the two are one surface

    def at_k(self, metric: str, ks: Iterable[int] = range(1, 21)) -> alt.LayerChart:
        """Draw a metric over k, a line for each segment.

        Parameters
        ----------
        metric
            The text of a metric that can be cut, without the cut.
        ks
            The cuts: 1 to 20, unless others are given.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2, 3], "relevance": [1, 0, 1]})
        >>> chart = df.rank.plot.at_k("recall", [1, 3])
        """
        needed("altair", "report")
        chart: alt.LayerChart = lines.at_k(self._ranking.at_k(metric, ks), self._single("at_k"), str(parse(metric)))
        return chart

    def pr_curve(self) -> alt.LayerChart:
        """Draw precision against recall down the ranks, a line for each segment.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2, 3], "relevance": [1, 0, 1]})
        >>> chart = df.rank.plot.pr_curve()
        """
        needed("altair", "report")
        chart: alt.LayerChart = lines.pr_curve(self._ranking.pr_curve(), self._single("pr_curve"))
        return chart

    def roc_curve(self) -> alt.LayerChart:
        """Draw the ROC curve down the ranks, a line for each segment.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2, 3], "relevance": [1, 0, 1]})
        >>> chart = df.rank.plot.roc_curve()
        """
        needed("altair", "report")
        chart: alt.LayerChart = lines.roc_curve(self._ranking.roc_curve(), self._single("roc_curve"))
        return chart

    def positions(self) -> alt.Chart | alt.LayerChart:
        """Draw the share of the rows at each rank that are relevant; with clicks as relevance, the click-through.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2, 3], "clicked": [True, False, True]})
        >>> chart = df.rank.using(relevance="clicked").plot.positions()
        """
        needed("altair", "report")
        asked = self._single("positions")
        chart: alt.Chart | alt.LayerChart = bars.positions(self._ranking._many(positions), asked)  # noqa: SLF001
        return chart

    def distribution(self, metric: str | Metric, *, system: str | None = None) -> alt.Chart:
        """Draw how many queries have which value of a metric.

        Up to four segments stand side by side; more have a row of shades each.

        Parameters
        ----------
        metric
            The text of a metric, such as `"ndcg@10"`.
        system
            A column that tells the lists of a query apart, as `by(system)` before `plot` does.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": [1, 2], "rank": [1, 2], "relevance": [1, 1]})
        >>> chart = df.rank.plot.distribution("mrr")
        """
        needed("altair", "report")
        ranking = self._ranking if system is None else self._ranking.by(system)
        asked = Plots(ranking)._single("distribution")  # noqa: SLF001
        chart: alt.Chart = bars.distribution(ranking.per_query().evaluate(metric), asked, str(parse(metric)))
        return chart

    def differences(self, metric: str | Metric, *, system: str = "system", baseline: Any = None) -> alt.LayerChart:
        """Draw how systems differ from a baseline, query by query, from the largest gain to the largest loss.

        One system is drawn in bars, several in a line each.

        Parameters
        ----------
        metric
            The text of a metric, such as `"ndcg@10"`.
        system
            The column that tells systems apart.
        baseline
            The system that the others are compared with; without it, the first in the order of names.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> rows = {"system": ["a", "a", "b", "b"], "query": [1, 2, 1, 2], "rank": [1, 2, 1, 1], "relevance": 1}
        >>> chart = pl.DataFrame(rows).rank.plot.differences("mrr", baseline="a")
        """
        needed("altair", "report")
        ranking = self._ranking.by(system)
        asked = Plots(ranking)._single("differences")  # noqa: SLF001
        name = str(parse(metric))
        result = ranking.per_query().evaluate(metric)
        chart: alt.LayerChart = differences.differences(differences.paired(result, asked, name, system, baseline), name)
        return chart

    def segments(self, *metrics: str | Metric, ci: float | None = 0.95) -> alt.LayerChart | alt.FacetChart:
        """Draw metrics of each segment, with intervals; a panel for each metric.

        With several columns in `by`, the last one is told by colour if it has up to four values, as systems have.

        Parameters
        ----------
        *metrics
            Texts such as `"ndcg@10"`.
        ci
            The level of the intervals; None for none.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"country": ["fr", "us"], "query": [1, 2], "rank": [1, 2], "relevance": [1, 1]})
        >>> chart = df.rank.by("country").plot.segments("mrr", ci=None)
        """
        needed("altair", "report")
        asked = self._single("segments")
        if not asked.by:
            raise wanted("by", "one or more names of columns", (), "say .rank.by('country').plot.segments(...)")
        chart: alt.LayerChart | alt.FacetChart = segments.segments(
            self._evaluated(metrics, ci), asked, [str(m) for m in parse_all(metrics)], ci
        )
        return chart

    def trend(self, metric: str | Metric, *, day: str = "day", ci: float | None = 0.95) -> alt.LayerChart:
        """Draw a metric over time with intervals, a line for each segment.

        Parameters
        ----------
        metric
            The text of a metric, such as `"ndcg@10"`.
        day
            The column of the time: dates, or anything else that sorts.
        ci
            The level of the intervals; None for none.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"day": [1, 2], "query": [1, 2], "rank": [1, 2], "relevance": [1, 1]})
        >>> chart = df.rank.plot.trend("mrr", ci=None)
        """
        needed("altair", "report")
        plots = Plots(self._ranking.by(day))
        asked = plots._single("trend")
        chart: alt.LayerChart = lines.trend(plots._evaluated((metric,), ci), asked, str(parse(metric)), day, ci)
        return chart

    def _evaluated(self, metrics: tuple[str | Metric, ...], ci: float | None) -> Any:
        return self._ranking.evaluate(*metrics, ci=ci) if ci else self._ranking.evaluate(*metrics)

    def _single(self, name: str) -> Any:
        """Return the question, or raise if it asks for each query: nobody can read a thousand lines."""
        if self._asked.each_query:
            raise wanted("per_query", f"left out before plot.{name}()", "per_query()", "charts of queries make it")
        return self._asked
