"""Files that Spark reads, and results that it computes."""

from __future__ import annotations

import os
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import polars as pl

from frame_metrics.cli import inputs, options
from frame_metrics.cli.engines import Engine, OneMachine
from frame_metrics.cli.files import PARQUET, Files, InputError
from frame_metrics.cli.session import told
from frame_metrics.failing import raising as failing

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection, Sequence

# A row that cannot be read is an error and not a null; quoted texts may hold line breaks; names of columns count.
_LINES = {"mode": "FAILFAST"}
_CSV = {**_LINES, "header": "true", "escape": '"', "multiLine": "true", "enforceSchema": "false"}
_FORMS: dict[str, tuple[str, dict[str, str]]] = {
    "Parquet": ("parquet", {}),
    "CSV": ("csv", _CSV),
    "TSV": ("csv", {**_CSV, "sep": "\t"}),
    "NDJSON": ("json", _LINES),
}
_TYPES: dict[Any, str] = {
    pl.Int64: "long",
    pl.Float64: "double",
    pl.Boolean: "boolean",
    pl.Date: "date",
    pl.Null: "void",
}
_WILD = re.compile(r"([\\\[\]{}*?])")


@dataclass(frozen=True)
class Fetched(OneMachine):
    """Rows of some queries, which were brought to this machine."""

    run: pl.LazyFrame | None = None
    qrels: pl.LazyFrame | None = None

    def tables(self, args: argparse.Namespace) -> tuple[Any, Any]:  # noqa: ARG002
        """Return the rows, and the judgments."""
        return self.run, self.qrels


@dataclass(frozen=True)
class OnSpark(Engine):
    """Spark."""

    spark: Any

    def tables(self, args: argparse.Namespace) -> tuple[Any, Any]:
        """Return the rows of the files, and the judgments, or raise if Spark would fill in what some files lack."""
        run, qrels = super().tables(args)
        files = inputs.named(args)[0]
        if lacking := _lacking(files, run.columns):
            used = self._used(files, run)
            for path, names in lacking.items():
                if path in used:
                    raise InputError(
                        f"column {names[0]!r} is missing in {path!r}. Hint: one table has the same columns in all files"
                    )
        return run, qrels

    def scan(self, files: Files, *, texts: Sequence[str] = ()) -> Any:
        """Return the rows of files as a frame of Spark."""
        if files.kind.name not in _FORMS:
            raise InputError(
                f"Spark does not read {files.kind.name} files, such as {files.paths[0]!r}. Hint: make Parquet files of "
                "them, or leave out --engine spark"
            )
        with told(f"cannot read {files.paths[0]!r} as {files.kind.name}", "URLs are for Spark, such as s3a://"):
            return self._of_urls(files, texts) if files.remote else self._of_paths(files, texts)

    def scan_judgments(self, files: Files, *, texts: Sequence[str] = ()) -> Any:
        """Return judgments; those that Spark does not read are read here."""
        if files.kind.name in _FORMS:
            return self.scan(files, texts=texts)
        from frame_metrics.on_spark.types import sent

        with failing():
            return sent(self.spark, inputs.scan(files, texts=texts))

    def filtered(self, table: Any, where: str | None) -> Any:
        """Return the rows for which an SQL expression holds; files in other folders are not read."""
        if where is None:
            return table
        hint = """write names as they are or in "", and texts in '', as in "my column" = 'text'"""
        with told(f"cannot filter rows by --where {where!r}", hint):
            kept = table.filter(where)
            _ = kept.schema
        return kept

    def schema(self, table: Any) -> pl.Schema:
        """Return the columns of a frame, as far as they can be read."""
        from frame_metrics.on_spark.types import empty, readable

        return empty(readable(table.schema)).collect_schema()

    def collected(self, plan: Any, args: argparse.Namespace) -> pl.DataFrame:  # noqa: ARG002 Spark says which file it was
        """Return the result of a frame of Spark."""
        from frame_metrics.spark import raising

        with told("Spark failed"), raising():
            return pl.DataFrame(plan.toArrow())

    def near(self, args: argparse.Namespace, queries: Sequence[Any]) -> Fetched:
        """Return the lists of some queries.

        With them come a query of each system, which may have answered none of the others, and the query with the
        highest grade, which some metrics need.
        """
        from pyspark.sql import functions as f

        from frame_metrics.on_spark.job import column

        ours, theirs = options.roles(args)
        run, qrels = self.tables(args)
        judged, names = (run, ours) if qrels is None else (qrels, theirs)
        best = f.max_by(column(names["query"]), column(names["relevance"]))
        with told("Spark failed"):
            more = [row[0] for row in judged.agg(best).collect()]
            for name in getattr(args, "each", None) or ():
                more += [row[1] for row in run.groupBy(column(name)).agg(f.min(column(ours["query"]))).collect()]
        wanted = list({*queries, *more} - {None})
        tables = ((run, ours), (qrels, theirs))
        few = [
            None if table is None else self.collected(table.filter(column(names["query"]).isin(wanted)), args).lazy()
            for table, names in tables
        ]
        return Fetched("in-memory", *few)

    def rows(self, files: Files) -> list[int]:
        """Return how many rows each of the files has."""
        if files.kind.name not in _FORMS:
            return OneMachine().rows(files)
        counted = self._used(files, self._loaded(files, files.paths, None, ()))
        return [counted.get(path, 0) for path in files.paths]

    def _used(self, files: Files, table: Any) -> dict[str, int]:
        """Return the files that a table has rows of, and how many."""
        with told(f"cannot read {files.paths[0]!r} as {files.kind.name}"):
            counted = table.groupBy("_metadata.file_path").count().collect()
        paths = {str(Path(path).absolute()): path for path in files.paths}
        return {paths[unquote(urlsplit(uri).path)]: rows for uri, rows in counted}

    def _of_urls(self, files: Files, texts: Sequence[str]) -> Any:
        paths = list(files.paths)
        if files.kind.typed:
            return self._reader(files).load(paths)
        guessed = self._reader(files).option("inferSchema", "true").load(paths)
        return self._reader(files).schema(_as_texts(guessed.schema, texts)).load(paths) if texts else guessed

    def _of_paths(self, files: Files, texts: Sequence[str]) -> Any:
        """Return the rows of files on this machine; folders such as `day=2026-11-17` make columns."""
        inside = self._loaded(files, files.paths[:1], None, texts).columns if files.partitions else []
        outside = [key for key in files.partitions if key not in inside]
        if not outside:
            return self._loaded(files, files.paths, None, texts)
        roots: dict[str, list[str]] = {}
        for path in files.paths:
            roots.setdefault(_root(path), []).append(path)
        parts = [self._loaded(files, paths, root, texts) for root, paths in roots.items()]
        whole = reduce(lambda a, b: a.unionByName(b), parts)
        if len(outside) < len(files.partitions) or not set(outside) <= set(whole.columns):
            raise InputError(
                f"Spark cannot tell the columns of {files.paths[0]!r} from those of its folders: "
                f"{', '.join(files.partitions)}. Hint: leave out --engine spark"
            )
        return whole

    def _loaded(self, files: Files, paths: Sequence[str], root: str | None, texts: Sequence[str]) -> Any:
        reader = self._reader(files)
        if files.kind.name != "Parquet":
            reader = reader.schema(_guessed(Files(files.kind, tuple(paths)), texts, partitioned=root is not None))
        reader = reader if root is None else reader.option("basePath", f"file://{Path(root).absolute()}")
        return reader.load([f"file://{_escaped(str(Path(path).absolute()))}" for path in paths])

    def _reader(self, files: Files) -> Any:
        form, settings = _FORMS[files.kind.name]
        return self.spark.read.format(form).options(**settings)


