"""Items with one score: what becomes of the places that they share.

Under these policies the ranks of tied items are the first of their places. When it is known what the items are worth,
`"best"` and `"worst"` put them in order; `"expected"` keeps them together, and every item stands at every place of its
block with the same weight. A number to which each row adds something is then a sum over items and places. It depends on
the order by no more than the place of the item and the number of hits down to it, and the number to be expected at a
place is known: of n tied items r are relevant, h were found above, so an item at the j-th place is hit number
h + 1 + (j - 1) (r - 1) / (n - 1) on average.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from frame_metrics.formulas import terms
from frame_metrics.plan.question import Source
from frame_metrics.plan.rows import PLACE, RowSet
from frame_metrics.plan.table import BLOCK

if TYPE_CHECKING:
    from collections.abc import Callable

    from frame_metrics.formulas.terms import IdealSum
    from frame_metrics.plan.question import Question
    from frame_metrics.plan.scores import Ties
    from frame_metrics.plan.table import Table

WEIGHT = f"{terms.PREFIX}weight"
_COUNT, _START, _ABOVE, _TIED, _J, _ITEM = (
    f"{terms.PREFIX}{name}" for name in ("count", "start", "hits_above", "hits_tied", "j", "of_item")
)


def last(ties: Ties) -> Callable[[Source, Question], Source]:
    """Return what is done with shared ranks when all other steps are done."""

    def together(source: Source, asked: Question) -> Source:
        rank = pl.col(asked.rank)
        block = pl.when(rank.is_not_null()).then(pl.len().over(*asked.keys, asked.rank)).cast(pl.UInt32)
        rows = source.rows.with_columns(block.alias(BLOCK))
        null = pl.lit(None, dtype=pl.UInt32).alias(BLOCK)
        parts = None if source.parts is None else tuple(part.with_columns(null) for part in source.parts)
        return Source(rows, lists=source.lists, parts=parts)

    def apart(source: Source, asked: Question) -> Source:
        if asked.relevance not in source.rows.collect_schema():
            return source
        rank, relevance = pl.col(asked.rank), pl.col(asked.relevance).cast(pl.Float64)
        worth = pl.when(relevance > 0).then(relevance).otherwise(0.0)
        place = worth.rank("ordinal", descending=ties == "best").over(*asked.keys, asked.rank)
        rows = source.rows.with_columns((rank + place - 1).alias(asked.rank))
        # Ranks that were made need no check, and are still shared in the parts.
        null = pl.lit(None, dtype=pl.Int64).alias(asked.rank)
        parts = None if source.parts is None else tuple(part.with_columns(null) for part in source.parts)
        return Source(rows, lists=source.lists, parts=parts)

    return together if ties == "expected" else apart


class TiedRows:
    """Relevant items, each at every place that it shares with others.

    Parameters
    ----------
    asked
        What is asked.
    names
        The columns that are wanted.
    sums
        Sums over the ideal list that are wanted, by the names of their columns.
    floating
        Whether grades are floats.
    """

    def __init__(self, asked: Question, names: frozenset[str], sums: dict[str, IdealSum], *, floating: bool) -> None:
        graded = {terms.GRADE} if sums or terms.GRADE in names else set()
        self.asked = asked
        self.names = names
        self.sums = sums
        self.items = RowSet(
            "relevant", asked, {terms.RANK, terms.RELEVANT, *graded}, {}, ordered=False, floating=floating
        )
        self.ideals = RowSet("relevant", asked, {PLACE}, sums, ordered=False, floating=floating)

    def of(self, table: Table) -> pl.LazyFrame:
        """Return a row for each item and place; items of one grade in one block are one, with their weight."""
        keys, rank, block = self.asked.keys, pl.col(terms.RANK), pl.col(BLOCK)
        rows = self.items.alone(table)
        same = [name for name in rows.collect_schema().names() if name not in keys]
        rows = rows.group_by(*keys, *same).agg(pl.len().alias(_COUNT)).sort(*keys, terms.RANK)
        rows = self._counted(rows)
        if self.sums:
            ideals = self.ideals.of(table).filter(pl.col(PLACE) == 1).select(*keys, *self.sums)
            rows = rows.join(ideals, on=keys, how="left", nulls_equal=True)
        places = pl.int_ranges(rank.cast(pl.Int64), rank.cast(pl.Int64) + block)
        rows = rows.with_columns(rank.alias(_START), places.alias(terms.RANK)).with_row_index(_ITEM)
        rows = rows.explode(terms.RANK).with_columns((rank - pl.col(_START) + 1).alias(_J))
        rows = rows.with_columns(self._at_places())
        deep = rank if self.asked.depth is None else pl.when(rank <= self.asked.depth).then(rank)
        rows = rows.with_columns(deep.cast(pl.UInt32).alias(terms.RANK))
        found = pl.when(terms.RELEVANT).then(rank).alias(terms.FOUND)
        return rows.with_columns(found, rank.is_not_null().alias(terms.LISTED))

    def _counted(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return the rows with what is known of their list and block."""
        keys, count = self.asked.keys, pl.col(_COUNT)
        relevant = pl.when(terms.RELEVANT).then(count).otherwise(0).cast(pl.Int64)
        listed = pl.when(pl.col(terms.RANK).is_not_null()).then(relevant).otherwise(0)
        return rows.with_columns(
            relevant.sum().over(keys).cast(pl.UInt32).alias(terms.SIZE),
            count.sum().over(keys).cast(pl.UInt32).alias(terms.GRADED),
            listed.sum().over(*keys, terms.RANK).alias(_TIED),
            (listed.cum_sum().over(keys) - listed).alias(_ABOVE),
        ).with_columns(pl.col(_ABOVE).min().over(*keys, terms.RANK))

    def _at_places(self) -> list[pl.Expr]:
        """Return the weight of an item at a place, and what is to be expected there."""
        block, j = pl.col(BLOCK).cast(pl.Float64), pl.col(_J).cast(pl.Float64)
        above, tied = pl.col(_ABOVE), pl.col(_TIED)
        more = pl.when(block > 1).then((j - 1) * (tied - 1) / (block - 1)).otherwise(0.0)
        columns = [
            pl.when(block.is_not_null()).then(pl.col(_COUNT) / block).otherwise(0.0).alias(WEIGHT),
            pl.when(terms.RELEVANT).then(above + 1 + more).alias(terms.HIT),
        ]
        if terms.FIRST in self.names:
            # That the j-th place is the first of a hit takes non-relevant items at all places above it.
            left = block - j + 1
            step = pl.when(j > 1).then((left - (tied - 1)).clip(0) / left).otherwise(1.0)
            first = pl.when(terms.RELEVANT, above == 0).then(step.cum_prod().over(_ITEM)).otherwise(0.0)
            columns.append(first.alias(terms.FIRST))
        return columns
