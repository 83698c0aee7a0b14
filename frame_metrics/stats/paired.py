"""Tests of paired differences: what one system scores on a query, less what another scores on it."""

from __future__ import annotations

import math
import warnings
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from frame_metrics.needs import needed
from frame_metrics.stats.resampling import Sample, bootstrap_means, flipped_sums, percentiles

if TYPE_CHECKING:
    from collections.abc import Callable

    from frame_metrics.stats.resampling import Numbers

Test: TypeAlias = Literal["t", "wilcoxon", "sign", "randomisation", "bootstrap", "tukey"]

SAME = 1e-12
"""Two values that differ by less than this share of the larger one are the same: sums are not exact."""


class Settings(NamedTuple):
    """How sure an interval is, and how resamples are drawn."""

    ci: float = 0.95
    resamples: int = 10_000
    seed: int = 0


class Outcome(NamedTuple):
    """What a test says of the mean difference: the p-value of it being 0, an interval; NaN where it says nothing."""

    p: float
    low: float
    high: float


NOTHING = Outcome(math.nan, math.nan, math.nan)


def differences(values: Numbers, baseline: Numbers) -> Numbers:
    """Return the differences of paired values, exactly 0 where they are the same but for rounding.

    Examples
    --------
    >>> differences(np.array([0.1 + 0.2, 1.0]), np.array([0.3, 0.5])).tolist()
    [0.0, 0.5]
    """
    found = values - baseline
    found[np.abs(found) <= SAME * np.maximum(np.abs(values), np.abs(baseline))] = 0.0
    return found


def constant(found: Numbers) -> bool:
    """Return whether differences are all the same but for rounding, so that they have no spread to compare with."""
    return len(found) > 0 and float(np.ptp(found)) <= SAME * float(np.abs(found).max())


def outcome(found: Numbers, test: Test, settings: Settings) -> Outcome:
    """Return what a two-sided test says of differences.

    - `"t"`: Student's t, the mean over its standard error s / sqrt(n), with n - 1 degrees of freedom. Nothing is said
      where all differences are the same and not 0.
    - `"wilcoxon"`: signed ranks, differences of 0 left out; exact p where scipy has it, else the normal approximation.
    - `"sign"`: the binomial probability of as uneven a split of the differences other than 0.
    - `"randomisation"`: Fisher's. The share of all flips of signs whose mean is as far from 0; of random flips, where
      there are too many, (1 + those as far) / (1 + flips).
    - `"bootstrap"`: (1 + resamples whose mean is as far from the mean as that is from 0) / (1 + resamples).

    The interval is one of the mean difference: the percentiles of the resampled means for `"bootstrap"`, and Student's
    t for all others.

    Parameters
    ----------
    found
        The differences, at least two.
    test, settings
        Which test, and its settings.

    Examples
    --------
    >>> outcome(np.array([0.1, 0.2, 0.1, 0.3]), "sign", Settings()).p
    0.125
    """
    if test == "bootstrap":
        return _bootstrap(found, settings)
    low, high = t_interval(found, settings.ci)
    if not found.any():
        return Outcome(1.0, low, high)
    return Outcome(_P_VALUES[test](found, settings), low, high)


def t_interval(found: Numbers, ci: float) -> tuple[float, float]:
    """Return mean -+ t((1 + ci) / 2, n - 1) s / sqrt(n)."""
    mean, error = float(found.mean()), _error(found)
    if constant(found) and found.any():
        return math.nan, math.nan
    half = float(_scipy().t.ppf((1 + ci) / 2, len(found) - 1)) * error
    return mean - half, mean + half


def _scipy() -> Any:
    return needed("scipy.stats", "compare")


def _error(found: Numbers) -> float:
    return float(found.std(ddof=1)) / math.sqrt(len(found))


def _t(found: Numbers, settings: Settings) -> float:  # noqa: ARG001 the signature of the others
    if constant(found):
        return math.nan
    return float(2 * _scipy().t.sf(abs(float(found.mean())) / _error(found), len(found) - 1))


