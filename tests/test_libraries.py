"""Other libraries' definitions by name: against what they gave, against the libraries themselves, on every surface."""

import itertools
import random
from typing import get_args

import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

import frame_metrics as fm
from frame_metrics.library import SETTINGS
from frame_metrics.library.table import LIBRARIES
from frame_metrics.library.words import WORDS
from frame_metrics.plan.joined import Queries
from frame_metrics.plan.question import NoRelevant
from frame_metrics.plan.scores import Ties

ONE = pl.DataFrame(
    {
        "query": "q",
        "item": ["x", "a", "d", "c", "b", "e", "f"],
        "rank": [1, 2, 3, 4, None, None, None],
        "relevance": [None, 3, 0, 1, 2, 2, 1],
    }
)
COLUMNS = ("p@3", "p@5", "recall@3", "recall@5", "map@3", "map@5", "ndcg@3", "ndcg@5")
TREC = (0.3333, 0.4, 0.2, 0.4, 0.1, 0.2, 0.3597, 0.3822)
CAPPED = (0.3333, 0.4, 0.2, 0.4, 0.1667, 0.2, 0.2961, 0.3601)
# What each library gives for the list above, four digits; None where it has no such metric.
GOLDEN = {
    "trec_eval": TREC,
    "pytrec_eval": TREC,
    "ir_measures": TREC,
    "ranx": TREC,
    "beir": TREC,
    "rectools": (0.3333, 0.4, 0.2, 0.4, 0.1, 0.2, 0.2961, 0.3601),
    "recommenders": (0.3333, 0.4, 0.2, 0.4, 0.1, 0.2, 0.2961, 0.3601),
    "replay": CAPPED,
    "recbole": CAPPED,
    "spark": CAPPED,
    "lenskit": (0.3333, 0.5, 0.3333, 0.4, 0.1667, 0.25, 0.3801, 0.4212),
    "torchmetrics": (0.3333, 0.4, 0.5, 1.0, 0.5, 0.5, 0.5213, 0.6399),
    "sklearn": (None, None, None, None, None, None, 0.5213, 0.6399),
    "evidently": (0.3333, 0.5, 0.5, 1.0, 0.25, 0.5, 0.5213, 0.6399),
    "ml_metrics": (None, None, None, None, 0.1667, 0.2, None, None),
    "lightgbm": (None, None, None, None, None, None, 0.4250, 0.4324),
    "xgboost": (None, None, None, None, 0.1667, 0.2, 0.4250, 0.4324),
    "elliot": (0.3333, 0.4, 0.2, 0.4, 0.2778, 0.3467, 0.4250, 0.4324),
}
# Values of the same list that are an option of the library, not its default.
OPTIONS = {
    ("ranx", "ndcg(gain=exponential)@5"): 0.4324,
    ("rectools", "map(denominator=k)@3"): 0.1667,
    ("recommenders", "map(denominator=capped)@3"): 0.1667,
    ("recommenders", "ndcg(gain=linear)@5"): 0.3822,
    ("recommenders", "ndcg(gain=exponential)@3"): 0.4250,
    ("lenskit", "ndcg(gain=linear)@3"): 0.4791,
    ("lenskit", "ndcg(gain=linear)@5"): 0.4866,
    ("torchmetrics", "precision(denominator=retrieved)@5"): 0.5,
    ("beir", "recall(denominator=capped)@3"): 0.3333,
}
# Not to be had: rankerEval's "power" (0.2774) is a mistake, and 0.4882 is what scikit-learn and torchmetrics make of
# missed items that are appended with a very low score, which fills empty places.


@pytest.fixture(scope="module")
def tables():
    """A run and judgments: missed and unjudged items, tied scores, queries in one of the two only, one with no hit."""
    chance = random.Random(7)  # noqa: S311
    run, qrels = [], []
    for query in (f"q{n}" for n in range(12)):
        items = [f"i{n}" for n in range(20)]
        if query not in ("q1", "q2"):
            run += [(query, item, chance.randint(1, 6) / 7) for item in chance.sample(items, 12)]
        if query != "q3":
            grades = (0,) if query in ("q2", "q4") else (0, 0, 1, 2, 3)
            qrels += [(query, item, chance.choice(grades)) for item in chance.sample(items, 10)]
    return (
        pl.DataFrame(run, schema=["query", "item", "score"], orient="row"),
        pl.DataFrame(qrels, schema=["query", "item", "relevance"], orient="row"),
    )


