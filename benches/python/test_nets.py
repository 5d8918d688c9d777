"""Checks of the translation from nets to reactions, by hand. No peer is needed."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import nets
import pytest

QUEUE = """<pnml><net id="n">
<place id="q"><initialMarking><value>Default,0</value></initialMarking><capacity><value>{capacity}</value></capacity></place>
<place id="free"><initialMarking><value>Default,3</value></initialMarking><capacity><value>0</value></capacity></place>
<transition id="arrive"><rate><value>0.9</value></rate><timed><value>{timed}</value></timed></transition>
<transition id="serve"><rate><value>2.0</value></rate><timed><value>true</value></timed><infiniteServer><value>{all}</value></infiniteServer></transition>
<arc source="free" target="arrive"><type value="{kind}"/></arc><arc source="arrive" target="q"/>
<arc source="q" target="serve"><inscription><value>Default,{weight}</value></inscription></arc>
<arc source="serve" target="free"><inscription><value>{weight}</value></inscription></arc>
</net></pnml>"""


def queue(
    folder: Path, *, capacity: int = 3, timed: str = "true", all: str = "false", kind: str = "normal", weight: int = 1
) -> nets.PipeNet:
    path = folder / "queue.xml"
    path.write_text(QUEUE.format(capacity=capacity, timed=timed, all=all, kind=kind, weight=weight))
    return nets.read(path)


def value(reaction: nets.Reaction, **tokens: int) -> float:
    return eval(reaction.expression(power="**"), {}, tokens)  # noqa: S307


def test_single_server_has_a_constant_rate(tmp_path: Path) -> None:
    net = nets.reactions(queue(tmp_path))
    arrive, serve = net.reactions
    assert net.tokens == {"q": 0, "free": 3}
    assert (arrive.takes, arrive.gives) == ({"free": 1}, {"q": 1})
    assert [value(arrive, free=n) for n in (0, 1, 3)] == [0, 0.9, 0.9]
    assert [value(serve, q=n) for n in (0, 1, 3)] == [0, 2, 2]
    assert not serve.is_mass_action


def test_infinite_server_is_mass_action(tmp_path: Path) -> None:
    serve = nets.reactions(queue(tmp_path, all="true")).reactions[1]
    assert serve.is_mass_action
    assert serve.expression() == "2.0 * q"


def test_join_of_all_tokens_is_exact(tmp_path: Path) -> None:
    serve = nets.reactions(queue(tmp_path, weight=3)).reactions[1]
    assert serve.factors == {"q": nets.Limit.FULL}
    assert [value(serve, q=n) for n in range(4)] == [0, 0, 0, 2]


def test_stopping_uses_the_complement_that_there_is(tmp_path: Path) -> None:
    arrive, serve = nets.reactions(nets.stopping(queue(tmp_path), "q", 3)).reactions
    assert (arrive.takes, arrive.gives) == ({"free": 1}, {"q": 1})
    assert (serve.takes, serve.gives) == ({"q": 1, "free": 1}, {"free": 2})
    assert [value(serve, q=q, free=3 - q) for q in (0, 1, 3)] == [0, 2, 0]


def test_stopping_adds_a_complement(tmp_path: Path) -> None:
    net = nets.reactions(nets.stopping(queue(tmp_path), "q", 2))
    arrive, serve = net.reactions
    assert net.tokens == {"q_left": 2, "q": 0, "free": 3}
    assert (arrive.takes, arrive.gives) == ({"free": 1, "q_left": 1}, {"q": 1})
    assert (serve.takes, serve.gives) == ({"q": 1, "q_left": 1}, {"free": 1, "q_left": 2})
    assert [value(arrive, q_left=left, free=1 + left) for left in (0, 1, 2)] == [0, 0.9, 0.9]


@pytest.mark.parametrize("weight", [2, 40, 160, 1000])
def test_full_is_zero_one_below(weight: int) -> None:
    join = nets.Reaction("t", 1.0, {"p": weight}, {}, {"p": nets.Limit.FULL})
    assert (value(join, p=weight - 1), value(join, p=weight)) == (0, 1)


def test_once_only_places_are_mass_action() -> None:
    net = nets.PipeNet(tokens={"a": 1, "b": 0, "c": 0}, capacities={"a": 0, "b": 0, "c": 0})
    net.transitions["fork"] = nets.Transition(1.0, False, {"a": 1}, {"b": 1, "c": 2})
    net.transitions["join"] = nets.Transition(2.0, False, {"b": 1, "c": 1}, {})
    assert nets.bounds(net) == {"a": 1, "b": 1, "c": 2}
    assert nets.reactions(net).reactions[1].factors == {"b": nets.Limit.COUNT, "c": nets.Limit.SOME}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"timed": "false"}, "immediate"),
        ({"kind": "inhibitor"}, "inhibitor"),
        ({"capacity": 2}, "capacities"),
        ({"weight": 2}, "thresholds"),
        ({"weight": 3, "all": "true"}, "infinitely many"),
    ],
)
def test_what_cannot_be_said_is_refused(tmp_path: Path, change: dict[str, int | str], reason: str) -> None:
    with pytest.raises(nets.Inexpressible, match=reason):
        nets.reactions(queue(tmp_path, **change))  # type: ignore[arg-type]


def test_sbml_has_the_same_numbers(tmp_path: Path) -> None:
    name = {"s": "http://www.sbml.org/sbml/level3/version1/core"}
    root = ElementTree.fromstring(nets.sbml(nets.reactions(queue(tmp_path))).encode())
    species = {one.attrib["id"]: one.attrib["initialAmount"] for one in root.iterfind(".//s:species", name)}
    assert species == {"q": "0", "free": "3"}
    serve = root.find(".//s:reaction[@id='serve']", name)
    assert serve is not None
    text = "".join(serve.itertext())
    assert text == "2.0qq1.000000-300"
