"""Commands in programs: steps of a Jenkinsfile, provisioning in a Vagrantfile and in Terraform, nox and invoke."""

import ast
import re
import shlex
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from cli_guard.code.syntax import Trees, find_nodes
from cli_guard.reviewers.commands.extract.nodes import end_lines
from cli_guard.reviewers.commands.extract.snippet import (
    LineNumbers,
    Snippet,
    Where,
    pieces_of,
    shell_of,
    snippet,
)
from cli_guard.rules.catalog import read_patterns

if TYPE_CHECKING:
    from ast_grep_py import SgNode

PATTERNS = read_patterns("command_files/patterns.toml", "languages")
STEP_SHELLS = {"sh": "sh", "bat": "cmd", "powershell": "pwsh", "pwsh": "pwsh"}
HCL_KEYS = (
    "command",
    "inline",
    "user_data",
    "startup_script",
    "metadata_startup_script",
    "program",
)
HCL_TEXTS = ("string_lit", "quoted_template", "heredoc_template")
ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}


def jenkinsfile(text: str) -> Iterator[Snippet]:
    lines = LineNumbers(text)
    for found in PATTERNS["groovy"].finditer(text):
        if not found["step"]:
            continue
        token = found["string"]
        quote = 3 if token.startswith(("'''", '"""')) else 1
        name = re.match(r"\w+", found["step"])
        made = snippet(
            pieces_of(token[quote:-quote], lines.at(found.start("string"))),
            Where.CI,
            STEP_SHELLS[name[0]] if name else "sh",
        )
        filled = made.substitute(PATTERNS["groovy_value"]) if token[0] == '"' else made
        yield filled.substitute(PATTERNS["groovy_escape"], lambda text: text[1:])


def vagrantfile(text: str) -> Iterator[Snippet]:
    """Yield the here-documents and inline scripts."""
    lines = LineNumbers(text)
    position = 0
    while opened := PATTERNS["ruby_heredoc"].search(text, position):
        closed = re.compile(rf"(?m)^[ \t]*{opened[2]}\b").search(text, opened.end())
        if not closed:
            break
        position = closed.end()
        yield snippet(
            pieces_of(text[opened.end() : closed.start()], lines.at(opened.end())),
            Where.SCRIPT,
        )
    for found in PATTERNS["ruby_inline"].finditer(text):
        yield snippet(pieces_of(found[1][1:-1], lines.at(found.start(1))), Where.SCRIPT)


def terraform(text: str) -> Iterator[Snippet]:
    """Yield what provisioners run, and the start-up scripts of machines."""
    for attribute in Trees().root("hcl", text).find_all(kind="attribute"):
        name = attribute.child(0)
        value = attribute.child(2)
        if name is None or value is None or name.text() not in HCL_KEYS:
            continue
        texts = _hcl_texts(value)
        if name.text() == "program":
            texts = [
                [(found[0][0], shlex.quote("".join(text for _, text in found)) + " ")]
                for found in texts
            ]
            script = snippet([piece for found in texts for piece in found], Where.SCRIPT)
        else:
            script = snippet(end_lines(texts), Where.SCRIPT, _hcl_shell(attribute))
        if script.text.startswith("#!"):
            script = replace(script, language=shell_of(script.text.split("\n", 1)[0]))
        elif name.text() not in ("command", "inline", "program"):
            continue
        yield script.substitute(PATTERNS["hcl_value"]).substitute(
            PATTERNS["hcl_dollar"], lambda text: text[1:]
        )


def _hcl_shell(attribute: "SgNode") -> str:
    for other in attribute.parent().children() if attribute.parent() else ():  # type: ignore[union-attr]
        name = other.child(0)
        value = other.child(2)
        if name and value and name.text() == "interpreter":
            texts = _hcl_texts(value)
            return shell_of(texts[0][0][1]) if texts else "sh"
    return "sh"


def _hcl_texts(value: "SgNode") -> list[list[tuple[int, str]]]:
    """Yield the texts in an expression, quoted or here-documents, but not those inside another."""
    found: list[list[tuple[int, str]]] = []
    end = 0
    for node in find_nodes(value, HCL_TEXTS):
        where = node.range()
        text = node.text()
        if where.start.index < end:
            continue
        end = where.end.index
        line = where.start.line + 1
        if node.kind() == "heredoc_template":
            found.append(
                pieces_of(textwrap.dedent("\n".join(text.split("\n")[1:-1])), line + 1)
            )
        else:
            unescaped = PATTERNS["hcl_escape"].sub(
                lambda escape: ESCAPED.get(escape[1], escape[1]), text[1:-1]
            )
            found.append([(line, unescaped)])
    return found


def python_tasks(text: str) -> Iterator[Snippet]:
    """Yield the literal commands of nox sessions and of tasks of invoke and fabric."""
    for call in Trees().root("python", text).find_all(kind="call"):
        function = call.field("function")
        arguments = call.field("arguments")
        if function is None or arguments is None or function.kind() != "attribute":
            continue
        name = function.field("attribute")
        if name is None or not PATTERNS["python_run"].fullmatch(name.text()):
            continue
        words = [
            each
            for each in arguments.children()
            if each.is_named() and each.kind() not in ("keyword_argument", "comment")
        ]
        literals = [(each.range().start.line + 1, literal_text(each)) for each in words]
        if len(literals) == 1 and literals[0][1]:
            yield snippet(pieces_of(literals[0][1], literals[0][0]), Where.BUILD)
        elif literals and literals[0][1]:
            yield snippet(
                [
                    (line, (shlex.quote(word) if word else "${_argument}") + " ")
                    for line, word in literals
                ],
                Where.BUILD,
            )


def literal_text(node: "SgNode") -> str:
    """Return the value of a literal of Python, empty if it is none or depends on anything else."""
    if node.kind() not in ("string", "concatenated_string"):
        return ""
    try:
        value = ast.literal_eval(node.text())
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return ""
    return value if isinstance(value, str) else ""
