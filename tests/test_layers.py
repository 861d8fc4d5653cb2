"""The house: imports run downward, files are of a size to read, nothing reaches for a shell."""

import ast
import graphlib
import pkgutil
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from sources import FILES, ROOT, name_of, nodes_of, tree_of

from cli_guard.graph.half import ROOMS
from cli_guard.reviewers.registry import REVIEWERS

# From the top floor down; rooms on one floor do not import each other.
FLOORS = (
    ("__main__", "assistant/commands"),
    ("cli", "mcp", "llm"),
    ("assistant", "agents"),
    ("execution", "server", "report", "answering", "api"),
    ("review",),
    ("graph",),
    ("reviewers",),
    ("approvals",),
    ("policy", "state"),
    ("secrets",),
    ("commands", "code", "git"),
    ("rules", "repository"),
    ("runtime", "model", "errors", "hooks", "words"),
    ("lazy",),
)
FLOOR = {room: level for level, rooms in enumerate(FLOORS) for room in rooms}

# Of a file: tokens without comments and docstrings, and lines. A reader's time is what both stand for.
MOST_TOKENS, MOST_LINES, FEWEST_LINES = 3_600, 500, 40

# A module or room that alone may import a library at all.
SEAMS = {
    "ast_grep_py": {
        "code/syntax.py",
        "reviewers/code/trees.py",
        "reviewers/code/tree_rules.py",
    },
    "ahocorasick": {"words.py"},
    "yaml": {
        "rules/data.py",
        "policy/user_rules.py",
        "reviewers/commands/extract/yaml_nodes.py",
    },
    "click": {"cli", "assistant/commands", "__main__.py"},
    "pydantic": {"policy", "graph", "assistant", "execution", "llm", "mcp"},
    "bashkit": {"assistant"},
    "mcp": {"mcp"},
    "anyio": {"mcp"},
    "jsonschema": {"mcp"},
    "psutil": {"execution"},
    "langgraph": {"graph"},
    "langchain_core": {"graph", "llm"},
    "langchain": {"llm"},
    "langsmith": {"llm", "graph/run.py"},
    "openai": {"llm"},
    "httpx2": {"llm"},
    "genai_prices": {"llm"},
    "rich": {"llm"},
    "prompt_toolkit": {"llm"},
    "distributed": {"report/scan/cluster.py"},
    "git": {"git/gitpython.py"},
    "unidiff": {"api.py", "repository/second_reader.py"},
}
WORD_OR_SIGN = re.compile(r"\w+|[^\w\s]")
UNCOUNTED = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}
# Imported at module level, these would make every run wait for them.
LAZY = set(SEAMS) - {"click", "pydantic", "langgraph", "langchain_core"}
LIGHT = {"_signal", "_socket", "cli_guard", "os", "posix", "sys", "time"}


def room_of(file: Path) -> str:
    """An entry point (`__main__.py`) is on the top floor, whatever room it starts."""
    return room_at(".".join(("cli_guard", *file.relative_to(ROOT).with_suffix("").parts)))


def room_at(module: str) -> str:
    """The commands of the assistant stand above everything that they use."""
    parts = module.split(".")
    if "__main__" in parts:
        return "__main__"
    return "/".join(parts[1:3]) if parts[1:3] == ["assistant", "commands"] else parts[1]


def for_types_only(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)


def statements(tree: ast.AST, *, deep: bool) -> Iterator[ast.stmt]:
    """The statements that run: at import alone, or (`deep`) ever."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.stmt) and for_types_only(node):
            continue
        if isinstance(node, ast.stmt):
            yield node
        if deep or not isinstance(
            node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
        ):
            yield from statements(node, deep=deep)


@cache
def imported(file: Path, *, deep: bool = True) -> list[str]:
    found: list[str] = []
    for node in statements(tree_of(file), deep=deep):
        if isinstance(node, ast.Import):
            found += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: imports by its place"
            assert node.module
            found += (f"{node.module}.{alias.name}" for alias in node.names)
    return found


def module_of(file: Path) -> str:
    return ".".join(
        ("cli_guard", *file.relative_to(ROOT).with_suffix("").parts)
    ).removesuffix(".__init__")


MODULES = {module_of(file): file for file in FILES}


def imported_files(file: Path) -> set[str]:
    """The modules of the package that a file imports, by the longest name that is one."""
    found = set()
    for name in imported(file):
        while name and name not in MODULES:
            name = name.rpartition(".")[0]
        found.add(name)
    return found - {"", "cli_guard", module_of(file)}


def libraries(file: Path, *, deep: bool = True) -> set[str]:
    return {name.split(".")[0] for name in imported(file, deep=deep)}


def test_imports_run_downward() -> None:
    wrong = []
    for file in FILES:
        room = room_of(file)
        if room == "__init__":
            continue
        assert room in FLOOR, f"{room} is a room without a floor"
        for name in imported(file):
            if not name.startswith("cli_guard.") or name == "cli_guard.__version__":
                continue
            other = room_at(name)
            if other != room and FLOOR[other] <= FLOOR[room]:
                wrong.append(f"{name_of(file)} imports {name}")
    assert not wrong
    # No circle of files either: raises CycleError with the files.
    tuple(
        graphlib.TopologicalSorter(
            {name: imported_files(file) for name, file in MODULES.items()}
        ).static_order()
    )
    loose = [file for file in FILES if file.parent == ROOT]
    assert len(loose) <= 8 + 1, "eight loose modules and __init__"
    assert len(FLOORS) <= 14
    for name in (
        "__main__.py",
        "hooks.py",
        "server/__init__.py",
        "server/client.py",
        "server/address.py",
    ):
        assert libraries(ROOT / name, deep=False) <= LIGHT, f"{name} is loaded by every run"


def test_what_a_string_names_is_there() -> None:
    """What is loaded by its name when it is needed: no import notices that it has another."""
    named = {
        name
        for file in FILES
        for name in re.findall(r'"(cli_guard(?:\.\w+)+:\w+)"', file.read_text("utf-8"))
    }
    assert named
    for name in named:
        pkgutil.resolve_name(name)


def tokens_of(file: Path) -> int:
    """Return the number of tokens in a file, those of its comments, docstrings and line ends left out."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        node.body[0].lineno
        for node in nodes_of(file)
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None
    }
    with file.open("rb") as opened:
        return sum(
            token.type not in UNCOUNTED
            and not (token.type == tokenize.STRING and token.start[0] in docstrings)
            for token in tokenize.tokenize(opened.readline)
        )


