"""Pictures of rankings: `df.rank.plot` as Altair charts, light and dark, and as SVG without a script.

Altair and vl-convert-python come with `pip install "frame_metrics[report]"` and are imported where a chart is made.
"""

from __future__ import annotations

from frame_metrics.plots.accessor import Plots
from frame_metrics.plots.look import theme, themed
from frame_metrics.plots.picture import figure, svg

__all__ = ["Plots", "figure", "svg", "theme", "themed"]
