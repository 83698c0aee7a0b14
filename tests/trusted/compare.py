"""Stored values of the tools beside ours."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

import frame_metrics as fm
from tests.trusted.names import Ours, ours

if TYPE_CHECKING:
    from collections.abc import Iterator

DATA = Path(os.environ.get("FRAME_METRICS_DATA") or Path(__file__).parents[3] / "shared" / "data")
DATASETS = ("trec_eval_test", "trec_eval_rellevel", "lambdarank", "cast2021_doc")
AVERAGES = ("all", "mean")
OWN_ORDER = ("ir_measures", "ranx", "scikit-learn", "torchmetrics")
"""Tools that do not order tied scores by the item, or not always."""

_CASE = ("tool", "tool_version", "dataset", "run", "mode")


def read(dataset: str, what: str, folder: Path = DATA) -> pl.DataFrame:
    """Return one of the files of a data set, with the names of columns that are used here."""
    names = {"qid": "query", "docno": "item", "rel": "relevance"}
    return pl.read_parquet(folder / f"{dataset}.{what}.parquet").rename(names, strict=False)


def ranking(run, qrels, level=None, *, float32=False, unjudged="nonrelevant", queries="qrels", **settings):
    """Return the question of a run with scores, judged as trec_eval does."""
    ties = settings.pop("ties", "item_desc")
    settings |= {} if level is None else {"min_relevance": level}
    scored = run.rank.using(**settings).from_scores("score", ties=ties, float32=float32)
    return scored.judged_by(qrels, unjudged=unjudged, queries=queries)


def retrieved_only(run, qrels, *, ties, float32=False, **settings):
    """Return the question of a run of which nothing was missed and everything judged, which is what some tools see."""
    judged = run.join(qrels, on=["query", "item"], how="left").with_columns(pl.col("relevance").fill_null(0))
    return judged.rank.using(**settings).from_scores("score", ties=ties, float32=float32)


def _question(run: pl.DataFrame, qrels: pl.DataFrame, case: dict[str, str], how: Ours):
    mode, tool = case["mode"], case["tool"]
    float32 = as_float32(tool, case["tool_version"])
    if how.below_zero == "missed":
        run = run.with_columns(pl.when(pl.col("score") > 0).then("score"))
    if how.below_zero == "nonrelevant":
        qrels = qrels.join(run.filter(pl.col("score") <= 0), on=["query", "item"], how="anti")
    if how.lowest is not None:
        qrels = qrels.with_columns(pl.when(pl.col("relevance") >= how.lowest).then("relevance").otherwise(0))
    if mode.startswith("retrieved_only"):
        empty = {"pos": "one", "skip": "skip"}.get(mode.rpartition("=")[2], how.no_relevant)
        return retrieved_only(run, qrels, ties=how.ties, float32=float32, no_relevant=empty)
    if mode == "J":  # which also drops documents of negative grade, which here are judged
        qrels = qrels.filter(pl.col("relevance") >= 0)
    settings = {"depth": 10} if mode == "M10" else {}
    return ranking(
        run,
        qrels,
        int(mode[1]) if mode[0] == "l" else how.level,
        float32=float32,
        unjudged="drop" if mode == "J" else "nonrelevant",
        queries="qrels" if mode.endswith("c") or tool in ("ir_measures", "ranx") else "both",
        ties=how.ties,
        **settings,
    )


def as_float32(tool: str, version: str) -> bool:
    """Return whether a tool compares scores as 32-bit floats."""
    return tool in ("pytrec_eval-terrier", "ir_measures", "torchmetrics") or version.startswith("9.")


def _values(run: pl.DataFrame, qrels: pl.DataFrame, case: dict[str, str], names: dict[str, Ours]) -> pl.DataFrame:
    """Return our values of measures, under their names, of each query and over all."""
    frames = []
    for how in dict.fromkeys(replace(each, text="", shown="") for each in names.values()):
        alike = {m: each for m, each in names.items() if replace(each, text="", shown="") == how}
        texts = {measure: str(fm.metrics.parse(each.text)) for measure, each in alike.items()}
        asked = _question(run, qrels, case, how)
        each = asked.per_query().evaluate(*dict.fromkeys(texts.values()))
        over = asked.evaluate(*dict.fromkeys(texts.values())).with_columns(query=pl.lit("all"))
        for frame, queries in ((each, 1), (over, each.height)):
            picked = [_shown(texts[m], how.shown, queries).alias(m) for m, how in alike.items()]
            frames.append(frame.select("query", *picked).unpivot(index="query", variable_name="measure"))
    return pl.concat(frames).rename({"value": "ours"})


def _shown(text: str, how: str, queries: int) -> pl.Expr:
    value = pl.col(text).cast(pl.Float64)
    return {"": value, "log": value.clip(lower_bound=1e-5).log(), "mean": value / queries}[how]


def compared(folder: Path = DATA, **only: str) -> Iterator[pl.DataFrame]:
    """Return, for each stored run of a tool, its values beside ours.

    The columns beside those that are stored: `average`, whether the value is over queries; `text` and `settings`, how
    we are asked, `text` null where nobody maps the measure; `ours`; `tied`, whether scores are tied; `low` and `high`,
    what the worst and the best order of tied scores would give, where the tool does not say how it breaks them.
    """
    for dataset in DATASETS:
        # scikit-learn has no averages; those that are stored were made of its values.
        stored = read(dataset, "expected", folder).filter(pl.col("query") != "mean_of_defined", **only)
        qrels, runs = read(dataset, "qrels", folder), read(dataset, "runs", folder)
        for keys, part in stored.group_by(*_CASE, maintain_order=True):
            case = dict(zip(_CASE, keys, strict=True))
            yield _beside(part, runs.filter(run=case["run"]).select("query", "item", "score"), qrels, case)


def _beside(stored: pl.DataFrame, run: pl.DataFrame, qrels: pl.DataFrame, case: dict[str, str]) -> pl.DataFrame:
    measures = stored["measure"].unique(maintain_order=True)
    found = {measure: ours(case["tool"], case["tool_version"], measure) for measure in measures}
    names = {measure: how for measure, how in found.items() if how is not None}
    texts = {measure: how.text for measure, how in names.items()}
    settings = {measure: how.settings for measure, how in names.items()}
    tied = _tied(run)
    table = stored.rename({"value": "theirs"}).with_columns(
        pl.col("query").replace(dict.fromkeys(AVERAGES, "all")),
        average=pl.col("query").is_in(AVERAGES),
        text=pl.col("measure").replace_strict(texts, default=None, return_dtype=pl.String),
        settings=pl.col("measure").replace_strict(settings, default="", return_dtype=pl.String),
    )
    table = table.with_columns(tied=pl.col("query").is_in(tied.implode()) | (pl.col("average") & bool(tied.len())))
    orders = {"ours": None, "low": "worst", "high": "best"} if case["tool"] in OWN_ORDER else {"ours": None}
    for name, ties in orders.items():
        asked = {measure: how if ties is None else replace(how, ties=ties) for measure, how in names.items()}
        values = _values(run, qrels, case, asked).rename({"ours": name})
        table = table.join(values, on=["query", "measure"], how="left", maintain_order="left")
    return table if len(orders) > 1 else table.with_columns(low=pl.col("ours"), high=pl.col("ours"))


def _tied(run: pl.DataFrame) -> pl.Series:
    """Return the queries of a run of which two items have one score."""
    score = pl.col("score").cast(pl.Float32)
    return run.filter(pl.struct("query", score).is_duplicated())["query"].unique()
