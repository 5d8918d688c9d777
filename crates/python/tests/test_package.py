"""Nets, plans, results, errors and signals as a notebook sees them."""

from __future__ import annotations

import _thread
import concurrent.futures
import importlib
import json
import pathlib
import pickle
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np
import pandas
import pyarrow
import pytest
import tailspn


def fork_join(tasks: int = 2) -> tailspn.Net:
    """Tasks of 2 s on average, side by side."""
    builder = tailspn.NetBuilder("fork and join").place("done")
    for i in range(tasks):
        builder.place(f"todo{i}", 1).timed(f"task{i}", 0.5)
        builder.input(f"todo{i}", f"task{i}").output(f"task{i}", "done")
    return builder.build()


def test_a_net_that_is_built_has_its_closed_form() -> None:
    net = fork_join()
    exact = net.solve(until="#(done) >= 2")
    run = net.simulate(until="#(done) >= 2", reps=40_000, seed=7, samples=True)
    # the larger of two exponentials: 2 s * (1 + 1/2)
    times = run.samples
    assert times is not None and times.dtype == np.float64 and times.shape == (40_000,)
    assert times.flags.owndata or times.base is not None
    error = times.std() / np.sqrt(times.size)
    assert abs(times.mean() - 3.0) < 5 * error
    mean = run.passage_time.mean
    assert mean.low < 3.0 < mean.high and mean.level == 0.9 and mean == pytest.approx(times.mean())
    assert exact.passage.mean_s == pytest.approx(3.0)


def test_a_net_survives_pipe_and_draws_itself(tmp_path: pathlib.Path) -> None:
    net = fork_join(3)
    again = tailspn.Net.parse(net.to_pipe(tmp_path / "net.xml"))
    assert again.places == net.places and again.transitions == net.transitions and again.arcs == net.arcs
    assert tailspn.Net.open(tmp_path / "net.xml").places == net.places
    assert net._repr_svg_().lstrip().startswith("<svg")
    graph = net.to_networkx()
    assert graph.nodes["todo1"]["tokens"] == 1 and graph.edges["task1", "done", "output"]["weight"] == 1


def test_the_rates_of_a_net_in_memory_are_ranked() -> None:
    builder = tailspn.NetBuilder("two steps").parameter("slow", 0.1).parameter("fast", 10.0)
    builder.place("todo", 1).place("half").place("done")
    builder.timed("first", rate="slow").input("todo", "first").output("first", "half")
    builder.timed("second", rate="fast").input("half", "second").output("second", "done")
    found = tailspn.study(builder.build(), until="#(done) >= 1", reps=2_000)
    # 1% of the rate of a step of 10 s is worth 0.1 s, of a step of 0.1 s 0.001 s
    for knob, percent_s in zip(found.knobs, (-0.1, -0.001), strict=True):
        effect = knob.effect.per_percent_s
        error = (effect.high - effect.low) / (2 * 1.96)
        assert 0 < error < -0.1 * percent_s and abs(effect - percent_s) < 5 * error, knob.key
    with pytest.raises(tailspn.UsageError, match="nobody"):
        tailspn.study(builder.build(), until="#(nobody) >= 1")


def test_distributions_of_delays_have_their_means() -> None:
    laws = {
        "deterministic": tailspn.deterministic(3.0),
        "uniform": tailspn.uniform(2.0, 4.0),
        "erlang": tailspn.erlang(4, 3.0),
        "lognormal": tailspn.lognormal(3.0, 0.5),
        "empirical": tailspn.empirical([2.0, 3.0, 4.0]),
        "hyperexponential": tailspn.hyperexponential([(0.5, 1.0), (0.5, 5.0)]),
    }
    for name, law in laws.items():
        net = tailspn.NetBuilder(name).place("a", 1).timed("t", delay=law).input("a", "t").build()
        times = net.simulate(reps=20_000, samples=True, seed=1).samples
        assert times is not None
        assert abs(times.mean() - 3.0) <= 5 * times.std() / np.sqrt(times.size) + 1e-9, name


def test_mistakes_in_a_net_are_told() -> None:
    with pytest.raises(ValueError, match="2.5 stages"):
        tailspn.erlang(2.5, 1.0)  # type: ignore[arg-type]
    builder = tailspn.NetBuilder().place("a", 1)
    with pytest.raises(ValueError, match="either a rate or a delay"):
        builder.timed("t")
    with pytest.raises(KeyError, match="no transition `u`"):
        builder.input("a", "u")
    with pytest.raises(ValueError, match="queue"):
        builder.timed("t", rate="2 * #(queue)").build()


def test_plans_are_changed_by_key(root: pathlib.Path) -> None:
    plan = tailspn.Plan.open(root / "models/mapreduce/default-job.toml")
    more = plan.with_({"job.input_mb": 20480.0})
    assert more.to_dict()["job"]["input_mb"] == 20480.0 and plan.to_dict() != more.to_dict()
    first, second = (tailspn.estimate(one, reps=200) for one in (plan, more))
    assert second.job_time.mean > first.job_time.mean
    small = tailspn.estimate({"job": {"input_mb": 1024.0, "reduces": 2}}, reps=100)
    assert small.job_time.mean < first.job_time.mean


def test_a_fitted_plan_answers_questions(root: pathlib.Path) -> None:
    logs = [root / f"tests/data/trace/sort-{size}mb.spark.gz" for size in (32, 64)]
    fitted = tailspn.fit(*logs)
    assert isinstance(fitted.plan, tailspn.Plan)
    directly, in_two = (tailspn.estimate(*inputs, reps=200, seed=3) for inputs in (logs, [fitted.plan]))
    assert directly.blocks.answer == in_two.blocks.answer
    small, large = (tailspn.estimate(fitted.plan, input_size=size, reps=200).median_s for size in ("32MB", "256MB"))
    assert small < large
    assert tailspn.estimate(fitted.plan.with_({"job.executors": 8}), reps=100).executors == 8


