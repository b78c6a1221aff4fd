"""Find the program ``nmn``, call it, and raise its errors as exceptions."""

from __future__ import annotations

import contextlib
import contextvars
import errno
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from nmn._errors import NmnError, UsageError
from nmn._messages import Messages
from nmn._process import Process

_DISTRIBUTION = "nmn-noisy-labels"

#: Folder of Linux for files in memory.
MEMORY = "/dev/shm"

_ROOM = "set the environment variable TMPDIR to a writable folder with room"
_SHORT = re.compile(r"requested and \d+ written|[Nn]ot enough free space")  # messages of NumPy, without an error number


def program() -> str:
    """Find the program.

    Returns
    -------
    str
        The path in the environment variable ``NMN_PROGRAM``, else the program in the package, in
        Python's scripts folder (installed by the wheel), or on the ``PATH``.

    Raises
    ------
    NmnError
        If there is none.
    """
    named = os.environ.get("NMN_PROGRAM")
    if named:
        if not os.path.isfile(named):
            raise NmnError(
                f"NMN_PROGRAM names {named}, which is no file: set it to the path of the program nmn, or unset it"
            )
        return named
    file = "nmn.exe" if os.name == "nt" else "nmn"
    for folder in _folders():
        path = os.path.join(folder, file)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    found = shutil.which("nmn")
    if found is None:
        raise NmnError(f"the program nmn is neither installed by the wheel nor on the PATH: {_cure()}")
    return found


def _cure() -> str:
    """Return instructions to restore the program. They name the installed wheel if pip recorded it."""
    import importlib.metadata  # these take longer to import than the rest of the package
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    wheel = "PATH/TO/nmn_noisy_labels-VERSION.whl"
    with contextlib.suppress(importlib.metadata.PackageNotFoundError, KeyError, ValueError):
        noted = importlib.metadata.distribution(_DISTRIBUTION).read_text("direct_url.json")
        url = urlsplit(json.loads(noted or "{}")["url"])
        if url.scheme == "file" and url.path.endswith(".whl"):
            wheel = url2pathname(url.path)
    return (
        f"install the wheel again (pip install --force-reinstall {wheel}), or set the environment variable NMN_PROGRAM "
        f"to its path"
    )


def _folders() -> Iterator[str]:
    """Yield the folders that may hold the installed program, the likeliest first."""
    package = Path(__file__).resolve().parent
    yield str(package / "bin")
    yield sysconfig.get_path("scripts")
    yield str(package.parent / "bin")  # pip install --target
    with contextlib.suppress(KeyError):  # the system lacks this scheme
        yield sysconfig.get_path("scripts", "nt_user" if os.name == "nt" else "posix_user")


def call(
    arguments: Sequence[str],
    *,
    capture: bool = True,
    progress: str | None = None,
    cwd: str | os.PathLike[str] | None = None,
    names: Mapping[str, str] | None = None,
) -> str:
    """Run the program and wait for it.

    An interrupt is passed on. The program saves and ends, and ``KeyboardInterrupt`` is raised with
    its message. A second interrupt ends it at once. Log lines go to ``logging.getLogger("nmn")``,
    whose level sets how much is logged.

    Parameters
    ----------
    arguments
        The command with its flags, without the program's name.
    capture
        Whether to return standard output. Otherwise it goes to this process's standard output.
    progress
        Title of a progress bar, or None for no bar.
    cwd
        Folder in which the program runs.
    names
        Replacements in messages, by the program's names: the argument ``X`` for a temporary file.

    Returns
    -------
    str
        Standard output of the program; empty without `capture`.

    Raises
    ------
    UsageError
        If the arguments are wrong (exit code 2), with the program's message.
    NmnError
        If the program fails, or cannot be started.
    """
    path = program()
    with Messages(progress, names or {}) as messages:
        command = [path, *messages.flags(), *arguments]
        try:
            process = Process(command, capture=capture, cwd=cwd, scratch=_LENT.get())
        except OSError as error:
            raise _not_started(path, cwd, error) from error
        with process:
            for line in process.messages():
                messages.take(line)
    if process.code == 0 and not process.interrupted:
        return process.output
    text = messages.error()
    if process.interrupted:
        raise KeyboardInterrupt(text or "interrupted")
    if text and process.code == 2:
        raise UsageError(text)
    if text:
        raise NmnError(text)
    raise _unsaid(path, process.code, messages.rest())


