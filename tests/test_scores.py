"""Ranks from scores, against a sort in plain Python."""

from __future__ import annotations

from io import BytesIO

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frame_metrics.errors import MissingColumnError, OptionError, TableError
from frame_metrics.failing import raising
from frame_metrics.plan.scores import ranked

ENGINES = ["in-memory", "streaming"]
TIES = ["item_desc", "item_asc", "first"]
ROWS = st.tuples(
    st.sampled_from(["q1", "q2", "ü", ""]),
    st.sampled_from(["9", "10", "a", "Z", "é", "z", ""]),
    st.none() | st.sampled_from([0.0, -0.0, 1.5, -2.0, 1e300]) | st.floats(allow_nan=False, allow_infinity=False),
)


def rank(frame, ties="item_desc", *, engine="in-memory", **options):
    options = {"keys": ["query"], "item": "item", "score": "score", "rank": "rank"} | options
    with raising():
        return ranked(frame.lazy(), ties=ties, **options).collect(engine=engine)


def oracle(rows, ties):
    """The rank of each row: those before it in its query have a higher score, or the same and win the tie."""

    def before(one, other):
        (number, (_, item, score)), (other_number, (_, other_item, other_score)) = one, other
        if score != other_score:
            return score > other_score
        names = item.encode(), other_item.encode()
        if ties == "first" or names[0] == names[1]:
            return number < other_number
        return names[0] > names[1] if ties == "item_desc" else names[0] < names[1]

    found = [row for row in enumerate(rows) if row[1][2] is not None]
    places = {row[0]: 1 + sum(before(o, row) for o in found if o[1][0] == row[1][0]) for row in found}
    return [places.get(number) for number in range(len(rows))]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("ties", TIES)
@settings(deadline=None)
@given(rows=st.lists(ROWS, max_size=25))
def test_ranks_are_those_of_a_sort(ties, engine, rows):
    schema = {"query": pl.String, "item": pl.String, "score": pl.Float64}
    numbered = pl.DataFrame(rows, schema=schema, orient="row").with_row_index()
    out = rank(numbered, ties, engine=engine).sort("index")
    assert out["rank"].to_list() == oracle(rows, ties)
    assert out.drop("rank").equals(numbered)
    assert out.schema["rank"] == pl.Int64


@pytest.mark.parametrize("ties", TIES)
def test_the_engines_agree_on_many_rows(ties):
    random = np.random.default_rng(7)
    columns = {"query": random.integers(0, 3_000, 300_000), "score": random.integers(0, 20, 300_000) / 4}
    frame = pl.DataFrame(columns).with_row_index().with_columns(item=pl.col("index").hash().cast(pl.String))
    one, other = (rank(frame, ties, engine=engine).sort("index") for engine in ENGINES)
    assert one.equals(other)
    by_query = one.group_by("query").agg(pl.col("rank").sort(), n=pl.len())
    assert by_query.select((pl.col("rank") == pl.int_ranges(1, pl.col("n") + 1)).all()).item()


def test_names_are_compared_by_bytes_as_trec_eval_does():
    frame = pl.DataFrame({"query": 1, "item": ["10", "9", "Z", "a", "é", "z"], "score": 1.0})
    order = rank(frame).sort("rank")["item"].to_list()
    assert order == ["é", "z", "a", "Z", "9", "10"]
    assert rank(frame, "item_asc").sort("rank")["item"].to_list() == order[::-1]


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["10", "9", "b"])])
def test_categories_are_compared_in_their_order(dtype):
    frame = pl.DataFrame({"query": 1, "item": ["9", "b", "10"], "score": 1.0}).cast({"item": dtype})
    assert rank(frame).sort("rank")["item"].to_list() == ["b", "9", "10"]


