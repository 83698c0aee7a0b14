"""Where reports go, and what is said about them at a terminal."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from frame_metrics.cli.output import is_styled, write
from frame_metrics.cli.reporting import SUFFIXES
from frame_metrics.cli.sources import files_of
from frame_metrics.errors import OptionError
from frame_metrics.report.flat import flat
from frame_metrics.report.html import page
from frame_metrics.report.markdown import document
from frame_metrics.report.text import summary

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from frame_metrics.report.build import Request
    from frame_metrics.report.model import Report


def as_json(report: Report) -> str:
    """Return a report as JSON."""
    return f"{json.dumps(report.plain(), indent=1, ensure_ascii=False, allow_nan=False)}\n"


_WRITERS: dict[str, Callable[[Report, Path], object]] = {
    ".html": lambda report, path: path.write_text(page(report), encoding="utf-8"),
    ".md": lambda report, path: path.write_text(document(report), encoding="utf-8"),
    ".json": lambda report, path: path.write_text(as_json(report), encoding="utf-8"),
    ".parquet": lambda report, path: flat(report).write_parquet(path),
    ".csv": lambda report, path: flat(report).write_csv(path),
}


def destinations(names: Sequence[str]) -> list[Path]:
    """Return the files to write, or raise now if one of them cannot be written."""
    return [_checked(Path(name).expanduser()) for name in names]


def _checked(path: Path) -> Path:
    if path.suffix.lower() not in _WRITERS:
        raise OptionError(f"--out must end in one of {', '.join(SUFFIXES)}, got {str(path)!r}")
    folder = path.resolve().parent
    if not folder.is_dir():
        raise OptionError(f"--out must name a file in a folder that exists, got {str(path)!r}. Hint: mkdir -p {folder}")
    if path.is_dir() or not os.access(folder, os.W_OK):
        raise OptionError(f"--out must name a file that may be written, got {str(path)!r}")
    return path.resolve()


def deliver(report: Report, targets: Sequence[Path], *, as_json_too: bool) -> None:
    """Write a report to its files, and print it: as JSON, or in short."""
    for target in targets:
        save(report, target)
    if as_json_too:
        write(as_json(report))
        return
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    write(summary(report, styled=is_styled(), width=width))
    for target in targets:
        if sys.stderr.isatty():
            sys.stderr.write(f"wrote {target}\n")


def save(report: Report, target: Path) -> None:
    """Write a file beside its place and move it there once it is whole: readers never see half of it."""
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        _WRITERS[target.suffix.lower()](report, part)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


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
