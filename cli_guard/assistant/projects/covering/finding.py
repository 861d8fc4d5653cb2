"""The tests of paths and symbols, strongest first, and the command that runs exactly these."""

import re
from collections.abc import Collection, Iterable, Mapping

from cli_guard.assistant.projects.covering import coverage as data
from cli_guard.assistant.projects.covering.running import command_for
from cli_guard.assistant.projects.covering.searching import ORDER, Search
from cli_guard.assistant.projects.model import Covering
from cli_guard.code.test_files import is_test_file, list_test_files, runner_language

MOST_TESTS, MOST_TARGETS = 40, 400


def tests_for(
    paths: Collection[str],
    symbols: Collection[str],
    texts: Mapping[str, str],
    *,
    coverage: Mapping[str, Collection[str]] | None = None,
) -> Covering:
    """The tests that cover files, folders or symbols (functions and classes by name), strongest first.

    `coverage` is what `coverage_of` gives; without it, coverage data among `texts` is used. Symbols alone look for the
    files that define them. At most 40 tests of at most 400 files; what is beyond is counted and named. Never raises for
    what a file holds.
    """
    tests = list_test_files(texts)
    wanted, missing = _expanded(paths, symbols, texts)
    note = (
        f"only the first {MOST_TARGETS} of {len(wanted)} paths were searched for"
        if len(wanted) > MOST_TARGETS
        else ""
    )
    wanted = wanted[:MOST_TARGETS]
    search = Search(texts, tests, frozenset(symbols), data.found_in(texts) if coverage is None else coverage)
    for path in wanted:
        search.one(path)
    found = sorted(search.hits.items(), key=lambda each: (ORDER[each[1].strength], -each[1].near, each[0]))
    covering = tuple(search.named(path, hit) for path, hit in found[:MOST_TESTS])
    command = command_for(
        [(each.path, each.names if search.narrowed(each) else ()) for each in covering], texts
    )
    uncovered = tuple(sorted({*missing, *(path for path in wanted if path not in search.covered)}))
    return Covering(covering, command, uncovered, search.looked_at, max(len(found) - MOST_TESTS, 0), note)


def _expanded(
    paths: Iterable[str], symbols: Collection[str], texts: Mapping[str, str]
) -> tuple[list[str], list[str]]:
    """The files that are meant, and the paths that are none."""
    wanted: dict[str, None] = {}
    missing: list[str] = []
    for path in sorted(set(paths)):
        plain = path.removeprefix("./").rstrip("/")
        if plain in texts or plain in ("", "."):
            wanted.update(dict.fromkeys([plain] if plain in texts else sorted(texts)))
            continue
        inside = sorted(each for each in texts if each.startswith(f"{plain}/") and runner_language(each))
        wanted.update(dict.fromkeys(inside))
        if not inside:
            # A file that is gone may still have a test that is named after it.
            wanted[plain] = None
    if not paths and symbols:
        words = "|".join(re.escape(each.rpartition(".")[2]) for each in sorted(set(symbols))[:50])
        defines = re.compile(
            rf"^[ \t]*(?:(?:export|default|public|private|protected|static|async|pub|final|abstract)\s+)*"
            rf"(?:def|class|func(?: \([^)\n]*\))?|function|fn|struct|interface|type|enum|const|let|var|trait|module)\s+"
            rf"(?:{words})\b"
            rf"|^(?:{words})[ \t]*[:=]",
            re.MULTILINE,
        )
        plain_words = [each.rpartition(".")[2] for each in sorted(set(symbols))[:50]]
        for path in sorted(texts):
            if not runner_language(path) or is_test_file(path):
                continue
            if any(word in texts[path] for word in plain_words) and defines.search(texts[path]):
                wanted[path] = None
    return list(wanted), missing
