"""The benchmark runs: every case and every peer, on little data, with the numbers that it should have."""

import json
import math
import warnings
from pathlib import Path

import polars as pl
import pytest

from tests.benchmark import __main__ as program
from tests.benchmark import calls, data, measure, ours, packages, peers, table
from tests.benchmark.file import NINE

ROWS = 1_000
SMALL = "--rows 1000,100000 --big 200000 --repeat 1"
LINE = {
    "case": str, "form": str, "source": str, "rows": int, "measured": float, "unit": str, "must": float,
    "aim": float | None, "binding": bool, "wall": float | None, "cpu": float | None, "seconds": float, "against": str,
    "against_seconds": float | None, "beside": dict, "verdict": str,
}  # fmt: skip
PEER_LINE = {
    "peer": str, "version": str | None, "takes": str, "rows": int, "metrics": int, "seconds": float | None,
    "ours_seconds": float | None, "faster": float | None, "wall": float | None, "cpu": float | None,
    "must": float | int | None, "difference": float | None, "compile_seconds": float | None, "note": str,
    "error": str | None, "verdict": str, "agrees": str,
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory):
    """Files go where pytest cleans up, so that a benchmark's own are left alone."""
    kept, data.FOLDER = data.FOLDER, tmp_path_factory.mktemp("benchmark")
    yield data.FOLDER
    data.FOLDER = kept


@pytest.fixture(scope="module")
def subjects():
    return {form: calls.Subject(form, ROWS) for form in ("sorted", "shuffled", "string", "qrels")}


@pytest.fixture(scope="module")
def tables():
    return packages.Tables(ROWS)


def test_data_is_as_described(subjects):
    table = pl.concat(data.chunks("sorted", 100_000))
    assert table.group_by("query").len()["len"].unique().to_list() == [data.ROWS_A_QUERY]
    assert table.select("query", "item").is_unique().all()
    assert table["relevance"].unique().sort().to_list() == [0, 1, 2, 3]
    assert table.select((pl.col("relevance") > 0).mean()).item() == pytest.approx(0.07, abs=0.005)
    assert subjects["sorted"].frame.equals(table.head(ROWS).drop("judged"))


def test_shuffled_rows_are_the_same_rows(subjects):
    given, shuffled = subjects["sorted"].frame, subjects["shuffled"].frame
    assert not shuffled.equals(given)
    assert shuffled.sort("query", "rank").equals(given)


def test_a_file_is_written_once(folder, subjects):
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    calls.Subject("sorted", ROWS)
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before
    assert not list(folder.glob("*.part"))


def test_every_form_has_the_same_numbers(subjects):
    sorted_rows = calls.CALLS["nine"](subjects["sorted"]).row(0)
    assert all(map(math.isfinite, sorted_rows))
    others = {
        "nine": ("shuffled", "string"),
        "file nine": ("sorted", "shuffled", "string"),
        "judged nine": ("qrels",),
        "file judged nine": ("qrels",),
    }
    for call, forms in others.items():
        for form in forms:
            assert calls.CALLS[call](subjects[form]).row(0) == pytest.approx(sorted_rows), (call, form)
    assert calls.CALLS["pandas nine"](subjects["string"]).iloc[0].tolist() == pytest.approx(list(sorted_rows))


@pytest.mark.parametrize("form", ["sorted", "shuffled", "string", "qrels"])
def test_every_case_gives_a_ratio(subjects, form):
    results = ours.ratios(subjects[form], ours.CASES, repeat=1)
    assert {r.case for r in results} == {c.name for c in ours.CASES if form in c.forms}
    for result in results:
        ratios = [result.measured, result.wall, result.cpu, *result.beside.values()]
        assert all(math.isfinite(r) and r > 0 for r in ratios), result
        assert result.verdict.startswith("(")


def test_every_call_is_in_a_case():
    assert set().union(*(case.calls for case in ours.CASES)) == set(calls.CALLS)
    assert set(ours.SHORT.values()) <= set(calls.CALLS)


@pytest.mark.parametrize("peer", packages.PEERS, ids=lambda peer: peer.name)
def test_peer_has_our_numbers(tables, peer):
    if not peer.installed:
        pytest.skip(f"{peer.module} is not installed")
    if peer.compiles and not compiled(peer):
        pytest.skip(f"{peer.name} would compile for most of a minute; the benchmark does it once")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        numbers = peer.numbers(tables)
    assert set(numbers) <= set(packages.SEVEN)
    assert numbers == pytest.approx(peers.reference(peer, tables, tuple(numbers)), abs=peers.CLOSE)


def compiled(peer):
    """Return whether numba has kept what it compiled for a package."""
    import importlib.util

    root = Path(importlib.util.find_spec(peer.module).origin).parent
    return any(root.rglob("*.nbi"))


