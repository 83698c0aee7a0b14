"""From a caller's table to the few columns a plan works on, and the first errors: columns that are not there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from frame_metrics.errors import MissingColumnError, TableError, nearest
from frame_metrics.formulas.terms import PREFIX, RANK

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from frame_metrics.plan.question import Question, Source

RELEVANCE = f"{PREFIX}relevance"
ITEM = f"{PREFIX}item"
SUBTOPIC = f"{PREFIX}subtopic"
GIVEN_RANK = f"{PREFIX}given_rank"
BLOCK = f"{PREFIX}block"
"""How many rows share the places from the rank of a row on, where such rows are tied."""

ITEM_NAME = "item"
SUBTOPIC_NAME = "subtopic"
LAST_RANK = 2**32 - 1


@dataclass(frozen=True)
class Table:
    """A caller's table, and how to read it.

    Attributes
    ----------
    source
        What is measured: the table as it came, after the steps of the question.
    columns
        Keys, rank and relevance, and the item if it is there, under the names that a plan knows.
    relevance
        The relevance as a number.
    floating
        Whether the relevance is a float, which may be NaN or infinite.
    large
        Whether the relevance is a whole number that may be 2^31 or more.
    has_item, has_subtopic
        Whether the item, and the subtopic, are among the columns.
    """

    source: Source
    columns: list[pl.Expr]
    relevance: pl.Expr
    floating: bool
    large: bool
    has_item: bool
    has_subtopic: bool

    @property
    def given(self) -> pl.LazyFrame:
        """All rows, with the columns that they came with."""
        return self.source.rows

    @property
    def frame(self) -> pl.LazyFrame:
        """All rows."""
        return self.given.select(self.columns)

    @property
    def lists(self) -> pl.LazyFrame:
        """Rows of which each list has at least one."""
        return self.given if self.source.lists is None else self.source.lists

    def relevant(self, condition: Callable[[pl.Expr], pl.Expr]) -> pl.LazyFrame:
        """Return the rows whose relevance meets a condition.

        The rows are chosen before anything is computed: what several parts of a plan have in common is made once, for
        all rows, so it should be no more than the table itself.
        """
        meets = condition(self.relevance)
        rows = self.given.filter(meets) if self.source.relevant is None else self.source.relevant(meets)
        return rows.select(self.columns)

    def first(self, rows: int | None) -> list[pl.LazyFrame]:
        """Return the first rows of the tables that were given; None for all rows."""
        if rows is None:
            return [self.frame]
        parts = (self.given,) if self.source.parts is None else self.source.parts
        return [part.head(rows).select(self.columns) for part in parts]


def prepared(table: pl.LazyFrame, asked: Question) -> Table:
    """Return the table after the steps of the question, with what a plan reads of it.

    A rank that is no whole number from 1 on is read as 0, which the checks look for; so the column is small and of one
    type whatever came in.
    """
    require_keys(table.collect_schema(), asked)
    source = asked.source(table)
    schema = source.rows.collect_schema()
    require(schema, asked)
    relevance = _relevance(asked.relevance, schema)
    columns = [*map(pl.col, asked.keys), _rank(asked.rank, schema), relevance.alias(RELEVANCE)]
    columns.append(pl.col(asked.rank).alias(GIVEN_RANK))
    if BLOCK in schema:
        columns.append(pl.col(BLOCK))
    has_item = asked.item in schema
    if has_item:
        columns.append(pl.col(asked.item).alias(ITEM))
    has_subtopic = asked.subtopic in schema
    if has_subtopic:
        columns.append(pl.col(asked.subtopic).alias(SUBTOPIC))
    dtype = schema[asked.relevance]
    large = dtype.is_integer() and dtype not in (pl.Int8, pl.Int16, pl.Int32, pl.UInt8, pl.UInt16)
    return Table(source, columns, relevance, dtype.is_float() or dtype.is_decimal(), large, has_item, has_subtopic)


def require(schema: Collection[str], asked: Question) -> None:
    """Raise if a column that the question names is not in the table."""
    require_keys(schema, asked)
    for role in ("rank", "relevance"):
        if (name := getattr(asked, role)) not in schema:
            raise missing(name, schema, f"Hint: name yours with .rank.using({role}=...), {_OTHER_WAY[role]}")
    for role, usual in (("item", ITEM_NAME), ("subtopic", SUBTOPIC_NAME)):
        if (name := getattr(asked, role)) not in (usual, *schema):
            raise missing(name, schema, f"Hint: .rank.using({role}=...) takes a column of the table")


def require_keys(schema: Collection[str], asked: Question) -> None:
    """Raise if a column that tells lists apart is not in the table."""
    if asked.query not in schema:
        raise missing(asked.query, schema, "Hint: name yours with .rank.using(query=...)")
    for name in asked.by:
        if name not in schema:
            raise missing(name, schema, "Hint: .rank.by(...) takes columns of the table")
    if taken := [name for name in asked.keys if name.startswith(PREFIX)]:
        raise TableError(f"names that begin with {PREFIX!r} are used inside a plan, got {taken[0]!r}. Hint: rename it")


def free(asked: Question, *names: str) -> None:
    """Raise if a column of the result would be called as one of the keys."""
    if taken := [name for name in names if name in asked.groups]:
        raise TableError(
            f"the result has a column {taken[0]!r}, and so have its keys {asked.groups}. Hint: rename the key"
        )


def missing(name: str, present: Iterable[str], hint: str) -> MissingColumnError:
    """Return the error for a column that is not there, with those that are."""
    names = list(present)
    there = ", ".join(map(repr, names)) or "none"
    close = nearest(name, names) or "."
    return MissingColumnError(f"there is no column {name!r}{close} The table has {there}. {hint}")


_OTHER_WAY = {
    "rank": "or get ranks from a score with .rank.from_scores('score')",
    "relevance": "or join judgments with .rank.judged_by(qrels)",
}


def _rank(name: str, schema: pl.Schema) -> pl.Expr:
    rank, dtype = pl.col(name), schema[name]
    if dtype in (pl.Null, pl.UInt8, pl.UInt16, pl.UInt32):
        return rank.cast(pl.UInt32).alias(RANK)
    if dtype.is_integer():
        return _or_zero(
            rank, rank.is_between(1, 127 if dtype == pl.Int8 else 32767 if dtype == pl.Int16 else LAST_RANK)
        )
    if dtype.is_float() or dtype.is_decimal():
        number = rank.cast(pl.Float64)
        return _or_zero(number, number.is_between(1, LAST_RANK) & (number == number.floor()))
    raise TableError(
        f"the rank column {name!r} must hold whole numbers from 1 on, got {dtype}. "
        "Hint: cast it, or rank by a score with .rank.from_scores('score')"
    )


def _or_zero(number: pl.Expr, good: pl.Expr) -> pl.Expr:
    return pl.when(good).then(number).when(number.is_not_null()).then(0).cast(pl.UInt32).alias(RANK)


def _relevance(name: str, schema: pl.Schema) -> pl.Expr:
    dtype = schema[name]
    relevance = pl.col(name)
    if dtype in (pl.Boolean, pl.Null):
        return relevance.cast(pl.UInt8)
    if dtype.is_integer() or dtype.is_float():
        return relevance
    if dtype.is_decimal():
        return relevance.cast(pl.Float64)
    raise TableError(
        f"the relevance column {name!r} must hold booleans or numbers, got {dtype}. Hint: cast it to a number"
    )
