"""cli-guard reviews a change at the moment Git is about to record it."""

__version__ = "0.1.0"
