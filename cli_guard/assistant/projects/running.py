"""The tests in Python files, the command that runs exactly some, and what such a command selects; nothing is run."""

import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from posixpath import basename

from cli_guard.assistant.projects.environments import (
    python_front,
    script_dependencies,
    script_manager,
)
from cli_guard.assistant.projects.files import (
    ProjectFiles,
    Simulated,
    TestOutcome,
    find_above,
    folder_of,
    line_at,
    nearness,
    within,
)
from cli_guard.assistant.projects.purposes import purpose_of_text, read
from cli_guard.code.symbols import symbols_of
from cli_guard.code.syntax import Trees
from cli_guard.code.test_files import list_test_files, runner_language
from cli_guard.lazy import frozen
from cli_guard.secrets.redact import redact

# A larger file is not parsed: its tests stay unnamed.
CASE_CHARS = 200_000
MOST_CASES = 2_000
MOST_WORDS = 300
MOST_NODES = 30
MOST_FILES = 200
# Options of theirs whose value is the next word.
VALUED = frozenset(
    "-r --require -c --config -R --reporter -t --timeout --opts -i --import --loader".split()
)
Chosen = Sequence[tuple[str, Sequence[str]]]


GO_TEST = re.compile(r"^func (Test\w*)\(", re.MULTILINE)
LONGEST = 2_000
MOST_SELECTED = 5_000
OUTCOMES = ("failed", "passed", "skipped")


@frozen
class TestCase:
    """One test: its name within the file (`TestClass::test_it`), and its first and last line."""

    name: str
    line: int
    end_line: int


