"""The words that formulas are written in: what a row, and its query, can be asked.

A formula never names a column. It asks a `Terms` object for `hit`, `rank`, `ideal`, ... and works wherever these can be
had: `Columns` finds them as columns which a plan has prepared once for all metrics, `Inline` spells them as expressions
inside `group_by("query").agg(...)` over an ordinary table.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from frame_metrics.errors import OptionError
from frame_metrics.failing import failing

if TYPE_CHECKING:
    from collections.abc import Callable

PREFIX = "_fm_"
"""Begins the name of every column that a plan adds, so that none meets a column of the caller."""

RANK = f"{PREFIX}rank"
GRADE = f"{PREFIX}grade"
FOUND = f"{PREFIX}found"
HIT = f"{PREFIX}hit"
IDEAL = f"{PREFIX}ideal"
BEST = f"{PREFIX}best"
BEST_LISTED = f"{PREFIX}best_listed"
LISTED = f"{PREFIX}listed"
RELEVANT = f"{PREFIX}relevant"
JUDGED = f"{PREFIX}judged"
NONRELEVANT = f"{PREFIX}nonrelevant"
ABOVE = f"{PREFIX}above"
OUTRANKED = f"{PREFIX}outranked"
SIZE = f"{PREFIX}size"
GRADED = f"{PREFIX}graded"
FIRST = f"{PREFIX}first"
TOP_GRADE = f"{PREFIX}top_grade"
REACH = f"{PREFIX}reach:"
IDEAL_SUM = f"{PREFIX}ideal_sum:"
SEEN = f"{PREFIX}seen"
OF_SUBTOPIC = f"{PREFIX}of_subtopic"
GREEDY = f"{PREFIX}greedy:"

FLAGS = frozenset({LISTED, RELEVANT, JUDGED, NONRELEVANT})
"""Terms that are true or false."""

LARGEST_EXPONENT = 500

ORDERED = frozenset({RANK, FOUND, HIT, ABOVE})
"""Terms that have no meaning where two rows of a query share a rank."""


@dataclass(frozen=True)
class IdealSum:
    """A sum over the places of an ideal list.

    Attributes
    ----------
    gain
        What the grade at a place is worth.
    weight
        How much of it the place keeps.
    listed
        Whether the ideal list is that of the retrieved rows.
    """

    gain: Callable[[pl.Expr], pl.Expr]
    weight: Callable[[pl.Expr], pl.Expr]
    listed: bool = False

    def row(self, t: Terms) -> pl.Expr:
        """Return what the place that a row carries adds to the sum."""
        return self.gain(t.best_listed if self.listed else t.best) * self.weight(t.ideal)

    def place(self, t: Terms) -> pl.Expr:
        """Return the place of the row itself in the ideal list; of equal grades, the one further up comes first."""
        return (pl.when(t.listed).then(t.grade) if self.listed else t.grade).rank("ordinal", descending=True)

    def own(self, t: Terms) -> pl.Expr:
        """Return what the row itself adds to the sum."""
        return self.gain(t.grade) * self.weight(self.place(t))


class BySubtopic:
    """What a formula may ask of rows each of which says that an item is relevant to a subtopic of its query.

    Attributes
    ----------
    rank
        The place of the item; null where it was missed.
    seen
        How many items above are relevant to the same subtopic; below all others where the item was missed.
    items
        How many items are relevant to the subtopic.
    number
        How many subtopics of the query have a relevant item.
    """

    def __init__(self) -> None:
        self.rank = pl.col(RANK)
        self.seen = pl.col(SEEN)
        self.items = pl.col(OF_SUBTOPIC)
        self.number = (self.seen == 0).sum()

    def greedy(self, alpha: float, k: int) -> tuple[pl.Expr, pl.Expr]:
        """Return places of the ideal list up to k, and what the items there add; null where a row carries no place.

        The ideal list takes at each place the item with most to add, where a subtopic adds 1 - `alpha` times as much
        with each item that is taken; among equals the one whose name sorts last.
        """
        place, gain = (pl.col(f"{GREEDY}{part}:{k}:{alpha}") for part in ("place", "gain"))
        return place, gain


class Terms(ABC):
    """What a formula may ask of the rows of one query.

    Attributes
    ----------
    rank
        The row's place, 1 at the top; null for a row that was judged and not retrieved.
    listed
        Whether the row was retrieved.
    grade
        The row's relevance where that is positive, else null.
    relevant
        Whether the row counts as relevant for binary metrics.
    first
        1 for the hit that is the query's first, 0 for others; a probability where items are tied.
    found, hit
        The places of the query's relevant rows, and 1, 2, 3, ... down these places; null where there are no more. A row
        carries some place and its number, not necessarily its own.
    ideal, best, best_listed
        The ideal list of the query: places 1, 2, 3, ..., and the grade that stands there when all rows with a positive
        grade, or the retrieved ones among them, are put in order. A row carries some place of its query's ideal list,
        not its own; a grade is 0 or null where the ideal list has ended.
    judged
        Whether the row has a judgment.
    nonrelevant
        Whether the row was judged, and not relevant; a negative grade is no judgment of that kind.
    above
        For relevant rows that were retrieved: how many judged non-relevant rows stand above.
    outranked
        For relevant rows: how many rows that are not relevant stand above, shared places counting half.
    """

    rank: pl.Expr
    listed: pl.Expr
    grade: pl.Expr
    relevant: pl.Expr
    found: pl.Expr
    hit: pl.Expr
    first: pl.Expr
    ideal: pl.Expr
    best: pl.Expr
    best_listed: pl.Expr
    judged: pl.Expr
    nonrelevant: pl.Expr
    above: pl.Expr
    outranked: pl.Expr
    number_relevant: pl.Expr
    number_graded: pl.Expr

    @property
    def subtopics(self) -> BySubtopic:
        """What is known of rows that belong to a subtopic each."""
        raise OptionError(
            "metrics of subtopics cannot stand in an expression: what a row gains depends on the other rows of its "
            "subtopic. Hint: df.rank.alpha_ndcg(10), or df.rank.per_query().alpha_ndcg(10)"
        )

    def over_ideal(self, ideal: IdealSum) -> pl.Expr:
        """Return a sum over the ideal list of the query."""
        return ideal.row(self).sum()

    @abstractmethod
    def stop(self, max_grade: float | None) -> pl.Expr:
        """Return the probability that a reader who looks at this row is satisfied: (2^grade - 1) / 2^max_grade."""

    @abstractmethod
    def reach(self, max_grade: float | None) -> pl.Expr:
        """Return the probability that a reader gets as far as this row, for retrieved rows with a positive grade."""


class Columns(Terms):
    """Terms as columns that a plan prepares.

    Parameters
    ----------
    all_relevant
        Whether every row of the frame is relevant, for binary and graded metrics alike; flags and counts are then free.
    """

    def __init__(self, *, all_relevant: bool = False) -> None:
        self.rank = pl.col(RANK)
        self.listed = pl.col(LISTED)
        self.grade = pl.col(GRADE)
        self.hit = pl.col(HIT)
        self.first = (self.hit == 1).cast(pl.Float64)
        self.ideal = pl.col(IDEAL)
        self.best = pl.col(BEST)
        self.best_listed = pl.col(BEST_LISTED)
        self.judged = pl.col(JUDGED)
        self.nonrelevant = pl.col(NONRELEVANT)
        self.above = pl.col(ABOVE)
        self.outranked = pl.col(OUTRANKED)
        self.found = pl.col(FOUND)
        if all_relevant:
            self.relevant = pl.lit(True)
            self.number_relevant = self.number_graded = pl.len()
        else:
            self.relevant = pl.col(RELEVANT)
            self.number_relevant = self.relevant.sum()
            self.number_graded = self.grade.count()

    @property
    def subtopics(self) -> BySubtopic:
        """The columns that a plan prepares where rows belong to subtopics."""
        return BySubtopic()

    def stop(self, max_grade: float | None) -> pl.Expr:
        """Return the probability from the grade; without a highest one given, from that of the table."""
        top = pl.col(TOP_GRADE) if max_grade is None else pl.lit(float(max_grade))
        return _stop(self.grade, top)

    def reach(self, max_grade: float | None) -> pl.Expr:
        """Return the column that a plan has prepared for this highest grade."""
        return pl.col(f"{REACH}{'' if max_grade is None else float(max_grade)}")


class Spread(Columns):
    """Terms where every row is relevant and knows what is to know of its list: nothing has to be summed in a group.

    Parameters
    ----------
    name
        Tells the sums of this formula from those of others.

    Attributes
    ----------
    sums
        The sums over the ideal list that the formula has asked for, by the name of the column that has to hold them.
    """

    def __init__(self, name: str) -> None:
        super().__init__(all_relevant=True)
        self.number_relevant = self.number_graded = pl.col(SIZE)
        self.sums: dict[str, IdealSum] = {}
        self._name = name

    def over_ideal(self, ideal: IdealSum) -> pl.Expr:
        """Return the column that a plan prepares, null where the sum is 0: nothing can be divided by that."""
        name = f"{IDEAL_SUM}{len(self.sums)}:{self._name}"
        self.sums[name] = ideal
        return pl.col(name)


class Tied(Spread):
    """Terms where a row is an item at one of the places that it shares with others, and knows its list.

    The number of a hit is the one to be expected at that place.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.relevant = pl.col(RELEVANT)
        self.number_graded = pl.col(GRADED)
        self.first = pl.col(FIRST)


