"""Limits the threads of numpy's BLAS, before numpy loads or after.

One thread is the fastest for blocks of three rows, and each BLAS thread costs locked memory.
"""

import ctypes
import os
import sys
from pathlib import Path

from .facts import BlasLimit

_VARIABLES = (
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
_SETTERS = (
    "scipy_openblas_set_num_threads64_",  # numpy 2.x wheels
    "scipy_openblas_set_num_threads",
    "openblas_set_num_threads64_",  # numpy 1.26 wheels
    "openblas_set_num_threads",  # a distribution's numpy
)
"""Names under which OpenBLAS takes an int by value."""


def limit_blas_threads(n: int) -> BlasLimit:
    """At most `n` BLAS threads in this process; returns where the limit took hold.

    Call it before the first `import numpy` where you can: threads that were never made cost nothing.
    """
    if n < 1:
        raise ValueError(f"BLAS threads must be at least 1, not {n}")
    if "numpy" not in sys.modules:
        os.environ.update(dict.fromkeys(_VARIABLES, str(n)))
        return "environment"
    results = [_set_threads(path, n) for path in _loaded_openblas()]
    return "library" if any(results) else "none"


def blas_threads() -> int | None:
    """Threads that the loaded BLAS would use; None where it does not tell."""
    for path in _loaded_openblas():
        library = ctypes.CDLL(path)
        for name in _SETTERS:
            get = getattr(library, name.replace("_set_", "_get_"), None)
            if get is not None:
                return int(get())
    return None


def _loaded_openblas() -> list[str]:
    """Paths of the OpenBLAS libraries mapped into this process; numpy and scipy may each bring one."""
    try:
        maps = Path("/proc/self/maps").read_text()
    except OSError:
        return []
    paths = {line.split(maxsplit=5)[-1] for line in maps.splitlines() if line.count("/")}
    return sorted(path for path in paths if "openblas" in Path(path).name)


def _set_threads(path: str, n: int) -> bool:
    try:
        library = ctypes.CDLL(path)
    except OSError:  # replaced on disk since it was loaded
        return False
    setter = next((name for name in _SETTERS if hasattr(library, name)), None)
    if setter is None:
        return False
    getattr(library, setter)(ctypes.c_int(n))
    return True
