"""Charts of lines: a metric over k, over days, and the curves down the ranks."""

from __future__ import annotations

from datetime import date, datetime
from statistics import fmean
from typing import TYPE_CHECKING, Any

from frame_metrics.needs import needed
from frame_metrics.plots.data import Span, columns, gone, listed, named, some, written
from frame_metrics.plots.drawing import above, coloured, heading, line_chart, tip, values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from frame_metrics.plan.question import Question

    Rows = list[dict[str, Any]]

NUMBER = ".4~f"
_CUTS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)
_FEW_CUTS, _FEW_POINTS, _YEAR = 10, 40, 366


def mean(asked: Question) -> str:
    """Return what kind of mean a question asks for, in words."""
    return "Mean over queries" if asked.average == "macro" else "Pooled over queries"


def segmented(title: str, names: Sequence[str]) -> str:
    """Return a title with the names of the segments."""
    return f"{title} by {listed(names)}" if names else title


def at_k(result: Any, asked: Question, metric: str) -> Any:
    """Draw what `at_k` gives."""
    alt = needed("altair", "report")
    table = columns(result)
    cuts = sorted(set(table["k"]))
    rows = [
        {"series": name, "x": k, "y": None if gone(y) else y, "order": k}
        for name, k, y in zip(named(table, asked.by), table["k"], table[metric], strict=True)
    ]
    axis = alt.Axis(format="d", tickMinStep=1, grid=False, **({"values": cuts} if len(cuts) <= _FEW_CUTS else {}))
    title = "k: how many of the first places count"
    return line_chart(
        _thinned(rows),
        x=alt.X("x:Q", title=title, axis=axis, scale=alt.Scale(nice=False, zero=False)),
        y=metric,
        title=heading(segmented(f"{metric} at k", asked.by), mean(asked)),
        tooltip=[*_whose(asked), tip("x:Q", "k"), tip("y:Q", metric, NUMBER)],
        points=len(cuts) <= _FEW_POINTS,
    )


def pr_curve(result: Any, asked: Question) -> Any:
    """Draw what `pr_curve` gives."""
    alt = needed("altair", "report")
    rows = _curve(result, asked, "recall", "precision")
    x = alt.X("x:Q", title="recall: share of the relevant items found", axis=_shares(), scale={"domain": [0, 1]})
    marked = [row for row in rows if row["rank"] in _CUTS]
    last = {row["series"]: row for row in rows}.values()  # there stands the name
    upper = max(
        dict.fromkeys(row["series"] for row in rows),
        key=lambda name: fmean(row["y"] for row in rows if row["series"] == name),
        default="",
    )
    names = list(dict.fromkeys(row["series"] for row in rows))
    dots = alt.Chart(values(marked)).mark_point(filled=True, size=42, opacity=1)
    ranks = alt.Chart(values([row for row in marked if row["series"] == upper and row not in last])).mark_text(
        style="note", dy=-11
    )
    return line_chart(
        rows,
        x=x,
        y="precision: share of places with a relevant item",
        title=heading(segmented("Precision and recall", asked.by), f"{mean(asked)}; numbers on the line are ranks"),
        tooltip=[*_whose(asked), *_point("recall", "precision")],
        front=[dots.encode(x=x, y="y:Q", color=coloured(names)), ranks.encode(x=x, y="y:Q", text="rank:Q")],
        span=Span.of([0.0, *(row["y"] for row in rows)]),
        axis=above(format=".0%", tickCount=6),
    )


