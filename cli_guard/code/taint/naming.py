"""Dotted names of expressions, as tables match them: as written, by what was imported, and by type."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from cli_guard.code.taint.grammar import language_named
from cli_guard.code.taint.program import FlowNode

if TYPE_CHECKING:
    from ast_grep_py import SgNode

REQUIRED = re.compile(
    r"\b(?:const|let|var|import)\s+(\w+|\{[^}]{1,400}\})\s*=\s*(?:await\s+import|require)\(\s*['\"]([^'\"]{1,200})['\"]\s*\)"
    r"((?:\.\w+)*)"
)
TAKEN_APART = re.compile(r"\b(?:const|let|var)\s+\{([^}]{1,400})\}\s*=\s*(\w+)\s*(?:;|\n)")
PROMISED = re.compile(
    r"\b(?:const|let|var)\s+(\w+)\s*=\s*(?:\w+\.)?promisify\(\s*([\w.]+)\s*\)"
)
PYTHON_FROM = re.compile(r"\s*from\s+([\w.]+)\s+import\s+\(?([^)#]*)")
LAST = re.compile(
    r"(?:import\s+|use\s+|(?:global\s+)?using\s+)?(?P<by>static\s+|function\s+)?(?:(?P<given>\w+)\s*=\s*)?"
    r"(?P<name>[\w.\\*]+?)(?:\s+as\s+(?P<local>\w+))?\s*;?\s*$"
)
AS = re.compile(r"([\w.*]+)(?:\s+as\s+(\w+))?")
IMPORTING = re.compile("import|use")
MOST_IMPORTS = 2_000
BRACKETS = ("call", "index", "cast", "not")


def imports_of(root: "SgNode", language: str, text: str) -> Mapping[str, str]:
    """Map the names that a file imports to the dotted names of what they stand for."""
    kinds = language_named(language).imports.split()
    nodes = (node for kind in kinds for node in root.find_all(kind=kind))
    return read_imports(nodes, language, text)


def top_imports(root: "SgNode", language: str, text: str) -> Mapping[str, str]:
    """Return the imports at the top of a file alone; looking for others costs more than reading a change."""
    kinds = language_named(language).imports.split()
    nodes: list[SgNode] = []
    for child in root.named_children():
        if child.kind() in kinds:
            nodes.append(child)
        elif IMPORTING.search(child.kind()):
            nodes += (node for kind in kinds for node in child.find_all(kind=kind))
    return read_imports(nodes, language, text)


def read_imports(nodes: "Iterable[SgNode]", language: str, text: str) -> Mapping[str, str]:
    """Return what some import statements import, and the calls that do the same."""
    known = language_named(language)
    found: dict[str, str] = {}
    for node in nodes:
        if len(found) < MOST_IMPORTS:
            found |= IMPORT_FORMS[known.import_form](node.text())
    if known.requires:
        for local, module, name in read_required(text):
            found[local] = ".".join(filter(None, (module_name(module), name)))
        for names, module in TAKEN_APART.findall(text):
            for name, local in (
                _read_list(names.replace(":", " as ")) if module in found else ()
            ):
                found.setdefault(local, f"{found[module]}.{name}")
        for name, wrapped in PROMISED.findall(text) if "promisify" in text else ():
            first, dot, rest = wrapped.partition(".")
            found[name] = found.get(first, first) + dot + rest
    return found


@lru_cache(maxsize=4)
def read_required(text: str) -> tuple[tuple[str, str, str], ...]:
    """Return each name that `require` gives, the module as it is written, and the dotted name in it."""
    return tuple(_find_required(text))


def _find_required(text: str) -> Iterator[tuple[str, str, str]]:
    for names, module, member in REQUIRED.findall(text):
        if not names.startswith("{"):
            yield names, module, member.lstrip(".")
            continue
        for name, local in _read_list(names.strip("{}").replace(":", " as ")):
            yield local, module, name


def module_name(name: str) -> str:
    return name.removeprefix("node:").strip("./").replace("/", ".")


def _read_list(names: str) -> list[tuple[str, str]]:
    pairs = (AS.match(part.strip()) for part in names.split(","))
    return [(m[1], m[2] or m[1]) for m in pairs if m]


def _read_from(text: str) -> dict[str, str]:
    named = PYTHON_FROM.match(text)
    if named and named[2].strip().startswith("*"):
        return {f"{named[1]}.*": f"{named[1]}.*"}
    if named:
        return {local: f"{named[1]}.{name}" for name, local in _read_list(named[2])}
    modules = _read_list(text.strip().removeprefix("import"))
    return {local: name for name, local in modules if local != name}


def _read_braces(text: str) -> dict[str, str]:
    source = re.search(r"['\"]([^'\"]+)['\"]\s*;?\s*$", text)
    if not source:
        return {}
    module = module_name(source[1])
    found: dict[str, str] = {}
    named = re.search(r"\{([^}]*)\}", text)
    if named:
        listed = _read_list(re.sub(r"\btype\s", "", named[1]))
        found |= {
            local: module if name == "default" else f"{module}.{name}"
            for name, local in listed
        }
    if whole := re.search(r"\*\s+as\s+(\w+)", text):
        found[whole[1]] = module
    if default := re.match(r"import\s+(?:type\s+)?(\w+)\s*(?:,|from)", text):
        found[default[1]] = module
    return found


def _read_path(text: str) -> dict[str, str]:
    named = re.match(r"(?:([\w.]+)\s+)?\"([^\"]+)\"", text)
    if not named:
        return {}
    parts = [part for part in named[2].split("/") if not re.fullmatch(r"v\d+", part)]
    name = re.sub(r"\.v\d+$|^go-|-go$", "", parts[-1]) if parts else named[2]
    if named[1] == ".":
        return {f"{name}.*": f"{name}.*"}
    return {named[1]: name} if named[1] and named[1] != name else {}


def _read_tree(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    body = re.sub(r"\s+", " ", text).removeprefix("pub ").removeprefix("use ").rstrip("; ")
    stack: list[str] = []
    for before, mark in re.findall(r"([^{},]*)([{},]|$)", body):
        part = before.strip()
        whole = "".join(stack) + part.replace("::", ".")
        if mark == "{":
            stack.append(part.replace("::", "."))
            continue
        if part and part != "*":
            name, _, alias = whole.partition(" as ")
            name = name.removesuffix(".self")
            found[alias or name.rsplit(".", 1)[-1]] = name
        if mark == "}" and stack:
            stack.pop()
    return found


def _read_last(text: str) -> dict[str, str]:
    named = LAST.match(text)
    if not named:
        return {}
    name = named["name"].replace("\\", ".").lstrip(".")
    short = name.rsplit(".", 1)[-1]
    if named["by"] and named["by"].startswith("static"):
        # C# opens a type, Java a member of it or all.
        whole = f"{name}.*" if text.startswith("using") else name
        return {whole if whole.endswith(".*") else short: whole}
    if named["by"]:
        return {named["local"] or short: name}
    local = named["local"] or named["given"]
    return {local: short} if local else {}


# How imports are read, by the word of `import_form` in rules/languages/shapes.toml.
IMPORT_FORMS = {
    "from": _read_from,
    "braces": _read_braces,
    "path": _read_path,
    "tree": _read_tree,
    "last": _read_last,
}


def dotted_name(node: FlowNode) -> str:
    """Return the dotted name of an expression, "" for one without a name; calls and subscripts drop their brackets."""
    members: list[str] = []
    while True:
        if node.op == "member":
            members.append(node.name)
            node = node.parts[0]
        elif members and node.op == "call" and (module := required_module(node)):
            return ".".join((module, *reversed(members)))
        elif node.parts and (
            node.op in BRACKETS or (node.op in ("group", "block") and len(node.parts) == 1)
        ):
            node = node.parts[0]
        else:
            break
    first = node.name if node.op == "name" else ""
    if node.op in ("constant", "text"):
        first = '""'
    return ".".join((first, *reversed(members))) if first or members else ""


def required_module(call: FlowNode) -> str:
    """Return the module that `require("module")` gives where it stands, "" for any other call."""
    callee, *given = call.parts
    if callee.name != "require" or len(given) != 1 or given[0].op != "constant":
        return ""
    return module_name(given[0].text.strip("'\"`"))


def resolve_import(written: str, imports: Mapping[str, str]) -> str:
    """Return a dotted name with what its first part was imported as; any other name as it is written."""
    first, dot, rest = written.partition(".")
    bare = first.removeprefix("new ")
    if bare not in imports:
        return written
    return f"{first[: -len(bare)]}{imports[bare]}{dot}{rest}"


def path_of(node: FlowNode) -> str:
    """Return the path of a variable, member or constant subscript; "" for anything else.

    A call with constant arguments alone is one too: what it returns is taken to be the same each time.
    """
    members: list[str] = []
    while node.op != "name":
        if node.op == "member":
            members.append(node.name)
        elif node.op == "index" and len(node.parts) == 2 and node.parts[1].op == "constant":
            members.append(node.parts[1].text.strip("'\":` "))
        elif node.op == "call" and node.parts[0].op == "member" and _is_plain(node):
            members.append(
                "".join((node.parts[0].name, "()", *(p.text for p in node.parts[1:])))
            )
            node = node.parts[0]
        elif not (node.op in ("group", "block", "cast") and len(node.parts) == 1):
            return ""
        node = node.parts[0]
    return ".".join((node.name, *reversed(members))) if node.name else ""


def _is_plain(call: FlowNode) -> bool:
    return all(part.op == "constant" for part in call.parts[1:])
