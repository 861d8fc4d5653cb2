"""What runs a program in a project's environment, how that environment is installed, and the tools it sets up."""

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from cli_guard.assistant.projects.files import (
    FoundCommand,
    ProjectFiles,
    folder_of,
    line_at,
    line_of,
    nearness,
    within,
)
from cli_guard.assistant.projects.purposes import read
from cli_guard.code.test_files import list_test_files
from cli_guard.reviewers.commands.extract.nodes import Scalar, Table, at

SHORT = ("test", "start", "stop", "restart")
SETTINGS = ("pyproject.toml", "setup.cfg", "tox.ini")


def find_environments(files: ProjectFiles) -> Iterator[FoundCommand]:
    """Yield how a working copy is installed and built, and how the tools that it sets up are run."""
    yield from _python_tools(files)
    yield from _python_install(files)
    for path in files.find_named("package.json"):
        manager = script_manager(files, path)
        folder = folder_of(path)
        inside = f"{folder}/".lstrip("/")
        locked = manager["name"] == "npm" and files.has(
            *(inside + lock for lock in manager["locks"].split())
        )
        command = within(folder, "npm ci" if locked else f"{manager['name']} install")
        yield FoundCommand(
            command,
            path,
            1,
            "installs what package.json lists",
            "",
            "convention",
            "install",
        )
        known = script_dependencies(files, path)
        for tool in read("conventions")["script_tool"]:
            if tool["name"] in known:
                command = within(folder, manager["front"] + tool["command"])
                body = f"{tool['name']} is among the dependencies"
                yield FoundCommand(
                    command,
                    path,
                    known[tool["name"]],
                    body,
                    "",
                    "configured",
                    tool["purpose"],
                )


def find_conventions(files: ProjectFiles) -> Iterator[FoundCommand]:
    """Yield what everybody runs in a project of each kind that the repository is."""
    for kind in read("conventions")["kind"]:
        paths = files.find_like(kind["file"])
        # The parts of one project have such files too: what is nearest the root is the whole.
        nearest = min((path.count("/") for path in paths), default=0)
        for path in paths:
            if path.count("/") == nearest or kind.get("anywhere"):
                yield from _of_kind(files, kind, path)


def _of_kind(
    files: ProjectFiles, kind: Mapping[str, Any], path: str
) -> Iterator[FoundCommand]:
    text = files.read(path)
    folder = folder_of(path)
    inside = f"{folder}/" if folder else ""
    if not re.search(kind.get("needs", ""), text) or not re.fullmatch(
        kind.get("path", ".*"), path
    ):
        return
    below = [each.removeprefix(inside) for each in files.texts if each.startswith(inside)]
    front = python_front(files) if kind.get("front") == "python" else ""
    for rank, usual in enumerate(kind["commands"]):
        needed = re.search(usual.get("needs", ""), text)
        if not needed or not any(re.search(usual.get("with", ""), each) for each in below):
            continue
        words = {
            "folder": shlex.quote(folder or "."),
            "path": shlex.quote(path),
            "hook": needed.groupdict().get("hook"),
        }
        command = front + usual["command"].format_map(words)
        if "wrapper" in kind and files.has(inside + kind["wrapper"][0]):
            command = re.sub(rf"^{kind['wrapper'][1]}\b", kind["wrapper"][2], command)
        yield FoundCommand(
            command if kind.get("anywhere") else within(folder, command),
            path,
            line_of(text, usual["needs"]) if words["hook"] else 1,
            f"the usual command of {kind['what']}",
            "",
            "convention",
            usual["purpose"],
            rank + 50 * kind.get("last", False),
        )


def _python_manager(files: ProjectFiles) -> Mapping[str, str] | None:
    text = files.read("pyproject.toml")
    known = read("conventions")["python_manager"]
    return next(
        (
            e
            for e in known
            if files.has(e["lock"]) or re.search(e.get("mark", "(?!)"), text)
        ),
        None,
    )


def python_front(files: ProjectFiles) -> str:
    """Return what is in front of a program of the project's environment: `uv run `, `poetry run `, or nothing."""
    manager = _python_manager(files)
    return manager["front"] if manager else ""


def _python_tools(files: ProjectFiles) -> Iterator[FoundCommand]:
    front = python_front(files)
    for tool in read("conventions")["python_tool"]:
        source = _find_settings(files, tool["places"].split())
        if source is None:
            continue
        command = tool["command"]
        path, line = source
        section = "\n".join(files.read(path).split("\n")[line - 1 :]).split("\n[")[0]
        if tool["name"] == "mypy" and not re.search(
            r"(?m)^(?:files|packages|modules)[ \t]*=", section
        ):
            command += " src" if "src" in files.folders else " ."
        used = front + command.replace("&& ", f"&& {front}")
        yield FoundCommand(
            used,
            *source,
            f"{tool['name']} is set up here",
            "",
            "configured",
            tool["purpose"],
        )
    tests = sorted(
        (path for path in list_test_files(files.texts) if path.endswith(".py")),
        key=nearness,
    )
    if tests:
        pytest = any("import pytest" in files.texts[path] for path in tests)
        command = (
            "pytest"
            if pytest or "unittest" not in files.texts[tests[0]]
            else "python -m unittest"
        )
        body = f"{tests[0]} holds tests, and no file says how they are run"
        yield FoundCommand(front + command, tests[0], 1, body, "", "convention", "test", 1)


