"""Results that are more than a number: a metric over k, curves down the ranks, the cascade of a reader."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from frame_metrics.errors import wanted
from frame_metrics.formulas import parse
from frame_metrics.formulas.parameters import MaxGrade, checked
from frame_metrics.formulas.terms import PREFIX, RANK, SIZE, TOP_GRADE, Inline, Roles
from frame_metrics.plan import checks
from frame_metrics.plan.evaluate import evaluated, universe
from frame_metrics.plan.rows import PLACE, RowSet
from frame_metrics.plan.sets import QUERIES, beside
from frame_metrics.plan.table import RELEVANCE, free, prepared

if TYPE_CHECKING:
    from collections.abc import Iterable

    from frame_metrics.formulas import Metric
    from frame_metrics.plan.question import Question
    from frame_metrics.plan.table import Table

FOUND, PASSED, SHARE, PRESENT = (f"{PREFIX}{name}" for name in ("found", "passed", "share", "present"))


def at_k(frame: pl.LazyFrame, asked: Question, metric: str, ks: Iterable[int]) -> pl.LazyFrame:
    """Return a metric at several cuts, all in one pass."""
    whole, cut = cuts(asked, metric, ks)
    values = pl.concat_list(map(str, cut.values())).alias(whole)
    counted = pl.lit(pl.Series([list(cut)], dtype=pl.List(pl.Int64))).first().alias("k")
    result = evaluated(frame, asked, list(cut.values())).select(*asked.groups, counted, values)
    return result.explode("k", whole).sort(*asked.groups, "k", nulls_last=True)


def cuts(asked: Question, metric: str, ks: Iterable[int]) -> tuple[str, dict[int, Metric]]:
    """Return the text of a metric, and the metric cut at each k."""
    whole = parse(metric)
    each = list(dict.fromkeys(ks))
    if not whole.definition.takes_k or dict(whole.options)["k"] is not None:
        raise wanted("metric", "one that can be cut, without its cut, such as 'ndcg'", str(metric))
    free(asked, "k", str(whole))
    if not each:
        raise wanted("ks", "one or more integers >= 1", each)
    given = {name: value for name, value in whole.options if name in whole.given}
    cut = asked.meant([whole.definition(called=whole.called, k=k, **given) for k in each])
    return str(whole), dict(zip(each, cut, strict=True))


def roc(frame: pl.LazyFrame, asked: Question) -> pl.LazyFrame:
    """Return shares of non-relevant rows passed and of relevant rows found, down the ranks."""
    free(asked, "k", "fpr", "tpr")
    table = prepared(frame, asked)
    relevance, level = pl.col(RELEVANCE), asked.min_relevance
    relevant = (relevance > 0 if level is None else relevance >= level).fill_null(False)
    found, passed = pl.col(f"{FOUND}_n"), pl.col(f"{PASSED}_n")
    rows = _checked(table, asked).select(*asked.keys, RANK, relevant.alias(FOUND))
    lists = rows.group_by(asked.keys).agg(RANK, FOUND, pl.col(FOUND).sum().alias(f"{FOUND}_n"))
    lists = lists.with_columns((pl.col(FOUND).list.len() - found).alias(f"{PASSED}_n"))
    if asked.no_relevant == "error":
        lists = lists.filter(checks.lacking((found == 0).sum()).is_null())
    lists = lists.filter((found > 0) & (passed > 0))
    pooled = asked.average == "micro"
    over = [(pl.col(f"{n}_n").sum() if pooled else pl.len()).cast(pl.Float64).alias(f"{n}_n") for n in (PASSED, FOUND)]
    whole = lists.group_by(asked.groups).agg(over) if asked.groups else lists.select(over)
    share = pl.col(FOUND) if pooled else pl.col(FOUND) / found
    lost = ~pl.col(FOUND) if pooled else ~pl.col(FOUND) / passed
    sums = [lost.sum().alias(PASSED), share.sum().alias(FOUND)]
    curve = beside(_curve(lists.explode(RANK, FOUND), asked, sums), whole, asked.groups)
    start = [pl.lit(0, dtype=pl.Int64).alias("k"), pl.lit(0.0).alias("fpr"), pl.lit(0.0).alias("tpr")]
    origin = whole.filter(found > 0).with_columns(start).select(*asked.groups, "k", "fpr", "tpr")
    points = curve.select(
        *asked.groups,
        pl.col(RANK).cast(pl.Int64).alias("k"),
        (pl.col(PASSED) / passed).alias("fpr"),
        (pl.col(FOUND) / found).alias("tpr"),
    )
    result = checks.guarded(pl.concat([origin, points]), table, asked, ordered=False)
    return result.sort(*asked.groups, "k", nulls_last=True)


def _checked(table: Table, asked: Question) -> pl.LazyFrame:
    """Return all rows; the plan fails at a value that has no meaning."""
    rows = table.frame
    fine = checks.fine(checks.values(table, asked), asked, rows)
    return rows.with_columns(pl.when(fine).then(pl.col(RANK)).alias(RANK))


def _curve(rows: pl.LazyFrame, asked: Question, sums: list[pl.Expr]) -> pl.LazyFrame:
    """Return the sums at each rank of each group, added up down the ranks; missed rows come last, with a null rank."""
    return _running(rows.group_by(*asked.groups, RANK).agg(sums), asked)


def _running(ranks: pl.LazyFrame, asked: Question) -> pl.LazyFrame:
    ranks = ranks.sort(*asked.groups, RANK, nulls_last=True)
    running = [pl.col(name).cum_sum() for name in ranks.collect_schema().names() if name not in {*asked.groups, RANK}]
    return ranks.with_columns(e.over(asked.groups) if asked.groups else e for e in running)


def precision_recall(frame: pl.LazyFrame, asked: Question) -> pl.LazyFrame:
    """Return precision and recall down the ranks.

    Both are sums over the relevant rows; of the others it only matters at which ranks they stand.
    """
    free(asked, "k", "recall", "precision")
    table = prepared(frame, asked)
    groups, rank, size = asked.groups, pl.col(RANK), pl.col(SIZE)
    rows = RowSet("relevant", asked, {RANK, SIZE}, {}, ordered=True, floating=table.floating).of(table)
    first = pl.col(PLACE) == 1
    counts = [first.sum().cast(pl.Int64).alias(PRESENT), size.filter(first).sum().cast(pl.Int64).alias(SIZE)]
    whole = beside(universe(table, asked), rows.group_by(groups).agg(counts) if groups else rows.select(counts), groups)
    whole = whole.with_columns(pl.col(PRESENT, SIZE).fill_null(0))
    absent = pl.col(QUERIES) - pl.col(PRESENT)
    if asked.no_relevant == "error":
        whole = whole.filter(checks.lacking(absent.sum()).is_null())
    found = rows.filter(rank.is_not_null()).group_by(*groups, RANK)
    sums = found.agg(pl.len().cast(pl.Int64).alias(FOUND), (1.0 / size).sum().alias(SHARE))
    ranks = _checked(table, asked).select(*groups, RANK).filter(rank.is_not_null()).unique()
    ranks = ranks.join(sums, on=[*groups, RANK], how="left", nulls_equal=True)
    curve = beside(_running(ranks.with_columns(pl.col(FOUND, SHARE).fill_null(0)), asked), whole, groups)
    fill, pooled = asked.fill, asked.average == "micro"
    queries = pl.col(PRESENT if fill is None else QUERIES).cast(pl.Float64)
    nothing = absent * (fill or 0.0)
    recall = pl.col(FOUND) / size if pooled else (pl.col(SHARE) + nothing) / queries
    k = rank.cast(pl.Int64)
    curve = curve.filter(queries > 0).select(
        *groups,
        k.alias("k"),
        (pl.when(size > 0).then(recall).otherwise(0.0) if pooled else recall).alias("recall"),
        ((pl.col(FOUND) / k + nothing) / queries).alias("precision"),
    )
    return checks.guarded(curve, table, asked, ordered=True).sort(*groups, "k", nulls_last=True)


def cascade(frame: pl.LazyFrame, asked: Question, max_grade: float | None) -> pl.LazyFrame:
    """Return the table with the probability that a reader stops at each row."""
    top = None if max_grade is None else checked("max_grade", max_grade, MaxGrade)
    table = prepared(frame, asked)
    names = table.given.collect_schema().names()
    terms = Inline(Roles(RANK, RELEVANCE), top=pl.col(TOP_GRADE))
    stops = (terms.stop(top) * terms.reach(top)).over(asked.keys).fill_null(0.0)
    known = table.given.with_columns(table.columns).with_columns(pl.col(RELEVANCE).max().alias(TOP_GRADE))
    result = known.with_columns(stops.alias("cascade")).select(*names, "cascade")
    return checks.guarded(result, table, asked, ordered=True)
