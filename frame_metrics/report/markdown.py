"""A report in Markdown, for places that show nothing else: pull requests, wikis, mails."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from frame_metrics.report.markup import text
from frame_metrics.report.words import (
    arrow,
    cell,
    exceptions,
    interval,
    number,
    percent,
    probability,
    signed,
    size,
    verdict,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from frame_metrics.report.model import Change, Estimate, Report

_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+!|~&$@-])")


def document(report: Report) -> str:
    """Return the report as Markdown; what comes from the data shows as it is, and does nothing else."""
    return "\n".join([*_lines(report), ""])


def _lines(report: Report) -> Iterator[str]:
    yield from (f"# {plain(report.title)}", "", plain(verdict(report)))
    if other := exceptions(report):
        yield plain(other)
    for note in report.notes:
        yield from ("", plain(note))
    yield from _gates(report)
    yield from ("", "## Numbers", "")
    yield from _numbers(report, report.estimates, report.changes, "metric")
    for view in [*report.views, *([] if report.trend is None else [report.trend])]:
        yield from ("", f"## {plain(report.metrics[0])} by {plain(view.name)}", "")
        some = [one for segment in view.segments for one in view.estimates if one.segment == segment]
        first = [one for one in some if one.metric == report.metrics[0]]
        yield from _numbers(report, first, view.changes, "segment")
    yield from _queries(report)
    yield from _end(report)


def plain(value: Any) -> str:
    r"""Return a text in which nothing has a meaning in Markdown or HTML, in one line.

    Examples
    --------
    >>> plain("<b>|[x](y)")
    '\\<b\\>\\|\\[x\\]\\(y\\)'
    """
    return _SPECIAL.sub(r"\\\1", text(value).replace("\n", " "))


def _table(head: Sequence[str], rows: Iterable[Sequence[Any]], numbers: int) -> Iterator[str]:
    """Yield a table of which the last so many columns are numbers."""
    rule = [":---"] * (len(head) - numbers) + ["---:"] * numbers
    for row in (head, rule, *rows):
        cells = row if row is rule else [plain(value) for value in row]
        yield f"| {' | '.join(cells)} |"


def _numbers(report: Report, every: Sequence[Estimate], changes: Sequence[Change], first: str) -> Iterator[str]:
    against = {(one.metric, one.segment, one.system): one for one in changes}
    head = [first, "system", "value", f"{report.level:.0%} interval", "queries"]
    head += ["change", "interval of the change", "relative", "p"] if changes else []
    order = report.metrics.index
    some = sorted(every, key=lambda one: order(one.metric))
    rows = []
    for one in some:
        row = [getattr(one, first), one.system, number(one.value), interval(one.low, one.high), f"{one.queries:,}"]
        change = against.get((one.metric, one.segment, one.system))
        if change is not None:
            row += [f"{arrow(change)} {signed(change.difference)}", interval(change.low, change.high)]
            row += [percent(change.relative), probability(change.p_adjusted)]
        rows.append(row + [""] * (len(head) - len(row)))
    yield from _table(head, rows, len(head) - 2)


def _gates(report: Report) -> Iterator[str]:
    if report.verdicts:
        yield from ("", "## Gates", "")
    for one in report.verdicts:
        yield f"- **{'passed' if one.passed else 'FAILED'}** fail if {plain(one.gate)}: {plain(one.says)}"


def _queries(report: Report) -> Iterator[str]:
    for group in report.groups:
        yield from ("", f"## {group.title}", "", plain(group.says))
        for query in group.queries:
            for shown in query.lists:
                yield from ("", f"### {plain(query.query)}, {plain(shown.system)}: {plain(number(shown.value))}", "")
                yield from _table(shown.columns, [[cell(value) for value in row] for row in shown.rows], 0)


def _end(report: Report) -> Iterator[str]:
    yield from ("", "## State of the data", "")
    if report.findings:
        rows = [(one.kind, one.example, one.hint, f"{one.count:,}", f"{one.queries:,}") for one in report.findings]
        yield from _table(["kind", "example", "what to do", "count", "queries"], rows, 2)
    else:
        yield "Every row was looked at, and nothing is wrong."
    yield from ("", "## Definitions and settings", "")
    for one in report.meanings:
        options = ", ".join(f"{name} = {value}" for name, value in one.options.items())
        yield f"- **{plain(one.metric)}**: {plain(one.says)} {plain(options)}".rstrip()
    for name, value in report.settings.items():
        yield f"- {plain(name)}: {plain(value)}"
    yield from ("", "## Files", "")
    rows = [(one.role, one.path, one.fingerprint, number(one.rows), size(one.bytes)) for one in report.inputs]
    yield from _table(["used as", "file", "fingerprint", "rows", "size"], rows, 2)
    packages = ", ".join(f"{name} {number}" for name, number in report.versions.items())
    yield from ("", f"Made {plain(report.made)} with {plain(packages)}.")
