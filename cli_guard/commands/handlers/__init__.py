"""Handlers of programs whose words no table can describe; a table names the function as `handler`."""

from collections.abc import Callable
from importlib import import_module

from cli_guard.commands.effects.call import Call
from cli_guard.commands.scope import Stream


def find_handler(name: str) -> Callable[[Call], Stream]:
    """Return the function that a table names, such as `files.find`; its module is loaded at the first use."""
    module, _, function = name.partition(".")
    handler: Callable[[Call], Stream] = getattr(
        import_module(f"{__name__}.{module}"), function
    )
    return handler
