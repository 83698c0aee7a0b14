"""`explain`: the rows of one query add up to the number, on every surface, and say where it comes from."""

import datetime as dt
import io
import math
import random
import re

import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import frame_metrics as fm
from frame_metrics.formulas.base import DEFINITIONS
from tests import oracle
from tests.strategies import policies, tables
from tests.test_oracle import CUTOFFS, cases, few

LOG = pl.DataFrame(
    [
        ("fr", "q1", "a", 2, 3, 0.5),
        ("fr", "q1", "b", 1, 0, 0.9),
        ("fr", "q1", "c", 3, None, 0.1),
        ("fr", "q1", "d", None, 2, None),
        ("us", "q1", "a", 1, 3, 0.4),
        ("us", "q17", "x", 1, 0, 0.7),
        (None, "q17", "x", 1, 2, 0.7),
    ],
    schema=("country", "query", "item", "rank", "relevance", "score"),
    orient="row",
)
ONE = LOG.filter(query="q1", country="fr")
QRELS = pl.DataFrame({"query": ["q1", "q1", "new"], "item": ["b", "missed", "z"], "relevance": [1, 2, 1]})
KINDS = ("polars", "lazy", "streaming", "pandas", "arrow")
WITHOUT_SUBTOPICS = [name for name, definition in DEFINITIONS.items() if not definition.of_subtopics]
OF_SUBTOPICS = [name for name, definition in DEFINITIONS.items() if definition.of_subtopics]
both_engines = pytest.mark.parametrize("engine", ["in-memory", "streaming"])
every_kind = pytest.mark.parametrize("kind", KINDS)


def of(kind, frame):
    made = {"polars": frame.clone, "pandas": frame.to_pandas, "arrow": frame.to_arrow}
    return fm.rank(made.get(kind, frame.lazy)())


def read(kind, result):
    """Return a result as a Polars frame."""
    if isinstance(result, pl.LazyFrame):
        return result.collect(engine="streaming" if kind == "streaming" else "in-memory")
    return pl.DataFrame(result).fill_nan(None)


def rounded(frame):
    """Return rows whose floats differ where it is not the last digit."""
    return frame.with_columns(pl.col(pl.Float64).round(12)).rows()


def refused(kind, ask):
    """Return what is said of a question that has no answer, when it is asked or when it is collected."""
    with pytest.raises((fm.FrameMetricsError, pl.exceptions.InvalidOperationError)) as caught:
        read(kind, ask())
    return str(caught.value)


def explained_values(ranking, texts):
    """Return `{(query, text): value}` as the rows of each query add up, and as `per_query` has it."""
    queries = ranking.per_query().evaluate(*texts)
    expected = {(row["query"], text): row[text] for row in queries.iter_rows(named=True) for text in texts}
    return {(query, text): ranking.explain(text, query=query)["running"][-1] for query, text in expected}, expected


def random_table(seed, *, subtopics=0):
    """Return lists with misses, unjudged rows, negative grades and gaps; with subtopics, a row for each of an item."""
    chance = random.Random(seed)  # noqa: S311
    rows = []
    for query in "abc":
        places = chance.sample(range(1, 13), 9)
        for number, place in enumerate(places[: chance.randint(1, 9)]):
            rank = None if chance.random() < 0.25 else place
            for subtopic in chance.sample(range(subtopics), chance.randint(1, subtopics)) if subtopics else [0]:
                grade = chance.choice((-1, 0, 1, 2, 3) if rank is None else (-1, 0, 0, 1, 2, 3, None))
                rows.append((query, f"i{number}", rank, grade, subtopic))
    chance.shuffle(rows)
    names = ("query", "item", "rank", "relevance", *(("subtopic",) if subtopics else ("other",)))
    return pl.DataFrame(rows, schema=names, orient="row", infer_schema_length=None)


