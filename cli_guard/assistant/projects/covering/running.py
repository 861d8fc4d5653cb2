"""The command that runs exactly some tests, by what the project runs its tests with."""

import re
from collections.abc import Mapping, Sequence

from cli_guard.assistant.projects.covering.cases import Cases
from cli_guard.assistant.projects.files import Files, folder_of, nearness, quoted, within
from cli_guard.assistant.projects.sources.environments import python_front, script_dependencies, script_front
from cli_guard.code.test_files import list_test_files, runner_language

MOST_NODES = 30
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
SCRIPT_RUNNERS = (
    ("vitest", "vitest run"),
    ("jest", "jest"),
    ("react-scripts", "react-scripts test --watchAll=false"),
    ("mocha", "mocha"),
    ("ava", "ava"),
    ("@playwright/test", "playwright test"),
    ("jasmine", "jasmine"),
    ("tap", "tap"),
)
Chosen = Sequence[tuple[str, Sequence[str]]]


def command_for(chosen: Chosen, texts: Mapping[str, str]) -> str | None:
    """The command for (test file, names of its tests; none for all of them), None if no runner is known."""
    files = Files(texts)
    groups: dict[str, list[tuple[str, Sequence[str]]]] = {}
    for path, names in chosen:
        groups.setdefault(runner_language(path) or "", []).append((path, names))
    makers = {
        "python": _python,
        "javascript": _script,
        "go": _go,
        "java": _java,
        "rust": _rust,
        "ruby": _ruby,
        "php": _php,
        "elixir": _elixir,
        "csharp": _dotnet,
    }
    commands = [makers[language](tests, files) for language, tests in groups.items() if language in makers]
    return " && ".join(command for command in commands if command) or None


def one_test(
    name: str | None, texts: Mapping[str, str], within_paths: Sequence[str] = ()
) -> tuple[str, str, int] | None:
    """(command, test file, line) for the test of a name, or for any test if `name` is None; None if there is none.

    `within_paths` are the files that it may be in; none of them leaves all.
    """
    cases = Cases(texts)
    among = set(within_paths)
    paths = sorted(list_test_files(texts), key=lambda path: (path not in among, nearness(path)))
    if name is not None:
        paths = [path for path in paths if name in texts[path]]
    for path in paths[:200]:
        for case in cases.of(path):
            if name is None or name in case.name.split("::"):
                names = [case.name] if name is None or case.name.split("::")[-1] == name else []
                if not names:
                    names = [name or ""]
                command = command_for([(path, names)], texts)
                return (command, path, case.line) if command else None
    return None


def uses_pytest(files: Files) -> bool:
    """Does anything say that the project runs its tests with pytest?"""
    if any("pytest" in files.texts.get(path, "") for path in SAYS_PYTEST):
        return True
    return any(
        "import pytest" in files.texts[path] for path in list_test_files(files.texts) if path.endswith(".py")
    )


def _python(tests: Chosen, files: Files) -> str:
    front = python_front(files)
    if files.has("tests/runtests.py") and not uses_pytest(files):
        labels = dict.fromkeys(_label(path, names) for path, names in tests)
        return f"{front}python tests/runtests.py {' '.join(labels)}"
    if files.has("manage.py") and not uses_pytest(files):
        labels = dict.fromkeys(
            path.removesuffix(".py").replace("/", ".")
            + "".join(f".{name.replace('::', '.')}" for name in names[:1] if len(names) == 1)
            for path, names in tests
        )
        return f"{front}python manage.py test {' '.join(labels)}"
    words = _nodes(tests)
    if not uses_pytest(files) and any("unittest" in files.texts.get(path, "") for path, _ in tests):
        return f"{front}python -m unittest {' '.join(path for path, _ in tests)}"
    return f"{front}pytest {' '.join(words)}"


def _label(path: str, names: Sequence[str]) -> str:
    """A label of Django's runtests.py: the dotted path below tests/."""
    dotted = path.removeprefix("tests/").removesuffix(".py").replace("/", ".")
    return f"{dotted}.{names[0].replace('::', '.')}" if len(names) == 1 else dotted


def _nodes(tests: Chosen) -> list[str]:
    nodes = [
        quoted(f"{path}::{name}") if name else quoted(path)
        for path, names in tests
        for name in (names or [""])
    ]
    return nodes if len(nodes) <= MOST_NODES else [quoted(path) for path, _ in tests]


def _script(tests: Chosen, files: Files) -> str:
    """Through the runner among the dependencies of the package that the tests are in."""
    by_package: dict[str, list[tuple[str, Sequence[str]]]] = {}
    for path, names in tests:
        folder = folder_of(path)
        while folder and not files.has(f"{folder}/package.json"):
            folder = folder_of(folder)
        by_package.setdefault(folder, []).append((path, names))
    return " && ".join(_of_package(folder, own, files) for folder, own in by_package.items())


