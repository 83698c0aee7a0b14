"""The sections of the page, each of which is left out where it has nothing to say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from frame_metrics.report import pictures
from frame_metrics.report.markup import Markup, join, tag
from frame_metrics.report.words import arrow, cell, interval, number, percent, probability, signed, size

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from frame_metrics.report.model import Change, Estimate, Group, Listed, Query, Report, View

_MOST_SEGMENTS = 60
_COLOURS = ("c0", "c2", "c3", "c4")


@dataclass(frozen=True)
class Section:
    """A part of the page: its anchor, its title, and what is in it."""

    name: str
    title: str
    inside: Sequence[Any]

    def markup(self) -> Markup:
        """Return the section."""
        title = tag("h2", tag("a", self.title, href=f"#{self.name}"))
        return tag("section", title, self.inside, id=self.name)


def _table(head: Sequence[tuple[str, str]], rows: Sequence[Markup]) -> Markup:
    """Return a table in a box that scrolls where it is too wide; `head` has the classes and names of columns."""
    cells = [tag("th", name, class_=kind or None, scope="col") for kind, name in head]
    return tag("div", tag("table", tag("thead", tag("tr", cells)), tag("tbody", list(rows))), class_="box", tabindex=0)


def _row(*cells: tuple[str, Any], kind: str | None = None) -> Markup:
    return tag("tr", [tag("td", inside, class_=name or None) for name, inside in cells], class_=kind)


def _kinds(report: Report) -> dict[str, str]:
    """Return the class that colours each system; the baseline is grey."""
    others = [name for name in report.systems if name != report.baseline]
    kinds = {name: _COLOURS[i % len(_COLOURS)] for i, name in enumerate(others)}
    return kinds if report.baseline is None else {**kinds, report.baseline: "base"}


def _legend(report: Report) -> Markup | None:
    if len(report.systems) == 1:
        return None
    dots = [
        tag("span", tag("svg", tag("circle", class_=f"dot {kind}", cx=5, cy=5, r=4)), name)
        for name, kind in _kinds(report).items()
    ]
    return tag("div", dots, class_="legend")


def _moved(change: Change | None) -> str:
    """Return the class of a change: up, down, or not to be told."""
    if change is None or not change.significant or not change.difference:
        return "unsure"
    return "up" if change.difference > 0 else "down"


def gates(report: Report) -> Section | None:
    """Return what became of the gates."""
    if not report.verdicts:
        return None
    items = [
        tag(
            "li",
            tag("b", "Passed" if one.passed else "Failed"),
            join("fail if ", tag("code", one.gate)),
            tag("span", one.says, class_="soft"),
            class_=None if one.passed else "failed",
        )
        for one in report.verdicts
    ]
    return Section("gates", "Gates", [tag("ul", items, class_="gates")])


def headline(report: Report) -> Section:
    """Return the numbers of the system in focus, large."""
    cards = [_card(report, report.estimate(metric, report.focus)) for metric in report.metrics]
    named = f" {report.focus}" if len(report.systems) > 1 else ""
    note = f"Means over the queries of{named or ' the table'}, with {report.level:.0%} intervals."
    if report.baseline is not None:
        note += f" Changes are against {report.baseline}; △ and ▽ stand for those that may be chance."
    return Section("numbers", "Headline numbers", [tag("div", cards, class_="cards"), tag("p", note, class_="soft")])


def _card(report: Report, one: Estimate) -> Markup:
    change = report.change(one.metric, one.system)
    moved = None
    if change is not None:
        text = f"{arrow(change)} {signed(change.difference)} ({percent(change.relative)})"
        moved = tag("span", text, class_=f"change is-{_moved(change)}")
    return tag(
        "div",
        tag("div", one.metric, class_="name"),
        tag("div", number(one.value), class_="big"),
        tag("span", interval(one.low, one.high), class_="soft"),
        moved,
        class_="card",
    )


def comparison(report: Report) -> Section | None:
    """Return every system against the baseline, for each metric."""
    if report.baseline is None:
        return None
    axis = pictures.Axis.over([x for one in report.changes for x in (one.low, one.high, one.difference)], zero=True)
    rows = [_compared(report, one, axis) for metric in report.metrics for one in report.changes if one.metric == metric]
    head = [("", "metric"), ("", "system"), ("n opt", report.baseline), ("n opt", "system"), ("n", "difference")]
    if len(report.systems) == 2:  # noqa: PLR2004 one beside the baseline
        head = [("", "metric"), ("n opt", report.baseline), ("n opt", report.focus), ("n", "difference")]
    head += [("draw", f"{report.level:.0%} interval"), ("n", "p"), ("bars", "better · same · worse")]
    scale = _row(
        *[(kind, "") for kind, _ in head[:-3]], ("draw", pictures.scale(axis)), ("", ""), ("", ""), kind="axis"
    )
    notes = dict.fromkeys(one.note for one in report.changes if one.note)
    says = (
        "Paired by query. Student's t test; p is adjusted for the number of rows (Holm). "
        f"A dot is filled where p < {1 - report.level:.2g}."
    )
    extra = [tag("p", note, class_="soft") for note in notes]
    return Section(
        "comparison", f"Against {report.baseline}", [_table(head, [*rows, scale]), tag("p", says, class_="soft"), extra]
    )


def _compared(report: Report, one: Change, axis: pictures.Axis) -> Markup:
    kind = _moved(one)
    says = f"{one.metric}: {signed(one.difference)}, {interval(one.low, one.high)}"
    picture = pictures.intervals(axis, [(one.difference, one.low, one.high, kind)], says)
    values = [("n opt", number(one.baseline_value)), ("n opt", number(one.value))]
    first = [("", one.metric)] if len(report.systems) == 2 else [("", one.metric), ("", one.system)]  # noqa: PLR2004
    moved = tag("span", f"{arrow(one)} {signed(one.difference)}", class_=f"is-{kind}")
    return _row(
        *first,
        *values,
        ("n", moved),
        ("draw", picture),
        ("n", probability(one.p_adjusted)),
        ("bars", join(pictures.balance(one), tag("small", f"{one.wins} · {one.ties} · {one.losses}", class_="soft"))),
    )


def spread(report: Report) -> Section | None:
    """Return how the queries are spread over the values of the first metric."""
    if not report.spreads:
        return None
    order = sorted(report.spreads, key=lambda one: report.systems.index(one.system))
    edges = order[0].edges
    ends = tag("div", tag("span", number(edges[0], 1)), tag("span", number(edges[-1], 1)), class_="ends")
    says = f"Number of queries by their {report.metrics[0]}. A mean hides how many lists are empty-handed, or perfect."
    shown = [_legend(report), pictures.histogram(order, _kinds(report)), ends]
    return Section("spread", "Spread over queries", [tag("p", says, class_="soft"), *shown])


def segments(report: Report) -> Section | None:
    """Return the values of segments."""
    if not report.views:
        return None
    says = f"{report.metrics[0]} with {report.level:.0%} intervals; the other metrics are below each picture."
    inside: list[Any] = [tag("p", says, class_="soft"), _legend(report)]
    for view in report.views:
        inside += [tag("h3", f"By {view.name}"), _view(report, view), _other_metrics(report, view)]
    return Section("segments", "Segments", inside)


def _view(report: Report, view: View) -> Markup:
    name, kinds = report.metrics[0], _kinds(report)
    some = [one for one in view.estimates if one.metric == name]
    axis = pictures.Axis.over([x for one in some for x in (one.low, one.high, one.value)])
    against = {(one.segment, one.system): one for one in view.changes if one.metric == name}
    wide = "n opt" if report.baseline is not None else "n"
    rows = []
    for segment in view.segments[:_MOST_SEGMENTS]:
        own = [one for one in some if one.segment == segment]
        marks = [(one.value, one.low, one.high, kinds[one.system]) for one in own]
        says = "; ".join(f"{one.system} {number(one.value)}, {interval(one.low, one.high)}" for one in own)
        cells = [("", segment), ("n", f"{max(one.queries for one in own):,}")]
        cells += [("draw", pictures.intervals(axis, marks, says))]
        cells += [(wide, _value_of(own, system)) for system in report.systems]
        if report.baseline is not None:
            cells.append(("n", _change_of(against.get((segment, report.focus)))))
        rows.append(_row(*cells))
    head = [("", view.name), ("n", "queries"), ("draw", name), *((wide, system) for system in report.systems)]
    head += [("n", "change")] if report.baseline is not None else []
    if len(report.systems) == 1:
        head[3] = ("n", "value")
    blank = [(kind, "") for kind, _ in head[3:]]
    scale = _row(("", ""), ("", ""), ("draw", pictures.scale(axis)), *blank, kind="axis")
    left = len(view.segments) - _MOST_SEGMENTS
    more = tag("p", f"{left:,} more segments are in the other forms of this report.", class_="soft") if left > 0 else ""
    return join(_table(head, [*rows, scale]), more)


def _value_of(own: Sequence[Estimate], system: str) -> str:
    return next((number(one.value) for one in own if one.system == system), number(None))


def _change_of(change: Change | None) -> Any:
    if change is None:
        return number(None)
    text = f"{arrow(change)} {signed(change.difference)}"
    return tag("span", text, class_=f"is-{_moved(change)}", title=change.note or None)


def _other_metrics(report: Report, view: View) -> Markup | None:
    names = report.metrics[1:]
    if not names:
        return None
    known = {(one.segment, one.system, one.metric): one for one in view.estimates}
    several = len(report.systems) > 1
    rows = []
    for segment in view.segments[:_MOST_SEGMENTS]:
        for system in report.systems:
            own = [known.get((segment, system, name)) for name in names]
            values = [("n", number(None if one is None else one.value)) for one in own]
            first = [("", segment), ("", system)] if several else [("", segment)]
            rows.append(_row(*first, *values, kind="faint" if system == report.baseline else None))
    head = [("", view.name), *([("", "system")] if several else []), *(("n", name) for name in names)]
    return tag("details", tag("summary", tag("span", f"All metrics by {view.name}")), _table(head, rows))


def trend(report: Report) -> Section | None:
    """Return the values over time."""
    if report.trend is None:
        return None
    view, name = report.trend, report.metrics[0]
    known = {(one.system, one.segment): one for one in view.estimates if one.metric == name}
    series = {}
    for system, kind in reversed(_kinds(report).items()):
        points = [known.get((system, segment)) for segment in view.segments]
        series[kind] = [(None, None, None) if one is None else (one.value, one.low, one.high) for one in points]
    axis = pictures.Axis.over([x for points in series.values() for point in points for x in point])
    ends = tag("div", tag("span", view.segments[0]), tag("span", view.segments[-1]), class_="ends")
    says = f"{name} for each {view.name}, with {report.level:.0%} intervals."
    shown = [_legend(report), pictures.over_time(axis, series), ends]
    return Section("trend", "Trend", [tag("p", says, class_="soft"), *shown, _days(report, view)])


def _days(report: Report, view: View) -> Markup:
    known = {(one.segment, one.system, one.metric): one for one in view.estimates}
    rows = []
    for segment in view.segments:
        for system in report.systems:
            own = [known.get((segment, system, name)) for name in report.metrics]
            values = [("n", number(None if one is None else one.value)) for one in own]
            count = next((f"{one.queries:,}" for one in own if one is not None), number(None))
            kind = "faint" if system == report.baseline else None
            rows.append(_row(("", segment), ("", system), ("n", count), *values, kind=kind))
    head = [("", view.name), ("", "system"), ("n", "queries"), *(("n", name) for name in report.metrics)]
    return tag("details", tag("summary", tag("span", f"All numbers by {view.name}")), _table(head, rows))


def queries(report: Report) -> Section | None:
    """Return queries that are worth reading, with their rows."""
    if not report.groups:
        return None
    says = (
        f"What each row adds to {report.metrics[0]}, from the top of the list; missed items stand at the end. "
        "Open a query to read its lists."
    )
    return Section(
        "queries", "Queries to read", [tag("p", says, class_="soft"), [_group(report, each) for each in report.groups]]
    )


def _group(report: Report, group: Group) -> Markup:
    shown = [_query(report, each, opened=group is report.groups[0] and i == 0) for i, each in enumerate(group.queries)]
    return join(tag("h3", group.title), tag("p", group.says, class_="soft"), shown)


def _query(report: Report, query: Query, *, opened: bool) -> Markup:
    parts = [tag("b", query.query), tag("span", query.trend, class_="soft") if query.trend else None]
    if query.baseline_value is not None:
        text = f"{report.baseline} {number(query.baseline_value)} → {report.focus} {number(query.value)}"
    else:
        text = number(query.value)
    relevant = f"{query.relevant:,} relevant" if query.relevant is not None else ""
    parts += [tag("span", relevant, class_="soft"), tag("span", text, class_="value")]
    lists = tag("div", [_list(report, each) for each in query.lists], class_="lists")
    return tag("details", tag("summary", parts), lists, open="" if opened else None)


def _list(report: Report, shown: Listed) -> Markup:
    numeric = [all(not isinstance(row[i], str) for row in shown.rows) for i in range(len(shown.columns))]
    head = [("n" if numeric[i] else "", name.replace("_", " ")) for i, name in enumerate(shown.columns)]
    adds = shown.columns.index("adds")
    rows = []
    for row in shown.rows:
        cells = [("n" if numeric[i] else "", cell(value)) for i, value in enumerate(row)]
        rows.append(_row(*cells, kind=None if row[adds] else "faint"))
    title = tag("small", f"{shown.system}: {number(shown.value)}") if len(report.systems) > 1 else ""
    more = tag("small", f"{shown.left_out:,} more rows are not relevant.", class_="soft") if shown.left_out else ""
    return tag("div", title, _table(head, rows), more)


def findings(report: Report) -> Section:
    """Return what is wrong with the table, or that nothing is."""
    if not report.findings:
        says = "Every row was looked at, and nothing is wrong: no bad ranks, no repeated items, no shared places."
        return Section("data", "State of the data", [tag("p", says)])
    rows = [
        _row(
            ("", one.kind),
            ("n", f"{one.count:,}"),
            ("n", f"{one.queries:,}"),
            ("wrap", one.example),
            ("wrap", one.hint),
        )
        for one in report.findings
    ]
    head = [("", "kind"), ("n", "count"), ("n", "queries"), ("", "example"), ("", "what to do")]
    return Section("data", "State of the data", [_table(head, rows)])


def definitions(report: Report) -> Section:
    """Return what the metrics are."""
    pairs = []
    for one in report.meanings:
        options = ", ".join(f"{name} = {value}" for name, value in one.options.items())
        inside = [one.says, tag("br"), tag("span", options, class_="soft")] if options else [one.says]
        pairs += [tag("dt", tag("code", one.metric)), tag("dd", inside)]
    for name, value in report.settings.items():
        pairs += [tag("dt", name), tag("dd", tag("code", value))]
    return Section("definitions", "Definitions and settings", [tag("dl", pairs)])


def inputs(report: Report) -> Section | None:
    """Return the files that were read."""
    if not report.inputs:
        return None
    rows = [
        _row(
            ("", one.role),
            ("wrap", tag("code", one.path)),
            ("n", number(one.rows)),
            ("n", size(one.bytes)),
            ("", tag("code", one.fingerprint)),
        )
        for one in report.inputs
    ]
    head = [("", "used as"), ("", "file"), ("n", "rows"), ("n", "size"), ("", "fingerprint")]
    return Section("files", "Files", [_table(head, rows)])


ALL: tuple[Callable[[Report], Section | None], ...] = (
    gates,
    headline,
    comparison,
    trend,
    segments,
    spread,
    queries,
    findings,
    definitions,
    inputs,
)
