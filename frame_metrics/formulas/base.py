"""What a metric is: a name, its options, and a formula; how a method becomes one."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from typing import Any, Generic, Literal, TypeVar, cast

import polars as pl

from frame_metrics.errors import OptionError, nearest
from frame_metrics.formulas.parameters import checked, written
from frame_metrics.formulas.terms import ORDERED, Columns, IdealSum, Spread, Terms, Tied

T = TypeVar("T")
Method = TypeVar("Method", bound=Callable[..., Any])
Rows = Literal["subtopics", "relevant", "judged", "all"]
Mean = Literal["arithmetic", "geometric", "pooled"]

LEAST = 1e-5
"""What a query counts in a geometric mean at least."""


@dataclass(frozen=True)
class Formula:
    """One number for one query: `value`, or `value` over `over`.

    Attributes
    ----------
    value
        The numerator, or the number itself.
    row
        What each row adds to the value, where the value is such a sum, and `over` is the same for all rows of a query.
        A mean over queries then needs no group for each of them. See `added`.
    over
        The denominator; micro averages pool it over queries.
    relevant
        How many items of the query are relevant, where the metric has no meaning without one; the policy `no_relevant`
        then decides. None where the metric has its natural value without any.
    undefined
        The value where there are relevant items and the denominator is 0.
    rows
        The rows that enter. Relevant rows are few, so a formula that needs no others is cheap.
    total
        Whether queries add up, as counts do, instead of being averaged.
    mean
        How queries are averaged: `"geometric"` takes none for less than `LEAST`, `"pooled"` weights each by its `over`.
    linear
        Whether what a row adds depends on the order by nothing but its place, and linearly by the number of its hit.
    adds
        What each row adds to the value, for an explanation, where `row` does not say so. All rows of the query are then
        there, in the order of the list, and each carries what is its own.
    start
        The value before the first row, where an explanation does not begin with 0.
    highest
        Whether the value is the highest of what rows add, and not the sum.
    parts
        What an explanation shows of each row beside what it adds, by name.
    """

    value: pl.Expr
    over: pl.Expr | None = None
    relevant: pl.Expr | None = None
    undefined: float | None = 0.0
    rows: Rows = "relevant"
    total: bool = False
    mean: Mean = "arithmetic"
    row: pl.Expr | None = None
    linear: bool = True
    adds: pl.Expr | None = None
    start: pl.Expr | None = None
    highest: bool = False
    parts: Mapping[str, pl.Expr] = field(default_factory=dict)

    @cached_property
    def names(self) -> frozenset[str]:
        """The columns that are mentioned."""
        parts = (self.value, self.over, self.relevant)
        return frozenset(name for e in parts if e is not None for name in e.meta.root_names())

    def score(self, without: float | None) -> pl.Expr:
        """Return the number for a query; `without` is the one for a query that has nothing relevant."""
        score = self.value
        if self.over is not None:
            score = pl.when(self.over > 0).then(self.value / self.over).otherwise(self.undefined)
        if self.relevant is not None:
            score = pl.when(self.relevant > 0).then(score).otherwise(without)
        return score if self.total else score.cast(pl.Float64)

    def shown(
        self,
        adds: pl.Expr | None = None,
        *,
        start: pl.Expr | None = None,
        highest: bool = False,
        **parts: pl.Expr,
    ) -> Formula:
        """Return the formula with what an explanation shows of each row."""
        adds = self.adds if adds is None else adds
        return replace(self, adds=adds, start=start, highest=highest, parts=parts)


def added(
    row: pl.Expr,
    over: pl.Expr | None = None,
    relevant: pl.Expr | None = None,
    rows: Rows = "relevant",
    *,
    linear: bool = True,
) -> Formula:
    """Return the formula of a number to which each row adds something."""
    return Formula(row.sum(), over, relevant, rows=rows, row=row, linear=linear)


class Metrics(Generic[T]):
    """Home of metric methods. A surface says, in `_measure`, what becomes of a metric: a float, a frame, ...."""

    __slots__ = ()

    def __init_subclass__(cls, **options: Any) -> None:
        """Give names such as `mrr = reciprocal_rank`, written in a class body, a method that knows its name."""
        super().__init_subclass__(**options)
        for name, method in list(vars(cls).items()):
            definition = getattr(method, "definition", None)
            if isinstance(definition, Definition) and name != definition.name:
                ALIASES[name] = definition.name
                setattr(cls, name, definition.method(name))

    def _measure(self, metric: Metric) -> T:
        """Return what this surface gives for a metric."""
        raise TypeError(f"{type(self).__name__} does not measure anything, asked for {metric}")

    def _of(self, formula: Callable[[Terms], Formula]) -> T:
        """End the body of a metric method; `metric` runs the body for its formula and answers the caller itself."""
        return cast("T", formula)


@dataclass(frozen=True)
class Definition:
    """A metric before its options are known: what `@metric` makes of a method.

    Attributes
    ----------
    name, body
        What it is called, and the method.
    of_subtopics
        Whether it needs a table with a row for each query, item and subtopic.
    """

    name: str
    body: Callable[..., Any]
    of_subtopics: bool = False

    @property
    def aliases(self) -> tuple[str, ...]:
        """The other names."""
        return tuple(alias for alias, name in ALIASES.items() if name == self.name)

    def method(self, called: str) -> Callable[..., Any]:
        """Return the method that a surface offers under this name."""

        @wraps(self.body)
        def method(surface: Metrics[T], *args: Any, **options: Any) -> T:
            return surface._measure(self(*args, called=called, **options))  # noqa: SLF001

        if called != self.name:
            method.__name__, method.__doc__ = called, f"{self.says} Another name of `{self.name}`."
        method.definition = self  # type: ignore[attr-defined]
        return method

    @cached_property
    def signature(self) -> inspect.Signature:
        """The options with their defaults, without `self`."""
        signature = inspect.signature(self.body)
        return signature.replace(parameters=list(signature.parameters.values())[1:])

    @cached_property
    def kinds(self) -> dict[str, Any]:
        """The type of each option."""
        return typing.get_type_hints(self.body, include_extras=True)

    @cached_property
    def options(self) -> dict[str, Any]:
        """The options after `k` with their defaults."""
        return {name: p.default for name, p in self.signature.parameters.items() if name != "k"}

    @property
    def takes_k(self) -> bool:
        """Whether the list can be cut."""
        return "k" in self.signature.parameters

    @property
    def says(self) -> str:
        """The first line of the docstring: what the number is."""
        return (inspect.getdoc(self.body) or "").split("\n", 1)[0]

    def __call__(self, *args: Any, called: str = "", text: str = "", **options: Any) -> Metric:
        """Return the metric with these options, each checked.

        Its text begins with the name it was called by, or is another one that was given.
        """
        given = {"k": args[0], **options} if len(args) == 1 and self.takes_k and "k" not in options else options
        if len(args) > (1 if self.takes_k else 0):
            raise OptionError(f"{self.name} takes {'`k`' if self.takes_k else 'no value'} by position, got {args!r}")
        if args and "k" in options:
            raise OptionError(f"{self.name} got `k` twice: {args[0]!r} and {options['k']!r}")
        for name in given:
            if name not in self.signature.parameters:
                known = list(self.signature.parameters)
                takes = f"takes {', '.join(f'`{n}`' for n in known)}" if known else "takes no options"
                raise OptionError(f"{self.name} {takes}, got `{name}`{nearest(name, known)}")
        parameters = self.signature.parameters.values()
        values = {p.name: checked(p.name, given.get(p.name, p.default), self.kinds[p.name]) for p in parameters}
        metric = Metric(self, tuple(values.items()), called or self.name, text, frozenset(given) - {"k"})
        if len(_KNOWN) >= _MANY:
            _KNOWN.clear()
        return _KNOWN.setdefault((self.name, metric.spelt, text, metric.given), metric)

    __hash__ = object.__hash__


@dataclass(frozen=True, eq=False)
class Metric:
    """A metric with all its options. Its text names result columns.

    Attributes
    ----------
    definition, options
        What it is.
    called
        The name or alias it was asked for by.
    text
        The text it was asked for by, where that is not the name with the options.
    given
        The options after `k` that were asked for, at their default or not; others may be chosen by a library.
    """

    definition: Definition
    options: tuple[tuple[str, Any], ...]
    called: str
    text: str = ""
    given: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return self.text or self.spelt

    @property
    def asked(self) -> str:
        """The text it was asked for by, with all options that were given."""
        return self.text or self.called + self._written([(n, v) for n, v in self.options if n in self.given])

    @property
    def spelt(self) -> str:
        """Name and options, which parse back to the same metric."""
        return self.called + self._suffix

    @cached_property
    def _suffix(self) -> str:
        return self._written([(n, v) for n, v in self.options if n != "k" and v != self.definition.options[n]])

    def _written(self, options: list[tuple[str, Any]]) -> str:
        inside = ",".join(f"{name}={written(value)}" for name, value in options)
        k = dict(self.options).get("k")
        return (f"({inside})" if inside else "") + (f"@{k}" if k else "")

    def __repr__(self) -> str:
        return f"<metric {self}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Metric) and (self.definition.name, self._suffix) == (
            other.definition.name,
            other._suffix,
        )

    def __hash__(self) -> int:
        return hash((self.definition.name, self._suffix))

    @cached_property
    def formula(self) -> Callable[[Terms], Formula]:
        """The formula, to be given the terms that it is written in."""
        return cast("Callable[[Terms], Formula]", self.definition.body(Metrics(), **dict(self.options)))

    @cached_property
    def plain(self) -> Formula:
        """The formula over the columns of any rows."""
        return self.formula(Columns())

    @cached_property
    def relevant(self) -> Formula:
        """The formula over columns of rows that are all relevant."""
        return self.formula(Columns(all_relevant=True))

    @cached_property
    def spread(self) -> tuple[Formula, dict[str, IdealSum]]:
        """The formula over rows that know the sums of their list, and such sums by the names of their columns."""
        terms = Spread(self.spelt)
        return self.formula(terms), terms.sums

    @cached_property
    def tied(self) -> tuple[Formula, dict[str, IdealSum]]:
        """The formula over items at places that they share with others, and sums as for `spread`."""
        terms = Tied(self.spelt)
        return self.formula(terms), terms.sums

    @cached_property
    def names(self) -> frozenset[str]:
        """The prepared columns that the formula mentions."""
        return self.plain.names

    @property
    def ordered(self) -> bool:
        """Whether two rows of a query at one rank make the number ambiguous."""
        return bool(self.names & ORDERED)


_MANY = 1000
_KNOWN: dict[tuple[str, str, str, frozenset[str]], Metric] = {}
"""Metrics that were asked for before: their formulas are made once."""

DEFINITIONS: dict[str, Definition] = {}
"""Every metric by its name, in the order of definition."""

ALIASES: dict[str, str] = {}
"""Other names of metrics."""


def metric(body: Method) -> Method:
    """Turn a method of a `Metrics` class into a metric under its own name.

    The method's signature gives the options, its docstring the documentation, its body the formula. What a caller
    gets is whatever the surface's `_measure` makes of it. Another name is one more assignment in the class body.
    """
    return _defined(body, Definition(body.__name__, body))


def subtopic_metric(body: Method) -> Method:
    """Turn a method into a metric, as `metric` does, of tables with a row for each query, item and subtopic."""
    return _defined(body, Definition(body.__name__, body, of_subtopics=True))


def _defined(body: Method, definition: Definition) -> Method:
    DEFINITIONS[definition.name] = definition
    return cast("Method", definition.method(body.__name__))
