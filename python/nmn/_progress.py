"""A progress bar for terminals and notebooks."""

from __future__ import annotations

import json
import warnings
from typing import Any


class Bar:
    """A tqdm bar, or nothing if tqdm is not installed.

    Parameters
    ----------
    title
        Text before the bar, unless the program sends a title.
    """

    def __init__(self, title: str) -> None:
        self._title = title
        self._shown: Any = None
        self._of: tuple[str, int] | None = None

    def take(self, line: str) -> bool:
        """Move the bar, and report whether the line was a progress event.

        Parameters
        ----------
        line
            A JSON object with the key ``progress``.
        """
        try:
            event = json.loads(line)["progress"]
            title, done, total = str(event.get("title") or self._title), int(event["done"]), int(event["total"])
        except (ValueError, KeyError, TypeError, AttributeError):
            return False
        if self._of != (title, total):
            self._of = title, total
            self._begin(title, total, str(event.get("unit") or "it"))
        if self._shown is not None:
            if isinstance(event.get("loss"), (int, float)):
                self._shown.set_postfix_str(f"loss {event['loss']:.3f}", refresh=False)
            self._shown.update(done - self._shown.n)
        return True

    def _begin(self, title: str, total: int, unit: str) -> None:
        self.close()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # without widgets, notebooks show text bars
                from tqdm.auto import tqdm
        except ImportError:
            return
        self._shown = tqdm(total=total, desc=title, unit=unit)

    def close(self) -> None:
        """End the bar, which stays visible."""
        if self._shown is not None:
            self._shown.close()
            self._shown = None
