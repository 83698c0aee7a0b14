"""Equal scores: one policy for every metric of a call, and exact means over all orders of tied items."""

import itertools
import math

import numpy as np
import polars as pl
import pytest

import frame_metrics as fm

SCHEMA = {"query": pl.String, "item": pl.String, "score": pl.Float64, "relevance": pl.Int64, "day": pl.Int64}
CUTS = (None, 2, 3)
SEEDS = range(8)


def lists(seed):
    """Return a few short lists with many equal scores, some items missed, some not judged."""
    draw = np.random.default_rng(seed)
    grades, scores = [0, 0, -1, 1, 2, 3, None], [1.0, 2.0, 1.0, 2.0, 1.0, 2.0, None]
    rows = []
    for query in ("a", "b", "c"):
        for place in range(draw.integers(1, 6)):
            score, grade = scores[draw.integers(7)], grades[draw.integers(7)]
            rows.append((query, f"i{place}", score, grade, ord(query) % 2))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def orders(rows):
    """Return every table of ranks that agrees with the scores of one query."""
    listed = rows.filter(pl.col("score").is_not_null()).sort("score", descending=True)
    blocks = [block.rows() for block in listed.partition_by("score", maintain_order=True)]
    missed = rows.filter(pl.col("score").is_null()).with_columns(rank=pl.lit(None, dtype=pl.Int64))
    for choice in itertools.product(*(itertools.permutations(block) for block in blocks)):
        ordered = pl.DataFrame(list(itertools.chain(*choice)), schema=SCHEMA, orient="row")
        yield pl.concat([ordered.with_columns(rank=pl.int_range(1, pl.len() + 1, dtype=pl.Int64)), missed])


def cases():
    made = []
    for definition in (d for d in fm.metrics.definitions() if not d.of_subtopics):
        made += [definition.name if k is None or not definition.takes_k else f"{definition.name}@{k}" for k in CUTS]
    return list(dict.fromkeys(made))


def supported(metric):
    try:
        lists(0).rank.from_scores(ties="expected").per_query().evaluate(metric)
    except fm.OptionError:
        return False
    return True


EXPECTED = [metric for metric in cases() if supported(metric)]
MUST = {"precision", "recall", "f_score", "hit_rate", "average_precision", "reciprocal_rank", "r_precision", "rbp"}
MUST |= {"cg", "dcg", "idcg", "ndcg", "auc", "num_ret", "num_rel", "num_rel_ret"}


def test_the_common_metrics_have_an_exact_mean():
    assert {metric.partition("@")[0] for metric in EXPECTED} >= MUST


@pytest.mark.parametrize("metric", [metric for metric in cases() if metric not in EXPECTED])
def test_others_are_refused_with_a_way_out(metric):
    with pytest.raises(fm.OptionError, match=r"is not known.*ties='worst' and ties='best'"):
        lists(0).rank.from_scores(ties="expected").evaluate(metric)


@pytest.mark.parametrize("level", [None, 2])
@pytest.mark.parametrize("seed", SEEDS)
def test_expected_is_the_mean_over_all_orders(seed, level):
    table = lists(seed)
    ranking = table.rank.using(min_relevance=level).from_scores(ties="expected").per_query()
    found = {row["query"]: row for row in ranking.evaluate(*EXPECTED).iter_rows(named=True)}
    for query in ("a", "b", "c"):
        rows = table.filter(pl.col("query") == query)
        asked = [order.rank.using(min_relevance=level).per_query() for order in orders(rows)]
        each = [ranks.evaluate(*EXPECTED).row(0, named=True) for ranks in asked]
        for metric in EXPECTED:
            values = [row[metric] for row in each]
            if None in values:
                assert found[query][metric] is None
            else:
                assert found[query][metric] == pytest.approx(math.fsum(values) / len(values), abs=1e-12), metric


@pytest.mark.parametrize("seed", SEEDS)
def test_best_and_worst_are_bounds_that_some_order_reaches(seed):
    table = lists(seed)
    metrics = ["ndcg", "ndcg@2", "map", "map@3", "mrr", "precision@2", "recall@3", "hit_rate@1", "rbp", "err", "bpref"]
    for ties, bound in (("best", max), ("worst", min)):
        ranking = table.rank.from_scores(ties=ties).per_query()
        found = {row["query"]: row for row in ranking.evaluate(*metrics).iter_rows(named=True)}
        for query in ("a", "b", "c"):
            rows = table.filter(pl.col("query") == query)
            top = table["relevance"].max()
            each = [
                order.rank.evaluate(*metrics[:-2], f"err(max_grade={max(top, 1)})", "bpref").row(0)
                for order in orders(rows)
            ]
            for place, metric in enumerate(metrics):
                if metric != "err" or top >= 1:
                    assert found[query][metric] == pytest.approx(bound(v[place] for v in each), abs=1e-12), metric


