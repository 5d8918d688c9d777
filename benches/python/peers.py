"""Compare tailspn with other simulators of discrete events in Python: rebop, GillesPy2, libRoadRunner and COPASI.

Run it with an interpreter that has the packages of ``requirements.txt`` and a release wheel of tailspn::

    python3 -m venv target/peers
    target/peers/bin/pip install -r benches/python/requirements.txt "maturin>=1.16,<2"
    PATH=$PWD/target/peers/bin:$PATH maturin build --release -i python3 -o target/wheels
    target/peers/bin/pip install --force-reinstall --no-deps target/wheels/tailspn-*.whl
    target/peers/bin/python benches/python/peers.py

GillesPy2 needs a C++ compiler. The nets are those of ``../shared/data/bench-nets``, or of the folder ``$TAILSPN_SHARED``.
It prints a Markdown table and, with ``--json FILE``, writes all measurements.

What is measured:

* Same question. ``tokens``: the mean numbers of tokens of the watched places at four times. ``finished``: the probability that the job has
  finished at these times, or that a place has held so many tokens by then. The peers answer both from the numbers at these times; as they
  have no stopping condition, they get a net that stands still once the place holds the tokens. tailspn runs twice.
* Same number of replications, which also decides how much the start of a call counts; ``start`` is the cost of a call with one replication.
* Processor time of one call, of all threads and child processes. Each program has a process of its own. Imports, reading the net, code
  generation and compilers are not counted. tailspn runs on one thread, as the peers do.
* In turn: tailspn, peer, tailspn, peer, ... A ratio compares a call with the mean of the two of tailspn around it; the table has medians.
* No ratio without the same answer: the means of all replications of a peer must be within 5 standard errors of those of 50,000
  replications of tailspn with another seed. Numbers that too few replications see (variance of the sum below 10) are left out.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import nets
import tools

REFERENCE = 50_000
"""Replications of tailspn that a peer's answer is compared with."""

MOST_ERRORS = 5.0
"""Standard errors by which answers may differ."""

LEAST_VARIANCE = 10.0
"""Least variance of the sum over all replications of a number that is compared."""


@dataclass(frozen=True)
class Case:
    """A net, the question about it, and the number of replications."""

    net: str
    title: str
    horizon: float
    watched: dict[str, list[str]]
    replications: dict[str, int]
    """By program; ``""`` for the others."""
    questions: tuple[str, ...] = ("tokens",)
    stop: tuple[str, int] | None = None
    """A place and a number: the question is the first time at which the place holds so many tokens."""

    @property
    def name(self) -> str:
        """Return what ``--case`` calls it."""
        return self.net if self.stop is None else f"{self.net}-{self.stop[0]}"

    def task(self, folder: Path) -> tools.Task:
        """Return the task of the workers."""
        return tools.Task(str(folder / f"{self.net}.xml"), self.horizon, 4, self.watched, self.stop)


def _cells(kinds: str, count: int) -> dict[str, list[str]]:
    return {f"{kind}{cell}": [f"{kind}{cell}"] for cell in range(1, count + 1) for kind in kinds}


CASES = (
    Case("w3a_10", "queue of at most 10", 10_000.0, {"queue": ["q"]}, {"": 1000}),
    Case("w3a_10", "queue, first full", 200.0, {"queue": ["q"]}, {"": 10_000}, ("finished",), ("q", 10)),
    Case("w2_10", "Kanban system, 10 cards", 1_000.0, _cells("fxyz", 4), {"": 1000}),
    Case("w2_10", "Kanban system, 8 cards at work in cell 1", 4_000.0, {"working": ["x1"]}, {"": 500}, ("finished",), ("x1", 8)),
    Case("w2g_10", "Kanban system, immediate choices", 1_000.0, _cells("fxyz", 4), {"": 1000}),
    Case(
        "w1_10_3",
        "job of 10 maps, 3 reduces",
        200.0,
        {"maps": ["spilled"], "reduces": [f"r{one}_2" for one in range(3)]},
        {"": 2000},
        questions=("tokens", "finished"),
    ),
    Case(
        "w1_160_40",
        "job of 160 maps, 40 reduces",
        200.0,
        {"maps": ["spilled"], "reduces": [f"r{one}_2" for one in range(40)]},
        {"": 200, "COPASI": 20, "GillesPy2": 300},
        questions=("tokens", "finished"),
    ),
)


