"""A scikit-learn meta-estimator that trains any classifier on noisy labels."""

from __future__ import annotations

import dataclasses
import os
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from nmn import _arrays, _asking, _audit, _estimator, _inputs, _issues, _labels, _program, _scores
from nmn._errors import NmnError
from nmn._tables import Table, is_table

__all__ = ["NoisyLabels"]

Floats = npt.NDArray[np.float64]
Folds = list[tuple[npt.NDArray[Any], npt.NDArray[Any]]]

#: Least posterior of a class that a row is duplicated for.
_LEAST_WEIGHT = 0.02

#: Least number of rows that each class keeps, if it has them.
_LEAST_ROWS = 5

#: Least score: models are never that sure.
_LEAST_SCORE = 1e-6

#: Loss of the held-out log likelihood, in standard errors, that chance exceeds in 5 % of the cases.
_BEYOND_CHANCE = 1.645

#: Most rows that the likelihood is computed of, slopes of scores, and shares of the noise model that are tried.
_LIKELIHOOD_ROWS = 20_000
_SLOPES = (0.1, 0.15, 0.2, 0.3, 0.45, 0.65, 1.0, 1.5, 2.0)
_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)


class NoisyLabels(_estimator.Classifier):
    """Train any classifier on labels that are partly wrong.

    Each row is scored by a copy of the classifier that was not trained on it. From these scores ``nmn audit`` estimates
    the noise. Copies then learn expected labels: each row counts for every plausible class by the probability of this
    class, given features and label. Their out-of-fold scores find the wrong labels again, and the classifier is fitted
    on the rest. If a cleaned fit explains held-out labels worse than the plain one, beyond chance, the plain classifier
    is fitted.

    Parameters
    ----------
    estimator : classifier
        A classifier with `fit` and `predict_proba`, such as one of scikit-learn, LightGBM or XGBoost, a net in skorch,
        or a pipeline. If its `fit` takes no ``sample_weight``, the copies leave out wrong labels too.
    cv : int, splitter or iterable, default=5
        The folds, as in scikit-learn. With a number, rows are shuffled, and each class is spread over all folds.
    rounds : int, default=1
        Number of times that copies learn expected labels and find the wrong labels again. Each round fits all folds.
    guard : bool, default=True
        Compare the cleaned fit with the plain one, and take the plain one if it is better beyond chance. Two parts of
        the folds are cleaned apart, each by its own folds, and explain the labels of the other part. This takes about
        as long as four fits.
    min_error : float, default=0.5
        Least probability of being wrong for labels in `label_issues_`, as in `find_label_issues`.
    unknown : scalar, optional
        With one label for each row, the value of y for an unknown label, such as -1. NaN and None always mean unknown.
    n_jobs : int, optional
        Number of folds that are fitted at once, as in scikit-learn.
    random_state : int, RandomState or None, default=None
        Seed of the folds. None is seed 1.

    Attributes
    ----------
    estimator_ : classifier
        The fitted copy of `estimator`.
    classes_ : ndarray of shape (n_classes,)
        The classes, in the order of columns.
    n_features_in_ : int
        Number of features, if `estimator_` has it.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X was a table whose columns are all text.
    label_issues_ : DataFrame, or structured array without pandas
        Labels that are probably wrong, the surest first: row, label, given value and probability. With one label for
        each row, `suggested` is the class of the row if the given one is wrong. It has the index of X or y, if one of
        them is a table.
    noise_matrix_ : DataFrame, or array without pandas, of shape (n_classes, n_classes)
        p(given label | true class), a row for each true class. Only for rows with one label.
    noise_rates_ : table
        Noise rates of each class, as `estimate_rates` returns them. Only for rows with several labels.
    pred_probs_ : ndarray of shape (n_rows, n_classes)
        Out-of-fold scores of the rows with a known label, by the plain classifier or as given.
    gain_ : float
        By how much the cleaned fit explains held-out labels better than the plain one, in standard errors.
    guard_ : bool
        Whether the plain classifier was fitted, because the cleaned fit explains the labels worse.

    Examples
    --------
    >>> import nmn
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = nmn.NoisyLabels(RandomForestClassifier(), guard=False).fit(X, y)
    >>> model.predict(X).shape
    (150,)
    """

    def __init__(
        self,
        estimator: Any,
        *,
        cv: Any = 5,
        rounds: int = 1,
        guard: bool = True,
        min_error: float = 0.5,
        unknown: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.cv = cv
        self.rounds = rounds
        self.guard = guard
        self.min_error = min_error
        self.unknown = unknown
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, *, pred_probs: Any = None, groups: Any = None, **refused: Any) -> NoisyLabels:
        """Train on features and noisy labels.

        Parameters
        ----------
        X : array, DataFrame, sparse matrix or list of shape (n_samples, ...)
            Features, in any form that the classifier takes.
        y : array, Series, DataFrame, sparse matrix or lists
            Labels: one for each row (NaN, None and `unknown` for unknown), an indicator matrix of 1 and 0, or a list of
            names for each row.
        pred_probs : array or DataFrame of shape (n_samples, n_classes), optional
            Out-of-fold scores of the rows, instead of scores of `estimator`.
        groups : array of shape (n_samples,), optional
            Rows of a group are in the same fold.
        **refused
            ``sample_weight`` and other arguments are refused.

        Returns
        -------
        self

        Raises
        ------
        TypeError
            If the classifier has no `predict_proba`, for weights of rows, and for values that are not labels.
        ValueError
            For shapes that disagree, labels of only one class, and settings out of range.
        NmnError
            If the program fails, or scikit-learn is not installed.
        """
        self._refuse(refused)
        self._check()
        from sklearn.utils import _safe_indexing, indexable

        index = _estimator.index_of(X)
        X = indexable(X)[0]  # sparse matrices that have no rows, and lists
        shape = getattr(X, "shape", None) or np.shape(X)
        labels = self._checked_labels(y, int(shape[0]) if shape else 0)
        given = labels.numbers if labels.exclusive else labels.indicator()
        assert given is not None
        if labels.some_unknown():
            row = int(np.argmax((given == _labels.UNKNOWN).any(axis=1)))
            raise ValueError(
                f"y has known and unknown labels at row {row}, which classifiers cannot learn: write 0 for labels that "
                f"were not given, or leave the row out. NoisyLabelClassifier learns such rows"
            )
        _check_counts(labels, given)
        rows = np.flatnonzero(~labels.unknown_rows())
        scores = None if pred_probs is None else _given_scores(pred_probs, labels)
        self._index = _estimator.index_of(y) if index is None else index
        if len(rows) < len(labels):
            X, given = _safe_indexing(X, rows), given[rows]
            groups = None if groups is None else _safe_indexing(groups, rows)
            scores = None if scores is None else scores[rows]
        data = _Data(self.estimator, X, given.astype(np.int64), labels.classes, self.n_jobs)
        self.classes_, self._form, self._rows = labels.classes, labels.form, rows
        self._fit(data, scores, groups)
        return self

    def _check(self) -> None:
        try:
            import sklearn  # noqa: F401
        except ImportError as error:
            raise NmnError("NoisyLabels needs scikit-learn: pip install scikit-learn") from error
        if not hasattr(self.estimator, "fit") or not hasattr(self.estimator, "predict_proba"):
            raise TypeError(
                f"estimator is {self.estimator!r}, which has no predict_proba, and the noise is estimated from "
                f"probabilities: pass sklearn.calibration.CalibratedClassifierCV(estimator), or a classifier with "
                f"fit and predict_proba"
            )
        if not isinstance(self.rounds, (int, np.integer)) or self.rounds < 0:
            raise ValueError(f"rounds is {self.rounds!r}: pass a whole number from 0")
        if not 0 <= self.min_error <= 1:
            raise ValueError(f"min_error is {self.min_error!r}: want 0 to 1; 0 ranks all labels")

    def _fit(self, data: _Data, scores: Floats | None, groups: Any) -> None:
        plain, folds = data.plain(), []
        if scores is None or self.rounds or self.guard:
            folds = list(self._folds(data, groups))
        if scores is None:
            scores = data.out_of_fold(plain, folds)
        # Scores of rounds depend on the held-out labels through the expected ones. Issues and noise are from the first.
        self._found = found = data.audit(scores, self.min_error)
        self.pred_probs_ = scores
        self.gain_ = data.gain(folds, found) if self.guard else 0.0
        self.guard_ = self.gain_ < -_BEYOND_CHANCE
        if self.guard_:
            warnings.warn(
                f"the plain classifier was fitted: without the labels that are probably wrong it explains held-out "
                f"labels worse, beyond chance ({self.gain_:.1f} standard errors). label_issues_ ranks labels all the "
                f"same, and guard=False fits cleaned labels without this comparison",
                UserWarning,
                stacklevel=3,
            )
        for _ in range(0 if self.guard_ else self.rounds):
            found = data.audit(data.out_of_fold(data.expected(found), folds), 0.5)
        self.estimator_ = data.fit(plain if self.guard_ else data.right(found), named=True)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
            elif name in self.__dict__:
                delattr(self, name)

    def _folds(self, data: _Data, groups: Any) -> Iterator[tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
        from sklearn.model_selection import KFold, StratifiedGroupKFold, StratifiedKFold, check_cv

        kind, several = self.cv, data.given.ndim == 2
        if isinstance(kind, (int, np.integer)):
            seed = _estimator.seed(self.random_state)
            of = KFold if several else StratifiedKFold if groups is None else StratifiedGroupKFold
            if several and groups is not None:
                from sklearn.model_selection import GroupKFold

                kind = GroupKFold(int(kind))
            else:
                kind = of(int(kind), shuffle=True, random_state=1 if seed is None else seed)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="The least populated class in y")
            yield from check_cv(kind, data.given).split(np.zeros(len(data.given)), data.given, groups)

    @property
    def label_issues_(self) -> Any:
        """Labels that are probably wrong, the surest first."""
        issues = self._fitted().issues
        at = self._rows[issues["row"]]
        out = {"row": at, "given": issues["given"]}
        if self._form == "one":
            out |= {"given": self.classes_[issues["given"]], "suggested": self.classes_[issues["suggested"]]}
        else:
            out = {"row": at, "label": self.classes_[issues["class"]], "given": issues["given"]}
        out["p_wrong"] = issues["p_wrong"]
        return _estimator.table(out, None if self._index is None else self._index[at])

    @property
    def noise_matrix_(self) -> Any:
        """p(given label | true class), a row for each true class."""
        found = self._fitted()
        if found.rates is not None:
            raise AttributeError("noise_matrix_ needs rows with one label; noise_rates_ has the rates of each class")
        try:
            import pandas
        except ImportError:
            return found.noise
        return pandas.DataFrame(found.noise, index=self.classes_, columns=self.classes_)

    @property
    def noise_rates_(self) -> Any:
        """Noise rates of the classes, for rows with several labels."""
        rates = self._fitted().rates
        if rates is None:
            raise AttributeError("noise_rates_ needs rows with several labels; noise_matrix_ has p(given | true class)")
        return rates

    def _fitted(self) -> _Found:
        found: _Found | None = self.__dict__.get("_found")
        if found is None:
            raise _estimator.not_fitted(self)
        return found

    def __sklearn_is_fitted__(self) -> bool:
        """Report whether `fit` was called."""
        return "_found" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        """Return the tags: what the classifier takes as input and as labels."""
        from sklearn.utils import get_tags

        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.input_tags, tags.classifier_tags = inner.input_tags, inner.classifier_tags
        return tags

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability that each class holds.

        Parameters
        ----------
        X : array, DataFrame, sparse matrix or list of shape (n_samples, ...)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities. Rows sum to 1 if each row has one class.
        """
        self._fitted()
        return _matrix(self.estimator_.predict_proba(X))

    def predict(self, X: Any) -> Any:
        """Return the labels of each row.

        Parameters
        ----------
        X : array, DataFrame, sparse matrix or list of shape (n_samples, ...)
            Features.

        Returns
        -------
        ndarray or list of lists
            In the form of y in `fit`: one class for each row, an indicator matrix, or a list of names for each row.
        """
        self._fitted()
        labels = self.estimator_.predict(X)
        if self._form == "one":
            return labels
        labels = labels.toarray() if _arrays.is_sparse(labels) else np.asarray(labels)
        if self._form == "names":
            return [self.classes_[row > 0].tolist() for row in labels]
        return labels.astype(np.int64)


@dataclasses.dataclass
class _Found:
    """What an audit found: scores, posteriors of the classes or labels that hold, issues and noise."""

    scores: Floats
    posterior: Floats  # one label: (N, K). Several: the corrected matrix
    flagged: npt.NDArray[np.bool_]  # rows with one label that is probably wrong
    issues: Mapping[str, npt.NDArray[Any]]
    noise: Floats  # p(given | true): (K, K), or (K, 2, 2) with several labels
    rates: Table | None = None


@dataclasses.dataclass
class _Targets:
    """Labels to learn: the rows of X that they are for, and their weights, or None if all count alike."""

    rows: npt.NDArray[np.int64]
    labels: npt.NDArray[np.int64]
    weights: Floats | None = None

    def among(self, chosen: npt.NDArray[np.bool_]) -> _Targets:
        """Return the targets of some rows."""
        at = chosen[self.rows]
        return _Targets(self.rows[at], self.labels[at], None if self.weights is None else self.weights[at])


@dataclasses.dataclass
class _Data:
    """A classifier and the rows with known labels: numbers of classes, or an indicator matrix."""

    estimator: Any
    X: Any
    given: npt.NDArray[np.int64]
    classes: npt.NDArray[Any]
    n_jobs: int | None

    def plain(self) -> _Targets:
        return _Targets(np.arange(len(self.given)), self.given)

    def expected(self, found: _Found) -> _Targets:
        """Return each row with its plausible classes, weighted by their probabilities."""
        if self.given.ndim == 2 or _weight_name(self.estimator) is None:
            return self.right(found)
        rows, labels = np.nonzero(found.posterior >= _LEAST_WEIGHT)
        return _Targets(rows, labels, found.posterior[rows, labels])

    def right(self, found: _Found) -> _Targets:
        """Return the rows whose label is probably right, or corrected labels if a row has several.

        Each class keeps its surest rows.
        """
        if self.given.ndim == 2:
            return _Targets(np.arange(len(self.given)), found.posterior.astype(np.int64))
        kept = ~found.flagged
        own = found.posterior[np.arange(len(kept)), self.given]
        for k in range(len(self.classes)):
            labelled = np.flatnonzero(self.given == k)
            if np.count_nonzero(kept[labelled]) < min(_LEAST_ROWS, len(labelled)):
                kept[labelled[np.argsort(-own[labelled], kind="stable")[:_LEAST_ROWS]]] = True
        return self.plain().among(kept)

    def fit(self, targets: _Targets, named: bool = False) -> Any:
        """Fit a copy of the classifier, on names of classes or on their numbers."""
        from sklearn.base import clone
        from sklearn.utils import _safe_indexing

        whole = np.array_equal(targets.rows, np.arange(len(self.given)))
        X = self.X if whole else _safe_indexing(self.X, targets.rows)
        y = self.classes[targets.labels] if named and self.given.ndim == 1 else targets.labels
        name = _weight_name(self.estimator)
        more = {} if targets.weights is None or name is None else {name: targets.weights}
        return clone(self.estimator).fit(X, y, **more)

    def out_of_fold(self, targets: _Targets, folds: Folds) -> Floats:
        """Return scores of each row by a copy that was fitted on the other folds."""
        from sklearn.utils.parallel import Parallel, delayed

        out = np.full((len(self.given), len(self.classes)), np.nan)
        scored = Parallel(n_jobs=self.n_jobs)(delayed(self._fold)(targets, *fold) for fold in folds)
        for (_, test), p in zip(folds, scored):
            out[test] = p
        if np.isnan(out).any():
            row = int(np.argmax(np.isnan(out).any(axis=1)))
            raise ValueError(
                f"no score for row {row}: each row needs to be in the test rows of a fold of cv, and the classifier "
                f"must return numbers"
            )
        return np.asarray(np.clip(out, 0, 1))

    def _fold(self, targets: _Targets, train: npt.NDArray[Any], test: npt.NDArray[Any]) -> Floats:
        from sklearn.utils import _safe_indexing

        chosen = np.zeros(len(self.given), bool)
        chosen[train] = True
        return self.scored(targets.among(chosen), _safe_indexing(self.X, test))

    def scored(self, targets: _Targets, X: Any) -> Floats:
        """Return scores of other rows. A class that the targets lack has the score 0."""
        fitted = self.fit(targets)
        p = _matrix(fitted.predict_proba(X))
        if self.given.ndim == 2 or p.shape[1] == len(self.classes):
            return p
        out = np.zeros((len(p), len(self.classes)))
        out[:, np.asarray(fitted.classes_, np.int64)] = p
        return out

    def audit(self, scores: Floats, min_error: float) -> _Found:
        """Estimate the noise, and the probabilities of the true labels."""
        if self.given.ndim == 2:
            return self._audit_several(scores, min_error)
        with _program.scratch() as place:
            folder = str(place)
            inputs = _inputs.inputs_of(self.given, scores, folder)
            file = os.path.join(folder, "rows.npy")
            arguments = ["audit", *_asking.files(inputs, False), "--json", "--top=0", f"--rows={file}"]
            said = _asking.asked(arguments, inputs, False)
            rows = np.load(file)
        noise = np.asarray(said["transition"], np.float64)
        posterior = _powers(scores, float(said["slope"])) * noise[:, self.given].T
        posterior /= np.maximum(posterior.sum(axis=1, keepdims=True), 1e-300)
        flagged = rows["suspects"] > 0
        at = np.flatnonzero((rows["p_wrong"] >= min_error) | (flagged & (min_error <= 0.5)))
        at = at[np.argsort(-rows["p_wrong"][at], kind="stable")]
        issues = {
            "row": at,
            "given": self.given[at],
            "suggested": _scores.suggested(rows["suggested"][at], self.given[at], scores[at]),
            "p_wrong": rows["p_wrong"][at],
        }
        return _Found(scores, posterior, flagged, issues, noise)

    def _audit_several(self, scores: Floats, min_error: float) -> _Found:
        labels = self.given.astype(np.uint8)
        rates = _audit.estimate_rates(labels, scores)
        found = _issues.find_label_issues(labels, scores, details=True, min_error=min(min_error, 0.5))
        issues = {name: np.asarray(found[name]) for name in ("row", "class", "given", "p_wrong")}
        wrong = issues["p_wrong"] >= 0.5
        right = self.given.copy()
        at, k = issues["row"][wrong], issues["class"][wrong]
        right[at, k] = 1 - right[at, k]
        constant = (right == right[0]).all(axis=0)
        right[:, constant] = self.given[:, constant]
        issues = {name: column[issues["p_wrong"] >= min_error] for name, column in issues.items()}
        q01, q10 = (np.nan_to_num(np.asarray(rates[name], np.float64)) for name in ("q01", "q10"))
        noise = np.stack([np.stack([1 - q10, q10], axis=-1), np.stack([q01, 1 - q01], axis=-1)], axis=1)
        return _Found(scores, right.astype(np.float64), wrong, issues, noise, rates)

    def gain(self, folds: Folds, found: _Found) -> float:
        """Return by how much cleaned labels explain held-out labels better than all labels, in standard errors.

        The folds are dealt to two parts. Each part is cleaned by its own folds alone, so nothing of the other part
        decides what is learned. Both fits then score the other part.
        """
        if len(folds) < 3:
            raise ValueError(f"cv has {len(folds)} folds, and the guard needs 3: pass more, or guard=False")
        gains: list[Floats] = []
        tests = [test for _, test in folds]
        for part, rest in ((tests[::2], tests[1::2]), (tests[1::2], tests[::2])):
            if len(part) < 2:
                continue
            inside, outside = np.sort(np.concatenate(part)), np.concatenate(rest)
            place = np.full(len(self.given), -1)
            place[inside] = np.arange(len(inside))
            own = self.some(inside)
            splits = [(np.setdiff1d(np.arange(len(inside)), place[test]), place[test]) for test in part]
            if not all(own.learnable(train) for train, _ in splits):
                continue
            cleaned = own.right(own.audit(own.out_of_fold(own.plain(), splits), 0.5))
            held = self.some(outside)
            logs = [held.likelihood(own.scored(targets, held.X), found) for targets in (cleaned, own.plain())]
            gains.append(logs[0] - logs[1])
        return _in_errors(np.concatenate(gains)) if gains else 0.0

    def some(self, rows: npt.NDArray[np.int64]) -> _Data:
        """Return some rows."""
        from sklearn.utils import _safe_indexing

        return dataclasses.replace(self, X=_safe_indexing(self.X, rows), given=self.given[rows])

    def learnable(self, rows: npt.NDArray[np.int64]) -> bool:
        """Report whether some rows have two classes, or both values of each label."""
        given = self.given[rows]
        return len(given) > 0 and bool((given != given[0]).any(axis=0).all())

    def likelihood(self, scores: Floats, found: _Found) -> Floats:
        """Return the log likelihood of the given labels of rows, for the scores with the best slope."""
        some = slice(None, None, max(1, len(scores) // _LIKELIHOOD_ROWS))
        p, given = scores[some], self.given[some]
        if given.ndim == 1:
            return _explained(p, given, found.noise)
        both = np.stack([1 - p, p], axis=-1)
        return np.asarray(sum(_explained(both[:, k], given[:, k], found.noise[k]) for k in range(p.shape[1])))


def _explained(scores: Floats, given: npt.NDArray[np.int64], noise: Floats) -> Floats:
    """Return log p(given | x) of each row: scores to a power, and a share of them passes through the noise.

    The power and the share are those that explain all rows best, so neither the confidence of scores nor a wrong amount
    of noise decides between two classifiers.
    """
    at, best = np.arange(len(given)), None
    for slope in _SLOPES:
        p = _powers(scores, slope)
        own, mixed = p[at, given], (p * noise[:, given].T).sum(axis=1)
        for share in _SHARES:
            log = np.log(np.maximum((1 - share) * own + share * mixed, 1e-9))
            if best is None or log.sum() > best.sum():
                best = log
    assert best is not None
    return np.asarray(best)


def _powers(p: Floats, slope: float) -> Floats:
    """Return probabilities to a power, divided by their sum."""
    p = np.maximum(p, _LEAST_SCORE) ** slope
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def _in_errors(gains: Floats) -> float:
    """Return the mean in standard errors."""
    spread = float(gains.std())
    return float(gains.mean() / spread * np.sqrt(len(gains))) if spread > 0 else 0.0


def _matrix(p: Any) -> Floats:
    """Return probabilities as a matrix. Some classifiers return, for each label, a matrix for absent and present."""
    if isinstance(p, list):
        return np.column_stack([np.asarray(one, np.float64)[:, -1] for one in p])
    return np.asarray(p, np.float64)


def _weight_name(estimator: Any) -> str | None:
    """Return the argument of `fit` for weights of rows: that of the last step of a pipeline, or None without one."""
    from sklearn.utils.validation import has_fit_parameter

    steps = getattr(estimator, "steps", None)
    if steps:
        inner = _weight_name(steps[-1][1])
        return None if inner is None else f"{steps[-1][0]}__{inner}"
    return "sample_weight" if has_fit_parameter(estimator, "sample_weight") else None


def _check_counts(labels: _labels.Labels, given: npt.NDArray[Any]) -> None:
    """Refuse a column of labels that is constant."""
    if labels.exclusive:
        return
    known = given[~labels.unknown_rows()] > 0
    same = (known == known[0]).all(axis=0)
    if same.any():
        k = int(np.argmax(same))
        raise ValueError(
            f"y has the same value in all rows of the class {labels.classes.tolist()[k]!r}, so it cannot be learned: "
            f"leave out its column"
        )


def _given_scores(pred_probs: Any, labels: _labels.Labels) -> Floats:
    if is_table(pred_probs):
        names = list(pred_probs.columns)
        if set(names) == set(labels.classes.tolist()):
            pred_probs = pred_probs[labels.classes.tolist()]
    scores = np.asarray(pred_probs, np.float64)
    want = (len(labels), len(labels.classes))
    if scores.shape != want:
        raise ValueError(
            f"pred_probs has shape {scores.shape}: want {want}, a row for each row of X and a column for each class of "
            f"y, in sorted order"
        )
    return scores
