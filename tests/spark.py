"""A Spark cluster of several processes on this machine, for tests and benchmarks."""

import os
import shutil
import sys
from contextlib import contextmanager

MASTER = "local-cluster[2,1,1024]"
LEAN = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def lacking():
    """Return why there can be no Spark here, or None."""
    from importlib.util import find_spec

    if find_spec("pyspark") is None:
        return 'pyspark is not installed: pip install ".[spark]"'
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        return "there is no Java: install openjdk-17-jre-headless"
    return None


@contextmanager
def cluster(master=MASTER, python=sys.executable, **settings):
    """Start a session with small heaps, and stop it in the end."""
    from pyspark.sql import SparkSession

    os.environ.update(SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=python, SPARK_LOCAL_HOSTNAME="localhost")
    builder = SparkSession.builder.master(master)
    usual = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.driver.extraJavaOptions": LEAN,
        "spark.executor.extraJavaOptions": LEAN,
        "spark.driver.memory": "1g",
        "spark.log.level": "OFF",
    }
    for name, value in {**usual, **settings}.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    try:
        yield session
    finally:
        session.stop()


def shuffled(session):
    """Return how many rows, and bytes, have been written for shuffles in this session."""
    context = session.sparkContext
    none = context._gateway.new_array(context._jvm.double, 0)
    stages = context._jsc.sc().statusStore().stageList(None, False, False, none, None)
    each = [stages.apply(number) for number in range(stages.size())]
    return sum(stage.shuffleWriteRecords() for stage in each), sum(stage.shuffleWriteBytes() for stage in each)
