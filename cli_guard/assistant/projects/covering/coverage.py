"""Coverage data as text: coverage.py's JSON, Cobertura's XML, and lcov. Anything else gives nothing."""

import json
import re
from collections.abc import Collection, Mapping
from xml.parsers import expat

FILES = re.compile(r"(?:^|/)(?:coverage\.json|coverage\.xml|cobertura(?:-coverage)?\.xml|lcov\.info)$")
LONGEST = 50_000_000
Ran = dict[str, set[str]]


def coverage_of(raw: str | bytes) -> Mapping[str, Collection[str]]:
    """The files that tests ran, and of each the tests that ran it (path -> contexts, sorted).

    A file of which the data does not say which tests ran it has no contexts; one that did not run is not there. What
    is none of the three formats, is broken or holds a document type with entities gives an empty mapping.
    """
    text = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else raw
    text = text.lstrip("\ufeff \t\r\n")[: LONGEST + 1]
    read = {"{": _read_json, "<": _read_cobertura}.get(text[:1], _read_lcov)
    found: Ran = {}
    try:
        if len(text) <= LONGEST:
            read(text, found)
    except (ValueError, RecursionError, expat.ExpatError):
        return {}
    return {path: tuple(sorted(tests)) for path, tests in found.items() if path}


def find_coverage(texts: Mapping[str, str]) -> Mapping[str, Collection[str]]:
    """What the coverage data among the files of a repository say; the first file that says something counts."""
    found = (coverage_of(texts[path]) for path in sorted(filter(FILES.search, texts)))
    return next((each for each in found if each), {})


def _clean(path: str) -> str:
    return path.replace("\\", "/").removeprefix("./")


def _read_json(text: str, found: Ran) -> None:
    files = json.loads(text).get("files")
    for path, about in files.items() if isinstance(files, dict) else ():
        if isinstance(about, dict) and about.get("executed_lines"):
            contexts = about.get("contexts")
            lines = contexts.values() if isinstance(contexts, dict) else ()
            names = (name for each in lines if isinstance(each, list) for name in each)
            found[_clean(path)] = {name for name in names if isinstance(name, str) and name}


def _read_cobertura(text: str, found: Ran) -> None:
    path = ""

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal path
        if name == "class":
            path = _clean(attributes.get("filename", ""))
        elif name == "line" and attributes.get("hits", "0") not in ("0", ""):
            found.setdefault(path, set())

    def refuse_entities(_name: str, _system: str | None, _public: str | None, has_internal: int) -> None:
        # Cobertura's own files name a document type, which expat never fetches; one that is written out may define
        # entities that grow without end.
        if has_internal:
            raise ValueError("declarations of its own")

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.StartDoctypeDeclHandler = refuse_entities
    parser.Parse(text.encode("utf-8", "replace"), True)


def _read_lcov(text: str, found: Ran) -> None:
    test, path = "", ""
    for line in text.split("\n"):
        kind, _, value = line.strip().partition(":")
        if kind == "TN":
            test = value
        elif kind == "SF":
            path = _clean(value)
        elif kind == "DA" and value.partition(",")[2].split(",")[0] not in ("0", ""):
            found.setdefault(path, set()).update([test] if test else [])


def test_of(context: str, tests: Mapping[str, str]) -> tuple[str, str] | None:
    """The test file and the test that a context names: `tests/test_a.py::test_b|run`, or `tests.test_a.test_b`.

    `tests` is the path of each test file by its dotted name, also without the folders in front.
    """
    name = context.split("|", 1)[0].split("[", 1)[0]
    path, found, case = name.partition("::")
    if found:
        return path, case
    parts = name.split(".")
    dotted = {".".join(parts[:size]): "::".join(parts[size:]) for size in range(len(parts) - 1, 0, -1)}
    return next(((tests[module], case) for module, case in dotted.items() if module in tests), None)
