"""The command that runs exactly some tests, by what the project runs its tests with."""

import re
from collections.abc import Callable, Mapping, Sequence

from cli_guard.assistant.projects.covering.cases import Cases
from cli_guard.assistant.projects.files import Files, find_above, folder_of, nearness, quoted, within
from cli_guard.assistant.projects.sources.environments import python_front, script_dependencies, script_front
from cli_guard.code.test_files import list_test_files, runner_language

MOST_NODES, MOST_FILES = 30, 200
SAYS_PYTEST = (
    *(
        "pyproject.toml",
        "tox.ini",
        "tox.toml",
        "setup.cfg",
        "setup.py",
        "pytest.ini",
        "noxfile.py",
        "Makefile",
    ),
    *("requirements.txt", "requirements-dev.txt", "conftest.py", "tests/conftest.py"),
)
# A test runner among the dependencies of a package: its command, and its option that takes the name of a test.
SCRIPT_RUNNERS = (
    ("vitest", "vitest run", "-t"),
    ("jest", "jest", "-t"),
    ("react-scripts", "react-scripts test --watchAll=false", ""),
    ("mocha", "mocha", "--grep"),
    ("ava", "ava", ""),
    ("@playwright/test", "playwright test", "--grep"),
    ("jasmine", "jasmine", ""),
    ("tap", "tap", ""),
)
Chosen = Sequence[tuple[str, Sequence[str]]]


def command_for(chosen: Chosen, texts: Mapping[str, str]) -> str | None:
    """The command for (test file, names of its tests; none for all of them), None if no runner is known."""
    files = Files(texts)
    groups: dict[tuple[str, str], list[tuple[str, Sequence[str]]]] = {}
    for path, names in chosen:
        language = runner_language(path) or ""
        manifest = MANIFESTS.get(language)
        folder = folder_of(find_above(texts, path, manifest) or "") if manifest else ""
        groups.setdefault((language, folder), []).append((path[len(folder) :].lstrip("/"), names))
    commands = [
        within(folder, MAKERS[language](tests, files, folder))
        for (language, folder), tests in groups.items()
        if language in MAKERS
    ]
    return " && ".join(commands) or None


def one_test(
    name: str | None, texts: Mapping[str, str], among: Sequence[str] = ()
) -> tuple[str, str, int] | None:
    """(command, test file, line) for the test of a name, or for any test if `name` is None; None if there is none.

    The files in `among` come first.
    """
    cases = Cases(texts)
    for path in sorted(list_test_files(texts), key=lambda path: (path not in among, nearness(path)))[
        :MOST_FILES
    ]:
        for case in cases.of(path) if name is None or name in texts[path] else ():
            parts = case.name.split("::")
            if name is None or name in parts:
                command = command_for([(path, [case.name if name in (None, parts[-1]) else name])], texts)
                return (command, path, case.line) if command else None
    return None


def _uses_pytest(files: Files) -> bool:
    says = any("pytest" in files.texts.get(path, "") for path in SAYS_PYTEST)
    tests = (path for path in list_test_files(files.texts) if path.endswith(".py"))
    return says or any("import pytest" in files.texts[path] for path in tests)


def _run_python(tests: Chosen, files: Files, _folder: str) -> str:
    front = python_front(files)
    pytest = _uses_pytest(files)
    for script, command in (("tests/runtests.py", "tests/runtests.py"), ("manage.py", "manage.py test")):
        if files.has(script) and not pytest:
            top = "tests/" if script.startswith("tests/") else ""
            labels = [
                ".".join(
                    [path.removeprefix(top).removesuffix(".py").replace("/", ".")]
                    + ([names[0].replace("::", ".")] if len(names) == 1 else [])
                )
                for path, names in tests
            ]
            return f"{front}python {command} {' '.join(dict.fromkeys(labels))}"
    if not pytest and any("unittest" in files.texts.get(path, "") for path, _ in tests):
        return f"{front}python -m unittest {_join_paths(tests)}"
    nodes = [f"{path}::{name}" if name else path for path, names in tests for name in (names or [""])]
    return f"{front}pytest " + (
        " ".join(map(quoted, nodes)) if len(nodes) <= MOST_NODES else _join_paths(tests)
    )


