"""Metrics of diversity, on tables with a row for each query, item and subtopic."""

import inspect
import io
import math
import os
import random
from fractions import Fraction
from itertools import groupby

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import frame_metrics as fm
from tests.names import PLAIN

NAMES = [name for name in fm.metrics.names() if name not in PLAIN]
SCHEMA = {
    "country": pl.String,
    "query": pl.String,
    "item": pl.String,
    "subtopic": pl.Int64,
    "rank": pl.Int64,
    "relevance": pl.Int64,
}
ALPHAS = (Fraction(1, 2), Fraction(3, 10), Fraction(0), Fraction(1))

few = settings(
    max_examples=int(os.environ.get("FRAME_METRICS_EXAMPLES", "40")),
    deadline=None,
    derandomize="CI" in os.environ,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


class Topic:
    """One list, for plain loops: the ranks of items, and the relevant items of each subtopic."""

    def __init__(self, rows, level):
        self.rank = {row["item"]: row["rank"] for row in rows}
        self.of = {}
        for row in rows:
            if row["relevance"] is not None and row["relevance"] >= level:
                self.of.setdefault(row["subtopic"], set()).add(row["item"])

    def down(self, k):
        """Return (place, item) of what was retrieved within the first k."""
        return sorted((rank, item) for item, rank in self.rank.items() if rank is not None and rank <= (k or 10**9))

    def gains(self, items, alpha):
        """Return what each of the items adds, given those before it."""
        seen, found = dict.fromkeys(self.of, 0), []
        for item in items:
            mine = [subtopic for subtopic, relevant in self.of.items() if item in relevant]
            found.append(sum(((1 - alpha) ** seen[subtopic] for subtopic in mine), Fraction(0)))
            for subtopic in mine:
                seen[subtopic] += 1
        return found

    def gain(self, k, alpha, weight):
        places = self.down(k)
        gains = self.gains([item for _, item in places], alpha)
        return sum(float(gain) * weight(rank) for (rank, _), gain in zip(places, gains, strict=True))

    def ideal(self, k, alpha, weight):
        left, taken = {item for relevant in self.of.values() for item in relevant}, []
        while left and len(taken) < k:
            taken.append(max(left, key=lambda item: (self.gains([*taken, item], alpha)[-1], item)))
            left.remove(taken[-1])
        return sum(float(gain) * weight(place) for place, gain in enumerate(self.gains(taken, alpha), 1))


def log2(place):
    return 1 / math.log2(place + 1)


def reciprocal(place):
    return 1 / place


def bound(topic, k, alpha, weight):
    return len(topic.of) * sum(float(1 - alpha) ** (place - 1) * weight(place) for place in range(1, k + 1))


def average_precisions(topic, k):
    for relevant in topic.of.values():
        hits = [rank for rank, item in topic.down(k) if item in relevant]
        yield sum(number / rank for number, rank in enumerate(hits, 1)) / len(relevant)


def cases(k, alpha):
    """Return numerator and denominator of every metric, by its text; the denominator may be None."""
    a = "" if alpha == Fraction(1, 2) else f"alpha={float(alpha):g}"
    only, more = f"({a})" if a else "", f"{a}," if a else ""
    cut = [
        (f"alpha_dcg{only}@{k}", lambda t: (t.gain(k, alpha, log2), bound(t, k, alpha, log2))),
        (f"alpha_dcg({more}denominator=none)@{k}", lambda t: (t.gain(k, alpha, log2), None)),
        (f"alpha_ndcg{only}@{k}", lambda t: (t.gain(k, alpha, log2), t.ideal(k, alpha, log2))),
        (f"err_ia{only}@{k}", lambda t: (t.gain(k, alpha, reciprocal), bound(t, k, alpha, reciprocal))),
        (f"nerr_ia{only}@{k}", lambda t: (t.gain(k, alpha, reciprocal), t.ideal(k, alpha, reciprocal))),
        (f"p_ia@{k}", lambda t: (sum(i in r for _, i in t.down(k) for r in t.of.values()), k * len(t.of))),
    ]
    whole = [
        (f"alpha_dcg({more}denominator=none)", lambda t: (t.gain(None, alpha, log2), None)),
        (f"err_ia({more}denominator=subtopics)", lambda t: (alpha * t.gain(None, alpha, reciprocal), len(t.of))),
        ("subtopic_recall", lambda t: (sum(any(i in r for _, i in t.down(None)) for r in t.of.values()), len(t.of))),
        (f"subtopic_recall@{k}", lambda t: (sum(any(i in r for _, i in t.down(k)) for r in t.of.values()), len(t.of))),
        ("ap_ia", lambda t: (sum(average_precisions(t, None)), len(t.of))),
        (f"ap_ia@{k}", lambda t: (sum(average_precisions(t, k)), len(t.of))),
    ]
    return dict(cut + whole)


def scores(rows, chosen, level, fill):
    """Return `{(country, query, text): value}` by plain loops."""
    found = {}
    for key, some in groupby(sorted(rows, key=key_of), key=key_of):
        topic = Topic(list(some), level)
        for text, case in chosen.items():
            value, over = case(topic)
            found[*key, text] = value if over is None else value / over if topic.of else fill
    return found


def key_of(row):
    return row["country"], row["query"]


def mean(values):
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None


def same(found, expected):
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        assert (found[key] is None) == (value is None), key
        assert value is None or math.isclose(found[key], value, abs_tol=1e-11), (key, found[key], value)


@st.composite
def tables(draw):
    """Draw rows of up to four lists: missed, unjudged and repeated items, grades, gaps in the ranks, in any order."""
    rows = []
    keys = st.tuples(st.sampled_from(("fr", "us")), st.sampled_from(("a", "b", "ü")))
    for country, query in draw(st.lists(keys, max_size=4, unique=True)):
        ranks = draw(st.lists(st.integers(1, 12), max_size=7, unique=True))
        missed = draw(st.integers(0, 3))
        for number, rank in enumerate([*ranks, *[None] * missed]):
            judged = draw(st.dictionaries(st.integers(1, 4), st.sampled_from((-1, 0, 1, 1, 2, None)), max_size=4))
            for subtopic, relevance in judged.items() or [(None, None)]:
                values = (country, query, f"d{number * 7 % 10}", subtopic, rank, relevance)
                rows.append(dict(zip(SCHEMA, values, strict=True)))
    return draw(st.permutations(rows))


def frame(rows):
    return pl.DataFrame(rows, schema=SCHEMA)


def settings_drawn():
    return st.tuples(
        st.sampled_from((1, 2, 3, 5, 20)),
        st.sampled_from(ALPHAS),
        st.sampled_from((None, 1, 2)),
        st.sampled_from((("zero", 0.0), ("one", 1.0), ("skip", None))),
    )


class TestOracle:
    @few
    @given(tables(), settings_drawn())
    def test_per_query(self, rows, drawn):
        k, alpha, level, (policy, fill) = drawn
        chosen = cases(k, alpha)
        ranking = frame(rows).rank.by("country").using(min_relevance=level, no_relevant=policy).per_query()
        found = ranking.evaluate(*chosen)
        assert found.columns == ["country", "query", *chosen]
        same(cells(found, 2), scores(rows, chosen, level or 1, fill))

    @few
    @given(tables(), settings_drawn(), st.sampled_from(("polars", "in-memory", "streaming")))
    def test_by_segment(self, rows, drawn, engine):
        k, alpha, level, (policy, fill) = drawn
        chosen = cases(k, alpha)
        given_rows = frame(rows) if engine == "polars" else frame(rows).lazy()
        found = given_rows.rank.by("country").using(min_relevance=level, no_relevant=policy).evaluate(*chosen)
        found = found if engine == "polars" else found.collect(engine=engine)
        each = scores(rows, chosen, level or 1, fill)
        countries = {row["country"] for row in rows}
        expected = {
            (country, text): mean([value for key, value in each.items() if (key[0], key[2]) == (country, text)])
            for country in countries
            for text in chosen
        }
        same(cells(found, 1), expected)

    @few
    @given(tables(), settings_drawn())
    def test_over_queries(self, rows, drawn):
        k, alpha, level, (policy, fill) = drawn
        rows = [row for row in rows if row["country"] == "fr"]
        chosen = cases(k, alpha)
        found = frame(rows).rank.using(min_relevance=level, no_relevant=policy).evaluate(*chosen)
        each = scores(rows, chosen, level or 1, fill)
        expected = {(text,): mean([value for key, value in each.items() if key[2] == text]) for text in chosen}
        same(cells(found, 0), expected)

    @few
    @given(tables(), settings_drawn())
    def test_pooled(self, rows, drawn):
        k, alpha, level, _ = drawn
        rows = [row for row in rows if row["country"] == "fr"]
        chosen = {text: case for text, case in cases(k, alpha).items() if "none" not in text}
        found = frame(rows).rank.using(min_relevance=level, average="micro").evaluate(*chosen)
        topics = [Topic(list(some), level or 1) for _, some in groupby(sorted(rows, key=key_of), key=key_of)]
        expected = {}
        for text, case in chosen.items():
            parts = [case(topic) for topic in topics if topic.of]
            over = sum(part for _, part in parts)
            expected[text,] = float(sum(value for value, _ in parts) / over) if over else None
        same(cells(found, 0), expected)

    def test_it_has_every_metric_and_option(self):
        asked = [fm.metrics.parse(text) for text in cases(3, Fraction(3, 10))]
        assert {metric.definition.name for metric in asked} == set(NAMES)
        changed = {(m.definition.name, n) for m in asked for n, v in m.options if v != m.definition.options.get(n)}
        assert changed == {(name, option) for name in NAMES for option in options_of(name)}


def options_of(name):
    return inspect.signature(getattr(fm.metrics, name)).parameters


def cells(found, keys):
    """Return `{(*key, text): value}` of a frame."""
    texts = found.columns[keys:]
    return {(*row[:keys], text): value for row in found.rows() for text, value in zip(texts, row[keys:], strict=True)}


def make_table(seed=0, queries=12, most=5):
    """Return a large random table, in order of nothing."""
    rng = random.Random(seed)  # noqa: S311
    rows = []
    for query in range(queries):
        items = [f"d{number}" for number in range(rng.randint(1, 25))]
        rng.shuffle(items)
        listed = rng.randint(1, len(items))
        for number, item in enumerate(items, 1):
            subtopics = rng.sample(range(5), rng.randint(0, most))
            for subtopic in subtopics or [None]:
                relevance = None if subtopic is None else rng.choice((0, 1, 1, 2))
                rank = number if number <= listed else None
                rows.append((("fr", "us")[query % 2], f"q{query}", item, subtopic, rank, relevance))
    rng.shuffle(rows)
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


TEXTS = list(cases(3, Fraction(1, 2)))


RECORDED = {
    "alpha_ndcg@5": 0.4525793789,
    "alpha_ndcg@10": 0.5220419613,
    "alpha_ndcg@20": 0.526481807,
    "alpha_dcg@5": 0.3913583019,
    "alpha_dcg@10": 0.458683029,
    "alpha_dcg@20": 0.4636650615,
    "err_ia@5": 0.3386283409,
    "err_ia@10": 0.3715835775,
    "err_ia@20": 0.3732556904,
    "nerr_ia@5": 0.3989746455,
    "nerr_ia@10": 0.4342005759,
    "nerr_ia@20": 0.4357600933,
    "p_ia@5": 0.26,
    "p_ia@10": 0.2466666667,
    "p_ia@20": 0.1533333333,
    "subtopic_recall@5": 0.7666666667,
    "subtopic_recall@10": 0.8166666667,
    "subtopic_recall@20": 0.8166666667,
    "ap_ia": 0.2590185587,
}
"""What pyndeval 0.0.8 gave for `make_table(0)`."""


class TestNdeval:
    """Values of ndeval 4.5, through pyndeval and ir_measures; it looks at no more than 20 places."""

    def test_recorded_values(self):
        assert make_table(0).rank.evaluate(*RECORDED).row(0) == pytest.approx(list(RECORDED.values()), abs=1e-9)

    @staticmethod
    def reference(table, measures, level):
        ir_measures = pytest.importorskip("ir_measures")
        pytest.importorskip("pyndeval")
        judged = table.drop_nulls("subtopic").iter_rows(named=True)
        qrels = [ir_measures.Qrel(row["query"], row["item"], row["relevance"], str(row["subtopic"])) for row in judged]
        listed = table.drop_nulls("rank").unique(["query", "item"]).sort("query", "rank").iter_rows(named=True)
        run = [ir_measures.ScoredDoc(row["query"], row["item"], -float(row["rank"])) for row in listed]
        found = {}
        # One by one: in a call with several values of alpha, ir_measures 0.4.3 has used up the run after the first.
        for name, text in measures.items():
            each = ir_measures.iter_calc([ir_measures.parse_measure(text.format(level))], qrels, run)
            found |= {(metric.query_id, name): metric.value for metric in each}
        return found

    @pytest.mark.parametrize("level", [1, 2])
    @pytest.mark.parametrize("k", [2, 5, 10, 20])
    @pytest.mark.parametrize("seed", range(3))
    def test_every_metric(self, seed, k, level):
        table = make_table(seed)
        measures = {
            f"alpha_ndcg@{k}": f"alpha_nDCG(rel={{}})@{k}",
            f"alpha_ndcg(alpha=1)@{k}": f"alpha_nDCG(alpha=1.0,rel={{}})@{k}",
            f"alpha_dcg@{k}": f"alpha_DCG(rel={{}})@{k}",
            f"alpha_dcg(alpha=0.3)@{k}": f"alpha_DCG(alpha=0.3,rel={{}})@{k}",
            f"err_ia@{k}": f"ERR_IA(rel={{}})@{k}",
            f"nerr_ia@{k}": f"nERR_IA(rel={{}})@{k}",
            f"p_ia@{k}": f"P_IA(rel={{}})@{k}",
            f"subtopic_recall@{k}": f"StRecall(rel={{}})@{k}",
            "ap_ia": "AP_IA(rel={})",
        }
        found = cells(table.rank.using(min_relevance=level).per_query().evaluate(*measures), 1)
        expected = self.reference(table, measures, level)
        known = {query for query, _ in expected}
        assert len(known) > 8
        same({key: value for key, value in found.items() if key[0] in known}, expected)

    @pytest.mark.parametrize("seed", range(3))
    def test_sums_whose_order_cannot_matter(self, seed):
        """With up to two subtopics an item, ndeval sees ties where there are ties, whatever alpha is."""
        table = make_table(seed, most=2)
        measures = {"alpha_ndcg(alpha=0.3)@10": "alpha_nDCG(alpha=0.3,rel={})@10"}
        found = cells(table.rank.per_query().evaluate(*measures), 1)
        expected = self.reference(table, measures, 1)
        same({key: value for key, value in found.items() if key in expected}, expected)

    def test_the_first_place_is_divided_too(self):
        """At k = 1 ndeval leaves its division out, and so gives what the others never do: more than 1."""
        table = make_table(most=3)
        measures = {"err_ia@1": "ERR_IA(rel={})@1", "alpha_dcg@1": "alpha_DCG(rel={})@1"}
        expected = self.reference(table, measures, 1)
        relevant = table.filter(pl.col("relevance") > 0).group_by("query").agg(pl.col("subtopic").n_unique())
        number = dict(relevant.rows())
        expected = {key: value / number.get(key[0], 1) for key, value in expected.items()}
        found = cells(table.rank.per_query().evaluate(*measures), 1)
        same({key: value for key, value in found.items() if key in expected}, expected)


def topic(*rows):
    """Return a table of one query; rows are item, rank and the subtopics that it is relevant to."""
    each = [(item, rank, subtopic) for item, rank, subtopics in rows for subtopic in subtopics or [None]]
    columns = {
        name: list(values) for name, values in zip(("item", "rank", "subtopic"), zip(*each, strict=True), strict=True)
    }
    table = pl.DataFrame({"query": ["q"] * len(each), **columns}, schema_overrides={"rank": pl.Int64})
    return table.with_columns(relevance=pl.when(pl.col("subtopic").is_not_null()).then(1))


class TestNumbers:
    """Worked out by hand."""

    def test_a_list(self):
        # Gains down the list: a 1 + 1, b 0.5, c nothing, d 0.25 + 1. Ideal: e 2, d 1 + 0.5, a 0.5 + 0.5, b 0.25.
        table = topic(("a", 1, "xy"), ("b", 2, "x"), ("c", 3, ""), ("d", 4, "xz"), ("e", None, "yz"))
        log3, log5 = math.log2(3), math.log2(5)
        dcg, ideal = 2 + 0.5 / log3 + 1.25 / log5, 2 + 1.5 / log3 + 1 / 2 + 0.25 / log5
        found = table.rank.evaluate(
            "alpha_dcg(denominator=none)@4", "alpha_ndcg@4", "alpha_dcg@4", "err_ia@2", "nerr_ia@2", "p_ia@4"
        ).row(0)
        assert found == pytest.approx(
            [
                dcg,
                dcg / ideal,
                dcg / 3 / (1 + 0.5 / log3 + 0.25 / 2 + 0.125 / log5),
                (2 + 0.5 / 2) / (3 * (1 + 0.5 / 2)),
                (2 + 0.5 / 2) / (2 + 1.5 / 2),
                (3 + 1 + 1) / (4 * 3),
            ]
        )
        assert table.rank.evaluate("st_recall@3", "st_recall@4", "map_ia").row(0) == pytest.approx(
            [2 / 3, 1, ((1 + 2 / 2 + 3 / 4) / 3 + 1 / 2 + (1 / 4) / 2) / 3]
        )

    @pytest.mark.parametrize(("names", "second"), [("abc", 2), ("cba", 2), ("acb", 1.5), ("bca", 1.5)])
    def test_among_equals_the_last_name_is_taken(self, names, second):
        """All three gain 2; after the one in the middle nothing does, after the others the opposite one does."""
        first, middle, last = names
        table = topic((first, 1, "wx"), (middle, None, "xy"), (last, None, "yz"))
        assert table.rank.alpha_ndcg(2) == pytest.approx(2 / (2 + second / math.log2(3)))

    def test_the_greedy_list_is_not_always_the_best(self):
        # The greedy list takes abcd for 4 and has then 1 + 0.5 + 0.5 at most; this list gains 3 twice.
        table = topic(("p", 1, "abe"), ("q", 2, "cdf"), ("r", None, "abcd"))
        assert table.rank.alpha_ndcg(2) == pytest.approx((3 + 3 / math.log2(3)) / (4 + 2 / math.log2(3)))
        # All gain 3, r is the last of them, and repeats half of what the others have.
        table = topic(("p", 1, "abe"), ("q", 2, "cdf"), ("r", None, "abc"))
        assert table.rank.alpha_ndcg(2, alpha=1) == pytest.approx((3 + 3 / math.log2(3)) / (3 + 2 / math.log2(3)))

    def test_gaps_in_the_ranks_count(self):
        table = topic(("a", 3, "x"))
        assert table.rank.evaluate("alpha_ndcg@3", "nerr_ia@3", "alpha_ndcg@2").row(0) == pytest.approx((0.5, 1 / 3, 0))

    def test_equal_sums_are_ties_whatever_their_order(self):
        """0.7 + 0.49 + 0.343 differs in its last digit from 0.343 + 0.49 + 0.7."""
        rows = [("a", 1, "vwx"), ("b", 2, "wx"), ("c", 3, "x"), ("y", None, "vwx"), ("z", None, "vwx")]
        table = topic(*rows)
        turned = table.with_columns(subtopic=pl.col("subtopic").replace({"v": "x", "x": "v"}))
        assert table.rank.alpha_ndcg(5, alpha=0.3) == turned.rank.alpha_ndcg(5, alpha=0.3)


class TestSubtopicsOneByOne:
    """A mean over subtopics is the mean of what each of them gives by itself."""

    @pytest.mark.parametrize(
        ("of_all", "of_one"),
        [
            ("p_ia@3", "precision@3"),
            ("ap_ia", "average_precision"),
            ("ap_ia@3", "average_precision@3"),
            ("err_ia(denominator=subtopics)", "err(max_grade=1)"),
            ("subtopic_recall@3", "hit_rate@3"),
        ],
    )
    def test_means(self, of_all, of_one):
        table = make_table(3).with_columns(relevance=pl.col("relevance").clip(0, 1))
        alone = table.drop_nulls("subtopic").rank.by("subtopic").using(no_relevant="skip").per_query().evaluate(of_one)
        expected = dict(alone.group_by("query").agg(pl.col(of_one).mean().fill_null(0)).rows())
        found = dict(table.rank.per_query().evaluate(of_all).rows())
        assert {query: found[query] for query in expected} == pytest.approx(expected)
        assert {found[query] for query in found.keys() - expected.keys()} <= {0}

    def test_one_subtopic_without_a_penalty_is_ndcg(self):
        table = make_table(4).filter(pl.col("subtopic").fill_null(1) == 1)
        plain = table.with_columns(relevance=pl.col("relevance").clip(0, 1))
        assert table.rank.alpha_ndcg(10, alpha=0) == pytest.approx(plain.rank.ndcg(10))


KINDS = {
    "polars": fm.rank,
    "lazy": lambda table: fm.rank(table.lazy()),
    "pandas": lambda table: fm.rank(table.to_pandas()),
    "arrow": lambda table: fm.rank(table.to_arrow()),
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def as_polars(found):
    found = found.collect() if isinstance(found, pl.LazyFrame) else found
    return pl.DataFrame(found)


class TestSurfaces:
    @every_kind
    @pytest.mark.parametrize(
        "ask",
        [
            lambda ranking: ranking.evaluate(*TEXTS),
            lambda ranking: ranking.per_query().evaluate(*TEXTS),
            lambda ranking: ranking.by("country").evaluate(*TEXTS),
            lambda ranking: ranking.by("country").per_query().evaluate(*TEXTS),
            lambda ranking: ranking.at_k("alpha_ndcg", [1, 3, 20]),
        ],
        ids=["evaluate", "per_query", "by", "both", "at_k"],
    )
    def test_the_same_numbers(self, kind, ask):
        table = make_table(1)
        assert_frame_equal(as_polars(ask(KINDS[kind](table))), ask(table.rank), check_dtypes=False, abs_tol=1e-12)

    @every_kind
    def test_return_types(self, kind):
        types = {"polars": float, "lazy": pl.LazyFrame, "pandas": float, "arrow": float}
        table = make_table(1)
        for name in NAMES:
            assert type(getattr(KINDS[kind](table), name)(5)) is types[kind]

    @every_kind
    def test_other_names_of_columns(self, kind):
        names = {"query": "topic", "item": "doc", "subtopic": "intent", "rank": "place", "relevance": "judgment"}
        table = make_table(1)
        ranking = KINDS[kind](table.rename(names)).using(**names)
        expected = table.rank.per_query().evaluate(*TEXTS).rename({"query": "topic"})
        assert_frame_equal(as_polars(ranking.per_query().evaluate(*TEXTS)), expected, check_dtypes=False)

    @every_kind
    def test_the_frame_stays_as_it_is(self, kind):
        table = make_table(1)
        before = table.clone()
        KINDS[kind](table).evaluate(*TEXTS)
        assert_frame_equal(table, before)

    @pytest.mark.parametrize("seed", range(5))
    def test_row_order_does_not_matter(self, seed):
        table = make_table(2)
        texts = [*TEXTS, "alpha_ndcg(alpha=0.3)@10"]
        shuffled = table.sample(fraction=1, shuffle=True, seed=seed).rank.per_query().evaluate(*texts)
        assert_frame_equal(shuffled, table.rank.per_query().evaluate(*texts), abs_tol=1e-12)

    def test_rows_that_are_not_relevant_do_not_matter(self):
        table = make_table(2)
        relevant = table.filter(pl.col("relevance") > 0)
        without = relevant.rank.evaluate(*TEXTS)
        there = table.filter(pl.col("query").is_in(relevant["query"].unique().to_list()))
        assert_frame_equal(there.rank.evaluate(*TEXTS), without, abs_tol=1e-12)

    @pytest.mark.parametrize("dtype", [pl.Categorical, pl.Int16, pl.Date, pl.Binary, pl.List(pl.Int64)], ids=str)
    def test_subtopics_and_items_of_other_types(self, dtype):
        table = make_table(1)
        expected = table.with_columns(item=pl.col("item").str.slice(1).cast(pl.Int64)).rank.evaluate(*TEXTS)
        numbers = {"subtopic": pl.col("subtopic"), "item": pl.col("item").str.slice(1).cast(pl.Int64)}
        texts = {name: number.cast(pl.String).str.zfill(3) for name, number in numbers.items()}
        made = {pl.Categorical: texts, pl.Binary: texts, pl.List(pl.Int64): numbers}.get(dtype, numbers)
        to = pl.concat_list if dtype == pl.List(pl.Int64) else lambda column: column.cast(dtype)
        other = table.with_columns(**{name: to(column) for name, column in made.items()})
        other = other.with_columns(subtopic=pl.when(table["subtopic"].is_not_null()).then(pl.col("subtopic")))
        assert_frame_equal(other.rank.evaluate(*TEXTS), expected, abs_tol=1e-12)

    def test_pandas_items_of_several_types(self):
        table = topic(("a", 1, "xy"), ("b", 2, "x"), ("c", None, "y")).to_pandas()
        mixed = table.assign(
            item=table["item"].map({"a": 1, "b": "b", "c": (2, 3)}), subtopic=table["subtopic"].map(ord)
        )
        assert mixed.rank.alpha_ndcg(2) == pytest.approx(table.rank.alpha_ndcg(2))

    def test_other_metrics_pay_no_heed_to_a_subtopic(self):
        table = make_table(1, most=1)
        names = [f"{name}@3" if fm.metrics.parse(name).definition.takes_k else name for name in PLAIN]
        assert_frame_equal(table.rank.evaluate(*names), table.drop("subtopic").rank.evaluate(*names))

    def test_together_with_other_metrics_where_items_have_a_row_each(self):
        table = make_table(1, most=1)
        found = table.rank.evaluate("ndcg@3", "alpha_ndcg@3", "judged@3")
        assert found.row(0) == pytest.approx([table.rank.ndcg(3), table.rank.alpha_ndcg(3), table.rank.judged(3)])

    def test_a_plan_can_be_serialised(self):
        table = make_table(1)
        plan = table.lazy().rank.alpha_ndcg(10)
        again = pl.LazyFrame.deserialize(io.BytesIO(plan.serialize()))
        assert again.collect().item() == table.rank.alpha_ndcg(10)

    def test_no_query_at_all(self):
        found = pl.DataFrame(schema=SCHEMA).rank.evaluate(*TEXTS)
        assert set(found.row(0)) == {None}

    @pytest.mark.parametrize("kind", ["csv", "parquet"])
    def test_the_command_line(self, kind, tmp_path, capsys):
        from frame_metrics.cli import main

        table = make_table(1)
        path = tmp_path / f"log.{kind}"
        getattr(table.rename({"subtopic": "intent"}), f"write_{kind}")(path)
        status = main(["evaluate", str(path), "--subtopic", "intent", "-m", "alpha_ndcg@10", "--format", "csv"])
        assert status == 0
        assert float(capsys.readouterr().out.split()[-1]) == pytest.approx(table.rank.alpha_ndcg(10), abs=1e-6)


class TestJudgments:
    """A run that is joined with judgments for subtopics."""

    @pytest.fixture
    def table(self):
        return make_table(5)

    @pytest.fixture
    def run(self, table):
        return table.drop_nulls("rank").select("query", "item", "rank").unique()

    @pytest.fixture
    def qrels(self, table):
        return table.drop_nulls("subtopic").select("query", "item", "relevance", intent="subtopic")

    @every_kind
    def test_ranks(self, kind, table, run, qrels):
        ranking = KINDS[kind](run).judged_by(qrels, subtopic="intent", queries="run")
        expected = table.rank.per_query().evaluate(*TEXTS)
        assert_frame_equal(as_polars(ranking.per_query().evaluate(*TEXTS)), expected, check_dtypes=False)

    @every_kind
    def test_scores(self, kind, table, run, qrels):
        scored = run.with_columns(score=-pl.col("rank")).drop("rank")
        ranking = KINDS[kind](scored).using(subtopic="intent").judged_by(qrels, queries="run").from_scores()
        expected = table.rank.per_query().evaluate(*TEXTS)
        assert_frame_equal(as_polars(ranking.per_query().evaluate(*TEXTS)), expected, check_dtypes=False)

    def test_unjudged_items_taken_out(self, table, run, qrels):
        judged = table.drop_nulls("relevance")
        closed = judged.with_columns(rank=pl.col("rank").rank("dense").over("query"))
        found = run.rank.judged_by(qrels, subtopic="intent", unjudged="drop").evaluate(*TEXTS)
        assert run.rank.judged_by(qrels, subtopic="intent").alpha_ndcg(5) < found["alpha_ndcg@3"].item() + 1
        assert_frame_equal(found, closed.rank.evaluate(*TEXTS), abs_tol=1e-12)

    def test_systems(self, run, qrels):
        both = pl.concat([run.with_columns(system=pl.lit("one")), run.head(30).with_columns(system=pl.lit("two"))])
        found = both.rank.by("system").judged_by(qrels, subtopic="intent", each="system").evaluate(*TEXTS)
        for system, some in (("one", run), ("two", run.head(30))):
            alone = some.rank.judged_by(qrels, subtopic="intent").evaluate(*TEXTS)
            assert_frame_equal(found.filter(system=system).drop("system"), alone, abs_tol=1e-12)

    def test_judgments_without_subtopics(self, run, qrels):
        plain = qrels.drop("intent").unique(["query", "item"])
        with pytest.raises(fm.MissingColumnError, match="there is no column 'subtopic'"):
            run.rank.judged_by(plain).alpha_ndcg(10)
        with pytest.raises(fm.MissingColumnError, match="there is no column 'intent'"):
            run.rank.judged_by(plain, subtopic="intent").alpha_ndcg(10)

    def test_a_segment_called_subtopic_stays_one(self):
        run = pl.DataFrame({"query": 1, "item": ["a", "b"], "rank": [1, 1], "subtopic": ["x", "y"]})
        qrels = pl.DataFrame({"query": 1, "item": ["a", "b"], "subtopic": ["x", "y"], "relevance": [1, 0]})
        assert run.rank.by("subtopic").judged_by(qrels).mrr().rows() == [("x", 1.0), ("y", 0.0)]

    def test_the_command_line(self, run, qrels, tmp_path, capsys):
        from frame_metrics.cli import main

        run.write_parquet(tmp_path / "run.parquet")
        qrels.write_parquet(tmp_path / "qrels.parquet")
        files = [str(tmp_path / "run.parquet"), "--qrels", str(tmp_path / "qrels.parquet")]
        assert main(["evaluate", *files, "--qrels-subtopic", "intent", "-m", "alpha_ndcg@10", "--format", "csv"]) == 0
        expected = run.rank.judged_by(qrels, subtopic="intent").alpha_ndcg(10)
        assert float(capsys.readouterr().out.split()[-1]) == pytest.approx(expected, abs=1e-6)


def refused(kind, table, ask=lambda ranking: ranking.evaluate("alpha_ndcg@10")):
    try:
        found = ask(KINDS[kind](table))
        as_polars(found)
    except (fm.FrameMetricsError, pl.exceptions.PolarsError) as error:
        return str(error)
    raise AssertionError(found)


GOOD = topic(("a", 1, "xy"), ("b", 2, "x"), ("c", 3, ""), ("d", None, "y"))


def changed(row, **values):
    """Return the good table with other values in one row: a x, a y, b x, c, d y."""
    number = pl.int_range(pl.len()) == row
    return GOOD.with_columns(
        pl.when(number).then(pl.lit(value, dtype=GOOD.schema[name])).otherwise(name).alias(name)
        for name, value in values.items()
    )


class TestErrors:
    @every_kind
    @pytest.mark.parametrize("check_rows", [0, "all"])
    @pytest.mark.parametrize(
        ("table", "says"),
        [
            (
                changed(1, rank=5),
                "an item must have the same rank for all its subtopics, but one has several: query q, item a",
            ),
            (changed(1, rank=None), "an item must have the same rank for all its subtopics"),
            (changed(2, rank=1), "each rank may stand once in a query, but two rows share one: query q"),
            (
                changed(1, subtopic="x"),
                "each item may stand once for a subtopic, but one is there twice: query q, item a",
            ),
            (changed(1, subtopic=None), "a relevant row must name the subtopic that it is relevant to"),
            (changed(2, item=None), "every row that is relevant to a subtopic must name its item"),
            (changed(0, rank=0), "ranks start at 1"),
            (changed(0, query=None), "every row must belong to a query"),
        ],
    )
    def test_rows_that_contradict_each_other(self, kind, table, says, check_rows):
        message = refused(kind, table, lambda ranking: ranking.using(check_rows=check_rows).evaluate("alpha_ndcg@10"))
        assert says in message
        assert "Hint: " in message

    @every_kind
    @pytest.mark.parametrize("row", [3, 0])
    def test_rows_that_are_not_relevant_are_looked_at(self, kind, row):
        table = changed(row, rank=2, relevance=0)
        assert "an item must have" in refused(kind, table) or "each rank may stand once" in refused(kind, table)

    @every_kind
    @pytest.mark.parametrize("name", NAMES)
    def test_a_table_without_subtopics(self, kind, name):
        message = refused(kind, GOOD.drop("subtopic"), lambda ranking: ranking.evaluate(f"{name}@3"))
        assert "there is no column 'subtopic'" in message
        assert "Hint: this metric needs a row for each query, item and subtopic" in message

    @every_kind
    def test_a_column_that_is_not_there(self, kind):
        message = refused(kind, GOOD, lambda ranking: ranking.using(subtopic="subtopics").evaluate("alpha_ndcg@10"))
        assert "there is no column 'subtopics', did you mean 'subtopic'?" in message

    @every_kind
    def test_a_table_without_items(self, kind):
        assert "there is no column 'item'" in refused(kind, GOOD.drop("item"))

    @pytest.mark.parametrize("name", ["alpha_dcg", "alpha_ndcg", "err_ia", "nerr_ia", "p_ia"])
    def test_metrics_that_need_a_cut(self, name):
        with pytest.raises(fm.OptionError, match=f"{name} needs `k`.*Hint: {name}@10"):
            GOOD.lazy().rank.evaluate(name)

    @pytest.mark.parametrize("name", ["alpha_ndcg", "nerr_ia"])
    def test_ideal_lists_end_somewhere(self, name):
        assert getattr(GOOD.rank, name)(100) > 0
        with pytest.raises(fm.OptionError, match=f"{name} takes `k` up to 100, got 101"):
            getattr(GOOD.rank, name)(101)

    @pytest.mark.parametrize("alpha", [-0.1, 1.1, math.nan, "much"])
    def test_alpha(self, alpha):
        with pytest.raises(fm.OptionError, match="`alpha` must be a number >= 0 and <= 1"):
            GOOD.rank.alpha_ndcg(10, alpha=alpha)

    @pytest.mark.parametrize("name", NAMES)
    def test_expressions(self, name):
        with pytest.raises(fm.OptionError, match="metrics of subtopics cannot stand in an expression"):
            getattr(fm.metrics, name)(3)

    @every_kind
    def test_other_metrics_take_an_item_once(self, kind):
        assert "each rank may stand once" in refused(kind, GOOD, lambda ranking: ranking.evaluate("ndcg@10"))
        mixed = refused(kind, GOOD, lambda ranking: ranking.evaluate("ndcg@10", "alpha_ndcg@10"))
        assert "each rank may stand once" in mixed

    def test_scores_of_rows_that_are_several_to_an_item(self):
        scored = GOOD.with_columns(score=-pl.col("rank"))
        message = refused("polars", scored, lambda ranking: ranking.from_scores().evaluate("alpha_ndcg@10"))
        assert "an item must have the same rank for all its subtopics" in message
        assert "rank the items before the subtopics are joined" in message

    @pytest.mark.parametrize("ties", ["expected", "best", "worst"])
    def test_ties_that_look_at_the_relevance(self, ties):
        scored = GOOD.with_columns(score=-pl.col("rank")).drop("rank")
        with pytest.raises(fm.OptionError, match=f"metrics of subtopics take one order .* ties='{ties}'.*Hint: choose"):
            scored.rank.from_scores(ties=ties).alpha_ndcg(10)

    def test_nothing_relevant(self):
        table = pl.concat([GOOD, GOOD.with_columns(query=pl.lit("p"), relevance=0)])
        assert table.rank.alpha_ndcg(10) == pytest.approx(GOOD.rank.alpha_ndcg(10) / 2)
        assert table.rank.using(no_relevant="skip").alpha_ndcg(10) == pytest.approx(GOOD.rank.alpha_ndcg(10))
        for ask in (lambda r: r.evaluate("alpha_ndcg@5"), lambda r: r.per_query().evaluate("alpha_ndcg@5")):
            message = refused("polars", table, lambda r, ask=ask: ask(r.using(no_relevant="error")))
            assert "every query must have a relevant item" in message


class TestCheck:
    @every_kind
    def test_a_good_table(self, kind):
        assert as_polars(KINDS[kind](GOOD).check()).is_empty()

    @every_kind
    @pytest.mark.parametrize(
        ("table", "problem"),
        [
            (changed(1, rank=5), "several ranks"),
            (changed(2, rank=1), "shared rank"),
            (changed(1, subtopic="x"), "repeated subtopic"),
            (changed(1, subtopic=None), "null subtopic"),
            (changed(2, item=None), "null item"),
        ],
    )
    def test_what_is_wrong(self, kind, table, problem):
        assert as_polars(KINDS[kind](table).check())["kind"].to_list() == [problem]


@pytest.mark.parametrize("name", fm.metrics.names())
def test_definitions_know_the_rows_that_they_need(name):
    definition = fm.metrics.parse(name).definition
    text = f"{name}@3" if definition.takes_k else name
    assert (fm.metrics.parse(text).plain.rows == "subtopics") == definition.of_subtopics


def test_arrow_gives_arrow():
    assert isinstance(fm.rank(GOOD.to_arrow()).per_query().alpha_ndcg(3), pa.Table)
