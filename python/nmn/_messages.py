"""What the program writes to standard error: log lines, progress, and in the end what went wrong."""

from __future__ import annotations

import json
import logging
import re
from collections import deque
from collections.abc import Mapping
from types import TracebackType

from nmn._progress import Bar

# How much of what could not be understood is kept for an error.
_KEPT = 20

_LEVELS = {"DEBUG": logging.DEBUG, "INFO": logging.INFO, "WARN": logging.WARNING, "ERROR": logging.ERROR}
_RECORD = re.compile(r'time=\S+ level=([A-Z]+)\S* msg=("(?:[^"\\]|\\.)*"|\S*) ?(.*)', re.DOTALL)
_PREFIX = "nmn: "
#: Rows and columns of arrays, which the program counts from 1 and Python from 0.
_PLACE = re.compile(r"\b(row) ([1-9]\d*)(?:(, column )([1-9]\d*))?")
#: How the program begins a message about the value of a flag, which is an argument here.
_FLAG = re.compile(
    r'^invalid argument ("[^"]*") for "(?:-\w, )?--([a-z-]+)" flag: (?:strconv\.\w+: parsing "[^"]*": )?'
)


class Messages:
    """Takes the lines one by one; log lines go to the logger ``nmn``.

    Parameters
    ----------
    progress
        Title of the bar; None for none.
    names
        What to call things instead of what the program calls them.
    """

    def __init__(self, progress: str | None, names: Mapping[str, str]) -> None:
        self._log = logging.getLogger("nmn")
        self._bar = None if progress is None else Bar(progress)
        self._names = names
        self._error: list[str] = []
        self._rest: deque[str] = deque(maxlen=_KEPT)

    def flags(self) -> list[str]:
        """List the flags that have the program log what the logger takes, and write progress and errors as JSON."""
        flags = []
        for level, flag in ((logging.DEBUG, "-vv"), (logging.INFO, "-v")):
            if self._log.isEnabledFor(level):
                flags = [flag]
                break
        return [*flags, "--progress=json"]

    def take(self, line: str) -> None:
        """Take a line."""
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
        """Return what the program says went wrong; empty where it says nothing."""
        text = re.sub(r" \(see '[^']* --help'\)$", "", "; ".join(self._error))
        text = _FLAG.sub(lambda m: f"{m[2].replace('-', '_')} is {m[1]}: ", text)
        return re.sub(r": value not allowed$", "", text)

    def rest(self) -> str:
        """Return the last lines that are neither log nor error."""
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
    """Join a message as Go's log quotes it with its attributes."""
    if message.startswith('"'):
        try:
            message = str(json.loads(message))
        except ValueError:  # Go escapes what JSON does not, such as \x1b
            message = message[1:-1]
    return f"{message} ({attributes})" if attributes else message
