"""Numbers as people read them, the same in all forms of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from frame_metrics.report.model import Change, Report

MINUS, NONE = "\u2212", "\u2013"
_SMALL = 0.001
_LARGE = 1000
_KILO = 1024
_SHOWN = 5


def number(value: float | None, places: int = 4) -> str:
    """Return a number with a fixed number of decimals, or as many as a count needs.

    Examples
    --------
    >>> number(0.63249), number(17182), number(-0.05) == f"{MINUS}0.0500"
    ('0.6325', '17,182', True)
    """
    if value is None:
        return NONE
    text = (
        f"{value:,}" if isinstance(value, int) else f"{value:,.{places}f}" if abs(value) < _LARGE else f"{value:,.0f}"
    )
    return text.replace("-", MINUS)


def signed(value: float | None, places: int = 4) -> str:
    """Return a difference, with its sign.

    Examples
    --------
    >>> signed(0.0571), signed(0.0)
    ('+0.0571', '0.0000')
    """
    text = number(value, places)
    return f"+{text}" if value is not None and value > 0 and float(text.replace(",", "")) > 0 else text


def percent(value: float | None, places: int = 1) -> str:
    """Return a relative difference.

    Examples
    --------
    >>> percent(0.0903), percent(-0.5) == f"{MINUS}50.0%"
    ('+9.0%', True)
    """
    return NONE if value is None else f"{value:+.{places}%}".replace("-", MINUS)


def interval(low: float | None, high: float | None, places: int = 4) -> str:
    """Return an interval, or nothing if there is none.

    Examples
    --------
    >>> interval(0.61, 0.65)
    '0.6100 to 0.6500'
    """
    return "" if low is None or high is None else f"{number(low, places)} to {number(high, places)}"


def probability(p: float | None) -> str:
    """Return a p-value; what is very small need not be exact.

    Examples
    --------
    >>> probability(0.0312), probability(1e-9)
    ('0.031', '<0.001')
    """
    return NONE if p is None else f"<{_SMALL}" if p < _SMALL else f"{p:.3f}"


def size(count: int | None) -> str:
    """Return a number of bytes.

    Examples
    --------
    >>> size(300), size(225_280)
    ('300 B', '220 KB')
    """
    if count is None:
        return NONE
    value = float(count)
    for unit in ("B", "KB", "MB", "GB"):
        if value < _KILO:
            return f"{value:.0f} {unit}"
        value /= _KILO
    return f"{value:.0f} TB"


def cell(value: Any) -> str:
    """Return a value of a table; whole numbers stay whole, and what is not there is a dash."""
    if value is None:
        return NONE
    if isinstance(value, float):
        return number(int(value)) if value.is_integer() else number(value)
    return number(value) if isinstance(value, int) and not isinstance(value, bool) else str(value)


def arrow(change: Change | None) -> str:
    """Return which way a metric goes: a filled arrow where that is significant."""
    if change is None or not change.difference:
        return ""
    up = change.difference > 0
    return ("▲" if up else "▼") if change.significant else ("△" if up else "▽")


def verdict(report: Report) -> str:
    """Return the report in one sentence."""
    metric, system = report.metrics[0], report.focus
    value, change = report.estimate(metric, system), report.change(metric, system)
    within = interval(value.low, value.high)
    if change is None or report.baseline is None:
        named = f" of {system}" if len(report.systems) > 1 else ""
        sure = f" ({within})" if within else ""
        return f"{metric}{named} is {number(value.value)}{sure} over {value.queries:,} queries."
    if change.significant:
        how = "better" if (change.difference or 0) > 0 else "worse"
        start = f"{system} is {how} than {report.baseline}"
    else:
        start = f"{system} and {report.baseline} cannot be told apart"
    against = f"{metric} {number(change.value)} against {number(change.baseline_value)}"
    equal = "" if change.p_adjusted is None or change.p_adjusted < _SMALL else "= "
    p = f", p {equal}{probability(change.p_adjusted)}" if change.p is not None else ""
    return f"{start}: {against}, {percent(change.relative)}{p}, over {change.queries:,} queries."


def exceptions(report: Report) -> str:
    """Return where it is the other way round than over all queries, in one sentence, or nothing."""
    metric, system = report.metrics[0], report.focus
    overall = report.change(metric, system)
    if overall is None or not overall.difference:
        return ""
    found = [
        one
        for view in report.views
        for one in view.changes
        if (one.metric, one.system) == (metric, system) and one.significant
    ]
    other = [one for one in found if (one.difference or 0) * overall.difference < 0]
    if not other:
        return ""
    shown = ", ".join(f"{one.view} {one.segment} ({percent(one.relative)})" for one in other[:_SHOWN])
    more = f" and {len(other) - _SHOWN} more segments" if len(other) > _SHOWN else ""
    return f"It is {'worse' if overall.difference > 0 else 'better'} in {shown}{more}."
