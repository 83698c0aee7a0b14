"""The command line: the metrics of files, without a line of Python.

Commands import Polars when they run and these modules do not, so that help and wrong arguments are answered at once.
"""

from __future__ import annotations

import os
import sys
import warnings
from typing import TYPE_CHECKING, Any

from frame_metrics.cli.parser import read_arguments
from frame_metrics.cli.problems import explained, gist

if TYPE_CHECKING:
    from collections.abc import Sequence

_FAILED, _INTERRUPTED, _CLOSED_PIPE = 2, 130, 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    0 is success; 1 means that `check` found problems; 2 that there is no result, and one line on standard error says
    why; 130 and 141 are what a shell expects after Ctrl-C and after a closed pipe.

    Parameters
    ----------
    argv
        The arguments; without them, those of the process.

    Examples
    --------
    >>> main(["evaluate", "no such file.parquet"])
    2
    """
    try:
        code = _run(argv)
        # A closed pipe must show here: in the last flush of the interpreter nobody could catch it.
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_output()
        return _CLOSED_PIPE
    except KeyboardInterrupt:
        return _INTERRUPTED
    except Exception as error:
        if (reason := explained(error)) is None:
            raise
        sys.stderr.write(f"frame-metrics: error: {reason}\n")
        return _FAILED
    return code


def _run(argv: Sequence[str] | None) -> int:
    try:
        args = read_arguments(argv)
    except SystemExit as done:  # help or version has been printed
        return int(done.code or 0)
    with warnings.catch_warnings():
        warnings.showwarning = _warn
        code: int = args.run(args)
    return code


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print a warning, such as those of Polars about object stores, without the line of code that it came from."""
    sys.stderr.write(f"frame-metrics: warning: {gist(message)}\n")


def _discard_output() -> None:
    """Let what is still buffered go nowhere, or the interpreter would complain about it when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
