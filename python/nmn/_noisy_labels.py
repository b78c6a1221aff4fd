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
Numbers = npt.NDArray[np.int64]
Folds = list[tuple[Numbers, Numbers]]

#: Least posterior of a class that a row is duplicated for.
_LEAST_WEIGHT = 0.02

#: Least number of rows that each class keeps, if it has them.
_LEAST_ROWS = 5

#: Least score: models are never that sure.
_LEAST_SCORE = 1e-6

#: Loss of the held-out log likelihood, in standard errors, that chance exceeds in 5 % of the cases.
_BEYOND_CHANCE = 1.645

#: Powers of scores, and shares of them that pass through the noise, which the likelihood tries.
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
        The folds, as in scikit-learn. With a number, rows are shuffled, and each class is spread over all folds. Each
        row is in the test rows of one fold.
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
    n_features_in_, feature_names_in_ : int, ndarray
        The attributes of `estimator_`, if it has them.
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
        By how much the cleaned fit explains held-out labels better than the plain one, in standard errors. 0 without
        the guard.
    guard_ : bool
        Whether the plain classifier was fitted, because the cleaned fit explains the labels worse.
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

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        pred_probs: Any = None,
        groups: Any = None,
        **refused: Any,
    ) -> NoisyLabels:
        """Train on features and noisy labels.

        Parameters
        ----------
        X : array, DataFrame, sparse matrix or list of shape (n_samples, ...)
            Features, in any form that the classifier takes.
        y : array, Series, DataFrame, sparse matrix or lists
            Labels: one for each row (NaN, None and `unknown` for unknown), an indicator matrix of 1 and 0, or a list of
            names for each row.
        sample_weight : array of shape (n_samples,), optional
            Weight of each row, at least 0, for a classifier that takes weights. It multiplies the weights of expected
            labels. Noise rates, the guard and `label_issues_` count all rows equally.
        pred_probs : array or DataFrame of shape (n_samples, n_classes), optional
            Out-of-fold scores of the rows, instead of scores of `estimator`.
        groups : array of shape (n_samples,), optional
            Rows of a group are in the same fold.
        **refused
            Other arguments are refused.

        Returns
        -------
        self

        Raises
        ------
        TypeError
            If the classifier has no `predict_proba`, and for values that are not labels.
        ValueError
            For shapes that disagree, labels of only one class, settings out of range, weights that are negative, NaN or
            all 0, and weights that the classifier does not take.
        NmnError
            If the program fails, or scikit-learn is not installed.
        """
        self._refuse(refused)
        self._check()
        from sklearn.base import clone
        from sklearn.utils import _safe_indexing, indexable
        from sklearn.utils.validation import _num_samples

        index = _estimator.index_of_rows(X, y)
        X = indexable(X)[0]  # some sparse matrices have no rows
        labels = self._checked_labels(y, _num_samples(X))
        given = _given(labels)
        known = ~labels.unknown_rows()
        rows = np.flatnonzero(known)
        weight, weights = _weight_name(self.estimator), _arrays.weights_of_rows(sample_weight, known, "sample_weight")
        if weights is not None and weight is None:
            raise ValueError(
                f"Underlying estimator {self.estimator!r} does not support sample weights: leave out sample_weight, or "
                f"pass a classifier whose fit takes it"
            )
        scores = None if pred_probs is None else _checked_scores(pred_probs, labels, known)
        if not known.all():
            X, given = _safe_indexing(X, rows), given[rows]
            groups = None if groups is None else _safe_indexing(groups, rows)
            scores = None if scores is None else scores[rows]
        data = _Data(self.estimator, X, given, len(labels.classes), self.n_jobs, weight, weights)
        folds = self._folds(given, known, groups) if scores is None or self.rounds or self.guard else []
        plain = _Targets(np.arange(len(given)), given)
        if scores is None:
            scores = data.out_of_fold(plain, folds)
        # Scores of later rounds depend on the held-out labels, so issues and noise are from the first scores.
        found = first = data.audit(scores, self.min_error)
        gain = data.gain(folds, first.noise) if self.guard else 0.0
        guarded = gain < -_BEYOND_CHANCE
        if guarded:
            warnings.warn(
                f"the plain classifier was fitted: without the labels that are probably wrong it explains held-out "
                f"labels worse, beyond chance ({gain:.1f} standard errors). label_issues_ ranks labels all the same, "
                f"and guard=False fits cleaned labels without this comparison",
                UserWarning,
                stacklevel=2,
            )
        for _ in range(0 if guarded else self.rounds):
            found = data.audit(data.out_of_fold(found.expected, folds))
        learned = plain if guarded else found.right
        named = labels.classes[learned.labels] if labels.exclusive else learned.labels
        fitted = clone(self.estimator).fit(data.features(learned.rows), named, **data.weights_of(learned))

        for name in [n for n in vars(self) if n.endswith("_")]:  # of an earlier fit
            delattr(self, name)
        self.estimator_, self.classes_, self._form = fitted, labels.classes, labels.form
        self.pred_probs_, self.gain_, self.guard_ = scores, gain, guarded
        self.label_issues_ = _table_of(first.issues, rows, labels, index)
        if labels.exclusive:
            self.noise_matrix_ = _square(first.noise, labels.classes)
        else:
            self.noise_rates_ = first.rates
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(fitted, name):
                setattr(self, name, getattr(fitted, name))
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

    def _folds(self, given: Numbers, known: npt.NDArray[np.bool_], groups: Any) -> Folds:
        """Return training and test rows of each fold, counted among the rows with a known label."""
        from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold, check_cv

        cv = self.cv
        if isinstance(cv, (int, np.integer)):
            seed = _estimator.seed(self.random_state)
            shuffled = {"shuffle": True, "random_state": 1 if seed is None else seed}
            if given.ndim == 1:
                cv = (StratifiedKFold if groups is None else StratifiedGroupKFold)(int(cv), **shuffled)
            else:
                cv = KFold(int(cv), **shuffled) if groups is None else GroupKFold(int(cv))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="The least populated class in y")
            folds = list(check_cv(cv, given).split(np.zeros(len(given)), given, groups))
        if not hasattr(cv, "split"):  # an iterable has rows of X
            place = np.cumsum(known) - 1
            folds = [(place[train][known[train]], place[test][known[test]]) for train, test in folds]
        times = np.bincount(np.concatenate([test for _, test in folds]), minlength=len(given))
        if (times != 1).any():
            row = int(np.argmax(times != 1))
            raise ValueError(
                f"cv has row {np.flatnonzero(known)[row]} in the test rows of {times[row]} folds: pass a splitter that "
                f"tests each row once, such as StratifiedKFold(5)"
            )
        return folds

    def __sklearn_tags__(self) -> Any:
        """Return the tags: what the classifier takes as input and as labels."""
        from sklearn.utils import get_tags

        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.input_tags, tags.classifier_tags = inner.input_tags, inner.classifier_tags
        return tags

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class, of shape (n_samples, n_classes).

        Rows sum to 1 if each row has one class.
        """
        return _probabilities(self._fitted(), X)

    def predict(self, X: Any) -> Any:
        """Return labels in the form of y in `fit`: a class for each row, an indicator matrix, or lists of names."""
        labels = np.asarray(self._fitted().predict(X))
        if self._form == "names":
            return [self.classes_[row > 0].tolist() for row in labels]
        return labels if self._form == "one" else labels.astype(np.int64)

    def _fitted(self) -> Any:
        if not hasattr(self, "estimator_"):
            raise _estimator.not_fitted(self)
        return self.estimator_


@dataclasses.dataclass
class _Targets:
    """Labels to learn: the rows of X that they are for, and their weights, or None if all count alike."""

    rows: Numbers
    labels: Numbers
    weights: Floats | None = None

    def among(self, rows: Numbers) -> _Targets:
        """Return the targets of some rows."""
        at = np.isin(self.rows, rows)
        return _Targets(self.rows[at], self.labels[at], None if self.weights is None else self.weights[at])


@dataclasses.dataclass
class _Found:
    """What an audit found."""

    issues: Mapping[str, npt.NDArray[Any]]
    noise: Floats  # p(given | true): (K, K), or (K, 2, 2) with several labels
    right: _Targets  # rows whose label is probably right, or corrected labels if a row has several
    expected: _Targets  # each row with its plausible classes, weighted by their probabilities
    rates: Table | None = None


@dataclasses.dataclass
class _Data:
    """A classifier and the rows with known labels: numbers of classes, or an indicator matrix."""

    estimator: Any
    X: Any
    given: Numbers
    width: int  # number of classes
    n_jobs: int | None
    weight: str | None  # argument of fit for weights of rows
    sample_weight: Floats | None  # weights of the rows that the user gives

    def features(self, rows: Numbers) -> Any:
        from sklearn.utils import _safe_indexing

        return self.X if np.array_equal(rows, np.arange(len(self.given))) else _safe_indexing(self.X, rows)

    def some(self, rows: Numbers) -> _Data:
        """Return some rows."""
        weights = None if self.sample_weight is None else self.sample_weight[rows]
        return dataclasses.replace(self, X=self.features(rows), given=self.given[rows], sample_weight=weights)

    def weights_of(self, targets: _Targets) -> dict[str, Floats]:
        """Return the weights of targets as an argument of fit, or nothing if all count alike."""
        weights = targets.weights
        if self.sample_weight is not None:
            weights = self.sample_weight[targets.rows] * (1 if weights is None else weights)
        return {} if weights is None else {str(self.weight): weights}

    def out_of_fold(self, targets: _Targets, folds: Folds) -> Floats:
        """Return scores of each row by a copy that was fitted on the other folds."""
        from sklearn.utils.parallel import Parallel, delayed

        out = np.empty((len(self.given), self.width))
        jobs = (delayed(self.scored)(targets.among(train), self.features(test)) for train, test in folds)
        for (_, test), p in zip(folds, Parallel(n_jobs=self.n_jobs)(jobs)):
            out[test] = p
        if np.isnan(out).any():
            raise ValueError(f"predict_proba of {self.estimator!r} returns NaN: fill gaps in X, or scale it")
        return np.clip(out, 0, 1)  # float32 exceeds 1 by rounding

    def scored(self, targets: _Targets, X: Any) -> Floats:
        """Return scores of other rows by a copy of the classifier. A class that the targets lack has the score 0."""
        from sklearn.base import clone

        fitted = clone(self.estimator).fit(self.features(targets.rows), targets.labels, **self.weights_of(targets))
        p = _probabilities(fitted, X)
        if p.shape[1] == self.width:
            return p
        out = np.zeros((len(p), self.width))
        out[:, np.asarray(fitted.classes_, np.int64)] = p
        return out

    def audit(self, scores: Floats, min_error: float = 0.5) -> _Found:
        """Estimate the noise, and find the labels that are right and the expected ones."""
        if self.given.ndim == 2:
            return self._audit_several(scores, min_error)
        with _program.scratch() as place:
            inputs = _inputs.inputs_of(self.given, scores, str(place))
            file = os.path.join(place, "rows.npy")
            arguments = ["audit", *_asking.files(inputs, False), "--json", "--top=0", f"--rows={file}"]
            said = _asking.asked(arguments, inputs, False)
            rows = np.load(file)
        noise = np.asarray(said["transition"], np.float64)
        posterior = _powers(scores, float(said["slope"])) * noise[:, self.given].T
        posterior /= np.maximum(posterior.sum(axis=1, keepdims=True), 1e-300)
        wrong, p_wrong = rows["suspects"] > 0, rows["p_wrong"]
        at = np.flatnonzero((p_wrong >= min_error) | (wrong & (min_error <= 0.5)))
        at = at[np.argsort(-p_wrong[at], kind="stable")]
        suggested = _scores.suggested(rows["suggested"][at], self.given[at], scores[at])
        issues = {"row": at, "given": self.given[at], "suggested": suggested, "p_wrong": p_wrong[at]}
        right = expected = self._right(wrong, posterior)
        if self.weight is not None:
            plausible, classes = np.nonzero(posterior >= _LEAST_WEIGHT)
            expected = _Targets(plausible, classes, posterior[plausible, classes])
        return _Found(issues, noise, right, expected)

    def _right(self, wrong: npt.NDArray[np.bool_], posterior: Floats) -> _Targets:
        """Return the rows whose label is probably right. Each class keeps its surest rows."""
        kept = ~wrong
        own = posterior[np.arange(len(kept)), self.given]
        for k in range(self.width):
            labelled = np.flatnonzero(self.given == k)
            if np.count_nonzero(kept[labelled]) < _LEAST_ROWS:
                kept[labelled[np.argsort(-own[labelled], kind="stable")[:_LEAST_ROWS]]] = True
        return _Targets(np.flatnonzero(kept), self.given[kept])

    def _audit_several(self, scores: Floats, min_error: float) -> _Found:
        labels = self.given.astype(np.uint8)
        rates = _audit.estimate_rates(labels, scores)
        found = _issues.find_label_issues(labels, scores, details=True, min_error=min(min_error, 0.5))
        issues = {name: np.asarray(found[name]) for name in ("row", "class", "given", "p_wrong")}
        wrong = issues["p_wrong"] >= 0.5
        right, cells = self.given.copy(), (issues["row"][wrong], issues["class"][wrong])
        right[cells] = 1 - right[cells]
        constant = (right == right[0]).all(axis=0)
        right[:, constant] = self.given[:, constant]
        issues = {name: column[issues["p_wrong"] >= min_error] for name, column in issues.items()}
        q01, q10 = (np.nan_to_num(np.asarray(rates[name], np.float64)) for name in ("q01", "q10"))
        noise = np.stack([np.stack([1 - q10, q10], axis=-1), np.stack([q01, 1 - q01], axis=-1)], axis=1)
        targets = _Targets(np.arange(len(right)), right)
        return _Found(issues, noise, targets, targets, rates)

    def gain(self, folds: Folds, noise: Floats) -> float:
        """Return by how much cleaned labels explain held-out labels better than all labels, in standard errors.

        The folds are dealt to two parts. Each part is cleaned by its own folds alone, so nothing of the other part
        decides what is learned. Both fits then score the other part.
        """
        if len(folds) < 3:
            raise ValueError(f"cv has {len(folds)} folds, and the guard needs 3: pass more, or guard=False")
        gains: list[Floats] = []
        tests = [test for _, test in folds]
        for part, rest in ((tests[::2], tests[1::2]), (tests[1::2], tests[::2])):
            inside = np.sort(np.concatenate(part))
            own, held = self.some(inside), self.some(np.concatenate(rest))
            every = np.arange(len(inside))
            splits = [(np.setdiff1d(every, test), test) for test in (np.searchsorted(inside, t) for t in part)]
            if not all(own.learnable(train) for train, _ in splits):
                continue
            plain = _Targets(every, own.given)
            cleaned = own.audit(own.out_of_fold(plain, splits)).right
            logs = [held.likelihood(own.scored(targets, held.X), noise) for targets in (cleaned, plain)]
            gains.append(logs[0] - logs[1])
        gain = np.concatenate(gains) if gains else np.zeros(1)
        spread = float(gain.std())
        return float(gain.mean() / spread * np.sqrt(len(gain))) if spread > 0 else 0.0

    def learnable(self, rows: Numbers) -> bool:
        """Report whether some rows have two classes, or both values of each label."""
        given = self.given[rows]
        return len(given) > 0 and bool((given != given[0]).any(axis=0).all())

    def likelihood(self, scores: Floats, noise: Floats) -> Floats:
        """Return the log likelihood of the given labels of each row."""
        if self.given.ndim == 1:
            return _explained(scores, self.given, noise)
        both = np.stack([1 - scores, scores], axis=-1)
        logs = [_explained(both[:, k], self.given[:, k], noise[k]) for k in range(self.width)]
        return np.asarray(np.sum(logs, axis=0))


def _explained(scores: Floats, given: Numbers, noise: Floats) -> Floats:
    """Return log p(given | x) of each row: scores to a power, and a share of them passes through the noise.

    The power and the share are those that explain all rows best, so neither the confidence of scores nor a wrong amount
    of noise decides between two classifiers.
    """

    def logs() -> Iterator[Floats]:
        for slope in _SLOPES:
            p = _powers(scores, slope)
            own, mixed = p[np.arange(len(given)), given], (p * noise[:, given].T).sum(axis=1)
            for share in _SHARES:
                yield np.log(np.maximum((1 - share) * own + share * mixed, 1e-9))

    return max(logs(), key=np.sum)


def _powers(p: Floats, slope: float) -> Floats:
    """Return probabilities to a power, divided by their sum."""
    p = np.maximum(p, _LEAST_SCORE) ** slope
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def _probabilities(fitted: Any, X: Any) -> Floats:
    """Return probabilities as a matrix.

    Some classifiers return a list with a matrix for each label. It has a column for each value that was learned.
    """
    p = fitted.predict_proba(X)
    if isinstance(p, list):
        p = np.column_stack([(q * (values == 1)).sum(axis=1) for q, values in zip(p, fitted.classes_)])
    return np.asarray(p, np.float64)


def _weight_name(estimator: Any) -> str | None:
    """Return the argument of `fit` for weights of rows: that of the last step of a pipeline, or None without one."""
    from sklearn import get_config
    from sklearn.utils.validation import has_fit_parameter

    steps = getattr(estimator, "steps", None)
    if not steps:
        return "sample_weight" if has_fit_parameter(estimator, "sample_weight") else None
    if get_config().get("enable_metadata_routing"):  # a pipeline then refuses names of steps
        return None
    inner = _weight_name(steps[-1][1])
    return None if inner is None else f"{steps[-1][0]}__{inner}"


def _given(labels: _labels.Labels) -> Numbers:
    """Return labels that classifiers can learn: numbers of classes, or an indicator matrix without constant columns."""
    if labels.exclusive:
        return np.asarray(labels.numbers)
    given = labels.indicator().astype(np.int64)
    known = ~labels.unknown_rows()
    partly = known & (given == _labels.UNKNOWN).any(axis=1)
    if partly.any():
        raise ValueError(
            f"y has known and unknown labels at row {np.argmax(partly)}, which classifiers cannot learn: write 0 for "
            f"labels that were not given, or leave the row out. NoisyLabelClassifier learns such rows"
        )
    same = (given[known] == given[known][0]).all(axis=0)
    if same.any():
        raise ValueError(
            f"y has the same value in all rows of the class {labels.classes.tolist()[np.argmax(same)]!r}, so it cannot "
            f"be learned: leave out its column"
        )
    return given


def _checked_scores(pred_probs: Any, labels: _labels.Labels, known: npt.NDArray[np.bool_]) -> Floats:
    """Return given scores, with columns in the order of the classes. Scores of rows without a known label are free."""
    classes = labels.classes.tolist()
    if is_table(pred_probs):
        names = list(pred_probs.columns)
        if set(names) == set(classes):
            pred_probs = pred_probs[classes]
        elif names != list(range(len(classes))):
            raise ValueError(f"pred_probs has the columns {names}, and y has the classes {classes}: name them alike")
    scores = np.asarray(pred_probs, np.float64)
    want = (len(labels), len(classes))
    if scores.shape != want:
        raise ValueError(
            f"pred_probs has shape {scores.shape}: want {want}, a row for each row of X and a column for each class of "
            f"y, in sorted order"
        )
    bad = known[:, None] & ~((scores >= 0) & (scores <= 1))
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise ValueError(
            f"pred_probs holds {scores[row, column]} at row {row}, column {column}, want probabilities from 0 to 1: "
            f"score these rows again"
        )
    if labels.exclusive:
        _inputs.check_sums(np.where(known[:, None], scores, 1 / len(classes)), "pred_probs")
    return scores


def _table_of(issues: Mapping[str, npt.NDArray[Any]], rows: Numbers, labels: _labels.Labels, index: Any) -> Any:
    """Return issues with rows of X and names of classes."""
    at = rows[issues["row"]]
    out = {"row": at}
    if labels.exclusive:
        out |= {name: labels.classes[issues[name]] for name in ("given", "suggested")}
    else:
        out |= {"label": labels.classes[issues["class"]], "given": issues["given"]}
    return _estimator.table(out | {"p_wrong": issues["p_wrong"]}, None if index is None else index[at])


def _square(noise: Floats, classes: npt.NDArray[Any]) -> Any:
    """Return a matrix as a DataFrame if pandas is installed."""
    try:
        import pandas
    except ImportError:
        return noise
    return pandas.DataFrame(noise, index=classes, columns=classes)