def _run_script(tests: Chosen, files: Files, folder: str) -> str:
    """Through the runner among the dependencies of the package that the tests are in."""
    package = f"{folder}/package.json".lstrip("/")
    text = files.texts.get(package, "")
    known = {**script_dependencies(files, "package.json"), **script_dependencies(files, package)}
    runner = next((each for each in SCRIPT_RUNNERS if each[0] in known), None)
    runner = runner or next((each for each in SCRIPT_RUNNERS if re.search(rf"\b{each[0]} ", text)), None)
    paths = _join_paths(tests)
    if runner is None:
        if files.has("deno.json", "deno.jsonc"):
            return f"deno test {paths}"
        return f"bun test {paths}" if "bun test" in text else f"node --test {paths}"
    names = [name for _, each in tests for name in each]
    chosen = f" {runner[2]} {quoted(names[0])}" if runner[2] and len(names) == 1 else ""
    return f"{script_front(files, package)}{runner[1]} {paths}{chosen}"


def _run_go(tests: Chosen, _files: Files, _folder: str) -> str:
    packages = dict.fromkeys(quoted(f"./{folder_of(path)}") if folder_of(path) else "." for path, _ in tests)
    names = list(dict.fromkeys(name for _, each in tests for name in each))
    narrowed = all(each for _, each in tests) and 0 < len(names) <= MOST_NODES
    run = f" -run {quoted('^(' + '|'.join(names) + ')$')}" if narrowed else ""
    return f"go test{run} {' '.join(packages)}"


def _run_java(tests: Chosen, files: Files, _folder: str) -> str:
    classes = [
        (
            path.rpartition("/")[2].rpartition(".")[0],
            [name.rpartition("::")[2] for name in names][:MOST_NODES],
        )
        for path, names in tests
    ]
    if files.has("pom.xml"):
        front = "./mvnw" if files.has("mvnw") else "mvn"
        chosen = ",".join(name + ("#" + "+".join(methods) if methods else "") for name, methods in classes)
        return f"{front} -Dtest={quoted(chosen)} test"
    front = "./gradlew" if files.has("gradlew") else "gradle"
    wanted = [f"{name}.{method}".rstrip(".") for name, methods in classes for method in methods or [""]]
    return f"{front} test " + " ".join(f"--tests {quoted(each)}" for each in wanted)


def _run_rust(tests: Chosen, _files: Files, _folder: str) -> str:
    commands = []
    for path, names in tests:
        name = names[0] if len(names) == 1 else ""
        target = re.fullmatch(r"tests/(?:(\w+)/main|(\w+))\.rs", path)
        module = path.removeprefix("src/").removesuffix(".rs").removesuffix("/mod").replace("/", "::")
        if target:
            commands.append(f"cargo test --test {target[1] or target[2]} {name}".rstrip())
        else:
            inside = name or ("" if module in ("lib", "main") else f"{module}::")
            commands.append(f"cargo test {inside}".rstrip())
    return " && ".join(dict.fromkeys(commands))


def _run_ruby(tests: Chosen, files: Files, _folder: str) -> str:
    front = "bundle exec " if files.has("Gemfile") else ""
    specs = [test for test in tests if test[0].endswith("_spec.rb")]
    others = [test for test in tests if test not in specs]
    commands = [f"{front}rspec {_join_paths(specs)}"] if specs else []
    if others and files.has("bin/rails"):
        commands.append(f"bin/rails test {_join_paths(others)}")
    else:
        commands += [f"{front}ruby -Itest {quoted(path)}" for path, _ in others]
    return " && ".join(commands)


def _run_php(tests: Chosen, files: Files, _folder: str) -> str:
    program = "pest" if "pestphp/pest" in files.texts.get("composer.json", "") else "phpunit"
    return " && ".join(f"vendor/bin/{program} {quoted(path)}" for path, _ in tests)


def _run_elixir(tests: Chosen, _files: Files, _folder: str) -> str:
    return f"mix test {_join_paths(tests)}"


def _run_dotnet(tests: Chosen, _files: Files, _folder: str) -> str:
    names = (path.rpartition("/")[2].removesuffix(".cs") for path, _ in tests)
    return "dotnet test --filter " + quoted("|".join(f"FullyQualifiedName~{name}" for name in names))


def _join_paths(tests: Chosen) -> str:
    return " ".join(quoted(path) for path, _ in tests)


# Languages whose tests run in the folder of the nearest such file.
MANIFESTS = {"javascript": "package.json", "go": "go.mod", "rust": "Cargo.toml"}
MAKERS: Mapping[str, Callable[[Chosen, Files, str], str]] = {
    "python": _run_python,
    "javascript": _run_script,
    "go": _run_go,
    "java": _run_java,
    "rust": _run_rust,
    "ruby": _run_ruby,
    "php": _run_php,
    "elixir": _run_elixir,
    "csharp": _run_dotnet,
}
