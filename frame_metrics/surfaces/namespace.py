"""How `.rank` gets onto frames.

The registration functions of pandas and Polars will not do. The one of pandas replaces the method `DataFrame.rank`, and
warns; those of pandas 2 and of Polars store the namespace on the frame, and this cycle keeps the frame in memory until
the garbage collector runs. The descriptors of this module store nothing, and a method stays what it was.
"""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.util
import sys
import warnings
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from frame_metrics.surfaces.method import StandIn, as_method

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec

_NAME = "rank"


class Namespace:
    """Give every instance of a class a namespace, built anew at each access.

    Class access gives the namespace class, as with the namespaces of Polars itself. There is no `__set__`: assigning to
    the attribute of an instance shadows the namespace, and deleting that brings it back.

    Parameters
    ----------
    owner
        The class in whose `__dict__` this descriptor stands.
    load
        Returns the namespace class, which is called with the frame. Asked at each access, so that it may import what it
        needs when it is first needed.
    replaced
        What stood in the `__dict__` of the owner before, or None.

    Examples
    --------
    >>> class Metrics:
    ...     def __init__(self, frame):
    ...         self.frame = frame
    ...
    ...     def size(self):
    ...         return len(self.frame)
    >>> class Frame(list):
    ...     pass
    >>> Frame.rank = Namespace(Frame, lambda: Metrics, None)
    >>> Frame("abc").rank.size()
    3
    >>> Frame.rank is Metrics
    True
    """

    __slots__ = ("_load", "_owner", "replaced")

    # How `attach` and `detach` tell this descriptor: after a reload of the module, `isinstance` would not.
    _of_frame_metrics: ClassVar[bool] = True

    def __init__(self, owner: type, load: Callable[[], type], replaced: object) -> None:
        self._owner = owner
        self._load = load
        self.replaced = replaced

    def __get__(self, frame: object, cls: type | None = None) -> Any:
        try:
            return self._build(frame, cls or type(frame))
        except AttributeError as error:
            # Frames have a `__getattr__`, which would take over, hide the cause and in pandas return a column.
            raise RuntimeError(f"cannot build the namespace `{_NAME}`: {error}") from error

    def _build(self, frame: object, cls: type) -> Any:  # noqa: ARG002  # the subclass needs it
        return self._load() if frame is None else self._load()(frame)


class MethodNamespace(StandIn, Namespace):
    """Give every instance of a class a namespace under a name that is a method of this class.

    Class access gives the function, looked up each time so that a later patch of a parent class counts. Instance access
    gives a namespace that passes for the method: see `frame_metrics.surfaces.method.MethodLike`. In the `__dict__` of
    the class the descriptor itself passes for the function, or `unittest.mock.patch.object(cls, name, autospec=True)`
    would make a mock that does not get `self`.

    Examples
    --------
    >>> class Metrics:
    ...     def __init__(self, frame):
    ...         self.frame = frame
    ...
    ...     def size(self):
    ...         return len(self.frame)
    >>> class Frame(list):
    ...     def rank(self):
    ...         return sorted(self)
    >>> method = Frame.rank
    >>> Frame.rank = MethodNamespace(Frame, lambda: Metrics, method)
    >>> frame = Frame("cab")
    >>> frame.rank(), frame.rank.size(), Frame.rank is method
    (['a', 'b', 'c'], 3, True)
    """

    __slots__ = ()

    def _build(self, frame: object, cls: type) -> Any:
        function = _method_without_us(self._owner, cls, self.replaced)
        return function if frame is None else as_method(self._load())(function, frame)

    def _stands_for(self) -> Callable[..., Any]:
        function: Callable[..., Any] = _method_without_us(self._owner, self._owner, self.replaced)
        return function


def attach(owner: type, load: Callable[[], type]) -> None:
    """Put the namespace on a class, in place of an earlier one of this package if there is one.

    A method of that name, be it inherited, defined or patched in by somebody, goes on working. Anything else, such as
    the accessor of another package, cannot work beside this one: it is replaced, with a warning, until `detach`.

    No lock: storing the attribute is one step, and two threads that come here at once store equivalent descriptors.

    Parameters
    ----------
    owner
        A class of frames.
    load
        Returns the namespace class; see `Namespace`.
    """
    current: Any = vars(owner).get(_NAME)
    replaced = current.replaced if _is_ours(current) else current
    method = _method_without_us(owner, owner, replaced)
    if current is not None and current is replaced and _method(current, owner) is None:
        text = f"frame_metrics replaces the attribute `{_NAME}` which another package has put on {owner.__name__}"
        warnings.warn(text, UserWarning, stacklevel=4)
    try:
        setattr(owner, _NAME, (Namespace if method is None else MethodNamespace)(owner, load, replaced))
    except TypeError as error:  # a class of an extension module; its frames still do as an argument of `fm.rank`
        warnings.warn(f"frame_metrics cannot put `.{_NAME}` on {owner.__name__}: {error}", UserWarning, stacklevel=4)


