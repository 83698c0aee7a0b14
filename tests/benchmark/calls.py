"""Calls that are timed, on a form of the data."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import polars as pl

from tests.benchmark import data
from tests.benchmark.file import FILE, NINE, bare, streamed

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from tests.benchmark.data import Form


class Subject:
    """A form of the data with a number of rows, read when it is first used.

    Parameters
    ----------
    form
        Which form.
    rows
        How many rows.
    tick
        Called for each chunk that is written.
    """

    def __init__(self, form: Form, rows: int, tick: Callable[[], None] = lambda: None) -> None:
        self.form = form
        self.rows = rows
        self.files = data.files(form, rows, tick)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The table in memory."""
        return pl.read_parquet(self.files.table)

    @cached_property
    def qrels(self) -> pl.DataFrame:
        """The judgments in memory."""
        return pl.read_parquet(self.files.qrels)

    @cached_property
    def pandas(self) -> pd.DataFrame:
        """The table in memory, as a pandas frame."""
        return self.frame.to_pandas()

    def scan(self) -> pl.LazyFrame:
        """Return the table as a file."""
        return self.files.scan()


def _joined(run: Any, qrels: Any, how: str) -> Any:
    return run.join(qrels, on=["query", "item"], how=how, coalesce=True)


CALLS: dict[str, Callable[[Subject], object]] = {
    "bare": lambda s: bare(s.frame),
    "bare, streaming": lambda s: streamed(bare(s.frame.lazy())),
    "nine": lambda s: s.frame.rank.evaluate(*NINE),
    "ndcg": lambda s: s.frame.rank.ndcg(k=10),
    "segments": lambda s: s.frame.rank.by("segment").ndcg(k=10),
    "per query": lambda s: s.frame.rank.per_query().ndcg(k=10),
    "err": lambda s: s.frame.rank.err(k=10),
    "auc": lambda s: s.frame.rank.auc(),
    "bpref": lambda s: s.frame.rank.bpref(),
    "r_precision": lambda s: s.frame.rank.r_precision(),
    "roc_curve": lambda s: s.frame.rank.roc_curve(),
    "pr_curve": lambda s: s.frame.rank.pr_curve(),
    "at_k": lambda s: s.frame.rank.at_k("ndcg", range(1, 21)),
    "file bare": lambda s: FILE["bare"](s.scan()),
    "file nine": lambda s: FILE["nine"](s.scan()),
    "pandas nine": lambda s: s.pandas.rank.evaluate(*NINE),
    "pandas columns": lambda s: pl.from_pandas(s.pandas[["query", "rank", "relevance"]]),
    "join": lambda s: _joined(s.frame, s.qrels, "full"),
    "left join": lambda s: _joined(s.frame, s.qrels, "left"),
    "judged nine": lambda s: s.frame.rank.judged_by(s.qrels).evaluate(*NINE),
    "file join": lambda s: streamed(_joined(s.scan(), s.files.scan_qrels(), "full").select(pl.col("relevance").sum())),
    "file judged nine": lambda s: streamed(s.scan().rank.judged_by(s.files.scan_qrels()).evaluate(*NINE)),
}
"""Calls on a subject, by name."""
