"""Pictures: they show the numbers of the surface, in valid charts that everybody can read, and no data becomes code.

`python tests/test_plots.py` draws the picture of the README.
"""

import itertools
import math
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import altair as alt
import polars as pl
import pytest

import frame_metrics as fm
from frame_metrics.plots import Plots, figure, look, svg, theme, themed
from frame_metrics.plots.data import Span, apart
from frame_metrics.plots.differences import counted

DATA = Path(__file__).parents[1] / "data"
EXAMPLES = Path(__file__).parents[1] / "examples"
LOG = pl.read_parquet(DATA / "search_log.parquet")
ATTACK = "<script>alert(1)</script>"
KINDS = {
    "polars": lambda frame: frame.rank,
    "lazy": lambda frame: frame.lazy().rank,
    "pandas": lambda frame: frame.to_pandas().rank,
    "arrow": lambda frame: fm.rank(frame.to_arrow()),
}
CHARTS = {
    "at_k": lambda r: r.by("system").plot.at_k("ndcg", [1, 5, 10]),
    "pr_curve": lambda r: r.by("system").plot.pr_curve(),
    "roc_curve": lambda r: r.by("system").plot.roc_curve(),
    "positions": lambda r: r.by("system").using(relevance="clicked").plot.positions(),
    "distribution": lambda r: r.plot.distribution("ndcg@10", system="system"),
    "shades": lambda r: r.by("country", "system").plot.distribution("ndcg@10"),
    "differences": lambda r: r.plot.differences("ndcg@10"),
    "segments": lambda r: r.by("country", "system").plot.segments("ndcg@10"),
    "panels": lambda r: r.by("country", "system").plot.segments("ndcg@10", "recall@20"),
    "trend": lambda r: r.by("system").plot.trend("ndcg@10"),
}
ODD = {
    "at_k": lambda r, odd: r.by(odd).plot.at_k("ndcg(gain=exponential)", [1, 2]),
    "pr_curve": lambda r, odd: r.by(odd).plot.pr_curve(),
    "positions": lambda r, odd: r.by(odd).using(relevance=f"{odd}c").plot.positions(),
    "distribution": lambda r, odd: r.plot.distribution("map", system=odd),
    "differences": lambda r, odd: r.plot.differences("map", system=odd),
    "segments": lambda r, odd: r.by("country", odd).plot.segments("map", "mrr"),
    "trend": lambda r, odd: r.by(odd).plot.trend("map", day=f"{odd}d"),
}

every_kind = pytest.mark.parametrize("kind", KINDS)
every_chart = pytest.mark.parametrize("name", CHARTS)


@pytest.fixture(scope="module")
def drawn():
    return {name: draw(LOG.rank) for name, draw in CHARTS.items()}


def data(chart, *fields):
    """Return the rows of the chart's data that have these fields, as tuples, each once."""
    spec = chart.to_dict()
    found = [row for values in _all_values(spec) for row in values if set(fields) <= set(row)]
    return list(dict.fromkeys(tuple(row[field] for field in fields) for row in found))


def _all_values(spec):
    yield from spec.get("datasets", {}).values()
    for part in (spec, *spec.get("layer", ()), *spec.get("spec", {}).get("layer", ())):
        values = part.get("data", {}).get("values")
        if values:
            yield values


def assert_close(found, expected):
    """Compare rows, floats among them approximately: in which order they are added up is not given."""
    assert len(found) == len(expected)
    for one, two in zip(found, expected, strict=True):
        assert list(one) == [pytest.approx(value) if isinstance(value, float) else value for value in two]


def parsed(picture):
    return ET.fromstring(picture)  # noqa: S314 made here


def texts(picture):
    return [element.text for element in parsed(picture).iter() if element.tag.endswith("}text") and element.text]


