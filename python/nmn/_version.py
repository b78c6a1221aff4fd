"""The version of the package; in a wheel, that of the wheel."""

__version__ = "0+source"