class TestRowsAddUp:
    @few
    @given(tables(), CUTOFFS, policies(), st.data())
    def test_to_the_number_of_the_query(self, table, k, policy, data):
        level, (no_relevant, _) = policy
        known = [text for text, case in cases(k).items() if case[0] in WITHOUT_SUBTOPICS]
        texts = data.draw(st.lists(st.sampled_from(known), min_size=1, max_size=8, unique=True))
        assume(table.rows)
        options = {"no_relevant": no_relevant} | ({} if level is None else {"min_relevance": level})
        found, expected = explained_values(table.frame().rank.using(**options), texts)
        assert oracle.differences(found, expected) == {}

    @pytest.mark.parametrize("name", WITHOUT_SUBTOPICS)
    def test_for_every_metric(self, name):
        for seed in range(6):
            k = (None, 3)[seed % 2] if DEFINITIONS[name].takes_k else None
            text = name if k is None else f"{name}@{k}"
            found, expected = explained_values(random_table(seed).rank, [text])
            assert oracle.differences(found, expected) == {}

    @pytest.mark.parametrize("k", [None, 3])
    def test_for_every_option(self, k):
        texts = [text for text, case in cases(k).items() if case[0] in WITHOUT_SUBTOPICS]
        found, expected = explained_values(random_table(7).rank, texts)
        assert oracle.differences(found, expected) == {}

    @pytest.mark.parametrize("name", OF_SUBTOPICS)
    @pytest.mark.parametrize("no_relevant", ["zero", "skip", "one"])
    def test_for_every_metric_of_subtopics(self, name, no_relevant):
        for seed in range(4):
            ranking = random_table(seed, subtopics=3).rank.using(no_relevant=no_relevant)
            found, expected = explained_values(ranking, [f"{name}@4"])
            assert oracle.differences(found, expected) == {}

    @pytest.mark.parametrize("name", DEFINITIONS)
    def test_every_metric_says_what_each_row_adds(self, name):
        table = random_table(2, subtopics=2 if name in OF_SUBTOPICS else 0)
        text = f"{name}@5" if DEFINITIONS[name].takes_k else name
        rows = table.rank.explain(text, query="a")
        assert rows.height == table.filter(query="a").height
        assert rows["adds"].null_count() == 0
        start = rows["running"][0] - rows["adds"][0]
        assert math.isclose(start + rows["adds"].sum(), rows["running"][-1], abs_tol=1e-12)
        assert start == (1.0 if name == "rbp_residual" else 0.0)

    def test_no_row_adds_anything_beyond_k(self):
        # Of the ideal list, it is the ideal place that counts.
        for name in (n for n in WITHOUT_SUBTOPICS if DEFINITIONS[n].takes_k and n != "idcg"):
            rows = random_table(3).rank.explain(f"{name}@2", query="b")
            assert rows.filter(pl.col("rank") > 2)["adds"].to_list() == [0.0] * rows.filter(pl.col("rank") > 2).height

    def test_whatever_the_order_of_the_table(self):
        table = random_table(4)
        expected = table.rank.explain("ndcg", query="a")
        for seed in range(5):
            assert table.sample(fraction=1, shuffle=True, seed=seed).rank.explain("ndcg", query="a").equals(expected)

    def test_the_highest_grade_is_that_of_the_whole_table(self):
        table = pl.DataFrame({"query": ["a", "b"], "rank": [1, 1], "relevance": [1, 3]})
        assert table.rank.explain("err", query="a")["running"].to_list() == [1 / 8]
        with pytest.raises(fm.TableError, match="NaN"):
            table.with_columns(relevance=pl.Series([1.0, math.nan])).rank.explain("err", query="a")


