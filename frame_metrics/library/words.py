"""Choices in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from frame_metrics.formulas.parameters import written

if TYPE_CHECKING:
    from frame_metrics.library.entry import Library

WORDS: dict[tuple[str, Any], str] = {
    ("queries", "qrels"): "every judged query counts, and scores 0 without a list",
    ("queries", "both"): "only queries count that are judged and have a list",
    ("queries", "run"): "every list counts, and no other query",
    ("queries", "error"): "lists and judgments must have the same queries",
    ("ties", "item_desc"): "of items with one score, the one whose name sorts last comes first",
    ("ties", "item_asc"): "of items with one score, the one whose name sorts first comes first",
    ("ties", "first"): "items with one score keep the order of the table",
    ("ties", "expected"): "all orders of items with one score are averaged",
    ("float32", True): "scores are compared as 32-bit floats",
    ("float32", False): "scores are compared as they are",
    ("no_relevant", "zero"): "a query with nothing relevant scores 0",
    ("no_relevant", "one"): "a query with nothing relevant scores 1",
    ("no_relevant", "skip"): "a query with nothing relevant is left out of the mean",
    ("no_relevant", "error"): "a query with nothing relevant is refused",
    ("gain", "linear"): "a grade g gains g",
    ("gain", "exponential"): "a grade g gains 2^g - 1",
    ("gain", "binary"): "every relevant item gains 1",
    ("discount", "log2"): "rank r keeps 1 / log2(r + 1) of the gain",
    ("discount", "jarvelin"): "rank r keeps 1 / log2(r) of the gain, rank 1 all of it",
    ("ideal", "judged"): "the ideal list has everything judged, missed items too",
    ("ideal", "retrieved"): "the ideal list has only what was listed",
    ("ideal", "full"): "the ideal list has a best item at each of the k places",
    ("precision.denominator", "k"): "hits are divided by k",
    ("precision.denominator", "retrieved"): "hits are divided by the rows listed within k",
    ("precision.denominator", "capped"): "hits are divided by k, or by the relevant items if those are fewer",
    ("recall.denominator", "relevant"): "hits are divided by all relevant items",
    ("recall.denominator", "capped"): "hits are divided by the relevant items, or by k if that is less",
    ("recall.denominator", "retrieved"): "hits are divided by the relevant items in the list",
    ("average_precision.denominator", "relevant"): "precisions are divided by all relevant items",
    (
        "average_precision.denominator",
        "capped",
    ): "precisions are divided by the relevant items, or by k if that is less",
    ("average_precision.denominator", "listed"): (
        "precisions are divided by the relevant items, or by the rows listed within k if those are fewer"
    ),
    ("average_precision.denominator", "retrieved"): "precisions are divided by the relevant items in the list",
    ("average_precision.denominator", "hits"): "precisions are divided by the hits within k",
    ("average_precision.denominator", "k"): "precisions are divided by k",
    ("average_precision.denominator", "places"): "the precision at every place down to k is averaged, hit or not",
}


def words(library: Library, metric: str, choice: str, value: Any) -> str:
    """Return what a library chooses, in words.

    Examples
    --------
    >>> from frame_metrics.library.table import LIBRARIES
    >>> words(LIBRARIES["lenskit"], "recall", "denominator", "capped")
    'hits are divided by the relevant items, or by k if that is less'
    """
    said = WORDS.get((f"{metric}.{choice}", value)) if isinstance(value, str) else None
    said = said or (WORDS.get((choice, value)) if isinstance(value, (str, bool)) else None)
    said = said or f"{choice} is {written(value)}"
    remark = library.remarks.get(choice)
    return f"{said} ({remark})" if remark else said
