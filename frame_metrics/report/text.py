"""A report in short, for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from frame_metrics.report.words import arrow, exceptions, interval, number, percent, probability, signed, verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from frame_metrics.report.model import Change, Estimate, Report, View

    Paint = Callable[[str, str], str]

_BOLD, _BLUE, _ORANGE, _DIM, _PLAIN = "\x1b[1m", "\x1b[34m", "\x1b[33m", "\x1b[2m", "\x1b[0m"
_MOST = 40
_INTERVAL, _ARROW = 3, 5
"""Columns: the interval of the value, which is left out last, and the arrow."""


def summary(report: Report, *, styled: bool = False, width: int | None = None) -> str:
    """Return the numbers of a report as aligned columns.

    Parameters
    ----------
    report
        The report.
    styled
        Whether colours can be shown: blue is up, orange down, and only where a change is significant.
    width
        The width of the terminal; None if there is none. Columns that would not fit are left out from the right.
    """
    paint: Paint = _painted if styled else lambda text, _: text
    lines = [paint(verdict(report), _BOLD), *filter(None, [exceptions(report)]), ""]
    lines += _table(report, report.estimates, report.changes, paint, width)
    for view in report.views:
        lines += ["", paint(f"{report.metrics[0]} by {view.name}", _BOLD), *_segments(report, view, paint, width)]
    for finding in report.findings:
        lines += ["", f"{finding.kind}: {finding.count:,} times in {finding.queries:,} queries, {finding.example}"]
    lines += ["", *report.notes] if report.notes else []
    if report.verdicts:
        lines.append("")
    for one in report.verdicts:
        mark = paint("passed", _BLUE) if one.passed else paint("FAILED", _ORANGE)
        lines.append(f"{mark}  fail if {one.gate}: {one.says}")
    return "".join(f"{_printable(line)}\n" for line in lines)


def _painted(text: str, colour: str) -> str:
    return f"{colour}{text}{_PLAIN}"


def _printable(line: str) -> str:
    """Return a line without characters that would move the cursor; colours stay."""
    return "".join(c if c.isprintable() or c == "\x1b" else c.encode("unicode_escape").decode() for c in line)


def _table(
    report: Report, estimates: Sequence[Estimate], changes: Sequence[Change], paint: Paint, width: int | None
) -> list[str]:
    against = {(one.metric, one.system): one for one in changes}
    head = ["metric", "system", "value", f"{report.level:.0%} interval", "queries"]
    head += ["", "change", "interval", "", "p"] if changes else []
    rows = [_row(one, against.get((one.metric, one.system)), one.metric, head) for one in _by_metric(report, estimates)]
    return _aligned(head, rows, paint, width, {1} if len(report.systems) == 1 else set())


def _by_metric(report: Report, estimates: Sequence[Estimate]) -> list[Estimate]:
    return sorted(estimates, key=lambda one: report.metrics.index(one.metric))


def _segments(report: Report, view: View, paint: Paint, width: int | None) -> list[str]:
    name = report.metrics[0]
    against = {(one.segment, one.system): one for one in view.changes if one.metric == name}
    head = [view.name, "system", "value", f"{report.level:.0%} interval", "queries"]
    head += ["", "change", "interval", "", "p"] if view.changes else []
    some = [one for segment in view.segments for one in view.estimates if (one.segment, one.metric) == (segment, name)]
    rows = [_row(one, against.get((one.segment, one.system)), one.segment, head) for one in some]
    shown = _aligned(head, rows[:_MOST], paint, width, {1} if len(report.systems) == 1 else set())
    return [*shown, f"... {len(rows) - _MOST:,} rows are left out ..."] if len(rows) > _MOST else shown


def _row(one: Estimate, change: Change | None, first: str, head: Sequence[str]) -> list[str]:
    row = [first, one.system, number(one.value), interval(one.low, one.high), f"{one.queries:,}"]
    if change is not None:
        moved = [arrow(change), signed(change.difference), interval(change.low, change.high), percent(change.relative)]
        row += [*moved, probability(change.p_adjusted)]
    return row + [""] * (len(head) - len(row))


def _aligned(head: list[str], rows: list[list[str]], paint: Paint, width: int | None, without: set[int]) -> list[str]:
    kept = [i for i in range(len(head)) if i not in without]
    wide = {i: max(len(row[i]) for row in [head, *rows]) for i in kept}
    while width and len(kept) > 3 and sum(wide[i] + 2 for i in kept) - 2 > width:  # noqa: PLR2004
        kept.remove(max(kept, key=lambda i: (i != _INTERVAL, i)))
    texts = {0, 1}
    lines = []
    for n, row in enumerate([head, *rows]):
        cells = [row[i].ljust(wide[i]) if i in texts else row[i].rjust(wide[i]) for i in kept]
        line = "  ".join(cells).rstrip()
        if n == 0:
            line = paint(line, _BOLD)
        elif len(row) > _ARROW and row[_ARROW] in ("▲", "▼"):
            line = paint(line, _BLUE if row[_ARROW] == "▲" else _ORANGE)
        lines.append(line)
    return lines
