"""Measure how many of the guard's conditions no test would miss: negate random ones, and run the tests of the room.

    python -m benchmarks.mutants [--seed N] [--count N] [--room ROOM ...]

In a copy of the repository in a temporary folder one condition at a time is negated: the test of an `if`, a `while` or
a comprehension, a comparison, an `and`, an `or` or a `not`. The rooms take turns; within a room the seed chooses. Each
mutant is judged by the tests of its room in the quick half, in one process without a server, up to the first failure,
those named like the changed module before the rest;
one that takes longer than SECONDS of processor time counts as killed, as it would never end. Printed are the survivors
with file, line and condition, and the figure.
"""

import argparse
import ast
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from itertools import islice, zip_longest
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SECONDS = 60
WITHOUT = "-"
EXAMPLES = "tests/rules/test_rule_examples.py"
# What the tests of a room are, the most telling first; those of the slow half are left out by their mark, and those
# of a name after WITHOUT.
TESTS: Mapping[str, tuple[str, ...]] = {
    "policy": ("tests/policy", "tests/reviewers/test_policy_reviewer.py"),
    "state": ("tests/state", "tests/cli/test_last.py", "tests/cli/test_approve.py"),
    "secrets": ("tests/secrets/test_secret_leaks.py", EXAMPLES, "tests/secrets"),
    "code": (
        "tests/code/test_labelled_changes.py",
        "tests/code",
        "tests/reviewers/code/test_prepared_text.py",
        EXAMPLES,
    ),
    # Every table of a program takes as long as all other tests, and speaks of few conditions.
    "commands": (
        "tests/commands/test_labelled.py",
        "tests/commands",
        "-tests/commands/test_tables.py",
    ),
    "approvals": (
        "tests/approvals",
        "tests/cli/test_signers.py",
        "tests/cli/test_approve.py",
    ),
}
# Loaded once, before the copies: each takes longer than most tests.
LIBRARIES = ("click", "hypothesis", "pydantic", "yaml", "ast_grep_py", "langgraph.graph")
OPPOSITES: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
# Never evaluated in a test, or only for a type checker.
IDLE = ("TYPE_CHECKING", "__name__ == '__main__'")


@dataclass(frozen=True)
class Mutant:
    """One condition of a file, and what takes its place."""

    path: str
    line: int
    condition: str
    negated: str
    start: int
    end: int

    def text(self, source: bytes) -> bytes:
        """Return the file with the condition negated."""
        return source[: self.start] + f"({self.negated})".encode() + source[self.end :]


def conditions_in(tree: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield the conditions of a module, and the negation of each."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If | ast.While | ast.IfExp):
            yield node.test, ast.UnaryOp(ast.Not(), node.test)
        elif isinstance(node, ast.comprehension):
            yield from ((test, ast.UnaryOp(ast.Not(), test)) for test in node.ifs)
        elif isinstance(node, ast.Compare) and len(node.ops) == 1:
            opposite = OPPOSITES[type(node.ops[0])]()
            yield node, ast.Compare(node.left, [opposite], node.comparators)
        elif isinstance(node, ast.BoolOp):
            other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield node, ast.BoolOp(other, node.values)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield node, node.operand


def mutants_of(file: Path, root: Path) -> list[Mutant]:
    """Return every mutant of a file, each condition once."""
    source = file.read_text("utf-8")
    lines = source.encode().splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    tree = ast.parse(source)
    # Python 3.11 does not know where a part of an f-string is.
    formatted = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in ast.walk(node)
    }
    found: dict[tuple[int, int], Mutant] = {}
    for node, negation in conditions_in(tree):
        text = ast.unparse(node)
        if id(node) in formatted or text in IDLE:
            continue
        assert node.end_lineno and node.end_col_offset is not None
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        path = file.relative_to(root).as_posix()
        mutant = Mutant(path, node.lineno, text, ast.unparse(negation), start, end)
        found.setdefault((start, end), mutant)
    return list(found.values())


def choose_mutants(rooms: list[str], seed: int, count: int) -> list[Mutant]:
    """Choose mutants: the rooms take turns, and in each the seed decides."""
    chance = random.Random(seed)
    orders = []
    for room in rooms:
        files = sorted((ROOT / "cli_guard" / room).rglob("*.py"))
        every = [mutant for file in files for mutant in mutants_of(file, ROOT)]
        orders.append(chance.sample(every, len(every)))
    turns = (mutant for turn in zip_longest(*orders) for mutant in turn if mutant)
    return list(islice(turns, count))


