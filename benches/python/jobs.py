"""Time the simulators of jobs as whole processes, one binary against another.

    python3 benches/python/jobs.py --base COMMIT|BINARY [--new COMMIT|BINARY] [--rounds 7] [--json FILE] [CASE...]

A commit is built first, in a worktree below target/. Each round runs base and new in turn, on one thread. The table shows the median
CPU time (user and system), simulated tasks per second of CPU time, the largest resident memory of a process, the mean job time that
the binary prints (of the first policy), and the median over the rounds of base time / new time: above 1, the new binary is faster.
A ratio is marked with ``!`` if the intervals of the two means do not overlap: then one of the answers is wrong, or the question differs.

``whatif`` of a plan with ``[profile]`` also simulates the net of the job, with as many replications; this time is part of the cases
``..._maps``, ``default_task_by_task`` and ``default_policies``.

Needs no packages. An idle machine gives smaller spreads; ratios hold on a busy one too.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STAGE = """
[job]
input_mb = {tasks}
executors = {slots}
cores = 1

[[stage]]
distribution = {distribution}
tasks = {{ fixed = {tasks} }}
data_mb = {{ fixed = {tasks} }}
cold = {{ fixed_s = 10 }}
warm = {{ fixed_s = 10 }}
"""
STRAGGLERS = """
[stragglers]
share = 0.1
factor = 3
"""
# Five phases a map: the default job (160 maps on 16 slots, 40 reduces on 8) and a larger one
PROFILE = """
[job]
input_mb = {input_mb}
reduces = {reduces}

[profile]

[[cluster.node]]
count = {workers}
"""
NO_COPIES = """
[[policy]]
name = "none"
"""


def stage(tasks: int, slots: int, distribution: str = '"exponential"') -> str:
    return STAGE.format(tasks=tasks, slots=slots, distribution=distribution)


def profile(maps: int, reduces: int, workers: int) -> str:
    return PROFILE.format(input_mb=64 * maps, reduces=reduces, workers=workers)


@dataclass(frozen=True)
class Case:
    """A command on a plan."""

    command: str
    plan: str | None
    options: Sequence[str]
    tasks: int
    """Tasks of a replication, over all policies."""
    replications: int
    new: Sequence[str] | None = None
    """The whole command of the new binary, if its verbs or options differ: words, with ``PLAN`` for the file."""

    def words(self, plan: Path, new: bool) -> list[str]:
        """Return the arguments, with the file of the plan."""
        if new and self.new is not None:
            return [str(plan) if word == "PLAN" else word for word in self.new]
        files = [str(plan)] if self.plan is not None else []
        return [self.command, *files, *self.options, "--reps", str(self.replications), "--threads", "1", "--seed", "1", "--json", "--quiet"]


FIVE = "{ erlang = 5 }"
CASES: Mapping[str, Case] = {
    "8000_on_400": Case("estimate", stage(8_000, 400), (), 8_000, 4_000),
    "8000_on_400_five_phases": Case("estimate", stage(8_000, 400, FIVE), (), 8_000, 4_000),
    "8000_on_400_lognormal": Case("estimate", stage(8_000, 400, "{ lognormal = { cv = 0.5 } }"), (), 8_000, 4_000),
    "8000_on_400_stragglers": Case("estimate", stage(8_000, 400) + STRAGGLERS, (), 8_000, 4_000),
    "8000_on_400_copies": Case("estimate", stage(8_000, 400), ("--speculation", "spark4"), 16_000, 100),
    "8000_on_400_maps": Case("whatif", profile(8_000, 400, 100) + NO_COPIES, (), 8_400, 200),
    "655360_on_8000": Case("estimate", stage(655_360, 8_000), (), 655_360, 40),
    "655360_on_8000_five_phases": Case("estimate", stage(655_360, 8_000, FIVE), (), 655_360, 40),
    "8000_on_400_policies": Case("whatif", stage(8_000, 400) + STRAGGLERS, (), 32_000, 60),
    "default_process": Case("estimate", None, (), 200, 2_000),
    "default_folded": Case("estimate", None, ("--method", "simulate"), 200, 100_000),
    "default_task_by_task": Case("whatif", profile(160, 40, 4) + NO_COPIES, (), 200, 10_000),
    "default_unfolded": Case("estimate", None, ("--method", "simulate", "--no-fold"), 200, 10_000),
    "default_stragglers": Case("estimate", None, ("--method", "simulate", "--stragglers", "0.1:3"), 200, 5_000),
    "default_policies": Case("whatif", profile(160, 40, 4), (), 800, 2_000),
    "cluster_policies": Case("whatif", None, (), 1_920, 500),
    "replayed_log": Case("whatif", None, ("tests/data/trace/speculation.spark.gz",), 880, 2_000),
}


@dataclass(frozen=True)
class Run:
    """One process."""

    cpu_s: float
    memory_mb: float
    mean_s: float
    low_s: float
    high_s: float


def mean_job_time(answer: Mapping[str, object]) -> Mapping[str, float]:
    """Return the mean job time of the first policy in the JSON of an answer, with its interval."""
    for path in (("usual_mean",), ("job_time", "mean"), ("policies", 0, "job_time_s")):
        value: object = answer
        for key in path:
            try:
                value = value[key]  # type: ignore[index]
            except (KeyError, IndexError, TypeError):
                break
        else:
            return value  # type: ignore[return-value]
    raise SystemExit(f"no mean job time in an answer with the keys {sorted(answer)}")


def run(binary: str, words: Sequence[str]) -> Run:
    """Run a process to its end."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen([binary, *words], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.PIPE)
        assert process.stderr is not None
        errors = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"{binary} {' '.join(words)}: {errors.decode()}")
        output.seek(0)
        mean = mean_job_time(json.load(output))
        # a replay without copies has no spread
        low, high = (mean["value"] if mean[end] is None else mean[end] for end in ("low", "high"))
        return Run(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, mean["value"], low, high)


