"""The bench's sentences as the teacher says them: what `bench/quality.py --teacher DIR` compares with.

    python bench/teacher.py DIR          # needs the `export` extra; some 10 s a sentence on one core

Phonemes are stonechat's own, so that only the voice differs. Speakers as by default: xiaobei where there is any
Chinese, heart where there is none.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import soundfile
from sentences import SENTENCES
from stonechat.export.corpus_maker import utterances
from stonechat.export.teacher import RATE, Teacher
from stonechat.text import Frontend
from tqdm import tqdm

VOICES = {"en": "af_heart", "zh": "zf_xiaobei", "mix": "zf_xiaobei"}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="where the WAVs and their index.json go")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    teacher, frontend = Teacher.load(), Frontend.load()
    index = []
    for number, sentence in enumerate(tqdm(SENTENCES, unit="sentence")):
        (line,) = utterances(sentence.text, frontend)
        voice, file = VOICES[sentence.lang], f"{number:02d}.wav"
        soundfile.write(folder / file, teacher.speak(line.phonemes, voice).samples, RATE, subtype="FLOAT")
        index.append({"file": file, "text": sentence.text, "lang": sentence.lang, "voice": voice})
    (folder / "index.json").write_text(json.dumps(index, ensure_ascii=False, indent=1), "utf-8")


if __name__ == "__main__":
    main()
