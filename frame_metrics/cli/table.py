"""Frames as text for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unicodedata import combining, east_asian_width

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

_MOST_ROWS = 60
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"


def rendered(frame: pl.DataFrame, *, width: int | None = None, bold: bool = False) -> str:
    """Return a frame as aligned columns, numbers to the right.

    Parameters
    ----------
    frame
        The frame.
    width
        The width of the terminal that will show it; None if there is none. A terminal does not get thousands of rows,
        and gets a single row that is too wide for it as a list.
    bold
        Whether to make the names of columns bold.
    """
    cells = _columns(frame, _MOST_ROWS if width else frame.height)
    lines = _aligned(cells, [dtype.is_numeric() for dtype in frame.dtypes])
    if width and frame.height == 1 and _width(lines[0]) > width:
        return "".join(f"{line}\n" for line in _aligned([frame.columns, [cell for _, cell in cells]], [False, True]))
    if width and frame.height > _MOST_ROWS:
        left_out = f"... {frame.height - _MOST_ROWS:,} rows are left out; --out FILE or --format csv give all ..."
        lines.insert(1 + _MOST_ROWS // 2, left_out)
    if bold:
        lines[0] = f"{_BOLD}{lines[0]}{_PLAIN}"
    return "".join(f"{line}\n" for line in lines)


def markdown(frame: pl.DataFrame) -> str:
    r"""Return a frame as a table in Markdown.

    Examples
    --------
    >>> import polars as pl
    >>> print(markdown(pl.DataFrame({"country": ["fr"], "ndcg@10": [0.25]})))
    | country | ndcg@10 |
    | :--- | ---: |
    | fr | 0.2500 |
    """
    rule = ["---:" if dtype.is_numeric() else ":---" for dtype in frame.dtypes]
    rows = [*zip(*_columns(frame, frame.height), strict=True)]
    lines = [[_escaped(cell) for cell in row] for row in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in (lines[0], rule, *lines[1:]))


def cell(value: Any) -> str:
    r"""Return a value as text: floats with four decimals, characters that would move the cursor spelt out.

    Examples
    --------
    >>> cell(0.75), cell(3), cell(None), cell("a\tb")
    ('0.7500', '3', 'null', 'a\\tb')
    """
    if value is None:
        return "null"
    text = f"{value:.4f}" if isinstance(value, float) else str(value)
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _columns(frame: pl.DataFrame, most: int) -> list[list[str]]:
    """Return the name and the cells of each column, of the first and last rows if there are more than so many."""
    if frame.height > most:
        frame = frame.head(most // 2).vstack(frame.tail(most // 2))
    return [[cell(column.name), *map(cell, column.to_list())] for column in frame]


def _aligned(columns: Sequence[Sequence[str]], to_right: Sequence[bool]) -> list[str]:
    padded = [_padded(column, right=right) for column, right in zip(columns, to_right, strict=True)]
    return ["  ".join(row).rstrip() for row in zip(*padded, strict=True)]


def _padded(cells: Sequence[str], *, right: bool) -> list[str]:
    widest = max(map(_width, cells))
    gaps = [" " * (widest - _width(text)) for text in cells]
    return [gap + text if right else text + gap for gap, text in zip(gaps, cells, strict=True)]


def _width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|")
