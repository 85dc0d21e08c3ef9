"""Source and synthesis in torch: the same formula that the runtime computes in numpy.

A pulse train from F0 (the closed form of a sum of cosines up to 11 kHz), its STFT shaped by the network's harmonic
amplitude and phase, plus Gaussian noise shaped by the noise amplitude, then an inverse STFT (Hann, 1280 / 320).
The layout of the network's output and the constants below are the contract with `runtime/stages/vocoder.py`.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from .network import BINS

RATE_HZ = 24_000
HOP = 320
WINDOW = 1280
TOP_HZ = 11_000.0
LOG_F0_CENTRE = 5.4
"""Subtracted from log F0 before it enters a network."""
MAX_LOG_AMPLITUDE = 2.0
NOISE_SCALE = math.sqrt(480.0 / 2.0)
"""STFT amplitude of unit white noise, per real and imaginary part: sum of the squared Hann window is 480."""


def pulse_train(log_f0: Tensor, voiced: Tensor, turns: Tensor) -> Tensor:
    """Band-limited pulses with harmonics of amplitude 1: (B, T) log Hz and voicing 0..1 -> (B, (T - 1) * HOP + 1).

    Values between frames are linear. The harmonic that is crossing TOP_HZ fades, so F0 changes make no steps.
    `turns` (B, T), in cycles, is added to the running phase: it puts the pulses where the teacher has them.
    """
    frames = torch.stack((torch.exp(log_f0), voiced, turns), 1)
    length = (log_f0.shape[1] - 1) * HOP + 1
    f0, gate, shift = F.interpolate(frames, size=length, mode="linear", align_corners=True).unbind(1)
    phase = torch.cumsum(f0.double() / RATE_HZ, 1) + shift
    theta = ((phase - phase.floor()) * (2 * math.pi)).float()
    harmonics = TOP_HZ / f0
    whole = harmonics.floor()
    half = torch.sin(theta / 2)
    safe = half.abs() > 1e-4
    kernel = torch.sin((whole + 0.5) * theta) / (2 * torch.where(safe, half, torch.ones_like(half))) - 0.5
    pulses = torch.where(safe, kernel, whole) + (harmonics - whole) * torch.cos((whole + 1) * theta)
    return pulses * gate


def short_time_spectra(wave: Tensor) -> Tensor:
    """STFT at each frame: (B, (T - 1) * HOP + 1) -> complex (B, T, BINS)."""
    frames = F.pad(wave, (WINDOW // 2, WINDOW // 2 - 1)).unfold(1, WINDOW, HOP)
    return torch.fft.rfft(frames * torch.hann_window(WINDOW))


def excitation(log_f0: Tensor, voiced: Tensor, turns: Tensor) -> Tensor:
    """STFT of the pulse train at each frame: (B, T) each -> complex (B, T, BINS)."""
    return short_time_spectra(pulse_train(log_f0, voiced, turns))


def spectrum(head: Tensor, source: Tensor, noise: Tensor) -> Tensor:
    """Network output (B, T, 3 * BINS), excitation and unit complex noise (B, T, BINS) -> STFT of the speech."""
    harmonic, phase, hiss = head.split(BINS, -1)
    harmonic, hiss = harmonic.clamp(max=MAX_LOG_AMPLITUDE), hiss.clamp(max=MAX_LOG_AMPLITUDE)
    shape = torch.polar(torch.exp(harmonic), math.pi * phase)
    return shape * source + torch.exp(hiss) * NOISE_SCALE * noise


def overlap_add(spectra: Tensor) -> Tensor:
    """Inverse STFT: (B, T, BINS) -> (B, (T + 3) * HOP), whose sample WINDOW // 2 is the centre of frame 0."""
    frames = torch.fft.irfft(spectra) * (torch.hann_window(WINDOW) / 1.5)
    length = (frames.shape[1] + WINDOW // HOP - 1) * HOP
    return F.fold(frames.transpose(1, 2), (1, length), (1, WINDOW), stride=(1, HOP))[:, 0, 0]


def unit_noise(batch: int, frames: int) -> Tensor:
    """Complex Gaussian noise, variance 1 in each part."""
    return torch.view_as_complex(torch.randn(batch, frames, BINS, 2))
