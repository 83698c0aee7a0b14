"""How queries spread, and how systems compare."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

import polars as pl

from frame_metrics.defaults import DEFAULT_METRICS
from frame_metrics.errors import OptionError, TableError, choice, wanted
from frame_metrics.formulas import parse_all
from frame_metrics.formulas.terms import PREFIX
from frame_metrics.plan.evaluate import evaluated
from frame_metrics.plan.table import missing
from frame_metrics.surfaces.asking import Asking, Many

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from frame_metrics.formulas import Metric
    from frame_metrics.plan.question import Question
    from frame_metrics.stats.compared import Comparison, Unanswered
    from frame_metrics.stats.corrections import Correction
    from frame_metrics.stats.paired import Settings, Test
    from frame_metrics.surfaces.ranking import Plan, Ranking

_SYSTEM = f"{PREFIX}system"


class Comparing(Asking[Many]):
    """Questions about the values of queries; a surface says how their frames are made."""

    __slots__ = ()

    @abstractmethod
    def _many(self, plan: Plan) -> Many:
        """Return the result of a plan for this frame, as a frame of the caller's kind."""

    @abstractmethod
    def _named(self, plan: Plan) -> pl.DataFrame:
        """Return the result of a plan, run at once, with keys as they are."""

    @abstractmethod
    def _given(self, result: pl.DataFrame, keys: dict[str, str]) -> Many:
        """Return a result as a frame of the caller's kind; `keys` tells of its columns which column they came from."""

    def describe(self, *metrics: str | Metric, ci: float = 0.95) -> Many:
        """Return how the values of queries spread: a row for each metric, or for each segment and metric.

        Columns `metric`, `queries` (those that have a value), `mean`, `low` and `high` (a normal interval of the mean,
        mean -+ z s / sqrt(n)), `std` (s, with n - 1), `geometric_mean` (no query counting less than 0.00001), `min`,
        `q10`, `q25`, `median`, `q75`, `q90`, `max` (quantiles between two values are on the line between them).
        Every query counts the same; counts are described by their means too.

        Parameters
        ----------
        *metrics
            Texts such as `"ndcg@10"`.
        ci
            How sure the interval is.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> df = pl.DataFrame({"query": ["a", "b", "c"], "rank": [1, 2, 4], "relevance": [1, 1, 1]})
        >>> df.rank.describe("mrr").select("metric", "queries", "min", "median", "max").rows()
        [('mrr', 3, 0.25, 0.5, 1.0)]
        """
        from frame_metrics.plan.intervals import described, sure

        parsed, level = self._asked.meant(parse_all(metrics)), sure(ci)
        return self._many(lambda frame, asked: described(frame, asked, parsed, level))

    def compare(
        self,
        *metrics: str | Metric,
        system: str = "system",
        baseline: Any = None,
        test: Test = "t",
        correction: Correction = "holm",
        ci: float = 0.95,
        queries: Unanswered = "error",
        seed: int = 0,
        resamples: int = 10_000,
    ) -> Many:
        """Return how systems differ from a baseline, paired by query: a row for each segment, metric and system.

        Columns, after the segments: `metric`, `system`, `baseline`, `queries` (how many were compared), `value` and
        `baseline_value` (means over these queries), `difference`, `relative` (to the baseline's value), `low` and
        `high` (an interval of the difference), `wins`, `ties`, `losses` (of queries), `effect` (the mean of the
        differences over their standard deviation), `p`, `p_adjusted`, `significant` (whether `p_adjusted` < 1 - `ci`)
        and `note`, a warning or an empty text. A query without a value, such as one with nothing relevant under
        `no_relevant="skip"`, is left out. All tests are two-sided. They need scipy, `pip install
        "frame_metrics[compare]"`, but for `"bootstrap"`.

        Parameters
        ----------
        *metrics
            Texts such as `"ndcg@10"`, of metrics that are a mean over queries.
        system
            The column that names the systems.
        baseline
            The system that the others are compared with; without it, the first in order of name.
        test
            `"t"`: Student's paired t. `"wilcoxon"`: signed ranks, without differences of 0. `"sign"`: exact, of wins
            and losses. `"randomisation"`: Fisher's, the share of flips of signs whose mean is as far from 0; all flips
            where 2^n <= `resamples`, else random ones, p = (1 + as far) / (1 + `resamples`). `"bootstrap"`: of queries,
            p = (1 + resampled means as far from the mean as that is from 0) / (1 + `resamples`). `"tukey"`: all pairs
            of systems by the honestly significant difference, with queries as blocks. The interval is one of
            percentiles for `"bootstrap"`, of the studentised range for `"tukey"`, and Student's t else.
        correction
            For the number of rows, segments included: `"none"`, `"bonferroni"`, `"holm"`, or `"bh"` of Benjamini and
            Hochberg. Those of `"tukey"` hold for all pairs of a metric as they are; any correction multiplies them by
            the number of metrics and segments.
        ci
            How sure intervals are.
        queries
            What becomes of a query that not all systems answered: `"error"` refuses, `"both"` compares what both
            answered (with `"tukey"`, all) and says in `note` how many that leaves out, `"zero"` counts it as 0.
        seed, resamples
            Of `"randomisation"` and `"bootstrap"`.

        Examples
        --------
        >>> import polars as pl, frame_metrics
        >>> ranks = {"old": [1, 2, 2, 4, 3, 5], "new": [1, 1, 1, 2, 1, 2]}
        >>> rows = [(name, query, rank, 1) for name, some in ranks.items() for query, rank in enumerate(some)]
        >>> df = pl.DataFrame(rows, schema=["system", "query", "rank", "relevance"], orient="row")
        >>> found = df.rank.compare("mrr", baseline="old", test="bootstrap")
        >>> found.select("system", "baseline", "wins", "ties", "losses", "significant").rows()
        [('new', 'old', 5, 1, 0, True)]
        """
        from frame_metrics.stats.compared import Columns, compared
        from frame_metrics.stats.paired import Settings

        if not isinstance(system, str):
            raise wanted("system", "the name of a column", system)
        parsed = self._asked.meant(_comparable(metrics, self._asked))
        how = _comparison(baseline, test, correction, queries, Settings(ci, resamples, seed))
        segments = _segments([name for name in self._asked.by if name != system])

        def plan(frame: pl.LazyFrame, asked: Question) -> pl.LazyFrame:
            if not asked.eager:
                raise OptionError(
                    "a comparison needs the values of all queries, and nothing of a LazyFrame is read before "
                    "collect(). Hint: collect the frame first, or give one LazyFrame for each system to fm.compare"
                )
            if system not in (names := frame.collect_schema().names()):
                raise missing(system, names, "Hint: name yours with compare(system=...)")
            return evaluated(frame, asked, parsed)

        asked = replace(self._asked.grouped(system).per_query(), also=(system,))
        values = self._for_many(asked)._named(plan)  # noqa: SLF001 the same class
        columns = Columns(segments, system, asked.query, list(map(str, parsed)))
        result = compared(values, columns, values[system].unique().sort(), how)
        return self._given(result, {"system": system, "baseline": system} | {name: name for name in segments})


