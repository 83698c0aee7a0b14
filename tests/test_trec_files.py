"""Files of TREC: every way to write a line, every way to get it wrong, and there and back again."""

from __future__ import annotations

import gzip
import re
import stat
from io import BytesIO
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import frame_metrics  # noqa: F401 puts .rank on frames
from frame_metrics.errors import MissingColumnError, OptionError, TableError
from frame_metrics.failing import raising
from frame_metrics.trec import scan_trec_qrels, scan_trec_run, write_trec_qrels, write_trec_run

ENGINES = ["in-memory", "streaming"]
RUN = "301 Q0 doc-7 1 12.5 bm25\n301 Q0 doc-2 2 11.25 bm25\n"
RUN_ROWS = [("301", "doc-7", 1, 12.5, "bm25"), ("301", "doc-2", 2, 11.25, "bm25")]
QRELS = "301 0 doc-7 2\n301 0 doc-9 -1\n"
QRELS_ROWS = [("301", "doc-7", 2), ("301", "doc-9", -1)]
SLOW = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
# U+FFFD stands for bytes that were no text, and is refused.
LETTERS = st.characters(exclude_categories=["Cs"], exclude_characters=" \t\r\n\f\v\ufffd")
NAMES = st.text(LETTERS, min_size=1, max_size=6)
QUERIES = NAMES.filter(lambda name: name[0] not in "#\ufeff")
GAPS = st.text(" \t", min_size=1, max_size=3)
FINITE = st.floats(allow_nan=False, allow_infinity=False)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "file.run"


def rows(plan, engine="in-memory"):
    with raising():
        return plan.collect(engine=engine).rows()


def put(file, text):
    file.write_bytes(text.encode())
    return file


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "change",
    [
        lambda text: text,
        lambda text: text.replace(" ", "\t"),
        lambda text: text.replace(" ", " \t  "),
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", " \t\n"),
        lambda text: "  " + text.replace("\n", "\n\t"),
        lambda text: text.rstrip("\n"),
        lambda text: "# a comment\n" + text + "#another\n",
        lambda text: "\n \n\t\n" + text.replace("\n", "\n\r\n\n"),
        lambda text: "\ufeff" + text,
    ],
)
def test_every_way_to_write_a_line_is_read(change, engine, file):
    assert rows(scan_trec_run(put(file, change(RUN))), engine) == RUN_ROWS
    assert rows(scan_trec_qrels(put(file, change(QRELS))), engine) == QRELS_ROWS


@SLOW
@given(
    lines=st.lists(st.tuples(st.tuples(*[NAMES] * 4, FINITE.map(repr), NAMES), st.lists(GAPS, min_size=5, max_size=5)))
)
def test_fields_are_those_of_a_plain_split(lines, tmp_path):
    texts = ["".join(f"{field}{gap}" for field, gap in zip(fields, [*gaps, ""], strict=True)) for fields, gaps in lines]
    texts = [text for text in texts if not text.startswith(("#", "\ufeff"))]
    found = scan_trec_run(put(tmp_path / "any.run", "\n".join(texts))).drop("file_rank")
    split = [re.split(r"[ \t]+", text) for text in texts]
    assert rows(found) == [(query, item, float(score), run) for query, _, item, _, score, run in split]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("suffix", "compression"), [(".gz", "gzip"), (".zst", "zstd")])
def test_compressed_files_are_read(suffix, compression, engine, tmp_path):
    file = tmp_path / f"file.run{suffix}"
    with pa.output_stream(file, compression=compression) as stream:
        stream.write(RUN.encode())
    assert rows(scan_trec_run(file), engine) == RUN_ROWS