def untied(run):
    return run.with_columns(pl.col("score") + pl.int_range(pl.len()) / 1e4)


def both(tables):
    """Return the tables with the queries that are in both."""
    run, qrels = tables
    return run.join(qrels, on="query", how="semi"), qrels.join(run, on="query", how="semi")


def same(value):
    """Return what equals a number up to the order in which queries are summed."""
    return pytest.approx(value, rel=1e-12)


def dicts(frame, value):
    found = {}
    for query, item, number in frame.select("query", "item", value).iter_rows():
        found.setdefault(query, {})[item] = number
    return found


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_row(name):
    ranking = ONE.rank.like(name)
    for text, value in zip(COLUMNS, GOLDEN[name], strict=True):
        if value is not None:
            found = ranking.evaluate(text)
            assert found.columns == [text]
            assert round(found.item(), 4) == value


@pytest.mark.parametrize(("name", "text"), OPTIONS)
def test_options_of_a_library(name, text):
    assert round(ONE.rank.like(name).evaluate(text).item(), 4) == OPTIONS[name, text]


def test_every_library_is_in_the_golden_table():
    assert set(LIBRARIES) == {*GOLDEN, "frame_metrics", "msmarco"}
    assert ONE.rank.like("msmarco").mrr(10) == 0.5


class TestEntries:
    @pytest.mark.parametrize("name", LIBRARIES)
    def test_choices_exist(self, name):
        allowed = {"queries": Queries, "ties": Ties, "no_relevant": NoRelevant}
        library = LIBRARIES[name]
        assert library.names
        assert set(library.settings) <= set(SETTINGS)
        for metric in library.names:
            choices = library.choices(metric)
            for setting, kind in allowed.items():
                assert choices[setting] in get_args(kind)
            options = {option: value for option, value in choices.items() if option not in SETTINGS}
            made = next(d for d in fm.metrics.definitions() if d.name == metric)(**options)
            assert dict(made.options).items() >= options.items()

    def test_names_are_those_of_metrics(self):
        for library in LIBRARIES.values():
            assert set(library.metrics or ()) <= set(fm.metrics.names())

    @pytest.mark.parametrize("name", [name for name in LIBRARIES if name != "frame_metrics"])
    def test_every_choice_has_words(self, name):
        library = LIBRARIES[name]
        for metric, own in library.metrics.items():
            for choice, value in own.items():
                said = (f"{metric}.{choice}", value) in WORDS or (choice, value) in WORDS
                assert said or choice in ("p", "max_grade", "rounding", "tail")
        assert all((choice, value) in WORDS for choice, value in library.settings.items())

    def test_frame(self):
        frame = fm.libraries()
        assert frame["library"].to_list() == list(LIBRARIES)
        assert frame.null_count().sum_horizontal().item() == 0
        assert "ndcg" in frame.filter(library="lightgbm")["metrics"].item()


