"""The report in a browser: sections, pictures, and no request or script, where Chromium is installed."""

from __future__ import annotations

import json
import re
import shutil
import struct
import subprocess
import zlib
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from frame_metrics.cli import main

ROOT = Path(__file__).parents[1]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
QUIET = ("--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run")
UP, UP_IN_THE_DARK, PAPER, NIGHT = (0, 99, 163), (99, 184, 242), (255, 255, 255), (20, 23, 27)
HARM = "<img src=http://example.invalid/x onerror=\"document.title='harmed'\"><script>document.title='harmed'</script>"

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Write a report about data that try to run a script and to load a picture."""
    folder = tmp_path_factory.mktemp("browser")
    log = pl.read_parquet(ROOT / "data" / "search_log.parquet")
    harm = {name: pl.lit(HARM) + pl.col(name) for name in ("query", "item", "country")}
    log.with_columns(**harm).write_parquet(folder / "log.parquet")
    words = ["--system", "system", "--by", "country", "--trend", "day", "-m", "ndcg@10,map", "--title", "a report"]
    assert main(["report", str(folder / "log.parquet"), *words, "--out", str(folder / "report.html")]) == 0
    return folder / "report.html"


@pytest.fixture
def browse(page, tmp_path):
    """Open the report, and return what Chromium prints about it."""

    def browse(*options, page=page):
        words = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", *QUIET, *options]
        words.append(f"--user-data-dir={tmp_path / 'profile'}")
        return subprocess.run([*words, page.as_uri()], check=True, capture_output=True, text=True, timeout=120).stdout

    return browse


def pixels(path):
    """Return how often each colour is in a picture; 8 bits a channel, as Chromium writes it."""
    data = path.read_bytes()
    chunks, at = {}, 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        chunks[kind] = chunks.get(kind, b"") + data[at + 8 : at + 8 + size]
        at += size + 12
    width, height, _, form = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    step = {2: 3, 6: 4}[form]
    raw, before, found = zlib.decompress(chunks[b"IDAT"]), bytearray(width * step), Counter()
    for row in range(height):
        start = row * (width * step + 1)
        line = bytearray(raw[start + 1 : start + 1 + width * step])
        unfiltered(raw[start], line, before, step)
        found.update(zip(line[0::step], line[1::step], line[2::step], strict=True))
        before = line
    return found


def unfiltered(kind, line, before, step):
    """Undo the filter of a row of pixels in its place."""
    for i in range(len(line)):
        left, corner = (line[i - step], before[i - step]) if i >= step else (0, 0)
        guesses = (0, left, before[i], (left + before[i]) // 2, nearest(left, before[i], corner))
        line[i] = (line[i] + guesses[kind]) & 255


def nearest(left, above, corner):
    guess = left + above - corner
    return min((left, above, corner), key=lambda each: abs(guess - each))


def test_sections_and_pictures_are_there(browse):
    shown = browse("--dump-dom")
    names = re.findall(r'<section id="(\w+)"', shown)
    assert names == ["numbers", "comparison", "trend", "segments", "spread", "queries", "data", "definitions", "files"]
    for part in re.findall(r'<section id="(?:comparison|trend|segments|spread)".*?</section>', shown, re.DOTALL):
        assert '<svg class="picture' in part
    assert "<title>a report</title>" in shown


def asked_for(log):
    """Return what a page asked for, other than what the browser asks its maker."""
    events = json.loads(log.read_text())["events"]
    urls = {event["params"]["url"] for event in events if "url" in event.get("params", {})}
    return {url for url in urls if not re.match(r"https?://[\w.-]+\.(google|googleapis|gvt1)\.com/", url)}


def test_no_script_runs_and_nothing_is_asked_for(browse, page, tmp_path):
    log = tmp_path / "net.json"
    shown = browse("--dump-dom", f"--log-net-log={log}", "--virtual-time-budget=3000")
    assert "harmed</title>" not in shown
    assert not re.search(r"<(script|img)[\s>]", shown)
    assert asked_for(log) == set()


def test_a_page_that_does_harm_would_be_seen(browse, page, tmp_path):
    harmful, log = tmp_path / "harmful.html", tmp_path / "net.json"
    harmful.write_text(f"<!DOCTYPE html><title>a page</title>{HARM}")
    shown = browse("--dump-dom", f"--log-net-log={log}", "--virtual-time-budget=3000", page=harmful)
    assert "harmed</title>" in shown
    assert asked_for(log) == {"http://example.invalid/x"}


@pytest.mark.parametrize(
    ("width", "options", "colours"),
    [
        (390, (), (PAPER, UP)),
        (1280, (), (PAPER, UP)),
        (1280, ("--blink-settings=preferredColorScheme=0",), (NIGHT, UP_IN_THE_DARK)),
    ],
)
def test_pictures_are_drawn(width, options, colours, browse, tmp_path):
    target = tmp_path / "shot.png"
    browse(f"--screenshot={target}", f"--window-size={width},900", *options)
    found = pixels(target)
    paper, ink = colours
    assert found.most_common(1)[0][0] == paper
    assert found[ink] > 100


def test_it_prints(browse, tmp_path):
    target = tmp_path / "report.pdf"
    browse(f"--print-to-pdf={target}")
    assert target.read_bytes().startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", target.read_bytes())) >= 2
