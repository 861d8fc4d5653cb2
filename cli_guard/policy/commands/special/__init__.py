"""Programs whose words a table cannot describe; a table names the function by `handler`."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from cli_guard.policy.commands.call import Call
from cli_guard.policy.commands.scope import Stream
from cli_guard.policy.commands.special import (
    arithmetic,
    builtins,
    files,
    git,
    network,
    printing,
    runners,
    tools,
)

HANDLERS: Mapping[str, Callable[[Call], Stream]] = MappingProxyType(
    {
        **arithmetic.HANDLERS,
        **builtins.HANDLERS,
        **files.HANDLERS,
        **git.HANDLERS,
        **network.HANDLERS,
        **printing.HANDLERS,
        **runners.HANDLERS,
        **tools.HANDLERS,
    }
)
