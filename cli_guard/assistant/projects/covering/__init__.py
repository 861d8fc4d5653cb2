"""Which tests cover some paths or symbols, why, and the command that runs exactly these."""

from cli_guard.assistant.projects.covering.coverage import coverage_of
from cli_guard.assistant.projects.covering.finding import tests_for

__all__ = ["coverage_of", "tests_for"]
