"""The package against tools that others trust: trec_eval, pytrec_eval, scikit-learn, ir_measures, ranx."""

import json
import random
from itertools import product

import ir_measures
import polars as pl
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk

import frame_metrics as fm
from tests.oracle import differences
from tests.strategies import full_lists
from tests.trusted.compare import DATA, DATASETS, ranking, read
from tests.trusted.names import ours as named

CUTOFFS = (1, 5, 10, 15, 20, 30, 100, 200, 500, 1000)
WHOLE = {
    "map": "average_precision",
    "recip_rank": "reciprocal_rank",
    "Rprec": "r_precision",
    "bpref": "bpref",
    "ndcg": "ndcg",
    "set_P": "precision",
    "set_recall": "recall",
    "set_F": "f_score",
    "num_ret": "num_ret",
    "num_rel": "num_rel",
    "num_rel_ret": "num_rel_ret",
}
CUT = {
    "P": "precision",
    "recall": "recall",
    "map_cut": "average_precision",
    "ndcg_cut": "ndcg",
    "success": "hit_rate",
}
TREC = WHOLE | {f"{theirs}_{k}": f"{ours}@{k}" for theirs, ours in CUT.items() for k in CUTOFFS}
# Version 9 rounds the wanted number of hits of iprec up from 0.1, version 10 and this package from 0.5.
TREC_10 = TREC | {f"iprec_at_recall_{i / 10:.2f}": f"iprec(recall={i / 10})" for i in range(1, 11)}
TREC_10 |= {"iprec_at_recall_0.00": "iprec", "dcg": "dcg", "ideal_dcg": "idcg"}
EXPONENTIAL = [f"nDCG(dcg='exp-log2')@{k}" for k in (5, 10, 20)]
IR_MEASURES = ["ERR@5", "ERR@10", "ERR@20", *EXPONENTIAL, "Judged@10", "SetF"]
IR_MEASURES = {name: named("ir_measures", "0.4.3", name).text for name in IR_MEASURES}
# These resolve tied scores in another way, so they are compared where no scores are tied.
WITHOUT_TIES = {
    "ir_measures": ["RBP(rel=1)", "RBP(p=0.5,rel=1)", "RBP(p=0.95,rel=1)", "RR@10"],
    "ranx": ["f1@5", "f1@10", "dcg@10", "dcg_burges@10", "ndcg_burges"],
}

needs_data = pytest.mark.skipif(not DATA.exists(), reason=f"the shared data folder {DATA} is not there")


def long(frame, names):
    """Return `{(query, their name): value}` of a frame with a row per query and columns named by our texts."""
    texts = {theirs: str(fm.metrics.parse(ours)) for theirs, ours in names.items()}
    return {(row["query"], theirs): row[text] for row in frame.iter_rows(named=True) for theirs, text in texts.items()}


def random_run(seed, *, ties):
    """Return random scores and grades from -1 to 3: items missed, items unjudged, a query without relevant items."""
    rng = random.Random(seed)  # noqa: S311
    run, qrels = [], [("q0", "extra", 0), ("q1", "extra", 0)]
    for query in [f"q{number}" for number in range(20)]:
        items = [f"d{item}" for item in range(40)]
        scores = [rng.randint(0, 5) for _ in items] if ties else rng.sample(range(1000), 40)
        run += [(query, item, float(score)) for item, score in zip(items, scores, strict=True)][: rng.randint(1, 40)]
        grades = (0,) if query == "q0" else (-1, 0, 0, 1, 2, 3)
        qrels += [(query, item, rng.choice(grades)) for item in rng.sample(items, rng.randint(1, 30))]
    columns = ("query", "item")
    return (
        pl.DataFrame(run, schema=[*columns, "score"], orient="row"),
        pl.DataFrame(qrels, schema=[*columns, "relevance"], orient="row"),
    )


