"""Systems compared with a baseline, query by query: from the values of queries to one row for each comparison."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
import polars as pl

from frame_metrics.errors import OptionError, TableError, nearest
from frame_metrics.stats.corrections import Correction, corrected
from frame_metrics.stats.paired import NOTHING, Outcome, Settings, Test, constant, differences, outcome, tukey

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from frame_metrics.stats.resampling import Numbers

Unanswered: TypeAlias = Literal["error", "both", "zero"]

FEW = 10
"""With fewer queries than this, a test says next to nothing."""

_NUMBERS = ("value", "baseline_value", "difference", "relative", "low", "high")
_COUNTS = ("wins", "ties", "losses")
_TEST = ("effect", "p", "p_adjusted", "significant", "note")
COLUMNS = ("metric", "system", "baseline", "queries", *_NUMBERS, *_COUNTS, *_TEST)
"""The columns of a comparison after its segments."""

_SEGMENT, _SYSTEM, _QUERY = (f"__compared_{name}" for name in ("segment", "system", "query"))


@dataclass(frozen=True)
class Comparison:
    """How systems are compared.

    Attributes
    ----------
    baseline
        What the others are compared with; None for the first system.
    test, correction
        Which test, and which correction for the number of tests.
    settings
        Of the test.
    queries
        What becomes of queries that not every system answered.
    """

    baseline: Any = None
    test: Test = "t"
    correction: Correction = "holm"
    settings: Settings = field(default_factory=Settings)
    queries: Unanswered = "error"


class Columns(NamedTuple):
    """The columns of the values of queries."""

    segments: list[str]
    system: str
    query: str
    metrics: list[str]


class Block(NamedTuple):
    """The values of one metric in one segment: a row for each query, a column for each system; NaN where undefined."""

    segment: int
    metric: int
    values: Numbers
    present: npt.NDArray[np.bool_]


def compared(values: pl.DataFrame, columns: Columns, systems: pl.Series, how: Comparison) -> pl.DataFrame:
    """Return a row for each segment, metric and pair of systems.

    Parameters
    ----------
    values
        A row for each segment, system and query, with a column for each metric.
    columns
        What is what.
    systems
        The systems in order.
    how
        The rest.
    """
    systems = _baseline_first(systems, how.baseline)
    segments = values.select(columns.segments).unique(maintain_order=True) if columns.segments else None
    blocks = _Blocks(values, columns, systems, segments)
    if how.queries == "error":
        blocks.complete()
    pairs = _pairs(len(systems), how.test)
    found = [row for block in blocks for row in _rows(block, pairs, how)]
    return _frame(found, columns, systems, segments, how)


def _baseline_first(systems: pl.Series, baseline: Any) -> pl.Series:
    names = systems.to_list()
    if None in names:
        raise TableError(
            "there are rows without a system, so it is not known whose they are. Hint: drop them; judgments that every "
            "system is to be measured by take .rank.judged_by(qrels, each='system')"
        )
    if len(names) < 2:  # noqa: PLR2004
        raise TableError(f"a comparison takes two systems or more, got {names}. Hint: name their column in `system`")
    if baseline is None:
        return systems
    if baseline not in names:
        shown = ", ".join(map(repr, names[:10])) + (", ..." if len(names) > 10 else "")  # noqa: PLR2004
        raise OptionError(f"`baseline` must be one of {shown}, got {baseline!r}{nearest(baseline, map(str, names))}")
    first = names.index(baseline)
    return systems.gather([first, *(place for place in range(len(names)) if place != first)])


def _pairs(systems: int, test: Test) -> list[tuple[int, int]]:
    bases = range(systems) if test == "tukey" else range(1)
    return [(system, base) for base in bases for system in range(base + 1, systems)]


class _Blocks:
    """The values of all segments and metrics, as blocks of queries by systems."""

    def __init__(
        self, values: pl.DataFrame, columns: Columns, systems: pl.Series, segments: pl.DataFrame | None
    ) -> None:
        self.columns, self.systems, self.segments = columns, systems, segments
        self.queries = values.select(columns.query).unique(maintain_order=True)
        coded = _coded(values, self.queries, _QUERY)
        coded = _coded(coded, systems.alias(columns.system).to_frame(), _SYSTEM)
        coded = coded.with_columns(pl.lit(0).alias(_SEGMENT)) if segments is None else _coded(coded, segments, _SEGMENT)
        coded = coded.sort(_SEGMENT, maintain_order=True)
        self.codes = coded.select(_SEGMENT, _SYSTEM, _QUERY).to_numpy()
        self.scores = coded.select(pl.col(columns.metrics).cast(pl.Float64).fill_null(np.nan)).to_numpy()
        self.starts = np.flatnonzero(np.diff(self.codes[:, 0], prepend=-1))

    def _parts(self) -> Iterator[tuple[int, Any, Any, Any, slice]]:
        """Give, for each segment, its number, its queries, the rows and columns of its values, and where they stand."""
        ends = [*self.starts[1:], len(self.codes)]
        for start, end in zip(self.starts, ends, strict=True):
            place = slice(int(start), int(end))
            queries, rows = np.unique(self.codes[place, 2], return_inverse=True)
            yield int(self.codes[start, 0]), queries, rows, self.codes[place, 1], place

    def complete(self) -> None:
        """Raise if a query of a segment was not answered by every system."""
        for segment, queries, rows, systems, place in self._parts():
            lacking = len(queries) * len(self.systems) - (place.stop - place.start)
            if lacking:
                present = np.zeros((len(queries), len(self.systems)), dtype=bool)
                present[rows, systems] = True
                row, system = np.argwhere(~present)[0]
                self._lacking(int(queries[row]), int(system), segment, lacking)

    def _lacking(self, query: int, system: int, segment: int, number: int) -> None:
        where = "" if self.segments is None else f" where {self.segments.row(segment, named=True)}"
        more = f", and {number - 1} more are lacking" if number > 1 else ""
        raise TableError(
            f"system {self.systems[system]!r} did not answer query {self.queries.item(query, 0)!r}{where}, which "
            f"another did{more}. Hint: queries='both' compares what both answered, queries='zero' counts a missing "
            "one as 0; judgments that every system is to be measured by take .rank.judged_by(qrels, each='system')"
        )

    def __iter__(self) -> Iterator[Block]:
        for segment, queries, rows, systems, place in self._parts():
            present = np.zeros((len(queries), len(self.systems)), dtype=bool)
            present[rows, systems] = True
            for metric in range(len(self.columns.metrics)):
                values = np.full(present.shape, np.nan)
                values[rows, systems] = self.scores[place, metric]
                yield Block(segment, metric, values, present)


def _coded(frame: pl.DataFrame, known: pl.DataFrame, name: str) -> pl.DataFrame:
    """Return the frame with one more column: the place that its keys have among the known ones."""
    places = known.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias(name))
    return frame.join(places, on=known.columns, how="left", nulls_equal=True, maintain_order="left")


def _rows(block: Block, pairs: list[tuple[int, int]], how: Comparison) -> Iterator[dict[str, Any]]:
    values, present = block.values, block.present
    if how.queries == "zero":
        values, present = np.where(present, values, 0.0), np.ones_like(present)
    if how.test != "tukey":
        for system, base in pairs:
            row, found = _row(values, present, (system, base), [system, base])
            said = outcome(found, how.test, how.settings) if len(found) > 1 else NOTHING
            yield _with(row, found, said, how) | {"segment": block.segment, "metric": block.metric}
        return
    everyone = list(range(values.shape[1]))
    whole = present.all(axis=1) & ~np.isnan(values).any(axis=1)
    said_of = tukey(values[whole], how.settings.ci) if whole.sum() > 1 else None
    for system, base in pairs:
        row, found = _row(values, present, (system, base), everyone)
        said = NOTHING if said_of is None else said_of[system][base]
        yield _with(row, found, said, how) | {"segment": block.segment, "metric": block.metric}


def _row(values: Numbers, present: Any, pair: tuple[int, int], among: list[int]) -> tuple[dict[str, Any], Numbers]:
    """Return the means and counts of a pair over the queries that all these systems have a value for."""
    system, base = pair
    some, all_of = present[:, among].any(axis=1), present[:, among].all(axis=1)
    known = ~np.isnan(values[:, among])
    kept = all_of & known.all(axis=1)
    notes = []
    if left := int((some & ~all_of).sum()):
        notes.append(f"{_queries(left)} left out: not answered by {'both' if len(among) == 2 else 'all'}")  # noqa: PLR2004
    if half := int((all_of & known.any(axis=1) & ~known.all(axis=1)).sum()):
        notes.append(f"{_queries(half)} left out: without a value for one")
    ours, theirs = values[kept, system], values[kept, base]
    found = differences(ours, theirs)
    row: dict[str, Any] = {"system": system, "baseline": base, "queries": len(found), "note": notes}
    row |= {"wins": int((found > 0).sum()), "ties": int((found == 0).sum()), "losses": int((found < 0).sum())}
    if len(found):
        value, against, mean = float(ours.mean()), float(theirs.mean()), float(found.mean())
        row |= {"value": value, "baseline_value": against, "difference": mean}
        row["relative"] = mean / against if against else np.nan
    if len(found) > 1 and not constant(found):
        row["effect"] = float(found.mean() / found.std(ddof=1))
    return row, found


def _with(row: dict[str, Any], found: Numbers, said: Outcome, how: Comparison) -> dict[str, Any]:
    """Return the row with what the test says, and what is to be said about that."""
    notes = row["note"]
    if len(found) == 0:
        notes.append("no query in common")
    elif len(found) < FEW:
        notes.append(f"only {_queries(len(found))}: too few to say anything")
    if len(found) > 0 and not found.any():
        notes.append("all differences are 0")
    elif len(found) > 1 and np.isnan(said.p):
        notes.append(f"all differences are the same: test={how.test!r} says nothing")
    return row | said._asdict() | {"note": "; ".join(notes)}


def _queries(number: int) -> str:
    return f"{number} query" if number == 1 else f"{number} queries"


def _frame(
    found: list[dict[str, Any]], columns: Columns, systems: pl.Series, segments: pl.DataFrame | None, how: Comparison
) -> pl.DataFrame:
    places = {name: [row[name] for row in found] for name in ("segment", "metric", "system", "baseline")}
    p = np.array([row["p"] for row in found], dtype=float)
    p_adjusted = _adjusted(p, places, how)
    made = {
        "metric": pl.Series(columns.metrics, dtype=pl.String).gather(places["metric"]),
        "system": systems.gather(places["system"]),
        "baseline": systems.gather(places["baseline"]),
        "queries": pl.Series([row["queries"] for row in found], dtype=pl.Int64),
        **{n: pl.Series([row.get(n, np.nan) for row in found], dtype=pl.Float64) for n in (*_NUMBERS, "effect")},
        **{n: pl.Series([row[n] for row in found], dtype=pl.Int64) for n in _COUNTS},
        "p": pl.Series(p, dtype=pl.Float64),
        "p_adjusted": pl.Series(p_adjusted, dtype=pl.Float64),
        "significant": pl.Series(p_adjusted < 1 - how.settings.ci, dtype=pl.Boolean),
        "note": pl.Series([row["note"] for row in found], dtype=pl.String),
    }
    numbers = [*_NUMBERS, "effect", "p", "p_adjusted"]
    result = pl.DataFrame({name: made[name] for name in COLUMNS}).with_columns(pl.col(numbers).fill_nan(None))
    return result if segments is None else pl.concat([segments[places["segment"]], result], how="horizontal")


def _adjusted(p: Numbers, places: dict[str, list[int]], how: Comparison) -> Numbers:
    """Return the p-values corrected for the number of tests.

    Those of Tukey hold for all pairs of a segment and metric already, so they are multiplied by the number of these.
    """
    if how.test != "tukey" or how.correction == "none":
        return corrected(p, how.correction)
    families = len({(s, m) for s, m, q in zip(places["segment"], places["metric"], p, strict=True) if not np.isnan(q)})
    return np.minimum(p * families, 1.0)
