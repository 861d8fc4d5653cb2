"""The plain subset of bash: a command is allowed only if all of its text is in it, and each command in it is allowed.

What a person reads on this page is what bash does, whatever the values of the variables are. All else is named and
needs review; the judge still looks for harm in it. docs/commands.md says the same in words.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from itertools import pairwise

from cli_guard.commands.model import Span
from cli_guard.commands.parse.tree import (
    Assignment,
    Case,
    CommandGroup,
    Computation,
    Compute,
    For,
    FunctionDefinition,
    Loop,
    ParameterExpansion,
    ParsedCommand,
    Part,
    Redirect,
    Script,
    Substitution,
    Test,
    Text,
    Word,
)
from cli_guard.lazy import regex
from cli_guard.rules.tables import words

# Variables to which bash gives a meaning of its own.
OF_BASH = regex(rf"(?:{'|'.join(words('environment')['bash'])})\Z")

# Text: without quotes, in quotes, or behind a backslash; a dollar alone. `operator` is one of `[[ ]]`.
PLAIN_TEXT = ("", "'", '"', "\\", "$", "operator")
# What `$'\t'` and `$'\n'` stand for: no character of a name, an option or a pattern.
SEPARATORS = " \t\r\n"
# `$NAME`, `$1`, `$?`, `$#`, `$!`, `$$`; `$@` in quotes.
PLAIN_PARAMETER = regex(r"(?!_\Z)[A-Za-z_]\w*|[1-9]\d*|[?#!$]", re.ASCII)
# `${NAME:-plain}`, and what cuts off an end or a beginning.
PLAIN_OPERATORS = (":-", "%", "%%", "#", "##")
# `$(...)`; `<(...)` at the end of a word.
PLAIN_SUBSTITUTIONS = ("$", "<")
PLAIN_GROUPS = ("group", "subshell", "background")
PLAIN_LOOPS = ("while", "until")
# `{a,b}` and `{1..3}` of plain characters, one after the other; `{}` stands for itself.
BRACES = regex(r"\{.*(?:,|\.\.).*\}", re.DOTALL)
PLAIN_BRACES = regex(
    r"[^{}]*(?:(?<!\0)\{(?:|[\w./@:+*?-]*(?:,[\w./@:+*?-]*)+|(?:0|[1-9]\d?)\.\.(?:0|[1-9]\d?))\}[^{}]*)*",
    re.ASCII,
)
# `~` and `~name` are homes, `~+` and `~1` depend on where the shell was.
MOVING_HOME = regex(r"(?:^|[:=])~[+\-\d]")
# `> FILE`, `2>&1`, `&> FILE`, `< FILE`, `<< END`, `<<< WORD`.
PLAIN_REDIRECTS = ("<", ">", ">>", ">|", "<<", "<<<")
PLAIN_DESCRIPTORS = ("", "0", "1", "2", "&")
COPIED_DESCRIPTORS = ("1", "2", "-")
PATTERN = regex(r"[*?\[{]")
# `i + 1`, `(total - used) * 100 / total`.
PLAIN_ARITHMETIC = regex(r"(?!.*(?:\+\+|--))[\s\w+*/%()-]*", re.ASCII | re.DOTALL)
JOINED_VALUE = regex(r"[\w\0]\0|\0\w")
# Operators of `[[ ]]` that evaluate a subscript, or look at options and name references.
EVALUATING = ("-v", "-R", "-o")
# Those of `[` and `[[ ]]` that take numbers.
COMPARISONS = ("-eq", "-ne", "-lt", "-le", "-gt", "-ge")

# Builtins that change how the rest is read, or read a word once more as code or as the name of a variable.
OUTSIDE_BUILTINS = frozenset(
    "alias bind compgen complete compopt coproc declare enable eval exec getopts hash let local mapfile readarray "
    "readonly shift shopt trap typeset unalias".split()
)
SPECIAL_BUILTINS = frozenset(
    ": . break continue exit export return set shift source times unset".split()
)
# `set -e`, `set -euo pipefail`.
PLAIN_SETTINGS = regex(
    r"(?:[-+][eux]+|[-+][eux]*o (?:pipefail|errexit|nounset|xtrace))(?: |\Z)"
)

NAMES = {
    "`": "backquotes",
    ">": "a process substitution that is written to",
    "$'": "$'...'",
    '$"': '$"..."',
    "extglob": "an extended pattern",
    "(": "an array",
    "[": "an array subscript",
    "[?": "an array subscript",
    "!name": "the value of a variable as a name (${!...})",
    "#name": "the length of a value (${#...})",
    "@": "a transformation (${...@...})",
    "coproc": "coproc",
    "time": "time before a compound command",
    "select": "select",
}


def find_outside(script: Script) -> Iterator[tuple[Span, str]]:
    """Yield what is outside of the subset, with its place and its name."""
    nodes: list[tuple[object, Span]] = [(script.items, Span(0, 0))]
    while nodes:
        node, span = nodes.pop()
        span = getattr(node, "span", span)
        construct = name_outside(node)
        if construct:
            yield span, construct
        elif not is_pipe_status(node):
            nodes += [(below, span) for below in reversed(children_of(node))]


def children_of(node: object) -> Sequence[object]:
    """Return the nodes, words and parts directly in one, whatever its type."""
    if isinstance(node, tuple):
        return node
    kind = type(node)
    if kind not in FIELDS:
        FIELDS[kind] = (
            tuple(each.name for each in fields(node)) if is_dataclass(node) else ()
        )
    return [
        value
        for name in FIELDS[kind]
        if not isinstance(value := getattr(node, name), LEAVES)
    ]


def find_commands(script: Script) -> Iterator[ParsedCommand]:
    """Yield the simple commands of a script and of its substitutions, in order."""
    nodes: list[object] = [script.items]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ParsedCommand):
            yield node
        nodes += reversed(children_of(node))


def plain_text(word: Word) -> str:
    """Return the text of a word, empty if a part of it is only known when it runs."""
    texts = [part.text for part in word.parts if isinstance(part, Text)]
    return "".join(texts) if len(texts) == len(word.parts) else ""


FIELDS: dict[type, tuple[str, ...]] = {}
LEAVES = (str, bool, Span, type(None))


def find_names(node: object) -> Iterator[str]:
    """Yield the names of the variables that are read in or below a node."""
    if isinstance(node, ParameterExpansion):
        yield node.name
    for below in children_of(node):
        yield from find_names(below)


def name_outside(node: object) -> str:
    """Name the construct that a node is, "" if it is in the subset as far as its parts are."""
    match node:
        case Text(form="$'", text=text) if not text.strip(SEPARATORS):
            return ""
        case Text(form=form):
            return "" if form in PLAIN_TEXT else NAMES.get(form, "a line end within a word")
        case ParameterExpansion():
            return name_parameter(node)
        case Substitution(kind=kind):
            return "" if kind in PLAIN_SUBSTITUTIONS else NAMES[kind]
        case Computation(expression=expression):
            return "" if is_plain_arithmetic(expression) else "arithmetic"
        case Compute():
            return "arithmetic"
        case Word():
            return name_word(node)
        case Assignment(name=name, append=append, element=element):
            if element:
                return "an array subscript"
            return "+=" if append else ""
        case Redirect():
            return name_redirect(node)
        case ParsedCommand():
            return name_command(node)
        case CommandGroup(kind=kind):
            return "" if kind in PLAIN_GROUPS else NAMES[kind]
        case Loop(kind=kind):
            return "" if kind in PLAIN_LOOPS else "a loop that counts"
        case For(kind=kind, name=name, words=given):
            if kind != "for" or given is None:
                return NAMES.get(kind, "for without a list of words")
            return name_setting(name)
        case Case(branches=branches):
            patterns = [word for each in branches for word in each[0]]
            ends = {each[2] for each in branches} - {";;", ""}
            if ends:
                return ends.pop()
            return "" if all(map(is_literal, patterns)) else "a computed pattern"
        case Test():
            return name_test(node)
        case FunctionDefinition():
            return "a function"
    return ""


def name_parameter(node: ParameterExpansion) -> str:
    if not node.operator:
        is_plain = PLAIN_PARAMETER.fullmatch(node.name) or (
            node.name == "@" and node.quoted
        )
        return "" if is_plain else f"${node.name}"
    if is_pipe_status(node):
        return ""
    if node.operator not in PLAIN_OPERATORS or not PLAIN_PARAMETER.fullmatch(node.name):
        return NAMES.get(node.operator, f"${{...{node.operator}...}}")
    given = node.argument.parts if node.argument else ()
    # How quotes in it are read depends on those around it.
    has_quotes = any(
        isinstance(part, Text) and (part.quoted or part.text == "'") for part in given
    )
    has_process = any(isinstance(part, Substitution) and part.kind != "$" for part in given)
    is_cut = node.operator != ":-" and not all(map(is_text, given))
    if has_quotes or has_process or is_cut:
        return "quotes or a computed pattern within ${...}"
    return ""


def is_pipe_status(node: object) -> bool:
    """Return whether a node is `${PIPESTATUS[N]}` with a literal N."""
    if (
        not isinstance(node, ParameterExpansion)
        or node.name != "PIPESTATUS"
        or node.operator != "["
    ):
        return False
    first = (
        node.argument.parts[0] if node.argument and len(node.argument.parts) == 1 else None
    )
    index = first.expression.parts if isinstance(first, Computation) else ()
    return len(index) == 1 and isinstance(index[0], Text) and index[0].text.isdecimal()


def name_word(node: Word) -> str:
    processes = [
        at
        for at, part in enumerate(node.parts)
        if isinstance(part, Substitution) and part.kind == "<"
    ]
    if processes and (
        processes != [len(node.parts) - 1] or not all(map(is_text, node.parts[:-1]))
    ):
        return "a process substitution within a word"
    if Text("$", "$") in node.parts and not is_literal(node):
        # bash splits such a word in its own way.
        return "a lone $ beside an expansion"
    plain = take_unquoted(node)
    if MOVING_HOME.search(plain):
        return "~+ or ~-"
    if BRACES.search(plain) and not PLAIN_BRACES.fullmatch(plain):
        return "these braces"
    return ""


def take_unquoted(word: Word) -> str:
    """Return the unquoted text of a word, with a NUL for each other part."""
    return "".join(
        part.text if isinstance(part, Text) and not part.quoted else "\0"
        for part in word.parts
    )


def is_text(part: Part) -> bool:
    return isinstance(part, Text)


def is_literal(word: Word) -> bool:
    return all(map(is_text, word.parts))


def name_redirect(node: Redirect) -> str:
    text = "".join(part.text for part in node.target.parts if isinstance(part, Text))
    if node.operator == ">&" and is_literal(node.target) and text in COPIED_DESCRIPTORS:
        is_plain = node.descriptor in PLAIN_DESCRIPTORS and (
            text != "-" or node.descriptor == "2"
        )
        return "" if is_plain else f"descriptor {node.descriptor or text}"
    if node.loose:
        return "a here-document that bash expands or that does not end"
    if node.operator not in PLAIN_REDIRECTS:
        return f"the redirection {node.operator}"
    is_input = node.operator[0] == "<"
    if node.descriptor not in (("", "0") if is_input else PLAIN_DESCRIPTORS):
        return f"descriptor {node.descriptor}"
    is_file = node.operator[:2] != "<<"
    if is_file and PATTERN.search(take_unquoted(node.target)):
        return "a pattern as the target of a redirection"
    return ""


def name_command(node: ParsedCommand) -> str:
    first = node.words[0].parts[0] if node.words and node.words[0].parts else None
    name = first.text if isinstance(first, Text) else ""
    if node.words and BRACES.search(take_unquoted(node.words[0])):
        # `{rm,-rf,src}` hides from a reader which program runs.
        return "braces as the name of a command"
    if node.assignments and name in SPECIAL_BUILTINS:
        # Other shells than bash keep the variable.
        return f"an assignment before {name}"
    for each in node.assignments:
        # `IFS= read` is how a line is read.
        if not (each.name == "IFS" and name == "read") and (
            construct := name_setting(each.name)
        ):
            return construct
    return ""


def name_setting(name: str) -> str:
    return f"{name}, which means something to bash" if OF_BASH.match(name) else ""


def is_plain_name(name: str, read: Iterable[str]) -> bool:
    """Return whether a variable is the text's own: lower case, or one that it reads, and none of bash's."""
    return not OF_BASH.match(name) and (name == name.lower() or name in read)


def name_test(node: Test) -> str:
    texts = [
        part.text
        for word in node.words
        for part in word.parts[:1]
        if isinstance(part, Text)
    ]
    if any(text in EVALUATING for text in texts):
        return "an operator of [[ ]] that evaluates"
    match = (Text("=~"),)
    behind = [word for before, word in pairwise(node.words) if before.parts == match]
    return "" if all(map(is_literal, behind)) else "a computed regular expression"


def is_plain_arithmetic(expression: Word) -> bool:
    """Return whether an expression has only names, values, numbers and operators that change nothing."""
    for part in expression.parts:
        if isinstance(part, Text):
            if not PLAIN_ARITHMETIC.fullmatch(part.text):
                return False
        elif not isinstance(part, ParameterExpansion) or part.operator:
            return False
    # `a$i` would be another name.
    texts = "".join(getattr(part, "text", "\0") for part in expression.parts)
    return not JOINED_VALUE.search(texts)


def is_number(part: Part) -> bool:
    """Return whether a part is a number whatever its value: `$?`, `$#`, `${PIPESTATUS[0]}`."""
    return isinstance(part, ParameterExpansion) and (
        (part.name in ("?", "#", "!", "$") and not part.operator) or is_pipe_status(part)
    )
