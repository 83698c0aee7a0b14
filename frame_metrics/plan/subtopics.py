"""Rows that say that an item is relevant to a subtopic, with what formulas of diversity ask of them.

There are few of these rows. They are sorted twice, by subtopic and by item, and numbered: the rest is sums over whole
numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from frame_metrics.errors import OptionError
from frame_metrics.formulas import terms
from frame_metrics.plan import checks
from frame_metrics.plan.rows import changed
from frame_metrics.plan.scores import SHARING
from frame_metrics.plan.table import ITEM, LAST_RANK, SUBTOPIC, missing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from frame_metrics.plan.question import Question
    from frame_metrics.plan.table import Table

_LIST, _ITEM, _SUBTOPIC, _NEW, _CODE, _WEIGHT, _TAKEN, _GAIN, _MOST, _PICKED = (
    f"{terms.PREFIX}{name}"
    for name in ("list_no", "item_no", "subtopic_no", "new", "code", "weight", "taken", "gain", "most", "picked")
)
_DIGITS = 12
"""Gains that agree in so many digits are equal: the order of a sum must not decide which item is taken."""


class SubtopicRows:
    """The relevant rows of a table with subtopics.

    Parameters
    ----------
    asked
        What is asked.
    names
        The columns that are wanted.
    """

    def __init__(self, asked: Question, names: Iterable[str]) -> None:
        self.asked = asked
        self.names = frozenset(names)
        if ties := [step.ties for step in asked.steps if step.ties in SHARING]:
            raise OptionError(
                f"metrics of subtopics take one order of tied items, and not ties={ties[0]!r}, which looks at the "
                "relevance of an item. Hint: choose ties='item_desc', 'item_asc' or 'first'"
            )

    def of(self, table: Table) -> pl.LazyFrame:
        """Return the rows with every column that is wanted; the plan fails if something is wrong with a row."""
        self._require(table)
        level = self.asked.min_relevance
        rows = table.relevant(lambda relevance: relevance > 0 if level is None else relevance >= level)
        bad = checks.values(table, self.asked) | checks.unnamed()
        # As part of a column, not as a filter: that would be pushed down to the scan, and see all rows.
        rank = pl.when(checks.fine(bad, self.asked, rows)).then(pl.col(terms.RANK)).alias(terms.RANK)
        rows = rows.with_columns(rank).select(*self.asked.keys, terms.RANK, ITEM, SUBTOPIC)
        rows = self._by_item(self._by_subtopic(rows))
        for alpha, wanted in self._greedy().items():
            rows = _ideal(rows, alpha, wanted)
        return rows

    def _require(self, table: Table) -> None:
        present = table.given.collect_schema()
        if not table.has_subtopic:
            what = "this metric needs a row for each query, item and subtopic"
            raise missing(self.asked.subtopic, present, f"Hint: {what}; name yours with .rank.using(subtopic=...)")
        if not table.has_item:
            raise missing(self.asked.item, present, "Hint: name yours with .rank.using(item=...)")

    def _by_subtopic(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return the rows with the number of their subtopic, and how many of it stand above."""
        rows = rows.sort(*self.asked.keys, SUBTOPIC, pl.col(terms.RANK).fill_null(LAST_RANK))
        rows = rows.with_columns(changed([*self.asked.keys, SUBTOPIC]).alias(_NEW))
        index = pl.int_range(pl.len(), dtype=pl.UInt32)
        start = pl.when(_NEW).then(index).otherwise(0).cum_max()
        rows = rows.with_columns(pl.col(_NEW).cum_sum().alias(_SUBTOPIC), (index - start).alias(terms.SEEN))
        if terms.OF_SUBTOPIC not in self.names:
            return rows
        return rows.with_columns(pl.len().over(_SUBTOPIC).alias(terms.OF_SUBTOPIC))

    def _by_item(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return the rows in the order of their items, numbered; the plan fails where rows contradict each other."""
        keys, rank, new = self.asked.keys, pl.col(terms.RANK), pl.col(_NEW)
        rows = rows.sort(*keys, ITEM, _SUBTOPIC).with_columns(changed([*keys, ITEM]).alias(_NEW))
        rows = rows.with_columns(new.cum_sum().alias(_ITEM), changed(keys).cum_sum().alias(_LIST))
        place = pl.col(_LIST).cast(pl.Int64) * (LAST_RANK + 1) + rank.cast(pl.Int64)
        rows = rows.with_columns(pl.when(new).then(place).alias(_CODE))
        rows = rows.with_columns(pl.col(_CODE).is_not_null() & pl.col(_CODE).is_duplicated())
        same = {
            checks.MOVED_ITEM: ~new & rank.ne_missing(rank.shift()),
            checks.SHARED_RANK: pl.col(_CODE),
            checks.SAME_PAIR: ~new & (pl.col(_SUBTOPIC) == pl.col(_SUBTOPIC).shift()),
        }
        flags = {number: f"{terms.PREFIX}problem:{number}" for number in same}
        rows = rows.with_columns(where.alias(flags[number]) for number, where in same.items())
        bad = {number: pl.col(name) for number, name in flags.items()}
        return rows.filter(checks.fine(bad, self.asked, rows)).drop(_CODE, *flags.values())

    def _greedy(self) -> dict[float, list[tuple[str, str, int]]]:
        """Return the columns of ideal lists that are wanted: for each alpha the part, its name and its length."""
        wanted: dict[float, list[tuple[str, str, int]]] = {}
        for name in sorted(self.names):
            if name.startswith(terms.GREEDY):
                part, k, alpha = name.removeprefix(terms.GREEDY).split(":")
                wanted.setdefault(float(alpha), []).append((part, name, int(k)))
        return wanted


def _ideal(rows: pl.LazyFrame, alpha: float, wanted: list[tuple[str, str, int]]) -> pl.LazyFrame:
    """Return the rows, of which the first of each item carries its place in the ideal list, and what it gains there."""
    place, gain = (f"{terms.GREEDY}{part}" for part in ("place", "gain"))
    start = {
        _WEIGHT: pl.lit(1.0),
        _TAKEN: pl.lit(False),
        place: pl.lit(None, dtype=pl.UInt32),
        gain: pl.lit(None, dtype=pl.Float64),
    }
    rows = rows.with_columns(**start)
    for number in range(1, 1 + max(k for _, _, k in wanted)):
        rows = _taken(rows, alpha, number, place, gain)
    made = {"place": place, "gain": gain}
    rows = rows.with_columns(pl.when(_NEW).then(made[part]).alias(name) for part, name, _ in wanted)
    return rows.drop(_WEIGHT, _TAKEN, _GAIN, _MOST, _PICKED, place, gain)


def _taken(rows: pl.LazyFrame, alpha: float, number: int, place: str, gain: str) -> pl.LazyFrame:
    """Return the rows after one more item of each query is taken: the one that gains most, the last among equals."""
    item, weight, picked, about = pl.col(_ITEM), pl.col(_WEIGHT), pl.col(_PICKED), pl.col(_GAIN).round_sig_figs(_DIGITS)
    rows = rows.with_columns(pl.when(~pl.col(_TAKEN)).then(weight.sum().over(_ITEM)).alias(_GAIN))
    rows = rows.with_columns((about == about.max().over(_LIST)).alias(_MOST))
    last = pl.when(_MOST).then(item).max().over(_LIST)
    rows = rows.with_columns((item == last).fill_null(False).alias(_PICKED))
    return rows.with_columns(
        pl.when(picked).then(pl.lit(number, dtype=pl.UInt32)).otherwise(place).alias(place),
        pl.when(picked).then(_GAIN).otherwise(gain).alias(gain),
        (pl.col(_TAKEN) | picked).alias(_TAKEN),
        pl.when(picked.any().over(_SUBTOPIC)).then(weight * (1.0 - alpha)).otherwise(weight).alias(_WEIGHT),
    )
