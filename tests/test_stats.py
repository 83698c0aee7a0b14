"""Statistics of arrays: equal to scipy where scipy has them, to plain loops where it has not."""

import itertools
import math
import sys
import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import frame_metrics as fm
from frame_metrics.stats import resampling
from frame_metrics.stats.corrections import corrected
from frame_metrics.stats.paired import Settings, constant, differences, outcome, tukey
from frame_metrics.stats.resampling import Sample, bootstrap_means, flipped_sums, percentiles

SIZES = (2, 3, 9, 25, 60, 400)
DEFAULT = Settings()
p_values = st.lists(st.floats(0, 1), min_size=1, max_size=20).map(np.array)


def pair(size, seed=0, shift=0.1):
    random = np.random.default_rng(seed)
    return random.random(size) + shift, random.random(size)


class TestPaired:
    @pytest.mark.parametrize("size", SIZES)
    def test_t(self, size):
        ours, theirs = pair(size)
        expected = stats.ttest_rel(ours, theirs)
        found = outcome(differences(ours, theirs), "t", DEFAULT)
        assert found == pytest.approx((expected.pvalue, *expected.confidence_interval(0.95)), rel=1e-9)

    @pytest.mark.parametrize("size", SIZES)
    def test_wilcoxon(self, size):
        ours, theirs = pair(size)
        found = outcome(differences(ours, theirs), "wilcoxon", DEFAULT)
        assert found.p == pytest.approx(stats.wilcoxon(ours, theirs).pvalue, rel=1e-9)

    def test_wilcoxon_with_ties_and_zeros(self):
        found = np.array([0.0, 0.0, 1, 1, -1, 2, 3, 3, -2, 4, 5, 6, 7, 8, 9, 10] * 4) / 16
        assert outcome(found, "wilcoxon", DEFAULT).p == pytest.approx(stats.wilcoxon(found).pvalue, rel=1e-9)

    def test_wilcoxon_shares_ranks_of_sizes_that_differ_by_rounding(self):
        exact, rounded = np.array([3, -3, 2, 5, 6, 3.0] * 5), np.array([0.1 + 0.2, -0.3, 0.2, 0.5, 0.6, 0.3] * 5)
        assert outcome(rounded, "wilcoxon", DEFAULT).p == outcome(exact, "wilcoxon", DEFAULT).p

    @pytest.mark.parametrize("size", SIZES)
    def test_sign(self, size):
        ours, theirs = pair(size)
        ours[0] = theirs[0]
        wins, losses = (ours > theirs).sum(), (ours < theirs).sum()
        expected = stats.binomtest(int(wins), int(wins + losses)).pvalue
        assert outcome(differences(ours, theirs), "sign", DEFAULT).p == pytest.approx(expected)

    @pytest.mark.parametrize("size", [2, 3, 7, 8, 9, 13])
    def test_exact_randomisation(self, size):
        found = differences(*pair(size))
        expected = stats.permutation_test(
            (found,), np.mean, permutation_type="samples", n_resamples=10_000, vectorized=True
        )
        assert outcome(found, "randomisation", DEFAULT).p == pytest.approx(expected.pvalue)

    def test_exact_randomisation_counts_equal_sums(self):
        found = np.array([0.1, 0.2, 0.3, -0.3, 0.2, 0.1])
        flips = [
            sum(s * d for s, d in zip(signs, found, strict=True)) for signs in itertools.product([1, -1], repeat=6)
        ]
        expected = np.mean([abs(flip) >= abs(found.sum()) - 1e-9 for flip in flips])
        assert outcome(found, "randomisation", DEFAULT).p == expected

    @pytest.mark.parametrize("size", [14, 40, 400])
    def test_randomisation_is_near_the_t_test(self, size):
        found = differences(*pair(size, shift=0.05))
        many = Settings(resamples=200_000)
        assert outcome(found, "randomisation", many).p == pytest.approx(stats.ttest_1samp(found, 0).pvalue, abs=0.02)

    def test_random_flips_are_never_impossible(self):
        found = np.full(30, 0.5)
        assert outcome(found, "randomisation", Settings(resamples=99)).p == 0.01
        assert outcome(found + np.arange(30) / 100, "bootstrap", Settings(resamples=99)).p == 0.01

    def test_bootstrap(self):
        found = differences(*pair(300))
        said = outcome(found, "bootstrap", Settings(resamples=20_000))
        expected = stats.bootstrap((found,), np.mean, n_resamples=20_000, method="percentile", rng=1)
        assert said[1:] == pytest.approx(expected.confidence_interval, abs=0.002)
        assert said.p < 0.001

    @pytest.mark.parametrize("test", ["t", "wilcoxon", "sign", "randomisation", "bootstrap"])
    def test_no_difference(self, test):
        assert outcome(np.zeros(12), test, DEFAULT) == (1.0, 0.0, 0.0)

    def test_the_same_difference_everywhere_has_no_t(self):
        found = differences(np.array([0.1 + 0.2, 0.4, 0.7]), np.array([0.2, 0.3, 0.6]))
        assert constant(found)
        assert all(map(math.isnan, outcome(found, "t", DEFAULT)))
        assert outcome(found, "sign", DEFAULT).p == 0.25

    @pytest.mark.parametrize("test", ["t", "wilcoxon", "sign", "randomisation", "bootstrap"])
    @pytest.mark.parametrize("size", [5, 200])
    def test_order_does_not_matter(self, test, size):
        found = differences(*pair(size))
        shuffled = np.random.default_rng(5).permutation(found)
        assert outcome(shuffled, test, DEFAULT) == pytest.approx(outcome(found, test, DEFAULT), rel=1e-12)

    @pytest.mark.parametrize("test", ["t", "wilcoxon", "randomisation"])
    def test_p_is_even_where_nothing_differs(self, test):
        """Of tests of pure noise, a share of about a finds something at level a."""
        noise = np.random.default_rng(3).normal(size=(600, 30))
        p = np.array([outcome(row, test, Settings(resamples=500)).p for row in noise])
        assert (p < 0.1).mean() == pytest.approx(0.1, abs=0.04)
        assert (p < 0.5).mean() == pytest.approx(0.5, abs=0.08)


