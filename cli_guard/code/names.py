"""The name that a node of a syntax tree defines, by language."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ast_grep_py import SgNode

WORD = re.compile(r"[^\W\d][\w$-]*")
FUNCTION_VALUES = frozenset(
    (
        "arrow_function",
        "function_expression",
        "generator_function",
        "function",
        "function_definition",
        "lambda",
    )
)
CLASS_VALUES = frozenset(("class", "class_expression"))
ELIXIR = {
    "def": "function",
    "defp": "function",
    "defmacro": "function",
    "defmacrop": "function",
    "defguard": "function",
    "defmodule": "class",
    "defprotocol": "class",
    "defimpl": "class",
}
NAMES_OF_C = frozenset(
    (
        *("identifier", "field_identifier", "type_identifier", "qualified_identifier", "destructor_name"),
        *("operator_name", "primitive_type"),
    )
)
LONGEST_NAME = 120


def name_of(node: "SgNode", language: str, kind: str) -> tuple[str, str] | None:
    """Return (name, kind) of what a node defines; None if it defines nothing worth a name."""
    special = SPECIAL.get((language, node.kind())) or SPECIAL_FAMILY.get(language)
    found = special(node, kind) if special else None
    if found is None and special is None:
        found = (field_text(node, "name"), kind)
    if found is None or not found[0]:
        return None
    name = found[0].strip("\"'`").replace("::", ".").removeprefix("$")
    return (name[:LONGEST_NAME], found[1]) if name else None


def field_text(node: "SgNode", field: str) -> str:
    """Return the text of a field, cut where it is too long to be a name; empty if there is none."""
    child = node.field(field)
    return child.text()[: LONGEST_NAME * 4] if child is not None else ""


def _read_assignment(node: "SgNode", kind: str) -> tuple[str, str] | None:
    """Python and Ruby: `NAME = value`."""
    left = field_text(node, "left")
    if not WORD.fullmatch(left):
        return None
    value = node.field("right")
    return left, "function" if value is not None and value.kind() in FUNCTION_VALUES else kind


def _read_ruby_constant(node: "SgNode", kind: str) -> tuple[str, str] | None:
    found = _read_assignment(node, kind)
    return found if found and found[0][0].isupper() else None


def _read_js_variable(node: "SgNode", kind: str) -> tuple[str, str] | None:
    """`const name = value`: the value decides the kind; a required module is not a definition."""
    name, value = node.field("name"), node.field("value")
    if name is None or name.kind() != "identifier" or value is None:
        return None
    if value.kind() in ("call_expression", "await_expression", "member_expression"):
        start = value.text()[:30]
        if start.startswith(("require(", "await import(", "import(")):
            return None
    return name.text(), _js_kind(value, kind)


def _js_kind(value: "SgNode | None", kind: str) -> str:
    if value is None:
        return kind
    return (
        "function" if value.kind() in FUNCTION_VALUES else "class" if value.kind() in CLASS_VALUES else kind
    )


def _read_js_assignment(node: "SgNode", kind: str) -> tuple[str, str] | None:
    """`exports.name = ...`, `Thing.prototype.name = function () {}`."""
    left, right = node.field("left"), node.field("right")
    if left is None or right is None or left.kind() != "member_expression":
        return None
    text = left.text()
    what = _js_kind(right, kind)
    name = text.rsplit(".", 1)[-1]
    if what == "constant" and not text.startswith(("exports.", "module.exports.")):
        return None
    if text == "module.exports":
        return None
    owner = text.removesuffix("." + name).removesuffix(".prototype").rsplit(".", 1)[-1]
    if owner in ("exports", "this", "module"):
        return name, what
    return f"{owner}.{name}", what


def _js_pair(node: "SgNode", kind: str) -> tuple[str, str] | None:
    return field_text(node, "key"), _js_kind(node.field("value"), kind)


def _js_class(node: "SgNode", kind: str) -> tuple[str, str] | None:
    return (field_text(node, "name"), kind) if node.field("body") is not None else None


def _js_property(node: "SgNode", kind: str) -> tuple[str, str] | None:
    return field_text(node, "property") or field_text(node, "name"), _js_kind(node.field("value"), kind)


def _read_c_declarator(node: "SgNode", kind: str) -> tuple[str, str] | None:
    """The innermost declarator holds the name: `static int *name(int a)`."""
    inner: SgNode | None = node.field("declarator")
    for _ in range(12):
        if inner is None or inner.kind() in NAMES_OF_C:
            break
        inner = inner.field("declarator") or next(
            (c for c in inner.named_children() if c.kind() in NAMES_OF_C or c.kind().endswith("declarator")),
            None,
        )
    return (re.sub(r"<.*?>|\s+", "", inner.text()), kind) if inner is not None else None


def _with_body(node: "SgNode", kind: str) -> tuple[str, str] | None:
    """A `struct name` without a body is a use of it."""
    return (field_text(node, "name"), kind) if node.field("body") is not None else None


def _go_method(node: "SgNode", kind: str) -> tuple[str, str] | None:
    receiver = node.field("receiver")
    owner = receiver.find(kind="type_identifier") if receiver is not None else None
    name = field_text(node, "name")
    return (f"{owner.text()}.{name}" if owner is not None else name), kind


def _java_field(node: "SgNode", kind: str) -> tuple[str, str] | None:
    declarator = node.field("declarator")
    return (field_text(declarator, "name"), kind) if declarator is not None else None


def _rust_impl(node: "SgNode", kind: str) -> tuple[str, str] | None:
    return re.sub(r"<.*", "", field_text(node, "type"), flags=re.DOTALL), kind


def _kotlin(node: "SgNode", kind: str) -> tuple[str, str] | None:
    for child in node.named_children():
        if child.kind() in ("simple_identifier", "type_identifier"):
            return child.text(), kind
        if child.kind() == "variable_declaration":
            named = WORD.match(child.text())
            return (named[0], kind) if named else None
    return None


def _scala(node: "SgNode", kind: str) -> tuple[str, str] | None:
    return (field_text(node, "name") or field_text(node, "pattern")), kind


def _php_constant(node: "SgNode", kind: str) -> tuple[str, str] | None:
    first = node.child(0)
    return (first.text(), kind) if first is not None else None


def _read_lua_assignment(node: "SgNode", kind: str) -> tuple[str, str] | None:
    name, values = (
        field_text(node, "name"),
        [c for c in node.named_children() if c.kind() == "expression_list"],
    )
    value = values[0].child(0) if values else None
    return name, _js_kind(value, kind)


def _lua_field(node: "SgNode", kind: str) -> tuple[str, str] | None:
    return field_text(node, "name"), _js_kind(node.field("value"), kind)


def _lua_function(node: "SgNode", kind: str) -> tuple[str, str] | None:
    return field_text(node, "name").replace(":", "."), kind


def _elixir(node: "SgNode", kind: str) -> tuple[str, str] | None:
    target = node.field("target") or node.child(0)
    if target is None or target.text()[:20] not in ELIXIR:
        return None
    named = WORD.search(node.text()[len(target.text()) :][: LONGEST_NAME * 2].split("\n", 1)[0])
    if named is None:
        return None
    kind = ELIXIR[target.text()]
    if kind == "class":
        dotted = re.match(r"[\w.]+", node.text()[len(target.text()) :][: LONGEST_NAME * 2].lstrip(" ("))
        return (dotted[0] if dotted else named[0]), kind
    return named[0], kind


def _hcl(node: "SgNode", kind: str) -> tuple[str, str] | None:
    parts = []
    for child in node.named_children():
        if child.kind() not in ("identifier", "string_lit"):
            break
        parts.append(child.text().strip('"'))
    return ".".join(parts), kind


def _css(node: "SgNode", kind: str) -> tuple[str, str] | None:
    first = next(iter(node.named_children()), None)
    if first is None:
        return None
    text = " ".join(first.text()[:LONGEST_NAME].split())
    return (text, kind) if kind != "key" or text.startswith("--") else None


HTML_ID = re.compile(r"""<[\w-]+\s[^>]{0,400}?\bid\s*=\s*["']?([\w:.-]{1,80})""")


