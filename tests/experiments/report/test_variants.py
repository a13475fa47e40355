"""Records that may not be compared never stand in one table."""

import itertools

from liebn.experiments.report.variants import conditions, differing, natural, variants
from tests.experiments.report.synthetic import METHODS, record, table


def test_one_sweep_is_one_variant_in_the_order_of_the_protocol():
    (only,) = variants(reversed(table(3)), list(METHODS))
    assert only.settings == {}
    found = [(r["configuration"]["method"], r["configuration"]["seed"]) for r in only.records]
    assert found == list(itertools.product(METHODS, range(3)))


def test_fewer_epochs_are_another_variant_and_the_larger_one_comes_first():
    first, second = variants([*table(1, max_epochs=5), *table(2)], list(METHODS))
    assert first.settings == {"max_epochs": 3}
    assert second.settings == {"max_epochs": 5}
    assert (len(first.records), len(second.records)) == (8, 4)


def test_other_data_versions_and_simulations_are_other_variants():
    one = table(1)
    for change in ({"code": "0.2.0"}, {"simulated": False}):
        other = [r | change | {"key": "k" + r["key"][1:]} for r in one[:1]]
        keys = {tuple(v.settings) for v in variants([*one, *other], [])}
        assert keys == {tuple(change)}
    other = [record("none", 0, dataset="fpha")]
    assert [list(v.settings) for v in variants([*one, *other], [])] == [["dataset"]] * 2


def test_no_variant_mixes_conditions_of_one_method():
    mixed = [*table(2), *table(1, max_epochs=5), *table(1, lr=0.1), record("base", 9, lr=0.1)]
    for variant in variants(mixed, list(METHODS)):
        for method in METHODS:
            own = [r for r in variant.records if r["configuration"]["method"] == method]
            assert not differing(map(conditions, own))
    assert sum(len(v.records) for v in variants(mixed, [])) == len(mixed)


def test_methods_that_differ_in_their_settings_share_a_table():
    records = [record("none", 0), record("base", 0, lr=0.1), record("aim 1", 0, batch_size=5)]
    assert len(variants(records, list(METHODS))) == 1


def test_names_are_sorted_by_their_numbers():
    names = ["subject 10", "subject 2 session 1", "subject 2", "a", "10", "9"]
    assert sorted(names, key=natural) == ["9", "10", "a", "subject 2", "subject 2 session 1",
                                          "subject 10"]  # fmt: skip
