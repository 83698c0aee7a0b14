"""What can be wrong with a table: how it is found, and what is said about it.

Every row that enters a number is checked where the number is made, at no further scan. Rows that enter none, such as
the non-relevant ones for nDCG, are checked too among the first `check_rows` of the table, and all of them by
`problems`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from frame_metrics.failing import failing
from frame_metrics.formulas.terms import PREFIX, RANK
from frame_metrics.plan.table import GIVEN_RANK, ITEM, RELEVANCE, SUBTOPIC, Table

if TYPE_CHECKING:
    from frame_metrics.plan.question import Question

NULL_QUERY, BAD_RANK, BAD_RELEVANCE, HUGE_RELEVANCE, SHARED_RANK, SAME_ITEM, NOTHING_RELEVANT, TIED = range(1, 9)
NO_ITEM, NO_SUBTOPIC, MOVED_ITEM, SAME_PAIR = range(9, 13)
LAST_GRADE = 2**31 - 1


@dataclass(frozen=True)
class Problem:
    """One kind of problem: its name, what was expected, and what to do."""

    kind: str
    says: str
    hint: str


PROBLEMS = {
    NULL_QUERY: Problem(
        "null query",
        "every row must belong to a query, but one has a null query",
        "drop such rows, or give them a query of their own",
    ),
    BAD_RANK: Problem(
        "bad rank",
        "ranks start at 1 and are whole numbers, but one is not",
        "add 1 to ranks that start at 0; a null rank means judged but not retrieved",
    ),
    BAD_RELEVANCE: Problem(
        "bad relevance",
        "relevance must be finite, but one is NaN or infinite",
        "a null relevance means not judged: .fill_nan(None)",
    ),
    HUGE_RELEVANCE: Problem(
        "huge relevance",
        "whole-number relevance must be below 2^31, but one is not",
        "cast the column to a float",
    ),
    SHARED_RANK: Problem(
        "shared rank",
        "each rank may stand once in a query, but two rows share one",
        "rank by a score with .rank.from_scores('score'), drop repeated rows, or name the column that tells the lists "
        "apart with .rank.by(...)",
    ),
    SAME_ITEM: Problem(
        "repeated item",
        "each item may stand once in a query, but one is there twice",
        "drop repeated rows, or name the column that tells the lists apart with .rank.by(...)",
    ),
    NOTHING_RELEVANT: Problem(
        "nothing relevant",
        "every query must have a relevant item, as no_relevant='error' asks, but some have none",
        "choose no_relevant='zero', 'skip' or 'one'",
    ),
    TIED: Problem(
        "tied scores",
        "items of other relevance have one score, so their order can change a result",
        "choose a policy with .rank.from_scores(..., ties=...)",
    ),
    NO_ITEM: Problem(
        "null item",
        "every row that is relevant to a subtopic must name its item, but one does not",
        "drop such rows, or name their items",
    ),
    NO_SUBTOPIC: Problem(
        "null subtopic",
        "a relevant row must name the subtopic that it is relevant to, but one does not",
        "name it, or make the relevance null: the item was judged for no subtopic",
    ),
    MOVED_ITEM: Problem(
        "several ranks",
        "an item must have the same rank for all its subtopics, but one has several",
        "rank the items before the subtopics are joined, .from_scores(...) and .judged_by(qrels) do so; or name the "
        "column that tells the lists apart with .rank.by(...)",
    ),
    SAME_PAIR: Problem(
        "repeated subtopic",
        "each item may stand once for a subtopic, but one is there twice",
        "drop repeated rows, or name the column that tells the lists apart with .rank.by(...)",
    ),
}


def fine(problems: dict[int, pl.Expr], asked: Question, rows: pl.LazyFrame) -> pl.Expr:
    """Return whether a row has none of these problems: true, or else the plan fails.

    Row by row, so that a streaming engine need not hold the rows back; the texts are made where there is a problem.
    """
    if asked.brief:
        return failing(number_of(problems).min().is_not_null(), "something is wrong").is_null()
    schema = rows.collect_schema()
    keys = _printable(asked.keys, schema)
    return pl.all_horizontal(
        failing(bad, *_about(number, bad, keys, asked, schema)).is_null() for number, bad in problems.items()
    )


def _about(number: int, bad: pl.Expr, keys: list[str], asked: Question, schema: pl.Schema) -> tuple[Any, ...]:
    """Return the text for a problem, and the values that it quotes."""
    problem, (name, column) = PROBLEMS[number], _values(asked).get(number, ("", ""))
    quoted = {key: key for key in keys} | ({name: column} if column in _printable([column], schema) else {})
    places = ", ".join(f"{_escaped(name)} {{}}" for name in quoted) or "in a key that has no text"
    values = (_value(pl.when(bad).then(pl.col(c)), schema[c]) if schema[c].is_float() else c for c in quoted.values())
    return (f"{problem.says}: {places}. Hint: {problem.hint}", *values)


def _escaped(name: str) -> str:
    return name.replace("{", "(").replace("}", ")")


def stop(number: pl.Expr, asked: Question, rows: pl.LazyFrame) -> pl.Expr:
    """Return an expression that is null, and that fails the query if one of the rows has the number of a problem.

    The number should be a column: it is looked at more than once.
    """
    worst = number.min()
    if asked.brief:
        return failing(worst.is_not_null(), "something is wrong")
    schema = rows.collect_schema()
    first = {key: pl.col(key).filter(number == worst).first() for key in _printable(asked.keys, schema)}
    example = _spelt({key: _value(value, schema[key]) for key, value in first.items()})
    more = pl.lit("")
    for pair in dict.fromkeys(_values(asked).values()):
        name, column = pair
        if column in _printable([column], schema):
            value = pl.lit(f", {name} ") + _value(pl.col(column).filter(number == worst).first(), schema[column])
            shows = [problem for problem, shown in _values(asked).items() if shown == pair]
            more = pl.when(worst.is_in(shows)).then(value).otherwise(more)
    example = example + more
    return failing(worst.is_not_null(), _text(worst, example))


def _values(asked: Question) -> dict[int, tuple[str, str]]:
    """Return, for the problems that a value shows, how the value is called and in which column it is."""
    rank, relevance = (asked.rank, GIVEN_RANK), (asked.relevance, RELEVANCE)
    of_values = {BAD_RANK: rank, BAD_RELEVANCE: relevance, HUGE_RELEVANCE: relevance}
    item = (asked.item, ITEM)
    return of_values | {SHARED_RANK: rank, SAME_ITEM: item, NO_SUBTOPIC: item, MOVED_ITEM: item, SAME_PAIR: item}


def values(table: Table, asked: Question) -> dict[int, pl.Expr]:
    """Return what makes a row bad all by itself."""
    relevance = pl.col(RELEVANCE)
    bad = {NULL_QUERY: pl.col(asked.query).is_null(), BAD_RANK: pl.col(RANK) == 0}
    if table.floating:
        return bad | {BAD_RELEVANCE: ~relevance.is_finite()}
    return bad | {HUGE_RELEVANCE: relevance > LAST_GRADE} if table.large else bad


def unnamed() -> dict[int, pl.Expr]:
    """Return what makes a row bad that is relevant to a subtopic."""
    return {NO_ITEM: pl.col(ITEM).is_null(), NO_SUBTOPIC: pl.col(SUBTOPIC).is_null()}


def number_of(problems: dict[int, pl.Expr]) -> pl.Expr:
    """Return the number of the first problem that a row has; null where it has none."""
    number = pl.lit(None, dtype=pl.UInt8)
    for problem, bad in reversed(problems.items()):
        number = pl.when(bad).then(pl.lit(problem, dtype=pl.UInt8)).otherwise(number)
    return number


def _text(number: pl.Expr, example: pl.Expr) -> pl.Expr:
    says, hint = (
        number.replace_strict(list(PROBLEMS), [getattr(p, part) for p in PROBLEMS.values()], return_dtype=pl.String)
        for part in ("says", "hint")
    )
    return pl.concat_str(says, pl.lit(": "), example, pl.lit(". Hint: "), hint)


def _spelt(example: dict[str, pl.Expr]) -> pl.Expr:
    if not example:
        return pl.lit("in a key that has no text")
    parts = [(pl.lit(f"{name} "), value, pl.lit(", ")) for name, value in example.items()]
    return pl.concat_str([part for three in parts for part in three][:-1])


def _value(value: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Return the text of a value; whole numbers look alike in columns of floats and of integers."""
    text = value.cast(pl.String)
    return (text.str.strip_suffix(".0") if dtype.is_float() else text).fill_null("null")


