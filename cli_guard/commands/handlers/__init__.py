"""Handlers of programs whose words no table can describe; a table names the function as `handler`."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from cli_guard.commands.effects.call import Call
from cli_guard.commands.handlers import (
    builtins,
    files,
    git,
    network,
    printing,
    runners,
    tools,
)
from cli_guard.commands.scope import Stream

HANDLERS: Mapping[str, Callable[[Call], Stream]] = MappingProxyType(
    {
        name: handler
        for module in (builtins, files, git, network, printing, runners, tools)
        for name, handler in module.HANDLERS.items()
    }
)
