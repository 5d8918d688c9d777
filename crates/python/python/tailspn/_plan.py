"""Plans of jobs, sweeps and clusters."""

from __future__ import annotations

import copy
import os
import re
import tomllib
from typing import Any

from tailspn import _toml


class Plan:
    """A plan in TOML: of a job, a sweep, an optimization or a cluster.

    `open` reads a file, `from_dict` takes the sections, `with_` returns a changed plan. The plan is checked when it is
    first used in a question.
    """

    def __init__(self, text: str, *, name: str = "plan.toml", path: str | None = None) -> None:
        """Store the text of a plan. ``path`` is the file that the plan was read from; None for a changed plan."""
        self.text = text
        """The plan as TOML."""
        self.name = name
        self.path = path

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Plan:
        """Read a plan from a file."""
        with open(path, encoding="utf-8-sig") as file:
            return cls(file.read(), name=os.path.basename(path), path=os.fspath(path))

    @classmethod
    def from_dict(cls, sections: dict[str, Any]) -> Plan:
        """Build a plan from its sections, such as ``{"job": {"reduces": 40}}``."""
        return cls(_toml.dumps(sections))

    def to_dict(self) -> dict[str, Any]:
        """Return the sections."""
        return tomllib.loads(self.text)

    def with_(self, values: dict[str, Any] | None = None, /, **sections: dict[str, Any]) -> Plan:
        """Return a plan with changed values: ``with_({"cluster.node[0].count": 8})`` or ``with_(job={"reduces": 8})``."""
        plan = copy.deepcopy(self.to_dict())
        if self.path is not None:
            _absolute(plan, os.path.dirname(os.path.abspath(self.path)))
        for key, value in (values or {}).items():
            _set(plan, key, value)
        for section, keys in sections.items():
            for key, value in keys.items():
                _set(plan, f"{section}.{key}", value)
        return Plan(_toml.dumps(plan), name=self.name)

    def __eq__(self, other: object) -> bool:
        """Compare the values, not the text."""
        return isinstance(other, Plan) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Return the text."""
        return self.text



def _absolute(plan: dict[str, Any], folder: str) -> None:
    """Resolve the paths of a sweep relative to its own file."""
    sweep = plan.get("sweep")
    if isinstance(sweep, dict):
        for key in ("base", "net"):
            if isinstance(sweep.get(key), str):
                sweep[key] = os.path.join(folder, sweep[key])


def _set(plan: dict[str, Any], key: str, value: Any) -> None:
    """Set `a.b[0].c`."""
    steps: list[str | int] = []
    for part in key.split("."):
        match = re.fullmatch(r"([^\[\]]+)((?:\[\d+\])*)", part)
        if match is None:
            raise ValueError(f"{key!r} is not a valid key of a plan, such as 'job.reduces' or 'cluster.node[0].count'")
        steps.append(match[1])
        steps.extend(int(index) for index in re.findall(r"\d+", match[2]))
    at: Any = plan
    for step, following in zip(steps, steps[1:]):
        fresh: Any = [] if isinstance(following, int) else {}
        if isinstance(step, int):
            while len(at) <= step:
                at.append(copy.copy(fresh))
            at = at[step]
        else:
            at = at.setdefault(step, fresh)
    last = steps[-1]
    if isinstance(last, int):
        while len(at) <= last:
            at.append(value)
    at[last] = value
