#!/usr/bin/env python3
"""Exact values of the maximum of n independent task times: the time of n tasks on n slots.

    pip install mpmath==1.3.0 && python3 maxima.py > maxima.csv

Every distribution has a mean of 10 s, those with slow tasks without them. With Q the probability that one task takes longer than x, the maximum of n tasks is at most x
with probability F(x) = (1 - Q(x))^n. Its mean is the integral of 1 - F over x >= 0, its p-quantile the x with Q(x) = 1 - p^(1/n).
Exponential and Pareto times have closed forms for both; the script computes their means by the integral too, and stops if the two
differ. The script also stops if the integral's own error is above 1e-18 of the mean. 40 digits are carried, 17 are written.

Columns: distribution, number of tasks, statistic, argument (p of a quantile, time in s of a probability), value (s, or a probability).
"""
import sys

from mpmath import erfc, exp, expm1, findroot, gamma, harmonic, inf, log, log1p, mp, mpf, nstr, quad, rgamma, sqrt

mp.dps = 40
MEAN = mpf(10)
TASKS = (10, 100, 1_000, 3_000, 10_000)
MEANS_OF_PHASES = [mpf(m) for m in (1, 2, 3, 4)]


class Exponential:
    name = 'exponential'
    bends = []

    def above(self, x):
        return exp(-x / MEAN)

    def quantile(self, q):
        return -MEAN * log(q)

    def mean_of_maximum(self, n):
        return MEAN * harmonic(n)


class Erlang:
    """The sum of three equal exponential stages."""
    name = 'erlang 3'

    def above(self, x):
        y = 3 * x / MEAN
        return exp(-y) * (1 + y + y * y / 2)

    def quantile(self, q):
        return findroot(lambda x: log(self.above(x)) - log(q), (MEAN, 2 * MEAN))


class Phases:
    """The sum of four exponential phases with means of 1, 2, 3 and 4 s."""
    name = 'phases 1+2+3+4'
    weights = []
    for i, m in enumerate(MEANS_OF_PHASES):
        w = mpf(1)
        for j, other in enumerate(MEANS_OF_PHASES):
            if i != j:
                w *= m / (m - other)
        weights.append(w)

    def above(self, x):
        return sum(w * exp(-x / m) for w, m in zip(self.weights, MEANS_OF_PHASES))

    def quantile(self, q):
        return findroot(lambda x: log(self.above(x)) - log(q), (MEAN, 2 * MEAN))


class Lognormal:
    """Coefficient of variation 1: the variance of the logarithm is log 2."""
    name = 'lognormal cv 1'
    sigma = sqrt(log(2))
    mu = log(MEAN) - log(mpf(2)) / 2

    def above(self, x):
        return erfc((log(x) - self.mu) / (self.sigma * sqrt(2))) / 2 if x > 0 else mpf(1)

    def quantile(self, q):
        z = findroot(lambda z: log(erfc(z / sqrt(2)) / 2) - log(q), (mpf(1), mpf(2)))
        return exp(self.mu + self.sigma * z)


class Pareto:
    """Shifted Pareto (Lomax). At a shape of 2 or less the variance is infinite, so a sample mean has no standard error."""

    def __init__(self, shape):
        self.shape = mpf(shape)
        self.scale = MEAN * (self.shape - 1)
        self.name = f'pareto {shape}'

    def above(self, x):
        return (1 + x / self.scale) ** -self.shape

    def quantile(self, q):
        return self.scale * (q ** (-1 / self.shape) - 1)

    def mean_of_maximum(self, n):
        a = 1 - 1 / self.shape
        return self.scale * (gamma(n + 1) * gamma(a) * rgamma(n + a) - 1)


class Slow:
    """A share of slow tasks, which take at least three times the mean of the others, with a Pareto tail."""
    share = mpf('0.06')
    least = 3 * MEAN

    def __init__(self, usual, shape):
        self.usual = usual
        self.shape = mpf(shape)
        self.name = f'{usual.name}, slow {shape}'
        self.bends = usual.bends + [self.least]

    def above(self, x):
        slow = (x / self.least) ** -self.shape if x > self.least else 1
        return (1 - self.share) * self.usual.above(x) + self.share * slow

    def slow_quantile(self, q):
        return self.least * (q / self.share) ** (-1 / self.shape) if q < self.share else self.least

    def quantile(self, q):
        if q > self.above(self.least):
            return self.usual.quantile((q - self.share) / (1 - self.share))
        low, high = self.slow_quantile(q), max(self.slow_quantile(q / 2), self.usual.quantile(q / 2 / (1 - self.share)))
        if low == high or abs(self.above(low) / q - 1) < mpf(10) ** -35:
            return low
        return findroot(lambda x: log(self.above(x)) - log(q), (low, high), solver='anderson')


class Constant:
    name = 'deterministic'
    bends = [MEAN]

    def above(self, x):
        return mpf(1) if x < MEAN else mpf(0)

    def quantile(self, q):
        return MEAN


def at_most(times, n, x):
    """The probability that all n tasks take at most x."""
    return exp(n * log1p(-times.above(x)))


def quantile(times, n, p):
    """The p-quantile of the maximum."""
    return times.quantile(-expm1(log(p) / n))


def integrated_mean(times, n):
    """The mean of the maximum, from its distribution."""
    # the points split the integral where the distribution of the maximum bends, and follow its tail to beyond 1e-30
    points = [mpf(0)] + [quantile(times, n, mpf(p)) for p in ('1e-20', '1e-6', '0.01', '0.1', '0.3', '0.5', '0.7', '0.9', '0.99', '0.9999')]
    points += [times.quantile(mpf(10) ** -e) for e in range(9, 60, 3)]
    points = sorted(set(points + getattr(times, 'bends', [])))

    def longer(x):
        q = times.above(x)  # rounding can make it exceed 1 near 0
        return mpf(1) if q >= 1 else -expm1(n * log1p(-q))
    mean, error = quad(longer, points + [inf] if isinstance(times, (Pareto, Slow)) else points, error=True, maxdegree=10)
    if error > mean * mpf(10) ** -18:
        sys.exit(f'{times.name}, {n} tasks: the error of the mean is {nstr(error, 3)}')
    return mean


def main():
    print('distribution,tasks,statistic,argument,value')
    for times in (Exponential(), Erlang(), Phases(), Lognormal(), Pareto('1.5'), Pareto('2.2'),
                  Slow(Exponential(), '2.5'), Slow(Constant(), '3')):
        for n in TASKS:
            mean = integrated_mean(times, n)
            if hasattr(times, 'mean_of_maximum'):
                closed = times.mean_of_maximum(n)
                if abs(mean / closed - 1) > mpf(10) ** -12:
                    sys.exit(f'{times.name}, {n} tasks: {nstr(mean, 20)} by the integral, {nstr(closed, 20)} in closed form')
                mean = closed
            p95, p99 = (quantile(times, n, mpf(p)) for p in ('0.95', '0.99'))
            rows = [('mean', '', mean), ('quantile', '0.95', p95), ('quantile', '0.99', p99)]
            # times with few digits, so that a plan can have them exactly
            times_s = [nstr(mean, 4 if mean < 1000 else 6), nstr(p95, 4 if p95 < 1000 else 6)] + (['80'] if (times.name, n) == ('exponential', 3_000) else [])
            rows += [('probability', t, at_most(times, n, mpf(t))) for t in times_s]
            for statistic, argument, value in rows:
                name = f'"{times.name}"' if ',' in times.name else times.name
                print(f'{name},{n},{statistic},{argument},{nstr(value, 17, min_fixed=-5, max_fixed=18)}')


if __name__ == '__main__':
    main()
