"""Small pictures as SVG: places are in percent, so that they fit any width, and colours are those of the page."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, log10
from typing import TYPE_CHECKING

from frame_metrics.report.markup import Markup, tag
from frame_metrics.report.words import number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from frame_metrics.report.model import Change, Spread

_ROUND = (1, 2, 2.5, 5, 10)
_EDGE = 2.0
"""Percent of the width that are left free on both sides, so that no dot is cut."""


@dataclass(frozen=True)
class Axis:
    """Numbers on a line: the ends, and round numbers between them."""

    low: float
    high: float
    ticks: tuple[float, ...]

    @staticmethod
    def over(values: Iterable[float | None], *, zero: bool = False, most: int = 4) -> Axis:
        """Return the axis that holds these values.

        Examples
        --------
        >>> Axis.over([0.41, 0.74])
        Axis(low=0.4, high=0.8, ticks=(0.4, 0.5, 0.6, 0.7, 0.8))
        """
        known = [value for value in values if value is not None] + ([0.0] if zero else [])
        low, high = (min(known), max(known)) if known else (0.0, 1.0)
        if high - low < 1e-9:  # noqa: PLR2004 they are one number
            low, high = low - 0.05, high + 0.05
        exact = (high - low) / most
        power = 10.0 ** floor(log10(exact))
        step = next(each * power for each in _ROUND if each * power >= exact * (1 - 1e-9))
        first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
        ticks = tuple(round(i * step, 10) for i in range(first, last + 1))
        return Axis(ticks[0], ticks[-1], ticks)

    def at(self, value: float) -> str:
        """Return where a number stands, in percent of the width."""
        return f"{_EDGE + (100 - 2 * _EDGE) * (value - self.low) / (self.high - self.low):.2f}%"

    def label(self, value: float) -> str:
        """Return a number of the axis as text, with as many decimals as tell it from the next one."""
        step = self.ticks[1] - self.ticks[0]
        places = max(0, -floor(log10(step) + 1e-9)) + (abs(step * 10 ** -floor(log10(step)) - 2.5) < 1e-6)  # noqa: PLR2004
        return number(float(value), int(places))


def svg(*inside: Markup, height: int, says: str, class_: str = "") -> Markup:
    """Return a picture as wide as its place; `says` is what it shows, for those who do not see it."""
    return tag("svg", *inside, class_=f"picture {class_}".strip(), height=height, role="img", aria_label=says)


def _grid(axis: Axis, height: int) -> list[Markup]:
    lines = []
    for tick in axis.ticks:
        kind = "zero" if tick == 0 else "grid"
        lines.append(tag("line", class_=kind, x1=axis.at(tick), x2=axis.at(tick), y1=0, y2=height))
    return lines


def intervals(axis: Axis, marks: Sequence[tuple[float | None, float | None, float | None, str]], says: str) -> Markup:
    """Return dots with their intervals, one above the other.

    Parameters
    ----------
    axis
        Where numbers stand.
    marks
        Value, low, high and the class that gives the colour of each.
    says
        What the picture shows.
    """
    height = 12 + 12 * len(marks)
    drawn = _grid(axis, height)
    for place, (value, low, high, kind) in enumerate(marks):
        y = 12 + 12 * place
        if value is None:
            continue
        if low is not None and high is not None:
            drawn.append(tag("line", class_=f"whisker {kind}", x1=axis.at(low), x2=axis.at(high), y1=y, y2=y))
        drawn.append(tag("circle", class_=f"dot {kind}", cx=axis.at(value), cy=y, r=4))
    return svg(*drawn, height=height, says=says)


def scale(axis: Axis) -> Markup:
    """Return the numbers below pictures that share an axis.

    Where there is little room only both ends stay; or 0, and an end that is far from it.
    """
    far = (axis.high - axis.low) / 3
    kept = {axis.low, axis.high}
    if axis.low < 0 < axis.high:
        kept = {0.0, *(end for end in kept if abs(end) >= far)}
    texts = [
        tag("text", axis.label(each), class_="tick" if each in kept else "tick inner", x=axis.at(each), y=12)
        for each in axis.ticks
    ]
    return svg(*texts, height=16, says="scale", class_="scale")


def balance(change: Change) -> Markup:
    """Return how many queries are better, the same and worse, as one bar."""
    total = max(1, change.wins + change.ties + change.losses)
    parts, x = [], 0.0
    for count, kind in ((change.wins, "up"), (change.ties, "same"), (change.losses, "down")):
        share = 100 * count / total
        parts.append(tag("rect", class_=f"bar {kind}", x=f"{x:.2f}%", y=3, width=f"{share:.2f}%", height=10))
        x += share
    says = f"{change.wins} better, {change.ties} the same, {change.losses} worse"
    return svg(*parts, height=16, says=says)


def histogram(spreads: Sequence[Spread], kinds: dict[str, str]) -> Markup:
    """Return how queries are spread over values, the bars of systems beside each other."""
    height, most = 120, max(max(spread.counts) for spread in spreads)
    bars = []
    for n, spread in enumerate(spreads):
        wide = (100 - 2 * _EDGE) / len(spread.counts)
        thin = 0.86 * wide / len(spreads)
        for i, count in enumerate(spread.counts):
            tall = height * count / most
            x = _EDGE + wide * i + 0.07 * wide + thin * n
            title = tag("title", f"{spread.system}: {count:,} from {spread.edges[i]:.2f} to {spread.edges[i + 1]:.2f}")
            place = {"x": f"{x:.2f}%", "y": f"{height - tall:.1f}", "width": f"{thin:.2f}%", "height": f"{tall:.1f}"}
            bars.append(Markup(tag("rect", class_=f"bar {kinds[spread.system]}", **place)[:-2] + f">{title}</rect>"))
    base = tag("line", class_="zero", x1="0%", x2="100%", y1=height, y2=height)
    return svg(*bars, base, height=height + 1, says="number of queries by value")


def over_time(axis: Axis, series: dict[str, list[tuple[float | None, float | None, float | None]]]) -> Markup:
    """Return values over time, each with its interval; `series` has the points of each class."""
    height, drawn = 180, []
    for tick in axis.ticks:
        y = _height(axis, tick, height)
        drawn.append(tag("line", class_="grid", x1="8%", x2="100%", y1=y, y2=y))
        drawn.append(tag("text", axis.label(tick), class_="tick", x="0%", y=f"{float(y) + 4:.1f}"))
    for kind, points in series.items():
        drawn += _line(axis, points, kind, height)
    return svg(*drawn, height=height + 8, says="values over time")


def _line(
    axis: Axis, points: Sequence[tuple[float | None, float | None, float | None]], kind: str, height: int
) -> list[Markup]:
    drawn, before = [], None
    for i, (value, low, high) in enumerate(points):
        x = f"{10 + 88 * (i / (len(points) - 1) if len(points) > 1 else 0.5):.2f}%"
        if value is None:
            before = None
            continue
        y = _height(axis, value, height)
        if low is not None and high is not None:
            ends = {"y1": _height(axis, low, height), "y2": _height(axis, high, height)}
            drawn.append(tag("line", class_=f"whisker faint {kind}", x1=x, x2=x, **ends))
        if before is not None:
            drawn.append(tag("line", class_=f"path {kind}", x1=before[0], y1=before[1], x2=x, y2=y))
        drawn.append(tag("circle", class_=f"dot {kind}", cx=x, cy=y, r=3.5))
        before = (x, y)
    return drawn


def _height(axis: Axis, value: float, height: int) -> str:
    return f"{4 + (height - 8) * (axis.high - value) / (axis.high - axis.low):.1f}"
