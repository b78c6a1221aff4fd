"""What holds for all tests."""

from __future__ import annotations

import signal

import pytest


@pytest.fixture(autouse=True, scope="session")
def interrupts_are_heard() -> None:
    """Receive SIGINT, which background jobs of a shell and their children ignore."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
