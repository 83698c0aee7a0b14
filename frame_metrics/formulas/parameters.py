"""The values that options of metrics may take, and how they are checked, printed and read back."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from numbers import Real
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin

from frame_metrics.errors import OptionError, choice, wanted


@dataclass(frozen=True)
class Within:
    """The interval that a number must lie in; `open_low` and `open_high` leave the ends out."""

    low: float
    high: float = math.inf
    open_low: bool = False
    open_high: bool = False

    def __contains__(self, value: float) -> bool:
        above = value > self.low if self.open_low else value >= self.low
        return above and (value < self.high if self.open_high else value <= self.high)

    def __str__(self) -> str:
        if self.low == -math.inf:
            return "a finite number"
        low = f"a number {'>' if self.open_low else '>='} {self.low:g}"
        return low if self.high == math.inf else f"{low} and {'<' if self.open_high else '<='} {self.high:g}"


K: TypeAlias = int | None
Number: TypeAlias = Annotated[float, Within(-math.inf, open_low=True, open_high=True)]
Positive: TypeAlias = Annotated[float, Within(0, open_low=True, open_high=True)]
MaxGrade: TypeAlias = Annotated[float, Within(0, 500, open_low=True)]
Share: TypeAlias = Annotated[float, Within(0, 1)]
Persistence: TypeAlias = Annotated[float, Within(0, 1, open_low=True, open_high=True)]
Gain: TypeAlias = Literal["linear", "exponential", "binary"] | Mapping[float, float]
Rounding: TypeAlias = Literal["nearest", "trec_eval_9"]
Discount: TypeAlias = Literal["log2", "jarvelin", "reciprocal", "none"]
Ideal: TypeAlias = Literal["judged", "retrieved", "full"]


def checked(name: str, value: Any, kind: Any) -> Any:
    """Return `value` in its canonical form if parameter `name` of type `kind` may have it, or raise `OptionError`.

    Examples
    --------
    >>> checked("k", 10, K), checked("beta", 2, Positive)
    (10, 2.0)
    >>> checked("p", 1.5, Persistence)
    Traceback (most recent call last):
    frame_metrics.errors.OptionError: `p` must be a number > 0 and < 1, got 1.5
    """
    if name == "k":
        return _checked_k(value)
    kinds = get_args(kind) if get_origin(kind) in _UNIONS else (kind,)
    if value is None and type(None) in kinds:
        return None
    interval = next((i for part in kinds for i in getattr(part, "__metadata__", ())), None)
    if interval is not None:
        return _checked_number(name, value, interval)
    if isinstance(value, Mapping) and any(get_origin(part) is Mapping for part in kinds):
        return _checked_gains(name, value)
    allowed = [word for part in kinds if get_origin(part) is Literal for word in get_args(part)]
    if not isinstance(value, str) or value not in allowed:
        raise choice(name, value, allowed)
    return value


_UNIONS = (Union, type(int | None))


def _checked_k(value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not hasattr(value, "__index__") or value.__index__() < 1:
        raise wanted("k", "an integer >= 1 or None", value, "leave `k` out for the whole list")
    return int(value.__index__())


def _checked_number(name: str, value: Any, interval: Within) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or float(value) not in interval:
        raise wanted(name, str(interval), value)
    return float(value)


def _checked_gains(name: str, value: Mapping[Any, Any]) -> dict[float, float]:
    numbers = [n for pair in value.items() for n in pair]
    if not numbers or any(isinstance(n, bool) or not isinstance(n, Real) or not math.isfinite(n) for n in numbers):
        raise wanted(name, "a mapping of grades to gains, all finite numbers", dict(value))
    gains = {float(grade): float(gain) for grade, gain in sorted(value.items()) if (grade, gain) != (0, 0)}
    if not gains or min(gains) <= 0:
        raise wanted(name, "a mapping of positive grades to gains", dict(value), "a grade of 0 or less has gain 0")
    amounts = list(gains.values())
    if amounts[0] < 0 or any(low > high for low, high in pairwise(amounts)):
        raise wanted(name, "a mapping whose gains are >= 0 and do not fall as the grade rises", dict(value))
    return gains


def written(value: Any) -> str:
    """Return the text of an option's value as it stands in a metric's name.

    Examples
    --------
    >>> written("exponential"), written(0.8), written(2.0), written({1.0: 3.0, 2.0: 9.5})
    ('exponential', '0.8', '2', '{1:3,2:9.5}')
    """
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{_short(grade)}:{_short(gain)}" for grade, gain in value.items()) + "}"
    return _short(value) if isinstance(value, float) else str(value)


def _short(number: float) -> str:
    return str(int(number)) if float(number).is_integer() else repr(number)


def read(name: str, text: str) -> Any:
    """Return the value that the text of an option stands for: a number, a mapping, or the word itself.

    Examples
    --------
    >>> read("gain", "exponential"), read("p", "0.8"), read("gain", "{1:3,2:9}")
    ('exponential', 0.8, {1: 3, 2: 9})
    """
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        if not text.replace("_", "").replace("-", "").isalnum():
            raise OptionError(f"cannot read the value {text!r} of option `{name}`") from None
        return text
