"""Results: numbers with intervals, tables, samples, and all output formats of the command."""

from __future__ import annotations

import html as _html
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

from tailspn import _tailspn, _toml

if TYPE_CHECKING:
    import os

    import numpy as np
    import numpy.typing as npt


class Measured(float):
    """A number with its confidence interval. The object is a float whose value is the point estimate.

    ``low`` and ``high`` are None if there is no interval; in that case, ``note`` explains why. The other keys of the number's
    JSON are attributes, too, such as ``p`` of a quantile.
    """

    _record: dict[str, Any]

    def __new__(cls, record: dict[str, Any]) -> Measured:
        """Read the number from its JSON."""
        number = super().__new__(cls, record["value"])
        number._record = record
        return number

    def __reduce_ex__(self, protocol: SupportsIndex, /) -> tuple[type[Measured], tuple[dict[str, Any]]]:
        """Pickle with the interval."""
        return Measured, (self._record,)

    @property
    def value(self) -> float:
        """The point estimate."""
        return float(self)

    @property
    def low(self) -> float | None:
        """Lower end of the interval; for an exact number with guaranteed bounds, the lower bound."""
        return self._end("low", 0)

    @property
    def high(self) -> float | None:
        """Upper end of the interval; for an exact number with guaranteed bounds, the upper bound."""
        return self._end("high", 1)

    @property
    def level(self) -> float | None:
        """Confidence level of the interval, such as 0.95; None for an exact number."""
        return None if self.exact else self._record.get("level")

    @property
    def samples(self) -> int:
        """Number of independent samples; 0 for an exact number."""
        return int(self._record.get("samples") or 0)

    @property
    def exact(self) -> bool:
        """True if the number is exact."""
        return bool(self._record.get("exact", False))

    def _end(self, key: str, index: int) -> float | None:
        bounds = self._record.get("bounds")
        end = bounds[index] if isinstance(bounds, list) else self._record.get(key)
        return None if end is None else float(end)

    def __getattr__(self, name: str) -> Any:
        """Return another key of the JSON."""
        if name.startswith("__") or name == "_record" or name not in self._record:
            raise AttributeError(name)
        return _view(self._record[name])

    def __repr__(self) -> str:
        """Return the number with its interval."""
        if self.exact:
            return f"{float(self)!r} (exact)"
        if self.low is None or self.high is None:
            return repr(float(self))
        level = "" if self.level is None else f"{100 * self.level:g}% CI "
        return f"{float(self):.6g} ({level}{self.low:.6g} to {self.high:.6g})"

    __str__ = __repr__


class Record(Mapping[str, Any]):
    """An object of a result's JSON; its keys are also attributes."""

    def __init__(self, values: dict[str, Any]) -> None:
        """Wrap a dictionary."""
        self._values = values

    def __getitem__(self, key: str) -> Any:
        """Return the value of a key: a number, a `Measured`, a `Record`, or a list of them."""
        return _view(self._values[key])

    def __getattr__(self, name: str) -> Any:
        """Return the value of a key."""
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError:
            known = ", ".join(self._values)
            raise AttributeError(f"no `{name}`; available: {known}") from None

    def __iter__(self) -> Iterator[str]:
        """Iterate over the keys."""
        return iter(self._values)

    def __len__(self) -> int:
        """Return the number of keys."""
        return len(self._values)

    def __dir__(self) -> list[str]:
        """List the keys for completion."""
        return [*super().__dir__(), *self._values]

    def to_dict(self) -> dict[str, Any]:
        """Return the values as built-in Python types."""
        return self._values

    def __repr__(self) -> str:
        """Return the keys."""
        return f"Record({', '.join(self._values)})"


def _view(value: Any) -> Any:
    if isinstance(value, dict):
        is_number = isinstance(value.get("value"), (int, float)) and "low" in value and "high" in value
        return Measured(value) if is_number else Record(value)
    if isinstance(value, list):
        return [_view(one) for one in value]
    return value


class Table:
    """A table of a result.

    ``pandas.DataFrame.from_arrow(table)``, ``polars.DataFrame(table)`` and ``pyarrow.table(table)`` read it; DuckDB reads
    the PyArrow table. A column of numbers is float64 with nulls; if the numbers have intervals, the columns
    ``NAME_low`` and ``NAME_high`` hold the ends.
    """

    def __init__(self, native: _tailspn.NativeTable) -> None:
        """Wrap a table."""
        self._native = native

    @property
    def title(self) -> str:
        """The title; may be empty."""
        return self._native.title

    def to_dict(self) -> dict[str, list[float | None] | list[str | None]]:
        """Return the columns by their names, as lists."""
        return self._native.to_dict()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the table through Arrow's PyCapsule interface."""
        return self._native.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        """Return the title and the columns."""
        return f"Table({self.title!r}: {', '.join(self.to_dict())})"


