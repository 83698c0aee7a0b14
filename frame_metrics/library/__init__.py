"""Other libraries' definitions by name, and how they differ."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import polars as pl

from frame_metrics.errors import choice
from frame_metrics.formulas.parameters import written
from frame_metrics.library.entry import OURS, SETTINGS, Library
from frame_metrics.library.table import LIBRARIES
from frame_metrics.library.words import words

if TYPE_CHECKING:
    from collections.abc import Iterator

_OTHER_NAMES = {"scikit_learn": "sklearn", "pytrec_eval_terrier": "pytrec_eval"}

ALL = "all"
"""Stands for the metric where a choice holds for all metrics."""


def library(name: str) -> Library:
    """Return the library of a name, or raise with the nearest one.

    Examples
    --------
    >>> str(library("ranx"))
    'ranx 0.3.21'
    >>> library("rank_x")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    frame_metrics.errors.OptionError: `library` must be one of 'frame_metrics', ... got 'rank_x', did you mean 'ranx'?
    """
    known = str(name).lower().replace("-", "_")
    found = LIBRARIES.get(_OTHER_NAMES.get(known, known)) if isinstance(name, str) else None
    if found is None:
        raise choice("library", name, LIBRARIES)
    return found


def libraries() -> pl.DataFrame:
    """Return the libraries whose definitions `.rank.like` knows, with what they choose for all metrics.

    Column `metrics` has the metrics that can be had as the library defines them, `notes` what cannot.

    Examples
    --------
    >>> import frame_metrics as fm
    >>> fm.libraries().filter(library="ranx").select("version", "queries", "no_relevant").rows()
    [('0.3.21', 'error', 'zero')]
    """
    rows = [
        {
            "library": each.name,
            "version": each.version,
            "seen": each.seen,
            **{name: each.setting(name) for name in SETTINGS},
            "metrics": each.names,
            "notes": " ".join(each.notes),
        }
        for each in LIBRARIES.values()
    ]
    return pl.DataFrame(rows)


class Differences:
    """What two libraries do not choose alike; it prints in words.

    Attributes
    ----------
    frame
        A row for each choice: `metric`, `"all"` where it holds for all of them; `choice`; and the values that the two
        libraries choose, in columns that have their names.
    """

    __slots__ = ("_first", "_rows", "_second")

    def __init__(self, first: Library, second: Library) -> None:
        self._first, self._second = first, second
        self._rows = list(_rows(first, second))

    @property
    def frame(self) -> pl.DataFrame:
        """The choices as a frame."""
        names = ["metric", "choice", self._first.name, self._second.name]
        rows = [(metric, choice, written(one), written(other)) for metric, choice, one, other in self._rows]
        return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")

    def _lines(self) -> list[tuple[str, str, str]]:
        """Return each choice with what the two libraries do."""
        lines = []
        for metric, chosen, one, other in self._rows:
            said = (words(self._first, metric, chosen, one), words(self._second, metric, chosen, other))
            lines.append((chosen if metric == ALL else f"{metric}, {chosen}", *said))
        return lines

    def _alone(self) -> list[str]:
        pairs = ((self._first, self._second), (self._second, self._first))
        only = [(one.name, [n for n in one.names if n not in other.names]) for one, other in pairs]
        return [f"Only {name} has {', '.join(names)}." for name, names in only if names]

    def __repr__(self) -> str:
        first, second = self._first, self._second
        if not self._rows:
            return "\n".join([f"{first} and {second} choose alike.", *self._alone()])
        lines = [f"{first} and {second} differ in"]
        for what, one, other in self._lines():
            lines += [f"- {what}:", f"    {first.name}: {one}", f"    {second.name}: {other}"]
        return "\n".join([*lines, *self._alone()])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(text)}</th>" for text in ("choice", str(self._first), str(self._second)))
        lines = ("".join(f"<td>{escape(text)}</td>" for text in line) for line in self._lines())
        body = "".join(f"<tr>{line}</tr>" for line in lines)
        return f"<table><tr>{head}</tr>{body}</table>" + "".join(f"<p>{escape(text)}</p>" for text in self._alone())


def _rows(first: Library, second: Library) -> Iterator[tuple[str, str, Any, Any]]:
    for name in SETTINGS:
        if first.setting(name) != second.setting(name):
            yield ALL, name, first.setting(name), second.setting(name)
    for metric in first.names:
        if metric not in second.names:
            continue
        ones, others = first.choices(metric), second.choices(metric)
        for name, one in ones.items():
            usual = name in SETTINGS and (one, others[name]) == (first.setting(name), second.setting(name))
            if one != others[name] and not usual:
                yield metric, name, one, others[name]


def differences(first: str, second: str = OURS.name) -> Differences:
    """Return the choices in which two libraries differ, for all metrics and for each that both have.

    Parameters
    ----------
    first, second
        Names of libraries, see `fm.libraries()`; without the second one, this package.

    Examples
    --------
    >>> import frame_metrics as fm
    >>> fm.differences("recbole", "replay")  # doctest: +ELLIPSIS
    recbole 1.2.1 and replay 0.22 differ in
    - ties:
        recbole: items with one score keep the order of the table (its own order of them is left to the sort, ...)
        replay: of items with one score, the one whose name sorts last comes first (so in frames; of dicts it keeps ...)
    >>> fm.differences("lenskit", "replay").frame.filter(metric="recall").rows()
    [('recall', 'denominator', 'capped', 'relevant')]
    """
    return Differences(library(first), library(second))


__all__ = ["OURS", "SETTINGS", "Differences", "Library", "differences", "libraries", "library"]