def as_dicts(frame):
    """Return `{query: {item: value}}`."""
    found = {}
    for query, item, value in frame.iter_rows():
        found.setdefault(query, {})[item] = value
    return found


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("ties", [False, True], ids=["distinct", "tied"])
@pytest.mark.parametrize("seed", range(3))
def test_pytrec_eval_on_random_runs(seed, ties, level):
    run, qrels = random_run(seed, ties=ties)
    cuts = {f"{name}.{','.join(map(str, CUTOFFS))}" for name in CUT}
    evaluator = pytrec_eval.RelevanceEvaluator(as_dicts(qrels), cuts | set(WHOLE), relevance_level=level)
    theirs = evaluator.evaluate(as_dicts(run))
    expected = {(query, name): theirs[query][name] for query in theirs for name in TREC}
    found = ranking(run, qrels, level).per_query().evaluate(*TREC.values())
    assert differences(long(found, TREC), expected, 1e-9) == {}


def expected_values(dataset, **filters):
    """Return the stored values of one tool, without its averages."""
    found = read(dataset, "expected").filter(**filters).filter(~pl.col("query").is_in(["all", "mean"]))
    return found.select("run", "query", "measure", "value")


def compare(dataset, names, level=None, *, cut=None, lowest=-10, **options):
    """Return how many stored values there are, and those that differ from ours."""
    filters = {key: options.pop(key) for key in ("tool", "tool_version", "mode") if key in options}
    stored = expected_values(dataset, **filters).filter(pl.col("measure").is_in(list(names)))
    qrels = read(dataset, "qrels").filter(pl.col("relevance") >= lowest)
    runs = read(dataset, "runs").select("run", "query", "item", "score")
    count, wrong = 0, {}
    for (name,), values in stored.group_by("run"):
        run = runs.filter(run=name).drop("run")
        run = run if cut is None else first_rows(run, cut)
        expected = {(query, measure): value for query, measure, value in values.drop("run").iter_rows()}
        ours = long(ranking(run, qrels, level, **options).per_query().evaluate(*names.values()), names)
        wrong |= {(name, *key): pair for key, pair in differences(ours, ours | expected, 1e-9).items()}
        count += len(expected)
    return count, wrong


def first_rows(run, count):
    ordered = run.sort("score", "item", descending=True)
    return ordered.filter(pl.int_range(pl.len()).over("query") < count)


@needs_data
@pytest.mark.parametrize("version", ["10.0", "9.0.8"])
@pytest.mark.parametrize(("dataset", "level"), [*product(DATASETS, (None, 2)), ("lambdarank", 3)])
def test_trec_eval_on_real_runs(dataset, level, version):
    mode = "default" if level is None else f"l{level}"
    names, float32 = (TREC_10, False) if version == "10.0" else (TREC, True)
    options = {"tool": "trec_eval", "tool_version": version, "mode": mode, "float32": float32}
    count, wrong = compare(dataset, names, level, **options)
    assert count > 100
    assert wrong == {}


@needs_data
@pytest.mark.parametrize("dataset", DATASETS)
def test_trec_eval_on_the_first_rows_of_a_run(dataset):
    count, wrong = compare(dataset, TREC_10, cut=10, tool="trec_eval", tool_version="10.0", mode="M10")
    assert count > 100
    assert wrong == {}


@needs_data
@pytest.mark.parametrize("dataset", DATASETS)
def test_trec_eval_on_judged_rows_only(dataset):
    options = {"tool": "trec_eval", "tool_version": "10.0", "mode": "J"}
    # -J also drops documents of negative grade, which here are judged
    count, wrong = compare(dataset, TREC_10, unjudged="drop", lowest=0, **options)
    assert count > 100
    assert wrong == {}


@needs_data
@pytest.mark.parametrize("dataset", DATASETS)
def test_trec_eval_mean_over_all_judged_queries(dataset):
    stored = read(dataset, "expected").filter(tool="trec_eval", tool_version="10.0", mode="c", query="all")
    qrels, runs = read(dataset, "qrels"), read(dataset, "runs")
    for (name,), values in stored.filter(pl.col("measure").is_in(list(TREC_10))).group_by("run"):
        row = ranking(runs.filter(run=name), qrels).evaluate(*TREC_10.values()).row(0, named=True)
        found = {theirs: row[str(fm.metrics.parse(ours))] for theirs, ours in TREC_10.items()}
        expected = dict(values.select("measure", "value").iter_rows())
        assert differences(found, found | expected, 1e-9) == {}


