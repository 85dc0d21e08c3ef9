"""Makes tests/data/tiny_voice: an untrained student of small widths, for tests that need the graphs, not the sound.

python tests/data/make_tiny_voice.py     (needs the export extra)
"""

from pathlib import Path

import torch
from stonechat.export.network import NetworkConfig, Student
from stonechat.export.pack import write_pack

TINY = NetworkConfig(
    style=8,
    encoder=32,
    encoder_hidden=48,
    pitch=16,
    pitch_hidden=24,
    acoustic=32,
    acoustic_hidden=48,
    attention_hidden=32,
    heads=2,
    vocoder_blocks=2,
)


def tiny_student() -> Student:
    """Weights fixed by seed; durations of about three units a phoneme."""
    torch.manual_seed(3)
    student = Student(TINY)
    with torch.no_grad():
        student.encoder.duration.bias.fill_(1.1)
        student.pitch.head.bias.copy_(torch.tensor([0.0, 1.0, 1.0]))
    return student.eval()


if __name__ == "__main__":
    folder = Path(__file__).parent / "tiny_voice"
    write_pack(tiny_student(), folder, "tiny_voice", ("zf_xiaobei", "af_heart"), {"licence": "Apache-2.0"})