@pytest.mark.parametrize("ties", ["expected", "best", "worst"])
@pytest.mark.parametrize("seed", range(3))
class TestEveryQuestion:
    METRICS = ("ndcg@2", "map", "mrr@2", "recall@2", "recall")

    def test_the_mean_is_that_of_the_queries(self, seed, ties):
        table = lists(seed)
        ranking = table.rank.from_scores(ties=ties)
        mean = ranking.per_query().evaluate(*self.METRICS).select(self.METRICS).mean().row(0)
        assert ranking.evaluate(*self.METRICS).row(0) == pytest.approx(mean)

    @pytest.mark.parametrize("engine", ["in-memory", "streaming"])
    def test_lazy(self, seed, ties, engine):
        table = lists(seed)
        lazy = table.lazy().rank.from_scores(ties=ties).by("day").evaluate(*self.METRICS).collect(engine=engine)
        for found, row in zip(
            lazy.rows(), table.rank.from_scores(ties=ties).by("day").evaluate(*self.METRICS).rows(), strict=True
        ):
            assert found == pytest.approx(row)

    def test_pandas(self, seed, ties):
        table = lists(seed)
        found = table.to_pandas().rank.from_scores(ties=ties).evaluate(*self.METRICS)
        assert tuple(found.iloc[0]) == pytest.approx(table.rank.from_scores(ties=ties).evaluate(*self.METRICS).row(0))

    @pytest.mark.parametrize(
        "settings", [{"average": "micro"}, {"no_relevant": "skip"}, {"no_relevant": "one"}, {"depth": 2}]
    )
    def test_settings(self, seed, ties, settings):
        """Where nothing is tied, a policy changes nothing."""
        table = lists(seed).with_columns(score=pl.when(pl.col("score").is_not_null()).then(pl.int_range(pl.len())))
        ranking = table.rank.using(**settings)
        expected = ranking.from_scores().evaluate(*self.METRICS).row(0)
        assert ranking.from_scores(ties=ties).evaluate(*self.METRICS).row(0) == pytest.approx(expected)

    def test_judgments(self, seed, ties):
        table = lists(seed)
        run, judged = table.filter(pl.col("score").is_not_null()), table.filter(pl.col("relevance").is_not_null())
        ranking = (
            run.drop("relevance").rank.from_scores(ties=ties).judged_by(judged.drop("score", "day"), queries="both")
        )
        both = table.join(run, on="query", how="semi").join(judged, on="query", how="semi")
        assert ranking.evaluate(*self.METRICS).row(0) == pytest.approx(
            both.rank.from_scores(ties=ties).evaluate(*self.METRICS).row(0)
        )

    def test_condensed_lists(self, seed, ties):
        table = lists(seed)
        run, judged = table.filter(pl.col("score").is_not_null()), table.filter(pl.col("relevance").is_not_null())
        ranking = run.drop("relevance").rank.from_scores(ties=ties)
        found = ranking.judged_by(judged.drop("score", "day"), queries="both", unjudged="drop").evaluate(*self.METRICS)
        both = table.join(run, on="query", how="semi").join(judged, on="query", how="semi")
        kept = both.with_columns(score=pl.when(pl.col("relevance").is_not_null()).then(pl.col("score")))
        assert found.row(0) == pytest.approx(kept.rank.from_scores(ties=ties).evaluate(*self.METRICS).row(0))


def test_depth_cuts_a_block_in_two():
    table = pl.DataFrame({"query": 1, "item": list("abcd"), "score": 1.0, "relevance": [1, 0, 0, 0]})
    ranking = table.rank.using(depth=2).from_scores(ties="expected")
    assert ranking.recall(10) == pytest.approx(0.5)
    assert ranking.mrr() == pytest.approx((1 + 1 / 2) / 4)


def test_nothing_relevant_is_refused_where_it_must_not_be():
    table = pl.DataFrame({"query": [1, 2], "item": ["a", "b"], "score": 1.0, "relevance": [1, 0]})
    with pytest.raises(fm.TableError, match="1 of them"):
        table.rank.using(no_relevant="error").from_scores(ties="expected").map()


@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas"])
def test_check_counts_queries_whose_ties_matter(kind):
    table = pl.DataFrame(
        {
            "query": ["a", "a", "a", "a", "b", "b", "c", "c"],
            "item": list("wxyzwxwx"),
            "score": [2.0, 2.0, 1.0, 1.0, 3.0, 3.0, None, None],
            "relevance": [1, 0, 2, 1, 0, None, 1, 0],
        }
    )
    frame = {"polars": table, "lazy": table.lazy(), "pandas": table.to_pandas()}[kind]
    found = frame.rank.from_scores().check()
    found = found.collect() if kind == "lazy" else pl.DataFrame(found)
    assert found.rows() == [("tied scores", 2, 1, "query a, score 1")]


def test_check_compares_scores_as_asked():
    table = pl.DataFrame({"query": 1, "item": ["a", "b"], "score": [1.0, 1.0 + 1e-12], "relevance": [1, 0]})
    assert table.rank.from_scores().check().height == 0
    assert table.rank.from_scores(float32=True).check()["queries"].to_list() == [1]