@pytest.mark.parametrize("ties", TIES)
def test_lists_are_told_apart_by_all_keys(ties):
    columns = {"query": [1, 1, 1, 2], "day": list("abbb"), "item": list("xyzx"), "score": [1, 2, 3, 4]}
    out = rank(pl.DataFrame(columns), ties, keys=["query", "day"])
    assert out.sort("score")["rank"].to_list() == [1, 2, 1, 1]


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("dtype", [pl.Int64, pl.UInt64, pl.Int128])
def test_large_integers_are_not_rounded(dtype, ties):
    scores = pl.Series([2**62, 2**62 + 1, 0, None], dtype=dtype)
    out = rank(pl.DataFrame({"query": 1, "item": ["a", "b", "c", "d"], "score": scores}), ties)
    assert out.sort("item")["rank"].to_list() == [2, 1, 3, None]


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt8, pl.Float32, pl.Decimal(10, 2)])
def test_any_number_is_a_score(dtype, ties):
    scores = pl.Series([0, 100, 7]).cast(dtype)
    out = rank(pl.DataFrame({"query": 1, "item": ["a", "b", "c"], "score": scores}), ties)
    assert out.sort("item")["rank"].to_list() == [3, 1, 2]


@pytest.mark.parametrize("ties", TIES)
def test_scores_that_are_all_null_rank_nothing(ties):
    out = rank(pl.DataFrame({"query": 1, "item": ["a", "b"], "score": [None, None]}), ties)
    assert out["rank"].to_list() == [None, None]


def test_float32_makes_ties_of_close_scores():
    frame = pl.DataFrame({"query": 1, "item": ["a", "b"], "score": [16777217.0, 16777216.0]})
    assert rank(frame)["rank"].to_list() == [1, 2]
    assert rank(frame, float32=True)["rank"].to_list() == [2, 1]


def test_no_item_is_needed_where_the_table_decides_ties():
    out = rank(pl.DataFrame({"query": 1, "score": [1.0, 1.0, 2.0]}), "first", item=None)
    assert out["rank"].to_list() == [2, 3, 1]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_a_score_that_is_not_finite_fails_the_plan(bad, ties, engine):
    frame = pl.DataFrame({"query": ["q", "r"], "item": ["a", "b"], "score": [0.5, bad]})
    shown = {"nan": "NaN"}.get(str(bad), str(bad))
    with pytest.raises(TableError, match=f"^scores must be finite, but one is not: score {shown}, query r. Hint: "):
        rank(frame, ties, engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_plan_fails_if_only_ranks_are_asked_for(engine):
    frame = pl.LazyFrame({"query": 1, "item": ["a", "b"], "score": [0.5, float("nan")]})
    plan = ranked(frame, keys=["query"], item="item", score="score", ties="item_desc", rank="rank")
    with pytest.raises(TableError, match="finite"), raising():
        plan.filter(pl.col("rank") <= 1).select("rank").collect(engine=engine)


def test_the_plan_is_lazy_and_can_be_serialised():
    frame = pl.LazyFrame({"query": [1, 1], "item": ["a", "b"], "score": [0.5, 0.7]})
    plan = ranked(frame, keys=["query"], item="item", score="score", ties="item_asc", rank="rank")
    again = pl.LazyFrame.deserialize(BytesIO(plan.serialize()))
    assert again.collect()["rank"].to_list() == [2, 1]
    assert frame.collect_schema().names() == ["query", "item", "score"]


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"ties": "random"}, OptionError, "`ties` must be one of 'item_desc', 'item_asc', 'first', 'expected', "),
        ({"item": None}, OptionError, "`ties` must be 'first' where there is no item column, got 'item_desc'"),
        ({"score": "scroe"}, MissingColumnError, "there is no column 'scroe', did you mean 'score'?"),
        ({"score": "item"}, TableError, "the score column 'item' must hold numbers, got String. Hint: cast it"),
    ],
)
def test_what_cannot_be_ranked_is_refused_at_once(options, error, text):
    with pytest.raises(error) as caught:
        rank(pl.LazyFrame({"query": [1], "item": ["a"], "score": [0.5]}), **options)
    assert str(caught.value).startswith(text)
