"""From rows to one number for each query, and from these to the result.

Metrics are sorted into sets by the rows that they need. Each set is one `group_by` over the keys, and is summed up on
its own; queries without a row in a set, such as those with nothing relevant, enter as a count. So a mean needs no join
of queries, and all metrics of a call share one scan.
"""

from __future__ import annotations

from functools import partial, reduce
from typing import TYPE_CHECKING

import polars as pl

from frame_metrics.plan import checks
from frame_metrics.plan.rows import changed
from frame_metrics.plan.sets import QUERIES, beside, sets_of
from frame_metrics.plan.table import free, prepared

if TYPE_CHECKING:
    from frame_metrics.formulas.base import Metric
    from frame_metrics.plan.question import Question
    from frame_metrics.plan.sets import PerQuery
    from frame_metrics.plan.table import Table


def evaluated(frame: pl.LazyFrame, asked: Question, metrics: list[Metric]) -> pl.LazyFrame:
    """Return the plan for these metrics: one row in all, one for each segment, or one for each query."""
    metrics = asked.meant(metrics)
    free(asked, *map(str, metrics))
    return _ordered([_evaluated(frame, *part) for part in asked.parts(metrics)], asked, metrics)


def sums(frame: pl.LazyFrame, asked: Question, metrics: list[Metric]) -> pl.LazyFrame:
    """Return sums over the queries of a part of a table, from which `concluded` makes results.

    Sums of several parts add up, as long as each query is in one of them. There is one row, or one for each segment.
    """
    metrics = asked.meant(metrics)
    free(asked, *map(str, metrics))
    return _together([_sums(frame, number, *part) for number, part in enumerate(asked.parts(metrics))], asked.groups)


def concluded(whole: pl.LazyFrame, asked: Question, metrics: list[Metric]) -> pl.LazyFrame:
    """Return the results that sums over all queries give, as `evaluated` does."""
    metrics = asked.meant(metrics)
    there = whole.collect_schema().names()
    results = []
    for number, (part, some) in enumerate(asked.parts(metrics)):
        names = {name: name.removeprefix(f"{number}:") for name in there if name.startswith(f"{number}:")}
        rows = whole.select(*asked.by, *names).rename(names)
        results.append(_concluded(rows, part, sets_of(some, part, floating=False)))
    return _ordered(results, asked, metrics)


def _sums(frame: pl.LazyFrame, number: int, asked: Question, metrics: list[Metric]) -> pl.LazyFrame:
    table = prepared(frame, asked)
    whole = _guarded(_summed(table, asked, sets_of(metrics, asked, floating=table.floating)), table, asked, metrics)
    return whole.select(*asked.by, pl.exclude(asked.by).name.prefix(f"{number}:"))


def _ordered(results: list[pl.LazyFrame], asked: Question, metrics: list[Metric]) -> pl.LazyFrame:
    result = _together(results, asked.groups).select(*asked.groups, *map(str, metrics))
    return result.sort(asked.groups, nulls_last=True) if asked.groups else result


def _together(frames: list[pl.LazyFrame], on: list[str]) -> pl.LazyFrame:
    return reduce(partial(also, on=on), frames)


def also(left: pl.LazyFrame, right: pl.LazyFrame, on: list[str]) -> pl.LazyFrame:
    """Return two results side by side; each may have groups that the other has not."""
    if on:
        return left.join(right, on=on, how="full", coalesce=True, nulls_equal=True)
    return left.join(right, how="cross")


def _evaluated(frame: pl.LazyFrame, asked: Question, metrics: list[Metric]) -> pl.LazyFrame:
    table = prepared(frame, asked)
    sets = sets_of(metrics, asked, floating=table.floating)
    result = _each_query(table, asked, sets) if asked.each_query else _summary(table, asked, sets)
    return _guarded(result, table, asked, metrics)


