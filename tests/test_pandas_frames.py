"""pandas frames: keys come back exactly as they went in, columns that nobody asked for are left alone."""

import datetime as dt
import decimal
import uuid

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pandas.testing import assert_frame_equal, assert_index_equal

import frame_metrics as fm

DAYS = pd.to_datetime(["2026-01-02", "2026-01-01", "2026-01-03"])

# Three different keys of each type, in no order.
KEYS = {
    "str": pd.Series(["b", "a", "c"]),
    "object": pd.Series(["b", "a", "c"], dtype=object),
    "mixed": pd.Series([2, "two", 3.5], dtype=object),
    "uuid": pd.Series([uuid.UUID(int=2), uuid.UUID(int=1), uuid.UUID(int=3)]),
    "tuple": pd.Series([("b", 1), ("a", 2), ("c", 3)]),
    "date": pd.Series([dt.date(2026, 1, 2), dt.date(2026, 1, 1), dt.date(2026, 1, 3)]),
    "decimal": pd.Series([decimal.Decimal("2.5"), decimal.Decimal(1), decimal.Decimal(3)]),
    "bytes": pd.Series([b"b", b"a", b"c"]),
    "category": pd.Series(pd.Categorical(["b", "a", "c"], categories=["unused", "c", "a", "b"])),
    "ordered": pd.Series(
        pd.Categorical(["low", "high", "mid"], categories=["low", "mid", "high", "top"], ordered=True)
    ),
    "int category": pd.Series(pd.Categorical([20, 10, 30], categories=[30, 20, 10, 0])),
    "int64": pd.Series([20, 10, 30]),
    "int8": pd.Series([20, 10, 30], dtype="int8"),
    "uint64": pd.Series([2**64 - 1, 10, 30], dtype="uint64"),
    "Int64": pd.Series([20, 10, 30], dtype="Int64"),
    "UInt8": pd.Series([20, 10, 30], dtype="UInt8"),
    "float": pd.Series([2.5, -1.0, 3.0]),
    "float32": pd.Series([2.5, -1.0, 3.0], dtype="float32"),
    "Float64": pd.Series([2.5, -1.0, 3.0], dtype="Float64"),
    "string": pd.Series(["b", "a", "c"], dtype="string"),
    "arrow string": pd.Series(["b", "a", "c"], dtype=pd.ArrowDtype(pa.string())),
    "arrow int": pd.Series([20, 10, 30], dtype=pd.ArrowDtype(pa.int32())),
    "arrow time": pd.Series(DAYS.to_pydatetime(), dtype=pd.ArrowDtype(pa.timestamp("us", tz="Europe/Paris"))),
    "datetime": pd.Series(DAYS),
    "seconds": pd.Series(DAYS.astype("datetime64[s]")),
    "tz": pd.Series(DAYS.tz_localize("Europe/Paris")),
    "timedelta": pd.Series(DAYS - DAYS[1]),
    "period": pd.Series(DAYS.to_period("D")),
    "interval": pd.Series(pd.arrays.IntervalArray.from_breaks([0, 1, 2, 3]).take([1, 0, 2])),
}
# What Arrow has no type for may be refused where it would have to be joined.
NOT_JOINED = {"mixed", "uuid", "tuple", "period", "interval"}
WITH_NULLS = {
    "str": (KEYS["str"], None),
    "object": (KEYS["object"], None),
    "mixed": (KEYS["mixed"], None),
    "category": (KEYS["category"], None),
    "Int64": (KEYS["Int64"], pd.NA),
    "float": (KEYS["float"], float("nan")),
    "string": (KEYS["string"], pd.NA),
    "arrow int": (KEYS["arrow int"], pd.NA),
    "boolean": (pd.Series([True, False, True], dtype="boolean"), pd.NA),
    "datetime": (KEYS["datetime"], pd.NaT),
    "tz": (KEYS["tz"], pd.NaT),
    "timedelta": (KEYS["timedelta"], pd.NaT),
    "period": (KEYS["period"], pd.NaT),
    "interval": (pd.Series(pd.arrays.IntervalArray.from_breaks([0.0, 0.5, 1.0, 1.5])), float("nan")),
}


