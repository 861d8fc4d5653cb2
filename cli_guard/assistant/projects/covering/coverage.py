"""Coverage data as text: coverage.py's JSON, Cobertura's XML, and lcov. Anything else gives nothing."""

import json
import re
from collections.abc import Collection, Mapping
from xml.parsers import expat

FILES = re.compile(r"(?:^|/)(?:coverage\.json|coverage\.xml|cobertura(?:-coverage)?\.xml|lcov\.info)$")
LONGEST = 50_000_000
MOST_FILES = 50_000


class _Refused(ValueError):
    """The XML holds what we do not read: declarations of its own."""


def coverage_of(raw: str | bytes) -> Mapping[str, Collection[str]]:
    """The files that tests ran, and of each the tests that ran it (path -> contexts, sorted).

    A file of which the data does not say which tests ran it has no contexts; one that did not run is not there. What
    is none of the three formats, is broken or holds a document type with entities gives an empty mapping.
    """
    text = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else raw
    text = text.lstrip("\ufeff \t\r\n")
    if len(text) > LONGEST:
        return {}
    if text.startswith("{"):
        return _json(text)
    if text.startswith("<"):
        return _xml(text)
    return _lcov(text)


def found_in(texts: Mapping[str, str]) -> Mapping[str, Collection[str]]:
    """What the coverage data among the files of a repository say; the first file that tells something counts."""
    for path in sorted(path for path in texts if FILES.search(path)):
        found = coverage_of(texts[path])
        if found:
            return found
    return {}


def _clean(path: str) -> str:
    return path.replace("\\", "/").removeprefix("./")


def _json(text: str) -> dict[str, tuple[str, ...]]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    files = data.get("files") if isinstance(data, dict) else None
    found: dict[str, tuple[str, ...]] = {}
    for path, about in list(files.items())[:MOST_FILES] if isinstance(files, dict) else ():
        if not isinstance(about, dict) or not about.get("executed_lines"):
            continue
        contexts = about.get("contexts")
        names: set[str] = set()
        for each in contexts.values() if isinstance(contexts, dict) else ():
            names.update(name for name in each if isinstance(name, str) and name) if isinstance(
                each, list
            ) else None
        found[_clean(path)] = tuple(sorted(names))
    return found


def _xml(text: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    current: list[str] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        if name == "class":
            current[:] = [_clean(attributes.get("filename", ""))]
        elif name == "line" and current and attributes.get("hits", "0") not in ("0", ""):
            found.setdefault(current[0], ())

    def doctype(_name: str, _system: str | None, _public: str | None, has_internal: int) -> None:
        # Cobertura's own files name a document type, which expat never fetches; one that is written out may define
        # entities that grow without end.
        if has_internal:
            raise _Refused

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.StartDoctypeDeclHandler = doctype
    try:
        parser.Parse(text.encode("utf-8", "replace"), True)
    except (expat.ExpatError, _Refused):
        return {}
    found.pop("", None)
    return found


def _lcov(text: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, set[str]] = {}
    test, path = "", ""
    for line in text.split("\n"):
        kind, _, value = line.strip().partition(":")
        if kind == "TN":
            test = value
        elif kind == "SF":
            path = _clean(value)
        elif kind == "DA" and path and value.partition(",")[2].split(",")[0] not in ("0", ""):
            found.setdefault(path, set()).update([test] if test else [])
    return {path: tuple(sorted(tests)) for path, tests in found.items()}


def test_of(context: str, tests: Mapping[str, str]) -> tuple[str, str] | None:
    """The test file and the test that a context names: `tests/test_a.py::test_b|run`, or `tests.test_a.test_b`.

    `tests` is the path of each test file by its dotted name, also without the folders in front.
    """
    name = context.split("|", 1)[0].split("[", 1)[0]
    path, found, case = name.partition("::")
    if found:
        return path, case
    parts = name.split(".")
    for size in range(len(parts) - 1, 0, -1):
        known = tests.get(".".join(parts[:size]))
        if known:
            return known, "::".join(parts[size:])
    return None
