"""Path and name patterns: `*` within a folder, `**` across folders, `?` one character, `/` at the start the root.

Matched by an automaton whose states are the bits of a number: a regular expression with a dozen stars takes practically
forever for a crafted path, and paths come from the author of a change.
"""

import difflib
from collections.abc import Iterable
from functools import lru_cache

from cli_guard.lazy import frozen


@frozen
class Automaton:
    """A pattern, one bit a position in it.

    `steps` are the positions that a given character advances, `names` those that any character but `/` advances.
    `in_folder` are kept by any character but `/`, `anywhere` by every character. `skips` may be left out, `optional`
    together with the next position.
    """

    steps: dict[str, int]
    names: int
    in_folder: int
    anywhere: int
    skips: int
    optional: int
    end: int

    def reach(self, states: int) -> int:
        """Return the states, and all that are reached from them without reading a character."""
        while True:
            more = states | (states & self.skips) << 1 | (states & self.optional) << 2
            if more == states:
                return states
            states = more


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> Automaton:
    steps: dict[str, int] = {}
    names = in_folder = anywhere = skips = optional = 0
    position = 0
    bit = 1
    while position < len(pattern):
        if pattern.startswith("**/", position):
            # Nothing, or any text up to a slash: one bit to choose at, one to stay at.
            optional |= bit
            skips |= bit
            bit <<= 1
            anywhere |= bit
            steps["/"] = steps.get("/", 0) | bit
            position += 3
        elif pattern.startswith("**", position):
            anywhere |= bit
            skips |= bit
            position += 2
        else:
            char = pattern[position]
            if char == "*":
                in_folder |= bit
                skips |= bit
            elif char == "?":
                names |= bit
            else:
                steps[char] = steps.get(char, 0) | bit
            position += 1
        bit <<= 1
    return Automaton(steps, names, in_folder, anywhere, skips, optional, bit)


@lru_cache(maxsize=4_096)
def matches(pattern: str, path: str) -> bool:
    """Return whether the whole path matches. A pattern without a slash matches the name in any folder."""
    if pattern.startswith("/"):
        # A file at the root alone, as in gitignore(5); `/` itself is what has no path, like a message.
        pattern = pattern[1:]
    elif "/" not in pattern:
        path = path.rsplit("/", 1)[-1]
    made = compile_pattern(pattern)
    states = made.reach(1)
    for char in path:
        passes = made.steps.get(char, 0)
        stays = made.anywhere
        if char != "/":
            passes |= made.names
            stays |= made.in_folder
        states = made.reach((states & passes) << 1 | states & stays)
        if not states:
            return False
    return bool(states & made.end)


# Prefix of the ids of a repository's own rules.
USERS_RULE = "user-"


def rule_matches(pattern: str, rule: str) -> bool:
    """Return whether a rule id matches an id or a prefix with `*`."""
    return rule.startswith(pattern[:-1]) if pattern.endswith("*") else rule == pattern


def nearest(word: str, known: Iterable[str]) -> str:
    """Return `; did you mean 'x'?` for the nearest known word, or nothing."""
    close = difflib.get_close_matches(word, list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
