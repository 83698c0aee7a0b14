"""Other packages against ours: time, and whether the numbers are the same."""

from __future__ import annotations

import tempfile
import warnings
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

import frame_metrics  # noqa: F401 puts .rank on frames
from tests.benchmark import measure
from tests.benchmark.packages import PEERS, SEVEN

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.benchmark.measure import Clock
    from tests.benchmark.packages import Peer, Tables, Takes

CLOSE = 1e-6


@dataclass(frozen=True)
class PeerResult:
    """A line of the table of peers; seconds are wall times, `faster` is the ratio `wall` or `cpu`."""

    peer: str
    version: str | None
    takes: str
    rows: int
    metrics: int
    seconds: float | None = None
    ours_seconds: float | None = None
    faster: float | None = None
    wall: float | None = None
    cpu: float | None = None
    must: float | None = None
    difference: float | None = None
    compile_seconds: float | None = None
    note: str = ""
    error: str | None = None

    @property
    def verdict(self) -> str:
        """Whether ours is as much faster as it must be, in words."""
        if self.must is None or self.faster is None:
            return ""
        return "holds" if self.faster >= self.must else f"misses by {self.must / self.faster:.2f}x"

    @property
    def agrees(self) -> str:
        """Whether the numbers are the same, in words."""
        if self.difference is None:
            return ""
        return "yes" if self.difference <= CLOSE else f"no: {self.difference:.2g}"

    def plain(self) -> dict[str, Any]:
        """Return it as JSON takes it."""
        return asdict(self) | {"verdict": self.verdict, "agrees": self.agrees}


def ours(tables: Tables, takes: Takes, names: tuple[str, ...] = SEVEN) -> dict[str, float]:
    """Return our numbers from the same kind of frame."""
    return dict(zip(names, _row(getattr(tables, takes).rank.evaluate(*names)), strict=True))


def _row(frame: Any) -> list[float]:
    return list(frame.row(0)) if isinstance(frame, pl.DataFrame) else frame.iloc[0].tolist()


def reference(peer: Peer, tables: Tables, names: tuple[str, ...]) -> dict[str, float]:
    """Return our numbers by the definitions of a peer."""
    table = tables.int_keys.with_columns(pl.col("relevance") > 0) if peer.binary else tables.int_keys
    return dict(zip(names, table.rank.using(**peer.settings or {}).evaluate(*names).row(0), strict=True))


def measured(
    peer: Peer,
    tables: Tables,
    *,
    repeat: int,
    clock: Clock = "wall",
    compiling: bool = True,
    tick: Callable[[str], None] = lambda _: None,
) -> PeerResult:
    """Return the line of a peer; what it raises is part of the line."""
    version = measure.version(peer.package)
    kept = PeerResult(peer.name, version, peer.takes, tables.rows, 0, must=peer.must, note=peer.note)
    if not peer.installed:
        return replace(kept, error=f"not installed: no module {peer.module!r}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            made = replace(kept, **_timed(peer, tables, clock, repeat, tick))
            return replace(made, compile_seconds=_first_run(peer)) if peer.compiles and compiling else made
        except Exception as error:  # noqa: BLE001 whatever a package raises is its result
            return replace(kept, error=_said(error))


def _timed(peer: Peer, tables: Tables, clock: Clock, repeat: int, tick: Callable[[str], None]) -> dict[str, Any]:
    """Return the columns of the line that come from running the peer."""
    note = "; ".join(filter(None, (peer.note, _attempt(peer, tables))))
    numbers = peer.numbers(tables)
    names = tuple(numbers)
    calls = {peer.name: lambda: peer.numbers(tables), "ours": lambda: ours(tables, peer.takes, names)}
    costs = measure.interleaved(calls, repeat=repeat, tick=tick)
    ratio = costs[peer.name].over(costs["ours"])
    expected = reference(peer, tables, names)
    return {
        "metrics": len(names),
        "seconds": costs[peer.name].wall,
        "ours_seconds": costs["ours"].wall,
        "faster": ratio[clock],
        **ratio,
        "difference": max(abs(numbers[name] - expected[name]) for name in names),
        "note": note,
    }


def _first_run(peer: Peer) -> float:
    """Return what the very first run takes, when nothing is compiled yet."""
    with tempfile.TemporaryDirectory() as empty:
        return measure.alone("first", peer.name, NUMBA_CACHE_DIR=empty)["wall"]


def _attempt(peer: Peer, tables: Tables) -> str:
    """Return what comes of the way that users would try first, if it raises."""
    if peer.fails is None:
        return ""
    try:
        peer.fails(tables)
    except Exception as error:  # noqa: BLE001 as above
        return _said(error)
    return ""


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"[:200]


def find(name: str) -> Peer:
    """Return the peer of this name."""
    return next(peer for peer in PEERS if peer.name == name)


def chosen(names: str) -> list[Peer]:
    """Return the peers named in a list with commas; `all` and `none` are names too."""
    wanted = {name.strip().lower() for name in names.split(",")}
    if unknown := wanted - {"all", "none", *(peer.name.lower() for peer in PEERS)}:
        known = ", ".join(peer.name for peer in PEERS)
        raise ValueError(f"expected all, none or some of {known}, got {', '.join(sorted(unknown))}")
    return [peer for peer in PEERS if "all" in wanted or peer.name.lower() in wanted]
