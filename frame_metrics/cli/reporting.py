"""The command that writes reports."""

from __future__ import annotations

import argparse
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from frame_metrics.cli import options
from frame_metrics.cli.config import with_config
from frame_metrics.cli.options import Command
from frame_metrics.defaults import DEFAULT_METRICS
from frame_metrics.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from frame_metrics.cli.engines import Engine
    from frame_metrics.cli.parts import Parts
    from frame_metrics.report.build import Context, Request
    from frame_metrics.report.model import Report
    from frame_metrics.report.store import Partition
    from frame_metrics.report.values import Subject
    from frame_metrics.surfaces.ranking import Ranking

SUFFIXES = (".html", ".md", ".json", ".parquet", ".csv")


def report(args: argparse.Namespace) -> int:
    """Write a report; the exit code says whether a gate failed."""
    from frame_metrics.cli.delivery import deliver, destinations, dry_run
    from frame_metrics.cli.engines import chosen

    args = with_config(args)
    _check(args)
    targets = destinations(args.out)
    kept = _kept(args) if args.results else None
    args.trend = kept.column if kept else args.trend
    request = _request(args)
    with chosen(args) as engine:
        if args.dry_run:
            for columns in [(), *request.views]:
                engine.schema(_subject(args, engine, args.files, "").asked(request.metrics, columns))
            dry_run(args, request, kept.plan(request) if kept else [])
            return 0
        made = _made(args, engine, request) if kept is None else _made_of_parts(args, engine, request, kept)
    deliver(made, targets, as_json_too=args.json)
    return 0 if made.passed else 1


def _check(args: argparse.Namespace) -> None:
    """Raise if options contradict each other."""
    if not args.files:
        raise OptionError("the following arguments are required: FILES. Hint: see frame-metrics report --help")
    if args.compare and args.system:
        raise OptionError(
            "--compare names files, --system a column: systems are told apart by one of them, not by both"
        )
    if args.baseline and not args.system:
        raise OptionError("--baseline means nothing without --system. Hint: a baseline in a file is --compare FILE")
    if args.results and args.compare:
        raise OptionError(
            "--results keeps the values of one log. Hint: put both systems in it, and name --system COLUMN"
        )
    if args.average == "micro":
        raise OptionError("a report is made of the values of queries, so --average must be macro, got 'micro'")
    if not 0 < args.ci < 1:
        raise OptionError(f"--ci must be a number > 0 and < 1, got {args.ci}")
    if args.examples < 0:
        raise OptionError(f"--examples must be an integer >= 0, got {args.examples}")
    if (args.trend or args.results) and args.qrels:
        if args.queries not in (None, "both", "run"):
            raise OptionError(
                f"--queries must be both or run where lists have a time, got {args.queries!r}. Hint: nobody can "
                "say when a query was not asked"
            )
        args.queries = args.queries or "both"


def _request(args: argparse.Namespace) -> Request:
    import frame_metrics as fm
    from frame_metrics.report.build import Request
    from frame_metrics.report.gates import read_gate

    gates = [read_gate(text) for text in args.fail_if]
    texts = [*(args.metrics or DEFAULT_METRICS)]
    metrics = {str(metric): metric for metric in (*map(fm.metrics.parse, texts), *(gate.metric for gate in gates))}
    baseline = args.baseline
    if args.compare:
        baseline = _names(args)[1]
    return Request(
        title=args.title or _names(args)[0],
        metrics=list(metrics.values()),
        views=list(dict.fromkeys(tuple(columns) for columns in args.by)),
        baseline=baseline,
        level=args.ci,
        examples=args.examples,
        gates=gates,
        trend=args.trend,
    )


def _names(args: argparse.Namespace) -> tuple[str, str]:
    """Return what the systems of the files, and of those to compare with, are called."""
    name, other = _stem(args.files[0]), _stem(args.compare[0]) if args.compare else ""
    return name, f"{other} (baseline)" if other == name else other


def _stem(name: str) -> str:
    last = name.rstrip("/").rsplit("/", 1)[-1]
    return last.split(".", 1)[0].strip("*") or last


def _subject(args: argparse.Namespace, engine: Engine, files: list[str], name: str) -> Subject:
    """Return the table of some files, whose numbers come from an engine."""
    from frame_metrics.report.values import Subject

    each: dict[str, Any] = {"each": (args.system,)} if args.system and args.qrels else {}
    given = argparse.Namespace(**vars(args) | {"files": files, "by": []} | each)
    ours, _ = options.roles(given)

    def near(queries: Sequence[Any]) -> tuple[Ranking[Any, Any], Callable[[Any], Any]]:
        few = engine.near(given, queries)
        return options.ranking(given, few), partial(few.collected, args=given)

    ranking, collect = options.ranking(given, engine), partial(engine.collected, args=given)
    return Subject(ranking, collect, near, ours["query"], ours["relevance"], name, args.system, args.trend)


