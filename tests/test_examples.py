"""The notebooks: they run from top to bottom, and what they show is what their code gives.

`python tests/test_examples.py` runs them and stores what they show. Charts are stored as pictures, which every page can
show; that takes vl-convert-python and pillow.
"""

import base64
import io
import json
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
PICTURES = "--IPKernelApp.exec_lines=import altair; altair.renderers.enable('png', ppi=144)"
ABSOLUTE = re.compile(r"(?<![\w.])(/(home|root|tmp|work|usr|opt|var|mnt|private|Users)\b|[A-Z]:\\)")

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def kernel(folder, *arguments):
    """Describe a kernel that is the running interpreter with this checkout, and return what finds it there."""
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}", *arguments]
    spec = {"argv": argv, "display_name": "Python 3", "language": "python", "env": {"PYTHONPATH": str(ROOT)}}
    place = folder / "kernels" / "python3"
    place.mkdir(parents=True)
    (place / "kernel.json").write_text(json.dumps(spec))
    return {"JUPYTER_PATH": str(folder), "JUPYTER_RUNTIME_DIR": str(folder), "IPYTHONDIR": str(folder)}


def executed(path, folder):
    """Run a copy of a notebook beside a copy of the data, and return it with its outputs."""
    shutil.copytree(ROOT / "data", folder / "data")
    (folder / "examples").mkdir()
    notebook = nbformat.read(path, as_version=4)
    place = {"metadata": {"path": str(folder / "examples")}}
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources=place, coalesce_streams=True).execute()
    assert not list((folder / "examples").iterdir()), "a notebook cleans up what it has written"
    return notebook


def outputs(notebook):
    return [output for cell in notebook.cells for output in cell.get("outputs", [])]


def shown(notebook):
    """Return the texts that a reader sees, without charts."""
    data = [output.get("data", {}) for output in outputs(notebook)]
    return [part["text/plain"] for part in data if "image/png" not in part and "text/plain" in part]


def tables(notebook):
    return [text for text in shown(notebook) if text.startswith("shape: ")]


@each_notebook
def test_runs_and_gives_the_stored_tables(path, tmp_path, monkeypatch):
    for name, value in kernel(tmp_path / "jupyter").items():
        monkeypatch.setenv(name, value)
    stored, fresh = nbformat.read(path, as_version=4), executed(path, tmp_path)
    assert tables(stored)
    assert tables(fresh) == tables(stored)


@each_notebook
def test_stored_outputs_have_no_error(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    found = outputs(notebook)
    assert found
    assert not [output for output in found if output.output_type == "error" or output.get("name") == "stderr"]


@each_notebook
def test_no_absolute_path(path):
    notebook = nbformat.read(path, as_version=4)
    printed = [output.get("text", "") for output in outputs(notebook)]
    texts = [cell.source for cell in notebook.cells] + printed + shown(notebook)
    assert not [text for text in texts if ABSOLUTE.search(text)]


@each_notebook
def test_is_short(path):
    assert len(nbformat.read(path, as_version=4).cells) <= 25
    assert path.stat().st_size < 200_000


def test_there_is_one_for_each_reader():
    assert [path.stem for path in NOTEBOOKS] == ["analyst", "batch_report", "etl"]


def smaller(picture):
    """Return a picture with fewer colours; a chart looks the same, in a tenth of the space."""
    from PIL import Image

    file = io.BytesIO()
    image = Image.open(io.BytesIO(base64.b64decode(picture)))
    image.convert("RGB").quantize(64).save(file, "PNG", optimize=True)
    return base64.b64encode(file.getvalue()).decode()


def store(path):
    with tempfile.TemporaryDirectory() as name:
        os.environ.update(kernel(Path(name, "jupyter"), PICTURES))
        notebook = executed(path, Path(name))
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    for output in outputs(notebook):
        if "image/png" in output.get("data", {}):
            output.data["image/png"] = smaller(output.data["image/png"])
    notebook.metadata["language_info"] = {"name": "python"}
    nbformat.write(notebook, path)


if __name__ == "__main__":
    for notebook_path in NOTEBOOKS:
        store(notebook_path)
