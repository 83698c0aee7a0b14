"""What is refused, on every surface: bad tables when they are read, bad parameters when they are given."""

import datetime as dt
import math
import traceback
import uuid

import numpy as np
import pandas as pd
import polars as pl
import pytest

import frame_metrics as fm
from tests.names import PLAIN

KINDS = ("polars", "lazy", "streaming", "pandas")
GOOD = {
    "country": ["fr", "fr", "fr", "us", "us", "us"],
    "query": ["a", "a", "a", "b", "b", "b"],
    "item": ["x", "y", "z", "x", "y", "w"],
    "rank": [1, 2, 3, 1, 2, None],
    "relevance": [0, 1, 2, 1, 0, 1],
}
NAN, INF = math.nan, math.inf
NAMES = lambda value: type(value).__name__  # noqa: E731

# One metric for each way in which rows enter a number.
METRICS = ("ndcg", "precision@2", "recall", "auc", "bpref", "judged", "num_ret", "num_rel", "err", "idcg")
ORDERED = (
    "precision@2",
    "precision(denominator=retrieved)@2",
    "recall@2",
    "f_score@2",
    "hit_rate@2",
    "average_precision",
    "reciprocal_rank",
    "r_precision",
    "cg@2",
    "dcg",
    "ndcg",
    "err",
    "rbp",
    "bpref",
    "iprec",
    "judged@2",
    "fallout@2",
    "hole@2",
    "nerr",
    "rbp_residual",
    "geometric_map",
    "geometric_bpref",
    "inferred_ap",
    "eleven_point_average",
    "binary_gain",
    "normalized_gain",
    "ndcg_at_hits",
    "ndcg_at_grades",
)
UNORDERED = (
    "precision",
    "recall",
    "f_score",
    "hit_rate",
    "cg",
    "idcg",
    "auc",
    "judged",
    "fallout",
    "num_ret",
    "num_rel",
    "num_rel_ret",
    "num_nonrel_judged_ret",
    "num_q",
    "hole",
    "gauc",
    "set_average_precision",
    "utility",
)

QUESTIONS = {
    "metric": lambda ranking: ranking.mrr(),
    "per_query": lambda ranking: ranking.per_query().evaluate("mrr", "num_ret"),
    "by": lambda ranking: ranking.by("country").mrr(),
    "micro": lambda ranking: ranking.using(average="micro").recall(),
    "at_k": lambda ranking: ranking.at_k("ndcg", [1, 2]),
    "roc_curve": lambda ranking: ranking.roc_curve(),
    "pr_curve": lambda ranking: ranking.pr_curve(),
    "cascade": lambda ranking: ranking.cascade(),
}


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


def table(**changes):
    columns = {name: values for name, values in (GOOD | changes).items() if values is not None}
    return pl.DataFrame([pl.Series(name, values, strict=False) for name, values in columns.items()])


def floats(*values):
    return pl.Series(values, dtype=pl.Float64)


def frame(kind, rows):
    if kind == "pandas":
        return rows.to_pandas()
    return rows if kind == "polars" else rows.lazy()


def collected(kind, result):
    if isinstance(result, pl.LazyFrame):
        return result.collect(engine="streaming" if kind == "streaming" else "in-memory")
    return result


def answer(kind, rows, question):
    return collected(kind, question(frame(kind, rows).rank))


def evaluate(metric):
    return lambda ranking: ranking.evaluate(metric)


def refused(kind, rows, question):
    """Return what is said about the rows: by a `TableError` at once, or by Polars when a plan is collected."""
    ranking = frame(kind, rows).rank
    if kind in ("lazy", "streaming"):
        plan = question(ranking)
        with pytest.raises(pl.exceptions.PolarsError) as late:
            collected(kind, plan)
        return str(late.value)
    with pytest.raises(fm.TableError) as caught:
        question(ranking)
    assert_no_other_error_is_shown(caught.value)
    return str(caught.value)


def assert_no_other_error_is_shown(error):
    assert error.__cause__ is None
    assert error.__suppress_context__ or error.__context__ is None
    shown = "".join(traceback.format_exception(error))
    assert "polars.exceptions" not in shown
    assert "conversion" not in shown


def problems(kind, rows):
    """Return `{kind of problem: (count, example)}` that `check` finds."""
    found = answer(kind, rows, lambda ranking: ranking.check())
    assert list(found.columns) == ["kind", "count", "queries", "example"]
    return {name: (int(count), example) for name, count, _, example in pl.DataFrame(found).iter_rows()}


class TestFamily:
    @pytest.mark.parametrize(
        "error", [fm.TableError, fm.MissingColumnError, fm.OptionError, fm.UnknownMetricError], ids=lambda e: e.__name__
    )
    def test_one_family_under_value_error(self, error):
        assert issubclass(error, fm.FrameMetricsError)
        assert issubclass(error, ValueError)

    def test_kinds_within_the_family(self):
        assert issubclass(fm.MissingColumnError, fm.TableError)
        assert issubclass(fm.UnknownMetricError, fm.OptionError)
        assert not issubclass(fm.OptionError, fm.TableError)

    def test_a_good_table_is_fine(self, kind):
        found = answer(kind, table(), lambda ranking: ranking.using(check_rows="all").evaluate(*METRICS))
        assert found.shape == (1, len(METRICS))


