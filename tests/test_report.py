"""Reports: their numbers are those of the surfaces, data cannot break them, and what is kept is never wrong."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import frame_metrics as fm
from frame_metrics.cli import main
from frame_metrics.errors import OptionError
from frame_metrics.report import pictures
from frame_metrics.report import store as stores
from frame_metrics.report.gates import read_gate
from frame_metrics.report.pictures import Axis
from frame_metrics.report.student import quantile, two_sided
from frame_metrics.writing import replacing

ROOT = Path(__file__).parents[1]
SAMPLE = pl.read_parquet(ROOT / "data" / "search_log.parquet")
LOG = SAMPLE.filter(pl.col("day").dt.day() <= 7)  # 4 days
BOTH = ["--system", "system", "-m", "ndcg@10,map"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    LOG.write_parquet("log.parquet")
    return tmp_path


@pytest.fixture
def run(capsys):
    """Run the command; its exit code must be this one. Return what it printed, on standard error where it failed."""

    def run(*argv, code=0):
        assert main(["report", *map(str, argv)]) == code
        printed = capsys.readouterr()
        return printed.err if code == 2 else printed.out

    return run


@pytest.fixture
def made(run):
    """Return the report as JSON has it."""
    return lambda *argv, code=0: json.loads(run(*argv, "--json", code=code))


def table(rows, *names):
    return pl.DataFrame([{name: row[name] for name in names} for row in rows])


class Page(HTMLParser):
    """What a page has: its elements with their attributes, and its text."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.texts, self.open = [], [], []
        self.feed(text)

    def handle_starttag(self, name, attributes):
        self.elements.append((name, dict(attributes)))
        if name not in ("meta", "br"):
            self.open.append(name)

    def handle_startendtag(self, name, attributes):
        self.elements.append((name, dict(attributes)))

    def handle_endtag(self, name):
        assert self.open.pop() == name

    def handle_data(self, data):
        if "style" not in self.open:
            self.texts.append(data)


def rounded(value):
    """Return a report without the last digits of its numbers: sums are not exact, and have no order."""
    if isinstance(value, dict):
        return {name: rounded(each) for name, each in value.items() if name != "made"}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return float(f"{value:.9f}") if isinstance(value, float) else value


def partitioned(root, frame=LOG):
    """Write a log as a folder for each day."""
    for (day,), part in frame.group_by("day"):
        path = root / f"day={day}" / "part.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        part.drop("day").write_parquet(path)


def test_values_and_intervals_are_those_of_evaluate(made):
    report = made("log.parquet", *BOTH, "--by", "country", "--by", "country,device")
    for key, view in (((), report), (("country",), report["views"][0]), (("country", "device"), report["views"][1])):
        expected = LOG.rank.by("system", *key).evaluate("ndcg@10", "map", ci=0.95)
        for row in expected.iter_rows(named=True):
            segment = " · ".join(row[name] for name in key)
            for metric in ("ndcg@10", "map"):
                wanted = (metric, row["system"], segment)
                one = next(e for e in view["estimates"] if (e["metric"], e["system"], e["segment"]) == wanted)
                numbers = [row[metric], row[f"{metric}_low"], row[f"{metric}_high"]]
                assert [one["value"], one["low"], one["high"]] == pytest.approx(numbers, abs=1e-12)
        assert len(view["estimates"]) == 2 * expected.height


def test_changes_are_those_of_compare(made):
    report = made("log.parquet", *BOTH, "--by", "country")
    for found, ranks in ((report["changes"], LOG.rank), (report["views"][0]["changes"], LOG.rank.by("country"))):
        expected = ranks.compare("ndcg@10", "map", system="system", baseline="bm25", test="t", correction="holm")
        names = [
            "queries",
            "value",
            "baseline_value",
            "difference",
            "relative",
            "low",
            "high",
            "wins",
            "ties",
            "losses",
        ]
        names += ["effect", "p", "p_adjusted"]
        keys = ["metric"] if "country" not in expected.columns else ["country", "metric"]
        ours = pl.DataFrame(found).rename({"segment": "country"}).sort(keys)
        assert_frame_equal(ours.select(names), expected.sort(keys).select(names), abs_tol=1e-9, check_dtypes=False)


