"""From files to lazy tables, and from a plan over them to its result."""

from __future__ import annotations

import re
from glob import escape
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from frame_metrics import trec
from frame_metrics.cli.files import KINDS, TREC, TREC_QRELS, TREC_SUBTOPICS, Files, InputError, found, known
from frame_metrics.cli.problems import gist
from frame_metrics.cli.progress import working
from frame_metrics.errors import OptionError
from frame_metrics.failing import raising

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence

_PATH = "frame_metrics path"
_TEXT = (pl.String, pl.Categorical, pl.Enum)
_FAILURES = (pl.exceptions.PolarsError, OSError)


def named(args: argparse.Namespace) -> tuple[Files, Files | None]:
    """Return the files that the options name, and those of the judgments where these have files of their own."""
    kind = next((kind for kind in KINDS if kind.name.lower() == args.input_format), None)
    files = found(args.files, kind)
    if args.qrels is None:
        return files, None
    judgments = found([args.qrels], None if known(args.qrels) else kind)
    if judgments.kind is TREC:
        judgments = Files(TREC_SUBTOPICS if args.qrels_subtopic else TREC_QRELS, judgments.paths)
    return files, judgments


def texts_of(run: pl.Schema, qrels: pl.Schema, keys: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the keys that are text in one table and seem to be something else in the other.

    A CSV file does not say whether `007` is a number, but the other table may.
    """
    known = [(a, b) for a, b in keys if a in run and b in qrels]
    return [(a, b) for a, b in known if (run[a] in _TEXT) != (qrels[b] in _TEXT)]


def scan(files: Files, *, texts: Sequence[str] = ()) -> pl.LazyFrame:
    """Return the rows of files; folders such as `day=2026-11-17` in their names make columns.

    Parameters
    ----------
    files
        The files.
    texts
        Columns to read as text, if the kind of file leaves a choice.
    """
    try:
        table = _scanned(files, texts)
        table.collect_schema()
    except _FAILURES as error:
        hint = "see whether it may be read" if isinstance(error, OSError) else "see whether it is what its suffix says"
        raise InputError(f"cannot read {files.paths[0]!r} as {files.kind.name}: {gist(error)}. Hint: {hint}") from None
    return table


def inside(files: Files, *, texts: Sequence[str] = ()) -> pl.Schema:
    """Return the columns that files on this machine hold, without those that folders make."""
    return _opened(files, **_settings(files, texts)).collect_schema()


def _settings(files: Files, texts: Sequence[str]) -> dict[str, Any]:
    return {} if files.kind.typed else {"schema_overrides": dict.fromkeys(texts, pl.String)}


def _scanned(files: Files, texts: Sequence[str]) -> pl.LazyFrame:
    settings = _settings(files, texts)
    if files.remote:
        return _opened(files, **settings, **_for_urls(files))
    if not files.partitions:
        return _opened(files, **settings)
    held = inside(files, texts=texts)
    outside = [key for key in files.partitions if key not in held]
    # Polars would put the value of the folder in place of what the file says.
    if files.kind.partitioned and len(outside) == len(files.partitions):
        return _opened(files, hive_partitioning=True)
    return _with_partitions(_opened(files, **settings, include_file_paths=_PATH), files, outside)


def _opened(files: Files, **settings: Any) -> pl.LazyFrame:
    """Return the files as Polars scans them; names of local files are no patterns any more, whatever is in them."""
    if files.kind.name == TREC.name:
        return _lines(files, **settings)
    pattern = files.remote or "glob" in files.kind.settings
    paths = list(files.paths) if pattern else [escape(path) for path in files.paths]
    table: pl.LazyFrame = getattr(pl, files.kind.scan)(paths, **files.kind.settings | settings)
    return table


def _lines(files: Files, include_file_paths: str | None = None) -> pl.LazyFrame:
    """Return the files of TREC, each line with the path of its file if that is asked for."""
    scanned = getattr(trec, files.kind.scan)
    each: list[pl.LazyFrame] = [scanned(path, **files.kind.settings) for path in files.paths]
    if include_file_paths is None:
        return pl.concat(each)
    named = [pl.lit(path).alias(include_file_paths) for path in files.paths]
    return pl.concat([table.with_columns(path) for table, path in zip(each, named, strict=True)])


def _for_urls(files: Files) -> dict[str, Any]:
    settings: dict[str, Any] = {"glob": True} if "glob" in files.kind.settings else {}
    if files.kind.partitioned:
        settings["hive_partitioning"] = any("*" in path or path.endswith("/") for path in files.paths)
    return settings


def _with_partitions(table: pl.LazyFrame, files: Files, keys: Sequence[str]) -> pl.LazyFrame:
    values = {key: _typed(pl.Series(files.partitions[key], dtype=pl.String)) for key in keys}
    path = pl.col(_PATH)
    columns = {
        key: path.replace_strict(list(files.paths), each, return_dtype=each.dtype) for key, each in values.items()
    }
    return table.with_columns(**columns).drop(_PATH)


def _typed(values: pl.Series) -> pl.Series:
    """Return texts as whole numbers or dates if they all are, as Polars does with the names of folders."""
    for typed in (values.cast(pl.Int64, strict=False), values.str.to_date("%Y-%m-%d", strict=False)):
        if typed.null_count() == values.null_count():
            return typed
    return values


def filtered(table: pl.LazyFrame, where: str | None) -> pl.LazyFrame:
    """Return the rows for which an SQL expression holds.

    A whole SQL query and not `pl.sql_expr`: it knows the types of the columns, so that a date can be compared with a
    text, and it leaves nothing of the expression unread.

    Examples
    --------
    >>> from datetime import date
    >>> days = pl.LazyFrame({"day": [date(2026, 11, 17), date(2026, 11, 18)]})
    >>> filtered(days, "day > '2026-11-17'").collect().rows()
    [(datetime.date(2026, 11, 18),)]
    """
    if where is None:
        return table
    try:
        kept = table.sql(f"SELECT * FROM self WHERE ({where}\n)")  # noqa: S608  # the caller's own files
        kept.collect_schema()
    except pl.exceptions.PolarsError as error:
        reason = re.sub(r" at Line: .*", "", gist(error))  # a line of the whole query
        hint = """write names as they are or in "", and texts in '', as in "my column" = 'text'"""
        raise OptionError(f"cannot filter rows by --where {where!r}: {reason}. Hint: {hint}") from None
    return kept


def collected(
    plan: pl.LazyFrame, args: argparse.Namespace, *, engine: Literal["streaming", "in-memory"] = "streaming"
) -> pl.DataFrame:
    """Return the result of a plan over files, computed in streams unless it is said to be small."""
    try:
        with working("computing"), raising():
            return plan.collect(engine=engine)
    except _FAILURES as error:
        for files in filter(None, named(args)):
            if odd := _odd_one(files):
                raise InputError(f"{gist(error)}; {odd}. Hint: one table has the same columns in all files") from None
        raise


def _odd_one(files: Files) -> str | None:
    """Return which file does not fit in with the first one, because Polars does not say."""
    if files.remote:
        return None
    whole = scan(Files(files.kind, files.paths[:1])).collect_schema()
    for path in files.paths[1:]:
        schema = scan(Files(files.kind, (path,))).collect_schema()
        for name, dtype in whole.items():
            if name not in files.partitions and schema.get(name) != dtype:
                there = f"{schema[name]}" if name in schema else "missing"
                return f"column {name!r} is {dtype} in {files.paths[0]!r} and {there} in {path!r}"
    return None
