"""A report as one HTML file: no script, nothing from elsewhere, light and dark, on paper and on a phone."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from frame_metrics.report import sections
from frame_metrics.report.markup import Markup, join, tag
from frame_metrics.report.words import exceptions, verdict

if TYPE_CHECKING:
    from frame_metrics.report.model import Report

# Should anything slip through, a browser that is told so runs no script and asks no server.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


def page(report: Report) -> str:
    """Return the report as a page that is complete in itself."""
    parts = [part for make in sections.ALL if (part := make(report)) is not None]
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", report.title),
        tag("style", Markup(style())),
    )
    links = [tag("li", tag("a", part.title, href=f"#{part.name}")) for part in parts]
    main = tag("main", _header(report), [part.markup() for part in parts], _footer(report))
    body = tag("body", tag("div", tag("nav", tag("ol", links), aria_label="Contents"), main, class_="layout"))
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


def style() -> str:
    """Return the style of the page."""
    return files("frame_metrics.report").joinpath("page.css").read_text(encoding="utf-8")


def _header(report: Report) -> Markup:
    queries = max(report.queries.values())
    facts = [f"{queries:,} queries", f"{len(report.metrics)} metrics", f"made {_when(report.made)}"]
    if len(report.systems) > 1:
        facts.insert(1, f"{len(report.systems)} systems")
    return tag(
        "header",
        tag("h1", report.title),
        tag("p", " ".join(filter(None, [verdict(report), exceptions(report)])), class_="lead"),
        tag("p", " · ".join(facts), class_="soft"),
        [tag("p", note, class_="soft") for note in report.notes],
    )


def _when(made: str) -> str:
    return made.replace("T", " ").replace("+00:00", " UTC")


def _footer(report: Report) -> Markup:
    packages = ", ".join(f"{name} {number}" for name, number in report.versions.items())
    return tag("footer", join("Made with ", packages, "."))