def _of_package(folder: str, tests: Chosen, files: Files) -> str:
    package = f"{folder}/package.json".lstrip("/")
    known = {**script_dependencies(files, "package.json"), **script_dependencies(files, package)}
    said = files.texts.get(package, "")
    used = next((command for tool, command in SCRIPT_RUNNERS if tool in known), "")
    used = used or next((command for tool, command in SCRIPT_RUNNERS if re.search(rf"\b{tool} ", said)), "")
    paths = [quoted(path[len(folder) :].lstrip("/")) for path, _ in tests]
    single = [name for _, names in tests for name in names]
    if not used:
        if files.has("deno.json", "deno.jsonc"):
            return f"deno test {' '.join(paths)}"
        used = "bun test" if "bun test" in said else "node --test"
        return within(folder, f"{used} {' '.join(paths)}")
    option = {"jest": " -t ", "vitest run": " -t ", "mocha": " --grep ", "playwright test": " --grep "}.get(
        used
    )
    chosen = f"{option}{quoted(single[0])}" if option and len(single) == 1 else ""
    return within(folder, f"{script_front(files, package) + used} {' '.join(paths)}{chosen}")


def _go(tests: Chosen, files: Files) -> str:
    roots = sorted(
        (folder_of(path) for path in files.texts if path.rpartition("/")[2] == "go.mod"),
        key=len,
        reverse=True,
    )
    by_root: dict[str, list[tuple[str, Sequence[str]]]] = {}
    for path, names in tests:
        root = next((root for root in roots if not root or path.startswith(f"{root}/")), "")
        by_root.setdefault(root, []).append((path[len(root) :].lstrip("/"), names))
    commands = []
    for root, own in by_root.items():
        packages = dict.fromkeys(
            quoted(f"./{folder_of(path)}".rstrip("/") if folder_of(path) else ".") for path, _ in own
        )
        single = list(dict.fromkeys(name for _, names in own for name in names))
        narrowed = all(names for _, names in own) and 0 < len(single) <= MOST_NODES
        run = f" -run {quoted('^(' + '|'.join(single) + ')$')}" if narrowed else ""
        commands.append(within(root, f"go test{run} {' '.join(packages)}"))
    return " && ".join(commands)


def _java(tests: Chosen, files: Files) -> str:
    classes = []
    for path, names in tests:
        name = path.rpartition("/")[2].rpartition(".")[0]
        methods = [each.rpartition("::")[2] for each in names]
        classes.append((name, methods if 0 < len(methods) <= MOST_NODES else []))
    if files.has("pom.xml"):
        front = "./mvnw" if files.has("mvnw") else "mvn"
        chosen = ",".join(name + ("#" + "+".join(methods) if methods else "") for name, methods in classes)
        return f"{front} -Dtest={quoted(chosen)} test"
    front = "./gradlew" if files.has("gradlew") else "gradle"
    wanted = [f"{name}.{method}" for name, methods in classes for method in methods or [""]]
    return f"{front} test " + " ".join(f"--tests {quoted(each.rstrip('.'))}" for each in wanted)


def _rust(tests: Chosen, files: Files) -> str:
    commands = []
    inside = []
    for path, names in tests:
        found = re.fullmatch(r"(?:(.+)/)?tests/(?:(\w+)/main|(\w+))\.rs", path)
        if found:
            package = _package_option(found[1] or "", files)
            commands.append(
                f"cargo test{package} --test {found[2] or found[3]}"
                + (f" {names[0]}" if len(names) == 1 else "")
            )
        else:
            inside.append((path, names))
    for path, names in inside:
        root, _, module = path.rpartition("src/")
        named = module.removesuffix(".rs").removesuffix("/mod").replace("/", "::")
        chosen = names[0] if len(names) == 1 else "" if named in ("lib", "main") else f"{named}::"
        commands.append(f"cargo test{_package_option(root.rstrip('/'), files)} {chosen}".rstrip())
    return " && ".join(dict.fromkeys(commands))


def _package_option(folder: str, files: Files) -> str:
    if not folder:
        return ""
    named = re.search(
        r"^name[ \t]*=[ \t]*\"([\w-]+)\"", files.texts.get(f"{folder}/Cargo.toml", ""), re.MULTILINE
    )
    return f" -p {named[1]}" if named else f" --manifest-path {quoted(folder)}/Cargo.toml"


def _ruby(tests: Chosen, files: Files) -> str:
    front = "bundle exec " if files.has("Gemfile") else ""
    specs = [quoted(path) for path, _ in tests if path.endswith("_spec.rb")]
    others = [quoted(path) for path, _ in tests if not path.endswith("_spec.rb")]
    rails = "bin/rails test" if files.has("bin/rails") else f"{front}ruby -Itest"
    commands = [f"{front}rspec {' '.join(specs)}"] if specs else []
    if others:
        commands += (
            [f"{rails} {' '.join(others)}"]
            if rails.startswith("bin")
            else [f"{rails} {each}" for each in others]
        )
    return " && ".join(commands)


def _php(tests: Chosen, files: Files) -> str:
    program = (
        "vendor/bin/pest" if "pestphp/pest" in files.texts.get("composer.json", "") else "vendor/bin/phpunit"
    )
    return " && ".join(f"{program} {quoted(path)}" for path, _ in tests)


def _elixir(tests: Chosen, files: Files) -> str:
    del files
    return f"mix test {' '.join(quoted(path) for path, _ in tests)}"


def _dotnet(tests: Chosen, files: Files) -> str:
    del files
    names = (path.rpartition("/")[2].removesuffix(".cs") for path, _ in tests)
    return "dotnet test --filter " + quoted("|".join(f"FullyQualifiedName~{name}" for name in names))
