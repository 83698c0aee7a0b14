"""Options that commands share, in groups, and what they ask of a table."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from frame_metrics.defaults import DEFAULT_METRICS
from frame_metrics.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from frame_metrics.cli.engines import Engine
    from frame_metrics.surfaces.ranking import Ranking

ROLES = ("query", "item", "rank", "relevance", "subtopic")
SETTINGS = ("min_relevance", "no_relevant", "average", "depth", "check_rows")

# The values of types of these names, the default first; written out because the modules of the types import Polars.
TIES = ("item_desc", "item_asc", "first", "expected", "best", "worst")
QUERIES = ("qrels", "both", "run", "error")
UNJUDGED = ("nonrelevant", "drop")
NO_RELEVANT = ("zero", "skip", "one", "error")
AVERAGE = ("macro", "micro")
ENGINES = ("polars", "spark")
INPUT_FORMATS = ("parquet", "csv", "tsv", "ndjson", "arrow", "trec")

_USELESS_WITHOUT = {
    "ties": "score",
    "queries": "qrels",
    "unjudged": "qrels",
    "qrels_query": "qrels",
    "qrels_item": "qrels",
    "qrels_relevance": "qrels",
    "qrels_subtopic": "qrels",
}


@dataclass(frozen=True)
class Command:
    """A command: its name, the function that runs it, its help, and the groups of options it takes."""

    name: str
    run: Callable[[argparse.Namespace], int]
    says: str
    usage: str
    options: tuple[Callable[[argparse.ArgumentParser], None], ...]
    examples: str


def add_inputs(parser: argparse.ArgumentParser, *, nargs: str = "+") -> None:
    """Add the files, and the filter on their rows."""
    parser.add_argument(
        "files",
        nargs=nargs,
        metavar="FILES",
        help="Parquet, CSV, TSV, NDJSON, Arrow or TREC files, told by their suffix; globs; folders, whose parts such "
        "as day=2026-11-17 become columns; URLs such as s3://, gs://, az://, hf://. All together are one table",
    )
    parser.add_argument(
        "--input-format",
        choices=INPUT_FORMATS,
        help="what FILES are, whatever their suffix, and the file of --qrels if its suffix is not known; TREC runs "
        "(.run, .trec, .txt) have columns query, item, file_rank, score and run, and are ranked by score",
    )
    parser.add_argument("--where", metavar="SQL", help="use only rows for which this holds, such as \"country = 'fr'\"")


def add_metrics(parser: argparse.ArgumentParser) -> None:
    """Add what to compute."""
    parser.add_argument(
        "-m",
        "--metric",
        action="extend",
        type=split,
        dest="metrics",
        metavar="METRIC",
        help="a metric such as ndcg@10 or 'ndcg(gain=exponential)@10'; may be repeated, or hold several with commas "
        f"between them (default: {', '.join(DEFAULT_METRICS)}); `frame-metrics metrics` lists all",
    )


def add_per_query(parser: argparse.ArgumentParser) -> None:
    """Add whether queries are results of their own."""
    parser.add_argument("--per-query", action="store_true", help="one result for each query")


def add_segments(parser: argparse.ArgumentParser) -> None:
    """Add the columns that divide the table."""
    parser.add_argument(
        "--by",
        action="extend",
        type=split,
        default=[],
        metavar="COLUMN",
        help="one result for each value of this column; may be repeated, or hold several with commas between them",
    )


def add_roles(parser: argparse.ArgumentParser) -> None:
    """Add the names of the columns."""
    group = parser.add_argument_group("columns, where they have other names")
    for role in ROLES:
        group.add_argument(f"--{role}", metavar="COLUMN", help=f"the column with the {role} (default: {role})")


def add_scores(parser: argparse.ArgumentParser) -> None:
    """Add the making of ranks from scores."""
    group = parser.add_argument_group("ranks from scores")
    group.add_argument("--score", metavar="COLUMN", help="rank by this column, the highest score of a query first")
    _add_choice(
        group,
        "--ties",
        TIES,
        "which of the items with one score comes first; item_desc is as in trec_eval, expected the mean of all orders",
    )


def add_judgments(parser: argparse.ArgumentParser) -> None:
    """Add judgments from files of their own."""
    group = parser.add_argument_group("judgments from a file of their own")
    group.add_argument(
        "--qrels",
        metavar="FILE",
        help="a table of query, item and relevance, in any form of FILES; .qrels and .txt are TREC",
    )
    _add_choice(
        group, "--queries", QUERIES, "which queries count: of the qrels (missing ones score 0), of both, of FILES"
    )
    _add_choice(group, "--unjudged", UNJUDGED, "what becomes of items that nobody judged; drop closes up the ranks")
    for role in ("query", "item", "relevance", "subtopic"):
        group.add_argument(f"--qrels-{role}", metavar="COLUMN", help=f"its column with the {role} (default: as above)")


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Add how queries are judged and put together."""
    group = parser.add_argument_group("settings")
    group.add_argument("--min-relevance", type=float, metavar="GRADE", help="relevant from here on (default: above 0)")
    _add_choice(group, "--no-relevant", NO_RELEVANT, "the score of a query with nothing relevant; skip leaves it out")
    _add_choice(group, "--average", AVERAGE, "the mean over queries, or numerators and denominators pooled")
    group.add_argument(
        "--depth", type=int, metavar="N", help="the last rank that counts: rows below were not retrieved"
    )
    group.add_argument(
        "--check-rows",
        type=lambda text: int(text) if text.isdecimal() else text,
        metavar="N",
        help="of the rows that enter no number, check this many, or all (default: 100000)",
    )


