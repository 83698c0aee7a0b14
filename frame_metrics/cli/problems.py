"""Errors in one line, in the words of the command line."""

from __future__ import annotations

import re
import sys

from frame_metrics.errors import FrameMetricsError

_LONGEST = 300

# What the package advises, and the same advice for somebody at a terminal.
_SPELLINGS = {
    r"\.rank\.using\((\w+)=\.\.\.\)": r"--\1 COLUMN",
    r"\.rank\.using\(\.\.\.\)": "--query COLUMN and --item COLUMN",
    r"\.rank\.from_scores\([^)]*\)": "--score COLUMN",
    r"\.rank\.judged_by\([^)]*\)": "--qrels FILE",
    r"\.judged_by\([^)]*\)": "--qrels-query, --qrels-item and --qrels-relevance",
    r"\.rank\.by\([^)]*\)": "--by COLUMN",
    r"fm\.metrics\.names\(\)": "`frame-metrics metrics`",
    r"`(min_relevance|no_relevant|average|depth|check_rows|ties|queries|unjudged)`": r"--\1",
    r"\b(no_relevant|queries|average)='(\w+)'": r"--\1 \2",
    r"name one of them, as in query=.*, (\w+)=\.\.\.": r"name one of them with --segment \1=VALUE",
    r"--no_relevant": "--no-relevant",
    r"--min_relevance": "--min-relevance",
    r"--check_rows": "--check-rows",
}


def explained(error: Exception) -> str | None:
    """Return what to tell the user about an error, in one line; None if the error is not the user's to mend."""
    polars = sys.modules.get("polars")
    if isinstance(error, FrameMetricsError):
        return _one_line(in_options(str(error)))
    if isinstance(error, OSError):
        return f"{gist(error)}. Hint: see whether the file is there and may be read or written"
    if polars is not None and isinstance(error, polars.exceptions.PolarsError):
        return f"{gist(error)}. Hint: `frame-metrics check` looks at every row of a table"
    return None


def gist(error: Exception | str) -> str:
    r"""Return the first paragraph of an error in one line; after it, Polars prints the plan and advice about code.

    Examples
    --------
    >>> gist(ValueError("unable to find column 'x'\n\nResolved plan until failure:\n\n..."))
    "unable to find column 'x'"
    """
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename!r}" if error.filename else error.strerror
    text = _one_line(str(error).split("\n\n", 1)[0]).rstrip(".")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def in_options(text: str) -> str:
    """Return an advice with options of the command line in place of Python.

    Examples
    --------
    >>> in_options("Hint: name yours with .rank.using(query=...)")
    'Hint: name yours with --query COLUMN'
    """
    for written, option in _SPELLINGS.items():
        text = re.sub(written, option, text)
    return text


def _one_line(text: str) -> str:
    return " ".join(text.split())
