"""What was compared, in few rows: for people, and as a page of the README."""

from __future__ import annotations

import re
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import polars as pl

from tests.benchmark.table import markdown
from tests.trusted.reasons import NOT_COMPARED, REASONS, explained

if TYPE_CHECKING:
    from collections.abc import Iterable

HEAD = ("measure", "here", "tool", "modes", "data", "of queries", "averages", "largest difference", "why")
LETTERS = {"trec_eval_test": "T", "trec_eval_rellevel": "R", "lambdarank": "L", "cast2021_doc": "C"}
_FAMILIES = {
    "trec_eval": ((r"^(num|gm)_.*", r"\1_*"), (r"_[\d.]+$", "_*")),
    "ir_measures": ((r"^(Num|Set).*", r"\1*"), (r"\((rel|p)=.*\)", ""), (r"@\d+", "")),
    "ranx": ((r"-l\d$", ""), (r"@\d+|\.\d+", "")),
    "scikit-learn": ((r"k=\w+,", ""),),
    "torchmetrics": ((r"@\d+", ""),),
}
_SAME = {"pytrec_eval-terrier": "trec_eval"}
_ORDER = ("trec_eval", "ir_measures", "ranx", "scikit-learn", "torchmetrics")
_MANY = 4


def family(tool: str, measure: str) -> str:
    """Return what measures have in common that differ in a cut, a level or another number.

    Examples
    --------
    >>> family("trec_eval", "ndcg_cut_10"), family("ir_measures", "AP(rel=2)@10"), family("ranx", "f1@10-l2")
    ('ndcg_cut_*', 'AP', 'f1')
    """
    for pattern, replacement in _FAMILIES[_SAME.get(tool, tool)]:
        measure = re.sub(pattern, replacement, measure)
    return measure


def result(tables: Iterable[pl.DataFrame]) -> dict[str, Any]:
    """Return everything that was compared, in the shape of the JSON file."""
    rows = pl.concat(tables)
    names = rows.select("tool", "measure").unique()
    keys = [{"tool": t, "measure": m, "group": _SAME.get(t, t), "family": family(t, m)} for t, m in names.iter_rows()]
    known = explained(rows.filter(pl.col("text").is_not_null()))
    known = known.join(pl.DataFrame(keys), on=["tool", "measure"], how="left", maintain_order="left")
    known = known.sort(pl.col("group").replace_strict({name: n for n, name in enumerate(_ORDER)}), pl.col("family"))
    left = known.filter("differs", pl.col("reason").is_null())
    missing = rows.filter(pl.col("text").is_null()).select("tool", "measure").unique().sort("tool", "measure")
    return {
        "versions": {name: version(name) for name in ("frame_metrics", "polars")},
        "values": known.height,
        "exact": known.filter(~pl.col("differs")).height,
        "rows": [_row(part) for _, part in known.group_by("group", "family", maintain_order=True)],
        "not compared": [{"tool": t, "measure": m, "why": NOT_COMPARED.get((t, m))} for t, m in missing.iter_rows()],
        "unexplained": left.head(20).select("tool", "mode", "run", "measure", "query", "theirs", "ours").to_dicts(),
    }


def _row(part: pl.DataFrame) -> dict[str, Any]:
    """Return what there is to say of the measures of one family."""
    why = [
        {"says": REASONS[number].says, "values": each.height, "largest": _largest(each)}
        for (number,), each in part.filter(pl.col("reason").is_not_null())
        .sort("reason")
        .group_by("reason", maintain_order=True)
    ]
    tools = part.select("tool", "tool_version").unique().sort("tool", "tool_version", descending=[True, False])
    return {
        "measures": part["measure"].unique().sort().to_list(),
        "ours": part["text"].unique().sort().to_list(),
        "settings": part["settings"][0],
        "tools": [f"{tool} {number}" for tool, number in tools.iter_rows()],
        "modes": sorted(part["mode"].unique(), key=lambda mode: (mode != "default", mode)),
        "data": [name for name in LETTERS if name in part["dataset"].unique()],
        "of queries": part.filter(~pl.col("average")).height,
        "averages": part.filter("average").height,
        "largest": _largest(part.filter(~pl.col("differs"))),
        "why": why,
    }


def _largest(part: pl.DataFrame) -> float | None:
    """Return the largest difference of two numbers; None where one of them never is one."""
    return part.filter(pl.col("difference").is_finite())["difference"].max()


def page(found: dict[str, Any]) -> str:
    """Return what the README shows."""
    lines = [_cells(each) for each in found["rows"]]
    missing = "; ".join(f"{each['tool']} `{each['measure']}`: {each['why']}" for each in found["not compared"])
    letters = ", ".join(f"{letter} {name}" for name, letter in LETTERS.items())
    share = f"{found['exact']:,} of {found['values']:,} values are equal to 1e-9"
    versions = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    return "\n\n".join(
        [
            f"{share}; {versions}. Data: {letters}.",
            markdown(HEAD, lines),
            *([f"Not compared: {missing}."] if missing else []),
        ]
    )


_NUMBERED = (r"(recall|multiple|p)=[\d.]+", r"\1=*")


def _cells(row: dict[str, Any]) -> list[str]:
    largest = [row["largest"], *(each["largest"] for each in row["why"])]
    why = [f"{each['says']}: {each['values']:,} values" for each in row["why"]]
    rest = f"all others within {_number(row['largest'])}" if row["largest"] else "all others equal"
    return [
        _listed(row["measures"], (r"([@_]|rbp\.)[\d.]+(?=$|-)", r"\1*"), (r"(k|p)=[\w.]+", r"\1=*")),
        ", ".join(filter(None, (_listed(row["ours"], (r"@\d+", "@k"), _NUMBERED), row["settings"]))),
        _tools(row["tools"]),
        _modes(row["modes"]),
        "".join(LETTERS[name] for name in row["data"]),
        f"{row['of queries']:,}",
        f"{row['averages']:,}",
        _number(max(value for value in largest if value is not None)),
        "; ".join([*why, rest] if why else []),
    ]


def _listed(names: list[str], *changes: tuple[str, str]) -> str:
    """Return names in one cell, those as one that differ in a number."""
    for pattern, replacement in changes:
        names = [re.sub(pattern, replacement, name) for name in names]
    short = list(dict.fromkeys(names))
    return ", ".join(f"`{name}`" for name in short[:_MANY]) + (", ..." if len(short) > _MANY else "")


def _modes(modes: list[str]) -> str:
    """Return modes in one cell, what the first of them says only once."""
    return ", ".join([modes[0], *(mode.removeprefix(f"{modes[0]},") for mode in modes[1:])])


def _tools(tools: list[str]) -> str:
    """Return tools with their versions, the name of each once."""
    found: dict[str, list[str]] = {}
    for tool in tools:
        name, _, number = tool.partition(" ")
        found.setdefault(name, []).append(number)
    return ", ".join(f"{name} {' and '.join(numbers)}" for name, numbers in found.items())


def _number(value: float) -> str:
    return f"{value:.0e}" if value < 1e-3 and value else f"{value:.3g}"
