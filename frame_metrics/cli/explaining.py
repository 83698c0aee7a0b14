"""The command that explains a number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from frame_metrics.cli import options, output
from frame_metrics.cli.options import Command
from frame_metrics.errors import OptionError

if TYPE_CHECKING:
    import argparse

    import polars as pl


def explain(args: argparse.Namespace) -> int:
    """Show what the rows of one query add to a metric."""
    import frame_metrics as fm
    from frame_metrics.cli.engines import OneMachine

    deliver = output.destination(args)
    metric = fm.metrics.parse(args.explained)
    engine = OneMachine()
    ranks = options.ranking(args, engine)
    schema = ranks._frame.collect_schema()  # noqa: SLF001 only the files know what a text stands for
    segments = {name: _value(schema, name, text) for name, text in map(_segment, args.segments)}
    query = _value(schema, args.query or "query", args.of_query)
    deliver(engine.collected(ranks.explain(metric, query=query, **segments), args))
    return 0


def _value(schema: pl.Schema, name: str, text: str) -> Any:
    """Return the value of a column that a text stands for."""
    import polars as pl

    dtype = schema.get(name)
    if dtype is None or dtype in (pl.String, pl.Categorical, pl.Enum):
        return text
    given = pl.Series([text])
    try:
        typed = given.str.to_date(strict=False) if dtype == pl.Date else given.cast(dtype, strict=False)
    except pl.exceptions.PolarsError:
        typed = pl.Series([None])
    if typed.item() is None:
        raise OptionError(f"the {name} must be a value of its column, which holds {dtype}, got {text!r}")
    return typed.item()


def _segment(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise OptionError(f"--segment must be COLUMN=VALUE, got {text!r}")
    return name, value


def _add_what(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("explained", metavar="METRIC", help="a metric such as ndcg@10; `frame-metrics metrics` has all")
    parser.add_argument("of_query", metavar="QUERY", help="the query whose rows are shown")
    parser.add_argument(
        "--segment",
        action="append",
        default=[],
        dest="segments",
        metavar="COLUMN=VALUE",
        help="which list of the query, where it has several, such as system=neural; may be repeated",
    )


EXPLAIN = Command(
    name="explain",
    run=explain,
    says="show the rows of one query, and what each adds to a metric",
    usage="METRIC QUERY FILES... [--segment COLUMN=VALUE]... [options]",
    options=(
        _add_what,
        options.add_inputs,
        options.add_segments,
        options.add_roles,
        options.add_scores,
        options.add_judgments,
        options.add_settings,
        output.add_options,
    ),
    examples="""\
examples:
  frame-metrics explain ndcg@10 q17 log.parquet
  frame-metrics explain map q17 log.parquet --segment system=neural
  frame-metrics explain bpref 301 run.csv --score score --qrels qrels.csv --format md
""",
)