def test_a_baseline_in_a_file_of_its_own(made, folder):
    for name in ("bm25", "neural"):
        LOG.filter(system=name).drop("system").write_parquet(f"{name}.parquet")
    apart = made("neural.parquet", "--compare", "bm25.parquet", "-m", "ndcg@10,map", "--by", "country")
    together = made("log.parquet", *BOTH, "--by", "country")
    for name in ("estimates", "changes", "systems", "baseline", "views", "groups"):
        assert rounded(apart[name]) == rounded(together[name])
    assert [each["role"] for each in apart["inputs"]] == ["run", "baseline"]


def test_judgments_of_their_own(made):
    LOG.drop_nulls("rank").drop("relevance").write_parquet("run.parquet")
    qrels = LOG.select("query", "item", "relevance").drop_nulls().unique()
    qrels.write_parquet("qrels.parquet")
    report = made("run.parquet", "--qrels", "qrels.parquet", *BOTH)
    run = LOG.drop_nulls("rank").drop("relevance")
    expected = run.rank.by("system").judged_by(qrels, each="system").evaluate("ndcg@10")
    values = {e["system"]: e["value"] for e in report["estimates"] if e["metric"] == "ndcg@10"}
    assert values == pytest.approx(dict(expected.iter_rows()))


def test_one_system_alone(made, run):
    report = made("log.parquet", "--where", "system = 'bm25'")
    assert (report["baseline"], report["changes"], report["focus"]) == (None, [], "log")
    assert [group["name"] for group in report["groups"]] == ["worst", "best"]
    assert "system" not in run("log.parquet", "--where", "system = 'bm25'").splitlines()[2]


def test_queries_are_explained(made):
    report = made("log.parquet", *BOTH, "--examples", "2")
    assert [group["name"] for group in report["groups"]] == ["losses", "gains", "worst"]
    each = LOG.rank.by("system").per_query().ndcg(k=10).pivot("system", index="query", values="ndcg@10")
    change = each.with_columns(change=pl.col("neural") - pl.col("bm25")).sort("change", "query")
    assert [q["query"] for q in report["groups"][0]["queries"]] == change["query"].head(2).to_list()
    for group in report["groups"]:
        for query in group["queries"]:
            for shown in query["lists"]:
                rows = LOG.rank.explain("ndcg@10", query=query["query"], system=shown["system"])
                assert shown["columns"] == rows.columns
                assert len(shown["rows"]) + shown["left_out"] == rows.height
                assert rows["running"][-1] == pytest.approx(shown["value"])
                relevant = shown["columns"].index("relevance")
                assert sum((row[relevant] or 0) > 0 for row in shown["rows"]) == query["relevant"]


def test_trend(made):
    report = made("log.parquet", *BOTH, "--trend", "day")
    expected = LOG.rank.by("day", "system").ndcg(k=10)
    found = {(e["segment"], e["system"]): e["value"] for e in report["trend"]["estimates"] if e["metric"] == "ndcg@10"}
    assert found == pytest.approx({(str(day), system): value for day, system, value in expected.iter_rows()})


def test_what_the_data_have_wrong_is_said(made, folder):
    bad = LOG.filter(system="bm25").with_columns(score=pl.lit(1.0))
    bad.write_parquet("bad.parquet")
    (finding,) = made("bad.parquet", "--score", "score", "-m", "ndcg@10")["findings"]
    assert (finding["kind"], finding["mistake"]) == ("tied scores", False)
    assert ".rank" not in finding["hint"]


def test_everything_needed_to_repeat_it(made):
    report = made("log.parquet", *BOTH)
    (source,) = report["inputs"]
    assert (source["path"], source["rows"], source["bytes"]) == (
        "log.parquet",
        LOG.height,
        Path("log.parquet").stat().st_size,
    )
    assert source["fingerprint"].startswith("sha256:")
    assert {m["metric"]: m["says"] for m in report["meanings"]}["map"] == fm.metrics.parse("map").definition.says
    assert report["versions"].keys() == {"frame_metrics", "polars", "python"}
    assert report["settings"]["relevant"] == "above 0"


