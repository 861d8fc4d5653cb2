"""Requests as developers write them, each read as one kind of change with its words."""

from examples import table

from cli_guard.assistant.request_change import read_change

READ: tuple[tuple[str, str, dict[str, str]], ...] = (
    ("rename f to g", "rename", {"old": "f", "new": "g"}),
    (
        "Please rename the function `load()` to `read`.",
        "rename",
        {"sort": "function", "old": "load", "new": "read"},
    ),
    (
        "rename parameter a of f to b",
        "rename",
        {"sort": "parameter", "old": "a", "place": "f", "new": "b"},
    ),
    (
        "can you rename x in app/core.py to y?",
        "rename",
        {"old": "x", "place": "app/core.py", "new": "y"},
    ),
    ("rename A.run → start everywhere", "rename", {"old": "A.run", "new": "start"}),
    ("change the name of load to read", "rename", {"old": "load", "new": "read"}),
    ("Plan to rename Foo to Bar", "rename", {"old": "Foo", "new": "Bar"}),
    ("rename file a.py to b.py", "rename file", {"old": "a.py", "new": "b.py"}),
    ("rename module p.a to p.b", "rename", {"old": "p.a", "new": "p.b"}),
    (
        "move f from p/a.py to p/b.py",
        "move",
        {"old": "f", "place": "p/a.py", "new": "p/b.py"},
    ),
    ("move the class Store to store", "move", {"old": "Store", "new": "store"}),
    ("delete the unused function f", "delete", {"sort": "function", "old": "f"}),
    (
        "remove the class C in a.py",
        "delete",
        {"sort": "class", "old": "C", "place": "a.py"},
    ),
    (
        "replace foo(a, b) with bar(b, a)",
        "replace",
        {"old": "foo(a, b)", "new": "bar(b, a)"},
    ),
    ("use new_name instead of old_name", "replace", {"old": "old_name", "new": "new_name"}),
    ("replace deprecated utcnow()", "replace", {"old": "utcnow()"}),
    ("split module p.m", "unknown", {}),
    ("set MAX_RETRIES to 5", "set constant", {"old": "MAX_RETRIES", "value": "5"}),
    (
        "Increase `MAX_RETRIES` from 3 to 5",
        "set constant",
        {"old": "MAX_RETRIES", "from": "3", "value": "5"},
    ),
    (
        "set MAX_RETRIES = 5 in a.py",
        "set constant",
        {"old": "MAX_RETRIES", "value": "5", "place": "a.py"},
    ),
    ("bump version to 1.2.3", "bump version", {"new": "1.2.3"}),
    (
        "bump the version from 1.0 to v2.0.0",
        "bump version",
        {"from": "1.0", "new": "2.0.0"},
    ),
    ("bump the minor version", "bump version", {"part": "minor"}),
    ("fix the typo teh -> the", "change text", {"old": "teh", "new": "the"}),
    (
        "change 'old' to 'new' in README.md",
        "change text",
        {"old": "old", "new": "new", "place": "README.md"},
    ),
    (
        "Plan a refactor from log4j to slf4j without editing files",
        "migrate",
        {"old": "log4j", "new": "slf4j"},
    ),
    ("requests to httpx", "migrate", {"old": "requests", "new": "httpx"}),
    (
        "migrate our tests from unittest to pytest",
        "migrate",
        {"old": "unittest", "new": "pytest"},
    ),
    ("implement OAuth login", "unknown", {}),
    ("", "unknown", {}),
)


@table(("request_", "kind", "words"), READ, ids=[row[0] for row in READ])
def test_a_request_is_read_as_one_kind_of_change(
    request_: str, kind: str, words: dict[str, str]
) -> None:
    change = read_change(request_)
    assert (change.kind, change.words) == (kind, words)


def test_a_long_request_is_cut() -> None:
    assert len(read_change("rename f to g " * 5_000).request) <= 4_000
