"""How something is asked of a frame: of which columns and rows, with which settings, for which lists."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from frame_metrics.library import library as named_library
from frame_metrics.plan import joined, steps
from frame_metrics.plan.question import Question

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from frame_metrics.library.entry import Library
    from frame_metrics.plan.joined import Queries, Unjudged
    from frame_metrics.plan.question import Average, NoRelevant, Step
    from frame_metrics.plan.scores import Ties
    from frame_metrics.surfaces.ranking import Ranking

Many = TypeVar("Many")
"""The frames in which a surface gives results."""


class Asking(Generic[Many]):
    """A frame, and how it is asked; every method returns a new object, and they chain in any order."""

    __slots__ = ("_asked", "_frame")

    def __init__(self, frame: Any, asked: Question | None = None) -> None:
        self._frame = frame
        self._asked = asked or Question()

    @abstractmethod
    def _for_many(self, asked: Question) -> Ranking[Many, Many]:
        """Return the same frame with a question that has more than one answer."""

    def _with(self, asked: Question) -> Self:
        return type(self)(self._frame, asked)

    def __repr__(self) -> str:
        asked = self._asked
        roles = f"query={asked.query!r}, item={asked.item!r}, rank={asked.rank!r}, relevance={asked.relevance!r}"
        by = f".by({', '.join(map(repr, asked.by))})" if asked.by else ""
        return f"<rank of a {type(self._frame).__name__}: {roles}{by}{'.per_query()' if asked.each_query else ''}>"

    def using(
        self,
        *,
        query: str | None = None,
        item: str | None = None,
        rank: str | None = None,
        relevance: str | None = None,
        subtopic: str | None = None,
        min_relevance: float | None = None,
        no_relevant: NoRelevant | None = None,
        average: Average | None = None,
        depth: int | None = None,
        check_rows: int | str | None = None,
    ) -> Self:
        """Return the same question with other columns or settings; what is not given stays as it is.

        Parameters
        ----------
        query, item, rank, relevance
            The columns that play these roles, if they are not called so.
        subtopic
            The column that says which subtopic of the query a row is about, if it is not called so; for metrics such as
            `alpha_ndcg`, which take a row for each query, item and subtopic. Items that were judged for none have a
            null there.
        min_relevance
            From which grade on an item is relevant for binary metrics; without it, from any positive grade.
        no_relevant
            The score of a query with nothing relevant: `"zero"` (default), `"one"`, `"skip"` leaves it out of means,
            `"error"` refuses.
        average
            `"macro"` (default) averages over queries; `"micro"` pools numerators and denominators.
        depth
            The last rank that counts: rows below it were not retrieved. Without it, all were.
        check_rows
            How many of the first rows are checked in full: 100,000, unless another number or `"all"` is given. Ranks
            and relevances that enter a number are checked in every row.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"user": [1, 1], "sku": ["a", "b"], "position": [1, 2], "clicked": [False, True]})
        >>> df.rank.using(query="user", item="sku", rank="position", relevance="clicked").mrr()
        0.5
        """
        return self._with(
            self._asked.using(
                query=query,
                item=item,
                rank=rank,
                relevance=relevance,
                subtopic=subtopic,
                min_relevance=min_relevance,
                no_relevant=no_relevant,
                average=average,
                depth=depth,
                check_rows=check_rows,
            )
        )

    def by(self, *columns: str) -> Ranking[Many, Many]:
        """Return the same question for each segment; metrics then give a frame with one row a segment.

        A segment is a value of these columns. A query with rows in several segments is a list of its own in each.

        Parameters
        ----------
        *columns
            Names of columns; with several, each combination is a segment.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"country": ["fr", "us"], "query": [1, 2], "rank": [1, 2], "relevance": [1, 1]})
        >>> df.rank.by("country").mrr().rows()
        [('fr', 1.0), ('us', 0.5)]
        """
        return self._for_many(self._asked.grouped(*columns))

    def per_query(self) -> Ranking[Many, Many]:
        """Return the same question for each query; metrics then give a frame with one row a query.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": ["a", "b"], "rank": [1, 2], "relevance": [1, 1]})
        >>> df.rank.per_query().mrr().rows()
        [('a', 1.0), ('b', 0.5)]
        """
        return self._for_many(self._asked.per_query())

    def from_scores(self, score: str = "score", *, ties: Ties | None = None, float32: bool | None = None) -> Self:
        """Return the same question of the ranks that a score gives: the highest score of a query is rank 1.

        A null score means that the item was not retrieved.

        Parameters
        ----------
        score
            The column with the score.
        ties
            Which of several items with one score comes first: `"item_desc"` the one whose name sorts last, as trec_eval
            does, `"item_asc"` first, `"first"` the one that stands first in the table, `"best"` the one of the highest
            grade, `"worst"` the one of the lowest. `"expected"` gives the exact mean over all orders of such items.
            Without it, as the library that `like` names does, else `"item_desc"`.
        float32
            Compare scores as 32-bit floats, as trec_eval did before version 10; without it, as the library that `like`
            names does, else as they are.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "item": ["a", "b"], "score": [0.2, 0.9], "relevance": [1, 0]})
        >>> df.rank.from_scores("score").mrr()
        0.5
        """

        def step(library: Library) -> Step:
            chosen = library.setting("ties") if ties is None else ties
            narrow = library.setting("float32") if float32 is None else float32
            return steps.by_score(score, ties=chosen, float32=narrow)

        return self._with(self._asked.then(step))

    def judged_by(
        self,
        qrels: Any,
        *,
        queries: Queries | None = None,
        unjudged: Unjudged = "nonrelevant",
        each: str | tuple[str, ...] = (),
        query: str | None = None,
        item: str | None = None,
        relevance: str | None = None,
        subtopic: str | None = None,
    ) -> Self:
        """Return the same question with judgments from a table of their own, joined on query and item.

        Judged items that the table does not have become rows without a rank: they were missed. With `by`, a segment is
        judged on the queries that it has rows for, as is right for countries; queries of the judgments that no segment
        has are a segment null, unless the judgments have the column too. Systems should answer every query: name their
        column in `each`.

        Parameters
        ----------
        qrels
            A frame of any kind with columns query, item and relevance.
        queries
            Which queries count: `"qrels"` all judged ones, missing ones score 0; `"both"` those in both tables; `"run"`
            those of this table; `"error"` refuses if the two differ. Without it, as the library that `like` names does,
            else `"qrels"`.
        unjudged
            `"nonrelevant"` (default) keeps unjudged items in their place; `"drop"` takes them out, and ranks close up.
        each
            Columns of `by`, such as `"system"`, for each value of which every judged query counts, answered or not.
        query, item, relevance, subtopic
            The columns of `qrels` that play these roles, if they are not called as in this table. Qrels with a subtopic
            have a row for each query, item and subtopic.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> run = pl.DataFrame({"query": 1, "item": ["a", "b"], "rank": [1, 2]})
        >>> qrels = pl.DataFrame({"query": 1, "item": ["b", "z"], "relevance": [1, 1]})
        >>> run.rank.judged_by(qrels).recall()
        0.5
        """
        roles = {"query": query, "item": item, "relevance": relevance, "subtopic": subtopic}
        apart = (each,) if isinstance(each, str) else tuple(each)
        judgments = _source_of(qrels)

        def step(library: Library) -> Step:
            chosen = library.setting("queries") if queries is None else queries
            return joined.step(judgments, queries=chosen, unjudged=unjudged, each=apart, roles=roles)

        return self._with(self._asked.then(step))

    def like(self, library: str) -> Self:
        """Return the same question with the definitions of another library.

        Options of metrics, `no_relevant`, and `ties`, `float32` and `queries` of `from_scores` and `judged_by` are then
        those of the library, unless they are given. Result columns keep the text that was asked for.

        Parameters
        ----------
        library
            A name such as `"ranx"`; `fm.libraries()` lists them, and `"frame_metrics"` is this package.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": 1, "rank": [1, 2, None], "relevance": [2, 1, 3]})
        >>> round(df.rank.ndcg(5), 4), df.rank.like("sklearn").ndcg(5)
        (0.5525, 1.0)
        """
        return self._with(self._asked.like(named_library(library)))


def _source_of(frame: Any) -> Callable[[list[str]], pl.LazyFrame]:
    """Return what gives named columns, at least, of a frame of any kind."""
    from frame_metrics.surfaces.kinds import source

    return source(frame)