@pytest.mark.parametrize("engine", ENGINES)
def test_compressed_files_are_told_by_what_is_in_them(engine, tmp_path):
    for name, data in {"plain.gz": RUN.encode(), "packed.run": gzip.compress(RUN.encode())}.items():
        (tmp_path / name).write_bytes(data)
        assert rows(scan_trec_run(tmp_path / name), engine) == RUN_ROWS
    (tmp_path / "parts.gz").write_bytes(gzip.compress(RUN.encode()) * 2)
    assert rows(scan_trec_run(tmp_path / "parts.gz"), engine) == RUN_ROWS * 2


@pytest.mark.parametrize("engine", ENGINES)
def test_a_compressed_file_that_was_cut_off_is_no_shorter_file(engine, tmp_path):
    file = tmp_path / "cut.run.gz"
    file.write_bytes(gzip.compress("".join(long_lines(20_000)).encode())[:-1000])
    with pytest.raises((OSError, pl.exceptions.ComputeError), match="unexpected end of file"):
        rows(scan_trec_run(file).select(pl.len()), engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_names_and_scores_are_as_printed(engine, file):
    ids = ["007", "1e5", "1.0", "NaN", "null", "true", '"a"', "2026-11-18", "٣", "-0"]
    put(file, "".join(f"{name} Q0 {name} 1 1 {name}\n" for name in ids))
    found = scan_trec_run(file).select("query", "item", "run")
    assert rows(found, engine) == [(name, name, name) for name in ids]
    put(file, "".join(f"{name} 0 {name} 1\n" for name in ids))
    assert rows(scan_trec_qrels(file).select("query", "item"), engine) == [(name, name) for name in ids]
    scores = ["+5", ".5", "5.", "1e5", "1E-3", "-0", "0.1", "9007199254740993", "4.9e-324", "0.30000000000000004"]
    put(file, "".join(f"q Q0 d{n} 1 {score} x\n" for n, score in enumerate(scores)))
    assert rows(scan_trec_run(file).select("score"), engine) == [(float(score),) for score in scores]


@pytest.mark.parametrize("engine", ENGINES)
def test_the_second_field_of_judgments_is_a_column_if_asked_for(engine, file):
    put(file, "1 2 doc-7 1\n1\t03  doc-7 0\n")
    plan = scan_trec_qrels(file, subtopic=True)
    assert plan.collect_schema() == {
        "query": pl.String,
        "subtopic": pl.String,
        "item": pl.String,
        "relevance": pl.Int64,
    }
    assert rows(plan, engine) == [("1", "2", "doc-7", 1), ("1", "03", "doc-7", 0)]
    with pytest.raises(
        TableError, match=r"line 1: there must be 4 fields, `query subtopic item relevance`, got '1 2 a'"
    ):
        rows(scan_trec_qrels(put(file, "1 2 a\n"), subtopic=True), engine)


def test_types_of_the_columns(file):
    run, qrels = scan_trec_run(put(file, RUN)), scan_trec_qrels(put(file.with_suffix(".qrels"), QRELS))
    names = {"query": pl.String, "item": pl.String}
    assert run.collect_schema() == names | {"file_rank": pl.Int64, "score": pl.Float64, "run": pl.String}
    assert qrels.collect_schema() == names | {"relevance": pl.Int64}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_file_with_nothing_in_it_is_an_empty_table(engine, file):
    for text in ("", "# only a comment\n", "  \n"):
        assert rows(scan_trec_run(put(file, text)), engine) == []


def test_a_rank_that_is_no_number_is_null(file):
    assert rows(scan_trec_run(put(file, "1 Q0 a first 0.5 x\n")).select("file_rank")) == [(None,)]


def test_nothing_is_read_before_the_plan_is_collected(file):
    plan = scan_trec_run(put(file, "1 Q0 a 1 0.5 x\n"))
    put(file, RUN)
    assert rows(plan) == RUN_ROWS


def test_plans_can_be_serialised(file):
    plan = scan_trec_run(put(file, RUN))
    assert rows(pl.LazyFrame.deserialize(BytesIO(plan.serialize()))) == RUN_ROWS


def test_several_files_are_one_table(tmp_path):
    paths = [put(tmp_path / name, RUN) for name in ("a[1].run", "b.run")]
    assert rows(scan_trec_run(paths)) == RUN_ROWS * 2
    assert rows(scan_trec_run([str(path) for path in paths])) == RUN_ROWS * 2
    with pytest.raises(OptionError, match="`path` must be one or more files"):
        scan_trec_run([])


def test_patterns_stand_for_files(tmp_path):
    for name in ("b.run", "a.run", "c.qrels", "sub/d.run"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        put(tmp_path / name, f"{name} Q0 x 1 0.5 {name}\n")
    assert rows(scan_trec_run(tmp_path / "*.run").select("run")) == [("a.run",), ("b.run",)]
    assert rows(scan_trec_run([tmp_path / "**" / "d*", str(tmp_path / "?.run")]).select("run").head(2)) == [
        ("sub/d.run",),
        ("a.run",),
    ]
    with pytest.raises(FileNotFoundError, match="no file matches the pattern"):
        scan_trec_run(tmp_path / "*.gz")


def long_lines(count):
    return [f"{n // 100} Q0 doc-{n} {n % 100} {n / 7} long\n" for n in range(count)]


BROKEN_RUNS = [
    ("1 Q0 a 1 0.5", "there must be 6 fields, `query Q0 item rank score run`, got '1 Q0 a 1 0.5'"),
    ("1 Q0 a 1 0.5 x y", "there must be 6 fields, `query Q0 item rank score run`, got '1 Q0 a 1 0.5 x y'"),
    ("word", "there must be 6 fields, `query Q0 item rank score run`, got 'word'"),
    ('1 Q0 "a b" 1 0.5 x', "there must be 6 fields, `query Q0 item rank score run`, got '1 Q0 \"a b\" 1 0.5 x'"),
    ("1 Q0 a 1 abc x", "the score must be a finite number, got 'abc'"),
    ("1 Q0 a 1 0,5 x", "the score must be a finite number, got '0,5'"),
    ("1 Q0 a 1 nan x", "the score must be a finite number, got 'nan'"),
    ("1 Q0 a 1 -inf x", "the score must be a finite number, got '-inf'"),
    ("1 Q0 a 1 1e400 x", "the score must be a finite number, got '1e400'"),
]
BROKEN_QRELS = [
    ("1 0 a", "there must be 4 fields, `query 0 item relevance`, got '1 0 a'"),
    ("1 0 a 1 1", "there must be 4 fields, `query 0 item relevance`, got '1 0 a 1 1'"),
    ("1 0 a 1.7", "the relevance must be a whole number, got '1.7'"),
    ("1 0 a x", "the relevance must be a whole number, got 'x'"),
    ("1 0 a 99999999999999999999", "the relevance must be a whole number, got '99999999999999999999'"),
]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("scan", "good", "broken"),
    [(scan_trec_run, RUN, each) for each in BROKEN_RUNS] + [(scan_trec_qrels, QRELS, each) for each in BROKEN_QRELS],
)
def test_a_broken_line_fails_with_its_file_number_and_text(scan, good, broken, engine, file):
    line, text = broken
    plan = scan(put(file, f"# comment\n\n{good}{line}\n{good}"))
    number = pl.col("score" if scan is scan_trec_run else "relevance")
    filtered = plan.filter(query="2"), plan.filter(number > 0), plan.filter(item="x").select("query")
    for asked in (plan, plan.select("item"), plan.select(pl.len()), *filtered):
        with pytest.raises(TableError) as caught:
            rows(asked, engine)
        assert str(caught.value) == f"{file}, line 5: {text}"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_lines_are_numbered_in_each_of_many_and_long_files(suffix, engine, tmp_path):
    lines = long_lines(200_000)
    lines[150_000] = "broken\n"
    paths = [put(tmp_path / "short.run", RUN), tmp_path / f"long.run{suffix}"]
    with pa.output_stream(paths[1], compression={".gz": "gzip", ".zst": "zstd"}.get(suffix)) as stream:
        stream.write("".join(lines).encode())
    with pytest.raises(TableError, match=r"long\.run[.a-z]*, line 150001: there must be 6 fields"):
        rows(scan_trec_run(paths), engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_bytes_that_are_no_text_are_refused_with_their_line(engine, file):
    file.write_bytes(b"# caf\xe9\n1 Q0 a 1 0.5 x\n1 Q0 caf\xe9 2 0.25 x\n")
    for asked in (scan_trec_run(file), scan_trec_run(file).select("score"), scan_trec_run(file).filter(item="a")):
        with pytest.raises(
            TableError, match=r"file\.run, line 3: the text must be UTF-8, .* got '1 Q0 caf� 2 0\.25 x'"
        ):
            rows(asked, engine)
    file.write_bytes("1 Q0 a 1 0.5 x".encode("utf-16"))
    with pytest.raises(TableError, match=r"file\.run, line 1: the text must be UTF-8"):
        rows(scan_trec_run(file), engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_long_file_is_read_as_a_loop_reads_it(engine, file):
    lines = [f"{n // 100}{' ' * (n % 3 + 1)}Q0\tdoc-{n} {n % 100} {n / 7} long" for n in range(100_000)]
    expected = [(str(n // 100), f"doc-{n}", n % 100, n / 7, "long") for n in range(100_000)]
    assert rows(scan_trec_run(put(file, "\n".join(lines))), engine) == expected


@pytest.mark.parametrize("make", [pl.DataFrame, pl.LazyFrame, pd.DataFrame])
def test_runs_are_written_by_query_and_rank(make, file):
    columns = {"query": [2, 1, 1, 1], "item": list("abcd"), "rank": [1, 2, None, 1], "score": [0.5, 0.25, None, 4.0]}
    frame = make(columns)
    assert write_trec_run(frame, file, run="mine") is None
    assert file.read_text() == "1 Q0 d 1 4.0 mine\n1 Q0 b 2 0.25 mine\n2 Q0 a 1 0.5 mine\n"
    names = frame.collect_schema().names() if isinstance(frame, pl.LazyFrame) else list(frame.columns)
    assert names == list(columns)


def test_ranks_come_from_scores_and_scores_from_ranks(file):
    write_trec_run(pl.DataFrame({"query": "q", "item": ["9", "10", "x"], "score": [1, 1, None]}), file)
    assert file.read_text() == "q Q0 9 1 1.0 run\nq Q0 10 2 1.0 run\n"
    write_trec_run(pl.DataFrame({"query": "q", "item": ["b", "a"], "rank": [2.0, 1.0]}), file)
    assert file.read_text() == "q Q0 a 1 -1.0 run\nq Q0 b 2 -2.0 run\n"


def test_columns_may_have_other_names(file):
    frame = pl.DataFrame({"rank": ["u"], "score": ["x"], "s": [0.5], "r": [3]})
    write_trec_run(frame, file, query="rank", item="score", score="s", rank="r")
    assert file.read_text() == "u Q0 x 3 0.5 run\n"
    write_trec_qrels(frame, file, query="rank", item="score", relevance="r")
    assert file.read_text() == "u 0 x 3\n"


@pytest.mark.parametrize("make", [pl.DataFrame, pl.LazyFrame, pd.DataFrame])
@pytest.mark.parametrize("grades", [[2, None, 0, -1], [2.0, None, 0.0, -1.0]])
def test_judgments_are_written_by_query_and_item(grades, make, file):
    write_trec_qrels(make({"query": [2, 1, 1, 1], "item": list("dcba"), "relevance": grades}), file)
    assert file.read_text() == "1 0 a -1\n1 0 b 0\n2 0 d 2\n"


def test_clicks_are_written_as_grades(file):
    write_trec_qrels(pl.DataFrame({"query": 1, "item": ["a", "b"], "relevance": [True, False]}), file)
    assert file.read_text() == "1 0 a 1\n1 0 b 0\n"


@SLOW
@given(lists=st.dictionaries(QUERIES, st.dictionaries(NAMES, FINITE, min_size=1, max_size=5), min_size=1))
@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_there_and_back_again(suffix, lists, tmp_path):
    file = tmp_path / f"back.run{suffix}"
    entries = [(query, item, score) for query, scores in lists.items() for item, score in scores.items()]
    schema = {"query": pl.String, "item": pl.String, "score": pl.Float64}
    table = pl.DataFrame(entries, schema=schema, orient="row")
    write_trec_run(table, file)
    again = scan_trec_run(file).select(*schema).collect()
    assert again.sort("query", "item").equals(table.sort("query", "item"))
    assert again["query"].to_list() == sorted(table["query"], key=str.encode)


@SLOW
@given(lists=st.dictionaries(QUERIES, st.sets(st.integers(1, 2**53), min_size=1, max_size=5), min_size=1))
def test_ranks_there_and_back_again(lists, tmp_path):
    file = tmp_path / "back.run"
    entries = [(query, f"d{rank}", rank) for query, ranks in lists.items() for rank in ranks]
    write_trec_run(pl.DataFrame(entries, schema=["query", "item", "rank"], orient="row"), file)
    assert set(rows(scan_trec_run(file).select("query", "item", "file_rank"))) == set(entries)


def test_subtopics_there_and_back_again(file):
    entries = [("1", "1", "a", 1), ("1", "2", "a", 0), ("1", "2", "b", 2)]
    frame = pl.DataFrame(entries, schema=["query", "part", "item", "relevance"], orient="row")
    write_trec_qrels(frame, file, subtopic="part")
    assert rows(scan_trec_qrels(file, subtopic=True)) == entries
    with pytest.raises(
        TableError, match="each item may stand once in a query, but one is there twice: query 1, item a"
    ):
        write_trec_qrels(frame, file)
    with pytest.raises(TableError, match="each subtopic must be text without spaces"):
        write_trec_qrels(frame.with_columns(part=pl.lit("a b")), file, subtopic="part")
    with pytest.raises(MissingColumnError, match="there is no column 'topic'"):
        write_trec_qrels(frame, file, subtopic="topic")
    assert rows(scan_trec_qrels(file, subtopic=True)) == entries


def test_compressed_files_are_compressed(tmp_path):
    write_trec_qrels(pl.DataFrame({"query": 1, "item": "a", "relevance": [1]}), tmp_path / "file.qrels.gz")
    assert gzip.decompress((tmp_path / "file.qrels.gz").read_bytes()) == b"1 0 a 1\n"
    write_trec_qrels(pl.DataFrame({"query": 1, "item": "a", "relevance": [1]}), tmp_path / "file.qrels.zst")
    assert (tmp_path / "file.qrels.zst").read_bytes()[:4] == b"\x28\xb5\x2f\xfd"


def run_with(**columns):
    return pl.DataFrame({"query": ["1", "2"], "item": ["a", "b"], "rank": [1, 1], "score": [1.0, 2.0]} | columns)


BAD_RUNS = [
    (run_with(query=["1", "2 3"]), "each query must be text without spaces that begins no comment, but one is '2 3'"),
    (run_with(query=["1", "#2"]), "each query must be text without spaces that begins no comment, but one is '#2'"),
    (run_with(query=["1", None]), "each query must be text without spaces that begins no comment, but one is 'null'"),
    (run_with(item=["a", ""]), "each item must be text without spaces that begins no comment, but one is ''"),
    (run_with(item=["a", "b\nc"]), "each item must be text without spaces that begins no comment, but one is 'b\nc'"),
    (run_with(item=["a", "�"]), "each item must be text without spaces that begins no comment, but one is '�'"),
    (run_with(rank=[1, 0]), "each rank must be a whole number from 1 on, but one is 0: query 2, item b"),
    (run_with(rank=[1.0, 1.5]), "each rank must be a whole number from 1 on, but one is 1.5: query 2, item b"),
    (run_with(score=[1.0, None]), "each score must be finite, but one is null: query 2, item b"),
    (run_with(score=[1.0, float("inf")]), "each score must be finite, but one is inf: query 2, item b"),
    (run_with(query="1", item="a"), "each item may stand once in a query, but one is there twice: query 1, item a"),
]


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("make", [pl.DataFrame, pl.LazyFrame])
@pytest.mark.parametrize(("frame", "text"), BAD_RUNS)
def test_an_error_leaves_what_was_there(frame, text, make, suffix, tmp_path):
    file = put(tmp_path / f"old.run{suffix}", "old")
    with pytest.raises(TableError) as caught:
        write_trec_run(frame if make is pl.DataFrame else frame.lazy(), file)
    assert str(caught.value) == text
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_a_relevance_that_is_no_whole_number_is_refused(file):
    frame = pl.DataFrame({"query": 1, "item": ["a", "b"], "relevance": [1.0, 0.5]})
    with pytest.raises(TableError, match=r"^each relevance must be a whole number, but one is 0\.5: query 1, item b$"):
        write_trec_qrels(frame, file)
    assert not list(file.parent.iterdir())


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"run": "my run"}, OptionError, "`run` must be a name without spaces, got 'my run'"),
        ({"run": ""}, OptionError, "`run` must be a name without spaces, got ''"),
        ({"score": "scroe"}, MissingColumnError, "there is no column 'scroe', did you mean 'score'?"),
        ({"item": "doc"}, MissingColumnError, "there is no column 'doc'. The table has"),
        ({"frame": pl.DataFrame({"query": 1, "item": ["a"]})}, MissingColumnError, "there is no column 'rank'"),
    ],
)
def test_what_cannot_be_written_is_refused_at_once(options, error, text, file):
    with pytest.raises(error) as caught:
        write_trec_run(options.pop("frame", run_with()), file, **options)
    assert str(caught.value).startswith(text)
    assert not file.exists()


def test_a_folder_that_is_not_there_is_an_error_of_the_system(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_trec_run(run_with(), tmp_path / "nowhere" / "file.run")


def test_written_files_are_as_readable_as_any_other(file):
    other = put(file.with_name("other"), "")
    write_trec_run(run_with(), file)
    assert stat.S_IMODE(file.stat().st_mode) == stat.S_IMODE(other.stat().st_mode)


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "link.run").symlink_to(tmp_path / "real.run")
    write_trec_run(run_with(), tmp_path / "link.run")
    assert (tmp_path / "link.run").is_symlink()
    assert (tmp_path / "real.run").read_text().startswith("1 Q0 a 1 1.0 run\n")


def test_columns_that_polars_cannot_read_are_no_hindrance(file):
    frame = pd.DataFrame({"query": [1], "item": ["a"], "rank": [1], "notes": [{1, "x"}]})
    write_trec_run(frame, file)
    assert file.read_text() == "1 Q0 a 1 -1.0 run\n"


def test_other_programs_read_the_same(file):
    oracle = pytest.importorskip("pytrec_eval")
    put(file, RUN)
    with Path(file).open() as lines:
        assert oracle.parse_run(lines) == {"301": {row[1]: row[3] for row in rows(scan_trec_run(file))}}
    put(file, QRELS)
    with Path(file).open() as lines:
        assert oracle.parse_qrel(lines) == {"301": {row[1]: row[2] for row in rows(scan_trec_qrels(file))}}


def test_metrics_of_files(tmp_path):
    run, qrels = put(tmp_path / "run", RUN), put(tmp_path / "qrels", "301 0 doc-2 1\n")
    score = scan_trec_run(run).rank.from_scores("score").judged_by(scan_trec_qrels(qrels)).mrr()
    assert rows(score) == [(0.5,)]