class TestMissingColumns:
    @pytest.mark.parametrize("name", ["query", "rank", "relevance"])
    def test_said_at_the_call_with_the_columns_present(self, kind, name):
        ranking = frame(kind, table(**{name: None})).rank
        present = ", ".join(repr(other) for other in GOOD if other != name)
        with pytest.raises(fm.MissingColumnError) as caught:
            ranking.ndcg()
        assert f"no column {name!r}" in str(caught.value)
        assert f"The table has {present}" in str(caught.value)
        assert f"Hint: name yours with .rank.using({name}=...)" in str(caught.value)

    @pytest.mark.parametrize(
        ("name", "hint"), [("rank", ".rank.from_scores('score')"), ("relevance", ".rank.judged_by(qrels)")]
    )
    def test_hint_at_the_way_into_the_table(self, kind, name, hint):
        with pytest.raises(fm.MissingColumnError) as caught:
            frame(kind, table(**{name: None})).rank.evaluate("mrr")
        assert hint in str(caught.value)

    @pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS)
    def test_every_question_says_so(self, kind, ask):
        with pytest.raises(fm.MissingColumnError, match="no column 'position'"):
            ask(frame(kind, table()).rank.using(rank="position"))

    @pytest.mark.parametrize(
        "ask",
        [
            lambda ranking: ranking.by("contry").ndcg(),
            lambda ranking: ranking.by("country", "contry").evaluate("ndcg"),
            lambda ranking: ranking.using(query="contry").ndcg(),
            lambda ranking: ranking.using(relevance="contry").per_query().ndcg(),
        ],
        ids=["by", "second of by", "query", "relevance"],
    )
    def test_the_nearest_column_is_named(self, kind, ask):
        with pytest.raises(fm.MissingColumnError, match="no column 'contry', did you mean 'country'"):
            ask(frame(kind, table()).rank)

    def test_case_is_close_enough(self, kind):
        with pytest.raises(fm.MissingColumnError, match="did you mean 'Relevance'"):
            frame(kind, table().rename({"relevance": "Relevance"})).rank.ndcg()

    def test_an_empty_table_has_none(self, kind):
        with pytest.raises(fm.MissingColumnError, match="The table has none"):
            frame(kind, pl.DataFrame()).rank.ndcg()

    def test_named_item_that_is_not_there(self, kind):
        with pytest.raises(fm.MissingColumnError, match="no column 'sku'"):
            frame(kind, table()).rank.using(item="sku").ndcg()

    def test_item_may_be_absent(self, kind):
        rows = table(item=None)
        assert collected(kind, frame(kind, rows).rank.evaluate("ndcg")).shape == (1, 1)

    @pytest.mark.parametrize(
        ("options", "name"), [({}, "item"), ({"ties": "first"}, "score"), ({"ties": "item_asc"}, "item")]
    )
    def test_from_scores(self, kind, options, name):
        rows = table(**{"score": [3, 2, 1, 3, 2, 1], name: None})
        with pytest.raises(fm.MissingColumnError, match=f"no column '{name}'"):
            frame(kind, rows).rank.from_scores("score", **options).ndcg()

    @pytest.mark.parametrize("name", ["query", "item", "relevance"])
    def test_judgments(self, kind, name):
        qrels = table().select("query", "item", "relevance").rename({name: "other"})
        with pytest.raises(fm.MissingColumnError, match=f"no column '{name}'.*'other'.*judged_by"):
            frame(kind, table(relevance=None)).rank.judged_by(qrels).ndcg()

    @pytest.mark.parametrize("name", ["query", "country"])
    def test_run_that_is_going_to_be_judged(self, kind, name):
        rows = table(**{name: None})
        with pytest.raises(fm.MissingColumnError, match=f"no column '{name}'"):
            frame(kind, rows).rank.judged_by(table().drop("country")).by("country").ndcg()

    @pytest.mark.parametrize("name", ["query", "country"])
    def test_run_that_is_going_to_be_ranked(self, kind, name):
        rows = table(**{"score": [3, 2, 1, 3, 2, 1], name: None})
        with pytest.raises(fm.MissingColumnError, match=f"no column '{name}'"):
            frame(kind, rows).rank.from_scores("score").by("country").ndcg()

    def test_run_without_items(self, kind):
        qrels = table().select("query", "item", "relevance")
        with pytest.raises(fm.MissingColumnError, match="no column 'item'"):
            frame(kind, table(item=None)).rank.judged_by(qrels).ndcg()


RANKS, GRADES = "ranks start at 1 and are whole numbers", "relevance must be finite"
BAD_VALUES = {
    "null query": ({"query": ["a", "a", None, "b", "b", "b"]}, "one has a null query", "query null", "drop such rows"),
    "rank 0": ({"rank": [0, 1, 2, 1, 2, 3]}, RANKS, "query a, rank 0", "add 1 to ranks that start at 0"),
    "negative rank": ({"rank": [1, 2, -3, 1, 2, 3]}, RANKS, "query a, rank -3", "a null rank means judged"),
    "fractional rank": ({"rank": floats(1, 2.5, 3, 1, 2, 3)}, RANKS, "query a, rank 2.5", "add 1"),
    "infinite rank": ({"rank": floats(1, 2, 3, 1, INF, 3)}, RANKS, "query b, rank inf", "add 1"),
    "infinite": ({"relevance": floats(0, 1, INF, 1, 0, 1)}, GRADES, "query a, relevance inf", "means not judged"),
    "minus infinity": (
        {"relevance": floats(0, 1, 2, -INF, 0, 1)},
        GRADES,
        "query b, relevance -inf",
        "means not judged",
    ),
}


