"""Files that are written whole or not at all."""

from __future__ import annotations

from contextlib import contextmanager
from secrets import token_hex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Give the path of a file to write, beside the target: in the end it takes the target's place.

    Readers never see half of it. An error leaves what was there before, and removes the part.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> target = Path(mkdtemp(), "result.csv")
    >>> with replacing(target) as part:
    ...     _ = part.write_text("a,b")
    ...     print(target.exists())
    False
    >>> [path.name for path in target.parent.iterdir()]
    ['result.csv']
    """
    part = target.with_name(f".{target.name}.{token_hex(8)}.part")
    try:
        yield part
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