STRANGE = {
    "complex": [1j] * 6,
    "mixed": [1, "x", None, 2.5, (1,), {}],
    "sets": [{1}, {2}, {3}, {4}, {5}, {6}],
    "frames": [pd.DataFrame()] * 6,
    "big-endian": np.arange(6, dtype=">i8"),
    "longdouble": np.arange(6, dtype=np.longdouble),
    "sparse": pd.arrays.SparseArray([0] * 6),
    "period": pd.period_range("2026-01", periods=6, freq="M"),
}


def twice(keys):
    """Return each key twice; `Series.repeat` would make text of objects."""
    return keys.take([0, 0, 1, 1, 2, 2]).set_axis(range(6))


def table(key=None, name="query", **columns):
    """Return three lists of two rows, one for each key; the first relevant item stands at rank 1, 2 and nowhere."""
    keys = pd.Series(["b", "a", "c"]) if key is None else key
    made = {
        "query": ["b", "b", "a", "a", "c", "c"],
        "item": ["x", "y"] * 3,
        "rank": [1, 2] * 3,
        "relevance": [1, 0, 0, 1, 0, 0],
        name: twice(keys),
    }
    return pd.DataFrame(made | columns)


MRR = [1.0, 0.5, 0.0]


def sorted_keys(keys):
    """Return keys and values in the order that pandas gives them, or as they came where they have none."""
    expected = pd.DataFrame({"key": keys.reset_index(drop=True), "mrr": MRR})
    try:
        return expected.sort_values("key", ignore_index=True)
    except TypeError:
        return expected


class TestKeys:
    @pytest.mark.parametrize("kind", KEYS)
    def test_queries_come_back_exactly(self, kind):
        found = table(KEYS[kind]).rank.per_query().mrr()
        assert_frame_equal(found.rename(columns={"query": "key"}), sorted_keys(KEYS[kind]))
        assert [type(value) for value in found["query"]] == [type(value) for value in sorted_keys(KEYS[kind])["key"]]

    @pytest.mark.parametrize("kind", KEYS)
    def test_segments_come_back_exactly(self, kind):
        found = table(KEYS[kind], "segment").rank.by("segment").mrr()
        assert_frame_equal(found.rename(columns={"segment": "key"}), sorted_keys(KEYS[kind]))

    @pytest.mark.parametrize("kind", KEYS)
    def test_keys_of_curves_and_cuts(self, kind):
        ranking = table(KEYS[kind], "segment").rank.by("segment")
        for found in (ranking.at_k("mrr", [1, 2]), ranking.pr_curve()):
            assert found["segment"].dtype == KEYS[kind].dtype
            assert set(found["segment"]) == set(KEYS[kind])
            assert found["k"].tolist() == [1, 2] * 3

    def test_booleans(self):
        for dtype in ("bool", "boolean", object):
            found = table(pd.Series([True, False, True], dtype=dtype), "segment").rank.by("segment").mrr()
            assert found["segment"].dtype == dtype
            assert found["segment"].tolist() == [False, True]
            assert found["mrr"].tolist() == [0.5, 0.5]

    @pytest.mark.parametrize("kind", WITH_NULLS)
    def test_null_segments_come_last(self, kind):
        keys, null = WITH_NULLS[kind]
        keys = keys.copy()
        keys.iloc[0] = null
        found = table(keys, "segment").rank.by("segment").mrr()
        assert found["segment"].dtype == keys.dtype
        assert found["segment"].isna().tolist()[-1]
        assert found["mrr"].iloc[-1] == 1.0
        assert found["segment"].notna().tolist()[:-1] == [True] * (len(found) - 1)

    @pytest.mark.parametrize("kind", WITH_NULLS)
    def test_null_queries_are_refused(self, kind):
        keys, null = WITH_NULLS[kind]
        keys = keys.copy()
        keys.iloc[0] = null
        with pytest.raises(fm.TableError, match="null query"):
            table(keys).rank.mrr()

    @pytest.mark.parametrize("kind", ["category", "ordered"])
    def test_categories_give_the_order(self, kind):
        found = table(KEYS[kind], "segment").rank.by("segment").mrr()["segment"]
        assert found.cat.categories.equals(KEYS[kind].cat.categories)
        assert found.cat.ordered == KEYS[kind].cat.ordered
        assert found.cat.codes.is_monotonic_increasing

    def test_several_keys(self):
        made = table(KEYS["category"], "segment", day=twice(KEYS["tz"]))
        found = made.rank.by("segment", "day").per_query().mrr()
        assert found.dtypes.tolist() == [made["segment"].dtype, made["day"].dtype, made["query"].dtype, np.dtype(float)]
        assert found["query"].tolist() == ["c", "a", "b"]

    def test_keys_that_are_equal_are_one(self):
        keys = pd.Series([1, 1.0, True], dtype=object)
        made = table(keys, "segment")
        expected = made.groupby("segment").ngroups
        assert len(made.rank.by("segment").mrr()) == expected

    @pytest.mark.parametrize("name", ["rank", "relevance"])
    @pytest.mark.parametrize("dtype", ["int64", "float64", "Int64"])
    def test_segment_that_plays_a_role(self, name, dtype):
        made = table(relevance=[3, 0, 0, 2, 0, 0]).astype({name: dtype})
        found = made.rank.by(name).evaluate("num_rel", "num_ret")
        expected = pl.from_pandas(made).rank.by(name).evaluate("num_rel", "num_ret")
        assert found[name].dtype == dtype
        assert [tuple(row) for row in found.to_numpy().tolist()] == expected.rows()

    def test_items_of_any_type(self):
        for items in ([1, "x"], [("x",), ("y",)], [uuid.UUID(int=1), None], [pd.NaT, pd.Timestamp(0)]):
            assert table(item=pd.Series(items * 3, dtype=object)).rank.mrr() == 0.5


