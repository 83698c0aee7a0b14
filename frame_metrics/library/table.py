"""Which library chooses what.

Each entry was seen in the version that it names: by running it, or by reading its source where `seen` says so. What
differs by mistake or by chance is no choice, and is told in `notes`.
"""

from __future__ import annotations

from typing import Any

from frame_metrics.library.entry import OURS, Library


def _plain(names: str) -> dict[str, dict[str, Any]]:
    """Return metrics that a library has as they are here."""
    return {name: {} for name in names.split()}


_BINARY = {"gain": "binary"}
_EXPONENTIAL = {"gain": "exponential"}
_SEEN_ONLY = {"ideal": "retrieved"}
_CAPPED = {"denominator": "capped"}
_RETRIEVED = {"denominator": "retrieved"}
_UNSTABLE = "its own order of them is left to the sort, and may differ from run to run or from version to version"
_RANKS = "it is given ranks, and so meets no ties"
_RELEVANT_ONLY = "it knows only users who have something relevant"
_LISTS = {"ties": "it is given lists", "queries": "it is given pairs of lists"}

_TREC = _plain(
    "precision recall f_score hit_rate average_precision reciprocal_rank r_precision ndcg bpref num_ret num_rel "
    "num_rel_ret inferred_ap set_average_precision"
)
_TREC_9 = {"iprec": {"rounding": "trec_eval_9"}}
_TREC_10 = _plain(
    "dcg idcg iprec eleven_point_average geometric_map geometric_bpref num_q num_nonrel_judged_ret utility "
    "binary_gain normalized_gain ndcg_at_hits ndcg_at_grades hole"
) | {"rbp": {"p": 0.9, "gain": "linear"}, "rbp_residual": {"p": 0.9, "tail": "unjudged"}}

