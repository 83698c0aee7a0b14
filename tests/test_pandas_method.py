"""`.rank` is a namespace on frames, stores nothing on them, and is still pandas' method where pandas has one."""

from __future__ import annotations

import copy
import dataclasses
import functools
import gc
import inspect
import itertools
import os
import pickle
import pydoc
import subprocess
import sys
import textwrap
import typing
import warnings
import weakref
from pathlib import Path
from types import FunctionType, MethodType
from unittest import mock

import pandas as pd
import polars as pl
import pytest
from pandas.core.generic import NDFrame
from pandas.testing import assert_frame_equal, assert_series_equal

from frame_metrics.surfaces import namespace
from frame_metrics.surfaces.method import MethodLike, as_method
from frame_metrics.surfaces.namespace import attach, detach, register_pandas, register_polars, unregister

ROOT = Path(namespace.__file__).parents[2]
FRAMES = (pl.DataFrame, pl.LazyFrame, pd.DataFrame)
NATIVE = NDFrame.rank


class Metrics:
    """A namespace with one metric, the number of rows."""

    def __init__(self, frame):
        self._frame = frame

    def ndcg(self, k=None):
        """Count the rows, up to k of them."""
        rows = self._frame.lazy().collect().height if hasattr(self._frame, "lazy") else len(self._frame)
        return min(rows, k or rows)


class PandasMetrics(MethodLike, Metrics):
    """The same where it must pass for a method."""

    note: str = "annotations of the class must not show up as those of the method"


@pytest.fixture(autouse=True)
def stand_in():
    """Register the stand-in for one test, then put back exactly what stood on the three classes."""
    before = {cls: vars(cls).get("rank") for cls in FRAMES}
    register_polars(Metrics, Metrics)
    register_pandas(lambda: PandasMetrics)
    yield
    for cls, attribute in before.items():
        if attribute is not None:
            cls.rank = attribute
        elif "rank" in vars(cls):
            del cls.rank


@pytest.fixture(params=FRAMES, ids=lambda cls: f"{cls.__module__.partition('.')[0]}.{cls.__name__}")
def frame(request):
    return request.param({"rank": [3, 1, 2], "b": [0, 0, 1]})


@pytest.fixture
def df():
    return pd.DataFrame({"a": [3.0, 1.0, 2.0, 1.0], "b": [0, 0, 1, 1], "c": [1.0, None, 5.0, 2.0]})


@pytest.fixture
def method(df):
    """Return what `df.rank` would be without this package."""
    return MethodType(NATIVE, df)


