"""Dicts of runs and judgments, made into the long table that everything is computed from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, get_args

import polars as pl

from frame_metrics.errors import TableError, choice, wanted
from frame_metrics.failing import raising
from frame_metrics.formulas.terms import PREFIX
from frame_metrics.plan.joined import Queries
from frame_metrics.plan.scores import Ties, ranked
from frame_metrics.shapes import common

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_ROW = f"{PREFIX}row"


def from_dicts(
    run: Mapping[Any, Mapping[Any, float] | Sequence[Any]],
    qrels: Mapping[Any, Mapping[Any, float]] | None = None,
    *,
    ties: Ties = "item_desc",
    float32: bool = False,
    queries: Queries = "qrels",
) -> pl.DataFrame:
    """Make the long table of dicts: a run of items with scores, or in order, and the judgments.

    The table has the columns query, item, rank (`Int64`) and, with judgments, relevance, which is null for an item that
    was not judged. A judged item that the run does not have gets a row without a rank. A query with no item at all is
    kept as one row without an item.

    Parameters
    ----------
    run
        For each query the scores of its items, `{"q1": {"a": 0.9, "b": 0.4}}`, where None means not retrieved; or its
        items in order, best first, `{"q1": ["a", "b"]}`, where an item that is there twice counts once.
    qrels
        For each query the grades of its judged items, `{"q1": {"b": 1}}`.
    ties
        Which of several items with one score comes first: `"item_desc"` the one that sorts last, as trec_eval has it,
        `"item_asc"` the one that sorts first, `"first"` the one that stands first in the dict.
    float32
        Whether to compare scores as 32-bit floats, as trec_eval did before version 10.
    queries
        Which queries count, given judgments: `"qrels"` all judged ones, `"both"` those in both dicts, `"run"` those of
        the run; `"error"` refuses if the two differ.

    Examples
    --------
    >>> for row in from_dicts({"q1": {"a": 0.4, "b": 0.9}, "q2": {}}, {"q1": {"a": 1, "z": 2}, "q2": {"a": 1}}).rows():
    ...     print(row)
    ('q1', 'b', 1, None)
    ('q1', 'a', 2, 1)
    ('q1', 'z', None, 2)
    ('q2', 'a', None, 1)
    >>> from_dicts({"q1": ["b", "a"]}).rows()
    [('q1', 'b', 1), ('q1', 'a', 2)]
    """
    if queries not in get_args(Queries):
        raise choice("queries", queries, get_args(Queries))
    listed = _listed(run, ties, float32=float32)
    if qrels is None:
        return _complete(listed, run)
    judged = _entries("qrels", qrels, "relevance")
    if queries == "error" and (odd := run.keys() ^ qrels.keys()):
        raise TableError(f"`run` and `qrels` must have the same queries, but {odd.pop()!r} is in one of them only")
    for role in ("query", "item"):
        dtype = common(f"the {role}", {"run": listed.schema[role], "qrels": judged.schema[role]})
        listed, judged = listed.cast({role: dtype}), judged.cast({role: dtype})
    table = listed.join(judged, on=["query", "item"], how="full", coalesce=True, maintain_order="left_right")
    return _complete(table, run if queries == "run" else [q for q in qrels if queries != "both" or q in run])


def _complete(table: pl.DataFrame, queries: Iterable[Any]) -> pl.DataFrame:
    """Return the rows of these queries in their order, one without an item for a query that has none."""
    order = pl.DataFrame({"query": pl.Series(list(queries), dtype=table.schema["query"])}).with_row_index(_ROW)
    rows = order.join(table, on="query", how="left", maintain_order="left_right")
    return rows.sort(_ROW, "rank", nulls_last=True, maintain_order=True).drop(_ROW)


def _listed(run: Mapping[Any, Any], ties: Ties, *, float32: bool) -> pl.DataFrame:
    """Return query, item and rank of a run."""
    if all(isinstance(items, Mapping) for items in run.values()):
        scored = _entries("run", run, "score").cast({"score": pl.Float64}).lazy()
        table = ranked(scored, keys=["query"], item="item", score="score", ties=ties, rank="rank", float32=float32)
        with raising():
            return table.drop("score").collect()
    for items in run.values():
        # A set has no order, and a text is a sequence of letters.
        if isinstance(items, Mapping | str) or not hasattr(items, "__getitem__"):
            raise wanted("run", "a dict with a dict of scores for each query, or with a list of items for each", items)
    # From the last place to the first, so that the first one stays.
    places = {q: {i: n for n, i in reversed([*enumerate(items, 1)]) if i is not None} for q, items in run.items()}
    return _entries("run", places, "rank")


def _entries(name: str, dicts: Mapping[Any, Any], value: str) -> pl.DataFrame:
    """Return query, item and value of every entry in a dict of dicts."""
    for entries in dicts.values():
        if not isinstance(entries, Mapping):
            raise wanted(name, "a dict with a dict of numbers for each query", entries)
    queries = [query for query, entries in dicts.items() for _ in entries]
    columns = {
        "query": pl.Series(queries, dtype=_keys(name, "query", [*dicts]).dtype),
        "item": _keys(name, "item", [item for entries in dicts.values() for item in entries]),
        value: _numbers(name, value, [number for entries in dicts.values() for number in entries.values()]),
    }
    return pl.DataFrame(columns)


def _keys(name: str, role: str, values: list[Any]) -> pl.Series:
    try:
        keys = pl.Series(values)
    except TypeError:
        keys = pl.Series(dtype=pl.Object)
    if keys.null_count() or keys.dtype.is_nested() or keys.dtype == pl.Object:
        kinds = ", ".join(sorted({type(value).__name__ for value in values}))
        raise TableError(
            f"each {role} of `{name}` must be of one type, text or a number, got {kinds}. Hint: use str(...)"
        )
    return keys


def _numbers(name: str, role: str, values: list[Any]) -> pl.Series:
    for dtype in (pl.Int64, pl.Float64):
        try:
            return pl.Series(values, dtype=dtype)
        except TypeError:
            continue
    kinds = ", ".join(sorted({type(value).__name__ for value in values}))
    raise TableError(f"each {role} of `{name}` must be a number, got {kinds}")
