"""The memory pool: cutting, refusing, wiping, locking, closing."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stonechat import pool as pool_module
from stonechat.errors import PoolError
from stonechat.platforms import MemoryRoom, Outcome, current
from stonechat.pool import MemoryPool


def address(view: np.ndarray) -> int:
    return view.__array_interface__["data"][0]


@settings(deadline=None)
@given(st.lists(st.integers(0, 5000), max_size=20))
def test_regions_are_aligned_zeroed_and_apart(sizes: list[int]) -> None:
    with MemoryPool(1, lock=False) as pool:
        views = [pool.region(str(i), size) for i, size in enumerate(sizes)]
        for i, view in enumerate(views):
            assert view.shape == (sizes[i],)
            assert view.dtype == np.uint8
            assert address(view) % 64 == 0
            assert not view.any()
            view.fill(i + 1)
        assert all((view == i + 1).all() for i, view in enumerate(views))
        assert pool.free_bytes == (1 << 20) - sum(-(-size // 64) * 64 for size in sizes)


def test_pool_fills_to_its_last_byte() -> None:
    with MemoryPool(1, lock=False) as pool:
        assert pool.region("all", 1 << 20).nbytes == pool.nbytes
        assert pool.free_bytes == 0


def test_too_small_names_need_and_remedy() -> None:
    with MemoryPool(2, lock=False) as pool:
        pool.region("weights", 1 << 20)
        with pytest.raises(PoolError, match=r"(?s)'state' needs 3.0 MiB.*pool_mib=4 .*weights.*does not fit"):
            pool.region("state", 3 << 20)
        pool.region("state", 1 << 20)  # a refusal leaves the pool usable


@pytest.mark.parametrize(("name", "nbytes"), [("taken", 1), ("negative", -1)])
def test_bad_regions(name: str, nbytes: int) -> None:
    with MemoryPool(1, lock=False) as pool:
        pool.region("taken", 1)
        with pytest.raises(PoolError):
            pool.region(name, nbytes)


@pytest.mark.parametrize("mib", [0, -1, float("nan"), 1 << 40])
def test_bad_sizes(mib: float) -> None:
    with pytest.raises(PoolError, match="pool_mib"):
        MemoryPool(mib, lock=False)


def test_map_shows_every_region() -> None:
    with MemoryPool(4, lock=False) as pool:
        pool.region("weights", 2 << 20)
        pool.region("rings", 100)
        lines = pool.map().splitlines()
    assert lines[0] == "pool of 4.0 MiB, not locked"
    assert lines[1] == "  0x00000000    2.0 MiB |################                | weights"
    assert "100 B" in lines[2]
    assert lines[3].endswith("(free)")
    assert len({line.rindex("|") for line in lines[1:]}) == 1


def test_wipe_by_name_and_by_view() -> None:
    with MemoryPool(1, lock=False) as pool:
        a, b = pool.region("a", 64), pool.region("b", 64)
        a.fill(1)
        b.fill(2)
        pool.wipe("a")
        assert not a.any()
        assert b.all()
        pool.wipe(b.view(np.float32)[:8])
        assert not b[:32].any()
        assert b[32:].all()
        with pytest.raises(PoolError, match="a, b"):
            pool.wipe("c")


def test_views_outlive_close() -> None:
    pool = MemoryPool(1, lock=False)
    view = pool.region("a", 64)
    view.fill(7)
    pool.close()
    pool.close()
    assert (view == 7).all()
    with pytest.raises(PoolError, match="closed"):
        pool.region("b", 1)


def test_mapping_goes_when_nothing_holds_it() -> None:
    def rows() -> int:
        with open("/proc/self/smaps") as maps:
            return sum(line.startswith("Size:") and int(line.split()[1]) >= 77 << 10 for line in maps)

    before = rows()
    pool = MemoryPool(77, lock=False)
    view = pool.region("a", 64)
    pool.close()
    assert rows() == before + 1
    del view
    assert rows() == before


def test_refused_lock_warns_once_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    class Refusing:
        def lock_memory(self) -> Outcome:
            return Outcome(False, "ulimit -l unlimited")

        def advise(self, mapping: object) -> None: ...

        def memory_room(self) -> None: ...

    monkeypatch.setattr(pool_module, "current", Refusing)
    with warnings.catch_warnings(record=True) as caught, MemoryPool(1) as pool:
        warnings.simplefilter("always")
        pool.region("a", 64).fill(1)
    assert [str(w.message).endswith("ulimit -l unlimited") for w in caught] == [True]
    assert caught[0].filename == __file__
    assert not pool.locked


@pytest.mark.skipif(sys.platform != "linux", reason="mlockall is Linux's here")
def test_lock_in_a_process_of_its_own() -> None:
    """Locked, the kernel counts the pool in VmLck; else there was the warning. Core dumps leave it out."""
    code = """
import warnings
from stonechat.pool import MemoryPool
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    pool = MemoryPool(8)
view = pool.region("a", 1)
locked_kib = next(int(l.split()[1]) for l in open("/proc/self/status") if l.startswith("VmLck"))
assert pool.locked == (not caught), caught
assert (locked_kib >= 8 << 10) == pool.locked, locked_kib
start = view.__array_interface__["data"][0]
inside = False
for line in open("/proc/self/smaps"):
    head = line.split()[0]
    if "-" in head and not head.endswith(":"):
        low, high = (int(x, 16) for x in head.split("-"))
        inside = low <= start < high
    if inside and line.startswith("VmFlags"):
        assert "dd" in line.split(), line
        assert ("lo" in line.split()) == pool.locked, line
        print("seen")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "seen\n", done.stderr


def test_pool_that_would_have_the_process_killed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    room = MemoryRoom(64 << 20, 60 << 20, "/docker/1")
    monkeypatch.setattr(current(), "memory_room", lambda: room)
    with pytest.raises(PoolError, match=r"/docker/1 allows 64.0 MiB, of which 4.0 MiB are left.*--memory"):
        MemoryPool(8, lock=False)
    MemoryPool(4, lock=False).close()
