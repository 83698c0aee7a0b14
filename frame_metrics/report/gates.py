"""Gates: conditions under which a report fails, such as `ndcg@10 < 0.4` and `ndcg@10 drops > 1%`."""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from frame_metrics.errors import OptionError
from frame_metrics.formulas import parse
from frame_metrics.report.model import Verdict
from frame_metrics.report.values import TIMES
from frame_metrics.report.words import number, percent, signed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from frame_metrics.formulas import Metric
    from frame_metrics.report.model import Change, Estimate, Report, View

_COMPARED: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_NUMBER = r"(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
_TEXT = re.compile(
    rf"\s*(?P<metric>[^\s<>]+?)\s*(?:(?P<moves>\s(?:drops|rises))\s*(?P<surely>significantly)?)?\s*"
    rf"(?:(?P<sign><=|>=|<|>)\s*{_NUMBER}\s*(?P<percent>%)?)?\s*(?:\sby\s+(?P<view>.+?))?\s*"
)
_FORM = "'ndcg@10 < 0.4', 'ndcg@10 drops > 1%' or 'ndcg@10 drops significantly', each with 'by country' or without"


@dataclass(frozen=True)
class Gate:
    """A condition under which a report fails.

    Attributes
    ----------
    text
        How it was written.
    metric
        The metric it is about.
    moves
        `"drops"` or `"rises"` where it is about the change against the baseline.
    surely
        Whether only significant changes count.
    sign, limit, relative
        What the number is compared with; a relative limit is a share of the value of the baseline.
    view
        The segments each of which must pass; empty for all queries together.
    """

    text: str
    metric: Metric
    moves: str = ""
    surely: bool = False
    sign: str = ">"
    limit: float = 0.0
    relative: bool = False
    view: str = ""

    def fails(self, value: float) -> bool:
        """Return whether a number, or how far it drops or rises, is one that must not be."""
        return _COMPARED[self.sign](value, self.limit)


def read_gate(text: str) -> Gate:
    """Return what a text such as `ndcg@10 drops > 1%` stands for.

    Examples
    --------
    >>> gate = read_gate("ndcg@10 drops > 1% by country")
    >>> str(gate.metric), gate.moves, gate.limit, gate.relative, gate.view
    ('ndcg@10', 'drops', 0.01, True, 'country')
    >>> read_gate("ndcg@10 drops significantly").surely
    True
    """
    match = _TEXT.fullmatch(text)
    moves = (match["moves"] or "").strip() if match else ""
    if match is None or not (match["sign"] or match["surely"]) or (match["percent"] and not moves):
        raise OptionError(f"cannot read the gate {text!r}. Hint: write {_FORM}")
    number = float(match["number"] or 0.0) / (100 if match["percent"] else 1)
    view = TIMES.join(part.strip() for part in (match["view"] or "").split(",") if part.strip())
    sign, surely = match["sign"] or ">", match["surely"] is not None
    return Gate(text.strip(), parse(match["metric"]), moves, surely, sign, number, match["percent"] is not None, view)


def judged(report: Report, gates: Sequence[Gate]) -> Report:
    """Return the report with what became of the gates."""
    return replace(report, verdicts=[_verdict(report, gate) for gate in gates])


def _verdict(report: Report, gate: Gate) -> Verdict:
    if gate.moves and report.baseline is None:
        raise OptionError(
            f"the gate {gate.text!r} needs something to compare with. Hint: name a baseline, --compare FILE or "
            "--system COLUMN"
        )
    found = list(_moved(report, gate) if gate.moves else _reached(report, gate))
    failed = [says for fails, says in found if fails]
    return Verdict(gate.text, not failed, "; ".join(failed or [says for _, says in found]))


def _reached(report: Report, gate: Gate) -> Iterator[tuple[bool, str]]:
    """Yield for each number that the gate is about whether it must not be, and what it is."""
    view = _view(report, gate)
    every: Iterable[Estimate] = report.estimates if view is None else view.estimates
    for one in every:
        if one.metric != str(gate.metric) or (one.system == report.baseline and len(report.systems) > 1):
            continue
        where = _where(one.system, one.segment, report)
        if one.value is None:
            yield True, f"{one.metric}{where} has no value"
        else:
            yield gate.fails(one.value), f"{one.metric}{where} is {number(one.value)}"


def _moved(report: Report, gate: Gate) -> Iterator[tuple[bool, str]]:
    view = _view(report, gate)
    every: Iterable[Change] = report.changes if view is None else view.changes
    for one in every:
        if one.metric != str(gate.metric):
            continue
        where = _where(one.system, one.segment, report)
        size = one.relative if gate.relative else one.difference
        if size is None:
            yield True, f"{one.metric}{where} has no change to look at"
            continue
        down = -size if gate.moves == "drops" else size
        fails = gate.fails(down) and (one.significant or not gate.surely)
        text = percent(size, 2) if gate.relative else signed(size)
        sure = (" (significant)" if one.significant else " (not significant)") if gate.surely else ""
        yield fails, f"{one.metric}{where} changes by {text}{sure}"


def _view(report: Report, gate: Gate) -> View | None:
    if not gate.view:
        return None
    views = [*report.views, *([] if report.trend is None else [report.trend])]
    for view in views:
        if view.name == gate.view:
            return view
    raise OptionError(f"the gate {gate.text!r} is about segments that the report has not. Hint: add --by {gate.view}")


def _where(system: str, segment: str, report: Report) -> str:
    parts = [system if len(report.systems) > 1 else "", segment]
    named = ", ".join(part for part in parts if part)
    return f" of {named}" if named else ""
