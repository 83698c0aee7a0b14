"""The partitions of a log, each of which is computed once."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frame_metrics import __version__
from frame_metrics.cli.files import InputError
from frame_metrics.cli.inputs import named
from frame_metrics.cli.sources import fingerprint
from frame_metrics.errors import OptionError, nearest
from frame_metrics.report.store import Partition, Store

if TYPE_CHECKING:
    import argparse

    from frame_metrics.report.build import Request

_ASKED = (
    *(
        "input_format",
        "where",
        "query",
        "item",
        "rank",
        "relevance",
        "subtopic",
        "score",
        "ties",
        "queries",
        "unjudged",
    ),
    *("qrels_query", "qrels_item", "qrels_relevance", "qrels_subtopic", "min_relevance", "no_relevant", "check_rows"),
    "depth",
    "system",
)


@dataclass(frozen=True)
class Parts:
    """The partitions of a log, by the column that their folders are named after, and the options of the report."""

    column: str
    partitions: list[Partition]
    args: argparse.Namespace

    @staticmethod
    def of(args: argparse.Namespace) -> Parts:
        """Return the partitions of the files, or raise if they have none."""
        if "://" in args.results:
            raise OptionError(f"--results must name a folder on this machine, got {args.results!r}")
        files = named(args)[0]
        if files.remote:
            raise InputError("--results needs files on this machine, whose size and time can be seen. Hint: copy them")
        if not files.partitions:
            raise InputError(
                f"--results needs folders such as day=2026-11-17, but {files.paths[0]!r} is in none. Hint: leave it out"
            )
        column = args.trend or next(iter(files.partitions))
        if column not in files.partitions:
            close = nearest(column, files.partitions) or f". Hint: there are {', '.join(files.partitions)}"
            raise OptionError(f"--trend must name the folders where --results keeps values, got {column!r}{close}")
        paths: dict[str, list[str]] = {}
        for value, path in zip(files.partitions[column], files.paths, strict=True):
            paths.setdefault(str(value), []).append(path)
        return Parts(column, [Partition(name, tuple(some)) for name, some in sorted(paths.items())], args)

    def named(self, time: Any) -> Partition:
        """Return the partition of a time."""
        known = {partition.name: partition for partition in self.partitions}
        return known[str(time)]

    def store(self, request: Request) -> Store:
        """Return where values are kept."""
        return Store(Path(self.args.results).expanduser(), self._settings(request))

    def plan(self, request: Request) -> list[str]:
        """Return what would be computed, in words."""
        due = {partition.name for partition in self.store(request).due(self.partitions)}
        lines = [
            f"keep       in {self.args.results}: {len(due)} of {len(self.partitions)} partitions are new or changed"
        ]
        return lines + [f"           {self.column}={name}" for name in sorted(due)[:20]]

    def _settings(self, request: Request) -> str:
        """Return all that values depend on beside the files of the log."""
        asked = {name: getattr(self.args, name) for name in _ASKED}
        judged = named(self.args)[1]
        asked["judgments"] = [] if judged is None else [fingerprint(path) for path in judged.paths]
        asked["metrics"] = [str(metric) for metric in request.metrics]
        asked["views"] = [list(columns) for columns in request.views]
        return json.dumps([__version__, self.column, asked], sort_keys=True)
