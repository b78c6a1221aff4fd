"""Filters of confident learning, computed by cleanlab."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import numpy.typing as npt

from nmn._errors import NmnError
from nmn._scores import UNKNOWN, Labelled

__all__ = ["issues"]


def issues(data: Labelled, by: str, per_class: bool, **more: Any) -> npt.NDArray[Any]:
    """Return cleanlab's issues: a mask or ranked indices of rows, or with `per_class` a mask of labels.

    Parameters
    ----------
    data : Labelled
        Labels and probabilities, without unknown labels.
    by : str
        cleanlab's `filter_by`.
    per_class : bool
        With several labels a row, judge each label instead of each row.
    **more
        cleanlab's other arguments.

    Raises
    ------
    NmnError
        If cleanlab is not installed.
    ValueError
        If a label is unknown, or cleanlab refuses an argument.
    """
    try:
        module = importlib.import_module(f"cleanlab{'.multilabel_classification' * data.several}.filter")
    except ImportError as error:
        raise NmnError(
            f"filter_by={by!r} is a filter of cleanlab, which is not installed: pip install cleanlab, or leave "
            f"out filter_by to use the noise model"
        ) from error
    given: Any = data.at(slice(None))
    unknown = (given == UNKNOWN).any(axis=1) if data.several else given < 0
    if unknown.any():
        raise ValueError(
            f"labels has an unknown label at row {int(unknown.argmax())}, and cleanlab takes none: leave out such "
            f"rows, or leave out filter_by to use the noise model"
        )
    if data.several:
        given = [np.flatnonzero(row).tolist() for row in given]
    find = module.find_multilabel_issues_per_class if per_class else module.find_label_issues
    return np.asarray(find(given, data.scores.at(slice(None)), filter_by=by, **more))
