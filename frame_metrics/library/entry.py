"""A library as a set of options: what it does where this package lets one choose."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from frame_metrics.errors import OptionError
from frame_metrics.formulas.base import DEFINITIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from frame_metrics.formulas.base import Metric

SETTINGS = MappingProxyType({"queries": "qrels", "ties": "item_desc", "float32": False, "no_relevant": "zero"})
"""What is chosen for all metrics at once, with the choices of this package."""

_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class Library:
    """What a library chooses.

    Attributes
    ----------
    name
        What it is called here.
    version
        In which version its choices were seen, empty where only `seen` tells.
    seen
        How: `"run"` as released, `"read"` in its source; and where in the source.
    settings
        Its choices for all metrics, where they are not those of this package.
    metrics
        The metrics that it has, each with the options, and settings, where they are not those of this package, or not
        those of its other metrics; None for all metrics.
    remarks
        Choices that need more words than their value has, by the name of the choice.
    notes
        What it does and no option says, because it is a mistake, or is left to chance.
    """

    name: str
    version: str
    seen: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, Mapping[str, Any]] | None = None
    remarks: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name} {self.version}".rstrip()

    @property
    def names(self) -> list[str]:
        """The metrics that it has."""
        return [name for name in DEFINITIONS if self.metrics is None or name in self.metrics]

    def setting(self, name: str) -> Any:
        """Return a choice for all metrics."""
        return self.settings.get(name, SETTINGS[name])

    def choices(self, metric: str) -> dict[str, Any]:
        """Return every choice that concerns a metric, settings before options, or raise if it has none such."""
        if metric not in self.names:
            raise OptionError(
                f"{self.name} has no {metric}, or one that cannot be had here; it has {', '.join(self.names)}. "
                f"Hint: ask for {metric} without .like({self.name!r})"
            )
        own = _NOTHING if self.metrics is None else self.metrics[metric]
        return {name: self.setting(name) for name in SETTINGS} | DEFINITIONS[metric].options | dict(own)

    def alone(self, metric: str, **other: Any) -> Library:
        """Return the library as one that has nothing but a metric, with these choices in place of its own."""
        choices = self.choices(metric) | other
        settings = {name: choices.pop(name) for name in SETTINGS}
        return replace(self, settings=settings, metrics={metric: choices})

    def of(self, metric: Metric) -> Metric:
        """Return what the library means by a metric; options that were given stay, and so does the text."""
        name, given = metric.definition.name, {n: v for n, v in metric.options if n == "k" or n in metric.given}
        chosen = {n: v for n, v in self.choices(name).items() if n not in SETTINGS}
        return metric.definition(called=metric.called, text=metric.asked, **(chosen | given))


OURS = Library("frame_metrics", "0.1", "run")
"""The choices of this package."""
