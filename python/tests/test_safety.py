"""Whatever is passed in, there is an answer or an exception, never a crash; Ctrl-C stops a fit; threads share what they
may."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
from conftest import ALL, make_crowd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import dissent
from dissent import DissentError, Votes, _core

settings.register_profile("dissent", deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))
settings.load_profile("dissent")

ids = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=True, allow_infinity=True),
    st.text(max_size=20),
    st.binary(max_size=5),
    st.tuples(st.integers()),
    st.just(object()),
)
FINE = (DissentError, TypeError, ValueError, KeyError, OverflowError)


@given(st.lists(st.tuples(ids, ids, ids), max_size=12), st.sampled_from(["error", "first", "last", "all"]), st.booleans())
def test_any_rows(rows, duplicates, lenient):
    try:
        votes = Votes(rows, duplicates=duplicates, lenient=lenient)
    except FINE:
        return
    p = np.asarray(dissent.DawidSkene(n_jobs=1).fit_predict_proba(votes))
    assert np.isfinite(p).all() and np.allclose(p.sum(axis=1), 1)


@given(st.lists(st.tuples(st.text(max_size=30), st.text(max_size=3), st.text(max_size=2)), min_size=1, max_size=40))
def test_any_texts(rows):
    """Texts come back as they went in, in order of first appearance."""
    try:
        votes = Votes(rows, duplicates="all", lenient=True)
    except DissentError:
        return
    except UnicodeEncodeError:  # lone surrogates are not text
        return
    complete = [r for r in rows if all(r) and not any("\0" in x for x in r)]
    assert votes.tasks.tolist() == list(dict.fromkeys(r[0] for r in complete))
    assert votes.workers.tolist() == list(dict.fromkeys(r[1] for r in complete))
    assert set(votes.classes.tolist()) == {r[2] for r in complete}


dtypes = st.one_of(
    hnp.integer_dtypes(endianness="?"), hnp.unsigned_integer_dtypes(endianness="?"), hnp.floating_dtypes(endianness="?"),
    hnp.boolean_dtypes(), hnp.complex_number_dtypes(), hnp.datetime64_dtypes(), hnp.unicode_string_dtypes(), hnp.byte_string_dtypes(),
)  # fmt: skip
arrays = dtypes.flatmap(lambda d: hnp.arrays(d, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=6)))


@given(arrays, arrays, arrays, st.booleans())
def test_any_arrays(a, b, c, strided):
    if strided:
        a, b, c = (x[::2] if x.ndim else x for x in (a, b, c))
    try:
        votes = Votes((a, b, c), duplicates="all", lenient=True)
    except FINE:
        return
    assert votes.core.n_items <= a.size


@given(arrays)
def test_core_takes_no_nonsense(array):
    """The C functions themselves, past the checks of the package."""
    votes = Votes([("a", "x", 0), ("b", "x", 1)]).core
    for call in (
        lambda: _core.column(array),
        lambda: _core.columns(array, (("task",),)),
        lambda: _core.dictionary_column(array, _core.column(["a"])),
        lambda: _core.fit(votes, "dawid-skene", gold=array),
        lambda: _core.worker_quality(votes, array),
        lambda: _core.combine((array, array), 2, 2, "average"),
        lambda: _core.combine((array,), array.size, 1, "centroid", weights=array),
        lambda: _core.votes_from_counts(array, *((array.shape + (1, 1))[:2])),
        lambda: _core.arrow_stream(("a",), (array,)),
        lambda: _core.fit(array, "standard"),
    ):
        try:
            call()
        except (*FINE, BufferError):
            pass


def test_types_are_not_made_by_hand():
    for cls in (_core.Array, _core.Column, _core.Votes, _core.Fit, _core.ArrowData):
        with pytest.raises(TypeError):
            cls()


@pytest.mark.parametrize("size", [2**31, 2**62, 2**63 - 1, -1, 2**64])
def test_huge_sizes(size):
    for call in (
        lambda: _core.combine((np.zeros(1),), size, size, "average"),
        lambda: _core.votes_from_counts(np.zeros(1), size, size),
        lambda: dissent.DawidSkene(n_iter=size).fit([("a", "x", 0)]),
        lambda: dissent.MACE(random_state=size).fit([("a", "x", 0)]),
        lambda: Votes([("a", "x", 0)], min_votes=size),
        lambda: Votes([("a", "x", 0)], n_jobs=size),
    ):
        try:
            call()
        except (*FINE, MemoryError):
            pass


def test_damaged_arrow():
    """Capsules of other kinds, released ones, arrays that lie about themselves."""
    pa = pytest.importorskip("pyarrow")
    good = pa.table({"task": ["a"], "worker": ["x"], "label": [1]})

    class Says:
        def __init__(self, stream=None, array=None):
            if stream is not None:
                self.__arrow_c_stream__ = stream
            if array is not None:
                self.__arrow_c_array__ = array

    released = good.__arrow_c_stream__()
    pa.RecordBatchReader._import_from_c_capsule(released).read_all()
    arrays = pa.array(["a"]).__arrow_c_array__()
    pa.Array._import_from_c_capsule(*arrays)
    for says in (
        Says(lambda: released),
        Says(lambda: 5),
        Says(lambda: arrays[0]),
        Says(array=lambda: arrays),
        Says(array=lambda: 5),
        Says(array=lambda: (5, 5)),
        Says(array=lambda: arrays[::-1]),
        Says(lambda: 1 / 0),
        Says(array=lambda: 1 / 0),
    ):
        with pytest.raises((TypeError, ValueError, ZeroDivisionError)):
            _core.column(says)
        with pytest.raises((TypeError, ValueError, ZeroDivisionError)):
            _core.columns(says, (("task",),))
    for kind in (pa.list_(pa.int8()), pa.timestamp("s"), pa.binary(), pa.null(), pa.decimal128(5), pa.struct([("x", pa.int8())])):
        with pytest.raises(TypeError, match="contains no ids"):
            _core.column(pa.array([None, None], kind))

    def fail():
        yield good.to_batches()[0]
        raise RuntimeError("the disk is gone")

    with pytest.raises(Exception, match="the disk is gone"):
        Votes(pa.RecordBatchReader.from_batches(good.schema, fail()))


def test_memory_outlives_its_makers():
    """Arrays of a fit stay when the fit and the votes are gone, and Arrow tables when all of it is gone."""
    model = dissent.DawidSkene().fit(list(zip(*make_crowd()[:3])))
    p, trace, worker = np.asarray(model._fitted["fit"].p), np.asarray(model._fitted["fit"].trace), model.votes_.rows()[1]
    views = [np.asarray(a) for a in model.votes_.core.arrays()]
    keep = [p.copy(), trace.copy(), worker.copy(), *(v.copy() for v in views)]
    capsule = model.probas_.__arrow_c_stream__()
    del model
    gc.collect()
    junk = [bytearray(10_000) for _ in range(500)]
    assert all(np.array_equal(a, b) for a, b in zip(keep, [p, trace, worker, *views]))
    with pytest.raises(ValueError):
        views[0][0] = 1
    p[0, 0] = 0.5  # its own
    del capsule, junk


def test_threads_work_side_by_side():
    columns = make_crowd(400, 30, 4)[:3]
    votes = Votes(tuple(columns))
    expected = {cls: np.asarray(cls(n_jobs=1).fit_predict_proba(votes)) for cls in ALL}
    wrong = []

    def work():
        for cls, p in expected.items():
            if not np.array_equal(np.asarray(cls(n_jobs=2).fit_predict_proba(Votes(tuple(columns)))), p):
                wrong.append(cls)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


SLOW = """
    import dissent, numpy as np, sys
    rng = np.random.default_rng(0)
    n = 400_000
    votes = dissent.Votes((np.arange(n) // 5, rng.integers(5000, size=n), rng.integers(6, size=n)), duplicates="all")
    print("begin", flush=True)
    try:
        dissent.DawidSkene(n_iter=1_000_000, tol=0).fit(votes)
    except KeyboardInterrupt:
        print("stopped", flush=True)
"""


def test_ctrl_c_stops_a_fit():
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(SLOW)], stdout=subprocess.PIPE, text=True, env=env)
    assert child.stdout.readline() == "begin\n"
    time.sleep(0.5)
    begin = time.monotonic()
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=60)
    assert out == "stopped\n" and child.returncode == 0
    assert time.monotonic() - begin < 20


def test_the_lock_is_free_during_work():
    rng = np.random.default_rng(0)
    n = 200_000
    votes = Votes((np.arange(n) // 5, rng.integers(5000, size=n), rng.integers(6, size=n)), duplicates="all")
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    clock = threading.Thread(target=tick)
    clock.start()
    begin = time.monotonic()
    dissent.DawidSkene(n_iter=60, tol=0).fit(votes)
    end = time.monotonic()
    done.set()
    clock.join()
    during = [t for t in ticks if begin < t < end]
    assert len(during) > 3, f"{len(during)} ticks in {end - begin:.3f} s"