def measure(case: Case, binaries: Sequence[str], rounds: int) -> list[list[Run]]:
    """Return the runs of each binary, in turn."""
    runs: list[list[Run]] = [[] for _ in binaries]
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder) / "plan.toml"
        plan.write_text(case.plan or "")
        for _ in range(rounds):
            for number, binary in enumerate(binaries):
                runs[number].append(run(binary, case.words(plan, new=number == 1)))
    return runs


def row(name: str, case: Case, runs: Sequence[Sequence[Run]]) -> str:
    """Return a row of the table."""
    cells = [name]
    for of_binary in runs:
        cpu = statistics.median(r.cpu_s for r in of_binary)
        rate = case.tasks * case.replications / cpu / 1e6
        cells += [f"{cpu:.3f}", f"{rate:.1f}", f"{max(r.memory_mb for r in of_binary):.0f}", f"{of_binary[0].mean_s:.2f}"]
    if len(runs) == 2:
        base, new = runs
        apart = base[0].high_s < new[0].low_s or new[0].high_s < base[0].low_s
        ratio = statistics.median(b.cpu_s / n.cpu_s for b, n in zip(base, new, strict=True))
        cells.append(f"{ratio:.2f}{' !' if apart else ''}")
    return "| " + " | ".join(cells) + " |"


def built(given: str) -> tuple[str, str]:
    """Return the path of a binary, and its name in the table: a commit is built first, in a worktree of its own."""
    if Path(given).is_file():
        return str(Path(given).resolve()), given
    commit = subprocess.run(["git", "rev-parse", "--short", f"{given}^{{commit}}"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    tree = ROOT / "target" / "worktrees" / commit
    if not tree.exists():
        subprocess.run(["git", "worktree", "add", "--detach", str(tree), commit], cwd=ROOT, check=True)
    subprocess.run(["cargo", "build", "--release", "--locked", "--bin", "tailspn"], cwd=tree, check=True)
    return str(tree / "target" / "release" / "tailspn"), commit


def main() -> None:
    """Read the arguments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", required=True, help="commit or binary to compare with")
    parser.add_argument("--new", help="commit or binary to compare")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path, help="file for all runs")
    parser.add_argument("cases", nargs="*", metavar="CASE", help="cases to run [default: all]")
    arguments = parser.parse_args()
    unknown = set(arguments.cases) - set(CASES)
    if unknown:
        parser.error(f"unknown case {', '.join(sorted(unknown))}; there are {', '.join(CASES)}")
    given = [arguments.base] + ([arguments.new] if arguments.new else [])
    binaries, names = zip(*(built(g) for g in given), strict=True)
    print(f"{' against '.join(names)}; {arguments.rounds} rounds, {platform.machine()}, {os.cpu_count()} cores\n")
    columns = ["case"] + [f"{c}{of}" for of in (["", ", new"] if arguments.new else [""]) for c in ("CPU [s]", "tasks [million/s]", "memory [MB]", "mean [s]")]
    columns += ["base / new"] if arguments.new else []
    print("| " + " | ".join(columns) + " |\n|---|" + "---:|" * (len(columns) - 1))
    everything = {}
    for name in arguments.cases or CASES:
        runs = measure(CASES[name], binaries, arguments.rounds)
        everything[name] = [[vars(r) for r in of_binary] for of_binary in runs]
        print(row(name, CASES[name], runs), flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps({"binaries": names, "runs": everything}, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
