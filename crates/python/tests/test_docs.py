"""The snippets of docs/python.md run."""

from __future__ import annotations

import pathlib
import re

import pytest

TEXT = (pathlib.Path(__file__).parents[3] / "docs/python.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"```python\n(.*?)```", TEXT, flags=re.S)


@pytest.mark.parametrize("number", range(len(SNIPPETS)))
def test_a_snippet_runs(number: int) -> None:
    exec(compile(SNIPPETS[number], f"docs/python.md, snippet {number + 1}", "exec"), {})