class TestTukey:
    @pytest.mark.parametrize("size", SIZES)
    def test_two_systems_are_a_paired_t_test(self, size):
        ours, theirs = pair(size)
        expected = stats.ttest_rel(ours, theirs)
        found = tukey(np.column_stack([ours, theirs]), 0.95)[0][1]
        assert found == pytest.approx((expected.pvalue, *expected.confidence_interval(0.95)), abs=1e-6)

    def test_by_hand(self):
        values = np.random.default_rng(0).random((12, 4)) + np.array([0, 0, 0.2, 0.4])
        effects = [values.mean() - row.mean() for row in values]
        left = [
            (values[q, s] + effects[q] - values[:, s].mean()) ** 2 for q, s in itertools.product(range(12), range(4))
        ]
        error = math.sqrt(sum(left) / (11 * 3) / 12)
        found = tukey(values, 0.9)
        for i, j in itertools.permutations(range(4), 2):
            apart = values[:, i].mean() - values[:, j].mean()
            half = stats.studentized_range.ppf(0.9, 4, 33) * error
            p = stats.studentized_range.sf(abs(apart) / error, 4, 33)
            assert found[i][j] == pytest.approx((p, apart - half, apart + half), abs=1e-9)

    def test_it_is_that_of_scipy_for_queries_that_have_nothing_in_common(self):
        random = np.random.default_rng(0)
        values = random.random((4000, 3)) + np.array([0, 0, 0.02])
        expected = stats.tukey_hsd(*values.T)
        found = [[said.p for said in row] for row in tukey(values, 0.95)]
        assert np.array(found) == pytest.approx(expected.pvalue, abs=0.02)

    def test_nothing_differs(self):
        found = tukey(np.repeat(np.random.default_rng(0).random((5, 1)), 3, axis=1), 0.95)
        assert found[0][1] == (1.0, 0.0, 0.0)


class TestCorrections:
    @given(p_values)
    def test_bh_is_that_of_scipy(self, p):
        assert corrected(p, "bh") == pytest.approx(stats.false_discovery_control(p))

    @given(p_values)
    def test_holm_by_steps(self, p):
        expected, highest = {}, 0.0
        for done, place in enumerate(sorted(range(len(p)), key=p.__getitem__)):
            highest = max(highest, min(1.0, (len(p) - done) * p[place]))
            expected[place] = highest
        assert corrected(p, "holm") == pytest.approx([expected[place] for place in range(len(p))])

    @given(p_values)
    def test_none_below_bh_below_holm_below_bonferroni(self, p):
        found = [corrected(p, correction) for correction in ("none", "bh", "holm", "bonferroni")]
        assert all((a <= b + 1e-12).all() for a, b in itertools.pairwise(found))
        assert found[0].tolist() == p.tolist()
        assert found[3] == pytest.approx(np.minimum(len(p) * p, 1))

    def test_tests_that_said_nothing_do_not_count(self):
        found = corrected(np.array([0.01, np.nan, 0.02]), "bonferroni")
        assert found.tolist() == pytest.approx([0.02, np.nan, 0.04], nan_ok=True)


