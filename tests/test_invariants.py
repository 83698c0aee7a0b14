"""What holds for every metric, whatever its formula."""

import inspect
import io
import random
import re

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

import frame_metrics as fm
from tests.names import PLAIN
from tests.oracle import differences

NAMES = PLAIN
COUNTS = {"num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret", "num_q"}
UNBOUNDED = {"cg", "dcg", "idcg", "utility"} | COUNTS
BOUNDED = set(NAMES) - UNBOUNDED
LOWER_IS_BETTER = {"fallout", "hole", "rbp_residual"}
# Their precision divides by k, so a longer k is another number.
DIVIDES_BY_K = {"precision", "f_score", "hole"}
# Their means over queries are not the plain ones.
OWN_MEAN = {"geometric_map", "geometric_bpref", "gauc"}


def takes_k(name):
    return "k" in inspect.signature(getattr(fm.metrics, name)).parameters


TEXTS = [*NAMES, *(f"{name}@3" for name in NAMES if takes_k(name))]
# The greatest grade is otherwise a property of the whole table, which an expression in `agg` does not see.
ALONE = [str(fm.metrics.parse(re.sub(r"^(n?err)(?=@|$)", r"\1(max_grade=4)", text))) for text in TEXTS]


def make_table(grades=(-1, 0, 0, None, 1, 2, 4), queries=12, seed=0):
    """Return queries of up to nine rows, some missed, at ranks with gaps."""
    rng = random.Random(seed)  # noqa: S311
    rows = []
    for query in range(queries):
        size = rng.randint(1, 9)
        ranks = rng.sample(range(1, 12), size)
        for item, rank in enumerate(ranks):
            missed = rng.random() < 0.2
            grade = rng.choice(grades)
            rows.append((f"q{query}", f"d{item}", None if missed else rank, 0 if missed and grade is None else grade))
    rng.shuffle(rows)
    schema = {"query": pl.String, "item": pl.String, "rank": pl.Int64, "relevance": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


@pytest.fixture(scope="module")
def table():
    return make_table()


def numbers(frame, texts=TEXTS):
    """Return `{(query, text): value}` of a frame with one row per query."""
    frame = frame if isinstance(frame, pl.DataFrame) else pl.DataFrame(frame)
    return {(row["query"], text): row[text] for row in frame.iter_rows(named=True) for text in texts}


def per_query(frame, texts=TEXTS):
    return numbers(fm.rank(frame).per_query().evaluate(*texts), texts)


def in_order(table, key):
    """Return the table with all rows retrieved, at ranks 1, 2, 3... in the order that `key` gives."""
    return table.sort(key, descending=True).with_columns(rank=pl.int_range(1, pl.len() + 1).over("query"))


def test_every_metric_is_classified():
    assert set(NAMES) >= UNBOUNDED
    assert LOWER_IS_BETTER | DIVIDES_BY_K <= BOUNDED


@pytest.mark.parametrize("seed", range(5))
def test_row_order_does_not_matter(table, seed):
    shuffled = table.sample(fraction=1, shuffle=True, seed=seed)
    assert shuffled.rows() != table.rows()
    assert differences(per_query(shuffled), per_query(table)) == {}


def test_item_names_do_not_matter(table):
    renamed = table.with_columns(item=-pl.col("item").str.strip_prefix("d").cast(pl.Int64))
    assert differences(per_query(renamed), per_query(table)) == {}


def test_query_names_only_name_the_rows(table):
    renamed = table.with_columns(query=100 - pl.col("query").str.strip_prefix("q").cast(pl.Int64))
    expected = {(100 - int(query[1:]), text): value for (query, text), value in per_query(table).items()}
    assert differences(per_query(renamed), expected) == {}


@pytest.mark.parametrize("query", ["q0", "q5", "q11"])
def test_other_queries_do_not_matter(table, query):
    alone = per_query(table.filter(query=query), ALONE)
    together = per_query(table, ALONE)
    assert differences(alone, {key: value for key, value in together.items() if key[0] == query}) == {}


@pytest.mark.parametrize("column", ["country", "score"])
def test_other_columns_do_not_matter(table, column):
    wider = table.with_columns(pl.lit(None).alias(column))
    assert differences(per_query(wider), per_query(table)) == {}


@pytest.mark.parametrize("text", [text for text in TEXTS if text.split("@")[0] in BOUNDED])
@pytest.mark.parametrize("grades", [(0, 1), (0, 1, 2, 4), (-2, -1, None, 0, 3), (1,), (0,), (None, 0)], ids=str)
def test_bounded_metrics_stay_within_zero_and_one(text, grades):
    values = make_table(grades, seed=1).rank.per_query().evaluate(text)[text]
    assert values.drop_nulls().is_between(0, 1 + 1e-12).all()


@pytest.mark.parametrize("text", TEXTS)
def test_no_order_beats_the_perfect_one(text):
    judged = make_table(grades=(0, 0, 1, 2, 4), seed=2)
    best = per_query(in_order(judged, "relevance"), [text])
    sign = -1 if text.split("@")[0] in LOWER_IS_BETTER else 1
    for seed in range(5):
        other = in_order(judged.with_columns(random=pl.int_range(pl.len()).shuffle(seed)), "random")
        found = per_query(other.drop("random"), [text])
        assert [key for key in found if found[key] is not None and sign * found[key] > sign * best[key] + 1e-12] == []


@pytest.mark.parametrize("name", sorted(name for name in NAMES if takes_k(name) and name not in DIVIDES_BY_K))
def test_k_past_the_end_is_the_whole_list(table, name):
    found = {key[0]: value for key, value in per_query(table, [f"{name}@1000"]).items()}
    assert differences(found, {key[0]: value for key, value in per_query(table, [name]).items()}) == {}


def test_k_past_the_end_is_the_whole_list_for_precision_of_retrieved_rows(table):
    cut, whole = "precision(denominator=retrieved)@1000", "precision"
    found = {key[0]: value for key, value in per_query(table, [cut]).items()}
    assert differences(found, {key[0]: value for key, value in per_query(table, [whole]).items()}) == {}


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_lazy_frames_give_the_same(table, engine):
    lazy = table.lazy().rank.per_query().evaluate(*TEXTS)
    assert isinstance(lazy, pl.LazyFrame)
    assert differences(numbers(lazy.collect(engine=engine)), per_query(table)) == {}


def test_lazy_summary_gives_the_same(table):
    found = table.lazy().rank.evaluate(*TEXTS).collect(engine="streaming").row(0, named=True)
    assert differences(found, table.rank.evaluate(*TEXTS).row(0, named=True)) == {}


@pytest.mark.parametrize("nulls", ["nan", "masked", "pyarrow"])
def test_pandas_gives_the_same(table, nulls):
    frame = table.to_pandas(use_pyarrow_extension_array=nulls == "pyarrow")
    frame = frame.convert_dtypes() if nulls == "masked" else frame
    found = frame.rank.per_query().evaluate(*TEXTS)
    assert isinstance(found, pd.DataFrame)
    assert differences(numbers(found), per_query(table)) == {}


def test_pyarrow_gives_the_same(table):
    found = fm.rank(table.to_arrow()).per_query().evaluate(*TEXTS)
    assert isinstance(found, pa.Table)
    assert differences(numbers(found), per_query(table)) == {}


def test_expressions_give_the_same(table):
    found = table.group_by("query").agg(*(expression(text) for text in TEXTS))
    assert differences(numbers(found, ALONE), per_query(table, ALONE)) == {}


def expression(text):
    """Return the expression of a metric with default options, except that the greatest grade is given."""
    name, _, k = text.partition("@")
    options = {"max_grade": 4} if name in ("err", "nerr") else {}
    return getattr(fm.metrics, name)(**({"k": int(k)} if k else {}), **options)


@pytest.mark.parametrize("text", [text for text in TEXTS if text.split("@")[0] not in OWN_MEAN])
def test_method_evaluate_and_mean_agree(table, text):
    name, _, k = text.partition("@")
    method = getattr(table.rank, name)(**({"k": int(k)} if k else {}))
    values = [value for value in per_query(table, [text]).values() if value is not None]
    expected = sum(values) if name in COUNTS else sum(values) / len(values)
    found = {"method": method, "evaluate": table.rank.evaluate(text)[text].item()}
    assert differences(found, {"method": expected, "evaluate": expected}) == {}


def test_plan_holds_no_python_and_serialises(table):
    plan = table.lazy().rank.evaluate(*TEXTS)
    assert "PYTHON" not in plan.explain().upper()
    copy = pl.LazyFrame.deserialize(io.BytesIO(plan.serialize()))
    assert_frame_equal(copy.collect(), plan.collect())


@pytest.mark.parametrize("kind", ["polars", "pandas"])
def test_the_frame_of_the_caller_is_left_alone(table, kind):
    frame = table.clone() if kind == "polars" else table.to_pandas()
    before = frame.clone() if kind == "polars" else frame.copy(deep=True)
    frame.rank.using(min_relevance=2).per_query().evaluate(*TEXTS)
    assert frame.equals(before)
    assert list(frame.columns) == ["query", "item", "rank", "relevance"]


@pytest.mark.parametrize("text", [*TEXTS, "ndcg(gain=exponential)@10", "precision(denominator=retrieved)@5"])
def test_text_parses_back(text):
    assert str(fm.metrics.parse(text)) == text


@pytest.mark.parametrize(
    "text",
    ["f_score(beta=2)@10", "rbp(p=0.5)", "iprec(recall=0.1)", "err(max_grade=4)@20", "ndcg(gain={1:3,2:9})@10"],
)
def test_text_of_numbers_parses_back(text):
    assert str(fm.metrics.parse(text)) == text
    assert fm.metrics.parse(text) == fm.metrics.parse(str(fm.metrics.parse(text)))
