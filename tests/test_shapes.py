"""Wide frames, list columns and dicts as the long table, against plain loops."""

from __future__ import annotations

from io import BytesIO

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frame_metrics  # noqa: F401 puts .rank on frames
from frame_metrics.dicts import from_dicts
from frame_metrics.errors import MissingColumnError, OptionError, TableError
from frame_metrics.failing import raising
from frame_metrics.shapes import from_lists, from_wide

ENGINES = ["in-memory", "streaming"]
COLUMNS = ["query", "item", "rank", "relevance"]
COUNTRIES = {
    "p1": ["US", "FR", "FR"],
    "p2": ["FR", "US", "FR"],
    "p3": ["CN", "CN", "CN"],
    "truth": ["US", "CN", "FR"],
}
PREDICTIONS = ["p1", "p2", "p3"]
ITEMS = st.none() | st.sampled_from("abcdef")
LISTS = st.none() | st.lists(ITEMS, max_size=5)


def polars_frame(columns):
    return pl.DataFrame(columns)


def lazy_frame(columns):
    return pl.LazyFrame(columns)


def pandas_frame(columns):
    return pd.DataFrame(columns)


KINDS = [polars_frame, lazy_frame, pandas_frame]


def rows(table, engine="in-memory"):
    """The rows of a table of any kind, in its order, with None for what is missing."""
    if isinstance(table, pd.DataFrame):
        table = pl.from_pandas(table)
    with raising():
        return table.lazy().collect(engine=engine).rows()


def oracle(predicted, truth, grade):
    """The rows of one query: predicted items at their first places, then the answers that were missed."""
    grades = {}
    for place, item in enumerate(truth or [], 1):
        if item is not None:
            grades.setdefault(item, grade(place))
    ranks = {}
    for place, item in enumerate(predicted or [], 1):
        if item is not None:
            ranks.setdefault(item, place)
    ranks |= {item: None for item in grades if item not in ranks}
    return [(item, rank, grades.get(item, 0)) for item, rank in ranks.items()] or [(None, None, None)]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("truth_grades", ["flat", "reciprocal"])
@settings(deadline=None)
@given(lists=st.lists(st.tuples(LISTS, LISTS), max_size=8))
def test_lists_become_what_a_loop_makes_of_them(truth_grades, engine, lists):
    columns = {"predicted": [one for one, _ in lists], "truth": [other for _, other in lists]}
    schema = dict.fromkeys(columns, pl.List(pl.String))
    table = from_lists(
        pl.LazyFrame(columns, schema=schema), predicted="predicted", truth="truth", truth_grades=truth_grades
    )
    grade = {"flat": lambda _: 1, "reciprocal": lambda place: 1 / place}[truth_grades]
    expected = [(query, *row) for query, pair in enumerate(lists) for row in oracle(*pair, grade)]
    assert rows(table, engine) == expected


@pytest.mark.parametrize("engine", ENGINES)
@settings(deadline=None)
@given(places=st.lists(st.tuples(ITEMS, ITEMS, ITEMS, ITEMS, ITEMS), max_size=8))
def test_wide_frames_become_what_a_loop_makes_of_them(engine, places):
    names = ["p1", "p2", "p3", "t1", "t2"]
    frame = pl.LazyFrame(places, schema=dict.fromkeys(names, pl.String), orient="row")
    table = from_wide(frame, predictions=names[:3], truth=names[3:], truth_grades="reciprocal")
    expected = [(query, *row) for query, p in enumerate(places) for row in oracle(p[:3], p[3:], lambda n: 1 / n)]
    assert rows(table, engine) == expected


@pytest.mark.parametrize("make", KINDS)
def test_the_numbers_of_the_contract(make):
    table = from_wide(make(COUNTRIES), predictions=PREDICTIONS, truth="truth")
    assert type(table) is type(make(COUNTRIES))
    score = pl.DataFrame(rows(table), schema=COLUMNS, orient="row").rank.per_query().ndcg(k=5).sort("query")
    assert score["ndcg@5"].to_list() == [1.0, 0.5, 1.0]


