"""A report as one table: a row for each number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from frame_metrics.report.model import Report

_KEYS = ("view", "segment", "metric", "system")
_NUMBERS = ("value", "low", "high")
_AGAINST = ("difference", "relative", "difference_low", "difference_high", "effect", "p", "p_adjusted")
_SCHEMA = {
    **dict.fromkeys(_KEYS, pl.String),
    "queries": pl.Int64,
    **dict.fromkeys(_NUMBERS, pl.Float64),
    "baseline": pl.String,
    "baseline_value": pl.Float64,
    **dict.fromkeys(_AGAINST, pl.Float64),
    "significant": pl.Boolean,
    **dict.fromkeys(("wins", "ties", "losses"), pl.Int64),
    "note": pl.String,
}


def flat(report: Report) -> pl.DataFrame:
    """Return the numbers of a report: over all queries, then for each segment, then for each time."""
    views = [*report.views, *([] if report.trend is None else [report.trend])]
    every = [report.estimates, *(view.estimates for view in views)]
    changes = [report.changes, *(view.changes for view in views)]
    against = {_key(one): one for some in changes for one in some}
    return pl.DataFrame([_row(one, against.get(_key(one))) for some in every for one in some], schema=_SCHEMA)


def _key(one: Any) -> tuple[str, ...]:
    return tuple(getattr(one, name) for name in _KEYS)


def _row(estimate: Any, change: Any) -> dict[str, Any]:
    row = {name: getattr(estimate, name) for name in (*_KEYS, "queries", *_NUMBERS)}
    if change is None:
        return row
    names = ("baseline", "baseline_value", "difference", "relative", "effect", "p", "p_adjusted", "significant", "wins")
    more = {name: getattr(change, name) for name in (*names, "ties", "losses", "note")}
    return {**row, **more, "difference_low": change.low, "difference_high": change.high}
