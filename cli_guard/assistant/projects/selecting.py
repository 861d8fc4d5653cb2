"""Which tests a command selects: its paths, node ids, name patterns and what it leaves out, read as its runner does."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from cli_guard.assistant.projects.covering.cases import Cases
from cli_guard.assistant.projects.purposes import bare_command, listed, purpose_of_command, read
from cli_guard.code.test_files import list_test_files, runner_language

MOST_FILES = 5_000
NAMING = ("-run", "-t", "--testNamePattern", "--grep", "-g", "--filter")
NO_OPERANDS = ("test", "-m", "run", "pytest", "unittest", "verify", "manage.py", "{posargs}")


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What a command selects: paths or node ids, what is left out, and an expression over names."""

    operands: tuple[str, ...]
    ignored: tuple[str, ...] = ()
    expression: str = ""
    folder: str = ""
    dotted: bool = False


@cache
def _runners() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((each["language"], re.compile(each["pattern"])) for each in read("programs")["runner"])


def language_run(bare: str) -> str | None:
    """The language of the tests that a bare command runs, None for one that runs none we know."""
    return next((language for language, pattern in _runners() if pattern.match(bare)), None)


def selected_by(command: str, texts: Mapping[str, str]) -> list[tuple[str, str]]:
    """(test file, test) of all that the command selects, in order; a file without known tests counts as one."""
    cases = Cases(texts)
    found: dict[tuple[str, str], None] = {}
    folder = ""
    for part in re.split(r"\s*(?:&&|;|\|\|)\s*", command):
        moved = re.match(r"cd ([\w./-]+)$", part)
        if moved:
            folder = moved[1].rstrip("/")
            continue
        bare = bare_command(part)
        language = language_run(bare)
        if language is None and purpose_of_command(part) != "test":
            continue
        wanted = _wanted(bare, language, folder)
        for path in list_test_files(texts)[:MOST_FILES]:
            if language and runner_language(path) != language:
                continue
            for name in [case.name for case in cases.of(path)] or [""]:
                if _matches(path, name, wanted, language):
                    found[path, name] = None
    return list(found)


def _wanted(bare: str, language: str | None, folder: str) -> _Wanted:
    try:
        words = shlex.split(bare)
    except ValueError:
        words = bare.split()
    operands: list[str] = []
    ignored: list[str] = []
    expression = ""
    named: list[str] = []
    waiting = ""
    for word in words[1:]:
        option, attached, value = word.partition("=")
        if waiting:
            if waiting == "-k":
                expression = word
            elif waiting in ("--ignore", "--deselect"):
                ignored.append(word.rstrip("/"))
            elif waiting in NAMING:
                named.append(word)
            elif waiting == "--tests":
                operands.append(word.replace(".", "::"))
            elif waiting == "--test":
                operands.append(f"tests/{word}.rs")
            waiting = ""
        elif option == "-k" and attached:
            expression = value
        elif option in ("--ignore", "--deselect") and attached:
            ignored.append(value.rstrip("/"))
        elif option in (*NAMING, "--tests", "--test") or word in listed("valued"):
            waiting = option
            if attached:
                named.append(value)
                waiting = ""
        elif option == "-Dtest":
            operands += [each.replace("#", "::") for each in value.split(",")]
        elif not word.startswith("-") and word not in NO_OPERANDS:
            operands.append(word.removeprefix("./").rstrip("/"))
    if named:
        expression = "|".join(named)
    if language in ("python", None) and words[:1] == ["tox"]:
        operands = []
    # unittest and Django name modules, pytest names paths.
    by_module = not bare.startswith(("pytest", "py.test"))
    return _Wanted(tuple(operands), tuple(ignored), expression, folder, by_module)


def _matches(path: str, name: str, wanted: _Wanted, language: str | None) -> bool:
    node = f"{path}::{name}" if name else path
    if any(node == each or node.startswith((f"{each}/", f"{each}::")) for each in wanted.ignored):
        return False
    if wanted.folder and not path.startswith(f"{wanted.folder}/"):
        return False
    inside = path[len(wanted.folder) :].lstrip("/")
    if wanted.operands and not any(
        _operand(inside, name, each, language, wanted.dotted) for each in wanted.operands
    ):
        return False
    if not wanted.expression:
        return True
    if language == "python":
        return _expression(wanted.expression, f"{inside}::{name}".lower())
    try:
        return re.search(wanted.expression, name.replace("::", ".")) is not None
    except re.error:
        return wanted.expression in name


def _operand(path: str, name: str, operand: str, language: str | None, by_module: bool) -> bool:
    node = f"{path}::{name}"
    if operand in ("", ".", "..."):
        return True
    if language == "go":
        folder = path.rpartition("/")[0]
        base, deep, _ = operand.partition("...")
        base = base.rstrip("/")
        return folder == base or (bool(deep) and (not base or folder.startswith(f"{base}/")))
    if language == "javascript":
        return operand in path
    if language == "java":
        stem = path.rpartition("/")[2].rpartition(".")[0]
        cls, _, method = operand.partition("::")
        return (stem == cls or operand in ("test", "check", "build", "clean", "package")) and (
            not method or name.endswith(method.split("+")[0])
        )
    if language == "rust" and not operand.endswith(".rs"):
        return operand.rstrip(":") in node.replace("/", "::")
    dotted = path.rpartition(".")[0].replace("/", ".") + "." + name.replace("::", ".")
    if node == operand or node.startswith((f"{operand}::", f"{operand}/")):
        return True
    return (
        by_module and "/" not in operand and not operand.endswith(".py") and f".{operand}." in f".{dotted}."
    )


def _expression(expression: str, text: str) -> bool:
    """Pytest's `-k`: words joined by `and`, `or`, `not` and brackets; one that cannot be read matches nothing."""
    tokens = re.findall(r"[()]|[^\s()]+", expression.lower())[:200]

    def either(at: int, depth: int) -> tuple[bool, int]:
        value, at = both(at, depth)
        while at < len(tokens) and tokens[at] == "or":
            other, at = both(at + 1, depth)
            value = value or other
        return value, at

    def both(at: int, depth: int) -> tuple[bool, int]:
        value, at = single(at, depth)
        while at < len(tokens) and tokens[at] == "and":
            other, at = single(at + 1, depth)
            value = value and other
        return value, at

    def single(at: int, depth: int) -> tuple[bool, int]:
        if at >= len(tokens) or depth > 50:
            return False, len(tokens)
        if tokens[at] == "not":
            value, at = single(at + 1, depth + 1)
            return not value, at
        if tokens[at] == "(":
            value, at = either(at + 1, depth + 1)
            return value, at + 1
        return tokens[at] in text, at + 1

    value, end = either(0, 0)
    return value and end >= len(tokens)
