"""From a caller's table to the few columns a plan works on, and the first errors: columns that are not there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from frame_metrics.errors import MissingColumnError, TableError, nearest
from frame_metrics.formulas.terms import PREFIX, RANK

if TYPE_CHECKING:
    from collections.abc import Iterable

    from frame_metrics.plan.question import Question

RELEVANCE = f"{PREFIX}relevance"
ITEM = f"{PREFIX}item"
GIVEN_RANK = f"{PREFIX}given_rank"
LAST_RANK = 2**32 - 1


@dataclass(frozen=True)
class Table:
    """The columns a plan works on.

    Attributes
    ----------
    frame
        Keys, rank and relevance of every row, and the item if asked for and there.
    floating
        Whether the relevance is a float, which may be NaN or infinite.
    has_item
        Whether the item is among the columns.
    """

    frame: pl.LazyFrame
    floating: bool
    has_item: bool


def prepared(table: pl.LazyFrame, asked: Question) -> Table:
    """Return keys, rank, relevance and item of the table, in columns that a plan knows, after the steps of the question.

    A rank that is no whole number from 1 on becomes 0, which the checks look for; so the column is small and of one type
    whatever came in.
    """
    table = asked.after_steps(table)
    schema = table.collect_schema()
    require(schema, asked)
    columns = [*map(pl.col, asked.keys), _rank(asked.rank, schema), _relevance(asked.relevance, schema)]
    columns.append(pl.col(asked.rank).alias(GIVEN_RANK))
    has_item = asked.item in schema
    if has_item:
        columns.append(pl.col(asked.item).alias(ITEM))
    dtype = schema[asked.relevance]
    return Table(table.select(columns), dtype.is_float(), has_item)


def require(schema: pl.Schema, asked: Question) -> None:
    """Raise if a column that the question names is not in the table."""
    roles = {asked.query: "query", asked.rank: "rank", asked.relevance: "relevance"}
    for name, role in roles.items():
        if name not in schema:
            raise missing(name, schema, f"Hint: name yours with .rank.using({role}=...){_other_way(role)}")
    for name in asked.by:
        if name not in schema:
            raise missing(name, schema, "Hint: .rank.by(...) takes columns of the table")
    if (taken := [name for name in schema if name.startswith(PREFIX)]) and set(taken) & set(asked.keys):
        raise TableError(f"column names that begin with {PREFIX!r} are used inside a plan, got {taken[0]!r}")


def missing(name: str, present: Iterable[str], hint: str) -> MissingColumnError:
    """Return the error for a column that is not there, with those that are."""
    names = list(present)
    there = ", ".join(map(repr, names)) or "none"
    close = nearest(name, names) or "."
    return MissingColumnError(f"there is no column {name!r}{close} The table has {there}. {hint}")


def _other_way(role: str) -> str:
    return {
        "rank": ", or get ranks from a score with .rank.from_scores('score')",
        "relevance": ", or join judgments with .rank.judged_by(qrels)",
    }.get(role, "")


def _rank(name: str, schema: pl.Schema) -> pl.Expr:
    rank, dtype = pl.col(name), schema[name]
    if dtype in (pl.Null, pl.UInt8, pl.UInt16, pl.UInt32):
        return rank.cast(pl.UInt32).alias(RANK)
    if dtype.is_integer():
        return _or_zero(rank, rank.is_between(1, 127 if dtype == pl.Int8 else 32767 if dtype == pl.Int16 else LAST_RANK))
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
    relevance = pl.col(name).alias(RELEVANCE)
    if dtype == pl.Boolean or dtype == pl.Null:
        return relevance.cast(pl.UInt8)
    if dtype.is_integer() or dtype.is_float():
        return relevance
    if dtype.is_decimal():
        return relevance.cast(pl.Float64)
    raise TableError(f"the relevance column {name!r} must hold booleans or numbers, got {dtype}. Hint: cast it to a number")
