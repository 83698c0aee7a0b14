"""The packages that pictures need."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from frame_metrics.stats.needs import MissingPackageError


def needed(module: str) -> Any:
    """Return a package that draws, or say how to get it.

    Examples
    --------
    >>> try:
    ...     needed("no_such_package")
    ... except ImportError as error:
    ...     print(error)
    plots need the package 'no_such_package'. Hint: pip install "frame_metrics[report]"
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        name = {"vl_convert": "vl-convert-python"}.get(module, module)
        text = f'plots need the package {name!r}. Hint: pip install "frame_metrics[report]"'
        raise MissingPackageError(text) from None
