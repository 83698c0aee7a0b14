"""Corrections for many tests at once: p-values that hold for all of them together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from frame_metrics.stats.resampling import Numbers

Correction: TypeAlias = Literal["none", "bonferroni", "holm", "bh"]


def corrected(p: Numbers, correction: Correction) -> Numbers:
    """Return the p-values corrected for their number; those that are NaN stay so and do not count.

    With m tests and p-values in rising order p_1, p_2, ...:

    - `"bonferroni"`: m p_i; the chance of one or more false findings is kept.
    - `"holm"`: the highest of (m - j + 1) p_j over j <= i (Holm 1979); it keeps the same, and finds more.
    - `"bh"`: the lowest of m p_j / j over j >= i (Benjamini and Hochberg 1995); it keeps the share of false findings.

    None is above 1.

    Parameters
    ----------
    p
        The p-values.
    correction
        Which one.

    Examples
    --------
    >>> corrected(np.array([0.01, 0.04, 0.03]), "holm").round(4).tolist()
    [0.03, 0.06, 0.06]
    """
    result = p.copy()
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    rising, m = p[order], len(order)
    places = np.arange(1, m + 1)
    if correction == "bonferroni":
        result[order] = m * rising
    elif correction == "holm":
        result[order] = np.maximum.accumulate((m - places + 1) * rising)
    elif correction == "bh":
        result[order] = np.minimum.accumulate((m * rising / places)[::-1])[::-1]
    return np.minimum(result, 1.0)
