"""Metrics of a table that is computed in parts: sums add up, and few rows are needed."""

import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

import frame_metrics as fm
from frame_metrics.formulas import parse_all
from frame_metrics.on_spark import worker
from frame_metrics.on_spark.worker import Call, Task
from frame_metrics.plan import parted
from frame_metrics.plan.evaluate import evaluated, sums
from tests.names import PLAIN
from tests.test_invariants import TEXTS, make_table

SETTINGS = [
    {},
    {"no_relevant": "skip"},
    {"no_relevant": "one"},
    {"min_relevance": 2},
    {"average": "micro"},
    {"depth": 5},
]


def batches(frame, size):
    """Return the rows in Arrow batches of a size, as Spark hands them over."""
    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    plain = pa.schema([(f.name, pa.string() if pa.types.is_large_string(f.type) else f.type) for f in table.schema])
    return iter(table.cast(plain).to_batches(max_chunksize=size))


def arrow(schema):
    kinds = {pl.String: pa.string(), pl.Float64: pa.float64()}
    return pa.schema([(name, kinds.get(dtype.base_type(), pa.int64())) for name, dtype in schema.items()])


def together(out, schema):
    return pl.DataFrame(pa.Table.from_batches(list(out), schema=schema))


def in_parts(table, asked, calls, texts, *, parts, size):
    """Return what a cluster would: rows reduced where they are read, queries brought together, sums added up."""
    metrics = parse_all(texts)
    kind = parted.kind_of_rows(asked, metrics)
    result = evaluated(table.lazy(), asked, metrics).collect_schema()

    def done(step, rows, schema):
        task = Task(tuple(calls), tuple(texts), tuple(asked.keys), None, kind, tuple(rows.columns), schema)
        return together(step(batches(rows, size), task), schema)

    if parted.needs_top_grade(asked, metrics):
        table = table.with_columns(pl.lit(table["relevance"].max(), dtype=pl.Float64).alias(worker.TOP))
    schema = arrow(table.schema)
    pieces = [table[start::3] for start in range(3)]
    few = pl.concat([done(worker.reduced, piece, schema) for piece in pieces])
    whole = arrow(sums(few.lazy().drop(worker.TOP, strict=False), asked, metrics).collect_schema())
    of_query = few["query"].rank("dense").fill_null(0) % parts
    apart = [few.filter(of_query == part).sort(asked.keys) for part in range(parts)]
    if asked.each_query:
        found = [done(worker.measured, part, arrow(result)) for part in apart]
        return pl.concat(found).sort(asked.keys), few
    found = pl.concat([done(worker.summed, part, whole) for part in apart])
    added = found.group_by(asked.by).agg(pl.all().sum()) if asked.by else found.select(pl.all().sum())
    out = done(worker.finished, added, arrow(result))
    return (out.sort(asked.by) if asked.by else out), few


@pytest.fixture(autouse=True)
def _few_rows_at_once(monkeypatch):
    monkeypatch.setattr(worker, "AT_ONCE", 40)


@pytest.mark.parametrize("options", SETTINGS, ids=lambda options: str(options or "plain"))
@pytest.mark.parametrize("asking", ["whole", "by", "per_query"])
@pytest.mark.parametrize(("seed", "size", "parts"), [(1, 3, 4), (2, 50, 1)])
def test_parts_give_what_the_whole_gives(options, asking, seed, size, parts):
    table = make_table(seed=seed).with_columns(country=pl.col("query").hash() % 2)
    table = table.with_columns(pl.col("country").cast(pl.Int64))
    calls = [Call("using", (), options)] + {
        "whole": [],
        "by": [Call("by", ("country",), {})],
        "per_query": [Call("per_query", (), {})],
    }[asking]
    texts = [t for t in TEXTS if not (options.get("average") == "micro" and t.startswith("geometric"))]
    asked = Task(tuple(calls), (), (), None, "all", (), None).question(table.lazy())
    expected = evaluated(table.lazy(), asked, parse_all(texts)).collect()
    found, _ = in_parts(table, asked, calls, texts, parts=parts, size=size)
    assert_frame_equal(found, expected, check_dtypes=False, rel_tol=1e-12, abs_tol=1e-12)


