"""What is asked of a table: which columns play which role, and how queries are judged and put together."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from frame_metrics.errors import choice, wanted

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

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
    """

    kind: Literal["ranks", "judgments"]
    columns: tuple[str, ...]
    after: Callable[[pl.LazyFrame, Question], Source]


@dataclass(frozen=True)
class Question:
    """Everything that `using`, `by`, `per_query`, `from_scores` and `judged_by` have said so far.

    Attributes
    ----------
    query, item, rank, relevance
        The names of the columns that play these roles.
    min_relevance
        From which grade on an item is relevant for binary metrics; None means every positive grade.
    no_relevant
        What becomes of a query that has nothing relevant.
    average
        `"macro"` averages over queries, `"micro"` pools numerators and denominators.
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
    steps
        What is done to the table before anything is measured: ranks from scores, then a join with judgments.
    """

    query: str = "query"
    item: str = "item"
    rank: str = "rank"
    relevance: str = "relevance"
    min_relevance: float | None = None
    no_relevant: NoRelevant = "zero"
    average: Average = "macro"
    check_rows: int | None = CHECK_ROWS
    by: tuple[str, ...] = ()
    each_query: bool = False
    steps: tuple[Step, ...] = field(default=(), repr=False)
    eager: bool = False
    brief: bool = False

    @property
    def keys(self) -> list[str]:
        """The columns that tell one list from another."""
        return list(dict.fromkeys((*self.by, self.query)))

    @property
    def groups(self) -> list[str]:
        """The columns of the result that say what a row is about."""
        return self.keys if self.each_query else list(self.by)

    @property
    def fill(self) -> float | None:
        """The score of a query that has nothing relevant; None where it has no score."""
        return {"zero": 0.0, "one": 1.0, "skip": None, "error": None}[self.no_relevant]

    def using(self, **changes: Any) -> Question:
        """Return the question with these settings; values of None leave a setting as it is."""
        given = {name: value for name, value in changes.items() if value is not None}
        for role in ("query", "item", "rank", "relevance"):
            if not isinstance(given.get(role, ""), str):
                raise wanted(role, "the name of a column", given[role])
        if "min_relevance" in given:
            given["min_relevance"] = _level(given["min_relevance"])
        for name, allowed in (("no_relevant", NoRelevant), ("average", Average)):
            if name in given and given[name] not in get_args(allowed):
                raise choice(name, given[name], get_args(allowed))
        if "check_rows" in given:
            given["check_rows"] = _rows_to_check(given["check_rows"])
        asked = replace(self, **given)
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

    def then(self, step: Step) -> Question:
        """Return the question asked of the table after a step, in place of an earlier one of its kind.

        Ranks come before judgments, whatever was said first: a missed item has no score.
        """
        steps = {s.kind: s for s in (*self.steps, step)}
        return replace(self, steps=tuple(steps[kind] for kind in ("ranks", "judgments") if kind in steps))

    def source(self, table: pl.LazyFrame) -> Source:
        """Return what is measured: the table after the steps."""
        source = Source(table)
        for step in self.steps:
            source = step.after(source.rows, self)
        return source


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
