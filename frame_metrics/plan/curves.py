"""Results that are more than a number: a metric over k, curves down the ranks, the cascade of a reader."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from frame_metrics.errors import wanted
from frame_metrics.formulas import parse
from frame_metrics.formulas.parameters import MaxGrade, checked
from frame_metrics.formulas.terms import PREFIX, RANK, TOP_GRADE, Inline, Roles
from frame_metrics.plan import checks
from frame_metrics.plan.evaluate import evaluated
from frame_metrics.plan.table import RELEVANCE, free, prepared

if TYPE_CHECKING:
    from collections.abc import Iterable

    from frame_metrics.plan.question import Question

FOUND, PASSED, QUERIES, NOTHING = (f"{PREFIX}{name}" for name in ("found", "passed", "queries", "nothing"))


def at_k(frame: pl.LazyFrame, asked: Question, metric: str, ks: Iterable[int]) -> pl.LazyFrame:
    """Return a metric at several cuts, all in one pass."""
    whole = parse(metric)
    cuts = list(dict.fromkeys(ks))
    if not whole.definition.takes_k or dict(whole.options)["k"] is not None:
        raise wanted("metric", "one that can be cut, without its cut, such as 'ndcg'", str(metric))
    free(asked, "k", str(whole))
    if not cuts:
        raise wanted("ks", "one or more integers >= 1", cuts)
    cut = [whole.definition(called=whole.called, **(dict(whole.options) | {"k": k})) for k in cuts]
    values = pl.concat_list(map(str, cut)).alias(str(whole))
    counted = pl.lit(pl.Series([cuts], dtype=pl.List(pl.Int64))).first().alias("k")
    result = evaluated(frame, asked, cut).select(*asked.groups, counted, values)
    return result.explode("k", str(whole)).sort(*asked.groups, "k", nulls_last=True)


def _down(frame: pl.LazyFrame, asked: Question, *, ordered: bool) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """Return all rows with what they add to the found and the passed ones, and how many of both each query has."""
    table = prepared(frame, asked)
    relevance, level = pl.col(RELEVANCE), asked.min_relevance
    relevant = (relevance > 0 if level is None else relevance >= level).fill_null(False)
    checked_rows = checks.guarded(table.frame, table, asked, ordered=ordered)
    rows = checked_rows.select(*asked.keys, RANK, relevant.alias(FOUND), (~relevant).alias(PASSED))
    counts = rows.group_by(asked.keys).agg(pl.col(FOUND, PASSED).sum().name.suffix("_n"))
    return rows.join(counts, on=asked.keys, nulls_equal=True), counts


def _curve(rows: pl.LazyFrame, asked: Question, sums: list[pl.Expr]) -> pl.LazyFrame:
    """Return the sums at each rank of each group, added up down the ranks; missed rows come last, with a null rank."""
    ranks = rows.group_by(*asked.groups, RANK).agg(sums).sort(*asked.groups, RANK, nulls_last=True)
    running = [pl.col(name).cum_sum() for name in ranks.collect_schema().names() if name not in {*asked.groups, RANK}]
    return ranks.with_columns(e.over(asked.groups) if asked.groups else e for e in running)


def roc(frame: pl.LazyFrame, asked: Question) -> pl.LazyFrame:
    """Return shares of non-relevant rows passed and of relevant rows found, down the ranks."""
    free(asked, "k", "fpr", "tpr")
    rows, counts = _down(frame, asked, ordered=False)
    counts = _with_relevant(counts, asked)
    both = (pl.col(f"{FOUND}_n") > 0) & (pl.col(f"{PASSED}_n") > 0)
    pooled = asked.average == "micro"
    shares = [(pl.col(n) / (1.0 if pooled else pl.col(f"{n}_n"))).sum().alias(n) for n in (PASSED, FOUND)]
    totals = [
        (pl.col(f"{n}_n").sum() if pooled else pl.len()).cast(pl.Float64).alias(f"{n}_n") for n in (PASSED, FOUND)
    ]
    kept = counts.filter(both)
    whole = kept.group_by(asked.groups).agg(totals) if asked.groups else kept.select(totals)
    curve = _with(_curve(rows.filter(both), asked, shares), whole, asked)
    start = [pl.lit(0, dtype=pl.Int64).alias("k"), pl.lit(0.0).alias("fpr"), pl.lit(0.0).alias("tpr")]
    origin = whole.filter(pl.col(f"{FOUND}_n") > 0).with_columns(start).select(*asked.groups, "k", "fpr", "tpr")
    points = curve.select(
        *asked.groups,
        pl.col(RANK).cast(pl.Int64).alias("k"),
        (pl.col(PASSED) / pl.col(f"{PASSED}_n")).alias("fpr"),
        (pl.col(FOUND) / pl.col(f"{FOUND}_n")).alias("tpr"),
    )
    return pl.concat([origin, points]).sort(*asked.groups, "k", nulls_last=True)


def _with_relevant(counts: pl.LazyFrame, asked: Question) -> pl.LazyFrame:
    if asked.no_relevant != "error":
        return counts
    return counts.filter(checks.lacking((pl.col(f"{FOUND}_n") == 0).sum()).is_null())


def precision_recall(frame: pl.LazyFrame, asked: Question) -> pl.LazyFrame:
    """Return precision and recall down the ranks."""
    free(asked, "k", "recall", "precision")
    rows, counts = _down(frame, asked, ordered=True)
    pooled = asked.average == "micro"
    counts = _with_relevant(counts, asked)
    if asked.fill is None:
        rows, counts = (f.filter(pl.col(f"{FOUND}_n") > 0) for f in (rows, counts))
    share = pl.when(pl.col(FOUND)).then(1.0 if pooled else 1.0 / pl.col(f"{FOUND}_n")).otherwise(0.0)
    sums = [share.sum().alias(PASSED), pl.col(FOUND).sum()]
    nothing = (pl.col(f"{FOUND}_n") == 0).sum() * (asked.fill or 0.0)
    totals = [
        pl.len().cast(pl.Float64).alias(QUERIES),
        pl.col(f"{FOUND}_n").sum().cast(pl.Float64),
        nothing.alias(NOTHING),
    ]
    whole = counts.group_by(asked.groups).agg(totals) if asked.groups else counts.select(totals)
    curve = _with(_curve(rows.filter(pl.col(RANK).is_not_null()), asked, sums), whole, asked)
    queries = pl.col(QUERIES)
    over = pl.col(f"{FOUND}_n") if pooled else queries
    recall = pl.when(over > 0).then((pl.col(PASSED) + pl.col(NOTHING)) / over).otherwise(0.0)
    k = pl.col(RANK).cast(pl.Int64)
    precision = (pl.col(FOUND) / k + pl.col(NOTHING)) / queries
    result = curve.select(*asked.groups, k.alias("k"), recall.alias("recall"), precision.alias("precision"))
    return result.sort(*asked.groups, "k", nulls_last=True)


def _with(curve: pl.LazyFrame, whole: pl.LazyFrame, asked: Question) -> pl.LazyFrame:
    if asked.groups:
        return curve.join(whole, on=asked.groups, nulls_equal=True)
    return curve.join(whole, how="cross")


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
