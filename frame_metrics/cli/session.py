"""A session of Spark for one command."""

from __future__ import annotations

import logging
import os
import re
import shutil
import socket
import sys
import warnings
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frame_metrics.cli.progress import is_shown, working
from frame_metrics.errors import FrameMetricsError, OptionError
from frame_metrics.needs import needed

if TYPE_CHECKING:
    from collections.abc import Iterator

_CONNECT_PORT, _PATIENCE = 15002, 5  # seconds
_LONGEST = 400
_SAYS_NOTHING = ("Exception thrown in awaitResult",)
_MASTER = re.compile(r"local(\[(\*|\d+)(, *\d+)?\])?|local-cluster\[.+\]|yarn|(spark|k8s|sc)://.+")

# So that columns, `--where` and times mean the same as on one machine.
_SETTINGS = {
    "spark.sql.caseSensitive": "true",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.session.timeZone": "UTC",
}


class SparkError(FrameMetricsError):
    """Spark that cannot be started, or that fails."""


@contextmanager
def session(master: str | None) -> Iterator[Any]:
    """Give a session, which is stopped after the block unless it was there before.

    Parameters
    ----------
    master
        Where Spark runs; without it, what its own configuration says, else all cores of this machine.
    """
    sql = needed("pyspark.sql", "spark")
    with _hushed(), _session(sql, master) as spark:
        yield spark


@contextmanager
def _session(sql: Any, master: str | None) -> Iterator[Any]:
    at = f" at {master}" if master else ""
    with told(f"cannot start Spark{at}", "Spark 4 needs Java 17 or newer; what else is wrong may stand above"):
        mine = sql.SparkSession.getActiveSession() is None
        if mine:
            _require(master)
        with working("starting Spark"):
            spark = _started(sql.SparkSession.builder, master)
    before = {} if mine else {name: spark.conf.get(name, None) for name in _SETTINGS}
    try:
        with told("Spark failed"):
            for name, value in _SETTINGS.items():
                spark.conf.set(name, value)
            if mine:
                _prepare(spark)
        yield spark
    finally:
        for name, value in before.items():
            spark.conf.unset(name) if value is None else spark.conf.set(name, value)
        if mine:
            with suppress(Exception):  # what is to be said has been said
                spark.stop()


@contextmanager
def told(what: str, hint: str = "") -> Iterator[None]:
    """Raise what Spark says in one line, without what Java adds."""
    try:
        yield
    except FrameMetricsError:
        raise
    except Exception as error:
        if not _is_of_spark(error):
            raise
        if _was_interrupted(error):
            raise KeyboardInterrupt from None
        raise SparkError(f"{what}: {reason(str(error))}" + (f". Hint: {hint}" if hint else "")) from None


def reason(text: str) -> str:
    r"""Return what a text of Spark says: its first line, and those of the causes that it names.

    Examples
    --------
    >>> reason("An error occurred while calling None.x.\n: org.apache.spark.SparkException: No such thing.\n\tat a.b.C")
    'No such thing'
    >>> reason("[PATH_NOT_FOUND] Path does not exist: file:/x. SQLSTATE: 42K03;\n'Project [*]")
    'Path does not exist: file:/x'
    """
    lines = [line.strip() for line in text.splitlines() if not re.match(r"\s*(at |\.\.\. )", line)]
    said = [line for line in lines if line and not line.startswith("An error occurred while calling")]
    causes = [line.removeprefix("Caused by: ") for line in said if line.startswith("Caused by: ")]
    plain = dict.fromkeys(_plain(line) for line in [*said[:1], *causes])
    short = ": ".join(line for line in plain if line not in _SAYS_NOTHING) or "it does not say why"
    return short if len(short) <= _LONGEST else f"{short[:_LONGEST]}..."


def _plain(line: str) -> str:
    line = re.sub(r"^:\s*", "", line)
    line = re.sub(r"^(?:[\w$]+\.)+[\w$]+(?:Exception|Error): ", "", line)
    line = re.sub(r"^\[[A-Z0-9_.]+\] ", "", line)
    return re.sub(r"\.?\s*SQLSTATE: \w+;?.*$", "", line).rstrip(".: ")