def copy_repository(folder: Path) -> None:
    """Copy what is tracked, or will be, without what is ignored."""
    listed = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True).stdout
    for name in filter(None, os.fsdecode(names).split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


def run_tests(folder: Path, tests: tuple[str, ...]) -> None:
    """Run tests in this process, which is a copy of its own, and end it with their exit code."""
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    os.chdir(folder)
    os.environ |= {"CLI_GUARD_SERVER": "0", "PYTHONPATH": str(folder)}
    sys.path[:] = [str(folder), *(each for each in sys.path if each not in ("", str(ROOT)))]
    for name in [each for each in sys.modules if each.partition(".")[0] == "benchmarks"]:
        del sys.modules[name]
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    options = ("-x", "-q", "-m", "not slow", "-p", "no:cacheprovider")
    code = pytest.main([*options, *tests])
    # A test that judged another copy of the package would let every mutant live.
    if not str(import_module("cli_guard").__file__).startswith(str(folder)):
        code = pytest.ExitCode.INTERNAL_ERROR
    os._exit(code)


def order_tests(root: Path, room: str, module: str = "") -> tuple[str, ...]:
    """Return the test files of a room, those named like a module before the rest.

    They are listed one by one: pytest forgets the order of a file and of the folder that holds it.
    """
    files: dict[str, None] = {}
    for test in TESTS[room]:
        path = root / test.removeprefix(WITHOUT)
        found = sorted(path.rglob("test_*.py")) if path.is_dir() else [path]
        names = [file.relative_to(root).as_posix() for file in found]
        if test.startswith(WITHOUT):
            files = {name: None for name in files if name not in names}
        else:
            files |= dict.fromkeys(names)
    prefix = f"test_{module}"
    return tuple(sorted(files, key=lambda name: not Path(name).name.startswith(prefix)))


def measure_run(folder: Path, tests: tuple[str, ...]) -> tuple[int, float]:
    """Run tests in a process of their own; return its exit code and its seconds of processor time."""
    pid = os.fork()
    if pid == 0:
        run_tests(folder, tests)
    _, status, usage = os.wait4(pid, 0)
    return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime


def judge_mutant(
    mutant: Mutant, folder: Path, tests: tuple[str, ...]
) -> tuple[bool, float]:
    """Return whether the tests notice a mutant, and their seconds of processor time."""
    file = folder / mutant.path
    source = file.read_bytes()
    file.write_bytes(mutant.text(source))
    forget_bytecode(file)
    try:
        code, seconds = measure_run(folder, tests)
    finally:
        file.write_bytes(source)
        forget_bytecode(file)
    return code != pytest.ExitCode.OK, seconds


def forget_bytecode(file: Path) -> None:
    """Remove the bytecode of a file, which a change within the same second could leave in use."""
    for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.*.pyc"):
        compiled.unlink()


def main() -> int:
    """Judge mutants and print the survivors; return 1 if the tests of a room fail without any."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--room", nargs="+", choices=TESTS, default=list(TESTS))
    chosen = parser.parse_args()
    for library in LIBRARIES:
        import_module(library)
    survivors = []
    total = 0.0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary).resolve() / "copy"
        copy_repository(folder)
        for room in chosen.room:
            code, seconds = measure_run(folder, order_tests(folder, room))
            print(f"{room}: tests without a mutant take {seconds:.0f} s", flush=True)
            total += seconds
            if code != pytest.ExitCode.OK:
                print(f"{room}: they fail ({code}); no mutant can be judged")
                return 1
        mutants = choose_mutants(chosen.room, chosen.seed, chosen.count)
        for number, mutant in enumerate(mutants, 1):
            path = Path(mutant.path)
            tests = order_tests(folder, path.parts[1], path.stem)
            is_killed, seconds = judge_mutant(mutant, folder, tests)
            total += seconds
            word = "killed" if is_killed else "SURVIVED"
            print(
                f"{number:4} {word:9}{seconds:5.0f} s  {mutant.path}:{mutant.line}  {mutant.condition}",
                flush=True,
            )
            if not is_killed:
                survivors.append(mutant)
    print()
    for mutant in survivors:
        print(f"{mutant.path}:{mutant.line}: {mutant.condition}\n    -> {mutant.negated}")
    killed = len(mutants) - len(survivors)
    print(f"{killed} of {len(mutants)} killed, {total:.0f} s of processor time")
    return 0


if __name__ == "__main__":
    sys.exit(main())