def _wilcoxon(found: Numbers, settings: Settings) -> float:  # noqa: ARG001
    with warnings.catch_warnings():
        # scipy remarks on few values and on ties; the note of a comparison says what there is to say.
        warnings.simplefilter("ignore")
        # Sizes that differ by rounding alone share a rank, as they would on paper.
        return float(_scipy().wilcoxon(np.round(found / np.abs(found).max(), 12)).pvalue)


def _sign(found: Numbers, settings: Settings) -> float:  # noqa: ARG001
    wins, losses = int((found > 0).sum()), int((found < 0).sum())
    return float(_scipy().binomtest(wins, wins + losses).pvalue)


def _randomisation(found: Numbers, settings: Settings) -> float:
    sums, exact = flipped_sums(found, settings.resamples, settings.seed)
    return _share(sums, float(found.sum()), float(np.abs(found).sum()), exact=exact)


def _bootstrap(found: Numbers, settings: Settings) -> Outcome:
    mean = float(found.mean())
    means = bootstrap_means([Sample(found)], settings.resamples, settings.seed)[0]
    p = _share(means - mean, mean, float(np.abs(found).max()), exact=False)
    return Outcome(p, *percentiles(means, settings.ci))


def _share(resampled: Numbers, observed: float, scale: float, *, exact: bool) -> float:
    """Return the share of resampled numbers as far from 0 as the observed one, which is one of them."""
    far = int((np.abs(resampled) >= abs(observed) - SAME * scale).sum())
    return far / len(resampled) if exact else (far + 1) / (len(resampled) + 1)


_P_VALUES: dict[str, Callable[[Numbers, Settings], float]] = {
    "t": _t,
    "wilcoxon": _wilcoxon,
    "sign": _sign,
    "randomisation": _randomisation,
}


@lru_cache(maxsize=256)
def _range(ci: float, systems: int, free: int) -> float:
    """Return a quantile of the studentised range, which takes a while to find and is the same for all metrics."""
    return float(_scipy().studentized_range.ppf(ci, systems, free))


def tukey(values: Numbers, ci: float) -> list[list[Outcome]]:
    """Return Tukey's honestly significant differences of all systems, with queries as blocks.

    The model is value = query + system + error. The mean square of the error is that of what is left of the values when
    their query's and their system's mean are taken off, with (queries - 1)(systems - 1) degrees of freedom; q is the
    difference of two means over sqrt(mean square / queries), and p comes from the studentised range of the number of
    systems. All p-values and intervals of one call hold together. With two systems it is the paired t test.

    Carterette, Multiple testing in statistical analysis of systems-based information retrieval experiments, 2012.

    Parameters
    ----------
    values
        A row for each query, a column for each system.
    ci
        How sure the intervals are, all together.

    Returns
    -------
    list
        At `[i][j]`, system i less system j.
    """
    queries, systems = values.shape
    means = values.mean(axis=0)
    left = values - values.mean(axis=1, keepdims=True) - means + values.mean()
    free = (queries - 1) * (systems - 1)
    error = math.sqrt(float((left**2).sum()) / free / queries) if free else 0.0
    apart = means[:, None] - means[None, :]
    if not error > SAME * float(np.abs(values).max()):
        return [[Outcome(1.0, 0.0, 0.0) if abs(d) <= SAME else NOTHING for d in row] for row in apart]
    spread = _scipy().studentized_range
    half = _range(ci, systems, free) * error
    above = np.triu_indices(systems, 1)
    p = np.ones_like(apart)
    with warnings.catch_warnings():
        # The integral is hard for ranges near 0 and far out, where p is 1 and 0.
        warnings.simplefilter("ignore")
        p[above] = np.clip(spread.sf(np.abs(apart[above]) / error, systems, free), 0.0, 1.0)
    p = np.minimum(p, p.T)
    return [
        [Outcome(float(p[i, j]), float(d) - half, float(d) + half) for j, d in enumerate(row)]
        for i, row in enumerate(apart)
    ]
