"""What a jq filter does: it computes, but it can read the environment and load modules."""

import re
from collections.abc import Iterator

from cli_guard.commands.inline.model import Act, environment, unknown, variable
from cli_guard.commands.model import Kind

TOKEN = re.compile(
    r"""(?P<space>(?:\s|\#[^\n]*)+)
    |(?P<name>\$?[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*|@\w+)
    |(?P<number>\d+\.?\d*(?:[eE][+-]?\d+)?)
    |(?P<mark>\?//=?|[-+*/%|]?=|//=|\.\.|//|[<>!=]=|[-.\[\]{}()|,:;+*/%<>?$])""",
    re.VERBOSE,
)
TEXT = re.compile(r'(?:[^"\\]|\\[^(])*')
KEY = re.compile(r'\s*(?:\.\s*([A-Za-z_]\w*)|\.?\s*\[\s*"([^"\\]*)"\s*\]|\.\s*"([^"\\]*)")')


def acts(code: str) -> Iterator[Act]:
    """Return what the filter does, in its order."""
    at, last, nested = 0, "", [""]
    while at < len(code):
        if code[at] == '"' or (code[at] == ")" and nested[-1] == "string"):
            if code[at] == ")":
                nested.pop()
            at = text_end(code, at + 1)
            if at < 0:
                yield unknown("jq filter: a string is not closed")
                return
            if code[at - 1] == "(":
                nested.append("string")
                last = "("
            else:
                last = '"'
            continue
        found = TOKEN.match(code, at)
        if not found:
            yield unknown(f"jq filter: not understood at character {at}")
            return
        at = found.end()
        if found.lastgroup == "space":
            continue
        if found[0] in "([{":
            nested.append(found[0])
        elif found[0] in ")]}" and len(nested) > 1:
            nested.pop()
        if found.lastgroup == "name" and last != ".":
            yield from find_named(code, found[0], at, in_object=nested[-1] == "{" and last in ("{", ","))
        last = found[0]


def text_end(code: str, at: int) -> int:
    r"""Return the position after a string, or after the `\(` that opens a filter in it; -1 if it has no end."""
    found = TEXT.match(code, at)
    end = found.end() if found else at
    if code.startswith('"', end):
        return end + 1
    return end + 2 if code.startswith("\\(", end) else -1


def find_named(code: str, name: str, at: int, *, in_object: bool) -> Iterator[Act]:
    """Yield the acts of a name; `at` is the position after it; `in_object`: it may be a key."""
    if name in ("import", "include") and not in_object:
        yield Act(Kind.EXEC, None, "loads a module")
    elif name == "$ENV" or (name == "env" and not in_object):
        key = None if in_object else KEY.match(code, at)
        if key:
            yield from variable(key[1] or key[2] or key[3])
        else:
            yield environment()
