"""Learn from noisy labels, and find the wrong ones.

The program ``nmn``, which the wheel contains, does the work.

NoisyLabelClassifier      classifier that learns from noisy labels, an estimator of scikit-learn
NoisyLabels               any other classifier, trained on noisy labels
find_label_issues         labels that are probably wrong, from scores of any classifier
get_label_quality_scores  a score of each row or label, low if probably wrong
estimate_rates            shares of missing and incorrect labels of each class
evaluate                  measures of scores against labels
train, Run                training as ``nmn train`` does it, and the folder of a run
extract                   features of pictures
caption_issues            captions that belong to other pictures
caption_metrics           BLEU, METEOR, ROUGE-L and CIDEr-D
log_to_mlflow             a run folder in MLflow
NmnError, UsageError      exceptions

``help(nmn.NoisyLabelClassifier)`` and so on describe them. Modules whose names begin with ``_`` are private.
"""

from __future__ import annotations

from nmn._audit import estimate_rates, evaluate
from nmn._captions import caption_issues, caption_metrics
from nmn._classifier import NoisyLabelClassifier
from nmn._errors import NmnError, UsageError
from nmn._issues import find_label_issues
from nmn._mlflow import log_to_mlflow
from nmn._noisy_labels import NoisyLabels
from nmn._pictures import extract
from nmn._quality import get_label_quality_scores
from nmn._run import Run
from nmn._train import train
from nmn._version import __version__

__all__ = [
    "NmnError",
    "NoisyLabelClassifier",
    "NoisyLabels",
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