class TestIndex:
    def test_level_as_segment(self):
        made = table(KEYS["tz"], "day").set_index("day")
        found = made.rank.by("day").mrr()
        assert_frame_equal(found.rename(columns={"day": "key"}), sorted_keys(KEYS["tz"]))

    def test_level_as_query_item_rank_or_relevance(self):
        for name in ("query", "item", "rank", "relevance"):
            assert table().set_index(name).rank.mrr() == 0.5
        assert table().set_index(["query", "item", "rank", "relevance"]).assign(x=1).rank.mrr() == 0.5

    def test_several_levels(self):
        made = table(KEYS["category"], "segment").set_index(["segment", "query"])
        found = made.rank.by("segment").per_query().mrr()
        assert found.columns.tolist() == ["segment", "query", "mrr"]
        assert found["segment"].dtype == KEYS["category"].dtype
        assert found["query"].tolist() == ["c", "a", "b"]

    @pytest.mark.parametrize("name", ["country", "query"])
    def test_both_a_column_and_a_level(self, name):
        made = table(country="fr")
        made.index = pd.Index(range(6), name=name)
        with pytest.raises(fm.TableError, match=f"'{name}' is both a column and an index level. Hint"):
            made.rank.by("country").mrr()

    def test_a_level_nobody_asks_for_may_have_the_name_of_a_column(self):
        made = table(country="fr")
        made.index = pd.Index(range(6), name="country")
        assert made.rank.mrr() == 0.5

    @pytest.mark.parametrize(
        "index",
        [
            [0] * 6,
            list("aabbcc"),
            [None] * 6,
            [3.5, 1, "x", (1, 2), None, True],
            pd.MultiIndex.from_product([["u", "v"], [1, 2, 3]]),
            pd.date_range("2026-01-01", periods=6, tz="UTC"),
            pd.RangeIndex(60, 0, -10, name="n"),
        ],
        ids=["same", "repeated", "none", "mixed", "multi", "dates", "backward"],
    )
    def test_any_index(self, index):
        made = table().set_axis(index, axis=0)
        assert made.rank.mrr() == 0.5
        assert_frame_equal(made.rank.per_query().mrr(), table().rank.per_query().mrr())
        assert_frame_equal(made.rank.check(), table().rank.check())

    @pytest.mark.parametrize(
        "ask",
        [
            lambda ranking: ranking.per_query().mrr(),
            lambda ranking: ranking.by("country").mrr(),
            lambda ranking: ranking.evaluate("mrr"),
            lambda ranking: ranking.at_k("mrr", [1, 2]),
            lambda ranking: ranking.roc_curve(),
            lambda ranking: ranking.pr_curve(),
            lambda ranking: ranking.check(),
        ],
        ids=["per_query", "by", "evaluate", "at_k", "roc_curve", "pr_curve", "check"],
    )
    def test_result_has_a_plain_index(self, ask):
        made = table(country=["fr", "us"] * 3).set_axis(list("fedcba"), axis=0).rename_axis(columns="what")
        found = ask(made.rank)
        assert_index_equal(found.index, pd.RangeIndex(len(found)), exact=True)
        assert found.columns.name is None

    def test_columns_index_with_a_name(self):
        made = table().rename_axis(columns="what")
        assert made.rank.per_query().mrr()["mrr"].tolist() == [0.5, 1.0, 0.0]

    def test_columns_of_several_levels(self):
        made = table()
        made.columns = pd.MultiIndex.from_product([["all"], made.columns])
        with pytest.raises(fm.MissingColumnError, match="no column 'query'"):
            made.rank.mrr()

    def test_categorical_columns(self):
        made = table()
        made.columns = pd.CategoricalIndex(made.columns)
        assert made.rank.mrr() == 0.5

    def test_columns_whose_names_are_no_text(self):
        made = table().assign(x=0).rename(columns={"x": 7})
        assert made.rank.mrr() == 0.5
        with pytest.raises(fm.MissingColumnError, match="no column '7'"):
            made.rank.by("7").mrr()


