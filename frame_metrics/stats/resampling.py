"""Resampling: the bootstrap, and sign flips.

Both work in blocks of resamples: a block is one array of random numbers, of bounded size, so memory does not grow with
the number of resamples and no Python code runs for a single one. Values are put in order first, so the result depends
on the seed and on the values, and not on the order in which they came.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Numbers: TypeAlias = npt.NDArray[np.float64]

BLOCK = 1 << 20
"""How many random numbers are held at once: few enough for the cache of a processor."""

_DIGITS = 12
_BITS = 8


class Sample(NamedTuple):
    """Numerators and denominators of what is resampled: queries, or clusters of them.

    Attributes
    ----------
    values
        The numerators; where every query counts the same, their values.
    overs
        The denominators; None for ones.
    """

    values: Numbers
    overs: Numbers | None = None

    @property
    def mean(self) -> float:
        """The sum of the numerators over that of the denominators."""
        return float(self.values.sum() / (len(self.values) if self.overs is None else self.overs.sum()))

    def ordered(self) -> Sample:
        """Return the sample in an order that rounding errors of a sum do not change."""
        if self.overs is None:
            return Sample(np.sort(self.values))
        order = np.lexsort((np.round(self.values, _DIGITS), np.round(self.overs, _DIGITS)))
        return Sample(self.values[order], self.overs[order])


def bootstrap_means(samples: Sequence[Sample], resamples: int, seed: int) -> list[Numbers]:
    """Return, for each sample, the means of resamples drawn from it with replacement, each as large as the sample.

    Samples of one size share their random numbers, so they cost little more than one, and a sample has the same result
    whatever others there are.

    Parameters
    ----------
    samples
        What is resampled.
    resamples
        How many.
    seed
        Of the random numbers.

    Examples
    --------
    >>> means, = bootstrap_means([Sample(np.array([0.0, 1.0]))], 1000, seed=0)
    >>> sorted(set(means.tolist()))
    [0.0, 0.5, 1.0]
    """
    sizes: defaultdict[int, list[int]] = defaultdict(list)
    for place, sample in enumerate(samples):
        sizes[len(sample.values)].append(place)
    means = [np.full(resamples, np.nan) for _ in samples]
    for size, places in sizes.items():
        if size == 0:
            continue
        ordered = {place: samples[place].ordered() for place in places}
        random = np.random.default_rng(seed)
        for block in _blocks(resamples, size):
            drawn = random.integers(0, size, (block.stop - block.start, size), dtype=np.int32)
            for place, sample in ordered.items():
                means[place][block] = _means(sample, drawn)
    return means


def _means(sample: Sample, drawn: Any) -> Numbers:
    values: Numbers = np.take(sample.values, drawn).sum(axis=1)
    if sample.overs is None:
        return values / len(sample.values)
    overs: Numbers = np.take(sample.overs, drawn).sum(axis=1)
    # A resample of nothing but weights of 0 has no mean, and says nothing.
    return np.divide(values, overs, out=np.full_like(values, np.nan), where=overs > 0)


def percentiles(means: Numbers, ci: float) -> tuple[float, float]:
    """Return the percentile interval: between the quantiles (1 - ci) / 2 and (1 + ci) / 2 of the resampled means.

    Efron and Tibshirani, An Introduction to the Bootstrap, 1993, section 13.3.

    Examples
    --------
    >>> percentiles(np.arange(101.0), 0.5)
    (25.0, 75.0)
    """
    known = means[~np.isnan(means)]
    if not len(known):
        return np.nan, np.nan
    low, high = np.quantile(known, [(1 - ci) / 2, (1 + ci) / 2])
    return float(low), float(high)


def flipped_sums(differences: Numbers, resamples: int, seed: int) -> tuple[Numbers, bool]:
    """Return the sums of differences whose signs were flipped, and whether these are all there can be.

    They are all 2^n of them where that is no more than `resamples`, else as many random ones. Eight differences have
    256 sums of theirs; these are looked up by a random byte, which is eight coins at once.

    Parameters
    ----------
    differences
        The differences; those of 0 do not matter.
    resamples
        How many sums at most.
    seed
        Of the random numbers.

    Examples
    --------
    >>> flipped_sums(np.array([1.0, 2.0]), 100, seed=0)
    (array([-3., -1.,  1.,  3.]), True)
    """
    ordered = np.sort(differences[differences != 0])
    size = len(ordered)
    exact = size < 63 and 2**size <= resamples  # noqa: PLR2004 a shift of 64-bit numbers
    padded = np.zeros((max(1, -(-size // _BITS)), _BITS))
    padded.reshape(-1)[:size] = ordered
    coins = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little") * 2.0 - 1.0
    table = (padded @ coins.T).reshape(-1)
    starts = np.arange(len(padded), dtype=np.int32) * 256
    if exact:
        numbers = np.arange(2**size, dtype="<u8").view(np.uint8).reshape(-1, 8)[:, : len(padded)]
        return np.take(table, numbers.astype(np.int32) + starts).sum(axis=1), True
    random = np.random.default_rng(seed)
    sums = np.empty(resamples)
    for block in _blocks(resamples, len(padded)):
        thrown = random.integers(0, 256, (block.stop - block.start, len(padded)), dtype=np.uint8)
        sums[block] = np.take(table, thrown + starts).sum(axis=1)
    return sums, False


def _blocks(resamples: int, size: int) -> Iterator[slice]:
    step = max(1, BLOCK // size)
    return (slice(start, min(start + step, resamples)) for start in range(0, resamples, step))
