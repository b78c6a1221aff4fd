"""The program as a process: exit codes, messages, interrupts, and what lies in its place."""

from __future__ import annotations

import json
import logging
import os
import pydoc
import re
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import nmn
from nmn._program import call, program, scratch

pytestmark = pytest.mark.skipif(os.name == "nt", reason="fakes of the program are scripts")


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """Put a script in the program's place."""

    def install(body: str) -> Path:
        path = tmp_path / "fake"
        path.write_text(f"#!{sys.executable}\nimport sys, time, signal, json, os\nargs = sys.argv[1:]\n{body}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("NMN_PROGRAM", str(path))
        return path

    return install


def test_help_shows_public_names_first():
    text = pydoc.plain(pydoc.render_doc(nmn))
    before, _, _ = text.partition("PACKAGE CONTENTS")
    assert [name for name in nmn.__all__ if name not in before] == ["__version__"]
    assert not re.search(r"^ *_[a-z]+$", before, re.MULTILINE)


def test_output_is_returned_and_arguments_reach_the_program(fake):
    fake("print(json.dumps(args)); print('größer', file=sys.stderr)")
    assert json.loads(call(["audit", "a b", "--x=ö"])) == ["--progress=json", "audit", "a b", "--x=ö"]
    assert call(["audit"], capture=False) == ""


def test_it_runs_in_a_folder(fake, tmp_path):
    fake("print(os.getcwd())")
    folder = tmp_path / "inside"
    folder.mkdir()
    assert os.path.samefile(call([], cwd=folder).strip(), folder)
    with pytest.raises(nmn.UsageError, match="gone is no folder"):
        call([], cwd=tmp_path / "gone")


def test_much_output_and_many_messages_do_not_block(fake):
    fake("for i in range(20000): print('x' * 50, file=sys.stderr)\nprint('y' * 3_000_000)")
    assert len(call([])) == 3_000_001


@pytest.mark.parametrize(("code", "kind"), [(2, nmn.UsageError), (1, nmn.NmnError)], ids=["usage", "failure"])
def test_exit_codes_are_exceptions(fake, code, kind):
    fake(
        f"print('unrelated', file=sys.stderr); print('nmn: data.csv:3: no number (see \\'nmn train --help\\')', "
        f"file=sys.stderr); sys.exit({code})"
    )
    with pytest.raises(nmn.NmnError) as raised:
        call(["train"])
    assert type(raised.value) is kind
    assert str(raised.value) == "data.csv:3: no number"


def test_a_mistake_in_the_call_is_a_value_error():
    assert issubclass(nmn.UsageError, ValueError)
    assert issubclass(nmn.UsageError, nmn.NmnError)
    assert issubclass(nmn.NmnError, RuntimeError)


def test_a_crash_is_no_mistake_in_the_call(fake):
    fake(
        "if args == ['version']: print('nmn 1')\n"
        "else: print('panic: runtime error: index out of range', file=sys.stderr); sys.exit(2)"
    )
    with pytest.raises(nmn.NmnError, match="exit code 2: panic: runtime error") as raised:
        call(["audit"])
    assert not isinstance(raised.value, ValueError)


def test_the_system_ends_it(fake):
    fake("os.kill(os.getpid(), signal.SIGKILL)")
    with pytest.raises(nmn.NmnError, match="memory runs out"):
        call(["audit"])


def test_messages_name_what_the_caller_named(fake):
    fake("print('nmn: /tmp/x/0.npy: 3 rows', file=sys.stderr); sys.exit(1)")
    with pytest.raises(nmn.NmnError, match=r"^X: 3 rows$"):
        call([], names={"/tmp/x/0.npy": "X"})


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ('X, row 4, column 3 is +Inf: repair row 12', "X, row 3, column 2 is +Inf: repair row 11"),
        ("a.csv:4: column 2 (cat) is no number", "a.csv:4: column 2 (cat) is no number"),
        ('invalid argument "-5" for "--seed" flag: strconv.ParseUint: parsing "-5": invalid syntax',
         'seed is "-5": invalid syntax'),
        ('invalid argument "x" for "-n, --vocab-size" flag: want 1', 'vocab_size is "x": want 1'),
        ("threshold is 3, want 0 to 1: value not allowed", "threshold is 3, want 0 to 1"),
    ],
)  # fmt: skip
def test_messages_are_in_the_words_of_python(fake, said, meant):
    fake(f"print('nmn: ' + {said!r}, file=sys.stderr); sys.exit(2)")
    with pytest.raises(nmn.UsageError) as raised:
        call([])
    assert str(raised.value) == meant


