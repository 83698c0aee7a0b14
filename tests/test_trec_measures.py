"""Every measure of trec_eval and pytrec_eval, under the tool's own name, on real runs and in every mode."""

import math
import re
from pathlib import Path

import polars as pl
import pytest

import frame_metrics as fm
from frame_metrics.formulas.names import AT, CUT, WHOLE
from tests.oracle import differences

DATA = Path(__file__).parents[2] / "shared" / "data"
DATASETS = ("trec_eval_test", "trec_eval_rellevel", "lambdarank", "cast2021_doc")
TOOLS = {"9.0.8": "trec_eval", "10.0": "trec_eval", "0.5.11": "pytrec_eval-terrier"}
FLOAT32 = {"9.0.8", "0.5.11"}
MODES = {"9.0.8": ("default", "c", "l2", "l2_c", "J", "M10"), "0.5.11": ("default", "l2")}
MODES["10.0"] = MODES["9.0.8"]
CASES = [(dataset, version, mode) for dataset in DATASETS for version in TOOLS for mode in MODES[version]]
CASES += [("lambdarank", version, "l3") for version in ("9.0.8", "10.0")]
WORDS = ("runid", "relstring")
GEOMETRIC = ("gm_map", "gm_bpref")

needs_data = pytest.mark.skipif(not DATA.exists(), reason=f"the shared data folder {DATA} is not there")


def text(measure, version):
    """Return what a measure is called here: what the tool calls it, but for what versions differ in."""
    if measure == "rbp":
        return "rbp.p=0.9"
    if version == "10.0":
        return measure
    if measure == "11pt_avg":
        return "eleven_point_average(rounding=trec_eval_9)"
    level = measure.removeprefix("iprec_at_recall_")
    return measure if level == measure else f"iprec(recall={float(level)},rounding=trec_eval_9)"


def read(dataset, what):
    names = {"qid": "query", "docno": "item", "rel": "relevance"}
    return pl.read_parquet(DATA / f"{dataset}.{what}.parquet").rename(names, strict=False)


def judged(run, qrels, mode, version):
    """Return the question that a tool asks of a run in a mode."""
    level = re.search(r"l(\d)", mode)
    settings = {"min_relevance": int(level[1])} if level else {}
    settings |= {"depth": 10} if mode == "M10" else {}
    # -J drops documents of negative grade too, which here keep their places.
    qrels = qrels.filter(pl.col("relevance") >= 0) if mode == "J" else qrels
    scored = run.rank.using(**settings).from_scores("score", ties="item_desc", float32=version in FLOAT32)
    queries = "qrels" if mode.endswith("c") else "both"
    return scored.judged_by(qrels, queries=queries, unjudged="drop" if mode == "J" else "nonrelevant")


def stored(dataset, version, mode):
    """Return `{run: {(query, measure): value}}` of a tool, its averages under the query None."""
    rows = read(dataset, "expected").filter(tool=TOOLS[version], tool_version=version, mode=mode)
    found = {}
    for run, query, measure, value in rows.select("run", "query", "measure", "value").iter_rows():
        if measure not in WORDS:
            found.setdefault(run, {})[None if query in ("all", "mean") else query, measure] = value
    return found


def ours(ranking, measures, version):
    """Return `{(query, measure): value}` as the package gives it, averages under the query None."""
    texts = {measure: text(measure, version) for measure in measures}
    each = ranking.per_query().evaluate(*texts.values())
    whole = ranking.evaluate(*texts.values()).row(0, named=True)
    names = {measure: str(fm.metrics.parse(asked)) for measure, asked in texts.items()}
    found = {(row["query"], m): row[name] for row in each.iter_rows(named=True) for m, name in names.items()}
    return found | {(None, measure): whole[name] for measure, name in names.items()}


def as_printed(found, version):
    """Return our numbers as pytrec_eval gives them: geometric means as logarithms, and counts averaged."""
    if version != "0.5.11":
        return found
    queries = len({query for query, _ in found}) - 1
    changed = {}
    for (query, measure), value in found.items():
        if measure in GEOMETRIC:
            changed[query, measure] = math.log(max(value, 1e-5))
        elif measure.startswith("num_") and query is None:
            changed[query, measure] = value / queries
    return found | changed


