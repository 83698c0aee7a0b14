"""Means over queries with an interval around them, and what else there is to say about the values of queries.

Every mean is a ratio of two sums over queries, of numerators v and of denominators o: for a mean of values x with
weights w, v = w x and o = w; for a micro average, what the formula has. Its standard error is that of a ratio,

    sqrt(g / (g - 1) * sum over clusters of (sum of (v - mean * o))^2) / sum of o

where g is the number of clusters. With every query a cluster of its own and no weights that is s / sqrt(n).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral, Real
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import polars as pl

from frame_metrics.errors import OptionError, TableError, choice, wanted
from frame_metrics.failing import failing
from frame_metrics.formulas.base import LEAST
from frame_metrics.formulas.terms import PREFIX
from frame_metrics.plan.evaluate import also, evaluated, of_queries
from frame_metrics.plan.sets import beside, over_of
from frame_metrics.plan.table import free, missing

if TYPE_CHECKING:
    from frame_metrics.formulas.base import Metric
    from frame_metrics.plan.question import Question
    from frame_metrics.stats.resampling import Sample

Method: TypeAlias = Literal["normal", "bootstrap"]

WEIGHT, CLUSTER = f"{PREFIX}weight_of_query", f"{PREFIX}cluster_of_query"
_QUANTILES = {"q10": 0.1, "q25": 0.25, "median": 0.5, "q75": 0.75, "q90": 0.9}
_STATISTICS = ("metric", "queries", "mean", "low", "high", "std", "geometric_mean", "min", *_QUANTILES, "max")


@dataclass(frozen=True)
class Summary:
    """How the values of queries are summed up.

    Attributes
    ----------
    ci
        How sure the interval is, such as 0.95; None for no interval.
    method, resamples, seed
        How it is made.
    cluster
        The column whose values tell which queries belong together.
    weight
        The column that says how much a query counts.
    """

    ci: float | None = None
    method: Method = "normal"
    resamples: int = 2000
    seed: int = 0
    cluster: str | None = None
    weight: str | None = None

    def __post_init__(self) -> None:
        """Raise if a value is not allowed."""
        if self.ci is not None:
            sure(self.ci)
        if self.method not in get_args(Method):
            raise choice("method", self.method, get_args(Method))
        whole("resamples", self.resamples, 1)
        whole("seed", self.seed, 0)
        for name in ("cluster", "weight"):
            if not isinstance(getattr(self, name), str | None):
                raise wanted(name, "the name of a column", getattr(self, name))
        if self.ci is None and (self.cluster is not None or self.method != "normal"):
            given = f"cluster={self.cluster!r}" if self.cluster is not None else f"method={self.method!r}"
            raise OptionError(f"{given} is about an interval, and none is asked for. Hint: add ci=0.95")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return tuple(dict.fromkeys(name for name in (self.weight, self.cluster) if name is not None))


def sure(ci: Any) -> float:
    """Return how sure an interval is, or raise."""
    if isinstance(ci, bool) or not isinstance(ci, Real) or not 0 < float(ci) < 1:
        raise wanted("ci", "a number between 0 and 1, such as 0.95", ci)
    return float(ci)


def whole(name: str, value: Any, least: int) -> int:
    """Return a whole number, or raise."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise wanted(name, f"an integer >= {least}", value)
    return int(value)


def summed(frame: pl.LazyFrame, asked: Question, metrics: list[Metric], how: Summary) -> pl.LazyFrame:
    """Return the plan for the means of these metrics, each followed by the ends of its interval if one is asked for."""
    metrics = asked.meant(metrics)
    _possible(asked, metrics, how)
    bounds = [name for m in metrics for name in (str(m), *_ends(m, how))]
    free(asked, *bounds)
    groups = list(asked.by)
    rows = _ratios(frame, asked, metrics, how)
    if how.cluster is not None:
        rows = rows.group_by(*groups, CLUSTER).agg(pl.exclude(*groups, CLUSTER).sum())
    if how.method == "bootstrap":
        return _bootstrapped(rows.collect(), groups, metrics, how).lazy()
    return _by(rows, groups, [e for m in metrics for e in _normal(m, how)])


def _by(rows: pl.LazyFrame, groups: list[str], columns: list[pl.Expr]) -> pl.LazyFrame:
    return rows.group_by(groups).agg(columns).sort(groups, nulls_last=True) if groups else rows.select(columns)