def test_log_lines_go_to_the_logger(fake, caplog):
    fake(
        r"print('time=2026-01-01T00:00:00Z level=WARN msg=\"few \\\"labels\\\"\" file=a.csv', file=sys.stderr);"
        r"print('time=2026-01-01T00:00:00Z level=INFO msg=started', file=sys.stderr);"
        r"print('epoch 1 of 3', file=sys.stderr); print(args)"
    )
    with caplog.at_level(logging.INFO, logger="nmn"):
        assert call(["eval"]) == "['-v', '--progress=json', 'eval']\n"
    assert [(r.levelname, r.getMessage()) for r in caplog.records] == [
        ("WARNING", 'few "labels" (file=a.csv)'),
        ("INFO", "started"),
        ("INFO", "epoch 1 of 3"),
    ]
    with caplog.at_level(logging.WARNING, logger="nmn"):
        assert call(["eval"]) == "['--progress=json', 'eval']\n"


def test_a_missing_program(monkeypatch, tmp_path):
    monkeypatch.setenv("NMN_PROGRAM", str(tmp_path / "none"))
    with pytest.raises(nmn.NmnError, match=r"NMN_PROGRAM names .*none, which is no file"):
        program()
    monkeypatch.delenv("NMN_PROGRAM")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("nmn._program._folders", lambda: iter([str(tmp_path)]))
    with pytest.raises(nmn.NmnError, match=r"pip install --force-reinstall \S*nmn_noisy_labels-.*\.whl\)"):
        program()


def test_the_packages_own_comes_before_that_of_the_path(monkeypatch, tmp_path):
    monkeypatch.delenv("NMN_PROGRAM", raising=False)
    for folder in ("own", "path"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "nmn").write_text("#!/bin/sh\n")
        (tmp_path / folder / "nmn").chmod(0o755)
    monkeypatch.setattr("nmn._program._folders", lambda: iter([str(tmp_path / "own")]))
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    assert program() == str(tmp_path / "own" / "nmn")
    (tmp_path / "own" / "nmn").chmod(0o644)  # cannot be run
    assert program() == str(tmp_path / "path" / "nmn")


def test_a_foreign_program(fake, tmp_path, monkeypatch):
    fake("print('usage: nmn FILE', file=sys.stderr); sys.exit(64)")
    with pytest.raises(nmn.NmnError, match=r"another program of the same name .*NMN_PROGRAM"):
        call(["audit"])
    other = tmp_path / "other"
    other.write_bytes(b"\x7fELF of another machine")
    other.chmod(0o755)
    monkeypatch.setenv("NMN_PROGRAM", str(other))
    with pytest.raises(nmn.NmnError, match="made for another machine"):
        call(["audit"])


SAVES = """
def stop(*_):
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    time.sleep(.3)
    open('saved', 'w').close()
    print('nmn: interrupted; run the same command again to continue', file=sys.stderr)
    sys.exit(130)
signal.signal(signal.SIGINT, stop)
open('started', 'w').close()
time.sleep(30)
"""


def interrupt_once_started(folder: Path, times: int = 1) -> threading.Thread:
    def wait() -> None:
        while not (folder / "started").exists():
            time.sleep(0.01)
        for _ in range(times):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.1)

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def test_an_interrupt_waits_until_the_program_has_saved(fake, tmp_path):
    fake(SAVES)
    thread = interrupt_once_started(tmp_path)
    with pytest.raises(KeyboardInterrupt, match="interrupted; run the same command"):
        call(["train"], cwd=tmp_path)
    thread.join()
    assert (tmp_path / "saved").exists()


