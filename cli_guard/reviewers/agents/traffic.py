"""Traffic that settings send elsewhere: addresses of services, proxies, and variables by which programs load code."""

import re
from collections.abc import Iterator, Mapping
from functools import cache

from cli_guard.reviewers.agents.statements import SurfaceStatement
from cli_guard.rules.catalog import read_table

LOOPBACK = re.compile(
    r"(?i)(?:[a-z]+://)?(?:[^/@\s]*@)?(?:localhost|127(?:\.\d+){3}|\[::1\]|0\.0\.0\.0|host\.docker\.internal)(?::\d+)?(?:[/?#].*)?"
)
HOST = re.compile(r"(?i)(?:[a-z][a-z+.-]*://)?(?:[^/@\s]*@)?([\w.-]+)")


@cache
def variables() -> tuple[tuple[re.Pattern[str], str, str], ...]:
    """Return for each sort of variable its names, what it means, and the values that mean nothing."""
    table = read_table("agents/servers.toml")["variable"]
    return tuple(
        (re.compile(each["names"]), each["says"], each.get("unless", "")) for each in table
    )


@cache
def own_hosts() -> frozenset[str]:
    """Return the hosts of the services that the tools are made for."""
    table: Mapping[str, str] = read_table("agents/servers.toml")["hosts"]
    return frozenset(table["services"].split())


def diversion_of(statement: SurfaceStatement) -> str:
    """Return in words what a statement sends elsewhere or loads, "" if nothing."""
    if statement.entry.word("read") == "address":
        if is_own_address(statement.value):
            return ""
        return f"{statement.name} is another address: what the tool sends, keys too, goes there"
    name = statement.name.rpartition(".")[2]
    return next(meanings(name, statement.value), "")


def meanings(name: str, value: str) -> Iterator[str]:
    for names, says, unless in variables():
        if names.fullmatch(name) and not (unless and re.fullmatch(unless, value)):
            is_address = "address" in says
            if not (is_address and is_own_address(value)):
                yield says.replace("{name}", name)


def is_own_address(value: str) -> bool:
    """Return whether an address is on this machine, or the tool's own service."""
    text = value.strip()
    if not text or LOOPBACK.fullmatch(text):
        return True
    found = HOST.match(text)
    return found is not None and found[1].lower() in own_hosts()
