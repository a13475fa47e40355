"""Small separable problems, one for each network. All are simulated."""

import torch
from torch import Tensor

from liebn.linalg import rotation


def matrices(seed: int, samples: int = 60, n: int = 8) -> tuple[Tensor, Tensor]:
    """Covariances (samples, n, n) of three classes: each has its own direction of high variance."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.arange(samples) % 3
    signals = torch.randn(samples, n, 4 * n, dtype=torch.float64, generator=generator)
    signals[torch.arange(samples), labels] *= 2.5
    mixing = torch.linalg.qr(torch.randn(n, n, dtype=torch.float64, generator=generator))[0]
    signals = mixing @ signals
    return signals @ signals.mT / signals.shape[-1], labels


def signals(
    seed: int, samples: int = 60, channels: int = 4, domains: int = 3
) -> tuple[Tensor, Tensor, Tensor]:
    """Signals (samples, channels, 64) of two classes, labels and domains.

    Classes differ in the frequency of one source; each domain mixes the sources in its own way.
    """
    generator = torch.Generator().manual_seed(seed)
    labels, domain = torch.arange(samples) % 2, (torch.arange(samples) // 2) % domains
    noise = torch.randn(samples, channels, 64, generator=generator)
    frequency = torch.tensor([4.0, 12.0])[labels].unsqueeze(1)
    phase = 6.28 * torch.rand(samples, 1, generator=generator)
    noise[:, 0] += 2.0 * torch.sin(6.28 * frequency * torch.linspace(0, 1, 64) + phase)
    mixing = torch.eye(channels) + 0.3 * torch.randn(
        domains, channels, channels, generator=generator
    )
    return mixing[domain] @ noise, labels, domain


def rotations(
    seed: int, samples: int = 60, locations: int = 6, frames: int = 16
) -> tuple[Tensor, Tensor]:
    """Rotations (samples, locations, frames, 3, 3) of three classes.

    All locations turn about an axis of the class, up to a random angle, and move at random besides.
    """
    generator = torch.Generator().manual_seed(seed)
    labels = torch.arange(samples) % 3
    vectors = 0.3 * torch.randn(samples, locations, 1, 3, generator=generator)
    vectors = vectors + 0.1 * torch.randn(samples, locations, frames, 3, generator=generator)
    angle = 0.8 + torch.rand(samples, locations, 1, generator=generator)
    vectors[torch.arange(samples), :, :, labels] += angle * torch.linspace(0, 1, frames)
    return rotation.exp(rotation.hat(vectors)), labels