class TestNumbers:
    @every_kind
    def test_at_k(self, kind):
        chart = KINDS[kind](LOG).by("system").plot.at_k("ndcg", [1, 5, 10])
        expected = LOG.rank.by("system").at_k("ndcg", [1, 5, 10]).rows()
        assert_close(sorted(data(chart, "series", "x", "y", "order")), [(*row, row[1]) for row in expected])

    @every_kind
    @pytest.mark.parametrize(("name", "x", "y"), [("pr_curve", "recall", "precision"), ("roc_curve", "fpr", "tpr")])
    def test_curves(self, kind, name, x, y):
        chart = getattr(KINDS[kind](LOG).by("system").plot, name)()
        expected = getattr(LOG.rank.by("system"), name)().select("system", "k", x, y).rows()
        assert_close(data(chart, "series", "rank", "x", "y"), expected)

    @every_kind
    def test_segments(self, kind):
        chart = KINDS[kind](LOG).by("country", "system").plot.segments("ndcg@10", "map", ci=0.9)
        table = LOG.rank.by("country", "system").evaluate("ndcg@10", "map", ci=0.9)
        for metric in ("ndcg@10", "map"):
            found = [row[1:] for row in data(chart, "metric", "row", "series", "y", "low", "high") if row[0] == metric]
            ends = [metric, f"{metric}_low", f"{metric}_high"]
            assert_close(sorted(found), table.select("country", "system", *ends).rows())

    @every_kind
    def test_trend(self, kind):
        chart = KINDS[kind](LOG).by("system").plot.trend("map")
        table = LOG.rank.by("system", "day").evaluate("map", ci=0.95)
        expected = table.select("system", pl.col("day").dt.to_string(), "map", "map_low", "map_high").rows()
        found = [(row[0], row[1][:10], *row[2:]) for row in data(chart, "series", "x", "y", "low", "high")]
        assert_close(sorted(found), expected)

    @every_kind
    def test_differences(self, kind):
        chart = KINDS[kind](LOG).plot.differences("ndcg@10", baseline="bm25")
        wide = LOG.rank.by("system").per_query().ndcg(k=10).pivot("system", index="query", values="ndcg@10")
        gaps = wide.select("query", "neural", "bm25", difference=pl.col("neural") - pl.col("bm25"))
        found = data(chart, "query", "value", "base", "y")
        assert_close(sorted(found), sorted(gaps.filter(pl.col("difference").abs() > 1e-12).rows()))
        assert [row[3] for row in found] == sorted((row[3] for row in found), reverse=True)

    def test_differences_are_those_of_compare(self):
        (row,) = LOG.rank.compare("ndcg@10").to_dicts()
        words = texts(svg(LOG.rank.plot.differences("ndcg@10")))
        assert {f"neural is better: {row['wins']}", f"neural is worse: {row['losses']}"} <= set(words)
        assert f"the same: {row['ties']}" in words
        assert any(word.startswith(f"{row['difference']:+.4f} on average") for word in words)

    @every_kind
    def test_distribution(self, kind):
        chart = KINDS[kind](LOG).plot.distribution("ndcg@10", system="system")
        values = LOG.rank.by("system").per_query().ndcg(k=10)
        for system, mean in LOG.rank.by("system").ndcg(k=10).rows():
            rows = [row for row in data(chart, "series", "low", "high", "queries") if row[0].startswith(system)]
            assert {row[0] for row in rows} == {f"{system} (mean {mean:.4f})"}
            for _, low, high, queries in rows:
                value, last = pl.col("ndcg@10") + 1e-10, high == 1
                inside = (value >= low) & ((value < high) | pl.lit(last))
                assert values.filter(inside, system=system).height == queries

    @every_kind
    def test_positions(self, kind):
        chart = KINDS[kind](LOG).using(relevance="clicked").by("system").plot.positions()
        listed = LOG.filter(pl.col("rank").is_not_null()).group_by("system", "rank")
        expected = listed.agg(pl.len(), pl.col("clicked").sum().cast(pl.Int64), share=pl.col("clicked").mean())
        found = data(chart, "series", "x", "rows", "relevant", "y")
        assert_close(sorted(found), expected.sort("system", "rank").rows())

    def test_positions_see_the_level_of_relevance_and_the_judgments(self):
        run = pl.DataFrame({"query": [1, 1, 2, 2], "item": ["a", "b", "a", "b"], "rank": [1, 2, 1, 2]})
        qrels = pl.DataFrame({"query": [1, 1, 2], "item": ["a", "b", "b"], "relevance": [1, 2, 2]})
        chart = run.rank.judged_by(qrels).using(min_relevance=2).plot.positions()
        assert data(chart, "x", "y") == [(1, 0.0), (2, 1.0)]

    def test_a_bad_table_is_an_error_here_too(self):
        with pytest.raises(fm.TableError, match="each rank may stand once in a query"):
            LOG.rank.plot.positions()
        with pytest.raises(fm.TableError, match="ranks start at 1"):
            LOG.lazy().with_columns(rank=pl.lit(0)).rank.plot.at_k("recall", [1])

    def test_pandas_keys_of_any_kind(self):
        frame = LOG.to_pandas().astype({"country": "category"}).set_index("system")
        chart = frame.rank.by("country", "system").plot.segments("map", ci=None)
        assert_close(sorted(data(chart, "row", "series", "y")), LOG.rank.by("country", "system").map().rows())

    def test_frames_are_left_alone(self):
        frame, before = LOG.to_pandas(), LOG.to_pandas()
        frame.rank.by("system").plot.at_k("recall", [1])
        assert frame.equals(before)

    def test_no_value_is_no_point(self):
        rows = {"query": [1, 2], "rank": [1, 1], "relevance": [1, 0], "country": ["us", None]}
        ranking = pl.DataFrame(rows).rank.using(no_relevant="skip").by("country")
        assert data(ranking.plot.segments("mrr", ci=None), "row", "y") == [("us", 1.0)]
        assert data(ranking.plot.at_k("mrr", [1]), "series", "x", "y", "order") == [
            ("us", 1, 1.0, 1),
            ("null", 1, None, 1),
        ]

    @every_chart
    def test_an_empty_table_makes_an_empty_chart(self, name):
        if name == "differences":
            with pytest.raises(fm.OptionError, match="a column with two values or more"):
                CHARTS[name](LOG.clear().rank)
        else:
            assert svg(CHARTS[name](LOG.clear().rank)).startswith("<svg ")


