"""Which tests ran which file, by the data of coverage.py as JSON (`coverage json --show-contexts`)."""

import json
import re
from collections.abc import Collection, Mapping

FILES = re.compile(r"(?:^|/)coverage\.json$")
LONGEST = 50_000_000


def coverage_of(raw: str | bytes) -> Mapping[str, Collection[str]]:
    """The files that tests ran, and of each the tests that ran it (path -> contexts, sorted).

    A file of which the data does not say which tests ran it has no contexts; one that did not run is not there. What
    is no such data, or is broken, gives an empty mapping.
    """
    text = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else raw
    try:
        data = json.loads(text) if len(text) <= LONGEST else None
    except (ValueError, RecursionError):
        return {}
    files = data.get("files") if isinstance(data, dict) else None
    found: dict[str, tuple[str, ...]] = {}
    for path, about in files.items() if isinstance(files, dict) else ():
        if isinstance(about, dict) and about.get("executed_lines"):
            contexts = about.get("contexts")
            lines = contexts.values() if isinstance(contexts, dict) else ()
            names = (name for each in lines if isinstance(each, list) for name in each)
            tests = {name for name in names if isinstance(name, str) and name}
            found[path.replace("\\", "/").removeprefix("./")] = tuple(sorted(tests))
    return found


def find_coverage(texts: Mapping[str, str]) -> Mapping[str, Collection[str]]:
    """What the coverage data among the files of a repository say; the first file that says something counts."""
    found = (coverage_of(texts[path]) for path in sorted(filter(FILES.search, texts)))
    return next((each for each in found if each), {})


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
