"""Fails unless a mono 16-bit WAV holds more than so many seconds of sound: loud_seconds.py FILE SECONDS."""

import sys
import wave

import numpy as np

SILENCE = 0.01  # of full scale

with wave.open(sys.argv[1], "rb") as file:
    rate = file.getframerate()
    samples = np.frombuffer(file.readframes(file.getnframes()), "<i2") / 32768
block = rate // 100
peaks = np.abs(samples[: len(samples) // block * block]).reshape(-1, block).max(axis=1)
seconds = np.count_nonzero(peaks > SILENCE) / 100
print(f"{sys.argv[1]}: {seconds:.2f} s of {len(samples) / rate:.2f} s not silent, peak {peaks.max():.2f}")
raise SystemExit(bool(seconds <= float(sys.argv[2])))
