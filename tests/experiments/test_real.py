"""The experiments on real data, in a form so short that only their going through is tested."""

import pytest

from tests.experiments import small

pytestmark = pytest.mark.data

# Folder of the data, one method that is none of the slowest, classes, and how many test: of FPHA,
# all of 575 but one matrix that is zero.
SHORT = {
    "fpha": ("fpha_cov63", "LieBN-LCM(1)", 45, 574),
    "hdm05-11": ("hdm05_11class", "LieBN-LCM(1)", 11, None),
    "ssvep-exo-inter-session": ("ssvep_exo_eeg", "DSMLieBN-LCM(1)", 4, None),
    "msr-action3d": ("msraction3d_skeleton", "LieNetLieBN", 20, None),
}


@pytest.mark.parametrize("name", SHORT)
def test_an_epoch_on_real_data(name, command, real, tmp_path):
    folder, method, classes, tested = SHORT[name]
    where = ("--data", real(folder), "--results", tmp_path)
    line = ("reproduce", name, "--quick", "--epochs", "1", "--seeds", "1", "--splits", "1")
    status, out, err = command(*line, "--methods", method, *where)
    assert (status, err) == (0, ""), out
    assert "imulated" not in out
    (record,) = small.records(tmp_path, name).values()
    assert record["status"] == "finished"
    assert record["simulated"] is False
    assert len(record["classes"]) == classes
    assert record["samples"]["test"] == (tested or sum(map(sum, record["confusion"])))
    assert len(record["history"]["train_loss"]) == 1
    if name == "fpha":
        assert "89.70" not in out  # published, for a method that was not asked for
        assert "77.64 ± 1.00" in out
