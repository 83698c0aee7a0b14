"""Segments with their intervals: a row each."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Any

from frame_metrics.needs import needed
from frame_metrics.plots.data import columns, gone, named, told_apart
from frame_metrics.plots.drawing import coloured, finished, heading, tip, values
from frame_metrics.plots.lines import NUMBER, mean, segmented
from frame_metrics.plots.look import theme

if TYPE_CHECKING:
    from collections.abc import Sequence

    from frame_metrics.plan.question import Question

    Rows = list[dict[str, Any]]

_MOST_ROWS, _MOST_COLOURS, _STEP, _PANEL = 60, 4, 26, 420


def segments(result: Any, asked: Question, metrics: Sequence[str], ci: float | None) -> Any:
    """Draw what `evaluate` gives for segments: a point and an interval each, a panel for each metric.

    With several columns the one that was named last is told by colour, side by side, if it has few values.
    """
    table = columns(result)
    outer, inner = _split(table, asked.by)
    rows = [
        {"metric": metric, "row": row, "series": series, "y": y, "low": low, "high": high}
        for metric in metrics
        for row, series, y, low, high in zip(
            named(table, outer), named(table, inner), *_values(table, metric, ci), strict=True
        )
        if not gone(y)
    ]
    order, names = _order(rows, metrics[0]), list(dict.fromkeys(row["series"] for row in rows))
    told_apart(order, _MOST_ROWS, "segments", "filter the frame, or name fewer columns in .rank.by(...)")
    title = heading(
        segmented(metrics[0] if len(metrics) == 1 else "Metrics", asked.by),
        f"{mean(asked)}; lines are {ci:.0%} intervals" if ci else mean(asked),
    )
    height = max(50, (11 * len(names) + 12 if any(names) else _STEP) * len(order))
    panel = _panel(order, names, asked, ci, metrics[0] if len(metrics) == 1 else None)
    if len(metrics) == 1:
        return finished(panel.properties(data=values(rows)), title, height=height)
    alt = needed("altair", "report")
    header = alt.Header(labelOrient="top", labelAnchor="start", labelPadding=4)
    row = alt.Row("metric:N", sort=list(metrics), title=None, header=header)
    panels = panel.properties(width=_PANEL, height=height).facet(row=row, spacing=14, data=values(rows))
    return panels.resolve_scale(x="independent").properties(title=title).configure(**theme())


def _split(table: dict[str, list[Any]], by: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the columns that are rows of the chart, and the one that is told by colour."""
    *outer, last = by
    few = len(set(named(table, [last]))) <= _MOST_COLOURS
    return (outer, [last]) if outer and few else (list(by), [])


def _values(table: dict[str, list[Any]], metric: str, ci: float | None) -> list[list[Any]]:
    names = (metric, f"{metric}_low", f"{metric}_high") if ci else (metric, metric, metric)
    return [[None if gone(value) else value for value in table[name]] for name in names]


def _order(rows: Rows, metric: str) -> list[str]:
    """Return the rows of the chart, the best on top."""
    found: dict[str, list[float]] = {}
    for row in rows:
        found.setdefault(row["row"], [])
        if row["metric"] == metric:
            found[row["row"]].append(row["y"])
    return sorted(found, key=lambda name: -fmean(found[name] or [0.0]))


def _panel(order: list[str], names: list[str], asked: Question, ci: float | None, metric: str | None) -> Any:
    """Return points with intervals, without data."""
    alt = needed("altair", "report")
    title = f"{metric}, {mean(asked).lower()}" if metric else None
    axis = alt.Axis(tickCount=6, format=NUMBER)
    x = alt.X("y:Q", title=title, axis=axis, scale=alt.Scale(zero=False, nice=True, padding=8))
    y = alt.Y("row:N", title=None, sort=order, axis=alt.Axis(grid=True, tickBand="extent"))
    encoded: dict[str, Any] = {"y": y}
    if any(names):
        offset = alt.YOffset("series:N", sort=names, scale={"domain": names, "paddingOuter": 0.35})
        encoded |= {"yOffset": offset, "color": coloured(names, alt.Legend(offset=6))}
    what = "value" if metric is None else metric
    tooltip = [
        tip("row:N", "segment"),
        *([tip("series:N", asked.by[-1])] if any(names) else []),
        *([] if metric else [tip("metric:N", "metric")]),
        tip("y:Q", what, NUMBER),
        *(tip(f"{end}:Q", f"{end} end", NUMBER) for end in ("low", "high") if ci),
    ]
    point = alt.Chart().mark_point(filled=True, size=70, opacity=1).encode(x=x, tooltip=tooltip, **encoded)
    if not ci:
        return alt.layer(point)
    interval = alt.Chart().mark_rule(strokeWidth=2.5, opacity=0.55, strokeCap="round")
    ends = {"x": alt.X("low:Q", title=title, axis=axis), "x2": "high:Q"}
    return alt.layer(interval.encode(**ends, tooltip=tooltip, **encoded), point)