def _possible(asked: Question, metrics: list[Metric], how: Summary) -> None:
    if asked.each_query:
        raise OptionError(
            "a query is one value, with no interval and no weight. "
            "Hint: leave out .per_query(), or `ci` and `weight`; .rank.describe(...) shows how queries spread"
        )
    if totals := [m for m in metrics if m.plain.total]:
        raise OptionError(
            f"{totals[0]} is a sum over queries, and intervals and weights are for means. "
            "Hint: ask for it in a call of its own, or for its mean with .rank.describe(...)"
        )
    if how.method == "bootstrap" and not asked.eager:
        raise OptionError(
            "the bootstrap needs the values of all queries, and nothing of a LazyFrame is read before collect(). "
            "Hint: take method='normal', which stays lazy, or collect the frame first"
        )


def _ends(metric: Metric, how: Summary) -> list[str]:
    return [] if how.ci is None else [f"{metric}_low", f"{metric}_high"]


def _value(metric: Metric) -> pl.Expr:
    return pl.col(f"{PREFIX}v:{metric}")


def _over(metric: Metric) -> pl.Expr:
    return pl.col(f"{PREFIX}o:{metric}")


def _ratios(frame: pl.LazyFrame, asked: Question, metrics: list[Metric], how: Summary) -> pl.LazyFrame:
    """Return numerator and denominator of each metric, a row for each query, with its segments and its cluster."""
    pooled = [m for m in metrics if asked.average == "micro" or m.plain.mean == "pooled"]
    plain = [m for m in metrics if m not in pooled]
    parts = [evaluated(frame, asked.per_query(), plain)] if plain else []
    parts += [of_queries(frame, replace(asked, average="micro"), pooled)] if pooled else []
    rows = parts[0] if len(parts) == 1 else also(parts[0], parts[1], asked.keys)
    rows = _joined(rows, frame, asked, how) if how.columns else rows
    weight = pl.lit(1.0) if how.weight is None else pl.col(WEIGHT)
    ratios = []
    for m in metrics:
        score = pl.col(str(m))
        if m in pooled:
            ratios += [
                (score * weight).alias(_name(_value(m))),
                (pl.col(over_of(str(m))) * weight).alias(_name(_over(m))),
            ]
            continue
        score = score.clip(lower_bound=LEAST).log() if m.plain.mean == "geometric" else score
        ratios.append((score.fill_null(0.0) * weight).alias(_name(_value(m))))
        ratios.append(pl.when(pl.col(str(m)).is_not_null()).then(weight).otherwise(0.0).alias(_name(_over(m))))
    return rows.select(*asked.by, *([] if how.cluster is None else [CLUSTER]), *ratios)


def _name(column: pl.Expr) -> str:
    return column.meta.output_name()


def _joined(rows: pl.LazyFrame, frame: pl.LazyFrame, asked: Question, how: Summary) -> pl.LazyFrame:
    """Return the queries with their weights and clusters; the plan fails where one has none, or several."""
    given, known = frame.collect_schema(), rows.collect_schema()
    wanted_columns: list[tuple[str, str, pl.Expr]] = []
    for role, name, made in (("weight", how.weight, WEIGHT), ("cluster", how.cluster, CLUSTER)):
        if name is None:
            continue
        if name not in given:
            raise missing(name, list(given), f"Hint: {role}=... takes a column of the table")
        wanted_columns.append((role, made, _read(role, name, given[name])))
    keys = [pl.col(key).cast(known[key]) for key in asked.keys]
    found = frame.select(*keys, *(e.alias(made) for _, made, e in wanted_columns)).group_by(asked.keys)
    ends = found.agg(
        *(pl.col(made).min() for _, made, _ in wanted_columns),
        *(pl.col(made).max().alias(f"{made}_max") for _, made, _ in wanted_columns),
    )
    rows = beside(rows, ends, asked.keys)
    query = pl.col(asked.query)
    for role, made, _ in wanted_columns:
        one, most = pl.col(made), pl.col(f"{made}_max")
        rows = rows.filter(_stop(role, one, most, query).is_null())
    return rows


def _read(role: str, name: str, dtype: pl.DataType) -> pl.Expr:
    if role == "cluster":
        return pl.col(name).cast(pl.String) if dtype in (pl.Categorical, pl.Enum) else pl.col(name)
    if not (dtype.is_numeric() or dtype == pl.Boolean):
        raise TableError(f"the weight column {name!r} must hold numbers, got {dtype}. Hint: cast it to a number")
    return pl.col(name).cast(pl.Float64)


def _stop(role: str, one: pl.Expr, most: pl.Expr, query: pl.Expr) -> pl.Expr:
    none = failing(
        one.is_null(),
        f"query {{}} has no {role}. Hint: give it one, or leave the query out; a query that is only in the judgments "
        "stays out with .rank.judged_by(qrels, queries='both')",
        query,
    )
    several = failing(
        one != most, f"all rows of a query must have one {role}, but query {{}} has {{}} and {{}}", query, one, most
    )
    stops = [none, several]
    if role == "weight":
        bad = (one < 0) | ~one.is_finite() | ~most.is_finite()
        stops.append(failing(bad, "a weight must be a finite number >= 0, but query {} has {}", query, one))
    return pl.coalesce(stops)


