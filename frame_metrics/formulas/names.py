"""The names that trec_eval gives its measures, and what they are called here."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

WHOLE = {
    "num_q": "num_q",
    "num_ret": "num_ret",
    "num_rel": "num_rel",
    "num_rel_ret": "num_rel_ret",
    "num_nonrel_judged_ret": "num_nonrel_judged_ret",
    "map": "average_precision",
    "gm_map": "geometric_map",
    "Rprec": "r_precision",
    "bpref": "bpref",
    "gm_bpref": "geometric_bpref",
    "recip_rank": "reciprocal_rank",
    "infAP": "inferred_ap",
    "11pt_avg": "eleven_point_average",
    "utility": "utility",
    "binG": "binary_gain",
    "G": "normalized_gain",
    "dcg": "dcg",
    "ideal_dcg": "idcg",
    "ndcg": "ndcg",
    "ndcg_rel": "ndcg_at_hits",
    "Rndcg": "ndcg_at_grades",
    "rbp_resid": "rbp_residual(p=0.9,tail=unjudged)",
    "set_P": "precision",
    "set_recall": "recall",
    "set_relative_P": "precision(denominator=capped)",
    "set_map": "set_average_precision",
    "set_F": "f_score",
}
"""Measures of the whole list. `rbp` is not among them: ours is binary with p = 0.8, theirs is `rbp.p=0.9`."""

CUT = {
    "P": "precision@{}",
    "recall": "recall@{}",
    "relative_P": "precision(denominator=capped)@{}",
    "success": "hit_rate@{}",
    "map_cut": "average_precision@{}",
    "ndcg_cut": "ndcg@{}",
    "unj": "hole@{}",
}
"""Measures at a cut, which stands behind the name: `P_5`, or as on the command line of trec_eval `P.5`."""

AT = {"iprec_at_recall": "iprec(recall={})", "Rprec_mult": "r_precision(multiple={})"}
"""Measures at a number that may have decimals."""

GAINS = {name: WHOLE[name] for name in ("G", "dcg", "ndcg", "ndcg_rel", "Rndcg")}
"""Measures that may be told the gains of grades: `ndcg.1=3,2=9`."""

_CUT = re.compile(rf"({'|'.join(CUT)})[_.](\d+)")
_AT = re.compile(rf"({'|'.join(AT)})[_.](\d*\.?\d+)")
_GAINS = re.compile(rf"({'|'.join(GAINS)})\.(\d+=\d*\.?\d+(?:,\d+=\d*\.?\d+)*)")
_RBP = re.compile(r"rbp\.p=(\d*\.?\d+)")
_NUMBER = re.compile(r"\d[\d.]*$")


def ours(theirs: str) -> str | None:
    """Return the text of the metric that is a measure of trec_eval, None where trec_eval has no such measure.

    Examples
    --------
    >>> ours("ndcg_cut_10"), ours("P.5"), ours("iprec_at_recall_0.10"), ours("ndcg.1=3,2=9"), ours("p_5")
    ('ndcg@10', 'precision@5', 'iprec(recall=0.1)', 'ndcg(gain={1:3,2:9})', None)
    """
    if theirs in WHOLE:
        return WHOLE[theirs]
    if match := _CUT.fullmatch(theirs):
        return CUT[match[1]].format(match[2])
    if match := _AT.fullmatch(theirs):
        return AT[match[1]].format(f"{float(match[2]):g}")
    if match := _GAINS.fullmatch(theirs):
        return f"{GAINS[match[1]]}(gain={{{match[2].replace('=', ':')}}})"
    if match := _RBP.fullmatch(theirs):
        return f"rbp(p={float(match[1]):g},gain=linear)"
    return None


def like(text: str) -> Iterator[str]:
    """Yield the names of trec_eval that a text might have meant, with the number that it ends in.

    Examples
    --------
    >>> [name for name in like("ndgc_cut_20") if "ndcg_cut" in name]
    ['ndcg_cut_20']
    """
    yield from WHOLE
    number = _NUMBER.search(text)
    yield from (f"{name}_{number[0] if number else 10}" for name in CUT)
    yield from (f"{name}_{number[0] if number else 0.1}" for name in AT)