class TestCharts:
    @every_chart
    def test_valid_and_small(self, drawn, name):
        spec = drawn[name].to_dict(validate=True)
        assert len(drawn[name].to_json()) < 1_000_000
        assert spec["$schema"].startswith("https://vega.github.io/schema/vega-lite/")

    @every_chart
    def test_title_axes_and_tooltips(self, drawn, name):
        spec = drawn[name].to_dict()
        assert spec["title"]["text"]
        assert all(len(line) <= 50 for line in (*spec["title"]["text"], *spec["title"]["subtitle"]))
        layers = spec.get("layer") or spec.get("spec", {}).get("layer") or [spec]
        encodings = [layer["encoding"] for layer in layers]
        assert any("tooltip" in encoding for encoding in encodings)
        titles = [encoding[axis].get("title") for encoding in encodings for axis in "xy" if axis in encoding]
        assert any(titles) or name == "panels"
        fields = {"x", "y", "low", "high", "share", "row", "series"}
        assert not fields & set(filter(None, titles)), "an axis is called by a word, not by a field"

    @every_chart
    def test_as_wide_as_the_container(self, drawn, name):
        if name != "panels":
            assert drawn[name].to_dict()["width"] == "container"
        for width in (344, 900):
            root = parsed(svg(drawn[name], width=width))
            assert float(root.get("width")) == pytest.approx(width, abs=2)

    @every_chart
    def test_saved(self, drawn, name, tmp_path):
        drawn[name].save(tmp_path / "chart.svg")
        drawn[name].save(tmp_path / "chart.html")
        assert float(parsed((tmp_path / "chart.svg").read_text()).get("width")) > 400
        assert "vega-embed" in (tmp_path / "chart.html").read_text()

    def test_names_stand_at_the_lines(self, drawn):
        assert {"bm25", "neural", "ndcg at k by system"} <= set(texts(svg(drawn["at_k"], width=900)))

    def test_types(self, drawn):
        assert isinstance(drawn["at_k"], alt.LayerChart)
        assert isinstance(drawn["panels"], alt.FacetChart)
        assert isinstance(drawn["distribution"], alt.Chart)

    def test_several_systems(self):
        more = pl.concat([LOG, LOG.filter(system="bm25").with_columns(system=pl.lit("copy"))])
        chart = more.rank.plot.differences("map", baseline="bm25")
        assert {row[0] for row in data(chart, "series", "query")} == {"copy", "neural"}
        assert {row[1] for row in data(chart, "series", "y") if row[0] == "copy"} == {0.0}

    def test_many_queries_are_thinned_and_it_says_so(self):
        queries = list(range(3_000))
        one = pl.DataFrame({"query": queries, "rank": [1 + q % 7 for q in queries], "relevance": 1, "system": "a"})
        both = pl.concat([one, one.with_columns(system=pl.lit("b"), rank=pl.col("rank") + 1)])
        chart = both.rank.plot.differences("mrr")
        assert len(data(chart, "query", "y")) == 1_000
        assert "one in 3 is drawn" in " ".join(chart.to_dict()["title"]["subtitle"])
        assert svg(chart)

    def test_days_that_are_no_dates(self):
        rows = {"day": ["mon", "tue"], "query": [1, 2], "rank": [1, 2], "relevance": 1}
        assert data(pl.DataFrame(rows).rank.plot.trend("mrr", ci=None), "x", "y") == [("mon", 1.0), ("tue", 0.5)]


