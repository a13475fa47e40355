"""TSMNet on steady-state visual EEG (ssvep-exo): subjects it has never seen, without their labels.

Twelve people look at lights that flicker at 13, 17 or 21 Hz, or rest. The network trains on eight
of them, adapts its statistics to each session of the other four, and classifies their trials. It
needs the data set; LIEBN_DATA names the folder that holds it:

    LIEBN_DATA=~/data python examples/eeg_across_subjects.py
"""

import numpy as np
import torch
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import GroupKFold

from liebn import datasets
from liebn.estimators import TSMNetClassifier
from liebn.models import SPDNorm

torch.set_num_threads(1)
OPTIONS = {
    # Filters of half a second, long enough to tell the flicker frequencies apart.
    "temporal_kernel": 65,
    "temporal_filters": 8,
    "max_epochs": 15,
    "momentum_epochs": 12,
    "lr": 5e-3,
    "random_state": 0,
}


def main() -> None:
    try:
        data = datasets.load("ssvep-exo", form="filtered")
    except datasets.MissingDataError as error:
        print(error)
        return
    x, y, domains = data.points, data.labels, data.domains
    scores: dict[str, list[float]] = {"adapted": [], "one for all": []}
    for train, test in GroupKFold(3).split(x, y, data.subjects):
        adapted = TSMNetClassifier(norm="lem", **OPTIONS).fit(x[train], y[train], domains[train])
        adapted.adapt(x[test], domains[test])  # no labels
        predicted = adapted.predict(x[test], domains[test])
        scores["adapted"].append(balanced_accuracy_score(y[test], predicted))

        shared = TSMNetClassifier(norm=SPDNorm("lem"), **OPTIONS)
        predicted = shared.fit(x[train], y[train], domains[train]).predict(x[test], domains[test])
        scores["one for all"].append(balanced_accuracy_score(y[test], predicted))
        print(
            f"unseen subjects {np.unique(data.subjects[test])}: balanced accuracy "
            f"{scores['adapted'][-1]:.2f} adapted by session, "
            f"{scores['one for all'][-1]:.2f} with one set of statistics"
        )
    print(
        f"mean of three folds: {np.mean(scores['adapted']):.2f} and "
        f"{np.mean(scores['one for all']):.2f}; guessing gives 0.25"
    )


if __name__ == "__main__":
    main()