@pytest.mark.parametrize("text", TEXTS)
def test_alone_a_metric_needs_no_more_rows_than_it_says(text):
    """Where only relevant rows are needed, others do not reach the plan, and change nothing."""
    table = make_table(seed=3, queries=20)
    asked = table.rank._asked
    kind = parted.kind_of_rows(asked, parse_all([text]))
    found, few = in_parts(table, asked, [], [text], parts=2, size=20)
    assert found.item() == pytest.approx(table.rank.evaluate(text).item(), rel=1e-12)
    kept = few.filter(pl.col("rank").is_not_null() | pl.col("relevance").is_not_null())
    if kind == "relevant":
        assert (kept["relevance"] > 0).all()
        assert kept.height < table.height
    elif kind == "judged":
        assert kept["relevance"].is_not_null().all()
    else:
        assert kept.height == table.height
    assert set(few["query"]) == set(table["query"])


def test_a_list_is_told_of_once():
    """Where the rows of lists are mixed, each list without a relevant row has one row after all."""
    table = pl.DataFrame({"query": [n % 30 for n in range(600)], "rank": [1 + n // 30 for n in range(600)]})
    table = table.with_columns(relevance=(pl.col("query") < 3).cast(pl.Int64))
    task = Task((), ("ndcg",), ("query",), None, "relevant", tuple(table.columns), arrow(table.schema))
    few = together(worker.reduced(batches(table, 10), task), task.schema)
    assert few.height == 3 * 20 + 27
    assert few.filter(pl.col("rank").is_null())["query"].sort().to_list() == list(range(3, 30))


@pytest.mark.parametrize("rows", [1, 2, 50])
def test_a_long_query_stays_whole(rows):
    ranks = pl.int_range(1, 10 * rows + 1, eager=True)
    long = pl.DataFrame({"query": "a", "rank": ranks, "relevance": (ranks % 3 == 0).cast(pl.Int64)})
    table = pl.concat(
        [long, long.with_columns(query=pl.lit("b")).head(5), long.with_columns(query=pl.lit("c")).tail(1)]
    )
    found, _ = in_parts(table, table.rank._asked, [], ["map", "num_ret", "auc"], parts=1, size=3)
    assert_frame_equal(found, table.rank.evaluate("map", "num_ret", "auc"), check_dtypes=False)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"rank": 0}, "ranks start at 1"),
        ({"query": None}, "null query"),
        ({"rank": 2}, "share one"),
    ],
)
def test_wrong_rows_are_found_though_they_are_not_relevant(change, text):
    rows = [{"query": q, "item": f"{i}", "rank": i + 1, "relevance": int(i < 2)} for q in "abc" for i in range(4)]
    rows[9 if text == "share one" else 11] |= change | ({"relevance": 1, "rank": 1} if text == "share one" else {})
    table = pl.DataFrame(rows, schema={"query": pl.String, "item": pl.String, "rank": pl.Int64, "relevance": pl.Int64})
    with pytest.raises(fm.TableError, match=text):
        in_parts(table, table.rank._asked, [], ["ndcg@3"], parts=2, size=4)


def test_problems_add_up():
    table = make_table(seed=5).with_columns(rank=pl.when(pl.col("rank") == 4).then(0).otherwise("rank"))
    asked = table.rank.using(check_rows="all")._asked
    schema = pa.schema(
        [("kind", pa.string()), ("count", pa.int64()), ("queries", pa.int64()), ("example", pa.string())]
    )
    task = Task((Call("using", (), {"check_rows": "all"}),), (), ("query",), None, "all", tuple(table.columns), schema)
    out = together(worker.checked(batches(table.sort("query"), 4), task), schema)
    found = out.group_by("kind").agg(pl.col("count", "queries").sum(), pl.col("example").min()).sort("kind")
    assert found.height > 0
    assert_frame_equal(found, table.rank.check().sort("kind"))
    assert asked.check_rows is None


def test_every_row_is_needed_where_ranks_or_judgments_are_made():
    run = pl.DataFrame({"query": 1, "item": ["a", "b"], "score": [1.0, 2.0], "relevance": [0, 1]})
    assert parted.kind_of_rows(run.rank.from_scores()._asked, parse_all(["ndcg"])) == "all"
    assert parted.kind_of_rows(run.rank._asked, parse_all(["ndcg"])) == "relevant"
    assert parted.kind_of_rows(run.rank._asked, parse_all(["ndcg", "bpref"])) == "judged"
    assert parted.kind_of_rows(run.rank._asked, parse_all(["ndcg", "num_ret"])) == "all"
    assert parted.kind_of_rows(run.rank.using(check_rows="all")._asked, parse_all(["ndcg"])) == "all"
    assert set(PLAIN) <= set(fm.metrics.names())
