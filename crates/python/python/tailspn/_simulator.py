"""A simulator for calibration: takes rows of parameters and returns rows of simulated times."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from tailspn import _tailspn
from tailspn._errors import Problem, ReadError
from tailspn._net import Net
from tailspn._plan import Plan

Numbers = npt.NDArray[np.float64]
Summary = Callable[[Numbers], npt.ArrayLike]
Progress = Callable[[int, int, str], object]

_NET_ENDINGS = (".xml", ".pnml", ".net", ".gspn", ".jani")


class Simulator:
    """Simulates a net or a job at many parameter values in one call. Created by `tailspn.simulator`.

    A call with parameters of shape (n, p) returns summaries of shape (n, k); a call with shape (p,) returns shape (k,). If
    the parameters are a torch tensor, the summaries are a tensor of the same type. The package ``sbi`` can use the object
    directly as a simulator.

    The rows run on all cores, without the GIL. Each row has its own random numbers. Without ``seed``, every call of a
    simulator uses new random numbers, and a new simulator with the same calls repeats them. With ``seed``, the same rows
    give the same numbers.
    """

    def __init__(
        self,
        subject: Net | Plan,
        parameters: Sequence[str],
        *,
        until: str | None = None,
        runs: int = 1,
        summary: Summary | None = None,
        stages: bool = False,
        seed: int = 0,
        invalid: Literal["raise", "nan"] = "raise",
    ) -> None:
        """Prepare a simulator; `tailspn.simulator` explains the arguments."""
        native = _native(subject, until, stages)
        if isinstance(parameters, str) or not parameters:
            raise ValueError("parameters must be a list of at least one name")
        if runs < 1:
            raise ValueError(f"runs is {runs}; it must be at least 1")
        if invalid not in ("raise", "nan"):
            raise ValueError(f"invalid is {invalid!r}; it must be 'raise' or 'nan'")
        if stages and not native.stages:
            raise ValueError("only a plan of stages has stage times")
        self._native: _tailspn.NativeSimulator | None = native
        self._subject, self._until, self._stages = subject, until, stages
        self.parameters = tuple(parameters)
        """The names of the parameters, in the order of the columns."""
        self.columns = ("time_s", *(native.stages if stages else ()))
        """The names of the times of a run: the time of the job or net, then the times of the stages, all in seconds."""
        self.runs, self.seed = runs, seed
        self._summary, self._invalid = summary, invalid
        self._calls = 0

    def __call__(self, parameters: Any, *, seed: int | None = None, progress: Progress | None = None) -> Any:
        """Return the summaries of the rows, shape (n, k); float64 unless the parameters are a tensor.

        Without a summary function, a row has the times [s] of all runs, one run after the other: k is the number of runs
        multiplied by the number of `columns`.
        """
        rows = _array(parameters)
        found = self.samples(rows, seed=seed, progress=progress)
        if self._summary is None:
            values = found.reshape(len(found), self.runs * len(self.columns))
        else:
            each = found[:, :, 0] if len(self.columns) == 1 else found
            values = np.asarray(self._summary(each), dtype=np.float64)
            values = values[:, None] if values.ndim == 1 else values
        return _like(values[0] if rows.ndim == 1 else values, parameters)

    def samples(self, parameters: Any, *, seed: int | None = None, progress: Progress | None = None) -> Numbers:
        """Return the times of all runs [s], shape (n, runs, len(columns)).

        A run of a net that does not reach its goal is NaN and comes last in its row.
        """
        rows = np.ascontiguousarray(np.atleast_2d(_array(parameters)))
        width = len(self.parameters)
        if rows.ndim != 2 or rows.shape[1] != width:
            raise ValueError(f"parameters have shape {rows.shape}; it must be (n, {width}): {', '.join(self.parameters)}")
        seeds = self._seeds(rows, seed)
        times, missing = self._simulator().times(list(self.parameters), rows, seeds, self.runs, progress)
        if missing and self._invalid == "raise":
            row, reason = missing[0]
            more = f" (and {len(missing) - 1} more rows)" if len(missing) > 1 else ""
            raise ReadError([Problem(f"row {row}: {reason}{more}")])
        found = np.full((len(rows), self.runs, len(self.columns)), np.nan)
        sound = np.ones(len(rows), dtype=bool)
        sound[[row for row, _ in missing]] = False
        found[sound] = times.reshape(-1, self.runs, len(self.columns))
        return found

    def _simulator(self) -> _tailspn.NativeSimulator:
        if self._native is None:
            self._native = _native(self._subject, self._until, self._stages)
        return self._native

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the net as PIPE XML, or the plan; the native simulator is created again from it."""
        subject = self._subject.to_pipe() if isinstance(self._subject, Net) else self._subject
        return {**self.__dict__, "_native": None, "_subject": subject}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Read the net again."""
        subject = state["_subject"]
        self.__dict__.update(state, _subject=Net.parse(subject) if isinstance(subject, str) else subject)

    def _seeds(self, rows: Numbers, seed: int | None) -> npt.NDArray[np.uint64]:
        """Return a seed for each row. Without ``seed``, the seeds depend on the number of this call and its parameters."""
        if seed is None:
            # include the parameters, because copies of the simulator in other processes have the same number of calls
            digest = hashlib.blake2b(rows.tobytes(), digest_size=16).digest()
            entropy = [self.seed, self._calls, int.from_bytes(digest, "little")]
            self._calls += 1
        else:
            entropy = [seed]
        return np.asarray(np.random.SeedSequence(entropy).generate_state(len(rows), np.uint64), dtype=np.uint64)

    def __repr__(self) -> str:
        """Return the parameters and the columns."""
        return f"Simulator({', '.join(self.parameters)} -> {self.runs} x {', '.join(self.columns)})"


def simulator(
    subject: Net | Plan | Mapping[str, Any] | str | os.PathLike[str],
    parameters: Sequence[str],
    *,
    until: str | None = None,
    runs: int = 1,
    summary: Summary | None = None,
    stages: bool = False,
    seed: int = 0,
    invalid: Literal["raise", "nan"] = "raise",
) -> Simulator:
    """Return a simulator of a net or a job, for approximate Bayesian computation or the package ``sbi``.

    ``subject`` is a `Net`, a `Plan`, the sections of a plan, or a file. ``parameters`` are rate parameters of the net, or
    keys of the plan such as ``"stage[0].warm.per_mb_s"``, ``"stage[*].warming"`` and ``"job.input_mb"``. ``until`` is the
    goal of a net; the default is the dead marking. ``runs`` is the number of independent runs of each row.

    If ``stages`` is true, a run of a plan of stages also has the time of each stage, from the launch of its first task to the
    end of its last task. ``summary`` takes the times [s], of shape (n, runs), or (n, runs, 1 + stages) if ``stages`` is true,
    and returns the summaries of shape (n, k). If the values of a row do not form a valid net or job, such as a negative rate,
    ``invalid`` selects the reaction: ``"raise"`` raises an error, ``"nan"`` returns NaN.
    """
    return Simulator(
        _subject(subject),
        parameters,
        until=until,
        runs=runs,
        summary=summary,
        stages=stages,
        seed=seed,
        invalid=invalid,
    )


def _subject(given: Net | Plan | Mapping[str, Any] | str | os.PathLike[str]) -> Net | Plan:
    if isinstance(given, Net | Plan):
        return given
    if isinstance(given, Mapping):
        return Plan.from_dict(dict(given))
    return Net.open(given) if os.fspath(given).lower().endswith(_NET_ENDINGS) else Plan.open(given)


def _native(subject: Net | Plan, until: str | None, stages: bool) -> _tailspn.NativeSimulator:
    try:
        if isinstance(subject, Net):
            return _tailspn.NativeSimulator.of_net(subject._native, until)
        if until is not None:
            raise ValueError("`until` applies only to a net; the goal of a job is its end")
        return _tailspn.NativeSimulator.of_plan(subject.text, stages)
    except ValueError as error:
        raise ReadError([Problem(str(error))]) from None


def _array(parameters: Any) -> Numbers:
    """Return the parameters as an array; a tensor is detached and copied to the CPU."""
    if _is_tensor(parameters):
        parameters = parameters.detach().cpu().numpy()
    return np.asarray(parameters, dtype=np.float64)


def _like(values: Numbers, parameters: Any) -> Any:
    """Return a tensor of the same type and device if the parameters are a tensor."""
    if not _is_tensor(parameters):
        return values
    torch = sys.modules["torch"]
    return torch.as_tensor(values, dtype=parameters.dtype, device=parameters.device)


def _is_tensor(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)
