"""The second stage of training: discriminators join the spectral losses, on short pieces of the crops."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from .dataset import Batch
from .discriminator import Discriminators, discriminator_loss, feature_loss, generator_loss
from .losses import sound_losses
from .network import NetworkConfig
from .synthesis import HOP
from .train import TrainConfig, Trainer, encode_frames, prosody_losses, synthesise, to_tensors, weigh


@dataclass(frozen=True)
class AdversarialConfig:
    """Weights of the added losses, and how much sound the discriminators hear."""

    generator: float = 0.3
    features: float = 1.5
    rate: float = 2e-4
    items: int = 8
    frames: int = 32
    ramp: int = 100
    """Steps in which the discriminators learn before their losses count in full."""


class AdversarialTrainer(Trainer):
    """A trainer whose decoder also has to pass for real."""

    def __init__(
        self,
        folder: Path,
        network: NetworkConfig,
        config: TrainConfig,
        extra: AdversarialConfig | None = None,
    ) -> None:
        super().__init__(folder, network, config)
        self.extra, self.began = extra or AdversarialConfig(), -1
        self.judges = Discriminators().to(config.device)
        self.judge_optimiser = torch.optim.AdamW(self.judges.parameters(), self.extra.rate, (0.8, 0.99))

    def extra_state(self) -> dict[str, object]:
        return {"judges": self.judges.state_dict(), "judge_optimiser": self.judge_optimiser.state_dict()}

    def load_extra(self, state: dict[str, object]) -> None:
        if "judges" in state:
            self.judges.load_state_dict(state["judges"])
            self.judge_optimiser.load_state_dict(state["judge_optimiser"])

    def losses(self, batch: Batch) -> dict[str, Tensor]:
        """Regression losses, and those of the discriminators, which take their own step on the way."""
        b = to_tensors(batch, self.config.device)
        style, frames, log_durations = encode_frames(self.student, b)
        parts = prosody_losses(self.student, b, frames, log_durations)
        made = synthesise(self.student, b, style, frames)
        parts |= sound_losses(made, b["audio"])
        short_made, short_real = self._pieces(made, b["audio"])
        parts["judges"] = self._judge(short_made.detach(), short_real)
        for p in self.judges.parameters():
            p.requires_grad_(False)
        with torch.no_grad():
            real = self.judges(short_real)
        judged = self.judges(short_made)
        parts["generator"], parts["features"] = generator_loss(judged), feature_loss(real, judged)
        for p in self.judges.parameters():
            p.requires_grad_(True)
        self.began = self.step if self.began < 0 else self.began
        share = min(1.0, (self.step - self.began) / self.extra.ramp)
        added = self.extra.generator * parts["generator"] + self.extra.features * parts["features"]
        parts["total"] = weigh(parts) + share * added
        return parts

    def _pieces(self, made: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
        """The same random piece of some of the crops, as they are and as they should be."""
        length = self.extra.frames * HOP
        start = int(torch.randint(made.shape[1] - length, ()))
        chosen = torch.randperm(len(made))[: self.extra.items]
        return made[chosen, start : start + length], real[chosen, start : start + length]

    def _judge(self, made: Tensor, real: Tensor) -> Tensor:
        loss = discriminator_loss(self.judges(real), self.judges(made))
        self.judge_optimiser.zero_grad(set_to_none=True)
        loss.backward()
        self.judge_optimiser.step()
        return loss.detach()
