"""Coverage of the printed confidence intervals: each command runs with many seeds, and its intervals are compared with the truth.

    python benches/python/coverage.py target/release/tailspn [--seeds 300] [--only NAME]

The truth of a number is its value in one run of the same command that is 1,000 times as long (100 times for the long ones), with another seed. All numbers
of the JSON that have an interval are collected. The exit status is 1 if a kind of interval covers the truth too rarely: with 300
seeds and a level of 95%, in fewer than 271 of 300 runs (3.5 standard errors below 95%).
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LEVEL = 0.95
# keys that name a row of a list
ROW_NAMES = ("name", "key", "p", "at_s", "time_s", "point")
LONGER = 1000
# runs with many replications need no truth that is a thousand times as precise
LESS = 100
TRUE_SEED = 987_654_321

JOB = """[phases]
maps = 6
reduces = 4
means_s = [3.0, 2.0, 6.0, 5.0, 2.0, 4.0, 5.0, 7.0, 9.0]
[job]
deadline_s = 60
[model]
slots = false
"""
COPIED = """[phases]
maps = 8
reduces = 2
means_s = [3.0, 2.0, 6.0, 20.0, 2.0, 4.0, 5.0, 7.0, 9.0]
[[cluster.node]]
count = 4
[stragglers]
share = 0.1
factor = 4.0
"""
AXES = """[sweep]
base = "job.toml"
[[axis]]
key = "phases.means_s[2]"
name = "read"
from = 3.0
to = 9.0
[[axis]]
key = "phases.means_s[3]"
name = "gpu"
from = 2.0
to = 8.0
"""

QUEUE = str(ROOT / "models/textbook/mm1k.xml")
FULL = ["--until", "#(queue) >= 4"]
# name: the command without seed and size, its option of size with the number, and how many times as long the true run is
COMMANDS: dict[str, tuple[list[str], dict[str, int], int]] = {
    "time to a goal": (["net", "simulate", QUEUE, *FULL, "--method", "simulate"], {"--reps": 400}, LONGER),
    "time to a goal, 100 replications": (["net", "simulate", QUEUE, *FULL, "--method", "simulate"], {"--reps": 100}, LONGER),
    "goal within a time": (["net", "simulate", QUEUE, *FULL, "--within", "4", "--method", "simulate"], {"--reps": 100}, LONGER),
    "averages": (
        ["net", "simulate", QUEUE, "--until", "horizon", "--horizon", "20", "--tokens", "--throughput", "--reward", "jobs=#(queue)"]
        + ["--at", "3:#(queue)", "--method", "simulate"],
        {"--reps": 100},
        LONGER,
    ),
    "steady state": (
        ["net", "simulate", QUEUE, "--steady", "--tokens", "--throughput", "--method", "simulate"],
        {"--steady-firings": 100_000},
        LESS,
    ),
    "steady state, one run": (
        ["net", "simulate", QUEUE, "--steady", "--steady-runs", "1", "--tokens", "--throughput", "--method", "simulate"],
        {"--steady-firings": 100_000},
        LESS,
    ),
    "job": (["estimate", "job.toml", "--method", "simulate"], {"--reps": 400}, LONGER),
    "sweep": (["sweep"], {"sweep-{}.toml": 400}, LONGER),
    "derivatives, paths": (["sensitivity", "axes.toml"], {"--reps": 400}, LONGER),
    "derivatives of p90, paths": (["sensitivity", "axes.toml", "--measure", "p90"], {"--reps": 4000}, LESS),
    "derivatives, likelihood": (["sensitivity", QUEUE, *FULL, "--transitions"], {"--reps": 20_000}, LESS),
    "derivatives of a probability": (
        ["sensitivity", QUEUE, *FULL, "--within", "4", "--transitions"],
        {"--reps": 2000},
        LONGER,
    ),
    "one at a time": (["sensitivity", "axes.toml", "--method", "each"], {"--reps": 400}, LONGER),
    "Morris": (["sensitivity", "axes.toml", "--method", "morris", "--reps", "200"], {"--rows": 20}, LONGER),
    "Sobol": (["sensitivity", "axes.toml", "--method", "sobol", "--reps", "32"], {"--rows": 64}, LONGER),
    "what-if": (["whatif", "copied.toml"], {"--reps": 200}, LONGER),
    "rare event": (
        ["net", "rare", QUEUE, "--until", "#(queue) >= 5", "--within", "1", "--effort", "100"],
        {"--batches": 12},
        LONGER,
    ),
}


def intervals(found, path=()):
    """Yields the path of each number with an interval, its value, and its ends (None: no interval)."""
    if isinstance(found, dict):
        if {"value", "low", "high"} <= found.keys():
            yield path, found["value"], found["low"], found["high"]
        else:
            for key, inner in found.items():
                yield from intervals(inner, (*path, key))
    elif isinstance(found, list):
        for place, inner in enumerate(found):
            # rows may be sorted by their values
            names = [inner[key] for key in ROW_NAMES if key in inner] if isinstance(inner, dict) else []
            yield from intervals(inner, (*path, str(names[0] if names else place)))


def run(tool, folder, command, sizes, seed, times=1):
    options = []
    for option, size in sizes.items():
        if option.startswith("--"):
            options += [option, str(size * times)]
        else:
            # the plan of a sweep states its replications
            plan = AXES.replace("[sweep]", f"[sweep]\nreplications = {size * times}\nseed = {seed}")
            options.append(option.format(f"{size * times}-{seed}"))
            (Path(folder) / options[-1]).write_text(plan)
    more = ["--json", "--quiet"] + ([] if command[0] == "sweep" else ["--seed", str(seed)])
    if times == 1:
        more += ["--threads", "1"]
    done = subprocess.run([tool, *command, *options, *more], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(done.args)}: exit {done.returncode}\n{done.stderr}")
    return {path: numbers for path, *numbers in intervals(json.loads(done.stdout))}


def study(tool, folder, name, seeds):
    """Prints the coverage of each number of a command; returns true if none covers too rarely."""
    command, sizes, longer = COMMANDS[name]
    truth = run(tool, folder, command, sizes, TRUE_SEED, longer)
    covered, withheld = defaultdict(int), defaultdict(int)
    with ThreadPoolExecutor() as pool:
        for found in pool.map(lambda seed: run(tool, folder, command, sizes, seed), range(seeds)):
            for path, (_, low, high) in found.items():
                if low is None or high is None:
                    withheld[path] += 1
                elif path in truth:
                    covered[path] += low <= truth[path][0] <= high
    fewest = math.floor(seeds * LEVEL - 3.5 * math.sqrt(seeds * LEVEL * (1 - LEVEL)))
    fine = True
    for path in truth:
        have = seeds - withheld[path]
        if have == 0:
            continue
        low = covered[path] < fewest * have / seeds
        fine &= not low
        note = f", {withheld[path]} without an interval" if withheld[path] else ""
        print(f"{name:33} {'/'.join(path):52} {covered[path]:4} of {have}{note}{'  TOO FEW' if low else ''}", flush=True)
    return fine


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool", help="the program `tailspn`")
    parser.add_argument("--seeds", type=int, default=300)
    parser.add_argument("--only", choices=COMMANDS, help="one command")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, text in [("job.toml", JOB), ("copied.toml", COPIED), ("axes.toml", AXES)]:
            (Path(folder) / name).write_text(text)
        names = [asked.only] if asked.only else list(COMMANDS)
        fine = [study(str(Path(asked.tool).resolve()), folder, name, asked.seeds) for name in names]
    sys.exit(not all(fine))


if __name__ == "__main__":
    main()
