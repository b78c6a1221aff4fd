"""Learn from noisy labels, and find the wrong ones.

The work is done by the program ``nmn``, which the wheel brings along.
"""

from __future__ import annotations

from nmn._audit import estimate_rates, evaluate
from nmn._captions import caption_issues, caption_metrics
from nmn._classifier import NoisyLabelClassifier
from nmn._errors import NmnError, UsageError
from nmn._issues import find_label_issues
from nmn._mlflow import log_to_mlflow
from nmn._pictures import extract
from nmn._quality import get_label_quality_scores
from nmn._run import Run
from nmn._train import train
from nmn._version import __version__

__all__ = [
    "NmnError",
    "NoisyLabelClassifier",
    "Run",
    "UsageError",
    "__version__",
    "caption_issues",
    "caption_metrics",
    "estimate_rates",
    "evaluate",
    "extract",
    "find_label_issues",
    "get_label_quality_scores",
    "log_to_mlflow",
    "train",
]
