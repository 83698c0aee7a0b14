"""Runs and judgments in the files of TREC, read lazily and written whole or not at all.

A run has six fields in a line, `query Q0 item rank score run`, and judgments have four, `query 0 item relevance`. Any
number of spaces and tabs stands between fields; lines may end as on Windows. Blank lines and lines that begin with `#`
say nothing.
"""

from __future__ import annotations

import os
import re
from errno import ENOENT
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from frame_metrics.errors import wanted
from frame_metrics.failing import failing, raising
from frame_metrics.formulas.terms import PREFIX
from frame_metrics.plan.scores import ranked
from frame_metrics.plan.table import missing
from frame_metrics.surfaces.kinds import as_lazy
from frame_metrics.writing import replacing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PathLike: TypeAlias = "str | os.PathLike[str]"

_LINE, _NUMBER, _FIELDS, _VALUE, _BROKEN, _SOUND, _TWICE = (
    f"{PREFIX}{name}" for name in ("line", "number", "fields", "value", "broken", "sound", "twice")
)
_BLANKS = " \t\r\f\v"
_SPACE, _WORD = r"[ \t\r\f\v]", r"[^ \t\r\n\f\v]+"
_REPLACED = "\ufffd"  # what a decoder puts in place of bytes that are no text
_COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}


def scan_trec_run(path: PathLike | Sequence[PathLike]) -> pl.LazyFrame:
    r"""Scan a run: query, item, score and run of every line, and the rank that the file gives.

    The columns are query and item (`String`), file_rank (`Int64`, null where the file has no whole number), score
    (`Float64`) and run (`String`). trec_eval takes the order from the scores alone, and so does
    `.rank.from_scores("score")`.

    Nothing is read until the plan is collected. Then a line that has another number of fields, a score that is no
    finite number, or bytes that are not UTF-8 fails it: the error names file and line, and quotes what is wrong. No
    line is passed over.

    Parameters
    ----------
    path
        The file, a pattern such as `"runs/*.gz"`, or several of either; they are read one after the other. Files may be
        compressed with gzip or zstd.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp(), "bm25.run")
    >>> _ = file.write_text("301 Q0 doc-7 1 12.5 bm25\n301\tQ0\tdoc-2\t2\t11.25\tbm25\n")
    >>> scan_trec_run(file).select("query", "item", "score").collect().rows()
    [('301', 'doc-7', 12.5), ('301', 'doc-2', 11.25)]
    """
    return _each(path, _run)


def scan_trec_qrels(path: PathLike | Sequence[PathLike], *, subtopic: bool = False) -> pl.LazyFrame:
    r"""Scan judgments: query, item and relevance of every line.

    The columns are query and item (`String`) and relevance (`Int64`). Lines are read and refused as in `scan_trec_run`;
    a relevance must be a whole number.

    Parameters
    ----------
    path
        The files, as in `scan_trec_run`.
    subtopic
        Whether the second field becomes a column of its own, `subtopic` (`String`), after the query. Only judgments for
        diversity say something there; the same item may then be judged for several subtopics of a query.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp(), "robust.qrels")
    >>> _ = file.write_text("301 0 doc-7 2\n301 0 doc-9 0\n")
    >>> scan_trec_qrels(file).collect().rows()
    [('301', 'doc-7', 2), ('301', 'doc-9', 0)]
    """
    return _each(path, _subtopics if subtopic else _qrels)


def write_trec_run(
    frame: Any,
    path: PathLike,
    *,
    run: str = "run",
    query: str = "query",
    item: str = "item",
    score: str | None = None,
    rank: str | None = None,
) -> None:
    """Write a run, by query and rank; rows without a rank, which were not retrieved, are left out.

    The file takes its place when it is complete: an error leaves what was there before. A table without ranks is ranked
    by its scores, ties as in trec_eval; one without scores gets its ranks with a minus as scores, since trec_eval looks
    at nothing else. Ranks that are no whole numbers from 1 on, scores that are not finite, names that are empty or have
    spaces in them, and an item that is in a query twice raise: such a file could not be read again.

    Parameters
    ----------
    frame
        A Polars or pandas frame.
    path
        The file; `.gz` and `.zst` are compressed.
    run
        The name of the run, the last field of each line.
    query, item, score, rank
        The columns with these; score and rank are called so if they are there, and one of them must be.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp(), "mine.run")
    >>> table = pl.DataFrame({"query": 301, "item": ["doc-2", "doc-7"], "score": [11.25, 12.5]})
    >>> write_trec_run(table, file, run="mine")
    >>> print(file.read_text())
    301 Q0 doc-7 1 12.5 mine
    301 Q0 doc-2 2 11.25 mine
    """
    if not isinstance(run, str) or not re.fullmatch(_WORD, run):
        raise wanted("run", "a name without spaces", run)
    table, schema = _table(frame, query, item, score or "score", rank or "rank")
    score = score or ("score" if "score" in schema else None)
    rank = rank or ("rank" if "rank" in schema or score is None else None)
    _require(schema, query, item, score, rank)
    if rank is None:
        table = ranked(table, keys=[query], item=item, score=str(score), ties="item_desc", rank=_VALUE)
    place = pl.col(rank or _VALUE)
    value = -place.cast(pl.Float64) if score is None else pl.col(score).cast(pl.Float64)
    rows = table.select(query=query, item=item, rank=place, score=value).filter(pl.col("rank").is_not_null())
    rows = _checked(rows, _whole("rank", "a whole number from 1 on", 1), _finite("score")).sort("query", "rank")
    whole, q0, name = pl.col("rank").cast(pl.Int64), pl.lit("Q0").alias(_FIELDS), pl.lit(run).alias("run")
    _write(rows.select("query", q0, "item", whole, "score", name), path)


