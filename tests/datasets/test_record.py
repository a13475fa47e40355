"""The record, the protocols, and where the data root is."""

from pathlib import Path

import numpy as np
import pytest

from liebn import datasets
from liebn.datasets import splits
from liebn.datasets.root import data_root, user_cache


def record(**changes: object) -> datasets.Dataset:
    fields: dict = {
        "name": "toy",
        "space": "spd",
        "points": np.stack([np.eye(2)] * 4),
        "labels": np.array([0, 1, 0, 1]),
        "classes": ("a", "b"),
    }
    return datasets.Dataset(**(fields | changes))


def test_a_record_knows_its_length() -> None:
    assert len(record()) == 4


@pytest.mark.parametrize("part", ["labels", "subjects", "domains"])
def test_columns_of_another_length_are_refused(part: str) -> None:
    with pytest.raises(datasets.DatasetError, match=rf"toy: expected {part} of shape \(4,\)"):
        record(**{part: np.array([0, 1, 0])})


def test_an_unknown_protocol_is_refused_with_the_known_ones() -> None:
    toy = record(protocols={"half": splits.random_parts(4, 0.5)})
    with pytest.raises(datasets.DatasetError, match="no protocol 'third'; it has: half"):
        toy.splits("third")


def test_random_parts_divide_everything_once() -> None:
    (split,) = splits.random_parts(100, train=0.5, validation=0.25)(seed=3)
    assert [len(split.train), len(split.validation), len(split.test)] == [50, 25, 25]
    together = np.concatenate([split.train, split.validation, split.test])
    np.testing.assert_array_equal(np.sort(together), np.arange(100))


def test_random_parts_follow_the_seed() -> None:
    protocol = splits.random_parts(50, train=0.5)
    np.testing.assert_array_equal(protocol(1)[0].train, protocol(1)[0].train)
    assert not np.array_equal(protocol(1)[0].train, protocol(2)[0].train)


def test_fixed_split_is_the_mask() -> None:
    (split,) = splits.fixed(np.array([True, False, True]))(seed=9)
    assert (split.train.tolist(), split.test.tolist()) == ([0, 2], [1])


def test_leave_one_out_tests_every_sample_once() -> None:
    groups = np.array([5, 7, 5, 9])
    parts = splits.leave_one_out(groups, "subject")(seed=0)
    assert [part.name for part in parts] == ["subject 5", "subject 7", "subject 9"]
    assert [part.test.tolist() for part in parts] == [[0, 2], [1], [3]]
    for part in parts:
        assert not set(groups[part.train]) & set(groups[part.test])


def test_leave_one_session_out_stays_within_a_subject() -> None:
    subjects = np.array([1, 1, 1, 2, 2, 3])
    sessions = np.array([0, 1, 1, 0, 1, 0])
    parts = splits.leave_one_session_out(subjects, sessions)(seed=0)
    assert [part.test.tolist() for part in parts] == [[0], [1, 2], [3], [4]]
    assert [part.train.tolist() for part in parts] == [[1, 2], [0], [4], [3]]


def test_cross_subject_trains_on_the_listed_subjects() -> None:
    subjects = np.array([1, 2, 3, 1])
    first, second = splits.cross_subject(subjects, [[1], [2, 3]])(seed=0)
    assert (first.train.tolist(), first.test.tolist()) == ([0, 3], [1, 2])
    assert (second.train.tolist(), second.test.tolist()) == ([1, 2], [0, 3])


def test_the_root_is_the_option_then_the_variable_then_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert data_root() == user_cache()
    monkeypatch.setenv("LIEBN_DATA", str(tmp_path / "variable"))
    assert data_root() == tmp_path / "variable"
    assert data_root(tmp_path / "option") == tmp_path / "option"


def test_an_unknown_dataset_is_refused_with_the_known_ones() -> None:
    with pytest.raises(datasets.DatasetError, match=r"unknown dataset 'mnist'.*radar.*g3d"):
        datasets.load("mnist")


def test_missing_files_say_where_they_were_expected(tmp_path: Path) -> None:
    with pytest.raises(
        datasets.MissingDataError, match=rf"hdm05: expected \*.npy in {tmp_path}/hdm05"
    ):
        datasets.load("hdm05", root=tmp_path)


def test_every_card_says_how_to_get_the_data() -> None:
    names = ["radar", "hdm05", "fpha", "hinss2021", "g3d", "hdm05-11", "ssvep-exo", "msr-action3d"]
    assert list(datasets.CARDS) == names
    for name, card in datasets.CARDS.items():
        assert card.name == name
        assert card.steps
        assert card.licence
        assert card.citation
