"""Curves and cascades against the single numbers that they are made of."""

import itertools
import math
import random

import numpy as np
import pandas as pd
import polars as pl
import pytest
from pandas.testing import assert_frame_equal as assert_pandas_equal
from pandas.testing import assert_index_equal
from polars.testing import assert_frame_equal

import frame_metrics as fm

KINDS = ("polars", "lazy", "streaming", "pandas")
COLUMNS = {"country": pl.String, "query": pl.String, "item": pl.Int64, "rank": pl.Int64, "relevance": pl.Int64}


def make_table(*, seed=0, missed=0.2, tied=False, grades=(-1, 0, 0, None, 1, 2, 3), queries=9):
    """Return queries of up to nine rows at ranks with gaps, in three segments of which one is null."""
    rng = random.Random(seed)  # noqa: S311
    rows = []
    for query in range(queries):
        places = [rng.randint(1, 4) for _ in range(9)] if tied else rng.sample(range(1, 12), rng.randint(1, 9))
        for item, place in enumerate(places):
            rank = None if rng.random() < missed else place
            rows.append((("fr", "us", None)[query % 3], f"q{query}", item, rank, rng.choice(grades)))
    rng.shuffle(rows)
    return pl.DataFrame(rows, schema=COLUMNS, orient="row")


@pytest.fixture
def table():
    return make_table()


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


def answer(kind, rows, question):
    """Return the answer for a frame of this kind as a Polars frame, NaN as null."""
    if kind == "pandas":
        return pl.from_pandas(question(rows.to_pandas().rank))
    found = question(rows.rank if kind == "polars" else rows.lazy().rank)
    return found.lazy().collect(engine="streaming" if kind == "streaming" else "in-memory")


def one_list(grades):
    size = len(grades)
    return pl.DataFrame({"query": ["q"] * size, "rank": range(1, size + 1), "relevance": grades})


def area(points):
    """Return the area below a curve of (x, y) by the trapezoid rule."""
    return sum((x2 - x1) * (y1 + y2) / 2 for (x1, y1), (x2, y2) in itertools.pairwise(points))


def curves(frame, keys, x, y):
    """Return `{key: [(x, y), ...]}` in the order of the rows."""
    found = {}
    for row in frame.iter_rows(named=True):
        found.setdefault(tuple(row[key] for key in keys), []).append((row[x], row[y]))
    return found


