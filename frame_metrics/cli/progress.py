"""A sign of life while a query runs; Polars does not say how far it has come."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from itertools import cycle
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_EVERY = 0.2  # seconds; nothing is shown for a query that takes less


@contextmanager
def working(says: str) -> Iterator[None]:
    """Show, on standard error, that something is being done and for how long; nothing unless that is a terminal."""
    if not is_shown():
        yield
        return
    done = Event()
    thread = Thread(target=_spin, args=(says, done), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def is_shown() -> bool:
    """Return whether standard error is a terminal on which lines can be replaced."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def _spin(says: str, done: Event) -> None:
    start = monotonic()
    for mark in cycle("|/-\\"):
        if done.wait(_EVERY):
            break
        sys.stderr.write(f"\r{mark} {says} ... {monotonic() - start:.0f} s")
        sys.stderr.flush()
    sys.stderr.write("\r\x1b[K")
    sys.stderr.flush()
