"""Ranking metrics of Spark frames: the numbers of one machine, from the same definitions.

Importing this module puts `.rank` on Spark frames, classic ones and those of Spark Connect. A column called rank, which
Spark gives as the attribute `frame.rank` else, is still `frame["rank"]`. `fm.rank(frame)` needs no such import.

    import frame_metrics.spark
    spark.read.parquet("log/").rank.by("country").ndcg(k=10).show()
"""

from __future__ import annotations

from frame_metrics.needs import needed

needed("pyspark.sql", "spark")

from pyspark.sql import DataFrame  # noqa: E402

from frame_metrics.on_spark.shipping import ExecutorError, archive, ship  # noqa: E402
from frame_metrics.on_spark.surface import SparkRank, SparkRanks, raising  # noqa: E402

DataFrame.rank = property(SparkRank)  # type: ignore[attr-defined, unused-ignore]

__all__ = ["ExecutorError", "SparkRank", "SparkRanks", "archive", "raising", "ship"]
