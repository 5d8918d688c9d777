"""Distributions of times against those of scipy."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest
import tailspn
from scipy import stats

GRID = np.array([0.0, 0.1, 0.5, 1.0, 2.0, 4.0, 9.0])
SHARES = np.array([0.001, 0.01, 0.25, 0.5, 0.9, 0.99])


def tasks(stages: int, rate: float) -> tailspn.Net:
    """Exponential tasks of one rate, one after the other."""
    builder = tailspn.NetBuilder("tasks").place("p0", 1)
    for i in range(stages):
        builder.place(f"p{i + 1}").timed(f"t{i}", rate).input(f"p{i}", f"t{i}").output(f"t{i}", f"p{i + 1}")
    return builder.build()


@pytest.mark.parametrize("stages", [1, 4])
def test_an_exact_curve_is_the_law_that_scipy_has(stages: int) -> None:
    law = stats.gamma(stages, scale=0.5)
    found = tailspn.times(tasks(stages, 2.0).solve(until=f"#(p{stages}) = 1"))
    assert isinstance(found, tailspn.CurveTimes) and found.exact
    assert [found.mean(), found.var(), found.std()] == pytest.approx([law.mean(), law.var(), law.std()], rel=1e-9)
    np.testing.assert_allclose(found.cdf(GRID), law.cdf(GRID), atol=2e-5)
    np.testing.assert_allclose(found.sf(GRID), law.sf(GRID), atol=2e-5)
    np.testing.assert_allclose(found.ppf(SHARES), law.ppf(SHARES), rtol=2e-3)
    np.testing.assert_allclose(found.isf(1 - SHARES), law.isf(1 - SHARES), rtol=2e-3)
    np.testing.assert_allclose(found.cdf(found.ppf(SHARES)), SHARES, atol=1e-12)
    np.testing.assert_allclose(found.interval(0.9), law.interval(0.9), rtol=2e-3)
    assert found.expect(np.sqrt) == pytest.approx(law.expect(np.sqrt), rel=2e-3)
    assert found.moment(2) == pytest.approx(law.moment(2), rel=5e-3)
    # far beyond the last point the tail goes on
    assert found.sf(law.isf(1e-6)) == pytest.approx(1e-6, rel=0.5)


def test_samples_have_the_quantiles_that_scipy_counts() -> None:
    samples = np.random.default_rng(3).exponential(2.0, 501)
    found = tailspn.times(samples)
    ecdf = stats.ecdf(samples).cdf
    assert not found.exact
    np.testing.assert_allclose(found.cdf(GRID), ecdf.evaluate(GRID))
    assert [found.mean(), found.var(), found.median()] == pytest.approx([samples.mean(), samples.var(), np.median(samples)])
    np.testing.assert_array_equal(found.ppf(SHARES), np.quantile(samples, SHARES, method="inverted_cdf"))
    assert found.expect(lambda times: times > 3.0) == (samples > 3.0).mean()
    assert found.support() == (samples.min(), samples.max())
    # ranks are exact where q times the number of samples is whole
    few = tailspn.times(np.arange(1.0, 11.0))
    np.testing.assert_array_equal(few.ppf(np.arange(1, 11) / 10), np.arange(1.0, 11.0))


def test_shapes_and_limits_are_those_of_scipy() -> None:
    law = stats.expon(scale=0.5)
    exact = tailspn.times(tasks(1, 2.0).solve(until="#(p1) = 1"))
    for found in (exact, tailspn.times([1.0, 2.0, 3.0])):
        assert isinstance(found.cdf(1.0), float) and found.cdf([[1.0], [2.0]]).shape == (2, 1)
        assert found.cdf(-1.0) == 0.0 and found.cdf(np.inf) == 1.0 and np.isnan(found.ppf(1.5)) and np.isnan(found.ppf(np.nan))
        assert np.isnan(found.cdf(np.nan))
        assert isinstance(found.rvs(random_state=1), float) and found.rvs(size=(2, 3), random_state=1).shape == (2, 3)
        np.testing.assert_array_equal(found.rvs(5, random_state=1), found.rvs(5, random_state=np.random.default_rng(1)))
    assert exact.ppf(1.0) == law.ppf(1.0) == np.inf and exact.ppf(0.0) == law.ppf(0.0) == 0.0
    # scipy's test of fit takes the distribution as one of its own
    assert stats.kstest(law.rvs(2000, random_state=2), exact.cdf).pvalue > 1e-3
    assert stats.kstest(exact.rvs(2000, random_state=2), law.cdf).pvalue > 1e-3


def test_a_goal_that_may_be_missed_leaves_infinite_times() -> None:
    net = (
        tailspn.NetBuilder("race").place("p", 1).place("a").place("b").timed("t", 1.0).timed("u", 3.0)
        .input("p", "t").input("p", "u").output("t", "a").output("u", "b").build()
    )
    found = tailspn.times(net.solve(until="#(a) = 1"))
    assert found.cdf(np.inf) == pytest.approx(0.25) and found.ppf(0.3) == np.inf and found.mean() == np.inf
    assert found.cdf(0.25) == pytest.approx(0.25 * (1 - np.exp(-1.0)), abs=1e-5)


def test_results_give_their_best_distribution(root: pathlib.Path) -> None:
    net = tasks(2, 2.0)
    kept = net.simulate(reps=400, samples=True, seed=5)
    assert kept.samples is not None
    assert isinstance(tailspn.times(kept), tailspn.EmpiricalTimes) and tailspn.times(kept).mean() == kept.samples.mean()
    simulated = tailspn.times(net.simulate(reps=4000, seed=5))
    assert not simulated.exact and simulated.median() == pytest.approx(stats.gamma(2, scale=0.5).median(), rel=0.1)
    assert tailspn.times(net.simulate(method="exact")).exact
    job = tailspn.estimate(reps=200)
    assert tailspn.times(job).mean() == pytest.approx(job.job_time.mean, rel=0.05)
    with pytest.raises(ValueError, match="no distribution"):
        tailspn.times(tailspn.solve(root / "models/textbook/mm1k.xml", steady=True))
    with pytest.raises(ValueError, match="at least one sample"):
        tailspn.times([])
