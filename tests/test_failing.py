"""Plans that fail, and what their caller is told."""

from __future__ import annotations

from io import BytesIO

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frame_metrics.errors import FrameMetricsError, TableError
from frame_metrics.failing import failing, raising, told

ENGINES = ["in-memory", "streaming"]
BAD = pl.col("number") < 0

# What Polars prints around a message, and what might be mistaken for it.
AWKWARD = [
    'the item "x" is there twice',
    'it ends in a quote "',
    'a list ["x", "y"] inside',
    'a list ["x", "y"]',
    'an end "] and more',
    'a list ["x", … "y"]',
    "two\n\nparagraphs",
    "a backslash \\ and a tab \t",
    "braces {} and {0}",
    "",
    "é ☃ 日本 \U0001f600",
    "x" * 100_000,
]


def failed(check: pl.Expr, numbers: list[int | None], engine: str) -> str | None:
    """What the caller is told, or None if the plan runs through."""
    plan = pl.LazyFrame({"number": numbers}, schema={"number": pl.Int64})
    plan = plan.select(pl.when(check.is_null()).then("number").alias("number"))
    try:
        assert plan.collect(engine=engine)["number"].to_list() == numbers
    except pl.exceptions.PolarsError as error:
        return told(error)
    return None


@pytest.mark.parametrize("engine", ENGINES)
def test_a_plan_runs_where_the_condition_does_not_hold(engine):
    assert failed(failing(BAD, "negative"), [1, 2, None], engine) is None
    assert failed(failing(BAD, "negative: {}", "number"), [], engine) is None


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("bad", [1, 2, 3, 50])
@pytest.mark.parametrize("text", AWKWARD)
def test_the_message_arrives_as_it_was(text, bad, engine):
    numbers = [1, *[-1] * bad, 2]
    assert failed(failing(BAD, text), numbers, engine) == text
    assert failed(failing(BAD, pl.lit(text)), numbers, engine) == text


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=150), st.integers(1, 12))
def test_any_quoted_value_arrives_as_it_was(text, bad):
    check = failing(BAD, "the item is {}", pl.lit(text))
    assert failed(check, [-1] * bad, "in-memory") == f"the item is {text}"


def test_quoted_values_are_cut():
    assert failed(failing(BAD, "{}!", pl.lit("x" * 300)), [-1], "in-memory") == "x" * 200 + "!"


@pytest.mark.parametrize("engine", ENGINES)
def test_values_of_the_failing_row_are_quoted(engine):
    check = failing(BAD, "{} and its double {}", "number", pl.col("number") * 2)
    assert failed(check, [1, None, -7, 5], engine) == "-7 and its double -14"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("message", "text"),
    [
        (failing(BAD, "{}", pl.lit(None, dtype=pl.String)), "null"),
        (failing(BAD, pl.lit(None, dtype=pl.String)), "a value has no meaning here"),
    ],
)
def test_nothing_to_quote_does_not_let_a_bad_value_pass(message, text, engine):
    assert failed(message, [1, -1], engine) == text


@pytest.mark.parametrize("engine", ENGINES)
def test_an_aggregated_condition_fails_too(engine):
    frame = pl.LazyFrame({"query": [1, 1, 2], "number": [1, 2, -3]})
    check = failing(BAD.any(), "{} at least", pl.col("number").min())
    plan = frame.group_by("query").agg(pl.when(check.is_null()).then(pl.col("number").sum()))
    with pytest.raises(TableError, match=r"^-3 at least$"), raising():
        plan.collect(engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_filter_keeps_the_check_whatever_is_selected(engine):
    frame = pl.LazyFrame({"number": [1, -1], "other": ["a", "b"]})
    plan = frame.filter(failing(BAD, "negative").is_null()).select("other")
    with pytest.raises(TableError, match=r"^negative$"), raising():
        plan.collect(engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_it_still_fails_after_serialising(engine):
    plan = pl.LazyFrame({"number": [1, -1]}).select(failing(BAD, "negative: {}", "number"))
    again = pl.LazyFrame.deserialize(BytesIO(plan.serialize()))
    with pytest.raises(TableError, match=r"^negative: -1$"), raising():
        again.collect(engine=engine)


@pytest.mark.parametrize("shown", [-1, 1, 2])
def test_how_polars_prints_lists_does_not_matter(shown):
    with pl.Config(fmt_table_cell_list_len=shown, fmt_str_lengths=3, tbl_width_chars=10):
        assert failed(failing(BAD, "a long message"), [-1, -2, -3, -4], "in-memory") == "a long message"


def test_other_errors_pass_as_they_are():
    with pytest.raises(pl.exceptions.InvalidOperationError), raising():
        pl.select(pl.lit("frame_metrics is text").cast(pl.Int8))
    with pytest.raises(ZeroDivisionError), raising():
        _ = 1 / 0


def test_the_error_is_of_the_family_and_hides_what_polars_said():
    with pytest.raises(FrameMetricsError) as caught, raising():
        pl.select(failing(pl.lit(True), "no"))
    assert type(caught.value) is TableError
    assert caught.value.__suppress_context__