def run(code: str, *path: Path, flags: tuple[str, ...] = ("-W", "error")) -> str:
    """Run code in a fresh interpreter which knows the stand-in, and return what it prints."""
    imports = """
        import sys
        from frame_metrics.surfaces import namespace
        from frame_metrics.surfaces.method import MethodLike
        def register():
            namespace.register_polars(Metrics, Metrics)
            namespace.register_pandas(lambda: PandasMetrics)
    """
    script = "\n".join(
        [textwrap.dedent(imports), inspect.getsource(Metrics), inspect.getsource(PandasMetrics), textwrap.dedent(code)]
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, [*path, ROOT]))}
    command = [sys.executable, *flags, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


class TestEveryFrame:
    def test_a_namespace_on_instances(self, frame):
        assert frame.rank.ndcg() == 3
        assert frame.rank.ndcg(k=2) == 2
        assert isinstance(frame.rank, Metrics)
        assert "rank" in dir(frame)
        assert "ndcg" in dir(frame.rank)

    def test_nothing_is_stored(self, frame):
        assert frame.rank is not frame.rank
        assert "rank" not in vars(frame)

    def test_frame_is_freed_without_the_garbage_collector(self, frame):
        frame = frame[:2] if isinstance(frame, pd.DataFrame) else frame.clone()  # one that no fixture holds
        freed = weakref.ref(frame)
        gc.disable()
        try:
            frame.rank.ndcg()
            del frame
            assert freed() is None
        finally:
            gc.enable()

    def test_assignment_shadows(self, frame):
        frame.rank = 5
        assert frame.rank == 5
        del frame.rank
        assert frame.rank.ndcg() == 3

    def test_an_attribute_error_inside_is_not_a_missing_attribute(self, frame):
        def broken():
            raise AttributeError("the cause")

        attach(type(frame), broken)
        with pytest.raises(RuntimeError, match="the cause"):
            _ = frame.rank

    def test_a_subclass_inherits_it(self, frame):
        kind = type("Kind", (type(frame),), {})
        assert kind({"a": [1]}).rank.ndcg() == 1
        assert kind.rank is type(frame).rank

    def test_registering_twice_replaces(self, frame):
        register_polars(Metrics, Metrics)
        register_pandas(lambda: PandasMetrics)
        assert frame.rank.ndcg() == 3
        detach(type(frame))
        assert "rank" not in vars(type(frame))

    def test_unregistering_twice_is_fine(self, frame):
        unregister()
        unregister()
        assert "rank" not in vars(type(frame))
        assert not hasattr(type(frame), "rank") or type(frame).rank is NATIVE

    @pytest.mark.parametrize(
        "make", [lambda cls: cls(), lambda cls: cls, property], ids=["object", "class", "property"]
    )
    def test_foreign_attribute_is_replaced_with_one_warning_and_restored(self, frame, make):
        class Foreign:
            def __get__(self, instance, cls):
                return Metrics

        unregister()
        type(frame).rank = foreign = make(Foreign)
        load = lambda: PandasMetrics if isinstance(frame, pd.DataFrame) else Metrics  # noqa: E731
        with pytest.warns(UserWarning, match="which another package has put on") as caught:
            attach(type(frame), load)
        attach(type(frame), load)
        assert len(caught) == 1
        assert frame.rank.ndcg() == 3
        assert not isinstance(frame, pd.DataFrame) or type(frame).rank is NATIVE
        detach(type(frame))
        assert vars(type(frame))["rank"] is foreign
        del type(frame).rank

    def test_earlier_function_is_called_and_restored(self, frame):
        def earlier(self, *, times=1):
            return "earlier " * times

        unregister()
        type(frame).rank = earlier
        attach(type(frame), lambda: Metrics)
        assert frame.rank(times=2) == "earlier earlier "
        assert frame.rank.ndcg() == 3
        assert inspect.ismethod(frame.rank)
        assert type(frame).rank is earlier
        detach(type(frame))
        assert vars(type(frame))["rank"] is earlier
        del type(frame).rank


class TestPolars:
    def test_class_access_gives_the_namespace_class(self):
        assert pl.DataFrame.rank is Metrics
        assert pl.LazyFrame.rank is Metrics

    def test_expressions_and_series_keep_their_method(self):
        assert pl.select(pl.Series([3, 1, 3]).rank("dense")).to_series().to_list() == [2, 1, 2]
        assert pl.DataFrame({"a": [3, 1, 3]}).select(pl.col("a").rank("dense"))["a"].to_list() == [2, 1, 2]

    def test_kept_namespace_sees_changes_in_place(self):
        df = pl.DataFrame({"a": [1, 2]})
        kept = df.rank
        df.extend(pl.DataFrame({"a": [3]}))
        assert kept.ndcg() == 3

    def test_a_method_that_polars_may_get_stays_callable(self):
        class Future(pl.DataFrame):
            def rank(self, method="average"):
                return f"{method} ranks of {self.columns}"

        native = Future.rank
        attach(Future, lambda: Metrics)
        df = Future({"a": [1, 2]})
        assert df.rank("dense") == native(df, "dense") == Future.rank(df, "dense")
        assert df.rank.ndcg() == 2
        assert inspect.signature(df.rank) == inspect.signature(MethodType(native, df))
        detach(Future)
        assert vars(Future)["rank"] is native


class TestPandasCalls:
    def test_class_access_gives_the_function(self):
        assert pd.DataFrame.rank is NATIVE
        assert pd.Series.rank is NATIVE
        assert "rank" not in vars(pd.Series)

    @pytest.mark.parametrize("method", ["average", "min", "max", "first", "dense"])
    @pytest.mark.parametrize("axis", [0, 1, "index", "columns"])
    def test_every_argument(self, df, method, axis):
        options = itertools.product([True, False], ["keep", "top", "bottom"], [True, False], [True, False])
        for args in options:
            assert_frame_equal(df.rank(axis, method, *args), NATIVE(df, axis, method, *args))
        assert_frame_equal(df.rank(method=method, axis=axis), NATIVE(df, method=method, axis=axis))

    @pytest.mark.parametrize("arguments", [{"method": "no such"}, {"na_option": "no such"}, {"no_such": 1}])
    def test_errors_are_those_of_pandas(self, df, arguments):
        with pytest.raises((ValueError, TypeError, KeyError)) as native:
            NATIVE(df, **arguments)
        with pytest.raises(native.type) as ours:
            df.rank(**arguments)
        assert str(ours.value) == str(native.value)
        assert len(ours.traceback) == len(native.traceback)

    @pytest.mark.parametrize("axis", [0, 1])
    def test_by_name(self, df, axis):
        assert_frame_equal(df.agg("rank", axis=axis), NATIVE(df, axis=axis))
        assert_frame_equal(df.apply("rank", axis=axis), NATIVE(df, axis=axis))
        assert_frame_equal(df.transform("rank", axis=axis), NATIVE(df, axis=axis))
        assert_frame_equal(df.transform("rank", axis=axis, method="dense"), NATIVE(df, axis=axis, method="dense"))

    def test_by_name_among_others(self, df):
        assert_series_equal(df.transform(["rank"])[("a", "rank")], NATIVE(df["a"]), check_names=False)
        assert_series_equal(df.transform({"a": "rank"})["a"], NATIVE(df["a"]))

    def test_through_the_class(self, df):
        assert_series_equal(pd.DataFrame.rank(df["a"]), df["a"].rank())
        assert_frame_equal(df.pipe(pd.DataFrame.rank), NATIVE(df))
        assert_frame_equal(functools.partial(pd.DataFrame.rank, pct=True)(df), NATIVE(df, pct=True))

    def test_groupby(self, df):
        got = df.groupby("b")[["a", "c"]].apply(lambda g: g.rank())
        assert got["a"].to_list() == [2.0, 1.0, 2.0, 1.0]
        assert df.groupby("b").rank()["a"].to_list() == [2.0, 1.0, 2.0, 1.0]
        assert df.groupby("b").transform("rank")["a"].to_list() == [2.0, 1.0, 2.0, 1.0]
        assert not hasattr(df.groupby("b").rank, "ndcg")

    def test_column_of_that_name(self, df):
        df["rank"] = [1, 2, 3, 4]
        assert_frame_equal(df.rank(), NATIVE(df))
        assert df.rank.ndcg() == 4
        assert df["rank"].to_list() == [1, 2, 3, 4]
        assert len(df.query("rank > 1")) == 3

    def test_kept_namespace_sees_changes_in_place(self, df):
        kept = df.rank
        df.loc[len(df)] = [0.0, 0, 0.0]
        assert kept.ndcg() == 5
        assert len(kept()) == 5

    def test_subclass_that_overrides(self, df):
        class Tenfold(pd.DataFrame):
            @property
            def _constructor(self):
                return Tenfold

            def rank(self, *args, **kwargs):
                return super().rank(*args, **kwargs) * 10

        tenfold = Tenfold(df)
        assert_frame_equal(pd.DataFrame(tenfold.rank()), NATIVE(df) * 10)
        inherited = super(Tenfold, tenfold).rank
        assert_frame_equal(pd.DataFrame(copy.deepcopy(inherited)()), NATIVE(df))
        assert inherited.ndcg() == 4

    def test_subclass_with_a_second_parent(self):
        class Second(NDFrame):
            def rank(self):
                return f"second, {len(self)} rows"

        class Both(pd.DataFrame, Second):
            pass

        both = Both({"a": [1, 2]})
        assert both.rank() == Both.rank(both) == "second, 2 rows"
        assert both.rank.ndcg() == 2

    def test_later_patch_of_the_parent_class_counts(self, df, monkeypatch):
        monkeypatch.setattr(NDFrame, "rank", lambda self: f"patched for {len(self)} rows")
        assert df.rank() == "patched for 4 rows"
        assert pd.DataFrame.rank(df) == "patched for 4 rows"

    def test_warnings_point_at_the_caller(self, df, monkeypatch):
        monkeypatch.setattr(NDFrame, "rank", lambda _: warnings.warn("look here", UserWarning, stacklevel=2))
        with pytest.warns(UserWarning, match="look here") as caught:
            df.rank()
        assert caught[0].filename == __file__


class TestPandasMethod:
    def test_inspection(self, df, method):
        assert inspect.ismethod(df.rank)
        assert inspect.isroutine(df.rank)
        assert isinstance(df.rank, MethodType)
        assert callable(df.rank)
        for question in (
            inspect.signature,
            inspect.getfullargspec,
            inspect.getsource,
            inspect.getmodule,
            inspect.unwrap,
        ):
            assert question(df.rank) == question(method), question
        assert df.rank.__signature__ == inspect.signature(method)

    @pytest.mark.parametrize(
        "name",
        sorted({*dir(MethodType), *dir(FunctionType)} - {*dir(object), "__self__", "__dict__", "__get__", "__call__"}),
    )
    def test_attributes(self, df, method, name):
        assert getattr(df.rank, name) == getattr(method, name)

    @pytest.mark.parametrize("name", ["__module__", "__class__", "__annotations__", "__self__"])
    def test_attributes_that_every_object_has(self, df, method, name):
        assert getattr(df.rank, name) is getattr(method, name)

    def test_type_hints(self, df, method):
        assert set(df.rank.__annotations__) == set(method.__annotations__)
        assert functools.wraps(df.rank)(lambda: None).__qualname__ == method.__qualname__

    def test_the_class_is_an_ordinary_class(self):
        assert PandasMetrics.__doc__ == "The same where it must pass for a method."
        assert PandasMetrics.__module__ == __name__
        assert list(inspect.signature(PandasMetrics).parameters) == ["func", "obj"]
        assert typing.get_type_hints(PandasMetrics)["note"] is str

    def test_help(self, df):
        text = pydoc.plain(pydoc.render_doc(df.rank))
        native = pydoc.plain(pydoc.render_doc(MethodType(NATIVE, df)))
        assert text.startswith(native.rstrip())
        assert text.index("Count the rows") > text.index("Compute numerical data ranks")
        assert inspect.getdoc(df.rank) == f"{inspect.getdoc(NATIVE)}\n\n{PandasMetrics._namespace_doc()}"
        assert "note" not in PandasMetrics._namespace_doc()
        assert pydoc.render_doc(pd.DataFrame.rank) == pydoc.render_doc(NATIVE)

    def test_help_text_may_be_replaced(self, df):
        class Other(PandasMetrics):
            @classmethod
            def _namespace_doc(cls):
                return "Metrics: ndcg."

        def bare(self):
            pass

        assert Other(NATIVE, df).__doc__ == inspect.getdoc(NATIVE) + "\n\nMetrics: ndcg."
        assert Other(bare, df).__doc__ == "Metrics: ndcg."

    def test_dir(self, df, method):
        assert {"ndcg", "__func__", "__self__"} <= set(dir(df.rank))
        assert set(dir(df.rank)) - set(dir(method)) == {"ndcg", "note"}

    def test_misspelt_attribute(self, df):
        with pytest.raises(AttributeError, match="no attribute 'ndgc', did you mean 'ndcg'"):
            _ = df.rank.ndgc
        with pytest.raises(AttributeError, match=r"no attribute '_ndcg'$"):
            _ = df.rank._ndcg

    def test_equality(self, df, method):
        assert df.rank == df.rank
        assert df.rank == method
        assert method == df.rank
        assert hash(df.rank) == hash(method)
        assert df.rank != df.copy().rank
        assert df.rank != df.abs
        assert df.rank != 1
        assert len({df.rank, df.rank, method}) == 1

    @pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
    def test_pickle_is_that_of_the_method(self, df, method, protocol):
        assert pickle.dumps(df.rank, protocol) == pickle.dumps(method, protocol)
        assert_frame_equal(pickle.loads(pickle.dumps(df.rank, protocol))(), NATIVE(df))  # noqa: S301

    def test_pickle_loads_without_the_package(self, df, tmp_path):
        file = tmp_path / "rank.pickle"
        file.write_bytes(pickle.dumps((df.rank, pd.DataFrame.rank)))
        code = """
            import sys
            sys.modules["frame_metrics"] = None
            import pickle, types, pandas
            method, function = pickle.load(open(sys.argv[1], "rb"))
            assert type(method) is types.MethodType and function is pandas.DataFrame.rank
            print(method()["a"].tolist())
        """
        command = [sys.executable, "-c", textwrap.dedent(code), str(file)]
        assert subprocess.check_output(command, text=True, cwd=tmp_path).strip() == "[4.0, 1.5, 3.0, 1.5]"

    def test_copies(self, df):
        assert copy.copy(df.rank) == df.rank
        deep = copy.deepcopy(df.rank)
        assert_frame_equal(deep(), NATIVE(df))
        assert deep.__self__ is not df
        assert deep.ndcg() == 4

    def test_weak_method(self, df):
        weak = weakref.WeakMethod(df.rank)
        assert_frame_equal(weak()(), NATIVE(df))
        assert weak().ndcg() == 4

    @pytest.mark.parametrize("autospec", [True, None])
    def test_mock(self, df, autospec):
        before = vars(pd.DataFrame)["rank"]
        with mock.patch.object(pd.DataFrame, "rank", autospec=autospec) as mocked:
            df.rank(method="dense")
        mocked.assert_called_once_with(*([df] if autospec else []), method="dense")
        assert vars(pd.DataFrame)["rank"] is before
        assert df.rank.ndcg() == 4

    def test_descriptor_passes_for_the_function(self, df):
        descriptor = vars(pd.DataFrame)["rank"]
        assert inspect.isfunction(descriptor)
        assert inspect.signature(descriptor) == inspect.signature(NATIVE)
        assert descriptor.__doc__ == NATIVE.__doc__
        assert_frame_equal(descriptor(df), NATIVE(df))

    def test_unregistering_leaves_no_trace(self, df):
        unregister()
        assert "rank" not in vars(pd.DataFrame)
        assert type(df.rank) is MethodType


class TestMixin:
    def test_immutable_base(self, df):
        class Immutable:
            def __init__(self, frame):
                object.__setattr__(self, "frame", frame)

            def __setattr__(self, name, value):
                raise TypeError(name)

        class Rank(MethodLike, Immutable):
            pass

        assert Rank(NATIVE, df).frame is df
        assert Rank(NATIVE, df) == df.rank

    def test_frozen_dataclass(self, df):
        @dataclasses.dataclass(frozen=True)
        class Frozen:
            frame: pd.DataFrame
            k: int = 10

        class Rank(MethodLike, Frozen):
            pass

        assert Rank(NATIVE, df).k == 10
        assert Rank(NATIVE, df) == df.rank

    def test_slots(self, df):
        class Slotted:
            __slots__ = ("frame",)

            def __init__(self, frame):
                self.frame = frame

        class Rank(MethodLike, Slotted):
            __slots__ = ("__weakref__", "_method")

        rank = Rank(NATIVE, df)
        with pytest.raises(AttributeError):
            rank.other = 1
        assert weakref.ref(rank)() is rank
        assert_frame_equal(rank(), NATIVE(df))

    def test_constructor_of_the_subclass(self, df):
        class Rank(MethodLike, Metrics):
            def __init__(self, _func, obj):
                Metrics.__init__(self, obj.head(2))

        assert Rank(NATIVE, df).ndcg() == 2
        assert len(Rank(NATIVE, df)()) == 4

    def test_as_method_leaves_a_method_like_class(self):
        assert as_method(PandasMetrics) is PandasMetrics
        assert as_method(Metrics) is as_method(Metrics)
        assert as_method(Metrics).__doc__ == Metrics.__doc__


class TestRegistration:
    def test_class_that_takes_no_attributes(self):
        with pytest.warns(UserWarning, match=r"cannot put `\.rank` on int"):
            attach(int, lambda: Metrics)

    def test_mock_in_place_of_the_method_is_not_taken_for_ours(self):
        with mock.patch.object(pd.DataFrame, "rank") as mocked:
            register_pandas(lambda: PandasMetrics)
            assert pd.DataFrame.rank is mocked
            detach(pd.DataFrame)
            assert vars(pd.DataFrame)["rank"] is mocked

    def test_silent_and_repeatable(self):
        code = """
            import importlib, pandas
            for _ in range(3):
                register()
            importlib.reload(namespace)
            register()
            for name in [name for name in sys.modules if name.startswith("frame_metrics")]:
                del sys.modules[name]
            from frame_metrics.surfaces import namespace
            register()
            df = pandas.DataFrame({"a": [2, 1]})
            print(df.rank.ndcg(), df.rank()["a"].tolist())
            namespace.unregister()
            print("rank" in vars(pandas.DataFrame), type(df.rank).__name__)
        """
        assert run(code).splitlines() == ["2 [2.0, 1.0]", "False method"]

    def test_pandas_is_not_imported(self):
        code = """
            import importlib.util, polars
            register()
            length = len(sys.meta_path)
            register()
            assert len(sys.meta_path) == length
            print(polars.DataFrame({"a": [2, 1]}).rank.ndcg())
            spec = importlib.util.find_spec("pandas")
            print(spec.loader.get_filename() == spec.origin, "pandas" in sys.modules)
        """
        assert run(code).splitlines() == ["2", "True False"]

    @pytest.mark.parametrize("first", ["pandas", "us"])
    def test_either_import_order(self, first):
        code = f"""
            if "{first}" == "pandas":
                import pandas
            before = [f for f in sys.meta_path if "frame_metrics" not in type(f).__module__]
            register()
            import pandas, importlib.machinery
            df = pandas.DataFrame({{"a": [2, 1]}})
            print(df.rank.ndcg(), df.rank()["a"].tolist(), sys.meta_path == before)
            print(type(pandas.__loader__) is type(pandas.__spec__.loader) is importlib.machinery.SourceFileLoader)
        """
        assert run(code).splitlines() == ["2 [2.0, 1.0] True", "True"]

    def test_import_in_a_thread(self):
        code = """
            from concurrent.futures import ThreadPoolExecutor
            def use(n):
                import pandas
                return pandas.DataFrame({"a": range(n)}).rank.ndcg()
            register()
            with ThreadPoolExecutor(4) as pool:
                print(list(pool.map(use, range(1, 9))))
        """
        assert run(code).strip() == "[1, 2, 3, 4, 5, 6, 7, 8]"

    def test_import_that_another_thread_has_begun(self):
        code = """
            import threading, time
            thread = threading.Thread(target=__import__, args=("pandas",))
            thread.start()
            while "pandas" not in sys.modules:
                time.sleep(0.0001)
            register()
            thread.join()
            import pandas
            print(pandas.DataFrame({"a": [2, 1]}).rank.ndcg())
        """
        assert run(code).strip() == "2"


class TestImportOfPandas:
    """The finder, tried on small packages called pandas."""

    FRAME = """
        class DataFrame(list):
            def rank(self):
                return sorted(self)
    """

    @pytest.fixture
    def package(self, tmp_path):
        """Return a function that writes such a package and says where it is."""

        def write(code: str) -> Path:
            (tmp_path / "pandas").mkdir()
            (tmp_path / "pandas" / "__init__.py").write_text(textwrap.dedent(code))
            (tmp_path / "pandas" / "rest.py").write_text("")
            return tmp_path

        return write

    @pytest.mark.parametrize("error", ["RuntimeError('boom')", "ImportError('boom')", "KeyboardInterrupt('boom')"])
    def test_failure_is_passed_on_and_the_next_attempt_counts(self, package, error):
        code = """
            register()
            sys.fail = True
            for _ in range(2):
                try:
                    import pandas
                except BaseException as error:
                    print(repr(error), "pandas" in sys.modules)
            sys.fail = False
            import pandas
            print(pandas.DataFrame("cab").rank.ndcg())
        """
        fails = f"import sys\nif sys.fail:\n    raise {error}\n" + textwrap.dedent(self.FRAME)
        assert run(code, package(fails)).splitlines() == [f"{error} False"] * 2 + ["3"]

    def test_missing_pandas(self):
        code = """
            register()
            sys.path[:] = [path for path in sys.path if "site-packages" not in path]
            import importlib.util
            print(importlib.util.find_spec("pandas"))
            try:
                import pandas
            except ModuleNotFoundError as error:
                print(error, error.name)
        """
        assert run(code).splitlines() == ["None", "No module named 'pandas' pandas"]

    def test_namespace_package(self, tmp_path):
        (tmp_path / "pandas").mkdir()
        code = """
            sys.path[:] = [path for path in sys.path if "site-packages" not in path]
            register()
            import pandas
            print(pandas.__spec__.origin)
        """
        assert run(code, tmp_path).strip() == "None"

    @pytest.mark.skipif(sys.version_info >= (3, 15), reason="`load_module` is gone")
    def test_loader_of_the_old_kind(self, package):
        code = """
            import importlib.machinery
            class Old:
                def find_spec(self, name, path=None, target=None):
                    return importlib.machinery.ModuleSpec(name, self) if name == "pandas" else None
                def load_module(self, name):
                    sys.meta_path.remove(self)
                    return __import__(name)
            sys.meta_path.insert(0, Old())
            register()
            import pandas
            print(pandas.DataFrame("cab").rank.ndcg())
        """
        assert run(code, package(self.FRAME), flags=("-W", "ignore")).strip() == "3"

    @pytest.mark.parametrize(
        "module", ["None", "object()", "MagicMock()", "SimpleNamespace(DataFrame=list)", "PARTIAL"]
    )
    def test_other_objects_called_pandas(self, module):
        code = f"""
            from types import ModuleType, SimpleNamespace
            from unittest.mock import MagicMock
            PARTIAL = ModuleType("pandas")
            PARTIAL.DataFrame = lambda: None
            sys.modules["pandas"] = {module}
            register()
            import json.tool
            namespace.unregister()
            print("no error")
        """
        assert run(code).strip() == "no error"

    def test_import_that_had_begun(self, package):
        begun = "import sys; sys.register()" + textwrap.dedent(self.FRAME) + "import pandas.rest"
        code = """
            sys.register = register
            import pandas
            print(pandas.DataFrame("cab").rank.ndcg(), pandas.DataFrame("cab").rank())
        """
        assert run(code, package(begun)).strip() == "3 ['a', 'b', 'c']"

    @pytest.mark.parametrize("first", ["pandas", "us"])
    def test_lazy_import(self, package, first):
        code = f"""
            import importlib.util
            if "{first}" == "us":
                register()
            spec = importlib.util.find_spec("pandas")
            spec.loader = importlib.util.LazyLoader(spec.loader)
            pandas = sys.modules["pandas"] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(pandas)
            if "{first}" == "pandas":
                register()
            print("executed" if hasattr(sys, "executed") else "not executed")
            print(pandas.DataFrame("cab").rank.ndcg())
        """
        lazy = "import sys; sys.executed = True" + textwrap.dedent(self.FRAME) + "import pandas.rest"
        assert run(code, package(lazy)).splitlines() == ["not executed", "3"]

    def test_unregistering_calls_it_off(self, package):
        code = """
            before = [f for f in sys.meta_path if "frame_metrics" not in type(f).__module__]
            register()
            namespace.unregister()
            assert sys.meta_path == before
            import pandas
            print(type(vars(pandas.DataFrame)["rank"]).__name__)
        """
        assert run(code, package(self.FRAME)).strip() == "function"

    def test_unregistering_calls_off_a_loader_that_was_found(self, package):
        code = """
            import importlib.util
            register()
            spec = importlib.util.find_spec("pandas")
            namespace.unregister()
            pandas = sys.modules["pandas"] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(pandas)
            print(type(vars(pandas.DataFrame)["rank"]).__name__)
        """
        assert run(code, package(self.FRAME)).strip() == "function"

    def test_finders_that_ask_each_other(self, package):
        code = """
            import importlib.util
            class Other:
                busy = False
                def find_spec(self, name, path=None, target=None):
                    if name != "pandas" or self.busy:
                        return None
                    self.busy = True
                    try:
                        return importlib.util.find_spec(name)
                    finally:
                        self.busy = False
            sys.meta_path.insert(0, Other())
            register()
            sys.meta_path.insert(0, Other())
            import pandas
            print(pandas.DataFrame("cab").rank.ndcg())
        """
        assert run(code, package(self.FRAME)).strip() == "3"
