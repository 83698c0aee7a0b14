"""What is done with a part of a table, where another engine holds the whole.

Each part has all rows of its queries, or of some of them only those that are needed; `sums` of parts add up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import polars as pl

from frame_metrics.formulas.base import Rows
from frame_metrics.formulas.terms import TOP_GRADE
from frame_metrics.plan import checks
from frame_metrics.plan.rows import changed
from frame_metrics.plan.table import RELEVANCE, prepared

if TYPE_CHECKING:
    from frame_metrics.formulas.base import Metric
    from frame_metrics.plan.question import Question

_EVERY: Rows = "all"


def kind_of_rows(asked: Question, metrics: list[Metric]) -> Rows:
    """Return which rows metrics need of a table: those of the kind, and one of each query."""
    if asked.steps or asked.check_rows is None:
        return _EVERY
    kinds = {metric.plain.rows for metric in asked.meant(metrics)}
    return _EVERY if "subtopics" in kinds else max(kinds, key=get_args(Rows).index)


def needs_top_grade(asked: Question, metrics: list[Metric]) -> bool:
    """Return whether a metric depends on the highest grade of the whole table."""
    return any(TOP_GRADE in metric.names for metric in asked.meant(metrics))


def needed(frame: pl.LazyFrame, asked: Question, kind: Rows, known: pl.LazyFrame | None = None) -> pl.LazyFrame:
    """Return the rows of a kind, those with something wrong, and one row of nulls for each list without such rows.

    A row that was neither retrieved nor judged changes no number, but for the number of lists. A wrong row is kept for
    the plan that says what is wrong.

    Parameters
    ----------
    frame, asked
        The rows, and the question about them.
    kind
        Which rows are needed.
    known
        The keys of lists of which a row was given before, and which therefore need none.
    """
    if kind == _EVERY:
        return frame
    table = prepared(frame, asked)
    relevance = pl.col(RELEVANCE)
    wanted = relevance > 0 if kind == "relevant" else relevance.is_not_null()
    wrong = checks.number_of(checks.values(table, asked)).is_not_null()
    schema, keys = frame.collect_schema(), asked.keys
    names = schema.names()
    made = [column for column in table.columns if column.meta.output_name() not in keys]
    rows = frame.with_columns(made).filter(wanted.fill_null(False) | wrong).select(names)
    lists = frame.select(keys).filter(changed(keys)).unique()
    for there in (rows.select(keys), known):
        if there is not None:
            lists = lists.join(there, on=keys, how="anti", nulls_equal=True)
    nulls = [pl.lit(None, dtype=dtype).alias(name) for name, dtype in schema.items() if name not in keys]
    return pl.concat([rows, lists.with_columns(nulls).select(names)])
