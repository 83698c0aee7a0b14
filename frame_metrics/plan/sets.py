"""What is kept of each query, and its sums: metrics are in sets by the rows that they need."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, get_args

import polars as pl

from frame_metrics.errors import OptionError
from frame_metrics.formulas.base import LEAST, Rows
from frame_metrics.formulas.terms import FLAGS, PREFIX
from frame_metrics.plan.rows import PLACE, RowSet, every_row_relevant
from frame_metrics.plan.shared import WEIGHT, TiedRows
from frame_metrics.plan.subtopics import SubtopicRows

if TYPE_CHECKING:
    from frame_metrics.formulas.base import Formula, Metric
    from frame_metrics.plan.question import Question
    from frame_metrics.plan.table import Table

QUERIES = f"{PREFIX}queries"
"""The column with the number of queries."""

_FIRST = pl.col(PLACE) == 1


class PerQuery:
    """One row for each query that has rows in a set.

    Parameters
    ----------
    kind
        Which rows the set has.
    metrics
        The metrics that need such rows.
    asked
        What is asked.
    floating
        Whether grades are floats.
    """

    def __init__(self, kind: Rows, metrics: list[Metric], asked: Question, *, floating: bool) -> None:
        self.asked = asked
        whole = every_row_relevant(kind, asked)
        self.formulas = {str(m): m.relevant if whole else m.plain for m in metrics}
        flat = [m for m in metrics if kind == "relevant" and _row_by_row(m, asked)]
        sums = {name: ideal for m in flat for name, ideal in m.spread[1].items()}
        self.flat = {str(m): m.spread[0] for m in flat}
        self.grouped = {name: f for name, f in self.formulas.items() if name not in self.flat}
        names = {PLACE}.union(*(f.names for f in {**self.grouped, **self.flat}.values())) - set(sums)
        ordered = any(m.ordered for m in metrics)
        self.rows: RowSet | SubtopicRows = (
            SubtopicRows(asked, names)
            if kind == "subtopics"
            else RowSet(kind, asked, names, sums, ordered=ordered, floating=floating)
        )
        self.complete = kind == "all"
        self.pooled = asked.average == "micro" and not asked.each_query
        if self.pooled and (means := [name for name, f in self.formulas.items() if f.mean == "geometric"]):
            raise OptionError(
                f"{means[0]} is a geometric mean over queries, which average='micro' does not take. "
                "Hint: leave `average` out"
            )
        self.present = QUERIES if self.complete else f"{PREFIX}present:{kind}"
        self.lacking = f"{PREFIX}lacking:{kind}"
        self.strict = asked.no_relevant == "error" and bool(self._judging)

    def frame(self, table: Table) -> pl.LazyFrame:
        """Return the keys and what is kept of each metric; where that must not be, whether nothing is relevant."""
        return self._grouped(self._of(table), self.formulas)

    def _of(self, table: Table) -> pl.LazyFrame:
        return self.rows.of(table)

    def _grouped(self, rows: pl.LazyFrame, formulas: dict[str, Formula]) -> pl.LazyFrame:
        columns = [column for name, formula in formulas.items() for column in self._kept(name, formula)]
        if self.strict:
            columns.append(pl.any_horizontal(number == 0 for number in self._judging).alias(self.lacking))
        return rows.group_by(self.asked.keys).agg(columns)

    def _kept(self, name: str, formula: Formula) -> list[pl.Expr]:
        if formula.mean == "geometric" and not self.asked.each_query:
            return [formula.score(self.asked.fill).clip(lower_bound=LEAST).log().alias(name)]
        if not self._pools(formula) or formula.total:
            return [formula.score(self.asked.fill).alias(name)]
        value, over = formula.value, pl.lit(1.0) if formula.over is None else formula.over
        if formula.relevant is not None and self.asked.fill is None:
            value, over = (pl.when(formula.relevant > 0).then(part).otherwise(0.0) for part in (value, over))
        return [value.cast(pl.Float64).alias(name), over.cast(pl.Float64).alias(over_of(name))]

    def _pools(self, formula: Formula) -> bool:
        return self.pooled or (formula.mean == "pooled" and not self.asked.each_query)

    @property
    def _judging(self) -> list[pl.Expr]:
        return [f.relevant for f in self.formulas.values() if f.relevant is not None]

    def part(self, table: Table) -> pl.LazyFrame:
        """Return the sums over queries, in one row or in one for each segment, with the number of queries present."""
        rows = self._of(table)
        parts = []
        if self.flat:
            sums = [_flat_sum(name, formula) for name, formula in self.flat.items()]
            parts.append(self._collected(rows, [*sums, _FIRST.sum().cast(pl.Int64).alias(self.present)]))
        if self.grouped:
            sums = [e for name, formula in self.grouped.items() for e in self._sums(name, formula)]
            sums += [] if self.flat else [pl.len().cast(pl.Int64).alias(self.present)]
            sums += [pl.col(self.lacking).sum().cast(pl.Int64)] if self.strict else []
            parts.append(self._collected(self._grouped(rows, self.grouped), sums))
        first, *second = parts
        return beside(first, second[0], list(self.asked.by)) if second else first

    def _collected(self, frame: pl.LazyFrame, sums: list[pl.Expr]) -> pl.LazyFrame:
        return frame.group_by(self.asked.by).agg(sums) if self.asked.by else frame.select(sums)

    def _sums(self, name: str, formula: Formula) -> list[pl.Expr]:
        if formula.total:
            return [pl.col(name).sum()]
        over = pl.col(over_of(name)).sum() if self._pools(formula) else pl.col(name).count().cast(pl.Float64)
        return [pl.col(name).sum(), over.alias(over_of(name))]

    def results(self) -> list[pl.Expr]:
        """Return the expressions that turn sums into results, given the number of all queries."""
        return [self._result(name, formula) for name, formula in self.formulas.items()]

    @property
    def _absent(self) -> pl.Expr:
        return pl.col(QUERIES) - pl.col(self.present).fill_null(0)

    def without(self) -> list[pl.Expr]:
        """Return the numbers of queries with nothing relevant, which must be 0."""
        absent = pl.lit(0) if self.complete else self._absent
        return [pl.col(self.lacking).fill_null(0) + absent] if self.strict else []

    def scores(self) -> list[pl.Expr]:
        """Return the scores of all queries, those without a row in the set included."""
        if self.complete:
            return [pl.col(name) for name in self.formulas]
        fills = {name: 0 if formula.relevant is None else self.asked.fill for name, formula in self.formulas.items()}
        return [pl.col(name) if fill is None else pl.col(name).fill_null(fill) for name, fill in fills.items()]

    def ratios(self) -> list[pl.Expr]:
        """Return the numerators and denominators of all queries, those without a row in the set included."""
        found: list[pl.Expr] = []
        for name, formula in self.formulas.items():
            value, over = self.absent(formula)
            found += [pl.col(name).fill_null(value), pl.col(over_of(name)).fill_null(over)]
        return found

    def lacks(self) -> list[pl.Expr]:
        """Return whether a query, one without a row in the set included, has nothing relevant."""
        return [pl.col(self.lacking).fill_null(True)] if self.strict else []

    def _result(self, name: str, formula: Formula) -> pl.Expr:
        value = pl.col(name).fill_null(0)
        if formula.total:
            return value.alias(name)
        if name in self.flat:
            fill = 0.0 if formula.relevant is None else self.asked.fill
            over = pl.col(self.present if fill is None else QUERIES)
            value = value + fill * self._absent if fill else value
            # Nothing divided by nothing is NaN, and no other quotient is.
            return (value / over).fill_nan(None).alias(name)
        over = pl.col(over_of(name)).fill_null(0.0)
        more_value, more_over = self.absent(formula)
        if more_over:
            value, over = value + more_value * self._absent, over + more_over * self._absent
        mean = pl.when(over > 0).then(value / over)
        return (mean.exp() if formula.mean == "geometric" else mean).alias(name)

    @property
    def counts_absent(self) -> bool:
        """Whether the result depends on the number of queries without a row in the set."""
        some = any(self.absent(formula)[1] for formula in self.formulas.values() if not formula.total)
        return not self.complete and (some or self.strict)

    def absent(self, formula: Formula) -> tuple[float, float]:
        """Return what a query without a row in the set adds to numerator and denominator."""
        fill = 0.0 if formula.relevant is None else self.asked.fill
        if self.complete or fill is None:
            return 0.0, 0.0
        if not self._pools(formula):
            return math.log(max(fill, LEAST)) if formula.mean == "geometric" else fill, 1.0
        if formula.over is None:
            return 0.0, 1.0
        schema = {name: pl.Boolean if name in FLAGS else pl.UInt32 for name in formula.over.meta.root_names()}
        return 0.0, float(pl.DataFrame(schema=schema).select(formula.over.cast(pl.Float64)).item())


class OfTies(PerQuery):
    """One row for each query, of metrics that depend on the order, where every order of tied items counts the same."""

    def __init__(self, metrics: list[Metric], asked: Question, *, floating: bool) -> None:
        super().__init__("relevant", [], asked, floating=floating)
        for metric in metrics:
            if metric.plain.row is None or metric.plain.rows != "relevant" or not metric.plain.linear:
                raise OptionError(
                    f"the mean of {metric} over all orders of tied items is not known, as ties='expected' asks. "
                    "Hint: ask for other metrics, or for its bounds with ties='worst' and ties='best'"
                )
        self.formulas = self.grouped = {str(m): m.plain for m in metrics}
        self.tied = {str(m): m.tied[0] for m in metrics}
        sums = {name: ideal for m in metrics for name, ideal in m.tied[1].items()}
        names = frozenset().union(*(f.names for f in self.tied.values()))
        self.ties = TiedRows(asked, names, sums, floating=floating)
        self.present, self.lacking = f"{PREFIX}present:ties", f"{PREFIX}lacking:ties"
        self.strict = asked.no_relevant == "error" and bool(self._judging)

    def _of(self, table: Table) -> pl.LazyFrame:
        return self.ties.of(table)

    def _grouped(self, rows: pl.LazyFrame, formulas: dict[str, Formula]) -> pl.LazyFrame:
        sums, made = [], {}
        for name in formulas:
            formula = self.tied[name]
            row = formula.value if formula.row is None else formula.row
            sums.append((row.cast(pl.Float64) * pl.col(WEIGHT)).sum().alias(name))
            over, relevant = f"{PREFIX}over_of:{name}", f"{PREFIX}relevant_of:{name}"
            made[name] = replace(formula, value=pl.col(name), row=None)
            if formula.over is not None:
                sums.append(formula.over.first().alias(over))
                made[name] = replace(made[name], over=pl.col(over))
            if formula.relevant is not None:
                sums.append(formula.relevant.first().alias(relevant))
                made[name] = replace(made[name], relevant=pl.col(relevant))
        columns = [column for name, formula in made.items() for column in self._kept(name, formula)]
        if self.strict:
            numbers = [formula.relevant for formula in made.values() if formula.relevant is not None]
            columns.append(pl.any_horizontal(number == 0 for number in numbers).alias(self.lacking))
        return rows.group_by(self.asked.keys).agg(sums).select(*self.asked.keys, *columns)


def _row_by_row(metric: Metric, asked: Question) -> bool:
    """Return whether the mean over queries is a sum over rows: all of them relevant, all queries of one weight."""
    plain = asked.average == "macro" and asked.no_relevant != "error" and asked.min_relevance is None
    return plain and not asked.each_query and metric.plain.row is not None


def _flat_sum(name: str, formula: Formula) -> pl.Expr:
    row = formula.value if formula.row is None else formula.row
    row = row if formula.over is None else row / formula.over
    return row.sum().cast(pl.Float64).alias(name)


def over_of(name: str) -> str:
    """Return the name of the column with the denominator of a metric, where that is kept."""
    return f"{PREFIX}over:{name}"


def sets_of(metrics: list[Metric], asked: Question, *, floating: bool) -> list[PerQuery]:
    """Return the sets of metrics, those that need most rows first; of metrics that depend on tied rows, last."""
    order = get_args(Rows)
    tied = [m for m in metrics if asked.tied and m.ordered and not m.definition.of_subtopics]
    place = {metric: order.index(metric.plain.rows) for metric in metrics}
    rest = sorted((m for m in metrics if m not in tied), key=place.__getitem__, reverse=True)
    made: list[PerQuery] = []
    for kind, some in groupby(rest, key=place.__getitem__):
        made.append(PerQuery(order[kind], list(some), asked, floating=floating))
    return [*made, OfTies(tied, asked, floating=floating)] if tied else made


def beside(left: pl.LazyFrame, right: pl.LazyFrame, on: list[str]) -> pl.LazyFrame:
    """Return the frames side by side: joined on the keys, or the right one's single row beside each row."""
    if on:
        return left.join(right, on=on, how="left", nulls_equal=True)
    return left.join(right, how="cross")
