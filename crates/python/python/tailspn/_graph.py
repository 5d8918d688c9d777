"""The graph of markings, from the file that `solve` writes for Graphviz."""

from __future__ import annotations

import os
import re
import tempfile
from typing import TYPE_CHECKING

from tailspn._ask import solve

if TYPE_CHECKING:
    import networkx

    from tailspn._net import Net

_TEXT = r'label="((?:[^"\\]|\\.)*)"'
_NODE = re.compile(rf"  (\w+) \[{_TEXT}(.*)\];")
_EDGE = re.compile(rf"  (\w+) -> (\w+) \[(style=dashed, )?{_TEXT}\];")


def reachability_graph(net: Net, *, vanishing: bool) -> networkx.DiGraph[str]:
    """Return the graph of markings; `Net.reachability_graph` explains it."""
    import networkx

    with tempfile.TemporaryDirectory(prefix="tailspn") as folder:
        path = os.path.join(folder, "graph.dot")
        solve(net, export_dot=path, draw_vanishing=vanishing)
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    graph: networkx.DiGraph[str] = networkx.DiGraph(name=net.name)
    for line in lines:
        if edge := _EDGE.fullmatch(line):
            graph.add_edge(edge[1], edge[2], rates=_rates(edge[4]), immediate=edge[3] is not None)
        elif node := _NODE.fullmatch(line):
            _add_node(graph, node[1], _unescaped(node[2]), look=node[3])
    return graph


def _add_node(graph: networkx.DiGraph[str], name: str, label: str, *, look: str) -> None:
    is_vanishing = name.startswith("v")
    marking = label if is_vanishing else label.split(": ", 1)[1]
    graph.add_node(
        name,
        marking=marking,
        number=int(name[1:]),
        initial="bold" in look,
        dead="peripheries=2" in look,
        vanishing=is_vanishing,
    )


def _rates(label: str) -> dict[str, float]:
    """Return the rates in a label, which lists firings: the name of a transition and its rate."""
    rates: dict[str, float] = {}
    for firing in re.split(r"(?<!\\)(?:\\\\)*\\n", label):
        transition, rate = _unescaped(firing).rsplit(" ", 1)
        rates[transition] = rates.get(transition, 0.0) + float(rate)
    return rates


def _unescaped(text: str) -> str:
    return re.sub(r'\\(["\\])', r"\1", text)