class TestRocCurve:
    @pytest.mark.parametrize("options", [{}, {"missed": 0.0}, {"tied": True}, {"grades": (0, 1)}], ids=str)
    @pytest.mark.parametrize("seed", range(3))
    def test_area_is_auc(self, seed, options):
        rows = make_table(seed=seed, **options)
        found = curves(rows.rank.per_query().roc_curve(), ["query"], "fpr", "tpr")
        auc = {(query,): value for query, value in rows.rank.using(no_relevant="skip").per_query().auc().iter_rows()}
        defined = {query: value for query, value in auc.items() if value is not None}
        assert {query: area(points) for query, points in found.items()} == pytest.approx(defined, abs=1e-12)

    def test_area_is_auc_on_every_surface(self, kind, table):
        found = answer(kind, table, lambda ranking: ranking.by("country").per_query().roc_curve())
        points = curves(found, ["country", "query"], "fpr", "tpr")
        auc = table.rank.using(no_relevant="skip").by("country").per_query().auc().drop_nulls("auc")
        expected = {(country, query): value for country, query, value in auc.iter_rows()}
        assert {key: area(own) for key, own in points.items()} == pytest.approx(expected, abs=1e-12)

    @pytest.mark.parametrize("level", [None, 2])
    def test_level_of_relevance(self, table, level):
        ranking = table.rank.using(min_relevance=level, no_relevant="skip").per_query()
        found = curves(ranking.roc_curve(), ["query"], "fpr", "tpr")
        auc = {(query,): value for query, value in ranking.auc().drop_nulls().iter_rows()}
        assert {query: area(points) for query, points in found.items()} == pytest.approx(auc, abs=1e-12)

    @pytest.mark.parametrize("average", ["macro", "micro"])
    @pytest.mark.parametrize("by", [(), ("country",), ("country", "query")], ids=str)
    def test_from_zero_to_one_and_never_down(self, kind, table, average, by):
        ask = lambda ranking: ranking.by(*by) if by else ranking  # noqa: E731
        found = answer(kind, table, lambda ranking: ask(ranking.using(average=average)).roc_curve())
        assert found.columns == [*by, "k", "fpr", "tpr"]
        for points in curves(found, by, "fpr", "tpr").values():
            assert points[0] == (0.0, 0.0)
            assert points[-1] == pytest.approx((1.0, 1.0))
            assert points == [pytest.approx(pair) for pair in zip(*map(sorted, zip(*points, strict=True)), strict=True)]

    def test_k_counts_down_and_ends_with_the_missed(self, kind):
        rows = one_list([1, 0, 1, 0]).with_columns(rank=pl.Series([1, 3, None, 7]))
        found = answer(kind, rows, lambda ranking: ranking.roc_curve())
        assert found["k"].to_list() == [0, 1, 3, 7, None]
        assert found["fpr"].to_list() == [0.0, 0.0, 0.5, 1.0, 1.0]
        assert found["tpr"].to_list() == [0.0, 0.5, 0.5, 0.5, 1.0]

    def test_macro_is_the_mean_of_the_queries(self):
        rows = pl.concat([one_list([1, 0, 0]), one_list([0, 0, 1]).with_columns(query=pl.lit("p"))])
        found = rows.rank.roc_curve()
        assert found["fpr"].to_list() == pytest.approx([0, 1 / 4, 3 / 4, 1])
        assert found["tpr"].to_list() == pytest.approx([0, 1 / 2, 1 / 2, 1])

    def test_micro_pools_the_rows(self):
        rows = pl.concat([one_list([1, 1, 1, 0]), one_list([0, 1]).with_columns(query=pl.lit("p"))])
        found = rows.rank.using(average="micro").roc_curve()
        assert found["fpr"].to_list() == pytest.approx([0, 1 / 2, 1 / 2, 1 / 2, 1])
        assert found["tpr"].to_list() == pytest.approx([0, 1 / 4, 3 / 4, 1, 1])

    def test_segments_are_curves_of_their_own(self, kind, table):
        found = answer(kind, table, lambda ranking: ranking.by("country").roc_curve())
        for country in ("fr", "us", None):
            alone = table.filter(pl.col("country").eq_missing(country)).rank.roc_curve()
            own = found.filter(pl.col("country").eq_missing(country)).drop("country")
            assert_frame_equal(own, alone, check_dtypes=kind != "pandas")  # null makes a float of k there

    @pytest.mark.parametrize("grades", [[1, 0, 1, 0, 0], [0, 1], [1, 0], [0, 0, 1, 1], [3, 0, 2, 0, 1, 1]], ids=str)
    def test_sklearn(self, grades):
        metrics = pytest.importorskip("sklearn.metrics")
        binary = [int(grade > 0) for grade in grades]
        fpr, tpr, _ = metrics.roc_curve(binary, [-place for place in range(len(grades))], drop_intermediate=False)
        found = one_list(grades).rank.roc_curve()
        assert found["fpr"].to_list() == pytest.approx(fpr.tolist())
        assert found["tpr"].to_list() == pytest.approx(tpr.tolist())

    def test_sklearn_with_shared_ranks(self):
        metrics = pytest.importorskip("sklearn.metrics")
        grades, ranks = [1, 0, 1, 1, 0, 0], [1, 1, 2, 3, 3, 3]
        fpr, tpr, _ = metrics.roc_curve(grades, [-rank for rank in ranks], drop_intermediate=False)
        found = one_list(grades).with_columns(rank=pl.Series(ranks)).rank.roc_curve()
        assert found.select("fpr", "tpr").rows() == [pytest.approx(pair) for pair in zip(fpr, tpr, strict=True)]

    @pytest.mark.parametrize("grades", [[0, 0], [1, 1], []], ids=["none", "all", "empty"])
    @pytest.mark.parametrize("by", [(), ("query",)], ids=["whole", "segments"])
    def test_no_query_has_both(self, kind, grades, by):
        rows = one_list(pl.Series(grades, dtype=pl.Int64)).with_columns(pl.col("query").cast(pl.String))
        ask = lambda ranking: ranking.by(*by) if by else ranking  # noqa: E731
        assert answer(kind, rows, lambda ranking: ask(ranking).roc_curve()).rows() == []


POLICIES = [
    {},
    {"no_relevant": "skip"},
    {"no_relevant": "one"},
    {"average": "micro"},
    {"average": "micro", "no_relevant": "skip"},
    {"min_relevance": 2},
]


