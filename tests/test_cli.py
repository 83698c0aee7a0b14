"""The command line: what it reads, prints, writes and refuses."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
import warnings
from contextlib import redirect_stdout
from inspect import signature
from pathlib import Path
from time import sleep
from typing import get_args

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import frame_metrics as fm
from frame_metrics.cli import main, options
from frame_metrics.cli.files import KINDS
from frame_metrics.cli.problems import in_options
from frame_metrics.cli.progress import working
from frame_metrics.defaults import DEFAULT_METRICS
from frame_metrics.formulas import ALIASES
from frame_metrics.library import OURS
from frame_metrics.plan.checks import PROBLEMS
from frame_metrics.plan.joined import Queries, Unjudged
from frame_metrics.plan.question import Average, NoRelevant, Question
from frame_metrics.plan.scores import Ties
from frame_metrics.surfaces.ranking import Ranking

ROOT = Path(__file__).parents[1]

LOG = pl.DataFrame(
    {
        "query": ["a", "a", "a", "b", "b", "c"],
        "item": ["x", "y", "z", "x", "y", "x"],
        "rank": [1, 2, None, 1, 2, 1],
        "relevance": [0, 3, 1, 2, 0, 0],
        "score": [0.9, 0.5, None, 0.7, 0.7, 0.1],
        "country": ["fr", "fr", "fr", "us", "us", "us"],
    }
)

WRITTEN = {
    "log.parquet": LOG.write_parquet,
    "log.pq": LOG.write_parquet,
    "log.csv": LOG.write_csv,
    "LOG.CSV": LOG.write_csv,
    "log.csv.gz": lambda path: path.write_bytes(gzip.compress(LOG.write_csv().encode())),
    "log.tsv": lambda path: LOG.write_csv(path, separator="\t"),
    "log.ndjson": LOG.write_ndjson,
    "log.jsonl": LOG.write_ndjson,
    "log.arrow": LOG.write_ipc,
    "log.feather": LOG.write_ipc,
    "log.ipc": LOG.write_ipc,
    "log[1].parquet": LOG.write_parquet,
    "log[1].ndjson": LOG.write_ndjson,
    "log[1].arrow": LOG.write_ipc,
}

READ_BACK = {
    ".parquet": pl.read_parquet,
    ".csv": pl.read_csv,
    ".tsv": lambda path: pl.read_csv(path, separator="\t"),
    ".json": pl.read_json,
    ".ndjson": pl.read_ndjson,
}


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    LOG.write_parquet("log.parquet")
    return tmp_path


@pytest.fixture
def run(capsys):
    """Run a command; its exit code must be this one. Return what it printed, on standard error where it failed."""

    def run(*argv, code=0):
        assert main([str(word) for word in argv]) == code
        printed = capsys.readouterr()
        assert "" in (printed.out, printed.err)
        return printed.out or printed.err

    return run


@pytest.fixture
def table(run):
    """Run a command that succeeds and return the table it prints."""
    return lambda *argv, code=0: pl.DataFrame(json.loads(run(*argv, "--format", "json", code=code)))


@pytest.fixture
def refused(run):
    """Run a command that fails and return the reason, which must be one line."""

    def refused(*argv):
        lines = run(*argv, code=2).splitlines()
        assert len(lines) == 1
        assert lines[0].startswith("frame-metrics: error: ")
        return lines[0].removeprefix("frame-metrics: error: ")

    return refused


@pytest.fixture
def terminal(monkeypatch):
    """Run a command on a terminal of so many columns and return what it shows."""

    def run(*argv, columns=80):
        monkeypatch.setenv("COLUMNS", str(columns))
        with redirect_stdout(Terminal()) as shown:
            assert main([str(word) for word in argv]) == 0
        return shown.getvalue()

    return run


def partitioned(root, write, suffix):
    """Write the log as a folder for each country, without the column itself."""
    for (country,), part in LOG.group_by("country"):
        path = root / f"country={country}" / f"part{suffix}"
        path.parent.mkdir(parents=True)
        write(part.drop("country"), path)


@pytest.mark.parametrize("name", WRITTEN)
def test_every_kind_of_file(name, folder, table):
    WRITTEN[name](folder / name)
    assert_frame_equal(table("evaluate", name, "-m", "ndcg@10,map"), LOG.rank.evaluate("ndcg@10", "map"))


def test_several_files_are_one_table(table):
    LOG.filter(query="a").write_parquet("1.parquet")
    LOG.filter(pl.col("query") != "a").write_parquet("2.parquet")
    assert_frame_equal(table("evaluate", "1.parquet", "2.parquet", "-m", "map"), LOG.rank.evaluate("map"))


def test_a_file_named_twice_is_read_once(table):
    assert_frame_equal(
        table("evaluate", "log.parquet", "./log.parquet", "*.parquet", "-m", "map"), LOG.rank.evaluate("map")
    )


@pytest.mark.parametrize("pattern", ["parts/*.csv", "**/[12].csv", "parts", "parts/", "par*", "parts/**"])
def test_globs_and_folders(pattern, folder, table):
    (folder / "parts").mkdir()
    LOG.filter(query="a").write_csv("parts/1.csv")
    LOG.filter(pl.col("query") != "a").write_csv("parts/2.csv")
    assert_frame_equal(table("evaluate", pattern, "-m", "map"), LOG.rank.evaluate("map"))
    assert_frame_equal(table("evaluate", folder / pattern, "-m", "map"), LOG.rank.evaluate("map"))


def test_a_folder_may_hold_what_is_no_table(folder, table):
    (folder / "log" / "_temporary").mkdir(parents=True)
    LOG.write_parquet("log/part.parquet")
    for name in ("_SUCCESS", ".part.parquet", "_temporary/part.parquet", "README", "notes.txt"):
        (folder / "log" / name).write_text("no table")
    assert_frame_equal(table("evaluate", "log", "-m", "map"), LOG.rank.evaluate("map"))


HIVE = {
    ".parquet": pl.DataFrame.write_parquet,
    ".arrow": pl.DataFrame.write_ipc,
    ".csv": pl.DataFrame.write_csv,
    ".ndjson": pl.DataFrame.write_ndjson,
}


@pytest.mark.parametrize("suffix", HIVE)
def test_names_of_folders_are_columns(suffix, folder, table):
    partitioned(folder / "log", HIVE[suffix], suffix)
    assert_frame_equal(table("evaluate", "log", "-m", "map", "--by", "country"), LOG.rank.by("country").evaluate("map"))
    assert_frame_equal(
        table("evaluate", f"log/*/*{suffix}", "-m", "map", "--where", "country = 'us'"),
        LOG.filter(country="us").rank.evaluate("map"),
    )


@pytest.mark.parametrize("suffix", HIVE)
def test_a_day_in_a_name_compares_with_a_text(suffix, folder, table):
    for query, day in (("a", 17), ("b", 18), ("c", 19)):
        (folder / f"log/day=2026-11-{day}").mkdir(parents=True)
        HIVE[suffix](LOG.filter(query=query), folder / f"log/day=2026-11-{day}/part{suffix}")
    expected = LOG.filter(pl.col("query") != "a").rank.evaluate("map")
    assert_frame_equal(table("evaluate", "log", "-m", "map", "--where", "day >= '2026-11-18'"), expected)


def test_a_filter_on_a_partition_opens_no_other_file(folder, table):
    partitioned(folder / "log", pl.DataFrame.write_parquet, ".parquet")
    (folder / "log/country=xx").mkdir()
    (folder / "log/country=xx/part.parquet").write_text("not to be read")
    expected = LOG.filter(country="fr").rank.evaluate("map")
    assert_frame_equal(table("evaluate", "log", "-m", "map", "--where", "country = 'fr'"), expected)


def test_a_column_counts_more_than_the_name_of_a_folder(folder, table):
    (folder / "query=all" / "run=7").mkdir(parents=True)
    LOG.write_parquet("query=all/run=7/log.parquet")
    expected = LOG.with_columns(run=pl.lit(7, dtype=pl.Int64)).rank.by("run").evaluate("map")
    assert_frame_equal(table("evaluate", "query=all", "-m", "map", "--by", "run"), expected)


def test_special_values_in_names_of_folders(folder, table):
    for query, value in (("a", "New%20York"), ("b", "__HIVE_DEFAULT_PARTITION__")):
        (folder / f"log/city={value}").mkdir(parents=True)
        LOG.filter(query=query).write_csv(f"log/city={value}/part.csv")
    assert table("evaluate", "log", "-m", "map", "--by", "city")["city"].to_list() == ["New York", None]


@pytest.mark.parametrize("pattern", ["log/*/part.parquet", "log/country=us/part.parquet"])
def test_urls_are_left_to_polars(pattern, folder, table):
    partitioned(folder / "log", pl.DataFrame.write_parquet, ".parquet")
    expected = LOG.rank.evaluate("map") if "*" in pattern else LOG.filter(country="us").rank.evaluate("map")
    assert_frame_equal(table("evaluate", f"file://{folder}/{pattern}", "-m", "map"), expected)


def test_a_url_without_suffix_is_a_folder_of_parquet_files(folder, table):
    partitioned(folder / "log", pl.DataFrame.write_parquet, ".parquet")
    result = table("evaluate", f"file://{folder}/log/", "-m", "map", "--by", "country")
    assert_frame_equal(result, LOG.rank.by("country").evaluate("map"))


def test_metrics_by_default(table, run):
    assert_frame_equal(table("evaluate", "log.parquet"), LOG.rank.evaluate(*DEFAULT_METRICS))
    assert ", ".join(DEFAULT_METRICS) in " ".join(run("evaluate", "--help").split())


def test_metrics_repeated_and_with_commas(table):
    texts = ["ndcg(gain={1:1,2:3,3:7},ideal=retrieved)@2", "map", "p@1"]
    result = table("evaluate", "log.parquet", "-m", f"{texts[0]}, {texts[1]}", "--metric", texts[2])
    assert_frame_equal(result, LOG.rank.evaluate(*texts))


def test_segments_and_queries(table):
    result = table("evaluate", "log.parquet", "-m", "mrr", "--by", "country", "--by", "relevance,query")
    assert_frame_equal(result, LOG.rank.by("country", "relevance", "query").evaluate("mrr"))
    assert_frame_equal(
        table("evaluate", "log.parquet", "-m", "mrr", "--per-query"), LOG.rank.per_query().evaluate("mrr")
    )


def test_columns_of_other_names(table):
    names = {"query": "user", "item": "sku", "rank": "position", "relevance": "clicked"}
    LOG.rename(names).write_parquet("clicks.parquet")
    roles = [word for role, name in names.items() for word in (f"--{role}", name)]
    assert_frame_equal(table("evaluate", "clicks.parquet", "-m", "map", *roles), LOG.rank.evaluate("map"))


@pytest.mark.parametrize("ties", options.TIES)
def test_ranks_from_scores(ties, table):
    result = table("evaluate", "log.parquet", "--score", "score", "--ties", ties, "-m", "mrr")
    assert_frame_equal(result, LOG.rank.from_scores("score", ties=ties).evaluate("mrr"))


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        (["--min-relevance", "2"], {"min_relevance": 2}),
        (["--no-relevant", "skip"], {"no_relevant": "skip"}),
        (["--average", "micro"], {"average": "micro"}),
        (["--depth", "1"], {"depth": 1}),
        (["--check-rows", "all"], {"check_rows": "all"}),
        (["--check-rows", "0", "--no-relevant", "one"], {"check_rows": 0, "no_relevant": "one"}),
    ],
)
def test_settings(words, settings, table):
    expected = LOG.rank.using(**settings).evaluate("map", "recall")
    assert_frame_equal(table("evaluate", "log.parquet", "-m", "map,recall", *words), expected)


QRELS = pl.DataFrame({"qid": ["a", "a", "d"], "doc": ["y", "w", "x"], "grade": [1, 2, 1]})
QRELS_COLUMNS = ["--qrels-query", "qid", "--qrels-item", "doc", "--qrels-relevance", "grade"]


@pytest.mark.parametrize("queries", ["qrels", "both", "run"])
@pytest.mark.parametrize("unjudged", options.UNJUDGED)
def test_judgments_of_their_own(queries, unjudged, table):
    QRELS.write_csv("qrels.csv")
    words = ["--qrels", "qrels.csv", *QRELS_COLUMNS, "--queries", queries, "--unjudged", unjudged]
    run = LOG.drop_nulls("rank")
    run.write_parquet("run.parquet")
    expected = run.rank.judged_by(
        QRELS, query="qid", item="doc", relevance="grade", queries=queries, unjudged=unjudged
    ).evaluate("map")
    assert_frame_equal(table("evaluate", "run.parquet", "-m", "map", *words), expected)


@pytest.mark.parametrize(("run_name", "qrels_name"), [("run.csv", "qrels.parquet"), ("run.parquet", "qrels.csv")])
def test_what_is_text_in_one_file_is_text_in_the_other(run_name, qrels_name, folder, table):
    run = pl.DataFrame({"query": ["007"], "item": ["01"], "rank": [1]})
    qrels = pl.DataFrame({"query": ["007"], "item": ["01"], "relevance": [1]})
    for frame, name in ((run, run_name), (qrels, qrels_name)):
        (pl.DataFrame.write_csv if name.endswith("csv") else pl.DataFrame.write_parquet)(frame, folder / name)
    assert table("evaluate", run_name, "--qrels", qrels_name, "-m", "mrr").item() == 1.0


RUN = "007 Q0 9 1 0.5 bm25\n007 Q0 10 2 0.5 bm25\n8\tQ0\tb  1 1.25 bm25\n8 Q0 c 2 1.5 bm25\n"
JUDGED = "007 0 10 1\n8 0 b 2\n8 0 x 1\n"


@pytest.fixture
def trec(folder):
    """Write a run and judgments in files of TREC, and return the same as a question."""

    def trec(run="run.txt", qrels="qrels.txt"):
        for name, text in ((run, RUN), (qrels, JUDGED)):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        ranks = fm.scan_trec_run(run).rank.from_scores("score", ties="item_desc")
        return ranks.judged_by(fm.scan_trec_qrels(qrels))

    return trec


@pytest.mark.parametrize("run_name", ["run.txt", "run.run", "run.trec", "a[1].run", "run.run.gz", "RUN.TXT.GZ"])
@pytest.mark.parametrize("qrels_name", ["qrels.txt", "my.qrels", "my.qrels.gz"])
def test_trec_files(run_name, qrels_name, trec, table):
    expected = trec(run_name, qrels_name).per_query().evaluate("map", "mrr").collect()
    assert expected.rows() == [("007", 0.5, 0.5), ("8", 0.25, 0.5)]
    result = table("evaluate", run_name, "--qrels", qrels_name, "-m", "map,mrr", "--per-query")
    assert_frame_equal(result.sort("query"), expected.sort("query"))


@pytest.mark.parametrize(
    ("words", "reciprocal_ranks"),
    [
        ([], [0.5, 0.5]),
        (["--ties", "item_asc"], [1.0, 0.5]),
        (["--rank", "file_rank"], [0.5, 1.0]),
        (["--score", "score", "--ties", "first"], [0.5, 0.5]),
    ],
)
def test_what_ranks_a_trec_run(words, reciprocal_ranks, trec, table):
    trec()
    result = table("evaluate", "run.txt", "--qrels", "qrels.txt", "-m", "mrr", "--per-query", *words).sort("query")
    assert result["mrr"].to_list() == reciprocal_ranks


def test_trec_files_of_any_name(trec, table, refused):
    expected = trec("runs/input.bm25", "qrels.robust").evaluate("map").collect()
    words = ["--qrels", "qrels.robust", "-m", "map"]
    assert refused("evaluate", "runs/input.bm25", *words).endswith("or say what it is with --input-format")
    for name in ("runs/input.bm25", "runs", "runs/*"):
        assert_frame_equal(table("evaluate", name, *words, "--input-format", "trec"), expected)
    fm.scan_trec_qrels("qrels.robust").collect().write_csv("qrels.csv")
    words = ["--qrels", "qrels.csv", "-m", "map", "--input-format", "trec"]
    assert_frame_equal(table("evaluate", "runs/input.bm25", *words), expected)


def test_every_kind_can_be_named(table):
    assert [kind.name.lower() for kind in KINDS] == list(options.INPUT_FORMATS)
    LOG.write_csv("log.txt")
    expected = LOG.rank.evaluate("map")
    assert_frame_equal(table("evaluate", "log.txt", "-m", "map", "--input-format", "csv"), expected)


@pytest.mark.parametrize("run_name", ["run.csv", "run.parquet"])
def test_trec_judgments_of_other_files(run_name, trec, folder, table):
    expected = trec().evaluate("map").collect()
    run = fm.scan_trec_run("run.txt").collect()
    run.write_csv("run.csv")
    run.write_parquet("run.parquet")
    result = table("evaluate", run_name, "--score", "score", "--qrels", "qrels.txt", "-m", "map")
    assert_frame_equal(result, expected)


def test_subtopics_of_trec_judgments(folder, table):
    (folder / "a.run").write_text("1 Q0 x 1 2 a\n1 Q0 y 2 1 a\n")
    (folder / "a.qrels").write_text("1 1 x 1\n1 2 x 0\n1 2 y 1\n")
    words = ["--qrels", "a.qrels", "--qrels-subtopic", "subtopic", "-m", "alpha_ndcg@2"]
    assert table("evaluate", "a.run", *words).item() == 1.0


def test_many_trec_runs(trec, folder, table):
    for day in (17, 18):
        trec(f"runs/day=2026-11-{day}/a.run")
    (folder / "runs/day=2026-11-18/a.run").write_text(RUN.replace("bm25", "neural"))
    (folder / "runs/notes.txt").write_text("not to be read")
    words = ["--qrels", "qrels.txt", "-m", "mrr"]
    expected = [("bm25", 0.5), ("neural", 0.5)]
    assert table("evaluate", "runs", *words, "--by", "run").sort("run").rows() == expected
    assert table("evaluate", "runs/**/*.run", *words, "--by", "day").rows() == [
        ("2026-11-17", 0.5),
        ("2026-11-18", 0.5),
    ]
    result = table("evaluate", "runs", *words, "--by", "run", "--where", "day = '2026-11-18'")
    assert result.rows() == expected[1:]


def test_trec_files_are_checked(trec, folder, run, table):
    trec()
    words = ["check", "run.txt", "--qrels", "qrels.txt"]
    (folder / "run.txt").write_text(RUN.replace("10 2 0.5", "10 2 0.25"))
    assert run(*words) == "no problem found\n"
    (folder / "run.txt").write_text(f"{RUN}8 Q0 c 3 0.25 bm25\n")
    assert "query 8, item c" in table(*words, code=1)["example"].to_list()


def test_trec_files_that_cannot_be_read(trec, folder, refused):
    trec()
    assert refused("evaluate", "run.txt").startswith("a TREC run says nothing of relevance. Hint: name the file with")
    (folder / "run.txt").write_text(f"{RUN}8 Q0 d\n")
    reason = "run.txt, line 5: there must be 6 fields, `query Q0 item rank score run`, got '8 Q0 d'"
    for command in ("evaluate", "check"):
        assert refused(command, "run.txt", "--qrels", "qrels.txt") == reason
    (folder / "qrels.txt").write_text("8 0 b 1\n8 0 c high\n")
    reason = "qrels.txt, line 2: the relevance must be a whole number, got 'high'"
    LOG.write_parquet("log.parquet")
    assert refused("evaluate", "log.parquet", "--qrels", "qrels.txt") == reason


@pytest.mark.parametrize(
    "where", ["country = 'us'", "country IN ('us') AND rank < 9 -- only these", "\"country\" <> 'fr' or 1 = 0"]
)
def test_where(where, table):
    result = table("evaluate", "log.parquet", "-m", "mrr", "--where", where)
    assert_frame_equal(result, LOG.filter(country="us").rank.evaluate("mrr"))


def test_the_table_on_a_pipe(run):
    lines = run("evaluate", "log.parquet", "-m", "map,num_rel", "--by", "country").splitlines()
    assert lines == ["country     map  num_rel", "fr       0.2500        2", "us       0.5000        1"]


def test_wide_and_unprintable_characters_keep_the_columns_straight(run):
    LOG.with_columns(country=pl.when(country="fr").then(pl.lit("日本")).otherwise(pl.lit("a\n\x1b"))).write_csv(
        "odd.csv"
    )
    lines = run("evaluate", "odd.csv", "-m", "mrr", "--by", "country").splitlines()
    assert lines == ["country     mrr", "a\\n\\x1b  0.5000", "日本     0.5000"]


def test_the_header_is_bold_on_a_terminal_only(terminal, monkeypatch, run):
    assert "\x1b" not in run("evaluate", "log.parquet", "-m", "mrr")
    assert terminal("evaluate", "log.parquet", "-m", "mrr").startswith("\x1b[1m   mrr\x1b[0m\n")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in terminal("evaluate", "log.parquet", "-m", "mrr")


def test_a_terminal_gets_the_ends_of_a_long_table(terminal, run):
    pl.DataFrame({"query": range(5000), "rank": 1, "relevance": 1}).write_parquet("long.parquet")
    lines = terminal("evaluate", "long.parquet", "-m", "mrr", "--per-query").splitlines()
    assert len(lines) == 62
    assert lines[31].startswith("... 4,940 rows are left out")
    assert lines[30].split() == ["29", "1.0000"]
    assert lines[-1].split() == ["4999", "1.0000"]
    assert len(run("evaluate", "long.parquet", "-m", "mrr", "--per-query").splitlines()) == 5001


def test_a_row_too_wide_for_the_terminal_is_a_list(terminal):
    shown = terminal("evaluate", "log.parquet", "-m", "average_precision,num_rel", columns=20)
    assert shown.splitlines() == ["average_precision  0.4167", "num_rel                 3"]


def test_formats(run):
    expected = LOG.rank.by("country").evaluate("mrr")
    words = ["evaluate", "log.parquet", "-m", "mrr", "--by", "country", "--format"]
    assert_frame_equal(pl.read_csv(run(*words, "csv").encode()), expected)
    assert json.loads(run(*words, "json")) == expected.to_dicts()
    assert run(*words, "md").splitlines() == [
        "| country | mrr |",
        "| :--- | ---: |",
        "| fr | 0.5000 |",
        "| us | 0.5000 |",
    ]


@pytest.mark.parametrize("suffix", READ_BACK)
def test_results_in_files(suffix, run):
    assert run("evaluate", "log.parquet", "-m", "mrr,num_rel", "--by", "country", "--out", f"result{suffix}") == ""
    assert_frame_equal(READ_BACK[suffix](f"result{suffix}"), LOG.rank.by("country").evaluate("mrr", "num_rel"))
    assert sorted(path.name for path in Path().iterdir()) == ["log.parquet", f"result{suffix}"]


def test_results_in_markdown(folder, run):
    LOG.with_columns(country=pl.lit("a|b")).write_parquet("log.parquet")
    run("evaluate", "log.parquet", "-m", "mrr", "--by", "country", "--out", "result.md")
    assert (folder / "result.md").read_text().splitlines()[-1] == "| a\\|b | 0.5000 |"


def test_a_file_is_replaced_in_one_step(folder, monkeypatch, refused):
    (folder / "result.csv").write_text("the old one")

    def full(frame, path):
        Path(path).write_text("half of it")
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(pl.DataFrame, "write_csv", full)
    assert refused("evaluate", "log.parquet", "--out", "result.csv").startswith("No space left on device")
    assert (folder / "result.csv").read_text() == "the old one"
    assert sorted(path.name for path in Path().iterdir()) == ["log.parquet", "result.csv"]


def test_a_result_goes_through_a_symbolic_link(folder, run):
    (folder / "elsewhere").mkdir()
    (folder / "result.csv").symlink_to("elsewhere/result.csv")
    run("evaluate", "log.parquet", "-m", "mrr", "--out", "result.csv")
    assert (folder / "result.csv").is_symlink()
    assert_frame_equal(pl.read_csv("elsewhere/result.csv"), LOG.rank.evaluate("mrr"))


@pytest.mark.parametrize(
    ("out", "says"),
    [
        ("result.xlsx", "--out must end in one of .parquet, .csv, .tsv, .json, .ndjson, .md, got 'result.xlsx'"),
        ("result", "--out must end in one of"),
        (
            "nowhere/result.csv",
            "--out must name a file in a folder that exists, got 'nowhere/result.csv'. Hint: mkdir -p",
        ),
        ("folder.csv", "--out must name a file that may be written"),
    ],
)
def test_an_impossible_file_is_refused_before_anything_is_read(out, says, folder, refused):
    (folder / "folder.csv").mkdir()
    assert refused("evaluate", "not there.parquet", "--out", out).startswith(says)


def test_check_finds_nothing(run, table):
    assert run("check", "log.parquet") == "no problem found\n"
    assert run("check", "log.parquet", "--format", "json") == "[]\n"


def test_check_finds_problems(table, run):
    bad = LOG.with_columns(rank=pl.lit(0))
    bad.write_parquet("bad.parquet")
    assert_frame_equal(table("check", "bad.parquet", code=1), bad.rank.check())
    assert run("check", "bad.parquet", code=1).splitlines()[0].split() == ["kind", "count", "queries", "example"]


def test_check_knows_segments_and_judgments(run):
    LOG.with_columns(system=pl.lit("one")).vstack(LOG.with_columns(system=pl.lit("two"))).write_parquet("runs.parquet")
    LOG.select("query", "item", "relevance").write_ndjson("qrels.ndjson")
    assert "repeated item" in run("check", "runs.parquet", code=1)
    assert run("check", "runs.parquet", "--by", "system", "--qrels", "qrels.ndjson") == "no problem found\n"


def test_explain_shows_what_each_row_adds(table):
    found = table("explain", "ndcg@10", "a", "log.parquet")
    assert_frame_equal(found, LOG.rank.explain("ndcg@10", query="a"), check_dtypes=False)


def test_explain_takes_the_options_of_a_table(table):
    LOG.select("query", "item", "relevance").write_csv("qrels.csv")
    LOG.select("query", "item", "score").drop_nulls().write_csv("run.csv")
    words = ("--score", "score", "--qrels", "qrels.csv", "--min-relevance", "2")
    expected = LOG.rank.from_scores("score").using(min_relevance=2).explain("map", query="b")
    assert_frame_equal(table("explain", "map", "b", "run.csv", *words), expected, check_dtypes=False)


def test_explain_reads_keys_as_the_file_has_them(table, refused):
    days = LOG.with_columns(query=pl.lit(7), day=pl.col("country").replace_strict({"fr": 1, "us": 2}))
    days = days.filter(pl.col("item").is_first_distinct().over("day")).with_columns(day=pl.date(2026, 11, "day"))
    days.with_columns(rank=pl.int_range(1, pl.len() + 1).over("day")).write_parquet("days.parquet")
    found = table("explain", "mrr", "7", "days.parquet", "--segment", "day=2026-11-01")
    assert found["item"].to_list() == ["x", "y", "z"]
    other = refused("explain", "mrr", "x", "days.parquet")
    assert other == "the query must be a value of its column, which holds Int32, got 'x'"
    several = refused("explain", "mrr", "7", "days.parquet", "--by", "day")
    assert several.endswith("day 2026-11-01, 2026-11-02. Hint: name one of them with --segment day=VALUE")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("mrr", "aa", "log.parquet"), "there is no list of query 'aa'. Hint: the queries of the table are values of "),
        (("mrrr", "a", "log.parquet"), "there is no metric 'mrrr', did you mean 'mrr'?"),
        (("mrr", "a", "log.parquet", "--segment", "country"), "--segment must be COLUMN=VALUE, got 'country'"),
        (("mrr", "a", "log.parquet", "--segment", "contry=fr"), "there is no column 'contry', did you mean 'country'?"),
        (("mrr", "log.parquet"), "the following arguments are required: FILES"),
    ],
)
def test_explain_refuses(words, says, refused):
    assert refused("explain", *words).startswith(says)


def test_every_metric_is_listed(run):
    listed = json.loads(run("metrics", "--format", "json"))
    assert [metric["name"] for metric in listed] == fm.metrics.names()
    assert {alias: metric["name"] for metric in listed for alias in metric["aliases"]} == ALIASES
    for form in ("text", "md"):
        text = run("metrics", "--format", form)
        assert all(metric["says"] in text for metric in listed)


def test_what_is_listed_can_be_asked_for():
    from frame_metrics.cli.listing import described

    for definition in fm.metrics.definitions():
        for name, option in described(definition)["options"].items():
            words = [word for word in option["allowed"] if word.isalnum()]
            assert words or option["allowed"]
            for word in words:
                assert str(fm.metrics.parse(f"{definition.name}({name}={word})"))


def test_the_list_of_metrics_for_people(run):
    text = run("metrics")
    assert "average_precision@k (map, ap)\n    Average precision" in text
    assert "    gain = linear (default), exponential, binary, {grade:gain,...}\n" in text
    assert "    p = a number > 0 and < 1 (default: 0.8)\n" in text
    assert "    max_grade = a number > 0 and <= 500 (default: none)\n" in text


@pytest.mark.parametrize("name", ["map", "average_precision", "map@10"])
def test_the_documentation_of_a_metric(name, run):
    assert ">>> round(df.rank.average_precision(), 4)" in run("metrics", name)
    assert ">>> round(df.rank.average_precision(), 4)" in run("metrics", name, "--format", "md")
    assert json.loads(run("metrics", name, "--format", "json"))["documentation"].startswith("Average precision")


def test_choices_are_those_of_the_package():
    kinds = {"TIES": Ties, "QUERIES": Queries, "UNJUDGED": Unjudged, "NO_RELEVANT": NoRelevant, "AVERAGE": Average}
    for name, kind in kinds.items():
        assert getattr(options, name) == get_args(kind)


def test_options_and_defaults_are_those_of_the_package(run):
    assert set(signature(Ranking.using).parameters) == {"self", *options.ROLES, *options.SETTINGS}
    from_scores, judged_by = (signature(method).parameters for method in (Ranking.from_scores, Ranking.judged_by))
    assert (from_scores["ties"].default, judged_by["queries"].default) == (None, None)  # as the library has it
    assert (OURS.setting("ties"), OURS.setting("queries")) == (options.TIES[0], options.QUERIES[0])
    assert judged_by["unjudged"].default == options.UNJUDGED[0]
    assert (Question.no_relevant, Question.average) == (options.NO_RELEVANT[0], options.AVERAGE[0])
    assert f"(default: {Question.check_rows})" in run("evaluate", "--help")


REFUSED = {
    "unknown metric": (["-m", "ndgc@10"], "there is no metric 'ndgc', did you mean 'ndcg'?"),
    "no such metric": (["-m", "zzz"], "there is no metric 'zzz'. Hint: `frame-metrics metrics` lists them"),
    "bad option of a metric": (
        ["-m", "ndcg(gain=x)"],
        "`gain` must be one of 'linear', 'exponential', 'binary', got 'x'",
    ),
    "unbalanced metric": (["-m", "ndcg(gain=exponential"], "cannot read the metric 'ndcg(gain=exponential'"),
    "missing role": (["--query", "user"], "there is no column 'user'"),
    "missing segment": (["--by", "contry"], "there is no column 'contry', did you mean 'country'?"),
    "missing score": (["--score", "sore"], "there is no column 'sore', did you mean 'score'?"),
    "rank of text": (["--rank", "country"], "the rank column 'country' must hold whole numbers"),
    "no relevant item": (
        ["--no-relevant", "error"],
        "every query must have a relevant item, as --no-relevant error asks",
    ),
    "bad level": (["--min-relevance", "-1"], "--min-relevance must be a number > 0, got -1.0"),
    "no number": (["--min-relevance", "x"], "argument --min-relevance: invalid float value: 'x'"),
    "bad number of rows": (["--check-rows", "some"], "--check-rows must be an integer >= 0 or 'all', got 'some'"),
    "micro": (["--average", "micro", "--no-relevant", "one"], "--no-relevant must be 'zero', 'skip' or 'error'"),
    "bad choice": (["--no-relevant", "eror"], "argument --no-relevant: invalid choice: 'eror'"),
    "ties alone": (["--ties", "first"], "--ties means nothing without --score"),
    "qrels column alone": (["--qrels-item", "doc"], "--qrels-item means nothing without --qrels"),
    "unknown option": (["--quary=user"], "there is no option '--quary=user', did you mean '--query'?"),
    "strange option": (["--zzz"], "there is no option '--zzz'. Hint: see frame-metrics evaluate --help"),
    "abbreviated option": (["--rel", "x"], "there is no option '--rel'"),
    "file after options": (
        ["-m", "map", "log.parquet"],
        "unexpected argument 'log.parquet'. Hint: name all files together",
    ),
    "out and format": (["--out", "x.csv", "--format", "csv"], "argument --format: not allowed with argument --out"),
    "bad SQL": (["--where", "rank = = 1"], "cannot filter rows by --where 'rank = = 1': sql parser error"),
    "two SQL expressions": (["--where", "rank = 1, rank = 2"], "cannot filter rows by --where"),
    "SQL of a missing column": (
        ["--where", "rnk = 1"],
        "cannot filter rows by --where 'rnk = 1': unable to find column",
    ),
    "SQL that is no condition": (["--where", "rank + 1"], "cannot filter rows by --where 'rank + 1': filter predicate"),
    "missing qrels": (["--qrels", "nope.csv"], "there is no file 'nope.csv'"),
    "qrels without item": (["--qrels", "log.parquet", "--qrels-item", "doc"], "there is no column 'doc'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case, refused):
    words, says = REFUSED[case]
    reason = refused("evaluate", "log.parquet", *words)
    assert reason.startswith(says)
    assert "Hint: " in reason or "did you mean" in reason or "must be" in reason


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        ([], "the following arguments are required: COMMAND. Hint: see frame-metrics --help"),
        (["evalute"], "argument COMMAND: invalid choice: 'evalute'"),
        (["evaluate"], "the following arguments are required: FILES. Hint: see frame-metrics evaluate --help"),
        (["metrics", "mapp"], "there is no metric 'mapp', did you mean 'map'?"),
    ],
)
def test_commands_that_say_too_little(argv, says, refused):
    assert refused(*argv).startswith(says)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("log.parqet", "there is no file 'log.parqet', did you mean 'log.parquet'?"),
        ("/no/such/log.parquet", "there is no file '/no/such/log.parquet'. Hint: "),
        ("*.csv", "no file matches '*.csv'. Hint: "),
        ("empty", "there is no file in 'empty' that ends in .parquet, "),
        ("notes.doc", "the suffix of a file must be one of .parquet, .pq, .csv, .tsv, "),
        ("s3://bucket/notes.doc", "the suffix of a file must be one of .parquet, "),
        ("mixed", "files must be of one kind to be one table, but 'mixed/a.csv' is CSV and 'mixed/b.ndjson' is NDJSON"),
    ],
)
def test_files_that_are_not_there_or_not_tables(name, says, folder, refused):
    (folder / "empty").mkdir()
    (folder / "mixed").mkdir()
    for other in ("notes.doc", "empty/notes.txt", "mixed/a.csv", "mixed/b.ndjson"):
        (folder / other).write_text("")
    assert refused("evaluate", name).startswith(says)


@pytest.mark.parametrize(
    ("suffix", "kind"),
    [(".parquet", "Parquet"), (".csv", "CSV"), (".tsv", "TSV"), (".ndjson", "NDJSON"), (".arrow", "Arrow")],
)
def test_files_that_cannot_be_read(suffix, kind, folder, refused):
    (folder / f"bad{suffix}").write_text("" if "sv" in suffix else "{no table")
    assert refused("evaluate", f"bad{suffix}").startswith(f"cannot read 'bad{suffix}' as {kind}: ")


def test_files_that_do_not_fit_together(refused):
    LOG.with_columns(pl.col("rank").cast(pl.Float64)).write_parquet("other.parquet")
    reason = refused("evaluate", "log.parquet", "other.parquet")
    assert "column 'rank' is Int64 in 'log.parquet' and Float64 in 'other.parquet'" in reason
    LOG.drop("rank").write_parquet("other.parquet")
    assert "Int64 in 'log.parquet' and missing in 'other.parquet'" in refused(
        "evaluate", "log.parquet", "other.parquet"
    )


def test_a_broken_file_among_many(folder, refused):
    (folder / "other.parquet").write_text("no table")
    assert refused("evaluate", "log.parquet", "other.parquet").startswith("cannot read 'other.parquet' as Parquet: ")


def test_folders_of_different_names(folder, refused):
    partitioned(folder / "log", pl.DataFrame.write_parquet, ".parquet")
    assert "'log.parquet' and 'log/country=fr/part.parquet' differ" in refused("evaluate", "log.parquet", "log")


def test_a_number_far_down_that_is_none(folder, refused):
    (folder / "late.csv").write_text("query,rank,relevance\n" + "1,1,1\n" * 20_000 + "1,first,1\n")
    assert refused("evaluate", "late.csv", "-m", "num_ret").startswith(
        "could not parse `first` as dtype `i64` at column"
    )


def test_values_without_meaning(refused):
    LOG.with_columns(pl.col("rank") - 1).write_parquet("bad.parquet")
    reason = refused("evaluate", "bad.parquet")
    assert reason.startswith("ranks start at 1 and are whole numbers, but one is not")
    assert "Hint: add 1 to ranks that start at 0" in reason


def test_queries_that_differ(refused):
    QRELS.write_csv("qrels.csv")
    reason = refused("evaluate", "log.parquet", "--qrels", "qrels.csv", *QRELS_COLUMNS, "--queries", "error")
    assert "as --queries error asks" in reason


def test_an_unreadable_object_store_is_no_traceback(refused):
    assert refused("evaluate", "file:///no/such/log.parquet").startswith("cannot read 'file:///no/such/log.parquet'")


def test_hints_are_about_the_command_line():
    for problem in PROBLEMS.values():
        hint = in_options(problem.hint)
        assert ".rank" not in hint
        assert "no_relevant" not in hint


def test_a_bug_is_not_hidden(monkeypatch):
    def bug(frame, **options):
        raise ZeroDivisionError

    monkeypatch.setattr(pl.LazyFrame, "collect", bug)
    with pytest.raises(ZeroDivisionError):
        main(["evaluate", "log.parquet"])


@pytest.mark.filterwarnings("default")
def test_a_warning_is_one_line(monkeypatch, capsys):
    collect = pl.LazyFrame.collect

    def warn(frame, **options):
        warnings.warn("no region\n\nSet it", UserWarning, stacklevel=2)
        return collect(frame, **options)

    monkeypatch.setattr(pl.LazyFrame, "collect", warn)
    assert main(["evaluate", "log.parquet"]) == 0
    assert capsys.readouterr().err == "frame-metrics: warning: no region\n"


def test_interrupted(monkeypatch, run):
    def interrupt(frame, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(pl.LazyFrame, "collect", interrupt)
    assert run("evaluate", "log.parquet", code=130) == ""


def test_a_sign_of_life_on_terminals_only(monkeypatch, capsys):
    monkeypatch.setattr("frame_metrics.cli.progress._EVERY", 0.001)
    shown = Terminal()
    with working("computing"):
        pass
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys, "stderr", shown)
    with working("computing"):
        sleep(0.1)
    assert "\r/ computing ... 0 s" in shown.getvalue()
    assert shown.getvalue().endswith("\r\x1b[K")


def test_a_terminal_is_told_what_was_written(monkeypatch, folder):
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert main(["evaluate", "log.parquet", "--out", "result.csv"]) == 0
    assert sys.stderr.getvalue().endswith(f"wrote {folder / 'result.csv'}\n")


def test_characters_that_the_terminal_lacks(monkeypatch):
    LOG.with_columns(country=pl.lit("日本")).write_parquet("log.parquet")
    printed = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", printed)
    assert main(["evaluate", "log.parquet", "-m", "mrr", "--by", "country"]) == 0
    assert b"\n\\u65e5\\u672c " in printed.buffer.getvalue()


def test_version_and_help(run):
    assert run("--version") == f"frame-metrics {fm.__version__}\n"
    for words in (["--help"], ["evaluate", "--help"], ["check", "--help"], ["metrics", "--help"]):
        assert "\nexamples:\n  frame-metrics " in run(*words)


ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": ""}


def python(*words):
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, env=ENVIRONMENT, check=False)


def test_as_a_module():
    done = python("-m", "frame_metrics", "evaluate", "log.parquet", "-m", "mrr", "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == LOG.rank.evaluate("mrr").to_dicts()
    assert python("-m", "frame_metrics", "check", "nope.parquet").returncode == 2


def test_pandas_is_not_imported():
    code = (
        "import sys; from frame_metrics.cli import main; main(['evaluate', 'log.csv']); print('pandas' in sys.modules)"
    )
    LOG.write_csv("log.csv")
    assert python("-c", code).stdout.splitlines()[-1] == "False"


def test_help_needs_no_polars():
    """The package itself imports Polars, so an empty one stands in its place."""
    code = f"""if True:
        import sys, types
        package = types.ModuleType("frame_metrics")
        package.__path__, package.__version__ = [{str(ROOT / "frame_metrics")!r}], "1"
        sys.modules["frame_metrics"] = package
        from frame_metrics.cli import main
        codes = [main(["--help"]), main(["--version"]), main(["evaluate", "--help"]), main(["evaluate", "--zzz"])]
        print(codes, "polars" in sys.modules)
    """
    assert python("-c", code).stdout.splitlines()[-1] == "[0, 0, 0, 2] False"


@pytest.mark.parametrize("words", [["--help"], ["metrics"], ["evaluate", "long.parquet", "--per-query"]])
def test_a_closed_pipe_is_no_traceback(words):
    pl.DataFrame({"query": range(5000), "rank": 1, "relevance": 1}).write_parquet("long.parquet")
    reader, writer = os.pipe()
    os.close(reader)
    argv = [sys.executable, "-m", "frame_metrics", *words]
    done = subprocess.run(argv, stdout=writer, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")