def test_line_of_a_peer(tables):
    line = peers.measured(peers.find("textbook Polars"), tables, repeat=1)
    assert line.agrees == "yes"
    assert line.metrics == 7
    assert line.faster > 0


def test_peer_that_is_not_there_or_breaks_says_so(tables):
    gone = packages.Peer("gone", "gone", "no_such_module", "int_keys", lambda _: {})
    assert peers.measured(gone, tables, repeat=1).error == "not installed: no module 'no_such_module'"
    broken = packages.Peer("broken", "polars", "polars", "int_keys", lambda t: t.int_keys["no such column"])
    assert peers.measured(broken, tables, repeat=1).error.startswith("ColumnNotFoundError")


def test_peer_with_other_numbers_is_found_out(tables):
    wrong = packages.Peer("wrong", "polars", "polars", "int_keys", lambda _: {"map": 0.5})
    assert peers.measured(wrong, tables, repeat=1).agrees.startswith("no")


def test_verdicts():
    line = {"case": "a", "form": "", "source": "", "rows": 1, "unit": "x", "must": 2.0, "aim": 1.0}
    said = {m: ours.Result(measured=m, **line).verdict for m in (0.5, 1.5, 3.0)}
    assert said == {0.5: "holds, and the aim", 1.5: "holds", 3.0: "misses by 1.50x"}
    assert ours.Result(measured=3.0, binding=False, **line).verdict == "(misses by 1.50x)"


def test_interleaved_takes_turns_and_stops_when_it_is_enough():
    order = []
    costs = measure.interleaved({n: lambda n=n: order.append(n) for n in "abc"}, repeat=2)
    assert [sorted(order[i : i + 3]) for i in (0, 3, 6)] == [["a", "b", "c"]] * 3
    assert costs["a"].runs == 2
    assert measure.interleaved({"a": lambda: None}, repeat=5, enough=0.0)["a"].runs == 1


def test_memory_of_a_process_of_its_own(subjects):
    line = ours.memory(subjects["sorted"].files, ROWS, "sorted")
    assert 20 < line.beside["nothing, MB"] <= line.measured * 1.2
    assert line.measured < 2_000


def test_import_is_timed():
    assert 0 < ours.importing(runs=1).measured < 60_000


def test_run_writes_the_documented_json(tmp_path, capsys):
    out = tmp_path / "result.json"
    arguments = [*SMALL.split(), "--forms", "sorted", "--only", "nine", "--peers", "DuckDB,textbook Polars"]
    program.main([*arguments, "--peer-rows", "1000", "--out", str(out)])
    result = json.loads(out.read_text())
    assert set(result) == {"date", "command", "python", "packages", "machine", "cases", "peers"}
    assert set(result["machine"]) == {"system", "cpu", "cores", "memory_gb", "load"}
    assert result["packages"]["polars"] == pl.__version__
    for line, shape in [*((c, LINE) for c in result["cases"]), *((p, PEER_LINE) for p in result["peers"])]:
        assert set(line) == set(shape)
        assert all(isinstance(line[name], kind) for name, kind in shape.items()), line
    assert {"nine metrics", "nine metrics, file", "nine metrics, a call", "nine metrics, peak memory"} <= {
        line["case"] for line in result["cases"]
    }
    printed = capsys.readouterr().out
    assert "textbook Polars" in printed
    assert "nine metrics, peak memory" in printed
    assert table.report(result, table.markdown).count("|---|") > 1


def test_cost_per_row():
    line = ours.growth("sorted", [1_000, 2_000], repeat=1)
    assert line.measured > 0
    assert set(line.beside) == {"1,000 rows, ns a row", "2,000 rows, ns a row", "bare grows, x"}


def test_chart(tmp_path):
    pytest.importorskip("altair")
    pytest.importorskip("vl_convert")
    from tests.benchmark import chart

    lines = [
        peers.PeerResult(n, "1", "int_keys", ROWS, m, seconds=s, ours_seconds=0.01, wall=s / 0.01)
        for n, m, s in (("slow", 7, 2.0), ("one", 1, 0.1))
    ]
    result = {"peers": [line.plain() for line in lines]}
    assert [bar["name"] for bar in chart.bars(result)] == [
        "frame_metrics (Polars, integer keys)",
        "one (nDCG only)",
        "slow",
    ]
    chart.save(result, str(tmp_path / "chart.svg"))
    assert "<svg" in (tmp_path / "chart.svg").read_text()


@pytest.mark.parametrize("bad", [["--rows", "150"], ["--forms", "sorted,nice"], ["--peers", "DuckDB,duck"]])
def test_bad_options_are_refused(bad, capsys):
    with pytest.raises(SystemExit):
        program.options(bad)
    said = capsys.readouterr().err
    assert any(text in said for text in ("multiples of 100", "--forms takes", "--peers: expected"))


def test_nine_metrics_are_nine():
    assert len(set(NINE)) == 9
    assert len(set(packages.SEVEN)) == 7
