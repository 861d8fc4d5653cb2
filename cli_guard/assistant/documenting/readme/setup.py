"""The sections on installation, testing and development."""

import re

from cli_guard.assistant.documenting.facts.code import code, quotable
from cli_guard.assistant.documenting.readme.blocks import Commands, Gathered, Section, Table, Text
from cli_guard.assistant.documenting.readme.manifests import Project, table, text_of

TESTS = re.compile(r"(^|/)(test_[^/]*|[^/]*_test)\.(py|go)$|(^|/)tests?/")
DEVELOPMENT_EXTRAS = ("dev", "develop", "development", "test", "tests", "testing")
MOST_ROWS = 20


def installation(project: Project) -> Section | None:
    """How to install what the manifests describe, from a checkout: whether it is published, no file says."""
    found = Gathered()
    manifest = project.python_manifest
    if manifest:
        needs = text_of(table(project.pyproject, "project").get("requires-python"))
        needs = needs or text_of(table(project.pyproject, "tool", "poetry", "dependencies").get("python"))
        if needs:
            found.add(Text(f"Needs Python `{needs}`."), ground=project.at("pyproject.toml", "python", needs))
        found.add(
            Text("From a checkout of this repository:"),
            Commands(("python -m pip install .",)),
            ground=project.at(manifest, "name"),
        )
        if project.extras:
            rows = tuple((f"`{extra}`", f"`python -m pip install '.[{extra}]'`") for extra in project.extras)
            found.add(
                Text("Optional dependencies:"), Table(("Extra", "Install with"), rows),
                ground=project.at(manifest, "extras" if project.poetry else "optional-dependencies"),
            )  # fmt: skip
        found.notes.append(
            f"If {project.python_name or 'it'} is published, put its `pip install` line first."
        )
    elif project.text("requirements.txt"):
        found.add(Commands(("python -m pip install -r requirements.txt",)), ground="requirements.txt:1")
    _node(project, found)
    _cargo(project, found)
    if project.go_module:
        version = re.search(r"^go\s+([\d.]+)", project.text("go.mod"), re.M)
        if version:
            found.add(
                Text(f"Needs Go {version[1]} or later."), ground=project.at("go.mod", "go ", version[1])
            )
        mains = go_commands(project)
        lines = tuple(f"go install ./{path}" if path else "go install ." for path in mains)
        found.add(Commands(lines or (f"go get {project.go_module}",)), ground=project.at("go.mod", "module"))
    return found.section("installation", "Installation")


def go_commands(project: Project) -> list[str]:
    """The folders that hold a `package main`, "" for the root."""
    folders = {
        path.rpartition("/")[0]
        for path, text in project.texts.items()
        if path.endswith(".go")
        and path.count("/") <= 3
        and re.search(r"^package main\b", text[:20_000], re.M)
    }
    return sorted(folders)[:MOST_ROWS]


def _node(project: Project, found: Gathered) -> None:
    if not project.package:
        return
    needs = text_of(table(project.package, "engines").get("node"))
    if needs:
        found.add(Text(f"Needs Node.js `{needs}`."), ground=project.at("package.json", '"node"'))
    found.add(
        Text("From a checkout of this repository:"),
        Commands((f"{project.node_tool} install",)),
        ground=project.at("package.json", '"name"'),
    )
    name = text_of(project.package.get("name"))
    if name and not project.package.get("private"):
        found.notes.append(f"If {name} is published, put `{project.node_tool} install {name}` first.")


def _cargo(project: Project, found: Gathered) -> None:
    package = table(project.cargo, "package")
    if not package:
        return
    needs = text_of(package.get("rust-version"))
    if needs:
        found.add(Text(f"Needs Rust {needs} or later."), ground=project.at("Cargo.toml", "rust-version"))
    binary = "src/main.rs" in project.texts or project.cargo.get("bin")
    command = "cargo install --path ." if binary else "cargo build"
    found.add(Commands((command,)), ground=project.at("Cargo.toml", "[package]"))


def testing(project: Project) -> Section | None:
    """How to run the tests: the commands that the project's own files define."""
    found = Gathered()
    extra = next((e for e in DEVELOPMENT_EXTRAS if e in project.extras), "")
    runner = test_command(project)
    if runner and runner[0] in ("pytest", "python -m unittest") and extra:
        found.add(
            Text("Install what the tests need:"), Commands((f"python -m pip install -e '.[{extra}]'",)),
            ground=project.at(project.python_manifest, extra),
        )  # fmt: skip
    lines: dict[str, str] = {}
    for command, ground in test_commands(project):
        lines.setdefault(command, ground)
    for number, (command, ground) in enumerate(lines.items()):
        lead = "Run the tests:" if number == 0 else f"Or, as `{ground.split(':')[0]}` has it:"
        found.add(Text(lead), Commands((command,)), ground=ground)
    return found.section("testing", "Testing")


