"""Paired comparisons, against SciPy and against figures worked out by hand."""

import numpy as np
import pytest
from scipy import stats

from liebn.experiments.report.pairs import comparisons, holm, p_values, scores_of, varied
from tests.experiments.report.synthetic import METHODS, record, table


def test_scores_of_finished_runs_only():
    records = [record("none", 0, score=0.25), record("none", 1, status="diverged")]
    assert scores_of(records) == {"none": {("only", 0): 25.0}}


def test_every_method_is_compared_with_the_baseline_by_run():
    records = table(6)
    found = comparisons(records, "base")
    assert list(found) == ["against the baseline", "against no normalization"]
    assert [c.method for c in found["against the baseline"]] == ["none", "aim 1", "aim 0.5"]
    scores = scores_of(records)
    for own in found["against the baseline"]:
        a = np.array([scores[own.method]["only", seed] for seed in range(6)])
        b = np.array([scores["base"]["only", seed] for seed in range(6)])
        assert not own.splits
        np.testing.assert_allclose(list(own.differences.values()), a - b, rtol=1e-12)
        assert own.mean == pytest.approx((a - b).mean())
        assert own.std == pytest.approx((a - b).std(ddof=1))
        assert own.t == pytest.approx(stats.ttest_rel(a, b).pvalue)
        assert own.wilcoxon == pytest.approx(stats.wilcoxon(a, b).pvalue)


def test_where_there_are_splits_a_pair_is_a_split():
    records = [record(m, s, f"subject {k}") for m in ("none", "base") for s in (0, 1, 2)
               for k in range(5)]  # fmt: skip
    ((own,),) = comparisons(records, "base").values()
    scores = scores_of(records)
    assert own.splits
    assert list(own.differences) == [f"subject {k}" for k in range(5)]
    for split, difference in own.differences.items():
        means = [np.mean([scores[m][split, s] for s in (0, 1, 2)]) for m in ("none", "base")]
        assert difference == pytest.approx(means[0] - means[1])


def test_only_common_pairs_count_and_fewer_than_five_are_not_compared():
    five = [record(m, s) for m in ("none", "base") for s in range(5)]
    more = [record("base", 7), record("none", 8), record("none", 9, status="failed")]
    ((own,),) = comparisons([*five, *more], "base").values()
    assert len(own.differences) == 5
    assert comparisons(five[1:], "base") == {}
    assert list(comparisons(five, "absent")) == ["against no normalization"]
    assert comparisons([r for r in five if r["configuration"]["method"] != "none"], "absent") == {}


def test_refitted_methods_are_compared_with_themselves_not_refitted():
    norm = {"kind": "domain-lie", "metric": "aim"}
    names = {"a": True, "a, not": False, "other": True}
    records = [
        record(name, 0, f"subject {k}", refit=refit, norm=norm | {"metric": name[0]})
        for name, refit in names.items()
        for k in range(5)
    ]
    found = comparisons(records, "")
    assert list(found) == ["refitted against not refitted"]
    ((own,),) = found.values()
    assert (own.method, own.other) == ("a", "a, not")


def test_ties_and_constant_differences_have_no_p_value_they_could_not_have():
    assert p_values([0.0] * 6) == (None, None)
    t, wilcoxon = p_values([0.1 + 0.2 - 0.3] * 6)  # rounding is no difference
    assert (t, wilcoxon) == (None, None)
    t, wilcoxon = p_values([1.0] * 6)
    assert t is None
    assert wilcoxon == pytest.approx(2 / 2**6)
    t, wilcoxon = p_values([0.0, 1.0, 2.0, -1.0, 3.0, 4.0, 5.0])
    assert 0 < wilcoxon < 1
    assert 0 < t < 1


def test_holm_by_hand():
    assert holm([0.01, None, 0.04, 0.03]) == pytest.approx([0.03, None, 0.06, 0.06])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


@pytest.mark.parametrize("seed", range(5))
def test_holm_rejects_what_the_step_down_procedure_rejects(seed):
    values = list(np.random.default_rng(seed).uniform(0, 0.1, 8))
    for level in (0.01, 0.05, 0.1, 0.3):
        rejected = set()
        for rank, place in enumerate(np.argsort(values)):
            if values[place] > level / (8 - rank):
                break
            rejected.add(int(place))
        assert {place for place, p in enumerate(holm(values)) if p <= level} == rejected


def test_methods_that_differ_in_one_number_make_a_line():
    ((settings, scores),) = varied(table(2), "theta")
    assert settings["norm.metric"] == "aim"
    assert list(scores) == [0.5, 1.0]
    known = scores_of(table(2))
    assert scores[1.0] == list(known["aim 1"].values())
    assert varied(table(2), "beta") == []
    assert set(METHODS) == set(known)