def _find_settings(files: ProjectFiles, places: list[str]) -> tuple[str, int] | None:
    """Return the first of some places that is there: a file, or a section (`tool.ruff`) with what is below it."""
    for place in places:
        if files.has(place):
            files.read(place)
            return place, 1
        section = rf"^\[{re.escape(place)}(?:\.[^\]\n]*)?\][ \t]*$"
        for path in SETTINGS:
            if re.search(section, files.read(path), re.MULTILINE):
                return path, line_of(files.read(path), section)
    return None


def _python_install(files: ProjectFiles) -> Iterator[FoundCommand]:
    manager = _python_manager(files)
    text = files.read("pyproject.toml")
    system = re.search(r"(?m)^\[build-system\]", text)
    path, line = ("pyproject.toml", line_at(text, system)) if system else ("setup.py", 1)
    is_package = bool(system) or files.has("setup.py")
    if is_package:
        command = manager["build"] if manager else "python -m build"
        yield FoundCommand(
            command, path, line, "builds the package", "", "convention", "build"
        )
    if manager:
        lock = manager["lock"] if files.has(manager["lock"]) else "pyproject.toml"
        yield FoundCommand(
            manager["install"],
            lock,
            1,
            "installs the locked dependencies",
            "",
            "convention",
            "install",
        )
        return
    usual = read("conventions")
    for place, command in (
        (("dependency-groups",), "pip install -e . --group {}"),
        (("project", "optional-dependencies"), "pip install -e '.[{}]'"),
    ):
        for table in at(files.document("pyproject.toml"), *place):
            names = [name for name, _ in table.items()] if isinstance(table, Table) else []
            chosen = next(
                (name for name in usual["development_groups"].split() if name in names),
                None,
            )
            if chosen:
                key = rf"^[ \t]*[\"']?{re.escape(chosen)}[\"']?[ \t]*="
                line = line_of(text, key, max(text.find(f"{place[-1]}]"), 0))
                body = f"the dependencies of {chosen}"
                yield FoundCommand(
                    command.format(chosen),
                    "pyproject.toml",
                    line,
                    body,
                    "",
                    "convention",
                    "install",
                )
                return
    listed = next(
        (each for each in usual["development_files"].split() if files.has(each)), None
    )
    editable = "pip install -e ." if is_package else ""
    if listed:
        files.read(listed)
        front = f"{editable} && " if editable and listed != "requirements.txt" else ""
        yield FoundCommand(
            f"{front}pip install -r {listed}", listed, 1, "", "", "convention", "install"
        )
    elif editable:
        yield FoundCommand(editable, path, 1, "", "", "convention", "install")


def script_manager(files: ProjectFiles, path: str) -> Mapping[str, str]:
    """Return the manager of a package.json, by itself or a lock file beside or above it: npm if nothing says."""
    known: list[Mapping[str, str]] = read("conventions")["script_manager"]
    folder = folder_of(path)
    while True:
        inside = f"{folder}/".lstrip("/")
        for node in at(files.document(f"{inside}package.json"), "packageManager"):
            for each in known:
                if isinstance(node, Scalar) and node.text.startswith(each["name"]):
                    return each
        for each in known:
            if files.has(*(inside + lock for lock in each["locks"].split())):
                return each
        if not folder:
            return known[-1]
        folder = folder_of(folder)


def script_command(files: ProjectFiles, path: str, name: str) -> str:
    """Return how a script of a package.json is run in its folder."""
    manager = script_manager(files, path)["name"]
    word = shlex.quote(name)
    if manager == "yarn" and name not in ("install", "add", "remove", "pack"):
        return f"yarn {word}"
    return (
        f"{manager} {word}"
        if name in SHORT and manager != "bun"
        else f"{manager} run {word}"
    )


def script_dependencies(files: ProjectFiles, path: str) -> dict[str, int]:
    """Return the packages that a package.json asks for, with their lines."""
    found: dict[str, int] = {}
    for key in ("devDependencies", "dependencies"):
        for table in at(files.document(path), key):
            for name, node in table.items() if isinstance(table, Table) else ():
                found.setdefault(name, node.line if isinstance(node, Scalar) else 1)
    return found