_ALL = (
    OURS,
    Library(
        "trec_eval",
        "10.0",
        "run",
        {"queries": "both"},
        _TREC | _TREC_10,
        {"queries": "version 10 stops where a judged query has no list; with -c such a query scores 0"},
        ("Versions before 10 compare scores as 32-bit floats, and round in another way for iprec: see pytrec_eval.",),
    ),
    Library(
        "pytrec_eval",
        "0.5.11 (pytrec-eval-terrier)",
        "run",
        {"queries": "both", "float32": True},
        _TREC | _TREC_9,
        {"queries": "a query in one of the two only is not among its results"},
        ("It is trec_eval 9. Of two judgments of one item, the last one counts.",),
    ),
    Library(
        "ir_measures",
        "0.4.3",
        "run",
        {"float32": True},
        _TREC
        | _TREC_9
        | {
            "judged": {"ties": "item_asc", "float32": False},
            "rbp": {"ties": "first", "float32": False},
            "err": {"max_grade": 4.0},
        },
        notes=(
            "RR with a cut breaks ties by rising item, RR without one by falling item.",
            "RBP counts grades unless it is asked for RBP(rel=1), which is meant here. ERR comes with five decimals.",
        ),
    ),
    Library(
        "ranx",
        "0.3.21",
        "run",
        {"queries": "error", "ties": "first"},
        _plain("precision recall f_score hit_rate average_precision reciprocal_rank r_precision dcg ndcg"),
        {
            "ties": "its own order of them is that of an unstable sort, another for a Run than for a dict",
            "queries": "with make_comparable=True every judged query counts",
        },
        (
            "Its bpref is not a number where nothing was judged non-relevant; its rbp multiplies by raw grades.",
            "Grades are cut to whole numbers. ndcg_burges is ndcg(gain=exponential).",
        ),
    ),
    Library(
        "msmarco",
        "",
        "run, as provider msmarco of ir_measures 0.4.3",
        {"ties": "item_asc"},
        _plain("reciprocal_rank"),
        notes=("The number of the leaderboard is the reciprocal rank within the first 10: mrr@10.",),
    ),
    Library(
        "rectools",
        "0.19.0",
        "run",
        {"ties": "first", "no_relevant": "skip"},
        _plain("precision recall f_score hit_rate average_precision reciprocal_rank")
        | {"ndcg": {"gain": "binary", "ideal": "full"}},
        {"ties": _RANKS, "no_relevant": _RELEVANT_ONLY},
        (
            "A repeated recommendation counts twice; ranks from 0 are taken with a warning.",
            "MAP(divide_by_k=True) is map(denominator=k), NDCG(divide_by_achievable=True) is ndcg(gain=binary).",
        ),
    ),
    Library(
        "replay",
        "0.22",
        "read, and its functions run",
        {"no_relevant": "skip"},
        _plain("precision recall hit_rate reciprocal_rank") | {"average_precision": _CAPPED, "ndcg": _BINARY},
        {"ties": "so in frames; of dicts it keeps the order", "no_relevant": _RELEVANT_ONLY},
        ("A repeated relevant item makes the denominators larger in pandas and Polars frames, and not in Spark.",),
    ),
    Library(
        "recommenders",
        "1.2.1",
        "read, and its functions run",
        {"queries": "both", "ties": "first", "no_relevant": "skip"},
        _plain("precision recall average_precision") | {"ndcg": {"gain": "binary", "queries": "qrels"}},
        {"ties": _UNSTABLE, "no_relevant": _RELEVANT_ONLY},
        (
            "map_at_k is map(denominator=capped). r_precision_at_k leaves out users without a hit.",
            "score_type='raw' and 'exp' are gain='linear' and 'exponential'.",
        ),
    ),
    Library(
        "recbole",
        "1.2.1",
        "read",
        {"ties": "first", "no_relevant": "skip"},
        _plain("precision recall hit_rate reciprocal_rank") | {"average_precision": _CAPPED, "ndcg": _BINARY},
        {"ties": _UNSTABLE, "no_relevant": _RELEVANT_ONLY},
        ("Means are rounded.",),
    ),
    Library(
        "lenskit",
        "2026.4",
        "read",
        {"queries": "run", "ties": "first", "no_relevant": "skip"},
        _plain("hit_rate reciprocal_rank")
        | {
            "precision": _RETRIEVED,
            "recall": _CAPPED,
            "average_precision": {"denominator": "listed"},
            "dcg": {"gain": "binary", "discount": "jarvelin"},
            "ndcg": {"gain": "binary", "discount": "jarvelin"},
            "rbp": {"p": 0.85},
        },
        {
            "ties": _RANKS,
            "no_relevant": "the value is not a number, which means leave out",
            "gain": "with a gain field, a grade g gains g",
        },
    ),
    Library(
        "torchmetrics",
        "1.9.0",
        "run",
        {"queries": "run", "ties": "first"},
        _plain("precision hit_rate reciprocal_rank")
        | {
            "recall": _RETRIEVED,
            "average_precision": {"denominator": "hits"},
            "ndcg": {"ideal": "retrieved", "ties": "expected"},
        },
        {"no_relevant": "empty_target_action='pos', 'skip' and 'error' are the others"},
        (
            "Since 1.7.4 items with a score of 0 or less are not retrieved for AP, RR, precision and recall only.",
            "Of the metrics other than nDCG, the order of items with one score is left to the sort.",
            "Precision(adaptive_k=True) is precision(denominator=retrieved).",
        ),
    ),
    Library(
        "sklearn",
        "1.9.1",
        "run",
        {"queries": "run", "ties": "expected"},
        _plain("dcg") | {"ndcg": _SEEN_ONLY},
        {"ties": "unless it is called with ignore_ties=True"},
        ("All lists must have one length, and two items at least. Items that fill up a list get places too.",),
    ),
    Library(
        "evidently",
        "0.7.23",
        "read, and its functions run",
        {"queries": "run", "ties": "first", "no_relevant": "skip"},
        _plain("hit_rate reciprocal_rank")
        | {"precision": _RETRIEVED, "recall": _RETRIEVED, "average_precision": _RETRIEVED, "ndcg": _SEEN_ONLY},
        {"no_relevant": "it sees what was listed, so a list without a hit is left out too; here that scores 0"},
        (
            "Items with one score share a rank, and metrics may exceed 1.",
            "Its F measure is that of the means of precision and recall.",
        ),
    ),
    Library(
        "ml_metrics",
        "0.1.4",
        "read, and its functions run",
        {"queries": "error", "ties": "first"},
        {"average_precision": _CAPPED},
        _LISTS,
        ("Without a cut it looks at the first 10: map@10.",),
    ),
    Library(
        "beir",
        "2.2.0",
        "read, and its functions run",
        {"queries": "both", "float32": True},
        _plain("precision recall average_precision ndcg")
        | {name: {"queries": "qrels", "ties": "first", "float32": False} for name in ("reciprocal_rank", "hit_rate")},
        notes=(
            "R_cap is recall(denominator=capped). Items that are called as their query are left out of the list.",
            "Hole counts an item as judged that was judged for any query.",
        ),
    ),
    Library(
        "spark",
        "",
        "read, RankingMetrics of mllib",
        {"queries": "error", "ties": "first"},
        _plain("precision recall") | {"average_precision": _CAPPED, "ndcg": _BINARY},
        _LISTS,
        ("ndcgAt with grades takes them for the ideal list in the order in which they are given.",),
    ),
    Library(
        "lightgbm",
        "",
        "read, src/metric/rank_metric.hpp and map_metric.hpp at 01a8c0a",
        {"queries": "run", "ties": "first", "no_relevant": "one"},
        {"ndcg": _EXPONENTIAL, "average_precision": {"denominator": "listed"}},
        {"gain": "unless label_gain says otherwise", "ties": _UNSTABLE},
        ("Queries may have weights. A label is relevant for map from more than 0.5 on.",),
    ),
    Library(
        "xgboost",
        "",
        "read, doc/parameter.rst",
        {"queries": "run", "ties": "first", "no_relevant": "one"},
        {"ndcg": _EXPONENTIAL, "average_precision": _CAPPED},
        {"no_relevant": "a name that ends in a minus sign, such as ndcg@5-, makes it 0", "ties": _UNSTABLE},
    ),
    Library(
        "elliot",
        "0.3.1",
        "read",
        {"ties": "first", "no_relevant": "skip"},
        _plain("precision recall f_score hit_rate reciprocal_rank")
        | {"average_precision": {"denominator": "places"}, "ndcg": _EXPONENTIAL},
        {"gain": "with a relevance threshold t it is 2^(g - t + 1) - 1, which is this where t is 1", "ties": _UNSTABLE},
    ),
)

LIBRARIES = {library.name: library for library in _ALL}
"""Every library by its name, this package first."""