@pytest.mark.parametrize("freedom", [1, 2, 5, 30, 399, 12345])
def test_student(freedom):
    from scipy import stats

    for t in (0.0, 1e-3, 0.5, 1.96, 4.0, 30.0):
        assert two_sided(t, freedom) == pytest.approx(2 * stats.t.sf(t, freedom), rel=1e-7, abs=1e-15)
    for level in (0.5, 0.9, 0.95, 0.999):
        assert quantile(level, freedom) == pytest.approx(stats.t.ppf((1 + level) / 2, freedom), rel=1e-7)


@pytest.mark.parametrize(
    ("gate", "code", "says"),
    [
        ("ndcg@10 < 0.4", 0, "passed"),
        ("ndcg@10 < 0.99", 1, "ndcg@10 of neural is 0."),
        ("ndcg@10 drops > 1%", 0, "passed"),
        ("ndcg@10 rises >= 0.01", 1, "ndcg@10 of neural changes by +0.0"),
        ("ndcg@10 rises significantly", 1, "(significant)"),
        ("ndcg@10 drops > 5% by country", 1, "of neural, au changes by"),
        ("ndcg@10 drops significantly by country", 1, "of neural, au changes by"),
        ("mrr > 2", 0, "mrr of neural is"),
        ("map < .1 by country", 0, "passed"),
    ],
)
def test_gates(gate, code, says, run, made):
    SAMPLE.write_parquet("log.parquet")
    words = ["log.parquet", *BOTH, "--by", "country", "--examples", "0", "--fail-if", gate]
    assert says in run(*words, code=code)
    report = made(*words, code=code)
    assert report["passed"] is (code == 0)
    assert [verdict["gate"] for verdict in report["verdicts"]] == [gate]


@pytest.mark.parametrize(
    "text", ["ndcg@10", "ndcg@10 = 3", "ndcg@10 drops", "ndcg@10 < 5%", "< 3", "ndcg@10 < x", "ndcg@10 falls > 1%"]
)
def test_gates_that_cannot_be_read(text):
    with pytest.raises(OptionError, match="cannot read the gate"):
        read_gate(text)


REFUSED = {
    "no files": (["--ci", "0.9"], "the following arguments are required: FILES"),
    "no baseline": (["log.parquet", "--where", "system = 'bm25'", "--fail-if", "map drops > 1%"], "needs something to"),
    "no such segments": (["log.parquet", *BOTH, "--fail-if", "map < 1 by device"], "Hint: add --by device"),
    "no such metric": (["log.parquet", "--fail-if", "mapp < 1"], "there is no metric 'mapp', did you mean 'map'?"),
    "no such system": (
        ["log.parquet", *BOTH, "--baseline", "bm52"],
        "there is no system 'bm52' to compare with, did you",
    ),
    "two ways": (["log.parquet", "--system", "system", "--compare", "log.parquet"], "by one of them, not by both"),
    "baseline alone": (["log.parquet", "--baseline", "x"], "--baseline means nothing without --system"),
    "level": (["log.parquet", "--ci", "95"], "--ci must be a number > 0 and < 1, got 95.0"),
    "examples": (["log.parquet", "--examples", "-1"], "--examples must be an integer >= 0"),
    "suffix": (["log.parquet", "--out", "r.pdf"], "--out must end in one of .html, .md, .json, .parquet, .csv"),
    "folder": (["log.parquet", "--out", "no/r.html"], "Hint: mkdir -p"),
    "micro": (["log.parquet", "--average", "micro"], "so --average must be macro"),
    "two lists": (["log.parquet"], "two rows share one"),
    "no query": (["log.parquet", *BOTH, "--where", "rank > 1000"], "at least one query"),
    "no partitions": (["log.parquet", *BOTH, "--results", "r"], "--results needs folders such as day=2026-11-17"),
    "results elsewhere": (["log.parquet", "--results", "s3://b/r"], "--results must name a folder on this machine"),
    "time of a query": (["log.parquet", "--trend", "day", "--qrels", "log.parquet", "--queries", "qrels"], "--queries"),
    "no config": (["log.parquet", "--config", "no.toml"], "No such file or directory"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case, run, folder):
    words, says = REFUSED[case]
    text = run(*words, code=2)
    assert text.startswith("frame-metrics: error: ")
    assert text.count("\n") == 1
    assert says in text
    assert sorted(path.name for path in folder.iterdir()) == ["log.parquet"]


def test_options_from_a_file(made, folder):
    text = """
    files = "log.parquet"
    metric = ["ndcg@10", "map"]
    system = "system"
    by = ["country"]
    fail-if = ["ndcg@10 < 0.99"]
    examples = 1
    """
    (folder / "report.toml").write_text(text)
    stored = made("--config", "report.toml", code=1)
    given = made("log.parquet", *BOTH, "--by", "country", "--examples", "1", "--fail-if", "ndcg@10 < 0.99", code=1)
    assert rounded(stored) == rounded(given)
    assert len(made("--config", "report.toml", "--examples", "2", code=1)["groups"][0]["queries"]) == 2


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("sytem = 'x'", "in report.toml: there is no option 'sytem', did you mean 'system'?"),
        ("ci = 'high'", "in report.toml: argument --ci: invalid float value: 'high'"),
        ("json = 3", "in report.toml: --json must be true or false, got 3"),
        ("by = true", "in report.toml: --by must be a text, a number or a list of them, got True"),
        ("by = ", "cannot read 'report.toml' as TOML"),
        ("run = 'x'", "in report.toml: there is no option 'run'"),
    ],
)
def test_files_of_options_that_cannot_be_read(text, says, run, folder):
    (folder / "report.toml").write_text(text)
    assert says in run("log.parquet", "--config", "report.toml", code=2)


