"""`.rank` on Polars frames, and on tables of Arrow."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from frame_metrics.errors import TableError
from frame_metrics.failing import raising
from frame_metrics.formulas.base import T
from frame_metrics.surfaces.asking import Many
from frame_metrics.surfaces.ranking import Ranking

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from frame_metrics.plan.question import Question
    from frame_metrics.surfaces.ranking import Plan


def run(
    plan: Plan, frame: pl.DataFrame, asked: Question, full: Callable[[], pl.DataFrame] | None = None
) -> pl.DataFrame:
    """Return the result of a plan; what it says about the table is raised as an error of this package.

    Parameters
    ----------
    plan
        What to do with the table and the question.
    frame, asked
        The table and the question.
    full
        Gives the table in which the example of an error message is looked up, if that is another one.
    """
    lazy = frame.lazy()
    try:
        with raising():
            return plan(lazy, replace(asked, eager=True, brief=True)).collect(engine="in-memory")
    except TableError:
        table = lazy if full is None else full().lazy()
    with raising():
        return plan(table, replace(asked, eager=True)).collect(engine="in-memory")


def number(result: pl.DataFrame) -> float:
    """Return the only value of a result, NaN where there is none."""
    value = result.item()
    return float("nan") if value is None else float(value)


class InMemory(Ranking[T, Many]):
    """A Polars frame in memory: plans run at once."""

    __slots__ = ()

    def _run(self, plan: Plan) -> pl.DataFrame:
        return run(plan, pl.DataFrame(self._frame), self._asked)

    _named = _run


class DataFrameRanks(InMemory[pl.DataFrame, pl.DataFrame]):
    """Metrics of a Polars DataFrame, a frame for each."""

    __slots__ = ()

    def _many(self, plan: Plan) -> pl.DataFrame:
        return self._run(plan)

    def _given(self, result: pl.DataFrame, keys: dict[str, str]) -> pl.DataFrame:  # noqa: ARG002
        return result

    _one = _many

    def _for_many(self, asked: Question) -> DataFrameRanks:
        return self._with(asked)


class DataFrameRank(InMemory[float, pl.DataFrame]):
    """Metrics of a Polars DataFrame, a number for each."""

    __slots__ = ()

    def _many(self, plan: Plan) -> pl.DataFrame:
        return self._run(plan)

    def _given(self, result: pl.DataFrame, keys: dict[str, str]) -> pl.DataFrame:  # noqa: ARG002
        return result

    def _one(self, plan: Plan) -> float:
        return number(self._run(plan))

    def _for_many(self, asked: Question) -> DataFrameRanks:
        return DataFrameRanks(self._frame, asked)


class LazyFrameRank(Ranking[pl.LazyFrame, pl.LazyFrame]):
    """Metrics of a LazyFrame: always a LazyFrame, and nothing is read before `collect`."""

    __slots__ = ()

    def _many(self, plan: Plan) -> pl.LazyFrame:
        return plan(self._frame, self._asked)

    _one = _many

    def _named(self, plan: Plan) -> pl.DataFrame:
        with raising():
            return plan(self._frame, self._asked).collect()

    def _given(self, result: pl.DataFrame, keys: dict[str, str]) -> pl.LazyFrame:  # noqa: ARG002
        return result.lazy()

    def _for_many(self, asked: Question) -> LazyFrameRank:
        return self._with(asked)


class ArrowRanks(InMemory["pa.Table", "pa.Table"]):
    """Metrics of a pyarrow Table, a table for each."""

    __slots__ = ()

    def _many(self, plan: Plan) -> pa.Table:
        return self._run(plan).to_arrow()

    def _given(self, result: pl.DataFrame, keys: dict[str, str]) -> pa.Table:  # noqa: ARG002
        return result.to_arrow()

    _one = _many

    def _for_many(self, asked: Question) -> ArrowRanks:
        return self._with(asked)


class ArrowRank(InMemory[float, "pa.Table"]):
    """Metrics of a pyarrow Table, a number for each."""

    __slots__ = ()

    def _many(self, plan: Plan) -> pa.Table:
        return self._run(plan).to_arrow()

    def _given(self, result: pl.DataFrame, keys: dict[str, str]) -> pa.Table:  # noqa: ARG002
        return result.to_arrow()

    def _one(self, plan: Plan) -> float:
        return number(self._run(plan))

    def _for_many(self, asked: Question) -> ArrowRanks:
        return ArrowRanks(self._frame, asked)
