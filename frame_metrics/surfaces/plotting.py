"""`plot` of a ranking, imported when it is asked for: most who measure draw nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    from frame_metrics.plots.accessor import Plots
    from frame_metrics.surfaces.ranking import Ranking


class Plotting:
    """What `Ranking.plot` is: the class of the plots on a class, and the plots of a ranking on a ranking."""

    __slots__ = ()

    @overload
    def __get__(self, ranking: None, owner: type) -> type[Plots]: ...
    @overload
    def __get__(self, ranking: Ranking[Any, Any], owner: type) -> Plots: ...
    def __get__(self, ranking: Ranking[Any, Any] | None, owner: type) -> Plots | type[Plots]:
        from frame_metrics.plots.accessor import Plots

        return Plots if ranking is None else Plots(ranking)