def add_engine(parser: argparse.ArgumentParser) -> None:
    """Add what computes."""
    group = parser.add_argument_group("where it is computed")
    _add_choice(group, "--engine", ENGINES, "Polars on this machine, or Spark, which reads FILES itself")
    group.add_argument(
        "--master",
        metavar="URL",
        help="where Spark runs, such as local[4], spark://host:7077, yarn or sc://host (default: as Spark is set up)",
    )


def _add_choice(group: Any, name: str, values: tuple[str, ...], says: str) -> None:
    group.add_argument(name, choices=values, help=f"{says} (default: {values[0]})")


def split(text: str) -> list[str]:
    """Return the parts of a text between its commas, other than those in parentheses or braces.

    Examples
    --------
    >>> split("ndcg(gain={1:3,2:9},ideal=retrieved)@10, map")
    ['ndcg(gain={1:3,2:9},ideal=retrieved)@10', 'map']
    """
    parts, depth = [""], 0
    for character in text:
        depth += (character in "({") - (character in ")}")
        if character == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def roles(args: argparse.Namespace) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return which columns play which role, in the files and in the judgments."""
    ours = {role: getattr(args, role) or role for role in ROLES}
    return ours, {role: getattr(args, f"qrels_{role}") or ours[role] for role in ("query", "item", "relevance")}


def ranking(args: argparse.Namespace, engine: Engine) -> Ranking[Any, Any]:
    """Return what the options ask of the files, as frames of an engine; nothing but their schemas is read yet."""
    import frame_metrics as fm
    from frame_metrics.cli.files import TREC
    from frame_metrics.cli.inputs import named

    if named(args)[0].kind is TREC:
        args = _as_trec(args)
    _check_company(args)
    ours, theirs = roles(args)
    run, qrels = engine.tables(args)
    ranks: Ranking[Any, Any] = fm.rank(run).using(**ours, **_given(args, SETTINGS))
    if args.score is not None:
        ranks = ranks.from_scores(args.score, **_given(args, ["ties"]))
    if qrels is not None:
        given = _given(args, ["queries", "unjudged", "each"])
        ranks = ranks.judged_by(qrels, **theirs, subtopic=args.qrels_subtopic, **given)
    return ranks.by(*args.by) if args.by else ranks


def _as_trec(args: argparse.Namespace) -> argparse.Namespace:
    """Return the options for runs in files of TREC: what ranks them is their score, unless a column is named."""
    if args.qrels is None:
        raise OptionError("a TREC run says nothing of relevance. Hint: name the file with the judgments, --qrels FILE")
    score = args.score or (None if args.rank else "score")
    return argparse.Namespace(**vars(args) | {"score": score})


def _given(args: argparse.Namespace, names: Iterable[str]) -> dict[str, Any]:
    """Return the options that were given; a command need not have them all."""
    return {name: value for name in names if (value := getattr(args, name, None)) is not None}


def _check_company(args: argparse.Namespace) -> None:
    for name in _given(args, _USELESS_WITHOUT):
        other = _USELESS_WITHOUT[name]
        if getattr(args, other) is None:
            option = f"--{name.replace('_', '-')}"
            raise OptionError(f"{option} means nothing without --{other}. Hint: give both, or neither")
