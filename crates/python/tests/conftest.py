"""Paths of the repository, and the command to compare with."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

ROOT = pathlib.Path(__file__).parents[3]

# what differs from run to run
TIMES = {"wall_s", "estimate_s", "ratio", "cost_ratio", "threads", "vector", "adapter", "placement"}


def without_times(value: Any) -> Any:
    """Drop what the clock decides."""
    if isinstance(value, dict):
        return {key: without_times(one) for key, one in value.items() if key not in TIMES}
    if isinstance(value, list):
        return [without_times(one) for one in value]
    return value


@pytest.fixture
def root() -> pathlib.Path:
    """The repository."""
    return ROOT


@pytest.fixture
def command() -> Callable[..., Any]:
    """Run the command with ``--json`` in a process of its own and return what it prints."""

    def run(*arguments: object) -> Any:
        line = [sys.executable, "-m", "tailspn", *map(str, arguments), "--json"]
        done = subprocess.run(line, capture_output=True, text=True, timeout=300, cwd=ROOT)
        assert done.stdout, done.stderr
        return json.loads(done.stdout)

    return run
