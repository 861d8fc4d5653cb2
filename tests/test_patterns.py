"""The regular expressions mean the same on every Python that is supported.

`re` of Python 3.11.2, which Debian 12 has, misreads a possessive loop over a group: where a round fails after a
repeat, a lookahead or a group of its own, it does not go back to the start of that round. `(?>(?:X)*)` is read
right, and means what `(?:X)*+` does.
"""

import importlib
import pkgutil
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest

import cli_guard
from cli_guard.lazy import regex

RULES = Path(cli_guard.__file__).parent / "rules"
# They end where they fail.
STEPS = {
    op.LITERAL,
    op.NOT_LITERAL,
    op.IN,
    op.ANY,
    op.RANGE,
    op.CATEGORY,
    op.AT,
    op.GROUPREF,
}


def inner(value: Any) -> Iterator[Any]:
    """Yield the patterns inside an item of a parsed one."""
    if isinstance(value, parser.SubPattern):
        yield value
    elif isinstance(value, list | tuple):
        for part in value:
            yield from inner(part)


def keeps_place(code: Any, value: Any) -> bool:
    """Return whether an item, or one inside it, remembers where it began."""
    if code in (op.BRANCH, op.SUBPATTERN):
        return any(keeps_place(*item) for part in inner(value) for item in part)
    return code not in STEPS


def may_stop_halfway(body: Any) -> bool:
    """Return whether a round of a loop can fail after something that remembers a place."""
    items = list(body)
    if any(keeps_place(*item) for item in items[:-1]):
        return True
    code, value = items[-1] if items else (op.ANY, None)
    if code in (op.BRANCH, op.SUBPATTERN):
        return any(may_stop_halfway(part) for part in inner(value))
    return bool(code is op.ASSERT_NOT)


def is_misread(pattern: Any) -> bool:
    for code, value in pattern:
        if code is op.POSSESSIVE_REPEAT and may_stop_halfway(value[2]):
            return True
        if any(is_misread(part) for part in inner(value)):
            return True
    return False


def parse(text: str | bytes, flags: int = 0) -> Any:
    try:
        return parser.parse(text, flags)
    except re.error:
        return ()


def written() -> Iterator[tuple[str, str | bytes, int]]:
    """Yield the patterns of the modules and of the rules, with where they are written."""
    for found in pkgutil.walk_packages(cli_guard.__path__, "cli_guard."):
        if found.name.endswith("__main__"):
            continue
        for name, value in vars(importlib.import_module(found.name)).items():
            place = f"{found.name}.{name}"
            if isinstance(value, re.Pattern | regex):
                unicode = re.UNICODE if isinstance(value.pattern, str) else 0
                yield place, value.pattern, value.flags & ~unicode
            elif isinstance(value, str):
                yield place, value, 0
    for path in sorted(RULES.rglob("*.toml")):
        for text in texts(tomllib.loads(path.read_text("utf-8"))):
            yield str(path.relative_to(RULES)), text, re.VERBOSE


def texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from texts(list(value.values()))
    elif isinstance(value, list):
        for part in value:
            yield from texts(part)


# Every text of the program is parsed, and what is no pattern may look like one of another language.
@pytest.mark.filterwarnings("ignore:Possible:FutureWarning")
def test_no_pattern_is_misread_by_python_3_11_2() -> None:
    loops = [entry for entry in written() if "+" in str(entry[1])]
    assert len(loops) > 200
    assert [entry[:2] for entry in loops if is_misread(parse(entry[1], entry[2]))] == []


@pytest.mark.parametrize(
    ("pattern", "misread"),
    [
        (r"(?:(?!x)[a-z])*+x", True),
        (r"(?:a[bc]*d)*+", True),
        (r"(?:a(?:[bc]+|x)d)++", True),
        (r"(?:a(?=b)b){2,}+", True),
        (r"(?>(?:(?!x)[a-z])*)x", False),
        (r"(?:ab|c)*+", False),
        (r"(?:\\.[^\\]*+)*+", False),
        (r"[a-z]*+", False),
    ],
)
def test_what_is_misread(pattern: str, misread: bool) -> None:
    assert is_misread(parse(pattern)) == misread
