"""What a jq filter does: it computes, but it can read the environment and load modules."""

import re
from collections.abc import Iterator

from cli_guard.commands.inline.model import Act, NotUnderstood, environment, variable
from cli_guard.commands.model import EffectKind

TOKEN = re.compile(
    r"""(?P<space>(?:\s|\#[^\n]*)+)
    |(?P<name>\$?[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*|@\w+)
    |(?P<number>\d+\.?\d*(?:[eE][+-]?\d+)?)
    |(?P<mark>\?//=?|[-+*/%|]?=|//=|\.\.|//|[<>!=]=|[-.\[\]{}()|,:;+*/%<>?$])""",
    re.VERBOSE,
)
# The rest of a string, up to its end or to a filter in it.
TEXT = re.compile(r'(?:[^"\\]|\\[^(])*("|\\\()')
KEY = re.compile(r'\s*(?:\.\s*([A-Za-z_]\w*)|\.?\s*\[\s*"([^"\\]*)"\s*\]|\.\s*"([^"\\]*)")')


def acts(code: str) -> Iterator[Act]:
    """Return what the filter does, in its order. Raises NotUnderstood."""
    at = 0
    last = ""
    nested = [""]
    while at < len(code):
        in_text = code[at] == '"' or (code[at] == ")" and nested[-1] == "string")
        found = TEXT.match(code, at + 1) if in_text else TOKEN.match(code, at)
        if not found:
            raise NotUnderstood(f"not understood at character {at}")
        if code[at] in ")]}" and len(nested) > 1:
            nested.pop()
        at = found.end()
        if in_text:
            last = found[1]
            nested += ["string"] if last != '"' else []
        elif found.lastgroup != "space":
            nested += [found[0]] if found[0] in "([{" else []
            if found.lastgroup == "name" and last != ".":
                in_object = nested[-1] == "{" and last in ("{", ",")
                yield from find_named(code, found[0], at, in_object=in_object)
            last = found[0]


def find_named(code: str, name: str, at: int, *, in_object: bool) -> Iterator[Act]:
    """Yield the acts of a name; `at` is the position after it; `in_object`: it may be a key."""
    if name in ("import", "include") and not in_object:
        yield Act(EffectKind.EXEC, None, "loads a module")
    elif name in ("$ENV", "ENV") or (name == "env" and not in_object):
        key = None if in_object else KEY.match(code, at)
        if key:
            yield from variable(key[1] or key[2] or key[3])
        else:
            yield environment()
