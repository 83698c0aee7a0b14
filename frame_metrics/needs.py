"""Packages that are installed with an extra, imported where they are used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from frame_metrics.errors import MissingPackageError

# Who needs the packages of an extra, and what can be done without them.
_EXTRAS = {
    "compare": ("comparisons need", ", or take test='bootstrap', which works without it"),
    "report": ("plots need", ""),
    "spark": ("Spark frames need", ""),
}
_INSTALLED_AS = {"vl_convert": "vl-convert-python"}


def needed(module: str, extra: str) -> Any:
    """Return a module of a package that an extra installs, or say how to get it.

    Parameters
    ----------
    module
        Its name, such as `"scipy.stats"`.
    extra
        The extra of this package that installs it.

    Examples
    --------
    >>> try:
    ...     needed("no_such_package", "report")
    ... except ImportError as error:
    ...     print(error)
    plots need the package 'no_such_package'. Hint: pip install "frame_metrics[report]"
    """
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name not in (module, package):
            raise
    need, instead = _EXTRAS[extra]
    name = _INSTALLED_AS.get(package, package)
    raise MissingPackageError(f'{need} the package {name!r}. Hint: pip install "frame_metrics[{extra}]"{instead}')
