"""A writer of TOML; Python's standard library only has a reader."""

from __future__ import annotations

import json
import re
from typing import Any


def dumps(table: dict[str, Any]) -> str:
    """Return a table as TOML. Sections come last, as TOML requires."""
    lines: list[str] = []
    _table(table, [], lines)
    return "\n".join(lines) + "\n"


def _is_section(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and bool(value) and all(isinstance(v, dict) for v in value))


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key)


def _table(table: dict[str, Any], path: list[str], lines: list[str]) -> None:
    for key, value in table.items():
        if value is not None and not _is_section(value):
            lines.append(f"{_key(key)} = {_value(value)}")
    for key, value in table.items():
        if not _is_section(value):
            continue
        here = [*path, _key(key)]
        for one in value if isinstance(value, list) else [value]:
            brackets = ("[[", "]]") if isinstance(value, list) else ("[", "]")
            lines.extend(["", f"{brackets[0]}{'.'.join(here)}{brackets[1]}"])
            _table(one, here, lines)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # JSON and TOML have the same escapes, except for surrogates
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_value(one)}" for key, one in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(one) for one in value) + "]"
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    if isinstance(value, int):
        return str(value)
    number = float(value)
    if number != number or number in (float("inf"), float("-inf")):
        return {"inf": "inf", "-inf": "-inf"}.get(str(number), "nan")
    return repr(number)
