"""What mypy takes of code that uses the package, in its strict mode; nothing here is run."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import nmn


def issues(flag: bool, y: npt.NDArray[np.int64], p: npt.NDArray[np.float64]) -> None:
    found = nmn.find_label_issues(y, p, details=flag)
    mask: npt.NDArray[np.bool_] = nmn.find_label_issues(y, p)
    table = nmn.find_label_issues(y, p, details=True)
    first = table.loc[table["p_wrong"] > 0.9, ["row", "given"]]
    rates = nmn.estimate_rates(y, p)
    print(len(found), mask.sum(), first.head(), rates.loc["cat", "q01"], rates["q01"].mean(), table.attrs)
    model = nmn.NoisyLabelClassifier(unknown=-1).fit(p, y)
    print(model.label_issues_.loc[:, "row"], model.noise_rates_["q01"], model.score(p, y))
    scores: npt.NDArray[np.float64] = nmn.get_label_quality_scores(y, p)
    print(scores, nmn.evaluate(y, p).loc["labels", "ap"])
