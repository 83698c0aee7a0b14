"""Run the benchmark: `python -m tests.benchmark --help`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.benchmark import __doc__ as about
from tests.benchmark import calls, data, measure, ours, packages, peers, table
from tests.benchmark.progress import Bar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

QUICK = {"rows": [1_000, 100_000], "big": 1_000_000, "peer_rows": 10_000, "repeat": 2}
NEEDED_GB = 5.0


def options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Return what the command line asks for."""
    parser = argparse.ArgumentParser(
        "python -m tests.benchmark", description=about, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--rows", type=_sizes, default=[1_000, 1_000_000, 10_000_000], help="numbers of rows, with commas"
    )
    parser.add_argument(
        "--big", type=int, default=100_000_000, help="rows of the file for memory and cost per row; 0: none"
    )
    parser.add_argument("--forms", default="sorted,shuffled,string,qrels", help="forms of the data, with commas")
    parser.add_argument("--only", help="cases whose name has this text in it; none: no case")
    parser.add_argument("--peers", default="all", help="names of peers with commas, all or none")
    parser.add_argument("--peer-rows", type=int, default=1_000_000, help="rows for the peers")
    parser.add_argument("--repeat", type=int, default=7, help="rounds of which the smallest time counts")
    parser.add_argument("--clock", choices=["wall", "cpu"], default="cpu", help="the time that ratios are made of")
    parser.add_argument("--out", help="write the results to this JSON file")
    parser.add_argument("--chart", help="draw the peers into this SVG or PNG file")
    parser.add_argument("--markdown", action="store_true", help="print Markdown")
    parser.add_argument("--quick", action="store_true", help="little data, few rounds")
    parser.add_argument("--clean", action="store_true", help="delete the data files afterwards")
    asked = parser.parse_args(arguments)
    asked.forms = asked.forms.split(",")
    if unknown := set(asked.forms) - {"sorted", "shuffled", "string", "qrels"}:
        parser.error(f"--forms takes sorted, shuffled, string and qrels, got {', '.join(sorted(unknown))}")
    try:
        peers.chosen(asked.peers)
    except ValueError as error:
        parser.error(f"--peers: {error}")
    if asked.quick:
        vars(asked).update(QUICK)
    return asked


def _sizes(text: str) -> list[int]:
    sizes = [int(part.replace("_", "")) for part in text.split(",")]
    if any(size < data.ROWS_A_QUERY or size % data.ROWS_A_QUERY for size in sizes):
        raise argparse.ArgumentTypeError(f"numbers of rows are multiples of {data.ROWS_A_QUERY}, got {text}")
    return sorted(sizes)


def cases(asked: argparse.Namespace, bar: Bar) -> Iterator[ours.Result]:
    """Return the results of our cases, one stage for each form and size."""
    some = ours.chosen(asked.only)
    if not asked.only or asked.only in "import frame_metrics":
        yield ours.importing(runs=3 if asked.quick else 10)
    for rows in asked.rows:
        for form in asked.forms:
            bar.begin(f"{form}, {rows:,} rows")
            subject = calls.Subject(form, rows, bar.tick)
            if rows < ours.FEW_ROWS:
                yield from ours.short(subject, asked.only, runs=40 * asked.repeat)
            elif any(form in case.forms for case in some):
                yield from ours.ratios(subject, some, repeat=asked.repeat, clock=asked.clock, tick=bar.tick)
            bar.end()
    if asked.big:
        yield from large(asked, bar)


def large(asked: argparse.Namespace, bar: Bar) -> Iterator[ours.Result]:
    """Return what the large file costs: memory, and time for each row."""
    bar.begin(f"{asked.big:,} rows")
    sizes = sorted({*(rows for rows in asked.rows if rows >= ours.FEW_ROWS), asked.big})
    if (free := data.free_gb()) < NEEDED_GB:
        raise SystemExit(f"the large file needs {NEEDED_GB:.0f} GB in {data.FOLDER}, {free:.1f} are free: see --big")
    for form in asked.forms:
        if form == "qrels":
            continue
        files = data.files(form, asked.big, bar.tick)
        if not asked.only or asked.only in "nine metrics, peak memory":
            yield ours.memory(files, asked.big, form)
        if len(sizes) > 1 and (not asked.only or asked.only in "cost per row"):
            yield ours.growth(form, sizes, repeat=min(asked.repeat, 3), clock=asked.clock, tick=bar.tick)
    bar.end()


def compared(asked: argparse.Namespace, bar: Bar) -> Iterator[peers.PeerResult]:
    """Return the results of the peers, one stage for each."""
    tables = packages.Tables(asked.peer_rows)
    for peer in peers.chosen(asked.peers):
        bar.begin(peer.name)
        yield peers.measured(
            peer, tables, repeat=asked.repeat, clock=asked.clock, compiling=not asked.quick, tick=bar.tick
        )
        bar.end()


def benchmark(asked: argparse.Namespace, arguments: list[str]) -> dict[str, Any]:
    """Return everything that was asked for, in the shape of the JSON file."""
    bar = Bar(len(asked.rows) * len(asked.forms) + bool(asked.big) + len(peers.chosen(asked.peers)))
    try:
        result = measure.surroundings(arguments)
        result["cases"] = [each.plain() for each in cases(asked, bar)]
        result["peers"] = [each.plain() for each in compared(asked, bar)]
    finally:
        bar.close()
        if asked.clean:
            data.clean()
    return result


def main(arguments: list[str] | None = None) -> None:
    """Measure, print the table, and write the files that were asked for."""
    arguments = sys.argv[1:] if arguments is None else arguments
    asked = options(arguments)
    result = benchmark(asked, arguments)
    if asked.out:
        Path(asked.out).write_text(json.dumps(result, indent=1) + "\n")
    print(table.report(result, table.markdown if asked.markdown else table.text))
    if asked.chart:
        from tests.benchmark import chart

        chart.save(result, asked.chart)


if __name__ == "__main__":
    main()