def write_trec_qrels(
    frame: Any,
    path: PathLike,
    *,
    query: str = "query",
    item: str = "item",
    relevance: str = "relevance",
    subtopic: str | None = None,
) -> None:
    """Write judgments, by query and item; rows without a relevance, which were not judged, are left out.

    The file takes its place when it is complete: an error leaves what was there before. A relevance that is no whole
    number, names that are empty or have spaces in them, and an item that is in a query twice raise.

    Parameters
    ----------
    frame
        A Polars or pandas frame.
    path
        The file; `.gz` and `.zst` are compressed.
    query, item, relevance
        The columns with these.
    subtopic
        The column with the second field, 0 without it; then an item may be there once for each subtopic of a query.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp(), "mine.qrels")
    >>> write_trec_qrels(pl.DataFrame({"query": 301, "item": ["doc-7", "doc-2"], "relevance": [2, None]}), file)
    >>> print(file.read_text())
    301 0 doc-7 2
    """
    second = pl.lit("0") if subtopic is None else pl.col(subtopic)
    table, schema = _table(frame, query, item, relevance, *([] if subtopic is None else [subtopic]))
    _require(schema, query, item, relevance, subtopic)
    grade = pl.col(relevance).cast(pl.Int64) if schema[relevance] == pl.Boolean else pl.col(relevance)
    rows = table.select(query=query, subtopic=second, item=item, relevance=grade)
    rows = rows.filter(pl.col("relevance").is_not_null())
    rows = _checked(rows, _name("subtopic"), _whole("relevance"), keys=("query", "subtopic", "item"))
    whole = pl.col("relevance").cast(pl.Int64)
    _write(rows.sort("query", "subtopic", "item").select("query", "subtopic", "item", whole), path)


def _each(path: PathLike | Sequence[PathLike], parsed: Callable[[str], pl.LazyFrame]) -> pl.LazyFrame:
    """Return the rows of one file after the other; lines are numbered in each."""
    paths = [path] if isinstance(path, str | os.PathLike) else list(path)
    if not paths:
        raise wanted("path", "one or more files", paths)
    return pl.concat([parsed(file) for each in paths for file in _files(os.fspath(each))])


def _files(name: str) -> list[str]:
    """Return the files that a name stands for; one that is there is no pattern, whatever is in it."""
    if "://" in name or not has_magic(name) or Path(name).expanduser().exists():
        return [name]
    files = sorted(glob(str(Path(name).expanduser()), recursive=True))  # noqa: PTH207  # may be absolute
    if not files:
        raise FileNotFoundError(ENOENT, "no file matches the pattern", name)
    return files


def _run(path: str) -> pl.LazyFrame:
    rows = _rows(path, "query Q0 item file_rank score run", "score", pl.Float64(), "a finite number")
    return rows.with_columns(pl.col("file_rank").cast(pl.Int64, strict=False))


def _qrels(path: str) -> pl.LazyFrame:
    return _rows(path, "query 0 item relevance", "relevance", pl.Int64(), "a whole number")


def _subtopics(path: str) -> pl.LazyFrame:
    return _rows(path, "query subtopic item relevance", "relevance", pl.Int64(), "a whole number")