def detach(owner: type) -> None:
    """Take the namespace off a class and put back what stood there; do nothing where it is not in place."""
    current: Any = vars(owner).get(_NAME)
    if not _is_ours(current):
        return
    if current.replaced is None:
        delattr(owner, _NAME)
    else:
        setattr(owner, _NAME, current.replaced)


def register_polars(dataframe: type, lazyframe: type) -> None:
    """Put `.rank` on `pl.DataFrame` and `pl.LazyFrame`.

    Parameters
    ----------
    dataframe, lazyframe
        The namespace classes, each constructed from a frame alone.
    """
    attach(pl.DataFrame, lambda: dataframe)
    attach(pl.LazyFrame, lambda: lazyframe)


def register_pandas(load: Callable[[], type]) -> None:
    """Put `.rank` on `pd.DataFrame`: now if pandas is imported, else as soon as it is; this does not import it.

    Parameters
    ----------
    load
        Returns the namespace class, a subclass of `MethodLike`. Not called before the first `df.rank`, so a function
        that imports the class on the spot keeps pandas out of programs that do not use it, and keeps our own imports
        out of the import of pandas.
    """
    _stop_waiting()
    waiting = _PandasFinder(load)
    sys.meta_path.insert(0, waiting)
    waiting.attach_if_imported()


def unregister() -> None:
    """Take `.rank` off all frames, and no longer wait for pandas to be imported."""
    _stop_waiting()
    for owner in (pl.DataFrame, pl.LazyFrame, _imported_dataframe()):
        if owner is not None:
            detach(owner)


class _PandasFinder(importlib.abc.MetaPathFinder):
    """Find nothing itself, but notice that pandas gets imported; then attach the namespace and disappear.

    The import of pandas itself passes through a loader that attaches when pandas has run. An import that had begun
    before is noticed at the next search for any module, which is within the import of pandas still.
    """

    _of_frame_metrics: ClassVar[bool] = True

    def __init__(self, load: Callable[[], type]) -> None:
        self._load = load
        self._searching = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of pandas as all other finders together give it, its loader wrapped; None for the rest."""
        del path, target
        self.attach_if_imported()
        if fullname != "pandas" or self._searching:
            return None
        # This search asks the finders from the first on, so it comes by here again. A plain flag will do: Python holds
        # the import lock while it asks a finder.
        self._searching = True
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._searching = False
        # No loader: a bare folder of that name. No `exec_module`: a loader from the days of `load_module`.
        if spec is None or spec.loader is None or not hasattr(spec.loader, "exec_module"):
            return None
        spec.loader = _PandasLoader(spec.loader, self)
        return spec

    def attach_if_imported(self) -> None:
        """Attach to the frames of pandas if they are there, unless this finder has been called off."""
        owner = _imported_dataframe()
        if owner is not None and self in sys.meta_path:
            attach(owner, self._load)
            _remove(self)


class _PandasLoader(importlib.abc.Loader):
    """Put the real loader back, let it run the module, then tell the finder.

    pandas fails to import with us as it does without us, and the finder then waits for the next attempt.
    """

    def __init__(self, loader: importlib.abc.Loader, finder: _PandasFinder) -> None:
        self._loader = loader
        self._finder = finder

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Let the real loader create the module."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Let the real loader run the module, which must not find this one in its attributes."""
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._finder.attach_if_imported()

    def __getattr__(self, name: str) -> Any:
        # For those who only look for pandas and ask the loader for its file or source.
        return getattr(self._loader, name)


def _stop_waiting() -> None:
    for finder in filter(_is_ours, tuple(sys.meta_path)):
        _remove(finder)


def _remove(finder: object) -> None:
    with contextlib.suppress(ValueError):  # another thread was faster
        sys.meta_path.remove(finder)  # type: ignore[arg-type]


def _imported_dataframe() -> type | None:
    """Return `pandas.DataFrame` if pandas has come so far in its import, and never make it go further.

    A module that is imported lazily would start at any ordinary attribute access, hence the look into its `__dict__`.
    Whatever else stands under the name of pandas, such as the mocks of documentation builders, is left alone.
    """
    module = sys.modules.get("pandas")
    found = object.__getattribute__(module, "__dict__").get("DataFrame") if isinstance(module, ModuleType) else None
    return found if isinstance(found, type) else None


def _is_ours(value: object) -> bool:
    # On the type: a mock object has every attribute that one asks it for.
    return hasattr(type(value), "_of_frame_metrics")


def _method(attribute: Any, cls: type) -> Any:
    """Return what access through the class makes of an attribute if that is a function of some kind, else None.

    An accessor gives its class there and a property gives itself, so neither passes for one.
    """
    value = attribute.__get__(None, cls) if hasattr(type(attribute), "__get__") else attribute
    return value if callable(value) and not isinstance(value, type) else None


def _method_without_us(owner: type, cls: type, replaced: object) -> Any:
    """Return the function that `cls.rank` would be if this package had not touched `owner`, or None."""
    return _method(replaced, cls) or _method(getattr(super(owner, cls), _NAME, None), cls)
