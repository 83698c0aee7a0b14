"""How systems differ, query by query."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from frame_metrics.errors import TableError, choice, wanted
from frame_metrics.needs import needed
from frame_metrics.plots.data import Span, columns, gone, named, some, told_apart, written
from frame_metrics.plots.drawing import HEIGHT, above, finished, heading, line_chart, tip, values
from frame_metrics.plots.lines import NUMBER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from frame_metrics.plan.question import Question

    Rows = list[dict[str, Any]]

SAME = 1e-12
"""Values that differ by less are the same: the order of additions may differ."""

_MOST_SYSTEMS = 12


@dataclass(frozen=True)
class Pairs:
    """What each system has, query by query, with the baseline beside it."""

    baseline: str
    systems: dict[str, Rows]


def paired(result: Any, asked: Question, metric: str, system: str, baseline: Any) -> Pairs:
    """Return the differences of each system from the baseline, from the largest gain to the largest loss."""
    table = columns(result)
    keys = [name for name in asked.keys if name != system]
    found: dict[str, dict[str, float]] = {}
    for name, query, value in zip(named(table, [system]), named(table, keys), table[metric], strict=True):
        found.setdefault(name, {})
        if not gone(value):
            found[name][query] = value
    if len(found) < 2:  # noqa: PLR2004
        raise wanted("system", "a column with two values or more", list(found), "name the column of the systems")
    first = next(iter(found)) if baseline is None else written(baseline)
    if first not in found:
        raise choice("baseline", baseline, found)
    others = [name for name in found if name != first]
    told_apart(others, _MOST_SYSTEMS, "systems beside the baseline", "filter the frame")
    return Pairs(first, {name: _compared(found[name], found[first], (name, first)) for name in others})


def _compared(one: dict[str, float], base: dict[str, float], names: tuple[str, str]) -> Rows:
    if alone := next(iter(one.keys() ^ base.keys()), None):
        lacking = names[alone in one]
        raise TableError(
            f"both systems must have a value for each query, but {lacking} has none for query {alone}. Hint: keep the "
            "queries of both, or count every judged query with .rank.judged_by(qrels, each=...)"
        )
    rows: Rows = [
        {"query": query, "value": one[query], "base": base[query], "y": one[query] - base[query]} for query in one
    ]
    rows.sort(key=lambda row: (-row["y"], row["query"]))
    return [row | {"series": names[0], "x": place, "x2": place + 1} for place, row in enumerate(rows)]


def differences(pairs: Pairs, metric: str) -> Any:
    """Draw sorted differences: bars for one system, a line each for several."""
    if len(pairs.systems) == 1:
        ((name, rows),) = pairs.systems.items()
        return _bars(rows, name, pairs.baseline, metric)
    alt = needed("altair", "report")
    rows = [_between(row, len(found)) for found in pairs.systems.values() for row in some(found, 400)]
    zero = alt.Chart(values([{"y": 0}])).mark_rule(style="zero").encode(y="y:Q")
    axis = alt.Axis(format=".0%", grid=False, tickCount=5)
    return line_chart(
        rows,
        x=alt.X("x:Q", title="queries, from the largest gain to the largest loss", axis=axis, scale={"domain": [0, 1]}),
        y=f"difference of {metric}",
        title=heading(f"{metric}: each system less {pairs.baseline}", "Query by query; above the line is better"),
        tooltip=[tip("series:N", "system"), *_tips(metric)],
        behind=[zero],
        span=Span.of(row["y"] for row in rows),
        axis=_signed(),
    )


def _signed() -> Any:
    return above(tickCount=6, labelExpr="datum.value == 0 ? '0' : format(datum.value, '+.2~f')")


def _between(row: dict[str, Any], queries: int) -> dict[str, Any]:
    share = row["x"] / max(1, queries - 1)
    return row | {"x": share, "order": share}


def _tips(metric: str) -> list[Any]:
    return [
        tip("query:N", "query"),
        tip("y:Q", "difference", "+.4~f"),
        tip("value:Q", metric, NUMBER),
        tip("base:Q", "baseline", NUMBER),
    ]


def counted(rows: Sequence[dict[str, Any]]) -> tuple[int, int, int]:
    """Return how many differences are gains, nothing, and losses.

    Examples
    --------
    >>> counted([{"y": 0.5}, {"y": 0.0}, {"y": -0.1}, {"y": -0.2}])
    (1, 1, 2)
    """
    better, worse = (sum(sign * row["y"] > SAME for row in rows) for sign in (1, -1))
    return better, len(rows) - better - worse, worse


def _bars(rows: Rows, name: str, base: str, metric: str) -> Any:
    alt = needed("altair", "report")
    shown = some(rows)
    step = len(rows) / max(1, len(shown))
    kept = [row | {"x": place * step, "x2": (place + 1) * step} for place, row in enumerate(shown)]
    domain = {"domain": [0, max(1, len(rows))], "nice": False}
    y = alt.Y("y:Q", title=f"difference of {metric}", axis=_signed())
    bars = (
        alt.Chart()
        .mark_rect()
        .encode(x=alt.X("x:Q", axis=None, scale=domain), x2="x2:Q", y=y, y2=alt.datum(0), tooltip=_tips(metric))
    )
    signs = {"gain": [row for row in kept if row["y"] > SAME], "loss": [row for row in kept if row["y"] < -SAME]}
    drawn = [bars.properties(data=values(found)).mark_rect(style=style) for style, found in signs.items()]
    zero = alt.Chart(values([{"y": 0}])).mark_rule(style="zero").encode(y="y:Q")
    better, same, worse = counted(rows)
    words = [
        _word(f"{name} is better: {better:,}", "better", x="width", y=10),
        _word(f"the same: {same:,}", "note", x="width", y=28),
        _word(f"{name} is worse: {worse:,}", "worse", x=0, y=HEIGHT - 8),
    ]
    mean = fmean(row["y"] for row in rows) if rows else 0.0
    few = f"; one in {step:,.0f} is drawn" if step > 1 else ""
    note = f"{mean:+.4f} on average; each bar is one of {len(rows):,} queries{few}"
    return finished(alt.layer(*drawn, zero, *words), heading(f"{metric}: {name} less {base}", note))


def _word(text: str, style: str, *, x: float | str, y: float) -> Any:
    """Return a text in one of the two corners that sorted bars leave free."""
    alt = needed("altair", "report")
    mark = {"align": "right", "dx": -4} if x == "width" else {"align": "left", "dx": 4}
    chart = alt.Chart(values([{"text": text}])).mark_text(style=[style, "name"], baseline="middle", limit=220, **mark)
    return chart.encode(x=alt.value(x), y=alt.value(y), text="text:N")
