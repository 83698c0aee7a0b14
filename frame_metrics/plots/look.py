"""How charts look: colours that colour-blind readers tell apart, on light and on dark pages.

Charts name styles and never colours, so that a chart which is made can still change its theme.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import altair as alt

    Any_Chart = TypeVar("Any_Chart", bound=alt.TopLevelMixin)

LIGHT = {"page": "#ffffff", "ink": "#1c2024", "quiet": "#5c646c", "grid": "#e4e7ea"}
DARK = {"page": "#14171a", "ink": "#eceef0", "quiet": "#a4acb4", "grid": "#31373d"}

# Blue and orange after Okabe and Ito (Color Universal Design, 2008), darker on light pages so that names can be written
# in them. The others were searched: they differ most from these and from each other for all kinds of colour vision.
LIGHT_COLOURS = ("#0072b2", "#b84a00", "#a020e0", "#1c334a", "#796d67", "#57270f")
DARK_COLOURS = ("#56b4e9", "#f28e3c", "#b066ff", "#d4d9d3", "#7b8b8e", "#cda37a")

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'Liberation Sans', Arial, sans-serif"
WIDTH = 640
"""Width of a chart, in pixels, where nothing else says how much room there is."""


def theme(*, dark: bool = False) -> dict[str, Any]:
    """Return the Vega-Lite configuration of all charts here.

    Parameters
    ----------
    dark
        Whether it is for a dark page.

    Examples
    --------
    >>> theme(dark=True)["background"]
    '#14171a'
    """
    look, colours = (DARK, DARK_COLOURS) if dark else (LIGHT, LIGHT_COLOURS)
    ink, quiet, grid = look["ink"], look["quiet"], look["grid"]
    return {
        "background": look["page"],
        "font": FONT,
        "view": {"continuousWidth": WIDTH, "discreteWidth": WIDTH, "stroke": None},
        "range": {"category": list(colours), "ramp": [grid, colours[0]], "heatmap": [grid, colours[0]]},
        "mark": {"color": colours[0]},
        "line": {"strokeWidth": 2.5, "strokeCap": "round", "strokeJoin": "round"},
        "rule": {"color": colours[0]},
        "text": {"color": ink, "fontSize": 13},
        "axis": {
            "domain": False,
            "ticks": False,
            "gridColor": grid,
            "labelColor": quiet,
            "titleColor": quiet,
            "titleFontWeight": "normal",
            "labelFontSize": 12,
            "titleFontSize": 12,
            "labelLimit": 130,
            "labelPadding": 6,
            "titlePadding": 8,
            "labelSeparation": 4,
        },
        "title": {
            "anchor": "start",
            "frame": "bounds",
            "color": ink,
            "fontSize": 15,
            "fontWeight": 600,
            "subtitleColor": quiet,
            "subtitleFontSize": 12.5,
            "subtitlePadding": 5,
            "subtitleLineHeight": 17,
            "offset": 14,
        },
        "header": {"labelColor": ink, "labelFontSize": 13, "labelFontWeight": 600, "title": None},
        "legend": {
            "orient": "top",
            "direction": "horizontal",
            "titleColor": quiet,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "labelColor": ink,
            "labelFontSize": 13,
            "labelLimit": 220,
            "symbolType": "square",
            "symbolOpacity": 1,
            "gradientStrokeColor": grid,
            "offset": 26,  # above the title of the axis
            "padding": 0,
        },
        "style": {
            "name": {"fontWeight": 600, "fontSize": 13},
            "note": {"color": quiet, "fontSize": 12},
            "value": {"color": ink, "fontSize": 12},
            "reference": {"color": quiet, "strokeDash": [4, 4], "strokeWidth": 1},
            "zero": {"color": quiet, "strokeWidth": 1},
            "better": {"color": colours[0]},
            "worse": {"color": colours[1]},
            # The stroke covers the seams between bars that are thinner than a pixel.
            "gain": {"color": colours[0], "stroke": colours[0], "strokeWidth": 0.6},
            "loss": {"color": colours[1], "stroke": colours[1], "strokeWidth": 0.6},
        },
    }


def themed(chart: Any_Chart, *, dark: bool = False) -> Any_Chart:
    """Return a chart with the colours for a light or for a dark page.

    Parameters
    ----------
    chart
        A chart of `df.rank.plot`, or one that was made of such charts.
    dark
        Whether the page is dark.

    Examples
    --------
    >>> import polars as pl, frame_metrics as fm
    >>> df = pl.DataFrame({"query": 1, "rank": [1, 2], "relevance": [1, 0]})
    >>> themed(df.rank.plot.at_k("precision", [1, 2]), dark=True).to_dict()["config"]["background"]
    '#14171a'
    """
    copied: Any_Chart = chart.configure(**theme(dark=dark))
    return copied
