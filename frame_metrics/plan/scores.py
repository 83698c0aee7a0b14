from __future__ import annotations
from typing import Literal
import polars as pl
Ties = Literal["item_desc", "item_asc", "first"]
def ranked(table, *, keys, item, score, ties, rank, float32=False):
    return table.with_columns(pl.col(score).rank("ordinal",descending=True).over(keys).alias(rank))