@dataclass(frozen=True)
class Roles:
    """Which columns of a plain table hold the rank and the relevance, and from which grade on a row is relevant."""

    rank: str = "rank"
    relevance: str = "relevance"
    min_relevance: float | None = None


class Inline(Terms):
    """Terms as expressions over the rows of a group, for `group_by(...).agg(...)` on a plain table.

    Parameters
    ----------
    roles
        The columns.
    top
        The highest grade there is, where something beside the group knows it.
    """

    def __init__(self, roles: Roles, *, top: pl.Expr | None = None) -> None:
        self._top = top
        relevance = pl.col(roles.relevance).cast(pl.Float64)
        self.rank = pl.col(roles.rank).cast(pl.Int64, strict=False)
        self.listed = self.rank.is_not_null()
        self.judged = relevance.is_not_null()
        self.grade = pl.when(relevance > 0).then(relevance)
        level = relevance > 0 if roles.min_relevance is None else relevance >= roles.min_relevance
        self.relevant = level.fill_null(False)
        self.found = pl.when(self.relevant).then(self.rank)
        self.hit = self.found.rank("ordinal")
        self.first = (self.hit == 1).cast(pl.Float64)
        self.ideal = pl.int_range(1, pl.len() + 1)
        self.best = self.grade.sort(descending=True, nulls_last=True)
        self.best_listed = pl.when(self.listed).then(self.grade).sort(descending=True, nulls_last=True)
        self.nonrelevant = (relevance >= 0).fill_null(False) & ~self.relevant
        counted = pl.when(self.nonrelevant | self.relevant).then(self.rank)
        self.above = counted.rank("ordinal").cast(pl.Int64) - self.hit
        place = self.rank.fill_null(pl.lit(2**62, dtype=pl.Int64))
        self.outranked = place.rank("average") - pl.when(self.relevant).then(place).rank("average")
        self.number_relevant = self.relevant.sum()
        self.number_graded = self.grade.count()

    def stop(self, max_grade: float | None) -> pl.Expr:
        """Return the probability from the grade; the highest grade must be known."""
        if max_grade is None and self._top is not None:
            return _stop(self.grade, self._top)
        if max_grade is None:
            raise OptionError(
                "`max_grade` must be given where `err` stands in an expression: a group does not see the largest grade "
                "of the table. Hint: fm.metrics.err(max_grade=4), or df.rank.err()"
            )
        return _stop(self.grade, pl.lit(float(max_grade)))

    def reach(self, max_grade: float | None) -> pl.Expr:
        """Return the product down the list, put back to the rows it belongs to."""
        place = pl.when(self.grade.is_not_null()).then(self.rank)
        down = (1.0 - self.stop(max_grade)).sort_by(place, nulls_last=True)
        return down.cum_prod().shift(1, fill_value=1.0).gather(place.rank("ordinal").cast(pl.Int64) - 1)


def masked(place: pl.Expr, k: int | None, value: pl.Expr) -> pl.Expr:
    """Return the value where the place is within the first k, and 0 elsewhere."""
    counts = place.is_not_null() if k is None else place <= k
    return pl.when(counts).then(value).otherwise(0.0)


def _stop(grade: pl.Expr, top: pl.Expr) -> pl.Expr:
    hint = "Hint: leave `max_grade` out to take the highest grade of the table"
    check = failing(grade > top, f"`max_grade` must be the highest grade, but a row has grade {{}}. {hint}", grade)
    return pl.when(check.is_null()).then(exponential(grade) / pl.lit(2.0).pow(top))


def exponential(grade: pl.Expr) -> pl.Expr:
    """Return 2^grade - 1, for grades whose sums stay finite."""
    text = f"grades up to {LARGEST_EXPONENT} can be exponents, got {{}}. Hint: rescale the grades, or map them to gains"
    # What is not finite is refused elsewhere, in other words.
    check = failing((grade > LARGEST_EXPONENT) & grade.cast(pl.Float64).is_finite(), text, grade)
    return pl.when(check.is_null()).then(pl.lit(2.0).pow(grade) - 1.0)
