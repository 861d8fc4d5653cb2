"""What a name does where it stands in Python: it is defined, bound, imported, read, an attribute or a keyword."""

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ast_grep_py import SgNode

# "definition" is def or class; "imported" is the name in `from m import NAME as other`, "import" binds it here too;
# "module" is a part of a module's path.
Role = Literal[
    "definition",
    "binding",
    "parameter",
    "import",
    "imported",
    "module",
    "read",
    "attribute",
    "keyword",
    "global",
    "nonlocal",
]
BINDS = frozenset({"definition", "binding", "parameter", "import"})
CONTAINERS = frozenset(
    {
        "pattern_list",
        "tuple_pattern",
        "list_pattern",
        "list_splat_pattern",
        "as_pattern_target",
        "tuple",
        "list",
        "list_splat",
        "parenthesized_expression",
    }
)
PARAMETER_LISTS = frozenset({"parameters", "lambda_parameters"})
PARAMETER_FORMS = frozenset(
    {
        "typed_parameter",
        "default_parameter",
        "typed_default_parameter",
        "list_splat_pattern",
        "dictionary_splat_pattern",
    }
)


def is_field(parent: "SgNode", name: str, child: "SgNode") -> bool:
    """Is `child` the field of this name?"""
    found = parent.field(name)
    return found is not None and span(found) == span(child)


def span(node: "SgNode") -> tuple[int, int]:
    """Where a node begins and ends, in characters."""
    place = node.range()
    return place.start.index, place.end.index


def parameter_name(parameter: "SgNode", node: "SgNode") -> bool:
    """Is `node` the name that a parameter binds, and not its type or default?"""
    while parameter.kind() in PARAMETER_FORMS:
        inner = parameter.field("name")
        if inner is None:
            inner = next(iter(parameter.named_children()), None)
        if inner is None:
            return False
        parameter = inner
    if parameter.kind() in ("tuple_pattern", "pattern_list"):
        start, end = span(parameter)
        return start <= span(node)[0] < end
    return span(parameter) == span(node)


def role_of(node: "SgNode") -> Role:
    """What a name does where it stands."""
    parent = node.parent()
    if parent is None:
        return "read"
    kind = parent.kind()
    if kind in ("function_definition", "class_definition") and is_field(parent, "name", node):
        return "definition"
    if kind == "attribute":
        return "attribute" if is_field(parent, "attribute", node) else "read"
    if kind == "keyword_argument":
        return "keyword" if is_field(parent, "name", node) else "read"
    if kind == "keyword_pattern":
        return "attribute" if span(next(iter(parent.named_children()), node)) == span(node) else "read"
    if kind == "global_statement":
        return "global"
    if kind == "nonlocal_statement":
        return "nonlocal"
    if kind in ("dotted_name", "aliased_import"):
        return import_role(node, parent)
    if kind == "as_pattern":
        return "read" if span(next(iter(parent.named_children()), node)) == span(node) else "binding"
    if kind == "splat_pattern":
        return "binding"
    return target_role(node, parent)


def target_role(node: "SgNode", parent: "SgNode") -> Role:
    """Whether a name is bound by an assignment, a loop or a parameter list around it, or read."""
    child, around = node, parent
    while around.kind() in CONTAINERS or around.kind() in PARAMETER_FORMS:
        if around.kind() == "as_pattern_target":
            return "binding"
        if around.kind() in PARAMETER_FORMS - CONTAINERS and not parameter_name(around, node):
            return "read"
        above = around.parent()
        if above is None:
            return "read"
        child, around = around, above
    kind = around.kind()
    if kind in PARAMETER_LISTS:
        return "parameter"
    if kind in ("assignment", "augmented_assignment", "for_statement", "for_in_clause"):
        return "binding" if is_field(around, "left", child) else "read"
    if kind == "named_expression":
        return "binding" if is_field(around, "name", child) else "read"
    if kind == "type_parameter":
        return "binding"
    return "binding" if kind == "delete_statement" else "read"


def import_role(node: "SgNode", parent: "SgNode") -> Role:
    """What a name does in an import, or in the dotted name of a pattern."""
    if parent.kind() == "aliased_import":
        return "binding"
    above = parent.parent()
    if above is None:
        return "read"
    first = span(next(iter(parent.named_children()), node)) == span(node)
    kind = above.kind()
    if kind == "aliased_import":
        statement = above.parent()
        from_import = statement is not None and statement.kind() == "import_from_statement"
        return "imported" if from_import and first else "module"
    if kind == "import_from_statement":
        return "module" if is_field(above, "module_name", parent) else "import"
    if kind == "import_statement":
        return "import" if first else "module"
    if kind in ("relative_import", "future_import_statement"):
        return "module"
    if kind == "case_pattern":  # `case name:` binds, `case a.b:` reads
        return "binding" if len(parent.named_children()) == 1 else "read" if first else "attribute"
    return "read" if first else "attribute"
