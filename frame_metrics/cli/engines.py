"""What reads files and computes: Polars on this machine, or Spark."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from frame_metrics.cli import inputs, options, sources
from frame_metrics.cli.files import Files
from frame_metrics.errors import OptionError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    import polars as pl


class Engine(ABC):
    """What gives the tables that options name, as frames with `.rank`, and the results that are asked of them."""

    def tables(self, args: argparse.Namespace) -> tuple[Any, Any]:
        """Return the rows of the files, and the judgments where they have files of their own, else None."""
        files, judgments = inputs.named(args)
        run = self.scan(files)
        if judgments is None:
            return self.filtered(run, args.where), None
        qrels = self.scan_judgments(judgments)
        ours, theirs = options.roles(args)
        keys = [(ours[role], theirs[role]) for role in ("query", "item")]
        if texts := inputs.texts_of(self.schema(run), self.schema(qrels), keys):
            run = self.scan(files, texts=[a for a, _ in texts])
            qrels = self.scan_judgments(judgments, texts=[b for _, b in texts])
        return self.filtered(run, args.where), qrels

    @abstractmethod
    def scan(self, files: Files, *, texts: Sequence[str] = ()) -> Any:
        """Return the rows of files; some columns as texts, if the kind of file leaves a choice."""

    def scan_judgments(self, files: Files, *, texts: Sequence[str] = ()) -> Any:
        """Return judgments, of which there are few beside the rows that they are about."""
        return self.scan(files, texts=texts)

    @abstractmethod
    def filtered(self, table: Any, where: str | None) -> Any:
        """Return the rows for which an SQL expression holds."""

    @abstractmethod
    def schema(self, table: Any) -> pl.Schema:
        """Return the columns of a table, or of a result that is not computed yet."""

    @abstractmethod
    def collected(self, plan: Any, args: argparse.Namespace) -> pl.DataFrame:
        """Return the result of a plan over the files of these options."""

    @abstractmethod
    def near(self, args: argparse.Namespace, queries: Sequence[Any]) -> Engine:
        """Return what gives the lists of some queries on this machine, where they can be explained."""

    @abstractmethod
    def rows(self, files: Files) -> list[int]:
        """Return how many rows each of the files has."""


@dataclass(frozen=True)
class OneMachine(Engine):
    """Polars.

    Attributes
    ----------
    mode
        How Polars computes.
    """

    mode: Literal["streaming", "in-memory"] = "streaming"

    def scan(self, files: Files, *, texts: Sequence[str] = ()) -> pl.LazyFrame:
        """Return the rows of files; nothing but their schemas is read yet."""
        return inputs.scan(files, texts=texts)

    def filtered(self, table: pl.LazyFrame, where: str | None) -> pl.LazyFrame:
        """Return the rows for which an SQL expression holds."""
        return inputs.filtered(table, where)

    def schema(self, table: pl.LazyFrame) -> pl.Schema:
        """Return the columns of a plan."""
        return table.collect_schema()

    def collected(self, plan: pl.LazyFrame, args: argparse.Namespace) -> pl.DataFrame:
        """Return the result of a plan."""
        return inputs.collected(plan, args, engine=self.mode)

    def near(self, args: argparse.Namespace, queries: Sequence[Any]) -> OneMachine:  # noqa: ARG002 a plan finds them
        """Return the same, for small results."""
        return OneMachine(sources.engine_for_lists(args))

    def rows(self, files: Files) -> list[int]:
        """Return how many rows each of the files has."""
        return [sources.rows(Files(files.kind, (path,))) for path in files.paths]


@contextmanager
def chosen(args: argparse.Namespace) -> Iterator[Engine]:
    """Give the engine that the options name; what it has started ends with the block."""
    if args.engine != "spark":
        if args.master is not None:
            raise OptionError("--master means nothing without --engine spark. Hint: give both, or neither")
        yield OneMachine()
        return
    from frame_metrics.cli.session import session
    from frame_metrics.cli.spark import OnSpark

    if args.ties == "first":
        raise OptionError("--ties first needs rows in an order, which tables of Spark do not have. Hint: see --ties")
    with session(args.master) as spark:
        yield OnSpark(spark)