@pytest.mark.parametrize("make", KINDS)
def test_every_kind_of_frame_gives_the_same_rows(make):
    frame = make(COUNTRIES | {"user": ["u", "v", "w"], "day": [1, 1, 2]})
    table = from_wide(frame, predictions=PREDICTIONS, truth="truth", query="user")
    names = table.collect_schema().names() if isinstance(table, pl.LazyFrame) else list(table.columns)
    assert names == [*COLUMNS, "day"]
    assert rows(table) == [
        *[("u", "US", 1, 1, 1), ("u", "FR", 2, 0, 1), ("u", "CN", 3, 0, 1)],
        *[("v", "FR", 1, 0, 1), ("v", "US", 2, 0, 1), ("v", "CN", 3, 1, 1)],
        *[("w", "FR", 1, 1, 2), ("w", "CN", 3, 0, 2)],
    ]


@pytest.mark.parametrize("make", KINDS)
def test_lists_of_every_kind_of_frame(make):
    columns = {"shown": [["a", "b"], [], None, ["c"]], "bought": [["b", "z"], ["y"], None, []], "user": list("stuv")}
    table = from_lists(make(columns), predicted="shown", truth="bought", query="user")
    assert rows(table) == [
        *[("s", "a", 1, 0), ("s", "b", 2, 1), ("s", "z", None, 1)],
        *[("t", "y", None, 1), ("u", None, None, None), ("v", "c", 1, 0)],
    ]


def test_a_query_without_anything_still_counts():
    frame = pl.DataFrame({"p": [["a"], []], "t": [["a"], []]}, schema=dict.fromkeys("pt", pl.List(pl.String)))
    assert from_lists(frame, predicted="p", truth="t").rank.mrr() == 0.5


@pytest.mark.parametrize("name", ["rank", "relevance", "item"])
def test_types_of_the_columns(name):
    types = {"rank": pl.Int64, "relevance": pl.Int64, "item": pl.Int32, "query": pl.Int64}
    frame = pl.DataFrame({"p": [[1, 2]], "t": [[2]]}, schema=dict.fromkeys("pt", pl.List(pl.Int32)))
    assert from_lists(frame, predicted="p", truth="t").schema[name] == types[name]


def test_rows_with_one_query_are_lists_of_their_own():
    frame = pl.DataFrame({"user": ["u", "u"], "day": [1, 2], "p": ["a", "a"], "t": ["a", "b"]})
    table = from_wide(frame, predictions=["p"], truth="t", query="user")
    assert table.rows() == [("u", "a", 1, 1, 1), ("u", "a", 1, 0, 2), ("u", "b", None, 1, 2)]


@pytest.mark.parametrize("engine", ENGINES)
def test_scores_put_the_list_in_order(engine):
    columns = {"p": [["a", "b", "c", "a", "d"]], "s": [[0.5, 0.9, 0.5, 0.7, None]], "t": [["c", "d"]]}
    table = from_lists(pl.LazyFrame(columns), predicted="p", truth="t", scores="s")
    assert rows(table, engine) == [(0, "a", 2, 0), (0, "b", 1, 0), (0, "c", 4, 1), (0, "d", None, 1)]


@pytest.mark.parametrize("grades", [[[3, 0, 2]], [[3.0, 0.0, 2.0]]])
def test_explicit_grades_are_those_of_the_first_place(grades):
    frame = pl.DataFrame({"p": [["b", "x"]], "t": [["a", "b", "a"]], "g": grades})
    assert from_lists(frame, predicted="p", truth="t", grades="g").rows() == [
        *[(0, "b", 1, 0), (0, "x", 2, 0), (0, "a", None, 3)],
    ]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"scores": "two"}, "there must be one score for each predicted item, but there are 2 for 3: row 1 of the"),
        ({"scores": "none"}, "there must be one score for each predicted item, but there are 0 for 3: row 1 of the"),
        ({"scores": "nan"}, "scores must be finite, but one is not: row 1 of the frame, from 0"),
        ({"grades": "three"}, "there must be one grade for each answer, but there are 3 for 2: row 1 of the frame"),
        ({"grades": "gap"}, "there must be one grade for each answer, but there are 1 for 2: row 1 of the frame"),
    ],
)
def test_scores_and_grades_that_do_not_go_with_the_items_fail_the_plan(options, text, engine):
    columns = {"p": [["a"], ["a", "b", "c"]], "t": [["a"], ["a", "b"]]}
    extra = {"two": [1.0, 2.0], "none": None, "nan": [1.0, float("nan"), 2.0], "three": [1, 2, 3], "gap": [1, None]}
    columns |= {name: [[1], values] for name, values in extra.items()}
    with pytest.raises(TableError) as caught:
        rows(from_lists(pl.LazyFrame(columns, strict=False), predicted="p", truth="t", **options), engine)
    assert str(caught.value).startswith(text)


