"""From results of a ranking to rows of a chart."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any

import polars as pl

from frame_metrics.errors import OptionError
from frame_metrics.failing import raising

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST_LINES = 12
MOST_POINTS = 1_000
"""More points than a line has pixels say nothing, and make a page slow."""

_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")
_BETWEEN = " · "


def columns(result: Any) -> dict[str, list[Any]]:
    """Return the columns of a result, of whatever kind the frame is; a lazy one is collected here.

    Examples
    --------
    >>> columns(pl.LazyFrame({"k": [1, 2]}))
    {'k': [1, 2]}
    """
    if isinstance(result, pl.LazyFrame):
        with raising():
            result = result.collect()
    if hasattr(result, "to_pydict"):
        found: dict[str, list[Any]] = result.to_pydict()
        return found
    return {name: result[name].to_list() for name in result.columns}


def gone(value: Any) -> bool:
    """Return whether a value is missing: None, NaN, or what pandas has for it.

    Examples
    --------
    >>> [gone(value) for value in (None, float("nan"), 0, "")]
    [True, True, False, False]
    """
    return value is None or str(value) in {"nan", "NaT", "<NA>"}


def written(value: Any) -> str:
    """Return a value of the data as text that any page can show.

    Examples
    --------
    >>> [written(value) for value in ("us", 3, None)]
    ['us', '3', 'null']
    """
    text = "null" if value is None or (not isinstance(value, str) and gone(value)) else str(value)
    return _UNPRINTABLE.sub("\ufffd", text)


def named(table: dict[str, list[Any]], names: Sequence[str], otherwise: str = "") -> list[str]:
    """Return a name for each row of a result: what its segments are.

    Examples
    --------
    >>> named({"country": ["us", "fr"], "year": [1, 2]}, ["country", "year"])
    ['us · 1', 'fr · 2']
    """
    if not names:
        return [otherwise] * len(next(iter(table.values()), []))
    return [_BETWEEN.join(map(written, values)) for values in zip(*(table[name] for name in names), strict=True)]


def listed(names: Sequence[str]) -> str:
    """Return names as they stand in a sentence.

    Examples
    --------
    >>> listed(["day", "country", "device"])
    'day, country and device'
    """
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def told_apart(names: Iterable[str], most: int, what: str, hint: str) -> list[str]:
    """Return the names once each, in their order, or raise if a chart cannot show that many."""
    once = list(dict.fromkeys(names))
    if len(once) > most:
        raise OptionError(f"a chart shows at most {most} {what}, got {len(once):,}. Hint: {hint}")
    return once


def some(rows: Sequence[Any], most: int = MOST_POINTS) -> list[Any]:
    """Return at most so many of the rows, evenly spread, the first and the last among them.

    Examples
    --------
    >>> some(range(100), 4)
    [0, 33, 66, 99]
    """
    if len(rows) <= most:
        return list(rows)
    return [rows[place * (len(rows) - 1) // (most - 1)] for place in range(most)]


@dataclass(frozen=True)
class Span:
    """The part of an axis that is shown, between two round numbers."""

    low: float
    high: float
    step: float

    @classmethod
    def of(cls, values: Iterable[float], steps: int = 6) -> Span:
        """Return the round span of values.

        Examples
        --------
        >>> Span.of([0.12, 0.38])
        Span(low=0.1, high=0.4, step=0.05)
        """
        numbers = list(values) or [0.0, 1.0]
        low, high = min(numbers), max(numbers)
        if high - low < 1e-9 * max(1.0, abs(high)):
            low, high = low - (abs(low) / 10 or 0.5), high + (abs(high) / 10 or 0.5)
        step = round_step((high - low) / steps)
        places = max(0, 2 - floor(log10(step)))
        start = round(floor(low / step + 1e-9) * step, places)
        return cls(start, round(ceil(high / step - 1e-9) * step, places), step)


def round_step(least: float) -> float:
    """Return the smallest of 1, 2, 5, 10, 20, ... and their tenths that is at least this.

    Examples
    --------
    >>> [round_step(value) for value in (0.03, 0.7, 12)]
    [0.05, 1.0, 20.0]
    """
    tens = floor(log10(least) + 1e-9)
    unit = 10.0**tens
    factor = next(factor for factor in (1, 2, 5, 10) if factor * unit >= least * (1 - 1e-9))
    return round(factor * unit, max(0, 2 - tens))


def apart(values: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Return places for labels near their values, at least a gap apart, within the limits as far as they fit.

    Examples
    --------
    >>> apart([0.5, 0.52], 0.1, 0, 1)
    [0.46, 0.56]
    """
    order = sorted(range(len(values)), key=lambda place: values[place])
    groups: list[list[float]] = []  # middle, number of labels
    for place in order:
        groups.append([min(max(values[place], low), high), 1])
        while len(groups) > 1 and groups[-1][0] - groups[-2][0] < gap * (groups[-1][1] + groups[-2][1]) / 2 - 1e-12:
            (one, n), (two, m) = groups[-2:]
            half = gap * (n + m - 1) / 2
            middle = min(max((one * n + two * m) / (n + m), low + half), high - half)
            groups[-2:] = [[middle, n + m]]
    found = [middle + gap * (step - (n - 1) / 2) for middle, n in groups for step in range(int(n))]
    places = dict(zip(order, found, strict=True))
    return [round(places[place], 10) for place in range(len(values))]