class TestValues:
    @pytest.mark.parametrize("problem", BAD_VALUES)
    def test_message_has_an_example_and_a_hint(self, kind, problem):
        changes, says, example, hint = BAD_VALUES[problem]
        message = refused(kind, table(**changes), evaluate("ndcg"))
        assert says in message
        assert f": {example}. Hint: " in message
        assert hint in message.partition("Hint: ")[2]

    @pytest.mark.parametrize("metric", METRICS)
    @pytest.mark.parametrize("problem", BAD_VALUES)
    def test_refused_whatever_the_metric(self, problem, metric):
        changes, says, *_ = BAD_VALUES[problem]
        assert says in refused("polars", table(**changes), evaluate(metric))

    @pytest.mark.parametrize("problem", BAD_VALUES)
    @pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS)
    def test_refused_whatever_the_question(self, problem, ask):
        changes, says, *_ = BAD_VALUES[problem]
        assert says in refused("polars", table(**changes), ask)

    @pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS)
    def test_refused_on_every_surface(self, kind, ask):
        assert RANKS in refused(kind, table(rank=[0, 1, 2, 1, 2, None]), ask)

    @pytest.mark.parametrize("column", ["rank", "relevance"])
    @pytest.mark.parametrize("kind", ["polars", "lazy", "streaming"])
    def test_nan_is_no_null_in_polars(self, kind, column):
        rows = table(**{column: floats(1, 2, NAN, 1, 2, None)})
        says = {"rank": "ranks start at 1", "relevance": "NaN or infinite"}
        assert says[column] in refused(kind, rows, evaluate("ndcg"))

    def test_nan_is_null_in_pandas(self):
        rows = table(rank=[1, 2, None, 1, 2, None], relevance=[0, None, 2, 1, 0, 1]).to_pandas()
        assert rows["rank"].dtype == rows["relevance"].dtype == float
        assert rows.rank.evaluate("num_ret", "num_rel").iloc[0].to_dict() == {"num_ret": 4, "num_rel": 3}

    @pytest.mark.parametrize("column", ["rank", "relevance"])
    @pytest.mark.parametrize(
        "values", [["1"] * 6, [dt.date(2026, 1, 1)] * 6, [[1]] * 6, [b"1"] * 6], ids=["text", "date", "list", "binary"]
    )
    def test_columns_that_hold_no_numbers_are_refused_at_the_call(self, kind, column, values):
        ranking = frame(kind, table(**{column: values})).rank
        with pytest.raises(fm.TableError, match=f"column '{column}'.*Hint: ") as caught:
            ranking.ndcg()
        assert_no_other_error_is_shown(caught.value)

    @pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt8, pl.UInt64, pl.Float32, pl.Float64, pl.Decimal(9, 2)], ids=str)
    def test_ranks_of_any_number_type(self, kind, dtype):
        rows = table().with_columns(pl.col("rank").cast(dtype))
        assert collected(kind, frame(kind, rows).rank.evaluate("mrr"))["mrr"].to_list() == [0.75]

    @pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt8, pl.Boolean, pl.Float32, pl.Decimal(9, 2)], ids=str)
    def test_relevance_of_any_number_type(self, kind, dtype):
        rows = table().with_columns(pl.col("relevance").cast(dtype))
        assert collected(kind, frame(kind, rows).rank.evaluate("num_rel"))["num_rel"].to_list() == [4]

    def test_columns_of_nulls(self, kind):
        rows = table().with_columns(rank=pl.lit(None, dtype=pl.Int64), relevance=pl.lit(None, dtype=pl.Int64))
        found = collected(kind, frame(kind, rows).rank.evaluate("num_ret", "num_rel", "ndcg"))
        assert pl.DataFrame(found).row(0) == (0, 0, 0)

    def test_lazy_and_eager_say_the_same(self, kind):
        rows = table(rank=[1, 2, -3, 1, 2, None])
        with pytest.raises(fm.TableError) as eager:
            rows.rank.ndcg()
        assert str(eager.value) in refused(kind, rows, evaluate("ndcg"))


def twice(relevance):
    """Return a table whose query b has item x at ranks 1 and 2, with these grades."""
    return table(item=["x", "y", "z", "x", "x", "w"], relevance=[0, 1, 2, *relevance, 1])


def shared(relevance):
    """Return a table whose query b has two items at rank 1, with these grades."""
    return table(rank=[1, 2, 3, 1, 1, None], relevance=[0, 1, 2, *relevance, 1])


both_one_or_none = pytest.mark.parametrize(
    "grades", [(1, 1), (1, 0), (0, 0), (None, None)], ids=["both", "one", "none", "unjudged"]
)


class TestRepeated:
    @both_one_or_none
    def test_an_item_stands_once(self, kind, grades):
        message = refused(kind, twice(grades), evaluate("ndcg"))
        assert "each item may stand once in a query, but one is there twice: query b, item x. Hint: drop" in message

    @both_one_or_none
    @pytest.mark.parametrize("metric", METRICS)
    def test_an_item_stands_once_whatever_the_metric(self, metric, grades):
        assert "query b, item x" in refused("polars", twice(grades), evaluate(metric))

    def test_a_retrieved_item_that_was_missed_too(self, kind):
        rows = table(item=["x", "y", "z", "x", "y", "x"])
        assert "query b, item x" in refused(kind, rows, evaluate("recall"))

    @both_one_or_none
    def test_a_rank_stands_once(self, kind, grades):
        message = refused(kind, shared(grades), evaluate("ndcg"))
        assert "each rank may stand once in a query, but two rows share one: query b" in message
        assert "Hint: rank by a score" in message

    @both_one_or_none
    @pytest.mark.parametrize("metric", ORDERED)
    def test_a_rank_stands_once_where_the_order_matters(self, metric, grades):
        assert "each rank may stand once" in refused("polars", shared(grades), evaluate(metric))

    @both_one_or_none
    @pytest.mark.parametrize("metric", UNORDERED)
    def test_a_rank_may_stand_twice_where_it_does_not(self, metric, grades):
        assert answer("polars", shared(grades), evaluate(metric)).shape == (1, 1)

    @both_one_or_none
    def test_a_rank_may_stand_twice(self, kind, grades):
        found = answer(kind, shared(grades), lambda ranking: ranking.evaluate("recall", "num_ret", "auc"))
        assert found["num_ret"].to_list() == [5]

    def test_every_metric_is_in_one_of_the_lists(self):
        assert {fm.metrics.parse(text).definition.name for text in (*ORDERED, *UNORDERED)} == set(PLAIN)

    @pytest.mark.parametrize("ask", ["roc_curve", "check"])
    def test_questions_without_order(self, kind, ask):
        assert len(answer(kind, shared((1, 0)), lambda ranking: getattr(ranking, ask)())) > 0

    @both_one_or_none
    @pytest.mark.parametrize("ask", ["pr_curve", "cascade"])
    def test_questions_with_order(self, kind, ask, grades):
        assert "each rank may stand once" in refused(kind, shared(grades), lambda ranking: getattr(ranking, ask)())

    def test_in_another_segment_it_is_another(self, kind):
        rows = table(query=["a"] * 6)
        assert "query a" in refused(kind, rows, evaluate("ndcg"))
        assert len(answer(kind, rows, lambda ranking: ranking.by("country").ndcg())) == 2

    def test_missed_items_share_no_rank(self, kind):
        rows = table(rank=[1, None, None, 1, None, None])
        assert answer(kind, rows, evaluate("recall"))["recall"].to_list() == [0.25]

    def test_items_without_a_name_are_not_the_same(self, kind):
        rows = table(item=[None, None, "z", None, "y", None])
        assert answer(kind, rows, evaluate("num_rel"))["num_rel"].to_list() == [4]


