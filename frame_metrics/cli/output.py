"""Where results go: to the terminal, to a pipe, or to a file."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

from frame_metrics.cli.table import markdown, rendered
from frame_metrics.cli.targets import Target

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    import polars as pl

_TEXTS: dict[str, Callable[[pl.DataFrame], str]] = {
    "csv": lambda frame: frame.write_csv(),
    "json": lambda frame: f"{frame.write_json()}\n",
    "md": markdown,
}
FORMATS = ("table", *_TEXTS)

_TEXT_FILES: dict[str, Callable[[pl.DataFrame], str]] = {".json": lambda frame: frame.write_json(), ".md": markdown}
SUFFIXES = (".parquet", ".csv", ".tsv", ".json", ".ndjson", ".md")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add where results go."""
    group = parser.add_argument_group("result").add_mutually_exclusive_group()
    group.add_argument(
        "--out", metavar="FILE", help=f"write the result to a file, or to a URL such as s3://: {', '.join(SUFFIXES)}"
    )
    group.add_argument("--format", choices=FORMATS, default="table", help="how to print the result (default: table)")


def destination(args: argparse.Namespace, *, nothing: str = "") -> Callable[[pl.DataFrame], None]:
    """Return what puts a result where the options say, or raise now if nothing could be put there.

    Parameters
    ----------
    args
        The options.
    nothing
        What to print in place of a table without rows.
    """
    if args.out is None:
        return lambda frame: write(_text(frame, args.format, nothing))
    target = Target.named(args.out, SUFFIXES)
    return lambda frame: _save(frame, target)


def write(text: str) -> None:
    """Print a text on standard output; characters that it cannot show are spelt out."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))


def is_styled() -> bool:
    """Return whether standard output shows bold text and the user does not mind."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _text(frame: pl.DataFrame, form: str, nothing: str) -> str:
    if form in _TEXTS:
        return _TEXTS[form](frame)
    if nothing and frame.is_empty():
        return f"{nothing}\n"
    return rendered(frame, width=shutil.get_terminal_size().columns if sys.stdout.isatty() else None, bold=is_styled())


def _save(frame: pl.DataFrame, target: Target) -> None:
    text = _TEXT_FILES.get(target.suffix)
    target.write(frame if text is None else text(frame))
    if sys.stderr.isatty():
        sys.stderr.write(f"wrote {target}\n")
