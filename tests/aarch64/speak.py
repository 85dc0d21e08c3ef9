"""Speaks one fixed sentence and saves its samples: speak.py VOICE OUT.npy."""

import sys
import time

import numpy as np
import stonechat

TEXT = "右转。Turn right."

with stonechat.load(sys.argv[1], lock=False, sessions=1) as voice:
    start_s = time.perf_counter()
    wav, rate = voice.inference(TEXT, seed=0, inline=True)
np.save(sys.argv[2], wav)
print(f"{sys.argv[2]}: {len(wav) / rate:.2f} s of sound in {time.perf_counter() - start_s:.2f} s")
