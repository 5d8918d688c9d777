"""Errors that are raised if a question has no answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tailspn._result import Result


class Problem(NamedTuple):
    """A reason why a question has no answer, and its position in a file or an option."""

    message: str
    help: str | None = None
    file: str | None = None
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        """Return the problem in one line, starting with its position."""
        place = f"{self.file}:{self.line}:{self.column}: " if self.file else ""
        return f"{place}{self.message}" + (f" ({self.help})" if self.help else "")


class Error(Exception):
    """A question has no answer.

    ``problems`` lists all reasons. ``file``, ``line`` and ``column`` (numbered from 1) are the position of the first problem,
    or None. ``partial`` is the result so far, or None. ``exit_code`` is the exit code of the command.
    """

    def __init__(self, problems: Sequence[Problem], exit_code: int = 1, partial: Result | None = None) -> None:
        """Store the reasons."""
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)
        self.exit_code = exit_code
        self.partial = partial
        first = self.problems[0] if self.problems else Problem("")
        self.file, self.line, self.column = first.file, first.line, first.column

    def __reduce__(self) -> tuple[type[Error], tuple[object, ...]]:
        """Pickle with all attributes, so that errors can be sent between processes."""
        return type(self), (self.problems, self.exit_code, self.partial)


class InternalError(Error):
    """A bug in tailspn. Please report it."""


class UsageError(Error, ValueError):
    """Invalid arguments."""


class ReadError(Error, ValueError):
    """A net, a plan or a log is wrong."""


class RefusedError(Error):
    """The question has no answer, or the requested method cannot answer it."""


class GpuError(Error):
    """A GPU is required, but no GPU can run the question."""


class FileError(Error, OSError):
    """A file cannot be read or written."""


class Interrupted(KeyboardInterrupt):
    """The user pressed Ctrl-C. ``partial`` is the result so far, or None."""

    def __init__(self, partial: Result | None = None) -> None:
        """Store the result so far."""
        super().__init__()
        self.partial = partial


_BY_EXIT: dict[int, type[Error]] = {
    2: UsageError,
    3: ReadError,
    5: RefusedError,
    6: GpuError,
    7: FileError,
}


def error_of(exit_code: int, problems: Sequence[Problem], partial: Result | None) -> Error:
    """Return the error of an exit code."""
    return _BY_EXIT.get(exit_code, InternalError)(problems, exit_code, partial)