@needs_data
@pytest.mark.parametrize("dataset", ["lambdarank", "cast2021_doc"])
def test_ir_measures_on_real_runs(dataset):
    stored = expected_values(dataset, tool="ir_measures", mode="default")
    stored = stored.filter(pl.col("measure").is_in(list(IR_MEASURES)))
    qrels, runs = read(dataset, "qrels"), read(dataset, "runs")
    for (name,), values in stored.group_by("run"):
        run = ranking(runs.filter(run=name), qrels, float32=True)
        found = long(run.per_query().evaluate(*IR_MEASURES.values()), IR_MEASURES)
        expected = {(query, measure): value for query, measure, value in values.drop("run").iter_rows()}
        # gdeval prints five decimals
        assert differences(found, found | expected, 1e-5) == {}


@needs_data
@pytest.mark.parametrize("tool", ["ir_measures", "ranx"])
def test_tools_that_order_ties_otherwise_where_no_scores_are_tied(tool):
    names = {measure: named(tool, "", measure).text for measure in WITHOUT_TIES[tool]}
    stored = expected_values("cast2021_doc", tool=tool, mode="default").filter(pl.col("measure").is_in(list(names)))
    qrels, runs = read("cast2021_doc", "qrels"), read("cast2021_doc", "runs")
    for (name,), values in stored.group_by("run"):
        run = runs.filter(run=name).with_columns(pl.col("score").cast(pl.Float32))
        tied = run.filter(pl.struct("query", "score").is_duplicated())["query"].unique()
        untied = values.drop("run").filter(~pl.col("query").is_in(tied.implode()))
        assert not untied.is_empty()
        found = long(ranking(run, qrels).per_query().evaluate(*names.values()), names)
        expected = {(query, measure): value for query, measure, value in untied.iter_rows()}
        assert differences(found, found | expected, 1e-9) == {}


@needs_data
def test_fallout_is_judged_non_relevant_documents_of_trec_eval():
    stored = expected_values("trec_eval_rellevel", tool="trec_eval", tool_version="10.0", mode="default")
    expected = dict(stored.filter(measure="num_nonrel_judged_ret").select("query", "value").iter_rows())
    qrels = read("trec_eval_rellevel", "qrels")
    pool = dict(qrels.filter(relevance=0).group_by("query").len().iter_rows())
    found = ranking(read("trec_eval_rellevel", "runs"), qrels).per_query().fallout()
    assert differences({query: share * pool[query] for query, share in found.iter_rows()}, expected, 1e-9) == {}


def edge_cases():
    """Return the stored inputs on which trec_eval 10 prints numbers for plain runs and judgments."""
    path = DATA / "trec_edge_cases.json"
    cases = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    odd = ("-M", "-J", "-c", "-l 0", "0=-1", "-m rbp")
    unlike = ("nan", "abc", "inf", "1e400", "1.7", " x\n", "# c")
    plain = {name: case for name, case in cases.items() if case["10.0"]["rc"] == 0}
    plain = {name: case for name, case in plain.items() if not any(flag in case["args"] for flag in odd)}
    return {n: c for n, c in plain.items() if not any(text in c["run"].lower() + c["qrels"] for text in unlike)}


def words(text, columns):
    """Return the chosen columns of a text file of words."""
    lines = [line.split() for line in text.splitlines() if line.strip()]
    return [tuple(line[column] for column in columns) for line in lines]


@needs_data
@pytest.mark.parametrize("name", edge_cases())
def test_trec_eval_edge_cases(name):
    case = edge_cases()[name]
    level = int(case["args"].split("-l ")[1].split()[0]) if "-l " in case["args"] else None
    names = ["query", "item"]
    run = pl.DataFrame(words(case["run"], (0, 2, 4)), schema=[*names, "score"], orient="row").cast({"score": float})
    qrels = pl.DataFrame(words(case["qrels"], (0, 2, 3)), schema=[*names, "relevance"], orient="row")
    edge = TREC_10 | {f"{theirs}_{k}": f"{ours}@{k}" for theirs, ours in CUT.items() for k in (2, 3)}
    found = ranking(run, qrels.cast({"relevance": int}), level)
    printed = {(query, theirs): float(value) for theirs, query, value in words(case["10.0"]["out"], (0, 1, 2))}
    expected = {key: value for key, value in printed.items() if key[0] != "all" and key[1] in edge}
    asked = {theirs: edge[theirs] for theirs in {key[1] for key in expected}}
    ours = long(found.per_query().evaluate(*asked.values()), asked)
    # four decimals are printed
    assert expected
    assert differences(ours, expected, 5.1e-5) == {}


