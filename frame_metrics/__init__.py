"""Ranking metrics as a `.rank` namespace on Polars and pandas frames.

Importing this package puts `.rank` on `pl.DataFrame`, `pl.LazyFrame` and `pd.DataFrame`; `pd.DataFrame.rank` goes on
being the method of pandas.

>>> import polars as pl, frame_metrics as fm
>>> df = pl.DataFrame({"query": [1, 1, 1], "item": ["a", "b", "c"], "rank": [1, 2, 3], "relevance": [3, 0, 2]})
>>> round(df.rank.ndcg(k=10), 4)
0.9386
>>> df.rank.evaluate("ndcg@10", "map", "mrr").columns
['ndcg@10', 'map', 'mrr']
"""

from __future__ import annotations

from frame_metrics.dicts import from_dicts
from frame_metrics.errors import (
    FrameMetricsError,
    MissingColumnError,
    MissingPackageError,
    OptionError,
    TableError,
    UnknownMetricError,
)
from frame_metrics.library import Differences, differences, libraries
from frame_metrics.shapes import from_lists, from_wide
from frame_metrics.surfaces.comparing import compare
from frame_metrics.surfaces.expressions import Expressions, metrics
from frame_metrics.surfaces.frames import DataFrameRank, LazyFrameRank
from frame_metrics.surfaces.kinds import rank
from frame_metrics.surfaces.namespace import register_pandas, register_polars
from frame_metrics.trec import scan_trec_qrels, scan_trec_run, write_trec_qrels, write_trec_run

__version__ = "0.1.0"


def _pandas_namespace() -> type:
    from frame_metrics.surfaces.pandas import PandasRank

    return PandasRank


register_polars(DataFrameRank, LazyFrameRank)
register_pandas(_pandas_namespace)

__all__ = [
    "Differences",
    "Expressions",
    "FrameMetricsError",
    "MissingColumnError",
    "MissingPackageError",
    "OptionError",
    "TableError",
    "UnknownMetricError",
    "compare",
    "differences",
    "from_dicts",
    "from_lists",
    "from_wide",
    "libraries",
    "metrics",
    "rank",
    "scan_trec_qrels",
    "scan_trec_run",
    "write_trec_qrels",
    "write_trec_run",
]
