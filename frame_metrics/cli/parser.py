"""What can be said on the command line, and how it is read."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING, Any, NoReturn

from frame_metrics import __version__
from frame_metrics.cli.commands import CHECK, EVALUATE
from frame_metrics.cli.explaining import EXPLAIN
from frame_metrics.cli.listing import METRICS
from frame_metrics.cli.reporting import REPORT
from frame_metrics.errors import OptionError, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

_PROGRAM = "frame-metrics"
_COMMANDS = (EVALUATE, REPORT, EXPLAIN, CHECK, METRICS)

_EXAMPLES = """\
examples:
  frame-metrics evaluate log.parquet                               the usual metrics of a file
  frame-metrics evaluate log/ -m ndcg@10,map --by day              a folder of files, one row for each day
  frame-metrics evaluate run.csv --score score --qrels qrels.csv   ranks from scores, judgments from a second file
  frame-metrics report log.parquet --by country --out report.html  a page to read, with intervals and examples
  frame-metrics explain ndcg@10 q17 log.parquet                    what each row of a query adds to a metric
  frame-metrics check log.parquet                                  look for rows that make no sense
  frame-metrics metrics ndcg                                       what a metric is, and its options

A table has one row for each query and item, in columns query, item, rank and relevance; options name other columns.
A null rank means judged but not retrieved, a null relevance means not judged.
"""


class Parser(argparse.ArgumentParser):
    """A parser that raises what it has to say about wrong arguments, so that all errors look alike."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings, allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter)

    def error(self, message: str) -> NoReturn:
        """Raise the message."""
        raise OptionError(f"{message}. Hint: see {self.prog} --help")


def read_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return the arguments; `run` among them is the command, a function of all of them."""
    args, unknown = _parser().parse_known_args(argv)
    for word in unknown:
        if not word.startswith("-"):
            raise OptionError(f"unexpected argument {word!r}. Hint: name all files together, no option between them")
        close = nearest(word.split("=")[0], re.findall(r"--[a-z-]+", args.parser.format_help()))
        raise OptionError(f"there is no option {word!r}{close or f'. Hint: see {args.parser.prog} --help'}")
    return args


def _parser() -> Parser:
    parser = Parser(prog=_PROGRAM, description="Ranking metrics of files.", epilog=_EXAMPLES)
    parser.add_argument("--version", action="version", version=f"{_PROGRAM} {__version__}")
    into = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in _COMMANDS:
        description = f"{command.says[0].upper()}{command.says[1:]}."
        usage = f"{_PROGRAM} {command.name} {command.usage}"
        added = into.add_parser(
            command.name, help=command.says, usage=usage, description=description, epilog=command.examples
        )
        added.set_defaults(run=command.run, parser=added)
        for add in command.options:
            add(added)
    return parser
