"""The assistant's half of the program (assistant, llm, mcp), named here alone.

No module of the guard imports that half: what the guard offers of it is found by these names when it is asked for,
and everything else works without it.
"""

from importlib import import_module
from typing import Any

from cli_guard.errors import CliGuardError
from cli_guard.runtime import missing_extra

ROOMS = ("assistant", "llm", "mcp")
# Commands of the command line, by their names.
COMMANDS = {
    name: f"cli_guard.assistant.commands.{name}:command"
    for name in ("ask", "chat", "shell", "mcp", "undo")
}
# What commands and the graph of the guard hand over to it.
SERVICES = {
    "the assistant": "cli_guard.assistant.local:LocalAssistant",
    "an explanation": "cli_guard.assistant.commands.explain:explain_subject",
    "the approval of a request": "cli_guard.assistant.commands.approve:approve_asked",
    "advice on a commit": "cli_guard.assistant.commands.advise:find_advice",
    "advice after a hook": "cli_guard.assistant.commands.advise:ask_in_background",
}


def load(name: str) -> Any:
    """Import what a name stands for. Raises CliGuardError if that half is not installed."""
    place = COMMANDS.get(name) or SERVICES[name]
    module, _, attribute = place.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if not missing.startswith(tuple(f"cli_guard.{room}" for room in ROOMS)):
            raise
    said = f"`cli-guard {name}`" if name in COMMANDS else name
    raise CliGuardError(missing_extra(said, "llm"))
