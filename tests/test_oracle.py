"""The package against the plain loops of `oracle`, on random tables, for every option of every metric."""

import inspect
import math
import os

import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import frame_metrics as fm
from tests import oracle
from tests.names import PLAIN
from tests.strategies import COLUMNS, Table, policies, tables

CUTOFFS = st.sampled_from((None, 1, 2, 3, 5, 20))
SCHEMA = {"query": pl.String, "item": pl.String, "rank": pl.Int64, "relevance": pl.Int64, "segment": pl.String}
EMPTY = Table([], SCHEMA)
ONE_ROW = Table([dict(zip(COLUMNS, ("a", "x", 1, 1, "north"), strict=True))], SCHEMA)
ONE_MISS = Table([dict(zip(COLUMNS, ("a", "x", None, 2, "north"), strict=True))], SCHEMA)
NOTHING_RELEVANT = Table([dict(zip(COLUMNS, ("a", "x", 3, 0, "north"), strict=True))], SCHEMA)
UNJUDGED = Table([dict(zip(COLUMNS, ("a", "x", 1, None, "north"), strict=True))], SCHEMA | {"relevance": pl.Boolean})

few = settings(
    max_examples=int(os.environ.get("FRAME_METRICS_EXAMPLES", "50")),
    deadline=None,
    derandomize="CI" in os.environ,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def cases(k, average="macro"):
    """Return the cases of the oracle under the names that result columns have."""
    return {str(fm.metrics.parse(text)): case for text, case in oracle.cases(k, average).items()}


def using(frame, level, no_relevant, average):
    options = {} if level is None else {"min_relevance": level}
    return frame.rank.using(no_relevant=no_relevant, average=average, **options)


def by_first_column(frame, chosen):
    """Return `{(key, text): value}` of a frame with one key column and one column per metric."""
    key = frame.columns[0]
    assert sorted(frame.columns[1:]) == sorted(chosen)
    return {(row[key], name): row[name] for row in frame.iter_rows(named=True) for name in chosen}


def only_row(frame, chosen):
    assert frame.shape == (1, len(chosen))
    return {name: frame[name].item() for name in chosen}


def test_the_oracle_knows_every_metric():
    assert sorted(oracle.ORACLE) == sorted(PLAIN)


@pytest.mark.parametrize("name", oracle.ORACLE)
def test_the_oracle_knows_every_option_and_its_default(name):
    parameters = dict(inspect.signature(getattr(fm.metrics, name)).parameters)
    k = parameters.pop("k", None)
    assert (k is None) == (name in oracle.WITHOUT_K)
    expected = {option: values[0] for option, values in oracle.OPTIONS.get(name, {}).items()}
    assert {option: parameter.default for option, parameter in parameters.items()} == expected


@pytest.mark.parametrize("k", [None, 7])
def test_texts_parse_back_to_themselves(k):
    texts = list(oracle.cases(k))
    assert [str(fm.metrics.parse(text)) for text in texts] == texts


@few
@given(tables(), CUTOFFS, policies())
@example(EMPTY, 3, (None, ("zero", "macro")))
@example(ONE_ROW, 3, (None, ("skip", "macro")))
@example(ONE_MISS, None, (2, ("one", "macro")))
@example(NOTHING_RELEVANT, None, (None, ("skip", "macro")))
def test_per_query(table, k, policy):
    level, (no_relevant, average) = policy
    chosen = cases(k)
    found = using(table.frame(), level, no_relevant, average).per_query().evaluate(*chosen)
    expected = oracle.per_query(table.rows, chosen, level=level, no_relevant=no_relevant)
    assert oracle.differences(by_first_column(found, chosen), expected) == {}


@few
@given(tables(), CUTOFFS, policies())
@example(EMPTY, None, (None, ("zero", "macro")))
@example(ONE_ROW, 1, (None, ("zero", "micro")))
@example(ONE_MISS, 2, (5, ("skip", "micro")))
@example(NOTHING_RELEVANT, 2, (None, ("one", "macro")))
def test_over_queries(table, k, policy):
    level, (no_relevant, average) = policy
    chosen = cases(k, average)
    found = using(table.frame(), level, no_relevant, average).evaluate(*chosen)
    expected = oracle.over_queries(table.rows, chosen, level=level, no_relevant=no_relevant, average=average)
    assert oracle.differences(only_row(found, chosen), expected) == {}


@few
@given(tables(), CUTOFFS, policies())
@example(NOTHING_RELEVANT, None, (None, ("zero", "macro")))
def test_by_segment(table, k, policy):
    level, (no_relevant, average) = policy
    chosen = cases(k, average)
    found = using(table.frame(), level, no_relevant, average).by("segment").evaluate(*chosen)
    expected = oracle.per_segment(table.rows, chosen, level=level, no_relevant=no_relevant, average=average)
    assert oracle.differences(by_first_column(found, chosen), expected) == {}


@few
@given(tables(), CUTOFFS, policies(), st.sampled_from(("in-memory", "streaming")))
@example(EMPTY, None, (None, ("zero", "macro")), "streaming")
def test_lazy_frames(table, k, policy, engine):
    level, (no_relevant, average) = policy
    chosen = cases(k, average)
    ranking = using(table.frame().lazy(), level, no_relevant, average)
    queries = ranking.per_query().evaluate(*chosen).collect(engine=engine)
    summary = ranking.evaluate(*chosen).collect(engine=engine)
    options = {"level": level, "no_relevant": no_relevant}
    expected = oracle.per_query(table.rows, chosen, **options)
    assert oracle.differences(by_first_column(queries, chosen), expected) == {}
    expected = oracle.over_queries(table.rows, chosen, average=average, **options)
    assert oracle.differences(only_row(summary, chosen), expected) == {}


@few
@given(tables(), CUTOFFS)
@example(EMPTY, 3)
@example(ONE_MISS, 3)
def test_expressions(table, k):
    chosen = {text: case for text, case in cases(k).items() if case[2].get("max_grade", 4) is not None}
    expressions = [expression(*case) for case in chosen.values()]
    found = table.frame().group_by("query").agg(*expressions)
    assert oracle.differences(by_first_column(found, chosen), oracle.per_query(table.rows, chosen)) == {}


def test_err_in_an_expression_needs_the_greatest_grade():
    with pytest.raises(fm.OptionError, match="max_grade"):
        fm.metrics.err(k=3)


def test_err_refuses_a_grade_above_the_greatest():
    with pytest.raises(fm.TableError, match="max_grade"):
        ONE_MISS.frame().rank.err(max_grade=1)


def expression(name, k, options):
    cut = {} if name in oracle.WITHOUT_K else {"k": k}
    return getattr(fm.metrics, name)(**cut, **options)


@few
@given(tables(), CUTOFFS)
@example(EMPTY, 3)
def test_methods_return_the_number_of_evaluate(table, k):
    chosen = {text: case for text, case in cases(k).items() if case[2] == oracle.options_of(case[0])[-1]}
    ranking = table.frame().rank
    found = {}
    for text, (name, cut, options) in chosen.items():
        cutoff = {} if name in oracle.WITHOUT_K else {"k": cut}
        found[text] = getattr(ranking, name)(**cutoff, **options)
    assert {type(value) for value in found.values()} <= {float, int}
    assert oracle.differences(found, oracle.over_queries(table.rows, chosen)) == {}


@few
@given(tables(), CUTOFFS)
@example(EMPTY, None)
@example(UNJUDGED, None)
def test_pandas_frames(table, k):
    chosen = cases(k)
    found = table.frame().to_pandas().rank.per_query().evaluate(*chosen)
    values = {(row["query"], name): row[name] for row in found.to_dict("records") for name in chosen}
    assert oracle.differences(values, oracle.per_query(table.rows, chosen)) == {}


@few
@given(tables(tied=True))
def test_auc_of_shared_ranks(table):
    chosen = {"auc": ("auc", None, {})}
    found = table.frame().rank.per_query().evaluate("auc")
    assert oracle.differences(by_first_column(found, chosen), oracle.per_query(table.rows, chosen)) == {}


@pytest.mark.parametrize("name", sorted(set(oracle.ORACLE) - oracle.ALWAYS_COMPUTED))
@pytest.mark.parametrize("lazy", [False, True], ids=["eager", "lazy"])
def test_no_relevant_error_raises(name, lazy):
    frame = NOTHING_RELEVANT.frame()
    ranking = (frame.lazy() if lazy else frame).rank.using(no_relevant="error").per_query()
    with pytest.raises((fm.FrameMetricsError, pl.exceptions.PolarsError), match="relevant"):
        ranking.evaluate(name).lazy().collect()


@pytest.mark.parametrize("name", sorted(oracle.ALWAYS_COMPUTED))
def test_no_relevant_error_leaves_other_metrics_alone(name):
    found = NOTHING_RELEVANT.frame().rank.using(no_relevant="error").evaluate(name).item()
    expected = oracle.over_queries(NOTHING_RELEVANT.rows, {name: oracle.cases(None)[name]})
    assert oracle.same(found, expected[name])


def test_one_and_micro_exclude_each_other():
    with pytest.raises(fm.OptionError, match="micro"):
        ONE_ROW.frame().rank.using(no_relevant="one", average="micro").evaluate("recall")


@pytest.mark.parametrize("name", sorted(oracle.GEOMETRIC))
def test_geometric_means_have_no_micro_average(name):
    ranking = ONE_ROW.frame().rank.using(average="micro")
    with pytest.raises(fm.OptionError, match=f"{name} is a geometric mean"):
        ranking.evaluate(name)
    assert ranking.per_query().evaluate(name)[name].to_list() == [1.0]


def test_mean_over_no_query_is_nan():
    ranking = EMPTY.frame().rank
    found = {name: getattr(ranking, name)() for name in PLAIN}
    assert {name for name, value in found.items() if value == 0} == oracle.COUNTS
    assert all(math.isnan(found[name]) for name in set(found) - oracle.COUNTS)
