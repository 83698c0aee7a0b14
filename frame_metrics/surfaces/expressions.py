"""The metrics as expressions, for `group_by("query").agg(...)` on a plain table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from frame_metrics.errors import nearest
from frame_metrics.failing import failing
from frame_metrics.formulas import ALIASES, DEFINITIONS, AllMetrics, Definition, Metric, parse
from frame_metrics.formulas.terms import Inline, Roles
from frame_metrics.library import library as named_library
from frame_metrics.plan.checks import BAD_RANK, BAD_RELEVANCE, NOTHING_RELEVANT, PROBLEMS, SHARED_RANK
from frame_metrics.plan.question import NoRelevant, Question

if TYPE_CHECKING:
    from typing import NoReturn


class Expressions(AllMetrics[pl.Expr]):
    """Every metric as an expression over the rows of one query.

    The expressions read columns `rank` and `relevance`; `using` names others. They check what they see of a group:
    ranks, grades, and whether two rows share a rank where the order matters.

    Examples
    --------
    >>> import frame_metrics as fm
    >>> df = pl.DataFrame({"query": [1, 1], "rank": [1, 2], "relevance": [0, 1]})
    >>> df.group_by("query").agg(fm.metrics.ndcg(k=10), fm.metrics.mrr()).rows()
    [(1, 0.6309297535714574, 0.5)]
    """

    __slots__ = ("_asked",)

    def __init__(self, asked: Question | None = None) -> None:
        self._asked = asked or Question()

    def using(
        self,
        *,
        rank: str | None = None,
        relevance: str | None = None,
        min_relevance: float | None = None,
        no_relevant: NoRelevant | None = None,
    ) -> Expressions:
        """Return expressions over other columns, or with other settings; see `.rank.using`.

        Examples
        --------
        >>> import frame_metrics as fm
        >>> clicks = fm.metrics.using(rank="position", relevance="clicked")
        >>> pl.DataFrame({"position": [1, 2], "clicked": [False, True]}).select(clicks.mrr()).item()
        0.5
        """
        return Expressions(
            self._asked.using(rank=rank, relevance=relevance, min_relevance=min_relevance, no_relevant=no_relevant)
        )

    def like(self, library: str) -> Expressions:
        """Return expressions with the definitions of another library; see `.rank.like`.

        Examples
        --------
        >>> import frame_metrics as fm
        >>> df = pl.DataFrame({"rank": [1, 2, None], "relevance": [2, 1, 3]})
        >>> df.select(fm.metrics.like("sklearn").ndcg(5)).to_dicts()
        [{'ndcg@5': 1.0}]
        """
        return Expressions(self._asked.like(named_library(library)))

    def parse(self, text: str | Metric) -> Metric:
        """Return the metric that a text stands for; `str` of it gives the text back.

        Examples
        --------
        >>> import frame_metrics as fm
        >>> str(fm.metrics.parse("ndcg( gain = 'exponential' )@10"))
        'ndcg(gain=exponential)@10'
        """
        return parse(text)

    def names(self) -> list[str]:
        """Return the name of every metric, without aliases.

        Examples
        --------
        >>> import frame_metrics as fm
        >>> "ndcg" in fm.metrics.names()
        True
        """
        return list(DEFINITIONS)

    def definitions(self) -> list[Definition]:
        """Return every metric with its options and its documentation.

        Examples
        --------
        >>> import frame_metrics as fm
        >>> fm.metrics.definitions()[0].says
        'Share of the first k places that hold a relevant item.'
        """
        return list(DEFINITIONS.values())

    def expression(self, text: str | Metric) -> pl.Expr:
        """Return the expression of the metric that a text stands for.

        Examples
        --------
        >>> import frame_metrics as fm
        >>> pl.DataFrame({"rank": [1, 2], "relevance": [0, 1]}).select(fm.metrics.expression("rr@10")).to_dicts()
        [{'rr@10': 0.5}]
        """
        return self._measure(parse(text))

    def _measure(self, metric: Metric) -> pl.Expr:
        asked = self._asked
        (metric,) = asked.meant([metric])
        formula = metric.formula(Inline(Roles(asked.rank, asked.relevance, asked.min_relevance)))
        checks = self._checks(metric)
        if asked.no_relevant == "error" and formula.relevant is not None:
            checks.append(_refused(formula.relevant == 0, NOTHING_RELEVANT))
        fine = pl.all_horizontal(check.is_null() for check in checks)
        return pl.when(fine).then(formula.score(asked.fill)).alias(str(metric))

    def _checks(self, metric: Metric) -> list[pl.Expr]:
        rank, relevance = pl.col(self._asked.rank), pl.col(self._asked.relevance).cast(pl.Float64)
        number = rank.cast(pl.Float64)
        bad_rank = ((number < 1) | (number != number.floor()) | ~number.is_finite()).any()
        checks = [_refused(bad_rank, BAD_RANK), _refused((~relevance.is_finite()).any(), BAD_RELEVANCE)]
        if metric.ordered:
            checks.append(_refused(rank.drop_nulls().n_unique() != rank.count(), SHARED_RANK))
        return checks

    def __getattr__(self, name: str) -> NoReturn:
        close = "" if name.startswith("_") else nearest(name, [*DEFINITIONS, *ALIASES])
        raise AttributeError(f"there is no metric {name!r}{close}", name=name)


def _refused(condition: pl.Expr, number: int) -> pl.Expr:
    problem = PROBLEMS[number]
    return failing(condition, f"{problem.says}. Hint: {problem.hint}")


metrics = Expressions()
"""Every metric as an expression."""
