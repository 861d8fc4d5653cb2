"""What a developer's request is: its kind, its risk, and what it names. The rules are data: rules/requests.toml."""

from cli_guard.assistant.requests.classifying import classify
from cli_guard.assistant.requests.model import Classification, Risk, Targets
from cli_guard.assistant.requests.naming import targets
from cli_guard.assistant.requests.shapes import leaves
from cli_guard.graph.state import normalise
from cli_guard.model import TaskType

__all__ = ["Classification", "Risk", "Targets", "TaskType", "classify", "leaves", "normalise", "targets"]