class TestErrors:
    @pytest.mark.parametrize(
        ("ask", "says"),
        [
            (lambda p: p.segments("map"), "`by` must be one or more names of columns"),
            (lambda p: p.at_k("ndcg@10"), "one that can be cut"),
            (lambda p: p.at_k("ndgc"), "did you mean 'ndcg'"),
            (lambda p: p.differences("map", baseline="bm52"), "did you mean 'bm25'"),
            (lambda p: p.differences("map", system="sytem"), "did you mean 'system'"),
            (lambda p: svg(p.distribution("map", system="system"), width=10), "`width` must be a number of pixels"),
        ],
    )
    def test_says_what_to_do(self, ask, says):
        with pytest.raises(fm.FrameMetricsError, match=says):
            ask(LOG.rank.plot)

    def test_too_many_distributions(self):
        with pytest.raises(fm.OptionError, match="a chart shows at most 40 distributions"):
            LOG.rank.by("system").plot.distribution("map", system="user")

    def test_too_many_lines(self):
        with pytest.raises(fm.OptionError, match=r"a chart shows at most 12 lines, got \d+\. Hint: filter"):
            LOG.filter(system="bm25").rank.by("user").plot.at_k("recall", [1, 2])

    def test_per_query(self):
        with pytest.raises(fm.OptionError, match=r"left out before plot\.at_k"):
            LOG.rank.by("system").per_query().plot.at_k("recall", [1, 2])

    def test_a_query_that_one_system_lacks(self):
        half = LOG.filter((pl.col("system") == "bm25") | (pl.col("query") != "cheap tent"))
        with pytest.raises(
            fm.TableError, match=r"neural has none for query cheap tent\. Hint: keep the queries of both"
        ):
            half.rank.plot.differences("map")

    def test_a_typo(self):
        with pytest.raises(AttributeError, match="did you mean 'segments'"):
            LOG.rank.plot.segmets  # noqa: B018

    @pytest.mark.parametrize(("module", "package"), [("altair", "altair"), ("vl_convert", "vl-convert-python")])
    def test_without_the_packages(self, module, package):
        code = f"""
import sys
sys.modules[{module!r}] = None
import polars as pl, frame_metrics as fm
from frame_metrics.plots import svg
df = pl.DataFrame({{"query": 1, "rank": [1, 2], "relevance": [1, 0]}})
try:
    svg(df.rank.plot.at_k("recall", [1, 2]))
except ImportError as error:
    print(error)
"""
        done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
        assert done.stdout.strip() == (f'plots need the package {package!r}. Hint: pip install "frame_metrics[report]"')

    def test_nothing_is_imported_before_it_is_used(self):
        code = "import sys, frame_metrics; print({'altair', 'vl_convert', 'frame_metrics.plots'} & {*sys.modules})"
        done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
        assert done.stdout.strip() == "set()"


class TestAccessor:
    @every_kind
    def test_on_every_frame(self, kind):
        ranking = KINDS[kind](LOG)
        assert isinstance(ranking.plot, Plots)
        assert repr(ranking.plot).startswith("<plot of ")
        assert "plot" in dir(ranking)

    def test_pandas_rank_is_still_a_method(self):
        frame = LOG.to_pandas()[["score"]]
        assert frame.rank().shape == frame.shape
        assert "plot\n" in frame.rank.__doc__

    def test_every_plot_has_an_example(self):
        names = [name for name in dir(Plots) if not name.startswith("_")]
        assert set(names) == {
            "at_k",
            "pr_curve",
            "roc_curve",
            "positions",
            "distribution",
            "differences",
            "segments",
            "trend",
        }
        assert all(">>> " in getattr(Plots, name).__doc__ for name in names)


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