HALF = ("assistant", "llm", "mcp")


def test_the_guard_imports_nothing_of_the_assistants_half() -> None:
    """At any depth, lazily or for types alone: one table of `graph/half.py` names that half by strings."""
    wrong = [
        f"{name_of(file)}: {name}"
        for file in FILES
        if file.relative_to(ROOT).parts[0] not in HALF
        for node in nodes_of(file)
        for name in names_imported(node)
        if name.startswith(tuple(f"cli_guard.{room}" for room in HALF))
    ]
    assert wrong == []
    texts = {name_of(file): file.read_text("utf-8") for file in FILES}
    named = re.compile(rf"""["']cli_guard\.(?:{"|".join(HALF)})\b""")
    naming = {
        name
        for name, text in texts.items()
        if name.split("/")[0] not in HALF and named.search(text)
    }
    # The warm server leaves out what no run on it needs.
    assert naming == {"graph/half.py", "server/warming.py"}
    assert set(ROOMS) == set(HALF)


def names_imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return []


def test_files_are_neither_long_nor_short() -> None:
    lines = {file: len(file.read_text("utf-8").splitlines()) for file in FILES}
    assert {name_of(file): n for file, n in lines.items() if n > MOST_LINES} == {}
    # No token has less than a word or a sign, and to count the tokens of a file takes longer.
    long = [
        file
        for file in FILES
        if len(WORD_OR_SIGN.findall(file.read_text("utf-8"))) > MOST_TOKENS
    ]
    tokens = {name_of(file): tokens_of(file) for file in long}
    assert {name: n for name, n in tokens.items() if n > MOST_TOKENS} == {}
    # `__init__` is as short as it can be; a command, format or reviewer has a file of its own; Studio loads its file by
    # name.
    short = {
        name_of(f) for f, n in lines.items() if n < FEWEST_LINES and f.name != "__init__.py"
    }
    own = ("cli/", "assistant/commands/", "review/render/", "graph/studio.py")
    own = (*own, *(f"reviewers/{each.name}.py" for each in REVIEWERS))
    short = {each for each in short if not each.startswith(own)}
    assert short == set(), "a file this short belongs to the one that calls it"


def test_most_files_know_a_repository_and_not_git() -> None:
    """What they need of one is `cli_guard.repository.protocol`."""
    knowing = [
        name_of(file)
        for file in FILES
        if room_of(file) != "git"
        and any(name.startswith("cli_guard.git.") for name in imported(file))
    ]
    assert len(knowing) <= 30, knowing


def test_heavy_libraries_stay_behind_their_seam() -> None:
    for file in FILES:
        for library in libraries(file) & set(SEAMS):
            allowed = SEAMS[library]
            assert allowed & {name_of(file), room_of(file)}, (
                f"{name_of(file)} imports {library}"
            )
        eager = libraries(file, deep=False) & LAZY
        assert not eager, f"{name_of(file)} imports {eager} when it is imported itself"
    for file in (ROOT / "policy").rglob("*.py"):
        # Policy is pure: only its configuration reads files, the user's own.
        forbidden = {"subprocess", "os", "socket", "shutil", "tempfile"}
        assert not libraries(file) & (
            forbidden | (set() if file.name == "config.py" else {"pathlib"})
        ), file


def test_nothing_runs_a_shell_or_text_as_code() -> None:
    never = (
        "eval",
        "exec",
        "compile",
        "__import__",
        "os.system",
        "os.popen",
        "subprocess.getoutput",
    )
    for file in FILES:
        for node in nodes_of(file):
            if not isinstance(node, ast.Call):
                continue
            where = f"{name_of(file)}:{node.lineno}"
            called = ast.unparse(node.func)
            assert called not in (*never, "pickle.loads", "yaml.load"), where
            for keyword in node.keywords:
                assert keyword.arg != "shell" or ast.unparse(keyword.value) == "False", (
                    where
                )
            if called.startswith("subprocess."):
                assert not node.args or not isinstance(
                    node.args[0], ast.Constant | ast.JoinedStr
                ), where


def test_these_tests_see_what_they_look_for(tmp_path: Path) -> None:
    sample = tmp_path / "sample.py"
    sample.write_text(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import hidden\n"
        "def f():\n    from late import thing\nclass C:\n    import inside\nimport early.part\n"
    )
    assert set(imported(sample)) == {
        "typing.TYPE_CHECKING",
        "late.thing",
        "inside",
        "early.part",
    }
    assert set(imported(sample, deep=False)) == {
        "typing.TYPE_CHECKING",
        "inside",
        "early.part",
    }