class TestPrCurve:
    @pytest.mark.parametrize("policy", POLICIES, ids=str)
    @pytest.mark.parametrize("seed", range(3))
    def test_equals_precision_and_recall_at_every_k(self, seed, policy):
        rows = make_table(seed=seed, queries=6)
        found = rows.rank.using(**policy).pr_curve()
        cuts = [(f"recall@{k}", f"precision@{k}") for k in found["k"]]
        expected = rows.rank.using(**policy).evaluate(*itertools.chain(*cuts)).row(0, named=True)
        values = dict(
            zip(itertools.chain(*cuts), itertools.chain(*found.select("recall", "precision").rows()), strict=True)
        )
        assert values == pytest.approx(expected, abs=1e-12)

    @pytest.mark.parametrize("policy", POLICIES, ids=str)
    def test_segments(self, kind, table, policy):
        found = answer(kind, table, lambda ranking: ranking.using(**policy).by("country").pr_curve())
        ranking = table.rank.using(**policy).by("country")
        recall, precision = (
            ranking.at_k(name, range(1, 12)).rename({name: "at_k"}) for name in ("recall", "precision")
        )
        for name, other in (("recall", recall), ("precision", precision)):
            both = found.join(other, on=["country", "k"], nulls_equal=True)
            assert len(both) == len(found) > 0
            assert both[name].to_list() == pytest.approx(both["at_k"].to_list(), abs=1e-12)

    def test_per_query(self, kind, table):
        found = answer(kind, table, lambda ranking: ranking.per_query().pr_curve())
        other = table.rank.per_query().at_k("precision", range(1, 12)).rename({"precision": "at_k"})
        both = found.join(other, on=["query", "k"])
        assert len(both) == len(found) == table["rank"].count()
        assert both["precision"].to_list() == pytest.approx(both["at_k"].to_list(), abs=1e-12)

    def test_columns_and_order(self, kind, table):
        found = answer(kind, table, lambda ranking: ranking.by("country").pr_curve())
        assert found.schema == {"country": pl.String, "k": pl.Int64, "recall": pl.Float64, "precision": pl.Float64}
        assert found.rows() == found.sort("country", "k", nulls_last=True).rows()
        assert found["k"].null_count() == 0

    def test_by_hand(self, kind):
        rows = one_list([1, 0, 1, 0, 1]).with_columns(rank=pl.Series([1, 2, 3, 5, None]))
        found = answer(kind, rows, lambda ranking: ranking.pr_curve())
        assert found["k"].to_list() == [1, 2, 3, 5]
        assert found["recall"].to_list() == pytest.approx([1 / 3, 1 / 3, 2 / 3, 2 / 3])
        assert found["precision"].to_list() == pytest.approx([1, 1 / 2, 2 / 3, 2 / 5])

    def test_empty(self, kind, table):
        assert answer(kind, table.clear(), lambda ranking: ranking.pr_curve()).rows() == []


