"""Frames and dicts of other shapes, made into the long table that everything is computed from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar, get_args

import polars as pl

from frame_metrics.errors import TableError, choice, wanted
from frame_metrics.failing import failing, raising
from frame_metrics.formulas.terms import PREFIX
from frame_metrics.plan.table import missing
from frame_metrics.surfaces.kinds import as_lazy, is_pandas

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import pandas as pd

    Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame, pd.DataFrame)

TruthGrades: TypeAlias = Literal["flat", "reciprocal"]

_ROW, _PREDICTED, _TRUTH, _RANKS, _GRADES, _NOTHING = (
    f"{PREFIX}{name}" for name in ("row", "predicted", "truth", "ranks", "grades", "nothing")
)
_ITEMS = "predicted items and right answers"
_TEXTS = (pl.String, pl.Categorical, pl.Enum)
_LISTS = (pl.List, pl.Array)


def from_wide(
    frame: Frame,
    *,
    predictions: Sequence[str],
    truth: str | Sequence[str],
    query: str | None = None,
    truth_grades: TruthGrades = "flat",
) -> Frame:
    """Make the long table of a frame that has a column for each place of the list, and the right answers beside them.

    The table has the columns query, item, rank (`Int64`) and relevance, then the columns of the frame that were not
    named: they are segments and weights. An answer that was not predicted gets a row without a rank, and a prediction
    that is no answer has relevance 0. A prediction that is there twice counts once, at its first place; the others stay
    where they were shown. A null is an empty place. A row of the frame with neither predictions nor answers is kept as
    one row without an item, so that it goes on counting as a query.

    Parameters
    ----------
    frame
        A Polars or pandas frame; the table is of the same kind, and lazy if the frame is.
    predictions
        The columns with the predicted items, from the first place to the last.
    truth
        The column with the right answer or with a list of them, or several such columns.
    query
        The column with the query; without it the number of the row, from 0, is the query.
    truth_grades
        `"flat"` grades every answer 1, `"reciprocal"` the first 1, the second 1/2, the third 1/3 and so on.

    Examples
    --------
    >>> frame = pl.DataFrame({"first": ["US", "FR", "FR"], "second": ["FR", "US", "FR"], "right": ["US", "CN", "FR"]})
    >>> for row in from_wide(frame, predictions=["first", "second"], truth="right").rows():
    ...     print(row)
    (0, 'US', 1, 1)
    (0, 'FR', 2, 0)
    (1, 'FR', 1, 0)
    (1, 'US', 2, 0)
    (1, 'CN', None, 1)
    (2, 'FR', 1, 1)
    """
    if isinstance(predictions, str) or not predictions:
        raise wanted("predictions", "one or more names of columns", predictions)
    answers: list[str] = [truth] if isinstance(truth, str) else list(truth)
    if not answers:
        raise wanted("truth", "one or more names of columns", truth)

    def plan(table: pl.LazyFrame) -> pl.LazyFrame:
        schema = _schema(table, [*predictions, *answers], query)
        dtype = common(_ITEMS, {name: _inner(schema[name]) for name in [*predictions, *answers]})
        lists = {_PREDICTED: _joined(schema, predictions, dtype), _TRUTH: _joined(schema, answers, dtype)}
        return _long(table, lists, [*predictions, *answers], query, truth_grades)

    return _converted(frame, plan)


def from_lists(
    frame: Frame,
    *,
    predicted: str,
    truth: str,
    query: str | None = None,
    truth_grades: TruthGrades = "flat",
    scores: str | None = None,
    grades: str | None = None,
) -> Frame:
    """Make the long table of a frame that has a list of predicted items and a list of right answers in each row.

    Columns and rows are as `from_wide` makes them. A list that is null is empty. An answer that is there twice counts
    once, at its first place.

    Parameters
    ----------
    frame
        A Polars or pandas frame; the table is of the same kind, and lazy if the frame is.
    predicted
        The column with the lists of predicted items, best first.
    truth
        The column with the lists of right answers.
    query
        The column with the query; without it the number of the row, from 0, is the query.
    truth_grades
        `"flat"` grades every answer 1, `"reciprocal"` the first 1, the second 1/2, the third 1/3 and so on.
    scores
        The column with the scores of the predicted items, if the lists are not in order: the highest comes first, and
        of equal ones the one that stands first. An item with a null score was not retrieved.
    grades
        The column with the grades of the right answers, in place of `truth_grades`.

    Examples
    --------
    >>> frame = pl.DataFrame({"user": ["u"], "shown": [["a", "b", "a"]], "bought": [["b", "z"]]})
    >>> for row in from_lists(frame, predicted="shown", truth="bought", query="user", truth_grades="reciprocal").rows():
    ...     print(row)
    ('u', 'a', 1, 0.0)
    ('u', 'b', 2, 1.0)
    ('u', 'z', None, 0.5)
    """
    used = [name for name in (predicted, truth, scores, grades) if name is not None]

    def plan(table: pl.LazyFrame) -> pl.LazyFrame:
        schema = _schema(table, used, query)
        for name in used:
            if not isinstance(schema[name], _LISTS):
                hint = "Hint: see from_wide for one column per place, and .str.split for lists written as text"
                raise TableError(f"the column {name!r} must hold lists, got {schema[name]}. {hint}")
        dtype = common(_ITEMS, {name: _inner(schema[name]) for name in (predicted, truth)})
        lists = {_PREDICTED: _joined(schema, [predicted], dtype), _TRUTH: _joined(schema, [truth], dtype)}
        extra = {role: name for role, name in ((_RANKS, scores), (_GRADES, grades)) if name is not None}
        lists |= {role: _joined(schema, [name], _number(schema, name)) for role, name in extra.items()}
        return _long(table, lists, used, query, truth_grades)

    return _converted(frame, plan)


def _converted(frame: Frame, plan: Callable[[pl.LazyFrame], pl.LazyFrame]) -> Frame:
    """Return what a plan makes of a frame, as a frame of the same kind."""
    table = plan(as_lazy(frame))
    if isinstance(frame, pl.LazyFrame):
        return table
    with raising():
        result = table.collect()
    return result.to_pandas() if is_pandas(frame) else result  # type: ignore[return-value]


def _schema(table: pl.LazyFrame, used: Iterable[str], query: str | None) -> pl.Schema:
    """Return the columns of a frame; raise if one that is needed is not there, or if one would be there twice."""
    schema = table.collect_schema()
    used = [*used, *([] if query is None else [query])]
    for name in used:
        if name not in schema:
            raise missing(name, schema, "Hint: name the columns of your frame")
    for name in ("query", "item", "rank", "relevance"):
        if name in schema and name not in used:
            hint = "name it with query='query'" if name == "query" and query is None else "rename or drop it"
            raise TableError(f"the column {name!r} of the frame would meet the {name} of the table. Hint: {hint}")
    return schema


def _inner(dtype: pl.DataType) -> pl.DataType:
    inner = dtype.inner if isinstance(dtype, _LISTS) else dtype
    return inner if isinstance(inner, pl.DataType) else inner()


def common(what: str, dtypes: Mapping[str, pl.DataType]) -> pl.DataType:
    """Return a type that can hold the values of all these columns, and in which equal ones stay equal."""
    kinds = {dtype for dtype in dtypes.values() if dtype != pl.Null}
    if len(kinds) <= 1:
        return next(iter(kinds), pl.Null())
    if all(dtype in _TEXTS for dtype in kinds):
        return pl.String()
    if all(dtype.is_integer() for dtype in kinds):
        return pl.Int64()
    if all(dtype.is_numeric() for dtype in kinds):
        return pl.Float64()
    found = ", ".join(f"{name!r} is {dtype}" for name, dtype in dtypes.items())
    raise TableError(f"{what} must be of one type, but {found}. Hint: convert them")


def _number(schema: pl.Schema, name: str) -> pl.DataType:
    dtype = _inner(schema[name])
    if dtype.is_integer() or dtype in (pl.Boolean, pl.Null):
        return pl.Int64()
    if dtype.is_numeric():
        return pl.Float64()
    raise TableError(f"the lists of {name!r} must hold numbers, got {dtype}. Hint: cast them")


def _joined(schema: pl.Schema, names: Iterable[str], dtype: pl.DataType) -> pl.Expr:
    """Return the values of several columns, of lists or not, as one list in each row."""
    return pl.concat_list(
        pl.col(name).cast(pl.List(dtype)).fill_null([])
        if isinstance(schema[name], _LISTS)
        else pl.col(name).cast(dtype)
        for name in names
    )


def _long(
    table: pl.LazyFrame, lists: dict[str, pl.Expr], used: list[str], query: str | None, truth_grades: TruthGrades
) -> pl.LazyFrame:
    """Return a row for each query and item, given in each row a list of predicted items and a list of answers.

    Both lists are laid end to end and exploded at once; what falls on one item is then put together. So the frame is
    read once, and its rows keep their order.
    """
    if truth_grades not in get_args(TruthGrades):
        raise choice("truth_grades", truth_grades, get_args(TruthGrades))
    more = [name for name in table.collect_schema() if name not in (*used, query)]
    named = (pl.col(query) if query is not None else pl.col(_ROW).cast(pl.Int64)).alias("query")
    rows = table.with_row_index(_ROW).select(_ROW, named, *more, **lists)
    for check in _checks(lists):
        rows = rows.filter(check.is_null())
    there = pl.when(pl.col("item").is_not_null())
    return (
        rows.select(_ROW, "query", *more, *_ends(lists, truth_grades))
        .explode("item", "rank", "relevance", empty_as_null=True)
        .filter(pl.col("item").is_not_null() | pl.col(_NOTHING))
        .group_by(_ROW, "item", maintain_order=True)
        .agg(pl.col("query", *more).first(), pl.col("rank").min(), pl.col("relevance").first(ignore_nulls=True))
        .with_columns(there.then("rank").alias("rank"), there.then(pl.col("relevance").fill_null(0)).alias("relevance"))
        .select("query", "item", "rank", "relevance", *more)
    )


def _ends(lists: Iterable[str], truth_grades: TruthGrades) -> list[pl.Expr]:
    """Return items, ranks and grades as lists of one length, first of the predicted items and then of the answers."""
    found, right = pl.col(_PREDICTED).list.len(), pl.col(_TRUTH).list.len()
    ranks, grades = pl.int_ranges(1, found + 1), pl.lit(1, dtype=pl.Int64).repeat_by(right)
    if _RANKS in lists:
        ranks = pl.col(_RANKS).list.eval(pl.element().rank("ordinal", descending=True)).cast(pl.List(pl.Int64))
    if _GRADES in lists:
        grades = pl.col(_GRADES)
    elif truth_grades == "reciprocal":
        grades = pl.int_ranges(1, right + 1).list.eval(1.0 / pl.element())
    none = pl.lit(None, dtype=pl.Int64)
    items = pl.concat_list(_PREDICTED, _TRUTH)
    return [
        items.alias("item"),
        pl.concat_list(ranks, none.repeat_by(right)).alias("rank"),
        pl.concat_list(none.repeat_by(found), grades).alias("relevance"),
        (items.list.drop_nulls().list.len() == 0).alias(_NOTHING),
    ]


def _checks(lists: Iterable[str]) -> list[pl.Expr]:
    """Return expressions that are null, and that fail the query at scores and grades which do not go with the items."""
    checks = []
    text = "there must be one {} for each {}, but there are {} for {}: row {} of the frame, from 0"
    if _RANKS in lists:
        found, scored = pl.col(_PREDICTED).list.len(), pl.col(_RANKS).list.len()
        checks.append(failing(found != scored, text, pl.lit("score"), pl.lit("predicted item"), scored, found, _ROW))
        bad = pl.col(_RANKS).list.eval(~pl.element().is_finite()).list.any()
        checks.append(failing(bad, "scores must be finite, but one is not: row {} of the frame, from 0", _ROW))
    if _GRADES in lists:
        right, graded = pl.col(_TRUTH).list.len(), pl.col(_GRADES).list.drop_nulls().list.len()
        checks.append(failing(right != graded, text, pl.lit("grade"), pl.lit("answer"), graded, right, _ROW))
    return checks
