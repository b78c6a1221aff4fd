"""Tables: DataFrames if pandas is installed, else dictionaries of arrays."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np

__all__ = ["Table", "frame", "is_table"]

if TYPE_CHECKING:
    from pandas import DataFrame as Table  # which is Any if pandas is not installed
else:
    #: A ``pandas.DataFrame``, or without pandas a dictionary of arrays of equal length.
    Table = Any


def is_table(value: object) -> bool:
    """Report whether a value has the attributes of a DataFrame."""
    return hasattr(value, "columns") and hasattr(value, "iloc")


def frame(columns: Mapping[str, Any], *, index: Any = None, index_name: str | None = None, **attributes: Any) -> Table:
    """Return columns as a table.

    Parameters
    ----------
    columns : mapping of str to array
        The columns, in order.
    index : sequence or pandas.Index, optional
        Names of the rows. A dictionary holds it as a column `index_name` or ``"index"``.
    index_name : str, optional
        Name of the index.
    **attributes
        The ``attrs`` of a DataFrame. A dictionary has none.

    Returns
    -------
    Table
    """
    if importlib.util.find_spec("pandas") is None:
        arrays: Any = {name: np.asarray(values) for name, values in columns.items()}
        if index is not None:
            arrays = {index_name or "index": np.asarray(index), **arrays}
        return cast("Table", arrays)
    pandas = importlib.import_module("pandas")
    table: Table = pandas.DataFrame(dict(columns), index=index)
    if index_name is not None:
        table.index.name = index_name
    table.attrs.update(attributes)
    return table