def _lacking(files: Files, names: Sequence[str]) -> dict[str, list[str]]:
    """Return the Parquet files on this machine that lack columns, for which Spark would take nulls.

    What is no Parquet file at all is left to Spark: it may lie in a folder that is not read.
    """
    if files.kind is not PARQUET or files.remote or len(files.paths) == 1:
        return {}
    held = [name for name in names if name not in files.partitions]
    with ThreadPoolExecutor() as pool:
        each = zip(files.paths, pool.map(_columns, files.paths), strict=True)
        return {path: lacks for path, there in each if (lacks := [name for name in held if name not in there])}


def _columns(path: str) -> Collection[str]:
    try:
        return pl.read_parquet_schema(path)
    except (pl.exceptions.PolarsError, OSError):
        return ()


def _escaped(path: str) -> str:
    """Return a name that Spark does not take for a pattern."""
    return _WILD.sub(r"\\\1", path)


def _root(path: str) -> str:
    """Return the folder in which the first folder lies whose name makes a column."""
    parts = Path(path).parts
    first = next(number for number, part in enumerate(parts) if "=" in part)
    return os.path.join(".", *parts[:first])  # noqa: PTH118  # may be absolute


def _guessed(files: Files, texts: Sequence[str], *, partitioned: bool) -> str:
    """Return the columns as Polars takes them, so that both engines read the same; Spark would read all rows first."""
    found = inputs.scan(files, texts=texts).collect_schema() if partitioned else inputs.inside(files, texts=texts)
    return ", ".join(f"`{name.replace('`', '``')}` {_TYPES.get(kind, 'string')}" for name, kind in found.items())


def _as_texts(schema: Any, names: Sequence[str]) -> Any:
    """Return the columns of a frame of Spark, some of them as texts."""
    from pyspark.sql import types

    kinds = {field.name: types.StringType() if field.name in names else field.dataType for field in schema}
    return types.StructType([types.StructField(name, kind) for name, kind in kinds.items()])
