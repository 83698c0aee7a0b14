"""From one library's value of a metric to another's, one choice after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from frame_metrics.formulas.parameters import written
from frame_metrics.formulas.terms import PREFIX
from frame_metrics.plan.evaluate import evaluated
from frame_metrics.plan.table import free

if TYPE_CHECKING:
    from frame_metrics.formulas.base import Metric
    from frame_metrics.library.entry import Library
    from frame_metrics.plan.question import Question

COLUMNS = ("choice", "from", "to", "value", "change")
_NUMBER = f"{PREFIX}number"


def switched(frame: pl.LazyFrame, asked: Question, metric: Metric, first: Library, second: Library) -> pl.LazyFrame:
    """Return a metric as one library has it, and after each choice that is changed to that of another."""
    free(asked, *COLUMNS)
    name = metric.definition.name
    before, after = first.choices(name), second.choices(name)
    said = metric.given | asked.said
    rows: list[tuple[str, str | None, str]] = [("library", None, first.name)]
    likes, changed = [first.alone(name)], {}
    for choice, value in before.items():
        if choice not in said and value != after[choice]:
            changed[choice] = after[choice]
            rows.append((choice, written(value), written(after[choice])))
            likes.append(first.alone(name, **changed))
    parts = [_part(frame, asked.like(likes[n]), metric, n, row) for n, row in enumerate(rows)]
    whole = pl.concat(parts).sort(*asked.groups, _NUMBER, nulls_last=True)
    change = pl.col("value").diff()
    change = change.over(asked.groups, order_by=_NUMBER) if asked.groups else change
    return whole.with_columns(change.alias("change")).select(*asked.groups, *COLUMNS)


def _part(frame: pl.LazyFrame, asked: Question, metric: Metric, number: int, row: tuple[Any, ...]) -> pl.LazyFrame:
    (meant,) = asked.meant([metric])
    said = [pl.lit(value, dtype=pl.String).alias(name) for name, value in zip(COLUMNS, row, strict=False)]
    value = pl.col(str(meant)).cast(pl.Float64).alias("value")
    return evaluated(frame, asked, [meant]).select(*asked.groups, pl.lit(number).alias(_NUMBER), *said, value)
