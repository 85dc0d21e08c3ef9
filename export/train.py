"""Training of the student: one regression stage on spectral and prosody losses, resumable, with a constant learning
rate that is cooled down at the end (warm-up, stable, decay), so that a run may be prolonged or closed at any step.
"""

from __future__ import annotations

import contextlib
import copy
import csv
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from tqdm import tqdm

from .dataset import Batch, CropPlan, Sampler, load_corpora, make_batch, split
from .losses import sound_losses
from .network import LOOKAHEAD, NetworkConfig, Student
from .synthesis import HOP, LOG_F0_CENTRE, WINDOW, excitation, overlap_add, spectrum, unit_noise


@dataclass(frozen=True)
class TrainConfig:
    """What a caller may choose; the defaults are the recipe of the shipped voice."""

    batch: int = 16
    rate: float = 1e-3  # learning rate of the stable phase
    warmup: int = 300  # steps
    cooldown: int = 2000  # steps, at the end
    ema: float = 0.999  # decay of the averaged weights, which are what is packed
    seed: int = 0
    save_every: int = 250  # steps
    device: str = "cpu"


def to_tensors(batch: Batch, device: str) -> dict[str, Tensor]:
    """The batch's arrays as tensors, by field name."""
    return {k: torch.from_numpy(np.ascontiguousarray(v)).to(device) for k, v in vars(batch).items()}


def encode_frames(student: Student, b: dict[str, Tensor]) -> tuple[Tensor, Tensor, Tensor]:
    """Style (B, S), hidden rows and position at frames (B, T, C + 2), log durations (B, N)."""
    style = student.styles(b["speaker"])
    hidden, log_durations = student.encoder(b["ids"], style, b["mask"])
    hidden = F.pad(hidden, (0, 0, 0, 1))  # row N: outside the utterance
    index = b["phoneme"][..., None].expand(-1, -1, hidden.shape[-1])
    return style, torch.cat((hidden.gather(1, index), b["position"]), -1), log_durations


def synthesise(student: Student, b: dict[str, Tensor], style: Tensor, frames: Tensor) -> Tensor:
    """Waveform of the crop from the teacher's prosody: (B, crop frames * HOP)."""
    size, length = b["phoneme"].shape
    inputs, outputs = b["prosody"][:, LOOKAHEAD:], b["prosody"][:, :length]
    features, _ = student.acoustic(torch.cat((frames, inputs), -1), style, student.acoustic.states(size))
    head, _ = student.vocoder(features, outputs[..., :2], student.vocoder.states(size))
    with torch.no_grad():
        source = excitation(outputs[..., 0] + LOG_F0_CENTRE, outputs[..., 1], b["turns"])
        noise = unit_noise(size, length)
    wave = overlap_add(spectrum(head, source, noise))
    begin = WINDOW // 2 + b["start"][:, None] * HOP
    return wave.gather(1, begin + torch.arange(b["audio"].shape[1]))


def prosody_losses(
    student: Student, b: dict[str, Tensor], frames: Tensor, log_durations: Tensor
) -> dict[str, Tensor]:
    """Log-duration L1, log-F0 L1, voicing cross-entropy and energy L1."""
    size, length = b["phoneme"].shape
    made, _ = student.pitch(frames, student.pitch.states(size))
    target = b["prosody"][:, :length]
    heard = (torch.arange(length) >= b["start"][:, None]).float()
    # Unvoiced frames count a little: their interpolated F0 still drives the source at the edges of voicing.
    voiced = (0.1 + 0.9 * target[..., 1]) * heard
    return {
        "duration": ((log_durations - b["log_durations"]).abs() * b["mask"]).sum() / b["mask"].sum(),
        "f0": ((made[..., 0] - target[..., 0]).abs() * voiced).sum() / voiced.sum().clamp(min=1),
        "voicing": (
            F.binary_cross_entropy_with_logits(made[..., 1], target[..., 1], reduction="none") * heard
        ).sum()
        / heard.sum(),
        "energy": ((made[..., 2] - target[..., 2]).abs() * heard).sum() / heard.sum(),
    }


