"""The settings in force, each with where it comes from: the defaults, the repository, the user's own file."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from cli_guard.model import Disposition, Presence
from cli_guard.policy.config import DEFAULT_DECISIONS, Config
from cli_guard.policy.decisions import Policy, stricter

Place = tuple[str, ...]
USER = "the user's own file"
BARE = re.compile(r"[A-Za-z0-9_-]+")


def leaves(data: Mapping[str, Any], place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Yield the values of nested tables with their keys; None is not set."""
    for key, value in data.items():
        if isinstance(value, dict) and value:
            yield from leaves(value, (*place, key))
        elif value is not None:
            yield (*place, key), value


def settings_in_force(policy: Policy) -> Iterator[tuple[Place, Any, str]]:
    """Yield each key with its value and its source."""
    every = Config(decisions=DEFAULT_DECISIONS).model_dump(mode="json")
    found = {place: (value, "default") for place, value in leaves(every)}
    own = policy.user.model_dump(mode="json", exclude_unset=True) if policy.user else {}
    for place, value in leaves(policy.config.model_dump(mode="json", exclude_unset=True)):
        found[place] = (value, policy.sources[0])
    for place, value in leaves(own):
        old, source = found.get(place, (value, USER))
        new = tighten(place, old, value)
        both = isinstance(new, list) and old and value != old
        found[place] = (new, f"{source} and {USER}" if both else source if new == old else USER)
    for place in sorted(found, key=lambda each: (len(each) > 1, each)):
        if found[place][0] != {}:
            yield place, *found[place]


def tighten(place: Place, old: Any, own: Any) -> Any:
    """Return what a user's own value makes of the repository's: the stricter one, or both lists."""
    if isinstance(old, list) and isinstance(own, list):
        return [*old, *(each for each in own if each not in old)]
    if place[0] in ("decisions", "rules"):
        return str(stricter(Disposition(old), Disposition(own)))
    if place[0] == "approvals" and isinstance(old, str):
        return str(Presence.highest((Presence(old), Presence(own))))
    if place == ("approvals", "author_may_approve"):
        return old and own
    return max(old, own) if place[:2] == ("approvals", "threshold") else own if old != "conventional" else old


def toml_value(value: Any) -> str:
    """Format a value in one line of TOML."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        pairs = ((toml_key(key), toml_value(each)) for key, each in value.items() if each is not None)
        return f"{{{', '.join(f'{key} = {each}' for key, each in pairs)}}}"
    return f"[{', '.join(map(toml_value, value))}]" if isinstance(value, list | tuple) else str(value)


def toml_key(*place: str) -> str:
    """Format a key, or a path of keys."""
    return ".".join(each if BARE.fullmatch(each) else toml_value(each) for each in place)
