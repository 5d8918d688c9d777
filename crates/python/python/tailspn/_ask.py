"""The functions of the package. Each runs a command of ``tailspn``; the command's options are its keyword arguments."""

from __future__ import annotations

import difflib
import os
import tempfile
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from tailspn import _tailspn
from tailspn._errors import InternalError, Interrupted, Problem, error_of
from tailspn._net import Net
from tailspn._plan import Plan
from tailspn._result import Result

Input = "str | os.PathLike[str] | Net | Plan | Mapping[str, Any]"
"""A file, a net, a plan, or the sections of a plan."""

Progress = Callable[[int, int, str], object]
"""A function of the completed amount, the planned amount (0 if unknown), and the unit, such as ``replications``."""

# options that only the command line has, for the form and the destination of the output
_PRINTING = {"json", "csv", "markdown", "verbose", "help", "force", "samples"}


# commands that take a net in memory
_TAKE_NETS = {"query", "rare", "simulate", "solve"}

# options that refer to the file of a net
_OF_FILES = {"property", "read_as", "net", "max_file", "param"}

# commands that take a plan in memory; a plan that was read from a file may refer to files beside it
_HAVE_DEMOS = {"estimate", "whatif"}  # without an input, they answer for a built-in job
_TAKE_PLANS = {"estimate", "whatif", "study"}

# commands whose replications `distributed` can divide among workers
_SHARED = {"simulate", "estimate", "whatif", "study"}


def _name_of(option: str) -> str:
    return option.replace("-", "_")


# commands below a verb of the command line
_VERBS = {name: f"net {name}" for name in ("simulate", "solve", "query", "rare")} | {"fit": "tool fit", "merge": "tool merge"}


def _options(command: str) -> dict[str, tuple[str, str, list[str], str]]:
    rows = _tailspn.options(_VERBS.get(command, command)) or []
    left_out = _PRINTING | ({"shard", "output"} if command in _SHARED else set())
    return {_name_of(row[0]): row for row in rows if row[0] not in left_out}


def _text(value: Any) -> str:
    if isinstance(value, timedelta):
        return f"{value.total_seconds()!r}s"
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return str(value)


