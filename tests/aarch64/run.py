"""pytest for an emulated machine, 20 to 50 times slower than a real one: few examples, no deadlines."""

import sys

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "emulated", max_examples=3, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
settings.load_profile("emulated")
# qemu-user answers madvise itself, so the kernel's own flags of the mapping, which this test reads, do not change.
NOT_HERE = ("-k", "not test_lock_in_a_process_of_its_own")
raise SystemExit(pytest.main([*sys.argv[1:], *NOT_HERE]))