def _sums(metric: Metric) -> tuple[pl.Expr, pl.Expr]:
    """Return the mean, null where there is nothing to average, and the sum of denominators."""
    total = _over(metric).sum()
    return pl.when(total > 0).then(_value(metric).sum() / total), total


def _normal(metric: Metric, how: Summary) -> list[pl.Expr]:
    mean, total = _sums(metric)
    final = _final(metric)
    if how.ci is None:
        return [final(mean).alias(str(metric))]
    clusters = (_over(metric) > 0).sum().cast(pl.Float64)
    left = (_value(metric) - _value(metric).sum() / total * _over(metric)).pow(2).sum()
    half = NormalDist().inv_cdf((1 + how.ci) / 2) * (clusters / (clusters - 1) * left).sqrt() / total
    half = pl.when((total > 0) & (clusters > 1)).then(half)
    low, high = _ends(metric, how)
    return [final(mean).alias(str(metric)), final(mean - half).alias(low), final(mean + half).alias(high)]


def _final(metric: Metric) -> Any:
    return pl.Expr.exp if metric.plain.mean == "geometric" else lambda mean: mean


def _bootstrapped(rows: pl.DataFrame, groups: list[str], metrics: list[Metric], how: Summary) -> pl.DataFrame:
    from frame_metrics.stats.resampling import bootstrap_means, percentiles

    lists = [column if groups else column.implode() for m in metrics for column in (_value(m), _over(m))]
    means = [_final(m)(_sums(m)[0]).alias(str(m)) for m in metrics]
    whole = _by(rows.lazy(), groups, [*means, *lists]).collect()
    pairs = ((m, whole[_name(_value(m))], whole[_name(_over(m))]) for m in metrics)
    samples = [_sample(v, o) for _, values, overs in pairs for v, o in zip(values, overs, strict=True)]
    drawn = zip(samples, bootstrap_means(samples, how.resamples, how.seed), strict=True)
    ends = [percentiles(d, how.ci or 0.0) if len(s.values) > 1 else (None, None) for s, d in drawn]
    columns = [whole[name] for name in groups]
    for place, m in enumerate(metrics):
        some = ends[place * len(whole) : (place + 1) * len(whole)]
        made = pl.DataFrame(some, schema=dict.fromkeys(_ends(m, how), pl.Float64), orient="row").fill_nan(None)
        columns += [whole[str(m)], *made.select(_final(m)(pl.all())).get_columns()]
    return pl.DataFrame(columns)


def _sample(values: pl.Series, overs: pl.Series) -> Sample:
    """Return what is resampled: whatever counts."""
    from frame_metrics.stats.resampling import Sample

    v, o = values.to_numpy(), overs.to_numpy()
    v, o = v[o > 0], o[o > 0]
    return Sample(v, None if (o == 1.0).all() else o)


def described(frame: pl.LazyFrame, asked: Question, metrics: list[Metric], ci: float) -> pl.LazyFrame:
    """Return the plan for statistics of the values of queries: a row for each segment and metric."""
    if asked.each_query or asked.average == "micro":
        raise OptionError(
            "describe is about the values of queries, each counting the same. "
            "Hint: leave out .per_query() and average='micro'"
        )
    free(asked, *_STATISTICS)
    metrics = asked.meant(metrics)
    groups = list(asked.by)
    rows = evaluated(frame, asked.per_query(), metrics)
    made = _by(rows, groups, [_described(m, ci) for m in metrics])
    each = pl.concat_list(map(str, metrics)).alias(PREFIX)
    return made.select(*groups, each).explode(PREFIX).unnest(PREFIX)


def _described(metric: Metric, ci: float) -> pl.Expr:
    value = pl.col(str(metric)).cast(pl.Float64)
    mean, std = value.mean(), value.std()
    half = NormalDist().inv_cdf((1 + ci) / 2) * std / value.count().sqrt()
    return pl.struct(
        pl.lit(str(metric)).alias("metric"),
        value.count().cast(pl.Int64).alias("queries"),
        mean.alias("mean"),
        (mean - half).alias("low"),
        (mean + half).alias("high"),
        std.alias("std"),
        value.clip(lower_bound=LEAST).log().mean().exp().alias("geometric_mean"),
        value.min().alias("min"),
        *(value.quantile(q, "linear").alias(name) for name, q in _QUANTILES.items()),
        value.max().alias("max"),
    ).alias(str(metric))
