"""The interface of a scikit-learn estimator, without importing scikit-learn until it is needed."""

from __future__ import annotations

import copy
import inspect
import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from nmn import _arrays, _labels

_Self = TypeVar("_Self", bound="Parameters")


class Parameters:
    """Parameters of the constructor, by name."""

    # For releases before 1.6. Later ones use __sklearn_tags__.
    _estimator_type = "classifier"

    @classmethod
    def _names(cls) -> list[str]:
        return sorted(n for n in inspect.signature(cls).parameters)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters.

        Parameters
        ----------
        deep : bool
            Include the parameters of a parameter that is an estimator, as ``name__parameter``.

        Returns
        -------
        dict
        """
        own = {name: getattr(self, name) for name in self._names()}
        inner = {name: value for name, value in own.items() if deep and _is_estimator(value)}
        return own | {f"{name}__{k}": v for name, value in inner.items() for k, v in value.get_params().items()}

    def set_params(self: _Self, **params: Any) -> _Self:
        """Set parameters.

        Parameters
        ----------
        **params
            New values by name.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For a name that is no parameter.
        """
        names = self._names()
        inner: dict[str, dict[str, Any]] = {}
        for name, value in params.items():
            of, _, parameter = name.partition("__")
            if parameter and of in names and (of in params or _is_estimator(getattr(self, of))):
                inner.setdefault(of, {})[parameter] = value
                continue
            if name not in names:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: {names!r}. Any other "
                    f"setting of `nmn train` goes into `options`"
                )
            setattr(self, name, value)
        for of, values in inner.items():
            getattr(self, of).set_params(**values)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params(deep=False).items()
            if not _same(value, defaults[name].default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def _repr_html_(self) -> str | None:
        """Return scikit-learn's diagram for notebooks, unless its settings ask for text."""
        try:
            import sklearn
            from sklearn.utils import estimator_html_repr
        except ImportError:
            return None
        if sklearn.get_config()["display"] != "diagram":
            return None
        diagram: str = estimator_html_repr(self)
        return diagram

    def get_metadata_routing(self) -> Any:
        """Return the metadata that methods accept, for the metadata routing of scikit-learn.

        Returns
        -------
        MetadataRequest
            `score` accepts `sample_weight` after `set_score_request`, and `fit` after `set_fit_request`.
        """
        return copy.deepcopy(self._requests())

    def set_score_request(self: _Self, *, sample_weight: bool | str | None) -> _Self:
        """Set whether scikit-learn's metadata routing passes weights to `score`.

        Parameters
        ----------
        sample_weight : bool, str or None
            True passes ``sample_weight`` to `score`, a text passes the metadata of this name, False passes nothing, and
            None makes ``sample_weight`` an error.

        Returns
        -------
        self
        """
        return self._request("score", sample_weight)

    def _request(self: _Self, method: str, sample_weight: bool | str | None) -> _Self:
        requests = self._requests()
        getattr(requests, method).add_request(param="sample_weight", alias=sample_weight)
        self._metadata_request = requests  # which clone copies
        return self

    def _requests(self) -> Any:
        found = self.__dict__.get("_metadata_request")
        if found is not None:
            return found
        from sklearn.utils.metadata_routing import MetadataRequest

        requests = MetadataRequest(owner=type(self).__name__)
        for method in ("fit", "score"):
            if "sample_weight" in inspect.signature(getattr(type(self), method)).parameters:
                getattr(requests, method).add_request(param="sample_weight", alias=None)
        return requests

    def __sklearn_tags__(self) -> Any:
        """Return the tags of the estimator, for scikit-learn from 1.6 on."""
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(multi_label=True),
            input_tags=InputTags(),
        )

    def _more_tags(self) -> dict[str, Any]:
        """Return the tags of the estimator, for releases before 1.6."""
        return {"requires_y": True, "multilabel": True}


