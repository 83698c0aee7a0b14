"""What a report says, as plain data: every writer starts from here, and JSON is the model itself."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from datetime import date, datetime, time, timedelta
from math import isfinite
from typing import Any

FORMAT = 1
"""The number of this form of a report; one that cannot be read as before gets another."""


@dataclass(frozen=True)
class Estimate:
    """The value of a metric for one system, over all queries or over those of a segment.

    Attributes
    ----------
    metric, system
        The text of the metric, and the system.
    value, low, high
        The value and its interval; None where there is none.
    queries
        How many queries it is made of.
    view, segment
        The columns that divide the queries, and the values that these have; empty for all queries.
    """

    metric: str
    system: str
    value: float | None
    low: float | None
    high: float | None
    queries: int
    view: str = ""
    segment: str = ""


@dataclass(frozen=True)
class Change:
    """A system against the baseline, paired by query.

    Attributes
    ----------
    metric, system, baseline, view, segment
        What is compared, and where.
    queries
        How many queries both have.
    value, baseline_value, difference, relative
        The two values; their difference, and that over the value of the baseline.
    low, high
        The interval of the difference.
    wins, ties, losses
        How many queries are better, the same, worse.
    effect
        The mean difference over its standard deviation.
    p, p_adjusted, significant
        The probability of such a difference by chance, also for so many comparisons, and whether it is small.
    note
        What has to be said about it.
    """

    metric: str
    system: str
    baseline: str
    queries: int
    value: float | None
    baseline_value: float | None
    difference: float | None
    relative: float | None
    low: float | None
    high: float | None
    wins: int
    ties: int
    losses: int
    effect: float | None
    p: float | None
    p_adjusted: float | None
    significant: bool
    note: str = ""
    view: str = ""
    segment: str = ""


@dataclass(frozen=True)
class View:
    """Queries divided by columns: the segments in their order, with numbers for each metric and system."""

    name: str
    segments: list[str]
    estimates: list[Estimate]
    changes: list[Change]


@dataclass(frozen=True)
class Spread:
    """How the queries of a system are spread over the values of a metric: the number of them in each bin."""

    metric: str
    system: str
    edges: list[float]
    counts: list[int]


@dataclass(frozen=True)
class Listed:
    """One list of a query, and what its rows add to the metric: `rows` has a cell for each of `columns`."""

    system: str
    value: float | None
    columns: list[str]
    rows: list[list[Any]]
    left_out: int


@dataclass(frozen=True)
class Query:
    """A query that is worth reading."""

    query: str
    trend: str
    value: float | None
    baseline_value: float | None
    relevant: int | None
    lists: list[Listed]


@dataclass(frozen=True)
class Group:
    """Queries that have something in common, such as the largest losses."""

    name: str
    title: str
    says: str
    queries: list[Query]


@dataclass(frozen=True)
class Finding:
    """What `check` found: of which kind, how often, in how many queries, an example, and what to do."""

    kind: str
    count: int
    queries: int
    example: str
    says: str
    hint: str
    mistake: bool


@dataclass(frozen=True)
class Meaning:
    """What a metric is: its text, its name, what the number is, and its options as they were used."""

    metric: str
    name: str
    says: str
    options: dict[str, str]


@dataclass(frozen=True)
class Input:
    """A file that was read: what for, and a fingerprint of what is in it."""

    role: str
    path: str
    rows: int | None
    bytes: int | None
    fingerprint: str


@dataclass(frozen=True)
class Verdict:
    """What became of a gate: its text, whether it was passed, and the number that decided."""

    gate: str
    passed: bool
    says: str


@dataclass(frozen=True)
class Report:
    """All of it.

    Attributes
    ----------
    title, made
        What it is called, and when it was made.
    metrics, systems
        Their texts; the first metric is the one that pictures and examples show. The baseline is the last system.
    baseline, focus
        The system that others are compared with, if there is one, and the one that the examples are about.
    level
        Of the intervals and tests, such as 0.95.
    queries
        How many lists there are, for each system.
    estimates, changes
        Over all queries.
    views, trend
        Over segments, and over time.
    spreads, groups, findings, meanings, inputs, settings, versions, verdicts, notes
        What the names say.
    """

    title: str
    made: str
    metrics: list[str]
    systems: list[str]
    baseline: str | None
    focus: str
    level: float
    queries: dict[str, int]
    estimates: list[Estimate]
    changes: list[Change]
    views: list[View] = field(default_factory=list)
    trend: View | None = None
    spreads: list[Spread] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    meanings: list[Meaning] = field(default_factory=list)
    inputs: list[Input] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    verdicts: list[Verdict] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether no gate failed."""
        return all(verdict.passed for verdict in self.verdicts)

    def estimate(self, metric: str, system: str) -> Estimate:
        """Return the value of a metric for a system over all queries."""
        return next(one for one in self.estimates if (one.metric, one.system) == (metric, system))

    def change(self, metric: str, system: str) -> Change | None:
        """Return how a system differs from the baseline over all queries; None if it is the baseline."""
        return next((one for one in self.changes if (one.metric, one.system) == (metric, system)), None)

    def plain(self) -> dict[str, Any]:
        """Return the report as values that JSON has."""
        return {"format": FORMAT, "passed": self.passed, **{key: plain(each) for key, each in asdict(self).items()}}


def plain(value: Any) -> Any:
    """Return a value as one that JSON has: dates as text, what is no number as null.

    Examples
    --------
    >>> plain([float("nan"), date(2026, 11, 17), {"a": (1, True)}])
    [None, '2026-11-17', {'a': [1, True]}]
    """
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    if isinstance(value, float):
        return value if isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    return str(value.total_seconds()) if isinstance(value, timedelta) else str(value)
