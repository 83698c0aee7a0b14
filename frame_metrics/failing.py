"""Plans that fail: how a lazy query stops at a value which has no meaning, and how the reason reaches the caller.

Polars has no expression that raises. A strict cast of text to a number does: it fails the query and prints the text.
So the text is the message, and a plan with such a cast in it stays free of Python: it can be optimised, streamed,
serialised and sent elsewhere.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, overload

import polars as pl

from frame_metrics.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Iterator

MARK = "frame_metrics: "
"""What a message begins with, so that it can be told from what Polars itself has to say."""

_LONGEST = 200

# Polars prints ["first", "second", … "last"] and escapes nothing, so a quote inside a message looks like one that ends
# it. What follows the quote tells: the next message, or the end of the list and of the paragraph.
_SHOWN = re.compile(rf'"{MARK}(.*?)"(?=, (?:… )?"{MARK}|\](?:\n\n|\Z))', re.DOTALL)
_HIDDEN = (
    "the table failed a check, but `pl.Config(fmt_table_cell_list_len=0)` hides which. Hint: leave that setting out"
)


@overload
def failing(condition: pl.Expr, message: str, *values: pl.Expr | str) -> pl.Expr: ...


@overload
def failing(condition: pl.Expr, message: pl.Expr | str) -> pl.Expr: ...


def failing(condition: pl.Expr, message: pl.Expr | str, *values: pl.Expr | str) -> pl.Expr:
    """Return an expression that is null where a condition does not hold, and fails the query where it does.

    The optimiser drops columns that nobody asks for, and a check with them. So make what is asked for depend on it, by
    `pl.when(check.is_null()).then(result)`, or all columns at once, by `frame.filter(check.is_null())`.

    Parameters
    ----------
    condition
        True where the query must fail; null counts as false.
    message
        What to say: a text, or an expression of text. With `values` it is a text with a `{}` for each of them.
    values
        Columns or expressions that the message quotes, up to 200 characters of each. They become text where the
        condition holds and nowhere else, so they cost next to nothing; the parts of an expression given as the message
        may be computed for every row.

    Examples
    --------
    >>> check = failing(pl.col("score").is_nan(), "the score of {} is NaN", "item")
    >>> score = pl.when(check.is_null()).then("score").alias("score")
    >>> pl.LazyFrame({"item": ["a", "b"], "score": [0.5, 0.7]}).select(score).collect().to_series().to_list()
    [0.5, 0.7]
    >>> with raising():
    ...     pl.LazyFrame({"item": ["a", "b"], "score": [0.5, float("nan")]}).select(score).collect()
    Traceback (most recent call last):
    frame_metrics.errors.TableError: the score of b is NaN
    """
    if isinstance(message, str):
        message = pl.format(message, *(_quoted(v, condition) for v in values)) if values else pl.lit(message)
    # A message that is null would let the bad value pass.
    text = pl.lit(MARK) + message.fill_null("a value has no meaning here")
    return pl.when(condition).then(text).cast(pl.Int8)


def _quoted(value: pl.Expr | str, condition: pl.Expr) -> pl.Expr:
    bad = pl.when(condition)
    text = bad.then(pl.col(value) if isinstance(value, str) else value).cast(pl.String).str.head(_LONGEST)
    return bad.then(text.fill_null("null"))


def told(error: Exception) -> str | None:
    """Return the message of `failing` in an error that Polars raised, or None if it is another error.

    Where several values fail, it is the message of the first one that Polars prints. Under
    `pl.Config(fmt_table_cell_list_len=0)` it prints none; then all that can be said is that a check failed.

    Examples
    --------
    >>> told(pl.exceptions.InvalidOperationError('conversion failed: ["frame_metrics: the item "x" is there twice"]'))
    'the item "x" is there twice'
    >>> told(pl.exceptions.InvalidOperationError('conversion failed: ["n/a"]')) is None
    True
    """
    text = str(error)
    if shown := _SHOWN.search(text):
        return shown[1]
    return _HIDDEN if "`str` to `i8`" in text and "[…]" in text else None


@contextmanager
def raising() -> Iterator[None]:
    """Raise a `TableError` with the message of `failing` in place of the error that Polars makes of it.

    Other errors pass as they are.

    Examples
    --------
    >>> check = failing(pl.col("rank") < 1, "ranks start at 1, got {}", "rank")
    >>> with raising():
    ...     pl.DataFrame({"rank": [0, 1]}).select(check)
    Traceback (most recent call last):
    frame_metrics.errors.TableError: ranks start at 1, got 0
    """
    try:
        yield
    except pl.exceptions.PolarsError as error:
        message = told(error)
        if message is None:
            raise
        raise TableError(message) from None
