"""Read manifests, lock files and package managers' settings into entries, by `rules/dependencies/formats.toml`.

What a program wrote, and what has no tree, is read line by line: the work is linear, and a syntax error or a conflict
marker costs only its own lines.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from posixpath import basename
from typing import Any

from cli_guard.lazy import dataclass, frozen
from cli_guard.reviewers.commands.extract import read_document
from cli_guard.reviewers.commands.extract.docker import base_images
from cli_guard.reviewers.commands.extract.nodes import (
    Items,
    Node,
    Scalar,
    Table,
    every,
    named_at,
)
from cli_guard.rules.catalog import read_table

LONGEST_LINE = 5_000
CONFLICT_MARKS = ("<<<<<<<", "|||||||", "=======", ">>>>>>>")
CONFLICT = re.compile(rf"(?m)^(?:{'|'.join(map(re.escape, CONFLICT_MARKS))})(?: .*)?$")
COMMENT = ("#", "//", "<!--", ";")
SOURCE = re.compile(
    r"(?i)(?:git|hg|svn|bzr)\+|git@|\.{0,2}/|~/|[a-z]:\\|[\w.-]+/[\w.-]+(?:#|$)"
    r"|(?:git|ssh|https?|file|link|portal|patch|github|gitlab|bitbucket|gist|npm|exec|workspace|catalog):"
)
HOST = re.compile(r"(?i)(?:[a-z][a-z+.-]*://(?:[^/@\s]*@)?|git@)\[?([\w.-]+(?::\d+)?)")
IMAGE_HOST = re.compile(r"([\w-]+[.:][\w.:-]*|localhost)/")
# What fixes a Git source: behind # (npm, Yarn, Cargo) or behind @ (pip).
REF = re.compile(
    r"(?:#(?:commit=)?|(?<=[\w/])@)(?!egg=|subdirectory=)([\w.+/-]+?)(?:[#&?].*)?$"
)
LOCAL_KEY = r"(?:directory|path|file) = \"?"
# Other packages of the same repository.
OWN = ("workspace:", "catalog:", "link:", "portal:", "patch:")
PREFIXES = {"git": "git+", "path": "path:"}
DEPENDENCIES = ("", "dev", "build", "range", "replace", "direct", "pip", "hook", "image")


@frozen
class Dependency:
    """One dependency or setting of a file, on the lines `line` to `last`.

    `kind` is its group in the table: "" for what runs, "dev", "build", "replace", "index", "tls", ... `ref` is what a
    Git source is fixed to.
    """

    name: str
    ecosystem: str
    kind: str = ""
    spec: str = ""
    source: str = ""
    ref: str = ""
    integrity: frozenset[str] = frozenset()
    has_script: bool = False
    line: int = 1
    last: int = 1
    # Of a lock file: where it is in the tree, the package behind another name, and the hash of each named file.
    place: str = ""
    package: str = ""
    files: frozenset[tuple[str, str]] = frozenset()
    addresses: frozenset[str] = frozenset()

    @property
    def host(self) -> str:
        """Return the host of its source in lower case, empty if it names none."""
        is_image = self.kind == "image"
        text = self.name if is_image or self.ecosystem == "pre-commit" else self.source
        found = IMAGE_HOST.match(text) if is_image else HOST.search(text)
        return found[1].lower() if found else ""

    @property
    def hosts(self) -> frozenset[str]:
        """Return the hosts of its source and of its files."""
        found = (HOST.search(address) for address in self.addresses)
        return frozenset((self.host, *(each[1].lower() for each in found if each))) - {""}

    @property
    def is_setting(self) -> bool:
        return self.kind not in DEPENDENCIES

    @property
    def key(self) -> tuple[str, str]:
        """Return what makes it the same entry before and after."""
        return self.kind.removeprefix("scoped ") if self.is_setting else "", self.name

    @property
    def value(self) -> tuple[object, ...]:
        """Return what makes it another one."""
        return (
            *self.key,
            self.spec,
            self.source,
            self.ref,
            self.integrity,
            self.has_script,
            self.kind,
            self.package,
            self.files,
            self.addresses,
        )


@dataclass(frozen=True)
class Listing:
    """The entries of one file. `problem` says what could not be read, `is_cut` that a bound of ours is the reason."""

    ecosystem: str = ""
    entries: tuple[Dependency, ...] = ()
    is_lock: bool = False
    locks: tuple[str, ...] = ()
    problem: str = ""
    is_cut: bool = False

    def every(self) -> Iterator[Dependency]:
        yield from self.entries

    def entries_named(self, name: str) -> tuple[Dependency, ...]:
        """Return the entries of a name."""
        return tuple(each for each in self.entries if each.name == name)

    def sample(self) -> Iterator[Dependency]:
        """Yield the entries, of very many an even choice."""
        yield from self.entries

    def has_host(self, host: str) -> bool:
        """Return whether an entry is from a host."""
        return any(each.host == host for each in self.entries)

    @property
    def is_empty(self) -> bool:
        return not self.entries


def normalise(name: str, ecosystem: str) -> str:
    """Return the name as its registry compares it: PEP 503 for Python, `_` as `-` for Rust, no case for npm."""
    if ecosystem in ("pypi", "conda"):
        return re.sub(r"[-_.]+", "-", name).lower()
    if ecosystem == "cargo":
        return name.replace("_", "-")
    return name.lower() if ecosystem in ("npm", "nuget", "composer") else name


@cache
def formats() -> tuple[tuple[re.Pattern[str], str, Mapping[str, Any]], ...]:
    """Return the pattern of paths, the kind (tree, lines, settings) and the table of every format."""
    table = read_table("dependencies/formats.toml")
    return tuple(
        (re.compile(each["files"]), kind, each) for kind in table for each in table[kind]
    )


@lru_cache(maxsize=20_000)
def formats_of(path: str) -> tuple[tuple[str, Mapping[str, Any]], ...]:
    """Return the formats in which a file is read, none if it names no dependencies; several reviewers ask."""
    return tuple((kind, each) for files, kind, each in formats() if files.search(path))


def read(path: str, text: str) -> Listing:
    """Return the entries of a file."""
    if any(mark in text for mark in CONFLICT_MARKS):
        text = CONFLICT.sub("", text)
    entries: list[Dependency] = []
    problem = ""
    tables = [table for _, table in formats_of(path)]
    is_cut = False
    for kind, table in formats_of(path):
        if kind == "lock":
            continue
        if kind == "settings":
            entries += read_settings(table, text)
            continue
        if kind == "dockerfile":
            entries += read_dockerfile(table, text)
            continue
        for each in read_tree(table, text) if kind == "tree" else read_lines(table, text):
            if isinstance(each, Dependency):
                entries.append(each)
            else:
                problem, is_cut = each
    return Listing(
        next((table["ecosystem"] for table in tables if "ecosystem" in table), ""),
        tuple(entries),
        any(kind == "lock" or table.get("lock") for kind, table in formats_of(path)),
        tuple(name for table in tables for name in table.get("locks", "").split()),
        problem,
        is_cut,
    )


compiled = cache(re.compile)


def read_settings(table: Mapping[str, Any], text: str) -> Iterator[Dependency]:
    for number, line in enumerate(text.split("\n"), 1):
        found = compiled(table["pattern"]).search(line[:LONGEST_LINE])
        if found and not line.lstrip().startswith(COMMENT):
            yield Dependency(
                found["name"],
                "",
                table["kind"],
                found["spec"].strip(),
                line=number,
                last=number,
            )


def read_dockerfile(table: Mapping[str, Any], text: str) -> Iterator[Dependency]:
    """Yield the image of each FROM; `scratch` is none."""
    for each in base_images(text):
        if each.reference != "scratch":
            parts = parts_of_text(table, "image", "", each.reference)
            yield from entry_of(table, "image", parts, each.line, each.line)


def read_lines(
    table: Mapping[str, Any], text: str
) -> Iterator[Dependency | tuple[str, bool]]:
    """Yield the entries of a file by its lines, and what was left out."""
    starts = [(compiled(pattern), kind) for pattern, kind in table["starts"]]
    # One pattern for all fields: the names of its groups are made different.
    named = (
        re.sub(r"\(\?P<(\w+)>", rf"(?P<\1_{at}>", each)
        for at, each in enumerate(table.get("fields", ("(?!)",)))
    )
    fields = compiled("|".join(named))
    never = "(?!)"
    close = compiled(table.get("close", never))
    ends = compiled(table.get("ends", never))
    section = compiled(table.get("section", never))
    within = compiled(table.get("within", ""))
    aside = compiled(table.get("aside", never))
    depth = 0
    is_inside = "section" not in table
    kind = ""
    first = 0
    last = 0
    parts: dict[str, Any] | None = None
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > LONGEST_LINE:
            yield f"line {number:,} is over {LONGEST_LINE:,} characters", True
            continue
        line = line.rstrip("\r")
        if depth or aside.search(line):
            depth += line.count("{") - line.count("}")
            continue
        if found := section.search(line):
            is_inside = within.fullmatch(found["section"]) is not None
        begun = (
            [(each, k) for pattern, k in starts for each in pattern.finditer(line)]
            if is_inside
            else []
        )
        for found, its_kind in begun:
            yield from entry_of(table, kind, parts, first, last)
            kind = its_kind
            first = number
            last = number
            parts = {}
            take(found, parts)
        if not begun and parts is not None and ends.search(line):
            yield from entry_of(table, kind, parts, first, last)
            parts = None
        for found in fields.finditer(line) if parts is not None else ():
            take(found, parts)
            last = number
        if not begun and parts is not None and close.search(line):
            yield from entry_of(table, kind, parts, first, last)
            parts = None
    yield from entry_of(table, kind, parts, first, last)


def take(found: re.Match[str], parts: dict[str, Any] | None) -> None:
    """Add the groups of a match to the parts of an entry: all hashes, of anything else the first."""
    for group, text in found.groupdict().items():
        name = group.partition("_")[0]
        if parts is not None and text is not None and name == "integrity":
            parts.setdefault(name, set()).add(text)
        elif parts is not None and text is not None:
            parts.setdefault(name, text)


def entry_of(
    table: Mapping[str, Any], kind: str, parts: dict[str, Any] | None, line: int, last: int
) -> Iterator[Dependency]:
    """Yield the entry that some parts give, none if they say too little."""
    if parts is None:
        return
    ecosystem = "pypi" if kind in ("pip", "hook") else table["ecosystem"]
    name, spec, source = (
        parts.get(each, "").strip() for each in ("name", "spec", "source")
    )
    source = next(
        (f"{prefix}{parts[key]}" for key, prefix in PREFIXES.items() if key in parts),
        source,
    )
    source = source.replace("\\:", ":")  # as Java's properties escape it
    if (
        not source
        and ecosystem in ("npm", "pypi", "conda")
        and SOURCE.match(spec)
        and not kind.endswith("index")
    ):
        source = spec
        spec = ""
        if source.startswith("npm:") and "@" in source[5:]:
            source, _, spec = source.rpartition("@")
    if source.startswith(OWN) or parts.get("workspace") == "true":
        source = "workspace:"
        spec = ""
    if (
        (table.get("lock") and kind == "" and not (spec or source))
        or not (name or source)
        or "$" in name
    ):
        return
    if kind == "index" and parts.get("explicit") in ("true", "explicit"):
        kind = "scoped index"
    found = REF.search(source)
    yield Dependency(
        normalise(
            f"{parts['name2']}:{name}" if "name2" in parts else name or name_in(source),
            ecosystem,
        ),
        "docker" if kind == "image" else ecosystem,
        kind,
        spec,
        source,
        parts.get("ref") or (found[1] if found else ""),
        frozenset(parts.get("integrity", ())),
        line=line,
        last=last,
        package=normalise(parts.get("package", ""), ecosystem),
    )


def name_in(source: str) -> str:
    """Return the name that an address ends with."""
    egg = re.search(r"[#&]egg=([\w.-]+)", source)
    last = basename(re.split(r"[#?]", source)[0].rstrip("/"))
    return egg[1] if egg else re.sub(r"(?:\.git)?(?:@.*)?$|-\d.*$", "", last)


def read_tree(
    table: Mapping[str, Any], text: str
) -> Iterator[Dependency | tuple[str, bool]]:
    """Yield the entries of a JSON, TOML or YAML file, and what was left out."""
    document = read_document(f".{table['form']}", text)
    for steps, kind in table["paths"].items():
        for name, node in named_at(document.roots, *steps.split("/")):
            yield from entries_at(table, kind, name, node)
    if document.problem:
        yield document.problem, document.is_cut


def entries_at(
    table: Mapping[str, Any], kind: str, name: str, node: Node
) -> Iterator[Dependency]:
    """Yield the entries of one node: a text, a table of facts, or a list of either."""
    scalars = [each for each in every((node,)) if isinstance(each, Scalar)]
    if isinstance(node, Items) and kind != "script":
        for each in node.nodes:
            yield from entries_at(table, kind, name, each)
    elif scalars:
        lines = [each.line for each in scalars]
        if isinstance(node, Table):
            known = read_table("dependencies/settings.toml")["keys"]
            parts = {"name": name} | parts_of_table(known | table.get("keys", {}), node)
        else:
            # Each command of a script runs if the one before it succeeded.
            between = " && " if kind == "script" else " "
            text = between.join(each.text for each in scalars)
            parts = parts_of_text(table, kind, name, text)
        yield from entry_of(table, kind, parts, min(lines), max(lines))


def parts_of_table(keys: Mapping[str, str], node: Table) -> dict[str, Any]:
    """Return what a table says of a dependency, by `keys`; of several that fix a commit, the first."""
    parts: dict[str, Any] = {}
    for key, value in node.items():
        if key == "version" and isinstance(value, Table):
            parts |= parts_of_table(
                read_table("dependencies/settings.toml")["nested_keys"], value
            )
        elif (
            key in keys
            and isinstance(value, Scalar)
            and not (keys[key] == "ref" and "ref" in parts)
        ):
            parts[keys[key]] = value.text
    return parts


def parts_of_text(
    table: Mapping[str, Any], kind: str, name: str, text: str
) -> dict[str, Any]:
    """Return what a text says of a dependency or a setting, by the pattern that the format has for it."""
    patterns = table.get("texts", {})
    pattern = patterns.get(kind) or (
        patterns.get("item") if not name or table.get("whole") else None
    )
    if pattern is None:
        is_index = kind.endswith("index")
        return {
            "name": name if name or is_index else text,
            "source" if is_index else "spec": text,
        }
    found = compiled(pattern).match(text)
    if found is None:
        return {"source": text} if SOURCE.match(text) else {}
    parts: dict[str, Any] = {
        key: value for key, value in found.groupdict().items() if value is not None
    }
    return parts | ({"integrity": {parts["integrity"]}} if "integrity" in parts else {})
