"""The version of the package, known where it is not installed too."""

__version__ = "0.1.0"