def _html(node: "SgNode", kind: str) -> tuple[str, str] | None:
    first = node.child(0)
    found = HTML_ID.match(first.text()[:600]) if first is not None else None
    return (found[1], kind) if found else None


def _key(node: "SgNode", kind: str) -> tuple[str, str] | None:
    return field_text(node, "key"), kind


JS_FAMILY = ("javascript", "typescript", "tsx")
# By language and kind of node; all others have a field "name".
SPECIAL = {
    ("python", "assignment"): _read_assignment,
    ("ruby", "assignment"): _read_ruby_constant,
    ("go", "method_declaration"): _go_method,
    ("java", "field_declaration"): _java_field,
    ("java", "constant_declaration"): _java_field,
    ("rust", "impl_item"): _rust_impl,
    ("php", "const_element"): _php_constant,
    ("lua", "assignment_statement"): _read_lua_assignment,
    ("lua", "field"): _lua_field,
    ("lua", "function_declaration"): _lua_function,
    **{(each, "variable_declarator"): _read_js_variable for each in JS_FAMILY},
    **{(each, "assignment_expression"): _read_js_assignment for each in JS_FAMILY},
    **{(each, "pair"): _js_pair for each in JS_FAMILY},
    **{(each, "class"): _js_class for each in JS_FAMILY},
    **{(each, "field_definition"): _js_property for each in JS_FAMILY},
    **{(each, "public_field_definition"): _js_property for each in JS_FAMILY},
    **{
        (each, what): _read_c_declarator
        for each in ("c", "cpp")
        for what in ("function_definition", "type_definition", "init_declarator")
    },
    **{
        (each, what): _with_body
        for each in ("c", "cpp")
        for what in ("struct_specifier", "union_specifier", "enum_specifier", "class_specifier")
    },
}
SPECIAL_FAMILY = {
    "kotlin": _kotlin,
    "scala": _scala,
    "elixir": _elixir,
    "hcl": _hcl,
    "css": _css,
    "html": _html,
    "json": _key,
    "yaml": _key,
}
