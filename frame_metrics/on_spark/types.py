"""Types of Spark, Arrow and Polars: which columns can be read, and what results are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import polars.selectors as cs
import pyarrow as pa
from pyspark.sql import types

from frame_metrics.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import DataFrame, SparkSession

_ARROW = {
    "boolean": pa.bool_(),
    "byte": pa.int8(),
    "short": pa.int16(),
    "integer": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "char": pa.string(),
    "varchar": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "void": pa.null(),
}


def arrow(schema: types.StructType) -> pa.Schema:
    """Return the columns as executors get them, in Arrow's types; or raise where one has a type that is not read."""
    return pa.schema([(field.name, _arrow(field)) for field in schema])


def _arrow(field: types.StructField) -> pa.DataType:
    if (known := _known(field.dataType)) is not None:
        return known
    raise TableError(
        f"the column {field.name!r} must be a number, a text or a time to be read, got "
        f"{field.dataType.simpleString()}. Hint: select a field of it, or cast it"
    )


def _known(kind: types.DataType) -> pa.DataType | None:
    if isinstance(kind, types.DecimalType):
        return pa.decimal128(kind.precision, kind.scale)
    return _ARROW.get(kind.typeName())


def readable(schema: types.StructType) -> types.StructType:
    """Return the columns that can be read."""
    return types.StructType([field for field in schema if _known(field.dataType) is not None])


def empty(schema: types.StructType) -> pl.LazyFrame:
    """Return a frame without rows, from which a plan's columns are known before there is any row."""
    return pl.LazyFrame(pl.from_arrow(arrow(schema).empty_table()))


def sent(spark: SparkSession, frame: pl.LazyFrame) -> DataFrame:
    """Return the rows of a Polars frame as a frame of Spark, which knows no categories and no unsigned numbers."""
    texts, numbers = cs.by_dtype(pl.Categorical, pl.Enum), cs.unsigned_integer()
    rows = frame.with_columns(texts.cast(pl.String), numbers.cast(pl.Int64)).collect()
    table = rows.to_arrow(compat_level=pl.CompatLevel.oldest())
    plain = [field.with_type(pa.string()) if pa.types.is_large_string(field.type) else field for field in table.schema]
    return spark.createDataFrame(table.cast(pa.schema(plain)))


def of_result(schema: pl.Schema, keys: Iterable[types.StructField]) -> types.StructType:
    """Return the columns of a result: keys as they came, counts as longs, all other numbers as doubles."""
    known = {field.name: field.dataType for field in keys}
    return types.StructType(
        [types.StructField(name, known.get(name) or _spark(dtype)) for name, dtype in schema.items()]
    )


def _spark(dtype: pl.DataType) -> Any:
    if dtype.is_integer():
        return types.LongType()
    return types.StringType() if dtype == pl.String else types.DoubleType()