def test_arrays_are_lists():
    frame = pl.DataFrame(
        {"p": [["a", "b"]], "t": [["b"]]}, schema={"p": pl.Array(pl.String, 2), "t": pl.Array(pl.String, 1)}
    )
    assert from_lists(frame, predicted="p", truth="t").rows() == [(0, "a", 1, 0), (0, "b", 2, 1)]


def test_truth_may_be_lists_in_a_wide_frame():
    frame = pl.DataFrame({"p": ["a", "b", "c"], "t": [["a", "z"], None, []], "more": [None, "b", None]})
    assert from_wide(frame, predictions=["p"], truth=["t", "more"], truth_grades="reciprocal").rows() == [
        *[(0, "a", 1, 1.0), (0, "z", None, 0.5), (1, "b", 1, 1.0), (2, "c", 1, 0.0)],
    ]


@pytest.mark.parametrize(
    ("one", "other", "common"),
    [
        (pl.Int64, pl.Int32, pl.Int64),
        (pl.Int64, pl.UInt64, pl.Int64),
        (pl.Int64, pl.Float64, pl.Float64),
        (pl.String, pl.Categorical, pl.String),
        (pl.Categorical, pl.Enum(["1", "2"]), pl.String),
        (pl.Null, pl.String, pl.String),
        (pl.Date, pl.Date, pl.Date),
    ],
)
def test_items_of_like_types_are_compared(one, other, common):
    values = [None] if one == pl.Null else [1]
    texts = pl.Series(values).cast(pl.Int32).cast(pl.Date if one == pl.Date else pl.String)
    frame = pl.DataFrame(
        {"p": texts.cast(one, strict=False), "t": pl.Series([1]).cast(pl.Int32).cast(texts.dtype).cast(other)}
    )
    table = from_wide(frame, predictions=["p"], truth="t")
    assert table.schema["item"] == common
    assert table.height == 1


def test_pandas_integers_with_gaps_are_still_the_same_items():
    frame = pd.DataFrame({"p1": [1, 2], "p2": [3.0, np.nan], "t": [3, 7]})
    table = from_wide(frame, predictions=["p1", "p2"], truth="t")
    assert rows(table) == [(0, 1, 1, 0), (0, 3, 2, 1), (1, 2, 1, 0), (1, 7, None, 1)]


def test_pandas_cells_may_be_arrays_and_tuples():
    frame = pd.DataFrame({"p": [np.array([1, 2]), (3,)], "t": [[2], np.nan]})
    table = from_lists(frame, predicted="p", truth="t")
    assert rows(table) == [(0, 1, 1, 0), (0, 2, 2, 1), (1, 3, 1, 0)]


def test_pandas_index_levels_are_columns():
    frame = pd.DataFrame({"p": ["a"], "t": ["a"]}, index=pd.Index(["u"], name="user"))
    assert rows(from_wide(frame, predictions=["p"], truth="t", query="user")) == [("u", "a", 1, 1)]


@pytest.mark.parametrize("make", KINDS)
def test_the_input_stays_as_it_was(make):
    frame = make(COUNTRIES)
    before = pl.from_pandas(frame) if isinstance(frame, pd.DataFrame) else frame.lazy().collect()
    from_wide(frame, predictions=PREDICTIONS, truth="truth")
    after = pl.from_pandas(frame) if isinstance(frame, pd.DataFrame) else frame.lazy().collect()
    assert before.equals(after)


