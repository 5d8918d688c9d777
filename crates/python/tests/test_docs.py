"""The snippets of the docs run."""

from __future__ import annotations

import pathlib
import re

import pytest

PAGES = [(pathlib.Path(__file__).parents[3] / name).read_text(encoding="utf-8") for name in ("docs/python.md", "docs/distributed.md", "README.md")]
SNIPPETS = [text for page in PAGES for text in re.findall(r"```python\n(.*?)```", page, flags=re.S) if "import ray" not in text]


@pytest.mark.parametrize("number", range(len(SNIPPETS)))
def test_a_snippet_runs(number: int) -> None:
    exec(compile(SNIPPETS[number], f"snippet {number + 1}", "exec"), {})
