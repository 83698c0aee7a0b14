"""From the values of single queries to the numbers of a report."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from frame_metrics.report.model import Change, Estimate, Spread
from frame_metrics.report.student import quantile, two_sided
from frame_metrics.report.values import QUERY, SEGMENT, SYSTEM, TREND
from frame_metrics.stats.corrections import corrected
from frame_metrics.stats.paired import constant, differences

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from frame_metrics.formulas import Metric
    from frame_metrics.stats.resampling import Numbers

FEW = 10
"""Fewer queries than these say nothing about others."""

_BINS = 20
_TWO = 2
_A, _B = "frame_metrics a", "frame_metrics b"


def estimates(
    values: pl.DataFrame, metrics: Iterable[Metric], *, level: float, view: str = "", by: str = SEGMENT
) -> list[Estimate]:
    """Return the mean of each metric for each system and segment, with its normal interval; counts are added up.

    Parameters
    ----------
    values
        The metrics of each query.
    metrics, level
        The metrics, and the probability of the intervals.
    view, by
        What divides the queries, and the column that says which segment they are in.
    """
    found = []
    for metric in metrics:
        column = pl.col(str(metric))
        parts = (column.sum().alias("sum"), column.mean().alias("mean"), column.std().alias("std"))
        rows = values.group_by(SYSTEM, _text(by), maintain_order=True).agg(*parts, column.count().alias("n"))
        found += [_estimate(metric, row, level, view) for row in rows.iter_rows(named=True)]
    return found


def _text(name: str) -> pl.Expr:
    return pl.col(name).cast(pl.String).fill_null("null").alias(SEGMENT)


def _estimate(metric: Metric, row: dict[str, Any], level: float, view: str) -> Estimate:
    value, n = row["sum"] if metric.plain.total else row["mean"], row["n"]
    wide = None
    if not metric.plain.total and n > 1:
        wide = NormalDist().inv_cdf((1 + level) / 2) * row["std"] / sqrt(n)
    low, high = (None, None) if wide is None else (value - wide, value + wide)
    return Estimate(str(metric), row[SYSTEM], value, low, high, n, view, row[SEGMENT])


def changes(
    values: pl.DataFrame,
    metrics: Sequence[Metric],
    *,
    baseline: str,
    level: float,
    view: str = "",
    by: str = SEGMENT,
) -> list[Change]:
    """Return each system against the baseline, paired by query; probabilities are not yet adjusted.

    Parameters are those of `estimates`, and the name of the baseline.
    """
    found = []
    others = [name for name in values[SYSTEM].unique(maintain_order=True) if name != baseline]
    on = list(dict.fromkeys((TREND, SEGMENT, QUERY)))
    there = values.filter(pl.col(SYSTEM) == baseline)
    for system in others:
        here = values.filter(pl.col(SYSTEM) == system)
        pairs = here.join(there, on=on, how="inner", suffix=_B, nulls_equal=True, maintain_order="left").with_columns(
            _text(by).alias(_A)
        )
        alone = here.height + there.height - 2 * pairs.height
        for metric in metrics:
            name = str(metric)
            for part in pairs.select(_A, pl.col(name), pl.col(f"{name}{_B}")).partition_by(_A, maintain_order=True):
                own = alone if not view else 0
                found.append(_change(metric, (system, baseline), part, level=level, view=view, alone=own))
    return found


def _change(
    metric: Metric, systems: tuple[str, str], pairs: pl.DataFrame, *, level: float, view: str, alone: int
) -> Change:
    both = pairs.drop_nulls()
    ours, theirs = (both.to_series(i).cast(pl.Float64).to_numpy() for i in (1, 2))
    found, n, total = differences(ours, theirs), both.height, metric.plain.total
    value, base = (float(each.sum() if total else each.mean()) if n else None for each in (ours, theirs))
    difference = None if value is None or base is None else value - base
    low, high, p, effect = (None,) * 4 if total or n < _TWO else _tested(found, level)
    return Change(
        metric=str(metric),
        system=systems[0],
        baseline=systems[1],
        queries=n,
        value=value,
        baseline_value=base,
        difference=difference,
        relative=difference / base if difference is not None and base else None,
        low=low,
        high=high,
        wins=int((found > 0).sum()),
        ties=int((found == 0).sum()),
        losses=int((found < 0).sum()),
        effect=effect,
        p=p,
        p_adjusted=p,
        significant=False,
        note=_note(n, alone),
        view=view,
        segment=str(pairs.item(0, 0)),
    )


def _tested(found: Numbers, level: float) -> tuple[float | None, float | None, float | None, float | None]:
    """Return the interval of the mean difference by Student's t, the probability that it is 0, and the effect."""
    mean, deviation, free = float(found.mean()), float(found.std(ddof=1)), len(found) - 1
    if not found.any():
        return 0.0, 0.0, 1.0, None
    if constant(found):  # they say nothing of how others would differ
        return None, None, None, None
    error = deviation / sqrt(len(found))
    wide = quantile(level, free) * error
    return mean - wide, mean + wide, two_sided(mean / error, free), mean / deviation


def _note(queries: int, alone: int) -> str:
    notes = []
    if queries < FEW:
        notes.append(f"only {queries} {'query' if queries == 1 else 'queries'}: too few to say anything")
    if alone:
        notes.append(f"{alone:,} lists of queries that only one of the two answered are left out")
    return "; ".join(notes)


def adjusted(found: Sequence[Change], level: float) -> list[Change]:
    """Return the changes with probabilities that hold for all of them together, by the method of Holm.

    Examples
    --------
    >>> one = Change("map", "a", "b", 20, 0.5, 0.4, 0.1, 0.25, 0.0, 0.2, 9, 9, 2, 0.3, 0.03, 0.03, False)
    >>> [round(c.p_adjusted, 4) for c in adjusted([one, replace(one, p=0.01)], 0.95)]
    [0.03, 0.02]
    """
    each = corrected(np.array([np.nan if one.p is None else one.p for one in found]), "holm").tolist()
    return [
        one if one.p is None else replace(one, p_adjusted=p, significant=p < 1 - level and one.queries >= FEW)
        for one, p in zip(found, each, strict=True)
    ]


def spreads(values: pl.DataFrame, metric: Metric) -> Iterator[Spread]:
    """Yield how the queries of each system are spread over the values of a metric."""
    name = str(metric)
    known = values.select(SYSTEM, name).drop_nulls()
    if known.is_empty():
        return
    low, high = min(0.0, float(known[name].min())), max(1.0, float(known[name].max()))  # type: ignore[arg-type]
    step = (high - low) / _BINS
    bins = ((pl.col(name) - low) / step).floor().clip(0, _BINS - 1).cast(pl.Int64).alias("bin")
    counted = known.group_by(SYSTEM, bins, maintain_order=True).len()
    for system in known[SYSTEM].unique(maintain_order=True):
        of = dict(counted.filter(pl.col(SYSTEM) == system).select("bin", "len").iter_rows())
        yield Spread(name, system, [low + i * step for i in range(_BINS + 1)], [of.get(i, 0) for i in range(_BINS)])
