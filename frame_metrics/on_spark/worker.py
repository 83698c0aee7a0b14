"""What runs on executors, between Arrow batches: the plans that run on one machine, on a part of the rows.

Nothing here knows Spark. A `Task` is plain data, so that driver and executors need not have the same Polars.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import polars as pl
import pyarrow as pa

from frame_metrics.failing import raising
from frame_metrics.formulas import parse
from frame_metrics.formulas.terms import PREFIX
from frame_metrics.plan import checks, parted
from frame_metrics.plan.evaluate import concluded, evaluated, sums
from frame_metrics.plan.rows import changed
from frame_metrics.plan.table import prepared
from frame_metrics.surfaces.frames import LazyFrameRank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from frame_metrics.formulas.base import Metric, Rows
    from frame_metrics.plan.question import Question

    Plan = Callable[[pl.LazyFrame, Question, list[Metric]], pl.LazyFrame]

JUDGMENT = f"{PREFIX}judgment"
"""Whether a row is one of the judgments, where these are in the same table as the run."""

TOP = f"{PREFIX}top"
"""The highest grade of the whole table, in all rows."""

AT_ONCE = 1_000_000
"""How many rows a worker gathers before it goes to work; it needs memory for these, or for the longest list."""


@dataclass(frozen=True)
class Call:
    """A method of `.rank` that was called."""

    name: str
    args: tuple[Any, ...]
    options: dict[str, Any]


@dataclass(frozen=True)
class Task:
    """What is asked of each part of a table.

    Attributes
    ----------
    calls
        How it is asked: the methods that were called on `.rank`.
    metrics
        The texts of the metrics; none to look for problems.
    keys
        The columns that tell queries apart, of which a part has all rows or none.
    judgments
        What columns of the table are called in the judgments, where these are in the same table as the run.
    rows
        Which rows the metrics need.
    given
        The columns of the table, in order.
    schema
        The columns of the result, in order.
    """

    calls: tuple[Call, ...]
    metrics: tuple[str, ...]
    keys: tuple[str, ...]
    judgments: dict[str, str] | None
    rows: Rows
    given: tuple[str, ...]
    schema: pa.Schema

    def question(self, frame: pl.LazyFrame, qrels: pl.LazyFrame | None = None) -> Question:
        """Return what is asked of a frame."""
        ranking: Any = LazyFrameRank(frame)
        for call in self.calls:
            first = [qrels] if call.name == "judged_by" else []
            ranking = getattr(ranking, call.name)(*first, *call.args, **call.options)
        asked: Question = ranking._asked  # noqa: SLF001
        return asked

    @property
    def parsed(self) -> list[Metric]:
        """The metrics."""
        return [parse(text) for text in self.metrics]

    def result(self, table: pl.DataFrame, plan: Plan) -> pl.DataFrame:
        """Return what a plan makes of all rows of some queries."""
        top = cast("float | None", table[TOP].max()) if TOP in table.columns else None
        frame, qrels = table.lazy().drop(TOP, strict=False), None
        if self.judgments is not None:
            judged = pl.col(JUDGMENT)
            qrels = frame.filter(judged).select(pl.col(ours).alias(theirs) for ours, theirs in self.judgments.items())
            inside = [name for name in self.judgments if name.startswith(PREFIX)]
            frame = frame.filter(~judged).drop(JUDGMENT, *inside)
        asked = replace(self.question(frame, qrels), top_grade=top)
        with raising():
            return plan(frame, asked, self.parsed).collect()


def reduced(batches: Iterator[pa.RecordBatch], task: Task) -> Iterator[pa.RecordBatch]:
    """Return the rows that are needed, in no order."""
    known: pl.DataFrame | None = None
    for table in _gathered(batches, task):
        frame = table.lazy()
        asked = task.question(frame)
        with raising():
            rows = parted.needed(frame, asked, task.rows, None if known is None else known.lazy()).collect()
        yield from _batches(rows, task.schema)
        given = rows.select(asked.keys).unique()
        known = given if known is None or known.height > AT_ONCE else pl.concat([known, given]).unique()


def measured(batches: Iterator[pa.RecordBatch], task: Task) -> Iterator[pa.RecordBatch]:
    """Return a row for each query."""
    return _each(batches, task, evaluated)


def summed(batches: Iterator[pa.RecordBatch], task: Task) -> Iterator[pa.RecordBatch]:
    """Return sums over queries."""
    return _each(batches, task, sums)


def checked(batches: Iterator[pa.RecordBatch], task: Task) -> Iterator[pa.RecordBatch]:
    """Return the problems of queries."""
    return _each(batches, task, lambda frame, asked, _: checks.problems(prepared(frame, asked), asked))


def finished(batches: Iterator[pa.RecordBatch], task: Task) -> Iterator[pa.RecordBatch]:
    """Return the results that sums over all queries give."""
    for table in _gathered(batches, task):
        frame = table.lazy()
        with raising():
            results = concluded(frame, task.question(frame, frame), task.parsed).collect()
        yield from _batches(results, task.schema)


def _each(batches: Iterator[pa.RecordBatch], task: Task, plan: Plan) -> Iterator[pa.RecordBatch]:
    """Return what a plan makes of some queries after the other; the rows of a query come one after the other."""
    begun: list[pl.DataFrame] = []
    for table in _gathered(batches, task):
        # The last query may go on in what comes next.
        last = table.select(changed(list(task.keys)).arg_true().last()).item() or 0
        if last:
            yield from _batches(task.result(pl.concat([*begun, table[:last]]), plan), task.schema)
            begun = []
        begun.append(table[last:])
    if begun:
        yield from _batches(task.result(pl.concat(begun), plan), task.schema)


def _gathered(batches: Iterator[pa.RecordBatch], task: Task) -> Iterator[pl.DataFrame]:
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        if sum(some.num_rows for some in held) >= AT_ONCE:
            yield _frame(held, task)
            held = []
    if any(batch.num_rows for batch in held):
        yield _frame(held, task)


def _frame(batches: list[pa.RecordBatch], task: Task) -> pl.DataFrame:
    return cast("pl.DataFrame", pl.from_arrow(pa.Table.from_batches(batches).rename_columns(list(task.given))))


def _batches(frame: pl.DataFrame, schema: pa.Schema) -> list[pa.RecordBatch]:
    """Return a result in types that Spark knows: no views, no large texts, no unsigned numbers."""
    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest()).rename_columns(schema.names)
    return list(table.cast(schema).to_batches())
