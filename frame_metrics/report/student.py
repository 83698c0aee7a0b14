"""Student's t distribution, so that a report needs no further package: `scipy.stats.t` gives the same numbers."""

from __future__ import annotations

from math import exp, lgamma, log

_STEPS, _CLOSE, _TINY = 500, 1e-15, 1e-300


def two_sided(t: float, freedom: int) -> float:
    """Return the probability of a value at least as far from 0 as this one.

    Examples
    --------
    >>> round(two_sided(2.0, 10), 6), two_sided(0.0, 3)
    (0.073388, 1.0)
    """
    return _beta(freedom / 2, 0.5, freedom / (freedom + t * t))


def quantile(level: float, freedom: int) -> float:
    """Return how far from 0 values stay with this probability.

    Examples
    --------
    >>> round(quantile(0.95, 10), 4)
    2.2281
    """
    low, high = 0.0, 1.0
    while two_sided(high, freedom) > 1 - level:
        high *= 2
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if two_sided(middle, freedom) > 1 - level else (low, middle)
    return high


def _beta(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta(b, a, 1 - x)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(1 - x)) / a
    return front * _fraction(a, b, x)


def _fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the beta function, by the method of Lentz."""
    c, d = 1.0, 1 / _away(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            c, d = _away(1 + term / c), 1 / _away(1 + term * d)
            value *= c * d
        if abs(c * d - 1) < _CLOSE:
            break
    return value


def _away(number: float) -> float:
    return number if abs(number) > _TINY else _TINY