def test_tables_go_to_other_packages(root: pathlib.Path) -> None:
    result = tailspn.simulate(
        root / "models/textbook/mm1k.xml", horizon=50, tokens=True, throughput=True, reps=200
    )
    table = result.table()
    by_arrow = pyarrow.table(table)
    by_pandas = pandas.DataFrame.from_arrow(table)
    assert by_arrow.num_rows == len(by_pandas) > 0
    assert list(by_pandas.columns) == by_arrow.column_names
    # no wheels for free-threaded Python yet
    polars = pytest.importorskip("polars") if "t" in sys.abiflags else importlib.import_module("polars")
    by_polars = polars.DataFrame(table)
    assert (by_polars.height, by_polars.columns) == (by_arrow.num_rows, by_arrow.column_names)


def test_a_result_shows_itself(root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    result = tailspn.estimate(reps=200)
    assert "job" in str(result).lower() and len(str(result).splitlines()) > 5
    assert "<iframe" in result._repr_html_()
    assert result.html().lstrip().startswith("<!DOCTYPE html>")
    result.save(tmp_path / "result.json")
    assert tailspn.read(tmp_path / "result.json").json() == result.json()
    again = pickle.loads(pickle.dumps(result))
    assert again.json() == result.json()
    said = again.blocks
    assert said == result.blocks
    assert "(90%: " in said.answer and said.changes and "tailspn whatif --demo" in said.next
    with pytest.raises(AttributeError, match="no `nothing`"):
        _ = result.nothing


def test_errors_say_where(tmp_path: pathlib.Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text("[job]\nreduces = -3\n")
    with pytest.raises(tailspn.ReadError) as caught:
        tailspn.estimate(plan)
    assert (caught.value.line, caught.value.exit_code) == (2, 3) and caught.value.file is not None
    with pytest.raises(tailspn.FileError):
        tailspn.estimate(tmp_path / "missing.toml")
    with pytest.raises(TypeError, match="did you mean `reps`"):
        tailspn.estimate(rep=3)
    with pytest.raises(tailspn.UsageError):
        tailspn.estimate(reps="many")
    with pytest.raises(ValueError, match="place"):
        tailspn.NetBuilder("n").place("a").place("a").build()
    error = pickle.loads(pickle.dumps(caught.value))
    assert (error.line, str(error)) == (2, str(caught.value))


def test_ctrl_c_keeps_what_is_there(root: pathlib.Path) -> None:
    # a shell that starts tests in the background has them ignore Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.5, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt) as caught:
        tailspn.simulate(root / "models/textbook/mm1k.xml", horizon=100, reps=10**12, backend="cpu")
    heard = time.monotonic()
    assert isinstance(caught.value, tailspn.Interrupted)
    partial = caught.value.partial
    assert partial is not None and partial.partial is True and partial.replications > 0
    # and another question is answered as before
    assert tailspn.simulate(root / "models/textbook/mm1k.xml", horizon=1, reps=10).replications == 10
    assert time.monotonic() - heard < 60


def test_progress_is_told_and_may_stop_the_work(root: pathlib.Path) -> None:
    told: list[tuple[int, int, str]] = []

    def stop(done: int, planned: int, noun: str) -> None:
        told.append((done, planned, noun))
        if len(told) == 3:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        tailspn.simulate(root / "models/textbook/mm1k.xml", horizon=100, reps=10**12, backend="cpu", progress=stop)
    assert len(told) == 3 and told[0][2] == "replications" and told[0][1] == 10**12
    assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)


def test_several_threads_ask_at_once(root: pathlib.Path) -> None:
    answers: dict[int, Any] = {}

    def ask(seed: int) -> None:
        answers[seed] = tailspn.simulate(root / "models/textbook/mm1k.xml", horizon=20, reps=200, seed=seed, tokens=True)

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed, answer in answers.items():
        alone = tailspn.simulate(root / "models/textbook/mm1k.xml", horizon=20, reps=200, seed=seed, tokens=True)
        assert alone.tokens[0] == answer.tokens[0]


def test_the_command_is_there() -> None:
    shown = subprocess.run([sys.executable, "-m", "tailspn", "--version"], capture_output=True, text=True, check=True)
    assert shown.stdout.startswith("tailspn ")
    wrong = subprocess.run([sys.executable, "-m", "tailspn", "estimate", "--reps", "x"], capture_output=True, text=True)
    assert wrong.returncode == 2 and "--reps" in wrong.stderr
    found = subprocess.run(
        [sys.executable, "-m", "tailspn", "estimate", "--demo", "--reps", "50", "--json"], capture_output=True, text=True, check=True
    )
    assert json.loads(found.stdout)["kind"]


def test_threads_ask_at_the_same_time() -> None:
    def ask(seed: int) -> str:
        return tailspn.simulate(fork_join(), until="#(done)>=2", reps=20_000, seed=seed, threads=1).json()

    def without_times(text: str) -> Any:
        result = json.loads(text)
        del result["provenance"]["wall_s"]
        return result

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        together = [without_times(text) for text in pool.map(ask, range(8))]
    assert together == [without_times(ask(seed)) for seed in range(8)]
    # a module that needed the GIL would have switched it on again
    if "t" in sys.abiflags:
        assert not getattr(sys, "_is_gil_enabled")()
