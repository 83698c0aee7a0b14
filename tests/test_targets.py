"""Where results are written: files that appear whole or not at all, and URLs of stores."""

from __future__ import annotations

import json
import logging
import sys
import warnings
from io import StringIO

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from frame_metrics.cli import main
from frame_metrics.cli.output import SUFFIXES
from frame_metrics.cli.reporting import SUFFIXES as REPORT_SUFFIXES
from frame_metrics.cli.targets import Target
from frame_metrics.writing import replacing

LOG = pl.DataFrame(
    {
        "query": ["a", "a", "b", "b", "c", "c"],
        "item": ["x", 'y,"z"', "x", "y", "x", "y"],
        "rank": [1, 2, 1, 2, 1, 2],
        "relevance": [0, 3, 2, 0, 1, 1],
    }
)
TEXTS = [
    "",
    "\n",
    "one line",
    "one line\n",
    'a "quoted", text\r\nof lines\n\n',
    "日本 \u2028 \x00 \t|",
    "long " * 10**6,
]
COMMANDS = {
    "evaluate": ["evaluate", "log.parquet", "-m", "mrr,ndcg@10", "--per-query"],
    "explain": ["explain", "ndcg@10", "a", "log.parquet"],
    "check": ["check", "log.parquet"],
}
CASES = [(name, suffix) for name in COMMANDS for suffix in SUFFIXES]


class Terminal(StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    LOG.write_parquet("log.parquet")
    return tmp_path


@pytest.fixture(scope="session")
def server():
    """Start a server that speaks the language of S3, if one is installed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        moto = pytest.importorskip("moto.server", reason="needs moto[server]")
        boto3 = pytest.importorskip("boto3")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    running = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    url, key = f"http://{host}:{port}", "testing"
    options = {"aws_access_key_id": key, "aws_secret_access_key": key, "region_name": "us-east-1"}
    client = boto3.client("s3", endpoint_url=url, **options)
    client.create_bucket(Bucket="bucket")
    yield url, client
    client.close()
    running.stop()


@pytest.fixture
def bucket(server, monkeypatch):
    """Return what reads a file of the bucket; Polars finds the server through the environment."""
    url, client = server
    settings = {"ENDPOINT_URL": url, "REGION": "us-east-1", "ALLOW_HTTP": "true"}
    for name, value in (settings | {"ACCESS_KEY_ID": "testing", "SECRET_ACCESS_KEY": "testing"}).items():
        monkeypatch.setenv(f"AWS_{name}", value)
    return lambda name: client.get_object(Bucket="bucket", Key=name)["Body"].read()


@pytest.fixture(params=["file", "s3"])
def store(request, folder):
    """Return the URL of a store, and what reads a file of it."""
    if request.param == "file":
        return (folder / "store").as_uri(), lambda name: (folder / "store" / name).read_bytes()
    read = request.getfixturevalue("bucket")
    return "s3://bucket/some folder", lambda name: read(f"some folder/{name}")


@pytest.fixture
def refused(capsys):
    def refused(*words):
        assert main(list(words)) == 2
        printed = capsys.readouterr()
        assert printed.err.count("\n") == 1
        return printed.err.removeprefix("frame-metrics: error: ")

    return refused


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: repr(text[:10]))
def test_a_text_arrives_as_it_is(text, store):
    url, read = store
    Target.named(f"{url}/text.md", [".md"]).write(text)
    assert read("text.md").decode() == text


@pytest.mark.parametrize(("command", "suffix"), CASES)
def test_a_url_gets_what_a_file_gets(command, suffix, store, folder, capsys):
    url, read = store
    code = main([*COMMANDS[command], "--out", f"here{suffix}"])
    assert main([*COMMANDS[command], "--out", f"{url}/there{suffix}"]) == code == 0
    here, there = (folder / f"here{suffix}").read_bytes(), read(f"there{suffix}")
    if suffix == ".parquet":
        assert_frame_equal(pl.read_parquet(there), pl.read_parquet(here))
    else:
        assert there == here
    assert capsys.readouterr() == ("", "")


def test_reports(store, folder, capsys):
    url, read = store
    names = [f"r{suffix}" for suffix in REPORT_SUFFIXES]
    outs = [word for name in names for word in ("--out", name, "--out", f"{url}/{name}")]
    assert main(["report", "log.parquet", "-m", "mrr", *outs]) == 0
    assert "mrr" in capsys.readouterr().out
    for name in names:
        here, there = (folder / name).read_bytes(), read(name)
        if name.endswith(".parquet"):
            assert_frame_equal(pl.read_parquet(there), pl.read_parquet(here))
        else:
            assert there == here
    assert json.loads(read("r.json"))["estimates"]


def test_a_second_result_takes_the_place_of_the_first(store):
    url, read = store
    for words in (["-m", "mrr,ndcg@10,map"], ["-m", "mrr"]):
        assert main(["evaluate", "log.parquet", *words, "--out", f"{url}/r.csv"]) == 0
    assert read("r.csv").decode() == LOG.rank.evaluate("mrr").write_csv()


def test_a_terminal_is_told_the_url(monkeypatch, folder):
    monkeypatch.setattr(sys, "stderr", Terminal())
    url = (folder / "r.csv").as_uri()
    assert main(["evaluate", "log.parquet", "--out", url]) == 0
    assert sys.stderr.getvalue().endswith(f"wrote {url}\n")


@pytest.mark.parametrize("words", [COMMANDS["evaluate"], ["report", "log.parquet", "-m", "mrr"]])
def test_a_store_that_is_not_there(words, bucket, refused):
    url = "s3://no-such-bucket/r.csv"
    text = refused(*words, "--out", url)
    assert text.startswith(f"cannot write --out '{url}': ")
    assert "404" in text
    assert text.endswith(
        ". Hint: see whether the store is there, and lets you write with the credentials of the environment\n"
    )


@pytest.mark.parametrize("url", ["s3:///r.csv", "nowhere://bucket/r.csv", "{folder}/log.parquet/r.csv"])
def test_a_url_that_nothing_can_be_written_to(url, refused, folder):
    url = url.format(folder=folder.as_uri())
    assert refused(*COMMANDS["evaluate"], "--out", url).startswith(f"cannot write --out '{url}': ")


@pytest.mark.parametrize("url", ["s3://bucket/r.xlsx", "s3://bucket/r", "s3://bucket.csv/"])
def test_a_suffix_is_refused_before_anything_is_read(url, refused):
    text = refused("evaluate", "not there.parquet", "--out", url)
    assert text.startswith("--out must end in one of .parquet, .csv, .tsv, .json, .ndjson, .md, got 's3:")


def test_a_part_is_removed_where_writing_fails(folder):
    target = folder / "result.txt"
    target.write_text("the old one")

    def fail(part):
        part.write_text("half of it")
        raise OSError

    with pytest.raises(OSError), replacing(target) as part:
        fail(part)
    assert target.read_text() == "the old one"
    assert sorted(path.name for path in folder.iterdir()) == ["log.parquet", "result.txt"]


def test_two_writers_do_not_meet(folder):
    target = folder / "result.txt"
    with replacing(target) as first, replacing(target) as second:
        first.write_text("first")
        second.write_text("second")
    assert target.read_text() == "first"
    assert sorted(path.name for path in folder.iterdir()) == ["log.parquet", "result.txt"]
