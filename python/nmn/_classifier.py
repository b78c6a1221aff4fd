"""A scikit-learn classifier that learns from noisy labels."""

from __future__ import annotations

import json
import os
import warnings
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from nmn import _arrays, _estimator, _labels, _training

__all__ = ["NoisyLabelClassifier"]

_MODEL, _STATE = "model.safetensors", "estimator.json"


#: The settings for the arguments of a classifier.
_KEYS = {
    "arm": ("arm",),
    "recipe": ("recipe.form",),
    "miss_rate": ("train.noise.miss_rate",),
    "false_rate": ("train.noise.false_rate",),
    "epochs": ("train.stage1_epochs", "train.stage2_epochs"),
    "fold_epochs": ("recipe.fold_epochs",),
    "recipe_epochs": ("recipe.epochs",),
    "hidden_layers": ("net.hidden",),
    "batch_size": ("train.batch_size",),
    "learning_rate": ("train.learning_rate",),
    "optimizer": ("train.optimizer",),
    "weight_decay": ("train.weight_decay",),
    "dropout": ("net.dropout",),
    "standardise": ("data.features.standardise",),
    "validation_share": ("data.validation_share",),
    "patience": ("train.patience",),
    "threads": ("run.threads",),
    "device": ("run.device",),
}


#: Arguments that are whole numbers.
_WHOLE = ("epochs", "fold_epochs", "recipe_epochs", "batch_size", "patience", "threads")


