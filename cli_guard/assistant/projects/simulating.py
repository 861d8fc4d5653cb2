"""Simulate Python test commands: the tests that one would select, and what was recorded of them; nothing runs."""

import ast
import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cli_guard.assistant.projects.commands import commands_of
from cli_guard.assistant.projects.model import Failure, Outcome, Simulated
from cli_guard.assistant.projects.purposes import SEPARATORS, bare_command, read
from cli_guard.assistant.projects.running import Cases
from cli_guard.assistant.request_command import word_list
from cli_guard.code.test_files import list_test_files
from cli_guard.secrets.redact import redact

LONGEST = 2_000
MOST_PARTS = 50
MOST_FILES = 5_000
DEEPEST = 4
MOVED = re.compile(r"cd ([\w./-]+)$")
# An environment that is only a version of Python runs what tox runs by default.
PLAIN_TOX = re.compile(r"^tox (?:run |r )?-e py\d*$")
TARGETS = re.compile(r"runs the (?:targets|recipes) (.+)$")
LEFT_OUT = ("--ignore", "--deselect")
NO_OPERANDS = (
    "test",
    "-m",
    "run",
    "pytest",
    "unittest",
    "verify",
    "manage.py",
    "{posargs}",
)
OUTCOMES = ("passed", "failed", "skipped")


@dataclass(frozen=True, slots=True)
class _Run:
    """One call of a test runner: its folder with a last `/`, and what its words select."""

    folder: str
    by_module: bool
    operands: tuple[str, ...]
    left_out: tuple[str, ...]
    expression: str


def simulate(
    command: str, texts: Mapping[str, str], recorded: Mapping[str, object] | None = None
) -> Simulated:
    """Count what a test command would select, by syntax tree, with the outcomes that were recorded.

    `recorded` is a test file or a node id (`tests/test_a.py::test_b`) -> "passed", "failed" or "skipped", or a mapping
    with `outcome` and `message`. A node id counts before its file. What was not recorded never counts as passed.
    """
    plain = " ".join(command[:LONGEST].split())
    tasks = {each.command: each.detail for each in commands_of(texts) if each.detail}
    runs = list(_find_runs(plain, tasks))
    counts: Counter[str] = Counter()
    failures = []
    selected = dict.fromkeys(pair for run in runs for pair in _select(run, texts))
    for path, name in selected:
        outcome, message = _find_outcome(path, name, recorded or {})
        counts[outcome] += 1
        if outcome == "failed":
            failures.append(Failure(f"{path}::{name}" if name else path, redact(message)))
    passed, failed, skipped, unrecorded = (
        counts[each] for each in ("passed", "failed", "skipped", "")
    )
    status: Outcome = (
        "failed" if failed else "passed" if passed and not unrecorded else "not recorded"
    )
    lines = [
        f"FAILED {each.name}" + (f" - {each.message}" if each.message else "")
        for each in failures
    ]
    shown = (
        (failed, "failed"),
        (passed, "passed"),
        (skipped, "skipped"),
        (unrecorded, "not recorded"),
    )
    said = (
        ", ".join(f"{count} {word}" for count, word in shown if count)
        or "no tests selected"
    )
    lines.append(f"==== {said}, {len(selected)} selected (simulated: nothing was run) ====")
    if not runs:
        lines = [
            "simulated: this command runs no tests that we know how to select; nothing was run"
        ]
    numbers = (len(selected), passed, failed, skipped, unrecorded)
    return Simulated(redact(plain), status, *numbers, tuple(failures), "\n".join(lines))


def _find_runs(command: str, tasks: Mapping[str, str], depth: int = 0) -> Iterator[_Run]:
    """The calls of test runners that a command makes, itself or by the tasks (command -> what it runs) it names."""
    folder = ""
    for part in SEPARATORS.split(command)[:MOST_PARTS]:
        bare = bare_command(part)
        moved = MOVED.match(part)
        if moved:
            folder = moved[1].rstrip("/") + "/"
        elif re.match(read("programs")["python_runner"], bare):
            yield _read_run(bare, folder)
        elif depth < DEEPEST:
            inside = f"cd {folder[:-1]} && " if folder else ""
            body = tasks.get(inside + part) or tasks.get(PLAIN_TOX.sub("tox", part)) or ""
            targets = TARGETS.match(body)
            program = part.rpartition(" ")[0] or part
            inner = (
                " && ".join(f"{program} {name}" for name in targets[1].split())
                if targets
                else body
            )
            yield from _find_runs(inside + inner, tasks, depth + 1) if body else ()


