"""Numbers worked out by hand or printed in textbooks."""

import math

import polars as pl
import pytest

import frame_metrics as fm  # noqa: F401  (puts .rank on the frames)

FRAMES = {
    "polars": lambda frame: frame,
    "lazy": lambda frame: frame.lazy(),
    "pandas": lambda frame: frame.to_pandas(),
}


@pytest.fixture(params=FRAMES.values(), ids=FRAMES)
def value(request):
    """Return a function that computes one metric, as a number, from any kind of frame."""

    def compute(frame, metric, **options):
        found = getattr(request.param(frame).rank, metric)(**options)
        return found.collect().item() if isinstance(found, pl.LazyFrame) else found

    return compute


def graded(*grades):
    """Return one query whose grades are these from the top down."""
    size = len(grades)
    return pl.DataFrame(
        {"query": ["q"] * size, "item": range(size), "rank": range(1, size + 1), "relevance": list(grades)}
    )


def found_at(query, ranks, relevant):
    """Return a query with hits at these ranks; of its relevant items the rest were missed."""
    found = [*ranks, *[None] * (relevant - len(ranks))]
    return pl.DataFrame({"query": query, "item": range(relevant), "rank": found, "relevance": 1})


@pytest.mark.parametrize(("k", "expected"), [(3, 2 / 3), (4, 2 / 4), (5, 3 / 5)])
def test_precision_down_the_list(value, k, expected):
    assert value(graded(1, 0, 1, 0, 1), "precision", k=k) == pytest.approx(expected)


def test_average_precision_of_one_list(value):
    found = value(graded(1, 0, 1, 0, 1), "average_precision")
    assert found == pytest.approx((1 + 2 / 3 + 3 / 5) / 3)
    assert round(found, 4) == 0.7556


def test_average_precision_counts_what_was_missed(value):
    first, second = found_at("a", [1, 2, 4, 7], relevant=4), found_at("b", [1, 3, 5], relevant=5)
    found = [value(table, "average_precision") for table in (first, second, pl.concat([first, second]))]
    assert [round(number, 4) for number in found] == [0.8304, 0.4533, 0.6418]


@pytest.mark.parametrize(
    ("discount", "dcg", "idcg", "ndcg"), [("jarvelin", 8.0972, 8.6925, 0.9315), ("log2", 6.8611, 7.1410, 0.9608)]
)
def test_gain_of_six_grades(value, discount, dcg, idcg, ndcg):
    table = graded(3, 2, 3, 0, 1, 2)
    found = {name: round(value(table, name, k=6, discount=discount), 4) for name in ("dcg", "idcg", "ndcg")}
    assert found == {"dcg": dcg, "idcg": idcg, "ndcg": ndcg}


def test_cumulated_gain_has_no_discount(value):
    assert value(graded(3, 2, 3, 0, 1, 2), "cg", k=6) == 11


@pytest.mark.parametrize(
    ("discount", "k", "expected"),
    [("jarvelin", 1, 3), ("jarvelin", 2, 5), ("jarvelin", 10, 9.6051), ("jarvelin", 11, 9.6051), ("log2", 2, 4.2619)],
)
def test_discounted_gain_of_ten_grades(value, discount, k, expected):
    table = graded(3, 2, 3, 0, 0, 1, 2, 2, 3, 0)
    assert round(value(table, "dcg", k=k, discount=discount), 4) == expected


@pytest.mark.parametrize(("discount", "expected"), [("jarvelin", 0.9203), ("log2", 0.9652)])
def test_ndcg_of_four_grades(value, discount, expected):
    assert round(value(graded(2, 1, 2, 0), "ndcg", k=4, discount=discount), 4) == expected


@pytest.mark.parametrize(("grades", "expected"), [((0, 1, 0), 1 / 2), ((1, 0, 0), 1.0), ((0, 0, 0), 0.0)])
def test_reciprocal_rank_is_one_over_the_rank(value, grades, expected):
    assert value(graded(*grades), "reciprocal_rank") == expected


def test_micro_average_pools_hits_and_truths():
    users = [("a", 6, 10), ("b", 5, 12), ("c", 4, 8)]
    table = pl.concat([found_at(user, range(1, hits + 1), relevant=truths) for user, hits, truths in users])
    found = {average: table.rank.using(average=average).recall() for average in ("micro", "macro")}
    assert found == pytest.approx({"micro": 15 / 30, "macro": (6 / 10 + 5 / 12 + 4 / 8) / 3})


def test_wide_predictions_count_a_repeated_one_once_at_its_first_place():
    table = pl.DataFrame(
        {
            "query": [1, 1, 1, 2, 2, 2, 3, 3],
            "item": ["US", "FR", "CN", "FR", "US", "CN", "FR", "CN"],
            "rank": [1, 2, 3, 1, 2, 3, 1, 3],
            "relevance": [1, 0, 0, 0, 0, 1, 1, 0],
        }
    )
    found = table.rank.per_query().ndcg(k=5)
    assert dict(found.sort("query").iter_rows()) == {1: 1.0, 2: 0.5, 3: 1.0}


def test_expected_reciprocal_rank_by_hand(value):
    first, second, third = 7 / 16, 0.0, 3 / 16
    expected = first + (1 - first) * (1 - second) * third / 3
    assert value(graded(3, 0, 2), "err", max_grade=4) == pytest.approx(expected)


def test_rank_biased_precision_by_hand(value):
    assert value(graded(1, 0, 1), "rbp", p=0.5) == pytest.approx(0.5 * (1 + 0.25))


def test_bpref_counts_judged_documents_above(value):
    table = graded(0, 1, None, 0, 1)
    assert value(table, "bpref") == pytest.approx(((1 - 1 / 2) + (1 - 2 / 2)) / 2)


def test_f_score_weighs_recall_by_beta(value):
    table = found_at("a", [1, 3], relevant=4)
    p, r = 2 / 5, 2 / 4
    assert value(table, "f_score", k=5, beta=2.0) == pytest.approx(5 * p * r / (4 * p + r))


@pytest.mark.parametrize(("recall", "expected"), [(0.0, 1.0), (0.5, 1.0), (0.7, 1.0), (0.75, 2 / 3), (1.0, 2 / 3)])
def test_interpolated_precision_rounds_the_wanted_hits(value, recall, expected):
    table = graded(1, 0, 1, 0)
    assert value(table, "iprec", recall=recall) == pytest.approx(expected)


def test_area_under_the_curve_is_the_share_of_pairs_in_order(value):
    assert value(graded(1, 0, 1, 0), "auc") == pytest.approx(3 / 4)


def test_area_of_more_pairs_than_32_bits_hold(value):
    many = 70_000
    table = pl.DataFrame({"query": "q", "rank": range(1, 2 * many + 1), "relevance": [1] * many + [0] * many})
    assert value(table, "auc") == 1.0
    assert value(table.with_columns(relevance=1 - pl.col("relevance")), "auc") == 0.0


def test_exponential_gain_by_hand(value):
    expected = 7 + 3 / math.log2(3) + 1 / 2
    assert value(graded(3, 2, 1), "dcg", gain="exponential") == pytest.approx(expected)