def lacking(number: pl.Expr) -> pl.Expr:
    """Return an expression that is null, and that fails if the number of queries with nothing relevant is not 0."""
    problem = PROBLEMS[NOTHING_RELEVANT]
    return failing(number > 0, pl.format(f"{problem.says}: {{}} of them. Hint: {problem.hint}", number))


def null_query(condition: pl.Expr, asked: Question) -> pl.Expr:
    """Return an expression that is null, and that fails the query if the condition, that a query is null, holds."""
    problem = PROBLEMS[NULL_QUERY]
    return failing(condition, f"{problem.says}: {asked.query} null. Hint: {problem.hint}")


def _printable(names: list[str], schema: pl.Schema) -> list[str]:
    return [n for n in names if n in schema and not schema[n].is_nested() and schema[n] not in (pl.Binary, pl.Object)]


def found(table: Table, asked: Question, *, ordered: bool) -> pl.LazyFrame:
    """Return the rows that have a problem: its number and an example, one row for each of them."""
    frame, rank = table.frame, pl.col(RANK)
    shown = {number: dict([pair]) for number, pair in _values(asked).items()}
    bad = values(table, asked)
    if subtopics := table.has_subtopic and table.has_item:
        relevant = pl.col(RELEVANCE) > 0
        bad |= {number: relevant & where for number, where in unnamed().items()} | _among_subtopics(asked)
    rows = [_example(frame.filter(where), number, asked, shown.get(number, {})) for number, where in bad.items()]
    if ordered and not asked.tied and not subtopics:
        rows.append(_repeated(frame.filter(rank > 0), RANK, SHARED_RANK, asked))
    rows += [_tied(table, score, asked) for score in asked.scores]
    if table.has_item and not subtopics:
        rows.append(_repeated(frame.filter(pl.col(ITEM).is_not_null()), ITEM, SAME_ITEM, asked))
    return pl.concat(rows)