def test_a_dry_run_reads_no_rows_and_writes_nothing(run, folder, monkeypatch):
    monkeypatch.setattr(pl.LazyFrame, "collect", lambda *_, **__: pytest.fail("rows were read"))
    words = ["log.parquet", *BOTH, "--by", "country,device", "--fail-if", "map < 0.1", "--out", "r.html", "--dry-run"]
    text = run(*words)
    for part in ("log.parquet", "ndcg@10, map", "country by device", "fail if    map < 0.1", "write      r.html"):
        assert part in text
    assert not (folder / "r.html").exists()
    assert "there is no column 'contry', did you mean 'country'?" in run(
        "log.parquet", *BOTH, "--by", "contry", "--dry-run", code=2
    )


def test_forms(run, made, folder):
    words = ["log.parquet", *BOTH, "--by", "country", "--trend", "day"]
    names = ["r.html", "r.md", "r.json", "r.csv", "r.parquet"]
    run(*words, *(word for name in names for word in ("--out", name)))
    assert sorted(path.name for path in folder.iterdir()) == sorted(["log.parquet", *names])
    report = json.loads((folder / "r.json").read_text())
    assert rounded(report) == rounded(made(*words))
    numbers = pl.read_parquet("r.parquet")
    every = [*report["estimates"], *report["views"][0]["estimates"], *report["trend"]["estimates"]]
    assert numbers.height == len(every)
    assert_frame_equal(numbers.select("value", "queries"), table(every, "value", "queries"))
    assert pl.read_csv("r.csv").columns == numbers.columns
    first = next(e for e in report["estimates"] if e["system"] == "neural")
    for name in ("r.html", "r.md"):
        assert f"{first['value']:.4f}" in (folder / name).read_text()


def test_a_report_is_replaced_in_one_step(run, folder, monkeypatch):
    (folder / "r.html").write_text("the old one")

    def full(path, text, **_):
        Path.write_bytes(path, text[:10].encode())
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(Path, "write_text", full)
    assert "No space left on device" in run("log.parquet", *BOTH, "--out", "r.html", code=2)
    assert (folder / "r.html").read_text() == "the old one"
    assert sorted(path.name for path in folder.iterdir()) == ["log.parquet", "r.html"]


EVIL = "<script>alert(1)</script>\"'&|`[x](javascript:alert(2))<img src=x onerror=alert(3)>\u202e\x00\n# title"


def spoilt():
    """Return a log in which everything that can be a text is one that would do harm."""
    evil = {"query": EVIL + pl.col("query"), "item": EVIL + pl.col("item"), "country": EVIL + pl.col("country")}
    return LOG.with_columns(**evil, system=EVIL + pl.col("system"))


