"""What a repository's own files say one can run, and which tests cover what: texts in, answers out, never run."""

from cli_guard.assistant.projects.advising import about_git, advise
from cli_guard.assistant.projects.commands import commands_of
from cli_guard.assistant.projects.covering.finding import tests_for
from cli_guard.assistant.projects.model import (
    Advice,
    Covering,
    CoveringTest,
    Failure,
    Part,
    ProjectCommand,
    Purpose,
    Simulated,
)
from cli_guard.assistant.projects.simulating import simulate

__all__ = [
    "Advice",
    "Covering",
    "CoveringTest",
    "Failure",
    "Part",
    "ProjectCommand",
    "Purpose",
    "Simulated",
    "about_git",
    "advise",
    "commands_of",
    "simulate",
    "tests_for",
]