def _tied(table: Table, score: pl.Expr, asked: Question) -> pl.LazyFrame:
    """Return the scores that items of other relevance share."""
    relevance = pl.col(RELEVANCE)
    worth = pl.when(relevance > 0).then(relevance).otherwise(0)
    rows = table.given.select(*table.columns, score.alias(NUMBER)).filter(pl.col(NUMBER).is_not_null())
    many = rows.group_by(*asked.keys, NUMBER).agg(worth.n_unique().alias(EXAMPLE)).filter(pl.col(EXAMPLE) > 1)
    return _example(many.rename({NUMBER: _SCORE}).drop(EXAMPLE), TIED, asked, {"score": _SCORE})


def _repeated(frame: pl.LazyFrame, column: str, number: int, asked: Question) -> pl.LazyFrame:
    many = frame.group_by(*asked.keys, column).agg(pl.len().alias(NUMBER)).filter(pl.col(NUMBER) > 1)
    return _example(many, number, asked, {asked.rank if column == RANK else asked.item: column})


def _example(rows: pl.LazyFrame, number: int, asked: Question, more: dict[str, str]) -> pl.LazyFrame:
    columns = {key: key for key in asked.keys} | more
    schema = rows.collect_schema()
    printable = _printable(list(columns.values()), schema)
    shown = {name: _value(pl.col(c), schema[c]) for name, c in columns.items() if c in printable}
    found = rows.with_columns(pl.lit(number, dtype=pl.UInt8).alias(NUMBER), _spelt(shown).alias(EXAMPLE))
    return found.select(NUMBER, EXAMPLE, pl.struct(asked.keys).alias(_LIST))


