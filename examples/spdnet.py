"""SPDNet on simulated covariances: normalization by metric and deformation, in a pipeline.

Signals of three kinds differ in where their power lies, and are seen through sensors whose gains
differ by a factor of a thousand, so that all covariances are far from the identity. Runs in under a
minute:

    python examples/spdnet.py
"""

import numpy as np
import torch
from pyriemann.estimation import Covariances
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline

from liebn.estimators import SPDNetClassifier

torch.set_num_threads(1)


def simulate(samples: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Signals (samples, 12, 100) and their kinds."""
    random = np.random.default_rng(seed)
    kinds = np.arange(samples) % 3
    sources = random.standard_normal((samples, 12, 100))
    sources[np.arange(samples), kinds] *= 1.5
    directions = np.linalg.qr(np.random.default_rng(0).standard_normal((12, 12)))[0]
    gains = np.geomspace(0.03, 30.0, 12)[:, None]
    return gains * (directions @ sources), kinds


def main() -> None:
    signals, kinds = simulate(300, seed=1)
    train, test, train_kinds, test_kinds = train_test_split(
        signals, kinds, test_size=0.5, stratify=kinds, random_state=0
    )
    classifier = SPDNetClassifier(sizes=(12, 8, 4), max_epochs=12, lr=2e-2, random_state=0)
    pipeline = make_pipeline(Covariances("oas"), classifier)
    search = GridSearchCV(
        pipeline,
        [
            {"spdnetclassifier__norm": [None]},
            {"spdnetclassifier__norm": ["lcm", "aim"], "spdnetclassifier__theta": [0.5, 1.0]},
        ],
        cv=2,
    )
    search.fit(train, train_kinds)
    for options, score in zip(
        search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
    ):
        norm, theta = (options.get(f"spdnetclassifier__{name}") for name in ("norm", "theta"))
        name = f"LieBN, {norm}, θ = {theta}" if norm else "no normalization"
        print(f"{name:24} cross-validated accuracy {score:.2f}")
    print(f"the best of them on test data: {search.score(test, test_kinds):.2f}")


if __name__ == "__main__":
    main()