class Unreadable:
    """A value that fails whoever looks at it."""

    def _fail(self, *_):
        raise AssertionError("nobody asked for this column")

    __hash__ = __eq__ = __str__ = __repr__ = __bool__ = __float__ = __len__ = _fail


def repeated(name):
    """Return a table which has this column twice."""
    made = table(country="fr")
    return pd.concat([made, made[[name]]], axis=1)


class TestOtherColumns:
    @pytest.mark.parametrize("name", ["query", "item", "rank", "relevance", "country"])
    def test_a_needed_column_that_stands_twice(self, name):
        with pytest.raises(fm.TableError, match=f"there are 2 columns '{name}'. Hint"):
            repeated(name).rank.by("country").mrr()

    @pytest.mark.parametrize("name", ["country", "other"])
    def test_others_may_stand_twice(self, name):
        made = repeated("country").rename(columns={"country": name})
        assert made.rank.mrr() == 0.5
        assert made.rank.per_query().evaluate("mrr", "num_ret").shape == (3, 3)

    @pytest.mark.parametrize("column", STRANGE.values(), ids=STRANGE)
    def test_columns_that_nobody_needs(self, column):
        made = table().assign(other=pd.Series(column))
        assert made.rank.mrr() == 0.5
        assert made.assign(score=[2, 1] * 3).rank.from_scores("score").mrr() == 0.5

    @pytest.mark.parametrize("column", STRANGE.values(), ids=STRANGE)
    def test_columns_of_judgments_that_nobody_needs(self, column):
        qrels = table().assign(other=pd.Series(column))
        assert table().drop(columns="relevance").rank.judged_by(qrels).mrr() == 0.5

    @pytest.mark.parametrize("column", STRANGE.values(), ids=STRANGE)
    def test_columns_that_are_kept(self, column):
        made = table().assign(other=pd.Series(column))
        found = made.rank.cascade()
        assert found.columns.tolist() == [*made.columns, "cascade"]
        assert found["other"].dtype == made["other"].dtype
        assert found["other"].tolist() == made["other"].tolist()
        assert found["cascade"].tolist() == [0.5, 0.0, 0.0, 0.5, 0.0, 0.0]

    def test_not_looked_at(self):
        made = table(other=[Unreadable() for _ in range(6)])
        assert made.rank.mrr() == 0.5
        assert made.rank.per_query().evaluate("mrr", "auc")["mrr"].tolist() == [0.5, 1.0, 0.0]

    def test_item_nobody_needs(self):
        made = table(item=[[1], {2: 3}] * 3)
        assert made.drop(columns="item").rank.mrr() == 0.5
        assert made.rank.mrr() == 0.5

    @pytest.mark.parametrize("name", ["rank", "relevance"])
    @pytest.mark.parametrize(
        "column", [["1", 2] * 3, [1j] * 6, [(1,)] * 6, [{}] * 6], ids=["mixed", "complex", "tuple", "dict"]
    )
    def test_needed_columns_that_hold_no_numbers(self, name, column):
        with pytest.raises(fm.TableError, match=f"'{name}'.*Hint"):
            table(**{name: column}).rank.mrr()


