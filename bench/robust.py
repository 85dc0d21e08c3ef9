"""Does the packed voice hold where the text is bad? 1,000 perturbed texts, packed against float32.

    python bench/robust.py --reference FLOAT32 [--voice default] [--texts 1000]

Needs the `export` extra. Everyday sentences get typos, dropped and doubled characters and stray punctuation. Both
forms of the voice speak each text with the same noise on the float32 form's durations and F0, so that frames line
up; similarity is the cosine of the two sounds' log spectra in 80 mel bands, mean over frames. Printed beside it:
how far the packed form's own durations stray.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sentences import SENTENCES
from stonechat.export.comparison import load_models
from stonechat.export.listening import Speaker, clauses
from stonechat.facts import read_facts
from stonechat.text import Frontend
from tqdm import tqdm

RATE = 24000
WINDOW, HOP, BANDS = 1024, 256, 80
STRAY = ",.!?;:…-—()\"'，。！？；：、（）"
LETTERS = "abcdefghijklmnopqrstuvwxyz"
BAR_PERCENT = 0.5

Floats = NDArray[np.float32]


def typo(text: str, at: int, chance: random.Random) -> str:
    """Another letter for a letter; neighbours swapped elsewhere."""
    if text[at].isascii() and text[at].isalpha():
        return text[:at] + chance.choice(LETTERS) + text[at + 1 :]
    return text[:at] + text[at : at + 2][::-1] + text[at + 2 :]


KINDS: tuple[Callable[[str, int, random.Random], str], ...] = (
    typo,
    lambda text, at, _: text[:at] + text[at + 1 :],  # dropped
    lambda text, at, _: text[:at] + text[at] + text[at:],  # doubled
    lambda text, at, chance: text[:at] + chance.choice(STRAY) + text[at:],
)


def perturbed(count: int, seed: int = 0) -> list[str]:
    """`count` texts with one to three faults each."""
    chance, made = random.Random(seed), []
    while len(made) < count:
        text = chance.choice(SENTENCES).text
        for _ in range(chance.randint(1, 3)):
            text = chance.choice(KINDS)(text, chance.randrange(len(text)), chance)
        made.append(text)
    return made


def mel_matrix() -> Floats:
    """(bins, bands): triangles evenly spaced on the mel scale, 0 Hz to half the rate."""
    top = 2595 * np.log10(1 + RATE / 2 / 700)
    edges = 700 * (10 ** (np.linspace(0, top, BANDS + 2) / 2595) - 1)
    bins = np.fft.rfftfreq(WINDOW, 1 / RATE)[:, None]
    rise = (bins - edges[:-2]) / (edges[1:-1] - edges[:-2])
    fall = (edges[2:] - bins) / (edges[2:] - edges[1:-1])
    return np.maximum(0, np.minimum(rise, fall)).astype(np.float32)


def log_mel(wave: Floats, mel: Floats) -> Floats:
    """(frames, BANDS), about 0 at silence."""
    frames = np.lib.stride_tricks.sliding_window_view(wave, WINDOW)[::HOP] * np.hanning(WINDOW).astype("f4")
    return np.log1p(1e3 * (np.abs(np.fft.rfft(frames)).astype(np.float32) @ mel))


def similarity(first: Floats, second: Floats, mel: Floats) -> float:
    """Mean cosine of the frames that are not silent."""
    a, b = log_mel(first, mel), log_mel(second, mel)
    sizes = np.linalg.norm(a, axis=1), np.linalg.norm(b, axis=1)
    heard = sizes[0] > 0.05 * sizes[0].max(initial=1e-9)
    cosine = (a * b).sum(1) / np.maximum(sizes[0] * sizes[1], 1e-9)
    return float(cosine[heard].mean()) if heard.any() else 1.0


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--reference", type=Path, required=True, help="float32 form of the same voice")
    parser.add_argument("--voice", type=Path, default=Path("runtime/data/voices/default"))
    parser.add_argument("--texts", type=int, default=1000)
    args = parser.parse_args()
    facts, frontend, mel = read_facts(args.reference), Frontend.load(), mel_matrix()
    plain, packed = (Speaker(facts, load_models(folder)) for folder in (args.reference, args.voice))
    found, strays, worst = [], [], ("", 1.0)
    for text in tqdm(perturbed(args.texts), unit="text"):
        for clause in clauses([text], facts, frontend):
            frames = plain.lay(clause)
            found.append(similarity(plain.sound(frames), packed.sound(frames), mel))
            strays.append(np.abs(np.expm1(packed.encode(clause)[1] - plain.encode(clause)[1])).mean())
            worst = min(worst, (text, found[-1]), key=lambda pair: pair[1])
    drop = 100 * (1 - float(np.mean(found)))
    print(
        f"{args.texts} texts, {len(found)} clauses: mean drop of similarity {drop:.3f} % (bar {BAR_PERCENT} %)"
    )
    print(f"largest drop {100 * (1 - worst[1]):.2f} %: {worst[0]}")
    print(f"durations of the packed form stray by {100 * float(np.mean(strays)):.2f} % on average")


if __name__ == "__main__":
    main()
