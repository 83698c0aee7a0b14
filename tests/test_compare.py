"""Intervals, descriptions and comparisons of frames: the numbers of per-query values, on every kind of frame."""

import itertools
import math
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats

import frame_metrics as fm
from frame_metrics.defaults import DEFAULT_METRICS
from frame_metrics.stats.compared import COLUMNS

METRICS = ("ndcg@3", "map", "mrr")
TESTS = ("t", "wilcoxon", "sign", "randomisation", "bootstrap", "tukey")
both_methods = pytest.mark.parametrize("method", ["normal", "bootstrap"])


def made(systems=("a", "b"), queries=40, seed=0):
    """Return lists of four items each; the later a system, the better it is."""
    random = np.random.default_rng(seed)
    rows = []
    for (place, system), query in itertools.product(enumerate(systems), range(queries)):
        grades = sorted(random.integers(0, 3, 4) + random.random(4), reverse=random.random() < 0.3 + 0.3 * place)
        rows += [
            (system, f"q{query:03}", ("fr", "us")[query % 3 == 0], query // 4, query % 5, rank, int(grade))
            for rank, grade in enumerate(grades, 1)
        ]
    names = ["system", "query", "country", "user", "weight", "rank", "relevance"]
    return pl.DataFrame(rows, schema=names, orient="row").with_columns(item=pl.col("rank"))


@pytest.fixture(scope="module")
def table():
    return made()


@pytest.fixture(scope="module")
def one(table):
    return table.filter(system="b")


def values(table, metric="map", **where):
    return table.filter(**where).rank.per_query().evaluate(metric)[metric].to_numpy()


def shuffled(table, seed=0):
    return table.sample(fraction=1, shuffle=True, seed=seed)


def frames(table):
    return {"polars": table, "lazy": table.lazy(), "pandas": table.to_pandas(), "arrow": table.to_arrow()}


def polars(result):
    return result.collect() if isinstance(result, pl.LazyFrame) else pl.DataFrame(result)


class TestIntervals:
    @pytest.mark.parametrize("ci", [0.5, 0.95])
    def test_normal(self, one, ci):
        x = values(one)
        error = x.std(ddof=1) / math.sqrt(len(x))
        expected = stats.norm.interval(ci, x.mean(), error)
        assert one.rank.evaluate("map", ci=ci).row(0) == pytest.approx((x.mean(), *expected))

    def test_bootstrap_is_near_that_of_scipy(self, one):
        expected = stats.bootstrap((values(one),), np.mean, n_resamples=20_000, method="percentile", rng=1)
        found = one.rank.evaluate("map", ci=0.95, method="bootstrap", resamples=20_000)
        assert found.row(0)[1:] == pytest.approx(expected.confidence_interval, abs=0.005)

    @both_methods
    def test_columns(self, table, method):
        found = table.rank.by("system").evaluate("map", "mrr", ci=0.9, method=method)
        assert found.columns == ["system", "map", "map_low", "map_high", "mrr", "mrr_low", "mrr_high"]
        assert_frame_equal(found.select("system", "map", "mrr"), table.rank.by("system").evaluate("map", "mrr"))
        assert found.filter((pl.col("map_low") < pl.col("map")) & (pl.col("map") < pl.col("map_high"))).height == 2

    @both_methods
    def test_segments_are_what_they_are_alone(self, one, method):
        together = one.rank.by("country").evaluate(*METRICS, ci=0.95, method=method)
        alone = [one.filter(country=c).rank.evaluate(*METRICS, ci=0.95, method=method) for c in ("fr", "us")]
        assert_frame_equal(together.drop("country"), pl.concat(alone))

    @both_methods
    @pytest.mark.parametrize("options", [{}, {"cluster": "user"}, {"weight": "weight"}], ids=str)
    def test_order_of_rows_does_not_matter(self, one, method, options):
        expected = one.rank.evaluate(*METRICS, ci=0.95, method=method, **options)
        for seed in range(3):
            found = shuffled(one, seed).rank.evaluate(*METRICS, ci=0.95, method=method, **options)
            assert_frame_equal(found, expected, rel_tol=1e-12, abs_tol=1e-12)

    def test_seeds(self, one):
        ends = {s: one.rank.evaluate("map", ci=0.95, method="bootstrap", seed=s).row(0) for s in (0, 1)}
        assert ends[0] == one.rank.evaluate("map", ci=0.95, method="bootstrap").row(0)
        assert ends[0] != ends[1]

    @both_methods
    @pytest.mark.parametrize("kind", ["polars", "lazy", "pandas", "arrow"])
    def test_kinds_of_frames(self, table, method, kind):
        if (kind, method) == ("lazy", "bootstrap"):
            return
        frame = frames(shuffled(table))[kind]
        found = fm.rank(frame).by("system").evaluate("map", ci=0.95, method=method, cluster="user", weight="weight")
        assert isinstance(found, type(frame))
        options = {"cluster": "user", "weight": "weight"}
        expected = table.rank.by("system").evaluate("map", ci=0.95, method=method, **options)
        assert_frame_equal(polars(found), expected)

    def test_a_lazy_plan_is_one_plan(self, table):
        plan = table.lazy().rank.by("system").evaluate(*METRICS, ci=0.95, cluster="user", weight="weight")
        expected = table.rank.by("system").evaluate(*METRICS, ci=0.95, cluster="user", weight="weight")
        assert_frame_equal(plan.collect(engine="streaming"), expected)
        assert_frame_equal(pl.LazyFrame.deserialize(_bytes(plan)).collect(), expected)

    def test_bootstrap_of_a_lazy_frame(self, table):
        with pytest.raises(fm.OptionError, match="method='normal'"):
            table.lazy().rank.by("system").evaluate("map", ci=0.95, method="bootstrap")

    @pytest.mark.parametrize("average", ["macro", "micro"])
    def test_clusters_of_one_query_are_none(self, one, average):
        ranking = one.rank.using(average=average)
        expected = ranking.evaluate("recall@2", ci=0.95)
        assert_frame_equal(ranking.evaluate("recall@2", ci=0.95, cluster="query"), expected)

    def test_clusters(self, one):
        found = one.rank.evaluate("map", ci=0.95, cluster="user").row(0)
        x = one.rank.per_query().map().with_columns(user=pl.col("query").str.tail(3).cast(pl.Int64) // 4)
        mean, groups = x["map"].mean(), x.partition_by("user")
        squares = sum(sum(v - mean for v in group["map"]) ** 2 for group in groups)
        half = stats.norm.ppf(0.975) * math.sqrt(len(groups) / (len(groups) - 1) * squares) / len(x)
        assert found == pytest.approx((mean, mean - half, mean + half))

    def test_clusters_of_copies_widen_the_interval_to_that_of_one_copy(self, one):
        copies = [one.with_columns(query=pl.col("query") + f"-{n}", of=pl.col("query")) for n in range(3)]
        many = pl.concat(copies)
        for method in ("normal", "bootstrap"):
            expected = one.rank.evaluate("map", ci=0.95, method=method)
            assert_frame_equal(many.rank.evaluate("map", ci=0.95, method=method, cluster="of"), expected)
            narrow = many.rank.evaluate("map", ci=0.95, method=method)
            assert narrow["map_low"].item() > expected["map_low"].item()

    def test_weights(self, one):
        x, w = values(one), np.arange(40) % 5
        mean = (x * w).sum() / w.sum()
        n = (w > 0).sum()
        half = stats.norm.ppf(0.975) * math.sqrt(n / (n - 1) * (w**2 * (x - mean) ** 2).sum()) / w.sum()
        found = one.rank.evaluate("map", ci=0.95, weight="weight").row(0)
        assert found == pytest.approx((mean, mean - half, mean + half))
        assert one.rank.evaluate("map", weight="weight").row(0) == pytest.approx((mean,))

    def test_weights_that_are_equal_are_none(self, one):
        expected = one.rank.evaluate("map", "mrr", ci=0.95)
        assert_frame_equal(one.with_columns(w=7.0).rank.evaluate("map", "mrr", ci=0.95, weight="w"), expected)

    def test_micro(self, one):
        ranking = one.rank.using(average="micro")
        parts = one.rank.per_query().evaluate("num_rel", "num_rel_ret", "recall@2")
        over = parts["num_rel"].to_numpy()
        value = parts["recall@2"].to_numpy() * over
        ratio = value.sum() / over.sum()
        half = stats.norm.ppf(0.975) * math.sqrt(40 / 39 * ((value - ratio * over) ** 2).sum()) / over.sum()
        found = ranking.evaluate("recall@2", ci=0.95).row(0)
        assert found == pytest.approx((ranking.recall(2), ratio - half, ratio + half))
        drawn = ranking.evaluate("recall@2", ci=0.95, method="bootstrap").row(0)
        assert drawn == pytest.approx(found, abs=0.02)

    def test_geometric(self, one):
        logs = np.log(np.maximum(values(one), 1e-5))
        ends = stats.norm.interval(0.95, logs.mean(), logs.std(ddof=1) / math.sqrt(40))
        found = one.rank.evaluate("geometric_map", "map", ci=0.95)
        assert found.row(0)[:3] == pytest.approx((one.rank.geometric_map(), *np.exp(ends)))
        drawn = one.rank.evaluate("geometric_map", ci=0.95, method="bootstrap").row(0)
        assert drawn[1] < drawn[0] < drawn[2]

    @both_methods
    def test_queries_without_a_value_do_not_count(self, one, method):
        nothing = one.with_columns(query=pl.col("query") + "!", relevance=pl.lit(0, dtype=pl.Int64))
        skipping = pl.concat([one, nothing]).rank.using(no_relevant="skip")
        expected = one.rank.using(no_relevant="skip").evaluate("map", ci=0.95, method=method)
        assert_frame_equal(skipping.evaluate("map", ci=0.95, method=method), expected)

    @both_methods
    def test_one_query_has_no_interval(self, one, method):
        found = one.filter(query="q001").rank.evaluate("map", ci=0.95, method=method).row(0)
        assert found[0] > 0
        assert found[1:] == (None, None)

    @both_methods
    def test_an_empty_table(self, one, method):
        assert one.clear().rank.evaluate("map", ci=0.95, method=method).rows() == [(None, None, None)]
        assert one.clear().rank.by("country").evaluate("map", ci=0.95, method=method).rows() == []

    @both_methods
    def test_queries_that_are_all_the_same(self, method):
        same = pl.DataFrame({"query": range(9), "rank": 3, "relevance": 1})
        assert same.rank.evaluate("mrr", ci=0.95, method=method).row(0) == pytest.approx((1 / 3, 1 / 3, 1 / 3))

    @pytest.mark.parametrize("average", ["macro", "micro"])
    @pytest.mark.parametrize("no_relevant", ["zero", "skip"])
    def test_the_mean_of_every_metric_is_the_one_without_an_interval(self, table, average, no_relevant):
        rows = table.with_columns(subtopic=pl.lit(1), relevance=pl.when(user=3).then(0).otherwise("relevance"))
        ranking = rows.rank.using(average=average, no_relevant=no_relevant).by("system")
        geometric = {"geometric_map", "geometric_bpref"} if average == "micro" else set()
        texts = [f"{d.name}@5" if d.of_subtopics and d.takes_k else d.name for d in fm.metrics.definitions()]
        means = [text for text in texts if text not in geometric and not fm.metrics.parse(text).plain.total]
        found = ranking.evaluate(*means, ci=0.95)
        assert_frame_equal(found.select("system", *means), ranking.evaluate(*means))
        for name in means:
            assert found.filter(pl.col(f"{name}_low") > pl.col(f"{name}_high")).is_empty()

    def test_judgments_and_scores(self, one):
        run = one.select("query", "item", "user", score=-pl.col("rank"))
        qrels = one.select("query", "item", "relevance")
        found = run.rank.from_scores("score").judged_by(qrels).evaluate("map", ci=0.95, cluster="user")
        assert_frame_equal(found, one.rank.evaluate("map", ci=0.95, cluster="user"))
        pandas = run.to_pandas().rank.from_scores("score").judged_by(qrels).evaluate("map", ci=0.95, cluster="user")
        assert_frame_equal(pl.DataFrame(pandas), found)

    def test_the_table_stays_as_it_is(self, one):
        before = one.clone()
        one.rank.evaluate("map", ci=0.95, weight="weight", cluster="user")
        assert_frame_equal(one, before)


def _bytes(plan):
    import io

    return io.BytesIO(plan.serialize())


WRONG_OPTIONS = {
    "ci": ({"ci": 95}, "`ci` must be a number between 0 and 1"),
    "method": ({"ci": 0.9, "method": "boot"}, "`method` must be one of"),
    "resamples": ({"ci": 0.9, "resamples": 0}, "`resamples` must be an integer >= 1"),
    "seed": ({"ci": 0.9, "seed": -1}, "`seed` must be an integer >= 0"),
    "no ci": ({"cluster": "user"}, "add ci=0.95"),
    "column": ({"ci": 0.9, "cluster": "usr"}, "did you mean 'user'"),
    "weight": ({"weight": "country"}, "must hold numbers"),
    "several": ({"ci": 0.9, "weight": "rank"}, "all rows of a query must have one weight"),
    "several clusters": ({"ci": 0.9, "cluster": "item"}, "all rows of a query must have one cluster"),
}


class TestRefusals:
    @pytest.mark.parametrize(("options", "says"), WRONG_OPTIONS.values(), ids=WRONG_OPTIONS)
    @pytest.mark.parametrize("kind", ["polars", "pandas"])
    def test_options(self, one, options, says, kind):
        with pytest.raises(fm.FrameMetricsError, match=says):
            frames(one)[kind].rank.evaluate("map", **options)

    @pytest.mark.parametrize("kind", ["polars", "pandas"])
    @pytest.mark.parametrize("weight", [-1.0, math.nan, math.inf, None])
    def test_weights(self, one, weight, kind):
        bad = one.with_columns(w=pl.when(query="q007").then(pl.lit(weight, pl.Float64)).otherwise(1.0))
        with pytest.raises(fm.TableError, match="query q007 has"):
            frames(bad)[kind].rank.evaluate("map", weight="w")

    def test_a_lazy_plan_fails_when_collected(self, one):
        plan = one.lazy().rank.evaluate("map", weight="rank")
        with pytest.raises(pl.exceptions.PolarsError, match="all rows of a query must have one weight"):
            plan.collect()

    def test_a_query_of_the_judgments_alone_has_no_weight(self, one):
        qrels = pl.concat([one, one.with_columns(query=pl.lit("new"))]).select("query", "item", "relevance").unique()
        run = one.drop("relevance").rank
        with pytest.raises(fm.TableError, match="query new has no weight"):
            run.judged_by(qrels.filter(pl.col("query") != "new").vstack(qrels.filter(query="new").head(1))).evaluate(
                "map", weight="weight"
            )

    @pytest.mark.parametrize("options", [{"ci": 0.9}, {"weight": "weight"}])
    def test_per_query(self, one, options):
        with pytest.raises(fm.OptionError, match=r"leave out \.per_query"):
            one.rank.per_query().evaluate("map", **options)

    def test_sums(self, one):
        with pytest.raises(fm.OptionError, match="num_ret is a sum over queries"):
            one.rank.evaluate("map", "num_ret", ci=0.9)

    @pytest.mark.parametrize("ranking", [lambda r: r.per_query(), lambda r: r.using(average="micro")])
    def test_describe(self, one, ranking):
        with pytest.raises(fm.OptionError, match="describe is about the values of queries"):
            ranking(one.rank).describe("map")

    def test_a_segment_with_a_name_of_the_result(self, one):
        with pytest.raises(fm.TableError, match="column 'map_low'"):
            one.rename({"country": "map_low"}).rank.by("map_low").evaluate("map", ci=0.9)
        with pytest.raises(fm.TableError, match="column 'mean'"):
            one.rename({"country": "mean"}).rank.by("mean").describe("map")


class TestDescribe:
    @pytest.mark.parametrize("kind", ["polars", "lazy", "pandas", "arrow"])
    def test_numbers(self, one, kind):
        x = values(one)
        found = fm.rank(frames(one)[kind]).describe("mrr", "map", ci=0.9)
        assert isinstance(found, type(frames(one)[kind]))
        assert polars(found)["metric"].to_list() == ["mrr", "map"]
        low, high = stats.norm.interval(0.9, x.mean(), x.std(ddof=1) / math.sqrt(40))
        quantiles = dict(
            zip(("q10", "q25", "median", "q75", "q90"), np.quantile(x, [0.1, 0.25, 0.5, 0.75, 0.9]), strict=True)
        )
        expected = {"queries": 40, "mean": x.mean(), "low": low, "high": high, "std": x.std(ddof=1)}
        expected |= {"geometric_mean": np.exp(np.log(np.maximum(x, 1e-5)).mean()), "min": x.min(), **quantiles}
        row = polars(found).drop("metric").row(1, named=True)
        assert row == pytest.approx(expected | {"max": x.max()})

    @pytest.mark.parametrize("kind", ["polars", "lazy", "pandas"])
    def test_segments(self, table, kind):
        found = polars(frames(table)[kind].rank.by("country").by("system").describe("map", "num_ret"))
        assert found.select("country", "system", "metric").rows() == [
            (c, s, m) for c in ("fr", "us") for s in ("a", "b") for m in ("map", "num_ret")
        ]
        some = values(table, country="us", system="b")
        assert found.row(-2, named=True)["median"] == pytest.approx(np.median(some))
        assert found.row(-1, named=True)["mean"] == 4

    def test_an_empty_table(self, one):
        found = one.clear().rank.describe("map", "mrr")
        assert found.select("metric", "queries", "mean").rows() == [("map", 0, None), ("mrr", 0, None)]

    def test_streaming(self, table):
        plan = table.lazy().rank.by("system").describe(*METRICS)
        assert_frame_equal(plan.collect(engine="streaming"), table.rank.by("system").describe(*METRICS))


class TestCompare:
    @pytest.mark.parametrize("test", TESTS)
    @pytest.mark.parametrize("kind", ["polars", "pandas", "arrow"])
    def test_kinds_of_frames(self, table, test, kind):
        frame = frames(shuffled(table))[kind]
        found = fm.rank(frame).by("country").compare(*METRICS, test=test, resamples=500)
        assert isinstance(found, type(frame))
        assert polars(found).columns == ["country", *COLUMNS]
        assert_frame_equal(polars(found), table.rank.by("country").compare(*METRICS, test=test, resamples=500))

    def test_numbers(self, table):
        a, b = values(table, system="a"), values(table, system="b")
        row = table.rank.compare("map").row(0, named=True)
        expected = stats.ttest_rel(b, a)
        assert (row["metric"], row["system"], row["baseline"], row["queries"]) == ("map", "b", "a", 40)
        assert row["value"] == pytest.approx(b.mean())
        assert row["baseline_value"] == pytest.approx(a.mean())
        assert row["difference"] == pytest.approx(b.mean() - a.mean())
        assert row["relative"] == pytest.approx(b.mean() / a.mean() - 1)
        assert (row["wins"], row["ties"], row["losses"]) == ((b > a).sum(), (a == b).sum(), (b < a).sum())
        assert row["effect"] == pytest.approx((b - a).mean() / (b - a).std(ddof=1))
        assert row["p"] == row["p_adjusted"] == pytest.approx(expected.pvalue)
        assert (row["low"], row["high"]) == pytest.approx(tuple(expected.confidence_interval(0.95)))
        assert row["significant"] == (expected.pvalue < 0.05)
        assert row["note"] == ""

    def test_the_other_way_round(self, table):
        one, other = (table.rank.compare("map", baseline=name).row(0, named=True) for name in ("a", "b"))
        assert (other["system"], other["baseline"]) == ("a", "b")
        assert (other["difference"], other["low"], other["high"]) == pytest.approx(
            (-one["difference"], -one["high"], -one["low"])
        )
        assert (other["wins"], other["losses"]) == (one["losses"], one["wins"])
        assert other["p"] == pytest.approx(one["p"])

    def test_rows(self):
        table = made(("a", "b", "c"))
        found = table.rank.by("country").compare("map", "mrr", baseline="b")
        assert found.select("country", "metric", "system", "baseline").rows() == [
            (country, metric, system, "b") for country in ("fr", "us") for metric in ("map", "mrr") for system in "ac"
        ]
        pairs = table.rank.compare("map", test="tukey").select("system", "baseline").rows()
        assert pairs == [("b", "a"), ("c", "a"), ("c", "b")]

    @pytest.mark.parametrize("correction", ["none", "bonferroni", "holm", "bh"])
    def test_corrections_are_over_all_rows(self, correction):
        found = made(("a", "b", "c")).rank.by("country").compare(*METRICS, correction=correction)
        assert found.height == 12
        p = found["p"].to_numpy()
        if correction == "bonferroni":
            assert found["p_adjusted"].to_numpy() == pytest.approx(np.minimum(12 * p, 1))
        if correction == "bh":
            assert found["p_adjusted"].to_numpy() == pytest.approx(stats.false_discovery_control(p))
        if correction == "holm":
            assert found["p_adjusted"].min() == pytest.approx(12 * p.min())
        assert found["significant"].to_list() == (found["p_adjusted"] < 0.05).to_list()
        assert found["significant"].any() == (found["p_adjusted"].min() < 0.05)
        assert (found["p_adjusted"] == found["p"]).all() == (correction == "none")

    def test_tukey_is_corrected_for_metrics_and_segments_only(self):
        table = made(("a", "b", "c"))
        alone = table.rank.compare("map", test="tukey")
        assert alone["p"].to_list() == alone["p_adjusted"].to_list()
        two = table.rank.compare("map", "mrr", test="tukey")
        assert two["p_adjusted"].to_numpy() == pytest.approx(np.minimum(2 * two["p"].to_numpy(), 1))

    def test_a_row_does_not_depend_on_others(self):
        table = made(("a", "b", "c"))
        for test in ("randomisation", "bootstrap"):
            whole = table.rank.compare(*METRICS, test=test, correction="none")
            alone = table.filter(pl.col("system") != "b").rank.compare("mrr", test=test, correction="none")
            assert_frame_equal(whole.filter(metric="mrr", system="c"), alone)

    def test_seeds(self, table):
        p = {s: table.rank.compare("map", test="randomisation", seed=s, resamples=999)["p"].item() for s in range(4)}
        assert p[0] == table.rank.compare("map", test="randomisation", resamples=999)["p"].item()
        assert len(set(p.values())) > 1

    def test_other_names_of_columns(self, table):
        renamed = table.rename({"system": "model", "query": "topic"})
        found = renamed.rank.using(query="topic").compare("map", system="model")
        assert_frame_equal(found, table.rank.compare("map"))

    def test_system_as_a_segment(self, table):
        assert_frame_equal(table.rank.by("system").compare("map"), table.rank.compare("map"))

    def test_systems_that_are_numbers(self, table):
        numbered = table.with_columns(system=pl.col("system").replace_strict({"a": 10, "b": 9}))
        found = numbered.rank.compare("map", baseline=10)
        assert (found["system"].item(), found["baseline"].item()) == (9, 10)
        assert numbered.rank.compare("map")["baseline"].item() == 9

    def test_pandas_keeps_types(self, table):
        frame = table.to_pandas().astype({"system": "category", "country": "category"})
        found = frame.rank.by("country").compare("map")
        assert found.dtypes[["country", "system", "baseline"]].tolist() == [
            frame.dtypes[name] for name in ("country", "system", "system")
        ]

    def test_no_relevant_skip(self, table):
        nothing = pl.when(query="q001").then(0).otherwise("relevance")
        ranking = table.with_columns(relevance=nothing).rank
        assert ranking.using(no_relevant="skip").compare("map")["queries"].item() == 39
        assert ranking.compare("map")["queries"].item() == 40

    def test_judged(self, table):
        qrels = table.filter(system="a").select("query", "item", "relevance")
        run = table.drop("relevance")
        found = run.rank.judged_by(qrels, each="system").compare("map")
        runs = {name: run.filter(system=name) for name in ("a", "b")}
        assert_frame_equal(fm.compare(runs, qrels, metrics=["map"]), found)


class TestNotes:
    @pytest.fixture
    def gap(self, table):
        return table.filter((pl.col("system") == "a") | (pl.col("query") > "q001"))

    def test_unanswered_is_an_error(self, gap):
        with pytest.raises(fm.TableError, match=r"system 'b' did not answer query 'q000', .* and 1 more are lacking"):
            gap.rank.compare("map")
        with pytest.raises(
            fm.TableError, match=r"did not answer query 'q001' where \{'country': 'fr'\}, which another did"
        ):
            gap.rank.by("country").compare("map")

    @pytest.mark.parametrize("test", ["t", "tukey"])
    def test_both(self, gap, table, test):
        found = gap.rank.compare("map", queries="both", test=test)
        assert found["note"].item() == "2 queries left out: not answered by both"
        expected = table.filter(pl.col("query") > "q001").rank.compare("map", test=test)
        assert_frame_equal(found.drop("note"), expected.drop("note"))

    @pytest.mark.parametrize("test", ["t", "tukey"])
    def test_zero(self, gap, table, test):
        found = gap.rank.compare("map", queries="zero", test=test)
        worst = (pl.col("system") == "b") & (pl.col("query") <= "q001")
        expected = table.with_columns(relevance=pl.when(worst).then(0).otherwise("relevance")).rank
        assert_frame_equal(found, expected.compare("map", test=test))

    def test_nothing_in_common(self, table):
        apart = table.with_columns(query=pl.col("query") + pl.col("system"))
        row = apart.rank.compare("map", queries="both").row(0, named=True)
        assert row["note"] == "80 queries left out: not answered by both; no query in common"
        assert [row[name] for name in ("queries", "value", "p", "p_adjusted", "low")] == [0, None, None, None, None]
        assert row["significant"] is False

    @pytest.mark.parametrize("test", TESTS)
    def test_few(self, table, test):
        found = table.filter(pl.col("query") < "q004").rank.compare("map", test=test)
        assert found["note"].item() == "only 4 queries: too few to say anything"
        single = table.filter(query="q002").rank.compare("map", test=test).row(0, named=True)
        assert single["note"] == "only 1 query: too few to say anything"
        assert (single["p"], single["significant"]) == (None, False)

    @pytest.mark.parametrize("test", TESTS)
    def test_no_difference(self, table, test):
        twice = pl.concat([table.filter(system="a"), table.filter(system="a").with_columns(system=pl.lit("b"))])
        row = twice.rank.compare("map", test=test).row(0, named=True)
        assert (row["note"], row["p"], row["difference"]) == ("all differences are 0", 1.0, 0.0)
        assert (row["wins"], row["ties"], row["losses"], row["effect"]) == (0, 40, 0, None)

    @pytest.mark.parametrize("test", ["t", "tukey"])
    def test_one_difference(self, test):
        rows = [(system, query, rank, 1) for system, rank in (("a", 2), ("b", 1)) for query in range(12)]
        table = pl.DataFrame(rows, schema=["system", "query", "rank", "relevance"], orient="row")
        row = table.rank.compare("mrr", test=test).row(0, named=True)
        assert (row["p"], row["significant"], row["effect"]) == (None, False, None)
        assert row["note"] == f"all differences are the same: test='{test}' says nothing"
        assert table.rank.compare("mrr", test="sign")["p"].item() == pytest.approx(2 / 2**12)

    def test_a_baseline_of_zero(self, table):
        rows = table.with_columns(relevance=pl.when(system="a").then(0).otherwise("relevance"))
        assert rows.rank.compare("map")["relative"].item() is None


WRONG_COMPARISONS = {
    "test": ({"test": "ttest"}, "`test` must be one of"),
    "correction": ({"correction": "hochberg"}, "`correction` must be one of"),
    "queries": ({"queries": "all"}, "`queries` must be one of"),
    "ci": ({"ci": 1}, "`ci` must be a number between 0 and 1"),
    "resamples": ({"resamples": 1.5}, "`resamples` must be"),
    "baseline": ({"baseline": "bb"}, "`baseline` must be one of 'a', 'b', got 'bb'"),
    "system": ({"system": "sytem"}, "there is no column 'sytem', did you mean 'system'"),
    "one system": ({"system": "same"}, "two systems or more"),
    "no system": ({"system": "none"}, "rows without a system"),
}


class TestWrongComparisons:
    @pytest.mark.parametrize(("options", "says"), WRONG_COMPARISONS.values(), ids=WRONG_COMPARISONS)
    @pytest.mark.parametrize("kind", ["polars", "pandas"])
    def test_options(self, table, options, says, kind):
        more = table.with_columns(same=pl.lit("x"), none=pl.when(system="b").then(pl.lit("b")))
        more = more.filter(system="a") if options.get("system") == "same" else more
        with pytest.raises(fm.FrameMetricsError, match=says):
            frames(more)[kind].rank.compare("map", **options)

    def test_lazy(self, table):
        with pytest.raises(fm.OptionError, match=r"fm\.compare"):
            table.lazy().rank.compare("map")

    def test_micro(self, table):
        with pytest.raises(fm.OptionError, match="average='micro'"):
            table.rank.using(average="micro").compare("recall")

    def test_geometric(self, table):
        with pytest.raises(fm.OptionError, match="geometric_map is a geometric mean"):
            table.rank.compare("geometric_map")

    def test_no_metric(self, table):
        with pytest.raises(fm.OptionError, match="at least one metric"):
            table.rank.compare()

    def test_a_segment_with_a_name_of_the_result(self, table):
        with pytest.raises(fm.TableError, match="column 'value'"):
            table.rename({"country": "value"}).rank.by("value").compare("map")


class TestManyFrames:
    @pytest.fixture
    def runs(self, table):
        return {name: table.filter(system=name) for name in ("b", "a")}

    def test_the_first_is_the_baseline(self, runs, table):
        assert_frame_equal(fm.compare(runs, metrics=["map", "mrr"]), table.rank.compare("map", "mrr", baseline="b"))
        assert fm.compare(runs, metrics="map", baseline="a")["system"].item() == "b"

    def test_metrics_that_nobody_named(self, runs, table):
        assert_frame_equal(fm.compare(runs), table.rank.compare(*DEFAULT_METRICS, baseline="b"))
        assert ", ".join(DEFAULT_METRICS) in " ".join(fm.compare.__doc__.split())

    @pytest.mark.parametrize("kind", ["polars", "lazy", "pandas", "arrow"])
    def test_kinds_of_frames(self, runs, table, kind):
        found = fm.compare({name: frames(run)[kind] for name, run in runs.items()}, metrics=["map"], test="sign")
        assert isinstance(found, pd.DataFrame if kind == "pandas" else pl.DataFrame)
        assert_frame_equal(pl.DataFrame(found), table.rank.compare("map", baseline="b", test="sign"))

    def test_mixed(self, runs, table):
        mixed = {"b": runs["b"].to_pandas(), "a": runs["a"].lazy()}
        assert_frame_equal(fm.compare(mixed, metrics=["map"]), table.rank.compare("map", baseline="b"))

    def test_rankings(self, runs, table):
        b = runs["b"].rename({"query": "topic"}).to_pandas().rank.using(query="topic").by("country")
        a = runs["a"].with_columns(score=-pl.col("rank")).lazy().rank.from_scores("score").by("country")
        found = fm.compare({"b": b, "a": a}, metrics=["map"])
        assert_frame_equal(found, table.rank.by("country").compare("map", baseline="b"))

    def test_queries_that_a_run_lacks_are_judged(self, runs, table):
        qrels = table.filter(system="a").select("query", "item", "relevance")
        runs = {name: run.drop("relevance").filter(pl.col("query") > name) for name, run in runs.items()}
        runs["a"] = runs["a"].filter(pl.col("query") > "q002")
        found = fm.compare(runs, qrels, metrics=["map"])
        assert found["queries"].item() == 40
        assert found["value"].item() == pytest.approx(runs["a"].rank.judged_by(qrels).map())

    def test_refusals(self, runs):
        with pytest.raises(fm.OptionError, match="two or more names"):
            fm.compare({"a": runs["a"]}, metrics=["map"])
        with pytest.raises(fm.OptionError, match="two or more names"):
            fm.compare(list(runs.values()), metrics=["map"])
        with pytest.raises(fm.OptionError, match="the same segments"):
            fm.compare({"a": runs["a"].rank.by("country"), "b": runs["b"]}, metrics=["map"])
        numbered = runs["b"].with_columns(pl.col("query").str.tail(3).cast(pl.Int64))
        with pytest.raises(fm.TableError, match="column 'query' has type String in one run and Int64 in another"):
            fm.compare({"a": runs["a"], "b": numbered}, metrics=["map"])


def test_importing_takes_neither_numpy_nor_scipy():
    code = "import sys, frame_metrics; print([m for m in ('numpy', 'scipy', 'pandas') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


class TestLikeALibrary:
    @both_methods
    def test_evaluate(self, table, method):
        ranking = table.rank.like("sklearn").by("system")
        found = ranking.evaluate("ndcg@3", "dcg@3", ci=0.95, method=method)
        assert_frame_equal(found.select("system", "ndcg@3", "dcg@3"), ranking.evaluate("ndcg@3", "dcg@3"))

    def test_describe_and_compare(self, table):
        ranking = table.rank.like("lightgbm")
        means = ranking.by("system").evaluate("ndcg@3")["ndcg@3"].to_list()
        assert ranking.by("system").describe("ndcg@3")["mean"].to_list() == pytest.approx(means)
        found = ranking.compare("ndcg@3")
        assert found.select("baseline_value", "value").row(0) == pytest.approx(means)
        runs = {name: table.filter(system=name).rank.like("lightgbm") for name in ("a", "b")}
        assert_frame_equal(fm.compare(runs, metrics=["ndcg@3"]), found)
