"""The rows that metrics need, with the columns that their formulas mention.

Nearly every metric is a function of the relevant rows alone, and these are few. A lazy plan gathers them into one list
a query, puts each in order, and spreads it again: nothing is sorted as a whole, so a streaming engine holds a list of
small numbers for each query and no more. A frame in memory is sorted where that is faster. The few metrics that need
other rows have whole rows sorted.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from frame_metrics.formulas import terms
from frame_metrics.formulas.terms import Columns
from frame_metrics.plan import checks
from frame_metrics.plan.table import BLOCK, LAST_RANK, RELEVANCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from frame_metrics.formulas.base import Rows
    from frame_metrics.formulas.terms import IdealSum
    from frame_metrics.plan.question import Question
    from frame_metrics.plan.table import Table

PLACE = terms.IDEAL
"""The number of a row in its list, which is also its place in the ideal list."""

_DOWN = f"{terms.PREFIX}down"
_SAME = f"{terms.PREFIX}same"
_STAY = f"{terms.PREFIX}stay:"
_GRADE_LISTED = f"{terms.PREFIX}grade_listed"


def every_row_relevant(kind: Rows, asked: Question) -> bool:
    """Return whether all rows of a kind are relevant, for binary and graded metrics alike."""
    return kind == "subtopics" or (kind == "relevant" and asked.min_relevance is None)


class RowSet:
    """Rows of one kind.

    Parameters
    ----------
    kind
        Which rows: the relevant ones, the judged ones, or all.
    asked
        What is asked.
    names
        The columns that are wanted.
    sums
        Sums over the ideal list that are wanted, by the names of their columns.
    ordered
        Whether two rows of a list at one rank are a mistake.
    floating
        Whether grades are floats.
    """

    def __init__(
        self,
        kind: Rows,
        asked: Question,
        names: Iterable[str],
        sums: dict[str, IdealSum],
        *,
        ordered: bool,
        floating: bool,
    ) -> None:
        self.kind = kind
        self.asked = asked
        self.names = frozenset(names)
        self.sums = sums
        self.ordered = ordered
        self.floating = floating
        self.all_relevant = every_row_relevant(kind, asked)
        # Keys that are many take long to sort.
        self.gathered = bool(self._reached) or not asked.eager or len(asked.keys) > 1

    def of(self, table: Table) -> pl.LazyFrame:
        """Return the rows with every column that is wanted; the plan fails if something is wrong with a row."""
        rows = self.alone(table)
        if self.kind != "relevant":
            return self._by_rank(rows)
        return self._in_lists(rows) if self.gathered else self._by_list(rows)

    def alone(self, table: Table) -> pl.LazyFrame:
        """Return the rows with what is known of each by itself, or from the whole table."""
        rows = self._chosen(table)
        # As part of a column, not as a filter: that would be pushed down to the scan, and see all rows.
        fine = checks.fine(checks.values(table, self.asked), self.asked, rows)
        rows = rows.with_columns(pl.when(fine).then(pl.col(terms.RANK)).alias(terms.RANK))
        block = [BLOCK] if self.asked.tied else []
        rows = rows.select(*self.asked.keys, terms.RANK, *block, *self._flags(table))
        if terms.TOP_GRADE in self.names:
            top = pl.col(terms.GRADE).max() if self.asked.top_grade is None else pl.lit(self.asked.top_grade)
            rows = rows.with_columns(top.alias(terms.TOP_GRADE))
        return rows

    def _chosen(self, table: Table) -> pl.LazyFrame:
        if self.kind == "all":
            return table.frame
        if self.kind == "judged":
            return table.frame.filter(pl.col(RELEVANCE).is_not_null())
        level = self.asked.min_relevance
        if self._graded or level is None:
            return table.relevant(lambda relevance: relevance > 0)
        return table.relevant(lambda relevance: relevance >= level)

    @property
    def _graded(self) -> bool:
        return bool(self.sums) or not self.names.isdisjoint({terms.GRADE, terms.BEST, terms.BEST_LISTED})

    def _flags(self, table: Table) -> list[pl.Expr]:
        """Return what is known of a row by itself, as far as it is wanted or something is made of it."""
        rank, relevance = pl.col(terms.RANK), pl.col(RELEVANCE)
        level = self.asked.min_relevance
        relevant = (relevance > 0 if level is None else relevance >= level).fill_null(False)
        # What is too large for this type is refused.
        grade = relevance.cast(pl.Int32, strict=False) if table.large else relevance
        wanted = self.names
        flags = {
            terms.LISTED: (rank.is_not_null(), terms.LISTED in wanted),
            terms.GRADE: (grade if self.kind == "relevant" else pl.when(relevance > 0).then(grade), self._graded),
            terms.JUDGED: (relevance.is_not_null(), terms.JUDGED in wanted),
            terms.RELEVANT: (relevant, not wanted.isdisjoint({terms.RELEVANT, terms.OUTRANKED})),
            terms.FOUND: (
                pl.when(relevant).then(rank),
                not self.all_relevant and not wanted.isdisjoint({terms.FOUND, terms.HIT, terms.ABOVE}),
            ),
            terms.NONRELEVANT: (
                (relevance >= 0).fill_null(False) & ~relevant,
                not wanted.isdisjoint({terms.NONRELEVANT, terms.ABOVE}),
            ),
        }
        return [flag.alias(name) for name, (flag, is_wanted) in flags.items() if is_wanted]

    def _in_lists(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return the rows list by list.

        What belongs to one row stays together. Ranks, and grades, that are put in order stand beside rows that they
        need not belong to: a column by itself is sorted faster than whole rows.
        """
        keys, rank = self.asked.keys, pl.col(terms.RANK)
        rows = rows.with_columns(*self._stays(), *self._grades_listed())
        carried = [c for c in rows.collect_schema().names() if c not in {*keys, terms.TOP_GRADE}]
        values, order = pl.col(carried), rank.fill_null(LAST_RANK)
        # Only a product down the list needs whole rows in order.
        if self._reached and self.asked.eager:
            rows = rows.sort(*keys, order)
        elif self._reached:
            values = values.sort_by(order)
        elif len(keys) == 1:
            # Lists are then slices of what is there, which takes less time and memory than picking their rows.
            rows = rows.sort(keys)
        top = [pl.col(terms.TOP_GRADE).first()] if terms.TOP_GRADE in self.names else []
        made = self._made()
        lists = rows.group_by(keys, maintain_order=self.asked.eager or len(keys) == 1).agg(values, *top)
        lists = lists.with_columns(rank.list.len().alias(terms.SIZE), **made)
        lists = lists.with_columns(_over_ideal(ideal).alias(name) for name, ideal in self.sums.items())
        wanted = self.names | {PLACE, self._down, *self._reached.values()}
        spread = [c for c in dict.fromkeys((*carried, *made)) if c in wanted]
        scalars = [c for c in (terms.SIZE, terms.TOP_GRADE) if c in self.names]
        rows = lists.select(*keys, *self.sums, *scalars, *spread).explode(spread)
        # The reader has passed the rows above, not yet this one. A shift within lists would take three times as long.
        rows = rows.with_columns(pl.col(name) / pl.col(stay) for name, stay in self._reached.items())
        return self._numbered(rows)

    def _by_list(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return the rows list by list, as `_in_lists` does."""
        rows = rows.sort(self.asked.keys)
        rank, found = (pl.col(name) for name in (terms.RANK, terms.RANK if self.all_relevant else terms.FOUND))
        makers: dict[str, Callable[[], pl.Expr]] = {
            PLACE: self._place,
            terms.SIZE: self._size,
            terms.FOUND: partial(self._upwards, found),
            terms.BEST: partial(self._downwards, pl.col(terms.GRADE)),
            terms.BEST_LISTED: partial(self._downwards, pl.col(_GRADE_LISTED)),
            _DOWN: partial(self._upwards, rank),
        }
        rows = rows.with_columns(self._grades_listed())
        rows = rows.with_columns(make().alias(name) for name, make in makers.items() if name in self._wanted)
        return self._numbered(self._summed(rows))

    def _summed(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return rows that stand list by list with the sums over their ideal lists."""
        if not self.sums:
            return rows
        keys = self.asked.keys
        spread = [c for c in rows.collect_schema().names() if c not in keys]
        lists = rows.group_by(keys, maintain_order=True).agg(spread)
        lists = lists.with_columns(_over_ideal(ideal).alias(name) for name, ideal in self.sums.items())
        wanted = [c for c in spread if c in self.names | {PLACE, self._down}]
        return lists.select(*keys, *self.sums, *wanted).explode(wanted)

    def _numbered(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return the rows with the numbers of hits; the plan fails where two rows share a rank and must not."""
        if terms.HIT in self.names:
            found = pl.col(terms.FOUND).is_not_null()
            rows = rows.with_columns(pl.when(found).then(pl.col(PLACE)).alias(terms.HIT))
        down = pl.col(self._down)
        return self._distinct(rows, (down == down.shift()) & (pl.col(PLACE) > 1))

    @property
    def _list(self) -> pl.Expr:
        """The number of the list."""
        return self._start.cum_sum().cast(pl.Int64)

    def _upwards(self, rank: pl.Expr) -> pl.Expr:
        """Return the ranks of each list in order, nulls last.

        The rows stand list by list, so sorting number of the list and rank as one number moves ranks only within their
        list; a sort of whole numbers is several times as fast as one by two columns.
        """
        base = self._list * (LAST_RANK + 1)
        down = (base + rank.cast(pl.Int64).fill_null(LAST_RANK)).sort() - base
        return pl.when(down < LAST_RANK).then(down).cast(pl.UInt32)

    def _downwards(self, grade: pl.Expr) -> pl.Expr:
        """Return the grades of each list in falling order, nulls last."""
        code = (grade.rank("dense") if self.floating else grade).cast(pl.Int64).fill_null(0)
        base = code.max() + 1
        end = (self._list + 1) * base
        best = end - (end - code).sort()
        if not self.floating:
            return pl.when(best > 0).then(best)
        return grade.drop_nulls().unique().sort().gather(pl.when(best > 0).then(best - 1))

    def _place(self) -> pl.Expr:
        index = pl.int_range(pl.len(), dtype=pl.UInt32)
        return index + 1 - pl.when(self._start).then(index).otherwise(0).cum_max()

    def _size(self) -> pl.Expr:
        index = pl.int_range(pl.len(), dtype=pl.UInt32)
        last = self._start.shift(-1, fill_value=True)
        end = pl.when(last).then(index).otherwise(pl.lit(LAST_RANK, dtype=pl.UInt32)).cum_min(reverse=True)
        return end + 1 - pl.when(self._start).then(index).otherwise(0).cum_max()

    @property
    def _down(self) -> str:
        """The column with the ranks of a list in order, which shared ranks are looked for in."""
        return terms.FOUND if self.all_relevant else _DOWN

    def _made(self) -> dict[str, pl.Expr]:
        """Return the columns that are made of whole lists."""
        down = pl.col(terms.RANK).list.sort(nulls_last=True)
        found = down if self.all_relevant else pl.col(terms.FOUND).list.sort(nulls_last=True)
        lists = {
            PLACE: pl.int_ranges(1, pl.col(terms.RANK).list.len() + 1, dtype=pl.UInt32),
            terms.FOUND: found,
            terms.BEST: pl.col(terms.GRADE).list.sort(descending=True, nulls_last=True),
            terms.BEST_LISTED: pl.col(_GRADE_LISTED).list.sort(descending=True, nulls_last=True),
            _DOWN: down,
        }
        reaches = {name: pl.col(stay).list.eval(pl.element().cum_prod()) for name, stay in self._reached.items()}
        return {name: made for name, made in lists.items() if name in self._wanted} | reaches

    @property
    def _wanted(self) -> set[str]:
        """The columns that are wanted, and those from which others are made."""
        wanted = {PLACE, *self.names, *({self._down} if self.ordered else ())}
        wanted |= {terms.FOUND} if terms.HIT in wanted else set()
        return wanted | {terms.BEST_LISTED if ideal.listed else terms.BEST for ideal in self.sums.values()}

    @property
    def _reached(self) -> dict[str, str]:
        """The columns that say how far a reader gets, and those they are made of."""
        return {name: name.replace(terms.REACH, _STAY) for name in sorted(self.names) if name.startswith(terms.REACH)}

    def _stays(self) -> list[pl.Expr]:
        """Return the probabilities that a reader who looks at a row goes on."""
        stays = []
        for name, stay in self._reached.items():
            top = name.removeprefix(terms.REACH)
            # Times, and not `when`: what that leaves out is not checked, and a grade has to be, missed or not.
            stop = Columns().stop(float(top) if top else None) * pl.col(terms.RANK).is_not_null()
            stays.append((1.0 - stop).alias(stay))
        return stays

    def _grades_listed(self) -> list[pl.Expr]:
        if terms.BEST_LISTED not in self.names and not any(ideal.listed for ideal in self.sums.values()):
            return []
        return [pl.when(pl.col(terms.RANK).is_not_null()).then(pl.col(terms.GRADE)).alias(_GRADE_LISTED)]

    def _distinct(self, rows: pl.LazyFrame, same: pl.Expr) -> pl.LazyFrame:
        """Return the rows; the plan fails where one has the rank of another and must not."""
        if not self.ordered:
            return rows
        rows = rows.with_columns(same.alias(_SAME))
        return rows.filter(checks.fine({checks.SHARED_RANK: pl.col(_SAME)}, self.asked, rows))

    def _by_rank(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return the rows in the order of their ranks; within a shared one relevant rows last, for `outranked`."""
        makers = {terms.HIT: self._hit, terms.ABOVE: self._above, terms.OUTRANKED: self._outranked}
        made = {name: make() for name, make in makers.items() if name in self.names}
        if not (self.ordered or made):
            return rows
        last = [terms.RELEVANT] if terms.OUTRANKED in self.names else []
        rank = pl.col(terms.RANK)
        # A sort that puts nulls last takes a slower way than one without nulls.
        rows = rows.sort(*self.asked.keys, rank.fill_null(LAST_RANK), *last).with_columns(**made)
        return self._distinct(rows, (rank == rank.shift()) & ~self._start)

    def _hit(self) -> pl.Expr:
        found = pl.col(terms.FOUND).is_not_null()
        return pl.when(found).then(self._count(found))

    def _above(self) -> pl.Expr:
        found = pl.col(terms.FOUND).is_not_null()
        return pl.when(found).then(self._count(pl.col(terms.NONRELEVANT)))

    def _outranked(self) -> pl.Expr:
        """Half of the rows passed until here and half of those passed where the shared rank began."""
        flag = ~pl.col(terms.RELEVANT)
        rank = pl.col(terms.RANK)
        new = self._start | rank.ne_missing(rank.shift())
        return (self._count(flag) + self._count(flag, new)) / 2

    @property
    def _start(self) -> pl.Expr:
        """Whether a row is the first of its list."""
        return changed(self.asked.keys)

    def _count(self, flag: pl.Expr, until: pl.Expr | None = None) -> pl.Expr:
        """Return how many rows of the list, up to this one, have the flag; or up to where `until` was last true."""
        passed = flag.cast(pl.UInt32).cum_sum()
        before = passed - flag.cast(pl.UInt32)
        end = passed if until is None else pl.when(until).then(before).otherwise(0).cum_max()
        return end - pl.when(self._start).then(before).otherwise(0).cum_max()


def changed(keys: list[str]) -> pl.Expr:
    """Return whether a row has other keys than the row before."""
    differ = [pl.col(key).ne_missing(pl.col(key).shift()) for key in keys]
    return pl.any_horizontal(differ) if len(differ) > 1 else differ[0]


def _over_ideal(ideal: IdealSum) -> pl.Expr:
    grades, element = pl.col(terms.BEST_LISTED if ideal.listed else terms.BEST), pl.element()
    whole = (grades.list.eval(ideal.gain(element)) * pl.col(PLACE).list.eval(ideal.weight(element))).list.sum()
    return pl.when(whole > 0).then(whole)
