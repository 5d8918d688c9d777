"""Many rows of parameters in one call: laws, seeds, shapes, and tensors."""

from __future__ import annotations

import pathlib
import pickle
import sys
import threading
import types
from typing import Any

import numpy as np
import pytest
import tailspn


def task() -> tailspn.Net:
    """A task whose rate is a parameter."""
    builder = tailspn.NetBuilder("task").parameter("rate", 1.0).place("todo", 1).timed("task", "rate")
    return builder.input("todo", "task").build()


STAGES: dict[str, Any] = {
    "job": {"name": "two stages", "input_mb": 64.0, "executors": 2, "cores": 1},
    "run": {"sigma": 0.0, "degrees_of_freedom": 4.0, "runs": 1},
    "stage": [
        {
            "name": name,
            "after": after,
            "setup_s": 0.5,
            "tasks": {"fixed": 4.0, "per_mb": 0.0},
            "data_mb": {"fixed": 0.0, "per_mb": 1.0},
            "cold": {"fixed_s": 1.0, "per_mb_s": 0.02, "error": 0.0},
            "warm": {"fixed_s": 0.5, "per_mb_s": 0.01, "error": 0.0},
            "warming": 0.0,
            "distribution": {"lognormal": {"cv": 0.3}},
        }
        for name, after in (("read", []), ("sort", [0]))
    ],
}


def test_rows_have_the_law_of_their_parameters() -> None:
    rates = np.array([[0.25], [1.0], [4.0]])
    times = tailspn.simulator(task(), ["rate"], runs=20_000)(rates)
    assert times.shape == (3, 20_000) and times.dtype == np.float64
    np.testing.assert_allclose(times.mean(axis=1) * rates[:, 0], 1.0, atol=5 / np.sqrt(20_000))
    # rows are independent: no common random numbers
    assert abs(np.corrcoef(times[0], times[1])[0, 1]) < 5 / np.sqrt(20_000)


def test_seeds_belong_to_rows() -> None:
    rates = np.linspace(0.5, 2.0, 50)[:, None]
    simulate = tailspn.simulator(task(), ["rate"], seed=3)
    first = simulate(rates, seed=7)
    np.testing.assert_array_equal(first, simulate(rates, seed=7))
    np.testing.assert_array_equal(first[:10], simulate(rates[:10], seed=7))
    assert not np.array_equal(first, simulate(rates, seed=8))
    # without a seed, calls continue with new numbers, and a new simulator repeats them
    calls = [simulate(rates) for _ in range(2)]
    again = tailspn.simulator(task(), ["rate"], seed=3)
    assert not np.array_equal(calls[0], calls[1])
    np.testing.assert_array_equal(calls[0], again(rates))
    np.testing.assert_array_equal(calls[1], again(rates))
    # equal rows of a call differ too
    assert np.unique(simulate(np.ones((100, 1)))).size == 100


def test_a_row_is_a_run_of_the_question() -> None:
    simulate = tailspn.simulator(task(), ["rate"], runs=100)
    times = simulate(np.array([[0.25]]), seed=5)[0]
    seed = int(np.random.SeedSequence([5]).generate_state(1, np.uint64)[0])
    run = task().simulate(param={"rate": 0.25}, reps=100, seed=seed, samples=True)
    np.testing.assert_array_equal(times, run.samples)


def test_a_row_of_a_mapreduce_job_is_an_estimate_with_its_seed() -> None:
    times = tailspn.simulator({}, ["job.reduces"], runs=200)(np.array([[30.0]]), seed=9)[0]
    seed = int(np.random.SeedSequence([9]).generate_state(1, np.uint64)[0])
    job = tailspn.estimate({"job": {"reduces": 30}}, reps=200, seed=seed).job_time
    assert (times.min(), times.max()) == (job.min, job.max)
    assert times.mean() == pytest.approx(job.mean, rel=1e-12)


def test_results_have_the_shape_of_their_summary() -> None:
    rates = np.linspace(0.5, 2.0, 20)[:, None]
    quantiles = tailspn.simulator(
        task(), ["rate"], runs=200, summary=lambda times: np.quantile(times, [0.1, 0.5, 0.9], axis=1).T
    )
    found = quantiles(rates)
    assert found.shape == (20, 3) and (np.diff(found) > 0).all()
    assert quantiles(rates[0]).shape == (3,)
    assert tailspn.simulator(task(), ["rate"], runs=5, summary=lambda times: times.mean(axis=1))(rates).shape == (20, 1)
    with pytest.raises(ValueError, match=r"it must be \(n, 1\): rate"):
        quantiles(np.ones((4, 2)))
    assert tailspn.simulator(task(), ["rate"], runs=5)(np.empty((0, 1))).shape == (0, 5)


