"""The commands that read tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from frame_metrics.cli import options, output
from frame_metrics.cli.options import Command
from frame_metrics.defaults import DEFAULT_METRICS

if TYPE_CHECKING:
    import argparse


def evaluate(args: argparse.Namespace) -> int:
    """Compute metrics."""
    import frame_metrics as fm
    from frame_metrics.cli.engines import chosen

    deliver = output.destination(args)
    metrics = [fm.metrics.parse(text) for text in args.metrics or DEFAULT_METRICS]
    with chosen(args) as engine:
        ranks = options.ranking(args, engine)
        ranks = ranks.per_query() if args.per_query else ranks
        found = engine.collected(ranks.evaluate(*metrics), args)
    keys = [name for name in found.columns if name not in set(map(str, metrics))]
    deliver(found.sort(keys, nulls_last=True) if keys else found)  # queries of Spark come in no order
    return 0


def check(args: argparse.Namespace) -> int:
    """Look for problems; the exit code says whether there are any."""
    from frame_metrics.cli.engines import chosen
    from frame_metrics.plan.checks import PROBLEMS, TIED

    deliver = output.destination(args, nothing="no problem found")
    with chosen(args) as engine:
        problems = engine.collected(options.ranking(args, engine).check(), args)
    deliver(problems)
    # Tied scores are worth knowing, and no mistake.
    return 1 if set(problems["kind"]) - {PROBLEMS[TIED].kind} else 0


_TABLE = (options.add_inputs, options.add_segments, options.add_roles, options.add_scores, options.add_judgments)

EVALUATE = Command(
    name="evaluate",
    run=evaluate,
    says="compute metrics over all queries, for each segment or for each query",
    usage="FILES... [-m METRIC]... [--by COLUMN]... [--per-query] [--out FILE] [options]",
    options=(
        options.add_metrics,
        options.add_per_query,
        *_TABLE,
        options.add_settings,
        options.add_engine,
        output.add_options,
    ),
    examples="""\
examples:
  frame-metrics evaluate log.parquet
  frame-metrics evaluate 'log/*.parquet' -m ndcg@10 -m 'ndcg(gain=exponential)@10' --by country
  frame-metrics evaluate log/ --where "day >= '2026-11-01'" --by day --out daily.parquet
  frame-metrics evaluate s3://bucket/log/ --query user --item sku --rank position --relevance clicked
  frame-metrics evaluate run.csv --score score --qrels qrels.csv --per-query --format csv
  frame-metrics evaluate 'runs/*.run.gz' --qrels robust.qrels -m map,ndcg@10 --by run
  frame-metrics evaluate s3a://bucket/log/ --by day --engine spark --master spark://host:7077
""",
)

CHECK = Command(
    name="check",
    run=check,
    says="look at every row for what makes no sense; the exit code is 1 if there is anything",
    usage="FILES... [--by COLUMN]... [options]",
    options=(*_TABLE, options.add_engine, output.add_options),
    examples="""\
examples:
  frame-metrics check log.parquet --query user --rank position
  frame-metrics check log/ --by day && frame-metrics evaluate log/ --by day
""",
)
