"""What a repository's own files say one can run, and which tests cover what: texts in, answers out, never run."""

from cli_guard.assistant.projects.advising import advise
from cli_guard.assistant.projects.commands import commands_of
from cli_guard.assistant.projects.covering import tests_for
from cli_guard.assistant.projects.files import Covering, ProjectCommand
from cli_guard.assistant.projects.running import simulate

__all__ = ["Covering", "ProjectCommand", "advise", "commands_of", "simulate", "tests_for"]
