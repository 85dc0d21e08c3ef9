"""Fails unless two recordings are the same within 1e-3 of full scale: compare.py A.npy B.npy."""

import sys

import numpy as np

MAX_ERROR = 1e-3

a, b = (np.load(path).astype(np.float64) for path in sys.argv[1:])
if len(a) != len(b):
    raise SystemExit(f"{len(a)} samples against {len(b)}: a duration was rounded the other way")
peak, error = np.abs(a).max(), np.abs(a - b).max()
snr_db = 10 * np.log10(np.mean(a**2) / max(np.mean((a - b) ** 2), 1e-20))
print(f"largest difference {error:.1e} of a peak of {peak:.2f}, {snr_db:.0f} dB, {len(a)} samples")
raise SystemExit(not (error <= MAX_ERROR and peak > 0.01))
