"""The rows that metrics need, with the columns that their formulas mention.

Nearly every metric is a function of the relevant rows alone, and these are few. They are put in order once by grade
and once by rank; after that, the number of a row within its query is plain arithmetic on running counts, with no
window and no sort inside a group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from frame_metrics.formulas import terms
from frame_metrics.formulas.terms import Columns
from frame_metrics.plan import checks
from frame_metrics.plan.table import LAST_RANK, RELEVANCE

if TYPE_CHECKING:
    from collections.abc import Callable

    from frame_metrics.formulas.base import Metric, Rows
    from frame_metrics.plan.question import Question
    from frame_metrics.plan.table import Table

FIRST = f"{terms.PREFIX}first"
"""Whether a row is the first of its list."""

_DOWN = f"{terms.PREFIX}down"
_SAME = f"{terms.PREFIX}same"
_BY_RANK = {terms.HIT, terms.ABOVE, terms.OUTRANKED}
_OF_LISTS = {terms.IDEAL, terms.BEST, terms.BEST_LISTED, terms.SIZE, FIRST}


class RowSet:
    """Rows of one kind, and the metrics that are computed from them.

    Parameters
    ----------
    kind
        Which rows: the relevant ones, the judged ones, or all.
    metrics
        The metrics.
    asked
        What is asked.
    floating
        Whether grades may be NaN or infinite.
    more
        Names of columns that are wanted beside those of the formulas.
    """

    def __init__(
        self, kind: Rows, metrics: list[Metric], asked: Question, *, floating: bool, more: frozenset[str] = frozenset()
    ) -> None:
        self.kind = kind
        self.metrics = metrics
        self.asked = asked
        self.floating = floating
        self.all_relevant = kind == "relevant" and asked.min_relevance is None
        self.terms = Columns(all_relevant=self.all_relevant)
        self.ordered = any(m.ordered for m in metrics)
        self.names = frozenset().union(*(m.names for m in metrics)) | more

    def of(self, table: Table) -> pl.LazyFrame:
        """Return the rows, in the order of their lists, with every column that the formulas mention.

        The plan fails if something is wrong with a row.
        """
        rows = table.where(self._kept)
        # As part of a column, not as a filter: that would be pushed down to the scan, and see all rows.
        fine = checks.fine(checks.values(table, self.asked), self.asked, rows)
        rows = rows.with_columns(pl.when(fine).then(pl.col(terms.RANK)).alias(terms.RANK))
        rows = rows.select(*self.asked.keys, terms.RANK, *self._flags())
        if terms.TOP_GRADE in self.names:
            rows = rows.with_columns(pl.col(terms.GRADE).max().alias(terms.TOP_GRADE))
        if not (self.ordered or self.names & (_BY_RANK | _OF_LISTS)):
            return rows
        rows = self._by_list(rows) if self._lists_suffice else self._by_rank(rows)
        rank = pl.col(_DOWN if self._lists_suffice else terms.RANK)
        same = (rank == rank.shift()) & ~self._start
        if not self.ordered:
            return rows
        rows = rows.with_columns(same.alias(_SAME))
        return rows.filter(checks.fine({checks.SHARED_RANK: pl.col(_SAME)}, self.asked, rows))

    @property
    def _lists_suffice(self) -> bool:
        """Whether ranks and grades can each be put in order by themselves, which is faster in memory."""
        together = self.kind != "relevant" or any(name.startswith(terms.REACH) for name in self.names)
        return self.asked.eager and not together

    def _kept(self, relevance: pl.Expr) -> pl.Expr:
        if self.kind == "all":
            return pl.lit(True)
        if self.kind == "judged":
            return relevance.is_not_null()
        graded = terms.GRADE in self.names
        level = self.asked.min_relevance
        return relevance > 0 if graded or level is None else relevance >= level

    def _flags(self) -> list[pl.Expr]:
        rank, relevance = pl.col(terms.RANK), pl.col(RELEVANCE)
        level = self.asked.min_relevance
        relevant = (relevance > 0 if level is None else relevance >= level).fill_null(False)
        flags = {
            terms.LISTED: rank.is_not_null(),
            terms.GRADE: relevance if self.kind == "relevant" else pl.when(relevance > 0).then(relevance),
            terms.JUDGED: relevance.is_not_null(),
            terms.RELEVANT: relevant,
            terms.FOUND: rank if self.all_relevant else pl.when(relevant).then(rank),
            terms.NONRELEVANT: (relevance >= 0).fill_null(False) & ~relevant,
        }
        return [flag.alias(name) for name, flag in flags.items() if name in self._needed]

    @property
    def _needed(self) -> frozenset[str]:
        """The columns that formulas mention, and those from which others are made."""
        more = {
            terms.HIT: {terms.FOUND},
            terms.BEST: {terms.GRADE},
            terms.BEST_LISTED: {terms.GRADE},
            terms.ABOVE: {terms.FOUND, terms.NONRELEVANT},
            terms.OUTRANKED: {terms.RELEVANT},
            terms.TOP_GRADE: {terms.GRADE},
        }
        needed = self.names.union(*(more.get(name, set()) for name in self.names))
        return needed - {terms.RELEVANT} if self.all_relevant else needed

    def _by_list(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return the rows list by list, with the ranks of each list in order, beside rows that they need not belong to.

        Putting whole rows in the order of their ranks costs several times as much.
        """
        rows = rows.sort(self.asked.keys)
        ranks = [name for name in (terms.FOUND, terms.HIT) if name in self.names]
        columns = [self._down(pl.col(terms.FOUND)).alias(terms.FOUND)] if ranks else []
        columns += [self._down(pl.col(terms.RANK)).alias(_DOWN)] if self.ordered else []
        rows = rows.with_columns(*columns, *self._made(self._of_lists()))
        return rows.with_columns(self._made({terms.HIT: self._hit}))

    def _by_rank(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return the rows in the order of their ranks; within a shared one relevant rows last, for `outranked`."""
        last = [terms.RELEVANT] if terms.OUTRANKED in self.names else []
        # A sort that puts nulls last takes a slower way than one without nulls.
        rows = rows.sort(*self.asked.keys, pl.col(terms.RANK).fill_null(LAST_RANK), *last)
        of_ranks = {terms.HIT: self._hit, terms.ABOVE: self._above, terms.OUTRANKED: self._outranked}
        return rows.with_columns(*self._made(of_ranks | self._of_lists()), *self._reaches())

    def _made(self, makers: dict[str, Callable[[], pl.Expr]]) -> list[pl.Expr]:
        return [make().alias(name) for name, make in makers.items() if name in self.names]

    def _of_lists(self) -> dict[str, Callable[[], pl.Expr]]:
        """Return what can be made of rows that stand list by list."""
        listed = pl.when(pl.col(terms.RANK).is_not_null()).then(pl.col(terms.GRADE))
        return {
            FIRST: lambda: self._start,
            terms.SIZE: self._size,
            terms.IDEAL: lambda: self._count(None),
            terms.BEST: lambda: self._best(pl.col(terms.GRADE)),
            terms.BEST_LISTED: lambda: self._best(listed),
        }

    @property
    def _list(self) -> pl.Expr:
        """The number of the list."""
        return self._start.cum_sum().cast(pl.Int64)

    def _down(self, rank: pl.Expr) -> pl.Expr:
        """Return the ranks of each list in order, nulls last; see `_best`."""
        base = self._list * (LAST_RANK + 1)
        down = (base + rank.cast(pl.Int64).fill_null(LAST_RANK)).sort() - base
        return pl.when(down < LAST_RANK).then(down).cast(pl.UInt32)

    def _best(self, grade: pl.Expr) -> pl.Expr:
        """Return the grades of each list in falling order.

        The rows stand list by list, so sorting number of the list and grade as one number moves grades only within
        their list; a sort of whole numbers is several times as fast as one by two columns.
        """
        code = (grade.rank("dense") if self.floating else grade).cast(pl.Int64).fill_null(0)
        base = code.max() + 1
        end = (self._list + 1) * base
        best = end - (end - code).sort()
        if not self.floating:
            return best
        return grade.drop_nulls().unique().sort().gather(pl.when(best > 0).then(best - 1))

    def _hit(self) -> pl.Expr:
        return self._number(pl.col(terms.FOUND).is_not_null())

    def _above(self) -> pl.Expr:
        found = pl.col(terms.FOUND).is_not_null()
        return pl.when(found).then(self._count(pl.col(terms.NONRELEVANT)))

    def _outranked(self) -> pl.Expr:
        """Half of the rows passed until here and half of those passed where the shared rank began."""
        flag = ~pl.col(terms.RELEVANT)
        passed = flag.cast(pl.UInt32).cum_sum()
        rank = pl.col(terms.RANK)
        new = self._start | rank.ne_missing(rank.shift())
        return (self._since(passed, flag, self._start) + self._since(passed, flag, self._start, new)) / 2

    def _reaches(self) -> list[pl.Expr]:
        reaches = []
        for name in sorted(n for n in self.names if n.startswith(terms.REACH)):
            grade = name.removeprefix(terms.REACH)
            stop = pl.when(pl.col(terms.RANK).is_not_null()).then(self.terms.stop(float(grade) if grade else None))
            down = (1.0 - stop.fill_null(0.0)).cum_prod().shift(1, fill_value=1.0).over(self.asked.keys)
            reaches.append(down.alias(name))
        return reaches

    def _size(self) -> pl.Expr:
        """Return the number of rows of the list."""
        index = pl.int_range(pl.len(), dtype=pl.UInt32)
        last = self._start.shift(-1, fill_value=True)
        end = pl.when(last).then(index).otherwise(pl.lit(LAST_RANK, dtype=pl.UInt32)).cum_min(reverse=True)
        return end + 1 - pl.when(self._start).then(index).otherwise(0).cum_max()

    @property
    def _start(self) -> pl.Expr:
        """Whether a row is the first of its list."""
        changed = [pl.col(key).ne_missing(pl.col(key).shift()) for key in self.asked.keys]
        return pl.any_horizontal(changed) if len(changed) > 1 else changed[0]

    def _number(self, flag: pl.Expr | None) -> pl.Expr:
        """Return 1, 2, 3, ... for the rows of a list that have the flag, else null; None numbers every row."""
        return self._count(None) if flag is None else pl.when(flag).then(self._count(flag))

    def _count(self, flag: pl.Expr | None) -> pl.Expr:
        """Return how many rows of the list, up to this one, have the flag; None counts every row."""
        if flag is None:
            index = pl.int_range(pl.len(), dtype=pl.UInt32)
            return index + 1 - pl.when(self._start).then(index).otherwise(0).cum_max()
        return self._since(flag.cast(pl.UInt32).cum_sum(), flag, self._start)

    @staticmethod
    def _since(passed: pl.Expr, flag: pl.Expr, start: pl.Expr, until: pl.Expr | None = None) -> pl.Expr:
        """Return the running count since the list began, or the part of it before `until` was last true."""
        before = passed - flag.cast(pl.UInt32)
        end = passed if until is None else pl.when(until).then(before).otherwise(0).cum_max()
        return end - pl.when(start).then(before).otherwise(0).cum_max()