def test_a_second_interrupt_ends_it_at_once(fake, tmp_path):
    fake(SAVES)
    thread = interrupt_once_started(tmp_path, times=2)
    with pytest.raises(KeyboardInterrupt):
        call(["train"], cwd=tmp_path)
    thread.join()
    assert not (tmp_path / "saved").exists()


def test_the_interrupt_of_a_terminal_reaches_it_once(fake):
    fake("print(os.getpgid(0) == os.getpid())")
    assert call([]) == "True\n"


def test_a_temporary_folder_is_removed_whatever_happens():
    def work() -> None:
        with scratch() as folder:
            folders.append(folder)
            (folder / "inside").mkdir()
            (folder / "inside" / "x").write_text("x")
            raise KeyboardInterrupt

    folders: list[Path] = []
    with pytest.raises(KeyboardInterrupt):
        work()
    assert not folders[0].exists()


@pytest.fixture
def real():
    """Return the real program, if it exists."""
    try:
        return program()
    except nmn.NmnError as error:
        pytest.skip(str(error))


@pytest.mark.usefixtures("real")
def test_the_real_program(tmp_path):
    assert json.loads(call(["version", "--json"]))["go"].startswith("go")
    with pytest.raises(nmn.UsageError, match=r"^unknown flag: --epochz; did you mean --epochs\?$"):
        call(["train", "--epochz", "3"])
    with pytest.raises(nmn.NmnError, match=r"nothing\.csv") as raised:
        call(["audit", "--scores", "nothing.csv", "--labels", "nothing.csv"], cwd=tmp_path)
    assert not isinstance(raised.value, ValueError)


def test_pythons_handler_of_interrupts_is_given_back(fake, tmp_path):
    fake("sys.exit(1)")
    for path in (os.environ["NMN_PROGRAM"], str(tmp_path)):
        os.environ["NMN_PROGRAM"] = path
        with pytest.raises(nmn.NmnError):
            call([])
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupt_of_another_handler_is_passed_on(fake, tmp_path):
    def own(*_: object) -> None:
        raise KeyboardInterrupt

    fake(SAVES)
    before = signal.signal(signal.SIGINT, own)
    try:
        thread = interrupt_once_started(tmp_path)
        with pytest.raises(KeyboardInterrupt):
            call(["train"], cwd=tmp_path)
        thread.join()
        assert (tmp_path / "saved").exists()
        assert signal.getsignal(signal.SIGINT) is own
    finally:
        signal.signal(signal.SIGINT, before)


def test_it_runs_beside_the_main_thread(fake):
    fake("print(7)")
    results: list[str] = []
    thread = threading.Thread(target=lambda: results.append(call([])))
    thread.start()
    thread.join()
    assert results == ["7\n"]


def test_what_a_killed_process_left_is_removed(tmp_path, monkeypatch):
    """A killed process cannot remove its scratch folder. The next one does, and keeps folders of running processes."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    code = "import sys; from nmn._program import scratch\nwith scratch() as f: print(f, flush=True); sys.stdin.read()"
    processes = [
        subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    alive, dead = processes
    folders = [Path(p.stdout.readline().strip()) for p in processes if p.stdout is not None]
    (folders[1] / "file").write_text("left")
    dead.kill()
    dead.wait()
    memory = tmp_path / "memory"
    memory.mkdir()
    folders[1].rename(memory / folders[1].name)
    monkeypatch.setattr("nmn._program.MEMORY", str(memory))
    with scratch() as mine:
        assert {*tmp_path.iterdir()} == {folders[0], mine, memory}
        assert not any(memory.iterdir())
    memory.rmdir()
    alive.communicate()
    assert alive.returncode == 0
    assert [*tmp_path.iterdir()] == []
