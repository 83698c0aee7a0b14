"""Charts of bars: how queries are spread, how they differ between systems, what stands at each rank."""

from __future__ import annotations

from math import floor
from statistics import fmean
from typing import TYPE_CHECKING, Any

from frame_metrics.needs import needed
from frame_metrics.plots.data import Span, columns, gone, listed, named, told_apart
from frame_metrics.plots.drawing import above, called, coloured, finished, heading, line_chart, tip, values
from frame_metrics.plots.lines import NUMBER, segmented

if TYPE_CHECKING:
    from frame_metrics.plan.question import Question

    Rows = list[dict[str, Any]]

_BARS_BESIDE, _MOST_ROWS = 4, 40
_BINS = 10


def distribution(result: Any, asked: Question, metric: str) -> Any:
    """Draw how many queries have which value: bars side by side, or shades for many segments."""
    table = columns(result)
    found: dict[str, list[float]] = {}
    for name, value in zip(named(table, asked.by), table[metric], strict=True):
        found.setdefault(name, [])
        if not gone(value):
            found[name].append(value)
    names = told_apart(found, _MOST_ROWS, "distributions", "filter the frame, or name fewer columns in .rank.by(...)")
    rows = binned(found)
    means = {name: f"mean {fmean(values_):.4f}" if values_ else "" for name, values_ in found.items()}
    alone = f"; {means['']}" if means.get("") else ""
    title = heading(segmented(f"How {metric} spreads over queries", asked.by), _counted(found) + alone)
    if len(names) > _BARS_BESIDE:
        return _shaded(rows, names, metric, title)
    told = {name: f"{name} ({text})" if name and text else name for name, text in means.items()}
    return _beside([row | {"series": told[row["series"]]} for row in rows], list(told.values()), metric, title)


def binned(found: dict[str, list[float]]) -> Rows:
    """Return the share of the values of each series that lies in each of about ten bins.

    Examples
    --------
    >>> [row["queries"] for row in binned({"": [0.0, 0.3, 1.0]})]
    [1, 0, 0, 1, 0, 0, 0, 0, 0, 1]
    """
    everything = [value for values_ in found.values() for value in values_]
    unit = bool(everything) and min(everything) >= 0 and max(everything) <= 1
    span = Span(0.0, 1.0, 0.1) if unit or not everything else Span.of(everything, _BINS)
    bins = max(1, round((span.high - span.low) / span.step))
    rows: Rows = []
    for name, values_ in found.items():
        counts = [0] * bins
        for value in values_:
            # 0.3 / 0.1 is a little less than 3
            counts[min(bins - 1, max(0, floor((value - span.low) / span.step + 1e-9)))] += 1
        for place, count in enumerate(counts):
            low, high = (round(span.low + span.step * (place + more), 10) for more in (0, 1))
            share = count / len(values_) if values_ else 0.0
            rows.append({"series": name, "low": low, "high": high, "queries": count, "share": share})
    return rows


def _counted(found: dict[str, list[float]]) -> str:
    counts = sorted({len(v) for v in found.values()})
    if len(counts) > 1:
        return f"{counts[0]:,} to {counts[-1]:,} queries each"
    return f"{counts[0]:,} queries" + (" each" if len(found) > 1 else "") if counts else "No queries"


def _bin_tips(metric: str, *, whose: bool) -> list[Any]:
    return [
        *([tip("series:N", "of")] if whose else []),
        tip("low:Q", f"{metric} from", NUMBER),
        tip("high:Q", "to", NUMBER),
        tip("queries:Q", "queries", ","),
        tip("share:Q", "share", ".1%"),
    ]