def test_plans_can_be_serialised():
    columns = {"p": [["a", "b"]], "s": [[1.0, 2.0]], "t": [["b"]], "g": [[3]]}
    table = from_lists(pl.LazyFrame(columns), predicted="p", truth="t", scores="s", grades="g")
    again = pl.LazyFrame.deserialize(BytesIO(table.serialize()))
    assert rows(again) == rows(table) == [(0, "a", 2, 0), (0, "b", 1, 3)]


def wide(**options):
    options = {"predictions": PREDICTIONS, "truth": "truth"} | options
    return from_wide(options.pop("frame", pl.LazyFrame(COUNTRIES)), **options)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        (
            {"truth": "turth"},
            MissingColumnError,
            "there is no column 'turth', did you mean 'truth'? The table has 'p1'",
        ),
        ({"query": "user"}, MissingColumnError, "there is no column 'user'. The table has 'p1', 'p2', 'p3', 'truth'. "),
        ({"predictions": "p1"}, OptionError, "`predictions` must be one or more names of columns, got 'p1'"),
        ({"predictions": []}, OptionError, "`predictions` must be one or more names of columns, got []"),
        ({"truth": []}, OptionError, "`truth` must be one or more names of columns, got []"),
        (
            {"truth_grades": "flta"},
            OptionError,
            "`truth_grades` must be one of 'flat', 'reciprocal', got 'flta', did you",
        ),
        (
            {"frame": {"p1": ["US"]}},
            TypeError,
            "expected a Polars or pandas frame, a pyarrow Table or an Arrow stream, got dict. Hint: make a frame",
        ),
        (
            {"frame": pl.DataFrame(COUNTRIES | {"rank": 1})},
            TableError,
            "the column 'rank' of the frame would meet the rank of the table. Hint: rename or drop it",
        ),
        (
            {"frame": pl.DataFrame(COUNTRIES | {"query": 1})},
            TableError,
            "the column 'query' of the frame would meet the query of the table. Hint: name it with query='query'",
        ),
        (
            {"frame": pl.DataFrame(COUNTRIES | {"p1": [1, 2, 3]})},
            TableError,
            "predicted items and right answers must be of one type, but 'p1' is Int64, 'p2' is String",
        ),
    ],
)
def test_what_cannot_be_made_long_is_refused_at_once(options, error, text):
    with pytest.raises(error) as caught:
        wide(**options)
    assert str(caught.value).startswith(text)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            {"predicted": "text"},
            "the column 'text' must hold lists, got String. Hint: see from_wide for one column per",
        ),
        ({"scores": "p"}, "the lists of 'p' must hold numbers, got String. Hint: cast them"),
    ],
)
def test_lists_that_are_none_are_refused_at_once(options, text):
    frame = pl.LazyFrame({"p": [["a"]], "t": [["a"]], "text": ["[a, b]"]})
    with pytest.raises(TableError) as caught:
        from_lists(frame, **{"predicted": "p", "truth": "t"} | options)
    assert str(caught.value).startswith(text)


SCORES = st.none() | st.sampled_from([0.0, 1.0, 2.5])
RUNS = st.dictionaries(st.sampled_from("xyz"), st.dictionaries(st.sampled_from("abcde"), SCORES, max_size=5))
QRELS = st.dictionaries(
    st.sampled_from("xyz"), st.dictionaries(st.sampled_from("abcde"), st.integers(-1, 3), max_size=4)
)


@settings(deadline=None)
@given(RUNS, QRELS, st.sampled_from(["qrels", "run", "both"]))
def test_dicts_become_what_a_loop_makes_of_them(run, qrels, queries):
    expected = []
    for query in {"qrels": qrels, "run": run, "both": run.keys() & qrels.keys()}[queries]:
        scores, grades = run.get(query, {}), qrels.get(query, {})
        listed = sorted(
            (item for item in scores if scores[item] is not None), key=lambda i: (scores[i], i), reverse=True
        )
        ranks = {item: place for place, item in enumerate(listed, 1)}
        items = scores.keys() | grades.keys() or {None}
        expected += [(query, item, ranks.get(item), grades.get(item)) for item in items]
    assert set(from_dicts(run, qrels, queries=queries).rows()) == set(expected)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from("xyz"), st.lists(ITEMS, max_size=6)))