class TestTheLibrariesThemselves:
    """On random tables with tied scores, queries in one table only, and queries with nothing relevant."""

    def test_pytrec_eval(self, tables):
        pytrec_eval = pytest.importorskip("pytrec_eval")
        run, qrels = tables
        names = {
            "P_5": "precision@5",
            "recall_5": "recall@5",
            "map": "map",
            "map_cut_5": "map@5",
            "ndcg": "ndcg",
            "ndcg_cut_5": "ndcg@5",
            "recip_rank": "mrr",
            "bpref": "bpref",
            "success_5": "hit_rate@5",
            "iprec_at_recall_0.10": "iprec(recall=0.1)",
        }
        measures = {"P.5", "recall.5", "map", "map_cut.5", "ndcg", "ndcg_cut.5", "recip_rank", "bpref", "success.5"}
        evaluator = pytrec_eval.RelevanceEvaluator(dicts(qrels, "relevance"), measures | {"iprec_at_recall"})
        theirs = evaluator.evaluate(dicts(run, "score"))
        ranking = run.rank.like("pytrec_eval").from_scores().judged_by(qrels)
        for row in ranking.per_query().evaluate(*names.values()).iter_rows(named=True):
            expected = theirs.pop(row["query"])
            assert {m: row[text] for m, text in names.items()} == pytest.approx({m: expected[m] for m in names})
        assert theirs == {}

    def test_ir_measures(self, tables):
        ir_measures = pytest.importorskip("ir_measures")
        run, qrels = tables
        names = {
            "P@5": "p@5",
            "R@5": "recall@5",
            "AP": "map",
            "AP@5": "map@5",
            "nDCG@5": "ndcg@5",
            "RR": "mrr",
            "Rprec": "r_precision",
            "Success@5": "hit_rate@5",
            "Judged@5": "judged@5",
            "SetF": "f_score",
        }
        asked = [ir_measures.parse_measure(name) for name in names]
        theirs = ir_measures.calc_aggregate(asked, dicts(qrels, "relevance"), dicts(run, "score"))
        found = run.rank.like("ir_measures").from_scores().judged_by(qrels).evaluate(*names.values()).row(0, named=True)
        assert {str(m): value for m, value in theirs.items()} == pytest.approx({m: found[t] for m, t in names.items()})

    @pytest.mark.filterwarnings("ignore:unsafe cast")
    def test_ranx(self, tables):
        ranx = pytest.importorskip("ranx")
        run, qrels = both((untied(tables[0]), tables[1]))
        names = ["precision@5", "recall@5", "map", "map@5", "ndcg@5", "mrr", "hit_rate@5", "f1@5", "dcg@5"]
        theirs = ranx.evaluate(ranx.Qrels(dicts(qrels, "relevance")), ranx.Run(dicts(run, "score")), names)
        ours = run.rank.like("ranx").from_scores().judged_by(qrels).evaluate(*names).row(0, named=True)
        assert ours == pytest.approx(theirs)

    def test_ranx_wants_the_same_queries(self, tables):
        run, qrels = tables
        with pytest.raises(fm.TableError, match="same queries"):
            run.rank.like("ranx").from_scores().judged_by(qrels).ndcg(5)

    @pytest.mark.parametrize("k", [None, 1, 3, 8])
    def test_sklearn(self, k):
        sk = pytest.importorskip("sklearn.metrics")
        chance = random.Random(3)  # noqa: S311
        grades = [[chance.choice((0, 0, 1, 2, 3)) for _ in range(8)] for _ in range(9)] + [[0] * 8]
        scores = [[chance.randint(1, 3) for _ in range(8)] for _ in grades]
        rows = [
            (query, item, *pair)
            for query, lists in enumerate(zip(scores, grades, strict=True))
            for item, pair in enumerate(zip(*lists, strict=True))
        ]
        table = pl.DataFrame(rows, schema=["query", "item", "score", "relevance"], orient="row")
        ranking = table.rank.like("scikit-learn").from_scores()
        assert ranking.ndcg(k) == pytest.approx(sk.ndcg_score(grades, scores, k=k))
        assert ranking.dcg(k) == pytest.approx(sk.dcg_score(grades, scores, k=k))
        ignoring = table.rank.from_scores(ties="first").like("sklearn")
        assert ignoring.ndcg(k) != pytest.approx(ranking.ndcg(k))

    def test_rectools(self, tables):
        metrics = pytest.importorskip("rectools.metrics")
        run, qrels = untied(tables[0]), tables[1].filter(pl.col("relevance") > 0)
        rank = pl.col("score").rank("ordinal", descending=True).over("query").cast(pl.Int64)
        reco = run.select(pl.col("query").alias("user_id"), pl.col("item").alias("item_id"), rank.alias("rank"))
        truth = qrels.select(pl.col("query").alias("user_id"), pl.col("item").alias("item_id"))
        asked = {
            "precision@5": metrics.Precision(k=5),
            "recall@5": metrics.Recall(k=5),
            "f1@5": metrics.F1Beta(k=5),
            "hit_rate@5": metrics.HitRate(k=5),
            "map@5": metrics.MAP(k=5),
            "map(denominator=k)@5": metrics.MAP(k=5, divide_by_k=True),
            "ndcg@5": metrics.NDCG(k=5),
            "ndcg@20": metrics.NDCG(k=20),
            "ndcg(ideal=judged)@5": metrics.NDCG(k=5, divide_by_achievable=True),
            "mrr@5": metrics.MRR(k=5),
        }
        frames = reco.to_pandas(), truth.to_pandas()
        theirs = {text: metric.calc(*frames) for text, metric in asked.items()}
        ours = run.rank.from_scores().like("rectools").judged_by(tables[1]).evaluate(*asked).row(0, named=True)
        assert ours == pytest.approx(theirs)

    def test_torchmetrics(self):
        retrieval = pytest.importorskip("torchmetrics.functional.retrieval")
        import torch

        chance = random.Random(5)  # noqa: S311
        scores, grades = chance.sample(range(1, 100), 12), [chance.choice((0, 1)) for _ in range(12)]
        table = pl.DataFrame({"query": 1, "item": range(12), "score": scores, "relevance": grades})
        theirs = {
            "precision@5": retrieval.retrieval_precision,
            "recall@5": retrieval.retrieval_recall,
            "map@5": retrieval.retrieval_average_precision,
            "mrr@5": retrieval.retrieval_reciprocal_rank,
            "ndcg@5": retrieval.retrieval_normalized_dcg,
            "hit_rate@5": retrieval.retrieval_hit_rate,
        }
        given = torch.tensor(scores, dtype=torch.float64), torch.tensor(grades)
        ours = table.rank.like("torchmetrics").from_scores().evaluate(*theirs).row(0, named=True)
        assert ours == pytest.approx({text: float(function(*given, top_k=5)) for text, function in theirs.items()})


