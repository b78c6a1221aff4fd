"""The interface of a scikit-learn estimator, without importing scikit-learn until it is needed."""

from __future__ import annotations

import copy
import inspect
import sys
import warnings
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

_Self = TypeVar("_Self", bound="Parameters")


class Parameters:
    """Parameters of the constructor, by name."""

    # For releases before 1.6. Later ones use __sklearn_tags__.
    _estimator_type = "classifier"

    @classmethod
    def _names(cls) -> list[str]:
        return sorted(n for n in inspect.signature(cls).parameters)

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        """Return the parameters.

        Parameters
        ----------
        deep : bool
            Without effect, because no parameter is an estimator.

        Returns
        -------
        dict
        """
        return {name: getattr(self, name) for name in self._names()}

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
        for name, value in params.items():
            if name not in names:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: {names!r}. Any other "
                    f"setting of `nmn train` goes into `options`"
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        changed = [
            f"{name}={value!r}" for name, value in self.get_params().items() if not _same(value, defaults[name].default)
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
            `score` accepts `sample_weight` after `set_score_request`.
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
        requests = self._requests()
        requests.score.add_request(param="sample_weight", alias=sample_weight)
        self._metadata_request = requests  # which clone copies
        return self

    def _requests(self) -> Any:
        found = self.__dict__.get("_metadata_request")
        if found is not None:
            return found
        from sklearn.utils.metadata_routing import MetadataRequest

        requests = MetadataRequest(owner=type(self).__name__)
        requests.score.add_request(param="sample_weight", alias=None)
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