def compare(
    runs: Mapping[str, Any],
    qrels: Any = None,
    *,
    metrics: Iterable[str | Metric] = DEFAULT_METRICS,
    baseline: str | None = None,
    test: Test = "t",
    correction: Correction = "holm",
    ci: float = 0.95,
    queries: Unanswered = "error",
    seed: int = 0,
    resamples: int = 10_000,
) -> Any:
    """Return how systems differ from a baseline, each with a frame of its own; see `.rank.compare`.

    Lazy frames are collected, as far as the values of their queries need it. The result is a Polars frame, or a pandas
    frame where all runs are pandas frames.

    Parameters
    ----------
    runs
        The frames of the systems by their names: frames of any kind, or what `.rank` makes of them, such as
        `run.rank.from_scores("score").by("country")`.
    qrels
        Judgments for all of them, as for `.rank.judged_by`; without it, the frames have a relevance.
    metrics
        Texts such as `"ndcg@10"`; without them, those of the command line: ndcg@10, map, mrr, precision@10, recall@100.
    baseline
        The name of the system that the others are compared with; without it, the first.
    test, correction, ci, queries, seed, resamples
        As for `.rank.compare`.

    Examples
    --------
    >>> import polars as pl, frame_metrics as fm
    >>> old = pl.DataFrame({"query": range(4), "rank": [2, 3, 2, 1], "relevance": 1})
    >>> new = pl.DataFrame({"query": range(4), "rank": [1, 1, 1, 1], "relevance": 1})
    >>> found = fm.compare({"old": old, "new": new}, metrics=["mrr"], test="bootstrap")
    >>> found.select("system", "wins", "ties", "note").rows()
    [('new', 3, 1, 'only 4 queries: too few to say anything')]
    """
    from frame_metrics.stats.compared import Columns, compared
    from frame_metrics.stats.paired import Settings

    if not hasattr(runs, "items") or len(runs) < 2 or not all(isinstance(name, str) for name in runs):  # noqa: PLR2004
        raise wanted("runs", "a mapping of two or more names to frames", runs)
    rankings = {name: _ranking(run, qrels) for name, run in runs.items()}
    first = next(iter(rankings.values()))._asked  # noqa: SLF001
    texts = [metrics] if isinstance(metrics, str) else list(metrics)
    parsed = _comparable(texts, *(ranking._asked for ranking in rankings.values()))  # noqa: SLF001
    how = _comparison(baseline, test, correction, queries, Settings(ci, resamples, seed))
    values = _stacked({name: _values(ranking, parsed, first) for name, ranking in rankings.items()})
    columns = Columns(
        _segments([n for n in first.by if n != first.query]), _SYSTEM, first.query, list(map(str, parsed))
    )
    values = values.sort(columns.segments, nulls_last=True, maintain_order=True) if columns.segments else values
    result = compared(values, columns, pl.Series(list(runs), dtype=pl.String), how)
    return result.to_pandas() if all(_of_pandas(ranking) for ranking in rankings.values()) else result


