"""Sparse training: from dense weights to 2:4 ones that sound the same.

Three phases, each a share of the steps. First a growing share of the groups of four is pruned to a pair drawn at
random each step (targeted dropout, Gomez et al., 2019: no weight may be relied on alone), the draw ever closer to the
largest pair; the share grows by the cubic schedule of Zhu & Gupta (2017), which neural-compressor uses too. Then the
pattern follows the magnitudes, and dropped weights still learn and may come back (straight-through gradient with a
pull towards zero, SR-STE, Zhou et al., 2021). Last the pattern is fixed and what is left is tuned.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from stonechat.errors import OptionError
from torch import Tensor, nn

from .adversarial import AdversarialTrainer
from .dataset import Batch
from .network import NetworkConfig, Student
from .prune import FEWEST_OUTPUTS, OUTPUTS, layers, magnitude_mask, random_mask
from .train import TrainConfig, Trainer

PULL = 2e-4
"""Of a dropped weight, added to its gradient."""


@dataclass(frozen=True)
class SparseSchedule:
    """When patterns are random, when they follow the magnitudes, and when they stay."""

    begin: int
    """Step that the dense weights have reached."""
    steps: int
    """Steps of sparse training."""
    random: float = 0.2
    """Share of the steps with random patterns, at the beginning."""
    fixed: float = 0.5
    """Share of the steps with a fixed pattern, at the end."""
    outputs: int = OUTPUTS
    """Outputs that share a pattern."""

    def __post_init__(self) -> None:
        if self.steps < 1 or min(self.random, self.fixed) < 0 or self.random + self.fixed > 1:
            raise OptionError(
                "--steps must be at least 1, and --random and --fixed shares that sum to at most 1"
            )
        if self.outputs < FEWEST_OUTPUTS:
            raise OptionError(f"--outputs must be at least {FEWEST_OUTPUTS}, not {self.outputs}")

    @property
    def fixed_steps(self) -> int:
        return round(self.steps * self.fixed)

    @property
    def ema(self) -> float:
        """Decay of the averaged weights: over a tenth of the steps, a thousand at most."""
        return 1 - max(1e-3, 10 / self.steps) if self.steps > 10 else 0.0

    def phase(self, step: int) -> str:
        done = (step - self.begin) / self.steps
        return "random" if done < self.random else "magnitude" if done < 1 - self.fixed else "fixed"

    def randomness(self, step: int) -> tuple[float, float]:
        """Share of groups that are pruned, and noise of the choice, at a step of the random phase."""
        left = 1 - (step - self.begin) / (self.steps * self.random)
        return 1 - left**3, left


class _Masked(torch.autograd.Function):
    """Weight times mask; the gradient reaches every weight, with a pull towards zero on the dropped ones."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, mask: Tensor) -> Tensor:
        ctx.save_for_backward(weight, mask)
        return weight * mask

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        weight, mask = ctx.saved_tensors
        return gradients[0] + PULL * weight * ~mask, None


class SparseLinear(nn.Linear):
    """A linear layer that computes with the weights its mask keeps."""

    mask: Tensor

    def __init__(self, dense: nn.Linear) -> None:
        super().__init__(dense.in_features, dense.out_features, device="meta")
        self.weight, self.bias = dense.weight, dense.bias
        self.register_buffer("mask", torch.ones_like(dense.weight, dtype=torch.bool), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, _Masked.apply(self.weight, self.mask), self.bias)


def make_sparse(student: Student) -> dict[str, SparseLinear]:
    """Put a SparseLinear, with the same parameters, in place of every layer that is pruned."""
    made = {name: SparseLinear(layer) for name, layer in layers(student).items()}
    for name, layer in made.items():
        parent, _, child = name.rpartition(".")
        setattr(student.get_submodule(parent), child, layer)
    return made


class SparseTrainer(Trainer):
    """A trainer under a sparse schedule; `checkpoint.pt` holds 2:4 weights once the pattern is fixed."""

    def __init__(
        self, folder: Path, network: NetworkConfig, config: TrainConfig, schedule: SparseSchedule
    ) -> None:
        super().__init__(folder, network, config)
        self.schedule = schedule
        self.layers, self.averaged = make_sparse(self.student), make_sparse(self.average)
        self.fixed: dict[str, Tensor] = {}
        """Masks by layer, once they stay."""

    def extra_state(self) -> dict[str, object]:
        return {**super().extra_state(), "masks": self.fixed}

    def load_extra(self, state: dict[str, Any]) -> None:
        super().load_extra(state)
        if state.get("masks"):
            self._fix(state["masks"])

    def losses(self, batch: Batch) -> dict[str, Tensor]:
        """The losses under this step's masks."""
        self._set_masks()
        return super().losses(batch)

    @torch.no_grad()
    def _set_masks(self) -> None:
        phase, wish = self.schedule.phase(self.step), self.schedule.outputs
        if phase == "fixed":
            if not self.fixed:
                self._fix({n: magnitude_mask(x.weight, wish) for n, x in self.averaged.items()})
            return
        for layer in self.layers.values():
            if phase == "random":
                layer.mask = random_mask(layer.weight, *self.schedule.randomness(self.step), wish)
            else:
                layer.mask = magnitude_mask(layer.weight, wish)

    @torch.no_grad()
    def _fix(self, masks: dict[str, Tensor]) -> None:
        """From now on these masks, for the averaged weights too, and dropped weights are zero."""
        self.fixed = masks
        for name, mask in masks.items():
            for layer in (self.layers[name], self.averaged[name]):
                layer.mask = mask
                layer.weight.mul_(mask)

    @torch.no_grad()
    def follow(self) -> None:
        for name, mask in self.fixed.items():
            self.layers[name].weight.mul_(mask)
        super().follow()

    @torch.no_grad()
    def validate(self, batches: list[Batch]) -> dict[str, float]:
        """Mean losses of the averaged weights as they would be pruned now."""
        if not self.fixed:
            for layer in self.averaged.values():
                layer.mask = magnitude_mask(layer.weight, self.schedule.outputs)
        return super().validate(batches)


class SparseAdversarialTrainer(SparseTrainer, AdversarialTrainer):
    """The same with discriminators."""
