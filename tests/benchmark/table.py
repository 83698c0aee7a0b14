"""Results as text for a terminal and as Markdown for a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

CASES = ("case", "form", "rows", "measured", "wall", "CPU", "seconds", "against", "must", "aim", "verdict", "beside")
PEERS = (
    "peer",
    "version",
    "starts from",
    "rows",
    "seconds",
    "ours",
    "faster",
    "wall",
    "CPU",
    "must",
    "verdict",
    "agrees",
    "note",
)


def case_cells(result: dict[str, Any]) -> list[str]:
    """Return the cells of a case."""
    unit, against = result["unit"], result["against_seconds"]
    return [
        result["case"],
        result["form"],
        f"{result['rows']:,}" if result["rows"] else "",
        _number(result["measured"], unit),
        _number(result["wall"], unit),
        _number(result["cpu"], unit),
        _seconds(result["seconds"]),
        f"{result['against']} {_seconds(against)}" if against else "",
        _number(result["must"], unit),
        _number(result["aim"], unit),
        result["verdict"],
        ", ".join(f"{name} {value:,.3g}" for name, value in result["beside"].items()),
    ]


def peer_cells(result: dict[str, Any]) -> list[str]:
    """Return the cells of a peer."""
    notes = [result["note"]]
    if result["compile_seconds"]:
        notes.append(f"first run {result['compile_seconds']:.0f} s")
    if result["error"]:
        notes.append(result["error"])
    metrics = f" ({result['metrics']} of 7)" if 0 < result["metrics"] < 7 else ""
    return [
        result["peer"] + metrics,
        result["version"] or "",
        result["takes"].replace("_", " "),
        f"{result['rows']:,}",
        _seconds(result["seconds"]),
        _seconds(result["ours_seconds"]),
        _number(result["faster"], "x"),
        _number(result["wall"], "x"),
        _number(result["cpu"], "x"),
        _number(result["must"], "x"),
        result["verdict"],
        result["agrees"],
        "; ".join(filter(None, notes)),
    ]


def text(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a table in columns of even width.

    Examples
    --------
    >>> print(text(["case", "x"], [["nine", "1.5"]]))
    case  x
    ----  ---
    nine  1.5
    """
    widths = [max(map(len, column)) for column in zip(head, *lines, strict=True)]
    rule = ["-" * width for width in widths]
    whole = [head, rule, *lines]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(cells, widths, strict=True)).rstrip() for cells in whole)


def markdown(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown.

    Examples
    --------
    >>> print(markdown(["case", "x"], [["nine", "1.5"]]))
    | case | x |
    |---|---|
    | nine | 1.5 |
    """
    rows = ["| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |" for cells in (head, *lines)]
    return "\n".join([rows[0], "|" + "---|" * len(head), *rows[1:]])


def report(result: dict[str, Any], render: Any = text) -> str:
    """Return everything that was measured, as text or Markdown."""
    machine = result["machine"]
    versions = ", ".join(f"{name} {number}" for name, number in result["packages"].items() if number)
    parts = [
        f"{result['date']}  {result['command']}",
        f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_gb']} GB; Python {result['python']}, {versions}",
    ]
    if machine["load"] > machine["cores"]:
        parts.append(f"The machine was busy, load {machine['load']}: CPU time says more than wall time (--clock cpu).")
    if result["cases"]:
        parts.append(render(CASES, [case_cells(each) for each in result["cases"]]))
    if result["peers"]:
        parts.append(render(PEERS, [peer_cells(each) for each in result["peers"]]))
    return "\n\n".join(parts)


def _number(value: float | None, unit: str) -> str:
    if value is None:
        return ""
    return f"{value:,.0f} {unit}" if unit == "MB" or value >= 100 else f"{value:.2f} {unit}"


def _seconds(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value * 1e3:.3g} ms" if value < 1 else f"{value:.3g} s"


def page(result: dict[str, Any]) -> str:
    """Return what the README shows: the cases that bind, the peers, and what they were measured on."""
    machine = result["machine"]
    shown = [each for each in result["cases"] if each["binding"] and each["rows"] != 1_000_000]
    cases = [case_cells(each) for each in shown]
    columns = [CASES.index(name) for name in ("case", "form", "rows", "measured", "wall", "seconds", "must", "verdict")]
    peers = [peer_cells(each) for each in result["peers"]]
    chosen = [PEERS.index(name) for name in ("peer", "version", "seconds", "ours", "faster", "must", "verdict", "note")]
    named, python = ("frame_metrics", "polars", "pandas", "pyarrow"), result["python"]
    versions = ", ".join(f"{name} {result['packages'][name]}" for name in named)
    return "\n\n".join(
        [
            f"{result['date'][:10]}, {machine['cores']} cores ({machine['cpu']}), Python {python}, {versions}.",
            markdown([CASES[c] for c in columns], [[cells[c] for c in columns] for cells in cases]),
            markdown([PEERS[c] for c in chosen], [[cells[c] for c in chosen] for cells in peers]),
        ]
    )
