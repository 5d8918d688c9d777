"""Every question gives the JSON of the command, digit by digit."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tailspn
from conftest import without_times

MODELS = pathlib.Path("models")
QUEUE = MODELS / "textbook/mm1k.xml"
LAWS = MODELS / "textbook/erlang_loss.xml"

CASES: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("simulate", (QUEUE,), {"until": "#(queue) >= 3", "reps": 500, "seed": 7}),
    ("simulate", (QUEUE,), {"until": "#(queue) >= 3", "reps": 500, "engine": "clock"}),
    ("simulate", (QUEUE,), {"until": "#(queue) >= 3", "reps": 500, "engine": "direct"}),
    ("simulate", (QUEUE,), {"until": "#(queue) >= 3", "reps": 500, "engine": "lockstep"}),
    ("simulate", (MODELS / "textbook/small_job.xml",), {"reps": 300}),
    ("simulate", (QUEUE,), {"steady": True, "tokens": True, "steady_firings": 20000}),
    ("simulate", (LAWS,), {"horizon": 50, "tokens": True, "throughput": True, "reps": 100}),
    ("solve", (QUEUE,), {"steady": True}),
    ("solve", (QUEUE,), {"at": [1, 2.5]}),
    ("estimate", (), {"demo": True, "reps": 500}),
    ("estimate", (), {"demo": True, "reps": 200, "slots": True, "deadline": "10m", "input_size": "20GiB"}),
    ("estimate", (MODELS / "mapreduce/kmeans.toml",), {"reps": 200}),
    ("whatif", (MODELS / "cluster/phan-c2.toml",), {"reps": 64}),
    ("study", (MODELS / "mapreduce/which-knob.toml",), {"method": "derivatives", "reps": 400}),
    ("study", (MODELS / "mapreduce/which-knob.toml",), {}),
]


def line_of(options: dict[str, Any]) -> list[str]:
    """The options as a person types them."""
    line: list[str] = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            line.append(option)
        else:
            line += [option, ",".join(map(str, value)) if isinstance(value, list) else str(value)]
    return line


@pytest.mark.parametrize(("question", "inputs", "options"), CASES, ids=lambda case: str(case)[:60])
def test_json_is_that_of_the_command(
    question: str,
    inputs: tuple[Any, ...],
    options: dict[str, Any],
    command: Callable[..., Any],
    root: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(root)
    result = getattr(tailspn, question)(*inputs, **options)
    verb = ["net", question] if question in ("simulate", "solve") else [question]
    expected = command(*verb, *inputs, *line_of(options))
    assert without_times(json.loads(result.json())) == without_times(expected)


def test_a_gpu_gives_the_same_times(root: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    times = [
        tailspn.simulate(QUEUE, until="#(queue) >= 3", reps=2000, seed=3, samples=True, **place).samples
        for place in ({"backend": "cpu"}, {"backend": "gpu", "adapter": "llvmpipe"})
    ]
    assert times[0] is not None and times[1] is not None
    assert times[0].size == 2000
    np.testing.assert_array_equal(times[0], times[1])