class TestResampling:
    def test_against_scipy(self):
        values = np.random.default_rng(0).random(500) ** 3
        found = percentiles(bootstrap_means([Sample(values)], 20_000, 0)[0], 0.9)
        expected = stats.bootstrap(
            (values,), np.mean, confidence_level=0.9, n_resamples=20_000, method="percentile", rng=1
        )
        assert found == pytest.approx(expected.confidence_interval, abs=0.002)

    def test_ratios_against_a_loop(self):
        random = np.random.default_rng(0)
        sample = Sample(random.random(40), random.random(40) + 1).ordered()
        drawn = np.random.default_rng(7).integers(0, 40, (50, 40), dtype=np.int32)
        expected = [sample.values[row].sum() / sample.overs[row].sum() for row in drawn]
        assert bootstrap_means([sample], 50, 7)[0] == pytest.approx(expected)

    def test_weights_of_one_are_no_weights(self):
        values = np.random.default_rng(0).random(30)
        plain, weighted = bootstrap_means([Sample(values), Sample(values, np.ones(30))], 100, 0)
        assert weighted == pytest.approx(plain)

    @pytest.mark.parametrize("overs", [False, True])
    def test_order_does_not_matter(self, overs):
        random = np.random.default_rng(0)
        values, weights, order = random.random(99), random.random(99).round(1) + 1, random.permutation(99)
        one = Sample(values, weights if overs else None)
        other = Sample(values[order], weights[order] if overs else None)
        assert bootstrap_means([one], 50, 0)[0].tolist() == bootstrap_means([other], 50, 0)[0].tolist()

    def test_a_sample_does_not_depend_on_others(self):
        samples = [Sample(np.random.default_rng(size).random(size)) for size in (5, 9, 5, 0, 1)]
        together = bootstrap_means(samples, 64, 3)
        alone = [bootstrap_means([sample], 64, 3)[0] for sample in samples]
        assert np.array_equal(together, alone, equal_nan=True)
        assert np.isnan(together[3]).all()

    def test_seeds(self):
        sample = Sample(np.random.default_rng(0).random(50))
        assert bootstrap_means([sample], 9, 1)[0].tolist() != bootstrap_means([sample], 9, 2)[0].tolist()
        found = np.random.default_rng(0).normal(size=50)
        assert flipped_sums(found, 9, 1)[0].tolist() != flipped_sums(found, 9, 2)[0].tolist()

    def test_blocks_go_on_where_the_last_one_ended(self, monkeypatch):
        sample, found = Sample(np.random.default_rng(0).random(100)), np.random.default_rng(0).normal(size=800)
        whole = bootstrap_means([sample], 40, 0)[0], flipped_sums(found, 40, 0)[0]
        monkeypatch.setattr(resampling, "BLOCK", 1200)
        assert bootstrap_means([sample], 40, 0)[0].tolist() == whole[0].tolist()
        assert flipped_sums(found, 40, 0)[0].tolist() == whole[1].tolist()

    @given(st.lists(st.integers(-5, 5), max_size=11))
    def test_all_flips(self, numbers):
        nonzero = [n for n in numbers if n]
        expected = [
            sum(s * n for s, n in zip(signs, nonzero, strict=True))
            for signs in itertools.product([-1, 1], repeat=len(nonzero))
        ]
        found, exact = flipped_sums(np.array(numbers, dtype=float), 5000, 0)
        assert exact
        assert sorted(found.tolist()) == sorted(expected)

    def test_random_flips_have_the_right_spread(self):
        found = np.random.default_rng(0).normal(size=1001)
        sums, exact = flipped_sums(found, 20_000, 0)
        assert not exact
        assert sums.mean() == pytest.approx(0, abs=4 * math.sqrt((found**2).sum() / 20_000))
        assert sums.std() == pytest.approx(math.sqrt((found**2).sum()), rel=0.03)

    def test_intervals_hold_what_they_say(self):
        """Of 95% intervals of samples of a skewed distribution, about 95% hold its mean."""
        samples = [Sample(row) for row in np.random.default_rng(0).exponential(size=(400, 80))]
        ends = np.array([percentiles(means, 0.95) for means in bootstrap_means(samples, 600, 0)])
        assert ((ends[:, 0] <= 1) & (ends[:, 1] >= 1)).mean() == pytest.approx(0.94, abs=0.03)

    def test_large_samples_take_seconds_and_little_memory(self):
        sample = Sample(np.random.default_rng(0).random(100_000))
        start = time.process_time()
        tracemalloc.start()
        bootstrap_means([sample], 2000, 0)
        flipped_sums(sample.values, 2000, 0)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 100e6
        assert time.process_time() - start < 20


def test_scipy_is_asked_for_by_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    with pytest.raises(fm.MissingPackageError, match=r'pip install "frame_metrics\[compare\]", or take') as error:
        outcome(np.array([0.1, 0.2, 0.4]), "t", DEFAULT)
    assert isinstance(error.value, ImportError)
    assert outcome(np.array([0.1, 0.2, 0.4]), "bootstrap", DEFAULT).p < 1
