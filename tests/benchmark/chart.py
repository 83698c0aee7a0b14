"""A chart of the peers for a page: seconds on a logarithmic scale.

python -m tests.benchmark.chart RESULT.json CHART.svg
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

OURS, THEIRS = "#d9480f", "#adb5bd"
SHORTEST = 0.001
MANY = 10
TICKS = [0.001, 0.01, 0.1, 1, 10, 100]
STARTS = {"int_keys": "Polars, integer keys", "text_keys": "Polars, text keys", "pandas": "pandas, text keys"}


def bars(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the bars: every peer that ran, and ours from each kind of frame that they start from."""
    ran = [peer for peer in result["peers"] if peer["seconds"] and not peer["peer"].startswith("ours")]
    made = [_bar(_label(peer), peer["seconds"], peer["wall"], ours=False) for peer in ran]
    whole = [peer for peer in ran if peer["metrics"] == 7]
    for takes, name in STARTS.items():
        if times := [peer["ours_seconds"] for peer in whole if peer["takes"] == takes]:
            made.append(_bar(f"frame_metrics ({name})", min(times), None, ours=True))
    return sorted(made, key=lambda bar: bar["seconds"])


def _label(peer: dict[str, Any]) -> str:
    return peer["peer"] if peer["metrics"] == 7 else f"{peer['peer']} (nDCG only)"


def _bar(name: str, seconds: float, ratio: float | None, *, ours: bool) -> dict[str, Any]:
    time = f"{seconds * 1e3:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
    return {
        "name": name,
        "seconds": seconds,
        "start": SHORTEST,
        "whose": "frame_metrics" if ours else "others",
        "text": time if ratio is None else f"{time}, {ratio:.{0 if ratio >= MANY else 1}f}x",
    }


def drawn(result: dict[str, Any]) -> Any:
    """Return the chart."""
    import altair as alt

    values = bars(result)
    rows = max(peer["rows"] for peer in result["peers"])
    base = alt.Chart(alt.Data(values=values)).encode(
        y=alt.Y("name:N", sort=[bar["name"] for bar in values], title=None, axis=alt.Axis(labelLimit=280, ticks=False)),
    )
    scale = alt.Scale(type="log", domainMin=SHORTEST)
    colour = alt.Color(
        "whose:N", scale=alt.Scale(domain=["frame_metrics", "others"], range=[OURS, THEIRS]), legend=None
    )
    drawn_bars = base.mark_bar(height=16, cornerRadiusEnd=2).encode(
        x=alt.X("start:Q", scale=scale, title="seconds, logarithmic scale", axis=alt.Axis(format="~g", values=TICKS)),
        x2="seconds:Q",
        color=colour,
    )
    texts = base.mark_text(align="left", dx=5, color="#343a40").encode(x=alt.X("seconds:Q", scale=scale), text="text:N")
    title = alt.Title(
        f"Seven ranking metrics of {rows:,} rows",
        subtitle="from a frame in memory, conversion included; x: times ours from the same frame",
    )
    return (
        (drawn_bars + texts)
        .properties(width=460, height=alt.Step(26), title=title, background="white")
        .configure_view(stroke=None)
        .configure_axis(grid=False, labelFontSize=12, titleFontWeight="normal", domainColor="#ced4da")
        .configure_title(anchor="start", fontSize=15, subtitleColor="#868e96")
    )


def save(result: dict[str, Any], path: str) -> None:
    """Write the chart as SVG or PNG, as the name of the file says."""
    drawn(result).save(path, scale_factor=2) if path.endswith(".png") else drawn(result).save(path)


if __name__ == "__main__":
    save(json.loads(Path(sys.argv[1]).read_text()), sys.argv[2])
