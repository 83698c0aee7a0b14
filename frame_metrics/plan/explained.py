"""Why a number is what it is: the rows of one list, and what each of them adds to a metric.

The formula is the one that makes the number, written in terms of the rows themselves. It is one list, so nothing has to
be fast but finding its rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import polars as pl

from frame_metrics.errors import OptionError, TableError, wanted
from frame_metrics.failing import failing
from frame_metrics.formulas.base import Formula
from frame_metrics.formulas.terms import PREFIX, RANK, SEEN, TOP_GRADE, Inline, Roles
from frame_metrics.plan import checks
from frame_metrics.plan.question import Source
from frame_metrics.plan.subtopics import SubtopicRows
from frame_metrics.plan.table import ITEM, LAST_RANK, RELEVANCE, SUBTOPIC, prepared

if TYPE_CHECKING:
    from collections.abc import Mapping

    from frame_metrics.formulas.base import Metric
    from frame_metrics.plan.question import Question
    from frame_metrics.plan.table import Table

ADDS, RUNNING = "adds", "running"

_CHECK = f"{PREFIX}check"
_NEAREST = f"{PREFIX}nearest"
_NONE, _SEVERAL, _LISTS, _ALIKE, _ADDS = (f"{PREFIX}{name}" for name in ("none", "several", "lists", "alike", "adds"))
_TEXT = (pl.String, pl.Categorical, pl.Enum)
_ENOUGH = 0.5
_SHOWN = 5
_LONGEST = 100


@dataclass(frozen=True)
class Chosen:
    """The list that is to be explained.

    Attributes
    ----------
    query
        The query.
    segments
        The values of other columns that tell its lists apart.
    marked
        A column that is true for the rows of the list, where the values are not those that the table has.
    kept
        Columns of the table that the result has too.
    """

    query: Any
    segments: Mapping[str, Any]
    marked: str | None = None
    kept: tuple[str, ...] = ()

    def asked(self, asked: Question) -> Question:
        """Return the question about this list, or raise if no list is named."""
        if self.query is None:
            raise wanted("query", "a value of the query column", None)
        if asked.query in self.segments:
            raise OptionError(f"the query is given twice: query={self.query!r}, {asked.query}=...")
        return asked.grouped(*self.segments) if self.segments else asked

    def rows(self, schema: pl.Schema, asked: Question) -> pl.Expr:
        """Return whether a row belongs to the list."""
        if self.marked is not None:
            return pl.col(self.marked)
        values = {asked.query: self.query, **self.segments}
        return pl.all_horizontal(_equal(name, schema[name], value) for name, value in values.items())

    def __str__(self) -> str:
        return ", ".join([f"query {self.query!r}", *(f"{name} {value!r}" for name, value in self.segments.items())])


def _equal(name: str, dtype: pl.DataType, value: Any) -> pl.Expr:
    """Return whether a column has this value, or raise if it cannot have it."""
    column = pl.col(name)
    if value is None:
        return column.is_null()
    if dtype in _TEXT:
        column, dtype = column.cast(pl.String), pl.String()
    try:
        made = pl.Series([value], dtype=dtype, strict=True)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        raise wanted(name, f"a value of the column, which holds {dtype}", value) from None
    return column == (pl.lit(made).first() if dtype.is_nested() else pl.lit(made.item(), dtype=dtype))


def explained(frame: pl.LazyFrame, asked: Question, metric: Metric, chosen: Chosen) -> pl.LazyFrame:
    """Return the rows of one list, from the top, with the parts of a metric, what each adds, and the value so far."""
    [(asked, [metric])] = asked.parts(asked.meant([metric]))
    asked = replace(chosen.asked(asked), check_rows=None)
    if asked.tied and metric.ordered:
        raise OptionError(
            "a list is explained in one order, but ties='expected' has many. Hint: choose ties='best' or ties='worst'"
        )
    table = prepared(frame, asked)
    given = _given(table, asked, metric, chosen)
    own = _own(table, asked, chosen)
    rows = own.given.select(*own.columns, *(pl.col(name) for name in given if name not in asked.keys))
    # Put together, and not joined: a streaming engine does not look at what is joined with nothing.
    check = _one_list(table, rows, asked, chosen).filter(pl.col(_CHECK).is_not_null())
    rows = pl.concat([check, rows], how="diagonal").drop(_CHECK)
    rows = rows.sort(_order(rows), nulls_last=True, maintain_order=True)
    subtopics = metric.definition.of_subtopics
    rows, told = _by_subtopic(rows, own, asked, metric) if subtopics else _by_row(rows, table, asked, metric)
    _require_free(given, told)
    if asked.no_relevant == "error" and told.lacking is not None:
        number = pl.when(told.lacking).then(pl.lit(checks.NOTHING_RELEVANT, dtype=pl.UInt8))
        rows = rows.with_columns(number.alias(_CHECK))
        rows = rows.filter(checks.stop(pl.col(_CHECK), asked, rows).is_null())
    parts = [part.alias(name) for name, part in told.parts.items()]
    result = rows.select(*given, *parts, told.adds.alias(ADDS), told.running.alias(RUNNING))
    return checks.guarded(result, own, asked, ordered=metric.ordered, subtopics=subtopics)


@dataclass(frozen=True)
class Told:
    """What is told of each row, as expressions: what it adds, the value so far, and parts of the formula.

    `lacking` is whether the list has nothing relevant, where that matters.
    """

    adds: pl.Expr
    running: pl.Expr
    parts: Mapping[str, pl.Expr]
    lacking: pl.Expr | None


def _by_row(rows: pl.LazyFrame, table: Table, asked: Question, metric: Metric) -> tuple[pl.LazyFrame, Told]:
    """Return the rows, and what a formula says of each."""
    if TOP_GRADE in metric.names:
        rows = rows.join(_top(table, asked), how="cross", maintain_order="left")
    formula = metric.formula(Inline(Roles(RANK, RELEVANCE, asked.min_relevance), top=pl.col(TOP_GRADE)))
    adds, running = _values(formula, asked)
    lacking = None if formula.relevant is None else formula.relevant == 0
    return rows, Told(adds, running, formula.parts, lacking)


def _by_subtopic(rows: pl.LazyFrame, own: Table, asked: Question, metric: Metric) -> tuple[pl.LazyFrame, Told]:
    """Return the rows, and what a formula says of those that are relevant to a subtopic."""
    formula, seen = metric.relevant, pl.col(SEEN)
    made = SubtopicRows(asked, formula.names).of(own)
    adds, _ = _values(replace(formula, relevant=None), asked)
    made = made.select(ITEM, SUBTOPIC, SEEN, adds.alias(_ADDS))
    rows = rows.join(made, on=[ITEM, SUBTOPIC], how="left", nulls_equal=True, maintain_order="left")
    known = Formula(pl.col(_ADDS).sum(), relevant=pl.col(_ADDS).count(), adds=pl.col(_ADDS))
    adds, running = _values(known, asked)
    return rows, Told(adds, running, {"seen_above": seen}, pl.col(_ADDS).count() == 0)


def _own(table: Table, asked: Question, chosen: Chosen) -> Table:
    """Return the table with the rows of the list only."""
    rows = table.given.filter(chosen.rows(table.given.collect_schema(), asked))
    return replace(table, source=Source(rows))


def _given(table: Table, asked: Question, metric: Metric, chosen: Chosen) -> list[str]:
    """Return the columns of the table that the result has."""
    roles = [asked.item] if table.has_item else []
    roles += [asked.subtopic] if metric.definition.of_subtopics and table.has_subtopic else []
    return list(dict.fromkeys((*roles, asked.rank, asked.relevance, *chosen.kept)))


def _require_free(given: list[str], told: Told) -> None:
    if taken := [name for name in (*told.parts, ADDS, RUNNING) if name in given]:
        raise TableError(f"the result has a column {taken[0]!r}, and so has the table. Hint: rename that of the table")


def _order(rows: pl.LazyFrame) -> list[pl.Expr]:
    """Return what rows are sorted by: the rank; missed ones are last, the best of them first."""
    schema = rows.collect_schema()
    others = [name for name in (ITEM, SUBTOPIC) if name in schema]
    sortable = [name for name in others if not schema[name].is_nested() and schema[name] != pl.Object]
    return [pl.col(RANK).fill_null(LAST_RANK), -pl.col(RELEVANCE).cast(pl.Float64), *map(pl.col, sortable)]


def _top(table: Table, asked: Question) -> pl.LazyFrame:
    """Return the highest grade of the whole table."""
    rows = table.frame
    fine = checks.fine(checks.values(table, asked), asked, rows)
    return rows.select(pl.when(fine).then(pl.col(RELEVANCE)).max().alias(TOP_GRADE))


def _values(formula: Formula, asked: Question) -> tuple[pl.Expr, pl.Expr]:
    """Return what each row adds to the value, and the value so far; the last one is the value itself."""
    row = formula.row if formula.adds is None else formula.adds
    last = pl.int_range(pl.len()) == pl.len() - 1
    if row is None:
        value = pl.when(last).then(formula.score(asked.fill))
        return pl.lit(None, dtype=pl.Float64), value
    row = row.cast(pl.Int64 if formula.total else pl.Float64).fill_null(0)
    running = row.cum_max() if formula.highest else row.cum_sum()
    running = running if formula.start is None else running + formula.start
    adds = running - running.shift(fill_value=0) if formula.highest else row
    if formula.over is not None:
        some = formula.over > 0
        adds = pl.when(some).then(adds / formula.over).otherwise(None if formula.undefined is None else 0.0)
        running = pl.when(some).then(running / formula.over).otherwise(formula.undefined)
    if formula.relevant is not None:
        some = formula.relevant > 0
        adds = pl.when(some).then(adds).otherwise(None if asked.fill is None else 0.0)
        running = pl.when(some).then(running).otherwise(asked.fill)
    return adds, running


def _one_list(table: Table, rows: pl.LazyFrame, asked: Question, chosen: Chosen) -> pl.LazyFrame:
    """Return one null, whose making fails if the rows are none, or those of several lists."""
    apart = [name for name in asked.by if name not in chosen.segments and name != asked.query]
    none, several = pl.len() == 0, pl.any_horizontal([pl.col(name).n_unique() > 1 for name in apart] or [False])
    if asked.brief:
        return rows.select(failing(none | several, "something is wrong").alias(_CHECK))
    schema = rows.collect_schema()
    shown = [_some_of(name) for name in apart if not schema[name].is_nested()] or [pl.lit("")]
    hint = f". Hint: name one of them, as in query={chosen.query!r}, {apart[0]}=..." if apart else ""
    lists = pl.concat_str(
        [pl.lit(f"there are several lists of {chosen}: "), pl.concat_str(shown, separator=", "), pl.lit(hint)]
    )
    found = rows.select(none.alias(_NONE), several.alias(_SEVERAL), lists.alias(_LISTS))
    found = found.join(_nearest(table, asked, chosen), how="cross")
    where = "that count" if asked.steps else "of the table"
    hint = f" Hint: the queries {where} are values of column {asked.query!r}"
    nothing = pl.concat_str(pl.lit(f"there is no list of {chosen}"), pl.col(_NEAREST), pl.lit(hint))
    message = pl.when(_NONE).then(nothing).otherwise(_LISTS)
    return found.select(failing(pl.col(_NONE) | pl.col(_SEVERAL), message).alias(_CHECK))


def _some_of(name: str) -> pl.Expr:
    """Return the first values of a column, as a text."""
    values = pl.col(name).cast(pl.String).fill_null("null").unique().sort()
    more = pl.when(values.len() > _SHOWN).then(pl.lit(", ...")).otherwise(pl.lit(""))
    return pl.concat_str(pl.lit(f"{name} "), values.head(_SHOWN).str.join(", "), more)


def _nearest(table: Table, asked: Question, chosen: Chosen) -> pl.LazyFrame:
    """Return one text: which query of the table may be meant, or nothing.

    A query of the table is like another one if they have letters, and pairs of letters, in common. All queries have to
    be looked at, which costs next to nothing in memory, and may cost much in files.
    """
    wanted_, query = str(chosen.query).lower()[:_LONGEST], pl.col(asked.query).cast(pl.String)
    lists = table.lists
    if not (asked.eager and wanted_ and isinstance(chosen.query, str) and lists.collect_schema()[asked.query] in _TEXT):
        return pl.LazyFrame({_NEAREST: ["."]})
    pieces = list(dict.fromkeys([*wanted_, *map("".join, pairwise(wanted_))]))
    text = query.str.to_lowercase()
    common = pl.sum_horizontal(text.str.contains(piece, literal=True) for piece in pieces)
    alike = 2.0 * common / (len(pieces) + 2.0 * text.str.len_chars())
    known = lists.select(query.alias(_NEAREST), alike.alias(_ALIKE)).unique()
    best = pl.col(_NEAREST).sort_by(_ALIKE, _NEAREST, descending=[True, False]).first()
    there = (pl.col(_NEAREST) == chosen.query).any() | ~(pl.col(_ALIKE).max() >= _ENOUGH)
    near = pl.when(there).then(pl.lit(".")).otherwise(pl.format(", did you mean '{}'?", best))
    return known.select(near.fill_null(".").alias(_NEAREST))
