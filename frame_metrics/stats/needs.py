"""What is installed with an extra, imported where it is used."""

from __future__ import annotations

import importlib
from typing import Any

from frame_metrics.errors import FrameMetricsError


class MissingPackageError(FrameMetricsError, ImportError):
    """A package that an optional part needs is not installed."""


def scipy_stats() -> Any:
    """Return `scipy.stats`, or raise with the way to install it."""
    try:
        return importlib.import_module("scipy.stats")
    except ImportError:
        raise MissingPackageError(
            "this needs scipy, which is not installed. "
            "Hint: pip install \"frame_metrics[compare]\", or take test='bootstrap', which works without it"
        ) from None
