"""How exact the numbers are: the page of the README is what was compared, and what was compared is all explained."""

import json
from pathlib import Path

import polars as pl
import pytest

from tests.trusted import __main__ as program
from tests.trusted import reasons, table
from tests.trusted.compare import DATA, compared
from tests.trusted.names import Ours, ours
from tests.trusted.reasons import REASONS, explained

STORED = json.loads(program.RESULT.read_text(encoding="utf-8"))
TOOLS = {"trec_eval", "pytrec_eval-terrier", "ir_measures", "ranx", "scikit-learn", "torchmetrics"}
ROW = {
    "tool": "ranx", "measure": "ndcg@5", "mode": "default", "dataset": "lambdarank", "run": "ridge", "average": False,
    "theirs": 0.5, "ours": 0.5, "low": 0.25, "high": 0.75, "tied": False,
}  # fmt: skip

BPREF = "0 or NaN for lists that have hits; NaN where nothing is judged non-relevant"

needs_data = pytest.mark.skipif(not DATA.exists(), reason=f"the shared data folder {DATA} is not there")


def reason(**changes):
    """Return why a value differs: "equal" if it does not, None if nobody knows."""
    row = explained(pl.DataFrame(ROW | changes)).row(0, named=True)
    return "equal" if not row["differs"] else None if row["reason"] is None else REASONS[row["reason"]].says


def test_the_readme_shows_what_was_compared():
    shown = program.README.read_text(encoding="utf-8").partition(program.MARKS[0])[2].partition(program.MARKS[1])[0]
    assert shown.strip() == table.page(STORED)


def test_everything_that_differs_has_a_reason():
    assert STORED["unexplained"] == []
    assert all(each["why"] for each in STORED["not compared"])
    assert {tool.split()[0] for row in STORED["rows"] for tool in row["tools"]} == TOOLS
    assert all(row["largest"] is None or row["largest"] <= reasons.EXACT for row in STORED["rows"])


def test_the_numbers_add_up():
    assert STORED["values"] == sum(row["of queries"] + row["averages"] for row in STORED["rows"])
    differ = sum(why["values"] for row in STORED["rows"] for why in row["why"])
    assert STORED["exact"] == STORED["values"] - differ
    assert len(STORED["rows"]) < 80


def test_trec_eval_differs_in_nothing_but_its_own_total():
    of_trec = [row for row in STORED["rows"] if row["tools"][0].startswith(("trec_eval", "pytrec_eval"))]
    assert {why["says"] for row in of_trec for why in row["why"]} == {REASONS[0].says}
    assert sum(row["of queries"] for row in of_trec) > 1_000_000


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({}, "equal"),
        ({"ours": 0.5 + 1e-10}, "equal"),
        ({"ours": 0.5 + 1e-8}, None),
        ({"ours": None}, None),
        ({"theirs": float("nan")}, None),
        ({"ours": 0.7, "tied": True}, "the order of tied scores is left to its sort"),
        ({"ours": 0.7, "theirs": 0.8, "tied": True}, None),
        ({"tool": "trec_eval", "ours": 0.7, "tied": True}, None),
        ({"tool": "torchmetrics", "ours": 0.5 + 1e-7}, "computes with 32-bit floats"),
        ({"tool": "torchmetrics", "ours": 0.5 + 1e-5}, None),
        ({"tool": "scikit-learn", "measure": "roc_auc_score", "ours": 0.7, "tied": True}, None),
        ({"measure": "bpref", "theirs": float("nan")}, BPREF),
        ({"measure": "bpref", "ours": 0.7}, None),
    ],
)  # fmt: skip
def test_a_reason_explains_no_more_than_it_says(changes, says):
    assert reason(**changes) == says


