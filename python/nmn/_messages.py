"""Parse the program's standard error: log lines, progress and the final error."""

from __future__ import annotations

import json
import logging
import re
from collections import deque
from collections.abc import Mapping
from types import TracebackType

from nmn._progress import Bar

# Number of unparsed lines that are kept for an error.
_KEPT = 20

_LEVELS = {"DEBUG": logging.DEBUG, "INFO": logging.INFO, "WARN": logging.WARNING, "ERROR": logging.ERROR}
_RECORD = re.compile(r'time=\S+ level=([A-Z]+)\S* msg=("(?:[^"\\]|\\.)*"|\S*) ?(.*)', re.DOTALL)
_PREFIX = "nmn: "
#: Rows and columns of arrays. The program counts from 1, Python from 0.
_PLACE = re.compile(r"\b(row) ([1-9]\d*)(?:(, column )([1-9]\d*))?")
#: Start of a message about the value of a flag, which is an argument in Python.
_FLAG = re.compile(
    r'^invalid argument ("[^"]*") for "(?:-\w, )?--([a-z-]+)" flag: (?:strconv\.\w+: parsing "[^"]*": )?'
)


class Messages:
    """Parses lines one by one. Log lines go to the logger ``nmn``.

    Parameters
    ----------
    progress
        Title of the progress bar, or None for no bar.
    names
        Replacements in messages, by the program's names.
    """

    def __init__(self, progress: str | None, names: Mapping[str, str]) -> None:
        self._log = logging.getLogger("nmn")
        self._bar = None if progress is None else Bar(progress)
        self._names = names
        self._error: list[str] = []
        self._rest: deque[str] = deque(maxlen=_KEPT)

    def flags(self) -> list[str]:
        """Return the flags that set the log level of the logger, and progress and errors as JSON."""
        flags = []
        for level, flag in ((logging.DEBUG, "-vv"), (logging.INFO, "-v")):
            if self._log.isEnabledFor(level):
                flags = [flag]
                break
        return [*flags, "--progress=json"]

    def take(self, line: str) -> None:
        """Parse a line."""
        record = _RECORD.fullmatch(line)
        if record:
            self._log.log(_LEVELS.get(record[1], logging.INFO), "%s", self._named(_text(record[2], record[3])))
            return
        if line.startswith('{"progress":') and (self._bar is None or self._bar.take(line)):
            return
        if line.startswith('{"error":'):
            self._error.append(self._named(str(json.loads(line)["error"]["message"])))
        elif line.startswith(_PREFIX):
            self._error.append(self._named(line[len(_PREFIX) :]))
        elif line:
            self._rest.append(line)
            self._log.info("%s", self._named(line))

    def error(self) -> str:
        """Return the program's error, or an empty text."""
        text = re.sub(r" \(see '[^']* --help'\)$", "", "; ".join(self._error))
        text = _FLAG.sub(lambda m: f"{m[2].replace('-', '_')} is {m[1]}: ", text)
        return re.sub(r": value not allowed$", "", text)

    def rest(self) -> str:
        """Return the last lines that are neither log lines nor errors."""
        return self._named("; ".join(self._rest))

    def _named(self, text: str) -> str:
        for said, meant in self._names.items():
            text = text.replace(f"`{said}`", meant).replace(said, meant)
        text = _PLACE.sub(lambda m: f"{m[1]} {int(m[2]) - 1}" + (f"{m[3]}{int(m[4]) - 1}" if m[4] else ""), text)
        return text.replace("`", "")

    def __enter__(self) -> Messages:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()


def _text(message: str, attributes: str) -> str:
    """Join a message, quoted by Go's log, with its attributes."""
    if message.startswith('"'):
        try:
            message = str(json.loads(message))
        except ValueError:  # Go has escapes that JSON has not, such as \x1b
            message = message[1:-1]
    return f"{message} ({attributes})" if attributes else message
