"""What frames of each kind can be asked, and what comes back: one return type per surface, the same numbers on all."""

import inspect
import io
import itertools
import math
import shutil

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from polars.io.plugins import register_io_source
from polars.testing import assert_frame_equal

import frame_metrics as fm
from frame_metrics.surfaces.frames import ArrowRank, ArrowRanks, DataFrameRank, DataFrameRanks, LazyFrameRank
from frame_metrics.surfaces.pandas import PandasNumbers, PandasRank, PandasRanks
from tests.names import PLAIN

COLUMNS = ("country", "day", "query", "item", "rank", "relevance", "score")
ROWS = [
    ("fr", 1, "a", "x", 1, 0, 0.9),
    ("fr", 1, "a", "y", 2, 1, 0.5),
    ("fr", 1, "a", "z", None, 2, None),
    ("fr", 2, "b", "x", 1, 1, 3.0),
    ("us", 2, "c", "y", 1, 0, 2.0),
    ("us", 2, "c", "x", 2, 0, 1.0),
    (None, 1, "d", "w", 2, 1, 0.1),
    (None, 1, "d", "v", 1, 0, 0.2),
]
RUN = [
    ("a", "x", 1),
    ("a", "y", 2),
    ("a", "z", 3),
    ("b", "x", 1),
    ("unjudged", "x", 1),
]
QRELS = [("a", "y", 1), ("a", "missed", 2), ("b", "w", 1), ("absent", "x", 1)]
OTHER_METHODS = {"using", "by", "per_query", "from_scores", "judged_by", "evaluate", "check", "at_k"}
OTHER_METHODS |= {"explain", "roc_curve", "pr_curve", "cascade", "describe", "compare"}
KINDS = ("polars", "lazy", "streaming", "pandas", "arrow")
QUESTIONS = {
    "evaluate": lambda ranking: ranking.evaluate(*PLAIN),
    "per_query": lambda ranking: ranking.per_query().evaluate(*PLAIN),
    "by": lambda ranking: ranking.by("country", "day").evaluate(*PLAIN),
    "scores": lambda ranking: ranking.from_scores("score").by("day").ndcg(),
    "judged": lambda ranking: ranking.judged_by(judgments()).by("day").evaluate("ndcg", "num_ret"),
    "at_k": lambda ranking: ranking.at_k("ndcg", [1, 2]),
    "roc_curve": lambda ranking: ranking.by("country").roc_curve(),
    "pr_curve": lambda ranking: ranking.pr_curve(),
    "cascade": lambda ranking: ranking.cascade(),
    "check": lambda ranking: ranking.check(),
}
every_question = pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS)
both_engines = pytest.mark.parametrize("engine", ["in-memory", "streaming"])


@pytest.fixture
def table():
    return pl.DataFrame(ROWS, schema=COLUMNS, orient="row")


@pytest.fixture
def run():
    return pl.DataFrame(RUN, schema=("query", "item", "rank"), orient="row")


def judgments(relevance="relevance"):
    return pl.DataFrame(QRELS, schema=("query", "item", relevance), orient="row")


@pytest.fixture
def qrels():
    return judgments()


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


def frame(kind, rows):
    made = {"pandas": rows.to_pandas, "arrow": rows.to_arrow, "polars": rows.clone}
    return made.get(kind, rows.lazy)()


def ranking_of(kind, rows):
    made = frame(kind, rows)
    return fm.rank(made) if kind == "arrow" else made.rank


def rows_of(kind, result):
    """Return the rows of a result, NaN as None."""
    if isinstance(result, pl.LazyFrame):
        result = result.collect(engine="streaming" if kind == "streaming" else "in-memory")
    return pl.DataFrame(result).fill_nan(None).rows()


def counted(table):
    """Return a lazy frame of the table, and a list that gets an entry each time it is read."""
    reads = []

    def read(columns, predicate, rows, batch):
        reads.append(columns)
        chosen = table.lazy().head(len(table) if rows is None else rows)
        chosen = chosen if predicate is None else chosen.filter(predicate)
        yield (chosen if columns is None else chosen.select(columns)).collect()

    return register_io_source(read, schema=table.schema), reads


class TestReturnTypes:
    @pytest.mark.parametrize("name", PLAIN)
    @pytest.mark.parametrize(
        ("kind", "expected"),
        [("polars", float), ("lazy", pl.LazyFrame), ("pandas", float), ("arrow", float)],
    )
    def test_a_metric(self, table, kind, expected, name):
        assert type(getattr(ranking_of(kind, table), name)()) is expected

    @every_question
    @pytest.mark.parametrize(
        ("kind", "expected"),
        [("polars", pl.DataFrame), ("lazy", pl.LazyFrame), ("pandas", pd.DataFrame), ("arrow", pa.Table)],
    )
    def test_more_than_a_number(self, table, kind, expected, ask):
        assert type(ask(ranking_of(kind, table))) is expected

    @pytest.mark.parametrize("empty", [True, False], ids=["empty", "full"])
    @pytest.mark.parametrize("kind", ["polars", "pandas", "arrow"])
    def test_a_number_is_a_float_whatever_the_table(self, table, kind, empty):
        ranking = ranking_of(kind, table.clear() if empty else table)
        assert [type(ranking.ndcg()), type(ranking.num_ret()), type(ranking.using(no_relevant="skip").auc())] == [
            float
        ] * 3

    def test_undefined_is_nan_as_a_number_and_null_in_a_frame(self, table):
        rows = table.filter(country="us")
        ranking = rows.rank.using(no_relevant="skip")
        assert math.isnan(ranking.ndcg())
        assert ranking.evaluate("ndcg", "num_ret").rows() == [(None, 2)]
        assert ranking.per_query().evaluate("ndcg").rows() == [("c", None)]
        assert math.isnan(rows.to_pandas().rank.using(no_relevant="skip").evaluate("ndcg")["ndcg"].item())

    def test_subclasses_of_frames(self, table):
        class Own(pl.DataFrame):
            pass

        class OwnPandas(pd.DataFrame):
            @property
            def _constructor(self):
                return OwnPandas

        expected = table.rank.ndcg()
        assert fm.rank(Own(table)).ndcg() == Own(table).rank.ndcg() == expected
        assert fm.rank(OwnPandas(table.to_pandas())).ndcg() == OwnPandas(table.to_pandas()).rank.ndcg() == expected


