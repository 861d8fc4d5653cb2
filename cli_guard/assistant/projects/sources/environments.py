"""What runs a program in a project's environment, how that environment is installed, and the tools it sets up."""

import re
from collections.abc import Iterator

from cli_guard.assistant.projects.files import Files, folder_of, line_of, nearness, quote_word, within
from cli_guard.assistant.projects.model import Found
from cli_guard.assistant.projects.purposes import as_purpose, read
from cli_guard.code.test_files import list_test_files
from cli_guard.reviewers.commands.extract.nodes import Scalar, Table, at

# The manager of a Python project: its lock file, a mark in pyproject.toml, how it runs, installs and builds.
PYTHON_MANAGERS = (
    ("uv.lock", "(?!)", "uv run ", "uv sync", "uv build"),
    ("poetry.lock", r"^\[tool\.poetry\.dependencies\]", "poetry run ", "poetry install", "poetry build"),
    ("pdm.lock", r"^\[tool\.pdm\b", "pdm run ", "pdm install", "pdm build"),
    ("Pipfile", "(?!)", "pipenv run ", "pipenv install --dev", "python -m build"),
)
LOCKS = (
    *(("pnpm", "pnpm-lock.yaml"), ("yarn", "yarn.lock"), ("bun", "bun.lock"), ("bun", "bun.lockb")),
    *(("npm", "package-lock.json"), ("npm", "npm-shrinkwrap.json")),
)
# How a JavaScript package manager runs a program among the dependencies.
SCRIPT_FRONTS = {"npm": "npx ", "pnpm": "pnpm exec ", "yarn": "yarn ", "bun": "bunx "}
SHORT = ("test", "start", "stop", "restart")
DEV_GROUPS = ("dev", "develop", "development", "test", "tests", "testing", "all", "lint")
# The groups that serve development, by the file or table that lists them.
DEV_FILES = tuple(
    f"requirements{middle}.txt"
    for middle in "-dev _dev -test -tests _test /dev /development /test /tests -development".split()
)
SETTINGS = ("pyproject.toml", "setup.cfg", "tox.ini")


def find_environments(files: Files) -> Iterator[Found]:
    """How a working copy is installed and built, and how the tools that it sets up are run."""
    yield from _python_tools(files)
    yield from _python_install(files)
    for path in files.find_named("package.json"):
        front, folder = script_front(files, path), folder_of(path)
        locked = front == "npx " and files.has(*(f"{folder}/{lock}".lstrip("/") for _, lock in LOCKS[-2:]))
        manager = script_manager(files, path)
        command = within(folder, "npm ci" if locked else f"{manager} install")
        yield Found(command, path, 1, "installs what package.json lists", "", "convention", "install")
        known = script_dependencies(files, path)
        for tool in read("conventions")["script_tool"]:
            if tool["name"] in known:
                command = within(folder, front + tool["command"])
                body, purpose = f"{tool['name']} is among the dependencies", as_purpose(tool["purpose"])
                yield Found(command, path, known[tool["name"]], body, "", "configured", purpose)


def _python_manager(files: Files) -> tuple[str, ...] | None:
    text = files.read("pyproject.toml")
    return next(
        (each for each in PYTHON_MANAGERS if files.has(each[0]) or re.search(each[1], text, re.MULTILINE)),
        None,
    )


def python_front(files: Files) -> str:
    """What is in front of a program of the project's Python environment: `uv run `, `poetry run `, or nothing."""
    manager = _python_manager(files)
    return manager[2] if manager else ""


def _python_tools(files: Files) -> Iterator[Found]:
    front = python_front(files)
    for tool in read("conventions")["python_tool"]:
        source = _find_settings(files, tool["places"].split())
        if source is None:
            continue
        command = tool["command"]
        if tool["name"] == "mypy" and not re.search(
            r"^(?:files|packages|modules)[ \t]*=", _section_at(files, *source), re.MULTILINE
        ):
            command += " src" if "src" in files.folders else " ."
        used = front + command.replace("&& ", f"&& {front}")
        body, purpose = f"{tool['name']} is set up here", as_purpose(tool["purpose"])
        yield Found(used, *source, body, "", "configured", purpose)
    tests = sorted((path for path in list_test_files(files.texts) if path.endswith(".py")), key=nearness)
    if tests:
        pytest = any("import pytest" in files.texts[path] for path in tests)
        command = "pytest" if pytest or "unittest" not in files.texts[tests[0]] else "python -m unittest"
        body = f"{tests[0]} holds tests, and no file says how they are run"
        yield Found(front + command, tests[0], 1, body, "", "convention", "test", 1)