class TestParts:
    """Lists that were worked out by hand: b (grade 0) stands first, then a (3), c (not judged); d (2) was missed."""

    def column(self, metric, name, **options):
        return ONE.rank.using(**options).explain(metric, query="q1")[name].to_list()

    def test_rows_stand_in_their_order_and_missed_ones_last(self):
        assert self.column("ndcg", "item") == ["b", "a", "c", "d"]
        assert self.column("ndcg", "rank") == [1, 2, 3, None]
        assert self.column("ndcg", "relevance") == [0, 3, None, 2]

    def test_ndcg(self):
        best = 3 + 2 / math.log2(3)
        assert self.column("ndcg", "gain") == [0, 3, 0, 2]
        assert self.column("ndcg", "discount") == pytest.approx([1, 1 / math.log2(3), 0.5, 0])
        assert self.column("ndcg", "ideal_place") == [None, 1, None, 2]
        assert self.column("ndcg", "ideal_adds") == pytest.approx([0, 3 / best, 0, 2 / math.log2(3) / best])
        assert self.column("ndcg", "adds") == pytest.approx([0, 3 / math.log2(3) / best, 0, 0])
        assert self.column("ndcg", "running") == pytest.approx([0, *[3 / math.log2(3) / best] * 3])

    def test_ndcg_with_other_options(self):
        assert self.column("ndcg(gain=exponential)", "gain") == [0, 7, 0, 3]
        assert self.column("ndcg(ideal=retrieved)", "ideal_place") == [None, 1, None, None]
        assert self.column("ndcg@1", "discount") == [1, 0, 0, 0]
        assert self.column("idcg", "adds") == pytest.approx([0, 3, 0, 2 / math.log2(3)])

    def test_equal_grades_take_ideal_places_from_the_top(self):
        table = pl.DataFrame({"query": 1, "rank": [4, 1, 2, None], "relevance": [1, 1, 2, 1]})
        assert table.rank.explain("ndcg", query=1)["ideal_place"].to_list() == [2, 1, 3, 4]

    def test_average_precision(self):
        assert self.column("map", "hit") == [None, 1, None, None]
        assert self.column("map", "precision") == [None, 0.5, None, None]
        assert self.column("map", "adds") == [0, 0.25, 0, 0]
        assert self.column("map", "hit", min_relevance=4) == [None] * 4

    def test_err(self):
        assert self.column("err(max_grade=3)", "stops") == [None, 7 / 8, None, 3 / 8]
        assert self.column("err(max_grade=3)", "reached")[:3] == [None, 1, None]

    def test_pairs(self):
        assert self.column("auc", "outranked") == [None, 1, None, 2]
        assert self.column("auc", "adds") == [0, 0.25, 0, 0]
        assert self.column("bpref", "nonrelevant_above") == [None, 1, None, None]

    def test_the_highest_so_far(self):
        table = pl.DataFrame({"query": 1, "rank": [1, 2, 3, 4], "relevance": [0, 1, 1, 0]})
        rows = table.rank.explain("iprec", query=1)
        assert rows["running"].to_list() == pytest.approx([0, 1 / 2, 2 / 3, 2 / 3])
        assert rows["adds"].to_list() == pytest.approx([0, 1 / 2, 1 / 6, 0])

    def test_counts_are_whole_numbers(self):
        rows = ONE.rank.explain("num_rel", query="q1")
        assert rows.select("adds", "running").dtypes == [pl.Int64, pl.Int64]
        assert rows["running"].to_list() == [0, 1, 1, 2]

    def test_subtopics(self):
        table = pl.DataFrame({"query": 1, "item": ["a", "b", "b"], "subtopic": [1, 1, 2], "rank": [1, 2, 2]})
        rows = table.with_columns(relevance=1).rank.explain("subtopic_recall", query=1)
        assert rows.columns == ["item", "subtopic", "rank", "relevance", "seen_above", "adds", "running"]
        assert rows.select("item", "seen_above", "adds").rows() == [("a", 0, 0.5), ("b", 1, 0.0), ("b", 0, 0.5)]


class TestNothingRelevant:
    TABLE = pl.DataFrame({"query": 1, "item": ["a", "b"], "rank": [1, 2], "relevance": [0, None]})

    @pytest.mark.parametrize(("policy", "adds", "value"), [("zero", 0.0, 0.0), ("one", 0.0, 1.0), ("skip", None, None)])
    @pytest.mark.parametrize("metric", ["ndcg", "map", "iprec", "auc"])
    def test_the_policy_decides(self, metric, policy, adds, value):
        rows = self.TABLE.rank.using(no_relevant=policy).explain(metric, query=1)
        assert rows.select("adds", "running").rows() == [(adds, value)] * 2

    @every_kind
    @pytest.mark.parametrize("metric", ["ndcg", "subtopic_recall"])
    def test_or_refuses(self, kind, metric):
        table = self.TABLE.with_columns(subtopic=1)
        asked = of(kind, table).using(no_relevant="error")
        assert "every query must have a relevant item" in refused(kind, lambda: asked.explain(metric, query=1))