class TestPictures:
    @every_chart
    @pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
    def test_no_script_and_nothing_from_outside(self, drawn, name, dark):
        picture = svg(drawn[name], dark)
        for element in parsed(picture).iter():
            assert element.tag.rpartition("}")[2] not in {"script", "foreignObject", "image", "a", "iframe", "style"}
            assert not [key for key in element.attrib if key.startswith("on") or key.endswith("href")]
        assert not re.search(r"url\((?!#)|https?://(?!www\.w3\.org/)", picture)

    @every_chart
    def test_data_are_escaped(self, name):
        columns = {column: pl.lit(ATTACK) + pl.col(column) for column in ("query", "country", "system")}
        picture = svg(CHARTS[name](LOG.with_columns(**columns).rank), width=900)
        assert "<script" not in picture
        assert any("alert(1)" in text or text.startswith("<script") for text in texts(picture))
        tags = Tags()
        tags.feed(picture)
        assert not {tag for tag, _ in tags.found} & {"script", "style", "b", "img", "iframe", "foreignobject", "a"}
        assert not [attrs for _, attrs in tags.found if any(key.startswith("on") for key in attrs)]

    def test_what_no_page_can_show(self):
        names = ["a\x00b", 'quo"te', "<b>&amp;", "\N{GRINNING FACE}", "]]>"]
        rows = {"country": names, "query": range(5), "rank": 1, "relevance": 1}
        found = texts(svg(pl.DataFrame(rows).rank.by("country").plot.segments("mrr", ci=None), width=900))
        assert {"a\ufffdb", *names[1:]} <= set(found)

    @pytest.mark.parametrize("name", ODD)
    @pytest.mark.parametrize("odd", ["a.b[0]'\"\\", '\\":alert(1),"', "two\nlines\x00"])
    def test_columns_with_odd_names(self, name, odd):
        """Vega makes expressions of such names, and a backslash before a quote would end the text in them."""
        table = LOG.rename({"system": odd, "day": f"{odd}d", "clicked": f"{odd}c"})
        assert any("neural" in text for text in texts(svg(ODD[name](table.rank, odd), width=900)))

    def test_same_chart_same_text(self, drawn):
        assert svg(drawn["at_k"]) == svg(drawn["at_k"])

    def test_names_of_parts_are_their_own(self, drawn):
        page = figure(drawn["shades"]) + figure(drawn["segments"])
        ids = re.findall(r'\bid="([^"]+)"', page)
        assert len(ids) == len(set(ids))
        assert set(re.findall(r"url\(#([^)]+)\)", page)) <= set(ids)

    def test_read_aloud(self, drawn):
        root = parsed(svg(drawn["at_k"]))
        assert (root.get("role"), root.get("aria-label")) == ("img", "ndcg at k by system")
        assert "max-width:100%" in root.get("style")

    def test_each_page_shows_one(self, drawn):
        text = figure(drawn["at_k"])
        shown = re.findall(r'<svg class="(fm-\w+ fm-\w+)"', text)
        assert sorted(shown) == ["fm-dark fm-narrow", "fm-dark fm-wide", "fm-light fm-narrow", "fm-light fm-wide"]
        for names in shown:
            assert f"svg.{names.replace(' ', '.')}{{display:block}}" in text


