"""Steps that make ranks or judgments before anything is measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from frame_metrics.errors import choice, wanted
from frame_metrics.plan.question import Source, Step
from frame_metrics.plan.scores import Ties, ranked
from frame_metrics.plan.table import missing

if TYPE_CHECKING:
    import polars as pl

    from frame_metrics.plan.question import Question


def by_score(score: str, *, ties: Ties, float32: bool) -> Step:
    """Return the step that ranks by a score."""
    if not isinstance(score, str):
        raise wanted("score", "the name of a column", score)
    if ties not in get_args(Ties):
        raise choice("ties", ties, get_args(Ties))

    def rank(table: pl.LazyFrame, asked: Question) -> Source:
        schema = table.collect_schema()
        for name in (score, *asked.keys, *(() if ties == "first" else (asked.item,))):
            if name not in schema:
                raise missing(name, schema, "Hint: .rank.from_scores('score') takes the column with the score")
        item = asked.item if ties != "first" else None
        table = table.drop(asked.rank, strict=False)
        return Source(
            ranked(table, keys=asked.keys, item=item, score=score, ties=ties, rank=asked.rank, float32=float32)
        )

    return Step("ranks", (score,), rank)
