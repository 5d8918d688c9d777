"""Nets and their markings as graphs of networkx."""

from __future__ import annotations

import networkx
import pytest
import tailspn


def workshop() -> tailspn.Net:
    """Parts that arrive in pairs, a machine that is tested and inhibited, a choice without time."""
    return (
        tailspn.NetBuilder("workshop")
        .parameter("speed", 2.0)
        .place("buffer", 2, capacity=6).place("up", 1).place("chosen").place("good").place("bad")
        .timed("work", "speed * #(buffer)", servers=None)
        .timed("again", delay=tailspn.erlang(2, 3.0), memory="age")
        .immediate("pass", weight=3.0, priority=2).immediate("fail", weight=1.0, priority=2)
        .input("buffer", "work").test("up", "work").inhibitor("bad", "work", 2).output("work", "chosen")
        .input("chosen", "pass").output("pass", "good").input("chosen", "fail").output("fail", "bad")
        .input("bad", "again").output("again", "buffer")
        .input("good", "again", "1 + #(bad)")
        .build()
    )


def test_a_net_keeps_weights_kinds_rates_and_markings() -> None:
    net = workshop()
    graph = net.to_networkx()
    assert isinstance(graph, networkx.MultiDiGraph)
    assert graph.graph["parameters"] == {"speed": 2.0} and graph.graph["classes"] == ["Default"]
    assert graph.nodes["buffer"] == {"kind": "place", "tokens": 2, "marking": (2,), "capacity": 6}
    work, again, passing = (graph.nodes[name] for name in ("work", "again", "pass"))
    assert (work["distribution"], work["rate"], work["servers"]) == ("exponential", "speed * #(buffer)", None)
    assert (again["distribution"], again["numbers"], again["memory"], again["rate"]) == ("erlang", (2.0, 3.0), "age", None)
    assert (passing["distribution"], passing["rate"], passing["priority"]) == ("immediate", 3.0, 2)
    kinds = {(tail, head): data for tail, head, data in graph.edges(data=True)}
    assert kinds["bad", "work"]["kind"] == "inhibitor" and kinds["bad", "work"]["weight"] == 2
    assert kinds["up", "work"]["kind"] == "test" and kinds["work", "chosen"]["kind"] == "output"
    assert kinds["good", "again"]["weight"] == "1 + #(bad)"
    assert graph.number_of_edges() == len(net.arcs) == 11


def test_a_place_may_have_two_arcs_to_a_transition() -> None:
    net = tailspn.NetBuilder().place("p", 1).timed("t", 1.0).input("p", "t").inhibitor("p", "t", 3).build()
    edges = net.to_networkx().edges(keys=True)
    assert set(edges) == {("p", "t", "input"), ("p", "t", "inhibitor")}


def queue(most: int) -> tailspn.Net:
    """A queue: arrivals at 2 /s, service at 3.5 /s."""
    builder = tailspn.NetBuilder("queue").place("queue", capacity=most).timed("arrive", 2.0).timed("serve now", 3.5)
    return builder.output("arrive", "queue").input("queue", "serve now").build()


def test_the_markings_of_a_queue_are_a_line() -> None:
    graph = queue(5).reachability_graph()
    assert graph.number_of_nodes() == 6 and graph.number_of_edges() == 10
    assert [node for node, data in graph.nodes(data=True) if data["initial"]] == ["s0"]
    rates = sorted((data["rates"] for _, _, data in graph.edges(data=True)), key=str)
    assert rates == [{"arrive": 2.0}] * 5 + [{"serve now": 3.5}] * 5
    assert networkx.is_strongly_connected(graph)


def test_markings_without_time_are_there_if_wanted() -> None:
    net = (
        tailspn.NetBuilder("choice").place("p", 1).place("q").place("a").place("b")
        .timed("t", 4.0).immediate("left", 3.0).immediate("right", 1.0)
        .input("p", "t").output("t", "q").input("q", "left").output("left", "a").input("q", "right").output("right", "b")
        .build()
    )
    graph = net.reachability_graph()
    assert sum(data["dead"] for _, data in graph.nodes(data=True)) == 2
    assert sorted(sum(data["rates"].values()) for _, _, data in graph.edges(data=True)) == pytest.approx([1.0, 3.0])
    with_vanishing = net.reachability_graph(vanishing=True)
    assert [node for node, data in with_vanishing.nodes(data=True) if data["vanishing"]] == ["v0"]
    chances = {name: rate for _, _, data in with_vanishing.edges(data=True) if data["immediate"] for name, rate in data["rates"].items()}
    assert chances == {"left": 0.75, "right": 0.25}
