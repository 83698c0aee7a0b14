"""Which files the names on a command line stand for, and of what kind they are."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from frame_metrics.errors import FrameMetricsError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
_PACKED = (".gz", ".zst")


class InputError(FrameMetricsError):
    """Files that are not there, or that cannot be read as one table."""


@dataclass(frozen=True)
class Kind:
    """A kind of file.

    Attributes
    ----------
    name
        What people call it.
    suffixes
        How its files are told.
    scan
        The function of Polars that reads it.
    settings
        What this function is told beside the files.
    typed
        Whether its columns have types, or only look as if they had.
    partitioned
        Whether Polars makes columns of folders such as `day=2026-11-17` when it reads this kind.
    loose
        Suffixes that other files have too: they tell the kind of a file that is named, but not of one in a folder.
    """

    name: str
    suffixes: tuple[str, ...]
    scan: str
    settings: dict[str, Any] = field(default_factory=dict)
    typed: bool = True
    partitioned: bool = False
    loose: tuple[str, ...] = ()


_GUESSED_FROM = 10_000  # rows; Polars would look at 100, where a list often has no fractional or missing value yet

PARQUET = Kind("Parquet", (".parquet", ".pq"), "scan_parquet", {"glob": False}, partitioned=True)
TREC = Kind("TREC", (".run", ".trec", ".qrels"), "scan_trec_run", loose=(".txt",))
TREC_QRELS = replace(TREC, scan="scan_trec_qrels")
TREC_SUBTOPICS = replace(TREC_QRELS, settings={"subtopic": True})
_CSV = {"glob": False, "infer_schema_length": _GUESSED_FROM}
KINDS = (
    PARQUET,
    Kind("CSV", (".csv",), "scan_csv", _CSV, typed=False),
    Kind("TSV", (".tsv",), "scan_csv", _CSV | {"separator": "\t"}, typed=False),
    Kind("NDJSON", (".ndjson", ".jsonl"), "scan_ndjson", {"infer_schema_length": _GUESSED_FROM}),
    Kind("Arrow", (".arrow", ".feather", ".ipc"), "scan_ipc", {"glob": False}, partitioned=True),
    TREC,
)


@dataclass(frozen=True)
class Files:
    """Files of one kind that are one table."""

    kind: Kind
    paths: tuple[str, ...]

    @property
    def remote(self) -> bool:
        """Whether they are URLs, which are left to Polars as they are."""
        return "://" in self.paths[0]

    @cached_property
    def partitions(self) -> dict[str, list[str | None]]:
        """The columns that stand in the names of folders, with the value for each file."""
        each = [_partition(path) for path in self.paths]
        for path, partition in zip(self.paths, each, strict=True):
            if partition.keys() != each[0].keys():
                raise InputError(
                    "folders such as day=2026-11-17 make columns, so all files or none must lie in them, but "
                    f"{self.paths[0]!r} and {path!r} differ. Hint: name only files that belong together"
                )
        return {key: [partition[key] for partition in each] for key in each[0]}


def found(names: Sequence[str], kind: Kind | None = None) -> Files:
    """Return the files that names stand for: files, folders, globs and URLs; each file once.

    Parameters
    ----------
    names
        The names.
    kind
        What the files are, whatever their suffix; without it the suffix says.
    """
    paths = list(dict.fromkeys(path for name in names for path in _expanded(name, kind)))
    if kind is not None:
        return Files(kind, tuple(paths))
    kinds = [_kind(path) for path in paths]
    for path, other in zip(paths, kinds, strict=True):
        if other is not kinds[0]:
            raise InputError(
                f"files must be of one kind to be one table, but {paths[0]!r} is {kinds[0].name} and {path!r} is "
                f"{other.name}. Hint: convert some of them, or name a pattern such as '*{other.suffixes[0]}'"
            )
    return Files(kinds[0], tuple(paths))


def known(name: str) -> Kind | None:
    """Return the kind of a file that the end of its name tells, or None.

    Examples
    --------
    >>> known("runs/bm25.run.gz").name
    'TREC'
    >>> known("input.bm25") is None
    True
    """
    name = name.lower()
    for kind in KINDS:
        suffixes = (*kind.suffixes, *kind.loose)
        packed = () if kind.partitioned else [suffix + packing for suffix in suffixes for packing in _PACKED]
        if name.endswith((*suffixes, *packed)):
            return kind
    return None


def _expanded(name: str, kind: Kind | None) -> list[str]:
    if "://" in name:
        return [name]
    path = Path(name).expanduser()
    matches = [str(path)] if path.exists() else sorted(glob(str(path), recursive=True))  # noqa: PTH207  # may be absolute
    if not matches:
        raise _not_there(path)
    return [file for match in matches for file in (_below(match, kind) if Path(match).is_dir() else [match])]


def _not_there(path: Path) -> InputError:
    if has_magic(str(path)):
        return InputError(f"no file matches {str(path)!r}. Hint: ** stands for any number of folders")
    siblings = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
    close = nearest(path.name, siblings) or f". Hint: names are looked for from {str(Path.cwd())!r} on"
    return InputError(f"there is no file {str(path)!r}{close}")


def _below(folder: str, kind: Kind | None) -> list[str]:
    """Return the files at any depth of a folder that have a known suffix, but no hidden ones and no `_SUCCESS`.

    Where it has been said of what kind files are, their suffix does not matter.
    """
    files = [path for path in sorted(Path(folder).rglob("*")) if (kind or _sure(path.name)) and path.is_file()]
    shown = [str(path) for path in files if not any(part[0] in "._" for part in path.relative_to(folder).parts)]
    if not shown:
        raise InputError(f"there is no file in {folder!r} that ends in {_listed(_suffixes())}. Hint: name the files")
    return shown


def _sure(name: str) -> bool:
    kind, bare = known(name), name.lower().removesuffix(".gz").removesuffix(".zst")
    return kind is not None and not bare.endswith(kind.loose)


def _kind(path: str) -> Kind:
    name = path.rsplit("/", 1)[-1]
    if kind := known(name):
        return kind
    if "://" in path and "." not in name:  # a folder; which kind it holds is not to be known without listing it
        return PARQUET
    raise InputError(
        f"the suffix of a file must be one of {_listed([*_suffixes(), *TREC.loose])}, got {path!r}. Hint: rename it, "
        "or say what it is with --input-format"
    )


def _suffixes() -> list[str]:
    return [suffix for kind in KINDS for suffix in kind.suffixes]


def _listed(names: Iterable[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} or {last}"


def _partition(path: str) -> dict[str, str | None]:
    pairs = [part.split("=", 1) for part in Path(path).parent.parts if "=" in part]
    return {unquote(key): None if value == _NO_VALUE else unquote(value) for key, value in pairs}
