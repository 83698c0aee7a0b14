"""The command line on Spark: the numbers of one machine, and errors in one line."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from frame_metrics.cli import main, session
from frame_metrics.cli.session import reason
from frame_metrics.errors import OptionError
from tests import spark

ROOT = Path(__file__).parents[1]
LOG = pl.read_parquet(ROOT / "data" / "search_log.parquet").filter(pl.col("day").dt.day() <= 7)
QRELS = pl.read_parquet(ROOT / "data" / "qrels.parquet")
RUN = LOG.filter(pl.col("rank").is_not_null()).drop("rank", "relevance")
SYSTEM = ["--by", "system"]
SCORES = ["run.parquet", "--score", "score", "--qrels", "qrels.parquet"]

needs_spark = pytest.mark.skipif(spark.lacking() is not None, reason=str(spark.lacking()))
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def spark_session():
    with spark.cluster("local[2]") as found:
        yield found


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    LOG.write_parquet("log.parquet")
    RUN.write_parquet("run.parquet")
    QRELS.write_parquet("qrels.parquet")
    return tmp_path


@pytest.fixture
def run(capsys):
    """Run a command; its exit code must be this one. Return what it printed, on standard error where it failed."""

    def run(*argv, code=0):
        assert main([str(word) for word in argv]) == code
        printed = capsys.readouterr()
        return printed.err if code == 2 else printed.out

    return run


@pytest.fixture
def both(run, spark_session):
    """Run a command on one machine and on Spark, which must give the same table. Return it."""

    def both(*argv, code=0):
        words = [*argv, "--format", "json"]
        one, other = (pl.DataFrame(json.loads(run(*words, *more, code=code))) for more in ([], ["--engine", "spark"]))
        assert one.height > 0
        assert_frame_equal(one, other, rel_tol=0, abs_tol=1e-9)
        return one

    return both


@pytest.fixture
def reports(run, spark_session):
    """Run a report on one machine and on Spark, which must give the same report. Return it."""

    def reports(*argv, code=0):
        words = ["report", *argv, "--json"]
        one, other = (json.loads(run(*words, *more, code=code)) for more in ([], ["--engine", "spark"]))
        assert_alike(one | {"made": ""}, other | {"made": ""})
        return one

    return reports


def assert_alike(one, other):
    """Compare what JSON holds; numbers to 1e-9."""
    if isinstance(one, float) or isinstance(other, float):
        assert one == pytest.approx(other, rel=0, abs=1e-9)
    elif isinstance(one, dict):
        assert list(one) == list(other)
        for name in one:
            assert_alike(one[name], other[name])
    elif isinstance(one, list):
        assert len(one) == len(other)
        for pair in zip(one, other, strict=True):
            assert_alike(*pair)
    else:
        assert one == other


@pytest.fixture
def refused(run, spark_session):
    """Run a command on Spark that fails and return the reason, which must be one line."""

    def refused(*argv):
        lines = run(*argv, "--engine", "spark", code=2).splitlines()
        assert len(lines) == 1
        return lines[0].removeprefix("frame-metrics: error: ")

    return refused


@needs_spark
class TestEvaluate:
    @pytest.mark.parametrize(
        "words",
        [
            SYSTEM,
            ["--by", "country,system", "-m", "ndcg@10,map,err,num_rel,bpref"],
            [*SYSTEM, "--per-query", "-m", "ndcg@5"],
            ["--where", "system = 'bm25' AND day >= '2024-03-06'"],
            ["--where", """"system" = 'neural'""", "--per-query"],
            [*SYSTEM, "--average", "micro", "-m", "recall@10,precision@3"],
            [*SYSTEM, "--min-relevance", "2", "--no-relevant", "skip", "--depth", "7", "--check-rows", "all"],
            [*SYSTEM, "--relevance", "clicked", "-m", "mrr"],
        ],
        ids=" ".join,
    )
    def test_the_numbers_of_one_machine(self, words, both):
        both("evaluate", "log.parquet", *words)

    @pytest.mark.parametrize("queries", ["qrels", "both", "run"])
    @pytest.mark.parametrize("unjudged", ["nonrelevant", "drop"])
    def test_scores_and_judgments(self, queries, unjudged, both):
        found = both("evaluate", *SCORES, *SYSTEM, "--queries", queries, "--unjudged", unjudged)
        assert set(found["system"]) >= {"bm25", "neural"}

    @pytest.mark.parametrize("ties", ["item_desc", "item_asc", "expected", "best", "worst"])
    def test_ties(self, ties, both):
        both("evaluate", *SCORES, *SYSTEM, "--ties", ties, "--per-query", "-m", "mrr,precision@2")

    def test_columns_of_other_names(self, both):
        RUN.rename({"query": "q", "item": "sku"}).write_parquet("odd.parquet")
        QRELS.rename({"query": "text", "item": "article", "relevance": "grade"}).write_parquet("odd_qrels.parquet")
        theirs = ["--qrels-query", "text", "--qrels-item", "article", "--qrels-relevance", "grade"]
        words = ["--query", "q", "--item", "sku", "--score", "score", "--qrels", "odd_qrels.parquet", *theirs]
        both("evaluate", "odd.parquet", *words, *SYSTEM)

    def test_rows_are_checked(self, run, refused):
        pl.DataFrame({"query": [1, 2], "rank": [0, 1], "relevance": [1, 1]}).write_parquet("zero.parquet")
        assert refused("evaluate", "zero.parquet") in run("evaluate", "zero.parquet", code=2)


@needs_spark
class TestFiles:
    @pytest.mark.parametrize("suffix", [".parquet", ".csv", ".tsv", ".ndjson", ".csv.gz"])
    def test_kinds(self, suffix, both):
        write(LOG, f"other{suffix}")
        both("evaluate", f"other{suffix}", *SYSTEM, "-m", "ndcg@10,map")

    @pytest.mark.parametrize("suffix", [".parquet", ".csv", ".ndjson"])
    def test_names_of_folders_are_columns(self, suffix, both):
        for (day, system), part in LOG.group_by("day", "system"):
            write(part.drop("day", "system"), f"log/day={day}/system={system}/part{suffix}")
        found = both("evaluate", "log", "--by", "day,system", "--where", "day <> '2024-03-05'")
        assert found.height == 6

    def test_a_filter_on_a_partition_opens_no_other_file(self, both):
        write(LOG.filter(system="bm25"), "log/part=1/a.parquet")
        write(LOG, "log/part=2/a.parquet")
        Path("log/part=2/a.parquet").write_bytes(b"PAR1 nothing")
        assert both("evaluate", "log", "--where", "part = 1", "-m", "mrr").height == 1

    def test_a_column_counts_more_than_the_name_of_a_folder(self, both):
        for system in ("bm25", "neural"):
            write(LOG.filter(system=system), f"log/system=same/{system}.parquet")
        assert both("evaluate", "log", *SYSTEM)["system"].to_list() == ["bm25", "neural"]

    def test_folders_in_several_places(self, both):
        write(LOG.filter(system="bm25").drop("system"), "a/system=bm25/x.parquet")
        write(LOG.filter(system="neural").drop("system"), "b/system=neural/x.parquet")
        assert both("evaluate", "a", "b", *SYSTEM)["system"].to_list() == ["bm25", "neural"]

    def test_strange_names(self, both):
        write(LOG, "a [b]/100%/log{1}*.parquet")
        both("evaluate", "a [b]/100%", *SYSTEM)

    def test_texts_with_everything_in_them(self, both):
        texts = ['say "x"', "two\nlines", "a,b", "back\\slash", "007", ""]
        rows = {"query": texts[:5], "item": "x", "rank": [1, 2, 3, 4, 5], "relevance": 1}
        pl.DataFrame(rows).write_csv("texts.csv")
        assert both("evaluate", "texts.csv", "--per-query", "-m", "mrr")["query"].n_unique() == 5

    def test_what_is_text_in_one_file_is_text_in_the_other(self, both):
        pl.DataFrame({"query": [7, 8], "item": [1, 2], "score": [1.0, 2.0]}).write_csv("numbers.csv")
        pl.DataFrame({"query": ["7", "8"], "item": ["1", "9"], "relevance": [1, 1]}).write_parquet("texts.parquet")
        found = both("evaluate", "numbers.csv", "--score", "score", "--qrels", "texts.parquet", "-m", "recall")
        assert found.item() == 0.5

    def test_judgments_that_spark_does_not_read(self, both):
        lines = [f"{n} 0 {item} {grade}" for n, item, grade in [(1, "x", 1), (1, "y", 0), (2, "x", 2)]]
        Path("judged.qrels").write_text("\n".join(lines) + "\n", encoding="utf-8")
        pl.DataFrame({"query": ["1", "1", "2"], "item": ["y", "x", "z"], "score": [3, 2, 1]}).write_parquet("r.parquet")
        both("evaluate", "r.parquet", "--score", "score", "--qrels", "judged.qrels", "-m", "mrr,num_rel")
        QRELS.write_ipc("qrels.arrow")
        both("evaluate", *SCORES[:-1], "qrels.arrow", *SYSTEM)

    def test_what_spark_does_not_read(self, refused):
        LOG.write_ipc("log.arrow")
        assert "Spark does not read Arrow files" in refused("evaluate", "log.arrow")
        Path("bm25.run").write_text("1 Q0 x 1 0.5 bm25\n", encoding="utf-8")
        assert "Spark does not read TREC files" in refused("evaluate", "bm25.run", "--qrels", "qrels.parquet")

    def test_urls_are_left_to_spark(self, folder, run):
        write(LOG.drop("day"), "days/day=2024-03-05/log.parquet")
        for name, more in ((folder / "log.parquet", []), (folder / "days/", ["--where", "day = '2024-03-05'"])):
            words = ["evaluate", *SYSTEM, *more, "--format", "json"]
            found = json.loads(run(*words, name.as_uri(), "--engine", "spark"))
            assert_alike(found, json.loads(run(*words, name)))

    def test_files_that_cannot_be_read(self, refused):
        Path("bad.parquet").write_bytes(b"PAR1 nothing")
        assert "cannot read 'bad.parquet' as Parquet" in refused("evaluate", "bad.parquet")
        assert "s3://" in refused("evaluate", "s3://bucket/log.parquet")

    def test_rows_that_cannot_be_read(self, refused):
        lines = ["query,rank,relevance", *["q,1,1"] * 10_001, "q,one,1"]
        Path("long.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        assert "long.csv: Malformed records" in refused("evaluate", "long.csv", "-m", "num_ret")

    def test_a_column_that_some_files_lack(self, refused, both):
        one = LOG.filter(system="bm25")
        write(one, "log/part=1/a.parquet")
        write(LOG.drop("relevance"), "log/part=2/a.parquet")
        said = refused("evaluate", "log", "-m", "mrr")
        assert said.startswith("column 'relevance' is missing in 'log/part=2/a.parquet'")
        both("evaluate", "log", "-m", "mrr", "--where", "part = 1")


def write(frame, name):
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    kind = path.name.partition(".")[2]
    if kind == "parquet":
        frame.write_parquet(path)
    elif kind == "ndjson":
        frame.write_ndjson(path)
    elif kind == "csv.gz":
        frame.write_csv(path, compression="gzip")
    else:
        frame.write_csv(path, separator="\t" if kind == "tsv" else ",")


@needs_spark
class TestCheck:
    @pytest.mark.usefixtures("spark_session")
    def test_nothing_is_found(self, run):
        assert run("check", "log.parquet", *SYSTEM, "--engine", "spark") == "no problem found\n"

    def test_problems(self, both):
        odd = LOG.with_columns(pl.when(pl.col("rank") == 3).then(0).otherwise("rank").alias("rank"))
        odd.write_parquet("odd.parquet")
        assert "rank" in both("check", "odd.parquet", *SYSTEM, code=1).row(0)[0]


@needs_spark
class TestReport:
    def test_systems_segments_and_times(self, reports):
        words = ["--system", "system", "--by", "country", "--by", "device,country", "--trend", "day"]
        found = reports("log.parquet", *words, "-m", "ndcg@10,map", "--fail-if", "ndcg@10 < 0.99", code=1)
        assert [group["name"] for group in found["groups"]] == ["losses", "gains", "worst"]
        assert found["inputs"][0]["rows"] == LOG.height

    @pytest.mark.parametrize("metric", ["ndcg@10", "err"])
    def test_judgments_of_their_own(self, metric, reports):
        found = reports(*SCORES, "--system", "system", "-m", metric)
        assert found["groups"][0]["queries"]
        assert [finding["kind"] for finding in found["findings"]] == ["tied scores"]

    def test_a_system_that_answers_nothing_there(self, reports):
        rows = {"system": "bm25", "query": ["a", "b"], "item": ["x", "x"], "score": 1.0}
        bm25 = pl.DataFrame(rows)
        pl.concat([bm25, bm25[:1].with_columns(system=pl.lit("neural"))]).write_parquet("few.parquet")
        judged = {"query": ["a", "b", "c"], "item": "x", "relevance": [1, 1, 3]}
        pl.DataFrame(judged).write_parquet("judged.parquet")
        words = ["--score", "score", "--qrels", "judged.parquet", "--system", "system", "--examples", "1"]
        found = reports("few.parquet", *words, "-m", "err")
        (losses, _) = found["groups"]
        assert [query["query"] for query in losses["queries"]] == ["b"]

    def test_a_baseline_in_a_file_of_its_own(self, reports):
        LOG.filter(system="neural").write_parquet("new.parquet")
        LOG.filter(system="bm25").write_csv("old.csv")
        LOG.filter(system="bm25").write_parquet("old.parquet")
        assert reports("new.parquet", "--compare", "old.parquet", "--where", "country = 'us'")["systems"] == [
            "new",
            "old",
        ]

    def test_values_are_kept(self, reports, run):
        for (day,), part in LOG.group_by("day"):
            write(part.drop("day"), f"log/day={day}/part.parquet")
        run("report", "log", "--system", "system", "--results", "kept", "--engine", "spark")
        found = reports("log", "--system", "system", "--results", "kept")
        assert found["trend"]["name"] == "day"

    @pytest.mark.usefixtures("spark_session")
    def test_a_dry_run(self, run):
        words = ["report", "log.parquet", "--system", "system", "--by", "country", "--dry-run"]
        assert run(*words, "--engine", "spark") == run(*words)


@needs_spark
class TestRefusals:
    def test_columns_and_filters(self, refused, run):
        assert refused("evaluate", "log.parquet", "--by", "nope") in run(
            "evaluate", "log.parquet", "--by", "nope", code=2
        )
        assert "cannot filter rows by --where 'nope > 1'" in refused("evaluate", "log.parquet", "--where", "nope > 1")
        assert "cannot filter rows by --where '1 ='" in refused("evaluate", "log.parquet", "--where", "1 =")

    def test_rows_have_no_order(self, refused):
        assert "--ties first" in refused("evaluate", *SCORES, "--ties", "first")

    def test_the_session_of_the_caller_stays(self, run, spark_session):
        before = spark_session.conf.get("spark.sql.caseSensitive")
        run("evaluate", "log.parquet", *SYSTEM, "--engine", "spark")
        assert spark_session.conf.get("spark.sql.caseSensitive") == before
        assert spark_session.range(3).count() == 3


def test_a_master_needs_spark(run):
    for more in ([], ["--engine", "polars"]):
        assert "--master means nothing without --engine spark" in run(
            "evaluate", "log.parquet", "--master", "local[2]", *more, code=2
        )


def test_there_is_no_other_engine(run):
    assert "invalid choice: 'dask'" in run("evaluate", "log.parquet", "--engine", "dask", code=2)


def test_a_package_that_is_not_there(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    said = run("evaluate", "log.parquet", "--engine", "spark", code=2)
    assert "Spark frames need the package 'pyspark'. Hint: pip install \"frame_metrics[spark]\"" in said


@contextmanager
def closed_port():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


@pytest.mark.parametrize(
    "url", ["spark://127.0.0.1:{}", "sc://127.0.0.1:{}/;user_id=me", "spark://127.0.0.1:{0},[::1]:{0}"]
)
def test_nobody_answers(url):
    with closed_port() as port, pytest.raises(session.SparkError, match="nobody answers at s"):
        session._require(url.format(port))


@pytest.mark.parametrize("master", ["nowhere", "local[x]", "http://host", "", "spark://"])
def test_a_master_that_is_none(master):
    with pytest.raises(OptionError, match=rf"--master must be such as .*, got {re.escape(repr(master))}$"):
        session._require(master)


def test_yarn_has_to_be_set_up(monkeypatch):
    monkeypatch.delenv("HADOOP_CONF_DIR", raising=False)
    monkeypatch.delenv("YARN_CONF_DIR", raising=False)
    with pytest.raises(session.SparkError, match="needs HADOOP_CONF_DIR or YARN_CONF_DIR"):
        session._require("yarn")


def test_java_is_not_there(monkeypatch):
    monkeypatch.setenv("JAVA_HOME", "/no/such/folder")
    with pytest.raises(session.SparkError, match="in JAVA_HOME, which is '/no/such/folder'"):
        session._require("local[2]")
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(session.SparkError, match="none on the PATH"):
        session._require(None)


def test_what_java_adds_is_left_out():
    text = """An error occurred while calling o1.x.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 failed.