class Blocks(NamedTuple):
    """What an answer says, in the order in which people read. A part that an answer does not have is empty."""

    answer: str
    """The answer, in a sentence or two."""
    reproduced: bool | None
    """True if the model reproduces the runs that it was made from, False if not; None without such a check."""
    own_run: str
    """The verdict on the model: the runs that it was made from are reproduced, or not."""
    where: str
    """Where the time goes."""
    changes: list[str]
    """Changes of the job that would change the answer, one each."""
    refused: str
    """Questions without an answer, with the reason."""
    assumed: str
    """Assumptions in place of measurements."""
    next: list[str]
    """Commands that answer the next questions."""


class Result(Record):
    """The answer to a question.

    Its attributes are the keys of its JSON (docs/json.md). Times are in seconds, and numbers with intervals are `Measured`.
    A notebook displays the result as a page; ``print`` shows the same text as the command.
    """

    def __init__(
        self,
        found: _tailspn.Found,
        *,
        samples: npt.NDArray[np.float64] | None = None,
        remarks: tuple[str, ...] = (),
        exit_code: int = 0,
        data: str = "",
    ) -> None:
        """Wrap a result."""
        super().__init__(found.values())
        self._found = found
        self._samples = samples
        self.remarks = remarks
        """Notes and warnings of the command, one per line."""
        self.exit_code = exit_code
        """Exit code of the command: 8 if no configuration of `study` meets the deadline, 130 after Ctrl-C, otherwise 0."""
        self._data = data

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as JSON."""
        return _unpickled, (self.json(), self._samples, self.remarks, self.exit_code, self._data)

    @property
    def samples(self) -> npt.NDArray[np.float64] | None:
        """Times [s] of the replications that reached the goal, in their order, shape (reached,); None if not requested."""
        return self._samples

    @property
    def plan(self) -> Any:
        """The fitted plan of `fit`; for other results, the key ``plan`` of their JSON."""
        from tailspn._plan import Plan

        if self._data:
            return Plan(self._data, name="fitted.toml")
        plan = self._values.get("plan")
        return Plan(_toml.dumps(plan), name="fitted.toml") if isinstance(plan, dict) else plan

    def json(self) -> str:
        """Return the JSON, as ``--json`` prints it."""
        return self._found.json()

    @property
    def blocks(self) -> Blocks:
        """What the answer says, part by part."""
        return Blocks(*self._found.blocks())

    def text(self, width: int = 80, *, all: bool = False) -> str:
        """Return the text for a terminal with ``width`` columns; if ``all`` is true, with all columns and rows of tables."""
        return self._found.text(width, all)

    def html(self) -> str:
        """Return the page: one HTML file without scripts that needs no network access."""
        return self._found.html()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page (if the name ends in ``.html``), the text (``.txt``), or the JSON (any other extension)."""
        name = str(path)
        form = self.html if name.endswith(".html") else self.text if name.endswith(".txt") else self.json
        with open(path, "w", encoding="utf-8") as file:
            file.write(form())

    @property
    def tables(self) -> list[Table]:
        """All tables."""
        return [Table(table) for table in self._found.tables()]

    def table(self, title: str | None = None) -> Table:
        """Return the table with the given title.

        Without a title, return the table that ``--csv`` prints or, if there is none, the longest table.
        """
        tables = self._found.tables()
        if title is not None:
            found = [table for table in tables if table.title == title]
            if not found:
                known = ", ".join(repr(table.title) for table in tables)
                raise KeyError(f"no table {title!r}; available: {known}")
            return Table(found[0])
        wide = [table for table in tables if table.wide]
        rows = {id(table): max((len(column) for column in table.to_dict().values()), default=0) for table in tables}
        chosen = wide[0] if wide else max(tables, key=lambda table: rows[id(table)], default=None)
        if chosen is None:
            raise KeyError("the result has no table")
        return Table(chosen)

    def pictures(self) -> dict[str, str]:
        """Return the pictures: a dictionary from name to SVG."""
        return dict(self._found.pictures())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return `table()` through Arrow's PyCapsule interface."""
        return self.table().__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        # the page has its own styles, which must not affect the notebook
        page = _html.escape(self.html(), quote=True)
        return f'<iframe srcdoc="{page}" sandbox width="100%" height="640" style="border:0"></iframe>'

    def __str__(self) -> str:
        """Return the text."""
        return self.text()

    def __repr__(self) -> str:
        """Return the kind and the keys."""
        return f"Result({self._values.get('kind')}: {', '.join(self._values)})"


def _unpickled(
    json: str, samples: npt.NDArray[np.float64] | None, remarks: tuple[str, ...], exit_code: int, data: str
) -> Result:
    return Result(_tailspn.read(json), samples=samples, remarks=remarks, exit_code=exit_code, data=data)


def read(path: str | os.PathLike[str]) -> Result:
    """Read a result from a file that ``--json`` or `Result.save` wrote.

    Raises ValueError if the file is not a result.
    """
    with open(path, encoding="utf-8") as file:
        return Result(_tailspn.read(file.read()))
