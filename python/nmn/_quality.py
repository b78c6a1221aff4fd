"""Scores of label quality, by the noise model or by the usual measures."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from nmn import _asking, _fits, _inputs, _program

__all__ = ["get_label_quality_scores"]

_OWN = "quality"
_METHODS = (_OWN, *_fits.RANKINGS)


def get_label_quality_scores(
    labels: Any,
    pred_probs: Any,
    *,
    method: str = "quality",
    adjust_pred_probs: bool = False,
    multi_label: bool | None = None,
    per_class: bool = False,
    logits: bool = False,
    classes: Sequence[Any] | None = None,
    unknown: Any = None,
    noise_rates: Any = None,
    calibrate: bool = False,
    n_jobs: int | None = None,
) -> npt.NDArray[np.float64]:
    """Score the labels of each row from 0 to 1. Low scores are probably wrong labels.

    Signature and the numbers of cleanlab's methods equal ``cleanlab.rank.get_label_quality_scores`` and
    ``cleanlab.multilabel_classification.get_label_quality_scores``.

    Parameters
    ----------
    labels, pred_probs, multi_label, logits, classes, unknown, n_jobs
        As for `find_label_issues`.
    method : str
        The score of a label:

        - ``"quality"``: the probability that it is right, by the noise model.
        - ``"self_confidence"``: the score of the given label.
        - ``"normalized_margin"``: half of 1 plus the score of the given label minus the largest other score.
        - ``"confidence_weighted_entropy"``: falls with the entropy of the scores over the score of the given label.

        With several labels a row, the score of the row is an average that the worst labels dominate.
    adjust_pred_probs : bool
        Subtract the mean of each class from scores; for ``"self_confidence"`` and ``"normalized_margin"``.
    per_class : bool
        With several labels a row, score each label instead of each row.
    noise_rates, calibrate
        As for `find_label_issues`, with ``"quality"``.

    Returns
    -------
    ndarray
        A score for each row, of shape (N,), or with `per_class` for each label, of shape (N, K), in the order of the
        rows and columns of `pred_probs`. Unknown labels, and by ``"quality"`` labels of classes that are not audited,
        are NaN and do not count in the score of their row. A row without other labels is NaN.

    Raises
    ------
    ValueError, TypeError, NmnError
        As in `find_label_issues`.

    Examples
    --------
    >>> import numpy as np, nmn
    >>> scores = nmn.get_label_quality_scores(labels, np.load("oof.npy"))      # doctest: +SKIP
    >>> np.argsort(scores)[:10]                                                # doctest: +SKIP
    """
    _check(method, adjust_pred_probs, noise_rates, calibrate)
    with _program.scratch() as place:
        folder = str(place)
        inputs = _inputs.inputs_of(
            labels, pred_probs, folder, classes=classes, multi_label=multi_label, unknown=unknown, gaps=True
        )
        several = _asking.has_several(inputs)
        if per_class and not several:
            raise ValueError("per_class needs several labels a row, and these rows have one: leave per_class out")
        if method == _OWN:
            noise = _asking.noise(inputs, several, noise_rates, calibrate, n_jobs, folder)
            return _by_noise(inputs, logits, per_class, noise, os.path.join(folder, "scores.npy"))
        _asking.threads(n_jobs)
        data = _inputs.opened(inputs, logits, several, f"method={method!r}")
        if not several and data.scores.width < 2:
            raise ValueError("pred_probs has one column, and each row has one label: pass a column for each class")
        _inputs.check_values(data, inputs, logits)
        if per_class:
            return _fits.of_all(data, method, adjust=adjust_pred_probs)
        return _fits.of_rows(data, method, np.arange(data.scores.rows), adjust=adjust_pred_probs)


def _check(method: str, adjust: bool, noise_rates: Any, calibrate: bool) -> None:
    if method not in _METHODS:
        raise ValueError(f"method is {method!r}: choose one of {', '.join(_METHODS)}")
    if adjust and method not in ("self_confidence", "normalized_margin"):
        raise ValueError(
            f"adjust_pred_probs needs method self_confidence or normalized_margin, and method is {method!r}: "
            f"choose one of them, or leave adjust_pred_probs out"
        )
    for given, name in ((noise_rates is not None, "noise_rates"), (calibrate, "calibrate")):
        if given and method != _OWN:
            raise ValueError(f"{name} needs method={_OWN!r}, and method is {method!r}: leave one of them out")


def _by_noise(
    inputs: _inputs.Inputs, logits: bool, per_class: bool, noise: list[str], file: str
) -> npt.NDArray[np.float64]:
    """Return the scores of the noise model, from a file written by the program."""
    arguments = ["audit", *_asking.files(inputs, logits), "--json", "--top", "0", *noise]
    if not per_class:
        _asking.asked([*arguments, "--rows", file], inputs, logits)
        return np.array(np.load(file)["quality"])
    said = _asking.asked([*arguments, "--min-error", "0", "--suspects", file], inputs, logits)
    found = np.load(file)
    out = np.full((said["samples"], len(said["classes"])), np.nan)
    out[found["row"], found["class"]] = 1 - found["p_wrong"]
    return out