def _read_run(bare: str, folder: str) -> _Run:
    try:
        words = iter(shlex.split(bare)[1:])
    except ValueError:
        words = iter(bare.split()[1:])
    operands: list[str] = []
    left_out: list[str] = []
    expression = ""
    for word in words:
        option, attached, value = word.partition("=")
        if option in LEFT_OUT or word in word_list("valued"):
            value = value if attached else next(words, "")
            expression = value if option == "-k" else expression
            left_out += [value.rstrip("/")] if option in LEFT_OUT else []
        elif not word.startswith("-") and word not in NO_OPERANDS:
            operands.append(word.removeprefix("./").rstrip("/"))
    # unittest and Django name modules, pytest names paths.
    by_module = not bare.startswith(("pytest", "py.test"))
    return _Run(folder, by_module, tuple(operands), tuple(left_out), expression)


def _select(run: _Run, texts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """(test file, test) of all that a run selects, in order; a file without known tests counts as one."""
    cases = Cases(texts)
    for path in list_test_files(texts)[:MOST_FILES]:
        if not path.endswith(".py") or not path.startswith(run.folder):
            continue
        for name in [case.name for case in cases.of(path)] or [""]:
            node = f"{path[len(run.folder) :]}::{name}"
            left_out = any(_is_inside(node, each) or node == each for each in run.left_out)
            chosen = not run.operands or any(
                _is_chosen(node, each, run) for each in run.operands
            )
            if (
                chosen
                and not left_out
                and (not run.expression or _holds(run.expression, node.lower()))
            ):
                yield path, name


def _is_inside(node: str, operand: str) -> bool:
    return node.startswith((f"{operand}::", f"{operand}/"))


def _is_chosen(node: str, operand: str, run: _Run) -> bool:
    is_module = run.by_module and "/" not in operand and not operand.endswith(".py")
    dotted = "." + re.sub(r"\.py::|/|::", ".", node) + "."
    return (
        operand in ("", ".", node)
        or _is_inside(node, operand)
        or (is_module and f".{operand}." in dotted)
    )


def _holds(expression: str, text: str) -> bool:
    """Pytest's `-k`: words joined by `and`, `or`, `not` and brackets; one that cannot be read matches nothing."""

    def evaluate(node: ast.expr) -> bool:
        match node:
            case ast.BoolOp(op, values):
                return (all if isinstance(op, ast.And) else any)(map(evaluate, values))
            case ast.UnaryOp(ast.Not(), operand):
                return not evaluate(operand)
            case ast.Name(word):
                return word in text
            case _:
                return False

    try:
        return evaluate(ast.parse(expression.lower()[:1_000], mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _find_outcome(path: str, name: str, recorded: Mapping[str, object]) -> tuple[str, str]:
    """The outcome of a test, empty if none was recorded, and its message: by node, by its classes, by its file."""
    parts = [path, *name.split("::")] if name else [path]
    nodes = ["::".join(parts[:size]) for size in range(len(parts), 0, -1)]
    # One test with parameters is recorded several times; it failed if one of them did.
    several = [key for key in recorded if key.startswith(f"{nodes[0]}[")]
    several.sort(key=lambda key: ("fail" not in str(recorded[key]).lower(), key))
    key = next(
        (each for each in (nodes[0], *several, *nodes[1:]) if each in recorded), None
    )
    value = recorded[key] if key is not None else ""
    message = ""
    if isinstance(value, Mapping):
        message = str(value.get("message", ""))
        value = value.get("outcome", "")
    word, _, rest = str(value).partition(":")
    return word if word in OUTCOMES else "", message or rest.strip()