def _beside(rows: Rows, names: list[str], metric: str, title: dict[str, Any]) -> Any:
    """Draw bars side by side within each bin."""
    alt = needed("altair", "report")
    # A gap of a tenth of a bin on either side tells the bins apart.
    wide = [
        row | {"x": row["low"] + width * (0.06 + 0.88 * place / len(names)), "x2": row["low"] + width * end}
        for row in rows
        for width, place in [(row["high"] - row["low"], names.index(row["series"]))]
        for end in [0.06 + 0.88 * (place + 1) / len(names)]
    ]
    edges = sorted({row["low"] for row in rows} | {row["high"] for row in rows})
    scale = alt.Scale(domain=[edges[0], edges[-1]], nice=False) if edges else alt.Undefined
    bars = alt.Chart(values(wide)).mark_rect(cornerRadiusTopLeft=1, cornerRadiusTopRight=1)
    whose = any(names)
    bars = bars.encode(
        x=alt.X("x:Q", title=metric, scale=scale, axis=alt.Axis(grid=False, tickCount=6, format=NUMBER)),
        x2="x2:Q",
        y=alt.Y("share:Q", title="share of the queries", axis=above(format=".0%", tickCount=5)),
        y2=alt.datum(0),
        color=coloured(names, alt.Legend(columns=1) if whose else None),
        tooltip=_bin_tips(metric, whose=len(names) > 1),
    )
    return finished(bars, title)


def _shaded(rows: Rows, names: list[str], metric: str, title: dict[str, Any]) -> Any:
    """Draw a row of shades for each series."""
    alt = needed("altair", "report")
    cells = alt.Chart(values(rows)).mark_rect(stroke=None)
    cells = cells.encode(
        x=alt.X("low:Q", title=metric, axis=alt.Axis(grid=False, tickCount=6, format=NUMBER), scale={"nice": False}),
        x2="high:Q",
        y=alt.Y("series:N", title=None, sort=names, scale={"paddingInner": 0.15}),
        color=alt.Color(
            "share:Q", legend=alt.Legend(title="share of the queries", format=".0%", gradientLength=160, offset=8)
        ),
        tooltip=_bin_tips(metric, whose=True),
    )
    return finished(cells, title, height=max(120, 24 * len(names)))


def positions(result: Any, asked: Question) -> Any:
    """Draw the share of the rows at each rank that are relevant."""
    alt = needed("altair", "report")
    table = columns(result)
    rows = [
        {"series": name, "x": k, "rows": shown, "relevant": relevant, "y": share, "order": k}
        for name, k, shown, relevant, share in zip(
            named(table, asked.by), *(table[name] for name in ("k", "rows", "relevant", "share")), strict=True
        )
    ]
    what = "relevant" if asked.relevance == "relevance" else asked.relevance
    title = heading(segmented(f"Share {what} at each rank", asked.by), "Of the rows that stand at this rank")
    tooltip = [
        *([tip("series:N", listed(asked.by))] if asked.by else []),
        tip("x:Q", "rank"),
        tip("y:Q", f"share {what}", ".1%"),
        tip("rows:Q", "rows", ","),
    ]
    axis = alt.Axis(format="d", tickMinStep=1, grid=False)
    if asked.by or len(rows) > _MOST_ROWS:
        x = alt.X("x:Q", title="rank", axis=axis, scale=alt.Scale(nice=False, zero=False))
        span = Span.of([0.0, *(row["y"] for row in rows)])
        name = f"share {what}"
        return line_chart(
            rows, x=x, y=name, title=title, tooltip=tooltip, span=span, points=True, axis=above(format=".0%")
        )
    bars = alt.Chart(values([row | {"low": row["x"] - 0.4, "high": row["x"] + 0.4} for row in rows])).mark_rect()
    domain = [0.5, max((row["x"] for row in rows), default=1) + 0.5]
    bars = bars.encode(
        x=alt.X("low:Q", title="rank", axis=axis, scale=alt.Scale(domain=domain, nice=False)),
        x2="high:Q",
        y=alt.Y("y:Q", title=called(f"share {what}"), axis=above(format=".0%", tickCount=5)),
        y2=alt.datum(0),
        tooltip=tooltip,
    )
    return finished(bars, title)
