"""The errors of the package: one family under `ValueError`, each text says what was wanted, what came, what to do."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class FrameMetricsError(ValueError):
    """Anything that this package refuses to do."""


class TableError(FrameMetricsError):
    """The table holds values that have no meaning as a ranking."""


class MissingColumnError(TableError):
    """A column that was named, or that a metric needs, is not in the table."""


class OptionError(FrameMetricsError):
    """A parameter has a value outside what it allows."""


class UnknownMetricError(OptionError):
    """No metric has this name."""


class MissingPackageError(FrameMetricsError, ImportError):
    """A package that an optional part needs is not installed."""


def nearest(word: object, known: Iterable[str]) -> str:
    """Return `", did you mean 'x'?"` for the known name closest to `word`, or nothing.

    Examples
    --------
    >>> nearest("ndgc", ["ndcg", "map"])
    ", did you mean 'ndcg'?"
    >>> nearest("zzz", ["ndcg", "map"])
    ''
    """
    close = get_close_matches(str(word).lower(), list(known), n=1)
    return f", did you mean {close[0]!r}?" if close else ""


def choice(name: str, value: object, allowed: Iterable[object]) -> OptionError:
    """Return the error for a parameter whose value is none of the allowed ones.

    Examples
    --------
    >>> print(choice("gain", "linaer", ["linear", "exponential"]))
    `gain` must be one of 'linear', 'exponential', got 'linaer', did you mean 'linear'?
    """
    names = list(allowed)
    close = nearest(value, [n for n in names if isinstance(n, str)])
    return OptionError(f"`{name}` must be one of {', '.join(map(repr, names))}, got {value!r}{close}")


def wanted(name: str, expected: str, value: object, hint: str = "") -> OptionError:
    """Return the error for a parameter that is of the wrong kind or out of range.

    Examples
    --------
    >>> print(wanted("k", "an integer >= 1 or None", 0, "leave `k` out for the whole list"))
    `k` must be an integer >= 1 or None, got 0. Hint: leave `k` out for the whole list
    """
    return OptionError(f"`{name}` must be {expected}, got {value!r}" + (f". Hint: {hint}" if hint else ""))
