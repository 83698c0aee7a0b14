"""The README: what it lists is what the code has, what it shows is what the code gives.

`python tests/test_readme.py` prints the table of metrics.
"""

import ast
import contextlib
import io
import json
import re
import subprocess
from pathlib import Path
from typing import Literal, get_args, get_origin

import pytest

import frame_metrics as fm
from tests.benchmark.table import page

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.compile(r"```python\n(?P<code>.*?)```\n(?:\n```text\n(?P<shown>.*?)```\n)?", re.DOTALL)
NUMBER = re.compile(r"# (\d[\d.]*)$")
COMMAND = re.compile(r"<!-- command: (\w+) -->\n```sh\n(.*?)\n```", re.DOTALL)


def metrics_table():
    """Return the table of metrics in the README, made from their definitions."""
    lines = ["| metric | other names | the number for one query | options |", "|---|---|---|---|"]
    for definition in fm.metrics.definitions():
        names = ", ".join(f"`{name}`" for name in definition.aliases)
        options = [option(definition, name) for name in definition.signature.parameters]
        lines.append(f"| `{definition.name}` | {names} | {definition.says} | {'; '.join(options)} |")
    return "\n".join(lines)


def option(definition, name):
    """Return an option as it is written in a call, with its default first and then its other values."""
    if name == "k":
        return "`k`"
    default, kind = definition.options[name], definition.kinds[name]
    parts = get_args(kind) if get_origin(kind) not in (None, Literal) else (kind,)
    words = [word for part in parts if get_origin(part) is Literal for word in get_args(part)]
    others = [f'`"{word}"`' for word in words if word != default]
    if any("Mapping" in str(part) for part in parts):
        others.append("a mapping of grades to gains")
    return ", ".join([f"`{name}={default!r}`".replace("'", '"'), *others])


def shown(code, space):
    """Run code as a notebook would; return what it printed, and its last value."""
    tree = ast.parse(code)
    lines, printed, last = code.splitlines(), io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        for statement in tree.body:
            last = None
            if not isinstance(statement, ast.Expr):
                exec(compile(ast.Module([statement], []), "README", "exec"), space)  # noqa: S102
                continue
            last = eval(compile(ast.Expression(statement.value), "README", "eval"), space)  # noqa: S307
            said = NUMBER.search(lines[statement.end_lineno - 1])
            assert said is None or written(last) == said[1]
    return printed.getvalue() + ("" if last is None else f"{last}\n")


def written(value):
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def test_python_blocks_run_and_show_what_they_say(monkeypatch):
    monkeypatch.chdir(ROOT)
    space = {}
    blocks = list(BLOCKS.finditer(README))
    assert len(blocks) == README.count("```python")
    for block in blocks:
        found = shown(block["code"], space)
        assert block["shown"] is None or found == block["shown"]


def test_table_of_metrics():
    assert metrics_table() in README


@pytest.mark.parametrize("definition", fm.metrics.definitions(), ids=lambda definition: definition.name)
def test_every_name_and_option_is_in_the_table(definition):
    row = next(line for line in README.splitlines() if line.startswith(f"| `{definition.name}` |"))
    for name in (*definition.aliases, *definition.signature.parameters):
        assert f"`{name}" in row


def test_the_two_commands():
    commands = dict(COMMAND.findall(README))
    assert list(commands) == ["run", "test"]
    for command in commands.values():
        assert command.startswith("python3 -m venv .venv && .venv/bin/pip install -q ")


def test_ci_runs_the_command_of_the_readme():
    done = subprocess.run(["bash", ROOT / ".ci" / "run", "--print"], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == dict(COMMAND.findall(README))["test"]


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\((?!https?:|#)([^)#]+)", README))))
def test_links_lead_somewhere(link):
    assert (ROOT / link).exists()


if __name__ == "__main__":
    print(metrics_table())  # noqa: T201


def test_speed_is_what_was_measured():
    result = json.loads((ROOT / "tests" / "benchmark" / "result.json").read_text())
    shown = README.partition("<!-- speed -->")[2].partition("<!-- /speed -->")[0]
    assert shown.strip() == page(result)
