"""Steps that make ranks or judgments before anything is measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import polars as pl

from frame_metrics.errors import choice, wanted
from frame_metrics.plan import shared
from frame_metrics.plan.question import Source, Step
from frame_metrics.plan.scores import SHARING, Ties, ranked
from frame_metrics.plan.table import missing

if TYPE_CHECKING:
    from frame_metrics.plan.question import Question


def by_score(score: str, *, ties: Ties, float32: bool) -> Step:
    """Return the step that ranks by a score."""
    if not isinstance(score, str):
        raise wanted("score", "the name of a column", score)
    if ties not in get_args(Ties):
        raise choice("ties", ties, get_args(Ties))

    def rank(table: pl.LazyFrame, asked: Question) -> Source:
        schema = table.collect_schema()
        by_item = ties in ("item_desc", "item_asc")
        for name in (score, *asked.keys, *((asked.item,) if by_item else ())):
            if name not in schema:
                raise missing(name, schema, "Hint: .rank.from_scores('score') takes the column with the score")
        item = asked.item if by_item else None
        table = table.drop(asked.rank, strict=False)
        return Source(
            ranked(table, keys=asked.keys, item=item, score=score, ties=ties, rank=asked.rank, float32=float32)
        )

    compared = pl.col(score).cast(pl.Float32) if float32 else pl.col(score)
    last = shared.last(ties) if ties in SHARING else None
    return Step("ranks", (score,), rank, compared, ties, last)