STEPS = {
    "using": lambda ranking: ranking.using(no_relevant="skip", relevance="grade"),
    "by": lambda ranking: ranking.by("day"),
    "per_query": lambda ranking: ranking.per_query(),
    "from_scores": lambda ranking: ranking.from_scores("score", ties="item_asc"),
    "judged_by": lambda ranking: ranking.judged_by(judgments("grade")),
}


class TestChains:
    @pytest.mark.parametrize("order", list(itertools.permutations(STEPS)), ids="-".join)
    def test_any_order_gives_the_same(self, table, order):
        ranking = table.drop("rank", "relevance").rank
        for step in order:
            ranking = STEPS[step](ranking)
        in_order = table.drop("rank", "relevance").rank.using(no_relevant="skip", relevance="grade")
        expected = STEPS["judged_by"](in_order.from_scores("score", ties="item_asc")).by("day").per_query()
        assert_frame_equal(ranking.evaluate("ndcg", "recall"), expected.evaluate("ndcg", "recall"))

    @pytest.mark.parametrize("order", [tuple(STEPS), tuple(reversed(STEPS))], ids=["forward", "backward"])
    def test_on_every_surface(self, kind, table, order):
        ranking = ranking_of(kind, table.drop("rank", "relevance"))
        for step in order:
            ranking = STEPS[step](ranking)
        skipped = [(1, "d"), (2, "c")]
        found = rows_of(kind, ranking.evaluate("recall"))
        assert [row for row in found if row[:2] not in skipped] == [(1, "a", 0.5), (2, "b", 0.0), (None, "absent", 0.0)]

    def test_a_step_leaves_what_it_came_from_alone(self, table):
        ranking = table.rank
        before = ranking.mrr()
        for step in (
            ranking.using(rank="score", relevance="day"),
            ranking.by("country"),
            ranking.per_query(),
            ranking.from_scores(),
        ):
            assert step is not ranking
        assert ranking.mrr() == before

    def test_segments_and_settings_add_up(self, table):
        ranking = table.rank.by("country").using(no_relevant="skip").by("day", "country").using(min_relevance=2)
        assert ranking.evaluate("num_rel").columns == ["country", "day", "num_rel"]
        assert ranking.evaluate("num_rel")["num_rel"].sum() == 1
        assert "no_relevant" not in repr(ranking)
        assert "by('country', 'day')" in repr(ranking)

    def test_the_last_setting_counts(self, table):
        ranking = table.rank.using(no_relevant="one").using(no_relevant="skip").using(average="micro")
        assert ranking.recall() == table.rank.using(average="micro", no_relevant="skip").recall()

    def test_the_last_step_of_a_kind_counts(self, table):
        ranking = table.with_columns(other=-pl.col("score")).rank.from_scores("other")
        assert ranking.from_scores("score").mrr() == table.rank.from_scores("score").mrr()
        assert ranking.mrr() != ranking.from_scores("score").mrr()


