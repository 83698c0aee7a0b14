"""Options from a file: what can be said on a command line can be written down in TOML."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frame_metrics.errors import OptionError, nearest

if TYPE_CHECKING:
    import argparse

_SPELLINGS = {"metric": "metrics", "m": "metrics"}
_NOT_FOR_FILES = ("run", "parser", "config", "dry_run")


def with_config(args: argparse.Namespace) -> argparse.Namespace:
    """Return the options together with those of the file that `--config` names; the command line counts more.

    Names of files in it are looked for from the current folder on, as on the command line.
    """
    if args.config is None:
        return args
    import argparse

    known = [name for name in vars(args) if name not in _NOT_FOR_FILES]
    written = {_known(key, known, args.config): value for key, value in _read(args.config).items()}
    try:
        stored = args.parser.parse_args([word for item in written.items() for word in _words(*item, args)])
    except OptionError as error:
        raise OptionError(f"in {args.config}: {error}") from None
    given = {name: value for name, value in vars(args).items() if value not in ([], args.parser.get_default(name))}
    return argparse.Namespace(**vars(stored) | given)


def _read(name: str) -> dict[str, Any]:
    try:
        return tomllib.loads(Path(name).expanduser().read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        hint = 'write one option a line, such as by = ["country"]'
        raise OptionError(f"cannot read {name!r} as TOML: {error}. Hint: {hint}") from None


def _known(key: str, known: list[str], name: str) -> str:
    option = _SPELLINGS.get(key, key).replace("-", "_")
    if option not in known:
        close = nearest(option, known) or f". Hint: there are {', '.join(sorted(known))}"
        raise OptionError(f"in {name}: there is no option {key!r}{close}")
    return option


def _words(option: str, value: Any, args: argparse.Namespace) -> list[str]:
    """Return an option as it would stand on the command line."""
    if option == "files":
        return [str(word) for word in (value if isinstance(value, list) else [value])]
    flag = "--metric" if option == "metrics" else f"--{option.replace('_', '-')}"
    if isinstance(args.parser.get_default(option), bool):
        if not isinstance(value, bool):
            raise OptionError(f"{flag} must be true or false, got {value!r}")
        return [flag] if value else []
    if isinstance(value, bool | dict):
        raise OptionError(f"{flag} must be a text, a number or a list of them, got {value!r}")
    return [f"{flag}={each}" for each in (value if isinstance(value, list) else [value])]
