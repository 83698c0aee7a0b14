"""Random tables: misses, unjudged rows, negative and fractional grades, gaps in the ranks, shuffled rows."""

from dataclasses import dataclass, field
from typing import Any

import polars as pl
from hypothesis import strategies as st

GRADES = {
    pl.Int64: (-2, -1, 0, 1, 2, 3),
    pl.Float64: (-1.5, 0.0, 0.5, 1.0, 2.0, 3.0),
    pl.Boolean: (False, True),
}
KEYS = {pl.String: ("a", "b", "ü", "d e", ""), pl.Int64: (7, -1, 0, 10, 3)}
RANKS = (pl.Int64, pl.UInt16, pl.Float64)
SEGMENTS = (("north",), ("south",), (None,), ("north", "south", None))
COLUMNS = ("query", "item", "rank", "relevance", "segment")


@dataclass(frozen=True)
class Table:
    """Rows as dicts, and the dtypes that they have as a frame."""

    rows: list[dict[str, Any]]
    schema: dict[str, Any] = field(repr=False)

    def frame(self):
        columns = {name: [row[name] for row in self.rows] for name in COLUMNS}
        return pl.DataFrame(columns, schema=self.schema)


@st.composite
def lists(draw, grades, *, tied=False):
    """Draw (rank, relevance) of one query: a rank once, and no row that is neither retrieved nor judged."""
    rank = st.none() | st.integers(1, 4 if tied else 12)
    row = st.tuples(rank, st.none() | st.sampled_from(grades))
    unique_by = None if tied else (lambda pair: object() if pair[0] is None else pair[0])
    found = draw(st.lists(row, max_size=8, unique_by=unique_by))
    return [(rank, grades[-1] if rank is None and grade is None else grade) for rank, grade in found]


@st.composite
def tables(draw, *, tied=False):
    """Draw a table of up to five queries, its rows in any order; a query may have rows in several segments."""
    relevance = draw(st.sampled_from(list(GRADES)))
    key = draw(st.sampled_from(list(KEYS)))
    rows = []
    for query in draw(st.lists(st.sampled_from(KEYS[key]), max_size=5, unique=True)):
        segments = draw(st.sampled_from(SEGMENTS))
        for number, (rank, grade) in enumerate(draw(lists(GRADES[relevance], tied=tied))):
            values = (query, f"item{number}", rank, grade, draw(st.sampled_from(segments)))
            rows.append(dict(zip(COLUMNS, values, strict=True)))
    rank = draw(st.sampled_from(RANKS))
    schema = {"query": key, "item": pl.String, "rank": rank, "relevance": relevance, "segment": pl.String}
    return Table(draw(st.permutations(rows)), schema)


def full_lists(grades=(0, 1, 2, 3, 4), max_size=12):
    """Draw the grades down one list, all of it retrieved and judged."""
    return st.lists(st.sampled_from(grades), min_size=2, max_size=max_size)


def policies():
    """Draw what `using` takes about relevance, queries without relevant items, and averages."""
    level = st.sampled_from((None, 0.5, 1, 2, 5))
    pair = st.tuples(st.sampled_from(("zero", "skip", "one")), st.sampled_from(("macro", "micro")))
    return st.tuples(level, pair.filter(lambda chosen: chosen != ("one", "micro")))
