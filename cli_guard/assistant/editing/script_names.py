"""Each place of one name in a JavaScript or TypeScript file, what it does there, and the scopes around it.

`var` and functions belong to the function around them, `let`, `const` and classes to the block
(https://tc39.es/ecma262/#sec-declarations-and-the-variable-statement).
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cli_guard.assistant.editing.mentions import kinds_for
from cli_guard.assistant.editing.python_names import MODULE, MOST_STEPS, Names, Occurrence, Scope
from cli_guard.assistant.editing.python_roles import Role, is_field, span
from cli_guard.assistant.editing.sources import SCRIPT_LANGUAGES

if TYPE_CHECKING:
    from ast_grep_py import SgNode

FUNCTIONS = frozenset(
    "function_declaration function_expression function arrow_function method_definition generator_function "
    "generator_function_declaration function_signature method_signature".split()
)
BLOCKS = frozenset(
    "statement_block for_statement for_in_statement catch_clause switch_body class_static_block".split()
)
# What binds its name in the scope around it.
DECLARED = frozenset(
    "function_declaration generator_function_declaration class_declaration abstract_class_declaration "
    "interface_declaration type_alias_declaration enum_declaration function_signature internal_module".split()
)
PATTERNS = frozenset(
    "object_pattern array_pattern assignment_pattern object_assignment_pattern pair_pattern rest_pattern "
    "required_parameter optional_parameter".split()
)
SHORTHAND = ("shorthand_property_identifier", "shorthand_property_identifier_pattern")
NAME = re.compile(r"[A-Za-z_$][\w$]*")


class ScriptNames(Names):
    """The places of names in JavaScript and TypeScript files."""

    def _find(self, path: str, name: str) -> Iterator[Occurrence]:
        sources = self.sources
        language = sources.language(path)
        if language not in SCRIPT_LANGUAGES or name not in sources.texts[path] or not NAME.fullmatch(name):
            return
        root = sources.root(path) if sources.in_time(path) else None
        if root is None:
            return
        steps = 0
        wanted = f"^{re.escape(name)}$"
        found = root.find_all(any=[{"kind": kind, "regex": wanted} for kind in kinds_for(language)])
        for node in sources.bounded(path, found):
            role, is_var = role_of(node)
            scopes, climbed = scopes_of(node, role, is_var=is_var)
            steps += climbed
            if steps > MOST_STEPS:
                sources.skip(path, "nested too deeply to tell the scopes of its names apart")
                return
            yield Occurrence(path, name, *span(node), role, scopes, node)


def scopes_of(node: "SgNode", role: Role, *, is_var: bool) -> tuple[tuple[Scope, ...], int]:
    """The scopes around a name, the innermost first; a `var` and a function's own name lie further out."""
    found: list[Scope] = []
    child, parent, steps = node, node.parent(), 0
    while parent is not None:
        steps += 1
        kind = parent.kind()
        if kind in FUNCTIONS:
            own_name = is_field(parent, "name", child) and kind not in ("function_expression", "function")
            if not own_name:
                name = parent.field("name")
                found.append(Scope("function", *span(parent), name.text() if name is not None else ""))
        elif kind in BLOCKS:
            above = parent.parent()
            # The body of a function is one scope with its parameters.
            is_body = kind == "statement_block" and above is not None and above.kind() in FUNCTIONS
            if not is_body and not (is_var and role == "binding"):
                found.append(Scope("function", *span(parent)))
        child, parent = parent, parent.parent()
    return (*found, MODULE), steps


def role_of(node: "SgNode") -> tuple[Role, bool]:
    """What a name does where it stands, and whether it is bound by `var`."""
    parent = node.parent()
    if parent is None:
        return "read", False
    kind = parent.kind()
    if node.kind() == "property_identifier":
        return "attribute", False
    if kind in DECLARED and is_field(parent, "name", node):
        return "definition", False
    if kind in ("function_expression", "function", "class") and is_field(parent, "name", node):
        return "definition", False
    if kind == "import_specifier":
        alias = parent.field("alias")
        if alias is None:
            return "import", False
        return ("binding" if span(alias) == span(node) else "imported"), False
    if kind in ("import_clause", "namespace_import", "import_require_clause"):
        return "import", False
    if kind == "export_specifier":
        statement = parent.parent()
        statement = statement.parent() if statement is not None else None
        if statement is not None and statement.field("source") is not None:
            return ("imported" if is_field(parent, "name", node) else "attribute"), False
        return ("read" if is_field(parent, "name", node) else "attribute"), False
    if kind in ("type_parameter", "infer_type"):
        return "parameter", False
    if kind == "arrow_function" and is_field(parent, "parameter", node):
        return "parameter", False
    return pattern_role(node, parent)


def pattern_role(node: "SgNode", parent: "SgNode") -> tuple[Role, bool]:
    """Whether a declaration, a parameter list or a loop around a pattern binds the name."""
    child, around = node, parent
    while around.kind() in PATTERNS:
        if around.kind() in ("assignment_pattern", "object_assignment_pattern") and not is_field(
            around, "left", child
        ):
            return "read", False
        if around.kind() in ("required_parameter", "optional_parameter") and not is_field(
            around, "pattern", child
        ):
            return "read", False
        if around.kind() == "pair_pattern" and not is_field(around, "value", child):
            return "read", False
        above = around.parent()
        if above is None:
            return "read", False
        child, around = around, above
    kind = around.kind()
    if kind == "formal_parameters":
        return "parameter", False
    if kind == "catch_clause":
        return ("parameter" if is_field(around, "parameter", child) else "read"), False
    if kind == "variable_declarator" and is_field(around, "name", child):
        above = around.parent()
        return "binding", above is not None and above.kind() == "variable_declaration"
    if kind == "for_in_statement" and is_field(around, "left", child):
        word = around.field("kind")
        return ("binding" if word is not None else "read"), word is not None and word.text() == "var"
    return "read", False