class TestQuestions:
    @every_kind
    def test_columns_of_other_names(self, kind):
        names = {"query": "user", "item": "sku", "rank": "position", "relevance": "clicked"}
        asked = of(kind, ONE.rename(names)).using(**names)
        assert read(kind, asked.explain("rr", query="q1")).rows() == ONE.rank.explain("rr", query="q1").rows()
        assert read(kind, asked.explain("rr", query="q1")).columns[:3] == ["sku", "position", "clicked"]

    @every_kind
    def test_without_items(self, kind):
        rows = read(kind, of(kind, ONE.drop("item")).explain("rr", query="q1"))
        assert rows.columns == ["rank", "relevance", "hit", "adds", "running"]

    @every_kind
    def test_scores(self, kind):
        asked = of(kind, ONE.drop("rank")).from_scores("score")
        rows = read(kind, asked.explain("rr", query="q1"))
        assert rows.select("item", "rank", "running").rows() == [
            ("b", 1, 0),
            ("a", 2, 0.5),
            ("c", 3, 0.5),
            ("d", None, 0.5),
        ]

    @every_kind
    def test_judgments(self, kind):
        asked = of(kind, ONE.drop("relevance")).judged_by(QRELS)
        rows = read(kind, asked.explain("recall", query="q1"))
        expected = [("b", 1, 1), ("a", 2, None), ("c", 3, None), ("missed", None, 2), ("d", None, None)]
        assert rows.select("item", "rank", "relevance").rows() == expected
        assert rows["running"][-1] == 0.5
        missed = read(kind, asked.explain("recall", query="new"))
        assert missed.select("item", "rank", "running").rows() == [("z", None, 0)]
        assert "there is no list of query 'q17'" in refused(kind, lambda: asked.explain("recall", query="q17"))

    @every_kind
    def test_depth(self, kind):
        rows = read(kind, of(kind, ONE).using(depth=1).explain("rr", query="q1"))
        assert rows.select("item", "rank", "running").rows()[:2] == [("b", 1, 0), ("a", None, 0)]

    def test_averages_do_not_matter(self):
        expected = ONE.rank.explain("map", query="q1")
        assert ONE.rank.using(average="micro").explain("map", query="q1").equals(expected)
        assert ONE.rank.per_query().explain("map", query="q1").equals(expected)

    def test_like_another_library(self):
        asked = random_table(5).rank.like("sklearn")
        found, expected = explained_values(asked, ["ndcg@5"])
        assert oracle.differences(found, expected) == {}
        assert expected != explained_values(random_table(5).rank, ["ndcg@5"])[1]

    def test_metrics_as_objects_and_aliases(self):
        expected = ONE.rank.explain("average_precision", query="q1")
        for metric in ("map", "ap", fm.metrics.parse("map")):
            assert ONE.rank.explain(metric, query="q1").equals(expected)

    def test_nothing_happens_to_the_frame(self):
        frame, given_ = ONE.to_pandas(), ONE.to_pandas()
        frame.rank.explain("ndcg", query="q1")
        pd.testing.assert_frame_equal(frame, given_)


class TestLists:
    @every_kind
    def test_one_of_several(self, kind):
        expected = rounded(ONE.rank.explain("ndcg", query="q1"))
        for asked in (of(kind, LOG), of(kind, LOG).by("country")):
            assert rounded(read(kind, asked.explain("ndcg", query="q1", country="fr"))) == expected

    @every_kind
    def test_the_segment_without_a_name(self, kind):
        rows = read(kind, of(kind, LOG).explain("hit_rate", query="q17", country=None))
        assert rows.select("item", "relevance", "running").rows() == [("x", 2, 1)]

    @every_kind
    def test_the_only_one_need_not_be_named(self, kind):
        rows = read(kind, of(kind, ONE).by("country").explain("ndcg", query="q1"))
        assert rounded(rows) == rounded(ONE.rank.explain("ndcg", query="q1"))

    @every_kind
    def test_several_are_refused(self, kind):
        said = refused(kind, lambda: of(kind, LOG).by("country").explain("ndcg", query="q1"))
        assert "there are several lists of query 'q1': country fr, us. Hint: name one of them, " in said
        assert "country=..." in said

    @every_kind
    def test_what_looks_like_several_is_refused(self, kind):
        said = refused(kind, lambda: of(kind, LOG).explain("ndcg", query="q1"))
        assert "share one: query q1, rank 1" in said
        assert ".rank.by(...)" in said

    @every_kind
    def test_only_the_rows_of_the_list_are_checked(self, kind):
        table = pl.concat([ONE, LOG.filter(query="q17").with_columns(rank=pl.lit(0, dtype=pl.Int64))])
        assert read(kind, of(kind, table).explain("ndcg", query="q1")).height == 4
        assert "ranks start at 1" in refused(kind, lambda: of(kind, table).explain("ndcg", query="q17", country="us"))


