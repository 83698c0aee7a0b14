"""The sample data: what its script writes, and what its README says about it."""

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import frame_metrics as fm  # noqa: F401  (puts .rank on the frames)

DATA = Path(__file__).parents[1] / "data"
FILES = ["qrels.parquet", "search_log.parquet"]


@pytest.fixture(scope="module")
def log():
    return pl.read_parquet(DATA / "search_log.parquet")


@pytest.fixture(scope="module")
def qrels():
    return pl.read_parquet(DATA / "qrels.parquet")


def run_script(folder):
    folder.mkdir()
    subprocess.run([sys.executable, DATA / "make_sample.py", folder], check=True, capture_output=True)
    return folder


def test_the_script_writes_these_tables(tmp_path):
    fresh = run_script(tmp_path / "fresh")
    assert sorted(file.name for file in fresh.iterdir()) == FILES
    for name in FILES:
        assert_frame_equal(pl.read_parquet(fresh / name), pl.read_parquet(DATA / name))


def test_the_script_writes_the_same_bytes_twice(tmp_path):
    one, two = run_script(tmp_path / "one"), run_script(tmp_path / "two")
    assert all((one / name).read_bytes() == (two / name).read_bytes() for name in FILES)


def test_files_are_small():
    assert sum((DATA / name).stat().st_size for name in FILES) < 500_000


def test_the_readme_counts_rows(log, qrels):
    text = (DATA / "README.md").read_text(encoding="utf-8")
    assert f"{len(log):,} rows" in text
    assert f"{len(qrels):,} judgments" in text


def test_nothing_is_wrong_with_it(log):
    assert log.rank.by("system").check().is_empty()


def test_every_query_has_a_list_of_each_system(log):
    lists = log.select("system", "query").unique()
    assert lists.group_by("system").len().sort("system").rows() == [("bm25", 400), ("neural", 400)]


def test_ranks_grades_and_gaps(log):
    assert set(log["rank"].unique()) == {None, *range(1, 21)}
    assert set(log["relevance"].unique()) == {None, 0, 1, 2, 3}
    for column in ("score", "clicked"):
        assert log[column].is_null().equals(log["rank"].is_null())


def test_the_better_system_is_worse_in_one_country(log):
    scores = log.rank.by("system").ndcg(k=10)["ndcg@10"]
    assert scores[1] > scores[0] + 0.03
    wide = log.rank.by("country", "system").ndcg(k=10).pivot("system", index="country", values="ndcg@10")
    assert wide.filter(pl.col("neural") < pl.col("bm25"))["country"].to_list() == ["au"]


def test_clicks_fall_faster_than_relevance(log):
    shares = log.group_by("rank").agg(pl.col("clicked").mean(), (pl.col("relevance") > 0).mean())
    first, fifth = (shares.row(by_predicate=pl.col("rank") == rank, named=True) for rank in (1, 5))
    assert fifth["clicked"] / first["clicked"] < fifth["relevance"] / first["relevance"]


def test_judgments_alone_give_the_numbers_of_the_log(log, qrels):
    metrics = ["ndcg@10", "map", "mrr", "recall@20", "bpref", "judged@10", "fallout@10", "num_rel"]
    run = log.filter(pl.col("rank").is_not_null()).drop("relevance")
    joined = run.rank.by("system").judged_by(qrels).evaluate(*metrics)
    found = log.join(run, on=["system", "query"], how="semi").rank.by("system").evaluate(*metrics)
    assert_frame_equal(joined, found)


def test_scores_give_the_ranks_of_the_log(log):
    listed = log.filter(pl.col("rank").is_not_null())
    shuffled = listed.sample(fraction=1.0, shuffle=True, seed=1)
    assert_frame_equal(shuffled.rank.by("system").from_scores("score").map(), listed.rank.by("system").map())
