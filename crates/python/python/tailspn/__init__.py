"""Predict the time of data-parallel jobs, the cost of their stragglers, and the effect of changes.

Every question of the command ``tailspn`` is a function; its keyword arguments have the names of the command's options. The same
seed gives the same numbers.
"""

from tailspn._ask import (
    estimate,
    fit,
    merge,
    query,
    rare,
    simulate,
    solve,
    study,
    tqdm,
    whatif,
    why,
)
from tailspn._errors import (
    Error,
    FileError,
    GpuError,
    InternalError,
    Interrupted,
    Problem,
    ReadError,
    RefusedError,
    UsageError,
)
from tailspn._net import (
    Distribution,
    Net,
    NetBuilder,
    deterministic,
    empirical,
    erlang,
    gamma,
    hyperexponential,
    lognormal,
    pareto,
    uniform,
    weibull,
)
from tailspn._plan import Plan
from tailspn._result import Blocks, Measured, Record, Result, Table, read
from tailspn._simulator import Simulator, simulator
from tailspn._times import CurveTimes, EmpiricalTimes, Times, times

__all__ = [
    "Blocks",
    "CurveTimes",
    "Distribution",
    "EmpiricalTimes",
    "Error",
    "FileError",
    "GpuError",
    "InternalError",
    "Interrupted",
    "Measured",
    "Net",
    "NetBuilder",
    "Plan",
    "Problem",
    "ReadError",
    "Record",
    "RefusedError",
    "Result",
    "Simulator",
    "Table",
    "Times",
    "UsageError",
    "deterministic",
    "empirical",
    "erlang",
    "estimate",
    "fit",
    "gamma",
    "hyperexponential",
    "lognormal",
    "merge",
    "pareto",
    "query",
    "rare",
    "read",
    "simulate",
    "simulator",
    "solve",
    "study",
    "times",
    "tqdm",
    "uniform",
    "weibull",
    "whatif",
    "why",
]
