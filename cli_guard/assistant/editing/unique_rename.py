"""Renames in Go, Java and Rust, only where a name can be nothing else: defined once, and hidden by no variable."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from cli_guard.assistant.editing.edits import Edit, applied, result
from cli_guard.assistant.editing.intents import Intent
from cli_guard.assistant.editing.mentions import kinds_for, usages_of
from cli_guard.assistant.editing.model import Place, Plan, Step
from cli_guard.assistant.editing.plans import mention_risks, patched, refused
from cli_guard.assistant.editing.python_members import COMMON_MEMBERS
from cli_guard.assistant.editing.python_roles import is_field, span
from cli_guard.assistant.editing.script_names import NAME
from cli_guard.assistant.editing.sources import Sources

if TYPE_CHECKING:
    from ast_grep_py import SgNode

LANGUAGES = ("go", "java", "rust")
# What defines a name that other files see, and what binds one that they do not.
DEFINES: Mapping[str, frozenset[str]] = {
    "go": frozenset(
        "function_declaration method_declaration type_spec method_elem method_spec type_alias".split()
    ),
    "java": frozenset(
        "class_declaration interface_declaration enum_declaration record_declaration method_declaration "
        "annotation_type_declaration".split()
    ),
    "rust": frozenset(
        "function_item struct_item enum_item trait_item type_item const_item static_item".split()
    ),
}
BINDS: Mapping[str, frozenset[str]] = {
    "go": frozenset("parameter_declaration var_spec const_spec field_declaration".split()),
    "java": frozenset("variable_declarator formal_parameter catch_formal_parameter enum_constant".split()),
    "rust": frozenset("let_declaration parameter closure_parameters field_declaration enum_variant".split()),
}
METHODS = frozenset("method_declaration method_elem method_spec".split())
CRATE = re.compile(r"^name\s*=\s*\"([\w-]+)\"", re.MULTILINE)


def plan_unique_rename(sources: Sources, intent: Intent) -> Plan | None:
    """The plan for a name that Go, Java or Rust defines; None if none does."""
    old, new = intent.get("old").rpartition(".")[2], intent.get("new").rpartition(".")[2]
    for language in LANGUAGES:
        places = dict(found_in(sources, language, old))
        defined = [
            (path, node) for path, nodes in places.items() for node in nodes if defines(language, node)
        ]
        if defined:
            elsewhere = {path: foreign(sources, path, nodes) for path, nodes in places.items()}
            return planned(sources, Subject(language, old, places, defined, elsewhere), new)
    return None


def found_in(sources: Sources, language: str, name: str) -> Iterator[tuple[str, list["SgNode"]]]:
    """The places of a name in the code of one language, by path."""
    if not NAME.fullmatch(name):
        return
    for path in sources.mentioning(name, language):
        root = sources.root(path)
        if root is not None:
            text = f"^{re.escape(name)}$"
            nodes = root.find_all(any=[{"kind": kind, "regex": text} for kind in kinds_for(language)])
            yield path, list(sources.bounded(path, nodes))


def defines(language: str, node: "SgNode") -> bool:
    """Does a place define the name for others?"""
    parent = node.parent()
    return parent is not None and parent.kind() in DEFINES[language] and is_field(parent, "name", node)


def binds(language: str, node: "SgNode") -> bool:
    """Does a place bind a variable, a parameter or a field of that name?"""
    parent = node.parent()
    if parent is None:
        return False
    if parent.kind() in BINDS[language]:
        return not is_field(parent, "type", node) and not is_field(parent, "value", node)
    above = parent.parent()
    declares = above is not None and above.kind() in ("short_var_declaration", "range_clause")
    if parent.kind() == "expression_list" and declares and above is not None:
        return is_field(above, "left", parent)
    return parent.kind() in ("literal_element", "label_name")


@dataclass(frozen=True, slots=True)
class Subject:
    """A name in one language: its places by path, those that define it, and those that mean something foreign."""

    language: str
    name: str
    places: Mapping[str, list["SgNode"]]
    defined: list[tuple[str, "SgNode"]]
    foreign: Mapping[str, list["SgNode"]]

    @property
    def path(self) -> str:
        """The file that defines it."""
        return self.defined[0][0]

    @property
    def kinds(self) -> set[str]:
        """The kinds of nodes that define it."""
        parents = [node.parent() for _, node in self.defined]
        return {parent.kind() for parent in parents if parent is not None}


def planned(sources: Sources, subject: Subject, new: str) -> Plan:
    """The plan; there is a patch where the name is one thing, and the new one is nothing yet."""
    old, path, language = subject.name, subject.path, subject.language
    title = f"Rename {old} in {path} to {new}"
    if not NAME.fullmatch(new) or new == old:
        return refused(sources, "rename", title, old, f"{new} cannot be a new name here", ())
    hindrance = hindered(sources, subject, new)
    if hindrance is not None:
        return refused(sources, "rename", title, old, *hindrance)
    elsewhere = {p: {span(n) for n in nodes} for p, nodes in subject.foreign.items()}
    edits = [
        Edit(p, *span(n), new)
        for p, nodes in subject.places.items()
        for n in nodes
        if span(n) not in elsewhere[p]
    ]
    left = [
        place(sources, p, n, "an imported package has this name")
        for p, nodes in subject.foreign.items()
        for n in nodes
    ]
    if language == "go":
        edits += go_comments(sources, sorted({p for p, _ in subject.defined}), old, new)
    changes = applied(sources, edits)
    steps = [Step(f"Rename {old} where it is defined", (path,), True)]
    others = tuple(sorted({e.path for e in edits} - {path}))
    if others:
        steps.append(Step("Rename its uses", others, True))
    moved: dict[str, str] = {}
    if language == "java" and PurePosixPath(path).stem == old:
        # A public class stands in a file of its name (Java Language Specification, 7.6).
        target = str(PurePosixPath(path).with_name(f"{new}.java"))
        changes[target] = changes.pop(path)
        moved[target] = path
        steps.append(Step(f"Rename the file to {new}.java, as its class is public", (path,), True))
    outcome = result(sources, changes, moved=moved, removed=moved.values())
    risks = list(mention_risks(sources, old, {(e.path, e.start) for e in edits}))
    if is_method(subject):
        risks.append(
            f"a type from outside of this repository may have a {old} of its own: look at calls on such"
        )
    if old[:1].isupper() or language != "go":
        risks.append(f"who uses {old} from outside of this repository breaks")
    assumed = (
        f"{old} is defined once in the repository, so every {old} in its {language} code is taken for it"
    )
    return patched(
        sources,
        "rename",
        title,
        old,
        outcome,
        usages_of(sources, old),
        steps,
        risks,
        by_hand=left,
        assumed=assumed,
    )


def place(sources: Sources, path: str, node: "SgNode", why: str) -> Place:
    """A node as (path, line, reason)."""
    return path, sources.line(path, span(node)[0]), why


def hindered(sources: Sources, subject: Subject, new: str) -> tuple[str, tuple[Place, ...]] | None:
    """Why the name cannot be renamed by itself, and the places that show it; None if it can."""
    old, defined = subject.name, subject.defined
    overloads = subject.kinds == {"method_declaration"} and subject.language == "java"
    if len(defined) > 1 and not (overloads and len({p for p, _ in defined}) == 1):
        found = tuple(place(sources, p, n, f"defines a {old} too") for p, n in defined)
        return f"{old} is defined {len(defined)} times", found
    everywhere = [(p, n) for p, nodes in subject.places.items() for n in nodes]
    hidden = [(p, n) for p, n in everywhere if binds(subject.language, n)]
    if hidden:
        found = tuple(place(sources, p, n, f"binds {old} to something else") for p, n in hidden)
        return f"{old} is also a variable or a field", found
    taken = tuple(
        place(sources, p, nodes[0], f"{new} is in use here")
        for p, nodes in found_in(sources, subject.language, new)
        if p in subject.places and nodes
    )
    if taken:
        return f"{new} is taken", taken
    if is_method(subject) and not COMMON_MEMBERS.isdisjoint((old, old.lower())):
        found = tuple(place(sources, p, n, f"a {old} of which type?") for p, n in everywhere)
        return f"{old} is a name that many types have", found
    return None


def is_method(subject: Subject) -> bool:
    """Is it called on objects, of whatever type?"""
    return bool(subject.kinds & METHODS) or any(in_type(node) for _, node in subject.defined)


def in_type(node: "SgNode") -> bool:
    """Is a Rust function one of an impl or a trait?"""
    around = node.parent()
    for _ in range(4):
        if around is None:
            return False
        if around.kind() in ("impl_item", "trait_item"):
            return around.field("name") is None or not is_field(around, "name", node)
        around = around.parent()
    return False


def go_comments(sources: Sources, paths: list[str], old: str, new: str) -> Iterator[Edit]:
    """The comment of a Go definition, which begins with its name (https://go.dev/doc/comment)."""
    pattern = re.compile(rf"^// {re.escape(old)}\b", re.MULTILINE)
    for path in paths:
        for match in pattern.finditer(sources.texts[path]):
            yield Edit(path, match.end() - len(old), match.end(), new)


def from_elsewhere(sources: Sources, path: str, name: str) -> bool:
    """Does a Java or Rust file import the name from something that is not of this repository?"""
    text = sources.texts[path]
    if path.endswith(".java"):
        found = re.search(
            rf"^[ \t]*import\s+(?:static\s+)?([\w.]+)\.{re.escape(name)}\s*;", text, re.MULTILINE
        )
        place = f"{found[1].replace('.', '/')}/{name}.java" if found else ""
        return found is not None and not any(f"/{p}".endswith(f"/{place}") for p in sources.texts)
    found = re.search(
        rf"^[ \t]*(?:pub\s+)?use\s+(\w+)::[^;]{{0,2000}}\b{re.escape(name)}\b[^;]{{0,2000}};",
        text,
        re.MULTILINE,
    )
    if found is None or found[1] in ("crate", "self", "super"):
        return False
    stems = {PurePosixPath(p).stem for p in sources.texts if p.endswith(".rs")}
    crates = {
        re.sub("-", "_", m)
        for p, t in sources.texts.items()
        if p.endswith("Cargo.toml")
        for m in CRATE.findall(t)
    }
    return found[1] not in stems | crates


def foreign(sources: Sources, path: str, nodes: list["SgNode"]) -> list["SgNode"]:
    """Those of the places of a name in a file that mean something which is not of this repository."""
    if path.endswith((".java", ".rs")):
        return nodes if nodes and from_elsewhere(sources, path, nodes[0].text()) else []
    packages: dict[str, bool] = {}
    found = []
    for node in nodes:
        package = package_of(node)
        if package and package not in packages:
            packages[package] = is_foreign_package(sources, path, package)
        if package and packages[package]:
            found.append(node)
    return found


def package_of(node: "SgNode") -> str:
    """`pkg` of `pkg.Name` in Go, "" for any other place."""
    parent = node.parent()
    if parent is None or parent.kind() not in ("selector_expression", "qualified_type"):
        return ""
    inner = parent.field("operand") or parent.field("package")
    if inner is None or span(inner) == span(node) or inner.kind() not in ("identifier", "package_identifier"):
        return ""
    return inner.text()


def is_foreign_package(sources: Sources, path: str, name: str) -> bool:
    """Does a Go file import a package by this name that is not of this repository?"""
    escaped = re.escape(name)
    match = re.search(
        rf"^[ \t]*(?:import\s+)?(?:{escaped}\s+\"([^\"\n]+)\"|\"((?:[^\"\n]*/)?{escaped})\")",
        sources.texts[path],
        re.MULTILINE,
    )
    if match is None:
        return False
    last = (match[1] or match[2]).rpartition("/")[2]
    return not any(PurePosixPath(p).parent.name == last for p in sources.texts if p.endswith(".go"))