class NoisyLabelClassifier(_estimator.Classifier):
    """Classifier that learns from labels that are partly missing or wrong.

    It is a linear classifier, or a net with a few hidden layers, on feature vectors. From out-of-fold scores it
    estimates how often each label is missing or incorrect. It accounts for that noise in training, and ranks the labels
    that are probably wrong. ``nmn train`` does the work, so the numbers are the same bit for bit.

    Rows may have several labels (an indicator matrix, or a list of names for each row) or one of two or more classes
    (strings or integers).

    Parameters
    ----------
    hidden_layers : sequence of int, default=(256, 256)
        Widths of the hidden layers. ``()`` makes a linear classifier.
    arm : str, optional
        What is trained: ``"soft-labels"`` (default; targets are the estimated probabilities of the true labels),
        ``"held-rates"`` (the noise model has estimated rates, held fixed), ``"baseline"`` (no noise model),
        ``"stage1"``, ``"nmn-fi"``, ``"nmn-fd"`` and others of ``nmn train --arm``.
    recipe : {"estimate", "paper"}, optional
        Whether noise rates are estimated first and held fixed, or learned with the net.
    noise_rates : str, path, DataFrame or array, optional
        Source of the noise rates: ``"folds:N"``, nets of N folds (5 by default), or known rates, as a table with the
        columns q01 and q10, an array of shape (K, 2), one pair for all classes, or the path of a file.
    miss_rate, false_rate : float or sequence of float, optional
        Starting rates of a noise model that is learned with the net: p(label missing | it is true) and p(label given |
        it is false), for all classes or for each.
    epochs : int, optional
        Largest number of epochs of each stage, 100 by default. Folds or held-out labels usually end a stage earlier.
    fold_epochs : int, optional
        Epochs of the nets of folds, 15 by default.
    recipe_epochs : int, optional
        Epochs of stage 2 with estimated rates, 3 by default.
    batch_size : int, optional
        Rows of a step, 64 by default. With fewer than 1,024 rows it is halved until an epoch has 16 steps, down to 4.
    learning_rate : float, default=0.001
        Size of the steps.
    optimizer : {"adam", "adamw", "sgd"}, default="adam"
        The optimizer.
    weight_decay : float, default=0.0
        Factor of the penalty on weights.
    dropout : float, optional
        Share of hidden cells set to 0 in training, .5 by default.
    standardise : bool, default=True
        Scale each feature to mean 0 and deviation 1 over the training rows.
    validation_share : float, default=0.0
        Share of rows held out to end a stage. Folds do not need it.
    patience : int, optional
        With held-out rows, end a stage after this number of validations without a new best.
    threshold : "auto", "f1" or float, default="auto"
        Least probability of a predicted label. "auto" is `threshold_` for rows with several labels, and the most
        probable class for rows with one. "f1" and numbers also apply to two exclusive classes. There "f1" is
        `threshold_`, which gives the best expected F1 of the second class, and "auto" the most correct rows.
    min_error : float or None, default=0.5
        Least probability of being wrong for labels in `label_issues_`. 0 ranks all labels, None makes no list. With one
        label for each row it works as in `find_label_issues`.
    empty_classes : {"error", "keep"}, default="error"
        Whether a class without a row is an error, or kept and never learned.
    classes : sequence, optional
        Names or numbers of the classes, in order. By default the columns of y, or the values in it.
    unknown : scalar, optional
        With one label for each row, the value of y for an unknown label, such as -1. NaN and None always mean unknown.
        By default -1 is a class.
    random_state : int, RandomState or None, default=None
        Seed of weights, order, dropout and folds. None is seed 1, so results are reproducible.
    threads : int, optional
        Number of threads. None is one for each processor. Results do not depend on it.
    device : str, optional
        ``"auto"``, ``"cpu"``, ``"cuda"`` or ``"cuda:N"``.
    run_folder : path, optional
        Folder that keeps the whole run: page, log, checkpoints. Without it nothing stays on disk.
    options : mapping, optional
        Other settings by key, such as ``{"train.ema": 0.999}``. ``nmn config`` lists them. With ``{"data.classes":
        "exclusive"}`` and one label for each row, probabilities are a softmax, and `noise_matrix_` is estimated first
        and held in training.
    verbose : bool, default=False
        Show a progress bar if tqdm is installed.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, as given in y, in the order of columns.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X was a table whose columns are all text.
    noise_rates_ : DataFrame, or structured array without pandas
        For each class q01, p(label missing | it is true), and q10, p(label given | it is false), with 95 % intervals,
        the number of labels, and remarks.
    label_issues_ : DataFrame, or structured array without pandas
        Labels that are probably wrong, the surest first: row, label, given value and probability. With one label for
        each row, `suggested` is the class of the row if the given one is wrong. It has the index of X or y, if one of
        them is a table.
    noise_matrix_ : DataFrame, or array without pandas, of shape (n_classes, n_classes)
        p(given label | true class), a row for each true class. Only for rows with one class. With
        ``options={"data.classes": "exclusive"}`` it replaces `noise_rates_`.
    threshold_ : float
        The threshold θ* of the best expected F1, estimated from out-of-fold scores.

    Notes
    -----
    ``nmn train X.npy --labels Y.npy --set data.validation_share=0 --set data.test_share=0`` and ``nmn predict`` give
    the same numbers. Unknown labels are not learned and appear in no noise rate and no issue. Rows without a known
    label are left out of training. If a label in a matrix may simply have been overlooked, pass 0, not -1:
    `noise_rates_` estimates how often that happened.

    Examples
    --------
    >>> import numpy as np, nmn
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> Y = (X[:, :3] > 0).astype(int)
    >>> model = nmn.NoisyLabelClassifier(hidden_layers=()).fit(X, Y)
    >>> model.predict(X).shape
    (200, 3)
    """

    def __init__(
        self,
        *,
        hidden_layers: Sequence[int] = (256, 256),
        arm: str | None = None,
        recipe: str | None = None,
        noise_rates: Any = None,
        miss_rate: float | Sequence[float] | None = None,
        false_rate: float | Sequence[float] | None = None,
        epochs: int | None = None,
        fold_epochs: int | None = None,
        recipe_epochs: int | None = None,
        batch_size: int | None = None,
        learning_rate: float = 1e-3,
        optimizer: str = "adam",
        weight_decay: float = 0.0,
        dropout: float | None = None,
        standardise: bool = True,
        validation_share: float = 0.0,
        patience: int | None = None,
        threshold: str | float = "auto",
        min_error: float | None = 0.5,
        empty_classes: str = "error",
        classes: Sequence[Any] | None = None,
        unknown: Any = None,
        random_state: Any = None,
        threads: int | None = None,
        device: str | None = None,
        run_folder: str | os.PathLike[str] | None = None,
        options: Mapping[str, Any] | None = None,
        verbose: bool = False,
    ) -> None:
        self.hidden_layers = hidden_layers
        self.arm = arm
        self.recipe = recipe
        self.noise_rates = noise_rates
        self.miss_rate = miss_rate
        self.false_rate = false_rate
        self.epochs = epochs
        self.fold_epochs = fold_epochs
        self.recipe_epochs = recipe_epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.optimizer = optimizer
        self.weight_decay = weight_decay
        self.dropout = dropout
        self.standardise = standardise
        self.validation_share = validation_share
        self.patience = patience
        self.threshold = threshold
        self.min_error = min_error
        self.empty_classes = empty_classes
        self.classes = classes
        self.unknown = unknown
        self.random_state = random_state
        self.threads = threads
        self.device = device
        self.run_folder = run_folder
        self.options = options
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **refused: Any) -> NoisyLabelClassifier:
        """Train on features and noisy labels.

        Parameters
        ----------
        X : array, memory map or DataFrame of shape (n_samples, n_features), or path of a .npy
            Features. A whole ``.npy`` on disk is not copied.
        y : array, Series, DataFrame, sparse matrix, lists or path of a .npy
            Labels: an indicator matrix (1, 0, and -1, NaN or None for unknown), a list of names for each row, or one
            label for each row (NaN, None and `unknown` for unknown). One column is one label for each row.
        sample_weight : array of shape (n_samples,), optional
            Weight of each row, at least 0: its loss is multiplied by it, relative to the mean weight. Noise rates,
            thresholds and `label_issues_` count all rows equally.
        **refused
            Other arguments are refused.

        Returns
        -------
        self

        Raises
        ------
        TypeError
            For values that are not numbers or labels.
        ValueError
            For shapes that disagree, NaN or infinite features, weights that are negative, NaN or all 0, labels of only
            one class, a class without a row, and settings that the program refuses.
        NmnError
            If training fails.
        """
        self._refuse(refused)
        index = _estimator.index_of_rows(X, y)
        X = _open(X)
        shape = _arrays.shape_of(X, "X")
        _estimator.check_matrix(shape)
        labels = self._checked(y, shape[0])
        names = _estimator.feature_names(X)
        known = ~labels.unknown_rows()
        weights = _arrays.weights_of_rows(sample_weight, known, "sample_weight")
        trained, rows = self._train(X, labels, known, shape, weights)
        self._trained = trained
        self._form = labels.form
        self._index = None
        if trained.issues is not None:
            trained.issues["row"] = rows[trained.issues["row"]]
            self._index = None if index is None else index[trained.issues["row"]]
        self.classes_ = labels.classes
        self.n_features_in_ = shape[1]
        self.threshold_ = trained.threshold
        if names is not None:
            self.feature_names_in_ = names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def _checked(self, y: Any, rows: int) -> _labels.Labels:
        labels = self._checked_labels(y, rows, self.classes)
        if self.min_error is not None and not 0 <= self.min_error <= 1:
            raise ValueError(f"min_error is {self.min_error!r}: want 0 to 1, or None for no list of issues")
        if self.threshold == "f1" and labels.binary and self._softmax():
            raise ValueError(
                "threshold is 'f1', and with options={'data.classes': 'exclusive'} no threshold is estimated: leave "
                "out one of them, or pass a number"
            )
        if self.empty_classes not in ("error", "keep"):
            raise ValueError(f"empty_classes is {self.empty_classes!r}, want 'error' or 'keep'")
        if self.empty_classes == "error":
            self._check_empty(labels)
        return labels

    def _check_empty(self, labels: _labels.Labels) -> None:
        if labels.numbers is not None:
            held = np.bincount(labels.numbers[labels.numbers >= 0], minlength=len(labels.classes))
        else:
            held = np.zeros(len(labels.classes), np.int64)
            assert labels.matrix is not None
            for _, part in _arrays.blocks(labels.matrix, "y"):
                held += (part > 0).sum(axis=0)
        empty = labels.classes[held == 0]
        if len(empty):
            more = f" and {len(empty) - 1} more" if len(empty) > 1 else ""
            raise ValueError(
                f"y has no row with the class {_plain(empty[0])!r}{more}, so it cannot be learned: leave out "
                f"its column, or pass empty_classes='keep'"
            )

    def _train(
        self,
        X: Any,
        labels: _labels.Labels,
        known: npt.NDArray[np.bool_],
        shape: tuple[int, ...],
        weights: npt.NDArray[np.float64] | None,
    ) -> tuple[_training.Trained, npt.NDArray[np.int64]]:
        rows = np.flatnonzero(known)
        numbers = labels.numbers
        if labels.binary and not self._softmax():
            assert numbers is not None
            matrix = (numbers == 1).astype(np.uint8)[:, None]
            names = [labels.names[1]]
        else:
            matrix, names = labels.indicator(), labels.names
        if len(rows) < len(known):
            matrix = matrix[rows]
            numbers = numbers[rows] if numbers is not None else None
        if matrix.dtype.kind not in "bu" and not (matrix == _labels.UNKNOWN).any():
            matrix = (matrix > 0).view(np.uint8)
        hidden = np.prod(self._widths() or [1], dtype=np.float64)
        with _training.quick_scratch(int(shape[0] * shape[1] * 8 + hidden * 160)) as folder:
            path = _arrays.as_npy(X, folder, "X", keep=None if len(rows) == len(known) else known)
            job = _training.Job(
                features=path,
                labels=matrix.view(np.uint8) if matrix.dtype.kind == "b" else matrix,
                names=_training.safe_names(names),
                settings=self._settings(),
                weights=None if weights is None else weights.astype(np.float32),
                noise_rates=self.noise_rates,
                run_folder=None if self.run_folder is None else os.fspath(self.run_folder),
                min_error=self.min_error,
                exclusive=numbers,
                progress=type(self).__name__ if self.verbose else None,
                arguments={key: argument for argument, keys in _KEYS.items() for key in keys},
            )
            return job.run(folder), rows

    def _softmax(self) -> bool:
        """Report whether two classes get a probability each, which sum to 1."""
        return (self.options or {}).get("data.classes") == "exclusive"

    def _widths(self) -> list[int]:
        try:
            widths = [int(h) for h in self.hidden_layers]
            right = all(w == h and w > 0 for w, h in zip(widths, self.hidden_layers))
        except (TypeError, ValueError):
            right = False
        if not right:
            raise ValueError(
                f"hidden_layers is {self.hidden_layers!r}: pass the width of each hidden layer, such as (256, 256), "
                f"or () for none"
            )
        return widths

    def _settings(self) -> dict[str, Any]:
        settings = {
            key: value
            for argument, keys in _KEYS.items()
            for key in keys
            if (value := getattr(self, argument)) is not None
        }
        for argument in _WHOLE:
            value = getattr(self, argument)
            if value is not None and not (_number(value) == np.floor(_number(value)) and np.isscalar(value)):
                raise ValueError(f"{argument} is {value!r}: pass a whole number, or None for the default")
        for rates in ("train.noise.miss_rate", "train.noise.false_rate"):
            if rates in settings and np.ndim(settings[rates]) == 0:
                settings[rates] = [settings[rates]]
        settings |= {"data.test_share": 0, "train.seed": _estimator.seed(self.random_state)}
        return settings | dict(self.options or {})

    @property
    def noise_rates_(self) -> Any:
        """Noise rates of the classes."""
        rates = self._fitted().rates
        if rates is None and self._fitted().matrix is not None:
            raise AttributeError("noise_rates_ is for classes that do not exclude each other: use noise_matrix_")
        if rates is None:
            raise AttributeError(
                "noise_rates_ needs a training that estimates or learns rates, and this had no noise model: leave "
                "out arm"
            )
        classes = self.classes_[1:] if self._is_binary() else self.classes_
        return _estimator.table({"class": classes, **rates})

    @property
    def noise_matrix_(self) -> Any:
        """p(given label | true class), a row for each true class."""
        matrix = self._fitted().matrix
        if matrix is None:
            raise AttributeError(
                "noise_matrix_ needs one label for each row and an audit by folds; noise_rates_ has the rates of each "
                "class"
            )
        try:
            import pandas
        except ImportError:
            return matrix
        return pandas.DataFrame(matrix, index=self.classes_, columns=self.classes_)

    @property
    def label_issues_(self) -> Any:
        """Labels that are probably wrong, the surest first."""
        issues = self._fitted().issues
        if issues is None:
            raise AttributeError(
                "label_issues_ needs out-of-fold scores: leave out arm, recipe and noise_rates, or pass "
                "recipe='estimate', and min_error other than None"
            )
        out = {"row": issues["row"]}
        if self._form != "one":
            out |= {"label": self.classes_[issues["class"]], "given": issues["given"]}
        else:
            out |= {name: self.classes_[issues[name]] for name in ("given", "suggested")}
        if len(issues["row"]) == 0:
            self._warn_of_no_issues()
        return _estimator.table(out | {"p_wrong": issues["p_wrong"]}, self._index)

    def _warn_of_no_issues(self) -> None:
        rates = self._fitted().rates
        if rates is None or "q01_low" not in rates:
            return
        unsure = int(np.sum((rates["q01_low"] == 0) & (rates["q10_low"] == 0)))
        if unsure:
            warnings.warn(
                f"label_issues_ is empty, and the noise rates of {unsure} of {len(rates['q01'])} classes do not differ "
                f"from 0: their labels are right, or the features do not show which are wrong. noise_rates_ has "
                f"intervals and remarks; more rows or other features narrow them, and min_error=0 ranks all labels",
                UserWarning,
                stacklevel=3,
            )

    def _fitted(self) -> _training.Trained:
        trained: _training.Trained | None = self.__dict__.get("_trained")
        if trained is None:
            raise _estimator.not_fitted(self)
        return trained

    def __sklearn_is_fitted__(self) -> bool:
        """Report whether `fit` was called."""
        return "_trained" in self.__dict__

    def _is_binary(self) -> bool:
        return self._form == "one" and len(self.classes_) == 2

    def _probabilities(self, X: Any) -> npt.NDArray[np.float32]:
        """Return the probability of each class, or of two exclusive classes that of the second."""
        trained = self._fitted()
        X = _open(X)
        shape = _arrays.shape_of(X, "X")
        _estimator.check_matrix(shape)
        _estimator.check_feature_names(self, X)
        if shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} features as "
                f"input: pass the columns that it was fitted on"
            )
        p = _training.probabilities(trained.model, X, self.threads)
        return p[:, -1:] if self._is_binary() else p

    def predict_proba(self, X: Any) -> npt.NDArray[Any]:
        """Return the probability that each class holds.

        Parameters
        ----------
        X : array, memory map or DataFrame of shape (n_samples, n_features), or path of a .npy
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities of the true labels, not of the noisy ones. Rows sum to 1 if each row has one class.
        """
        return self._as_probabilities(self._probabilities(X))

    def _as_probabilities(self, p: npt.NDArray[np.float32]) -> npt.NDArray[Any]:
        if self._is_binary():
            wide = p.astype(np.float64)
            return np.hstack([1 - wide, wide])
        return _training.shares(p) if self._form == "one" else p

    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """Return how far each class is from being predicted, in log-odds.

        Parameters
        ----------
        X : array, memory map or DataFrame of shape (n_samples, n_features), or path of a .npy
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
            Above 0 for predicted labels. With several exclusive classes the largest is predicted.
        """
        p = self._probabilities(X).astype(np.float64)
        if self._form == "one" and not self._is_binary():
            return _logit(p)
        out = _logit(p) - _logit(np.asarray(self._cut()))
        return np.asarray(out[:, 0] if self._is_binary() else out)

    def _cut(self) -> float:
        if self.threshold in ("auto", "f1"):
            return 0.5 if self.threshold == "auto" and self._form == "one" else self.threshold_
        cut = _number(self.threshold)
        if not 0 < cut < 1:
            raise ValueError(f"threshold is {self.threshold!r}, want 'auto', 'f1' or a probability between 0 and 1")
        return cut

    def predict(self, X: Any) -> Any:
        """Return the labels of each row.

        Parameters
        ----------
        X : array, memory map or DataFrame of shape (n_samples, n_features), or path of a .npy
            Features.

        Returns
        -------
        ndarray or list of lists
            In the form of y in `fit`: an indicator matrix of 0 and 1, a list of names for each row, or one class for
            each row.
        """
        p = self._probabilities(X)
        if self._form == "one" and not self._is_binary():
            return self.classes_[p.argmax(axis=1)]
        cut = self._cut()
        if self._is_binary():
            return self.classes_[(p[:, 0] > cut).astype(np.int64)]
        holds = p.astype(np.float64) > cut
        if self._form == "names":
            return [[c.item() if isinstance(c, np.generic) else c for c in self.classes_[row]] for row in holds]
        return holds.astype(np.int64)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the estimator, with its net and tables, to one file.

        Parameters
        ----------
        path : path
            The file. It appears only when it is complete.
        """
        trained = self._fitted()
        state = {
            "format": 1,
            "params": {k: _plain(v) for k, v in self.get_params().items()},
            "form": self._form,
            "classes": _plain(self.classes_),
            "features": self.n_features_in_,
            "names": _plain(getattr(self, "feature_names_in_", None)),
            "threshold": trained.threshold,
            "rates": _columns(trained.rates),
            "issues": _columns(trained.issues),
            "index": _index_to(self._index),
            "matrix": _plain(trained.matrix),
        }
        text = json.dumps(state, default=str)  # an index may hold times
        aside = f"{os.fspath(path)}.{os.getpid()}.part"
        try:
            with zipfile.ZipFile(aside, "w", zipfile.ZIP_DEFLATED) as file:
                file.writestr(_STATE, text)
                file.writestr(_MODEL, trained.model)
            os.replace(aside, path)
        finally:
            if os.path.exists(aside):
                os.remove(aside)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> NoisyLabelClassifier:
        """Read an estimator written by `save`. Nothing in the file is executed.

        Parameters
        ----------
        path : path
            The file.

        Returns
        -------
        NoisyLabelClassifier

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ValueError
            If it was not written by `save`.
        """
        name = _arrays.checked_path(path, "path")
        try:
            with zipfile.ZipFile(name) as file:
                state = json.loads(file.read(_STATE))
                model = file.read(_MODEL)
            if state["format"] != 1:
                raise ValueError(f"format {state['format']} is from a later version")
            out = cls(**state["params"])
            out._form = str(state["form"])
            out.classes_ = _labels._vector(state["classes"])
            out.n_features_in_ = int(state["features"])
            out.threshold_ = float(state["threshold"])
            if state["names"] is not None:
                out.feature_names_in_ = np.asarray(state["names"], dtype=object)
            tables = (_arrays_of(state["rates"]), _arrays_of(state["issues"]))
            matrix = None if state["matrix"] is None else np.asarray(state["matrix"], np.float64)
            out._index = _index_from(state["index"])
            out._trained = _training.Trained(model, out.threshold_, *tables, matrix)
        except (zipfile.BadZipFile, KeyError, TypeError, ValueError, EOFError) as error:
            raise ValueError(
                f"path: {name!r} is no file of {cls.__name__}.save ({error}): pass such a file, or fit again"
            ) from error
        return out


def _open(X: Any) -> Any:
    """Map a `.npy` into memory if X is a path."""
    if not _arrays.is_path(X):
        return X
    path = _arrays.checked_path(X, "X")
    if not path.endswith(".npy"):
        raise ValueError(
            f"X: {os.path.basename(path)!r} is no .npy: convert it with `nmn features FILE --output x.npy`"
        )
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        raise ValueError(f"X: {path!r} cannot be read, {error}: write it with numpy.save") from error


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return float("nan")


def _logit(p: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return log-odds, finite even if a probability was rounded to 0 or 1."""
    p = np.clip(p, 1e-38, None)
    return np.asarray(np.log(p) - np.log(np.maximum(1 - p, 2.0**-25)))