@needs_data
@pytest.mark.parametrize(("dataset", "version", "mode"), CASES)
def test_every_measure(dataset, version, mode):
    expected = stored(dataset, version, mode)
    assert expected
    qrels, runs = read(dataset, "qrels"), read(dataset, "runs").select("run", "query", "item", "score")
    for name, values in expected.items():
        ranking = judged(runs.filter(run=name).drop("run"), qrels, mode, version)
        found = as_printed(ours(ranking, sorted({measure for _, measure in values}), version), version)
        if mode == "l2_c":
            # With -c, num_rel is the number of all positive grades in the judgments, whatever -l says.
            found[None, "num_rel"] = qrels.filter(pl.col("relevance") > 0).height
        assert differences({key: found.get(key, "absent") for key in values}, values, 1e-9) == {}


NAMES = [*WHOLE, *(f"{name}_10" for name in CUT), *(f"{name}_0.20" for name in AT), "ndcg.1=3,2=9", "rbp.p=0.95"]


@pytest.mark.parametrize("name", NAMES)
def test_names_of_trec_eval_are_texts_and_name_the_column(name):
    frame = pl.DataFrame({"query": 1, "rank": [1, 2, None], "relevance": [0, 2, 1]})
    assert str(fm.metrics.parse(name)) == name
    assert frame.rank.evaluate(name).columns == [name]


@pytest.mark.parametrize(
    ("theirs", "same"),
    [
        ("ndcg_cut_10", "ndcg@10"),
        ("P_5", "precision@5"),
        ("P.5", "p@5"),
        ("Rprec_mult_0.20", "r_precision(multiple=0.2)"),
        ("iprec_at_recall_0.00", "iprec"),
        ("set_relative_P", "precision(denominator=capped)"),
        ("ndcg.1=3,2=9", "ndcg(gain={1:3,2:9})"),
        ("rbp.p=0.9", "rbp(p=0.9,gain=linear)"),
        ("G", "normalized_gain"),
    ],
)
def test_names_of_trec_eval_are_other_names(theirs, same):
    assert fm.metrics.parse(theirs) == fm.metrics.parse(same)


@pytest.mark.parametrize(
    ("typo", "meant"),
    [
        ("p_5", "P_5"),
        ("ndgc_cut_20", "ndcg_cut_20"),
        ("ndcg_cut10", "ndcg_cut_10"),
        ("rprec", "Rprec"),
        ("Rprec_mlt_0.20", "Rprec_mult_0.20"),
        ("recip_rnak", "recip_rank"),
    ],
)
def test_typos_get_the_nearest_name(typo, meant):
    with pytest.raises(fm.UnknownMetricError, match=f"did you mean '{meant}'"):
        fm.metrics.parse(typo)


@pytest.mark.parametrize("name", ["P_0", "ndcg_cut_0"])
def test_cuts_begin_at_one(name):
    with pytest.raises(fm.OptionError, match="`k` must be an integer >= 1"):
        fm.metrics.parse(name)


def test_two_names_of_one_metric_are_two_columns():
    frame = pl.DataFrame({"query": 1, "rank": [1, 2], "relevance": [0, 1]})
    found = frame.rank.evaluate("ndcg_cut_10", "ndcg@10", "P_2").row(0, named=True)
    assert found == {"ndcg_cut_10": found["ndcg@10"], "ndcg@10": pytest.approx(0.6309, abs=1e-4), "P_2": 0.5}


def test_rbp_is_binary_and_that_of_trec_eval_is_graded():
    frame = pl.DataFrame({"query": 1, "rank": [1, 2, None], "relevance": [1, 2, 4]})
    found = frame.rank.evaluate("rbp", "rbp.p=0.9").row(0)
    assert found == pytest.approx((0.2 * (1 + 0.8), 0.1 * (0.25 + 0.9 * 0.5)))


def test_a_geometric_mean_takes_no_query_for_less_than_a_hundred_thousandth():
    frame = pl.DataFrame({"query": ["a", "b", "c"], "rank": [1, 1, 4], "relevance": [1, 0, 1]})
    assert frame.rank.gm_map() == pytest.approx((1 * 1e-5 * 0.25) ** (1 / 3))
    assert frame.rank.using(no_relevant="skip").gm_map() == pytest.approx(0.5)
    assert frame.rank.per_query().gm_map()["gm_map"].to_list() == [1.0, 0.0, 0.25]


def test_utility_counts_kinds_of_equal_worth_each():
    frame = pl.DataFrame({"query": 1, "rank": [1, 2, None], "relevance": [1, 0, 1]})
    assert frame.rank.utility(hit=1, wrong=1, missed=1) == 3.0