class Stream:
    """An object that has an Arrow stream and nothing else."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


class TestRank:
    @pytest.mark.parametrize(
        ("kind", "expected"),
        [
            ("polars", DataFrameRank),
            ("lazy", LazyFrameRank),
            ("pandas", PandasRank),
            ("arrow", ArrowRank),
        ],
    )
    def test_class_of_each_kind(self, table, kind, expected):
        assert type(fm.rank(frame(kind, table))) is expected

    def test_same_object_as_the_namespace(self, table):
        for made in (table, table.lazy(), table.to_pandas()):
            assert type(fm.rank(made)) is type(made.rank)
            assert fm.rank(made)._asked == made.rank._asked

    def test_pandas_is_still_a_method(self, table):
        ranks = fm.rank(table.to_pandas()[["rank", "score"]])
        assert ranks(method="dense")["score"].tolist()[:2] == table["score"].rank("dense").to_list()[:2]

    @pytest.mark.parametrize(
        "make",
        [
            lambda table: table.to_batches()[0],
            lambda table: table.to_reader(max_chunksize=3),
            Stream,
        ],
        ids=["RecordBatch", "RecordBatchReader", "stream"],
    )
    def test_arrow_objects_give_polars_results(self, table, make):
        source = make(table.to_arrow())
        ranking = fm.rank(source)
        assert ranking.ndcg() == table.rank.ndcg()
        assert_frame_equal(ranking.by("country").evaluate("ndcg"), table.rank.by("country").evaluate("ndcg"))

    def test_arrow_table_in_chunks(self, table):
        chunks = pa.concat_tables([table[:3].to_arrow(), table[3:].to_arrow()])
        assert fm.rank(chunks).per_query().ndcg().to_pydict() == table.rank.per_query().ndcg().to_dict(as_series=False)

    @pytest.mark.parametrize("thing", [[1], {"query": [1]}, None, 5, "table", pl.col("rank")], ids=range(6))
    def test_anything_else_is_a_type_error(self, thing):
        with pytest.raises(TypeError, match=r"expected a Polars or pandas frame.*, got .*Hint"):
            fm.rank(thing)


class TestSegments:
    def test_sorted_by_keys_with_nulls_last(self, kind, table):
        found = rows_of(kind, ranking_of(kind, table).by("country").evaluate("mrr", "num_rel"))
        assert found == [("fr", 0.75, 3), ("us", 0.0, 0), (None, 0.5, 1)]

    def test_several_columns(self, kind, table):
        found = rows_of(kind, ranking_of(kind, table).by("day", "country").evaluate("num_ret"))
        assert found == [(1, "fr", 2), (1, None, 2), (2, "fr", 1), (2, "us", 2)]

    def test_per_query_and_by(self, kind, table):
        found = rows_of(kind, ranking_of(kind, table).by("country").per_query().evaluate("mrr"))
        assert found == [("fr", "a", 0.5), ("fr", "b", 1.0), ("us", "c", 0.0), (None, "d", 0.5)]

    @pytest.mark.parametrize(("policy", "expected"), [("zero", 0.0), ("one", 1.0), ("skip", None)])
    def test_segment_with_nothing_relevant(self, kind, table, policy, expected):
        ranking = ranking_of(kind, table).using(no_relevant=policy).by("country")
        found = {row[0]: row[1:] for row in rows_of(kind, ranking.evaluate("mrr", "num_ret", "judged"))}
        assert found["us"] == (expected, 2, 1.0)

    def test_segment_that_is_the_query(self, kind, table):
        ranking = ranking_of(kind, table)
        found = rows_of(kind, ranking.by("query").evaluate("ndcg", "num_ret"))
        assert found == rows_of(kind, ranking.per_query().evaluate("ndcg", "num_ret"))

    def test_query_in_several_segments_is_several_lists(self, kind, table):
        rows = table.with_columns(query=pl.lit("q"))
        found = rows_of(kind, ranking_of(kind, rows).by("country", "day").evaluate("num_ret"))
        assert sum(row[-1] for row in found) == 7

    def test_the_same_column_twice(self, table):
        assert_frame_equal(table.rank.by("day", "day").ndcg(), table.rank.by("day").ndcg())

    @pytest.mark.parametrize("role", ["rank", "relevance", "item"])
    def test_segment_that_plays_a_role(self, kind, table, role):
        found = rows_of(kind, ranking_of(kind, table).by(role).evaluate("num_ret"))
        assert [row[0] for row in found] == table[role].unique().sort(nulls_last=True).to_list()

    @pytest.mark.parametrize("name", ["len", "count", "k", "_", "literal", "index", "weird name!", "ndcg", "{}"])
    @pytest.mark.parametrize("role", ["by", "query"])
    def test_names_of_any_kind(self, kind, table, role, name):
        rows = table.rename({"country" if role == "by" else "query": name})
        ranking = ranking_of(kind, rows)
        asked = ranking.by(name) if role == "by" else ranking.using(query=name).per_query()
        found = rows_of(kind, asked.evaluate("mrr", "auc", "num_ret"))
        expected = table.rank.by("country") if role == "by" else table.rank.per_query()
        assert found == expected.evaluate("mrr", "auc", "num_ret").rows()

    @pytest.mark.parametrize(
        "ask",
        [
            lambda ranking, name: ranking.by(name).ndcg(),
            lambda ranking, name: ranking.by(name).evaluate("mrr", "ndcg"),
            lambda ranking, name: ranking.using(query=name).per_query().ndcg(),
        ],
        ids=["by", "evaluate", "per_query"],
    )
    def test_key_with_the_name_of_a_result(self, kind, table, ask):
        rows = table.with_columns(ndcg=pl.col("query"))
        with pytest.raises(fm.FrameMetricsError, match="ndcg"):
            ask(ranking_of(kind, rows), "ndcg")

    @pytest.mark.parametrize("ask", ["at_k", "roc_curve", "pr_curve"])
    def test_key_with_the_name_of_a_curve_column(self, kind, table, ask):
        ranking = ranking_of(kind, table.rename({"country": "k"})).by("k")
        with pytest.raises(fm.FrameMetricsError, match="'k'"):
            ranking.at_k("ndcg", [1]) if ask == "at_k" else getattr(ranking, ask)()

    @pytest.mark.parametrize(
        "key",
        [
            pl.col("query").cast(pl.Categorical),
            pl.col("query").cast(pl.Enum(["d", "c", "b", "a"])),
            pl.col("query").cast(pl.Binary),
            pl.struct("query", "country"),
            pl.concat_list("query", "query"),
            pl.col("query") < "b",
            pl.col("score").fill_null(0.9) * 0 + pl.col("day"),
            pl.date(2026, 1, pl.col("day")),
            pl.datetime(2026, 1, pl.col("day"), time_zone="Europe/Paris"),
            pl.duration(hours=pl.col("day")),
            pl.col("day").cast(pl.Decimal(9, 2)),
            pl.col("day").cast(pl.UInt8),
        ],
        ids=["cat", "enum", "bin", "struct", "list", "bool", "float", "date", "tz", "duration", "decimal", "uint8"],
    )
    @pytest.mark.parametrize("role", ["by", "query"])
    def test_keys_of_any_type(self, table, role, key):
        rows = table.with_columns(key=key).with_columns(rank=pl.int_range(1, pl.len() + 1), item=pl.int_range(pl.len()))
        ranking = rows.rank.by("key") if role == "by" else rows.rank.using(query="key").per_query()
        found = ranking.evaluate("num_ret", "mrr")
        expected = rows.group_by("key").len().cast({"len": pl.Int64}).rows()
        assert found.schema["key"] == rows.schema["key"]
        assert sorted(found.select("key", "num_ret").rows(), key=repr) == sorted(expected, key=repr)


class TestResults:
    def test_columns_are_the_texts(self, kind, table):
        texts = ["ndcg@10", "ndcg(gain=exponential)@10", "p@5", "rbp(p=0.5)", "ndcg(gain={1:3,2:9})"]
        found = ranking_of(kind, table).evaluate(*texts)
        names = found.collect_schema().names() if isinstance(found, pl.LazyFrame) else list(pl.DataFrame(found).columns)
        assert names == texts

    @pytest.mark.parametrize("texts", [("mrr", "rr", "reciprocal_rank"), ("p@1", "precision@1"), ("map", "ap")])
    def test_aliases_keep_the_name_asked(self, kind, table, texts):
        found = ranking_of(kind, table).per_query().evaluate(*texts)
        found = pl.DataFrame(found.collect() if isinstance(found, pl.LazyFrame) else found)
        assert found.columns == ["query", *texts]
        assert all(found[text].equals(found[texts[0]].alias(text)) for text in texts)

    def test_aliases_of_methods(self, table):
        assert table.rank.per_query().mrr(2).columns == ["query", "mrr@2"]
        assert table.rank.per_query().f1().columns == ["query", "f1"]
        assert table.lazy().rank.map().collect_schema().names() == ["map"]

    def test_texts_are_tidied(self, table):
        found = table.rank.evaluate(" NDCG ( gain = 'exponential' , discount=log2 ) @ 10 ", "P@5")
        assert found.columns == ["ndcg(gain=exponential)@10", "p@5"]

    def test_repeated_metrics_come_once(self, table):
        assert table.rank.evaluate("mrr", "ndcg@10", "mrr", " mrr ").columns == ["mrr", "ndcg@10"]

    def test_metric_objects(self, table):
        metric = fm.metrics.parse("ndcg@10")
        assert_frame_equal(table.rank.evaluate(metric, "mrr"), table.rank.evaluate("ndcg@10", "mrr"))

    def test_types_of_columns(self, table):
        found = table.rank.by("country", "day").per_query().evaluate("ndcg", "hit_rate", "num_ret", "num_rel", "auc")
        types = [pl.String, pl.Int64, pl.String, pl.Float64, pl.Float64, pl.Int64, pl.Int64, pl.Float64]
        assert found.dtypes == types

    @every_question
    @pytest.mark.parametrize("empty", [True, False], ids=["empty", "full"])
    @both_engines
    def test_a_plan_knows_its_schema(self, table, ask, empty, engine):
        rows = table.clear() if empty else table
        plan = ask(rows.lazy().rank)
        assert plan.collect_schema() == plan.collect(engine=engine).schema == ask(rows.rank).schema

    def test_empty_table(self, kind, table):
        ranking = ranking_of(kind, table.clear())
        assert rows_of(kind, ranking.evaluate("ndcg", "num_ret")) == [(None, 0)]
        assert rows_of(kind, ranking.by("country").evaluate("ndcg")) == []
        assert rows_of(kind, ranking.per_query().evaluate("ndcg", "num_ret", "bpref")) == []


class TestSignatures:
    @pytest.mark.parametrize("name", [name for name in dir(DataFrameRank) if not name.startswith("_")])
    def test_all_surfaces_take_the_same(self, name):
        others = (LazyFrameRank, DataFrameRanks, ArrowRank, ArrowRanks, PandasRank, PandasNumbers, PandasRanks)
        expected = inspect.signature(getattr(DataFrameRank, name)).parameters
        assert [cls for cls in others if inspect.signature(getattr(cls, name)).parameters != expected] == []

    @pytest.mark.parametrize("definition", fm.metrics.definitions(), ids=lambda definition: definition.name)
    def test_metrics_are_expressions_of_the_same_signature(self, definition):
        for name in (definition.name, *definition.aliases):
            found = {
                inspect.signature(getattr(cls, name)) for cls in (fm.Expressions, PandasRank, LazyFrameRank, ArrowRank)
            }
            assert found == {inspect.signature(definition.body)}

    @pytest.mark.parametrize("definition", fm.metrics.definitions(), ids=lambda definition: definition.name)
    def test_k_first_and_options_by_keyword(self, definition):
        kinds = {name: parameter.kind for name, parameter in definition.signature.parameters.items()}
        assert kinds.pop("k", inspect.Parameter.POSITIONAL_OR_KEYWORD) == inspect.Parameter.POSITIONAL_OR_KEYWORD
        assert set(kinds.values()) <= {inspect.Parameter.KEYWORD_ONLY}

    @pytest.mark.parametrize("definition", fm.metrics.definitions(), ids=lambda definition: definition.name)
    def test_docstrings(self, definition):
        for cls in (LazyFrameRank, PandasRank, fm.Expressions):
            text = inspect.getdoc(getattr(cls, definition.name))
            assert text.startswith(definition.says)
            assert "Examples\n--------" in text
            assert ">>> " in text

    @pytest.mark.parametrize("definition", fm.metrics.definitions(), ids=lambda definition: definition.name)
    def test_every_option_is_described(self, definition):
        described = inspect.getdoc(definition.body).partition("Parameters\n")[2].partition("Examples\n")[0]
        lines = [line for line in described.splitlines() if line and not line.startswith((" ", "-"))]
        assert ", ".join(lines).split(", ") == list(definition.signature.parameters) or not lines

    @pytest.mark.parametrize(
        "alias", [alias for definition in fm.metrics.definitions() for alias in definition.aliases]
    )
    def test_docstrings_of_aliases(self, alias):
        method = getattr(LazyFrameRank, alias)
        assert method.__name__ == alias
        assert f"`{method.definition.name}`" in inspect.getdoc(method)

    @pytest.mark.parametrize("name", sorted(OTHER_METHODS))
    def test_docstrings_of_questions(self, name):
        for cls in (LazyFrameRank, PandasRank):
            assert ">>> " in inspect.getdoc(getattr(cls, name))

    def test_completion(self, table):
        names = {*fm.metrics.names(), "mrr", "map"}
        assert names <= set(dir(fm.metrics))
        for made in (table.rank, table.lazy().rank, table.to_pandas().rank, fm.rank(table.to_arrow())):
            assert names | OTHER_METHODS <= set(dir(made))


class TestFramesAreLeftAlone:
    @every_question
    def test_polars(self, table, ask):
        before = table.clone()
        ask(table.rank)
        assert_frame_equal(table, before)
        assert "rank" not in vars(table)

    @every_question
    def test_pandas(self, table, ask):
        made = table.to_pandas()
        before = made.copy(deep=True)
        ask(made.rank)
        pd.testing.assert_frame_equal(made, before)
        assert "rank" not in vars(made)

    def test_qrels(self, run, qrels):
        made = qrels.to_pandas()
        run.rank.judged_by(made).mrr()
        pd.testing.assert_frame_equal(made, qrels.to_pandas())


class TestLaziness:
    @every_question
    @both_engines
    def test_nothing_is_read_before_collect(self, table, ask, engine):
        lazy, reads = counted(table)
        plan = ask(lazy.rank)
        plan.collect_schema()
        assert reads == []
        assert_frame_equal(plan.collect(engine=engine), ask(table.lazy().rank).collect())
        assert reads

    def test_judgments_are_not_read_before_collect(self, run, qrels):
        lazy, reads = counted(qrels)
        plan = run.lazy().rank.judged_by(lazy).recall()
        assert reads == []
        assert plan.collect().item() == run.rank.judged_by(qrels).recall()

    def test_only_columns_that_are_needed_are_read(self, table):
        lazy, reads = counted(table)
        lazy.rank.ndcg().collect()
        assert set().union(*reads) == {"query", "item", "rank", "relevance"}

    def test_columns_of_the_table_that_fail_are_not_computed(self, table):
        lazy = table.lazy().with_columns(broken=pl.col("item").cast(pl.Int64))
        assert lazy.rank.by("country").ndcg().collect().height == 3

    @pytest.mark.parametrize("suffix", ["parquet", "csv", "ndjson", "ipc"])
    @both_engines
    def test_files(self, table, tmp_path, suffix, engine):
        file = tmp_path / f"table.{suffix}"
        getattr(table, f"write_{suffix}")(file)
        plan = getattr(pl, f"scan_{suffix}")(file).rank.by("country").evaluate("ndcg", "mrr", "num_ret")
        assert_frame_equal(plan.collect(engine=engine), table.rank.by("country").evaluate("ndcg", "mrr", "num_ret"))

    def test_a_file_that_is_written_later(self, table, tmp_path):
        file = tmp_path / "later.csv"
        try:
            plan = pl.scan_csv(file, schema=table.schema).rank.by("country").ndcg()
        except FileNotFoundError:
            pytest.skip("this Polars looks for the file even where the schema is given")
        table.write_csv(file)
        assert_frame_equal(plan.collect(), table.rank.by("country").ndcg())

    @both_engines
    def test_other_partitions_are_not_opened(self, table, tmp_path, engine):
        for day in (1, 2):
            folder = tmp_path / f"day={day}"
            folder.mkdir()
            table.filter(day=day).drop("day").write_parquet(folder / "part.parquet")
        plan = pl.scan_parquet(tmp_path, hive_partitioning=True).filter(pl.col("day") == 1).rank.by("country").ndcg()
        shutil.rmtree(tmp_path / "day=2")
        assert_frame_equal(plan.collect(engine=engine), table.filter(day=1).rank.by("country").ndcg())

    def test_partitions_as_segments(self, table, tmp_path):
        table.write_parquet(tmp_path / "table", partition_by="day")
        found = pl.scan_parquet(tmp_path / "table").rank.by("day").ndcg()
        assert_frame_equal(found.collect(), table.rank.by("day").ndcg())

    @every_question
    def test_plans_hold_no_python_and_serialise(self, table, ask):
        plan = ask(table.lazy().rank)
        for text in (plan.explain(optimized=False), plan.explain()):
            assert "python" not in text.lower()
            assert "map_" not in text.lower()
        assert pl.LazyFrame.deserialize(io.BytesIO(plan.serialize())).collect_schema() == plan.collect_schema()

    def test_several_plans_at_once(self, table):
        plans = [table.lazy().rank.by(column).evaluate("ndcg", "mrr") for column in ("country", "day", "query")]
        for plan, found in zip(plans, pl.collect_all(plans), strict=True):
            assert_frame_equal(found, plan.collect())

    def test_a_plan_goes_on(self, table):
        plan = (
            table.lazy().rank.by("country").evaluate("ndcg", "num_ret").filter(pl.col("num_ret") > 1).select("country")
        )
        assert plan.collect().to_series().to_list() == ["fr", "us", None]


class TestJudgedBy:
    @pytest.mark.parametrize(
        ("queries", "expected"),
        [
            ("qrels", {"a": 0.5, "b": 0.0, "absent": 0.0}),
            ("both", {"a": 0.5, "b": 0.0}),
            ("run", {"a": 0.5, "b": 0.0, "unjudged": 0.0}),
        ],
    )
    def test_which_queries_count(self, kind, run, qrels, queries, expected):
        ranking = ranking_of(kind, run).judged_by(frame(kind, qrels), queries=queries)
        assert dict(rows_of(kind, ranking.per_query().evaluate("recall"))) == expected
        assert rows_of(kind, ranking.evaluate("recall")) == [(sum(expected.values()) / len(expected),)]

    @pytest.mark.parametrize("queries", ["unjudged", "absent"])
    def test_refuse_if_they_differ(self, kind, run, qrels, queries):
        table = run if queries == "unjudged" else run.filter(pl.col("query") != "unjudged")
        judged = qrels if queries == "absent" else qrels.filter(pl.col("query") != "absent")
        with pytest.raises((fm.TableError, pl.exceptions.PolarsError), match=f"{queries} is in one of them only.*Hint"):
            rows_of(kind, ranking_of(kind, table).judged_by(frame(kind, judged), queries="error").evaluate("mrr"))

    def test_accept_if_they_are_the_same(self, kind, run, qrels):
        same = pl.col("query").is_in(["a", "b"])
        ranking = ranking_of(kind, run.filter(same)).judged_by(frame(kind, qrels.filter(same)), queries="error")
        assert rows_of(kind, ranking.evaluate("recall")) == [(0.25,)]

    def test_missed_and_unjudged_items(self, kind, run, qrels):
        ranking = ranking_of(kind, run).judged_by(frame(kind, qrels)).per_query()
        found = rows_of(kind, ranking.evaluate("num_ret", "num_rel", "num_rel_ret", "judged", "mrr"))
        assert found == [("a", 3, 2, 1, 1 / 3, 0.5), ("absent", 0, 1, 0, 0.0, 0.0), ("b", 1, 1, 0, 0.0, 0.0)]

    def test_unjudged_items_taken_out(self, kind, run, qrels):
        ranking = ranking_of(kind, run).judged_by(frame(kind, qrels), unjudged="drop").per_query()
        found = rows_of(kind, ranking.evaluate("mrr", "judged", "num_ret"))
        assert found == [("a", 1.0, 1.0, 1), ("absent", 0.0, 0.0, 0), ("b", 0.0, 0.0, 0)]

    @pytest.mark.parametrize("queries", ["run", "both"])
    def test_unjudged_items_taken_out_of_a_query_without_judgments(self, kind, run, qrels, queries):
        ranking = ranking_of(kind, run).judged_by(frame(kind, qrels), unjudged="drop", queries=queries).per_query()
        expected = {"run": ["a", "b", "unjudged"], "both": ["a", "b"]}
        assert [row[0] for row in rows_of(kind, ranking.evaluate("mrr"))] == expected[queries]

    def test_null_judgments_are_none(self, kind, run, qrels):
        judged = qrels.with_columns(pl.when(pl.col("item") != "y").then("relevance").alias("relevance"))
        ranking = ranking_of(kind, run).judged_by(frame(kind, judged), unjudged="drop", queries="both").per_query()
        assert all(row[1] == 0 for row in rows_of(kind, ranking.evaluate("num_ret")) if row[0] == "b")

    def test_other_names_in_the_judgments(self, kind, run, qrels):
        names = {"query": "topic", "item": "doc", "relevance": "grade"}
        ranking = ranking_of(kind, run).judged_by(frame(kind, qrels.rename(names)), **names)
        assert rows_of(kind, ranking.evaluate("recall")) == [(0.5 / 3,)]

    def test_other_names_in_the_run(self, kind, run, qrels):
        names = {"query": "user", "item": "sku", "rank": "place"}
        made = ranking_of(kind, run.rename(names)).using(**names, relevance="clicked")
        judged = frame(kind, qrels.rename({"relevance": "clicked"}))
        ranking = made.judged_by(judged, query="query", item="item")
        assert rows_of(kind, ranking.evaluate("recall")) == [(0.5 / 3,)]

    def test_names_that_change_places(self, run, qrels):
        swapped = qrels.rename({"query": "item", "item": "query"})
        found = run.rank.judged_by(swapped, query="item", item="query").recall()
        assert found == run.rank.judged_by(qrels).recall()

    def test_judgments_replace_a_column_of_the_run(self, kind, run, qrels):
        made = run.with_columns(relevance=pl.lit(1))
        ranking = ranking_of(kind, made).judged_by(frame(kind, qrels))
        assert rows_of(kind, ranking.evaluate("num_rel")) == [(4,)]

    def test_columns_of_the_judgments_do_not_come_in(self, run, qrels):
        wide = qrels.with_columns(rank=pl.lit(1), country=pl.lit("fr"), note=pl.lit("x"))
        assert run.rank.judged_by(wide).recall() == run.rank.judged_by(qrels).recall()

    @pytest.mark.parametrize("other", KINDS)
    def test_judgments_of_any_kind(self, kind, run, qrels, other):
        ranking = ranking_of(kind, run).judged_by(frame(other, qrels))
        assert isinstance(ranking.evaluate("recall"), pl.LazyFrame) == (kind in ("lazy", "streaming"))
        assert rows_of(kind, ranking.evaluate("recall", "num_rel")) == [(0.5 / 3, 4)]

    def test_judgments_as_a_stream_serve_many_questions(self, run, qrels):
        ranking = run.rank.judged_by(qrels.to_arrow().to_reader())
        assert ranking.recall() == ranking.recall() == run.rank.judged_by(qrels).recall()

    @pytest.mark.parametrize("column", ["query", "item"])
    def test_types_that_differ(self, kind, run, qrels, column):
        judged = qrels.with_columns(pl.col(column).str.len_chars().cast(pl.Int64))
        with pytest.raises(fm.TableError, match=f"the {column} must be of one type in both tables.*Hint: cast"):
            ranking_of(kind, run).judged_by(frame(kind, judged)).recall()

    @pytest.mark.parametrize("dtype", [pl.Int8, pl.Int32, pl.UInt32, pl.UInt64], ids=str)
    def test_integers_of_other_sizes(self, kind, run, qrels, dtype):
        number = pl.col("query").replace_strict({"a": 1, "b": 2, "unjudged": 3, "absent": 4}, return_dtype=pl.Int64)
        made, judged = run.with_columns(number), qrels.with_columns(number.cast(dtype))
        ranking = ranking_of(kind, made).judged_by(frame(kind, judged)).per_query()
        assert rows_of(kind, ranking.evaluate("recall")) == [(1, 0.5), (2, 0.0), (4, 0.0)]

    @pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["a", "b", "unjudged", "absent"])], ids=["cat", "enum"])
    @pytest.mark.parametrize("which", ["run", "qrels", "both"])
    def test_texts_of_other_types(self, run, qrels, dtype, which):
        made = run.with_columns(pl.col("query").cast(dtype)) if which != "qrels" else run
        judged = qrels.with_columns(pl.col("query").cast(dtype)) if which != "run" else qrels
        assert made.rank.judged_by(judged).recall() == run.rank.judged_by(qrels).recall()

    def test_segments_of_the_run(self, kind, run, qrels):
        other = run.filter(pl.col("item") != "y").with_columns(pl.lit("new").alias("system"))
        made = pl.concat([run.with_columns(pl.lit("old").alias("system")), other])
        ranking = ranking_of(kind, made).judged_by(frame(kind, qrels), queries="both").by("system")
        assert rows_of(kind, ranking.evaluate("recall", "num_rel")) == [("new", 0.0, 3), ("old", 0.25, 3)]

    def test_segments_of_the_judgments(self, kind, run, qrels):
        judged = qrels.with_columns(country=pl.when(pl.col("query") == "a").then(pl.lit("fr")).otherwise(pl.lit("us")))
        made = run.with_columns(country=pl.when(pl.col("query") == "a").then(pl.lit("fr")).otherwise(pl.lit("us")))
        ranking = ranking_of(kind, made).judged_by(frame(kind, judged)).by("country")
        assert rows_of(kind, ranking.evaluate("recall", "num_rel")) == [("fr", 0.5, 2), ("us", 0.0, 2)]

    def test_each_system_answers_every_judged_query(self, kind, run, qrels):
        made = pl.concat([run.with_columns(system=pl.lit("old")), run.head(3).with_columns(system=pl.lit("new"))])
        ranking = ranking_of(kind, made).judged_by(frame(kind, qrels), each="system").by("system")
        single = {
            name: run.head(n).rank.judged_by(qrels).evaluate("recall", "ndcg").row(0)
            for name, n in (("new", 3), ("old", 5))
        }
        found = {system: values for system, *values in rows_of(kind, ranking.evaluate("recall", "ndcg"))}
        assert found == {name: pytest.approx(values) for name, values in single.items()}

    def test_each_system_in_each_country(self, kind, run, qrels):
        country = pl.when(pl.col("query") == "a").then(pl.lit("fr")).otherwise(pl.lit("us"))
        old = run.with_columns(country.alias("country"), system=pl.lit("old"))
        made = pl.concat([old, old.head(3).with_columns(system=pl.lit("new"))])
        ranking = ranking_of(kind, made).judged_by(frame(kind, qrels), each=("system",), queries="both")
        found = {tuple(keys): value for *keys, value in rows_of(kind, ranking.by("system", "country").num_rel())}
        assert found == {("new", "fr"): 2, ("new", "us"): 1, ("old", "fr"): 2, ("old", "us"): 1}

    def test_each_must_be_a_segment_of_the_run(self, kind, run, qrels):
        with pytest.raises(fm.MissingColumnError, match="each"):
            rows_of(kind, ranking_of(kind, run).judged_by(frame(kind, qrels), each="system").evaluate("recall"))
        with pytest.raises(fm.OptionError, match="by"):
            rows_of(kind, ranking_of(kind, run).judged_by(frame(kind, qrels), each="item").evaluate("recall"))

    def test_a_judged_item_twice(self, kind, run, qrels):
        twice = pl.concat([qrels, qrels.head(1)])
        with pytest.raises(
            (fm.TableError, pl.exceptions.PolarsError), match=r"each item may stand once.*query a, item y"
        ):
            rows_of(kind, ranking_of(kind, run).judged_by(frame(kind, twice)).evaluate("recall"))

    @pytest.mark.parametrize("which", ["run", "qrels"])
    @pytest.mark.parametrize("queries", ["qrels", "run", "both"])
    def test_null_queries_are_refused(self, kind, run, qrels, which, queries):
        null = pl.when(pl.int_range(pl.len()) > 0).then("query").alias("query")
        made, judged = (run.with_columns(null), qrels) if which == "run" else (run, qrels.with_columns(null))
        with pytest.raises((fm.TableError, pl.exceptions.PolarsError), match="one has a null query"):
            rows_of(kind, ranking_of(kind, made).judged_by(judged, queries=queries).evaluate("recall"))

    @pytest.mark.parametrize(
        ("ranks", "says"),
        [((0, 1, 2), "ranks start at 1"), ((-5, 1, 2), "ranks start at 1"), ((1, 1, 2), "each rank may stand once")],
        ids=["zero", "negative", "shared"],
    )
    @pytest.mark.parametrize("unjudged", ["nonrelevant", "drop"])
    def test_bad_ranks_are_refused(self, kind, ranks, says, unjudged):
        made = pl.DataFrame({"query": ["q"] * 3, "item": ["x", "y", "z"], "rank": ranks})
        judged = pl.DataFrame({"query": ["q"] * 3, "item": ["x", "y", "z"], "relevance": [1, 0, 1]})
        with pytest.raises((fm.TableError, pl.exceptions.PolarsError), match=says):
            rows_of(kind, ranking_of(kind, made).judged_by(judged, unjudged=unjudged).evaluate("mrr"))

    def test_with_scores(self, kind, table, qrels):
        ranking = ranking_of(kind, table.drop("rank", "relevance")).from_scores("score").judged_by(frame(kind, qrels))
        assert rows_of(kind, ranking.per_query().evaluate("mrr")) == [("a", 0.5), ("absent", 0.0), ("b", 0.0)]

    def test_no_judgments_at_all(self, kind, run, qrels):
        empty = frame(kind, qrels.clear())
        assert rows_of(kind, ranking_of(kind, run).judged_by(empty).evaluate("recall", "num_ret")) == [(None, 0)]
        ranking = ranking_of(kind, run).judged_by(empty, queries="run")
        assert rows_of(kind, ranking.evaluate("recall", "num_ret")) == [(0.0, 5)]

    def test_no_run_at_all(self, kind, run, qrels):
        ranking = ranking_of(kind, run.clear()).judged_by(frame(kind, qrels))
        assert rows_of(kind, ranking.evaluate("recall", "num_rel", "num_ret")) == [(0.0, 4, 0)]


class TestFromScores:
    def test_the_highest_score_comes_first(self, kind, table):
        ranking = ranking_of(kind, table.drop("rank")).from_scores("score").per_query()
        assert rows_of(kind, ranking.evaluate("mrr")) == [("a", 0.5), ("b", 1.0), ("c", 0.0), ("d", 0.5)]

    def test_a_null_score_is_a_miss(self, kind, table):
        ranking = ranking_of(kind, table.drop("rank")).from_scores("score")
        assert rows_of(kind, ranking.evaluate("num_ret", "num_rel_ret", "num_rel")) == [(7, 3, 4)]

    def test_ranks_are_replaced(self, kind, table):
        rows = table.with_columns(rank=pl.lit(0))
        assert rows_of(kind, ranking_of(kind, rows).from_scores("score").evaluate("num_ret")) == [(7,)]

    @pytest.mark.parametrize(("ties", "expected"), [("item_desc", 0.5), ("item_asc", 1.0), ("first", 1 / 3)])
    def test_ties(self, kind, ties, expected):
        rows = pl.DataFrame({"query": ["q"] * 3, "item": ["c", "b", "a"], "score": [1.0] * 3, "relevance": [0, 0, 1]})
        rows = rows.with_columns(relevance=pl.Series([0, 1, 0] if ties == "item_desc" else [0, 0, 1]))
        assert rows_of(kind, ranking_of(kind, rows).from_scores("score", ties=ties).evaluate("mrr")) == [(expected,)]

    def test_in_each_segment(self, kind, table):
        rows = table.with_columns(query=pl.lit("q"), item=pl.int_range(pl.len())).drop("rank")
        ranking = ranking_of(kind, rows).from_scores("score").by("day")
        assert rows_of(kind, ranking.evaluate("mrr")) == [(1, 0.5), (2, 1.0)]


class TestExpressions:
    def test_in_a_selection(self, table):
        one = table.filter(query="a")
        assert one.select(fm.metrics.ndcg()).item() == one.rank.ndcg()

    def test_over(self, table):
        found = table.with_columns(fm.metrics.mrr().over("query").alias("mrr"))
        assert found["mrr"].to_list() == [0.5, 0.5, 0.5, 1.0, 0.0, 0.0, 0.5, 0.5]

    def test_named_by_the_text(self, table):
        found = table.group_by("query").agg(fm.metrics.p(5), fm.metrics.expression("ndcg(gain=exponential)@10"))
        assert found.columns == ["query", "p@5", "ndcg(gain=exponential)@10"]

    @both_engines
    def test_lazy(self, table, engine):
        found = table.lazy().group_by("query").agg(fm.metrics.ndcg(), fm.metrics.bpref()).collect(engine=engine)
        assert_frame_equal(found.sort("query"), table.rank.per_query().evaluate("ndcg", "bpref"))

    def test_other_columns(self, table):
        metrics = fm.metrics.using(rank="place", relevance="clicked", min_relevance=2, no_relevant="one")
        rows = table.rename({"rank": "place", "relevance": "clicked"})
        found = rows.group_by("query", maintain_order=True).agg(metrics.recall())
        assert found["recall"].to_list() == [0.0, 1.0, 1.0, 1.0]
        assert fm.metrics._asked.rank == "rank"
