"""Rings against a deque, across threads, at the seam, and closed while somebody waits."""

import sys
import threading
import tracemalloc
from collections import deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stonechat import ring as ring_module
from stonechat.errors import PoolError
from stonechat.ring import Doorbell, ObjectRing, Ring, ring_nbytes

SHAPE = (3,)


@pytest.fixture(params=["gil", "free-threaded"], autouse=True, scope="module")
def ordering(request: pytest.FixtureRequest) -> object:
    """Every test under both orderings; the second works under the GIL as well."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ring_module, "_has_gil", lambda: request.param == "gil")
        yield request.param


def make(capacity: int = 8, shape: tuple[int, ...] = SHAPE, dtype: str = "f4") -> Ring:
    return Ring(np.zeros(ring_nbytes(dtype, shape, capacity) + 5, np.uint8), dtype, shape, capacity)


def rows(start: int, n: int) -> np.ndarray:
    return np.repeat(np.arange(start, start + n, dtype=np.float32)[:, None], SHAPE[0], axis=1)


steps = st.lists(st.tuples(st.sampled_from(["push", "pop", "view", "peek", "clear"]), st.integers(0, 12)))


@settings(deadline=None)
@given(steps, st.sampled_from([1, 2, 8]))
def test_ring_is_a_bounded_deque(steps: list[tuple[str, int]], capacity: int) -> None:
    ring, model, made = make(capacity), deque[float](), 0
    for step, n in steps:
        if step == "push":
            done = ring.push(rows(made, n))
            assert done == min(n, capacity - len(model))
        elif step == "view":
            view = ring.write_view(n)
            done = len(view)
            assert (done > 0) == (n > 0 and len(model) < capacity)
            view[...] = rows(made, done)
            ring.commit(done)
        else:
            done = 0
            taken = take(ring, step, n, model)
            assert taken == [model.popleft() for _ in taken]
        model.extend(range(made, made + done))
        made += done
        assert (ring.readable, ring.writable) == (len(model), capacity - len(model))


def take(ring: Ring, step: str, n: int, model: deque[float]) -> list[float]:
    if step == "clear":
        ring.clear()
        return list(model)
    if step == "pop":
        out = np.empty((n, *SHAPE), np.float32)
        done = ring.pop(out)
        assert done == min(n, len(model))
        return out[:done, 0].tolist()
    view = ring.read_view(n)
    assert (len(view) > 0) == (n > 0 and len(model) > 0)
    values = view[:, -1].tolist()
    ring.release(len(values))
    return values


@settings(deadline=None)
@given(st.lists(st.booleans()))
def test_object_ring_is_a_bounded_deque(pushes: list[bool]) -> None:
    ring, model = ObjectRing[int](4), deque[int]()
    for i, push in enumerate(pushes):
        if push:
            assert ring.push(i) == (len(model) < 4)
            if len(model) < 4:
                model.append(i)
        else:
            assert ring.pop() == (model.popleft() if model else None)
        assert ring.readable == len(model)


def test_object_ring_lets_go_of_its_objects() -> None:
    ring, marker = ObjectRing[object](2), object()
    before = sys.getrefcount(marker)
    ring.push(marker)
    ring.push(marker)
    ring.pop()
    ring.clear()
    assert sys.getrefcount(marker) == before


def test_views_are_the_region_itself_and_stop_at_the_seam() -> None:
    region = np.zeros(4 * 4, np.uint8)
    ring = Ring(region, np.float32, (), 4)
    ring.push(np.ones(3, np.float32))
    ring.release(3)
    view = ring.write_view(4)
    assert len(view) == 1
    assert np.shares_memory(view, region)
    view[0] = 5
    ring.commit(1)
    assert len(ring.write_view(4)) == 3
    assert ring.push(np.arange(9, dtype=np.float32)) == 3
    out = np.empty(4, np.float32)
    assert len(ring.read_view(4)) == 1
    assert ring.pop(out) == 4
    assert out.tolist() == [5, 0, 1, 2]


def test_more_than_there_is_is_refused() -> None:
    ring = make(4)
    for call, n in [(ring.commit, 5), (ring.commit, -1), (ring.release, 1), (ring.release, -1)]:
        with pytest.raises(ValueError, match="items"):
            call(n)
    assert len(ring.write_view(-1)) == 0


@pytest.mark.parametrize("capacity", [0, 3, -4, 12])
def test_capacity_is_a_power_of_two(capacity: int) -> None:
    with pytest.raises(PoolError, match="power of two"):
        ObjectRing[int](capacity)


@pytest.mark.parametrize(
    "region", [np.zeros(15, np.uint8), np.zeros(16, np.float32), np.zeros((4, 4), np.uint8)]
)
def test_region_must_be_bytes_enough(region: np.ndarray) -> None:
    with pytest.raises(PoolError, match="16 bytes"):
        Ring(region, np.float32, (), 4)


def test_refused_where_nothing_orders_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ring_module, "_has_gil", lambda: False)
    monkeypatch.delattr("os.eventfd")
    with pytest.raises(PoolError, match="GIL"):
        make()


def test_no_array_sized_allocation() -> None:
    ring = make(1024, (224,))
    block = np.ones((300, 224), np.float32)
    ring.push(block)
    ring.pop(block)
    tracemalloc.start()
    for _ in range(20):
        ring.push(block)
        ring.pop(block)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4096


def test_two_threads_lose_and_repeat_nothing() -> None:
    total, ring, seen = 60_000, make(64), []

    def write() -> None:
        sizes, sent = np.random.default_rng(0).integers(1, 50, total), 0
        for size in sizes:
            block = rows(sent, min(int(size), total - sent))
            done = 0
            while done < len(block):
                ring.wait_writable()
                done += ring.push(block[done:])
            sent += len(block)
        ring.close()

    writer = threading.Thread(target=write)
    writer.start()
    out = np.empty((37, *SHAPE), np.float32)
    while ring.wait_readable(30):
        seen.append(out[: ring.pop(out)].copy())
    writer.join()
    assert np.array_equal(np.concatenate(seen), rows(0, total))


def test_two_threads_pass_objects() -> None:
    ring, out = ObjectRing[int](4), []

    def write() -> None:
        for i in range(5000):
            ring.wait_writable()
            ring.push(i)
        ring.close()

    writer = threading.Thread(target=write)
    writer.start()
    while ring.wait_readable(30):
        out.append(ring.pop())
    writer.join()
    assert out == list(range(5000))


def test_close_wakes_both_sides() -> None:
    empty, full, woken = make(), make(), []
    full.push(rows(0, 8))
    waits = [
        threading.Thread(target=lambda: woken.append(empty.wait_readable(60))),
        threading.Thread(target=lambda: woken.append(full.wait_writable(60))),
    ]
    for thread in waits:
        thread.start()
    empty.close()
    full.close()
    for thread in waits:
        thread.join(30)
    assert woken == [False, False]


def test_closed_ring_is_read_to_its_end_and_takes_no_more() -> None:
    ring = make()
    view = ring.write_view(2)
    ring.close()
    ring.commit(len(view))  # the writer was in the middle of it
    assert (ring.closed, ring.writable, ring.push(rows(0, 1))) == (True, 0, 0)
    assert ring.wait_readable()
    assert not ring.wait_readable(count=3)
    assert ring.pop(np.empty((8, *SHAPE), np.float32)) == 2
    assert not ring.wait_readable()
    ring.reopen()
    assert ring.push(rows(0, 9)) == 8


def test_waits_time_out() -> None:
    ring = make()
    assert not ring.wait_readable(0)
    assert not ring.wait_readable(0.001)
    assert ring.wait_writable(0, count=8)
    ring.push(rows(0, 3))
    assert ring.wait_readable(0, count=3)
    assert not ring.wait_readable(0.001, count=4)
    assert not ring.wait_writable(0.001, count=6)


def test_cancelled_reader_goes_on_with_what_comes_next() -> None:
    """The reader drops everything while the writer sleeps on a full ring."""
    ring, done = make(4), threading.Event()

    def write() -> None:
        ring.push(rows(0, 4))
        ring.wait_writable(60)
        ring.push(rows(100, 2))
        done.set()

    threading.Thread(target=write).start()
    assert ring.wait_readable(30, count=4)
    ring.clear()
    assert done.wait(30)
    out = np.empty((4, *SHAPE), np.float32)
    assert ring.pop(out) == 2
    assert out[0, 0] == 100


def test_one_thread_sleeps_on_many_rings() -> None:
    bell = Doorbell()
    rings = [ObjectRing[int](2, data_bell=bell) for _ in range(8)]
    threads = [threading.Thread(target=ring.push, args=(i,)) for i, ring in enumerate(rings)]
    for thread in threads:
        thread.start()
    assert bell.wait(lambda: all(ring.readable for ring in rings), 30)
    assert [ring.pop() for ring in rings] == list(range(8))
    for thread in threads:
        thread.join()


def test_doorbell_over_a_pipe(monkeypatch: pytest.MonkeyPatch, ordering: str) -> None:
    monkeypatch.delattr("os.eventfd")
    bell, rung = Doorbell(), threading.Event()
    for _ in range(10_000):  # more than a pipe holds
        bell.ring()
    thread = threading.Thread(target=lambda: (rung.set(), bell.ring()))
    thread.start()
    assert bell.wait(rung.is_set, 30)
    thread.join()
    assert not bell.wait(lambda: False, 0.001)
