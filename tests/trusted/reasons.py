"""Why a number differs: the known reasons, each with what it may be said of."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

EXACT = 1e-9
"""Differences up to here need no reason: they come from the order in which floats are added."""

_OURS, _THEIRS = pl.col("ours"), pl.col("theirs")


@dataclass(frozen=True)
class Reason:
    """A reason, and the differences that it explains.

    Attributes
    ----------
    tool, measures
        The tool, and a regular expression for its measures.
    says
        The reason.
    within
        How large a difference may be.
    tied
        Whether it explains only lists with tied scores; averages, where any list of the run has them.
    between
        Whether it then explains only values between those of the worst and of the best order.
    holds
        What else must be true of the values.
    """

    tool: str
    measures: str
    says: str
    within: float = float("inf")
    tied: bool = False
    between: bool = True
    holds: pl.Expr = field(default_factory=lambda: pl.lit(True))

    @property
    def explains(self) -> pl.Expr:
        """Whether a row is explained."""
        lowest, highest = pl.min_horizontal("low", "high"), pl.max_horizontal("low", "high")
        between = _THEIRS.is_between(lowest - 1e-6, highest + 1e-6) if self.between else pl.lit(True)
        fits = pl.col("tied") & between if self.tied else pl.lit(True)
        return (
            (pl.col("tool") == self.tool)
            & pl.col("measure").str.contains(f"^(?:{self.measures})$")
            & (pl.col("difference") <= self.within)
            & (fits & self.holds).fill_null(False)
        )


REASONS = (
    Reason(
        "trec_eval",
        "num_rel",
        "with -c and -l, its total of num_rel counts every positive grade",
        holds=pl.col("average") & (pl.col("mode") == "l2_c"),
    ),
    Reason("ir_measures", r"ERR@.*|nDCG\(dcg='exp-log2'\)@.*", "gdeval prints five decimals", within=5.01e-6),
    Reason("ir_measures", "NumRel", "a query that the run lacks has 0", holds=pl.col("run") == "trunc"),
    Reason(
        "ir_measures",
        "RBP.*",
        "a query whose lines do not stand together in the run is scored in pieces",
        holds=pl.col("run") == "trunc",
    ),
    Reason("ir_measures", "RBP.*", "tied scores keep the order of the file", tied=True),
    Reason("ir_measures", "RR.*@.*", "tied scores are ordered by rising item", tied=True),
    Reason(
        "ranx",
        "bpref.*",
        "0 or NaN for lists that have hits; NaN where nothing is judged non-relevant",
        holds=_THEIRS.is_nan() | (_THEIRS == 0) | pl.col("average"),
    ),
    Reason(
        "ranx",
        "rbp.*",
        "grades are not divided by the highest, so that values exceed 1",
        holds=(_THEIRS > _OURS) & (pl.col("dataset") != "trec_eval_test"),
    ),
    Reason("ranx", ".*", "the order of tied scores is left to its sort", tied=True),
    Reason("scikit-learn", ".*ignore_ties=True.*", "the order of tied scores is left to its sort", tied=True),
    Reason(
        "scikit-learn",
        ".*average_precision.*",
        "tied scores are one place, the last that they take",
        tied=True,
        between=False,
    ),
    Reason("torchmetrics", ".*", "computes with 32-bit floats", within=1e-6),
    Reason("torchmetrics", "auroc", "0 where a list is all relevant or all not; here null", holds=_OURS.is_null()),
    Reason("torchmetrics", ".*", "the order of tied scores is left to its sort", tied=True),
)

NOT_COMPARED = {
    ("pytrec_eval-terrier", "runid"): "a name, not a number",
    ("pytrec_eval-terrier", "relstring"): "a text, not a number",
    ("ir_measures", "Compat"): "compatibility with an ideal ranking is no metric here",
}
"""Measures that are stored and not compared, and why."""


def explained(rows: pl.DataFrame) -> pl.DataFrame:
    """Return compared rows with `difference`, `differs`, and the number of the reason, null where there is none.

    Examples
    --------
    >>> row = {"tool": "torchmetrics", "measure": "ndcg@5", "theirs": 0.5, "ours": 0.5000001, "low": 0.5, "high": 0.5}
    >>> row |= {"tied": False, "average": False, "mode": "", "run": "", "dataset": ""}
    >>> REASONS[explained(pl.DataFrame(row))["reason"][0]].says
    'computes with 32-bit floats'
    """
    # Where one of the two is no number, nothing is farther apart.
    difference = (_OURS - _THEIRS).abs().fill_nan(None).fill_null(float("inf"))
    rows = rows.with_columns(difference=difference).with_columns(differs=pl.col("difference") > EXACT)
    numbers = [pl.when(reason.explains).then(pl.lit(number)) for number, reason in enumerate(REASONS)]
    return rows.with_columns(reason=pl.when("differs").then(pl.coalesce(numbers)))