def _guarded(result: pl.LazyFrame, table: Table, asked: Question, metrics: list[Metric]) -> pl.LazyFrame:
    """Return the result, which now fails if something is wrong with the first rows of the table."""
    ordered = any(m.ordered for m in metrics) and not asked.tied
    subtopics = all(m.definition.of_subtopics for m in metrics)
    return checks.guarded(result, table, asked, ordered=ordered, subtopics=subtopics)


def _summary(table: Table, asked: Question, sets: list[PerQuery]) -> pl.LazyFrame:
    return _concluded(_summed(table, asked, sets), asked, sets)


def _summed(table: Table, asked: Question, sets: list[PerQuery]) -> pl.LazyFrame:
    """Return the sums over queries: one row, or one for each segment."""
    parts = [each.part(table) for each in sets]
    counted = sets[0].complete or not (asked.by or any(each.counts_absent for each in sets))
    whole, *rest = parts if counted else [universe(table, asked), *parts]
    for part in rest:
        whole = beside(whole, part, list(asked.by))
    return whole


def _concluded(whole: pl.LazyFrame, asked: Question, sets: list[PerQuery]) -> pl.LazyFrame:
    """Return the results that sums over queries give."""
    for number in (number for each in sets for number in each.without()):
        whole = whole.filter(checks.lacking(number).is_null())
    return whole.select(*asked.by, *(e for each in sets for e in each.results()))


def universe(table: Table, asked: Question) -> pl.LazyFrame:
    """Return the number of queries, in all or for each group of the result; the plan fails if one is null."""
    query, groups = pl.col(asked.query), asked.groups
    lists = _lists(table, asked)
    if asked.query in groups:
        return lists.unique().with_columns(pl.lit(1, dtype=pl.Int64).alias(QUERIES))
    null = checks.null_query(query.null_count() > 0, asked).is_null()
    queries = pl.when(null).then(query.n_unique()).cast(pl.Int64).alias(QUERIES)
    return lists.group_by(groups).agg(queries) if groups else lists.select(queries)


def _lists(table: Table, asked: Question) -> pl.LazyFrame:
    """Return the keys of every list, once or more.

    Rows mostly come list by list, so few are left to compare where a list begins. In memory, counting distinct numbers
    takes no longer than that.
    """
    keys = table.lists.select(asked.keys)
    if asked.eager and not asked.by and keys.collect_schema()[asked.query].is_numeric():
        return keys
    return keys.filter(changed(asked.keys))


def _each_query(table: Table, asked: Question, sets: list[PerQuery]) -> pl.LazyFrame:
    whole = _side_by_side(table, asked, sets)
    return whole.select(*asked.keys, *(score for each in sets for score in each.scores()))


def of_queries(frame: pl.LazyFrame, asked: Question, metrics: list[Metric]) -> pl.LazyFrame:
    """Return what a micro average pools: numerator and denominator of each metric, a row for each query."""
    return _together([_of_queries(frame, *part) for part in asked.parts(asked.meant(metrics))], asked.keys)


def _of_queries(frame: pl.LazyFrame, asked: Question, metrics: list[Metric]) -> pl.LazyFrame:
    table = prepared(frame, asked)
    sets = sets_of(metrics, asked, floating=table.floating)
    whole = _side_by_side(table, asked, sets)
    whole = whole.select(*asked.keys, *(part for each in sets for part in each.ratios()))
    return _guarded(whole, table, asked, metrics)


def _side_by_side(table: Table, asked: Question, sets: list[PerQuery]) -> pl.LazyFrame:
    """Return what sets keep of each query; the plan fails where a query must have something relevant and has not."""
    frames = [each.frame(table) for each in sets]
    null = pl.col(asked.query).is_null()
    every = _lists(table, asked).unique().filter(checks.null_query(null, asked).is_null())
    whole, *rest = frames if sets[0].complete else [every, *frames]
    for frame in rest:
        whole = beside(whole, frame, asked.keys)
    if lacks := [lack for each in sets for lack in each.lacks()]:
        number = pl.when(pl.any_horizontal(lacks)).then(pl.lit(checks.NOTHING_RELEVANT, dtype=pl.UInt8))
        whole = whole.filter(checks.stop(number, asked, whole).is_null())
    return whole
