"""The text of a metric, `name(option=value)@k`, read back into the metric."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from frame_metrics.errors import OptionError, UnknownMetricError, nearest
from frame_metrics.formulas.base import ALIASES, DEFINITIONS, Definition, Metric
from frame_metrics.formulas.names import like, ours
from frame_metrics.formulas.parameters import read

if TYPE_CHECKING:
    from collections.abc import Iterable

_TEXT = re.compile(r"\s*(?P<name>\w+)\s*(?:\((?P<options>.*)\)\s*)?(?:@\s*(?P<k>[^@()\s]+)\s*)?")
_THEIRS = re.compile(r"\s*\w+\.[\w.,=]+\s*|\s*\w+_[\d.]+\s*")
_OPTION = re.compile(r"\s*(\w+)\s*=\s*((?:\{[^{}]*\}|[^,{}])+?)\s*(?:,|$)")


def parse(text: str | Metric) -> Metric:
    """Return the metric that a text stands for: a name or an alias, options in parentheses, `@` and the cut.

    A measure of trec_eval may have the name that it has there, such as `ndcg_cut_10`, and keeps it as its text.

    Examples
    --------
    >>> str(parse("ndcg(gain=exponential)@10"))
    'ndcg(gain=exponential)@10'
    >>> parse("map") == parse("average_precision")
    True
    >>> parse("ndcg_cut_10"), parse("ndcg_cut_10") == parse("ndcg@10")
    (<metric ndcg_cut_10>, True)
    >>> parse("ndgc@10")
    Traceback (most recent call last):
    frame_metrics.errors.UnknownMetricError: there is no metric 'ndgc', did you mean 'ndcg'?
    """
    if isinstance(text, Metric):
        return text
    if not isinstance(text, str):
        raise OptionError(f"a metric must be a text such as 'ndcg@10', got {text!r}")
    if text not in DEFINITIONS and text not in ALIASES and (same := ours(text)) is not None:
        known = parse(same)
        return known.definition(text=text, **dict(known.options))
    match = _TEXT.fullmatch(text)
    if match is None:
        if _THEIRS.fullmatch(text) and (close := nearest(text, like(text))):
            raise UnknownMetricError(f"there is no metric {text!r}{close}")
        raise OptionError(f"cannot read the metric {text!r}. Hint: write name(option=value)@k, such as 'ndcg@10'")
    options = _options(text, match["options"])
    if match["k"] is not None:
        options["k"] = read("k", match["k"])
    called = match["name"].lower()
    return _definition(called)(called=called, **options)


def parse_all(texts: Iterable[str | Metric]) -> list[Metric]:
    """Return the metrics of several texts, each once, or raise if there is none.

    Examples
    --------
    >>> [str(m) for m in parse_all(["p@5", "ndcg@10", "p@5"])]
    ['p@5', 'ndcg@10']
    """
    metrics = list({str(m): m for m in map(parse, texts)}.values())
    if not metrics:
        raise OptionError("name at least one metric, such as 'ndcg@10'")
    return metrics


def _definition(called: str) -> Definition:
    name = ALIASES.get(called, called)
    if name not in DEFINITIONS:
        same = [name for name in like(called) if name.lower() == called]
        close = nearest(called, same or [*DEFINITIONS, *ALIASES, *like(called)])
        raise UnknownMetricError(f"there is no metric {called!r}{close or '. Hint: fm.metrics.names() lists them'}")
    return DEFINITIONS[name]


def _options(text: str, inside: str | None) -> dict[str, Any]:
    options: dict[str, Any] = {}
    at, inside = 0, (inside or "").strip()
    while at < len(inside):
        match = _OPTION.match(inside, at)
        if match is None:
            raise OptionError(f"cannot read {inside[at:]!r} in the metric {text!r}. Hint: write option=value, ...")
        options[match[1]] = read(match[1], match[2])
        at = match.end()
    return options
