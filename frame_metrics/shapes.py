"""Tables of other shapes as the long table that everything is computed from: one row for each query and item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, get_args

import polars as pl

from frame_metrics.errors import TableError, choice, wanted
from frame_metrics.formulas.terms import PREFIX
from frame_metrics.plan.failing import failing, raising
from frame_metrics.plan.scores import Ties, ranked
from frame_metrics.plan.table import missing
from frame_metrics.surfaces.kinds import is_pandas

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

    import pandas as pd

    Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame, pd.DataFrame)
