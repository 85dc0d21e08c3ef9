"""The runtime against the torch network it was exported from, from phonemes to sound."""

import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import stonechat  # noqa: E402
from stonechat.export.dataset import frame_position  # noqa: E402
from stonechat.export.network import LOOKAHEAD, Student  # noqa: E402
from stonechat.export.synthesis import (  # noqa: E402
    HOP,
    LOG_F0_CENTRE,
    WINDOW,
    overlap_add,
    pulse_train,
    short_time_spectra,
    spectrum,
)
from stonechat.stages.prosody import F0_STEPS, LEAD_FRAMES, TAIL_S, UNHEARD_FRAMES  # noqa: E402

DATA = Path(__file__).parent.parent / "data"
pytestmark = pytest.mark.export


@pytest.fixture(scope="module")
def student() -> Student:
    sys.path.insert(0, str(DATA))
    from make_tiny_voice import tiny_student

    return tiny_student()


@torch.no_grad()
def speak(student: Student, ids: list[int], speaker: int, seed: int) -> np.ndarray:
    """The whole clause at once in torch, as the runtime defines it."""
    style = student.styles.weight[speaker : speaker + 1]
    hidden, log_durations = student.encoder(torch.tensor([ids]), style)
    durations = np.exp(log_durations[0].numpy()) * np.float32(600 / HOP)
    ends = np.cumsum(durations, dtype=np.float32)
    first = max(0, int(ends[0]) - LEAD_FRAMES - UNHEARD_FRAMES)
    unheard = max(0, int(ends[0]) - first - LEAD_FRAMES) // 3 * 3
    last = min(float(ends[-1]), float(ends[-2] - durations[-2]) + TAIL_S * 75)
    frames = max(1, -(-int(np.ceil(last - first)) // 3)) * 3
    inside = min(int(ends[-1]) - first, frames)
    index, position = frame_position(ends, first + inside)
    rows = torch.zeros(1, frames + LOOKAHEAD, hidden.shape[2] + 2)
    rows[0, :inside, :-2] = hidden[0, index[first:]]
    rows[0, :inside, -2:] = torch.from_numpy(position[first:])
    raw, _ = student.pitch(rows, student.pitch.states(1))
    prosody = torch.zeros(1, frames + 2 * LOOKAHEAD, 3)
    heard = raw[:, LOOKAHEAD : LOOKAHEAD + inside]
    heard[..., 0] = torch.round(heard[..., 0] * F0_STEPS) / F0_STEPS
    heard[..., 1] = (heard[..., 1] > 0).float()
    prosody[:, LOOKAHEAD : LOOKAHEAD + inside] = heard
    inputs = torch.cat((rows, prosody[:, LOOKAHEAD:]), -1)
    features, _ = student.acoustic(inputs, style, student.acoustic.states(1))
    f0 = prosody[:, : frames + LOOKAHEAD]
    head, _ = student.vocoder(features, f0[..., :2], student.vocoder.states(1))
    # The runtime's phase begins one frame later, and its source sees two frames past the end.
    longer = prosody[:, 1 : frames + LOOKAHEAD + 2]
    pulses = pulse_train(longer[..., 0] + LOG_F0_CENTRE, longer[..., 1], torch.zeros(longer.shape[:2]))
    source = short_time_spectra(torch.nn.functional.pad(pulses, (HOP, 0)))[:, :-2]
    normals = np.random.Generator(np.random.PCG64(seed)).standard_normal((*source.shape, 2), np.float32)
    wave = overlap_add(spectrum(head, source, torch.view_as_complex(torch.from_numpy(normals))))
    begin = WINDOW // 2 + LOOKAHEAD * HOP
    return wave[0, begin + unheard * HOP : begin + frames * HOP].numpy()


@pytest.mark.parametrize("text", ["你好。", "前方三百米右转。", "Turn right, then stop."])
def test_runtime_speaks_what_torch_speaks(student: Student, text: str) -> None:
    with stonechat.load(DATA / "tiny_voice", lock=False, sessions=1) as voice:
        clauses = list(voice.frontend.clauses(text))
        assert len(clauses) == 1
        made = voice.inference(text, seed=4)[0]
        speaker = voice.facts.speaker(None, voice.frontend.language(text))
    expected = speak(student, list(clauses[0].ids), speaker, 4)
    assert len(made) == len(expected)
    # F0 is float32 in torch, so its phase drifts by a little; everything else agrees to the last bits.
    error = made - expected.clip(-1, 1)
    assert 20 * np.log10(made.std() / error.std()) > 35