class TestNumbers:
    @pytest.mark.parametrize(
        "dtype",
        [
            "int8",
            "uint8",
            "int64",
            ">i4",
            ">i8",
            "float32",
            ">f8",
            "Int64",
            "UInt8",
            "Float64",
            "int64[pyarrow]",
            "object",
        ],
    )
    def test_ranks(self, dtype):
        made = table(rank=pd.Series([1, 2] * 3).astype(dtype))
        assert made.rank.per_query().mrr()["mrr"].tolist() == [0.5, 1.0, 0.0]

    @pytest.mark.parametrize(
        "dtype", ["float64", "float32", ">f8", "Int64", "UInt8", "Float64", "int64[pyarrow]", "object"]
    )
    def test_ranks_of_misses(self, dtype):
        made = table(rank=pd.Series([None, 2, 1, 2, None, 1], dtype="Float64").astype(dtype))
        found = made.rank.per_query().evaluate("num_ret", "recall")
        assert found["num_ret"].tolist() == [2, 1, 1]
        assert found["recall"].tolist() == [1.0, 0.0, 0.0]

    @pytest.mark.parametrize(
        "dtype",
        [
            "bool",
            "boolean",
            "bool[pyarrow]",
            "int8",
            ">i8",
            "Int64",
            "float32",
            ">f8",
            "Float64",
            "double[pyarrow]",
            "object",
        ],
    )
    def test_relevance(self, dtype):
        made = table(relevance=pd.Series([1, 0, 0, 1, 0, 0]).astype(dtype))
        assert made.rank.per_query().mrr()["mrr"].tolist() == [0.5, 1.0, 0.0]

    @pytest.mark.parametrize("dtype", ["boolean", "bool[pyarrow]", "Int64", "float64", "Float64", "object"])
    def test_relevance_of_the_unjudged(self, dtype):
        made = table(relevance=pd.Series([1, None, 0, 1, None, None], dtype="Int64").astype(dtype))
        found = made.rank.per_query().evaluate("judged", "mrr")
        assert found["judged"].tolist() == [1.0, 0.5, 0.0]
        assert found["mrr"].tolist() == [0.5, 1.0, 0.0]

    def test_categories_of_numbers(self):
        made = table(relevance=pd.Categorical([3, 0, 0, 1, 0, 0], categories=[3, 1, 0]))
        assert made.rank.cg() == pytest.approx(4 / 3)

    def test_decimals(self):
        made = table(relevance=[decimal.Decimal(n) for n in (1, 0, 0, 1, 0, 0)])
        assert made.rank.mrr() == 0.5

    def test_big_endian_keys(self):
        made = table(query=np.array([20, 20, 10, 10, 30, 30], dtype=">i8"))
        found = made.rank.per_query().mrr()
        assert found["query"].tolist() == [10, 20, 30]
        assert found["mrr"].tolist() == [0.5, 1.0, 0.0]

    def test_types_of_results(self):
        found = table().rank.per_query().evaluate("mrr", "num_ret", "auc")
        assert found.dtypes[["mrr", "num_ret", "auc"]].tolist() == [np.dtype(float), np.dtype("int64"), np.dtype(float)]
        assert found["auc"].tolist()[:2] == [0.0, 1.0]

    def test_undefined_is_nan(self):
        found = table().rank.using(no_relevant="skip").per_query().evaluate("mrr", "auc")
        assert found["mrr"].isna().tolist() == found["auc"].isna().tolist() == [False, False, True]
        assert found.dtypes[["mrr", "auc"]].tolist() == [np.dtype(float)] * 2