def processor_time() -> float:
    """Return the CPU time [s] of this process and of its children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def work(name: str, task: tools.Task) -> None:
    """Answer requests on standard input, a line of JSON each, until it ends."""
    answers = os.fdopen(os.dup(1), "w")
    # what packages and compilers print must not come between the answers
    os.dup2(2, 1)
    tool = tools.TOOLS[name](task)
    tool.prepare()
    print(json.dumps({"ready": True}), file=answers, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            print(json.dumps(_answer(tool, **request)), file=answers, flush=True)
        except Exception:
            print(json.dumps({"failure": traceback.format_exc()}), file=answers, flush=True)


def _answer(tool: tools.Tool, question: str, count: int, seed: int) -> dict[str, Any]:
    before = processor_time()
    if isinstance(tool, tools.Tailspn):
        means, variances = (tool.moments if question == "tokens" else tool.finished)(count, seed)
        cost = processor_time() - before
        return {"cost": cost, "means": {question: means.tolist()}, "variances": variances.tolist(), "engine": tool.engine}
    tokens = tool.replicate(count, seed)
    cost = processor_time() - before
    # a job has finished when all its reduces have: the last label of nets that end
    final = tool.task.stop[1] if tool.task.stop is not None else len(list(tool.task.watched.values())[-1])
    finished = tokens[:, -1:, :] == final
    return {"cost": cost, "means": {"tokens": tokens.mean(axis=0).tolist(), "finished": finished.mean(axis=0).tolist()}}


class Worker:
    """A process with one program and one net."""

    def __init__(self, name: str, case: Case, log: TextIO) -> None:
        """Start the process and wait until the model is built."""
        command = [sys.executable, __file__, "--worker", name, "--case", case.name]
        self.name = name
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
        self._read()

    def _read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        answer: dict[str, Any] = json.loads(line) if line else {"failure": "the process has ended"}
        if "failure" in answer:
            raise RuntimeError(f"{self.name}: {answer['failure']}")
        return answer

    def ask(self, question: str, count: int, seed: int) -> dict[str, Any]:
        """Return cost and answer of one call."""
        assert self.process.stdin is not None
        print(json.dumps({"question": question, "count": count, "seed": seed}), file=self.process.stdin, flush=True)
        return self._read()

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def largest_difference(means: Any, count: int, reference: dict[str, Any], question: str) -> float:
    """Return by how many standard errors the means differ at most; NaN if nothing can be compared."""
    differences = [math.nan]
    rows = zip(means, reference["means"][question], reference["variances"], strict=True)
    for row in rows:
        for mean, expected, variance in zip(*row, strict=True):
            if count * variance >= LEAST_VARIANCE:
                differences.append(abs(mean - expected) / math.sqrt(variance * (1 / count + 1 / REFERENCE)))
    return max(differences[1:], default=math.nan)


def compare(
    case: Case, name: str, own: Worker, references: dict[str, Any], rounds: int, log: TextIO
) -> list[dict[str, Any]]:
    """Return the rows of one program on one net."""
    count = case.replications.get(name, case.replications[""])
    peer = Worker(name, case, log)
    start = peer.ask("tokens", 1, 1)["cost"]
    ours: dict[str, list[dict[str, Any]]] = {question: [] for question in references}
    theirs: list[dict[str, Any]] = []
    for turn in range(rounds + 1):
        for question, answers in ours.items():
            answers.append(own.ask(question, count, 100 + turn))
        if turn < rounds:
            theirs.append(peer.ask("tokens", count, 100 + turn))
    peer.close()
    rows = []
    for question, answers in ours.items():
        pooled = [
            [statistics.fmean(values) for values in zip(*one, strict=True)]
            for one in zip(*(answer["means"][question] for answer in theirs), strict=True)
        ]
        costs = [answer["cost"] for answer in answers]
        ratios = [answer["cost"] / ((costs[turn] + costs[turn + 1]) / 2) for turn, answer in enumerate(theirs)]
        rows.append(
            {
                "net": case.net,
                "title": case.title,
                "question": question,
                "program": name,
                "replications": count,
                "start": start,
                "cost": statistics.median(answer["cost"] for answer in theirs),
                "own_cost": statistics.median(costs),
                "engine": answers[0]["engine"],
                "ratio": statistics.median(ratios),
                "ratios": ratios,
                "difference": largest_difference(pooled, count * rounds, references[question], question),
            }
        )
    return rows


def measure(case: Case, folder: Path, rounds: int, programs: list[str], log: TextIO) -> list[dict[str, Any]]:
    """Return the rows of one net."""
    try:
        nets.reactions(nets.read(folder / f"{case.net}.xml"))
    except nets.Inexpressible as reason:
        return [{"net": case.net, "title": case.title, "program": name, "reason": str(reason)} for name in programs]
    own = Worker("tailspn", case, log)
    references = {question: own.ask(question, REFERENCE, 1) for question in case.questions}
    rows = []
    for name in programs:
        try:
            rows += compare(case, name, own, references, rounds, log)
        except RuntimeError as failure:
            print(failure, file=log, flush=True)
            rows.append({"net": case.net, "title": case.title, "program": name, "reason": "failed; see the log"})
        print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    own.close()
    return rows


def seconds(value: float) -> str:
    """Return a time with three digits."""
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def two_digits(ratio: float) -> str:
    """Return a ratio with two digits, without an exponent."""
    return f"{float(f'{ratio:.2g}'):,.10g}"


def table(rows: list[dict[str, Any]]) -> str:
    """Return the rows as a Markdown table."""
    lines = [
        "| net | question | program | replications | start [s] | CPU [s] | tailspn, CPU [s] | engine | ratio | largest difference [SE] |",
        "|---|---|---|---:|---:|---:|---:|---|---:|---:|",
    ]
    for row in rows:
        name = f"{row['title']} (`{row['net']}`)"
        if "reason" in row:
            lines.append(f"| {name} | | {row['program']} | | | | | | cannot: {row['reason']} | |")
            continue
        ratio = two_digits(row["ratio"])
        cells = [name, row["question"], row["program"], f"{row['replications']:,}", seconds(row["start"])]
        cells += [seconds(row["cost"]), seconds(row["own_cost"]), row["engine"]]
        if math.isnan(row["difference"]):
            ratio = "none: too few replications to compare"
        elif row["difference"] > MOST_ERRORS:
            ratio = "none: answers differ"
        cells += [ratio, f"{row['difference']:.1f}"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def machine() -> str:
    """Return the date, the CPU, the load and the versions in a line each."""
    model = platform.processor()
    information = Path("/proc/cpuinfo")
    if information.exists():
        names = [line.partition(":")[2].strip() for line in information.read_text().splitlines() if line.startswith("model name")]
        model = names[0] if names else model
    versions = ", ".join(f"{package} {version}" for package, version in tools.versions().items())
    load = os.getloadavg()[1]
    return f"{datetime.date.today()}; {model}, {os.cpu_count()} cores, load {load:.1f}\nPython {platform.python_version()}; {versions}"


def nets_folder() -> Path:
    """Return the folder of the nets."""
    shared = os.environ.get("TAILSPN_SHARED")
    root = Path(shared) if shared else Path(__file__).resolve().parents[3] / "shared"
    return root / "data" / "bench-nets"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Compare tailspn with rebop, GillesPy2, libRoadRunner and COPASI.")
    peers = [name for name in tools.TOOLS if name != "tailspn"]
    parser.add_argument("--rounds", type=int, default=3, help="calls of each program [default: 3]")
    parser.add_argument("--case", action="append", choices=[case.name for case in CASES], help="net, may be repeated [default: all]")
    parser.add_argument("--program", action="append", choices=peers, help="peer, may be repeated [default: all]")
    parser.add_argument("--json", type=Path, help="file for all measurements")
    parser.add_argument("--log", type=Path, default=Path(os.devnull), help="file for what the programs print")
    parser.add_argument("--worker", choices=list(tools.TOOLS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    folder = nets_folder()
    cases = [case for case in CASES if options.case is None or case.name in options.case]
    if options.worker is not None:
        work(options.worker, cases[0].task(folder))
        return
    if not folder.is_dir():
        parser.exit(2, "peers.py: no nets; they are expected in ../shared/data/bench-nets, or set TAILSPN_SHARED\n")
    rows: list[dict[str, Any]] = []
    with options.log.open("a", encoding="utf-8") as log:
        for case in cases:
            rows += measure(case, folder, options.rounds, options.program or peers, log)
            if options.json is not None:
                options.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    print(machine() + "\n")
    print(table(rows))


if __name__ == "__main__":
    main()
