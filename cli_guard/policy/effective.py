"""The settings in force, each with where it comes from: the defaults, the repository, the user's own file."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from cli_guard.model import Disposition, Presence
from cli_guard.policy.config import DEFAULT_DECISIONS, Config
from cli_guard.policy.decisions import Policy, stricter

Place = tuple[str, ...]
BARE = re.compile(r"[A-Za-z0-9_-]+")
USER = "the user's own file"


def leaves(data: Mapping[str, Any], place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Yield the values of nested tables with their keys; None and an empty table set nothing."""
    for key, value in data.items():
        if isinstance(value, dict):
            yield from leaves(value, (*place, key))
        elif value is not None:
            yield (*place, key), value


def settings_in_force(policy: Policy) -> list[tuple[Place, Any, str]]:
    """Return each key with its value and its source, those outside a table first."""
    defaults = Config(decisions=DEFAULT_DECISIONS).model_dump(mode="json")
    found = {place: (value, "default") for place, value in leaves(defaults)}
    for place, value in leaves(policy.config.model_dump(mode="json", exclude_unset=True)):
        found[place] = (value, policy.sources[0])
    for place, value in leaves(
        (policy.user or Config()).model_dump(mode="json", exclude_unset=True)
    ):
        old, source = found.get(place, (value, USER))
        new = tighten(place, old, value)
        both = f"{source} and {USER}" if isinstance(new, list) and old else USER
        found[place] = (new, source if new == old else both)
    return [
        (place, *found[place])
        for place in sorted(found, key=lambda each: (len(each) > 1, each))
    ]


def tighten(place: Place, old: Any, own: Any) -> Any:
    """Return what a user's own value makes of the repository's: the stricter one, or both lists."""
    if isinstance(old, list):
        return [*old, *(each for each in own if each not in old)]
    if place[0] in ("decisions", "rules"):
        return str(stricter(Disposition(old), Disposition(own)))
    if place[0] != "approvals":
        return old if old == "conventional" else own
    if isinstance(old, bool):
        return old or own if place[1] == "push" else old and own
    return (
        str(Presence.highest((Presence(old), Presence(own))))
        if isinstance(old, str)
        else max(old, own)
    )


def toml_value(value: Any) -> str:
    """Format a value in one line of TOML."""
    if isinstance(value, dict):
        pairs = (
            f"{toml_key(key)} = {toml_value(each)}"
            for key, each in value.items()
            if each is not None
        )
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_key(*place: str) -> str:
    """Format a key, or a path of keys."""
    return ".".join(each if BARE.fullmatch(each) else toml_value(each) for each in place)