def losses(student: Student, b: dict[str, Tensor]) -> dict[str, Tensor]:
    """Every loss of one batch; `total` is what is minimised."""
    style, frames, log_durations = encode_frames(student, b)
    parts = prosody_losses(student, b, frames, log_durations)
    parts |= sound_losses(synthesise(student, b, style, frames), b["audio"])
    parts["total"] = weigh(parts)
    return parts


def weigh(parts: dict[str, Tensor]) -> Tensor:
    """The regression losses' sum, each with its weight."""
    prosody = parts["duration"] + 2 * parts["f0"] + 0.5 * parts["voicing"] + 0.5 * parts["energy"]
    return parts["spectral"] + parts["phase"] + 0.3 * parts["complex"] + prosody


def rate_at(step: int, steps: int, c: TrainConfig) -> float:
    """Learning rate: linear warm-up, constant, then linear to a hundredth over the last `cooldown` steps."""
    warm = min(1.0, (step + 1) / c.warmup)
    cool = min(1.0, max(0.01, (steps - step) / max(c.cooldown, 1)))
    return c.rate * warm * cool


def optimisers(student: Student, rate: float) -> list[torch.optim.Optimizer]:
    """Muon (Jordan et al., 2024) for the matrices inside, AdamW for embeddings, heads, convolutions and biases.

    At equal steps Muon's validation loss was well below AdamW's alone, for a twentieth more time a step.
    """
    heads = ("embedding.weight", "styles.weight", "head.weight", "duration.weight")
    inner = {n: p for n, p in student.named_parameters() if p.ndim == 2 and not n.endswith(heads)}
    outer = [p for n, p in student.named_parameters() if n not in inner]
    return [
        torch.optim.Muon(list(inner.values()), rate, weight_decay=0.01, adjust_lr_fn="match_rms_adamw"),
        torch.optim.AdamW(outer, rate, (0.8, 0.98), weight_decay=0.01, fused=True),
    ]


class Trainer:
    """Model, averaged model, optimiser and log of one run folder."""

    def __init__(self, folder: Path, network: NetworkConfig, config: TrainConfig) -> None:
        torch.manual_seed(config.seed)
        self.folder, self.config, self.step = folder, config, 0
        self.student = Student(network).to(config.device)
        self.average = copy.deepcopy(self.student)
        self.optimisers = optimisers(self.student, config.rate)
        folder.mkdir(parents=True, exist_ok=True)

    @property
    def checkpoint(self) -> Path:
        return self.folder / "checkpoint.pt"

    def save(self) -> None:
        """Write the checkpoint in one move, so that a killed run leaves the last good one."""
        state = {
            "step": self.step,
            "network": asdict(self.student.config),
            "student": self.student.state_dict(),
            "average": self.average.state_dict(),
            "optimisers": [o.state_dict() for o in self.optimisers],
            **self.extra_state(),
        }
        torch.save(state, self.checkpoint.with_suffix(".tmp"))
        self.checkpoint.with_suffix(".tmp").replace(self.checkpoint)

    def resume(self) -> bool:
        """Take up the run folder's checkpoint, if there is one."""
        if not self.checkpoint.exists():
            return False
        state = torch.load(self.checkpoint, weights_only=True)
        self.step = state["step"]
        self.student.load_state_dict(state["student"])
        self.average.load_state_dict(state["average"])
        for optimiser, kept in zip(self.optimisers, state["optimisers"], strict=True):
            optimiser.load_state_dict(kept)
        self.load_extra(state)
        return True

    def extra_state(self) -> dict[str, object]:
        """What a kind of trainer keeps besides; none here."""
        return {}

    def load_extra(self, state: dict[str, object]) -> None:
        """Take `extra_state` up again."""

    def losses(self, batch: Batch) -> dict[str, Tensor]:
        """Every loss of one training batch; `total` is what is minimised."""
        return losses(self.student, to_tensors(batch, self.config.device))

    def start_from(self, weights: dict[str, Tensor], step: int) -> None:
        """Begin from averaged weights as they are at `step`, with new optimisers."""
        self.student.load_state_dict(weights)
        self.average.load_state_dict(weights)
        self.step = step

    def train_step(self, batch: Batch, rate: float) -> dict[str, float]:
        parts = self.losses(batch)
        self.student.zero_grad(set_to_none=True)
        parts["total"].backward()
        torch.nn.utils.clip_grad_norm_(self.student.parameters(), 1.0)
        for optimiser in self.optimisers:
            for group in optimiser.param_groups:
                group["lr"] = rate
            optimiser.step()
        self.step += 1
        self.follow()
        return {k: v.item() for k, v in parts.items()}

    @torch.no_grad()
    def follow(self) -> None:
        """Move the averaged weights towards the student's."""
        decay = min(self.config.ema, (1 + self.step) / (10 + self.step))
        for a, p in zip(self.average.parameters(), self.student.parameters(), strict=True):
            a.lerp_(p, 1 - decay)

    @torch.no_grad()
    def validate(self, batches: list[Batch]) -> dict[str, float]:
        """Mean losses of the averaged weights on fixed batches and fixed noise."""
        state = torch.get_rng_state()
        torch.manual_seed(1)
        rows = [losses(self.average, to_tensors(b, self.config.device)) for b in batches]
        torch.set_rng_state(state)
        return {k: float(np.mean([r[k].item() for r in rows])) for k in rows[0]}


