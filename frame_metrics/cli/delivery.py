"""Where reports go, and what is said about them at a terminal."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from frame_metrics.cli.output import is_styled, write
from frame_metrics.cli.reporting import SUFFIXES
from frame_metrics.cli.sources import files_of
from frame_metrics.cli.targets import Target
from frame_metrics.report.flat import flat
from frame_metrics.report.html import page
from frame_metrics.report.markdown import document
from frame_metrics.report.text import summary

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    import polars as pl

    from frame_metrics.report.build import Request
    from frame_metrics.report.model import Report


def as_json(report: Report) -> str:
    """Return a report as JSON."""
    return f"{json.dumps(report.plain(), indent=1, ensure_ascii=False, allow_nan=False)}\n"


_FORMS: dict[str, Callable[[Report], str | pl.DataFrame]] = {
    ".html": page,
    ".md": document,
    ".json": as_json,
    ".parquet": flat,
    ".csv": flat,
}


def destinations(names: Sequence[str]) -> list[Target]:
    """Return the files to write, or raise now if one of them cannot be written."""
    return [Target.named(name, SUFFIXES) for name in names]


def deliver(report: Report, targets: Sequence[Target], *, as_json_too: bool) -> None:
    """Write a report to its files, and print it: as JSON, or in short."""
    for target in targets:
        target.write(_FORMS[target.suffix](report))
    if as_json_too:
        write(as_json(report))
        return
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    write(summary(report, styled=is_styled(), width=width))
    for target in targets:
        if sys.stderr.isatty():
            sys.stderr.write(f"wrote {target}\n")


def dry_run(args: argparse.Namespace, request: Request, plan: Sequence[str] = ()) -> None:
    """Say what would be read and computed; schemas have been read, and no rows."""
    lines = []
    for role, files in files_of(args).items():
        sizes = [] if files.remote else [Path(path).stat().st_size for path in files.paths]
        size = f", {sum(sizes):,} bytes" if sizes else ""
        lines.append(f"read       {role}: {len(files.paths):,} {files.kind.name} file(s){size}")
        lines += [f"           {path}" for path in files.paths[:5]]
        lines += [f"           and {len(files.paths) - 5:,} more"] if len(files.paths) > 5 else []  # noqa: PLR2004
    lines.append(f"compute    {', '.join(map(str, request.metrics))}, intervals of {request.level:.0%}")
    if args.system or args.compare:
        base = request.baseline or "the first by name"
        lines.append(f"compare    {args.system or 'the files'}, baseline {base}")
    lines += [f"divide by  {' by '.join(columns)}" for columns in request.views]
    lines += [f"trend by   {request.trend}"] if request.trend else []
    lines += plan
    lines += [f"fail if    {gate.text}" for gate in request.gates]
    lines += [f"write      {name}" for name in args.out] or ["write      nothing, print a summary"]
    write("".join(f"{line}\n" for line in lines))