class TestLook:
    @every_chart
    def test_light_and_dark(self, drawn, name):
        light, dark = svg(drawn[name], background=True), svg(drawn[name], dark=True, background=True)
        for picture, own, other in ((light, look.LIGHT, look.DARK), (dark, look.DARK, look.LIGHT)):
            assert own["page"] in picture
            assert own["ink"] in picture
            assert other["ink"] not in picture
        assert themed(drawn[name], dark=True).to_dict()["config"]["style"] == theme(dark=True)["style"]
        assert drawn[name].to_dict()["config"]["style"] == theme()["style"]

    @every_chart
    @pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
    def test_no_colour_from_elsewhere(self, drawn, name, dark):
        page, colours = (look.DARK, look.DARK_COLOURS) if dark else (look.LIGHT, look.LIGHT_COLOURS)
        used = set(re.findall(r'(?:fill|stroke|stop-color)="(#\w+|\w+)"', svg(drawn[name], dark, background=True)))
        assert used <= {*page.values(), *colours, "none", "transparent"}

    @pytest.mark.parametrize(
        ("page", "colours"), [(look.LIGHT, look.LIGHT_COLOURS), (look.DARK, look.DARK_COLOURS)], ids=["light", "dark"]
    )
    def test_text_can_be_read_in_every_colour(self, page, colours):
        for colour in (*colours, page["ink"], page["quiet"]):
            assert contrast(colour, page["page"]) >= 4.5

    @pytest.mark.parametrize("colours", [look.LIGHT_COLOURS, look.DARK_COLOURS], ids=["light", "dark"])
    @pytest.mark.parametrize("sight", ["usual", "protan", "deutan", "tritan"])
    def test_colours_are_told_apart(self, colours, sight):
        seen = [lab(as_seen(colour, sight)) for colour in colours]
        assert min(math.dist(one, two) for one, two in itertools.combinations(seen, 2)) >= 20
        assert math.dist(seen[0], seen[1]) >= 40


# What a colour looks like to dichromats: matrices for linear RGB of Machado, Oliveira and Fernandes (2009), severity 1.
SIGHTS = {
    "usual": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def linear(colour):
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def as_seen(colour, sight):
    rgb = linear(colour)
    return [min(1, max(0, sum(a * b for a, b in zip(row, rgb, strict=True)))) for row in SIGHTS[sight]]


def contrast(one, two):
    """Return the contrast ratio of WCAG 2."""
    high, low = sorted(
        (sum(a * b for a, b in zip((0.2126, 0.7152, 0.0722), linear(c), strict=True)) for c in (one, two)), reverse=True
    )
    return (high + 0.05) / (low + 0.05)


def lab(rgb):
    r, g, b = rgb
    x = (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505
    y = 0.2126 * r + 0.7152 * g + 0.0722 * b
    z = (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089
    fx, fy, fz = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


class TestPlaces:
    @pytest.mark.parametrize(
        "values", [[0.5], [0.5, 0.5, 0.5], [0, 0.01, 1], [1, 1, 0.99, 0.2], [0.1 * n for n in range(10)]]
    )
    def test_labels_do_not_cover_each_other(self, values):
        places = sorted(apart(values, 0.08, 0, 1))
        assert all(two - one >= 0.08 - 1e-9 for one, two in itertools.pairwise(places))
        assert places[0] >= 0
        assert places[-1] <= 1

    @pytest.mark.parametrize("values", [[0.12, 0.38], [0, 1], [5, 5], [0, 0], [-0.8, 1], [1e-6, 3e-6], [120, 99_000]])
    def test_spans_are_round_and_hold_the_values(self, values):
        span = Span.of(values)
        assert span.low <= min(values) <= max(values) <= span.high
        assert 1 <= round((span.high - span.low) / span.step) <= 9

    def test_counted(self):
        assert counted([{"y": 1e-17}, {"y": -1e-17}, {"y": 0.2}]) == (1, 2, 0)


def readme_pictures():
    """Return the picture of the README, for light and for dark pages."""
    chart = LOG.rank.by("country", "system").plot.segments("ndcg@10")
    names = {False: "segments-light.svg", True: "segments-dark.svg"}
    return {EXAMPLES / name: svg(chart, dark, width=720, background=True) for dark, name in names.items()}


def test_the_pictures_of_the_readme():
    readme = (EXAMPLES.parent / "README.md").read_text(encoding="utf-8")
    for path, picture in readme_pictures().items():
        assert f"examples/{path.name}" in readme
        stored = path.read_text(encoding="utf-8")
        assert texts(stored) == texts(picture)
        assert rounded(stored) == rounded(picture)


def rounded(picture):
    """Return the numbers of a picture; sums differ in the last digits from run to run, and names of parts with them."""
    return [round(float(number), 3) for number in re.findall(r"-?\d+\.\d+", re.sub(r"fm[0-9a-f]{10}", "", picture))]


if __name__ == "__main__":
    for place, drawing in readme_pictures().items():
        place.write_text(drawing, encoding="utf-8")
