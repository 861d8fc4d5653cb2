"""The programs that a script in JavaScript or Python starts, where it says all of them in plain words.

Such a script is as harmless as the commands it runs. One that does anything else with what starts programs (another
name for it, an environment of its own, a program that is computed) is not read here, and its signs count.
"""

import re
import shlex
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING

from cli_guard.code.languages import language_for
from cli_guard.code.syntax import Trees
from cli_guard.lazy import frozen
from cli_guard.reviewers.commands.extract.programs import list_children
from cli_guard.rules.catalog import read_table

if TYPE_CHECKING:
    from ast_grep_py import SgNode

IMPORT_KINDS = {
    "javascript": ("import_statement", "variable_declarator"),
    "typescript": ("import_statement", "variable_declarator"),
    "python": ("import_statement", "import_from_statement"),
}
MODULE = r"""["'](?:node:)?child_process["']"""
IMPORTS = re.compile(
    rf"import\s[\w\s{{}},*]+\sfrom\s+{MODULE};?|[\w\s{{}},:]+=\s*require\({MODULE}\)"
    r"|import\s+subprocess(?:\s+as\s+\w+)?|from\s+subprocess\s+import\s+[\w\s,()]+"
)
# What stands in an import and is no name of what it brings.
IMPORT_WORDS = frozenset("import from as require const let var child_process node".split())
FUNCTIONS = frozenset(
    "exec execSync execFile execFileSync spawn spawnSync run call check_call check_output Popen".split()
)
# Results, kinds and errors, which start nothing.
CONSTANTS = frozenset(
    "PIPE DEVNULL STDOUT CalledProcessError TimeoutExpired SubprocessError CompletedProcess".split()
)
THIS_INTERPRETER = {"sys.executable": "python", "process.execPath": "node"}
# Options by which a call starts something else than its words say.
OTHER_PROGRAM = re.compile(
    r"""["']?(?:env|executable|preexec_fn|argv0)["']?\s*[:=]|\bshell\s*[:=]\s*["'`]"""
)
# Modules that only handle data, and what leads from them to others.
INERT = (
    "(?:json|re|sys|shlex|fnmatch|string|pathlib|typing|dataclasses|datetime|__future__)"
)
INERT_IMPORT = re.compile(
    rf"import\s+{INERT}(?:\s*,\s*{INERT})*|from\s+{INERT}\s+import\s[^*]+"
)
REACHING = re.compile(
    r"\b(?:os|builtins|modules|exec|eval|(?<!re\.)compile|[gs]etattr|globals|locals|vars"
    r"|__(?!name__|file__|doc__|future__)\w+)\b"
)
UNKNOWN = '"$argument"'
ANY_FILE = "file.txt"


@frozen
class ProgramCalls:
    """The commands that a script runs, and its text without the words that run them."""

    commands: tuple[str, ...]
    rest: str


def read_calls(path: str, text: str) -> ProgramCalls | None:
    """Return the programs that a script starts, None if it may start others."""
    language = language_for(path)
    if language not in IMPORT_KINDS or not re.search(r"child_process|subprocess", text):
        return None
    root = Trees().root(language, text)
    imports = [
        each
        for kind in IMPORT_KINDS[language]
        for each in root.find_all(kind=kind)
        if IMPORTS.fullmatch(each.text())
    ]
    names = {name for each in imports for name in names_brought(each.text())}
    call_kind = "call" if language == "python" else "call_expression"
    calls = [
        each
        for each in root.find_all(kind=call_kind)
        if starts_program(callee_of(each), names)
    ]
    commands = [command_of(each) for each in calls]
    rest = text
    for node in (*imports, *(each.child(0) for each in calls)):
        rest = without_node(rest, node)
    if None in commands or is_named(names, rest):
        return None
    return ProgramCalls(tuple(each for each in commands if each), rest)