class TestEmpty:
    @pytest.mark.parametrize("kind", KEYS)
    def test_keys_keep_their_type(self, kind):
        found = table(KEYS[kind]).iloc[:0].rank.per_query().evaluate("mrr", "num_ret")
        assert found.shape == (0, 3)
        assert found["query"].dtype == KEYS[kind].dtype
        assert found["mrr"].dtype == float

    def test_numbers(self):
        made = table().iloc[:0]
        assert np.isnan(made.rank.mrr())
        assert made.rank.num_ret() == 0.0
        assert made.rank.by("query").mrr().shape == (0, 2)

    def test_columns_without_a_type(self):
        made = pd.DataFrame(columns=["query", "item", "rank", "relevance"])
        assert np.isnan(made.rank.mrr())
        assert made.rank.per_query().mrr().shape == (0, 2)


class TestResults:
    def test_attrs_are_kept(self):
        made = table(country="fr")
        made.attrs = {"source": {"run": 7}}
        for found in (
            made.rank.per_query().mrr(),
            made.rank.evaluate("mrr"),
            made.rank.cascade(),
            made.rank.pr_curve(),
        ):
            assert found.attrs == {"source": {"run": 7}}

    def test_attrs_are_not_shared(self):
        made = table()
        made.attrs = {"source": [1]}
        made.rank.per_query().mrr().attrs["source"] = "changed"
        assert made.attrs == {"source": [1]}

    def test_subclass_gives_a_frame(self):
        class Own(pd.DataFrame):
            @property
            def _constructor(self):
                return Own

        assert type(Own(table()).rank.per_query().mrr()) is pd.DataFrame

    @pytest.mark.parametrize("kind", ["int64", "float", "str", "category", "datetime"])
    def test_writing_into_the_frame_leaves_results_alone(self, kind):
        made = table(KEYS[kind])
        results = [made.rank.per_query().mrr(), made.rank.by("query").evaluate("mrr", "num_ret"), made.rank.cascade()]
        before = [found.copy(deep=True) for found in results]
        for name in ("query", "rank", "relevance"):
            made.loc[:, name] = made[name].iloc[0]
        made.iloc[:, 2] = 77
        for found, expected in zip(results, before, strict=True):
            assert_frame_equal(found, expected)

    def test_writing_into_results_leaves_the_frame_alone(self):
        made = table(KEYS["int64"])
        before = made.copy(deep=True)
        for found in (made.rank.per_query().mrr(), made.rank.cascade()):
            found.iloc[:, 0] = 0
            found.loc[:, "query"] = 5
        assert_frame_equal(made, before)

    def test_a_kept_question_sees_the_frame_as_it_is(self):
        made = table()
        ranking = made.rank.per_query()
        made.loc[0, "relevance"] = 0
        assert ranking.mrr()["mrr"].tolist() == [0.5, 0.0, 0.0]

    def test_writing_into_judgments_leaves_a_plan_alone(self):
        run = pl.LazyFrame({"query": [1, 1], "item": [1, 2], "rank": [1, 2]})
        qrels = pd.DataFrame({"query": np.array([1, 1]), "item": np.array([1, 2]), "relevance": np.array([1, 0])})
        plan = run.rank.judged_by(qrels).mrr()
        qrels.iloc[:, 2] = [0, 0]
        qrels.iloc[1, 2] = 1
        assert plan.collect().item() == 1.0