def _rows(path: str, form: str, number: str, dtype: pl.DataType, kind: str) -> pl.LazyFrame:
    """Return the fields of each line whose names in the form are in small letters, one of them as a number."""
    names = [name for name in form.split() if name.islower()]
    value = pl.col(number).cast(dtype, strict=False)
    rows = _fields(path, form).with_columns(value.alias(_VALUE), pl.col("query").is_null().alias(_BROKEN))
    bad = ~pl.col(_VALUE).is_finite().fill_null(False) & ~pl.col(_BROKEN)
    replaced = pl.col(_LINE).str.contains(_REPLACED, literal=True)
    utf8 = (
        "{}, line {}: the text must be UTF-8, but some bytes are not, got '{}'. Hint: convert the file, as with iconv"
    )
    fields = f"{{}}, line {{}}: there must be {len(form.split())} fields, `{form.replace('file_', '')}`, got '{{}}'"
    checks = (
        failing(replaced, utf8, pl.lit(path), _NUMBER, _LINE),
        failing(pl.col(_BROKEN), fields, pl.lit(path), _NUMBER, _LINE),
        failing(bad, f"{{}}, line {{}}: the {number} must be {kind}, got '{{}}'", pl.lit(path), _NUMBER, number),
    )
    sound = rows.with_columns(pl.all_horizontal(check.is_null() for check in checks).alias(_SOUND)).filter(_SOUND)
    # A filter that the caller adds may go before this one, but not before the columns that it looks at.
    here = {name: _VALUE if name == number else name for name in names}
    return sound.select(pl.when(_SOUND).then(column).alias(name) for name, column in here.items())


def _fields(path: str, form: str) -> pl.LazyFrame:
    """Return number and fields of each line that says something; the fields are null where there are more or fewer.

    The lines come from the CSV reader: fields end where lines do, and nothing is quoted. One regular expression then
    tells the fields of TREC apart and counts them, whatever stands between them.
    """
    lines = pl.scan_csv(
        path,
        has_header=False,
        separator="\n",
        quote_char=None,
        encoding="utf8-lossy",  # else the reader fails without saying where
        schema={_LINE: pl.String},
        row_index_name=_NUMBER,
        row_index_offset=1,
        glob=False,
        raise_if_empty=False,
    )
    start = pl.col(_LINE).str.strip_chars_start(_BLANKS)
    words = (f"(?<{name}>{_WORD})" if name.islower() else _WORD for name in form.split())
    fields = pl.col(_LINE).str.extract_groups(f"^{_SPACE}*{f'{_SPACE}+'.join(words)}{_SPACE}*$")
    said = lines.filter(start != "", ~start.str.starts_with("#"))
    return said.with_columns(fields.alias(_FIELDS)).unnest(_FIELDS)


def _table(frame: Any, *names: str) -> tuple[pl.LazyFrame, pl.Schema]:
    table = as_lazy(frame, names)
    return table, table.collect_schema()


def _require(schema: pl.Schema, *names: str | None) -> None:
    for name in names:
        if name is not None and name not in schema:
            raise missing(name, schema, "Hint: name the columns of your frame")


def _checked(rows: pl.LazyFrame, *checks: pl.Expr, keys: tuple[str, ...] = ("query", "item")) -> pl.LazyFrame:
    """Return the rows, after checks that their lines can be read again."""
    rows = rows.with_columns(pl.struct(keys).is_duplicated().alias(_TWICE))
    twice = "each item may stand once in a query, but one is there twice: query {}, item {}"
    names = (_name("query", "^#|"), _name("item"))
    checks = (*names, failing(pl.col(_TWICE), twice, "query", "item"), *checks)
    return rows.filter(*(check.is_null() for check in checks))


def _name(role: str, bad: str = "") -> pl.Expr:
    name = pl.col(role).cast(pl.String)
    bad += f"^$|{_SPACE}|\n|{_REPLACED}"
    text = f"each {role} must be text without spaces that begins no comment, but one is '{{}}'"
    return failing(name.str.contains(bad) | name.is_null(), text, name)


def _whole(name: str, kind: str = "a whole number", lowest: float = float("-inf")) -> pl.Expr:
    number = pl.col(name).cast(pl.Float64)
    bad = ~number.is_finite() | (number != number.floor()) | (number < lowest)
    return failing(bad, f"each {name} must be {kind}, but one is {{}}: query {{}}, item {{}}", name, "query", "item")


def _finite(name: str) -> pl.Expr:
    bad = ~pl.col(name).is_finite().fill_null(False)
    return failing(bad, f"each {name} must be finite, but one is {{}}: query {{}}, item {{}}", name, "query", "item")


def _write(lines: pl.LazyFrame, path: PathLike) -> None:
    target = Path(path).expanduser().resolve()
    compression = _COMPRESSIONS.get(target.suffix.lower())
    with raising(), replacing(target) as part, _opened(part, compression) as file:
        lines.sink_csv(file, separator=" ", include_header=False, quote_style="never")


def _opened(path: Path, compression: str | None) -> Any:
    if compression is None:
        return path.open("wb")
    # Polars cannot write compressed text in all its versions.
    import pyarrow as pa

    return pa.output_stream(path, compression=compression)