def _index_to(index: Any) -> list[Any] | None:
    """Return an index in the form for `save`."""
    if index is None:
        return None
    values = index.to_numpy()
    return [index.name, values.dtype.str, values.tolist()]


def _index_from(saved: Sequence[Any] | None) -> Any:
    """Return the saved index, or None without pandas."""
    if saved is None:
        return None
    try:
        import pandas
    except ImportError:
        return None
    name, dtype, values = saved
    values = [tuple(v) if isinstance(v, list) else v for v in values]
    return pandas.Index(values if "O" in dtype else np.asarray(values, dtype), name=name)


def _plain(value: Any) -> Any:
    """Return a value in a form for JSON."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if hasattr(value, "to_numpy"):
        return np.column_stack([value["q01"], value["q10"]]).tolist()
    if isinstance(value, (bool, int, float, str)) or value is None:
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, Sequence):
        return [_plain(v) for v in value]
    return None


def _columns(table: Mapping[str, npt.NDArray[Any]] | None) -> dict[str, Any] | None:
    return None if table is None else {k: [v.dtype.str, v.tolist()] for k, v in table.items()}


def _arrays_of(table: Mapping[str, Any] | None) -> dict[str, npt.NDArray[Any]] | None:
    if table is None:
        return None
    return {str(k): np.asarray(v, dtype="O" if "O" in d else d) for k, (d, v) in table.items()}
