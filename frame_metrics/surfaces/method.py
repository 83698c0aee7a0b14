"""Objects that pass for a method: a namespace under a name which a class already uses for a method of its own.

`pandas.DataFrame.rank` is a method, and code that nobody here can see calls, inspects, pickles and compares it. So the
namespace that takes its place on instances is callable, and to all other questions answers as that method would.
"""

from __future__ import annotations

import copy
import functools
import inspect
from types import MethodType
from typing import TYPE_CHECKING, Any, ClassVar, Self

from frame_metrics.errors import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# A class has its own value for each of these, which an instance would show. Properties could not replace them: every
# class body binds `__module__` and `__doc__` anew, hiding what it inherits, and a property called `__annotations__` or
# `__signature__` breaks `typing.get_type_hints` and `inspect.signature` on the class itself.
_BORROWED = frozenset({"__annotations__", "__class__", "__doc__", "__module__"})


def public_names(namespace: type) -> list[str]:
    """Return the names that a namespace class offers its users.

    Examples
    --------
    >>> class Scores:
    ...     def ndcg(self): ...
    ...     def _table(self): ...
    >>> public_names(Scores)
    ['ndcg']
    """
    return [name for name in dir(namespace) if not name.startswith("_")]


def unknown_attribute(namespace: type, name: str) -> AttributeError:
    """Return the error for a name that a namespace does not have, with the nearest one that it has.

    The error carries the name and not the object: given both, Python appends a suggestion of its own to the traceback.

    Examples
    --------
    >>> class Scores:
    ...     def ndcg(self): ...
    >>> print(unknown_attribute(Scores, "ndgc"))
    'Scores' object has no attribute 'ndgc', did you mean 'ndcg'?
    """
    # Libraries probe objects for `__array__` or `_repr_html_`: nobody reads those answers, so they need no search.
    close = "" if name.startswith("_") else nearest(name, public_names(namespace))
    return AttributeError(f"{namespace.__name__!r} object has no attribute {name!r}{close}", name=name)


class StandIn:
    """Answer for a callable: call it, and give its attributes, its class included, in place of one's own.

    A subclass says in `_stands_for` which callable that is. `type(x)` still tells the truth; `isinstance`, and with it
    nearly all of `inspect`, `pydoc` and `unittest.mock`, asks `x.__class__` and gets the answer of the callable.
    """

    __slots__ = ()

    def _stands_for(self) -> Callable[..., Any]:
        """Return the callable whose place this object takes."""
        raise TypeError(f"{type(self).__name__} stands for nothing")

    def _borrow(self, name: str) -> Any:
        """Return what the callable has under one of the names that every class has as well."""
        return getattr(self._stands_for(), name)

    if TYPE_CHECKING:

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            """Call the callable."""

    else:
        # Type checkers take either of these two methods for "has every attribute" and would let all typos pass.
        def __getattribute__(self, name: str) -> Any:
            return self._borrow(name) if name in _BORROWED else super().__getattribute__(name)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._stands_for(), name)

        @property
        def __call__(self) -> Callable[..., Any]:
            """The callable itself.

            A property and not a method, so that no frame of this package stands between the caller and the callable:
            a warning with a stack level still points at the user's line, and tracebacks look as they always did.
            """
            return self._stands_for()


class _Docstring:
    """Keep the docstring of a class for the class, and let its instances borrow the one of what they stand in for.

    `pydoc` reads docstrings by `object.__getattribute__`, so for this one a descriptor has to stand in the class.
    """

    def __init__(self, text: str | None) -> None:
        self._text = text

    def __get__(self, instance: StandIn | None, cls: type) -> str | None:
        return self._text if instance is None else instance._borrow("__doc__")  # noqa: SLF001


