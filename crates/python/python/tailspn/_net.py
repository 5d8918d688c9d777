"""Nets: opened from files, or built part by part."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from tailspn import _tailspn

if TYPE_CHECKING:
    import networkx

    from tailspn._result import Result


Weight = float | str
"""A number, or an expression in the text form of PIPE."""


class Arc(NamedTuple):
    """An arc; ``kind`` is ``input``, ``output``, ``inhibitor`` or ``test``."""

    kind: str
    place: str
    transition: str
    weights: tuple[Weight, ...]
    """The weight of each token class."""


class Timing(NamedTuple):
    """The timing of a transition."""

    distribution: str
    """``immediate``, ``exponential``, or the name of another distribution of delays."""
    rate: Weight | None
    """The weight of an immediate transition or the rate [1/s] of an exponential transition; None for other distributions."""
    numbers: tuple[float, ...]
    """The parameters of any other distribution, as in `Distribution`."""
    priority: int
    """The priority of an immediate transition."""
    servers: int | None
    """Number of enablings that a timed transition serves simultaneously; None for all."""
    memory: str
    """The memory policy of a timed transition: ``enabling`` or ``age``."""


class Net:
    """A generalized stochastic Petri net, opened with `open` or built with `NetBuilder`."""

    def __init__(self, native: _tailspn.NativeNet, *, path: str | None = None) -> None:
        """Wrap a net. ``path`` is the file that the net was read from; None without a file."""
        self._native = native
        self.path = path

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Net:
        """Read a net: PIPE XML of any version, PNML, GreatSPN, or JANI.

        Raises OSError if the file cannot be read, and ValueError with the line and the column if it is not a net.
        """
        name = os.fspath(path)
        return cls(_tailspn.NativeNet.open(name), path=os.path.abspath(name))

    @classmethod
    def parse(cls, text: str) -> Net:
        """Read a net from the text of a file."""
        return cls(_tailspn.NativeNet.parse(text))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as PIPE XML, so that nets can be sent between processes."""
        return Net.parse, (self.to_pipe(),)

    @property
    def name(self) -> str:
        """The name of the net."""
        return self._native.name

    @property
    def places(self) -> dict[str, list[int]]:
        """The places: a dictionary from id to the initial tokens of each class."""
        return dict(self._native.places)

    @property
    def transitions(self) -> list[str]:
        """The ids of the transitions."""
        return self._native.transitions

    @property
    def arcs(self) -> list[Arc]:
        """The arcs."""
        return [
            Arc(kind, place, transition, tuple(_weight(text) for text in weights))
            for kind, place, transition, weights in self._native.arcs
        ]

    @property
    def timings(self) -> dict[str, Timing]:
        """The timings of the transitions: a dictionary from id to `Timing`."""
        rows = zip(self.transitions, self._native.timings)
        return {
            transition: Timing(
                name,
                None if rate is None else _weight(rate),
                tuple(numbers),
                priority,
                servers or None,
                "age" if age else "enabling",
            )
            for transition, (name, rate, numbers, priority, servers, age) in rows
        }

    @property
    def parameters(self) -> dict[str, Weight]:
        """The rate parameters: a dictionary from name to a number or an expression."""
        return {name: _weight(text) for name, text in self._native.parameters}

    @property
    def classes(self) -> list[str]:
        """The ids of the token classes, at least one."""
        return self._native.classes

    def to_pipe(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the net as PIPE XML, and write it to a file if a path is given. Warns about features that PIPE lacks."""
        text, remarks = self._native.pipe()
        for remark in remarks:
            warnings.warn(remark, stacklevel=2)
        if path is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return text

    def to_networkx(self) -> networkx.MultiDiGraph[str]:
        """Return the net as a directed graph with one edge per arc; the key of an edge is the kind of the arc.

        All nodes have ``kind``. Places also have ``tokens`` (of all classes), ``marking`` (of each class) and ``capacity``;
        transitions have the fields of `Timing`. Edges have ``kind``, ``weight`` (of all classes; an expression stays text)
        and ``weights``. The graph has the ``parameters`` and ``classes`` of the net.
        """
        import networkx

        graph: networkx.MultiDiGraph[str] = networkx.MultiDiGraph(
            name=self.name, parameters=self.parameters, classes=self.classes
        )
        for (place, tokens), capacity in zip(self.places.items(), self._native.capacities):
            graph.add_node(place, kind="place", tokens=sum(tokens), marking=tuple(tokens), capacity=capacity)
        for transition, timing in self.timings.items():
            graph.add_node(transition, kind="transition", **timing._asdict())
        for arc in self.arcs:
            ends = (arc.transition, arc.place) if arc.kind == "output" else (arc.place, arc.transition)
            key = None if graph.has_edge(*ends, key=arc.kind) else arc.kind
            graph.add_edge(*ends, key=key, kind=arc.kind, weight=_total(arc.weights), weights=arc.weights)
        return graph

    def reachability_graph(self, *, vanishing: bool = False) -> networkx.DiGraph[str]:
        """Return the reachability graph: markings as nodes, at most 20,000, and firings as edges.

        Nodes have ``marking`` (a text), ``number`` (as in `solve`), ``initial``, ``dead`` and ``vanishing``. Edges have
        ``rates``: a dictionary from each transition that leads from one marking to the other to its rate [1/s]. If
        ``vanishing`` is true, the markings that take no time are nodes too. An edge that leaves such a node is ``immediate``,
        and its ``rates`` are probabilities.
        """
        from tailspn._graph import reachability_graph

        return reachability_graph(self, vanishing=vanishing)

    def simulate(self, **options: Any) -> Result:
        """Simulate the net; see `tailspn.simulate`."""
        from tailspn._ask import simulate

        return simulate(self, **options)

    def solve(self, **options: Any) -> Result:
        """Compute exact answers; see `tailspn.solve`."""
        from tailspn._ask import solve

        return solve(self, **options)

    def query(self, *formulas: str, **options: Any) -> Result:
        """Answer queries in PRISM syntax; see `tailspn.query`."""
        from tailspn._ask import query

        return query(self, *formulas, **options)

    def rare(self, **options: Any) -> Result:
        """Estimate the probability of a rare event; see `tailspn.rare`."""
        from tailspn._ask import rare

        return rare(self, **options)

    def _repr_svg_(self) -> str:
        return self._native.svg()

    def __repr__(self) -> str:
        """Return the name and the size."""
        return f"Net({self.name!r}: {len(self.places)} places, {len(self.transitions)} transitions)"


def _weight(text: str) -> Weight:
    try:
        return float(text)
    except ValueError:
        return text


def _total(weights: Sequence[Weight]) -> Weight:
    """Return the sum of the weights; if one of them is an expression, the sum is an expression, too."""
    numbers = [weight for weight in weights if isinstance(weight, float)]
    texts = [weight for weight in weights if isinstance(weight, str)]
    if not texts:
        return sum(numbers)
    return " + ".join([*texts, *(f"{number:g}" for number in numbers if number)])


@dataclass(frozen=True)
class Distribution:
    """A distribution of delays in seconds."""

    name: str
    numbers: tuple[float, ...]


def deterministic(delay: float) -> Distribution:
    """Return a constant delay [s]."""
    return Distribution("deterministic", (delay,))


def uniform(low: float, high: float) -> Distribution:
    """Return a uniform distribution between two times [s]."""
    return Distribution("uniform", (low, high))


def erlang(stages: int, mean: float) -> Distribution:
    """Return an Erlang distribution: the sum of equal exponential stages; ``mean`` is the mean of the sum [s]."""
    if stages < 1 or stages != int(stages):
        raise ValueError(f"{stages} stages; there must be a whole number of at least 1")
    return Distribution("erlang", (stages, mean))


def lognormal(mean: float, cv: float) -> Distribution:
    """Return a lognormal distribution by its mean [s] and its coefficient of variation."""
    return Distribution("lognormal", (mean, cv))


def weibull(shape: float, scale: float) -> Distribution:
    """Return a Weibull distribution; the scale is in seconds."""
    return Distribution("weibull", (shape, scale))


def pareto(shape: float, scale: float) -> Distribution:
    """Return a shifted Pareto (Lomax) distribution: a delay exceeds t with probability (1 + t / scale) ** -shape; the scale is in seconds."""
    return Distribution("pareto", (shape, scale))


def gamma(shape: float, scale: float) -> Distribution:
    """Return a gamma distribution with mean ``shape * scale``; the shape is 0.04 to 10,000, the scale is in seconds."""
    return Distribution("gamma", (shape, scale))


def empirical(samples: Iterable[float]) -> Distribution:
    """Return the distribution of measured times [s], which are equally likely."""
    return Distribution("empirical", tuple(samples))


def hyperexponential(branches: Sequence[tuple[float, float]]) -> Distribution:
    """Return a mixture of exponential distributions; each branch is a pair of probability and mean [s]."""
    return Distribution("hyperexponential", tuple(number for branch in branches for number in branch))


class NetBuilder:
    """Builds a net. Every method except `build` returns the builder.

    Weights, rates and capacities may be expressions in the text form of PIPE, such as ``"2 * #(queue)"``.
    """

    def __init__(self, name: str = "net") -> None:
        """Start a net."""
        self._native = _tailspn.NativeBuilder(name)

    def parameter(self, name: str, value: float | str) -> NetBuilder:
        """Add a rate parameter that expressions may use."""
        self._native.parameter(name, str(value))
        return self

    def place(self, id: str, tokens: int = 0, *, capacity: int | None = None) -> NetBuilder:
        """Add a place with ``tokens`` initial tokens."""
        self._native.place(id, tokens, capacity)
        return self

    def timed(
        self,
        id: str,
        rate: float | str | None = None,
        *,
        delay: Distribution | None = None,
        servers: int | None = 1,
        memory: str = "enabling",
    ) -> NetBuilder:
        """Add a timed transition, with either the rate [1/s] of an exponential delay or another distribution of the delay.

        ``servers`` is the number of enablings that are served simultaneously; None serves all. ``memory`` is the
        memory policy, ``enabling`` or ``age``.
        """
        if (rate is None) == (delay is None):
            raise ValueError("a timed transition has either a rate or a delay")
        if memory not in ("enabling", "age"):
            raise ValueError(f"unknown memory: {memory!r}; there are 'enabling' and 'age'")
        law = delay or Distribution("exponential", ())
        numbers = [float(number) for number in law.numbers]
        self._native.timed(id, law.name, str(rate), numbers, 0 if servers is None else servers, memory == "age")
        return self

    def immediate(self, id: str, weight: float | str = 1, *, priority: int = 1) -> NetBuilder:
        """Add an immediate transition.

        Of the enabled immediate transitions with the highest priority, one fires, with a probability proportional to its weight.
        """
        self._native.immediate(id, str(weight), priority)
        return self

    def guard(self, transition: str, condition: str) -> NetBuilder:
        """Let a transition fire only in markings where the condition, such as ``#(queue) >= 3``, holds.

        Raises ValueError if the delay is not exponential; use test and inhibitor arcs then.
        """
        self._native.guard(transition, condition)
        return self

    def input(self, place: str, transition: str, weight: float | str = 1) -> NetBuilder:
        """Add an arc that consumes tokens."""
        return self._arc("input", place, transition, weight)

    def output(self, transition: str, place: str, weight: float | str = 1) -> NetBuilder:
        """Add an arc that produces tokens."""
        return self._arc("output", place, transition, weight)

    def inhibitor(self, place: str, transition: str, weight: float | str = 1) -> NetBuilder:
        """Add an arc that disables the transition while the place has at least ``weight`` tokens."""
        return self._arc("inhibitor", place, transition, weight)

    def test(self, place: str, transition: str, weight: float | str = 1) -> NetBuilder:
        """Add an arc that needs tokens but does not consume them."""
        return self._arc("test", place, transition, weight)

    def _arc(self, kind: str, place: str, transition: str, weight: float | str) -> NetBuilder:
        self._native.arc(kind, place, transition, str(weight))
        return self

    def build(self) -> Net:
        """Return the net. Raises ValueError, which lists all problems, if the net is not valid."""
        return Net(self._native.build())