def test_nothing_of_the_data_is_markup(run, folder):
    spoilt().write_parquet("evil.parquet")
    run(
        "evil.parquet",
        *BOTH,
        "--by",
        "country",
        "--title",
        EVIL.replace("\x00", ""),
        "--out",
        "r.html",
        "--out",
        "r.md",
    )
    text = (folder / "r.html").read_text()
    page = Page(text)
    assert page.open == []
    names = {name for name, _ in page.elements}
    assert not names & {"script", "img", "iframe", "object", "embed", "link", "form", "base"}
    assert not {key for _, attributes in page.elements for key in attributes if key.startswith("on") or key == "src"}
    links = [attributes["href"] for name, attributes in page.elements if name == "a"]
    assert links
    assert all(re.fullmatch(r"#[a-z]+", link) for link in links)
    assert "<script>alert(1)</script>" in "".join(page.texts)
    assert "\u202e" not in text
    assert "\x00" not in text
    written = (folder / "r.md").read_text()
    assert not re.search(r"(?<!\\)<", written)
    assert not re.search(r"(?<!\\)\]\(", written)
    assert "\n# title" not in written


def test_the_page_is_complete_in_itself(run, folder):
    run("log.parquet", *BOTH, "--by", "country", "--trend", "day", "--fail-if", "map < 0.1", "--out", "r.html")
    text = (folder / "r.html").read_text()
    page = Page(text)
    ids = [attributes["id"] for name, attributes in page.elements if name == "section"]
    assert ids == [
        *("gates", "numbers", "comparison", "trend", "segments", "spread", "queries", "data", "definitions", "files")
    ]
    assert [f"#{name}" for name in ids] == [a["href"] for name, a in page.elements if name == "a"][: len(ids)]
    assert not re.search(r"https?:|url\(|@import", text)
    policy = next(a["content"] for name, a in page.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert "default-src 'none'" in policy
    assert all(a["aria-label"] for name, a in page.elements if name == "svg" and a.get("role") == "img")


def test_colours_on_a_terminal_only(run, monkeypatch, capsys):
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b" not in run("log.parquet", *BOTH)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert "\x1b[1m" in run("log.parquet", *BOTH)


def test_axis():
    assert Axis.over([0.012, 0.9]).ticks[0] == 0.0
    assert Axis.over([None]).low < Axis.over([None]).high
    assert Axis.over([0.5, 0.5]).at(0.5).endswith("%")
    assert 0.0 in Axis.over([0.3, 0.4], zero=True).ticks


FRESH = [*BOTH, "--by", "country", "--trend", "day", "--examples", "1"]
KEPT = [*BOTH, "--by", "country", "--results", "kept", "--examples", "1"]


@pytest.fixture
def computed(monkeypatch):
    """Return the partitions that have been computed so far, of which each is named when it is."""
    names = []
    write = stores.Store._write

    def noted(self, fingerprint, found):
        names.append(fingerprint)
        return write(self, fingerprint, found)

    monkeypatch.setattr(stores.Store, "_write", noted)
    return names


def same(report):
    """Return what two reports of the same numbers have in common."""
    names = ("estimates", "changes", "views", "trend", "groups", "spreads", "notes")
    return rounded({name: report[name] for name in names})


def test_what_is_kept_gives_the_same_report(made, folder, computed):
    partitioned(folder / "log")
    fresh = made("log", *FRESH)
    first = made("log", *KEPT)
    assert len(computed) == LOG["day"].n_unique()
    second = made("log", *KEPT)
    assert len(computed) == LOG["day"].n_unique()
    assert same(first) == same(fresh)
    assert same(second) == same(fresh)


def test_only_what_is_new_or_changed_is_computed(made, run, folder, computed):
    partitioned(folder / "log", LOG.filter(pl.col("day").dt.day() < 7))
    made("log", *KEPT)
    days = len(computed)
    partitioned(folder / "log")
    for path in (folder / "log").glob("*/*.parquet"):
        if path.parent.name != "day=2024-03-07":
            os.utime(path, ns=(1, 1))
    made("log", *KEPT)
    assert len(computed) == 2 * days + 1  # the others have been written again too
    part = folder / "log" / "day=2024-03-05" / "part.parquet"
    pl.read_parquet(part).filter(pl.col("query") != pl.col("query").first()).write_parquet(part)
    assert "1 of 4 partitions are new or changed\n           day=2024-03-05\n" in run("log", *KEPT, "--dry-run")
    assert same(made("log", *KEPT)) == same(made("log", *FRESH))
    assert len(computed) == 2 * days + 2


@pytest.mark.parametrize("words", [["-m", "mrr"], ["--min-relevance", "2"], ["--where", "country <> 'au'"]])
def test_another_question_is_computed_anew(words, made, folder, computed):
    partitioned(folder / "log")
    made("log", *KEPT)
    before = len(computed)
    kept = made("log", *KEPT, *words)
    assert len(computed) == 2 * before
    assert same(kept) == same(made("log", *FRESH, *words))


def test_a_partition_that_is_gone_is_forgotten(made, folder):
    partitioned(folder / "log")
    made("log", *KEPT)
    (folder / "log" / "day=2024-03-04" / "part.parquet").unlink()
    report = made("log", *KEPT)
    assert "2024-03-04" not in report["trend"]["segments"]
    manifest = json.loads((folder / "kept" / "manifest.json").read_text())["partitions"]
    named = {name for entry in manifest.values() for name in (entry["values"], *entry["views"].values())}
    assert {path.name for path in (folder / "kept").glob("*.parquet")} == named


@pytest.mark.parametrize("after", range(4))
def test_a_run_that_stops_leaves_what_it_finished(after, made, folder, computed, monkeypatch):
    """A run dies after so many files have been put in their places."""
    partitioned(folder / "log")
    expected = same(made("log", *FRESH))
    replace, left = Path.replace, [after]

    def dying(self, target):
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", dying)
    assert main(["report", "log", *KEPT]) == 130
    monkeypatch.setattr(Path, "replace", replace)
    finished = 1 if after >= 3 else 0  # two files of values, and the manifest
    before = len(computed)
    assert same(made("log", *KEPT)) == expected
    assert len(computed) - before == LOG["day"].n_unique() - finished


def test_parts_that_a_killed_run_left_are_removed(made, folder):
    partitioned(folder / "log")
    made("log", *KEPT)
    begun = replacing(folder / "kept" / "manifest.json")  # and never ended, which would remove the part
    begun.__enter__().write_text("half of it")
    assert len([*(folder / "kept").glob(".*.part")]) == 1
    made("log", *KEPT)
    assert not [*(folder / "kept").glob(".*.part")]


def test_lost_files_and_strange_folders(made, run, folder, computed):
    partitioned(folder / "log")
    expected = made("log", *KEPT)
    before = len(computed)
    next((folder / "kept").glob("*.parquet")).unlink()
    assert same(made("log", *KEPT)) == same(expected)
    assert len(computed) == before + 1
    (folder / "kept" / "manifest.json").write_text("{}")
    assert "is no manifest of results. Hint: name another folder" in run("log", *KEPT, code=2)


def test_two_runs_at_once(made, folder):
    partitioned(folder / "log")
    words = [sys.executable, "-m", "frame_metrics", "report", "log", *KEPT, "--json", "--examples", "0"]
    runs = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    reports = [json.loads(run.communicate(timeout=300)[0]) for run in runs]
    assert [run.returncode for run in runs] == [0, 0, 0]
    assert all(same(report) == same(reports[0]) for report in reports)
    assert same(made("log", *KEPT, "--examples", "0")) == same(reports[0])
    manifest = json.loads((folder / "kept" / "manifest.json").read_text())["partitions"]
    assert len(list((folder / "kept").glob("*.parquet"))) == 2 * len(manifest)


def test_a_run_waits_for_another(folder):
    import threading

    order = []

    def second():
        with stores._locked(folder / "lock"):
            order.append("second")

    with stores._locked(folder / "lock"):
        thread = threading.Thread(target=second)
        thread.start()
        time.sleep(0.2)
        order.append("first")
    thread.join(timeout=10)
    assert order == ["first", "second"]


@pytest.mark.parametrize(
    ("values", "kept"),
    [
        ([-0.01, 0.09], ["0.000", "0.100"]),
        ([0.45, 0.75], ["0.4", "0.8"]),
        ([-0.09, 0.09], ["\u22120.10", "0.00", "0.10"]),
    ],
)
def test_numbers_of_a_small_scale_do_not_meet(values, kept):
    text = str(pictures.scale(pictures.Axis.over(values)))
    assert re.findall(r'class="tick"[^>]*>([^<]+)<', text) == kept