def roc_curve(result: Any, asked: Question) -> Any:
    """Draw what `roc_curve` gives."""
    alt = needed("altair", "report")
    rows = _curve(result, asked, "fpr", "tpr")
    x = alt.X("x:Q", title="share of the other items passed", axis=_shares(), scale={"domain": [0, 1]})
    chance = alt.Chart(values([{"x": 0, "y": 0}, {"x": 1, "y": 1}])).mark_line(style="reference")
    text = alt.Chart(values([{"x": 0.62, "y": 0.62, "text": "by chance"}]))
    text = text.mark_text(style="note", align="left", dx=8, dy=12)
    return line_chart(
        rows,
        x=x,
        y="share of the relevant items found",
        title=heading(segmented("ROC curve", asked.by), f"{mean(asked)}; the end is what was missed"),
        tooltip=[*_whose(asked), *_point("others passed", "relevant found")],
        behind=[chance.encode(x=x, y="y:Q"), text.encode(x=x, y="y:Q", text="text:N")],
        span=Span(0.0, 1.0, 0.2),
        axis=above(format=".0%", tickCount=6),
        legend=True,
    )


def trend(result: Any, asked: Question, metric: str, day: str, ci: float | None) -> Any:
    """Draw what `evaluate` gives for each day."""
    alt = needed("altair", "report")
    table = columns(result)
    others = [name for name in asked.by if name != day]
    lows, highs = (table[f"{metric}_{end}"] if ci else table[metric] for end in ("low", "high"))
    found = zip(named(table, others), table[day], table[metric], lows, highs, strict=True)
    rows = [
        {"series": name, "x": _moment(x), "y": _or_none(y), "low": _or_none(low), "high": _or_none(high)}
        for name, x, y, low, high in found
        if not gone(x)
    ]
    times = sorted({row["x"] for row in rows})
    rows = [row | {"order": times.index(row["x"])} for row in rows]
    dates = all(isinstance(x, date) for x in table[day] if not gone(x))
    kind = "T" if dates else "O"
    axis = alt.Axis(grid=False, labelOverlap="greedy", labelAngle=0, labelSeparation=10, tickCount=6)
    if dates:
        axis.format = "%b %Y" if len(times) > _YEAR else "%b %-d"
    note = mean(asked) + (f"; shades are {ci:.0%} intervals" if ci else "")
    interval = [tip(f"{end}:Q", f"{end} end", NUMBER) for end in ("low", "high") if ci]
    scale = alt.Scale(type="utc") if dates else alt.Undefined
    return line_chart(
        rows,
        x=alt.X(f"x:{kind}", title=None, axis=axis, scale=scale),
        y=metric,
        title=heading(segmented(metric, [day, *others]), note),
        tooltip=[
            *_whose(asked, others),
            tip(f"x:{kind}", day, "%Y-%m-%d" if dates else None),
            tip("y:Q", metric, NUMBER),
            *interval,
        ],
        points=len(times) <= _FEW_POINTS,
        band=bool(ci),
    )


def _curve(result: Any, asked: Question, x: str, y: str) -> Rows:
    table = columns(result)
    found = zip(named(table, asked.by), table["k"], table[x], table[y], strict=True)
    rows = [
        {"series": name, "rank": None if gone(k) else int(k), "order": place, "x": across, "y": up}
        for place, (name, k, across, up) in enumerate(found)
    ]
    return _thinned(rows)


def _thinned(rows: Rows) -> Rows:
    """Return no more points of a line than a chart has pixels."""
    series: dict[str, Rows] = {}
    for row in rows:
        series.setdefault(row["series"], []).append(row)
    return [row for line in series.values() for row in some(line, 400)]


def _shares() -> Any:
    return needed("altair", "report").Axis(format=".0%", grid=False, tickCount=5)


def _whose(asked: Question, names: Sequence[str] | None = None) -> list[Any]:
    names = asked.by if names is None else names
    return [tip("series:N", listed(names))] if names else []


def _point(x: str, y: str) -> list[Any]:
    return [
        tip("rank:Q", "rank"),
        tip("x:Q", x, NUMBER),
        tip("y:Q", y, NUMBER),
    ]


def _or_none(value: Any) -> Any:
    return None if gone(value) else value


def _moment(value: Any) -> Any:
    """Return a point of the axis of time: dates as text that Vega reads, all else as text or a number."""
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat()
    if isinstance(value, date):
        return value.isoformat()
    return value if isinstance(value, int | float) else written(value)
