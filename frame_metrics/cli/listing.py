"""The command that lists the metrics; all it knows comes from their definitions."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

from frame_metrics.cli.options import Command
from frame_metrics.cli.output import is_styled, write

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from frame_metrics.formulas import Definition


_GRAMMAR = "Write ndcg, ndcg@10 or ndcg(gain=exponential)@10; @k means within the first k places.\n"


def metrics(args: argparse.Namespace) -> int:
    """List all metrics, or print the documentation of one."""
    import frame_metrics as fm

    if args.name is None:
        write(_LISTS[args.format]([described(definition) for definition in fm.metrics.definitions()]))
    else:
        write(_PAGES[args.format](fm.metrics.parse(args.name).definition))
    return 0


def described(definition: Definition) -> dict[str, Any]:
    """Return what there is to know about a metric: its names, what it is, and its options."""
    from frame_metrics.formulas.parameters import written

    options = {
        name: {"default": None if default is None else written(default), "allowed": allowed(definition.kinds[name])}
        for name, default in definition.options.items()
    }
    return {
        "name": definition.name,
        "aliases": list(definition.aliases),
        "says": definition.says,
        "cut": definition.takes_k,
        "options": options,
    }


def allowed(kind: Any) -> list[str]:
    """Return the values that an option of this type may have, as words.

    Examples
    --------
    >>> from frame_metrics.formulas.parameters import Gain, Share
    >>> allowed(Gain), allowed(Share)
    (['linear', 'exponential', 'binary', '{grade:gain,...}'], ['a number >= 0 and <= 1'])
    """
    if get_origin(kind) in (Union, type(int | None)):
        return [word for part in get_args(kind) for word in allowed(part)]
    if get_origin(kind) is Literal:
        return list(get_args(kind))
    if get_origin(kind) is Mapping:
        return ["{grade:gain,...}"]
    return [str(interval) for interval in getattr(kind, "__metadata__", ())]


def _title(metric: dict[str, Any]) -> str:
    name = f"{metric['name']}@k" if metric["cut"] else metric["name"]
    return f"{name} ({', '.join(metric['aliases'])})" if metric["aliases"] else name


def _as_text(metrics: list[dict[str, Any]]) -> str:
    return "\n".join([*map(_entry, metrics), _GRAMMAR])


def _entry(metric: dict[str, Any]) -> str:
    title = f"\x1b[1m{_title(metric)}\x1b[0m" if is_styled() else _title(metric)
    options = [f"    {name} = {_values(option)}\n" for name, option in metric["options"].items()]
    return "".join([f"{title}\n    {metric['says']}\n", *options])


def _values(option: dict[str, Any]) -> str:
    words = [f"{word} (default)" if word == option["default"] else word for word in option["allowed"]]
    if option["default"] in option["allowed"]:
        return ", ".join(words)
    return f"{', '.join(words)} (default: {option['default'] or 'none'})"


def _as_markdown(metrics: list[dict[str, Any]]) -> str:
    lines = ["| metric | what it is | options |", "| :--- | :--- | :--- |"]
    for metric in metrics:
        options = "; ".join(f"`{name}` = {_values(option)}" for name, option in metric["options"].items())
        lines.append(f"| {_title(metric)} | {metric['says']} | {options} |")
    return "\n".join([*lines, "", _GRAMMAR])


def _as_json(value: Any) -> str:
    return f"{json.dumps(value, indent=2, ensure_ascii=False)}\n"


def _documentation(definition: Definition) -> str:
    return inspect.getdoc(definition.body) or ""


_LISTS: dict[str, Callable[[list[dict[str, Any]]], str]] = {"text": _as_text, "json": _as_json, "md": _as_markdown}
_PAGES: dict[str, Callable[[Definition], str]] = {
    "text": lambda metric: f"{_title(described(metric))}\n\n{_documentation(metric)}\n",
    "json": lambda metric: _as_json(described(metric) | {"documentation": _documentation(metric)}),
    "md": lambda metric: f"# {_title(described(metric))}\n\n```text\n{_documentation(metric)}\n```\n",
}


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help="explain this metric, by any of its names")
    parser.add_argument("--format", choices=list(_LISTS), default="text", help="how to print it (default: text)")


METRICS = Command(
    name="metrics",
    run=metrics,
    says="list the metrics and their options, or explain one",
    usage="[NAME] [--format text|json|md]",
    options=(_add_options,),
    examples="""\
examples:
  frame-metrics metrics
  frame-metrics metrics map
  frame-metrics metrics --format json
""",
)