def test_ranked_lists_become_what_a_loop_makes_of_them(run):
    places = {query: [row[:2] for row in oracle(items, [], None)] for query, items in run.items()}
    assert from_dicts(run).rows() == [(query, *row) for query, rows in places.items() for row in rows]


@pytest.mark.parametrize(("ties", "first"), [("item_desc", "b"), ("item_asc", "a"), ("first", "b")])
def test_ties_of_dicts(ties, first):
    table = from_dicts({1: {"b": 1, "a": 1.0}}, {1: {"a": 1}}, ties=ties)
    assert table.filter(rank=1)["item"].to_list() == [first]


def test_close_scores_are_ties_for_float32():
    run = {"q": {"a": 16777217.0, "b": 16777216.0}}
    assert from_dicts(run)["item"].to_list() == ["a", "b"]
    assert from_dicts(run, float32=True)["item"].to_list() == ["b", "a"]


def test_dicts_may_hold_values_of_numpy():
    run = {np.str_("q"): {np.int64(1): np.float32(0.5), 2: 1}, "r": {}}
    assert from_dicts(run, {"q": {1: 0.5, 3: 1}}, queries="run").rows() == [
        *[("q", 2, 1, None), ("q", 1, 2, 0.5), ("q", 3, None, 1.0), ("r", None, None, None)],
    ]
    assert from_dicts({"q": np.array(["a", "b"]), "r": ("c",)}).rows() == [("q", "a", 1), ("q", "b", 2), ("r", "c", 1)]


def test_empty_dicts_make_an_empty_table():
    assert from_dicts({}).columns == ["query", "item", "rank"]
    assert from_dicts({}, {}).columns == COLUMNS
    assert from_dicts({}, {"q": {"a": 1}}).rows() == [("q", "a", None, 1)]


@pytest.mark.parametrize(
    ("run", "qrels", "text"),
    [
        ({"q": {}, 1: {}}, None, "each query of `run` must be of one type, text or a number, got int, str. Hint: "),
        ({"q": {"a": 1, 2: 1}}, None, "each item of `run` must be of one type, text or a number, got int, str."),
        ({"q": {("a", 1): 1}}, None, "each item of `run` must be of one type, text or a number, got tuple."),
        ({None: {"a": 1}}, None, "each query of `run` must be of one type, text or a number, got NoneType."),
        ({"q": {"a": "x"}}, None, "each score of `run` must be a number, got str"),
        ({"q": {"a": float("nan")}}, None, "scores must be finite, but one is not: score NaN, query q."),
        ({"q": {"a": 1}}, {"q": {"a": "x"}}, "each relevance of `qrels` must be a number, got str"),
        (
            {"q": {"a": 1}},
            {1: {"a": 1}},
            "the query must be of one type, but 'run' is String, 'qrels' is Int64. Hint: ",
        ),
        ({"q": {"a": 1}}, {"q": {1: 1}}, "the item must be of one type, but 'run' is String, 'qrels' is Int64. Hint: "),
    ],
)
def test_dicts_with_keys_of_several_types_are_refused(run, qrels, text):
    with pytest.raises(TableError) as caught:
        from_dicts(run, qrels)
    assert str(caught.value).startswith(text)


@pytest.mark.parametrize(
    ("run", "options"),
    [
        ({"q": "text"}, {}),
        ({"q": {"a", "b"}}, {}),
        ({"q": ["a"], "r": {"a": 1}}, {}),
        ({"q": {"a": 1}}, {"qrels": {"q": ["a"]}}),
        ({"q": {"a": 1}}, {"qrels": {}, "queries": "all"}),
        ({"q": {"a": 1}}, {"ties": "random"}),
    ],
)
def test_dicts_of_another_shape_are_refused(run, options):
    with pytest.raises(OptionError, match="must be"):
        from_dicts(run, **options)


def test_runs_and_judgments_of_other_queries_are_refused_if_asked():
    with pytest.raises(TableError, match="must have the same queries, but 'r' is in one of them only"):
        from_dicts({"q": {"a": 1}, "r": {}}, {"q": {"a": 1}}, queries="error")
    assert from_dicts({"q": {"a": 1}}, {"q": {"a": 1}}, queries="error").rows() == [("q", "a", 1, 1)]