def test_a_plan_of_stages_has_the_times_of_its_stages() -> None:
    simulate = tailspn.simulator(STAGES, ["stage[1].warm.per_mb_s", "job.input_mb"], runs=50, stages=True)
    assert simulate.columns == ("time_s", "read", "sort")
    times = simulate.samples(np.array([[0.01, 64.0], [0.01, 256.0], [0.5, 64.0]]))
    assert times.shape == (3, 50, 3)
    job, read, sort = times.mean(axis=1).T
    assert job[1] > job[0] and read[1] > read[0]
    assert sort[2] > 3 * sort[0] and read[2] == pytest.approx(read[0], rel=0.2)
    assert (times[:, :, 0] > times[:, :, 1:].sum(axis=2)).all()
    copy = pickle.loads(pickle.dumps(simulate))
    row = np.array([[0.01, 64.0]])
    np.testing.assert_array_equal(copy.samples(row, seed=1), simulate.samples(row, seed=1))
    # the driver's times, and the tasks: the mean of the command
    mean = tailspn.estimate(STAGES, reps=2000).mean_s
    many = tailspn.simulator(STAGES, ["job.input_mb"], runs=2000)(np.array([[64.0]]))
    assert abs(many.mean() - mean) < 5 * many.std() * np.sqrt(2 / 2000)


def test_a_mapreduce_job_takes_whole_numbers_and_factors() -> None:
    simulate = tailspn.simulator({}, ["job.reduces", "cluster.node[*].cpu_speed"], runs=20)
    times = simulate(np.array([[20, 1.0], [40, 1.0], [40, 2.0]]))
    assert times[2].mean() < times[1].mean()
    with pytest.raises(tailspn.ReadError, match="row 1"):
        simulate(np.array([[20, 1.0], [20.5, 1.0]]))
    with pytest.raises(tailspn.ReadError, match="reduce"):
        tailspn.simulator({}, ["job.reducers"])(np.array([[20.0]]))


def test_rows_with_invalid_parameters_are_refused_or_nan() -> None:
    rates = np.array([[1.0], [-1.0], [2.0]])
    with pytest.raises(tailspn.ReadError, match="row 1"):
        tailspn.simulator(task(), ["rate"])(rates)
    times = tailspn.simulator(task(), ["rate"], runs=3, invalid="nan")(rates)
    np.testing.assert_array_equal(np.isnan(times).all(axis=1), [False, True, False])
    np.testing.assert_array_equal(np.isnan(times).any(axis=1), [False, True, False])


def test_goals_that_are_missed_are_nan() -> None:
    net = (
        tailspn.NetBuilder("race").parameter("rate", 1.0).place("p", 1).place("a").timed("t", "rate").timed("u", 1.0)
        .input("p", "t").input("p", "u").output("t", "a").build()
    )
    times = tailspn.simulator(net, ["rate"], until="#(a) = 1", runs=4000)(np.array([[1.0]]))
    assert abs(np.isnan(times).mean() - 0.5) < 5 * 0.5 / np.sqrt(4000)


def test_mistakes_are_told_before_anything_runs(root: pathlib.Path) -> None:
    with pytest.raises(tailspn.ReadError, match="nowhere"):
        tailspn.simulator(task(), ["rate"], until="#(nowhere) = 1")
    with pytest.raises(ValueError, match="at least one name"):
        tailspn.simulator(task(), [])
    with pytest.raises(ValueError, match="stages"):
        tailspn.simulator(task(), ["rate"], stages=True)
    with pytest.raises(ValueError, match="until"):
        tailspn.simulator({}, ["job.reduces"], until="#(a) = 1")
    file = tailspn.simulator(root / "models/mapreduce/default-job.toml", ["job.reduces"])
    assert file(np.array([40.0])).shape == (1,)


def test_a_pickled_copy_gives_the_next_samples() -> None:
    simulate = tailspn.simulator(task(), ["rate"], seed=3)
    copy = pickle.loads(pickle.dumps(simulate))
    rates = np.ones((10, 1))
    np.testing.assert_array_equal(copy(rates), simulate(rates))


def test_progress_and_ctrl_c_are_heard() -> None:
    told: list[tuple[int, int, str]] = []

    def stop(done: int, planned: int, noun: str) -> None:
        told.append((done, planned, noun))
        if done:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        tailspn.simulator({}, ["job.reduces"], runs=500)(np.full((5000, 1), 40.0), progress=stop)
    assert told[-1][1:] == (5000, "rows") and 0 < told[-1][0] < 5000


def test_other_threads_run_meanwhile() -> None:
    turns = [0]
    done = threading.Event()

    def count() -> None:
        while not done.wait(0.001):
            turns[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    tailspn.simulator({}, ["job.reduces"], runs=20)(np.full((3000, 1), 40.0))
    done.set()
    thread.join()
    assert turns[0] > 10


def test_a_tensor_gives_a_tensor(monkeypatch: pytest.MonkeyPatch) -> None:
    class Tensor:
        """As much of a torch tensor as the simulator uses."""

        def __init__(self, values: Any, dtype: str) -> None:
            self.values, self.dtype, self.device = values, dtype, "cpu"

        def detach(self) -> Tensor:
            return self

        def cpu(self) -> Tensor:
            return self

        def numpy(self) -> Any:
            return self.values

    torch = types.ModuleType("torch")
    setattr(torch, "Tensor", Tensor)
    setattr(torch, "as_tensor", lambda values, dtype, device: Tensor(values, dtype))
    monkeypatch.setitem(sys.modules, "torch", torch)
    simulate = tailspn.simulator(task(), ["rate"], runs=4)
    rates = np.ones((5, 1), dtype=np.float32)
    found = simulate(Tensor(rates, "float32"), seed=1)
    assert isinstance(found, Tensor) and found.dtype == "float32"
    np.testing.assert_array_equal(found.values, simulate(rates, seed=1))
