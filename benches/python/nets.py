"""A Petri net as reactions, for simulators of chemical networks.

Reads the PIPE files of the benchmark with the standard library only, so that the peers get what the file says and not what tailspn
made of it. A place is a species, a timed transition is a reaction, and what limits a transition becomes factors of its propensity:

* ``COUNT``: the number of tokens, as in mass action;
* ``SOME``: 1 if there is a token, else 0. Simulators without comparisons get x / (x + 1e-300), which is exactly that in floating point;
* ``FULL``: 1 if there are as many tokens as the arc takes, else 0, of a place that never holds more. They get (x / w) ^ (1000 w), which is
  1 for x = w and underflows to 0 below.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

TINY = 1e-300
"""What makes x / (x + TINY) 0 or 1 of a whole number x."""


class Inexpressible(ValueError):
    """A net has something that reactions cannot say."""


class Limit(Enum):
    """How the tokens of an input place act on the propensity."""

    COUNT = "count"
    SOME = "some"
    FULL = "full"


@dataclass(frozen=True)
class Transition:
    """A timed transition as the file has it."""

    rate: float
    infinite_server: bool
    takes: Mapping[str, int]
    gives: Mapping[str, int]


@dataclass
class PipeNet:
    """What a PIPE file says, as far as the benchmark needs it."""

    tokens: dict[str, int] = field(default_factory=dict)
    capacities: dict[str, int] = field(default_factory=dict)
    transitions: dict[str, Transition] = field(default_factory=dict)


@dataclass(frozen=True)
class Reaction:
    """A reaction: its propensity is the rate times the value of each factor."""

    name: str
    rate: float
    takes: Mapping[str, int]
    gives: Mapping[str, int]
    factors: Mapping[str, Limit]

    @property
    def is_mass_action(self) -> bool:
        """Return whether the propensity is the rate times the token numbers."""
        return all(limit is Limit.COUNT for limit in self.factors.values())

    def expression(self, power: str = "^") -> str:
        """Return the propensity as text. ``power`` is the operator, or ``pow`` for a function."""
        parts = [repr(self.rate)]
        for place, limit in self.factors.items():
            if limit is Limit.COUNT:
                parts.append(place)
            elif limit is Limit.SOME:
                parts.append(f"({place} / ({place} + {TINY!r}))")
            else:
                weight = self.takes[place]
                base, exponent = f"({place} / {weight})", 1000 * weight
                parts.append(f"pow({base}, {exponent})" if power == "pow" else f"{base}{power}{exponent}")
        return " * ".join(parts)


@dataclass(frozen=True)
class ReactionNet:
    """A net as species with their initial numbers, and reactions."""

    tokens: Mapping[str, int]
    reactions: tuple[Reaction, ...]


def _text(element: ElementTree.Element, path: str, default: str) -> str:
    found = element.find(path)
    return default if found is None or found.text is None else found.text.strip()


def _whole(text: str) -> int:
    """Return the number of ``Default,3`` or ``3``."""
    return int(text.rpartition(",")[2])


def read(path: str | Path) -> PipeNet:
    """Read a PIPE file; raises Inexpressible if something is neither a place, an exponential transition nor a plain arc."""
    root = ElementTree.parse(path).getroot().find("net")
    if root is None:
        raise Inexpressible("no net in this file")
    net = PipeNet()
    for place in root.findall("place"):
        net.tokens[place.attrib["id"]] = _whole(_text(place, "initialMarking/value", "0"))
        net.capacities[place.attrib["id"]] = _whole(_text(place, "capacity/value", "0"))
    takes: dict[str, dict[str, int]] = {}
    gives: dict[str, dict[str, int]] = {}
    for arc in root.findall("arc"):
        kind = arc.find("type")
        if kind is not None and kind.attrib.get("value", "normal") != "normal":
            raise Inexpressible("inhibitor arcs")
        source, target = arc.attrib["source"], arc.attrib["target"]
        side, transition, place_id = (takes, target, source) if source in net.tokens else (gives, source, target)
        weights = side.setdefault(transition, {})
        weights[place_id] = weights.get(place_id, 0) + _whole(_text(arc, "inscription/value", "1"))
    for transition in root.findall("transition"):
        name = transition.attrib["id"]
        if _text(transition, "timed/value", "false") != "true":
            raise Inexpressible("immediate transitions")
        net.transitions[name] = Transition(
            rate=float(_text(transition, "rate/value", "1")),
            infinite_server=_text(transition, "infiniteServer/value", "false") == "true",
            takes=takes.get(name, {}),
            gives=gives.get(name, {}),
        )
    return net


def _times(tokens: float, weight: int) -> float:
    """Return how often so many tokens are in the tokens; infinity goes in infinitely often, which ``//`` denies."""
    return tokens if math.isinf(tokens) else tokens // weight


def bounds(net: PipeNet) -> dict[str, float]:
    """Return an upper bound of the tokens of each place; infinite if none was found.

    Two arguments: where no transition changes the number of all tokens, no place holds more than all; and a transition fires at most as
    often as the tokens that can ever reach an input place allow, which settles nets without cycles.
    """
    everything = math.inf
    if all(sum(one.takes.values()) == sum(one.gives.values()) for one in net.transitions.values()):
        everything = sum(net.tokens.values())
    ever = {place: math.inf for place in net.tokens}
    firings = {name: math.inf for name in net.transitions}
    # each round settles one step more of every path, and a round that settles nothing is the last
    while True:
        before = dict(ever)
        for name, one in net.transitions.items():
            firings[name] = min((_times(ever[place], weight) for place, weight in one.takes.items()), default=math.inf)
        ever = {place: float(tokens) for place, tokens in net.tokens.items()}
        for name, one in net.transitions.items():
            for place, weight in one.gives.items():
                ever[place] += weight * firings[name]
        if ever == before:
            return {place: min(most, everything) for place, most in ever.items()}


