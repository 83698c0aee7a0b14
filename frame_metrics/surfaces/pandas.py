"""`.rank` on pandas frames; the only file that knows pandas.

Only the columns that a question needs are converted, one by one. Keys travel as integer codes and come back by looking
the codes up, so that whatever pandas can hold in a key, categories, time zones, tuples, comes back exactly as it went
in.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from frame_metrics.errors import TableError
from frame_metrics.formulas import parse
from frame_metrics.formulas.base import T
from frame_metrics.formulas.terms import PREFIX
from frame_metrics.plan import checks, curves
from frame_metrics.plan.explained import Chosen, explained
from frame_metrics.plan.question import Question
from frame_metrics.plan.table import missing, prepared, require
from frame_metrics.surfaces.frames import number, run
from frame_metrics.surfaces.method import MethodLike
from frame_metrics.surfaces.ranking import Ranking

if TYPE_CHECKING:
    from collections.abc import Collection

    from frame_metrics.formulas import Metric
    from frame_metrics.surfaces.ranking import Plan

_CHOSEN, _ROW = f"{PREFIX}chosen", f"{PREFIX}row"


class _Pandas(Ranking[T, pd.DataFrame]):
    __slots__ = ()

    def _run(self, plan: Plan) -> tuple[pl.DataFrame, Converted]:
        converted = Converted(self._frame, self._asked)
        if not self._asked.steps:
            require(converted.present, self._asked)
        # An example in codes says nothing to anybody, so errors are made again with the keys spelt out.
        return run(plan, converted.coded(), self._asked, full=converted.spelt), converted

    def _many(self, plan: Plan) -> pd.DataFrame:
        result, converted = self._run(plan)
        return converted.back(result)

    def _named(self, plan: Plan) -> pl.DataFrame:
        return run(plan, Converted(self._frame, self._asked).plain(), self._asked)

    def _given(self, result: pl.DataFrame, keys: dict[str, str]) -> pd.DataFrame:
        return Converted(self._frame, self._asked).named(result, keys)

    def check(self) -> pd.DataFrame:
        # The examples are texts, in which keys stand as they are.
        asked = self._asked.using(check_rows="all")
        converted = Converted(self._frame, asked)
        if not asked.steps:
            require(converted.present, asked)
        return run(lambda frame, a: checks.problems(prepared(frame, a), a), converted.spelt(), asked).to_pandas()

    def cascade(self, *, max_grade: float | None = None) -> pd.DataFrame:
        if self._asked.steps:
            asked = self._asked.using(check_rows="all")
            given = pl.from_pandas(self._frame)
            return run(lambda table, a: curves.cascade(table, a, max_grade), given, asked).to_pandas()
        added = super().cascade(max_grade=max_grade)["cascade"]
        frame: pd.DataFrame = self._frame
        return frame.assign(cascade=added.to_numpy())

    def explain(self, metric: str | Metric, /, *, query: Any, **segments: Any) -> pd.DataFrame:
        parsed, chosen = parse(metric), Chosen(query, segments)
        asked = chosen.asked(self._asked).using(check_rows="all")
        converted = Converted(self._frame, asked)
        if not asked.steps:
            require(converted.present, asked)
        if converted.joined:
            values = {name: converted.native(name, value) for name, value in segments.items()}
            chosen = Chosen(converted.native(asked.query, query), values)
            result = run(lambda frame, a: explained(frame, a, parsed, chosen), converted.plain(), asked)
            return converted.named(result, {asked.item: asked.item})
        marked = replace(chosen, marked=_CHOSEN, kept=(_ROW,))
        where = pl.Series(converted.where({asked.query: query, **segments}))
        more = [where.alias(_CHOSEN), pl.int_range(len(where), eager=True).alias(_ROW)]
        result = run(
            lambda frame, a: explained(frame, a, parsed, marked),
            converted.coded().with_columns(more),
            asked,
            full=lambda: converted.spelt().with_columns(more),
        )
        return converted.rows(result.drop(_ROW), result[_ROW].to_numpy())


class PandasRanks(_Pandas[pd.DataFrame]):
    """Metrics of a pandas DataFrame, a frame for each."""

    __slots__ = ()

    def _one(self, plan: Plan) -> pd.DataFrame:
        return self._many(plan)

    def _for_many(self, asked: Question) -> PandasRanks:
        return PandasRanks(self._frame, asked)


class PandasNumbers(_Pandas[float]):
    """Metrics of a pandas DataFrame, a number for each."""

    __slots__ = ()

    def _one(self, plan: Plan) -> float:
        return number(self._run(plan)[0])

    def _with(self, asked: Question) -> PandasNumbers:
        return PandasNumbers(self._frame, asked)

    def _for_many(self, asked: Question) -> PandasRanks:
        return PandasRanks(self._frame, asked)


class PandasRank(MethodLike, PandasNumbers):
    """`DataFrame.rank`: the method of pandas, with the metrics of the frame as its attributes."""

    __slots__ = ("__weakref__", "_method")


class Converted:
    """The columns of a pandas frame that a question needs, as Polars columns.

    Parameters
    ----------
    frame
        The frame; it is not changed.
    asked
        What is asked of it.
    """

    def __init__(self, frame: pd.DataFrame, asked: Question) -> None:
        self.frame = frame
        self.asked = asked
        levels = [name for name in frame.index.names if name is not None]
        self.present = [*map(str, frame.columns), *map(str, levels)]
        for key in asked.keys:
            if key in frame.columns and key in levels:
                raise TableError(f"{key!r} is both a column and an index level. Hint: rename one of them")
        if lacking := [name for name in asked.also if name not in self.present]:
            raise missing(lacking[0], self.present, "Hint: name a column of the table")
        self.keys: dict[str, Codes] = {}

    @property
    def joined(self) -> bool:
        """Whether keys meet those of another table, and so must be what they are."""
        return any(step.kind == "judgments" for step in self.asked.steps)

    def coded(self) -> pl.DataFrame:
        """Return the columns, with keys as codes where they are not joined with anything."""
        if self.joined:
            return self.plain()
        values = {self.asked.rank, self.asked.relevance}
        self.keys = {key: Codes(self.series(key)) for key in self.asked.keys if key not in values}
        columns = self.plain(without=self.asked.keys) if self.asked.steps else pl.DataFrame(self._values())
        return columns.with_columns(codes.codes.alias(key) for key, codes in self.keys.items())

    def spelt(self) -> pl.DataFrame:
        """Return the columns, with keys as text."""
        if self.joined:
            return self.plain()
        if self.asked.steps:
            keys = [_text(self.series(key)).alias(key) for key in self.asked.keys]
            return self.plain(without=self.asked.keys).with_columns(keys)
        values = {self.asked.rank, self.asked.relevance}
        others = (*self.asked.keys, self.asked.item, self.asked.subtopic)
        names = [name for name in others if name in self.present and name not in values]
        return pl.DataFrame(self._values() | {name: _text(self.series(name)) for name in names})

    def _values(self) -> dict[str, pl.Series]:
        asked = self.asked
        columns = {name: native(self.series(name)) for name in (asked.rank, asked.relevance)}
        if asked.item in self.present and asked.item not in (*asked.keys, *columns):
            columns[asked.item] = self._all_items() if asked.subtopic in self.present else self._first_items()
        if asked.subtopic in self.present and asked.subtopic not in (*asked.keys, *columns):
            columns[asked.subtopic] = self._codes(self.series(asked.subtopic))
        more = [name for name in asked.also if name not in (*asked.keys, *columns)]
        return columns | {name: native(self.series(name)) for name in more}

    def _all_items(self) -> pl.Series:
        """Return all items, in an order of theirs where they have one."""
        try:
            return native(self.series(self.asked.item))
        except TableError:
            return self._codes(self.series(self.asked.item))

    def _codes(self, column: pd.Series[Any]) -> pl.Series:
        try:
            return Codes(column).codes
        except TypeError:  # what cannot be hashed cannot be compared
            return pl.repeat(None, len(column), dtype=pl.Int64, eager=True)

    def _first_items(self) -> pl.Series:
        """Return codes of the items that are going to be checked, and nulls beyond: text is dear to convert."""
        items, rows = self.series(self.asked.item), self.asked.check_rows
        codes = self._codes(items if rows is None else items.iloc[:rows])
        return codes.extend_constant(None, len(items) - len(codes))

    def plain(self, without: Collection[str] = ()) -> pl.DataFrame:
        """Return the columns, with keys as they are."""
        asked = self.asked
        names = [
            *asked.keys,
            asked.item,
            asked.rank,
            asked.relevance,
            asked.subtopic,
            *(c for step in asked.steps for c in step.columns),
            *asked.also,
        ]
        needed = [name for name in dict.fromkeys(names) if name in self.present and name not in without]
        return pl.DataFrame({name: native(self.series(name)) for name in needed})

    def series(self, name: str) -> pd.Series[Any]:
        """Return a column, or a level of the index, or raise if there is none or more than one."""
        if name in self.frame.columns:
            column = self.frame[name]
            if isinstance(column, pd.DataFrame):
                raise TableError(
                    f"there are {column.shape[1]} columns {name!r}. Hint: rename or drop all but one of them"
                )
            return column
        if name in self.frame.index.names:
            return self.frame.index.get_level_values(name).to_series(index=self.frame.index)
        raise missing(name, self.present, "Hint: name yours with .rank.using(...)")

    def back(self, result: pl.DataFrame) -> pd.DataFrame:
        """Return a result as a pandas frame, with its keys as they were, in their order."""
        columns = {name: self._back(name, result[name]) for name in result.columns}
        frame = pd.DataFrame(columns)
        frame.attrs = dict(self.frame.attrs)
        keys = [key for key in (*self.asked.groups, "k") if key in columns]
        if not self.asked.groups or "cascade" in columns:
            return frame
        try:
            return frame.sort_values(keys, kind="stable", ignore_index=True)
        except TypeError:  # keys of several types have no order; they stay as they first appeared
            return frame

    def where(self, values: dict[str, Any]) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return which rows have these values in these columns; None stands for all that is missing."""
        found = np.ones(len(self.frame), dtype=bool)
        for name, value in values.items():
            found &= _same(self.series(name), value)
        return found

    def native(self, name: str, value: Any) -> Any:
        """Return a value of a column as it is in Polars."""
        try:
            return native(pd.Series([value]).astype(self.series(name).dtype)).item()
        except (TypeError, ValueError):
            return value

    def rows(self, result: pl.DataFrame, numbers: np.ndarray[Any, Any]) -> pd.DataFrame:
        """Return a result that has rows of the frame, by their numbers; what they have in the frame stays as it is."""
        made = {self.asked.rank} if self.asked.steps or self.asked.depth is not None else set()
        given = {name for name in result.columns if name in self.present and name not in made}
        columns = {name: result[name].to_pandas() for name in result.columns if name not in given}
        columns |= {name: self.series(name).iloc[numbers].reset_index(drop=True) for name in given}
        frame = pd.DataFrame({name: columns[name] for name in result.columns})
        frame.attrs = dict(self.frame.attrs)
        return frame

    def named(self, result: pl.DataFrame, keys: dict[str, str]) -> pd.DataFrame:
        """Return a result as a pandas frame, in its order; some of its columns have values of columns of the frame."""
        frame = result.to_pandas().assign(**{c: _as_given(result[c], self.series(name)) for c, name in keys.items()})
        frame.attrs = dict(self.frame.attrs)
        return frame

    def _back(self, name: str, column: pl.Series) -> Any:
        if name in self.keys:
            return self.keys[name].values(column)
        if name not in self.asked.groups or name not in self.present:
            return column.to_pandas()
        given = self.series(name)
        return _as_given(column, given)


