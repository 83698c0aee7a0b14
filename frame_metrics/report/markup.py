"""HTML that cannot be broken by data: texts are escaped unless they were made here."""

from __future__ import annotations

from html import escape
from typing import Any

_EMPTY = ("meta", "line", "circle", "rect", "br")


class Markup(str):
    """A text that is HTML already."""

    __slots__ = ()


def tag(name: str, /, *inside: Any, **attributes: Any) -> Markup:
    """Return an element; texts inside it, and its attributes, are escaped.

    Names of attributes may end in `_`, and have `_` for `-`; those of None are left out.

    Examples
    --------
    >>> tag("b", "1 < 2", class_="x", stroke_width=2)
    '<b class="x" stroke-width="2">1 &lt; 2</b>'
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(text(value), quote=True)}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _EMPTY:
        return Markup(f"<{name}{given}/>" if name not in ("meta", "br") else f"<{name}{given}>")
    return Markup(f"<{name}{given}>{join(*inside)}</{name}>")


def join(*parts: Any) -> Markup:
    """Return parts after each other: markup as it is, lists part by part, everything else escaped."""
    return Markup("".join(_part(part) for part in parts))


def _part(part: Any) -> str:
    if part is None:
        return ""
    if isinstance(part, Markup):
        return part
    if isinstance(part, list | tuple):
        return join(*part)
    return escape(text(part), quote=True)


def text(value: Any) -> str:
    r"""Return a value as text; characters that show nothing, or turn the text around, are spelt out.

    Examples
    --------
    >>> text("a\u202eb\x00")
    'a\\u202eb\\x00'
    """
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in str(value))
