#!/usr/bin/env python3
"""Compares `tailspn net solve` with the reference values of the Quantitative Verification Benchmark Set.

    compare.py run PATH/TO/tailspn PATH/TO/qcomp [--model NAME]... [--least STATES] [--most STATES] [--seconds LIMIT] >> ROWS
    compare.py table ROWS

`run` prints a line of JSON for each property that has a reference value, asked in a process of its own, and for the states of sets
without one. `table` makes the Markdown table of docs/jani.md from such lines; of two lines about the same property the last counts.

References are the values of index.json and, where it has none, those of Storm's result files: of "sound" runs where there is
one, else of the standard runs, whose linear equations end at a relative change of 1e-6.
"""
import argparse
import json
import re
import subprocess
import sys
import time
from pathlib import Path

# asked where a set has a reference count and no reference value
CHEAP = {"cluster": "qos3", "mapk_cascade": "activated_time"}


def read(path):
    return json.loads(path.read_text(encoding="utf-8-sig"))


def number(value):
    """A reference value as a number: a fraction has its decimal value, a bracket stands for its centre."""
    if isinstance(value, dict):
        if "approx" in value:
            return number(value["approx"])
        if "lower" in value and "upper" in value:
            return (number(value["lower"]) + number(value["upper"])) / 2
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def storm_results(folder, file, values):
    """Per property: value, seconds and kind of run, the sound run first."""
    found = {}
    for path in sorted(folder.glob("results/Storm*.json"), key=lambda path: "sound" not in path.name):
        result = read(path)
        given = {value["name"]: value["value"] for value in result.get("open-parameter-values", [])}
        if "exact" in path.name or Path(result["file"]).name != file or given != values:
            continue
        for part in result.get("data", []):
            value = number(part.get("value"))
            if "property" not in part or value is None:
                continue
            seconds = [value["value"] for value in part["values"] if value["name"] == "time"]
            kind = "sound" if "sound" in path.name else "standard"
            found.setdefault(part["property"], (value, seconds[0] if seconds else None, kind))
    return found


def references(folder, model, entry, values):
    """Per property: value, seconds of Storm, and where the value is from."""
    found = storm_results(folder, model["file"], values)
    for result in entry.get("results", []):
        value = number(result.get("value"))
        if value is not None:
            name = result["property"]
            found[name] = (value, found.get(name, (None, None, None))[1], "index")
    return found


def solve(binary, file, values, options, seconds):
    command = [binary, "net", "solve", str(file), "--json", "--quiet"]
    for name, value in values.items():
        command += ["--param", f"{name}={value}"]
    started = time.monotonic()
    try:
        done = subprocess.run(command + options, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return None, f"above {seconds:.0f} s", seconds
    taken = time.monotonic() - started
    if not done.stdout.strip():
        return None, (done.stderr.strip().splitlines() or ["no answer"])[0], taken
    return json.loads(done.stdout), None, taken


def rows(args, folder, model, entry):
    values = {value["name"]: value["value"] for value in entry.get("values", [])}
    counts = sorted({state["number"] for state in entry.get("states", [])})
    file = folder / model["file"]
    if not any(args.least <= count <= args.most for count in counts) or not file.exists():
        return
    set_name = ", ".join(f"{key}={value}" for key, value in values.items())
    known = references(folder, model, entry, values) or {CHEAP.get(folder.name): (None, None, None)}
    for name, (value, storm_s, kind) in sorted(known.items()):
        if name is None or (args.property and name not in args.property):
            continue
        answer, trouble, taken = solve(args.binary, file, values, ["--property", name], args.seconds)
        row = {"model": f"{model['file'].removesuffix('.jani')} {set_name}".strip(), "reference_states": counts,
               "property": name, "reference": value, "kind": kind, "storm_s": storm_s, "taken_s": round(taken, 2)}
        if answer is None:
            row["trouble"] = trouble
        else:
            space, found = answer["state_space"], answer["properties"][0]
            row |= {"states": space["tangible"], "vanishing": space["vanishing"], "value": found["value"],
                    "trouble": found.get("note")}
            if space["vanishing"]:
                untimed, _, _ = solve(args.binary, file, values, ["--untimed", "--ignore-priorities"], args.seconds)
                row["markings"] = untimed and untimed["state_space"]["markings"]
        yield row


def run(args):
    for index in sorted(args.benchmarks.glob("*/*/index.json")):
        if args.model and index.parent.name not in args.model:
            continue
        for model in read(index)["files"]:
            if not model["file"].endswith(".jani"):
                continue
            for entry in model.get("open-parameter-values") or [model]:
                for row in rows(args, index.parent, model, entry):
                    print(json.dumps(row), flush=True)


def largest(rows, kinds):
    """The largest relative difference from references of these kinds, with the property's name."""
    found = [(abs(row["value"] - row["reference"]) / (abs(row["reference"]) or 1), row["property"]) for row in rows
             if row["kind"] in kinds and row.get("value") is not None]
    return "{:.0e} ({})".format(*max(found)) if found else ""


def table(args):
    sets = {}
    for line in args.rows:
        row = json.loads(line)
        sets.setdefault(row["model"], {})[row["property"]] = row
    print("| model | states | reference | values | from exact and sound | from standard runs | ours [s] | Storm [s] |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    by_size = sorted(sets.items(), key=lambda one: next(iter(one[1].values()))["reference_states"])
    for model, known in sorted(by_size, key=lambda one: re.split(r"[ .]", one[0])[0]):
        rows = list(known.values())
        answered = [row for row in rows if row.get("value") is not None and row["reference"] is not None]
        first = next((row for row in rows if "states" in row), rows[0])
        count = first.get("markings") or first.get("states")
        shown = "" if count is None else f"{count:,}"
        if first.get("vanishing"):
            shown += f" ({first['states']:,} tangible)"
        reference = ", ".join(f"{count:,}" for count in first["reference_states"])
        ours, storm = ("", "") if not answered else (
            f"{sum(row['taken_s'] for row in answered):.1f}", f"{sum(row['storm_s'] or 0 for row in answered):.1f}")
        late = "".join(f"; {row['property']}: {row['trouble']}" for row in rows if row.get("value") is None)
        print(f"| {model} | {shown} | {reference} | {len(answered)}{late} | {largest(answered, ['index', 'sound'])} "
              f"| {largest(answered, ['standard'])} | {ours} | {storm} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    running = commands.add_parser("run")
    running.set_defaults(command=run)
    running.add_argument("binary")
    running.add_argument("benchmarks", type=Path)
    running.add_argument("--model", action="append", default=[])
    running.add_argument("--property", action="append", default=[])
    running.add_argument("--least", type=int, default=0)
    running.add_argument("--most", type=int, default=10_000_000)
    running.add_argument("--seconds", type=float, default=900)
    showing = commands.add_parser("table")
    showing.set_defaults(command=table)
    showing.add_argument("rows", type=argparse.FileType())
    args = parser.parse_args()
    args.command(args)


if __name__ == "__main__":
    sys.exit(main())
