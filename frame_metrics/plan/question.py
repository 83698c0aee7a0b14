"""What is asked of a table: which columns play which role, and how queries are judged and put together."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import polars as pl

from frame_metrics.errors import choice, wanted
from frame_metrics.library.entry import OURS, Library

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from frame_metrics.formulas.base import Metric

NoRelevant: TypeAlias = Literal["zero", "skip", "one", "error"]
Average: TypeAlias = Literal["macro", "micro"]

CHECK_ROWS = 100_000


@dataclass(frozen=True)
class Source:
    """The rows that are measured, and shorter ways to some of them.

    Attributes
    ----------
    rows
        All rows.
    relevant
        Gives the rows whose relevance meets a condition, with the columns that a question names; None if there is no
        shorter way to them than through all rows.
    lists
        Rows of which each list has at least one; None for all rows.
    parts
        Tables whose first rows are checked, each with all columns that the question names; None for the rows.
    """

    rows: pl.LazyFrame
    relevant: Callable[[pl.Expr], pl.LazyFrame] | None = None
    lists: pl.LazyFrame | None = None
    parts: tuple[pl.LazyFrame, ...] | None = None


@dataclass(frozen=True)
class Step:
    """Something done to the table before anything is measured.

    Attributes
    ----------
    kind
        What it makes; a question has one step of a kind.
    columns
        The columns it reads beside those of the question.
    after
        What is measured after it.
    score, ties
        What ranks are made of, where they are made, and the policy for equal scores.
    last
        What is done when all steps are done, if anything.
    remade
        Makes the step anew, as another library has what was left to it.
    """

    kind: Literal["ranks", "judgments"]
    columns: tuple[str, ...]
    after: Callable[[pl.LazyFrame, Question], Source]
    score: pl.Expr | None = None
    ties: str = ""
    last: Callable[[Source, Question], Source] | None = None
    remade: Callable[[Library], Step] | None = None


@dataclass(frozen=True)
class Question:
    """Everything that `using`, `by`, `per_query`, `from_scores` and `judged_by` have said so far.

    Attributes
    ----------
    query, item, rank, relevance, subtopic
        The names of the columns that play these roles.
    min_relevance
        From which grade on an item is relevant for binary metrics; None means every positive grade.
    no_relevant
        What becomes of a query that has nothing relevant.
    average
        `"macro"` averages over queries, `"micro"` pools numerators and denominators.
    depth
        The last rank that counts as retrieved; None for all.
    check_rows
        How many of the first rows are checked in full; None for all. Rows that enter a number are always checked.
    by
        The segments: one result each.
    each_query
        Whether every query is a result of its own.
    eager
        Whether the plan is run at once, on a frame in memory.
    brief
        Whether the plan may fail without saying why: texts cost time even where nothing fails, so they are left to a
        second run.
    also
        Columns that are read beside those of the roles and the segments.
    top_grade
        The highest grade of the table, where the rows are only a part of it.
    steps
        What is done to the table before anything is measured: ranks from scores, then a join with judgments.
    library
        Whose choices hold where nothing was said.
    said
        What `using` has said.
    """

    query: str = "query"
    item: str = "item"
    rank: str = "rank"
    relevance: str = "relevance"
    subtopic: str = "subtopic"
    min_relevance: float | None = None
    no_relevant: NoRelevant = "zero"
    average: Average = "macro"
    depth: int | None = None
    check_rows: int | None = CHECK_ROWS
    by: tuple[str, ...] = ()
    each_query: bool = False
    steps: tuple[Step, ...] = field(default=(), repr=False)
    eager: bool = False
    brief: bool = False
    also: tuple[str, ...] = ()
    top_grade: float | None = None
    library: Library = field(default=OURS, repr=False)
    said: frozenset[str] = field(default=frozenset(), repr=False)

    @property
    def keys(self) -> list[str]:
        """The columns that tell one list from another."""
        return list(dict.fromkeys((*self.by, self.query)))

    @property
    def groups(self) -> list[str]:
        """The columns of the result that say what a row is about."""
        return self.keys if self.each_query else list(self.by)

    @property
    def tied(self) -> bool:
        """Whether rows that share a rank are tied, and every order of them counts the same."""
        return any(step.ties == "expected" for step in self.steps)

    @property
    def scores(self) -> list[pl.Expr]:
        """The scores that ranks are made of, as they are compared."""
        return [step.score for step in self.steps if step.score is not None]

    @property
    def fill(self) -> float | None:
        """The score of a query that has nothing relevant; None where it has no score."""
        return {"zero": 0.0, "one": 1.0, "skip": None, "error": None}[self.no_relevant]

    def using(self, **changes: Any) -> Question:
        """Return the question with these settings; values of None leave a setting as it is."""
        given = {name: value for name, value in changes.items() if value is not None}
        for role in ("query", "item", "rank", "relevance", "subtopic"):
            if not isinstance(given.get(role, ""), str):
                raise wanted(role, "the name of a column", given[role])
        if "min_relevance" in given:
            given["min_relevance"] = _level(given["min_relevance"])
        for name, allowed in (("no_relevant", NoRelevant), ("average", Average)):
            if name in given and given[name] not in get_args(allowed):
                raise choice(name, given[name], get_args(allowed))
        if "depth" in given and (
            isinstance(given["depth"], bool) or not isinstance(given["depth"], int) or given["depth"] < 1
        ):
            raise wanted("depth", "an integer >= 1", given["depth"])
        if "check_rows" in given:
            given["check_rows"] = _rows_to_check(given["check_rows"])
        asked = replace(self, **given, said=self.said | set(given))
        if asked.average == "micro" and asked.no_relevant == "one":
            raise wanted("no_relevant", "'zero', 'skip' or 'error' where the average is 'micro'", "one")
        return asked

    def grouped(self, *by: str) -> Question:
        """Return the question asked for each segment."""
        if not by or not all(isinstance(name, str) for name in by):
            raise wanted("by", "one or more names of columns", by)
        return replace(self, by=tuple(dict.fromkeys((*self.by, *by))))

    def per_query(self) -> Question:
        """Return the question asked for each query."""
        return replace(self, each_query=True)

    def like(self, library: Library) -> Question:
        """Return the question with the choices of a library for all that was not said."""
        steps = tuple(step if step.remade is None else _made(step.remade, library) for step in self.steps)
        left = {name: library.setting(name) for name in ("no_relevant",) if name not in self.said}
        return replace(self, library=library, steps=steps, **left).using()

    def meant(self, metrics: Iterable[Metric]) -> list[Metric]:
        """Return what the library means by these metrics, each text once."""
        meant = metrics if self.library is OURS else map(self.library.of, metrics)
        return list({str(metric): metric for metric in meant}.values())

    def parts(self, metrics: Iterable[Metric]) -> list[tuple[Question, list[Metric]]]:
        """Return the metrics in groups for which the library chooses one table, each with the question about it."""
        if self.library.metrics is None:
            return [(self, list(metrics))]
        parts: dict[tuple[Any, ...], tuple[Question, list[Metric]]] = {}
        for metric in metrics:
            alone = self.library.alone(metric.definition.name)
            settings = tuple(alone.settings.values())
            if settings not in parts:
                parts[settings] = (self.like(alone), [])
            parts[settings][1].append(metric)
        return list(parts.values())

    def then(self, make: Callable[[Library], Step]) -> Question:
        """Return the question asked of the table after a step, in place of an earlier one of its kind.

        Ranks come before judgments, whatever was said first: a missed item has no score.

        Parameters
        ----------
        make
            Makes the step, with the choices of a library for what was not said.
        """
        step = _made(make, self.library)
        steps = {s.kind: s for s in (*self.steps, step)}
        return replace(self, steps=tuple(steps[kind] for kind in ("ranks", "judgments") if kind in steps))

    def source(self, table: pl.LazyFrame) -> Source:
        """Return what is measured: the table after the steps."""
        source, deep = Source(table), self.depth is None
        for step in self.steps:
            if step.kind == "judgments" and not deep:
                source, deep = Source(self._cut(source.rows)), True
            source = step.after(source.rows, self)
        source = source if deep else Source(self._cut(source.rows))
        for step in self.steps:
            source = step.last(source, self) if step.last is not None else source
        return source

    def _cut(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return the rows, of which those below the depth were not retrieved."""
        dtype = rows.collect_schema().get(self.rank)
        if dtype is None or not dtype.is_numeric():
            return rows
        rank = pl.col(self.rank)
        below = (rank > self.depth) & (rank.is_finite() if dtype.is_float() else True)
        return rows.with_columns(pl.when(~below).then(rank).alias(self.rank))


def _made(make: Callable[[Library], Step], library: Library) -> Step:
    return replace(make(library), remade=make)


def _level(level: Any) -> float:
    if isinstance(level, bool) or not isinstance(level, Real) or not 0 < float(level) < float("inf"):
        raise wanted("min_relevance", "a number > 0", level, "every grade > 0 is relevant without it")
    return float(level)


def _rows_to_check(rows: Any) -> int | None:
    if rows == "all":
        return None
    if isinstance(rows, bool) or not isinstance(rows, int) or rows < 0:
        raise wanted("check_rows", "an integer >= 0 or 'all'", rows)
    return rows