class TestRefusals:
    @every_kind
    def test_unknown_query(self, kind):
        said = refused(kind, lambda: of(kind, LOG).explain("ndcg", query="q71"))
        near = "" if kind in ("lazy", "streaming") else ", did you mean 'q17'"
        assert f"there is no list of query 'q71'{near}" in said
        assert "Hint: the queries of the table are values of column 'query'" in said

    @every_kind
    def test_unknown_number(self, kind):
        table = pl.DataFrame({"query": [1, 2], "rank": [1, 1], "relevance": [1, 1]})
        assert "there is no list of query 3." in refused(kind, lambda: of(kind, table).explain("ndcg", query=3))

    @every_kind
    def test_nothing_to_choose_from(self, kind):
        assert "there is no list of query 'a'" in refused(
            kind, lambda: of(kind, ONE.clear()).explain("ndcg", query="a")
        )

    @every_kind
    def test_unknown_segment(self, kind):
        said = refused(kind, lambda: of(kind, LOG).explain("ndcg", query="q1", country="de"))
        assert "there is no list of query 'q1', country 'de'." in said

    @pytest.mark.parametrize("query", ["hiking bots", "HIKING BOOTS", "hikin boots", "boots hiking"])
    def test_the_nearest_text(self, query):
        known = pl.DataFrame({"query": ["hiking boots", "rain jacket", "tent"], "rank": 1, "relevance": 1})
        with pytest.raises(fm.TableError, match="did you mean 'hiking boots'"):
            known.rank.explain("ndcg", query=query)

    def test_nothing_like_it(self):
        with pytest.raises(fm.TableError, match=r"there is no list of query 'zzz'\. Hint"):
            LOG.rank.explain("ndcg", query="zzz")

    @pytest.mark.parametrize("query", [17, 1.5, ["q1"]])
    def test_a_value_of_another_type(self, query):
        with pytest.raises(fm.OptionError, match="`query` must be a value of the column, which holds String, got"):
            LOG.rank.explain("ndcg", query=query)

    @every_kind
    def test_no_query(self, kind):
        said = refused(kind, lambda: of(kind, LOG).explain("ndcg", query=None))
        assert said.startswith("`query` must be a value of the query column, got None")

    @every_kind
    def test_no_such_column_or_metric(self, kind):
        said = refused(kind, lambda: of(kind, LOG).explain("ndcg", query="q1", contry="fr"))
        assert said.startswith("there is no column 'contry', did you mean 'country'?")
        assert "did you mean 'ndcg'?" in refused(kind, lambda: of(kind, LOG).explain("ndgc", query="q1"))

    def test_the_query_twice(self):
        table = ONE.rename({"query": "user"})
        with pytest.raises(fm.OptionError, match="the query is given twice: query='q1', user="):
            table.rank.using(query="user").explain("ndcg", query="q1", user="q1")

    def test_names_of_the_result(self):
        with pytest.raises(fm.TableError, match="the result has a column 'gain', and so has the table"):
            ONE.rename({"relevance": "gain"}).rank.using(relevance="gain").explain("ndcg", query="q1")

    def test_many_orders_are_not_one(self):
        asked = ONE.rank.from_scores("score", ties="expected")
        with pytest.raises(fm.OptionError, match=re.escape("ties='expected' has many")):
            asked.explain("ndcg", query="q1")


KEYS = {
    "integer": [1, 2],
    "float": [1.5, 2.0],
    "boolean": [True, False],
    "date": [dt.date(2026, 11, 17), dt.date(2026, 11, 18)],
    "datetime": [dt.datetime(2026, 11, day, tzinfo=dt.UTC) for day in (17, 18)],
    "list": [[1, 2], [3]],
    "struct": [{"a": 1}, {"a": 2}],
}


