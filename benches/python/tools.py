"""The programs that are compared, each behind the same three calls.

A tool is made from a net (`Tool.prepare`, not timed: imports, reading, code generation, compilers) and then replicates it
(`Tool.replicate`, timed). Every tool gets the form of the net that its manual recommends: mass action where a place never holds more
than one token, an expression elsewhere; its exact direct method; and only the requested species, if the tool lets one choose.
"""

from __future__ import annotations

import importlib.metadata
import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nets

Numbers = Any
"""A NumPy array."""


@dataclass(frozen=True)
class Task:
    """A net and the question about it: sums of tokens at evenly spaced times."""

    file: str
    horizon: float
    steps: int
    watched: Mapping[str, Sequence[str]]
    """By label, the places whose tokens are added."""
    stop: tuple[str, int] | None = None
    """A place and a number: the net stands still once it holds so many tokens."""

    @property
    def times(self) -> list[float]:
        """Return the times, from the first step to the horizon."""
        return [self.horizon * (step + 1) / self.steps for step in range(self.steps)]

    @property
    def places(self) -> list[str]:
        """Return the places that are watched, each once."""
        return list(dict.fromkeys(place for places in self.watched.values() for place in places))


class Tool:
    """A simulator; `replicate` returns token numbers by replication, label and time."""

    package = ""
    method = ""

    def __init__(self, task: Task) -> None:
        """Keep the task."""
        self.task = task

    def prepare(self) -> None:
        """Import the package and build the model."""
        raise NotImplementedError

    def replicate(self, count: int, seed: int) -> Numbers:
        """Return an array of replications, labels and times."""
        raise NotImplementedError

    def net(self) -> nets.ReactionNet:
        """Return the net as reactions."""
        net = nets.read(self.task.file)
        return nets.reactions(net if self.task.stop is None else nets.stopping(net, *self.task.stop))

    def columns(self) -> list[list[int]]:
        """Return, by label, the indices of its places among the watched places."""
        places = self.task.places
        return [[places.index(place) for place in members] for members in self.task.watched.values()]

    def sums(self, rows: Numbers) -> Numbers:
        """Add up the watched places of one replication; ``rows`` has a row for each time, the start first."""
        import numpy

        return numpy.array([rows[1:, members].sum(axis=1) for members in self.columns()])


class Rebop(Tool):
    """The Rust engine rebop, through its Python package."""

    package = "rebop"
    method = "direct, the faster of dense and sparse"

    def prepare(self) -> None:
        """Add the reactions one by one."""
        from rebop import Gillespie

        net = self.net()
        self.start = dict(net.tokens)
        self.model = Gillespie()
        for one in net.reactions:
            rate = one.rate if one.is_mass_action else one.expression()
            self.model.add_reaction(rate, _repeated(one.takes), _repeated(one.gives))
        # its own choice is thirty times slower on the large net
        costs = []
        for sparse in (False, True):
            self.sparse = sparse
            before = time.process_time()
            self.replicate(5, 1)
            costs.append(time.process_time() - before)
        self.sparse = costs[1] < costs[0]

    def replicate(self, count: int, seed: int) -> Numbers:
        """Run once per replication."""
        import numpy

        places, task = self.task.places, self.task
        answers = []
        for run in range(count):
            random = seed * 1_000_003 + run
            data = self.model.run(
                self.start, task.horizon, task.steps, rng=random, var_names=places, sparse=self.sparse
            )
            answers.append(self.sums(numpy.column_stack([data[place].values for place in places])))
        return numpy.array(answers)


class GillesPy(Tool):
    """GillesPy2 with its solver in C++, compiled for the net."""

    package = "gillespy2"
    method = "SSACSolver"

    def prepare(self) -> None:
        """Build the model and have it compiled."""
        import gillespy2
        import SCons

        # the build runs the interpreter that a virtual environment links to, which does not find SCons by itself
        os.environ["PYTHONPATH"] = str(Path(SCons.__file__).parent.parent)
        net = self.net()
        model = gillespy2.Model(name="net")
        species = {name: gillespy2.Species(name=name, initial_value=n, mode="discrete") for name, n in net.tokens.items()}
        model.add_species(list(species.values()))
        for number, one in enumerate(net.reactions):
            takes = {species[place]: weight for place, weight in one.takes.items()}
            gives = {species[place]: weight for place, weight in one.gives.items()}
            if one.is_mass_action:
                rate = gillespy2.Parameter(name=f"rate{number}", expression=one.rate)
                model.add_parameter(rate)
                reaction = gillespy2.Reaction(name=f"r{number}", reactants=takes, products=gives, rate=rate)
            else:
                propensity = one.expression(power="pow")
                reaction = gillespy2.Reaction(name=f"r{number}", reactants=takes, products=gives, propensity_function=propensity)
            model.add_reaction(reaction)
        model.timespan(gillespy2.TimeSpan.linspace(t=self.task.horizon, num_points=self.task.steps + 1))
        self.solver = gillespy2.SSACSolver(model=model)
        self.solver.run(number_of_trajectories=1, seed=1)

    def replicate(self, count: int, seed: int) -> Numbers:
        """Run all replications in one call."""
        import numpy

        results = self.solver.run(number_of_trajectories=count, seed=seed)
        places = self.task.places
        return numpy.array([self.sums(numpy.column_stack([one[place] for place in places])) for one in results])


