"""A process that reads messages line by line, and saves when interrupted."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from types import FrameType, TracebackType
from typing import IO, Any

# Longest wait for a line in seconds. Waiting threads do not notice interrupts on Windows, so they wake up there.
_PATIENCE = 0.1 if sys.platform == "win32" else None


class Process:
    """The running program.

    Leaving the context waits for its end. An exception inside, such as an interrupt, interrupts the
    program, which then saves.

    Attributes
    ----------
    output : str
        Standard output, once it has ended.
    code : int
        Exit code, once it has ended. Negative if a signal ended it.
    interrupted : bool
        Whether an interrupt reached this process while it waited.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        capture: bool,
        cwd: str | os.PathLike[str] | None,
        scratch: str | None = None,
    ) -> None:
        self.output = ""
        self.code = 0
        self.interrupted = False
        self._handler: Any = None
        self._process: subprocess.Popen[str] | None = None
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._threads: list[threading.Thread] = []
        self._take_interrupts()
        try:
            self._start(command, capture, cwd, scratch)
        except BaseException:
            self._give_interrupts_back()
            raise

    def _take_interrupts(self) -> None:
        """Handle interrupts ourselves. Python would raise anywhere, also during the start."""
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._handler = signal.signal(signal.SIGINT, self._interrupt)

    def _give_interrupts_back(self) -> None:
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)
            self._handler = None

    def _interrupt(self, _number: int, _frame: FrameType | None) -> None:
        self.interrupt()

    def _start(
        self, command: Sequence[str], capture: bool, cwd: str | os.PathLike[str] | None, scratch: str | None
    ) -> None:
        # In a group of its own. Otherwise a terminal's interrupt, which goes to the whole group, would reach the
        # program twice, and the second interrupt ends it without saving.
        self._process = subprocess.Popen(
            list(command),
            # If this process dies, the pipe closes. The program then ends and removes the folder.
            stdin=subprocess.DEVNULL if scratch is None else subprocess.PIPE,
            stdout=subprocess.PIPE if capture else None,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=None if scratch is None else {**os.environ, "NMN_SCRATCH": scratch},
            encoding="utf-8",
            errors="replace",
            **_own_group(),
        )
        for read, stream in ((self._read_messages, self._process.stderr), (self._read_output, self._process.stdout)):
            if stream is not None:
                self._threads.append(threading.Thread(target=read, args=(stream,), daemon=True))
                self._threads[-1].start()
        if self.interrupted:  # before the process existed
            self.interrupt()

    def _read_messages(self, stream: IO[str]) -> None:
        for line in stream:
            self._lines.put(line.rstrip("\r\n"))
        self._lines.put(None)

    def _read_output(self, stream: IO[str]) -> None:
        self.output = stream.read()

    def messages(self) -> Iterator[str]:
        """Yield the lines of standard error until it closes, also after interrupts."""
        while True:
            try:
                line = self._lines.get(timeout=_PATIENCE)
            except queue.Empty:
                continue
            except KeyboardInterrupt:  # from a handler other than Python's
                self.interrupt()
                continue
            if line is None:
                return
            yield line

    def interrupt(self) -> None:
        """Make the program save and end. A second interrupt ends it at once."""
        self.interrupted = True
        if self._process is None:
            return
        if sys.platform == "win32":
            self._process.send_signal(signal.CTRL_BREAK_EVENT)
        else:
            self._process.send_signal(signal.SIGINT)

    def __enter__(self) -> Process:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process is not None
        if error is not None:
            self.interrupt()
        while True:
            try:
                self.code = self._process.wait()
                for thread in self._threads:
                    thread.join()
                break
            except KeyboardInterrupt:  # from a handler other than Python's
                self.interrupt()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
        self._give_interrupts_back()


def _own_group() -> dict[str, Any]:
    if os.name == "nt":
        return {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
    if sys.version_info >= (3, 11):
        return {"process_group": 0}
    # Before 3.11 a new session. Linux schedules sessions as groups, so it may start later on a busy machine.
    return {"start_new_session": True}
