"""The same numbers on Spark: a cluster of several processes, started once."""

import math
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import suppress
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pandas as pd
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import frame_metrics as fm
from tests import spark
from tests.names import PLAIN
from tests.test_invariants import TEXTS, make_table

pytestmark = [
    pytest.mark.skipif(spark.lacking() is not None, reason=str(spark.lacking())),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

SUBTOPIC_TEXTS = [f"{name}@3" for name in fm.metrics.names() if name not in PLAIN]
ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def session():
    with spark.cluster() as found:
        yield found


@pytest.fixture(scope="module")
def table():
    """Return lists in two countries on two days, a query of which may be in several of them."""
    tables = [
        make_table(seed=seed, queries=25).with_columns(country=pl.lit(country), day=pl.lit(day))
        for seed, (country, day) in enumerate([("fr", date(2026, 11, 1)), ("us", date(2026, 11, 1)), (None, None)])
    ]
    return pl.concat(tables)


@pytest.fixture(scope="module")
def frame(session, table):
    return sent(session, table).repartition(3).cache()


def sent(session, table):
    return session.createDataFrame(table.to_arrow(compat_level=pl.CompatLevel.oldest()))


def home(frame):
    return pl.DataFrame(frame.toArrow())


def same(found, expected, keys=()):
    """Compare a Spark frame with a Polars one; Spark has no unsigned numbers, and no order of queries."""
    found = home(found) if not isinstance(found, pl.DataFrame) else found
    expected = pl.DataFrame(expected)
    if keys:
        found, expected = found.sort(keys, nulls_last=True), expected.sort(keys, nulls_last=True)
    assert expected.height > 0
    assert_frame_equal(found, expected, check_dtypes=False, rel_tol=1e-10, abs_tol=1e-12)


def ask(ranking, how):
    return {
        "by": lambda: ranking.by("country"),
        "by two": lambda: ranking.by("day", "country"),
        "per_query": lambda: ranking.by("country").per_query(),
    }[how]()


class TestEveryMetric:
    """Every metric on Polars, pandas and Spark."""

    @pytest.mark.parametrize("how", ["by", "by two", "per_query"])
    def test_in_one_call(self, frame, table, how):
        expected = ask(table.rank, how).evaluate(*TEXTS)
        found = ask(fm.rank(frame), how).evaluate(*TEXTS)
        assert found.columns == expected.columns
        keys = [name for name in ("day", "country", "query") if name in expected.columns]
        same(found, expected, keys)
        frames = ask(table.to_pandas().rank, how).evaluate(*TEXTS)
        numbers = expected.sort(keys, nulls_last=True).select(TEXTS)
        of_pandas = pl.DataFrame(frames.reset_index().sort_values(keys, na_position="last")[TEXTS])
        assert_frame_equal(of_pandas, numbers, check_dtypes=False, rel_tol=1e-10, abs_tol=1e-12)

    def test_as_one_row(self, frame, table):
        whole = table.filter(country="fr")
        expected = whole.rank.evaluate(*TEXTS)
        same(fm.rank(frame.filter("country = 'fr'")).evaluate(*TEXTS), expected)
        of_pandas = whole.to_pandas().rank.evaluate(*TEXTS)
        same(pl.DataFrame(of_pandas), expected)

    def test_as_numbers(self, frame, table):
        # Relevant rows, judged rows, all rows; means, sums, geometric and weighted means, the highest grade of all.
        whole, there = table.filter(country="us"), fm.rank(frame.filter("country = 'us'"))
        for name in ("ndcg", "bpref", "num_ret", "geometric_map", "gauc", "err"):
            assert getattr(there, name)() == pytest.approx(getattr(whole.rank, name)(), rel=1e-12)

    def test_of_subtopics(self, session):
        rows = [
            (query, f"{query}-{item}", rank, subtopic, (item * 7 + subtopic) % 3)
            for query in ("a", "b", "c")
            for rank, item in enumerate(range(6), 1)
            for subtopic in range(1, 4)
        ]
        table = pl.DataFrame(rows, schema=["query", "item", "rank", "subtopic", "relevance"], orient="row")
        expected = table.rank.evaluate(*SUBTOPIC_TEXTS)
        same(fm.rank(sent(session, table)).evaluate(*SUBTOPIC_TEXTS), expected)


class TestHowItIsAsked:
    @pytest.mark.parametrize(
        "options",
        [{"no_relevant": "skip"}, {"no_relevant": "one"}, {"average": "micro"}, {"min_relevance": 2}, {"depth": 4}],
        ids=str,
    )
    def test_settings(self, frame, table, options):
        texts = [t for t in TEXTS if not (options.get("average") == "micro" and t.startswith("geometric"))]
        expected = table.rank.using(**options).by("country").evaluate(*texts)
        same(fm.rank(frame).by("country").using(**options).evaluate(*texts), expected)

    def test_columns_with_other_names(self, session, table):
        names = {"query": "user.id", "item": "a `b`", "rank": "the place", "relevance": "clicked?", "country": "c:d"}
        other = table.rename(names)
        roles = {role: names[role] for role in ("query", "item", "rank", "relevance")}
        there = fm.rank(sent(session, other)).using(**roles)
        same(
            there.by("c:d").evaluate("ndcg@3", "rbp.p=0.9"),
            other.rank.using(**roles).by("c:d").evaluate("ndcg@3", "rbp.p=0.9"),
        )
        per_query = there.by("c:d").per_query().evaluate("ndcg@3")
        same(per_query, other.rank.using(**roles).by("c:d").per_query().evaluate("ndcg@3"), ["c:d", "user.id"])

    def test_options_of_metrics(self, frame, table):
        texts = [
            "ndcg(gain={1: 1, 2: 5, 4: 9})@5",
            "ndcg_cut_10",
            "precision(denominator=retrieved)@5",
            "f_score(beta=2)",
        ]
        same(fm.rank(frame).by("country").evaluate(*texts), table.rank.by("country").evaluate(*texts))

    def test_like_a_library(self, frame, table):
        for library in ("ranx", "recommenders", "sklearn"):
            expected = table.rank.by("country").like(library).evaluate("ndcg@5")
            same(fm.rank(frame).by("country").like(library).evaluate("ndcg@5"), expected)

    def test_at_k(self, frame, table):
        same(
            fm.rank(frame).by("country").at_k("recall", [1, 3, 10]), table.rank.by("country").at_k("recall", [1, 3, 10])
        )

    def test_check(self, session, frame, table):
        assert fm.rank(frame).by("country").check().count() == 0
        bad = table.with_columns(rank=pl.when(pl.col("rank") == 4).then(0).otherwise("rank"))
        expected = bad.rank.check()
        found = home(fm.rank(sent(session, bad)).check())
        assert found["kind"].to_list() == expected["kind"].to_list()
        same(found.drop("example"), expected.drop("example"))

    @pytest.mark.parametrize("ties", ["item_desc", "item_asc", "expected", "best", "worst"])
    def test_from_scores(self, session, table, ties):
        scored = table.with_columns(score=(pl.col("rank") // 2).cast(pl.Float64)).drop("rank")
        texts = ["ndcg@5", "map", "precision@3", "num_ret"]
        expected = scored.rank.by("country").from_scores(ties=ties).evaluate(*texts)
        same(fm.rank(sent(session, scored)).by("country").from_scores(ties=ties).evaluate(*texts), expected)

    def test_the_frame_and_its_column(self):
        script = """
            import polars as pl, frame_metrics as fm
            from pyspark.sql import Column
            from tests import spark
            with spark.cluster("local[1]") as session:
                frame = session.createDataFrame([("a", 1, 1), ("a", 2, 0)], ["query", "rank", "relevance"])
                assert fm.rank(frame).mrr() == 1.0
                assert isinstance(frame.rank, Column)
                import frame_metrics.spark
                assert frame.rank.mrr() == 1.0
                assert isinstance(frame["rank"], Column)
                print("done")
        """
        assert "done" in run(script)


def run(script, **environment):
    """Return what a script prints that runs in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONWARNINGS": "ignore", **environment},
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def run_and_qrels(table):
    """Return two systems' runs, and judgments: some queries are in one of them only."""
    runs = table.filter(pl.col("rank").is_not_null(), pl.col("country").is_not_null())
    runs = runs.select("query", "item", "rank", system="country")
    judged = table.filter(country="fr").select("query", "item", pl.col("relevance").fill_null(1))
    more = pl.DataFrame({"query": ["none", "q1"], "item": ["x", "y"], "relevance": [1, 3]})
    return runs.filter(~pl.col("query").is_in(["q3", "q4"])), pl.concat([judged, more]).unique(["query", "item"])


class TestJudgments:
    TEXTS = ("ndcg@5", "recall@10", "judged@5", "bpref", "num_rel", "err", "num_q")

    @pytest.mark.parametrize("queries", ["qrels", "both", "run"])
    @pytest.mark.parametrize("unjudged", ["nonrelevant", "drop"])
    def test_choices(self, session, run_and_qrels, queries, unjudged):
        runs, qrels = run_and_qrels
        runs = runs.filter(system="fr").drop("system")
        expected = runs.rank.judged_by(qrels, queries=queries, unjudged=unjudged).evaluate(*self.TEXTS)
        found = fm.rank(sent(session, runs)).judged_by(sent(session, qrels), queries=queries, unjudged=unjudged)
        same(found.evaluate(*self.TEXTS), expected)

    @pytest.mark.parametrize("queries", ["qrels", "both"])
    def test_of_every_system(self, session, run_and_qrels, queries):
        runs, qrels = run_and_qrels
        how = {"queries": queries, "each": "system"}
        expected = runs.rank.by("system").judged_by(qrels, **how).evaluate(*self.TEXTS)
        same(fm.rank(sent(session, runs)).judged_by(qrels, **how).by("system").evaluate(*self.TEXTS), expected)

    @pytest.mark.parametrize("kind", ["polars", "lazy", "pandas"])
    def test_in_another_kind_of_frame(self, session, run_and_qrels, kind):
        runs, qrels = run_and_qrels
        expected = runs.rank.by("system").judged_by(qrels).evaluate(*self.TEXTS)
        given = {"polars": qrels, "lazy": qrels.lazy(), "pandas": qrels.to_pandas()}[kind]
        same(fm.rank(sent(session, runs)).by("system").judged_by(given).evaluate(*self.TEXTS), expected)

    def test_per_query_and_other_names(self, session, run_and_qrels):
        runs, qrels = run_and_qrels
        other = qrels.rename({"query": "topic", "item": "doc", "relevance": "grade"})
        names = {"query": "topic", "item": "doc", "relevance": "grade"}
        expected = runs.rank.by("system").judged_by(qrels).per_query().evaluate("ndcg@5")
        found = fm.rank(sent(session, runs)).by("system").judged_by(sent(session, other), **names).per_query()
        same(found.evaluate("ndcg@5"), expected, ["system", "query"])

    def test_of_another_type(self, session, run_and_qrels):
        runs, qrels = run_and_qrels
        numbers = qrels.with_columns(query=pl.col("query").str.len_chars().cast(pl.Int64))
        with pytest.raises(fm.TableError, match="the query must be of one type in both tables"):
            fm.rank(sent(session, runs)).judged_by(sent(session, numbers)).evaluate("ndcg")

    def test_that_must_have_the_same_queries(self, session, run_and_qrels):
        runs, qrels = run_and_qrels
        with pytest.raises(fm.TableError, match="must have the same queries"):
            fm.rank(sent(session, runs)).judged_by(qrels, queries="error").ndcg()


class TestTypes:
    @pytest.mark.parametrize(
        "keys",
        [
            [1, 2, 3],
            [Decimal("1.50"), Decimal("2.25"), Decimal("3.00")],
            [date(2026, 1, day) for day in (1, 2, 3)],
            [datetime(2026, 1, day, 12, 30, 0, 250_000, tzinfo=UTC) for day in (1, 2, 3)],
            [datetime(2026, 1, day, 12) for day in (1, 2, 3)],  # noqa: DTZ001
            [True, False, True],
            ["ä", "日本", ""],
            [1.5, -0.5, 3.0],
        ],
        ids=["long", "decimal", "date", "timestamp", "without a zone", "boolean", "text", "double"],
    )
    def test_of_segments(self, session, keys):
        rows = [(key, f"q{number}", 1 + number, 1) for number, key in enumerate(keys)]
        table = pl.DataFrame(rows, schema=["key", "query", "rank", "relevance"], orient="row")
        expected = table.rank.by("key").mrr()
        found = fm.rank(sent(session, table)).by("key").mrr()
        assert [tuple(row) for row in found.collect()] == [tuple(row) for row in sent(session, expected).collect()]

    @pytest.mark.parametrize("kind", ["boolean", "tinyint", "smallint", "int", "float", "double", "decimal(10,2)"])
    def test_of_relevance(self, session, kind):
        rows = [("a", 1, 0), ("a", 2, 1), ("b", 1, 1), ("b", None, 1)]
        frame = session.createDataFrame(rows, "query string, rank int, relevance int")
        frame = frame.withColumn("relevance", frame["relevance"].cast(kind))
        assert fm.rank(frame).ndcg() == pytest.approx(0.6221, abs=1e-4)

    def test_columns_of_other_types_are_left_alone(self, session):
        rows = [("a", 1, 1, {"x": 1}, ["y"]), ("a", 2, 0, {}, [])]
        frame = session.createDataFrame(
            rows, "query string, rank int, relevance int, m map<string,int>, l array<string>"
        )
        assert fm.rank(frame).mrr() == 1.0
        with pytest.raises(fm.TableError, match="the column 'm' must be a number, a text or a time"):
            fm.rank(frame).by("m").mrr()


class TestLargeAndOdd:
    def test_one_query_with_many_rows_and_many_with_one(self, session):
        from pyspark.sql import functions as f

        rows = 3_000_000
        skewed = session.range(rows).select(
            f.when(f.col("id") < rows // 2, f.lit(-1)).otherwise(f.col("id")).alias("query"),
            f.when(f.col("id") < rows // 2, f.col("id") + 1).otherwise(f.lit(2)).cast("long").alias("rank"),
            (f.col("id") % 100 == 0).cast("int").alias("relevance"),
        )
        found = fm.rank(skewed).evaluate("mrr", "precision@10", "num_rel", "num_q", "num_ret").collect()[0]
        queries = 1 + rows // 2
        assert found["num_rel"] == rows // 100
        assert found["num_q"] == queries
        assert found["num_ret"] == rows
        assert found["mrr"] == pytest.approx((1 + 0.5 * rows / 200) / queries, rel=1e-9)

    def test_nothing(self, session, table):
        empty = fm.rank(sent(session, table).filter("country = 'nowhere'"))
        assert math.isnan(empty.ndcg())
        assert empty.evaluate("num_q", "map").collect()[0].asDict() == {"num_q": 0, "map": None}
        assert empty.by("country").ndcg().count() == 0
        assert empty.per_query().ndcg().count() == 0
        assert empty.check().count() == 0

    def test_partitions_without_rows(self, session, table):
        whole = table.filter(country="fr").head(3)
        spread = sent(session, whole).repartition(16, "query")
        assert fm.rank(spread).ndcg() == pytest.approx(whole.rank.ndcg(), rel=1e-12)

    def test_folders_are_pruned_and_columns_chosen(self, session, table, tmp_path):
        there = sent(session, table.filter(pl.col("day").is_not_null()))
        there.write.partitionBy("country").parquet(str(tmp_path / "log"))
        log = session.read.parquet(str(tmp_path / "log")).filter("country = 'us'")
        plan = fm.rank(log).evaluate("ndcg@5")
        text = plan._jdf.queryExecution().toString()
        physical = text[text.index("== Physical Plan ==") :]
        assert "PartitionFilters: [isnotnull(country" in physical
        scan = next(line for line in physical.splitlines() if "ReadSchema" in line)
        assert "ReadSchema: struct<query:string,item:string,rank:bigint,relevance:bigint>" in scan
        assert physical.count("FileScan") == 1
        assert plan.collect()[0][0] == pytest.approx(table.filter(country="us").rank.ndcg(5), rel=1e-12)

    def test_few_rows_are_shuffled(self, session):
        from pyspark.sql import functions as f

        rows = 200_000
        log = session.range(rows).select(
            (f.col("id") / 100).cast("long").alias("query"),
            (f.col("id") % 100 + 1).alias("rank"),
            (f.col("id") % 50 == 0).cast("int").alias("relevance"),
        )

        def shuffled(ask):
            before = spark.shuffled(session)[0]
            ask()
            return spark.shuffled(session)[0] - before

        assert shuffled(lambda: fm.rank(log).ndcg(10)) < rows / 20
        assert shuffled(lambda: fm.rank(log).auc()) > rows / 2

    def test_nothing_runs_before_it_is_asked_for(self, session, frame):
        before = session.sparkContext._jsc.sc().statusStore().jobsList(None).size()
        fm.rank(frame).by("country").evaluate("ndcg@5", "err", "num_ret")
        fm.rank(frame).per_query().ndcg()
        fm.rank(frame).check()
        assert session.sparkContext._jsc.sc().statusStore().jobsList(None).size() == before


class TestMistakes:
    def test_a_column_that_is_not_there(self, frame):
        with pytest.raises(fm.MissingColumnError, match="there is no column 'qery', did you mean 'query'"):
            fm.rank(frame).using(query="qery").ndcg()
        with pytest.raises(fm.MissingColumnError, match=r"Hint: .rank.by\(...\) takes columns"):
            fm.rank(frame).by("land").ndcg()
        with pytest.raises(fm.MissingColumnError, match="judged_by"):
            fm.rank(frame.drop("relevance")).ndcg()

    def test_lists_that_nothing_tells_apart(self, frame):
        with pytest.raises(fm.TableError, match="each rank may stand once in a query"):
            fm.rank(frame).ndcg()

    def test_a_wrong_row_that_no_number_needs(self, session, table):
        bad = table.filter(country="fr").with_columns(rank=pl.when(pl.col("relevance") == 0).then(0).otherwise("rank"))
        with pytest.raises(fm.TableError, match="ranks start at 1"):
            fm.rank(sent(session, bad)).ndcg()

    def test_a_frame_that_fails_later_says_why(self, session):
        frame = session.createDataFrame([("a", 0, 1)], ["query", "rank", "relevance"])
        lazy = fm.rank(frame).evaluate("ndcg")
        import frame_metrics.spark

        with pytest.raises(fm.TableError, match="ranks start at 1"), frame_metrics.spark.raising():
            lazy.collect()

    def test_ties_by_an_order_that_is_not_there(self, frame):
        scored = fm.rank(frame.withColumnRenamed("rank", "score")).by("country")
        with pytest.raises(fm.OptionError, match="rows of a Spark frame have no order"):
            scored.from_scores(ties="first").ndcg()
        with pytest.raises(fm.OptionError, match="rows of a Spark frame have no order"):
            scored.like("rectools").from_scores().check()

    def test_unknown_names_and_what_is_not_there(self, frame):
        with pytest.raises(fm.UnknownMetricError, match="did you mean 'ndcg'"):
            fm.rank(frame).evaluate("ndgc@5")
        with pytest.raises(AttributeError, match="did you mean 'ndcg'"):
            _ = fm.rank(frame).ndgc
        with pytest.raises(fm.OptionError, match=r"not made on Spark frames\. Hint: .*toArrow"):
            fm.rank(frame).roc_curve()
        with pytest.raises(fm.OptionError, match="not made on Spark frames"):
            fm.rank(frame).by("country").evaluate("ndcg", ci=0.95)
        with pytest.raises(fm.OptionError, match="not made on Spark frames"):
            fm.rank(frame).compare("ndcg", system="country")


def children(pid):
    """Return the processes below one, by id, with their command lines."""
    parents = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parents[int(status.parent.name)] = int(status.read_text().rpartition(")")[2].split()[1])
    found, below = {}, {pid}
    while below:
        below = {child for child, parent in parents.items() if parent in below}
        for child in below:
            with suppress(OSError):
                found[child] = Path(f"/proc/{child}/cmdline").read_text().replace("\0", " ")
    return found


class TestExecutors:
    def test_one_that_is_killed_changes_nothing(self, session, table, tmp_path):
        """An executor dies while it computes; what it had is computed again."""
        begun = tmp_path / "begun"
        frame = sent(session, table.filter(country="fr")).repartition(4)

        def slowly(batches):
            for batch in batches:
                if not begun.exists():
                    begun.touch()
                    time.sleep(20)
                yield batch

        expected = table.filter(country="fr").rank.ndcg()
        found = []
        slow = frame.mapInArrow(slowly, frame.schema)
        thread = threading.Thread(target=lambda: found.append(fm.rank(slow).ndcg()))
        thread.start()
        deadline = time.monotonic() + 60
        while not begun.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert begun.exists()
        executors = [pid for pid, command in children(os.getpid()).items() if "CoarseGrainedExecutorBackend" in command]
        assert len(executors) >= 2
        for pid in executors[:1]:
            os.kill(pid, signal.SIGKILL)
        thread.join(timeout=180)
        assert found == [pytest.approx(expected, rel=1e-12)]

    def test_the_package_can_be_sent_to_them(self):
        script = """
            import frame_metrics.spark, pyarrow as pa
            from tests import spark
            with spark.cluster() as session:
                frame_metrics.spark.ship(session)
                def where(batches):
                    import frame_metrics
                    for batch in batches:
                        yield pa.RecordBatch.from_pydict({"path": [frame_metrics.__file__]})
                print(session.range(1).mapInArrow(where, "path string").collect()[0][0])
                frame = session.createDataFrame([("a", 1, 1), ("a", 2, 0)], ["query", "rank", "relevance"])
                print(frame.rank.mrr())
        """
        path, value = run(script).split()
        assert ".zip/" in path
        assert value == "1.0"

    def test_what_they_lack_is_named(self, tmp_path):
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
        script = """
            import os, frame_metrics.spark
            from tests import spark
            with spark.cluster("local[1]", python=os.environ["BARE"]) as session:
                frame = session.createDataFrame([("a", 1, 1)], ["query", "rank", "relevance"])
                try:
                    frame.rank.mrr()
                except frame_metrics.spark.ExecutorError as error:
                    print(error)
        """
        said = run(script, BARE=str(tmp_path / "bare" / "bin" / "python"))
        assert "executors need the package 'pyarrow', and do not have it. Hint: install it there" in said

    @pytest.mark.parametrize(
        ("name", "version", "text"),
        [
            ("polars", None, "there is no package 'polars'"),
            ("polars", "0.20.31", r"polars must be \d+\.\d+ or newer, got 0.20.31"),
            ("frame_metrics", None, "there is no package 'frame_metrics'"),
            ("frame_metrics", "0.0.1", "frame_metrics must be .* as on the driver, got 0.0.1"),
        ],
    )
    def test_versions_are_compared(self, monkeypatch, name, version, text):
        from pyspark import cloudpickle

        from frame_metrics.on_spark.shipping import on_executors
        from frame_metrics.on_spark.worker import Task

        function = pickle.loads(cloudpickle.dumps(on_executors("summed", Task((), (), (), None, "all", (), None))))  # noqa: S301
        if version is None:
            monkeypatch.setitem(sys.modules, name, None)
        else:
            monkeypatch.setattr(sys.modules[name], "__version__", version)
        with pytest.raises(ImportError, match=f"frame_metrics_spark: on the executor at .*{text}.* Hint: install"):
            list(function(iter([])))

    def test_the_function_that_is_sent_needs_no_package(self):
        """It must be able to say that this package is missing: nothing of it may be in there by name."""
        from pyspark import cloudpickle

        from frame_metrics.on_spark.shipping import on_executors
        from frame_metrics.on_spark.worker import Task

        sent = cloudpickle.dumps(on_executors("summed", Task((), (), (), None, "all", (), None)))
        script = """
            import os, pickle, sys
            sys.modules["frame_metrics"] = None
            function = pickle.loads(bytes.fromhex(os.environ["SENT"]))
            try:
                list(function(iter([])))
            except ImportError as error:
                print(error)
        """
        assert "there is no package 'frame_metrics'" in run(script, SENT=sent.hex())


def test_spark_connect():
    pytest.importorskip("grpc", reason="Spark Connect needs grpcio")
    script = """
        import polars as pl, frame_metrics.spark
        from pyspark.sql import SparkSession
        from tests.test_invariants import make_table
        import os, sys
        os.environ.update(SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=sys.executable)
        session = SparkSession.builder.remote("local[1]").config("spark.sql.shuffle.partitions", "2").getOrCreate()
        table = make_table(seed=1)
        frame = session.createDataFrame(table.to_arrow(compat_level=pl.CompatLevel.oldest()))
        print(type(frame).__module__)
        qrels = table.filter(pl.col("relevance").is_not_null()).select("query", "item", "relevance")
        print(frame.rank.ndcg(5) - table.rank.ndcg(5))
        run, other = frame.drop("relevance"), table.drop("relevance")
        print(run.rank.judged_by(qrels).ndcg(5) - other.rank.judged_by(qrels).ndcg(5))
        print(frame.rank.per_query().map().count())
        bad = session.createDataFrame([("a", 0, 1)], ["query", "rank", "relevance"])
        try:
            bad.rank.ndcg()
        except frame_metrics.TableError as error:
            print(error)
        session.stop()
    """
    module, first, second, count, *error = run(script).splitlines()
    assert "connect" in module
    assert abs(float(first)) < 1e-12
    assert abs(float(second)) < 1e-12
    assert int(count) == make_table(seed=1)["query"].n_unique()
    assert "ranks start at 1" in error[0]


def test_without_spark_the_package_does_not_import_it():
    script = """
        import sys
        import frame_metrics, frame_metrics.cli
        print([name for name in sys.modules if name.startswith("pyspark")])
    """
    assert run(script).strip() == "[]"


def test_pandas_frames_stay_what_they_are():
    assert isinstance(fm.rank(pd.DataFrame({"query": [1], "rank": [1], "relevance": [1]})).mrr(), float)
