"""Every metric, written once."""

from __future__ import annotations

from frame_metrics.formulas.base import ALIASES, DEFINITIONS, Definition, Formula, Metric, T
from frame_metrics.formulas.counts import Counts
from frame_metrics.formulas.cutoff import Cutoff
from frame_metrics.formulas.graded import Graded
from frame_metrics.formulas.order import Order
from frame_metrics.formulas.subtopics import Subtopics
from frame_metrics.formulas.text import parse, parse_all
from frame_metrics.formulas.trec import Trec


class AllMetrics(Cutoff[T], Order[T], Graded[T], Counts[T], Subtopics[T], Trec[T]):
    """All metrics as methods."""

    __slots__ = ()


__all__ = ["ALIASES", "DEFINITIONS", "AllMetrics", "Definition", "Formula", "Metric", "parse", "parse_all"]