class TestKeys:
    @pytest.mark.parametrize("keys", KEYS.values(), ids=KEYS)
    @pytest.mark.parametrize("lazy", [False, True], ids=["eager", "lazy"])
    def test_of_any_type(self, keys, lazy):
        table = pl.DataFrame({"query": keys, "item": ["a", "b"], "rank": [1, 1], "relevance": [1, 1]})
        for key, item in zip(keys, "ab", strict=True):
            found = (table.lazy() if lazy else table).rank.explain("rr", query=key)
            assert found.lazy().collect()["item"].to_list() == [item]

    @pytest.mark.parametrize("dtype", [pl.Categorical(), pl.Enum(["q1", "q17"])], ids=["categorical", "enum"])
    def test_texts_of_other_types(self, dtype):
        table = ONE.with_columns(pl.col("query").cast(dtype))
        assert table.rank.explain("ndcg", query="q1").rows() == ONE.rank.explain("ndcg", query="q1").rows()
        with pytest.raises(fm.TableError, match="there is no list of query 'q11', did you mean 'q1'"):
            table.rank.explain("ndcg", query="q11")

    @pytest.mark.parametrize(
        "keys",
        [
            [("a", 1), ("b", 2)],
            pd.Categorical(["a", "b"]),
            pd.array([1, None], dtype="Int64"),
            pd.to_datetime(["2026-11-17", "2026-11-18"], utc=True),
            pd.period_range("2026-11", periods=2, freq="M"),
            pd.interval_range(0, 2),
        ],
        ids=["tuples", "categories", "nullable", "times", "periods", "intervals"],
    )
    def test_of_pandas(self, keys):
        key = keys[0]
        table = pd.DataFrame({"query": pd.Series(keys), "item": ["a", "b"], "rank": [1, 1], "relevance": [1, 1]})
        assert table.rank.explain("rr", query=key)["item"].to_list() == ["a"]

    def test_index_levels_of_pandas(self):
        table = LOG.to_pandas().set_index(["country", "query"])
        for asked in (table.rank, table.rank.by("country")):
            rows = asked.explain("ndcg", query="q1", country="fr")
            assert pl.DataFrame(rows).fill_nan(None).rows() == ONE.rank.explain("ndcg", query="q1").rows()

    def test_columns_of_pandas_stay_as_they_are(self):
        table = ONE.to_pandas().astype({"item": "category", "rank": "Int16", "relevance": "Float32"})
        table.attrs["source"] = "log"
        rows = table.rank.explain("ndcg", query="q1")
        assert (
            rows.dtypes[["item", "rank", "relevance"]].to_list()
            == table.dtypes[["item", "rank", "relevance"]].to_list()
        )
        assert rows.index.to_list() == [0, 1, 2, 3]
        assert rows.attrs == {"source": "log"}

    def test_items_of_pandas_may_be_anything(self):
        table = ONE.to_pandas().assign(item=[("b",), 3, "c", frozenset()])
        assert table.rank.explain("ndcg", query="q1")["item"].to_list() == [3, ("b",), "c", frozenset()]


class TestSurfaces:
    @every_kind
    @pytest.mark.parametrize("metric", ["ndcg@2", "map", "err", "auc", "iprec", "num_rel", "judged"])
    def test_the_same_rows(self, kind, metric):
        found = of(kind, ONE).explain(metric, query="q1")
        expected = {"pandas": "DataFrame", "arrow": "Table", "polars": "DataFrame"}.get(kind, "LazyFrame")
        assert type(found).__name__ == expected
        assert rounded(read(kind, found)) == rounded(ONE.rank.explain(metric, query="q1"))

    @both_engines
    @pytest.mark.parametrize("metric", ["ndcg@2", "err", "iprec", "num_rel"])
    def test_a_plan_knows_its_schema_and_holds_no_python(self, metric, engine):
        plan = ONE.lazy().rank.explain(metric, query="q1")
        assert plan.collect_schema() == plan.collect(engine=engine).schema
        again = pl.LazyFrame.deserialize(io.BytesIO(plan.serialize()))
        assert again.collect().equals(plan.collect())
        assert "PYTHON" not in plan.explain()

    def test_nothing_is_read_before_collect(self, tmp_path):
        file = tmp_path / "log.parquet"
        ONE.write_parquet(file)
        plan = pl.scan_parquet(file).rank.explain("ndcg", query="q1")
        ONE.with_columns(relevance=pl.lit(1, dtype=pl.Int64)).write_parquet(file)
        assert plan.collect()["relevance"].to_list() == [1, 1, 1, 1]

    def test_the_filter_goes_down_to_the_file(self, tmp_path):
        LOG.write_parquet(tmp_path / "log.parquet")
        plan = pl.scan_parquet(tmp_path / "log.parquet").rank.explain("ndcg", query="q17", country="us")
        assert plan.explain().count("SELECTION: ") == plan.explain().count("SCAN") > 0

    @both_engines
    def test_a_plan_goes_on(self, engine):
        plan = ONE.lazy().rank.explain("ndcg", query="q1").filter(pl.col("adds") > 0).select("item")
        assert plan.collect(engine=engine).rows() == [("a",)]
        plan = ONE.lazy().rank.explain("ndcg", query="q2").filter(pl.col("adds") > 0).select("item")
        with pytest.raises(pl.exceptions.InvalidOperationError, match="there is no list of query 'q2'"):
            plan.collect(engine=engine)