def _as_given(column: pl.Series, given: pd.Series[Any]) -> pd.Series[Any]:
    """Return values of a key in the type that the key had, as far as that holds them."""
    if given.dtype == object or isinstance(given.dtype, pd.PeriodDtype | pd.IntervalDtype):
        uniques = given.drop_duplicates()
        # By their text: intervals travel as dicts, which cannot be looked up.
        known = dict(zip(map(repr, native(uniques).to_list()), uniques, strict=True))
        values = column.to_list()
        all_known = all(repr(value) in known for value in values)
        return pd.Series([known.get(repr(v), v) for v in values], dtype=given.dtype if all_known else object)
    converted = column.to_pandas()
    try:
        return converted.astype(given.dtype)
    except (TypeError, ValueError):
        return converted


def _same(column: pd.Series[Any], value: Any) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return which values of a column are this one."""
    if value is None:
        return column.isna().to_numpy()
    # Of a tuple, pandas would compare each part with a row.
    same = column == value if pd.api.types.is_scalar(value) else column.map(lambda each: each == value)
    return same.to_numpy(dtype=bool, na_value=False)


def _text(column: pd.Series[Any]) -> pl.Series:
    texts = [None if gone else str(value) for value, gone in zip(column, column.isna(), strict=True)]
    return pl.Series(texts, dtype=pl.String)


class Codes:
    """Values of a column as integers, and the way back."""

    def __init__(self, column: pd.Series[Any]) -> None:
        column = _little_endian(column)
        self._dtype = column.dtype
        self._uniques: Any = None
        if isinstance(column.dtype, pd.CategoricalDtype):
            self.codes = pl.Series(column.cat.codes.to_numpy(copy=True)).cast(pl.Int64)
            self.codes = self.codes.set(self.codes < 0, None)
        elif column.dtype.kind in "iu" and not pd.api.types.is_extension_array_dtype(column.dtype):
            self.codes = native(column)
        else:
            codes, self._uniques = pd.factorize(column)
            self.codes = pl.Series(codes, dtype=pl.Int64)
            self.codes = self.codes.set(self.codes < 0, None)

    def values(self, codes: pl.Series) -> Any:
        """Return the values of codes."""
        if self._uniques is None and not isinstance(self._dtype, pd.CategoricalDtype):
            return pd.Series(codes.to_numpy(), dtype=self._dtype)
        places = codes.cast(pl.Int64).fill_null(-1).to_numpy()
        if self._uniques is None:
            return pd.Series(pd.Categorical.from_codes(places, dtype=self._dtype))  # type: ignore[call-overload]
        taken = pd.Index(self._uniques).array.take(places, allow_fill=True)
        return pd.Series(taken, dtype=self._dtype)


def native(column: pd.Series[Any]) -> pl.Series:
    """Return a pandas column as a Polars one; NaN is null, as everywhere in pandas."""
    column = _little_endian(column)
    if column.dtype == object and column.isna().all():
        return pl.repeat(None, len(column), dtype=pl.Null, eager=True)
    try:
        return pl.from_pandas(column.reset_index(drop=True), nan_to_null=True).alias("")
    except (TypeError, ValueError, pa.ArrowException, pl.exceptions.PolarsError) as error:
        raise TableError(
            f"cannot read column {column.name!r} of type {column.dtype}: {error}. Hint: give it one type"
        ) from None


def _little_endian(column: pd.Series[Any]) -> pd.Series[Any]:
    if isinstance(column.dtype, np.dtype) and not column.dtype.isnative:
        return column.astype(column.dtype.newbyteorder("="))
    return column


def columns_of(frame: pd.DataFrame, names: Collection[str] | None = None) -> pl.LazyFrame:
    """Return columns, or index levels, of a pandas frame as a lazy frame that does not see later changes of it."""
    there = Converted(frame, Question())
    wanted = there.present if names is None else [name for name in names if name in there.present]
    return pl.DataFrame({name: native(there.series(name).copy()) for name in wanted}).lazy()
