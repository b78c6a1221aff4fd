"""Exceptions of the package."""

from __future__ import annotations


class NmnError(RuntimeError):
    """The program failed because of data, files, the device or diverged training."""


class UsageError(NmnError, ValueError):
    """The call is wrong: an argument, a value, a setting, or a folder with another run."""
