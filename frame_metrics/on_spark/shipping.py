"""The package on executors: how it gets there, and what is said where something is missing."""

from __future__ import annotations

import pickle
import re
import tempfile
import zipfile
from functools import cache
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import TYPE_CHECKING

import frame_metrics
from frame_metrics.errors import FrameMetricsError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa
    from pyspark.sql import SparkSession

    from frame_metrics.on_spark.worker import Task

NEEDED = ("polars", "pyarrow")


class ExecutorError(FrameMetricsError):
    """An executor lacks what the package needs there."""


def ship(spark: SparkSession) -> None:
    """Send this package to the executors of a session, for those that have only Polars, pandas and pyarrow.

    Parameters
    ----------
    spark
        The session, classic or of Spark Connect.
    """
    spark.addArtifacts(str(archive()), pyfile=True)


@cache
def archive() -> Path:
    """Return a zip file with this package, as `--py-files` takes it."""
    home = Path(frame_metrics.__file__).parent
    path = Path(tempfile.mkdtemp()) / f"frame_metrics-{frame_metrics.__version__}.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for source in sorted(home.rglob("*")):
            if source.is_file() and "__pycache__" not in source.parts:
                file.write(source, source.relative_to(home.parent))
    return path


def on_executors(step: str, task: Task) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the function that runs a step of `worker` on an executor, or says what is missing there.

    It goes to the executors as code, and the task as bytes, so that it can speak even where this package is not
    installed.
    """
    packed, version, floors = pickle.dumps(task), frame_metrics.__version__, _floors()

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import importlib
        import pickle
        import platform
        import sys

        where = f"on the executor at {platform.node()}, {sys.executable} (Python {platform.python_version()}),"
        hint = "Hint: install it there, or send it along, see frame_metrics.spark.ship and Spark's --archives"
        found = {}
        for name in (*floors, "frame_metrics"):
            try:
                found[name] = importlib.import_module(name).__version__
            except ImportError as error:
                lacking = getattr(error, "name", None) or name
                raise ImportError(f"frame_metrics_spark: {where} there is no package {lacking!r}. {hint}") from None
        for name, floor in floors.items():
            there = [int(number) for number in found[name].split(".")[:2] if number.isdecimal()]
            if there < floor:
                oldest = ".".join(map(str, floor))
                raise ImportError(
                    f"frame_metrics_spark: {where} {name} must be {oldest} or newer, got {found[name]}. {hint}"
                )
        if found["frame_metrics"] != version:
            raise ImportError(
                f"frame_metrics_spark: {where} frame_metrics must be {version} as on the driver, got "
                f"{found['frame_metrics']}. {hint}"
            )
        from frame_metrics.on_spark import worker

        yield from getattr(worker, step)(batches, pickle.loads(packed))  # noqa: S301 made by the driver

    return run


def _floors() -> dict[str, list[int]]:
    """Return the oldest versions that this package takes, as far as they are known."""
    floors = {name: [0] for name in NEEDED}
    try:
        lines = requires("frame_metrics") or []
    except PackageNotFoundError:  # imported from an archive
        lines = []
    for line in lines:
        if (floor := re.match(r"(\w+)>=(\d+)(?:\.(\d+))?", line)) and floor[1] in floors:
            floors[floor[1]] = [int(floor[2]), int(floor[3] or 0)]
    return floors
