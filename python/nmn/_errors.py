"""What goes wrong."""

from __future__ import annotations


class NmnError(RuntimeError):
    """The program could not do what it was asked for: data, files, device, training that diverged."""


class UsageError(NmnError, ValueError):
    """A mistake in the call: an argument, a value, a setting, a folder that holds another run."""
