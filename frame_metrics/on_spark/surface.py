"""`.rank` on frames of Spark."""

from __future__ import annotations

import re
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, NoReturn, Self

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from frame_metrics import errors
from frame_metrics.errors import FrameMetricsError, OptionError
from frame_metrics.formulas import parse, parse_all
from frame_metrics.formulas.base import T
from frame_metrics.on_spark import types
from frame_metrics.on_spark.job import Job, Judgments, column
from frame_metrics.on_spark.shipping import ExecutorError
from frame_metrics.on_spark.worker import Call
from frame_metrics.plan.curves import cuts
from frame_metrics.surfaces.kinds import as_lazy
from frame_metrics.surfaces.ranking import Ranking

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import polars as pl

    from frame_metrics.formulas import Metric
    from frame_metrics.plan.question import Question
    from frame_metrics.surfaces.ranking import Plan


def _recorded(name: str) -> Any:
    """Return a method of `.rank` that says how something is asked, which is also kept for the executors."""
    method = getattr(Ranking, name)

    @wraps(method)
    def call(self: _Spark[Any], *args: Any, **options: Any) -> Any:
        made = method(self, *args, **options)
        made._calls = (*self._calls, Call(name, args, options))  # noqa: SLF001
        return made

    return call


class _Spark(Ranking[T, DataFrame]):
    """A Spark frame; plans run on parts of it."""

    __slots__ = ("_calls", "_qrels")

    def __init__(
        self,
        frame: DataFrame,
        asked: Question | None = None,
        calls: tuple[Call, ...] = (),
        qrels: tuple[DataFrame, dict[str, Any]] | None = None,
    ) -> None:
        super().__init__(frame, asked)
        self._calls = calls
        self._qrels = qrels

    if not TYPE_CHECKING:  # for a type checker, they are what they are everywhere
        using = _recorded("using")
        by = _recorded("by")
        per_query = _recorded("per_query")
        from_scores = _recorded("from_scores")
        like = _recorded("like")

    def judged_by(self, qrels: Any, **options: Any) -> Self:
        spark = qrels if isinstance(qrels, DataFrame) else types.sent(self._frame.sparkSession, as_lazy(qrels))
        made = super().judged_by(types.empty(types.readable(spark.schema)), **options)
        made._calls = (*self._calls, Call("judged_by", (), options))  # noqa: SLF001
        made._qrels = (spark, options)  # noqa: SLF001
        return made

    def evaluate(self, *metrics: str | Metric, **intervals: Any) -> DataFrame:
        if intervals:
            raise _not_on_spark("evaluate(ci=..., weight=...)", "evaluate the metrics with .per_query()")
        return self._job.evaluated(self._asked.meant(map(parse, metrics)) or parse_all(()))

    def check(self) -> DataFrame:
        return self.using(check_rows="all")._job.problems()  # noqa: SLF001 the same class

    def at_k(self, metric: str, ks: Iterable[int]) -> DataFrame:
        from pyspark.sql import functions as f

        whole, cut = cuts(self._asked, metric, ks)
        wide = self._job.evaluated(list(cut.values()))
        rows = f.explode(
            f.array(*(f.struct(f.lit(k).cast("long").alias("k"), column(str(m)).alias("v")) for k, m in cut.items()))
        )
        keys = [column(name) for name in self._asked.groups]
        long = wide.select(*keys, rows.alias("row"))
        long = long.select(*keys, f.col("row.k").alias("k"), f.col("row.v").alias(whole))
        return long.orderBy(*(key.asc_nulls_last() for key in keys), "k")

    def _with(self, asked: Question) -> Self:
        return type(self)(self._frame, asked, self._calls, self._qrels)

    def _for_many(self, asked: Question) -> SparkRanks:
        return SparkRanks(self._frame, asked, self._calls, self._qrels)

    @property
    def _job(self) -> Job:
        if any(step.ties == "first" for step in self._asked.steps):
            raise OptionError(
                "rows of a Spark frame have no order, so ties='first' means nothing. Hint: .from_scores(..., "
                "ties='item_asc'), or another policy"
            )
        judgments = None if self._qrels is None else Judgments(self._qrels[0], self._asked, self._qrels[1])
        return Job(self._frame, self._asked, self._calls, judgments)

    def _many(self, plan: Plan) -> NoReturn:  # noqa: ARG002
        raise _not_on_spark("this", "take the rows, or the values of .per_query(), to one machine")

    _many_of_all = _named = _many

    def _given(self, result: pl.DataFrame, keys: dict[str, str]) -> NoReturn:  # noqa: ARG002
        raise _not_on_spark("this", "take the values of .per_query() to one machine")


class SparkRanks(_Spark[DataFrame]):
    """Metrics of a Spark frame, a lazy Spark frame for each."""

    __slots__ = ()

    def _measure(self, metric: Metric) -> DataFrame:
        return self.evaluate(metric)

    def _one(self, plan: Plan) -> DataFrame:
        return self._many(plan)


class SparkRank(_Spark[float]):
    """Metrics of a Spark frame, a number for each; `evaluate` gives a lazy Spark frame."""

    __slots__ = ()

    def _measure(self, metric: Metric) -> float:
        frame = self.evaluate(metric)
        with raising():
            value = frame.collect()[0][0]
        return float("nan") if value is None else float(value)

    def _one(self, plan: Plan) -> float:
        return self._many(plan)


@contextmanager
def raising() -> Iterator[None]:
    """Raise what a worker says about the table, or lacks, in place of the error that Spark makes of it."""
    try:
        yield
    except PySparkException as error:
        if (found := _told(str(error))) is None:
            raise
        raise found from None


_SAID = re.compile(r"frame_metrics\.errors\.(\w+): (.*)")
_LACKED = re.compile(r"frame_metrics_spark: (.*)")
_NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '(pyarrow|polars|frame_metrics|pandas)[.'\w]*")


def _told(text: str) -> FrameMetricsError | None:
    if said := _SAID.search(text):
        kind = getattr(errors, said[1], FrameMetricsError)
        return kind(said[2]) if issubclass(kind, FrameMetricsError) else None
    if lacked := _LACKED.search(text):
        return ExecutorError(lacked[1])
    if lacked := _NO_MODULE.search(text):
        return ExecutorError(
            f"executors need the package {lacked[1]!r}, and do not have it. Hint: install it there, set "
            "PYSPARK_PYTHON to a Python that has it, or send an environment along with Spark's --archives"
        )
    return None


def _not_on_spark(what: str, instead: str) -> OptionError:
    return OptionError(
        f"{what} is not made on Spark frames. Hint: {instead}, such as pl.DataFrame(frame.toArrow()), and ask there"
    )
