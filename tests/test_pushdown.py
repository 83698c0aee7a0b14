"""What a lazy plan reads of a file, and what of it the streaming engine can run."""

import re

import polars as pl
import pyarrow.parquet as pq
import pytest

import frame_metrics  # noqa: F401 puts .rank on frames
from tests.names import PLAIN

ROWS, GROUP = 4_000, 1_000
polars_2 = pytest.mark.skipif(pl.__version__ < "2", reason="Polars 1 shares one scan between the parts of a plan")
NINE = ("ndcg@10", "map", "map@10", "mrr", "p@5", "p@10", "recall@10", "recall@100", "hit_rate@10")


@pytest.fixture
def log():
    """Lists of 100 rows; only those of the last row group have something relevant."""
    place = pl.int_range(ROWS, eager=True)
    return pl.DataFrame({"query": place // 100, "item": place, "rank": place % 100 + 1}).with_columns(
        relevance=pl.when(place >= ROWS - GROUP).then(place % 7 == 0).otherwise(0).cast(pl.Int8),
        page=pl.format("page {}", place),
    )


@pytest.fixture
def path(log, tmp_path):
    path = tmp_path / "log.parquet"
    pq.write_table(log.to_arrow(), path, row_group_size=GROUP, compression="none", use_dictionary=False)
    return path


def spoil(path, columns, groups):
    """Overwrite columns in some row groups, so that reading them fails; return how many bytes there were."""
    content, spoilt = bytearray(path.read_bytes()), 0
    parts = pq.ParquetFile(path).metadata
    for group in groups:
        for place in range(parts.num_columns):
            column = parts.row_group(group).column(place)
            if column.path_in_schema in columns:
                start = column.data_page_offset
                content[start : start + column.total_compressed_size] = b"\xff" * column.total_compressed_size
                spoilt += column.total_compressed_size
    path.write_bytes(content)
    return spoilt


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
class TestFile:
    def test_columns_that_no_metric_needs_are_not_read(self, log, path, engine):
        plan = pl.scan_parquet(path).rank.evaluate(*NINE)
        size = path.stat().st_size
        assert spoil(path, {"page"}, range(4)) > size / 4
        assert plan.collect(engine=engine).row(0) == pytest.approx(log.rank.evaluate(*NINE).row(0))

    def test_what_is_needed_is_read(self, path, engine):
        spoil(path, {"rank"}, [3])
        with pytest.raises(pl.exceptions.PolarsError):
            pl.scan_parquet(path).rank.evaluate(*NINE).collect(engine=engine)


@polars_2
def test_ranks_of_row_groups_without_a_relevant_row_are_not_read(log, path):
    plan = pl.scan_parquet(path).rank.using(check_rows=0).evaluate(*NINE)
    spoil(path, {"rank", "item", "page"}, range(3))
    assert plan.collect(engine="streaming").row(0) == pytest.approx(log.rank.evaluate(*NINE).row(0))


@polars_2
def test_explain_shows_it(path):
    plan = pl.scan_parquet(path).rank.using(check_rows=0).evaluate(*NINE).explain(engine="streaming")
    scans = re.findall(r"PROJECT (\d+)/5 COLUMNS(?:\s+SELECTION: (.*))?", plan)
    assert sorted(scans) == [("1", ""), ("3", 'col("relevance") > 0')]


FALLBACK = 'fillcolor="0.0 0.3 1.0"'


def not_streamed(plan):
    """Return the first line of each node that Polars hands to its in-memory engine."""
    graph = plan.show_graph(plan_stage="physical", engine="streaming", raw_output=True)
    nodes = re.findall(r'^\d+ \[label="(.*)",style=filled,(fillcolor="[^"]*")\];$', graph, re.MULTILINE)
    return [" ".join(label.split("\\n")[:2]) for label, color in nodes if color == FALLBACK]


@polars_2
@pytest.mark.parametrize("name", PLAIN)
def test_only_lists_of_relevant_rows_are_held(path, name):
    """The gathered lists, and for `iprec` and its like the groups made of them again."""
    held = not_streamed(pl.scan_parquet(path).rank.using(check_rows=0).evaluate(name))
    assert all(node.startswith("in-memory-map AGGREGATE") for node in held)
    assert len(held) <= 2


def test_texts_of_checks_do_not_make_plans_long():
    """What is said about a problem stands once in a plan, whatever the number of problems that are looked for."""
    rows = pl.LazyFrame({"query": [1], "item": [1], "rank": [1], "relevance": [1]})
    checked, unchecked = (rows.rank.using(check_rows=number).evaluate("ndcg", "map").explain() for number in (100, 0))
    assert 0 < len(checked) - len(unchecked) < 10_000