def _find_settings(files: Files, places: list[str]) -> tuple[str, int] | None:
    """The first of some places that is there: a file, or a section (`tool.ruff`) with what is below it."""
    for place in places:
        if files.has(place):
            files.read(place)
            return place, 1
        section = rf"^\[{re.escape(place)}(?:\.[^\]\n]*)?\][ \t]*$"
        for path in SETTINGS:
            if re.search(section, files.read(path), re.MULTILINE):
                return path, line_of(files.read(path), section)
    return None


def _section_at(files: Files, path: str, line: int) -> str:
    return "\n".join(files.read(path).split("\n")[line - 1 :]).split("\n[")[0]


def _python_install(files: Files) -> Iterator[Found]:
    manager = _python_manager(files)
    text = files.read("pyproject.toml")
    is_package = "[build-system]" in text or files.has("setup.py")
    path = "pyproject.toml" if "[build-system]" in text or not files.has("setup.py") else "setup.py"
    if is_package:
        line = line_of(text, r"^\[build-system\]") if path == "pyproject.toml" else 1
        command = manager[4] if manager else "python -m build"
        yield Found(command, path, line, "builds the package", "", "convention", "build")
    if manager:
        lock = manager[0] if files.has(manager[0]) else "pyproject.toml"
        yield Found(manager[3], lock, 1, "installs the locked dependencies", "", "convention", "install")
        return
    for place, command in (
        (("dependency-groups",), "pip install -e . --group {}"),
        (("project", "optional-dependencies"), "pip install -e '.[{}]'"),
    ):
        for table in at(files.document("pyproject.toml"), *place):
            names = [name for name, _ in table.items()] if isinstance(table, Table) else []
            chosen = next((name for name in DEV_GROUPS if name in names), None)
            if chosen:
                key = rf"^[ \t]*[\"']?{re.escape(chosen)}[\"']?[ \t]*="
                line = line_of(text, key, max(text.find(f"{place[-1]}]"), 0))
                body = f"the dependencies of {chosen}"
                yield Found(command.format(chosen), "pyproject.toml", line, body, "", "convention", "install")
                return
    listed = next((each for each in (*DEV_FILES, "requirements.txt") if files.has(each)), None)
    editable = "pip install -e ." if is_package else ""
    if listed:
        files.read(listed)
        front = f"{editable} && " if editable and listed != "requirements.txt" else ""
        yield Found(f"{front}pip install -r {listed}", listed, 1, "", "", "convention", "install")
    elif editable:
        yield Found(editable, path, 1, "", "", "convention", "install")


def script_manager(files: Files, path: str) -> str:
    """The manager of a package.json, by itself or a lock file beside or above it: npm if nothing says."""
    folder = folder_of(path)
    while True:
        for node in at(files.document(f"{folder}/package.json".lstrip("/")), "packageManager"):
            named = re.match(r"npm|pnpm|yarn|bun", node.text) if isinstance(node, Scalar) else None
            if named:
                return named[0]
        for manager, lock in LOCKS:
            if files.has(f"{folder}/{lock}".lstrip("/")):
                return manager
        if not folder:
            return "npm"
        folder = folder_of(folder)


def script_front(files: Files, path: str) -> str:
    """What is in front of a program among the dependencies of a package.json: `npx `, `yarn `."""
    return SCRIPT_FRONTS[script_manager(files, path)]


def script_command(files: Files, path: str, name: str) -> str:
    """How a script of a package.json is run in its folder."""
    manager, word = script_manager(files, path), quote_word(name)
    if manager == "yarn" and name not in ("install", "add", "remove", "pack"):
        return f"yarn {word}"
    return f"{manager} {word}" if name in SHORT and manager != "bun" else f"{manager} run {word}"


def script_dependencies(files: Files, path: str) -> dict[str, int]:
    """The packages that a package.json asks for, with their lines."""
    found: dict[str, int] = {}
    for key in ("devDependencies", "dependencies"):
        for table in at(files.document(path), key):
            for name, node in table.items() if isinstance(table, Table) else ():
                found.setdefault(name, node.line if isinstance(node, Scalar) else 1)
    return found
