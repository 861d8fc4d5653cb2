"""What a coding agent wants to do: typed uses of its tools."""

from collections.abc import Iterator, Mapping
from typing import Any

from cli_guard.agents.payload import parse
from cli_guard.lazy import frozen

# The largest request, in bytes: a tool that writes a file sends all of it.
LARGEST = 20_000_000


@frozen
class ShellKind:
    """A shell command, and the folder it runs in, relative to that of the request."""

    command: str
    folder: str = ""


@frozen
class Write:
    """A file that is written or removed: the text that is new, and the text that it replaces.

    `whole` is the text after the write, where a tool gives it; `edits` are the texts that are replaced, each with its
    replacement, in order.
    """

    path: str
    added: str = ""
    removed: str = ""
    whole: str | None = None
    edits: tuple[tuple[str, str], ...] = ()

    def apply(self, text: str) -> str:
        """Return the text after the write; a replacement whose place is not found is added at the end."""
        if self.whole is not None:
            return self.whole
        for old, new in self.edits:
            is_found = bool(old) and old in text
            text = text.replace(old, new, 1) if is_found else f"{text}\n{new}".lstrip("\n")
        return text


@frozen
class Read:
    path: str


@frozen
class Fetch:
    """A request to the web: the text with the address, and all that is sent with it."""

    text: str


@frozen
class McpCall:
    """A call of an MCP tool. `names` are the pairs of server ("" if not known) and tool that its name can mean."""

    names: tuple[tuple[str, str], ...]
    given: Mapping[str, Any]


Use = ShellKind | Write | Read | Fetch | McpCall


@frozen
class AgentRequest:
    """One request of an agent.

    `folder` is its current one; `silent` is why nobody can be asked, "" if it asks. `keeps_rules`: after an allow the
    agent still applies the user's own deny and ask rules.
    """

    uses: tuple[Use, ...]
    folder: str = ""
    silent: str = ""
    keeps_rules: bool = False


def read_object(raw: bytes) -> dict[str, Any]:
    """Parse a request. Raises ValueError."""
    if len(raw) > LARGEST:
        raise ValueError(
            f"the request is longer than {LARGEST:,} bytes: do it in smaller steps"
        )
    return as_object(parse(raw), "the request")


def as_object(value: object, what: str) -> dict[str, Any]:
    """Return an object, also one that is given as JSON in a text. Raises ValueError."""
    if isinstance(value, str):
        value = parse(value.encode("utf-8", "surrogatepass"))
    if not isinstance(value, dict):
        raise ValueError(f"{what} is not an object")
    return value


def texts_in(value: object) -> Iterator[str]:
    """Yield every text in plain data, the keys of objects too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield str(key)
            yield from texts_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from texts_in(each)
