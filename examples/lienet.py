"""LieNet on simulated motion: rotations between the bones of a body, with and without LieBN.

Every class is a way to move; every body holds itself in a way of its own. Runs in under a minute:

    python examples/lienet.py
"""

import numpy as np
import torch
from scipy.spatial.transform import Rotation

from liebn.estimators import LieNetClassifier

torch.set_num_threads(1)
LOCATIONS, FRAMES, CLASSES = 20, 32, 4


def simulate(samples: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rotations (samples, LOCATIONS, FRAMES, 3, 3) and their classes."""
    random, world = np.random.default_rng(seed), np.random.default_rng(0)
    labels = np.arange(samples) % CLASSES
    # A class gives each location an axis to swing about, and a phase.
    axes = world.standard_normal((CLASSES, LOCATIONS, 1, 3))
    phases = world.uniform(0, 2 * np.pi, (CLASSES, LOCATIONS, 1, 1))
    late = random.uniform(-0.3, 0.3, (samples, 1, 1, 1))
    times = np.linspace(0, 2 * np.pi, FRAMES)[:, None] - late
    swing = 0.4 * axes[labels] * np.sin(times + phases[labels])
    swing += 0.2 * random.standard_normal((samples, LOCATIONS, FRAMES, 3))
    posture = 0.6 * random.standard_normal((samples, LOCATIONS, 1, 3))
    turned = Rotation.from_rotvec(swing.reshape(-1, 3))
    held = Rotation.from_rotvec(np.broadcast_to(posture, swing.shape).reshape(-1, 3))
    return (held * turned).as_matrix().reshape(*swing.shape, 3).astype(np.float32), labels


def main() -> None:
    train, train_labels = simulate(160, seed=1)
    test, test_labels = simulate(160, seed=2)
    for name, norm in (("LieNet", None), ("LieNet with LieBN", "so")):
        scores = [
            LieNetClassifier(norm=norm, max_epochs=20, lr=0.05, optimizer="adam", random_state=seed)
            .fit(train, train_labels)
            .score(test, test_labels)
            for seed in range(2)
        ]
        print(f"{name:18} accuracy {np.mean(scores):.2f} over {len(scores)} seeds")


if __name__ == "__main__":
    main()
