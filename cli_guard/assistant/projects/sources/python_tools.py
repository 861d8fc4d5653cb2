"""The tools that a Python project sets up, how each is run in its environment, and how that environment is made."""

import re
from collections.abc import Iterator

from cli_guard.assistant.projects.files import Files, first_of, line_of, nearness
from cli_guard.assistant.projects.model import Purpose
from cli_guard.assistant.projects.sources.found import Found
from cli_guard.code.test_files import list_test_files
from cli_guard.reviewers.commands.extract.nodes import Table, at
from cli_guard.reviewers.commands.extract.snippet import Lines

SECTION = re.compile(r"^\[([^\]\n]{1,100})\][ \t]*$", re.MULTILINE)
DEV_GROUPS = ("dev", "develop", "development", "test", "tests", "testing", "all", "lint")
DEV_FILES = tuple(
    f"requirements{middle}.txt"
    for middle in (
        "-dev",
        "_dev",
        "-test",
        "-tests",
        "_test",
        "/dev",
        "/development",
        "/test",
        "/tests",
        "-development",
        "",
    )
)

COVERAGE = "coverage run -m pytest && coverage report"
# A tool, the tables or files that set it up, what it is for, and how it is run.
TOOLS: tuple[tuple[str, tuple[str, ...], Purpose, str], ...] = (
    ("pytest", ("tool.pytest", "pytest.ini", ".pytest.ini", "pytest.toml", "pytest", "tool:pytest"), "test", "pytest"),
    ("ruff", ("tool.ruff", "ruff.toml", ".ruff.toml"), "lint", "ruff check ."),
    ("ruff", ("tool.ruff.format",), "format", "ruff format ."),
    ("black", ("tool.black",), "format", "black ."),
    ("isort", ("tool.isort", ".isort.cfg", "isort"), "format", "isort ."),
    ("flake8", (".flake8", "flake8"), "lint", "flake8"),
    ("pylint", ("tool.pylint", ".pylintrc", "pylintrc"), "lint", "pylint ."),
    ("mypy", ("tool.mypy", "mypy.ini", ".mypy.ini", "mypy"), "typecheck", "mypy ."),
    ("pyright", ("tool.pyright", "pyrightconfig.json"), "typecheck", "pyright"),
    ("ty", ("tool.ty", "ty.toml"), "typecheck", "ty check"),
    ("coverage", ("tool.coverage", ".coveragerc", "coverage:run"), "coverage", COVERAGE),
)  # fmt: skip


def line_at(text: str, found: re.Match[str]) -> int:
    """The line that a match begins on."""
    return text.count("\n", 0, found.start()) + 1


def runner(files: Files) -> str:
    """What stands in front of a tool of the project's environment: `uv run `, `poetry run `, or nothing."""
    pyproject = files.read("pyproject.toml")
    if files.has("uv.lock"):
        return "uv run "
    if files.has("poetry.lock") or "[tool.poetry.dependencies]" in pyproject:
        return "poetry run "
    if files.has("pdm.lock") or "[tool.pdm" in pyproject:
        return "pdm run "
    return "pipenv run " if files.has("Pipfile") else ""


def tools(files: Files) -> Iterator[Found]:
    """The tools that are set up somewhere, and how each is run."""
    front = runner(files)
    sections: dict[str, tuple[str, int]] = {}
    for path in ("pyproject.toml", "setup.cfg", "tox.ini"):
        text = files.read(path)
        lines = Lines(text)
        for found in SECTION.finditer(text):
            sections.setdefault(found[1].strip(), (path, lines.at(found.start())))
    for tool, places, purpose, command in TOOLS:
        for place in places:
            if place in files.texts:
                source: tuple[str, int] | None = (place, 1)
                files.read(place)
            else:
                named = first_of(each for each in sections if each == place or each.startswith(f"{place}."))
                source = sections.get(named)
            if source:
                if tool == "mypy":
                    command = _mypy(files, source)
                used = f"{front}{command}".replace("&& ", f"&& {front}")
                yield Found(used, source[0], source[1], f"{tool} is set up here", "", "configured", purpose)
                break
    yield from _unnamed_tests(files, front)
    pyproject = files.read("pyproject.toml")
    for path in ("pyproject.toml", "setup.cfg", "setup.py", "tox.ini", *DEV_FILES):
        plugin = re.search(r"\bpytest-cov\b", files.texts.get(path, ""))
        if plugin:
            line = line_at(files.read(path), plugin)
            body = "pytest-cov is among what the project's development needs"
            yield Found(f"{front}pytest --cov", path, line, body, "", "configured", "coverage", 1)
            break
    if "[build-system]" in pyproject or files.has("setup.py"):
        path = "pyproject.toml" if "[build-system]" in pyproject else "setup.py"
        line = line_of(pyproject, r"^\[build-system\]") if path == "pyproject.toml" else 1
        build = {"uv run ": "uv build", "poetry run ": "poetry build", "pdm run ": "pdm build"}
        yield Found(
            build.get(front, "python -m build"), path, line, "builds the package", "", "convention", "build"
        )


