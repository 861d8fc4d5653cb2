"""The name that a node of a syntax tree defines, by language."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ast_grep_py import SgNode

WORD = re.compile(r"[^\W\d][\w$-]*")
FUNCTION_VALUES = frozenset(
    "arrow_function function_expression generator_function function function_definition lambda".split()
)
CLASS_VALUES = ("class", "class_expression")
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
NAMES_OF_C = (
    "identifier",
    "field_identifier",
    "type_identifier",
    "qualified_identifier",
    "destructor_name",
    "operator_name",
    "primitive_type",
)
LONGEST_NAME = 120
Named = Callable[["SgNode", str], tuple[str, str] | None]


def name_of(node: "SgNode", language: str, kind: str) -> tuple[str, str] | None:
    """Return (name, kind of symbol) of what a node defines; None if it defines nothing worth listing."""
    special = SPECIAL.get((language, node.kind())) or SPECIAL_FAMILY.get(language)
    found = special(node, kind) if special else None
    if found is None and special is None:
        found = (field_text(node, "name"), kind)
    if found is None or not found[0]:
        return None
    name = found[0].strip("\"'`").replace("::", ".").removeprefix("$")
    return (name[:LONGEST_NAME], found[1]) if name else None


def field_text(node: "SgNode", field: str) -> str:
    """Return the text of a field, empty if there is none, or if it is too long to be a name."""
    child = node.field(field)
    return child.text()[: LONGEST_NAME * 4] if child is not None else ""


def _in_fields(*fields: str, by_value: bool = False, needs_body: bool = False) -> Named:
    """Read the name from the first of these fields; the value may give the kind."""

    def name(node: "SgNode", kind: str) -> tuple[str, str] | None:
        if needs_body and node.field("body") is None:
            return None
        found = next((text for field in fields if (text := field_text(node, field))), "")
        return found, _value_kind(node.field("value"), kind) if by_value else kind

    return name


def _assignment(node: "SgNode", kind: str) -> tuple[str, str] | None:
    """Read `NAME = value` of Python and Ruby."""
    left = field_text(node, "left")
    if not WORD.fullmatch(left):
        return None
    value = node.field("right")
    return (
        left,
        "function" if value is not None and value.kind() in FUNCTION_VALUES else kind,
    )


def _ruby_assignment(node: "SgNode", kind: str) -> tuple[str, str] | None:
    found = _assignment(node, kind)
    return found if found and found[0][0].isupper() else None


def _js_declaration(node: "SgNode", kind: str) -> tuple[str, str] | None:
    """Read `const name = value`, its kind from the value; a required module is not a definition."""
    name = node.field("name")
    value = node.field("value")
    if name is None or name.kind() != "identifier" or value is None:
        return None
    if value.kind() in ("call_expression", "await_expression", "member_expression"):
        start = value.text()[:30]
        if start.startswith(("require(", "await import(", "import(")):
            return None
    return name.text(), _value_kind(value, kind)


def _value_kind(value: "SgNode | None", kind: str) -> str:
    made = value.kind() if value is not None else ""
    if made in FUNCTION_VALUES:
        return "function"
    return "class" if made in CLASS_VALUES else kind


def _js_assignment(node: "SgNode", kind: str) -> tuple[str, str] | None:
    """Read `exports.name = ...` and `Thing.prototype.name = function () {}`."""
    left = node.field("left")
    right = node.field("right")
    if left is None or right is None or left.kind() != "member_expression":
        return None
    text = left.text()
    what = _value_kind(right, kind)
    name = text.rsplit(".", 1)[-1]
    if what == "constant" and not text.startswith(("exports.", "module.exports.")):
        return None
    if text == "module.exports":
        return None
    owner = text.removesuffix("." + name).removesuffix(".prototype").rsplit(".", 1)[-1]
    if owner in ("exports", "this", "module"):
        return name, what
    return f"{owner}.{name}", what


def _c_declaration(node: "SgNode", kind: str) -> tuple[str, str] | None:
    """Read the name from the innermost declarator: `static int *name(int a)`."""
    inner: SgNode | None = node.field("declarator")
    for _ in range(12):
        if inner is None or inner.kind() in NAMES_OF_C:
            break
        inner = inner.field("declarator") or next(
            (
                c
                for c in inner.named_children()
                if c.kind() in NAMES_OF_C or c.kind().endswith("declarator")
            ),
            None,
        )
    return (re.sub(r"<.*?>|\s+", "", inner.text()), kind) if inner is not None else None


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


def _php_constant(node: "SgNode", kind: str) -> tuple[str, str] | None:
    first = node.child(0)
    return (first.text(), kind) if first is not None else None


def _lua_assignment(node: "SgNode", kind: str) -> tuple[str, str] | None:
    name = field_text(node, "name")
    values = [c for c in node.named_children() if c.kind() == "expression_list"]
    value = values[0].child(0) if values else None
    return name, _value_kind(value, kind)


def _lua_function(node: "SgNode", kind: str) -> tuple[str, str] | None:
    return field_text(node, "name").replace(":", "."), kind


def _elixir(node: "SgNode", kind: str) -> tuple[str, str] | None:
    target = node.field("target") or node.child(0)
    if target is None or target.text()[:20] not in ELIXIR:
        return None
    named = WORD.search(
        node.text()[len(target.text()) :][: LONGEST_NAME * 2].split("\n", 1)[0]
    )
    if named is None:
        return None
    kind = ELIXIR[target.text()]
    if kind == "class":
        dotted = re.match(
            r"[\w.]+", node.text()[len(target.text()) :][: LONGEST_NAME * 2].lstrip(" (")
        )
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


JS_FAMILY = ("javascript", "typescript", "tsx")
C_FAMILY = ("c", "cpp")
# By language and kind of node; any other has a field "name".
ROWS: tuple[tuple[tuple[str, ...], str, Named], ...] = (
    (("python",), "assignment", _assignment),
    (("ruby",), "assignment", _ruby_assignment),
    (("go",), "method_declaration", _go_method),
    (("java",), "field_declaration constant_declaration", _java_field),
    (("rust",), "impl_item", _rust_impl),
    (("php",), "const_element", _php_constant),
    (("lua",), "assignment_statement", _lua_assignment),
    (("lua",), "field", _in_fields("name", by_value=True)),
    (("lua",), "function_declaration", _lua_function),
    (JS_FAMILY, "variable_declarator", _js_declaration),
    (JS_FAMILY, "assignment_expression", _js_assignment),
    (JS_FAMILY, "pair", _in_fields("key", by_value=True)),
    # `class` alone is also the keyword; a `struct name` without a body is a use of it.
    (JS_FAMILY, "class", _in_fields("name", needs_body=True)),
    (
        JS_FAMILY,
        "field_definition public_field_definition",
        _in_fields("property", "name", by_value=True),
    ),
    (C_FAMILY, "function_definition type_definition init_declarator", _c_declaration),
    (
        C_FAMILY,
        "struct_specifier union_specifier enum_specifier class_specifier",
        _in_fields("name", needs_body=True),
    ),
)
SPECIAL = {
    (language, kind): name
    for languages, kinds, name in ROWS
    for language in languages
    for kind in kinds.split()
}
SPECIAL_FAMILY = {
    "kotlin": _kotlin,
    "scala": _in_fields("name", "pattern"),
    "elixir": _elixir,
    "hcl": _hcl,
    "css": _css,
    "html": _html,
    "json": _in_fields("key"),
    "yaml": _in_fields("key"),
}
