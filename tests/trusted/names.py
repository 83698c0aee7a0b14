"""What the tools call a measure, and what it is called here."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache

import frame_metrics as fm


@dataclass(frozen=True)
class Ours:
    """A measure of another tool in the words of this package.

    Attributes
    ----------
    text
        The metric.
    level
        The grade from which on an item is relevant.
    lowest
        The lowest grade that counts, lower ones being 0; None for any.
    ties
        The order of tied scores.
    no_relevant
        The score of a query with nothing relevant.
    below_zero
        What becomes of items whose score is not positive: they stay, `""`, were `"missed"`, or are `"nonrelevant"`.
    shown
        What the tool shows of the number: `"log"` its logarithm; `"mean"` over queries the mean, where we add up.
    """

    text: str
    level: float | None = None
    lowest: int | None = None
    ties: str = "item_desc"
    no_relevant: str = "zero"
    below_zero: str = ""
    shown: str = ""

    @property
    def settings(self) -> str:
        """How the metric is asked for where a tool has its own rules, in words; empty where it has none."""
        ties = "" if self.ties == "item_desc" else f'`ties="{self.ties}"`'
        kept = f"items scored 0 or less {self.below_zero}" if self.below_zero else ""
        return ", ".join(filter(None, (ties, kept)))


_WORDS = ("runid", "relstring")
_IR_MEASURES = {
    r"AP": "average_precision",
    r"Bpref": "bpref",
    r"ERR": "err(max_grade=4)",
    r"Judged": "judged",
    r"NumRel": "num_rel",
    r"NumRet": "num_ret",
    r"P": "precision",
    r"R": "recall",
    r"RR": "reciprocal_rank",
    r"Rprec": "r_precision",
    r"SetAP": "set_average_precision",
    r"SetF": "f_score",
    r"SetP": "precision",
    r"SetR": "recall",
    r"Success": "hit_rate",
    r"infAP": "inferred_ap",
    r"nDCG": "ndcg",
}
_RANX = {
    r"bpref": "bpref",
    r"dcg": "dcg",
    r"dcg_burges": "dcg(gain=exponential)",
    r"f1": "f_score",
    r"hit_rate": "hit_rate",
    r"hits": "cg(gain=binary)",
    r"map": "average_precision",
    r"mrr": "reciprocal_rank",
    r"ndcg": "ndcg",
    r"ndcg_burges": "ndcg(gain=exponential)",
    r"precision": "precision",
    r"r-precision": "r_precision",
    r"recall": "recall",
}
_TORCHMETRICS = {
    "auroc": Ours("auc", ties="expected"),
    "fall_out": Ours("fallout"),
    "hit_rate": Ours("hit_rate"),
    "map": Ours("average_precision(denominator=hits)", below_zero="missed"),
    "mrr": Ours("reciprocal_rank", below_zero="missed"),
    "ndcg": Ours("ndcg(ideal=retrieved)", ties="expected"),
    "precision": Ours("precision", below_zero="missed"),
    "precision_adaptive": Ours("precision(denominator=retrieved)", below_zero="nonrelevant"),
    "recall": Ours("recall", below_zero="missed"),
    "rprec": Ours("r_precision"),
}
_SKLEARN = {
    "average_precision_score": Ours("average_precision", no_relevant="skip"),
    "label_ranking_average_precision_score": Ours("average_precision", no_relevant="skip"),
    "roc_auc_score": Ours("auc", ties="expected"),
}


@cache
def ours(tool: str, version: str, measure: str) -> Ours | None:
    """Return what a measure of a tool is called here, or None where nothing here is meant to be the same.

    Examples
    --------
    >>> ours("trec_eval", "10.0", "ndcg_cut_10").text
    'ndcg@10'
    >>> ours("ranx", "0.3.21", "recall@10-l2")
    Ours(text='recall@10', level=None, lowest=2, ties='item_desc', no_relevant='zero', below_zero='', shown='')
    """
    if tool == "pytrec_eval-terrier":
        found = _of_trec(measure, old=True)
        shown = "mean" if measure.startswith("num_") else "log" if measure.startswith("gm_") else ""
        return found and replace(found, shown=shown)
    if tool == "trec_eval":
        return _of_trec(measure, old=version != "10.0")
    return {"ir_measures": _of_ir, "ranx": _of_ranx, "scikit-learn": _of_sklearn, "torchmetrics": _of_torch}[tool](
        measure
    )


def _of_trec(measure: str, *, old: bool) -> Ours | None:
    """Return a measure that goes by the tool's own name here too, but for what versions differ in."""
    if measure in _WORDS:
        return None
    if measure == "rbp":
        measure = "rbp.p=0.9"
    metric = fm.metrics.parse(measure)
    if old and "rounding" in dict(metric.options):
        metric = metric.definition(**dict(metric.options) | {"rounding": "trec_eval_9"})
    return Ours(metric.spelt)


def _of_ir(measure: str) -> Ours | None:
    name, options, k = re.fullmatch(r"(\w+)(?:\((.*)\))?(@\d+)?", measure).groups()
    level = 2 if options and "rel=2" in options else None
    if name == "RBP":
        p = re.search(r"p=([\d.]+)", options)
        return Ours(f"rbp(p={p[1] if p else 0.8})")
    if name == "NumRet" and options:
        return Ours("num_rel_ret")
    if name == "nDCG" and options:
        return Ours(f"ndcg(gain=exponential){k or ''}")
    return Ours(f"{_IR_MEASURES[name]}{k or ''}", level) if name in _IR_MEASURES else None


def _of_ranx(measure: str) -> Ours | None:
    name, k, level = re.fullmatch(r"([a-z_0-9-]+?)(@\d+|\.\d+)?(?:-l(\d))?", measure).groups()
    lowest = int(level) if level else None
    if name == "rbp":
        return Ours(f"rbp(p=0{k},gain=linear)", lowest=lowest)
    return Ours(f"{_RANX[name]}{k or ''}", lowest=lowest) if name in _RANX else None


def _of_sklearn(measure: str) -> Ours | None:
    if measure in _SKLEARN:
        return _SKLEARN[measure]
    name, k, ignored = re.fullmatch(r"(n?dcg)_score\(k=(\w+),ignore_ties=(\w+)\)", measure).groups()
    ideal, cut = "(ideal=retrieved)" if name == "ndcg" else "", "" if k == "None" else f"@{k}"
    return Ours(f"{name}{ideal}{cut}", ties="item_desc" if ignored == "True" else "expected")


def _of_torch(measure: str) -> Ours | None:
    name, at, k = measure.partition("@")
    here = _TORCHMETRICS[name]
    return replace(here, text=f"{here.text}{at}{k}")
