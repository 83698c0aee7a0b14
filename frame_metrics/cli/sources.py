"""What a report says of its files and its settings."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import polars as pl

from frame_metrics.cli import options
from frame_metrics.cli.inputs import named, scan
from frame_metrics.report.model import Input

if TYPE_CHECKING:
    import argparse

    from frame_metrics.cli.engines import Engine
    from frame_metrics.cli.files import Files

_MOST_FILES = 50
_WHOLE = 256 * 2**20
_END = 2**20
_SMALL = 64 * 2**20


def files_of(args: argparse.Namespace) -> dict[str, Files]:
    """Return the files that a report reads, by what they are for."""
    import argparse

    run, qrels = named(args)
    found = {"run": run}
    if args.compare:
        found["baseline"] = named(argparse.Namespace(**vars(args) | {"files": args.compare}))[0]
    return found if qrels is None else {**found, "judgments": qrels}


def inputs(args: argparse.Namespace, engine: Engine) -> list[Input]:
    """Return the files that are read, each with its rows; many files are one entry."""
    found = []
    for role, files in files_of(args).items():
        if files.remote or len(files.paths) > _MOST_FILES:
            size = None if files.remote else sum(Path(path).stat().st_size for path in files.paths)
            name = f"{files.paths[0]} and {len(files.paths) - 1:,} more" if len(files.paths) > 1 else files.paths[0]
            found.append(Input(role, name, None, size, ""))
            continue
        found += [
            Input(role, path, count, Path(path).stat().st_size, fingerprint(path))
            for path, count in zip(files.paths, engine.rows(files), strict=True)
        ]
    return found


def engine_for_lists(args: argparse.Namespace) -> Literal["streaming", "in-memory"]:
    """Return what finds single lists fastest: streams cost more to start than small files cost to read."""
    every = list(files_of(args).values())
    if any(files.remote for files in every):
        return "streaming"
    total = sum(Path(path).stat().st_size for files in every for path in files.paths)
    return "in-memory" if total <= _SMALL else "streaming"


def rows(files: Files) -> int:
    """Return how many rows files have."""
    return int(scan(files).select(pl.len()).collect(engine="streaming").item())


def fingerprint(name: str) -> str:
    """Return the start of the SHA-256 of a file; of a large one, that of its size, its first and its last megabyte."""
    path = Path(name)
    size = path.stat().st_size
    with path.open("rb") as file:
        if size <= _WHOLE:
            return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()[:16]}"
        digest = hashlib.sha256(str(size).encode())
        digest.update(file.read(_END))
        file.seek(size - _END)
        digest.update(file.read(_END))
    return f"ends-sha256:{digest.hexdigest()[:16]}"


def settings(args: argparse.Namespace) -> dict[str, str]:
    """Return the options that change numbers, with the defaults of those that were not given."""
    found = {role: getattr(args, role) or role for role in ("query", "item", "rank", "relevance")}
    if args.score:
        found |= {"ranks from": args.score, "ties": args.ties or options.TIES[0]}
    if args.qrels:
        found |= {"queries": args.queries or options.QUERIES[0], "unjudged": args.unjudged or options.UNJUDGED[0]}
    found["relevant"] = "above 0" if args.min_relevance is None else f"from {args.min_relevance:g} on"
    found["queries with nothing relevant"] = args.no_relevant or options.NO_RELEVANT[0]
    return found | ({"where": args.where} if args.where else {})
