"""Learn from noisy labels, and find the wrong ones.

The work is done by the program ``nmn``, which the wheel brings along.
"""

from __future__ import annotations

from nmn._classifier import NoisyLabelClassifier
from nmn._errors import NmnError, UsageError
from nmn._version import __version__

__all__ = [
    "NmnError",
    "NoisyLabelClassifier",
    "UsageError",
    "__version__",
]