NUMBER = f"{PREFIX}number"
EXAMPLE = f"{PREFIX}example"
_LIST = f"{PREFIX}list"
_SCORE = f"{PREFIX}score"


def _first_rows(rows: pl.LazyFrame, table: Table, asked: Question, *, ordered: bool, subtopics: bool) -> pl.LazyFrame:
    """Return one null, whose making fails if something is wrong with these rows of the table."""
    bad = values(table, asked)
    if subtopics:
        bad |= _among_subtopics(asked)
        rows = rows.with_columns(number_of(bad).alias(NUMBER))
        return rows.select(stop(pl.col(NUMBER), asked, rows).alias(NUMBER))
    if ordered:
        bad[SHARED_RANK] = (pl.col(RANK) > 0) & _seen(asked, RANK)
    if table.has_item:
        bad[SAME_ITEM] = pl.col(ITEM).is_not_null() & _seen(asked, ITEM)
    rows = rows.with_columns(number_of(bad).alias(NUMBER))
    return rows.select(stop(pl.col(NUMBER), asked, rows).alias(NUMBER))


def _seen(asked: Question, *columns: str) -> pl.Expr:
    """Return whether a row of the same list with the same values stands further up in the table."""
    return ~pl.struct(*asked.keys, *columns).is_first_distinct()


def _among_subtopics(asked: Question) -> dict[int, pl.Expr]:
    """Return how rows of one list contradict each other where an item has a row for each of its subtopics."""
    rank, item = pl.col(RANK), pl.col(ITEM)
    named = item.is_not_null()
    return {
        MOVED_ITEM: named & rank.ne_missing(rank.first().over(*asked.keys, ITEM)),
        SHARED_RANK: (rank > 0) & named & (item != item.drop_nulls().first().over(*asked.keys, RANK)),
        SAME_PAIR: named & _seen(asked, ITEM, SUBTOPIC),
    }


def guarded(
    result: pl.LazyFrame, table: Table, asked: Question, *, ordered: bool, subtopics: bool = False
) -> pl.LazyFrame:
    """Return the result of a plan, which now fails if something is wrong with the first rows of the table.

    Parameters
    ----------
    result, table, asked
        The result, the table that it is made of, and what was asked.
    ordered
        Whether two rows of a list at one rank are a mistake.
    subtopics
        Whether an item may have a row for each of its subtopics.
    """
    if asked.check_rows == 0:
        return result
    for rows in table.first(asked.check_rows):
        check = _first_rows(rows, table, asked, ordered=ordered, subtopics=subtopics)
        # The filter makes the result depend on the check, which would be optimised away otherwise.
        result = result.join(check, how="cross", maintain_order="left").filter(pl.col(NUMBER).is_null()).drop(NUMBER)
    return result


def problems(table: Table, asked: Question) -> pl.LazyFrame:
    """Return every kind of problem that the table has, in the order of `PROBLEMS`.

    Its kind, how often it is there, in how many queries, and an example.
    """
    kinds = {number: problem.kind for number, problem in PROBLEMS.items()}
    counted = (
        found(table, asked, ordered=True)
        .group_by(NUMBER)
        .agg(
            pl.len().cast(pl.Int64).alias("count"),
            pl.col(_LIST).n_unique().cast(pl.Int64).alias("queries"),
            pl.col(EXAMPLE).min().alias("example"),
        )
    )
    kind = pl.col(NUMBER).replace_strict(kinds, return_dtype=pl.String)
    return counted.sort(NUMBER).select(kind.alias("kind"), "count", "queries", "example")
