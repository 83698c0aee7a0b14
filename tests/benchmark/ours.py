"""What the package is held to: each case is a call, what it is compared with, and how much it may cost."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from tests.benchmark import measure
from tests.benchmark.calls import CALLS, Subject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from tests.benchmark.data import Files, Form
    from tests.benchmark.measure import Clock, Cost

MILLION = 1_000_000
FEW_ROWS = 100_000
"""Below this, the cost of a call says more than a ratio."""

ONE_TABLE: tuple[Form, ...] = ("sorted", "shuffled", "string")


@dataclass(frozen=True)
class Case:
    """A call, what it is divided by, and how large the ratio may be.

    Attributes
    ----------
    name, source
        What is measured, and from where the rows come.
    call, against
        Names of `CALLS`.
    must, aim
        What must hold, and what would be good; `must` may differ between forms.
    minus
        A call whose time is taken off first: what anyone would pay.
    beside
        Further calls whose ratios are noted.
    forms
        The forms it is about.
    at
        The number of rows from which on it must hold.
    """

    name: str
    source: str
    call: str
    against: str
    must: float | Mapping[str, float]
    aim: float | None = None
    minus: str | None = None
    beside: tuple[str, ...] = ()
    forms: tuple[Form, ...] = ONE_TABLE
    at: int = MILLION

    @property
    def calls(self) -> set[str]:
        """The calls that it needs."""
        return {self.call, self.against, *self.beside} | ({self.minus} if self.minus else set())

    def limit(self, form: str) -> float:
        """Return what must hold for a form."""
        return self.must if isinstance(self.must, int | float) else self.must[form]


def _like_ndcg(name: str, call: str) -> Case:
    return Case(name, "memory", call, "ndcg", 2.0, beside=("bare",), forms=("sorted", "shuffled"))


CASES = (
    Case(
        "nine metrics", "memory", "nine", "bare", {"sorted": 1.5, "shuffled": 1.5, "string": 2.0}, 1.0,
        beside=("bare, streaming",), at=10 * MILLION,
    ),
    Case("ndcg@10", "memory", "ndcg", "bare", 1.0, 0.5, beside=("bare, streaming",), at=10 * MILLION),
    Case("nine metrics, file", "parquet", "file nine", "file bare", 2.5, 1.5, at=10 * MILLION),
    _like_ndcg("by segment", "segments"),
    _like_ndcg("per query", "per query"),
    _like_ndcg("err@10", "err"),
    _like_ndcg("auc", "auc"),
    _like_ndcg("bpref", "bpref"),
    _like_ndcg("r_precision", "r_precision"),
    _like_ndcg("roc_curve", "roc_curve"),
    _like_ndcg("pr_curve", "pr_curve"),
    _like_ndcg("at_k 1 to 20", "at_k"),
    Case(
        "nine metrics, pandas", "pandas", "pandas nine", "nine", 1.1, minus="pandas columns",
        forms=("sorted", "string"),
    ),
    Case("nine metrics, judged_by", "memory", "judged nine", "join", 2.0, beside=("left join",), forms=("qrels",)),
    Case("nine metrics, judged_by, file", "parquet", "file judged nine", "file join", 2.0, forms=("qrels",)),
)  # fmt: skip

SHORT = {
    "nine metrics, a call": "nine",
    "ndcg@10, a call": "ndcg",
    "nine metrics, pandas, a call": "pandas nine",
    "nine metrics, judged_by, a call": "judged nine",
}
"""Calls whose own cost counts, on few rows."""


@dataclass(frozen=True)
class Result:
    """A line of the table.

    Attributes
    ----------
    case, form, source, rows
        What was measured.
    measured, unit
        The number that counts, in `x` for a ratio.
    must, aim, binding
        What it is held to, and whether that was promised for this number of rows.
    wall, cpu
        A ratio by wall and by CPU time; one of them is `measured`.
    seconds, against, against_seconds
        Wall times of the call and of what it is compared with, and the name of that.
    beside
        Further numbers, by what they are.
    """

    case: str
    form: str
    source: str
    rows: int
    measured: float
    unit: str
    must: float | None = None
    aim: float | None = None
    binding: bool = True
    wall: float | None = None
    cpu: float | None = None
    seconds: float | None = None
    against: str = ""
    against_seconds: float | None = None
    beside: dict[str, float] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """Whether it holds, in words; in brackets where nothing was promised for this number of rows."""
        if self.must is None:
            return ""
        if self.measured > self.must:
            text = f"misses by {self.measured / self.must:.2f}x"
        else:
            text = "holds" if self.aim is None or self.measured > self.aim else "holds, and the aim"
        return text if self.binding else f"({text})"

    def plain(self) -> dict[str, Any]:
        """Return it as JSON takes it."""
        return asdict(self) | {"verdict": self.verdict}


def chosen(only: str | None) -> list[Case]:
    """Return the cases whose name has this text in it."""
    return [case for case in CASES if only is None or only in case.name]


def ratios(
    subject: Subject,
    cases: Iterable[Case],
    *,
    repeat: int,
    clock: Clock = "wall",
    tick: Callable[[str], None] = lambda _: None,
) -> list[Result]:
    """Return the ratios of the cases that are about this form, with all calls taken in turns."""
    cases = [case for case in cases if subject.form in case.forms]
    names = sorted(set().union(*(case.calls for case in cases)))
    calls = {name: lambda name=name: CALLS[name](subject) for name in names}
    costs = measure.interleaved(calls, repeat=repeat, tick=tick)
    return [_ratio(case, subject, costs, clock) for case in cases]


def _ratio(case: Case, subject: Subject, costs: dict[str, Cost], clock: Clock) -> Result:
    cost, against = costs[case.call], costs[case.against]
    minus = costs[case.minus] if case.minus else None
    ratio = cost.over(against, minus)
    beside = {name: cost.over(costs[name])[clock] for name in case.beside}
    if minus:
        beside[f"{case.minus}, ms"] = minus.wall * 1e3
    return Result(
        case=case.name,
        form=subject.form,
        source=case.source,
        rows=subject.rows,
        measured=ratio[clock],
        unit="x",
        must=case.limit(subject.form),
        aim=case.aim,
        binding=subject.rows >= case.at,
        wall=ratio["wall"],
        cpu=ratio["cpu"],
        seconds=cost.wall,
        against=case.against,
        against_seconds=against.wall,
        beside=beside,
    )


def short(subject: Subject, only: str | None, *, runs: int) -> Iterator[Result]:
    """Return what a call costs on few rows, in milliseconds."""
    for name, call in SHORT.items():
        if (only is None or only in name) and (call == "judged nine") == (subject.form == "qrels"):
            cost = measure.smallest(lambda call=call: CALLS[call](subject), runs=runs)
            source = "pandas" if call == "pandas nine" else "memory"
            yield Result(
                name, subject.form, source, subject.rows, cost.wall * 1e3, "ms", 3.0, 1.0,
                binding=subject.rows == 1_000, seconds=cost.wall,
            )  # fmt: skip


def importing(*, runs: int) -> Result:
    """Return what importing the package costs beyond Polars and pandas."""
    best = min(measure.alone("import")["wall"] for _ in range(runs))
    return Result("import frame_metrics", "", "", 0, best * 1e3, "ms", 60.0, 20.0, seconds=best)


def memory(files: Files, rows: int, form: str) -> Result:
    """Return the peak memory of a process that computes nine metrics from a file."""
    used = {name: measure.alone("file", name, str(files.table)) for name in ("nine", "bare", "nothing")}
    beside = {f"{name}, MB": used[name]["peak"] / 1e6 for name in ("bare", "nothing")}
    return Result(
        "nine metrics, peak memory", form, "parquet", rows, used["nine"]["peak"] / 1e6, "MB", 600.0, 300.0,
        binding=rows >= 100 * MILLION, seconds=used["nine"]["wall"], against="bare",
        against_seconds=used["bare"]["wall"], beside=beside,
    )  # fmt: skip


def growth(
    form: Form, sizes: list[int], *, repeat: int, clock: Clock = "wall", tick: Callable[[str], None] = lambda _: None
) -> Result:
    """Return by how much the cost of a row grows from the smallest file to the one where it is highest."""
    calls: dict[str, Callable[[], object]] = {}
    for rows in sizes:
        subject = Subject(form, rows)
        for name in ("file nine", "file bare"):
            calls[f"{name} {rows}"] = lambda name=name, subject=subject: CALLS[name](subject)
    costs = measure.interleaved(calls, repeat=repeat, tick=tick)
    nine, bare = (_growth(costs, name, sizes) for name in ("file nine", "file bare"))
    largest = sizes[-1]
    a_row = {f"{rows:,} rows, ns a row": getattr(costs[f"file nine {rows}"], clock) / rows * 1e9 for rows in sizes}
    return Result(
        f"cost per row, from {sizes[0]:,}", form, "parquet", largest, nine[clock], "x", 1.3, 1.0,
        binding=sizes[0] == MILLION and largest >= 100 * MILLION, **nine, seconds=costs[f"file nine {largest}"].wall,
        against="bare", against_seconds=costs[f"file bare {largest}"].wall,
        beside={**a_row, "bare grows, x": bare[clock]},
    )  # fmt: skip


def _growth(costs: dict[str, Cost], name: str, sizes: list[int]) -> dict[Clock, float]:
    """Return by each clock the highest cost of a row among the larger sizes, as a multiple of that of the first."""
    first = costs[f"{name} {sizes[0]}"]
    grown = [costs[f"{name} {rows}"].over(first) for rows in sizes[1:]]
    scale = [rows / sizes[0] for rows in sizes[1:]]
    return {clock: max(g[clock] / s for g, s in zip(grown, scale, strict=True)) for clock in ("wall", "cpu")}
