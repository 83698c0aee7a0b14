"""Files that results are written to, on this machine or in an object store."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from frame_metrics.cli.problems import gist
from frame_metrics.cli.progress import working
from frame_metrics.errors import OptionError
from frame_metrics.writing import replacing

if TYPE_CHECKING:
    from collections.abc import Collection

    import polars as pl

# What Polars calls the forms of tables, and what it is told beside the place.
_TABLES: dict[str, tuple[str, dict[str, Any]]] = {
    ".parquet": ("parquet", {}),
    ".csv": ("csv", {}),
    ".tsv": ("csv", {"separator": "\t"}),
    ".ndjson": ("ndjson", {}),
}
# Polars sends tables only: a text is one that has a single cell, and nothing around it.
_TEXT: tuple[str, dict[str, Any]] = ("csv", {"include_header": False, "quote_style": "never", "line_terminator": ""})


@dataclass(frozen=True)
class Target:
    """A file to write: a path on this machine, or a URL of a store that Polars writes to."""

    place: Path | str

    @staticmethod
    def named(name: str, suffixes: Collection[str]) -> Target:
        """Return the file of a name, or raise now if it cannot be written, as far as can be seen without writing."""
        if _suffix(name) not in suffixes:
            raise OptionError(f"--out must end in one of {', '.join(suffixes)}, got {name!r}")
        return Target(name if "://" in name else _checked(Path(name).expanduser()))

    @property
    def suffix(self) -> str:
        """The end of its name, which tells its form."""
        return _suffix(str(self.place))

    def write(self, content: str | pl.DataFrame) -> None:
        """Write a text, or a table in the form that the suffix tells."""
        if isinstance(self.place, str):
            _send(content, self.place)
            return
        with replacing(self.place) as part:
            if isinstance(content, str):
                part.write_text(content, encoding="utf-8")
            else:
                form, options = _TABLES[self.suffix]
                getattr(content, f"write_{form}")(part, **options)

    def __str__(self) -> str:
        return str(self.place)


def _suffix(name: str) -> str:
    return PurePosixPath(name.rpartition("/")[2]).suffix.lower()


def _checked(path: Path) -> Path:
    folder = path.resolve().parent
    if not folder.is_dir():
        raise OptionError(f"--out must name a file in a folder that exists, got {str(path)!r}. Hint: mkdir -p {folder}")
    if path.is_dir() or not os.access(folder, os.W_OK):
        raise OptionError(f"--out must name a file that may be written, got {str(path)!r}")
    # Through a symbolic link, or the link itself would be replaced.
    return path.resolve()


def _send(content: str | pl.DataFrame, url: str) -> None:
    """Write a text or a table to a URL; a store shows a file when all of it has arrived."""
    import polars as pl

    form, options = _TEXT if isinstance(content, str) else _TABLES[_suffix(url)]
    table = pl.LazyFrame({"text": [content]}) if isinstance(content, str) else content.lazy()
    try:
        with working("writing"):
            getattr(table, f"sink_{form}")(url, **options)
    except (pl.exceptions.PolarsError, OSError) as error:
        hint = "see whether the store is there, and lets you write with the credentials of the environment"
        raise OptionError(f"cannot write --out {url!r}: {gist(error)}. Hint: {hint}") from None