def _kept(args: argparse.Namespace) -> Parts:
    from frame_metrics.cli.parts import Parts

    return Parts.of(args)


def _made_of_parts(args: argparse.Namespace, engine: Engine, request: Request, kept: Parts) -> Report:
    """Return the report of a log whose partitions are computed once."""
    from frame_metrics.report.build import built, measured

    @cache
    def subject(partition: Partition) -> Subject:
        return _subject(args, engine, list(partition.paths), _names(args)[0])

    found = kept.store(request).measured(kept.partitions, lambda partition: measured(subject(partition), request))
    return built(request, found, _context(args, engine, lambda _, time: subject(kept.named(time))))


def _context(args: argparse.Namespace, engine: Engine, find: Callable[[str, Any], Subject]) -> Context:
    from frame_metrics.cli.problems import in_options
    from frame_metrics.cli.sources import inputs, settings
    from frame_metrics.report.build import Context

    return Context(find, inputs(args, engine), settings(args), spell=in_options)


def _made(args: argparse.Namespace, engine: Engine, request: Request) -> Report:
    from frame_metrics.report.build import Measured, built, measured

    ours, theirs = _names(args)
    subjects = {ours: _subject(args, engine, args.files, ours)}
    if args.compare:
        subjects[theirs] = _subject(args, engine, args.compare, theirs)
    found = [measured(subject, request) for subject in subjects.values()]
    context = _context(args, engine, lambda system, _: subjects.get(system, subjects[ours]))
    return built(request, Measured.together(found), context)


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--by",
        action="append",
        type=options.split,
        default=[],
        metavar="COLUMN",
        help="show the values of this column apart; may be repeated, and several with commas between them are combined",
    )
    group = parser.add_argument_group("comparison")
    group.add_argument("--compare", action="append", metavar="FILE", help="the baseline, in files of its own")
    group.add_argument("--system", metavar="COLUMN", help="the column that tells systems apart, if FILES hold several")
    group.add_argument("--baseline", metavar="NAME", help="the value of --system to compare with (default: the first)")
    group.add_argument(
        "--fail-if",
        action="append",
        default=[],
        metavar="GATE",
        help="exit with code 1 if this holds: 'ndcg@10 < 0.4', 'ndcg@10 drops > 1%%', 'ndcg@10 drops significantly', "
        "each also with 'by country' for every segment; may be repeated",
    )
    group = parser.add_argument_group("time")
    group.add_argument("--trend", metavar="COLUMN", help="the column with the day, or other time, of a list")
    group.add_argument(
        "--results",
        metavar="DIR",
        help="keep the values of queries here, for each folder such as day=2026-11-17, and compute only what is new",
    )
    group = parser.add_argument_group("the report")
    group.add_argument("--title", help="what it is called (default: the name of the first file)")
    group.add_argument("--ci", type=float, default=0.95, metavar="LEVEL", help="of the intervals (default: 0.95)")
    group.add_argument(
        "--examples", type=int, default=3, metavar="N", help="show so many queries of a kind (default: 3)"
    )
    group.add_argument(
        "--out",
        action="append",
        default=[],
        metavar="FILE",
        help=f"write it, to a file or a URL such as s3://: {', '.join(SUFFIXES)}; may be repeated",
    )
    group.add_argument("--json", action="store_true", help="print the report as JSON, for machines")
    group.add_argument("--config", metavar="FILE", help="options from a TOML file, such as by = ['country']")
    group.add_argument("--dry-run", action="store_true", help="say what would be read and computed, and stop")


REPORT = Command(
    name="report",
    run=report,
    says="write a report to read: numbers with intervals, changes, segments, queries explained",
    usage="FILES... [-m METRIC]... [--by COLUMN]... [--compare FILE] [--out FILE]... [options]",
    options=(
        partial(options.add_inputs, nargs="*"),
        options.add_metrics,
        _add_options,
        options.add_roles,
        options.add_scores,
        options.add_judgments,
        options.add_settings,
        options.add_engine,
    ),
    examples="""\
examples:
  frame-metrics report log.parquet --by country --out report.html
  frame-metrics report log.parquet --system system --baseline bm25 --by country --by device --out report.html
  frame-metrics report new.run --qrels qrels.txt --compare old.run -m ndcg@10,map --fail-if 'ndcg@10 drops > 1%'
  frame-metrics report log/ --results results/ --out report.html --out report.json
  frame-metrics report --config report.toml

The exit code is 0 if all is well, 1 if a gate failed, and 2 if there is no report.
""",
)