def _ranking(run: Any, qrels: Any) -> Ranking[Any, Any]:
    from frame_metrics.surfaces.kinds import rank
    from frame_metrics.surfaces.ranking import Ranking

    ranking: Ranking[Any, Any] = run if isinstance(run, Ranking) else rank(run)
    return ranking if qrels is None else ranking.judged_by(qrels)


def _of_pandas(ranking: Ranking[Any, Any]) -> bool:
    from frame_metrics.surfaces.kinds import is_pandas

    return is_pandas(ranking._frame)  # noqa: SLF001


def _values(ranking: Ranking[Any, Any], metrics: list[Metric], first: Question) -> pl.DataFrame:
    """Return the values of the queries of a run, with its query under the name that the first run has for it."""
    asked = ranking._asked  # noqa: SLF001
    if asked.by != first.by:
        raise OptionError(f"all runs must have the same segments, got {list(first.by)} and {list(asked.by)}")
    plan = ranking._for_many(asked.per_query())  # noqa: SLF001
    values = plan._named(lambda frame, a: evaluated(frame, a, metrics))  # noqa: SLF001
    keys = [name for name, dtype in values.schema.items() if name in asked.keys and dtype in (pl.Categorical, pl.Enum)]
    # Libraries that runs are measured like may have other texts for a metric.
    texts = dict(zip(map(str, asked.meant(metrics)), map(str, metrics), strict=True))
    return values.with_columns(pl.col(keys).cast(pl.String)).rename({asked.query: first.query} | texts)


def _stacked(values: dict[str, pl.DataFrame]) -> pl.DataFrame:
    first, *others = values.values()
    for name, one in first.schema.items():
        for other in (frame.schema[name] for frame in others):
            # Numbers of several widths have a common type; a number and a text are not the same query.
            if one != other and not (one.is_numeric() and other.is_numeric()):
                raise TableError(
                    f"column {name!r} has type {one} in one run and {other} in another. Hint: give it one type"
                )
    named = [frame.with_columns(pl.lit(name).alias(_SYSTEM)) for name, frame in values.items()]
    return pl.concat(named, how="vertical_relaxed")


def _comparable(metrics: Iterable[str | Metric], *questions: Question) -> list[Metric]:
    parsed = parse_all(metrics)
    if means := [m for m in parsed if m.plain.mean == "geometric"]:
        raise OptionError(
            f"{means[0]} is a geometric mean over queries, and a comparison takes the mean of differences. "
            "Hint: compare the metric that it is a mean of"
        )
    if any(asked.average == "micro" for asked in questions):
        raise OptionError("a comparison pairs queries, which average='micro' does not tell apart. Hint: leave it out")
    return parsed


def _segments(names: list[str]) -> list[str]:
    from frame_metrics.stats.compared import COLUMNS

    if taken := [name for name in names if name in COLUMNS]:
        raise TableError(f"the result has a column {taken[0]!r}, and so have its segments {names}. Hint: rename it")
    return names


def _comparison(
    baseline: Any, test: Test, correction: Correction, queries: Unanswered, settings: Settings
) -> Comparison:
    """Return how to compare, or raise if a parameter has a value that it may not have."""
    from frame_metrics.plan.intervals import sure, whole
    from frame_metrics.stats.compared import Comparison, Unanswered
    from frame_metrics.stats.corrections import Correction
    from frame_metrics.stats.paired import Settings, Test

    for name, value, allowed in (
        ("test", test, get_args(Test)),
        ("correction", correction, get_args(Correction)),
        ("queries", queries, get_args(Unanswered)),
    ):
        if value not in allowed:
            raise choice(name, value, allowed)
    ci, resamples, seed = settings
    checked = Settings(sure(ci), whole("resamples", resamples, 1), whole("seed", seed, 0))
    return Comparison(baseline, test, correction, checked, queries)