class Log:
    """train.csv of a run: a row each `every` steps, with means since the last row, and validation where measured."""

    def __init__(self, folder: Path) -> None:
        self.path, self.began = folder / "train.csv", time.monotonic()
        self.rows: list[dict[str, float]] = []

    def add(self, parts: dict[str, float]) -> None:
        self.rows.append(parts)

    def write(self, step: int, rate: float, valid: dict[str, float]) -> dict[str, float]:
        mean = {k: float(np.mean([r[k] for r in self.rows])) for k in self.rows[0]}
        row = {"step": step, "seconds": round(time.monotonic() - self.began, 1), "rate": rate, **mean}
        row |= {f"valid_{k}": v for k, v in valid.items()}
        fields = list(row)
        if self.path.exists():  # a later stage may measure more than the first one's columns
            fields = self.path.read_text("utf8").split("\n", 1)[0].split(",")
        with self.path.open("a", newline="", encoding="utf8") as file:
            writer = csv.DictWriter(file, fields, extrasaction="ignore", lineterminator="\n")
            if not file.tell():
                writer.writeheader()
            writer.writerow(row)
        self.rows = []
        return row


@contextlib.contextmanager
def fast_arithmetic() -> Iterator[None]:
    """Denormals are zero, and products bfloat16 inside where the processor has them: a quarter less time a step."""
    before = torch.backends.mkldnn.matmul.fp32_precision
    torch.set_flush_denormal(True)
    torch.backends.mkldnn.matmul.fp32_precision = "bf16"
    try:
        yield
    finally:
        torch.set_flush_denormal(False)
        torch.backends.mkldnn.matmul.fp32_precision = before


@fast_arithmetic()
def train(
    corpora: Sequence[Path],
    trainer: Trainer,
    steps: int,
    start: tuple[dict[str, Tensor], int] | None = None,
    on_save: Callable[[Trainer, Batch], None] | None = None,
) -> Trainer:
    """Train up to `steps` steps in all, resuming what the run folder holds, else from weights and their step.

    `on_save` is called after each checkpoint, with a batch of validation.
    """
    plan, folder, config = CropPlan(), trainer.folder, trainer.config
    training, held = split(load_corpora(corpora, folder.parent))
    if not trainer.resume() and start is not None:
        trainer.start_from(*start)
    sampler = Sampler(training, config.seed + trainer.step)
    rng = np.random.default_rng(7)
    valid = [make_batch(held[i : i + config.batch], plan, rng) for i in range(0, len(held), config.batch)]
    log = Log(folder)
    with tqdm(initial=trainer.step, total=steps, unit="step", dynamic_ncols=True) as bar:
        while trainer.step < steps:
            rate = rate_at(trainer.step, steps, config)
            parts = trainer.train_step(sampler.batch(config.batch, plan), rate)
            log.add(parts)
            bar.update()
            bar.set_postfix(spectral=f"{parts['spectral']:.3f}", phase=f"{parts['phase']:.3f}", refresh=False)
            if trainer.step % config.save_every == 0 or trainer.step == steps:
                trainer.save()
                bar.write(str(log.write(trainer.step, rate, trainer.validate(valid))))
                if on_save:
                    on_save(trainer, valid[0])
    return trainer
