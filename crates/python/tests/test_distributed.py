"""Shards on many workers: the digits of one run, whatever happens to the workers."""

import os
import signal
import sys
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
import tailspn
from conftest import without_times
from tailspn import distributed


def queue() -> tailspn.Net:
    """Return an M/M/1 queue for at most five customers."""
    builder = tailspn.NetBuilder("queue").place("queue").place("free", 5)
    builder.timed("arrive", 1.0).input("free", "arrive").output("arrive", "queue")
    return builder.timed("serve", 1.2).input("queue", "serve").output("serve", "free").build()


def comparable(result: tailspn.Result) -> Any:
    """Drop what machines and clocks decide."""
    return without_times(result.to_dict())


def processes(workers=2):
    return ProcessPoolExecutor(workers, mp_context=get_context("spawn"))


@pytest.fixture
def question():
    return partial(tailspn.simulate, queue(), horizon=20, tokens=True, reps=500, seed=3, threads=1)


def test_processes_give_the_digits_of_one_run(question):
    with processes() as pool:
        assert comparable(distributed.run(question, pool, 5)) == comparable(question())
        plan = tailspn.Plan.from_dict({"job": {"input_mb": 1024.0, "reduces": 2}})
        job = partial(tailspn.estimate, plan, reps=200, threads=1)
        assert comparable(distributed.run(job, pool, 3)) == comparable(job())


def test_samples_come_in_their_order(question):
    times = partial(tailspn.simulate, queue(), until="#(queue) >= 3", reps=300, samples=True)
    with ThreadPoolExecutor(2) as pool:
        found = distributed.run(times, pool, 4)
    assert (found.samples == times().samples).all()


def test_a_stop_rule_takes_the_first_rounds(question):
    seen = []

    def enough(result):
        seen.append(result.replications)
        return result.replications >= 200

    with ThreadPoolExecutor(2) as pool:
        found = distributed.run(question, pool, 10, until=enough, round_shards=2)
    assert seen == sorted(seen) and len(seen) < 5 and found.replications == seen[-1]
    shorter = partial(question.func, *question.args, **{**question.keywords, "reps": seen[-1]})
    assert str(found.tokens[0]) == str(shorter().tokens[0])


class Failing(Executor):
    """Runs calls at once; some fail, by their numbers from 1."""

    def __init__(self, failing):
        self.failing = set(failing)
        self.calls = 0

    def submit(self, function, /, *args, **kwargs):
        self.calls += 1
        future: Future = Future()
        if self.calls in self.failing:
            future.set_exception(ConnectionError("the worker is gone"))
            return future
        try:
            future.set_result(function(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def test_a_shard_is_run_again(question):
    assert comparable(distributed.run(question, Failing({1, 4}), 4)) == comparable(question())


def test_finished_shards_are_kept(question):
    failing = Failing(range(3, 30))
    with pytest.raises(distributed.Unfinished, match="the worker is gone") as caught:
        distributed.run(question, failing, 4, retries=1)
    parts = caught.value.parts
    assert sorted(parts) == [1, 2]
    rest = Failing(())
    assert comparable(distributed.run(question, rest, 4, parts=parts)) == comparable(question())
    assert rest.calls == 4 - len(parts)


def kill_the_worker(question, index, of, marker):
    """Kill the process of the first worker that comes here."""
    if index == 2 and not os.path.exists(marker):
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return distributed.part(question, index, of)


def test_a_killed_worker_breaks_only_its_pool(question, tmp_path, monkeypatch):
    marker = str(tmp_path / "marker")

    class Deadly(ProcessPoolExecutor):
        def submit(self, function, /, *args, **kwargs):
            return super().submit(kill_the_worker, *args, marker)

    make = lambda: Deadly(2, mp_context=get_context("spawn"))  # noqa: E731
    with make() as pool, pytest.raises(distributed.Unfinished, match="a function that creates one"):
        distributed.run(question, pool, 4)
    os.remove(marker)
    assert comparable(distributed.run(question, make, 4)) == comparable(question())


def test_a_run_with_a_folder_can_be_resumed(question, tmp_path):
    counted = Failing(())
    distributed.run(question, counted, 3, folder=tmp_path)
    assert counted.calls == 3
    os.remove(sorted(tmp_path.iterdir())[1])
    told = []
    again = distributed.run(question, counted, 3, folder=tmp_path, progress=lambda *pace: told.append(pace))
    assert counted.calls == 4 and told == [(3, 3, "shards")]
    assert comparable(again) == comparable(question())
    other = partial(question.func, *question.args, **{**question.keywords, "seed": 4})
    with pytest.raises(tailspn.Error, match="has changed|another"):
        distributed.run(other, counted, 3, folder=tmp_path)


def test_mistakes_are_raised_at_once(question):
    counted = Failing(())
    with pytest.raises(tailspn.UsageError):
        distributed.run(partial(tailspn.simulate, queue(), until="#(nowhere)"), counted, 1)
    with pytest.raises(TypeError, match="can be distributed"):
        distributed.run(partial(tailspn.solve, queue()), counted, 2)
    with pytest.raises(TypeError, match="no option `shard`"):
        tailspn.simulate(queue(), shard="1/2")


def test_dask_with_a_worker_killed_midway(question):
    dask = pytest.importorskip("distributed")
    with dask.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with dask.Client(cluster) as client:
            executor = client.get_executor(pure=False)
            slow = partial(question.func, *question.args, **{**question.keywords, "reps": 40_000})
            victim = client.run(os.getpid)
            killed = []

            def kill(done, shards, noun):
                if not killed:
                    killed.append(next(iter(victim.values())))
                    os.kill(killed[0], signal.SIGKILL)

            found = distributed.run(slow, executor, 8, progress=kill)
            assert killed
    assert comparable(found) == comparable(slow())


@pytest.mark.nightly
def test_spark_runs_shards(question, monkeypatch):
    pyspark = pytest.importorskip("pyspark")
    from tailspn import spark

    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)

    context = pyspark.SparkContext("local-cluster[2,1,1024]", "tailspn")
    try:
        context.setLogLevel("ERROR")
        assert comparable(spark.run(question, context, 4)) == comparable(question())
    finally:
        context.stop()