def reactions(net: PipeNet) -> ReactionNet:
    """Translate a net; raises Inexpressible with the reason if that is not possible."""
    most = bounds(net)
    for place, capacity in net.capacities.items():
        if 0 < capacity < most[place]:
            raise Inexpressible("capacities that block")
    return ReactionNet(net.tokens, tuple(_reaction(name, one, most) for name, one in net.transitions.items()))


def stopping(net: PipeNet, place: str, count: int) -> PipeNet:
    """Return the net that stands still once a place holds so many tokens.

    So the probability that it has held them by some time is that of holding them then, which simulators without stopping conditions can
    answer. A complement place has the tokens that are missing, and every transition needs one of them, which it leaves unless it puts one
    more into the place. If the net has such a place, it is used.
    """
    missing = count - net.tokens[place]
    gains = {name: one.gives.get(place, 0) - one.takes.get(place, 0) for name, one in net.transitions.items()}
    left = next((other for other in net.tokens if _is_complement(net, other, missing, gains)), f"{place}_left")
    stopped = PipeNet({left: missing, **net.tokens}, {left: 0, **net.capacities})
    if stopped.capacities[place] >= count:
        stopped.capacities[place] = 0
    for name, one in net.transitions.items():
        takes, gives = dict(one.takes), dict(one.gives)
        if left not in net.tokens:
            takes[left] = max(gains[name], 0)
            gives[left] = max(-gains[name], 0)
        if takes.get(left, 0) == 0:
            takes[left] = 1
            gives[left] = gives.get(left, 0) + 1
        if gives.get(left) == 0:
            del gives[left]
        stopped.transitions[name] = Transition(one.rate, one.infinite_server, takes, gives)
    return stopped


def _is_complement(net: PipeNet, other: str, missing: int, gains: Mapping[str, int]) -> bool:
    """Return whether a place holds what is missing, always."""
    return net.tokens[other] == missing and all(
        one.gives.get(other, 0) - one.takes.get(other, 0) == -gains[name] for name, one in net.transitions.items()
    )


def _reaction(name: str, one: Transition, most: Mapping[str, float]) -> Reaction:
    if one.infinite_server and (len(one.takes) != 1 or set(one.takes.values()) != {1}):
        raise Inexpressible("infinitely many servers with several input tokens")
    factors = {}
    for place, weight in one.takes.items():
        if weight == 1:
            factors[place] = Limit.COUNT if one.infinite_server or most[place] <= 1 else Limit.SOME
        elif most[place] <= weight:
            factors[place] = Limit.FULL
        else:
            raise Inexpressible("thresholds of several tokens")
    return Reaction(name, one.rate, one.takes, one.gives, factors)


def _math(reaction: Reaction) -> str:
    """Return the propensity as MathML."""
    parts = [f"<cn>{reaction.rate!r}</cn>"]
    for place, limit in reaction.factors.items():
        tokens = f"<ci>{place}</ci>"
        if limit is Limit.COUNT:
            parts.append(tokens)
        elif limit is Limit.SOME:
            mantissa, exponent = f"{TINY:e}".split("e")
            tiny = f'<cn type="e-notation">{mantissa}<sep/>{int(exponent)}</cn>'
            parts.append(f"<apply><divide/>{tokens}<apply><plus/>{tokens}{tiny}</apply></apply>")
        else:
            weight = reaction.takes[place]
            share = f'<apply><divide/>{tokens}<cn type="integer">{weight}</cn></apply>'
            parts.append(f'<apply><power/>{share}<cn type="integer">{1000 * weight}</cn></apply>')
    return f'<math xmlns="http://www.w3.org/1998/Math/MathML"><apply><times/>{"".join(parts)}</apply></math>'


def _species(side: Mapping[str, int]) -> str:
    return "".join(
        f'<speciesReference species="{place}" stoichiometry="{weight}" constant="true"/>' for place, weight in side.items()
    )


def sbml(net: ReactionNet) -> str:
    """Return the net as SBML level 3: amounts are numbers of items, the one compartment has volume 1."""
    species = "".join(
        f'<species id="{place}" compartment="world" initialAmount="{tokens}" substanceUnits="item"'
        ' hasOnlySubstanceUnits="true" boundaryCondition="false" constant="false"/>'
        for place, tokens in net.tokens.items()
    )
    laws = "".join(
        f'<reaction id="{one.name}" reversible="false" fast="false">'
        f"<listOfReactants>{_species(one.takes)}</listOfReactants><listOfProducts>{_species(one.gives)}</listOfProducts>"
        f"<kineticLaw>{_math(one)}</kineticLaw></reaction>"
        for one in net.reactions
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>'
        '<sbml xmlns="http://www.sbml.org/sbml/level3/version1/core" level="3" version="1">'
        '<model id="net" substanceUnits="item" extentUnits="item" timeUnits="second">'
        '<listOfCompartments><compartment id="world" size="1" spatialDimensions="3" constant="true"/></listOfCompartments>'
        f"<listOfSpecies>{species}</listOfSpecies><listOfReactions>{laws}</listOfReactions></model></sbml>"
    )