class TestAtK:
    @pytest.mark.parametrize("metric", ["ndcg", "precision", "recall(denominator=capped)", "map", "rbp(p=0.5)", "err"])
    def test_equals_single_calls(self, kind, table, metric):
        found = answer(kind, table, lambda ranking: ranking.at_k(metric, range(1, 6)))
        expected = [table.rank.evaluate(f"{metric}@{k}").item() for k in range(1, 6)]
        assert found.columns == ["k", metric]
        assert found["k"].to_list() == [1, 2, 3, 4, 5]
        assert found[metric].to_list() == pytest.approx(expected, abs=1e-12)

    def test_every_metric_that_can_be_cut(self, table):
        for definition in fm.metrics.definitions():
            if definition.takes_k and not definition.of_subtopics:
                found = table.rank.at_k(definition.name, [1, 3])[definition.name].to_list()
                expected = [getattr(table.rank, definition.name)(k) for k in (1, 3)]
                assert found == pytest.approx(expected, abs=1e-12)

    @pytest.mark.parametrize("ask", ["by", "per_query", "both"])
    def test_segments_and_queries(self, kind, table, ask):
        def asked(ranking):
            ranking = ranking.by("country") if ask != "per_query" else ranking
            return ranking.per_query() if ask != "by" else ranking

        keys = {"by": ["country"], "per_query": ["query"], "both": ["country", "query"]}[ask]
        found = answer(kind, table, lambda ranking: asked(ranking).at_k("ndcg", [2, 4]))
        wide = asked(table.rank).evaluate("ndcg@2", "ndcg@4")
        expected = wide.unpivot(index=keys, variable_name="k", value_name="ndcg")
        expected = expected.with_columns(pl.col("k").str.strip_prefix("ndcg@").cast(pl.Int64))
        assert_frame_equal(found, expected.sort(*keys, "k", nulls_last=True))

    @pytest.mark.parametrize("make", [list, tuple, set, iter, np.array, pl.Series, pd.Series])
    def test_cuts_of_any_kind(self, kind, table, make):
        found = answer(kind, table, lambda ranking: ranking.at_k("ndcg", make([3, 1, 2, 3])))
        assert found["k"].to_list() == [1, 2, 3]
        assert found["ndcg"].to_list() == pytest.approx([table.rank.ndcg(k) for k in (1, 2, 3)], abs=1e-12)

    @pytest.mark.parametrize("ks", [[], [0], [1, -1], [1.5], ["x"], [True]], ids=str)
    def test_cuts_that_are_none(self, kind, table, ks):
        ranking = table.to_pandas().rank if kind == "pandas" else table.rank if kind == "polars" else table.lazy().rank
        with pytest.raises(fm.OptionError, match=r"`ks?` must be"):
            ranking.at_k("ndcg", ks)

    @pytest.mark.parametrize("ks", [5, None, "12"], ids=repr)
    def test_cuts_that_are_no_list(self, table, ks):
        with pytest.raises((fm.OptionError, TypeError)):
            table.rank.at_k("ndcg", ks)

    @pytest.mark.parametrize("metric", ["ndcg@10", "auc", "num_ret", "iprec(recall=0.5)"])
    def test_metrics_that_cannot_be_cut(self, table, metric):
        with pytest.raises(fm.OptionError, match="one that can be cut, without its cut"):
            table.rank.at_k(metric, [1, 2])

    def test_unknown_metric(self, table):
        with pytest.raises(fm.UnknownMetricError, match="did you mean 'ndcg'"):
            table.lazy().rank.at_k("ndgc", [1])

    def test_name_as_it_was_asked(self, table):
        assert table.rank.at_k("p", [1]).columns == ["k", "p"]
        assert table.rank.at_k(" NDCG( gain = exponential )", [1]).columns == ["k", "ndcg(gain=exponential)"]
        assert table.rank.at_k(fm.metrics.parse("mrr"), [1]).columns == ["k", "mrr"]


def cascades(frame, keys=("query",)):
    """Return `{key: [cascade, ...]}` of the rows of each list."""
    found = {}
    for row in frame.iter_rows(named=True):
        found.setdefault(tuple(row[key] for key in keys), []).append((row["rank"], row["cascade"]))
    return found


