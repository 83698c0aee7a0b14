"""A bar on the terminal that says how far a run is."""

from __future__ import annotations

import shutil
import sys
import time

WIDTH = 24


class Bar:
    """A line on stderr, drawn over itself; nothing where stderr is no terminal.

    Parameters
    ----------
    total
        The number of stages.
    """

    def __init__(self, total: int) -> None:
        self.total = max(total, 1)
        self.done = 0
        self.stage = ""
        self._start = time.perf_counter()
        self._shown = sys.stderr.isatty()

    def begin(self, stage: str) -> None:
        """Say which stage begins."""
        self.stage = stage
        self.tick("")

    def tick(self, what: str = "") -> None:
        """Say what is going on inside a stage."""
        self._draw(f"{self.stage}: {what}" if what else self.stage)

    def end(self) -> None:
        """Say that the stage is done."""
        self.done += 1
        self._draw("")

    def close(self) -> None:
        """Take the line away."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def _draw(self, text: str) -> None:
        if self._shown:
            room = shutil.get_terminal_size().columns - 1
            sys.stderr.write(f"\r\x1b[K{line(self.done, self.total, time.perf_counter() - self._start, text)[:room]}")
            sys.stderr.flush()


def line(done: int, total: int, seconds: float, text: str) -> str:
    """Return the line of a bar.

    Examples
    --------
    >>> line(1, 4, 65.0, "sorted")
    '[######------------------] 1/4  1:05  sorted'
    """
    full = WIDTH * done // total
    minutes, rest = divmod(int(seconds), 60)
    return f"[{'#' * full}{'-' * (WIDTH - full)}] {done}/{total}  {minutes}:{rest:02d}  {text}"
