"""Compares exports with Storm: the nets of models/ as JANI and in the language of PRISM, solved by stormpy and by tailspn.

    pip install stormpy
    python tests/stormpy/compare.py target/debug/tailspn [NET ...]

For up to 12 places of each net: the probability of holding a token, in the long run and after one second. Both must agree to 1e-6.
Nets that model checkers cannot say, and those with more than 20,000 states, are skipped with the reason.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import stormpy

TOLERANCE = 1e-6
MOST_PLACES = 12
MOST_STATES = 20_000


def run(*args):
    return subprocess.run([str(arg) for arg in args], capture_output=True, text=True)


def storm(path, questions):
    """Answers of Storm, and how many states it built."""
    env = stormpy.Environment()
    if path.suffix == ".jani":
        model, _ = stormpy.parse_jani_model(str(path))
        parse = lambda text: stormpy.parse_properties(text, model)
    else:
        model = stormpy.parse_prism_program(str(path), prism_compatibility=True)
        parse = lambda text: stormpy.parse_properties(text, model)
    properties = [parse(question)[0] for question in questions]
    built = stormpy.build_model(model, properties)
    initial = built.initial_states[0]
    values = [stormpy.model_checking(built, one, environment=env).get_value(initial) for one in properties]
    return values, built.nr_states


def compare(tool, net, folder):
    """How many numbers were compared, or why none."""
    solved = run(tool, "net", "solve", net, "--json", "--steady", "--no-fold", "--max-states", MOST_STATES)
    if solved.returncode != 0:
        return 0, solved.stderr.strip().splitlines()[-1] if solved.stderr.strip() else "not solved"
    found = json.loads(solved.stdout)
    found = found.get("result", found)
    places = [row["name"] for row in found["steady"]["tokens"]]
    measures = [arg for i, place in enumerate(places[:MOST_PLACES]) for arg in ("--measure", f"m{i}=#({place}) >= 1")]
    solved = run(tool, "net", "solve", net, "--json", "--steady", "--at", "1", "--no-fold", *measures)
    if solved.returncode != 0:
        return 0, solved.stderr.strip()
    found = json.loads(solved.stdout)
    found = found.get("result", found)
    ours = [row["value"] for row in found["steady"]["measures"]] + [row["value"] for row in found["at"][0]["measures"]]
    compared = 0
    reason = "not exported"
    for format in ("jani", "prism"):
        path = folder / f"net.{format}"
        written = run(tool, "net", "convert", net, path, "--force")
        if written.returncode != 0:
            reason = written.stderr.strip()
            continue
        jani = folder / "net.jani"
        names = [variable["name"] for variable in json.loads(jani.read_text())["variables"]][: len(measures) // 2]
        best = "max" if json.loads(jani.read_text())["type"] == "ma" else ""
        steady = [f"LRA{best}=? [ ({name} >= 1) ]" for name in names]
        # Storm answers times from one second on for CTMCs only
        after = [f"P=? [ F[1,1] ({name} >= 1) ]" for name in names] if not best else []
        theirs, states = storm(path, steady + after)
        for question, mine, other in zip(steady + after, ours, theirs):
            assert abs(mine - other) <= TOLERANCE, f"{net} as {format}: {question} is {other}, here {mine}"
            compared += 1
    return compared, reason


def main():
    tool = pathlib.Path(sys.argv[1])
    nets = sys.argv[2:] or sorted(str(path) for path in pathlib.Path("models").rglob("*.xml"))
    total = 0
    with tempfile.TemporaryDirectory() as folder:
        for net in nets:
            compared, reason = compare(tool, net, pathlib.Path(folder))
            print(f"{net}: {compared} numbers agree" if compared else f"{net}: skipped: {reason.splitlines()[0]}")
            total += compared
    assert total > 0
    print(f"{total} numbers agree to {TOLERANCE:g}")


main()
