"""Compare with the stored values of other tools: `python -m tests.trusted [--data FOLDER] [--json] [--save]`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from tests.trusted.compare import DATA, compared
from tests.trusted.table import page, result

RESULT = Path(__file__).parent / "result.json"
README = Path(__file__).parents[2] / "README.md"
MARKS = ("<!-- trusted -->", "<!-- /trusted -->")


def options(arguments: list[str] | None) -> argparse.Namespace:
    """Return what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.trusted", description=__doc__)
    parser.add_argument(
        "--data", type=Path, default=DATA, help="the folder with the stored values (default: %(default)s)"
    )
    parser.add_argument("--tool", help="only this tool")
    parser.add_argument("--json", action="store_true", help="print JSON instead of Markdown")
    parser.add_argument("--save", action="store_true", help="write the result beside this file and into the README")
    return parser.parse_args(arguments)


def save(found: dict[str, Any]) -> None:
    """Write the result beside this file, and the page between its marks in the README."""
    RESULT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    before, first, rest = README.read_text(encoding="utf-8").partition(MARKS[0])
    _, last, after = rest.partition(MARKS[1])
    if not (first and last):
        raise SystemExit(f"the README has no place for the page: it must have {' and '.join(MARKS)}")
    README.write_text(f"{before}{first}\n\n{page(found)}\n\n{last}{after}", encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Compare, print, and return 1 if a difference has no reason or a measure is left out without one."""
    asked = options(arguments)
    if not asked.data.is_dir():
        sys.stderr.write(f"there is no folder {str(asked.data)!r}. Hint: name it with --data or FRAME_METRICS_DATA\n")
        return 2
    found = result(compared(asked.data, **({"tool": asked.tool} if asked.tool else {})))
    if asked.save:
        save(found)
    sys.stdout.write((json.dumps(found, indent=1) if asked.json else page(found)) + "\n")
    for each in found["unexplained"]:
        sys.stderr.write(f"no reason is known for this difference: {each}\n")
    left_out = [each for each in found["not compared"] if each["why"] is None]
    for each in left_out:
        sys.stderr.write(f"no reason is known for not comparing this measure: {each}\n")
    return 1 if found["unexplained"] or left_out else 0


if __name__ == "__main__":
    sys.exit(main())