def _not_started(path: str, cwd: str | os.PathLike[str] | None, error: OSError) -> NmnError:
    if cwd is not None and not os.path.isdir(cwd):
        return UsageError(f"{os.fspath(cwd)} is no folder, so nothing can run there")
    return NmnError(
        f"{path} cannot be started ({error.strerror}), probably because it was made for another machine: {_cure()}"
    )


def _unsaid(path: str, code: int, said: str) -> NmnError:
    """Return the error of a program that ended without a message of nmn."""
    if code < 0 or code == 137:  # by a signal
        number = -code if code < 0 else 9
        more = ", as the system does when memory runs out" if number == 9 else ""
        return NmnError(f"nmn was ended by signal {number}{more}{said and ': ' + said}")
    if not _is_ours(path):
        return NmnError(f"{path} is another program of the same name (exit code {code}): {_cure()}")
    return NmnError(f"nmn ended with exit code {code}{said and ': ' + said}")


def _is_ours(path: str) -> bool:
    try:
        version = subprocess.run([path, "version"], capture_output=True, timeout=30, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return version.stdout.startswith(b"nmn ")


@contextlib.contextmanager
def scratch(parent: str | None = None) -> Iterator[Path]:
    """Make a temporary folder, and always remove it with its content.

    If this process is killed while the program runs, the program removes the folder. Other folders of killed processes
    are removed when the next one is made.

    Parameters
    ----------
    parent
        Parent folder, or None for the folder of temporary files.

    Yields
    ------
    Path
        The folder.

    Raises
    ------
    NmnError
        If it cannot be made, or has no room left.
    """
    try:
        for place in {parent or tempfile.gettempdir(), tempfile.gettempdir(), MEMORY}:
            _remove_abandoned(Path(place))
        folder, held = _held_folder(parent)
    except OSError as error:
        raise NmnError(f"no temporary folder can be made ({error}): {_ROOM}") from error
    lent = _LENT.set(str(folder))
    try:
        yield folder
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT) or _SHORT.search(str(error)):
            raise NmnError(f"no room is left in {folder.parent} for temporary files ({error}): {_ROOM}") from error
        raise
    finally:
        _LENT.reset(lent)
        # Windows does not remove mapped files.
        shutil.rmtree(folder, ignore_errors=sys.platform == "win32")
        if held is not None:
            os.close(held)


_SCRATCH = "nmn-py-"

#: The folder that the program removes if this process dies.
_LENT: contextvars.ContextVar[str | None] = contextvars.ContextVar("_LENT", default=None)


def _held_folder(parent: str | None) -> tuple[Path, int | None]:
    """Make a folder, locked as long as this process or a fork of it lives. The lock is None without locks."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_SCRATCH, dir=parent))
        held = _lock(folder, wait=True)
        if folder.exists():  # else another process removed it before it was locked
            return folder, held
        if held is not None:
            os.close(held)


def _remove_abandoned(parent: Path) -> None:
    """Remove the folders that no process has locked."""
    for folder in parent.glob(_SCRATCH + "*"):
        held = _lock(folder, wait=False)
        if held is not None:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(held)


def _lock(folder: Path, *, wait: bool) -> int | None:
    """Lock a folder of this user. None if another process holds the lock, or the system has no locks."""
    if sys.platform == "win32":
        return None
    import fcntl

    fd = None
    try:
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        if os.fstat(fd).st_uid == os.geteuid():
            fcntl.flock(fd, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            return fd
    except OSError:
        pass
    if fd is not None:
        os.close(fd)
    return None