class RoadRunner(Tool):
    """libRoadRunner's integrator ``gillespie``."""

    package = "libroadrunner"
    method = "gillespie"

    def prepare(self) -> None:
        """Load the net as SBML, which compiles it."""
        import roadrunner

        self.model = roadrunner.RoadRunner(nets.sbml(self.net()))
        self.model.setIntegrator("gillespie")
        self.model.getIntegrator().variable_step_size = False
        self.model.timeCourseSelections = self.task.places

    def replicate(self, count: int, seed: int) -> Numbers:
        """Run once per replication."""
        import numpy

        self.model.getIntegrator().seed = seed
        answers = []
        for _ in range(count):
            self.model.reset()
            answers.append(self.sums(numpy.asarray(self.model.simulate(0, self.task.horizon, self.task.steps + 1))))
        return numpy.array(answers)


class Copasi(Tool):
    """COPASI through basico: the time course task, with the direct method."""

    package = "copasi-basico"
    method = "directMethod"

    def prepare(self) -> None:
        """Import the net as SBML, and set up its time course task; calling the task costs less than basico's data frames."""
        import basico
        import COPASI

        net = self.net()
        model = basico.load_model_from_string(nets.sbml(nets.ReactionNet(net.tokens, _corrected(net.reactions))))
        self.run = model.getTask("Time-Course")
        self.run.setMethodType(COPASI.CTaskEnum.Method_directMethod)
        self.run.getMethod().getParameter("Use Random Seed").setBoolValue(True)
        problem = self.run.getProblem()
        problem.setDuration(self.task.horizon)
        problem.setStepNumber(self.task.steps)
        problem.setTimeSeriesRequested(True)
        self.output = COPASI.CCopasiTask.OUTPUT_UI
        self.run.initializeRaw(self.output)
        self.run.processRaw(True)
        series = self.run.getTimeSeries()
        columns = {series.getTitle(column): column for column in range(series.getNumVariables())}
        self.columns_of_places = [columns[place] for place in self.task.places]

    def replicate(self, count: int, seed: int) -> Numbers:
        """Run once per replication."""
        import numpy

        random = self.run.getMethod().getParameter("Random Seed")
        answers = []
        for run in range(count):
            # the task reads the seed when it is initialized
            random.setUIntValue((seed * 1_000_003 + run) % 2**31)
            self.run.initializeRaw(self.output)
            self.run.processRaw(True)
            series = self.run.getTimeSeries()
            rows = [[series.getData(step, at) for at in self.columns_of_places] for step in range(self.task.steps + 1)]
            answers.append(self.sums(numpy.array(rows)))
        return numpy.array(answers)


class Tailspn(Tool):
    """tailspn, asked for the tokens by replications on one thread."""

    package = "tailspn"
    method = "replications"

    def prepare(self) -> None:
        """Read the net."""
        import tailspn

        self.engine = ""
        self.model = tailspn.Net.parse(Path(self.task.file).read_text(encoding="utf-8"))

    def moments(self, count: int, seed: int) -> tuple[Numbers, Numbers]:
        """Return the means and the variances by label and time."""
        import numpy

        at = [
            f"{time!r}:{' + '.join(f'#({place})' for place in places)}"
            for places in self.task.watched.values()
            for time in self.task.times
        ]
        run = self.model.simulate(
            until="horizon", horizon=self.task.horizon, at=at, reps=count, seed=seed, threads=1, method="simulate", backend="cpu"
        )
        self.engine = run.provenance.engine
        # the answers are sorted by time, and by label within a time
        rows = [one.mean for one in run.snapshots]
        shape = (self.task.steps, len(self.task.watched))
        means = numpy.array([float(one) for one in rows]).reshape(shape).T
        halves = numpy.array([(one.high - one.low) / 2 if one.high is not None else math.nan for one in rows]).reshape(shape).T
        return means, (halves / student(count)) ** 2 * count

    def finished(self, count: int, seed: int) -> tuple[Numbers, Numbers]:
        """Return the share of replications that have ended, by time, and its variance: nothing can fire, or the place is full."""
        import numpy

        goal = "dead" if self.task.stop is None else "#({}) >= {}".format(*self.task.stop)
        run = self.model.simulate(
            until=goal, reps=count, seed=seed, threads=1, method="simulate", backend="cpu", samples=True
        )
        self.engine = run.provenance.engine
        shares = numpy.array([[float((run.samples <= time).mean()) for time in self.task.times]])
        return shares, shares * (1 - shares)


TOOLS: dict[str, Callable[[Task], Tool]] = {
    "rebop": Rebop,
    "GillesPy2": GillesPy,
    "libRoadRunner": RoadRunner,
    "COPASI": Copasi,
    "tailspn": Tailspn,
}
"""By name, in the order of the table."""


def versions() -> dict[str, str]:
    """Return the versions of the packages."""
    packages = ["tailspn", "rebop", "gillespy2", "libroadrunner", "copasi-basico", "python-copasi", "numpy"]
    return {package: importlib.metadata.version(package) for package in packages}


def student(count: int) -> float:
    """Return the factor between a standard error and half of a 95% interval; replications are many, so that Student's t is normal."""
    return 1.959963984540054 * (1 + 2.84 / (2 * count)) if count > 30 else math.nan


def _repeated(side: Mapping[str, int]) -> list[str]:
    return [place for place, weight in side.items() for _ in range(weight)]


def _corrected(all_reactions: Sequence[nets.Reaction]) -> tuple[nets.Reaction, ...]:
    """Undo what COPASI does to a propensity: it multiplies by n (n-1) ... (n-w+1) / n^w for w tokens of a species with n.

    A join takes all tokens, n = w, so that the factor is w! / w^w.
    """
    corrected = []
    for one in all_reactions:
        logarithm = sum(weight * math.log(weight) - math.lgamma(weight + 1) for weight in one.takes.values())
        corrected.append(nets.Reaction(one.name, one.rate * math.exp(logarithm), one.takes, one.gives, one.factors))
    return tuple(corrected)
