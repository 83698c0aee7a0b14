"""What Spark does: choose columns, bring the rows of a query together, run the plans of Polars on parts, add up sums.

Rows go to Python twice. First where they are read: there most are dropped, since most metrics need the relevant rows
and one row for each query, and so only few rows are shuffled. Then where all rows of a query are, in order of the
query: there a worker holds some queries at a time. Nothing here knows a metric.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as f
from pyspark.sql import types as t

from frame_metrics.formulas.terms import PREFIX
from frame_metrics.on_spark import types
from frame_metrics.on_spark.shipping import on_executors
from frame_metrics.on_spark.worker import JUDGMENT, TOP, Task
from frame_metrics.plan import checks, parted
from frame_metrics.plan.evaluate import evaluated, sums
from frame_metrics.plan.table import prepared, require_keys

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import Column, DataFrame

    from frame_metrics.formulas.base import Metric
    from frame_metrics.on_spark.worker import Call
    from frame_metrics.plan.question import Question

_QUERY = f"{PREFIX}query"


@dataclass(frozen=True)
class Job:
    """A question about a Spark frame.

    Attributes
    ----------
    frame
        The rows.
    asked
        The question, which plans without rows are made with: what they say is raised before Spark begins.
    calls
        How it was asked, for the executors.
    judgments
        The judgments, and how they are to be joined, if they have a frame of their own.
    """

    frame: DataFrame
    asked: Question
    calls: tuple[Call, ...]
    judgments: Judgments | None

    def evaluated(self, metrics: list[Metric]) -> DataFrame:
        """Return metrics as a frame: one row, one for each segment, or one for each query."""
        result = evaluated(self._empty, self.asked, metrics).collect_schema()
        if self.asked.each_query:
            return self._on_parts("measured", metrics, result)
        parts = self._on_parts("summed", metrics, sums(self._empty, self.asked, metrics).collect_schema())
        by = [column(name) for name in self.asked.by]
        adding = [f.sum(column(name)).alias(name) for name in parts.columns if name not in self.asked.by]
        whole = parts.groupBy(*by).agg(*adding)
        done = self._run(whole, "finished", metrics, types.of_result(result, self._keys))
        return done.orderBy(*(name.asc_nulls_last() for name in by)) if by else done

    def problems(self) -> DataFrame:
        """Return the problems of the table: their kinds, how many there are in how many queries, and an example."""
        schema = checks.problems(prepared(self._empty, self.asked), self.asked).collect_schema()
        parts = self._on_parts("checked", [], schema)
        found = parts.groupBy("kind").agg(
            f.sum("count").alias("count"), f.sum("queries").alias("queries"), f.min("example").alias("example")
        )
        kinds = f.array(*(f.lit(problem.kind) for problem in checks.PROBLEMS.values()))
        return found.orderBy(f.array_position(kinds, f.col("kind")))

    @cached_property
    def rows(self) -> DataFrame:
        """The rows with the columns that the question names."""
        require_keys(self.frame.columns, self.asked)
        return self.frame.select(*map(column, self._names))

    @property
    def _names(self) -> list[str]:
        """The columns of the frame that are read."""
        asked, steps = self.asked, {step.kind for step in self.asked.steps}
        names = [*asked.keys, asked.item, asked.subtopic, *(name for step in asked.steps for name in step.columns)]
        names += [] if "ranks" in steps else [asked.rank]
        names += [] if "judgments" in steps else [asked.relevance]
        return [name for name in dict.fromkeys(names) if name in self.frame.columns]

    @cached_property
    def _keys(self) -> list[t.StructField]:
        schema = self._together.schema
        return [schema[name] for name in self.asked.keys]

    @property
    def _empty(self) -> pl.LazyFrame:
        return types.empty(self.rows.schema)

    @cached_property
    def _together(self) -> DataFrame:
        """The rows, and below them the judgments."""
        return self.rows if self.judgments is None else self.judgments.below(self.rows)

    def _on_parts(self, step: str, metrics: list[Metric], result: pl.Schema) -> DataFrame:
        """Return what a step makes of the rows of some queries, for all queries."""
        rows, kind = self._together, parted.kind_of_rows(self.asked, metrics)
        if parted.needs_top_grade(self.asked, metrics):
            rows = rows.crossJoin(f.broadcast(self._top_grade(rows)))
        if kind != "all":
            rows = self._run(self._items_of(rows, kind), "reduced", metrics, rows.schema)
        keys = [column(name) for name in self._apart]
        together = rows.repartition(*keys).sortWithinPartitions(*keys)
        return self._run(together, step, metrics, types.of_result(result, self._keys))

    @property
    def _apart(self) -> tuple[str, ...]:
        """The columns that tell apart what must come together: judgments are those of all lists of a query."""
        return tuple(self.asked.keys) if self.judgments is None else (self.asked.query,)

    def _items_of(self, rows: DataFrame, kind: str) -> DataFrame:
        """Return the rows with the names of such items only as are looked at: texts are dear to send."""
        if self.asked.item not in rows.columns or self.asked.item in self.asked.keys:
            return rows
        item, relevance = self.asked.item, column(self.asked.relevance)
        judged = relevance.isNotNull() if kind == "judged" else relevance.cast("double") > 0
        named = f.when(judged, column(item)).alias(item)
        return rows.select(*(named if name == item else column(name) for name in rows.columns))

    def _top_grade(self, rows: DataFrame) -> DataFrame:
        relevance = self.asked.relevance if self.judgments is None else inside(self.judgments.relevance)
        return rows.agg(f.max(column(relevance).cast("double")).alias(TOP))

    def _run(self, rows: DataFrame, step: str, metrics: list[Metric], schema: t.StructType) -> DataFrame:
        judgments = None if self.judgments is None else self.judgments.names
        task = Task(
            calls=self.calls,
            metrics=tuple(metric.asked for metric in metrics),
            keys=self._apart,
            judgments=judgments,
            rows=parted.kind_of_rows(self.asked, metrics),
            given=tuple(rows.columns),
            schema=types.arrow(schema),
        )
        # Spark looks columns up by name here, and takes dots and backticks for syntax.
        plain = rows.toDF(*(f"c{number}" for number in range(len(task.given))))
        return plain.mapInArrow(on_executors(step, task), schema)


@dataclass(frozen=True)
class Judgments:
    """Judgments in a frame of their own.

    Attributes
    ----------
    frame
        The judgments.
    asked
        The question.
    options
        Those of `.rank.judged_by`.
    """

    frame: DataFrame
    asked: Question
    options: dict[str, Any]

    @property
    def relevance(self) -> str:
        """The column with the relevance."""
        return self._called("relevance")

    @property
    def names(self) -> dict[str, str]:
        """The columns of the judgments, by what they are called where they stand below a run."""
        roles = [self._called(role) for role in ("item", "relevance", "subtopic")]
        wanted = dict.fromkeys([*roles, *self.asked.by])
        query = self._called("query")
        there = [name for name in wanted if name in self.frame.columns and name != query]
        return {self.asked.query: query, **{inside(name): name for name in there}}

    def below(self, run: DataFrame) -> DataFrame:
        """Return a run with the judgments below it, in columns of their own but for the query."""
        judged = self.frame.select(*(column(theirs).alias(ours) for ours, theirs in self.names.items()))
        judged = judged.withColumn(JUDGMENT, f.lit(True))
        run = run.withColumn(JUDGMENT, f.lit(False))
        whole = run.unionByName(judged, allowMissingColumns=True)
        return whole.unionByName(self._lists(run, judged), allowMissingColumns=True) if self._each else whole

    @property
    def _each(self) -> list[str]:
        given = self.options.get("each", ())
        return [name for name in ((given,) if isinstance(given, str) else given) if name not in self.frame.columns]

    def _lists(self, run: DataFrame, judged: DataFrame) -> DataFrame:
        """Return a row without an item for each list that should be there: one for each query and each system."""
        query = column(self.asked.query)
        queries = judged.select(query).distinct()
        if self.options.get("queries") not in (None, "qrels"):
            listed = run.select(query.alias(_QUERY)).distinct()
            queries = queries.join(listed, query.eqNullSafe(f.col(_QUERY)), how="semi")
        lists = queries.crossJoin(run.select(*map(column, self._each)).distinct())
        return lists.withColumn(JUDGMENT, f.lit(False))

    def _called(self, role: str) -> str:
        return self.options.get(role) or str(getattr(self.asked, role))


def column(name: str) -> Column:
    """Return the column of a name that may have any characters in it."""
    return f.col(f"`{name.replace('`', '``')}`")


def inside(name: str) -> str:
    """Return what a column of the judgments is called below a run."""
    return f"{PREFIX}judged:{name}"