class TestSteps:
    @pytest.mark.parametrize("kind", KEYS)
    def test_keys_after_scores(self, kind):
        made = table(KEYS[kind], score=[0.9, 0.1] * 3).drop(columns="rank")
        found = made.rank.from_scores("score").per_query().mrr()
        assert_frame_equal(found.rename(columns={"query": "key"}), sorted_keys(KEYS[kind]))

    @pytest.mark.parametrize("kind", KEYS)
    def test_keys_after_judgments(self, kind):
        made = table(KEYS[kind])
        ranking = made.drop(columns="relevance").rank.judged_by(made).per_query()
        try:
            found = ranking.mrr()
        except fm.TableError as error:
            assert kind in NOT_JOINED, error  # noqa: PT017
            assert "'query'" in str(error)  # noqa: PT017
        else:
            assert_frame_equal(found.rename(columns={"query": "key"}), sorted_keys(KEYS[kind]))

    @pytest.mark.parametrize("kind", ["category", "tz", "Int64", "period", "str", "object"])
    def test_segments_after_judgments(self, kind):
        made = table(KEYS[kind], "segment")
        found = made.drop(columns="relevance").rank.judged_by(made[["query", "item", "relevance"]]).by("segment").mrr()
        assert_frame_equal(found.rename(columns={"segment": "key"}), sorted_keys(KEYS[kind]))

    def test_keys_of_queries_that_were_not_run(self):
        qrels = pd.DataFrame({"query": ["a", "z"], "item": ["y", "y"], "relevance": [1, 1]})
        found = table().drop(columns="relevance").rank.judged_by(qrels).per_query().recall()
        assert found["query"].tolist() == ["a", "z"]
        assert found["query"].dtype == table()["query"].dtype
        assert found["recall"].tolist() == [1.0, 0.0]

    def test_categories_that_differ(self):
        run = table(pd.Series(pd.Categorical(["b", "a", "c"]))).drop(columns="relevance")
        qrels = table(pd.Series(pd.Categorical(["b", "a", "c"], categories=["z", "c", "b", "a"])))
        assert run.rank.judged_by(qrels).mrr() == 0.5

    @pytest.mark.parametrize(
        "dtypes", [("category", "str"), ("str", "category"), ("object", "string"), ("int8", "Int64")]
    )
    def test_types_that_are_alike(self, dtypes):
        keys = pd.Series(["2", "1", "3"])
        run, qrels = (table(keys.astype(int).astype(d) if "int" in d.lower() else keys.astype(d)) for d in dtypes)
        assert run.drop(columns="relevance").rank.judged_by(qrels).mrr() == 0.5

    def test_types_that_are_not(self):
        run, qrels = table(KEYS["int64"]), table(KEYS["str"])
        with pytest.raises(fm.TableError, match="the query must be of one type in both tables"):
            run.rank.judged_by(qrels).mrr()

    def test_judgments_with_an_index(self):
        qrels = table()[["query", "item", "relevance"]].set_index(["query", "item"])
        assert table().drop(columns="relevance").rank.judged_by(qrels).mrr() == 0.5

    def test_run_with_an_index(self):
        run = table().drop(columns="relevance").set_index(["query", "item"])
        assert run.rank.judged_by(table()).mrr() == 0.5
        assert run.assign(score=[2, 1] * 3, relevance=[1, 0] * 3).rank.from_scores("score").mrr() == 1.0

    def test_judgments_that_stand_twice(self):
        with pytest.raises(fm.TableError, match="there are 2 columns 'relevance'"):
            table().drop(columns="relevance").rank.judged_by(repeated("relevance")).mrr()

    def test_nan_scores_are_misses(self):
        made = table(score=[None, 0.5] * 3).drop(columns="rank")
        assert made.rank.from_scores("score").evaluate("num_ret", "num_rel_ret").iloc[0].tolist() == [3, 1]

    def test_missing_columns_are_said_before_steps(self):
        with pytest.raises(fm.MissingColumnError, match=r"no column 'country'.*The table has 'query', 'item'"):
            table().rank.judged_by(table()).by("country").mrr()

    def test_error_names_the_key(self):
        made = table(KEYS["category"], item="x").drop(columns="relevance")
        with pytest.raises(fm.TableError, match=r"query [abc], item x"):
            made.rank.judged_by(table(KEYS["category"])).mrr()