class TestLike:
    def test_surfaces_agree(self):
        expected = ONE.rank.ndcg(5, gain="binary", discount="jarvelin")
        pandas = ONE.to_pandas().rank.like("lenskit")
        assert ONE.rank.like("lenskit").ndcg(5) == expected
        assert ONE.lazy().rank.like("lenskit").ndcg(5).collect().to_dicts() == [{"ndcg@5": expected}]
        assert pandas.ndcg(5) == expected
        assert pandas.per_query().ndcg(5)["ndcg@5"].to_list() == [expected]
        assert fm.rank(pa.table(ONE.to_dict(as_series=False))).like("lenskit").ndcg(5) == expected
        assert ONE.group_by("query").agg(fm.metrics.like("lenskit").ndcg(5))["ndcg@5"].to_list() == [expected]

    @pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
    @pytest.mark.parametrize("name", ["pytrec_eval", "ir_measures", "rectools", "sklearn", "lightgbm"])
    def test_order_of_calls_does_not_matter(self, tables, name, order):
        run, qrels = tables
        calls = (lambda r: r.like(name), lambda r: r.from_scores(), lambda r: r.judged_by(qrels))
        ranking = run.rank
        for number in order:
            ranking = calls[number](ranking)
        library = LIBRARIES[name]
        scored = run.rank.from_scores(ties=library.setting("ties"), float32=library.setting("float32"))
        judged = scored.judged_by(qrels, queries=library.setting("queries"))
        options = {n: v for n, v in library.choices("ndcg").items() if n not in SETTINGS}
        expected = judged.using(no_relevant=library.setting("no_relevant")).ndcg(5, **options)
        assert ranking.ndcg(5) == same(expected)

    def test_what_is_given_wins(self, tables):
        run, qrels = tables
        plain = run.rank.from_scores(ties="item_asc").judged_by(qrels, queries="both").using(no_relevant="skip")
        before = run.rank.from_scores(ties="item_asc").judged_by(qrels, queries="both").using(no_relevant="skip")
        after = run.rank.like("lightgbm").from_scores(ties="item_asc").judged_by(qrels, queries="both")
        assert before.like("lightgbm").ndcg(5, gain="linear") == plain.ndcg(5)
        assert after.using(no_relevant="skip").ndcg(5, gain="linear") == plain.ndcg(5)
        assert plain.like("lightgbm").ndcg(5) == plain.ndcg(5, gain="exponential")

    def test_columns_keep_the_text_that_was_asked_for(self):
        found = ONE.rank.like("lenskit").evaluate("ndcg@5", "ndcg(gain=linear)@5", "ap@5", "ndcg(gain=binary)@5")
        assert found.columns == ["ndcg@5", "ndcg(gain=linear)@5", "ap@5", "ndcg(gain=binary)@5"]
        assert [round(value, 4) for value in found.row(0)] == [0.4212, 0.4866, 0.25, 0.4212]

    def test_the_last_library_holds(self, tables):
        run, qrels = tables
        ranking = run.rank.from_scores().judged_by(qrels)
        assert ranking.like("lightgbm").like("rectools").ndcg(5) == ranking.like("rectools").ndcg(5)
        assert ranking.like("lightgbm").like("frame_metrics").ndcg(5) == ranking.ndcg(5)

    def test_metrics_of_one_library_that_choose_their_own_table(self, tables):
        run, qrels = tables
        ranking = run.rank.from_scores()
        found = ranking.judged_by(qrels).like("beir").evaluate("ndcg@5", "mrr@5").row(0, named=True)
        pooled = ranking.judged_by(qrels, queries="both")
        every = run.rank.from_scores(ties="first").judged_by(qrels, queries="qrels")
        assert found == same({"ndcg@5": pooled.ndcg(5), "mrr@5": every.mrr(5)})
        each = ranking.judged_by(qrels).like("beir").per_query().evaluate("ndcg@5", "mrr@5")
        assert each.filter(pl.col("ndcg@5").is_null())["query"].to_list() == ["q1", "q2"]
        assert each["mrr@5"].null_count() == 0

    def test_segments_and_curves(self, tables):
        run, qrels = tables
        run = run.with_columns(system=pl.lit("a"))
        ranking = run.rank.from_scores().judged_by(qrels, each="system").by("system").like("recommenders")
        found = ranking.evaluate("ndcg@5", "p@5")
        assert found.columns == ["system", "ndcg@5", "p@5"]
        curve = ranking.at_k("ndcg", [1, 5])
        assert curve["ndcg"].to_list()[1] == same(found["ndcg@5"].item())
        assert ranking.describe("ndcg@5")["mean"].item() == same(found["ndcg@5"].item())

    def test_nothing_is_read_before_collect(self):
        lazy = pl.LazyFrame({"query": [1], "rank": [0], "relevance": [1]})
        plan = lazy.rank.like("ranx").ndcg(5)
        with pytest.raises(pl.exceptions.PolarsError, match="ranks start at 1"):
            plan.collect()

    def test_explain_uses_the_definitions(self):
        found = ONE.rank.like("lenskit").explain("ndcg@5", query="q")
        assert found["running"].to_list()[-1] == pytest.approx(ONE.rank.like("lenskit").ndcg(5))