class MethodLike(StandIn):
    """Mix into a namespace class whose instances must pass for a bound method.

    Put it first among the bases. The class is then constructed like `types.MethodType`, from a function and the object
    it is bound to, and hands the object alone to the constructor of the next base; a base that wants more is served by
    an `__init__(self, func, obj)` of the subclass, which need not call this one.

    An instance calls, compares, hashes, copies, pickles, prints its help and its signature as
    `types.MethodType(func, obj)` does; the names of the namespace come on top, and they are what `dir` adds and what a
    misspelt attribute is compared with. The pickle holds no trace of the namespace, so it loads where this package is
    not installed. The differences left are `type(x)`, `repr(x)` and a docstring that goes on where the method's ends.

    An instance carries the bound method as `_method` and nothing else. This class has empty `__slots__` for the sake of
    bases with slots of their own. A subclass that wants no `__dict__` has `__slots__ = ("__weakref__", "_method")`, as
    there can be weak references to a method.

    Code of the subclass and of its bases says `type(self)` where it wants its class: `self.__class__` is `MethodType`.

    Parameters
    ----------
    func
        The function behind the method.
    obj
        The object it is bound to, usually a frame.

    Examples
    --------
    >>> class Frame:
    ...     def rank(self, method="average"):
    ...         "Compute ranks."
    ...         return f"{method} ranks"
    >>> class Metrics:
    ...     def __init__(self, frame):
    ...         self.frame = frame
    ...
    ...     def ndcg(self, k=None):
    ...         "Mean normalised discounted cumulative gain."
    ...         return 0.5
    >>> class Rank(MethodLike, Metrics):
    ...     pass
    >>> frame = Frame()
    >>> rank = Rank(Frame.rank, frame)
    >>> rank("dense"), rank.ndcg()
    ('dense ranks', 0.5)
    >>> rank == frame.rank, inspect.ismethod(rank), str(inspect.signature(rank))
    (True, True, "(method='average')")
    """

    __slots__ = ()

    # Tells a class that is method-like already; a marker, since a reloaded module holds another `MethodLike`.
    _passes_for_method: ClassVar[bool] = True
    _method: MethodType

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.__doc__ = _Docstring(vars(cls).get("__doc__"))  # type: ignore[assignment]

    def __new__(cls, func: Callable[..., Any], obj: object) -> Self:
        """Bind the function to the object."""
        self = super().__new__(cls)
        # Past a `__setattr__` of the other bases, which may be frozen.
        object.__setattr__(self, "_method", MethodType(func, obj))
        return self

    def __init__(self, func: Callable[..., Any], obj: object) -> None:  # noqa: ARG002
        super().__init__(obj)  # type: ignore[call-arg]  # the next base of the class this is mixed into

    @classmethod
    def _namespace_doc(cls) -> str:
        """Return what the docstring says after the method's own: the public methods, each with its first line.

        Override it for another text.
        """
        methods = [(name, getattr(cls, name)) for name in public_names(cls)]
        entries = [f"{name}\n    {_first_line(method)}".rstrip() for name, method in methods if callable(method)]
        return "\n".join(["Namespace", "---------", *entries])

    def _stands_for(self) -> MethodType:
        # Not `self._method`: on an instance without it, the search would end in `__getattr__` and so here again.
        method: MethodType = object.__getattribute__(self, "_method")
        return method

    def _borrow(self, name: str) -> Any:
        if name == "__doc__":
            return "\n\n".join(filter(None, [inspect.getdoc(self._method), self._namespace_doc()]))
        return super()._borrow(name)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name == "__signature__":
                return inspect.signature(self._stands_for())
            try:
                return super().__getattr__(name)
            except AttributeError:
                raise unknown_attribute(type(self), name) from None

    def __dir__(self) -> Iterable[str]:
        return {*public_names(type(self)), *dir(self._method)}

    def __eq__(self, other: object) -> bool:
        # An `other` of this kind is an instance of `MethodType` too, as far as `isinstance` can tell.
        if not isinstance(other, MethodType):
            return NotImplemented
        return self._method == MethodType(other.__func__, other.__self__)

    def __hash__(self) -> int:
        return hash(self._method)

    def __reduce__(self) -> str | tuple[Any, ...]:
        return self._method.__reduce__()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        # As `copy` treats methods. By way of the pickle, a method that a subclass overrides would come back overridden.
        return type(self)(self._method.__func__, copy.deepcopy(self._method.__self__, memo))


@functools.cache
def as_method(namespace: type) -> type:
    """Return the namespace class itself if it passes for a method, else a subclass that does.

    For a namespace that was made for frames without a method of its name, on the day that they get one.

    Examples
    --------
    >>> class Metrics:
    ...     def __init__(self, frame):
    ...         self.frame = frame
    >>> as_method(Metrics)(str.upper, "abc")()
    'ABC'
    """
    if getattr(namespace, "_passes_for_method", False):
        return namespace
    return type(namespace.__name__, (MethodLike, namespace), {"__doc__": namespace.__doc__})


def _first_line(member: object) -> str:
    return (inspect.getdoc(member) or "").partition("\n")[0]
