"""What a developer's request is: its kind, its risk, and what it names. The rules are data: rules/requests.toml."""

from cli_guard.model import TaskType
from cli_guard.requests.classifying import classify
from cli_guard.requests.model import Classification, Risk, Targets
from cli_guard.requests.naming import targets
from cli_guard.requests.shapes import leaves
from cli_guard.requests.text import normalise

__all__ = ["Classification", "Risk", "Targets", "TaskType", "classify", "leaves", "normalise", "targets"]