class Classifier(Parameters):
    """What the classifiers for noisy labels have in common."""

    classes_: npt.NDArray[Any]
    unknown: Any
    _form: str

    def predict(self, X: Any) -> Any:
        """Return the labels of each row."""
        raise NotImplementedError

    def set_fit_request(self: _Self, *, sample_weight: bool | str | None) -> _Self:
        """Set whether scikit-learn's metadata routing passes weights to `fit`.

        Parameters
        ----------
        sample_weight : bool, str or None
            As for `set_score_request`.

        Returns
        -------
        self
        """
        return self._request("fit", sample_weight)

    def _refuse(self, given: Mapping[str, Any]) -> None:
        given = {k: v for k, v in given.items() if v is not None}
        if given:
            raise TypeError(f"fit() got an unexpected keyword argument {next(iter(given))!r}")

    def _checked_labels(self, y: Any, rows: int, classes: Sequence[Any] | None = None) -> _labels.Labels:
        """Return the labels of rows, of two or more classes."""
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None: pass labels")
        column: tuple[int, ...] = getattr(y, "shape", ())
        one = None
        if len(column) == 2 and column[1] == 1 and not _arrays.is_sparse(y):
            warn_column(y)
            one = True
        labels = _labels.labels_of(y, classes=classes, name="y", one=one, unknown=self.unknown)
        check_same_rows(rows, len(labels))
        known = ~labels.unknown_rows()
        if not known.any():
            raise ValueError("y holds no known label: pass 1 and 0, or names, for some rows at least")
        if labels.exclusive and len(labels.classes) < 2:
            raise ValueError(
                f"y holds only one class, {labels.classes.tolist()[0]!r}, in {len(labels)} samples: a classifier needs "
                f"rows of at least two. Pass several labels for each row as a matrix or lists"
            )
        return labels

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of rows whose labels are all predicted correctly.

        Parameters
        ----------
        X : array, memory map or DataFrame of shape (n_samples, n_features), or path of a .npy
            Features.
        y : array, Series, DataFrame, sparse matrix, lists or path of a .npy
            Labels, as for `fit`. Unknown labels do not count.
        sample_weight : array of shape (n_samples,), optional
            Weight of each row.

        Returns
        -------
        float
        """
        predicted = self.predict(X)
        if self._form == "one":
            classes = _all_classes(y, self.classes_, self.unknown)
            given = _labels.labels_of(y, classes=classes, name="y", one=True, unknown=self.unknown)
            assert given.numbers is not None
            check_same_rows(len(predicted), len(given))
            known = given.numbers >= 0
            right = given.classes[given.numbers[known]] == np.asarray(predicted)[known]
            weights = None if sample_weight is None else np.asarray(sample_weight)[known]
            return float(np.average(right, weights=weights))
        names = list(self.classes_)
        want = _labels.labels_of(y, classes=names, name="y").indicator()
        got = _labels.labels_of(predicted, classes=names).indicator() if self._form == "names" else predicted
        check_same_rows(len(got), len(want))
        right = ((got == want) | (want == _labels.UNKNOWN)).all(axis=1)
        return float(np.average(right, weights=sample_weight))


def _is_estimator(value: Any) -> bool:
    return hasattr(value, "get_params") and not isinstance(value, type)


def _same(value: Any, default: Any) -> bool:
    try:
        return value is default or bool(type(value) is type(default) and value == default)
    except ValueError:  # arrays
        return False


def check_same_rows(rows: int, labels: int) -> None:
    """Refuse features and labels of different lengths.

    Raises
    ------
    ValueError
        If they differ.
    """
    if rows != labels:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {rows} rows and y {labels}: pass one "
            f"row of labels for each row of X"
        )


def check_matrix(shape: tuple[int, ...]) -> None:
    """Refuse features that are not a matrix with rows and columns.

    Raises
    ------
    ValueError
        If they are not.
    """
    if len(shape) != 2:
        got = {0: "scalar array", 1: "1D array"}.get(len(shape), f"array with dim {len(shape)}")
        raise ValueError(
            f"Expected 2D array, got {got} instead: X has shape {shape}. Reshape your data: X.reshape(len(X), -1) "
            f"makes a row for each sample, X.reshape(1, -1) one row of a single one"
        )
    if shape[0] == 0:
        raise ValueError(f"Found array with 0 sample(s) (shape={shape}) while a minimum of 1 is required: X is empty")
    if shape[1] == 0:
        raise ValueError(f"0 feature(s) (shape={shape}) while a minimum of 1 is required: X has no column")


def not_fitted(estimator: object) -> Exception:
    """Return the error for an estimator that was not fitted: scikit-learn's, if installed."""
    message = f"This {type(estimator).__name__} instance is not fitted yet: call fit(X, y) first, or load a saved one"
    try:
        from sklearn.exceptions import NotFittedError
    except ImportError:
        return NotFitted(message)
    error: Exception = NotFittedError(message)
    return error


class NotFitted(ValueError, AttributeError):
    """An estimator was used before it was fitted."""


def warn_column(y: Any) -> None:
    """Warn that a matrix or table of one column is read as one label for each row."""
    kind: type[Warning] = UserWarning
    if "sklearn" in sys.modules:
        from sklearn.exceptions import DataConversionWarning

        kind = DataConversionWarning
    warnings.warn(
        f"A column-vector y was passed when a 1d array was expected: y has shape {tuple(y.shape)} and is taken as one "
        f"label for each row; pass {'y.iloc[:, 0]' if hasattr(y, 'iloc') else 'y.ravel()'}",
        kind,
        stacklevel=4,
    )