def one_list(grades):
    return pl.DataFrame({"query": "q", "rank": range(1, len(grades) + 1), "relevance": grades})


def falling(grades):
    return [float(-place) for place in range(len(grades))]


@settings(deadline=None, max_examples=40)
@given(full_lists(), st.sampled_from((None, 1, 3, 5, 30)))
def test_sklearn_gains(grades, k):
    found = one_list(grades).rank.evaluate(*(f"{name}@{k}" if k else name for name in ("dcg", "ndcg"))).row(0)
    expected = [score([grades], [falling(grades)], k=k, ignore_ties=True) for score in (sk.dcg_score, sk.ndcg_score)]
    assert found == pytest.approx(expected, rel=1e-12)


@settings(deadline=None, max_examples=40)
@given(full_lists((0, 1)).filter(lambda grades: len(set(grades)) == 2))
def test_sklearn_order_of_a_binary_list(grades):
    found = one_list(grades).rank.evaluate("auc", "average_precision").row(0)
    scores = falling(grades)
    expected = [sk.roc_auc_score(grades, scores), sk.average_precision_score(grades, scores)]
    assert found == pytest.approx(expected, rel=1e-12)


@settings(deadline=None, max_examples=40)
@given(full_lists((0, 1)).filter(lambda grades: len(set(grades)) == 2), st.data())
def test_sklearn_auc_with_shared_ranks(grades, data):
    ranks = data.draw(st.lists(st.integers(1, 4), min_size=len(grades), max_size=len(grades)))
    found = one_list(grades).with_columns(rank=pl.Series(ranks)).rank.auc()
    assert found == pytest.approx(sk.roc_auc_score(grades, [-rank for rank in ranks]), rel=1e-12)


@settings(deadline=None, max_examples=40)
@given(full_lists((0, 1)), st.sampled_from((0.5, 1.0, 2.0)), st.data())
def test_sklearn_sets(grades, beta, data):
    missed = data.draw(st.lists(st.booleans(), min_size=len(grades), max_size=len(grades)))
    ranks = [None if miss else place for place, miss in enumerate(missed, start=1)]
    table = one_list(grades).with_columns(rank=pl.Series(ranks, dtype=pl.Int64))
    found = [table.rank.precision(), table.rank.recall(), table.rank.f_score(beta=beta)]
    shown = [not miss for miss in missed]
    expected = sk.precision_recall_fscore_support(grades, shown, beta=beta, average="binary", zero_division=0)[:3]
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("Judged@5", "judged@5"),
        ("RBP(p=0.8,rel=1)", "rbp"),
        ("AP(rel=2)@10", "average_precision@10"),
        ("RR(rel=2)", "reciprocal_rank"),
        ("SetF(beta=2.0,rel=2)", "f_score(beta=1.4142135623730951)"),
        ("Bpref(rel=2)", "bpref"),
    ],
)
def test_ir_measures_on_random_runs(theirs, ours):
    measure = ir_measures.parse_measure(theirs)
    if not any(p.is_available() and p.supports(measure) for p in ir_measures.providers.registry.values()):
        pytest.skip(f"no provider of {theirs} is installed")
    run, qrels = random_run(7, ties=False)
    found = ranking(run, qrels, 2 if "rel=2" in theirs else None).per_query().evaluate(ours)
    judged = [ir_measures.Qrel(*row) for row in qrels.iter_rows()]
    scored = [ir_measures.ScoredDoc(*row) for row in run.iter_rows()]
    expected = {(m.query_id, theirs): m.value for m in ir_measures.iter_calc([measure], judged, scored)}
    assert differences(long(found, {theirs: ours}), expected, 1e-9) == {}