class TestErrors:
    def test_unknown_library(self):
        with pytest.raises(fm.OptionError, match="did you mean 'ranx'"):
            ONE.rank.like("rankx")
        with pytest.raises(fm.OptionError, match="`library` must be one of"):
            ONE.rank.like(None)

    def test_metric_that_a_library_does_not_have(self):
        with pytest.raises(fm.OptionError, match=r"ranx has no err, .* it has .*ndcg.*Hint: .*without .like\('ranx'\)"):
            ONE.rank.like("ranx").err()
        with pytest.raises(fm.OptionError, match="sklearn has no precision"):
            ONE.rank.explain_difference("ranx", "sklearn", "p@5")

    def test_one_and_micro_exclude_each_other(self):
        with pytest.raises(fm.OptionError, match="micro"):
            ONE.rank.using(average="micro").like("lightgbm")

    def test_mean_over_places_needs_to_know_how_many(self):
        with pytest.raises(fm.OptionError, match="needs `k`"):
            ONE.rank.like("elliot").map()

    def test_names_are_read_kindly(self):
        assert ONE.rank.like("Scikit-Learn").ndcg(5) == ONE.rank.like("sklearn").ndcg(5)


PAIRS = [("ranx", "sklearn"), ("rectools", "lightgbm"), ("trec_eval", "trec_eval"), ("lenskit", "frame_metrics")]