@pytest.mark.parametrize(
    ("tool", "version", "measure", "expected"),
    [
        ("trec_eval", "10.0", "ndcg_cut_10", Ours("ndcg@10")),
        ("trec_eval", "10.0", "rbp", Ours("rbp(p=0.9,gain=linear)")),
        ("trec_eval", "10.0", "iprec_at_recall_0.10", Ours("iprec(recall=0.1)")),
        ("trec_eval", "9.0.8", "iprec_at_recall_0.10", Ours("iprec(recall=0.1,rounding=trec_eval_9)")),
        ("pytrec_eval-terrier", "0.5.11", "gm_map", Ours("gm_map", shown="log")),
        ("pytrec_eval-terrier", "0.5.11", "num_ret", Ours("num_ret", shown="mean")),
        ("pytrec_eval-terrier", "0.5.11", "runid", None),
        ("ir_measures", "0.4.3", "AP(rel=2)", Ours("average_precision", level=2)),
        ("ir_measures", "0.4.3", "nDCG(dcg='exp-log2')@5", Ours("ndcg(gain=exponential)@5")),
        ("ir_measures", "0.4.3", "Compat", None),
        ("ranx", "0.3.21", "rbp.80-l2", Ours("rbp(p=0.80,gain=linear)", lowest=2)),
        ("scikit-learn", "1.9.1", "dcg_score(k=5,ignore_ties=False)", Ours("dcg@5", ties="expected")),
        ("torchmetrics", "1.9.0", "recall@5", Ours("recall@5", below_zero="missed")),
    ],
)
def test_names_of_the_tools(tool, version, measure, expected):
    assert ours(tool, version, measure) == expected


@needs_data
@pytest.mark.parametrize("tool", ["scikit-learn", "torchmetrics"])
def test_comparing_again_gives_the_same(tool):
    again = table.result(compared(tool=tool))
    stored = [row for row in STORED["rows"] if row["tools"][0].startswith(tool)]
    assert again["unexplained"] == []
    same = ("measures", "ours", "settings", "tools", "modes", "data", "of queries", "averages")
    assert [[row[key] for key in same] for row in again["rows"]] == [[row[key] for key in same] for row in stored]
    assert [[why["says"] for why in row["why"]] for row in again["rows"]] == [
        [why["says"] for why in row["why"]] for row in stored
    ]


@needs_data
def test_every_tool_on_little_data():
    again = table.result(compared(dataset="trec_eval_rellevel"))
    assert again["values"] > 4000
    assert again["unexplained"] == []


@needs_data
def test_a_difference_without_a_reason_is_a_failure(monkeypatch, capsys):
    assert program.main(["--tool", "scikit-learn"]) == 0
    assert capsys.readouterr().out.startswith("9,723 of 10,699 values are equal to 1e-9; ")
    monkeypatch.setattr(reasons, "REASONS", REASONS[:1])
    assert program.main(["--tool", "scikit-learn", "--json"]) == 1
    printed = capsys.readouterr()
    assert len(json.loads(printed.out)["unexplained"]) == 20
    assert printed.err.startswith("no reason is known for this difference: {'tool': 'scikit-learn', ")


def test_without_the_data_there_is_nothing_to_compare(capsys):
    assert program.main(["--data", "/no/such/folder"]) == 2
    assert capsys.readouterr().err.startswith("there is no folder '/no/such/folder'")


def test_the_page_goes_between_its_marks(monkeypatch, tmp_path):
    monkeypatch.setattr(program, "README", tmp_path / "README.md")
    monkeypatch.setattr(program, "RESULT", tmp_path / "result.json")
    program.README.write_text(f"before\n{program.MARKS[0]}\nold\n{program.MARKS[1]}\nafter\n", encoding="utf-8")
    program.save(STORED)
    expected = f"before\n{program.MARKS[0]}\n\n{table.page(STORED)}\n\n{program.MARKS[1]}\nafter\n"
    assert Path(program.README).read_text(encoding="utf-8") == expected
    assert json.loads(Path(program.RESULT).read_text(encoding="utf-8")) == STORED
    program.README.write_text("no marks", encoding="utf-8")
    with pytest.raises(SystemExit, match="the README has no place for the page"):
        program.save(STORED)
