"""A run and its judgments, in one table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import polars as pl

from frame_metrics.errors import TableError, choice, wanted
from frame_metrics.failing import failing
from frame_metrics.formulas.terms import PREFIX
from frame_metrics.plan import checks
from frame_metrics.plan.question import Source, Step
from frame_metrics.plan.table import missing

if TYPE_CHECKING:
    from collections.abc import Callable

    from frame_metrics.plan.question import Question

Queries: TypeAlias = Literal["qrels", "both", "run", "error"]
Unjudged: TypeAlias = Literal["nonrelevant", "drop"]

_CHECK = f"{PREFIX}same_queries"


def step(
    qrels: Callable[[list[str]], pl.LazyFrame],
    *,
    queries: Queries,
    unjudged: Unjudged,
    each: tuple[str, ...],
    roles: dict[str, str | None],
) -> Step:
    """Return the step that joins judgments to a run.

    Parameters
    ----------
    qrels
        Gives the judgments, with the named columns as far as they are there.
    queries, unjudged, each
        See `.rank.judged_by`.
    roles
        What query, item and relevance are called in the judgments, and the subtopic if they have one; None for the
        names of the question.
    """
    if queries not in get_args(Queries):
        raise choice("queries", queries, get_args(Queries))
    if unjudged not in get_args(Unjudged):
        raise choice("unjudged", unjudged, get_args(Unjudged))

    def join(run: pl.LazyFrame, asked: Question) -> Source:
        names = {theirs or getattr(asked, role): getattr(asked, role) for role, theirs in roles.items()}
        given = qrels([*names, *asked.by])
        if asked.subtopic in asked.keys or (
            roles.get("subtopic") is None and asked.subtopic not in given.collect_schema()
        ):
            names = {theirs: ours for theirs, ours in names.items() if ours != asked.subtopic}
        judged = _judgments(given, names, run, asked)
        run, judged = _of_one_type(run, judged, [asked.query, asked.item])
        theirs = [name for name in (asked.relevance, asked.subtopic) if name in names.values()]
        return Joined(run.drop(theirs, strict=False), judged, asked, queries, each).source(unjudged)

    return Step("judgments", (), join)


class Joined:
    """A run and its judgments.

    Parameters
    ----------
    run, judged
        The two tables, with the columns that the question names.
    asked
        What is asked.
    queries, each
        See `.rank.judged_by`.
    """

    def __init__(
        self, run: pl.LazyFrame, judged: pl.LazyFrame, asked: Question, queries: Queries, each: tuple[str, ...]
    ) -> None:
        self.asked = asked
        self.queries = queries
        self.run = run
        self.judged = judged
        self.on = [*asked.keys, asked.item]
        for name in each:
            if name not in run.collect_schema():
                raise missing(name, run.collect_schema(), "Hint: each=... takes columns of the run")
            if name not in asked.by:
                raise wanted("each", f"columns that .by(...) names too, here {list(asked.by)}", name)
        self.expected = _expected(run, judged, asked, each)

    def source(self, unjudged: Unjudged) -> Source:
        """Return what is measured."""
        both = self.run.join(self.expected, on=self.on, how="full", coalesce=True, nulls_equal=True)
        whole = self._counted(both, in_run=True, in_judged=True)
        if unjudged == "drop":
            return Source(self._condensed(whole), lists=self._lists(), parts=self._parts(whole))
        return Source(whole, self._relevant, self._lists(), self._parts(whole))

    @property
    def _subtopic(self) -> list[str]:
        """The column with the subtopic, if the judgments have one: an item then has a row for each."""
        return [name for name in [self.asked.subtopic] if name in self.judged.collect_schema()]

    def _relevant(self, meets: pl.Expr) -> pl.LazyFrame:
        """Return the judged rows that meet a condition, with their ranks in the run; few rows of it are needed."""
        rows = self._counted(self.expected.filter(meets), in_run=True, in_judged=False)
        query = pl.col(self.asked.query)
        fine = checks.null_query(query.is_null(), self.asked).is_null()
        run = self.run.select(*self.on, pl.when(fine).then(pl.col(self.asked.rank)).alias(self.asked.rank))
        run = run.join(rows.select(self.on), on=self.on, how="semi", nulls_equal=True)
        return rows.join(run, on=self.on, how="left", nulls_equal=True)

    def _lists(self) -> pl.LazyFrame:
        keys = self.asked.keys
        listed, expected = self.run.select(keys), self.expected.select(keys)
        if keys == [self.asked.query] and self.queries != "run":
            # A query that counts has judgments.
            return self._counted(expected, in_run=True, in_judged=False)
        if keys == [self.asked.query]:
            return listed
        both = pl.concat([listed, expected], how="vertical_relaxed")
        return self._counted(both, in_run=True, in_judged=True)

    def _parts(self, whole: pl.LazyFrame) -> tuple[pl.LazyFrame, ...]:
        """Return both tables, each with nulls for what only the other one has."""
        schema = whole.collect_schema()
        names = [*self.on, self.asked.rank, self.asked.relevance, *self._subtopic]
        parts = []
        for table in (self.run, self.judged):
            there = table.collect_schema()
            nulls = [pl.lit(None, dtype=schema[name]).alias(name) for name in names if name not in there]
            parts.append(table.with_columns(nulls))
        return tuple(parts)

    def _counted(self, rows: pl.LazyFrame, *, in_run: bool, in_judged: bool) -> pl.LazyFrame:
        """Return the rows of those queries that count.

        Parameters
        ----------
        rows
            The rows.
        in_run, in_judged
            Whether a query of theirs may be missing in the run, or in the judgments.
        """
        query = self.asked.query
        if self.queries in ("qrels", "both") and in_judged:
            rows = rows.join(_queries(self.judged, query), on=query, how="semi", nulls_equal=True)
        if self.queries in ("run", "both") and in_run:
            rows = rows.join(_queries(self.run, query), on=query, how="semi", nulls_equal=True)
        if self.queries != "error":
            return rows
        return rows.join(self._same_queries(), how="cross").filter(pl.col(_CHECK).is_null()).drop(_CHECK)

    def _condensed(self, whole: pl.LazyFrame) -> pl.LazyFrame:
        """Return the table with unjudged rows taken out of the lists, and the places of the others closed up.

        The rows stay, without a rank, so that a query of which nothing was judged still counts as one.
        """
        rank = pl.col(self.asked.rank)
        judged = pl.when(pl.col(self.asked.relevance).is_not_null()).then(rank)
        # Rows of an item, one for each of its subtopics, share a place; other rows must not.
        closed = judged.rank("dense" if self._subtopic else "min").over(self.asked.keys)
        number = rank.cast(pl.Float64)
        bad = (number < 1) | (number != number.floor())
        return whole.with_columns(pl.when(bad).then(rank).otherwise(closed).alias(self.asked.rank))

    def _same_queries(self) -> pl.LazyFrame:
        """Return one null, whose making fails if a query is in one of the tables only."""
        query = self.asked.query
        listed, graded = _queries(self.run, query), _queries(self.judged, query)
        pairs = ((listed, graded), (graded, listed))
        differ = pl.concat([one.join(other, on=query, how="anti", nulls_equal=True) for one, other in pairs])
        text = (
            "the run and the judgments must have the same queries, as queries='error' asks, but {} is in one of them "
            "only. Hint: choose queries='qrels', 'both' or 'run'"
        )
        return differ.select(failing(pl.len() > 0, text, pl.col(query).first()).alias(_CHECK))


def _judgments(qrels: pl.LazyFrame, names: dict[str, str], run: pl.LazyFrame, asked: Question) -> pl.LazyFrame:
    """Return query, item and relevance of the judgments under the names of the run, after looking at both schemas."""
    there, listed = qrels.collect_schema(), run.collect_schema()
    for name in names:
        if name not in there:
            raise missing(name, there, "Hint: name the columns of the judgments with .judged_by(qrels, query=..., ...)")
    for theirs, ours in names.items():
        if ours in (asked.relevance, asked.subtopic):
            continue
        if ours not in listed:
            raise missing(
                ours, listed, "Hint: judgments are joined on query and item; name yours with .rank.using(...)"
            )
        if there[theirs] != listed[ours] and not _alike(there[theirs], listed[ours]):
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


def _expected(run: pl.LazyFrame, judged: pl.LazyFrame, asked: Question, each: tuple[str, ...]) -> pl.LazyFrame:
    """Return the judged items that each list should have; what a list does not have, it has missed."""
    there = set(judged.collect_schema().names())
    apart = [name for name in each if name not in there]
    if lists := [key for key in asked.keys if key not in there and key not in apart]:
        on = [key for key in asked.keys if key in there]
        judged = judged.join(run.select(*on, *lists).unique(), on=on, how="left", nulls_equal=True)
    return judged.join(run.select(apart).unique(), how="cross") if apart else judged


def _queries(frame: pl.LazyFrame, query: str) -> pl.LazyFrame:
    """Return the queries of a table, and null: a row without a query must not get lost, but be found by the checks."""
    known = frame.select(query).unique()
    return pl.concat([known, known.select(pl.lit(None).alias(query))], how="vertical_relaxed")