def feature_names(X: Any) -> npt.NDArray[Any] | None:
    """Return the columns of a table if all are text. A mixture is an error.

    Raises
    ------
    TypeError
        If some are text and some are not.
    """
    columns = getattr(X, "columns", None)
    if columns is None or not hasattr(X, "shape"):
        return None
    names = list(columns)
    text = [isinstance(n, str) for n in names]
    if not names or not any(text):
        return None
    if not all(text):
        kinds = sorted({type(n).__name__ for n in names})
        raise TypeError(
            f"Feature names are only supported if all input features have string names, but your input has {kinds} as "
            f"feature name / column name types: X.columns = X.columns.astype(str) makes them so"
        )
    return np.asarray(names, dtype=object)


def check_feature_names(estimator: object, X: Any) -> None:
    """Compare the columns of a table with the columns in `fit`.

    Raises
    ------
    ValueError
        If names or order differ.
    """
    fitted = getattr(estimator, "feature_names_in_", None)
    given = feature_names(X)
    name = type(estimator).__name__
    if fitted is None and given is None:
        return
    if fitted is None:
        warnings.warn(f"X has feature names, but {name} was fitted without feature names", UserWarning, stacklevel=4)
        return
    if given is None:
        warnings.warn(
            f"X does not have valid feature names, but {name} was fitted with feature names", UserWarning, stacklevel=4
        )
        return
    if len(fitted) == len(given) and (fitted == given).all():
        return
    raise ValueError(_other_names(list(fitted), list(given)))


def _other_names(fitted: list[str], given: list[str]) -> str:
    def listed(names: list[str]) -> str:
        return "".join(f"- {n}\n" for n in names[:5]) + ("- ...\n" if len(names) > 5 else "")

    message = "The feature names should match those that were passed during fit.\n"
    unexpected, missing = sorted(set(given) - set(fitted)), sorted(set(fitted) - set(given))
    if unexpected:
        message += "Feature names unseen at fit time:\n" + listed(unexpected)
    if missing:
        message += "Feature names seen at fit time, yet now missing:\n" + listed(missing)
    if not missing and not unexpected:
        message += "Feature names must be in the same order as they were in fit.\n"
    return message


def seed(random_state: Any) -> int | None:
    if random_state is None:
        return None
    if isinstance(random_state, (int, np.integer)) and random_state >= 0:
        return int(random_state)
    if hasattr(random_state, "randint"):
        return int(random_state.randint(1, 2**31 - 1))
    if hasattr(random_state, "integers"):
        return int(random_state.integers(1, 2**31 - 1))
    raise ValueError(f"random_state is {random_state!r}: pass an integer from 0, a RandomState, or None for the seed 1")


def _all_classes(y: Any, classes: npt.NDArray[Any], unknown: Any) -> list[Any]:
    """Return the classes, then classes that occur only in y. Predictions for the latter are wrong."""
    known = [c.item() if isinstance(c, np.generic) else c for c in classes]
    found = _labels.labels_of(y, name="y", one=True, unknown=unknown).classes
    plain = [c.item() if isinstance(c, np.generic) else c for c in found]
    return known + [c for c in plain if c not in set(known)]


def index_of(table: Any) -> Any:
    """Return the index of a table or a Series, or None."""
    return table.index if hasattr(table, "iloc") and hasattr(table, "index") else None


def index_of_rows(X: Any, y: Any) -> Any:
    """Return the index of X or y, or None. Warn if both name the same rows in another order."""
    index, other = index_of(X), index_of(y)
    if index is None or other is None:
        return other if index is None else index
    numbered = any(type(i).__name__ == "RangeIndex" for i in (index, other))
    if not numbered and not index.equals(other) and index.isin(other).all() and other.isin(index).all():
        warnings.warn(
            "X and y have the same row names in another order, and are joined by position: if rows belong together "
            "by name, pass y.loc[X.index]",
            UserWarning,
            stacklevel=3,
        )
    return index


def table(columns: Mapping[str, npt.NDArray[Any]], index: Any = None) -> Any:
    """Return columns as a DataFrame if pandas is installed, else as a structured array."""
    try:
        import pandas
    except ImportError:
        kinds = [(name, values.dtype if values.dtype.kind != "U" else "O") for name, values in columns.items()]
        out = np.empty(len(next(iter(columns.values()))), dtype=kinds)
        for name, values in columns.items():
            out[name] = values
        return out
    return pandas.DataFrame(dict(columns), index=index)