def _unnamed_tests(files: Files, front: str) -> Iterator[Found]:
    """How tests are run that are there without a word on how: by pytest, or by unittest if they know nothing else."""
    tests = [path for path in sorted(list_test_files(files.texts), key=nearness) if path.endswith(".py")]
    if not tests:
        return
    text = files.texts[tests[0]]
    old = "unittest" in text and not any("import pytest" in files.texts[path] for path in tests)
    body = f"{tests[0]} holds tests, and no file says how they are run"
    command = "python -m unittest" if old else "pytest"
    yield Found(f"{front}{command}", tests[0], 1, body, "", "convention", "test", 1)


def _mypy(files: Files, source: tuple[str, int]) -> str:
    """Mypy with what it checks, unless its configuration says so itself."""
    after = "\n".join(files.read(source[0]).split("\n")[source[1] - 1 :])
    section = re.split(r"\n\[", after)[0]
    if re.search(r"^(?:files|packages|modules)[ \t]*=", section, re.MULTILINE):
        return "mypy"
    return "mypy src" if files.has_folder("src") else "mypy ."


def installing(files: Files) -> Iterator[Found]:
    """How a working copy is installed with what its development needs."""
    front = runner(files)
    managed = {
        "uv run ": ("uv sync", "uv.lock"),
        "poetry run ": ("poetry install", "pyproject.toml"),
        "pdm run ": ("pdm install", "pyproject.toml"),
        "pipenv run ": ("pipenv install --dev", "Pipfile"),
    }
    text = files.read("pyproject.toml")
    roots = files.document("pyproject.toml")
    if front:
        command, path = managed[front]
        yield Found(command, path, 1, "installs the locked dependencies", "", "convention", "install")
        return
    for key, flag in (("dependency-groups", "group"), ("optional-dependencies", "extra")):
        for table in at(roots, *(() if flag == "group" else ("project",)), key):
            names = [name for name, _ in table.items()] if isinstance(table, Table) else []
            chosen = first_of(name for name in DEV_GROUPS if name in names)
            if chosen:
                line = line_of(
                    text, rf"^[ \t]*[\"']?{re.escape(chosen)}[\"']?[ \t]*=", max(text.find(f"{key}]"), 0)
                )
                command = (
                    f"pip install -e '.[{chosen}]'"
                    if flag == "extra"
                    else f"pip install -e . --group {chosen}"
                )
                yield Found(command, "pyproject.toml", line, f"{flag} {chosen}", "", "convention", "install")
                return
    extras = re.search(
        r"extras_require|\[options\.extras_require\]", files.read("setup.cfg") + files.read("setup.py")
    )
    for path in (*DEV_FILES, *(f"requirements/{each}.txt" for each in DEV_GROUPS)):
        if files.has(path):
            files.read(path)
            editable = (
                "pip install -e . && "
                if ("[build-system]" in text or files.has("setup.py")) and path != "requirements.txt"
                else ""
            )
            yield Found(f"{editable}pip install -r {path}", path, 1, "", "", "convention", "install")
            return
    if extras and files.has("setup.cfg"):
        for name in DEV_GROUPS:
            found = re.search(rf"^{name}[ \t]*=", files.read("setup.cfg"), re.MULTILINE)
            if found:
                line = line_of(files.read("setup.cfg"), rf"^{name}[ \t]*=")
                yield Found(f"pip install -e '.[{name}]'", "setup.cfg", line, "", "", "convention", "install")
                return
    if "[build-system]" in text or files.has("setup.py"):
        path = "pyproject.toml" if "[build-system]" in text else "setup.py"
        yield Found("pip install -e .", path, 1, "", "", "convention", "install")
