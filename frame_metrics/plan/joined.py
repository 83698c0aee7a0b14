"""A run and its judgments, in one table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import polars as pl

from frame_metrics.errors import TableError, choice
from frame_metrics.failing import failing
from frame_metrics.formulas.terms import PREFIX
from frame_metrics.plan.question import Step
from frame_metrics.plan.table import missing

if TYPE_CHECKING:
    from collections.abc import Callable

    from frame_metrics.plan.question import Question

Queries: TypeAlias = Literal["qrels", "both", "run", "error"]
Unjudged: TypeAlias = Literal["nonrelevant", "drop"]

_IN_RUN, _IN_QRELS = f"{PREFIX}in_run", f"{PREFIX}in_qrels"


def step(
    qrels: Callable[[list[str]], pl.LazyFrame], *, queries: Queries, unjudged: Unjudged, roles: dict[str, str | None]
) -> Step:
    """Return the step that joins judgments to a run.

    Parameters
    ----------
    qrels
        Gives the judgments, with the named columns as far as they are there.
    queries, unjudged
        See `.rank.judged_by`.
    roles
        What query, item and relevance are called in the judgments; None for the names of the question.
    """
    if queries not in get_args(Queries):
        raise choice("queries", queries, get_args(Queries))
    if unjudged not in get_args(Unjudged):
        raise choice("unjudged", unjudged, get_args(Unjudged))

    def join(run: pl.LazyFrame, asked: Question) -> pl.LazyFrame:
        names = {theirs or getattr(asked, role): getattr(asked, role) for role, theirs in roles.items()}
        judged = _judgments(qrels([*names, *asked.by]), names, run, asked)
        run, judged = _of_one_type(run, judged, [asked.query, asked.item])
        whole = _outer(run.drop(asked.relevance, strict=False), judged, asked)
        whole = _population(whole, run, judged, asked, queries)
        return _condensed(whole, asked) if unjudged == "drop" else whole

    return Step("judgments", (), join)


def _judgments(qrels: pl.LazyFrame, names: dict[str, str], run: pl.LazyFrame, asked: Question) -> pl.LazyFrame:
    """Return query, item and relevance of the judgments under the names of the run, after looking at both schemas."""
    there, listed = qrels.collect_schema(), run.collect_schema()
    for name in names:
        if name not in there:
            raise missing(name, there, "Hint: name the columns of the judgments with .judged_by(qrels, query=..., ...)")
    for theirs, ours in names.items():
        if ours != asked.relevance and ours not in listed:
            raise missing(
                ours, listed, "Hint: judgments are joined on query and item; name yours with .rank.using(...)"
            )
        if ours != asked.relevance and there[theirs] != listed[ours] and not _alike(there[theirs], listed[ours]):
            raise TableError(
                f"the {'query' if ours == asked.query else 'item'} must be of one type in both tables, but the run has "
                f"{listed[ours]} and the judgments have {there[theirs]}. Hint: cast one of them"
            )
    segments = [name for name in asked.by if name in there and name not in names]
    return qrels.select(*segments, *(pl.col(theirs).alias(ours) for theirs, ours in names.items()))


def _of_one_type(run: pl.LazyFrame, judged: pl.LazyFrame, keys: list[str]) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """Return both tables with keys that can be joined: whole numbers of any size, texts of any kind."""
    ours, theirs = run.collect_schema(), judged.collect_schema()
    wider = {key: _wider(ours[key], theirs[key]) for key in keys if ours[key] != theirs[key]}
    return run.cast(wider), judged.cast(wider)  # type: ignore[arg-type]


def _wider(one: pl.DataType, other: pl.DataType) -> pl.DataType:
    if pl.Null in (one, other):
        return other if one == pl.Null else one
    return pl.Int64() if one.is_integer() else pl.String()


def _alike(one: pl.DataType, other: pl.DataType) -> bool:
    texts = (pl.String, pl.Categorical, pl.Enum)
    return pl.Null in (one, other) or (one.is_integer() and other.is_integer()) or (one in texts and other in texts)


def _outer(run: pl.LazyFrame, judged: pl.LazyFrame, asked: Question) -> pl.LazyFrame:
    """Return the rows of both tables; judged items of a query that has several lists are missed in each by itself."""
    there = set(judged.collect_schema().names())
    lists = [key for key in asked.keys if key not in there]
    on = [key for key in asked.keys if key in there and key != asked.query]
    if lists:
        known = run.select(asked.keys).unique()
        judged = judged.join(known, on=[*on, asked.query], how="left", nulls_equal=True)
    keys = [*asked.keys, asked.item]
    return run.join(judged, on=keys, how="full", coalesce=True, nulls_equal=True)


def _population(
    whole: pl.LazyFrame, run: pl.LazyFrame, judged: pl.LazyFrame, asked: Question, queries: Queries
) -> pl.LazyFrame:
    listed, graded = _queries(run, asked), _queries(judged, asked)
    if queries in ("qrels", "both"):
        whole = whole.join(graded, on=asked.query, how="semi", nulls_equal=True)
    if queries in ("run", "both"):
        whole = whole.join(listed, on=asked.query, how="semi", nulls_equal=True)
    if queries != "error":
        return whole
    pairs = ((listed, graded), (graded, listed))
    differ = pl.concat([one.join(other, on=asked.query, how="anti", nulls_equal=True) for one, other in pairs])
    first = pl.col(asked.query).first()
    text = (
        "the run and the judgments must have the same queries, as queries='error' asks, but {} is in one of them only. "
        "Hint: choose queries='qrels', 'both' or 'run'"
    )
    check = differ.select(failing(pl.len() > 0, text, first).alias(_IN_RUN))
    return whole.join(check, how="cross").filter(pl.col(_IN_RUN).is_null()).drop(_IN_RUN)


def _queries(frame: pl.LazyFrame, asked: Question) -> pl.LazyFrame:
    """Return the queries of a table, and null: a row without a query must not get lost, but be found by the checks."""
    known = frame.select(asked.query).unique()
    return pl.concat([known, known.select(pl.lit(None).alias(asked.query))], how="vertical_relaxed")


def _condensed(whole: pl.LazyFrame, asked: Question) -> pl.LazyFrame:
    """Return the table with unjudged rows taken out of the lists, and the places of the others closed up.

    The rows stay, without a rank, so that a query of which nothing was judged still counts as one.
    """
    rank = pl.col(asked.rank)
    closed = pl.when(pl.col(asked.relevance).is_not_null()).then(rank).rank("min").over(asked.keys)
    number = rank.cast(pl.Float64)
    bad = (number < 1) | (number != number.floor())
    return whole.with_columns(pl.when(bad).then(rank).otherwise(closed).alias(asked.rank))
