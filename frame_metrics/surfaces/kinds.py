"""Which surface a frame gets."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, overload

import polars as pl

from frame_metrics.surfaces.frames import ArrowRank, DataFrameRank, LazyFrameRank

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    import pandas as pd
    import pyarrow as pa

    from frame_metrics.on_spark.surface import SparkRank
    from frame_metrics.surfaces.pandas import PandasRank


class ArrowStream(Protocol):
    """Anything that hands over its rows as an Arrow stream."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the stream."""


class SparkFrame(Protocol):
    """A frame of Spark, as far as a type checker can tell where Spark is not installed."""

    @property
    def sparkSession(self) -> Any:  # noqa: N802
        """The session."""

    def mapInArrow(self, *args: Any, **options: Any) -> Any:  # noqa: N802
        """Return the frame that a function makes of batches."""


@overload
def rank(frame: pl.DataFrame) -> DataFrameRank: ...
@overload
def rank(frame: pl.LazyFrame) -> LazyFrameRank: ...
@overload
def rank(frame: pd.DataFrame) -> PandasRank: ...  # type: ignore[overload-overlap]
@overload
def rank(frame: SparkFrame) -> SparkRank: ...
@overload
def rank(frame: ArrowStream) -> DataFrameRank: ...
@overload
def rank(frame: pa.Table) -> ArrowRank: ...
def rank(frame: Any) -> Any:
    """Return what `frame.rank` is, for a frame of any kind; type checkers know the result.

    Parameters
    ----------
    frame
        A Polars DataFrame or LazyFrame, a pandas DataFrame, a pyarrow Table, a Spark DataFrame, or anything that offers
        an Arrow stream, such as a DuckDB relation; results of the last come as Polars frames.

    Examples
    --------
    >>> import frame_metrics as fm, pyarrow as pa
    >>> fm.rank(pa.table({"query": [1, 1], "rank": [1, 2], "relevance": [0, 1]})).mrr()
    0.5
    """
    if isinstance(frame, pl.DataFrame):
        return DataFrameRank(frame)
    if isinstance(frame, pl.LazyFrame):
        return LazyFrameRank(frame)
    if is_pandas(frame):
        from frame_metrics.surfaces.pandas import PandasRank

        return PandasRank(type(frame).rank, frame)
    if _is("pyarrow", "Table", frame):
        return ArrowRank(frame)
    if _is("pyspark.sql", "DataFrame", frame):
        from frame_metrics.on_spark.surface import SparkRank

        return SparkRank(frame)
    return DataFrameRank(read(frame))


def as_lazy(frame: Any, names: Collection[str] | None = None) -> pl.LazyFrame:
    """Return a frame of any kind as a lazy Polars frame; of pandas frames, the named columns that are there."""
    if isinstance(frame, pl.LazyFrame):
        return frame
    if is_pandas(frame):
        from frame_metrics.surfaces.pandas import columns_of

        return columns_of(frame, names)
    return read(frame).lazy()


def source(frame: Any) -> Callable[[list[str]], pl.LazyFrame]:
    """Return what gives named columns, at least, of a frame of any kind; a stream is read here, once.

    Columns of a pandas frame are converted when it is known which: others may hold what cannot be.
    """
    if is_pandas(frame):
        return partial(as_lazy, frame)
    held = as_lazy(frame)
    return lambda _: held


def read(frame: Any) -> pl.DataFrame:
    """Return the rows of an object with the Arrow interface, or raise if it has none."""
    if isinstance(frame, pl.DataFrame):
        return frame
    if hasattr(frame, "__arrow_c_stream__") or hasattr(frame, "__arrow_c_array__"):
        return pl.DataFrame(frame)
    raise TypeError(
        f"expected a Polars or pandas frame, a pyarrow Table or an Arrow stream, got {type(frame).__name__}. "
        "Hint: make a frame of it first, such as pl.DataFrame(...), or see fm.from_dicts and fm.from_lists"
    )


def is_pandas(frame: Any) -> bool:
    """Return whether this is a pandas DataFrame, without importing pandas."""
    return _is("pandas", "DataFrame", frame)


def _is(module: str, name: str, frame: Any) -> bool:
    """Return whether a frame is of a class, whose module need not be there."""
    found = sys.modules.get(module)
    return found is not None and isinstance(frame, getattr(found, name))