def code_of(path: str, text: str) -> str:
    """Return a script in Python without the words in its texts, if it has nothing to start or load a program with."""
    if language_for(path) != "python":
        return text
    root = Trees().root("python", text)
    code = text
    for each in root.find_all(kind="string_content"):
        # What is filled in is code.
        if not each.find(kind="interpolation"):
            code = without_node(code, each)
    imports = (
        each.text() for kind in IMPORT_KINDS["python"] for each in root.find_all(kind=kind)
    )
    is_inert = all(map(INERT_IMPORT.fullmatch, imports)) and not REACHING.search(code)
    return code if is_inert else text


def names_brought(imported: str) -> Iterator[str]:
    """Yield the words of an import that may be names of what starts programs."""
    return (
        word
        for word in re.findall(r"\w+", imported)
        if word not in IMPORT_WORDS and word not in CONSTANTS
    )


def callee_of(call: "SgNode") -> str:
    callee = call.child(0)
    return callee.text() if callee is not None else ""


def starts_program(callee: str, names: set[str]) -> bool:
    """Return whether a call is one of a name that an import brought, or of a function of it."""
    owner, dot, function = callee.rpartition(".")
    return owner in names and function in FUNCTIONS if dot else callee in names


def without_node(text: str, node: "SgNode | None") -> str:
    """Return a text with blanks in place of a node."""
    if node is None:
        return text
    where = node.range()
    begin = where.start.index
    end = where.end.index
    return f"{text[:begin]}{' ' * (end - begin)}{text[end:]}"


def is_named(names: set[str], text: str) -> bool:
    """Return whether a name of what starts programs stands anywhere else, but for results and errors of it."""
    for name in names:
        for found in re.finditer(rf"\b{name}\b(?:\.(\w+))?", text):
            if found[1] not in CONSTANTS:
                return True
    return False


def command_of(call: "SgNode") -> str | None:
    """Return the command of a call, None if its program is not known."""
    arguments = call.field("arguments")
    given = list_children(arguments) if arguments is not None else []
    if not given or any(OTHER_PROGRAM.search(each.text()) for each in given[1:]):
        return None
    first = given[0]
    if first.kind() in ("list", "array"):
        return join_words(words_of_list(first))
    if len(given) > 1 and given[1].kind() == "array":
        return join_words([literal_of(first), *words_of_list(given[1])])
    return line_of(first)


def words_of_list(node: "SgNode") -> list[str | None]:
    return [literal_of(each) for each in list_children(node)]


def literal_of(node: "SgNode") -> str | None:
    """Return a text that stands in the script as it is, None if it is computed."""
    if node.text() in THIS_INTERPRETER:
        return THIS_INTERPRETER[node.text()]
    parts = list_children(node)
    plain = ("string_start", "string_content", "string_end", "string_fragment")
    is_plain = all(each.kind() in plain for each in parts) and "\\" not in node.text()
    if node.kind() not in ("string", "template_string") or not is_plain:
        return None
    return node.text()[1:-1] if node.text()[:1] in "\"'`" else None


def line_of(node: "SgNode") -> str | None:
    """Return a line for a shell, with words of which nothing is known where it is filled in."""
    literal = literal_of(node)
    if literal is not None or node.kind() != "template_string" or "\\" in node.text():
        return literal
    return re.sub(r"[\"']?\$\{[^{}]*\}[\"']?", UNKNOWN, node.text()[1:-1])


def join_words(words: list[str | None]) -> str | None:
    """Return the words of a command, None if its program is computed.

    What is not known is some file of the tree, but behind a program to which a word is code or another program.
    """
    if not words or words[0] is None:
        return None
    is_code = not running_programs().isdisjoint(each for each in words if each)
    other = UNKNOWN if is_code else ANY_FILE
    return " ".join(other if each is None else shlex.quote(each) for each in words)


@cache
def running_programs() -> frozenset[str]:
    """Return the programs that run what they are given."""
    table: Mapping[str, str] = read_table("agents/programs.toml")["wide"]
    groups = ("shells", "interpreters", "wrappers", "network", "deletes", "services")
    return frozenset(name for group in groups for name in table[group].split())