def _was_interrupted(error: BaseException | None) -> bool:
    """Return whether Ctrl-C stands behind an error: Spark cancels its jobs, and then says that they were cancelled."""
    return error is not None and (isinstance(error, KeyboardInterrupt) or _was_interrupted(error.__context__))


def _is_of_spark(error: Exception) -> bool:
    """Return whether an error comes from Spark, or from what stands between it and Python."""
    return type(error).__module__.partition(".")[0] in ("pyspark", "py4j", "grpc") or isinstance(error, ConnectionError)


def _require(master: str | None) -> None:
    """Raise if Spark could not start, where that can be seen before: it takes a minute to see that nobody answers."""
    if master is not None and not _MASTER.fullmatch(master):
        raise OptionError(
            f"--master must be such as local[4], spark://host:7077, k8s://host, yarn or sc://host, got {master!r}"
        )
    if master == "yarn" and not {"HADOOP_CONF_DIR", "YARN_CONF_DIR"} & set(os.environ):
        raise SparkError("--master yarn needs HADOOP_CONF_DIR or YARN_CONF_DIR in the environment. Hint: set it")
    url = master or os.environ.get("SPARK_REMOTE") or ""
    scheme, _, rest = url.partition("://")
    if scheme in ("spark", "sc"):
        places = [_place(place) for place in rest.partition("/")[0].split(",")]
        if not any(_answers(*place) for place in places):
            raise SparkError(f"nobody answers at {url}. Hint: see whether --master is right, and Spark runs there")
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=str(Path(home) / "bin") if home else None)
    if scheme != "sc" and java is None:
        where = f"in JAVA_HOME, which is {home!r}" if home else "on the PATH, and JAVA_HOME is not set"
        raise SparkError(f"Spark needs Java, and there is none {where}. Hint: install Java 17 or newer")


def _place(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":") if ":" in text else (text, "", "")
    return host.strip("[]"), int(port) if port.isdecimal() else _CONNECT_PORT


def _answers(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=_PATIENCE).close()
    except (OSError, OverflowError):
        return False
    return True


def _started(builder: Any, master: str | None) -> Any:
    connected = (master or "").startswith("sc://")
    if master is not None:
        builder = builder.remote(master) if connected else builder.master(master)
    if not connected:
        shown = str(is_shown()).lower()
        builder = builder.appName("frame-metrics").config("spark.ui.showConsoleProgress", shown)
    with _quiet():
        return builder.getOrCreate()


@contextmanager
def _quiet() -> Iterator[None]:
    """Have Java start with few words, unless Spark has been told what to log."""
    home = os.environ.get("SPARK_CONF_DIR") or os.path.join(os.environ.get("SPARK_HOME", ""), "conf")  # noqa: PTH118
    before = os.environ.get("SPARK_SUBMIT_OPTS")
    if not any(Path(home).glob("log4j2.*")) and "log4j2.configurationFile" not in (before or ""):
        chosen = f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties').as_uri()}"
        os.environ["SPARK_SUBMIT_OPTS"] = f"{before or ''} {chosen}".strip()
    try:
        yield
    finally:
        if before is None:
            os.environ.pop("SPARK_SUBMIT_OPTS", None)
        else:
            os.environ["SPARK_SUBMIT_OPTS"] = before


@contextmanager
def _hushed() -> Iterator[None]:
    """Have Python's side of Spark log nothing: what matters is raised too, and after Ctrl-C nothing does."""
    before = logging.root.manager.disable
    logging.disable(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
            yield
    finally:
        logging.disable(before)


def _prepare(spark: Any) -> None:
    from frame_metrics.on_spark.shipping import ship

    context = _context(spark)
    if context is not None:
        context.setLogLevel("ERROR")
    if context is None or not context.master.startswith("local"):
        ship(spark)
    elif "PYSPARK_PYTHON" not in os.environ:
        context.pythonExec = sys.executable  # Spark would take any `python3` that it finds


def _context(spark: Any) -> Any:
    """Return what a session runs on, if that is in this process: not so in Spark Connect."""
    try:
        return spark.sparkContext
    except Exception:  # noqa: BLE001 of several classes, by the version of Spark
        return None