def _values(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [f"{key}={_text(one)}" for key, one in value.items()]
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        return [_text(one) for one in value]
    return [_text(value)]


def _arguments(command: str, options: Mapping[str, Any]) -> list[str]:
    """Return options as arguments of the command line. Raises TypeError for an unknown option."""
    known = _options(command)
    arguments: list[str] = []
    for name, value in options.items():
        row = known.get(name)
        if row is None:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean `{near[0]}`?" if near else ""
            raise TypeError(f"{command}() has no option `{name}`{hint}")
        if value is None or value is False:
            continue
        option, shape = row[0], row[1]
        if shape == "flag":
            arguments.append(f"--{option}")
        elif shape == "values":
            arguments.extend(f"--{option}={one}" for one in _values(value))
        else:
            arguments.append(f"--{option}={','.join(_values(value))}")
    return arguments


def _path_of(given: Any, folder: str) -> str:
    """Return the path of an input; an input that is not a file is written to the folder first."""
    if isinstance(given, Plan):
        if given.path is not None:
            return given.path
        path = os.path.join(folder, given.name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(given.text)
        return path
    if isinstance(given, Net):
        if given.path is not None:
            return given.path
        path = os.path.join(folder, "net.xml")
        given.to_pipe(path)
        return path
    return str(os.fspath(given))


def _given(
    command: str, one: Any, options: Mapping[str, Any], folder: str
) -> str | _tailspn.NativeNet | tuple[str, str]:
    """Return an input for the native half: a net or a plan in memory, or the path of a file."""
    if isinstance(one, Net):
        takes_it = command in _TAKE_NETS and (one.path is None or not _OF_FILES & options.keys())
        # a study of a net in a file names the file
        if takes_it or (command == "study" and one.path is None):
            return one._native
    if isinstance(one, Mapping):
        one = Plan.from_dict(dict(one))
    if isinstance(one, Plan) and one.path is None and command in _TAKE_PLANS:
        return one.name, one.text
    return _path_of(one, folder)


def _outcome(
    command: str,
    inputs: Sequence[Any],
    options: Mapping[str, Any],
    *,
    words: Sequence[str] = (),
    samples: bool = False,
    progress: Progress | None = None,
    shard: str | None = None,
    parts: Sequence[bytes] = (),
) -> _tailspn.Outcome:
    with tempfile.TemporaryDirectory(prefix="tailspn") as folder:
        given = [_given(command, one, options, folder) for one in inputs if one is not None]
        if command in _HAVE_DEMOS and not given:
            options = {**options, "demo": True}
        words_of_options = _arguments(command, options)
        if shard is not None:
            words_of_options.append(f"--shard={shard}")
        return _tailspn.run(_VERBS.get(command, command), words_of_options, given, list(words), samples, progress, list(parts))


def _ask(
    command: str,
    inputs: Sequence[Any],
    options: Mapping[str, Any],
    *,
    words: Sequence[str] = (),
    samples: bool = False,
    progress: Progress | None = None,
) -> Result:
    """Run a command; ``words`` are arguments after the files."""
    return _result(_outcome(command, inputs, options, words=words, samples=samples, progress=progress))


def check_shared(function: Callable[..., Any], options: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the command of a distributed question and its options. Raises TypeError if the question cannot be distributed."""
    command = getattr(function, "__name__", "")
    if command not in _SHARED or function is not globals()[command]:
        raise TypeError(f"only {', '.join(sorted(_SHARED))} can be distributed, not {function!r}")
    left = {name: value for name, value in options.items() if name not in ("samples", "progress")}
    _arguments(command, left)
    return command, left


def _shared(function: Callable[..., Any], inputs: Sequence[Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments with which `_outcome` runs a shard of a distributed question."""
    command, left = check_shared(function, options)
    # send the net itself, because other machines may not have its file
    inputs = [Net.parse(one.to_pipe()) if isinstance(one, Net) else one for one in inputs]
    return {"command": command, "inputs": inputs, "options": left, "samples": bool(options.get("samples"))}


def part(function: Callable[..., Any], inputs: Sequence[Any], options: Mapping[str, Any], shard: str) -> bytes:
    """Run one shard of a question; ``shard`` is the number of the shard and the number of all shards, such as ``2/8``."""
    outcome = _outcome(**_shared(function, inputs, options), shard=shard)
    if outcome.part is not None and not outcome.problems and outcome.interruption is None and outcome.exit == 0:
        return outcome.part
    _result(outcome)
    raise InternalError([Problem("the shard returned no result")])


def merged(
    function: Callable[..., Any], inputs: Sequence[Any], options: Mapping[str, Any], parts: Sequence[bytes]
) -> Result:
    """Merge all shards of a question, or the first shards."""
    if not parts:
        raise ValueError("no parts given")
    return _result(_outcome(**_shared(function, inputs, options), parts=parts))


def _result(outcome: _tailspn.Outcome) -> Result:
    if outcome.panic is not None:
        raise InternalError([Problem(outcome.panic)])
    result = None
    if outcome.found is not None:
        result = Result(
            outcome.found,
            samples=outcome.samples,
            remarks=tuple(outcome.remarks),
            exit_code=outcome.exit or 0,
            data=outcome.data,
        )
    interruption = outcome.interruption
    if isinstance(interruption, KeyboardInterrupt):
        raise Interrupted(result) from interruption
    if interruption is not None:
        raise interruption
    if outcome.problems:
        problems = [Problem(message, help, *(place or ())) for message, help, place in outcome.problems]
        raise error_of(outcome.exit or 1, problems, result)
    if result is None:
        raise InternalError([Problem("the command returned no result")])
    for remark in outcome.remarks:
        if remark.startswith("warning:"):
            warnings.warn(remark.removeprefix("warning:").strip(), stacklevel=4)
    return result


def simulate(net: Any, *, samples: bool = False, progress: Progress | None = None, **options: Any) -> Result:
    """Simulate a net and return times, averages and rewards with intervals.

    ``net`` is a `Net` or a file. If ``samples`` is true, ``result.samples`` has the times of all replications that reached
    the goal: a NumPy array of float64, shape (reached,), in seconds and in the order of the replications.
    """
    return _ask("simulate", [net], options, samples=samples, progress=progress)


def solve(net: Any, *, progress: Progress | None = None, **options: Any) -> Result:
    """Compute exact answers without simulation: states, times to a goal, the steady state, probabilities at given times."""
    return _ask("solve", [net], options, progress=progress)


def query(net: Any, *formulas: str, progress: Progress | None = None, **options: Any) -> Result:
    """Answer queries in PRISM syntax, such as ``"P=? [ F<=10 #(done) >= 1 ]"``, on the states of a net.

    ``net`` is a `Net` or a file. The state space is explored once for all formulas. ``result.queries`` has a record per
    formula, with its ``value`` (None if it is infinite) and, if the formula has a bound, the verdict ``holds``.
    ``exit_code`` is 8 if a bound does not hold. Raises RefusedError if a formula has no answer.
    """
    return _ask("query", [net], options, words=formulas, progress=progress)


def rare(net: Any, *, progress: Progress | None = None, **options: Any) -> Result:
    """Estimate the probability of a rare event by splitting.

    ``net`` is a `Net` or a file. The event is set by ``until`` with ``avoid`` or ``within``, or by ``beyond`` [s].
    ``result.probability`` has the value and its interval, and ``result.levels`` has the share of the walks that reached
    each level.
    """
    return _ask("rare", [net], options, progress=progress)


def estimate(*inputs: Any, progress: Progress | None = None, **options: Any) -> Result:
    """Estimate the time of a job, its distribution and its parts.

    ``inputs`` are one plan, one table of runs or of tasks, or logs of runs of the job, to which a plan is fitted; without an
    input, the default job.
    If the first log is of a run in progress, the result is the time left, from what the other runs took.
    """
    return _ask("estimate", inputs, options, progress=progress)


def whatif(plan_or_log: Any = None, *, progress: Progress | None = None, **options: Any) -> Result:
    """Compare speculation policies on a planned job, a cluster, or the log of a finished job."""
    return _ask("whatif", [plan_or_log], options, progress=progress)


def study(*inputs: Any, progress: Progress | None = None, **options: Any) -> Result:
    """Find the settings that matter, or the cheapest that suffice.

    ``inputs`` are a plan with axes, the plan of a job, logs of runs of a job, or a net. With ``deadline``, the result is the
    cheapest configuration that meets it; with ``method``, and for a net, the effect of each setting.
    """
    return _ask("study", inputs, options, progress=progress)


def fit(*logs: Any, progress: Progress | None = None, **options: Any) -> Result:
    """Fit a plan to the logs of a job; the plan is ``result.plan``."""
    return _ask("fit", logs, options, progress=progress)


def why(*files: Any, progress: Progress | None = None, **options: Any) -> Result:
    """Explain a run, or the difference of two.

    ``files`` are the log of a job, with samples of its nodes, progress reports or strace logs; or two logs, results or plans.
    ``result.run`` has what the log recorded, and ``result.advice`` what would have made the job shorter.
    """
    return _ask("why", files, options, progress=progress)


def merge(*shards: Any, output: str | os.PathLike[str], progress: Progress | None = None, **options: Any) -> Result:
    """Merge the shards of a sweep into the folder ``output``."""
    return _ask("merge", shards, {**options, "output": output}, progress=progress)


def _with_options(function: Callable[..., Result]) -> None:
    """Add the options of the command to its docstring."""
    rows = _options(function.__name__)
    listed = "\n".join(f"    {name}: {row[3]}" for name, row in rows.items())
    function.__doc__ = f"{function.__doc__}\n\n    Options:\n{listed}\n"


for _function in (
    simulate,
    solve,
    query,
    rare,
    estimate,
    whatif,
    study,
    why,
    fit,
    merge,
):
    _with_options(_function)


def tqdm(**settings: Any) -> Progress:
    """Return a progress callback that shows a progress bar of the package tqdm; ``settings`` are passed to the bar."""
    from tqdm.auto import tqdm as bar_of

    bar = bar_of(**settings)

    def report(done: int, planned: int, noun: str) -> None:
        bar.total = planned or None
        bar.unit = f" {noun}"
        bar.n = done
        bar.refresh()
        if planned and done >= planned:
            bar.close()

    return report