class TestExplainDifference:
    @pytest.mark.parametrize(("first", "second"), PAIRS)
    @pytest.mark.parametrize("metric", ["ndcg@5", "ndcg"])
    def test_adds_up(self, tables, first, second, metric):
        run, qrels = both(tables)
        ranking = run.rank.from_scores().judged_by(qrels)
        found = ranking.explain_difference(first, second, metric)
        assert found.columns == ["choice", "from", "to", "value", "change"]
        assert found.row(0)[:3] == ("library", None, first)
        assert found["value"][0] == same(ranking.like(first).evaluate(metric).item())
        assert found["value"][-1] == same(ranking.like(second).evaluate(metric).item())
        assert found["value"][0] + found["change"].sum() == same(found["value"][-1])
        ours, theirs = LIBRARIES[first].choices("ndcg"), LIBRARIES[second].choices("ndcg")
        assert found["choice"].to_list()[1:] == [name for name in ours if ours[name] != theirs[name]]

    def test_choices_that_change_nothing_are_shown(self):
        found = ONE.rank.explain_difference("rectools", "sklearn", "ndcg@5")
        changes = dict(found.select("choice", "change").iter_rows())
        assert {name for name, change in changes.items() if change == 0} == {"queries", "ties", "no_relevant"}

    def test_what_is_given_is_no_choice(self):
        ranking = ONE.rank.using(no_relevant="zero")
        found = ranking.explain_difference("rectools", "sklearn", "ndcg(gain=linear)@5")
        assert found["choice"].to_list() == ["library", "queries", "ties", "ideal"]

    def test_kinds_of_frames(self):
        found = ONE.rank.explain_difference("ranx", "lenskit", "ndcg@5")
        lazy = ONE.lazy().rank.explain_difference("ranx", "lenskit", "ndcg@5")
        pandas = ONE.to_pandas().rank.explain_difference("ranx", "lenskit", "ndcg@5")
        table = fm.rank(ONE.to_arrow()).explain_difference("ranx", "lenskit", "ndcg@5")
        assert isinstance(lazy, pl.LazyFrame)
        assert_frame_equal(lazy.collect(), found)
        assert_frame_equal(lazy.collect(engine="streaming"), found)
        assert pandas["value"].to_list() == found["value"].to_list()
        assert pandas["choice"].to_list() == found["choice"].to_list()
        assert table.column("value").to_pylist() == found["value"].to_list()

    def test_segments(self):
        two = pl.concat([ONE.with_columns(part=pl.lit("b")), ONE.head(4).with_columns(part=pl.lit("a"))])
        found = two.rank.by("part").explain_difference("ranx", "lenskit", "ndcg@5")
        alone = ONE.rank.explain_difference("ranx", "lenskit", "ndcg@5")
        assert found["part"].to_list() == ["a"] * alone.height + ["b"] * alone.height
        assert_frame_equal(found.filter(part="b").drop("part"), alone)
        assert found.group_by("part").agg(pl.col("change").null_count())["change"].to_list() == [1, 1]


class TestDifferences:
    def test_rows(self):
        found = fm.differences("ranx", "sklearn").frame
        assert found.columns == ["metric", "choice", "ranx", "sklearn"]
        assert found.rows() == [
            ("all", "queries", "error", "run"),
            ("all", "ties", "first", "expected"),
            ("ndcg", "ideal", "judged", "retrieved"),
        ]

    def test_choices_of_single_metrics(self):
        found = fm.differences("torchmetrics", "sklearn").frame
        assert ("all", "ties", "first", "expected") in found.rows()
        assert "ndcg" not in found["metric"]
        found = fm.differences("torchmetrics", "evidently").frame
        assert ("ndcg", "ties", "expected", "first") in found.rows()

    def test_words(self):
        text = repr(fm.differences("lenskit", "ranx"))
        assert text.startswith("lenskit 2026.4 and ranx 0.3.21 differ in")
        assert "    ranx: precisions are divided by all relevant items" in text
        assert "Only lenskit has rbp." in text
        assert repr(fm.differences("ranx", "ranx")) == "ranx 0.3.21 and ranx 0.3.21 choose alike."

    def test_page(self):
        page = fm.differences("lenskit", "ranx")._repr_html_()
        assert page.count("<tr>") == fm.differences("lenskit", "ranx").frame.height + 1
        assert "<th>lenskit 2026.4</th>" in page

    def test_this_package_without_a_second_name(self):
        found = fm.differences("rectools").frame
        assert found.columns[-1] == "frame_metrics"
        assert ("ndcg", "gain", "binary", "linear") in found.rows()