class Cases:
    """The tests of each Python and Go file of a repository (path -> text), found once."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts
        self.trees = Trees()
        self._found: dict[str, tuple[TestCase, ...]] = {}

    def of(self, path: str) -> tuple[TestCase, ...]:
        """Return the tests of a file, in order; none of a file that is too large, missing or of another language."""
        if path not in self._found:
            text = self.texts.get(path, "")
            found = []
            if path.endswith(".py") and len(text) <= CASE_CHARS:
                found = sorted(self._find(text), key=lambda case: case.line)
            elif path.endswith("_test.go"):
                found = find_go_tests(text[:CASE_CHARS])
            self._found[path] = tuple(found[:MOST_CASES])
        return self._found[path]

    def _find(self, text: str) -> Iterator[TestCase]:
        for symbol in symbols_of(self.trees, "python", text):
            is_nested = symbol.kind == "function" and "." in symbol.qualname
            if symbol.is_function and symbol.name.startswith("test") and not is_nested:
                yield TestCase(
                    symbol.qualname.replace(".", "::"), symbol.line, symbol.end_line
                )

    def cases_with(self, path: str, words: frozenset[str]) -> tuple[TestCase, ...]:
        """Return those of the tests of a file in whose lines there is one of the words."""
        if not words or not self.of(path):
            return ()
        found = re.compile(
            r"\b(?:" + "|".join(map(re.escape, sorted(words)[:MOST_WORDS])) + r")\b"
        )
        lines = self.texts[path].split("\n")
        return tuple(
            case
            for case in self.of(path)
            if found.search("\n".join(lines[case.line - 1 : case.end_line]))
        )


def find_go_tests(text: str) -> list[TestCase]:
    """Return the tests of a Go file: a function ends at the first bracket in the first column (gofmt)."""
    found = []
    for match in GO_TEST.finditer(text):
        line = line_at(text, match)
        end = text.find("\n}", match.end())
        last = text.count("\n", 0, end + 1) + 1 if end >= 0 else line
        found.append(TestCase(match[1], line, last))
    return found


def command_for(chosen: Chosen, texts: Mapping[str, str]) -> str | None:
    """Return the command for (test file, names of its tests; none for all of them), None if no runner is known."""
    files = ProjectFiles(texts)
    groups: dict[tuple[str, str], list[tuple[str, Sequence[str]]]] = {}
    for path, names in chosen:
        language = runner_language(path) or ""
        manifest = MANIFESTS.get(language)
        folder = folder_of(find_above(texts, path, manifest) or "") if manifest else ""
        groups.setdefault((language, folder), []).append(
            (path[len(folder) :].lstrip("/"), names)
        )
    commands = []
    for (language, folder), tests in groups.items():
        make = MAKERS.get(language)
        plain = read("programs")["test_commands"].get(language)
        if make:
            commands.append(within(folder, make(tests, files, folder)))
        elif plain:
            commands.append(f"{plain} {_join_paths(tests)}")
    return " && ".join(commands) or None


def one_test(
    name: str | None, texts: Mapping[str, str], among: Sequence[str] = ()
) -> tuple[str, str, int] | None:
    """Return (command, test file, line) for the test of a name, for any test if `name` is None.

    The files in `among` come first.
    """
    cases = Cases(texts)
    for path in sorted(
        list_test_files(texts), key=lambda path: (path not in among, nearness(path))
    )[:MOST_FILES]:
        for case in cases.of(path) if name is None or name in texts[path] else ():
            parts = case.name.split("::")
            if name is None or name in parts:
                command = command_for(
                    [(path, [case.name if name in (None, parts[-1]) else name])], texts
                )
                return (command, path, case.line) if command else None
    return None


def _uses_pytest(files: ProjectFiles) -> bool:
    says = any(
        "pytest" in files.texts.get(path, "")
        for path in read("programs")["says_pytest"].split()
    )
    tests = (path for path in list_test_files(files.texts) if path.endswith(".py"))
    return says or any("import pytest" in files.texts[path] for path in tests)


def _run_python(tests: Chosen, files: ProjectFiles, _folder: str) -> str:
    front = python_front(files)
    pytest = _uses_pytest(files)
    if files.has("manage.py") and not pytest:
        labels = (path.removesuffix(".py").replace("/", ".") for path, _ in tests)
        return f"{front}python manage.py test {' '.join(labels)}"
    if not pytest and any("unittest" in files.texts.get(path, "") for path, _ in tests):
        return f"{front}python -m unittest {_join_paths(tests)}"
    nodes = [
        f"{path}::{name}" if name else path
        for path, names in tests
        for name in (names or [""])
    ]
    return f"{front}pytest " + (
        " ".join(map(shlex.quote, nodes))
        if len(nodes) <= MOST_NODES
        else _join_paths(tests)
    )


def _run_script(tests: Chosen, files: ProjectFiles, folder: str) -> str:
    """Return the command of the runner among the dependencies of the package that the tests are in."""
    package = f"{folder}/package.json".lstrip("/")
    text = files.texts.get(package, "")
    known = {
        *script_dependencies(files, "package.json"),
        *script_dependencies(files, package),
    }
    paths = _join_paths(tests)
    for runner, command in read("conventions")["script_runner"].items():
        if runner in known or f"{runner} " in text:
            front = script_manager(files, package)["front"]
            return f"{front}{command} {_script_options(runner, text)}{paths}"
    return f"node --test {paths}"


def _script_options(runner: str, package: str) -> str:
    """Return the options with which the test script of a package calls its runner, a plain command."""
    script = re.search(rf'"test[\w:-]*"\s*:\s*"{runner}((?: [\w@%+=:,./-]+)+)"', package)
    kept = []
    before = ""
    for word in script[1].split() if script else ():
        kept += [word] if word.startswith("-") or before in VALUED else []
        before = word
    return "".join(f"{word} " for word in kept)


def _run_go(tests: Chosen, _files: ProjectFiles, _folder: str) -> str:
    packages = dict.fromkeys(
        shlex.quote(f"./{folder_of(path)}") if folder_of(path) else "." for path, _ in tests
    )
    names = [name for _, chosen in tests for name in chosen]
    form = f"({'|'.join(names)})" if len(names) > 1 else "".join(names)
    only = f" -run '^{form}$'" if names and all(chosen for _, chosen in tests) else ""
    return f"go test {' '.join(packages)}{only}"


def _run_java(tests: Chosen, files: ProjectFiles, _folder: str) -> str:
    classes = [shlex.quote(basename(path).rpartition(".")[0]) for path, _ in tests]
    if files.has("pom.xml"):
        return f"{'./mvnw' if files.has('mvnw') else 'mvn'} -Dtest={','.join(classes)} test"
    front = "./gradlew" if files.has("gradlew") else "gradle"
    return f"{front} test " + " ".join(f"--tests {each}" for each in classes)


def _run_rust(tests: Chosen, _files: ProjectFiles, _folder: str) -> str:
    targets = [re.fullmatch(r"tests/(?:(\w+)/main|(\w+))\.rs", path) for path, _ in tests]
    named = [f"--test {found[1] or found[2]}" for found in targets if found]
    if (
        len(tests) == 1
        and not named
        and (module := re.fullmatch(r"src/([\w/]+?)(?:/mod)?\.rs", tests[0][0]))
    ):
        # The tests in a module are chosen by its path.
        return f"cargo test {module[1].replace('/', '::')}::"
    return " ".join(("cargo test", *(named if len(named) == len(tests) else ())))


def _join_paths(tests: Chosen) -> str:
    return " ".join(shlex.quote(path) for path, _ in tests)


# Languages whose tests run in the folder of the nearest such file.
MANIFESTS = {"javascript": "package.json", "go": "go.mod", "rust": "Cargo.toml"}
MAKERS: Mapping[str, Callable[[Chosen, ProjectFiles, str], str]] = {
    "python": _run_python,
    "javascript": _run_script,
    "go": _run_go,
    "java": _run_java,
    "rust": _run_rust,
}


def simulate(
    command: str, texts: Mapping[str, str], recorded: Mapping[str, object] | None = None
) -> Simulated:
    """Count the tests that a command selects by their paths, with the outcomes that were recorded.

    `recorded` is a test file or a node id (`tests/test_a.py::test_b`) -> "passed", "failed" or "skipped", or a mapping
    with `outcome` and `message`. A node id counts before its file. What was not recorded never counts as passed.
    """
    plain = " ".join(command[:LONGEST].split())
    if purpose_of_text(plain) != "test":
        text = "simulated: this command runs no tests that we know how to select; nothing was run"
        return Simulated(redact(plain), "not recorded", text=text)
    counts: Counter[str] = Counter()
    lines = []
    for node in select_tests(plain, texts):
        outcome, message = find_outcome(node, recorded or {})
        counts[outcome or "not recorded"] += 1
        if outcome == "failed":
            lines.append(f"FAILED {node} - {redact(message)}".removesuffix(" - "))
    shown = [
        f"{counts[each]} {each}" for each in (*OUTCOMES, "not recorded") if counts[each]
    ]
    lines.append(
        f"==== {', '.join(shown) or 'no tests selected'}, {counts.total()} selected (simulated: nothing was run) ===="
    )
    status: TestOutcome = "not recorded"
    if counts["failed"]:
        status = "failed"
    elif counts["passed"] and not counts["not recorded"]:
        status = "passed"
    return Simulated(redact(plain), status, counts.total(), "\n".join(lines))


def select_tests(command: str, texts: Mapping[str, str]) -> Iterator[str]:
    """Yield the tests of Python that a command selects, as node ids; all of them where it names no path."""
    words = (word.removeprefix("./").rstrip("/") for word in command.split()[1:])
    named = [
        word
        for word in words
        if ".py" in word or any(p.startswith(f"{word}/") for p in texts)
    ]
    cases = Cases(texts)
    for path in list_test_files(texts)[:MOST_SELECTED]:
        names = [case.name for case in cases.of(path)] if path.endswith(".py") else []
        # A file without known tests counts as one.
        bare = [path] if path.endswith(".py") and not names else []
        for node in (*bare, *(f"{path}::{name}" for name in names)):
            if not named or any(f"{node}/".startswith((f"{w}/", f"{w}::")) for w in named):
                yield node


def find_outcome(node: str, recorded: Mapping[str, object]) -> tuple[str, str]:
    """Return what was recorded of a test, "" for nothing, and its message: by node, by its classes, by its file."""
    parts = node.split("::")
    nodes = ["::".join(parts[:size]) for size in range(len(parts), 0, -1)]
    # One test with parameters is recorded several times; it failed if one of them did.
    several = [key for key in recorded if key.startswith(f"{node}[")]
    several.sort(key=lambda key: ("fail" not in str(recorded[key]).lower(), key))
    known = (key for key in (node, *several, *nodes[1:]) if key in recorded)
    value = recorded.get(next(known, ""), "")
    message = ""
    if isinstance(value, Mapping):
        message = str(value.get("message", ""))
        value = value.get("outcome", "")
    word, _, rest = str(value).partition(":")
    return word if word in OUTCOMES else "", message or rest.strip()
