"""Distributions of times, from samples or from an exact curve, like the frozen distributions of ``scipy.stats``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tailspn._result import Measured, Result

Numbers = npt.NDArray[np.float64]
Function = Callable[[Numbers], npt.ArrayLike]
Seed = int | np.random.Generator | np.random.RandomState | None

# points of the Gauss-Legendre rule between two points of a curve
_NODES = 8
# the tail beyond a curve: number of steps, and length of a step in mean residual times
_TAIL_STEPS, _TAIL_STEP = 40, 1.0


class Times(ABC):
    """A distribution of times [s], with the methods of a frozen distribution of ``scipy.stats``.

    Methods take a number or an array of any shape and return a float or an array of that shape.
    """

    @property
    @abstractmethod
    def exact(self) -> bool:
        """True if the distribution was computed exactly, False if it comes from simulation or samples."""

    @abstractmethod
    def mean(self) -> float:
        """Return the mean [s]."""

    @abstractmethod
    def var(self) -> float:
        """Return the variance [s²]."""

    @abstractmethod
    def support(self) -> tuple[float, float]:
        """Return the shortest and the longest time [s]."""

    @abstractmethod
    def expect(self, func: Function | None = None) -> float:
        """Return the mean of ``func(time)``; ``func`` takes and returns an array. Without ``func``, the mean."""

    @abstractmethod
    def _cdf(self, x: Numbers) -> Numbers: ...

    @abstractmethod
    def _ppf(self, q: Numbers) -> Numbers: ...

    def cdf(self, x: npt.ArrayLike) -> Any:
        """Return the probability that a time is at most ``x`` [s]."""
        return _mapped(self._cdf, x)

    def sf(self, x: npt.ArrayLike) -> Any:
        """Return the probability that a time is longer than ``x`` [s]."""
        return _mapped(lambda times: 1.0 - self._cdf(times), x)

    def ppf(self, q: npt.ArrayLike) -> Any:
        """Return the ``q``-quantile [s], the shortest time with ``cdf(time) >= q``; NaN unless 0 <= q <= 1."""
        return _mapped(self._ppf, q)

    def isf(self, q: npt.ArrayLike) -> Any:
        """Return the time [s] that is exceeded with probability ``q``."""
        return _mapped(lambda shares: self._ppf(1.0 - shares), q)

    def median(self) -> float:
        """Return the median [s]."""
        return float(self.ppf(0.5))

    def std(self) -> float:
        """Return the standard deviation [s]."""
        return float(np.sqrt(self.var()))

    def interval(self, confidence: float = 0.9) -> tuple[float, float]:
        """Return the central interval [s] that contains a time with probability ``confidence``."""
        if not 0 <= confidence <= 1:
            raise ValueError(f"confidence is {confidence}; it must be between 0 and 1")
        low, high = self.ppf([(1 - confidence) / 2, (1 + confidence) / 2])
        return float(low), float(high)

    def moment(self, order: int) -> float:
        """Return the mean of the time raised to the power ``order``."""
        return self.expect(lambda times: times**order)

    def rvs(self, size: int | Sequence[int] | None = None, random_state: Seed = None) -> Any:
        """Draw times [s]: an array of shape ``size``, or a float without ``size``."""
        uniform = _generator(random_state).uniform(size=size if size is None or isinstance(size, int) else tuple(size))
        return self.ppf(uniform)


class EmpiricalTimes(Times):
    """The distribution of equally likely samples. Quantiles are samples; the variance divides by the number of samples."""

    def __init__(self, samples: npt.ArrayLike) -> None:
        """Take samples [s] of any shape. Raises ValueError if there are no samples, or if a sample is NaN."""
        self._samples: Numbers = np.sort(np.asarray(samples, dtype=np.float64), axis=None)
        if not self._samples.size:
            raise ValueError("a distribution needs at least one sample")
        if np.isnan(self._samples).any():
            raise ValueError("a sample is NaN")

    @property
    def exact(self) -> bool:
        """False, because the distribution comes from samples."""
        return False

    @property
    def samples(self) -> Numbers:
        """The samples [s], ascending, shape (n,)."""
        return self._samples

    def mean(self) -> float:
        """Return the mean [s]."""
        return float(self._samples.mean())

    def var(self) -> float:
        """Return the variance [s²]: the sum of squares divided by the number of samples."""
        return float(self._samples.var())

    def support(self) -> tuple[float, float]:
        """Return the shortest and the longest sample [s]."""
        return float(self._samples[0]), float(self._samples[-1])

    def expect(self, func: Function | None = None) -> float:
        """Return the mean of ``func(samples)``."""
        return float(np.mean(self._samples if func is None else np.asarray(func(self._samples), dtype=np.float64)))

    def _cdf(self, x: Numbers) -> Numbers:
        shares: Numbers = np.searchsorted(self._samples, x, side="right") / self._samples.size
        return np.where(np.isnan(x), np.nan, shares)

    def _ppf(self, q: Numbers) -> Numbers:
        count = self._samples.size
        # the least rank whose share is at least q; the factor removes rounding errors just above a whole number
        with np.errstate(invalid="ignore"):
            inside = (q >= 0) & (q <= 1)
        ranks = np.ceil(np.where(inside, q, 0) * count * (1 - 4 * np.finfo(float).eps)).astype(np.int64)
        return np.where(inside, self._samples[np.clip(ranks, 1, count) - 1], np.nan)

    def __repr__(self) -> str:
        """Return the number of samples and the mean."""
        return f"EmpiricalTimes({self._samples.size} samples, mean {self.mean():.6g} s)"


class CurveTimes(Times):
    """A distribution given by points of its distribution function, with cubics between points and an exponential tail.

    If a run can miss the goal, ``probability`` is below 1, and the time is infinite with the remaining probability.
    """

    def __init__(
        self,
        times: npt.ArrayLike,
        probabilities: npt.ArrayLike,
        densities: npt.ArrayLike | None = None,
        *,
        mean: float | None = None,
        std: float | None = None,
        probability: float = 1.0,
        exact: bool = True,
    ) -> None:
        """Take points of the distribution function, shape (n,) each: times [s], probabilities, densities [1/s] if known.

        ``mean`` and ``std`` [s] are computed from the curve unless they are given.
        """
        self._times, self._shares = _increasing(times, probabilities)
        slopes = None if densities is None else _at(times, densities, self._times)
        self._slopes = _monotone(self._times, self._shares, slopes)
        self.probability = probability
        self._mean, self._std, self._exact = mean, std, exact
        left = probability - self._shares[-1]
        self._left = float(max(left, 0.0))
        self._hazard = self._tail_hazard()

    @property
    def exact(self) -> bool:
        """True if the points were computed exactly, not simulated."""
        return self._exact

    def mean(self) -> float:
        """Return the mean [s]; infinite if the probability of reaching the goal is below 1."""
        if self.probability < 1:
            return float("inf")
        return self._mean if self._mean is not None else self.expect()

    def var(self) -> float:
        """Return the variance [s²]; infinite if the probability of reaching the goal is below 1."""
        if self.probability < 1:
            return float("inf")
        if self._std is not None:
            return self._std**2
        mean = self.mean()
        return self.expect(lambda times: (times - mean) ** 2)

    def support(self) -> tuple[float, float]:
        """Return the first time of the curve [s], and its last time if the curve ends at 1, otherwise infinity."""
        return float(self._times[0]), float("inf") if self._left > 0 else float(self._times[-1])

    def expect(self, func: Function | None = None) -> float:
        """Return the mean of ``func(time)`` over the runs that reach the goal, by quadrature of the curve."""
        times, weights = self._quadrature()
        values = times if func is None else np.asarray(func(times), dtype=np.float64)
        return float(np.sum(weights * values) / np.sum(weights))

    def sf(self, x: npt.ArrayLike) -> Any:
        """Return the probability that a time is longer than ``x`` [s]. Unlike ``1 - cdf(x)``, it does not lose digits."""
        return _mapped(self._sf, x)

    def _sf(self, x: Numbers) -> Numbers:
        beyond = self._left * np.exp(-self._hazard * np.maximum(x - self._times[-1], 0.0))
        return np.where(x > self._times[-1], beyond + 1.0 - self.probability, 1.0 - self._inside(x))

    def _cdf(self, x: Numbers) -> Numbers:
        beyond = self._left * -np.expm1(-self._hazard * np.maximum(x - self._times[-1], 0.0))
        return np.where(x > self._times[-1], self._shares[-1] + beyond, self._inside(x))

    def _inside(self, x: Numbers) -> Numbers:
        """Return the values of the curve at ``x``, without the tail beyond the last point."""
        at = np.clip(np.searchsorted(self._times, x, side="right") - 1, 0, self._times.size - 2)
        width = self._times[at + 1] - self._times[at]
        u = np.clip((x - self._times[at]) / width, 0.0, 1.0)
        curve = _hermite(u, self._shares[at], self._shares[at + 1], width * self._slopes[at], width * self._slopes[at + 1])
        return np.where(x < self._times[0], 0.0, curve)

    def _ppf(self, q: Numbers) -> Numbers:
        with np.errstate(invalid="ignore", divide="ignore"):
            left = np.maximum(self.probability - q, 0.0) / self._left if self._left > 0 else np.zeros_like(q)
            beyond = self._times[-1] - np.log(left) / self._hazard if self._left > 0 else self._times[-1]
            found = np.where(q > self._shares[-1], beyond, self._bisected(np.nan_to_num(q)))
            inside = (q >= 0) & (q <= 1)
            found = np.where(q > self.probability, np.inf, found)
        return np.where(inside, found, np.nan)

    def _bisected(self, q: Numbers) -> Numbers:
        """Return the first time at which the curve reaches ``q``, by bisection between two points."""
        at = np.clip(np.searchsorted(self._shares, q, side="left") - 1, 0, self._times.size - 2)
        low, high = self._times[at], self._times[at + 1]
        for _ in range(60):
            middle = (low + high) / 2
            is_below = self._inside(middle) < q
            low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
        return np.where(q <= self._shares[0], self._times[0], high)

    def _tail_hazard(self) -> float:
        """Return the hazard rate [1/s] of the tail beyond the last point."""
        if self._left <= 0:
            return 1.0
        before = self.probability - self._shares[-2]
        step = self._times[-1] - self._times[-2]
        return float(np.log(before / self._left) / step) or 1.0 / step

    def _quadrature(self) -> tuple[Numbers, Numbers]:
        """Return times [s] and their weights: Gauss-Legendre between points, then the tail; shape (m,) each."""
        nodes, weights = np.polynomial.legendre.leggauss(_NODES)
        u, weights = (nodes + 1) / 2, weights / 2
        width = np.diff(self._times)[:, None]
        times = self._times[:-1, None] + u * width
        slope = _hermite_slope(
            u, self._shares[:-1, None], self._shares[1:, None], width * self._slopes[:-1, None], width * self._slopes[1:, None]
        )
        parts = [(times.ravel(), (slope * weights).ravel())]
        if self._shares[0] > 0:
            parts.append((self._times[:1], self._shares[:1]))
        if self._left > 0:
            steps = np.arange(_TAIL_STEPS)[:, None] * _TAIL_STEP + u * _TAIL_STEP
            mass = self._left * np.exp(-steps) * weights * _TAIL_STEP
            parts.append(((self._times[-1] + steps / self._hazard).ravel(), mass.ravel()))
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])

    def __repr__(self) -> str:
        """Return the number of points and the mean."""
        kind = "exact" if self._exact else "simulated"
        return f"CurveTimes({kind}, {self._times.size} points, mean {self.mean():.6g} s)"


def times(source: Result | npt.ArrayLike) -> Times:
    """Return the distribution of the times of a result, or of samples [s].

    The first available source is used: the exact curve (of `solve` with ``until``, of `estimate` with an analytic answer, or
    of ``method="exact"``); the samples of ``simulate(..., samples=True)``; the points of the simulated curve. Raises
    ValueError if the result has no distribution of times.
    """
    if not isinstance(source, Result):
        return EmpiricalTimes(source)
    exact = _exact_curve(source)
    if exact is not None:
        return exact
    if source.samples is not None:
        return EmpiricalTimes(source.samples)
    simulated = _simulated_curve(source)
    if simulated is None:
        raise ValueError(f"a result of kind `{source['kind']}` has no distribution of times")
    return simulated


def _exact_curve(result: Result) -> CurveTimes | None:
    record = result.to_dict()
    passage = record.get("passage")
    if passage and passage.get("curve"):
        points = {point["time_s"]: point for point in [*passage["curve"], *(passage.get("cdf") or [])]}
        share = _number(passage.get("probability"), 1.0)
        return _curve(list(points.values()), passage.get("mean_s"), passage.get("sd_s"), probability=share)
    analytic = record.get("analytic")
    if analytic and analytic.get("curve"):
        return _curve(analytic["curve"], analytic.get("mean"), analytic.get("sd"))
    simulated = record.get("passage_time") or record.get("job_time")
    if simulated and (simulated.get("mean") or {}).get("exact"):
        return _curve(simulated["curve"], simulated.get("mean"), simulated.get("sd"))
    return None


def _simulated_curve(result: Result) -> CurveTimes | None:
    record = result.to_dict()
    found = record.get("passage_time") or record.get("job_time")
    if found and found.get("curve"):
        return _curve(found["curve"], found.get("mean"), found.get("sd"), exact=False)
    if record.get("curve"):
        return _curve(record["curve"], record.get("mean_s"), None, exact=False)
    return None


def _curve(
    points: list[dict[str, Any]], mean: Any, std: Any, *, probability: float = 1.0, exact: bool = True
) -> CurveTimes:
    points = sorted(points, key=lambda point: float(point["time_s"]))
    densities = [point.get("density_per_s") for point in points]
    return CurveTimes(
        [point["time_s"] for point in points],
        [point["probability"] for point in points],
        None if any(density is None for density in densities) else np.array(densities, dtype=np.float64),
        mean=None if mean is None else _number(mean),
        std=None if std is None else _number(std),
        probability=probability,
        exact=exact,
    )


def _number(value: Any, default: float = float("nan")) -> float:
    if isinstance(value, dict):
        return float(Measured(value)) if value.get("value") is not None else default
    return default if value is None else float(value)


def _increasing(times: npt.ArrayLike, shares: npt.ArrayLike) -> tuple[Numbers, Numbers]:
    """Return the points in the order of their times, without duplicates, with probabilities that never fall."""
    x, first = np.unique(np.asarray(times, dtype=np.float64), return_index=True)
    y = np.maximum.accumulate(np.clip(np.asarray(shares, dtype=np.float64)[first], 0.0, 1.0))
    if x.size < 2:
        raise ValueError("a curve needs at least two times")
    return x, y


def _at(times: npt.ArrayLike, values: npt.ArrayLike, kept: Numbers) -> Numbers:
    """Return the values at the times that `_increasing` kept."""
    _, first = np.unique(np.asarray(times, dtype=np.float64), return_index=True)
    found: Numbers = np.asarray(values, dtype=np.float64)[first]
    assert found.size == kept.size
    return found


def _monotone(x: Numbers, y: Numbers, slopes: Numbers | None) -> Numbers:
    """Return slopes for which the cubics between the points never decrease [Fritsch, Carlson 1980], shape (n,)."""
    secants = np.diff(y) / np.diff(x)
    if slopes is None:
        before, after = secants[:-1], secants[1:]
        with np.errstate(divide="ignore", invalid="ignore"):
            inner = np.where((before > 0) & (after > 0), 2 * before * after / (before + after), 0.0)
        slopes = np.concatenate([secants[:1], np.nan_to_num(inner), secants[-1:]])
    most = 3 * np.minimum(np.append(secants, np.inf), np.append(np.inf, secants))
    return np.clip(slopes, 0.0, most)


def _hermite(u: Numbers, y0: Numbers, y1: Numbers, d0: Numbers, d1: Numbers) -> Numbers:
    """Return the cubic with values ``y0`` and ``y1`` and slopes ``d0`` and ``d1`` at 0 and 1."""
    return (
        y0 * (1 + 2 * u) * (1 - u) ** 2 + d0 * u * (1 - u) ** 2 + y1 * u**2 * (3 - 2 * u) + d1 * u**2 * (u - 1)
    )


def _hermite_slope(u: Numbers, y0: Numbers, y1: Numbers, d0: Numbers, d1: Numbers) -> Numbers:
    """Return the derivative of the cubic of `_hermite`."""
    return 6 * u * (1 - u) * (y1 - y0) + d0 * (1 - u) * (1 - 3 * u) + d1 * u * (3 * u - 2)


def _mapped(function: Callable[[Numbers], Numbers], values: npt.ArrayLike) -> Any:
    """Apply a function to an array or a number; for a number, the result is a float."""
    array = np.asarray(values, dtype=np.float64)
    found = function(array)
    return found if array.ndim else float(found)


def _generator(random_state: Seed) -> np.random.Generator | np.random.RandomState:
    if isinstance(random_state, np.random.Generator | np.random.RandomState):
        return random_state
    return np.random.default_rng(random_state)
