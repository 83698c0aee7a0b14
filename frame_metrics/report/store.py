"""Values of queries that are kept: a log grows by a folder a day, and a day that is over need not be computed again.

A results folder holds one file of values for each partition and view, and a manifest. Files are never changed: they are
written under a new name, and the manifest that names them is replaced last, in one step. So a run that stops anywhere
leaves the results of the run before it, and those of the partitions that it finished. Runs wait for each other.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from frame_metrics.errors import FrameMetricsError
from frame_metrics.report.build import Measured
from frame_metrics.writing import replacing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

FORMAT = 1
_MANIFEST, _LOCK = "manifest.json", ".lock"


class StoreError(FrameMetricsError):
    """A results folder that cannot be used."""


@dataclass(frozen=True)
class Partition:
    """Files that are computed together: the name of the partition, and the files."""

    name: str
    paths: tuple[str, ...]

    def fingerprint(self, settings: str) -> str:
        """Return a text that is another one as soon as a file, or what is asked of it, changes."""
        digest = hashlib.sha256(settings.encode())
        for path in sorted(self.paths):
            seen = Path(path).stat()
            digest.update(json.dumps([str(Path(path).resolve()), seen.st_size, seen.st_mtime_ns]).encode())
        return digest.hexdigest()


class Store:
    """A results folder.

    Parameters
    ----------
    folder
        Where it is; it is made if it is not there.
    settings
        All that numbers depend on beside the files, as a text.
    """

    def __init__(self, folder: Path, settings: str) -> None:
        self.folder = folder
        self.settings = settings

    def due(self, partitions: Sequence[Partition]) -> list[Partition]:
        """Return the partitions that are new, or have changed."""
        kept = self._manifest()
        return [one for one in partitions if self._kept(kept, one) is None]

    def measured(self, partitions: Sequence[Partition], compute: Callable[[Partition], Measured]) -> Measured:
        """Return the values of all partitions; those that are not kept are computed, and kept one by one.

        What was kept of partitions that are not among these any more is forgotten.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with _locked(self.folder / _LOCK):
            kept = {name: entry for name, entry in self._manifest().items() if name in {p.name for p in partitions}}
            found = []
            for partition in partitions:
                entry = self._kept(kept, partition)
                if entry is None:
                    # Before the files are read: what changes meanwhile is computed again next time.
                    fingerprint = partition.fingerprint(self.settings)
                    entry = self._write(fingerprint, compute(partition))
                    kept[partition.name] = entry
                    self._replace(kept)
                found.append(self._read(entry))
            self._replace(kept)
            self._forget(kept)
        return Measured.together(found)

    def _kept(self, kept: Mapping[str, Any], partition: Partition) -> dict[str, Any] | None:
        entry: dict[str, Any] | None = kept.get(partition.name)
        if entry is None or entry["fingerprint"] != partition.fingerprint(self.settings):
            return None
        return entry if all((self.folder / name).is_file() for name in _names(entry)) else None

    def _manifest(self) -> dict[str, Any]:
        path = self.folder / _MANIFEST
        if not path.exists():
            return {}
        try:
            written = json.loads(path.read_text(encoding="utf-8"))
            number, partitions = written["format"], written["partitions"]
        except (ValueError, KeyError, TypeError):
            raise StoreError(
                f"{str(path)!r} is no manifest of results. Hint: name another folder, or remove it"
            ) from None
        return dict(partitions) if number == FORMAT else {}

    def _write(self, fingerprint: str, found: Measured) -> dict[str, Any]:
        """Write the values of a partition under names that nothing else has."""
        stem = f"{fingerprint[:20]}-{os.urandom(4).hex()}"
        views = {name: f"{stem}-{i}.parquet" for i, name in enumerate(found.views)}
        frames = {f"{stem}.parquet": found.values, **{views[name]: frame for name, frame in found.views.items()}}
        for name, frame in frames.items():
            with replacing(self.folder / name) as part:
                frame.write_parquet(part)
        return {
            "fingerprint": fingerprint,
            "values": f"{stem}.parquet",
            "views": views,
            "problems": found.problems.to_dicts(),
        }

    def _read(self, entry: dict[str, Any]) -> Measured:
        schema = {"kind": pl.String, "count": pl.Int64, "queries": pl.Int64, "example": pl.String}
        views = {name: pl.read_parquet(self.folder / file) for name, file in entry["views"].items()}
        problems = pl.DataFrame(entry["problems"], schema=schema)
        return Measured(pl.read_parquet(self.folder / entry["values"]), views, problems)

    def _replace(self, kept: Mapping[str, Any]) -> None:
        written = json.dumps({"format": FORMAT, "partitions": kept}, indent=1)
        with replacing(self.folder / _MANIFEST) as part:
            part.write_text(written, encoding="utf-8")

    def _forget(self, kept: Mapping[str, Any]) -> None:
        """Remove the files that the manifest does not name: of changed partitions, and of runs that stopped."""
        named = {name for entry in kept.values() for name in _names(entry)}
        for path in self.folder.iterdir():
            if path.name.endswith((".parquet", ".part")) and path.name not in named:
                path.unlink(missing_ok=True)


def _names(entry: Mapping[str, Any]) -> list[str]:
    return [entry["values"], *entry["views"].values()]


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Wait until no other run holds the file, and hold it; the system lets go of it even where a run is killed."""
    with path.open("a+b") as file:
        _lock(file)
        yield


def _lock(file: Any) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined]
    else:
        fcntl.flock(file, fcntl.LOCK_EX)
