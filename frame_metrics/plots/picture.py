"""Charts as SVG, made when a page is made: the page needs no script and no network."""

from __future__ import annotations

import hashlib
import re
from html import escape
from typing import TYPE_CHECKING, Any

from frame_metrics.errors import wanted
from frame_metrics.needs import needed
from frame_metrics.plots.look import WIDTH, theme

if TYPE_CHECKING:
    import altair as alt

NARROW = 344
"""Width of a chart on a phone: 360 pixels, less the margins of a page."""

_ID = re.compile(r'(\bid="|url\(#|href="#)([\w-]+)')
_SIZE = re.compile(r'^<svg\b[^>]*?\bwidth="([\d.]+)"')
_PAGE_STYLE = (
    ".fm-plot{margin:0}.fm-plot svg{display:none}"
    # Each screen shows one of the four; paper is light and wide whatever the screen is.
    + "".join(
        f"@media {media}{{.fm-plot svg.{shade}.{room}{{display:block}}}}"
        for media, shade, room in (
            ("print", "fm-light", "fm-wide"),
            ("screen and (min-width:561px) and (not (prefers-color-scheme:dark))", "fm-light", "fm-wide"),
            ("screen and (min-width:561px) and (prefers-color-scheme:dark)", "fm-dark", "fm-wide"),
            ("screen and (max-width:560.98px) and (not (prefers-color-scheme:dark))", "fm-light", "fm-narrow"),
            ("screen and (max-width:560.98px) and (prefers-color-scheme:dark)", "fm-dark", "fm-narrow"),
        )
    )
)


def svg(chart: alt.TopLevelMixin, dark: bool = False, *, width: int = WIDTH, background: bool = False) -> str:  # noqa: FBT001, FBT002
    """Return a chart as the text of an SVG, to be put into a page or a file.

    It holds no script and refers to nothing outside, and texts of the data are escaped. On a page it shrinks where
    there is less room than its width.

    Parameters
    ----------
    chart
        A chart of `df.rank.plot`.
    dark
        Whether the page is dark.
    width
        How wide, in pixels.
    background
        Whether the colour of the page is drawn too; without it the picture is transparent.

    Examples
    --------
    >>> import polars as pl, frame_metrics as fm
    >>> df = pl.DataFrame({"query": 1, "rank": [1, 2], "relevance": [1, 0]})
    >>> svg(df.rank.plot.at_k("precision", [1, 2])).startswith("<svg ")
    True
    """
    return _drawn(chart, dark=dark, width=width, background=background, names="")


def figure(chart: alt.TopLevelMixin, *, width: int = WIDTH) -> str:
    """Return a chart as a piece of HTML without script, for light and dark pages, for phones, screens and print.

    It holds four drawings, of which the page shows the one that fits.

    Parameters
    ----------
    chart
        A chart of `df.rank.plot`.
    width
        How wide, in pixels, where the page is not that of a phone.

    Examples
    --------
    >>> import polars as pl, frame_metrics as fm
    >>> df = pl.DataFrame({"query": 1, "rank": [1, 2], "relevance": [1, 0]})
    >>> figure(df.rank.plot.at_k("precision", [1, 2])).count("<svg ")
    4
    """
    sizes = {"fm-wide": width, "fm-narrow": min(width, NARROW)}
    drawn = [
        _drawn(chart, dark=dark, width=size, background=False, names=f"{shade} {name}")
        for name, size in sizes.items()
        for shade, dark in (("fm-light", False), ("fm-dark", True))
    ]
    return f'<figure class="fm-plot"><style>{_PAGE_STYLE}</style>{"".join(drawn)}</figure>'


def _drawn(chart: alt.TopLevelMixin, *, dark: bool, width: int, background: bool, names: str) -> str:
    if isinstance(width, bool) or not isinstance(width, int) or width < 200:  # noqa: PLR2004
        raise wanted("width", "a number of pixels from 200 on", width)
    needed("altair", "report")
    spec: dict[str, Any] = chart.to_dict()
    look = theme(dark=dark)
    spec["config"] = look if background else look | {"background": None}
    if "spec" in spec:  # panels know their own width only: draw, measure, and draw again
        whole = float(_SIZE.match(_converted(spec))[1])  # type: ignore[index]
        spec["spec"]["width"] = max(80, spec["spec"]["width"] + width - whole)
    else:
        spec["width"] = width
    return _framed(_converted(spec), names, _title(spec))


def _converted(spec: dict[str, Any]) -> str:
    text: str = needed("vl_convert", "report").vegalite_to_svg(spec, allowed_base_urls=[])
    return text


def _framed(text: str, names: str, title: str) -> str:
    """Return an SVG that shrinks with the page, is read aloud by its title, and has names of its own for its parts."""
    own = "fm" + hashlib.sha256((names + text).encode()).hexdigest()[:10]
    text = _ID.sub(rf"\g<1>{own}-\g<2>", text)
    kept = f'class="{names}" ' if names else ""
    start = f'<svg {kept}role="img" aria-label="{escape(title)}" style="max-width:100%;height:auto" '
    return re.sub(r'^<svg (.*?)class="marks" ', lambda found: start + found[1], text, count=1)


def _title(spec: dict[str, Any]) -> str:
    text = spec.get("title", {}).get("text", "")
    return text if isinstance(text, str) else " ".join(text)
