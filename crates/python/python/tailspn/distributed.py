"""Replications on many machines, with any executor. The merged shards of a question have the same digits as a single run."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from functools import partial
from pathlib import Path
from typing import Any

from tailspn import _ask
from tailspn._errors import Error
from tailspn._result import Result

Question = partial[Result]
"""A question to ask later, such as ``functools.partial(tailspn.simulate, net, reps=10**8)``."""

__all__ = ["Question", "Unfinished", "merge", "part", "run"]


class Unfinished(RuntimeError):
    """The workers failed before all shards were finished.

    ``parts`` are the finished shards by their numbers from 1. To continue, pass them to `run` as ``parts``. The cause
    (``__cause__``) is the last failure.
    """

    def __init__(self, message: str, parts: Mapping[int, bytes]) -> None:
        """Store the finished shards."""
        super().__init__(message)
        self.parts = dict(parts)


def part(question: Question, index: int, of: int) -> bytes:
    """Run shard ``index`` (from 1) of ``of`` on this machine, on all its cores if the question sets no ``threads``."""
    return _ask.part(question.func, question.args, question.keywords, f"{index}/{of}")


def merge(question: Question, parts: Mapping[int, bytes]) -> Result:
    """Merge all shards, or the first shards, which give the result of a shorter run.

    The result of all shards has the same digits as ``question()``. Raises RefusedError if the parts belong to another
    question.
    """
    return _ask.merged(question.func, question.args, question.keywords, [parts[index] for index in sorted(parts)])


def run(
    question: Question,
    executor: Executor | Callable[[], Executor],
    shards: int,
    *,
    until: Callable[[Result], bool] | None = None,
    round_shards: int | None = None,
    retries: int = 2,
    parts: Mapping[int, bytes] | None = None,
    folder: str | os.PathLike[str] | None = None,
    progress: Callable[[int, int, str], object] | None = None,
) -> Result:
    """Ask a question on the workers of an executor, divided into shards.

    ``question`` is a ``functools.partial`` of `simulate`, `estimate`, `whatif` or `study` with the number of replications.
    The result has the same digits as ``question()``, for any number of shards.

    ``executor`` is any ``concurrent.futures.Executor``, or a function that creates one. If a function was passed, a broken pool
    is replaced. A shard whose worker fails runs again, at most ``retries`` times. If a shard fails again after that, or if a
    broken executor cannot be replaced, `Unfinished` is raised; it holds the finished shards. An error in the question is raised
    immediately.

    With ``until``, shards run in rounds of ``round_shards`` (default: an eighth of the shards) until ``until(result)`` is true.
    The rounds, and so the result, do not depend on the number of workers.

    If ``folder`` is given, each finished shard is immediately stored there in a file, and existing files are reused. ``parts``
    are finished shards in memory, which are also reused. ``progress`` is called with the number of finished shards, the total
    number of shards, and ``"shards"``.
    """
    work = _Work(question, executor, shards, retries, dict(parts or {}), folder, progress)
    size = shards if until is None else round_shards or max(1, shards // 8)
    try:
        for end in range(size, shards + size, size):
            last = min(end, shards)
            work.finish(range(1, last + 1))
            result = merge(question, {index: work.parts[index] for index in range(1, last + 1)})
            if until is not None and until(result):
                break
    finally:
        work.close()
    return result


class _Work:
    """The shards of a question, and their executor."""

    def __init__(
        self,
        question: Question,
        executor: Executor | Callable[[], Executor],
        shards: int,
        retries: int,
        parts: dict[int, bytes],
        folder: str | os.PathLike[str] | None,
        progress: Callable[[int, int, str], object] | None,
    ) -> None:
        if shards < 1:
            raise ValueError("there must be at least one shard")
        _ask.check_shared(question.func, question.keywords)
        self.question = question
        self.shards = shards
        self.retries = retries
        self.parts = parts
        self.folder = None if folder is None else Path(folder)
        self.progress = progress
        self.failures: dict[int, int] = {}
        self._make = None if isinstance(executor, Executor) else executor
        self._executor = executor if isinstance(executor, Executor) else None
        self._read()

    def _path(self, index: int) -> Path | None:
        return self.folder and self.folder / f"part-{index:05}-of-{self.shards:05}"

    def _read(self) -> None:
        """Load the shards in the folder."""
        if self.folder is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        for index in range(1, self.shards + 1):
            path = self._path(index)
            if path is not None and path.exists():
                self.parts.setdefault(index, path.read_bytes())

    def _keep(self, index: int, found: bytes) -> None:
        self.parts[index] = found
        path = self._path(index)
        if path is not None:
            whole = path.with_suffix(".new")
            whole.write_bytes(found)
            whole.replace(path)
        if self.progress is not None:
            self.progress(len(self.parts), self.shards, "shards")

    def finish(self, wanted: range) -> None:
        """Run the unfinished shards."""
        while missing := [index for index in wanted if index not in self.parts]:
            pool = self._executor
            if pool is None:
                assert self._make is not None
                pool = self._executor = self._make()
            try:
                self._run(pool, missing)
            except BrokenExecutor as error:
                if self._make is None:
                    raise Unfinished(
                        "the pool of workers broke; pass a function that creates one, so that it can be replaced", self.parts
                    ) from error
                for index in missing:
                    if index not in self.parts:
                        self._failed(index, error)
                self.close()

    def _run(self, pool: Executor, missing: list[int]) -> None:
        waiting: dict[Future[bytes], int] = {}
        try:
            for index in missing:
                waiting[pool.submit(part, self.question, index, self.shards)] = index
            while waiting:
                done, _ = wait(waiting, return_when=FIRST_COMPLETED)
                # finished shards are kept, even if other shards failed
                for future in sorted(done, key=lambda one: one.exception() is not None):
                    index = waiting.pop(future)
                    if self._take(index, future):
                        waiting[pool.submit(part, self.question, index, self.shards)] = index
        finally:
            for future in waiting:
                future.cancel()

    def _take(self, index: int, future: Future[bytes]) -> bool:
        """Keep the result of a worker. Return True if the shard must run again."""
        try:
            self._keep(index, future.result())
        except (BrokenExecutor, Error):
            raise
        except Exception as error:
            self._failed(index, error)
            return True
        return False

    def _failed(self, index: int, error: BaseException) -> None:
        self.failures[index] = self.failures.get(index, 0) + 1
        if self.failures[index] > self.retries:
            message = f"shard {index} of {self.shards} failed {self.failures[index]} times: {error}"
            raise Unfinished(message, self.parts) from error

    def close(self) -> None:
        """Shut down a pool that this object created."""
        if self._make is not None and self._executor is not None:
            self._executor.shutdown(wait=False, cancel_futures=True)
            self._executor = None
