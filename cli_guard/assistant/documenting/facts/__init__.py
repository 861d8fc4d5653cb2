"""What the body of a definition shows: results, errors, effects, and what it does with each parameter."""

from cli_guard.assistant.documenting.facts.bodies import Body, read_body
from cli_guard.assistant.documenting.facts.effects import effects, environment
from cli_guard.assistant.documenting.facts.errors import Raised, raised
from cli_guard.assistant.documenting.facts.results import results, yielded
from cli_guard.assistant.documenting.facts.uses import used

__all__ = ["Body", "Raised", "effects", "environment", "raised", "read_body", "results", "used", "yielded"]
