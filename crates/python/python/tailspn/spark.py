"""Replications on a Spark cluster whose workers have this package."""

from __future__ import annotations

from typing import Any

from tailspn import distributed
from tailspn._result import Result
from tailspn.distributed import Question

__all__ = ["run"]


def run(question: Question, sc: Any, shards: int | None = None) -> Result:
    """Ask a question on a Spark cluster; the result has the same digits as ``question()``.

    ``sc`` is a ``SparkContext`` or a ``SparkSession``; ``shards`` is the number of tasks, by default twice Spark's default
    parallelism. Spark runs a lost task again.
    """
    context = getattr(sc, "sparkContext", sc)
    of = shards or 2 * context.defaultParallelism

    def one(index: int) -> tuple[int, bytes]:
        return index, distributed.part(question, index, of)

    return distributed.merge(question, dict(context.parallelize(range(1, of + 1), of).map(one).collect()))
