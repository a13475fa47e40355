"""The examples run, and the networks beat guessing on what they show."""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

from liebn import datasets
from liebn.estimators import TSMNetClassifier

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(name, capsys):
    """The accuracies that an example prints."""
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    return [float(number) for number in re.findall(r"\b[01]\.\d\d\b", capsys.readouterr().out)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, guessing, numbers",
    [("spdnet", 1 / 3, 6), ("lienet", 1 / 4, 2), ("tsmnet", 1 / 2, 3)],
)
def test_example(name, guessing, numbers, capsys):
    accuracies = run(name, capsys)
    assert len(accuracies) >= numbers
    assert accuracies[-1] > guessing + 0.2


@pytest.mark.data
@pytest.mark.slow
def test_eeg_of_unseen_subjects_is_classified():
    """The example in small: four subjects, of whom one is new, and eight epochs of training."""
    try:
        data = datasets.load("ssvep-exo", form="filtered")
    except datasets.MissingDataError as error:
        pytest.skip(str(error))
    example = runpy.run_path(str(EXAMPLES / "eeg_across_subjects.py"))
    x, y, domains = data.points, data.labels, data.domains
    train, test = np.isin(data.subjects, [9, 10, 11]), data.subjects == 12
    options = example["OPTIONS"] | {"max_epochs": 8, "momentum_epochs": 6, "lr": 1e-2}
    classifier = TSMNetClassifier(norm="lem", **options)
    classifier.fit(x[train], y[train], domains[train]).adapt(x[test], domains[test])
    assert classifier.score(x[test], y[test], domains=domains[test]) > 0.5  # guessing gives 0.25


def test_eeg_example_without_data(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("LIEBN_DATA", str(tmp_path))
    runpy.run_path(str(EXAMPLES / "eeg_across_subjects.py"), run_name="__main__")
    assert "ssvep_exo_epochs.npz" in capsys.readouterr().out
