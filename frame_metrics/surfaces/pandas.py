"""`.rank` on pandas frames; the only file that knows pandas.

Only the columns that a question needs are converted, one by one. Keys travel as integer codes and come back by looking the
codes up, so that whatever pandas can hold in a key, categories, time zones, tuples, comes back exactly as it went in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl

from frame_metrics.errors import TableError
from frame_metrics.formulas.base import T
from frame_metrics.plan import checks
from frame_metrics.plan.table import missing, prepared, require
from frame_metrics.surfaces.frames import number, run
from frame_metrics.surfaces.method import MethodLike
from frame_metrics.surfaces.ranking import Ranking

if TYPE_CHECKING:
    from collections.abc import Callable

    from frame_metrics.plan.question import Question

    Plan = Callable[[pl.LazyFrame], pl.LazyFrame]


class _Pandas(Ranking[T, pd.DataFrame]):
    __slots__ = ()

    def _run(self, plan: Plan) -> tuple[pl.DataFrame, Converted]:
        converted = Converted(self._frame, self._asked)
        coded = converted.coded()
        try:
            return run(plan(coded.lazy())), converted
        except TableError as error:
            raise self._spelt(plan, converted, error) from None

    @staticmethod
    def _spelt(plan: Plan, converted: Converted, error: TableError) -> TableError:
        """Return the error once more with the keys spelt out: as they are coded, its example says nothing to anybody."""
        try:
            run(plan(converted.spelt().lazy()))
        except TableError as better:
            return better
        return error

    def _many(self, plan: Plan) -> pd.DataFrame:
        result, converted = self._run(plan)
        return converted.back(result)

    def check(self) -> pd.DataFrame:  # noqa: D102 inherited
        # The examples are texts, in which keys stand as they are.
        asked = self._asked.using(check_rows="all")
        frame = Converted(self._frame, asked).spelt().lazy()
        return run(checks.problems(prepared(frame, asked), asked)).to_pandas()

    def cascade(self, *, max_grade: float | None = None) -> pd.DataFrame:  # noqa: D102 inherited
        if self._asked.steps:
            return super().cascade(max_grade=max_grade)
        added = super().cascade(max_grade=max_grade)["cascade"]
        return self._frame.assign(cascade=added.to_numpy())


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

    def _with(self, asked: Question) -> PandasNumbers:  # type: ignore[override]
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
        if not asked.steps:
            require(self.present, asked)
        for key in asked.keys:
            if key in frame.columns and key in levels:
                raise TableError(f"{key!r} is both a column and an index level. Hint: rename one of them")
        self.keys: dict[str, Codes] = {}

    def coded(self) -> pl.DataFrame:
        """Return the columns, with keys as codes where they are not joined with anything."""
        if self.asked.steps:
            return self._plain()
        values = {self.asked.rank, self.asked.relevance}
        self.keys = {key: Codes(self._series(key)) for key in self.asked.keys if key not in values}
        return pl.DataFrame({key: codes.codes for key, codes in self.keys.items()} | self._values())

    def spelt(self) -> pl.DataFrame:
        """Return the columns, with keys as text."""
        if self.asked.steps:
            return self._plain()
        values = {self.asked.rank, self.asked.relevance}
        names = [name for name in (*self.asked.keys, self.asked.item) if name in self.present and name not in values]
        return pl.DataFrame(self._values() | {name: _text(self._series(name)) for name in names})

    def _values(self) -> dict[str, pl.Series]:
        asked = self.asked
        columns = {name: native(self._series(name)) for name in (asked.rank, asked.relevance)}
        if asked.item in self.present and asked.item not in (*asked.keys, *columns):
            columns[asked.item] = self._first_items()
        return columns

    def _first_items(self) -> pl.Series:
        """Return codes of the items that are going to be checked, and nulls beyond: text is dear to convert."""
        items, rows = self._series(self.asked.item), self.asked.check_rows
        codes = Codes(items if rows is None else items.iloc[:rows]).codes
        return codes.extend_constant(None, len(items) - len(codes))

    def _plain(self) -> pl.DataFrame:
        asked = self.asked
        names = [*asked.keys, asked.item, asked.rank, asked.relevance, *(c for step in asked.steps for c in step.columns)]
        return pl.DataFrame({name: native(self._series(name)) for name in dict.fromkeys(names) if name in self.present})

    def _series(self, name: str) -> pd.Series[Any]:
        if name in self.frame.columns:
            column = self.frame[name]
            if isinstance(column, pd.DataFrame):
                raise TableError(f"there are {column.shape[1]} columns {name!r}. Hint: rename or drop all but one of them")
            return column
        if name in self.frame.index.names:
            return self.frame.index.get_level_values(name).to_series(index=self.frame.index)
        raise missing(name, self.present, "Hint: name yours with .rank.using(...)")

    def back(self, result: pl.DataFrame) -> pd.DataFrame:
        """Return a result as a pandas frame, with its keys as they were, in their order."""
        columns = {name: self._back(name, result[name]) for name in result.columns}
        frame = pd.DataFrame(columns)
        frame.attrs = dict(self.frame.attrs)
        keys = [key for key in self.asked.groups if key in columns]
        if self.keys and keys and "k" not in columns and "cascade" not in columns:
            try:
                return frame.sort_values(keys, kind="stable", ignore_index=True)
            except TypeError:  # keys of several types have no order; they stay as they first appeared
                return frame
        return frame

    def _back(self, name: str, column: pl.Series) -> Any:
        if name in self.keys:
            return self.keys[name].values(column)
        values = column.to_pandas()
        if self.asked.steps and name in self.asked.keys and name in self.present:
            dtype = self._series(name).dtype
            return values if values.dtype == dtype or values.isna().any() else values.astype(dtype)
        return values


def _text(column: pd.Series[Any]) -> pl.Series:
    texts = [None if gone else str(value) for value, gone in zip(column, column.isna(), strict=True)]
    return pl.Series(texts, dtype=pl.String)


class Codes:
    """Values of a column as integers, and the way back."""

    def __init__(self, column: pd.Series[Any]) -> None:
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
            return pd.Series(pd.Categorical.from_codes(places, dtype=self._dtype))
        taken = pd.Index(self._uniques).take(places, allow_fill=True, fill_value=None) if (places < 0).any() else self._uniques.take(places)
        return pd.Series(taken, dtype=self._dtype)


def native(column: pd.Series[Any]) -> pl.Series:
    """Return a pandas column as a Polars one; NaN is null, as everywhere in pandas."""
    if not getattr(column.dtype, "isnative", True):
        column = column.astype(column.dtype.newbyteorder("="))
    try:
        return pl.from_pandas(column.reset_index(drop=True), nan_to_null=True).alias("")
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        raise TableError(f"cannot read column {column.name!r} of type {column.dtype}: {error}. Hint: give it one type") from None
