"""From tables to the model of a report."""

from __future__ import annotations

import platform
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import polars as pl

from frame_metrics.errors import OptionError, nearest
from frame_metrics.formulas import parse
from frame_metrics.formulas.parameters import written
from frame_metrics.plan.checks import PROBLEMS, TIED
from frame_metrics.report import numbers
from frame_metrics.report.examples import groups
from frame_metrics.report.gates import judged
from frame_metrics.report.model import Finding, Input, Meaning, Report, View
from frame_metrics.report.values import QUERY, SEGMENT, SYSTEM, TIMES, TREND

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from frame_metrics.formulas import Metric
    from frame_metrics.report.gates import Gate
    from frame_metrics.report.values import Subject

RELEVANT = parse("num_rel")
"""Not part of the report, but it tells bad lists from queries to which there is no good one."""


@dataclass(frozen=True)
class Request:
    """What a report is to say.

    Attributes
    ----------
    title
        What it is called.
    metrics
        The metrics, the most important one first.
    views
        The columns that divide the queries, as often as there are ways to do so.
    baseline
        The system that others are compared with; None for the first by name, if there are several.
    level
        Of intervals and tests.
    examples
        How many queries to show of a kind.
    gates
        What must hold.
    trend
        What the times are called, if there are any.
    """

    title: str
    metrics: Sequence[Metric]
    views: Sequence[tuple[str, ...]] = ()
    baseline: str | None = None
    level: float = 0.95
    examples: int = 3
    gates: Sequence[Gate] = ()
    trend: str | None = None

    def __post_init__(self) -> None:
        for metric in self.metrics:
            if metric.plain.mean != "arithmetic":
                raise OptionError(
                    f"a report shows metrics that are means over queries, or counts, but {metric} is a "
                    f"{metric.plain.mean} mean. Hint: `frame-metrics evaluate` gives it"
                )

    @property
    def measured(self) -> list[Metric]:
        """The metrics, and what else is needed of each query."""
        return [*self.metrics, *([] if RELEVANT in self.metrics else [RELEVANT])]


@dataclass(frozen=True)
class Measured:
    """What has been computed: the values of queries, for each view, and the problems of the table."""

    values: pl.DataFrame
    views: dict[str, pl.DataFrame]
    problems: pl.DataFrame

    @staticmethod
    def together(parts: Sequence[Measured]) -> Measured:
        """Return several as one."""
        views = {name: _stacked([part.views[name] for part in parts]) for name in parts[0].views}
        problems = _stacked([part.problems for part in parts]).group_by("kind", maintain_order=True)
        added = problems.agg(pl.col("count", "queries").sum(), pl.col("example").first())
        return Measured(_stacked([part.values for part in parts]), views, added)


def _stacked(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat(frames, how="vertical_relaxed")


def measured(subject: Subject, request: Request) -> Measured:
    """Return what a report says of one table, computed."""
    views = {TIMES.join(columns): subject.values(request.metrics, columns) for columns in request.views}
    return Measured(subject.values(request.measured), views, subject.problems())


@dataclass(frozen=True)
class Context:
    """What a report says beside its numbers.

    Attributes
    ----------
    find
        Gives the table in which the lists of a system at a time are, always the same one.
    inputs, settings, notes
        As in the report.
    spell
        Puts an advice into the words of the reader.
    """

    find: Callable[[str, Any], Subject]
    inputs: list[Input] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    spell: Callable[[str], str] = str


def built(request: Request, found: Measured, context: Context) -> Report:
    """Return the report."""
    values, level, metrics = found.values, request.level, list(request.metrics)
    if values.is_empty():
        raise OptionError("a report needs at least one query, but there is none. Hint: see the filter on rows")
    every = numbers.estimates(values, metrics, level=level)
    baseline = _baseline(values, request.baseline)
    first = {one.system: one.value for one in every if one.metric == str(metrics[0])}
    others = sorted((name for name in first if name != baseline), key=lambda name: (-(first[name] or 0.0), name))
    systems = [*others, *([] if baseline is None else [baseline])]
    report = Report(
        title=request.title,
        made=datetime.now(tz=UTC).isoformat(timespec="seconds"),
        metrics=[str(metric) for metric in metrics],
        systems=systems,
        baseline=baseline,
        focus=systems[0],
        level=level,
        queries=dict(values.group_by(SYSTEM, maintain_order=True).len().iter_rows()),
        estimates=_in_order(every, systems),
        changes=_changes(values, request, baseline, "", SEGMENT),
        views=[_view(frame, request, baseline, systems, name=name, by=SEGMENT) for name, frame in found.views.items()],
        trend=None
        if request.trend is None
        else _view(values, request, baseline, systems, name=request.trend, by=TREND),
        spreads=list(numbers.spreads(values, metrics[0])),
        groups=groups(values, metrics[0], (systems[0], baseline), request.examples, context),
        findings=_findings(found.problems, context.spell),
        meanings=[meaning(metric) for metric in metrics],
        inputs=context.inputs,
        settings=context.settings,
        versions=versions(),
        notes=[*context.notes, *_notes(values)],
    )
    return judged(report, request.gates)


def _baseline(values: pl.DataFrame, name: str | None) -> str | None:
    known = sorted(values[SYSTEM].unique())
    if name is not None and name not in known:
        close = nearest(name, known) or f". Hint: there are {', '.join(map(repr, known[:10]))}"
        raise OptionError(f"there is no system {name!r} to compare with{close}")
    return name if name is not None or len(known) == 1 else known[0]


def _in_order(every: Sequence[Any], systems: Sequence[str]) -> list[Any]:
    return sorted(every, key=lambda one: systems.index(one.system)) if systems else list(every)


def _changes(values: pl.DataFrame, request: Request, baseline: str | None, view: str, by: str) -> list[Any]:
    if baseline is None:
        return []
    found = numbers.changes(values, request.metrics, baseline=baseline, level=request.level, view=view, by=by)
    return numbers.adjusted(found, request.level)


def _view(
    values: pl.DataFrame, request: Request, baseline: str | None, systems: Sequence[str], *, name: str, by: str
) -> View:
    every = numbers.estimates(values, request.metrics, level=request.level, view=name, by=by)
    segments = list(dict.fromkeys(one.segment for one in sorted(every, key=lambda one: one.segment)))
    return View(name, segments, _in_order(every, systems), _changes(values, request, baseline, name, by))


def _findings(problems: pl.DataFrame, spell: Callable[[str], str]) -> list[Finding]:
    known = {problem.kind: (number, problem) for number, problem in PROBLEMS.items()}
    found = []
    for row in problems.iter_rows(named=True):
        number, problem = known[row["kind"]]
        found.append(Finding(**row, says=problem.says, hint=spell(problem.hint), mistake=number != TIED))
    return found


def _notes(values: pl.DataFrame) -> list[str]:
    """Return what a reader has to know about the queries."""
    lists = values.group_by(TREND, QUERY).agg(pl.col(str(RELEVANT)).max())
    without = lists.filter(pl.col(str(RELEVANT)) == 0).height
    return [f"Nothing is relevant for {without:,} of {lists.height:,} queries."] if without else []


def meaning(metric: Metric) -> Meaning:
    """Return what a metric is, with its options as they were used."""
    options = {name: written(value) for name, value in metric.options if value is not None}
    return Meaning(str(metric), metric.definition.name, metric.definition.says, options)


def versions() -> dict[str, str]:
    """Return the versions that made a report."""
    packages = {name: version(name) for name in ("frame_metrics", "polars")}
    return {**packages, "python": platform.python_version()}