BIG = 200_000


@pytest.fixture(scope="module")
def many():
    """Return 200,000 rows: 100 a query, one in ten relevant; the last row, the 200,000th, is relevant."""
    number = pl.int_range(BIG)
    columns = {"query": number // 100, "item": number % 100, "rank": number % 100 + 1}
    grade = (number % 10 == 9).cast(pl.Float64)
    return pl.select(**columns, relevance=grade).with_columns(pl.col("query").cast(pl.String))


def last(rows, column, value, *, relevant=True):
    """Return the rows with another value in the last row, or in the last but one, which is not relevant."""
    place = pl.int_range(pl.len()) == BIG - (1 if relevant else 2)
    return rows.with_columns(pl.when(place).then(value).otherwise(column).alias(column))


LATE = {
    "null query": ("query", pl.lit(None, dtype=pl.String), "null query"),
    "rank 0": ("rank", pl.lit(0), "bad rank"),
    "infinite": ("relevance", pl.lit(INF), "bad relevance"),
    "shared rank": ("rank", pl.lit(90), "shared rank"),
    "repeated item": ("item", pl.lit(89), "repeated item"),
}


class TestLargeTables:
    @pytest.mark.parametrize("problem", [problem for problem in LATE if problem != "repeated item"])
    @pytest.mark.parametrize("metric", ["ndcg", "recall@10", "bpref"])
    def test_rows_that_enter_a_number_are_checked(self, kind, many, problem, metric):
        column, value, _ = LATE[problem]
        assert "Hint" in refused(kind, last(many, column, value), evaluate(metric))

    @pytest.mark.parametrize("problem", ["null query", "rank 0"])
    @pytest.mark.parametrize("metric", ["num_ret", "precision", "judged", "auc"])
    def test_rows_that_are_not_relevant_enter_some(self, kind, many, problem, metric):
        column, value, _ = LATE[problem]
        assert "Hint" in refused(kind, last(many, column, value, relevant=False), evaluate(metric))

    def test_every_row_enters_the_number_of_queries(self, kind, many):
        rows = last(many, "query", pl.lit(None, dtype=pl.String), relevant=False)
        assert "null query" in refused(kind, rows, evaluate("ndcg"))

    @pytest.mark.parametrize("problem", ["rank 0", "shared rank", "repeated item"])
    def test_rows_that_enter_none_are_checked_when_asked_to(self, kind, many, problem):
        column, value, _ = LATE[problem]
        rows = last(many, column, value, relevant=False)
        assert answer(kind, rows, evaluate("ndcg")).shape == (1, 1)
        message = refused(kind, rows, lambda ranking: ranking.using(check_rows="all").evaluate("ndcg"))
        assert "query 1999" in message
        assert "Hint" in message

    @pytest.mark.parametrize("relevant", [True, False])
    @pytest.mark.parametrize("problem", LATE)
    def test_check_looks_at_all_rows(self, kind, many, problem, relevant):
        column, value, name = LATE[problem]
        found = problems(kind, last(many, column, value, relevant=relevant))
        assert {name: count for name, (count, _) in found.items()} == {name: 1}

    @pytest.mark.parametrize("rows", [BIG - 2, BIG - 1])
    def test_how_many_rows_can_be_said(self, kind, many, rows):
        table = last(many, "rank", pl.lit(0), relevant=False)
        ask = lambda ranking: ranking.using(check_rows=rows).evaluate("ndcg")  # noqa: E731
        if rows < BIG - 1:
            assert answer(kind, table, ask).shape == (1, 1)
        else:
            assert "query 1999, rank 0" in refused(kind, table, ask)

    def test_the_cascade_looks_at_all_rows(self, kind, many):
        rows = last(many, "item", pl.lit(89), relevant=False)
        assert "query 1999, item 89" in refused(kind, rows, lambda ranking: ranking.cascade())

    @pytest.mark.parametrize("ask", ["roc_curve", "pr_curve"])
    def test_curves_look_at_every_rank(self, kind, many, ask):
        rows = last(many, "rank", pl.lit(0), relevant=False)
        assert "query 1999, rank 0" in refused(kind, rows, lambda ranking: getattr(ranking, ask)())

    @pytest.mark.parametrize("ask", ["roc_curve", "pr_curve"])
    def test_curves_look_for_items_as_metrics_do(self, kind, many, ask):
        rows = last(many, "item", pl.lit(89), relevant=False)
        assert answer(kind, rows, lambda ranking: getattr(ranking, ask)()).shape[1] == 3
        every = lambda ranking: getattr(ranking.using(check_rows="all"), ask)()  # noqa: E731
        assert "query 1999, item 89" in refused(kind, rows, every)


METRIC_CALLS = {
    "polars": lambda name, *args, **options: getattr(table().rank, name)(*args, **options),
    "lazy": lambda name, *args, **options: getattr(table().lazy().rank, name)(*args, **options),
    "pandas": lambda name, *args, **options: getattr(table().to_pandas().rank, name)(*args, **options),
    "by": lambda name, *args, **options: getattr(table().rank.by("country"), name)(*args, **options),
    "expression": lambda name, *args, **options: getattr(fm.metrics, name)(*args, **options),
}


@pytest.fixture(params=METRIC_CALLS.values(), ids=METRIC_CALLS)
def call(request):
    return request.param


class TestOptions:
    @pytest.mark.parametrize("k", [0, -1, 1.5, "x", True, NAN, (1,)], ids=repr)
    @pytest.mark.parametrize("name", ["ndcg", "precision", "mrr", "judged"])
    def test_k(self, call, name, k):
        with pytest.raises(fm.OptionError, match=r"`k` must be an integer >= 1 or None, got .*Hint"):
            call(name, k=k)
        with pytest.raises(fm.OptionError, match="`k` must be"):
            call(name, k)

    @pytest.mark.parametrize("k", [np.int64(2), np.uint8(2)], ids=["int64", "uint8"])
    def test_k_of_numpy(self, k):
        assert table().rank.ndcg(k) == table().rank.ndcg(2)

    @pytest.mark.parametrize("text", ["ndcg@0", "ndcg@-1", "ndcg@1.5", "ndcg@x", "ndcg@True", "ndcg@1e3", "auc@3"])
    def test_k_in_a_text(self, kind, text):
        with pytest.raises(fm.OptionError, match="`k`"):
            frame(kind, table()).rank.evaluate(text)

    @pytest.mark.parametrize("text", ["", " ", "@10", "ndcg@", "ndcg(", "ndcg)", "ndcg()@@3", "ndcg 10", "ndcg(=3)"])
    def test_texts_that_are_none(self, kind, text):
        with pytest.raises(fm.OptionError, match=r"cannot read .*Hint: write"):
            frame(kind, table()).rank.evaluate(text)

    @pytest.mark.parametrize("metric", [None, 10, pl.col("rank"), ["ndcg"]], ids=["None", "10", "expression", "list"])
    def test_metrics_that_are_no_text(self, kind, metric):
        with pytest.raises(fm.OptionError, match="must be a text such as 'ndcg@10'"):
            frame(kind, table()).rank.evaluate(metric)

    def test_no_metric(self, kind):
        with pytest.raises(fm.OptionError, match="at least one metric"):
            frame(kind, table()).rank.evaluate()

    @pytest.mark.parametrize(
        ("text", "near"), [("ndgc@10", "ndcg"), ("presicion", "precision"), ("recal@5", "recall"), ("MPA", "map")]
    )
    def test_unknown_metric(self, kind, text, near):
        with pytest.raises(fm.UnknownMetricError, match=f"did you mean '{near}'"):
            frame(kind, table()).rank.evaluate("mrr", text)

    def test_unknown_metric_like_no_other(self, kind):
        with pytest.raises(fm.UnknownMetricError, match=r"no metric 'zzz'.*fm.metrics.names\(\)"):
            frame(kind, table()).rank.evaluate("zzz")

    @pytest.mark.parametrize(
        "make", [table().rank, table().lazy().rank, table().to_pandas().rank, fm.metrics], ids=NAMES
    )
    def test_unknown_method(self, make):
        with pytest.raises(AttributeError, match=r"'ndgc'.*did you mean 'ndcg'"):
            _ = make.ndgc
        assert not hasattr(make, "_ndcg")

    def test_unknown_option(self, call):
        with pytest.raises(fm.OptionError, match=r"ndcg takes .*`gain`.*got `gian`, did you mean 'gain'"):
            call("ndcg", gian="linear")
        with pytest.raises(fm.OptionError, match="auc takes no options, got `k`"):
            call("auc", k=10)

    def test_unknown_option_in_a_text(self, kind):
        with pytest.raises(fm.OptionError, match="got `dicount`, did you mean 'discount'"):
            frame(kind, table()).rank.evaluate("ndcg(dicount=log2)@10")

    def test_options_are_keywords(self, call):
        with pytest.raises(fm.OptionError, match="`k` by position"):
            call("ndcg", 10, "linear")
        with pytest.raises(fm.OptionError, match="`k` twice"):
            call("ndcg", 10, k=5)
        with pytest.raises(fm.OptionError, match="no value by position"):
            call("auc", 10)

    @pytest.mark.parametrize(
        ("name", "option", "value", "near"),
        [
            ("ndcg", "gain", "linaer", "linear"),
            ("ndcg", "discount", "log", "log2"),
            ("ndcg", "ideal", "retreived", "retrieved"),
            ("cg", "gain", "exponetial", "exponential"),
            ("precision", "denominator", "retrived", "retrieved"),
            ("recall", "denominator", "caped", "capped"),
            ("average_precision", "denominator", "hit", "hits"),
        ],
    )
    def test_words(self, call, name, option, value, near):
        says = f"`{option}` must be one of .*'{near}'.*, got '{value}', did you mean '{near}'"
        with pytest.raises(fm.OptionError, match=says):
            call(name, **{option: value})

    @pytest.mark.parametrize("value", [None, 1, True, ["linear"], ("linear",)], ids=repr)
    @pytest.mark.parametrize("option", ["gain", "discount", "ideal"])
    def test_words_that_are_none(self, call, option, value):
        with pytest.raises(fm.OptionError, match=f"`{option}` must be one of"):
            call("ndcg", **{option: value})

    @pytest.mark.parametrize(
        ("name", "option", "values"),
        [
            ("rbp", "p", [0, 1, -0.1, 1.5, NAN, INF, "0.8", True, None]),
            ("f_score", "beta", [0, -1, NAN, INF, "1", True, None]),
            ("iprec", "recall", [-0.1, 1.1, NAN, INF, "0.5", True, None]),
            ("err", "max_grade", [0, -1, NAN, INF, "4", True]),
        ],
    )
    def test_ranges(self, call, name, option, values):
        for value in values:
            with pytest.raises(fm.OptionError, match=f"`{option}` must be a number >=? 0.*, got "):
                call(name, **{option: value})

    @pytest.mark.parametrize(
        ("name", "options"),
        [
            ("rbp", {"p": np.float32(0.5)}),
            ("f_score", {"beta": np.int64(2)}),
            ("iprec", {"recall": np.float32(0.5)}),
            ("err", {"max_grade": np.int64(4)}),
            ("ndcg", {"gain": {np.int64(1): np.int64(1), np.int64(2): np.float32(3)}}),
        ],
    )
    def test_numbers_of_numpy(self, name, options):
        plain = {"p": 0.5, "beta": 2, "recall": 0.5, "max_grade": 4, "gain": {1: 1, 2: 3}}
        expected = getattr(table().rank, name)(**{option: plain[option] for option in options})
        assert getattr(table().rank, name)(**options) == expected


class TestGains:
    @pytest.mark.parametrize(
        ("gain", "says"),
        [
            ({}, "a mapping of grades to gains, all finite numbers"),
            ({"a": 1}, "a mapping of grades to gains, all finite numbers"),
            ({1: NAN}, "a mapping of grades to gains, all finite numbers"),
            ({1: INF}, "a mapping of grades to gains, all finite numbers"),
            ({1: True}, "a mapping of grades to gains, all finite numbers"),
            ({1: None}, "a mapping of grades to gains, all finite numbers"),
            ({-1: 0, 1: 1}, "a mapping of positive grades"),
            ({1: -1, 2: 3}, "a mapping whose gains are >= 0 and do not fall"),
            ({1: 3, 2: 1}, "a mapping whose gains are >= 0 and do not fall"),
        ],
    )
    def test_mappings_that_make_no_sense(self, call, gain, says):
        for name in ("cg", "dcg", "idcg", "ndcg"):
            with pytest.raises(fm.OptionError, match=f"`gain` must be {says}"):
                call(name, gain=gain)

    @pytest.mark.parametrize("name", ["cg", "dcg", "idcg", "ndcg"])
    def test_a_grade_of_the_table_without_a_gain(self, kind, name):
        message = refused(kind, table(), lambda ranking: ranking.per_query().evaluate(f"{name}(gain={{1:3}})"))
        assert "the mapping `gain` has no grade 2" in message
        assert "Hint: give every positive grade" in message

    def test_every_positive_grade_with_a_gain(self, kind):
        found = answer(kind, table(relevance=[-1, 1, 2, 0, None, 1]), evaluate("cg(gain={1:3,2:9,7:10})"))
        assert pl.DataFrame(found).item() == 6.0

    def test_a_missed_grade_needs_a_gain_too(self, kind):
        rows = table(relevance=[1, 1, 1, 1, 1, 4])
        assert "has no grade 4" in refused(kind, rows, lambda ranking: ranking.evaluate("ndcg(gain={1:3})"))

    @pytest.mark.parametrize(
        "ask",
        [
            lambda ranking: ranking.evaluate("err(max_grade=1)"),
            lambda ranking: ranking.per_query().err(max_grade=1),
            lambda ranking: ranking.by("country").err(2, max_grade=1.5),
            lambda ranking: ranking.cascade(max_grade=1),
        ],
        ids=["evaluate", "per_query", "by", "cascade"],
    )
    def test_a_grade_above_the_highest(self, kind, ask):
        message = refused(kind, table(), ask)
        assert "`max_grade` must be the highest grade, but a row has grade 2" in message
        assert "Hint" in message

    def test_expression_needs_the_highest_grade(self):
        with pytest.raises(fm.OptionError, match=r"`max_grade` must be given.*Hint"):
            table().group_by("query").agg(fm.metrics.err())

    @pytest.mark.parametrize("value", [0, -1, NAN, "4", True])
    def test_cascade_checks_its_option(self, kind, value):
        with pytest.raises(fm.OptionError, match="`max_grade` must be a number > 0"):
            frame(kind, table()).rank.cascade(max_grade=value)


class TestSettings:
    @pytest.mark.parametrize("value", [1, 1.5, True, ["query"], pl.col("query")], ids=NAMES)
    @pytest.mark.parametrize("role", ["query", "item", "rank", "relevance"])
    def test_roles(self, kind, role, value):
        with pytest.raises(fm.OptionError, match=f"`{role}` must be the name of a column, got"):
            frame(kind, table()).rank.using(**{role: value})

    @pytest.mark.parametrize("value", [0, -1, NAN, INF, -INF, "1", True, [1]], ids=repr)
    def test_min_relevance(self, kind, value):
        with pytest.raises(fm.OptionError, match=r"`min_relevance` must be a number > 0, got .*Hint"):
            frame(kind, table()).rank.using(min_relevance=value)

    def test_min_relevance_of_numpy(self, kind):
        found = frame(kind, table()).rank.using(min_relevance=np.int64(2)).evaluate("num_rel")
        assert collected(kind, found)["num_rel"].to_list() == [1]

    @pytest.mark.parametrize(
        ("setting", "value", "near"),
        [("no_relevant", "zeros", "zero"), ("no_relevant", "skp", "skip"), ("average", "mirco", "micro")],
    )
    def test_words(self, kind, setting, value, near):
        says = f"`{setting}` must be one of .*, got '{value}', did you mean '{near}'"
        with pytest.raises(fm.OptionError, match=says):
            frame(kind, table()).rank.using(**{setting: value})

    @pytest.mark.parametrize("setting", ["no_relevant", "average"])
    @pytest.mark.parametrize("value", [0, True, ["zero"], {}], ids=repr)
    def test_words_that_are_none(self, kind, setting, value):
        with pytest.raises(fm.OptionError, match=f"`{setting}` must be one of"):
            frame(kind, table()).rank.using(**{setting: value})

    @pytest.mark.parametrize("value", [-1, 1.5, "some", True, [1]], ids=repr)
    def test_check_rows(self, kind, value):
        with pytest.raises(fm.OptionError, match="`check_rows` must be an integer >= 0 or 'all', got"):
            frame(kind, table()).rank.using(check_rows=value)

    def test_one_and_micro_exclude_each_other_in_any_order(self, kind):
        ranking, says = frame(kind, table()).rank, "`no_relevant` must be 'zero', 'skip' or 'error' where"
        with pytest.raises(fm.OptionError, match=says):
            ranking.using(average="micro").using(no_relevant="one")
        with pytest.raises(fm.OptionError, match=says):
            ranking.using(no_relevant="one").using(average="micro")

    @pytest.mark.parametrize("columns", [(), (1,), (None,), (["country"],), (pl.col("country"),)], ids=range(5))
    def test_by(self, kind, columns):
        with pytest.raises(fm.OptionError, match="`by` must be one or more names of columns"):
            frame(kind, table()).rank.by(*columns)

    @pytest.mark.parametrize(
        ("option", "value"), [("queries", "qrel"), ("queries", ""), ("unjudged", "dropped"), ("unjudged", True)]
    )
    def test_judged_by(self, kind, option, value):
        with pytest.raises(fm.OptionError, match=f"`{option}` must be one of"):
            frame(kind, table()).rank.judged_by(table(), **{option: value})

    @pytest.mark.parametrize("value", ["item", "", 1, ["first"]], ids=repr)
    def test_ties(self, kind, value):
        with pytest.raises(fm.OptionError, match="`ties` must be one of"):
            frame(kind, table()).rank.from_scores("rank", ties=value)

    @pytest.mark.parametrize("value", [1, None, pl.col("score")], ids=NAMES)
    def test_score(self, kind, value):
        with pytest.raises(fm.FrameMetricsError, match="score"):
            frame(kind, table()).rank.from_scores(value).ndcg()

    @pytest.mark.parametrize("qrels", [None, 5, "qrels.txt", [1, 2]], ids=repr)
    def test_judgments_that_are_no_frame(self, kind, qrels):
        with pytest.raises(TypeError, match="expected a Polars or pandas frame"):
            frame(kind, table()).rank.judged_by(qrels)


NOTHING = {"relevance": [0, None, -1, 1, 0, 1]}


class TestNoRelevant:
    @pytest.mark.parametrize(
        "ask",
        [
            lambda ranking: ranking.ndcg(),
            lambda ranking: ranking.precision(),
            lambda ranking: ranking.bpref(),
            lambda ranking: ranking.evaluate("mrr", "num_ret"),
            lambda ranking: ranking.per_query().mrr(),
            lambda ranking: ranking.by("country").mrr(),
            lambda ranking: ranking.using(average="micro").recall(),
            lambda ranking: ranking.at_k("recall", [1, 2]),
            lambda ranking: ranking.pr_curve(),
        ],
        ids=["ndcg", "precision", "bpref", "evaluate", "per_query", "by", "micro", "at_k", "pr_curve"],
    )
    def test_error(self, kind, ask):
        message = refused(kind, table(**NOTHING), lambda ranking: ask(ranking.using(no_relevant="error")))
        assert "every query must have a relevant item, as no_relevant='error' asks" in message
        assert "Hint: choose no_relevant='zero', 'skip' or 'one'" in message

    def test_error_where_the_level_is_too_high(self, kind):
        settings = {"no_relevant": "error", "min_relevance": 2}
        message = refused(kind, table(), lambda ranking: ranking.using(**settings).evaluate("mrr"))
        assert "every query must have a relevant item" in message
        assert answer(kind, table(), lambda ranking: ranking.using(**settings).evaluate("ndcg")).shape == (1, 1)

    def test_error_names_the_query(self, kind):
        ask = lambda ranking: ranking.using(no_relevant="error").per_query().evaluate("mrr")  # noqa: E731
        assert "query a" in refused(kind, table(**NOTHING), ask)

    def test_no_error_where_all_have_one(self, kind):
        found = answer(kind, table(), lambda ranking: ranking.using(no_relevant="error").evaluate("mrr", "ndcg"))
        assert found.shape == (1, 2)


class TestExamples:
    @pytest.mark.parametrize("key", ['say "hi"', "a{b}", "new\nline", "tab\t", "it's", "ü", "", "[x]", '", "', "%s"])
    def test_keys_of_any_text(self, kind, key):
        rows = table(query=["a", "a", "a", key, key, key], rank=[1, 2, 3, 1, 0, None])
        assert f"query {key}, rank 0" in refused(kind, rows, evaluate("ndcg"))

    def test_columns_of_any_name(self, kind):
        names = {"query": "user {id}", "rank": 'the "rank"', "country": "{}"}
        rows = table(rank=[1, 2, 3, 1, 0, None]).rename(names)
        ask = lambda ranking: ranking.using(query=names["query"], rank=names["rank"]).by("{}").evaluate("ndcg")  # noqa: E731
        assert "us" in refused(kind, rows, ask)

    @pytest.mark.parametrize(
        "setting", [{"fmt_str_lengths": 5}, {"fmt_table_cell_list_len": 0}, {"tbl_cols": 1}], ids=str
    )
    def test_settings_of_polars_hide_no_error(self, setting):
        with pl.Config(**setting), pytest.raises(fm.TableError, match="Hint"):
            table(rank=[1, 2, 3, 1, 0, None]).rank.ndcg()

    def test_segment_and_query(self, kind):
        rows = table(rank=[1, 2, 3, 1, 0, None])
        message = refused(kind, rows, lambda ranking: ranking.by("country").evaluate("ndcg"))
        assert "country us, query b, rank 0" in message

    def test_null_segment(self, kind):
        rows = table(country=["fr", "fr", "fr", None, None, None], rank=[1, 2, 3, 0, 1, None])
        assert "country null, query b" in refused(kind, rows, lambda ranking: ranking.by("country").evaluate("ndcg"))

    @pytest.mark.parametrize(
        ("keys", "shown"),
        [
            (pd.Categorical(["low", "high", "high"], categories=["unused", "high", "low"]), "high"),
            ([uuid.UUID(int=1), uuid.UUID(int=2), uuid.UUID(int=2)], "00000000-0000-0000-0000-000000000002"),
            ([("a", 1), ("b", 2), ("b", 2)], "('b', 2)"),
            ([1, "two", "two"], "two"),
            ([70, 80, 80], "80"),
            (pd.array([70, 80, 80], dtype="Int64"), "80"),
            (pd.to_datetime(["2026-01-01", "2026-01-02", "2026-01-02"]).tz_localize("Europe/Paris"), "2026-01-02"),
            (pd.PeriodIndex(["2026-01", "2026-02", "2026-02"], freq="M"), "2026-02"),
            ([False, True, True], "True"),
        ],
        ids=["category", "uuid", "tuple", "mixed", "int", "Int64", "tz", "period", "bool"],
    )
    @pytest.mark.parametrize("ask", ["metric", "per_query", "check"])
    def test_keys_of_pandas_are_those_of_the_user(self, keys, shown, ask):
        rows = pd.DataFrame({"query": keys, "item": ["x", "y", "z"], "rank": [1, 1, 0], "relevance": [1, 1, 1]})
        if ask == "check":
            assert f"query {shown}" in rows.rank.check()["example"].item()
        else:
            ranking = rows.rank if ask == "metric" else rows.rank.per_query()
            with pytest.raises(fm.TableError) as caught:
                ranking.mrr()
            assert f"query {shown}" in str(caught.value)

    def test_items_of_pandas_are_those_of_the_user(self):
        rows = pd.DataFrame({"query": ["a", "a"], "item": [("x", 1), ("x", 1)], "rank": [1, 2], "relevance": [1, 0]})
        with pytest.raises(fm.TableError, match=r"query a, item \('x', 1\)"):
            rows.rank.mrr()

    def test_keys_without_a_text(self):
        rows = table(rank=[1, 2, 3, 1, 0, None]).with_columns(query=pl.struct("query"))
        with pytest.raises(fm.TableError, match="ranks start at 1"):
            rows.rank.ndcg()


class TestCheck:
    def test_clean_table(self, kind):
        assert problems(kind, table()) == {}

    @pytest.mark.parametrize(
        ("changes", "expected"),
        [
            ({"query": [None, None, "a", "b", "b", "b"]}, {"null query": (2, "query null")}),
            ({"rank": [0, 2, 3, 1, 2, None]}, {"bad rank": (1, "query a, rank 0")}),
            ({"rank": floats(1, 2, 3, 1.5, 2.5, None)}, {"bad rank": (2, "query b, rank 1.5")}),
            ({"relevance": floats(0, 1, INF, -INF, 0, 1)}, {"bad relevance": (2, "query a, relevance inf")}),
            ({"rank": [1, 1, 1, 1, 2, None]}, {"shared rank": (1, "query a, rank 1")}),
            ({"rank": [2, 2, 3, 7, 7, None]}, {"shared rank": (2, "query a, rank 2")}),
            ({"item": ["x", "x", "z", "w", "y", "w"]}, {"repeated item": (2, "query a, item x")}),
            (
                {"rank": [0, 1, 1, 1, 2, None], "item": ["x", "x", "z", "x", "y", "w"]},
                {
                    "bad rank": (1, "query a, rank 0"),
                    "shared rank": (1, "query a, rank 1"),
                    "repeated item": (1, "query a, item x"),
                },
            ),
        ],
        ids=["query", "rank", "fractions", "relevance", "thrice", "shared", "item", "several"],
    )
    def test_kind_count_and_example(self, kind, changes, expected):
        assert problems(kind, table(**changes)) == expected

    def test_with_other_columns_and_segments(self, kind):
        names = {"query": "user", "item": "sku", "rank": "place"}
        rows = table(rank=[1, 2, 3, 1, 0, None], query=["a"] * 6).rename(names)
        found = answer(kind, rows, lambda ranking: ranking.using(**names).by("country").check())
        assert pl.DataFrame(found).rows() == [("bad rank", 1, 1, "country us, user a, place 0")]

    def test_after_steps(self, kind):
        run = table(relevance=None, rank=None, score=[3, 2, 1, 3, 2, 1], item=["x", "x", "z", "x", "y", "w"])
        qrels = table().select("query", "item", "relevance")
        found = answer(kind, run, lambda ranking: ranking.from_scores("score").judged_by(qrels).check())
        assert pl.DataFrame(found).rows() == [("repeated item", 1, 1, "query a, item x")]

    def test_empty_table(self, kind):
        assert problems(kind, table().clear()) == {}


class TestExpressions:
    @pytest.mark.parametrize("problem", [name for name in BAD_VALUES if name != "null query"])
    def test_bad_values(self, problem):
        changes, says, *_ = BAD_VALUES[problem]
        rows = table(**changes).group_by("query")
        with pytest.raises(pl.exceptions.PolarsError, match=f"{says}.*Hint"):
            rows.agg(fm.metrics.ndcg())

    @both_one_or_none
    @pytest.mark.parametrize("metric", ORDERED)
    def test_shared_rank(self, metric, grades):
        text = f"{metric}(max_grade=4)" if metric in ("err", "nerr") else metric
        with pytest.raises(pl.exceptions.PolarsError, match="each rank may stand once"):
            shared(grades).group_by("query").agg(fm.metrics.expression(text))

    @both_one_or_none
    @pytest.mark.parametrize("metric", UNORDERED)
    def test_shared_rank_where_the_order_does_not_matter(self, metric, grades):
        assert shared(grades).group_by("query").agg(fm.metrics.expression(metric)).shape == (2, 2)

    def test_nothing_relevant(self):
        metric = fm.metrics.using(no_relevant="error").mrr()
        with pytest.raises(pl.exceptions.PolarsError, match="every query must have a relevant item"):
            table(**NOTHING).group_by("query").agg(metric)

    def test_a_grade_without_a_gain(self):
        with pytest.raises(pl.exceptions.PolarsError, match="has no grade 2"):
            table().group_by("query").agg(fm.metrics.ndcg(gain={1: 3}))


def test_text_keys_are_quoted_whole():
    made = pl.DataFrame({"query": ["v1.0", "v1.0"], "rank": [1, 1], "relevance": [1, 1]})
    with pytest.raises(fm.TableError, match=r"query v1\.0"):
        made.rank.ndcg()
    assert made.rank.check()["example"].to_list() == ["query v1.0, rank 1"]


@pytest.mark.parametrize("ask", ["ndcg(gain=exponential)", "dcg(gain=exponential)", "err"])
def test_exponents_stay_finite(ask):
    made = pl.DataFrame({"query": 1, "rank": [1, 2], "relevance": [2000, 1]})
    with pytest.raises(fm.TableError, match="grades up to 500 can be exponents, got 2000"):
        made.rank.evaluate(ask)
