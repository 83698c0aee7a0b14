"""Other packages: how each comes from a frame in memory to the seven numbers, conversion included."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from tests.benchmark import data, sql

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

SEVEN = ("ndcg@10", "map", "mrr", "p@10", "recall@10", "recall@100", "hit_rate@10")


class Tables:
    """The data in the shapes that packages take; made before any clock runs.

    Parameters
    ----------
    rows
        How many rows.
    """

    def __init__(self, rows: int) -> None:
        self.rows = rows

    @cached_property
    def int_keys(self) -> pl.DataFrame:
        """Everything in one table, keys as integers."""
        return pl.concat(data.chunks("sorted", self.rows)).drop("judged")

    @cached_property
    def text_keys(self) -> pl.DataFrame:
        """Everything in one table, keys as text."""
        return self._marked.drop("judged")

    @cached_property
    def _marked(self) -> pl.DataFrame:
        return pl.concat(data.chunks("string", self.rows))

    @cached_property
    def pandas(self) -> pd.DataFrame:
        """Everything in one pandas table, keys as text."""
        return self.text_keys.to_pandas()

    @cached_property
    def run(self) -> pl.DataFrame:
        """Lists with a score, keys as text."""
        return self.text_keys.select("query", "item", "rank", score=-pl.col("rank").cast(pl.Float64))

    @cached_property
    def qrels(self) -> pl.DataFrame:
        """Judgments, keys as text."""
        return data.judgments(self._marked)

    @cached_property
    def pandas_run(self) -> pd.DataFrame:
        """Lists with a score, in pandas."""
        return self.run.to_pandas()

    @cached_property
    def pandas_qrels(self) -> pd.DataFrame:
        """Judgments, in pandas."""
        return self.qrels.to_pandas()


Takes = Literal["int_keys", "text_keys", "pandas"]


@dataclass(frozen=True)
class Peer:
    """A package, and how it comes to the numbers.

    Attributes
    ----------
    name, package, module
        What it is called in the table, on the package index and in an import.
    takes
        The kind of frame that it starts from; ours starts from the same.
    numbers
        Returns its numbers by the names of `SEVEN`.
    must
        How many times faster ours must be.
    note
        What to know when reading the line.
    settings
        How ours is asked where the package defines its numbers differently.
    binary
        Whether it knows no grades.
    compiles
        Whether the first run compiles, which is then measured by itself.
    fails
        A way of using it that its users would try first; the error is shown if it raises.
    """

    name: str
    package: str
    module: str
    takes: Takes
    numbers: Callable[[Tables], dict[str, float]]
    must: float | None = None
    note: str = ""
    settings: dict[str, str] | None = None
    binary: bool = False
    compiles: bool = False
    fails: Callable[[Tables], object] | None = None

    @property
    def installed(self) -> bool:
        """Whether it can be imported."""
        return find_spec(self.module) is not None


def _dicts(frame: pl.DataFrame, value: str) -> dict[str, dict[str, Any]]:
    """Return `{query: {item: value}}`, one query at a time, which is faster than one row at a time."""
    grouped = frame.group_by("query", maintain_order=True).agg("item", value)
    return {query: dict(zip(items, values, strict=True)) for query, items, values in grouped.iter_rows()}


def _dicts_by_row(frame: pl.DataFrame, value: str) -> dict[str, dict[str, Any]]:
    made: dict[str, dict[str, Any]] = {}
    for query, item, number in frame.select("query", "item", value).iter_rows():
        made.setdefault(query, {})[item] = number
    return made


def _pytrec_eval(tables: Tables, dicts: Callable[[pl.DataFrame, str], dict] = _dicts) -> dict[str, float]:
    import pytrec_eval

    measures = {"ndcg_cut.10", "map", "recip_rank", "P.10", "recall.10,100", "success.10"}
    evaluator = pytrec_eval.RelevanceEvaluator(dicts(tables.qrels, "relevance"), measures)
    scores = evaluator.evaluate(dicts(tables.run, "score")).values()
    names = ("ndcg_cut_10", "map", "recip_rank", "P_10", "recall_10", "recall_100", "success_10")
    return {ours: sum(s[theirs] for s in scores) / len(scores) for ours, theirs in zip(SEVEN, names, strict=True)}


def _pytrec_eval_by_row(tables: Tables) -> dict[str, float]:
    """The same with dicts that are filled one row at a time, as in most scripts."""
    return _pytrec_eval(tables, dicts=_dicts_by_row)


def _ir_measures(tables: Tables) -> dict[str, float]:
    import ir_measures
    from ir_measures import AP, RR, P, R, Success, nDCG

    names = {"query": "query_id", "item": "doc_id"}
    run, qrels = tables.pandas_run.rename(columns=names), tables.pandas_qrels.rename(columns=names)
    measures = [nDCG @ 10, AP, RR, P @ 10, R @ 10, R @ 100, Success @ 10]
    scores = ir_measures.calc_aggregate(measures, qrels, run)
    return {name: scores[each] for name, each in zip(SEVEN, measures, strict=True)}


def _ranx(tables: Tables) -> dict[str, float]:
    from ranx import Qrels, Run, evaluate

    texts = {"query": object, "item": object}
    run = Run.from_df(tables.pandas_run.astype(texts), q_id_col="query", doc_id_col="item", score_col="score")
    qrels = Qrels.from_df(tables.pandas_qrels.astype(texts), q_id_col="query", doc_id_col="item", score_col="relevance")
    names = ["ndcg@10", "map", "mrr", "precision@10", "recall@10", "recall@100", "hit_rate@10"]
    scores = evaluate(qrels, run, names)
    return {ours: float(scores[theirs]) for ours, theirs in zip(SEVEN, names, strict=True)}


def _ranx_as_is(tables: Tables) -> object:
    from ranx import Run

    return Run.from_df(tables.pandas_run, q_id_col="query", doc_id_col="item", score_col="score")


def _rectools(tables: Tables) -> dict[str, float]:
    from rectools.metrics import MAP, MRR, NDCG, HitRate, Precision, Recall, calc_metrics

    names = {"query": "user_id", "item": "item_id"}
    run, qrels = tables.pandas_run.rename(columns=names), tables.pandas_qrels.rename(columns=names)
    metrics = [
        NDCG(k=10, divide_by_achievable=True), MAP(k=100), MRR(k=100), Precision(k=10), Recall(k=10), Recall(k=100),
        HitRate(k=10),
    ]  # fmt: skip
    relevant = qrels.loc[qrels["relevance"] > 0, ["user_id", "item_id"]]
    scores = calc_metrics(dict(zip(SEVEN, metrics, strict=True)), reco=run, interactions=relevant)
    return {name: scores[name] for name in SEVEN}


def _scikit_learn(tables: Tables) -> dict[str, float]:
    from sklearn.metrics import ndcg_score

    table = tables.int_keys
    shape = (table["query"].n_unique(), -1)
    grades, ranks = (table[name].to_numpy().reshape(shape) for name in ("relevance", "rank"))
    return {"ndcg@10": float(ndcg_score(grades, -ranks, k=10, ignore_ties=True))}


def _polars_ds(tables: Tables, *, ignore_ties: bool = True) -> dict[str, float]:
    import polars_ds as pds

    score = -pl.col("rank").cast(pl.Float64)
    ndcg = pds.query_ndcg_score(pl.col("relevance"), score, k=10, ignore_ties=ignore_ties)
    return {"ndcg@10": tables.int_keys.group_by("query").agg(ndcg.alias("ndcg")).get_column("ndcg").mean()}


def _duckdb(tables: Tables, query: str = sql.RELEVANT_ROWS) -> dict[str, float]:
    import duckdb

    duckdb.register("listed", tables.int_keys)
    return dict(zip(SEVEN, duckdb.execute(query).fetchall()[0], strict=True))


def _textbook(tables: Tables) -> dict[str, float]:
    """Grouped expressions as a reader of the Polars manual would write them: a sort inside each group."""
    grades = pl.col("relevance").sort_by("rank")
    hit = grades > 0
    relevant = hit.sum()
    discount = 1 / pl.int_range(2, pl.len() + 2).log(2)
    dcg = (grades * discount).head(10).sum()
    ideal = (pl.col("relevance").sort(descending=True) * discount).head(10).sum()
    place = pl.int_range(1, pl.len() + 1)
    scores = (
        pl.when(ideal > 0).then(dcg / ideal).otherwise(0.0),
        pl.when(relevant > 0).then((hit.cum_sum() / place).filter(hit).sum() / relevant).otherwise(0.0),
        pl.when(relevant > 0).then(1 / (hit.arg_max() + 1)).otherwise(0.0),
        hit.head(10).sum() / 10,
        pl.when(relevant > 0).then(hit.head(10).sum() / relevant).otherwise(0.0),
        pl.when(relevant > 0).then(hit.head(100).sum() / relevant).otherwise(0.0),
        hit.head(10).any().cast(pl.Float64),
    )
    each = tables.int_keys.group_by("query").agg(score.alias(name) for name, score in zip(SEVEN, scores, strict=True))
    return each.select(pl.col(SEVEN).mean()).row(0, named=True)


def _judged(tables: Tables) -> dict[str, float]:
    return tables.run.rank.judged_by(tables.qrels).evaluate(*SEVEN).row(0, named=True)


PEERS = (
    Peer(
        "pytrec_eval", "pytrec-eval-terrier", "pytrec_eval", "text_keys", _pytrec_eval, 15,
        "dicts made one query at a time",
    ),
    Peer(
        "pytrec_eval (by row)", "pytrec-eval-terrier", "pytrec_eval", "text_keys", _pytrec_eval_by_row, None,
        "dicts filled one row at a time",
    ),
    Peer("ir_measures", "ir-measures", "ir_measures", "pandas", _ir_measures, 30),
    Peer(
        "ranx", "ranx", "ranx", "pandas", _ranx, 30, "text columns made objects first", compiles=True, fails=_ranx_as_is
    ),
    Peer(
        "RecTools", "rectools", "rectools", "pandas", _rectools, None, "binary; its pins pandas<3, numpy<2 overridden",
        settings={"no_relevant": "skip"}, binary=True,
    ),
    Peer(
        "polars_ds", "polars-ds", "polars_ds", "int_keys", _polars_ds, None, "ndcg@10 only, ignore_ties=True",
        fails=lambda tables: _polars_ds(tables, ignore_ties=False),
    ),
    Peer(
        "scikit-learn", "scikit-learn", "sklearn", "int_keys", _scikit_learn, None, "ndcg@10 only, lists of one length"
    ),
    Peer("DuckDB", "duckdb", "duckdb", "int_keys", _duckdb, 3, "SQL: two windows over the relevant rows"),
    Peer(
        "DuckDB (every row)", "duckdb", "duckdb", "int_keys", lambda tables: _duckdb(tables, sql.EVERY_ROW), None,
        "SQL: two windows over every row",
    ),
    Peer("textbook Polars", "polars", "polars", "int_keys", _textbook, 5, "a sort inside each group"),
    Peer(
        "ours (judged_by)", "frame_metrics", "frame_metrics", "text_keys", _judged, None, "run and qrels apart"
    ),
)  # fmt: skip
"""The peers, and ours from the two tables that the first four start from."""