\tat org.apache.spark.A.b(A.scala:1)
Caused by: java.io.IOException: [DISK] Disk is full. SQLSTATE: 58030
\t... 3 more
"""
    assert reason(text) == "Job aborted due to stage failure: Task 0 failed: Disk is full"
    assert reason("\n\tat org.apache.spark.A.b(A.scala:1)") == "it does not say why"


class CancelledError(Exception):
    __module__ = "pyspark.errors"


def cancelled():
    raise CancelledError("cancelled")


def interrupted():
    try:
        raise KeyboardInterrupt
    finally:
        cancelled()


def test_jobs_that_are_cancelled():
    with pytest.raises(session.SparkError, match="Spark failed: cancelled"), session.told("Spark failed"):
        cancelled()
    with pytest.raises(KeyboardInterrupt), session.told("Spark failed"):
        interrupted()


def alone(*words, **environment):
    """Run a command in a process of its own."""
    env = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", **environment}
    env.pop("PYSPARK_PYTHON", None)
    command = [sys.executable, "-m", "frame_metrics", *words, "--engine", "spark"]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=env, timeout=300)


def own_words(stderr):
    """Return what is said, without a line that Java prints when it starts, whatever it is told."""
    return [line for line in stderr.splitlines() if line != "WARNING: Using incubator modules: jdk.incubator.vector"]


@needs_spark
class TestAlone:
    def test_a_result_and_nothing_else(self, run):
        words = ["evaluate", "log.parquet", *SYSTEM, "-m", "ndcg@10"]
        done = alone(*words, "--master", "local[2]")
        assert (done.returncode, done.stdout, own_words(done.stderr)) == (0, run(*words), [])

    def test_an_error_is_one_line(self):
        done = alone("evaluate", "log.parquet", "-m", "ndcg@10", "--master", "local[2]")
        (said,) = own_words(done.stderr)
        assert (done.returncode, done.stdout) == (2, "")
        assert said.startswith("frame-metrics: error: each rank may stand once in a query")