def test_command(project: Project) -> tuple[str, str] | None:
    """The first command that runs the tests, and where it comes from."""
    return next(iter(test_commands(project)), None)


def test_commands(project: Project) -> list[tuple[str, str]]:
    """(command, `path:line`) of every way to run the tests, the plainest first."""
    found: list[tuple[str, str]] = []
    tools = table(project.pyproject, "tool")
    if "pytest" in tools:
        found.append(("pytest", project.at("pyproject.toml", "[tool.pytest")))
    elif "pytest.ini" in project.texts:
        found.append(("pytest", "pytest.ini:1"))
    elif "[tool:pytest]" in project.text("setup.cfg"):
        found.append(("pytest", project.at("setup.cfg", "[tool:pytest]")))
    else:
        found += _python_tests(project)
    found += [
        (f"make {t}", project.at(project.makefile, f"{t}:"))
        for t in ("test", "tests", "check")
        if t in project.targets
    ][:1]
    if "tox.ini" in project.texts or "tox" in tools:
        found.append(
            ("tox", "tox.ini:1" if "tox.ini" in project.texts else project.at("pyproject.toml", "[tool.tox"))
        )
    if "noxfile.py" in project.texts:
        found.append(("nox", "noxfile.py:1"))
    if "test" in project.node_scripts:
        found.append((f"{project.node_tool} test", project.at("package.json", '"test"')))
    if table(project.cargo, "package") or project.cargo.get("workspace"):
        found.append(("cargo test", "Cargo.toml:1"))
    if project.go_module and any(path.endswith("_test.go") for path in project.texts):
        found.append(("go test ./...", project.at("go.mod", "module")))
    return found


def _python_tests(project: Project) -> list[tuple[str, str]]:
    """Tests without settings: what their files import tells who runs them."""
    paths = sorted(p for p in project.texts if p.endswith(".py") and TESTS.search(p))
    for path in paths[:200]:
        text = project.texts[path][:100_000]
        match = re.search(r"^(?:import|from) (pytest|unittest)\b", text, re.M)
        if match:
            command = "pytest" if match[1] == "pytest" else "python -m unittest"
            return [(command, f"{path}:{text.count(chr(10), 0, match.start()) + 1}")]
    return []


def development(project: Project) -> Section | None:
    """How to set up a checkout, and what the Makefile and package.json offer for the work on it."""
    found = Gathered()
    extra = next((e for e in DEVELOPMENT_EXTRAS if e in project.extras), "")
    if project.python_manifest:
        dots = f"'.[{extra}]'" if extra else "."
        found.add(
            Text("Set up a checkout:"), Commands((f"python -m pip install -e {dots}",)),
            ground=project.at(project.python_manifest, extra or "name"),
        )  # fmt: skip
    elif project.package:
        found.add(
            Text("Set up a checkout:"),
            Commands((f"{project.node_tool} install",)),
            ground=project.at("package.json", '"name"'),
        )
    if ".pre-commit-config.yaml" in project.texts:
        found.add(
            Text("The checks run before each commit after:"),
            Commands(("pre-commit install",)),
            ground=".pre-commit-config.yaml:1",
        )
    rows = [(f"`make {name}`", _remark(project, name)) for name in list(project.targets)[:MOST_ROWS]]
    if len(project.targets) > MOST_ROWS:
        found.notes.append(f"{len(project.targets) - MOST_ROWS} more targets of the Makefile are not shown.")
    if rows:
        found.add(Table(("Command", "What it does"), tuple(rows)), ground=project.at(project.makefile, ":"))
    runs = [
        (f"`{project.node_tool} run {n}`", code(v, 80))
        for n, v in list(project.node_scripts.items())[:MOST_ROWS]
    ]
    if runs:
        found.add(Table(("Command", "Runs"), tuple(runs)), ground=project.at("package.json", '"scripts"'))
    tools = [
        t
        for t in ("ruff", "mypy", "black", "isort", "pylint", "pyright")
        if t in table(project.pyproject, "tool")
    ]
    if tools and not rows:
        commands = {"ruff": "ruff check .", "mypy": "mypy .", "black": "black --check .", "isort": "isort --check .",
                    "pylint": "pylint .", "pyright": "pyright"}  # fmt: skip
        found.add(
            Text("The checks that are set up:"),
            Commands(tuple(commands[t] for t in tools)),
            ground=project.at("pyproject.toml", f"[tool.{tools[0]}"),
        )
    return found.section("development", "Development")


def _remark(project: Project, target: str) -> str:
    """The remark on a target of the Makefile, or its first command."""
    if project.targets[target]:
        return quotable(project.targets[target].replace("`", "'"), 100)
    match = re.search(
        rf"^{re.escape(target)}\s*:(?!=)[^\n]*\n\t[@-]*([^\n]+)", project.text(project.makefile), re.M
    )
    return code(match[1], 80) if match else ""
