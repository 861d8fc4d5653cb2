"""The house: imports run downward, files stay small, nothing reaches for a shell, heavy things stay behind a seam."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import cli_guard

ROOT = Path(cli_guard.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))

# From the top floor down; what stands on one line may know each other.
FLOORS = (
    ("__main__",),
    ("cli",),
    ("agents",),
    ("mcp",),
    ("assistant",),
    ("execution",),
    ("review",),
    ("graph",),
    ("reviewers",),
    ("server", "policy"),
    ("commands", "state"),
    ("secrets",),
    ("git", "code", "rules"),
    ("runtime", "model", "errors"),
)
FLOOR = {room: level for level, rooms in enumerate(FLOORS) for room in rooms}

# A module of the package that alone may import a library at all.
SEAMS = {
    "ast_grep_py": {"code/syntax.py", "reviewers/code/trees.py"},
    "lizard": {"reviewers/refactor/metrics.py"},
    "yaml": {"rules/catalog.py", "reviewers/code/trees.py", "reviewers/commands/extract/yaml_nodes.py"},
    "click": {"cli", "__main__.py"},
    "pydantic": {
        "policy/config.py",
        "policy/mcp.py",
        "policy/checks.py",
        "policy/server.py",
        "graph",
        "assistant",
    },
    "bashkit": {"assistant"},
    "mcp": {"mcp"},
    "anyio": {"mcp"},
    "jsonschema": {"mcp"},
    "psutil": {"execution"},
    "langgraph": {"graph"},
    "langsmith": {"graph"},
}
# Whoever imports these at module level makes everybody above wait for them.
LAZY = ("ast_grep_py", "lizard", "yaml", "bashkit", "mcp", "anyio", "jsonschema", "psutil")


def room_of(file: Path) -> str:
    return room_at(file.relative_to(ROOT).with_suffix("").parts)


def room_at(parts: tuple[str, ...]) -> str:
    """The room of a module: its folder, unless it has a floor of its own."""
    alone = ".".join(parts[:2])
    return alone if alone in FLOOR else parts[0]


def for_types_only(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)


def statements(tree: ast.AST, *, deep: bool) -> Iterator[ast.stmt]:
    """The statements that run: at import alone, or (`deep`) ever."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.stmt) and for_types_only(node):
            continue
        if isinstance(node, ast.stmt):
            yield node
        if deep or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from statements(node, deep=deep)


def imported(file: Path, *, deep: bool = True) -> Iterator[str]:
    for node in statements(ast.parse(file.read_text("utf-8")), deep=deep):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: imports by its place"
            assert node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def name_of(file: Path) -> str:
    return str(file.relative_to(ROOT))


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_imports_run_downward(file: Path) -> None:
    room = room_of(file)
    if file == ROOT / "__init__.py":
        return
    assert room in FLOOR, f"{room} is a room without a floor: give it one"
    for name in imported(file):
        parts = name.split(".")
        if parts[0] != "cli_guard" or parts[1] == "__version__" or room_at(tuple(parts[1:])) == room:
            continue
        assert FLOOR[room_at(tuple(parts[1:]))] >= FLOOR[room], (
            f"{name_of(file)} imports {name}, which is above it"
        )


def test_what_every_run_loads_first_is_light() -> None:
    for name in ("__main__.py", "server/__init__.py", "server/client.py", "server/address.py"):
        modules = {each.split(".")[0] for each in imported(ROOT / name, deep=False)}
        assert modules <= {"__future__", "_signal", "_socket", "cli_guard", "os", "sys", "time"}, name


def test_a_reviewer_knows_neither_git_nor_what_is_above() -> None:
    for file in sorted((ROOT / "reviewers").rglob("*.py")):
        rooms = {name.split(".")[1] for name in imported(file) if name.startswith("cli_guard.")}
        assert not rooms & {"git", "graph", "cli", "review", "state"}, name_of(file)


def test_policy_touches_no_files_but_the_users_own() -> None:
    for file in sorted((ROOT / "policy").rglob("*.py")):
        modules = {name.split(".")[0] for name in imported(file)}
        assert not modules & {"subprocess", "os", "socket", "shutil", "tempfile"}, name_of(file)
        if file.name != "config.py":
            assert "pathlib" not in modules, name_of(file)


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_files_stay_small(file: Path) -> None:
    lines = len(file.read_text("utf-8").splitlines())
    assert lines <= (400)


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_heavy_libraries_stay_behind_their_seam(file: Path) -> None:
    libraries = {name.split(".")[0] for name in imported(file)}
    for library, allowed in SEAMS.items():
        if library in libraries:
            assert allowed & {name_of(file), room_of(file), file.name}, f"{name_of(file)} imports {library}"
    eager = {name.split(".")[0] for name in imported(file, deep=False)}
    assert not eager & set(LAZY), f"{name_of(file)} imports {eager & set(LAZY)} when it is imported itself"


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_nothing_runs_a_shell_or_text_as_code(file: Path) -> None:
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        assert called not in ("eval", "exec", "compile", "__import__"), (
            f"{name_of(file)}:{node.lineno}: {called}"
        )
        assert called not in ("os.system", "os.popen", "subprocess.getoutput", "pickle.loads", "yaml.load")
        for keyword in node.keywords:
            assert keyword.arg != "shell" or ast.unparse(keyword.value) == "False", (
                f"{name_of(file)}:{node.lineno}"
            )
        if called.startswith("subprocess."):
            assert not node.args or not isinstance(node.args[0], ast.Constant | ast.JoinedStr)


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_the_first_line_says_what_a_file_is_for(file: Path) -> None:
    if file.read_text("utf-8").strip():
        assert ast.get_docstring(ast.parse(file.read_text("utf-8")))


def test_these_tests_see_what_they_look_for(tmp_path: Path) -> None:
    sample = tmp_path / "sample.py"
    sample.write_text(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import hidden\n"
        "def f():\n    from late import thing\nclass C:\n    import inside\nimport early.part\n"
    )
    assert set(imported(sample)) == {"typing.TYPE_CHECKING", "late.thing", "inside", "early.part"}
    assert set(imported(sample, deep=False)) == {"typing.TYPE_CHECKING", "inside", "early.part"}