class TestCascade:
    @pytest.mark.parametrize("max_grade", [None, 3, 4, 3.5])
    @pytest.mark.parametrize("seed", range(3))
    def test_err_is_the_mean_reciprocal_rank(self, kind, seed, max_grade):
        rows = make_table(seed=seed)
        found = cascades(answer(kind, rows, lambda ranking: ranking.cascade(max_grade=max_grade)))
        err = rows.rank.per_query().err(max_grade=max_grade)
        expected = {(query,): value for query, value in err.iter_rows()}
        assert {key: sum(p / rank for rank, p in own if rank) for key, own in found.items()} == pytest.approx(expected)

    def test_probabilities(self, kind, table):
        found = answer(kind, table, lambda ranking: ranking.cascade())
        assert found["cascade"].is_between(0, 1).all()
        assert all(math.fsum(p for _, p in own) <= 1 + 1e-12 for own in cascades(found).values())
        nowhere = found.filter(pl.col("rank").is_null() | (pl.col("relevance").fill_null(0) <= 0))
        assert nowhere["cascade"].unique().to_list() == [0.0]

    def test_by_hand(self, kind):
        rows = one_list([1, None, 2, 0, 2]).with_columns(rank=pl.Series([4, 1, 2, 3, None]))
        found = answer(kind, rows, lambda ranking: ranking.cascade(max_grade=2))
        assert found["cascade"].to_list() == pytest.approx([1 / 4 * 1 / 4, 0, 3 / 4, 0, 0])

    def test_rows_and_columns_are_kept(self, kind, table):
        rows = table.with_columns(note=pl.int_range(pl.len()).cast(pl.String), k=pl.lit(1.5))
        found = answer(kind, rows, lambda ranking: ranking.cascade())
        assert found.columns == [*rows.columns, "cascade"]
        assert found["note"].to_list() == rows["note"].to_list()
        assert found.drop("cascade").rows() == rows.rows()

    @pytest.mark.parametrize("engine", ["in-memory", "streaming"])
    def test_order_of_many_rows(self, engine):
        number = pl.int_range(150_000)
        rows = pl.select(query=number % 1000, rank=number // 1000 + 1, relevance=number * 7 % 5, number=number)
        found = rows.lazy().rank.cascade().collect(engine=engine)
        assert found["number"].is_sorted()
        assert_frame_equal(found, rows.rank.cascade())

    def test_index_of_pandas_is_kept(self, table):
        made = table.to_pandas().set_index(["country", "item"])
        found = made.rank.cascade()
        assert_index_equal(found.index, made.index)
        assert_pandas_equal(found.drop(columns="cascade"), made)
        assert found["cascade"].tolist() == table.rank.cascade()["cascade"].to_list()

    @pytest.mark.parametrize("index", [[7] * 5, list("edcba"), pd.date_range("2026-01-01", periods=5)], ids=range(3))
    def test_any_index(self, index):
        made = one_list([1, 0, 2, 0, 1]).to_pandas().set_axis(index, axis=0)
        found = made.rank.cascade()
        assert_index_equal(found.index, made.index)
        assert found["cascade"].tolist() == one_list([1, 0, 2, 0, 1]).rank.cascade()["cascade"].to_list()

    def test_segments_are_lists_of_their_own(self, kind, table):
        rows = table.with_columns(query=pl.lit("q"), item=pl.int_range(pl.len()))
        ranks = rows.with_columns(rank=pl.int_range(1, pl.len() + 1).over("country"))
        found = answer(kind, ranks, lambda ranking: ranking.by("country").cascade())
        other = ranks.with_columns(query=pl.col("country").fill_null("none")).rank.cascade()
        assert found["cascade"].to_list() == pytest.approx(other["cascade"].to_list())

    @pytest.mark.parametrize("dtype", [pl.Boolean, pl.UInt8, pl.Float32, pl.Decimal(9, 2)], ids=str)
    def test_relevance_of_any_type(self, kind, dtype):
        rows = one_list([1, 0, 1]).with_columns(pl.col("relevance").cast(dtype))
        found = answer(kind, rows, lambda ranking: ranking.cascade())
        assert found["cascade"].to_list() == [0.5, 0.0, 0.25]

    @pytest.mark.parametrize("dtype", [pl.UInt8, pl.Float64, pl.Decimal(9, 2)], ids=str)
    def test_ranks_of_any_type(self, kind, dtype):
        rows = one_list([1, 0, 1]).with_columns(pl.col("rank").cast(dtype))
        found = answer(kind, rows, lambda ranking: ranking.cascade())
        assert found["cascade"].to_list() == [0.5, 0.0, 0.25]

    @pytest.mark.parametrize("grades", [[0, 0], [None, None], [-1, -2], []], ids=str)
    def test_nothing_relevant(self, kind, grades):
        rows = one_list(pl.Series(grades, dtype=pl.Int64)).with_columns(pl.col("query").cast(pl.String))
        found = answer(kind, rows, lambda ranking: ranking.cascade())
        assert found["cascade"].to_list() == [0.0] * len(grades)

    def test_other_names(self, kind, table):
        names = {"query": "user", "rank": "place", "relevance": "clicked"}
        found = answer(kind, table.rename(names), lambda ranking: ranking.using(**names).cascade())
        assert found["cascade"].to_list() == table.rank.cascade()["cascade"].to_list()

    def test_after_scores(self, kind, table):
        rows = table.with_columns(score=-pl.col("rank"), note=pl.int_range(pl.len())).drop("rank")
        found = answer(kind, rows, lambda ranking: ranking.from_scores("score").cascade())
        assert set(found.columns) == {*rows.columns, "rank", "cascade"}
        assert found["note"].to_list() == rows["note"].to_list()
        place = pl.col("rank").rank("ordinal").over("query").cast(pl.Int64)
        expected = table.with_columns(place).rank.cascade()["cascade"]
        assert found["cascade"].to_list() == pytest.approx(expected.to_list())

    def test_after_judgments(self, kind, table):
        qrels = table.select("query", "item", "relevance")
        ask = lambda ranking: ranking.judged_by(qrels).cascade()  # noqa: E731
        found = answer(kind, table.drop("relevance"), ask)
        keys = ["query", "item"]
        expected = table.rank.cascade().sort(keys)["cascade"]
        assert set(found.columns) >= {"country", "query", "item", "rank", "relevance", "cascade"}
        assert found.sort(keys)["cascade"].to_list() == pytest.approx(expected.to_list())
