"""What charts have in common: titles, axes, lines with their names at the end."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

from frame_metrics.needs import needed
from frame_metrics.plots.data import MOST_LINES, Span, apart, told_apart, written
from frame_metrics.plots.look import LIGHT_COLOURS, theme

if TYPE_CHECKING:
    from collections.abc import Sequence

    import altair as alt

HEIGHT = 280
_LONGEST_NAME = 120
_TITLE, _NOTE = 34, 50  # letters a line, that a phone has room for


def heading(title: str, *notes: str) -> dict[str, Any]:
    """Return a title with notes below it, in lines that fit on a phone."""
    lines = [line for note in notes if note for line in wrap(written(note), _NOTE)]
    return {"text": wrap(written(title), _TITLE), "subtitle": lines}


def called(text: str) -> str:
    r"""Return a name of a column or metric as Vega can take it: names of axes and tooltips become part of expressions.

    Vega-Lite writes a quote in such a name as `\"`, and leaves a backslash before it as it is.

    Examples
    --------
    >>> called("a\\b")
    'a\uff3cb'
    """
    return written(text).replace("\\", "\N{FULLWIDTH REVERSE SOLIDUS}").replace("\n", " ").replace("\r", " ")


def tip(field: str, title: str, form: str | None = None) -> Any:
    """Return a line of a tooltip."""
    return needed("altair", "report").Tooltip(field, title=called(title), **({"format": form} if form else {}))


def values(rows: Sequence[dict[str, Any]]) -> Any:
    """Return rows as the data of a chart."""
    return needed("altair", "report").Data(values=list(rows))


def finished(chart: Any, title: dict[str, Any], *, height: float | None = HEIGHT) -> Any:
    """Return a chart with its title, as wide as its container, in the light theme."""
    properties: dict[str, Any] = {"title": title, "padding": {"left": 5, "top": 5, "bottom": 5, "right": 10}}
    if height is not None:
        properties["height"] = height
    fit = {"type": "fit-x", "contains": "padding"}
    return chart.properties(width="container", autosize=fit, **properties).configure(**theme())


def above(**options: Any) -> alt.Axis:
    """Return a vertical axis whose title stands above it, where it is read without turning the head."""
    where = {"titleAngle": 0, "titleAnchor": "end", "titleAlign": "left", "titleBaseline": "bottom", "titleX": 0}
    made: alt.Axis = needed("altair", "report").Axis(titleY=-8, **where, **options)
    return made


def coloured(names: Sequence[str], legend: Any = None) -> Any:
    """Return the colours of named series."""
    alt = needed("altair", "report")
    return alt.Color("series:N", title=None, scale=alt.Scale(domain=list(names)), legend=legend)


def ends(rows: Sequence[dict[str, Any]], names: Sequence[str], span: Span, height: float) -> list[dict[str, Any]]:
    """Return a row for the end of each line, where its name is written; names do not cover each other."""
    last = {row["series"]: row for row in rows if row["y"] is not None}
    kept = [name for name in names if name in last]
    gap = 16 * (span.high - span.low) / height
    places = apart([last[name]["y"] for name in kept], gap, span.low, span.high)
    return [{"series": name, "x": last[name]["x"], "y": y} for name, y in zip(kept, places, strict=True)]


def line_chart(
    rows: Sequence[dict[str, Any]],
    *,
    x: Any,
    y: str,
    title: dict[str, Any],
    tooltip: list[Any],
    span: Span | None = None,
    points: bool = False,
    band: bool = False,
    behind: Sequence[Any] = (),
    front: Sequence[Any] = (),
    height: float = HEIGHT,
    axis: Any = None,
    legend: bool = False,
) -> Any:
    """Return a chart of lines, each with its name at its end.

    Parameters
    ----------
    rows
        `series`, `x` and `y` of each point, with `low` and `high` for a band.
    x
        The horizontal axis.
    y
        What the vertical axis is called.
    title, tooltip
        What stands above the chart, and over a point.
    span
        The part of the vertical axis that is shown.
    points, band
        Whether points are marked, and intervals drawn.
    behind, front
        Charts below and above the lines.
    height
        In pixels.
    axis
        The vertical axis, if it is not a plain one.
    legend
        Whether names are written above the chart, as lines that end in one place need.
    """
    alt = needed("altair", "report")
    hint = "filter the frame, or draw segments() where each has a row"
    names = told_apart((row["series"] for row in rows), MOST_LINES, "lines", hint)
    shown = ("y", "low", "high") if band else ("y",)
    span = span or Span.of(row[name] for row in rows for name in shown if row[name] is not None)
    axis = axis or above(tickCount=6)
    vertical = {
        "title": called(y),
        "axis": axis,
        "scale": alt.Scale(domain=[span.low, span.high], nice=False, zero=False),
    }
    base = alt.Chart(values(rows)).encode(x=x, color=coloured(names, alt.Legend() if legend and any(names) else None))
    line = base.mark_line(point={"size": 28, "filled": True} if points else False)
    line = line.encode(y=alt.Y("y:Q", **vertical), order=alt.Order("order:Q"), tooltip=tooltip)
    if len(names) > len(LIGHT_COLOURS):
        dashes = [[1, 0] if place < len(LIGHT_COLOURS) else [5, 4] for place in range(len(names))]
        line = line.encode(strokeDash=alt.StrokeDash("series:N", legend=None, scale={"domain": names, "range": dashes}))
    layers = [*behind, line, *front]
    if band:
        area = base.mark_area(opacity=0.16).encode(y=alt.Y("low:Q", **vertical), y2="high:Q")
        layers.insert(len(behind), area)
    # What the pointer meets: a line of a few pixels is hard to hit.
    target = alt.Chart(values(rows)).mark_point(opacity=0, size=120)
    layers.append(target.encode(x=x, y=alt.Y("y:Q", **vertical), tooltip=tooltip))
    if any(names) and not legend:
        text = alt.Chart(values(ends(rows, names, span, height)))
        text = text.mark_text(align="left", baseline="middle", dx=9, style="name", limit=_LONGEST_NAME)
        layers.append(text.encode(x=x, y=alt.Y("y:Q", **vertical), text="series:N", color=coloured(names)))
    return finished(alt.layer(*layers), title, height=height)
