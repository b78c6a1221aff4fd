"""What holds for all tests."""

from __future__ import annotations

import signal

import pytest


@pytest.fixture(autouse=True, scope="session")
def interrupts_are_heard() -> None:
    """Hear SIGINT, which a shell has its jobs in the background ignore, and with them all that they start."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
