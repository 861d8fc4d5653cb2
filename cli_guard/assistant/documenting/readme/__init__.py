"""Sections of a README, each grounded in files: how to install, run, configure and test what is here."""

from cli_guard.assistant.documenting.readme.sections import readme_sections

__all__ = ["readme_sections"]
