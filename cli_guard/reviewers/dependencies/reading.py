"""Read manifests, lock files and package managers' settings into entries, by `rules/dependencies/formats.toml`.

What a program wrote, and what has no tree, is read line by line: the work is linear, and a syntax error or a conflict
marker costs only its own lines.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from cli_guard.reviewers.commands.extract.json_nodes import read_json
from cli_guard.reviewers.commands.extract.nodes import Items, Node, Scalar, Table, every
from cli_guard.reviewers.commands.extract.toml_nodes import read_toml
from cli_guard.reviewers.commands.extract.yaml_nodes import read_yaml
from cli_guard.rules.catalog import read_table

TABLE = "dependencies/formats.toml"
LONGEST_LINE = 5_000
LINES_A_LOOK = 2_000
CONFLICT = re.compile(r"(?m)^(?:<<<<<<<|\|\|\|\|\|\|\||=======|>>>>>>>)(?: .*)?$")
PEP_508 = re.compile(
    r"(?P<name>[A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*(?:@\s*(?P<source>[^\s;]+)|\(?(?P<spec>[=<>!~][^;#)]*))?"
)
SOURCE = re.compile(
    r"(?i)(?:git|hg|svn|bzr)\+|git@|(?:git|ssh|https?|file|link|portal|patch|github|gitlab|bitbucket|gist|npm|exec|workspace):"
    r"|\.{0,2}/|~/|[a-z]:\\|[\w.-]+/[\w.-]+(?:#|$)"
)
IMAGE = re.compile(r"(?P<name>(?:[^/@]+/)*[^/@:]+)(?::(?P<tag>[^@]+))?(?:@(?P<digest>.+))?$")
HOST = re.compile(r"(?:[a-z][a-z+.-]*://(?:[^/@\s]*@)?|git@)\[?([\w.-]+(?::\d+)?)", re.IGNORECASE)
SOURCE_KEYS = ("git", "url", "hg", "svn", "path", "file", "directory", "github", "repo")
LOCAL_KEY = r"(?:directory|path|file) = \"?"
LOCAL = ("workspace:", "catalog:", "link:", "portal:", "patch:")


@dataclass(frozen=True, slots=True)
class Entry:
    """One dependency or setting of a file, on the lines `line` to `last`.

    `kind` is its group in the table: "" for what runs, "dev", "build", "replace", "index", "tls", ... `ref` is what a
    git source is fixed to.
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

    @property
    def host(self) -> str:
        """Return the host of its source in lower case, empty if it names none."""
        found = HOST.search(self.source or (self.name if self.ecosystem == "pre-commit" else ""))
        if found or self.kind != "image":
            return found[1].lower() if found else ""
        first = self.name.partition("/")[0]
        return first if "/" in self.name and ("." in first or ":" in first) else ""

    @property
    def key(self) -> tuple[str, str]:
        """Return what makes it the same entry before and after."""
        settings = ("index", "scoped index")
        return ("index" if self.kind in settings else self.kind if self.is_setting else ""), self.name

    @property
    def is_setting(self) -> bool:
        """Return whether it is no dependency."""
        return self.kind not in ("", "dev", "build", "range", "replace", "direct", "pip", "hook", "image")

    @property
    def value(self) -> tuple[object, ...]:
        return self.spec, self.source, self.ref, self.integrity, self.has_script, self.kind


@dataclass(frozen=True, slots=True)
class Listing:
    """The entries of one file. `problem` says what could not be read, `is_cut` that a bound of ours is the reason."""

    ecosystem: str = ""
    entries: tuple[Entry, ...] = ()
    is_lock: bool = False
    locks: tuple[str, ...] = ()
    problem: str = ""
    is_cut: bool = False


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
    table = read_table(TABLE)
    return tuple((re.compile(each["files"]), kind, each) for kind in table for each in table[kind])


def formats_of(path: str) -> tuple[tuple[str, Mapping[str, Any]], ...]:
    """Return the formats in which a file is read, none if it names no dependencies."""
    return tuple((kind, each) for files, kind, each in formats() if files.search(path))


def read(path: str, text: str, has_time: Callable[[], bool] = lambda: True) -> Listing:
    """Return the entries of a file. `has_time` is asked now and then; when it says no, the rest is left out."""
    if CONFLICT.search(text):
        text = CONFLICT.sub("", text)
    listing = Listing()
    for kind, table in formats_of(path):
        if kind == "settings":
            found = Listing(entries=tuple(read_settings(table, text)))
        elif kind == "tree":
            found = read_tree(path, table, text)
        else:
            found = Lines(table, has_time).read(text)
        listing = Listing(
            listing.ecosystem or found.ecosystem,
            (*listing.entries, *found.entries),
            listing.is_lock or found.is_lock,
            listing.locks or found.locks,
            listing.problem or found.problem,
            listing.is_cut or found.is_cut,
        )
    return listing


def read_settings(table: Mapping[str, Any], text: str) -> Iterator[Entry]:
    pattern = compiled(table["pattern"])
    for number, line in enumerate(text.split("\n"), 1):
        found = pattern.search(line[:LONGEST_LINE])
        if found and not line.lstrip().startswith(("#", "//", "<!--", ";")):
            spec = (found["spec"] or "").strip()
            yield Entry(found["name"], "", table["kind"], spec, line=number, last=number)


compiled = cache(re.compile)


@dataclass
class Lines:
    """The line reader of one format."""

    table: Mapping[str, Any]
    has_time: Callable[[], bool]
    parts: dict[str, Any] = field(default_factory=dict)
    kind: str = ""
    first: int = 0
    last: int = 0
    is_open: bool = False
    stages: set[str] = field(default_factory=set)

    def read(self, text: str) -> Listing:
        table, problem, is_cut = self.table, "", False
        starts = [(compiled(pattern), kind) for pattern, kind in table["starts"]]
        fields = compiled("|".join(number_groups(table.get("fields", ("(?!)",)))))
        close, section = compiled(table.get("close", "(?!)")), compiled(table.get("section", "(?!)"))
        within = compiled(table.get("within", ""))
        entries: list[Entry] = []
        inside = "section" not in table
        for number, line in enumerate(text.split("\n"), 1):
            if number % LINES_A_LOOK == 0 and not self.has_time():
                problem, is_cut = f"no time for what follows line {number:,}", True
                break
            if len(line) > LONGEST_LINE:
                problem, is_cut = f"line {number:,} is over {LONGEST_LINE:,} characters", True
                continue
            line, is_start = line.rstrip("\r"), False
            if found := section.search(line):
                entries += self.end()
                inside = within.fullmatch(found["section"]) is not None
            if not inside or not line.strip():
                entries += self.end() if close.search(line) else ()
                continue
            for found, kind in ((each, kind) for pattern, kind in starts for each in pattern.finditer(line)):
                entries += self.end()
                self.kind, self.first, self.is_open = kind, number, True
                self.take(found, number)
                is_start = True
            if not is_start and self.is_open and close.search(line):
                self.take_all(fields, line, number)
                entries += self.end()
            self.take_all(fields, line, number)
        entries += self.end()
        return Listing(
            table["ecosystem"],
            tuple(entries),
            bool(table.get("lock")),
            tuple(table.get("locks", "").split()),
            problem,
            is_cut,
        )

    def take_all(self, fields: re.Pattern[str], line: str, number: int) -> None:
        if self.is_open:
            for found in fields.finditer(line):
                self.take(found, number)

    def take(self, found: re.Match[str], number: int) -> None:
        self.last = number
        for group, text in found.groupdict().items():
            group = group.partition("_")[0]
            if text is None:
                continue
            if group.startswith("integrity"):
                self.parts.setdefault("integrity", []).append(text)
            else:
                self.parts.setdefault(group if group == "name2" else group.rstrip("0123456789"), text)

    def end(self) -> tuple[Entry, ...]:
        """Return the entry that was open, if it says enough."""
        parts, self.parts, was_open, self.is_open = self.parts, {}, self.is_open, False
        if not was_open:
            return ()
        name, source, ecosystem = parts.get("name", ""), parts.get("source", ""), self.table["ecosystem"]
        source = source.replace("\\:", ":")  # as Java's properties escape it
        if parts.get("name2"):
            name = f"{parts['name2']}:{name}"
        source = "workspace:" if "link" in parts else source
        if self.table.get("lock") and self.kind == "" and not (parts.get("spec") or source):
            return ()
        if not name and not source:
            return ()
        if self.kind == "image":
            known, alias = name in self.stages, parts.get("alias", "")
            self.stages.add(alias)
            entry = None if known or "$" in name else image(name)
            return () if entry is None else (replace(entry, line=self.first, last=self.last),)
        entry = Entry(
            normalise(name or name_in(source), ecosystem),
            ecosystem,
            self.kind,
            parts.get("spec", "").strip(),
            source,
            integrity=frozenset(parts.get("integrity", ())),
            has_script="script" in parts,
            line=self.first,
            last=self.last,
        )
        return (entry if self.kind.endswith("index") else with_source(entry),)


def number_groups(patterns: tuple[str, ...] | list[str]) -> Iterator[str]:
    """Make the group names of several patterns different, to join them: `name` becomes `name_1`."""
    for number, pattern in enumerate(patterns):
        yield re.sub(r"\(\?P<(\w+)>", rf"(?P<\1_{number}>", pattern)


def name_in(source: str) -> str:
    """Return the name that an address ends with."""
    egg = re.search(r"[#&]egg=([\w.-]+)", source)
    last = source.split("#")[0].split("?")[0].rstrip("/").rpartition("/")[2]
    return egg[1] if egg else re.sub(r"(?:\.git)?(?:@.*)?$|-\d.*$", "", last)


def image(text: str) -> Entry | None:
    found = IMAGE.match(text)
    if found is None or found["name"] in ("scratch",):
        return None
    digest = frozenset((found["digest"],)) if found["digest"] else frozenset[str]()
    return Entry(found["name"], "docker", "image", found["tag"] or "", integrity=digest)


def with_source(entry: Entry) -> Entry:
    """Move an address that is written in the place of a version to `source`, and what fixes it to `ref`."""
    spec, source = entry.spec, entry.source
    if not source and entry.ecosystem == "npm" and SOURCE.match(spec):
        source, spec = spec, ""
        if source.startswith("npm:"):
            source, _, spec = source.rpartition("@") if "@" in source[5:] else (source, "", "")
    if source.startswith(LOCAL):
        return replace(entry, spec="", source="workspace:")
    ref = entry.ref
    if not ref and ("git" in source or "#" in source):
        ref = source.partition("#")[2] or (
            source.rpartition("@")[2] if "@" in source.partition("://")[2] else ""
        )
        ref = (
            ""
            if ref.startswith(("egg=", "subdirectory=")) or ("/" in ref and "://" in source and "@" in ref)
            else ref
        )
    return replace(entry, spec=spec, source=source, ref=ref.partition("&")[0])


def read_tree(path: str, table: Mapping[str, Any], text: str) -> Listing:
    reader = {"toml": read_toml, "file": read_toml, "json": read_json}
    ending = re.sub(r".*[./]", "", path).lower()
    document = reader.get("toml" if ending in ("config", "pipfile") else ending, read_yaml)(path, text)
    ecosystem = table["ecosystem"]
    entries: list[Entry] = []
    for steps, kind in table["paths"].items():
        for root in document.roots:
            for name, node in walk(root, steps.split("/"), ""):
                entries += entry_of(name, node, ecosystem, kind)
    locks = tuple(table.get("locks", "").split())
    return Listing(ecosystem, tuple(entries), False, locks, document.problem, document.is_cut)


def walk(node: Node, steps: list[str], name: str) -> Iterator[tuple[str, Node]]:
    """Yield the nodes at a path, each with the last key on the way, none for an item of a list."""
    if not steps:
        yield name, node
    elif steps[0] == "[]":
        for each in node.nodes if isinstance(node, Items) else ():
            yield from walk(each, steps[1:], "")
    elif isinstance(node, Table):
        for key, value in node.items():
            if steps[0] in ("*", key):
                yield from walk(value, steps[1:], key)


def entry_of(name: str, node: Node, ecosystem: str, kind: str) -> Iterator[Entry]:
    """Yield the entries of one node: a text, a table of facts, or a list of either."""
    if isinstance(node, Items) and kind not in ("script",):
        for each in node.nodes:
            yield from entry_of(name, each, ecosystem, kind)
        return
    numbers = [each.line for each in every((node,)) if isinstance(each, Scalar)]
    if not numbers:
        return
    base = Entry(name, ecosystem, kind, line=min(numbers), last=max(numbers))
    if isinstance(node, Table):
        made = from_table(base, node)
    else:
        made = from_text(
            base,
            node.text
            if isinstance(node, Scalar)
            else " ".join(each.text for each in every((node,)) if isinstance(each, Scalar)),
        )
    if made and (made.name or made.source):
        yield replace(made, name=normalise(made.name, made.ecosystem))


def from_table(base: Entry, node: Table) -> Entry | None:
    if base.ecosystem == "pre-commit" and base.kind == "":
        repo = node.text("repo")
        return (
            None if "/" not in repo else replace(base, name=repo, spec=node.text("rev"), last=base.line + 1)
        )
    if base.kind == "index":
        explicit = node.text("explicit") == "true" or node.text("priority") == "explicit"
        url, kind = node.text("url"), "scoped index" if explicit else "index"
        return replace(base, name=node.text("name"), source=url, kind=kind) if url else None
    key = next((key for key in SOURCE_KEYS if node.text(key)), "")
    prefix = {"git": "git+", "github": "git+", "path": "path:", "file": "file:"}.get(key, "")
    source = f"{prefix}{node.text(key)}" if key else ""
    if base.ecosystem == "composer" or node.text("workspace") == "true":
        source = source or ("workspace:" if node.text("workspace") else "")
    nested = node.get("version")
    version = nested.text("ref") if isinstance(nested, Table) else node.text("version")
    name = node.text("package") or node.text("module") or node.text("id") or base.name
    if node.text("group") and base.ecosystem == "maven":
        name = f"{node.text('group')}:{node.text('name')}"
    ref = node.text("rev") or node.text("tag") or node.text("ref") or node.text("branch")
    return replace(base, name=name, spec=version, source=source, ref=ref)


def from_text(base: Entry, text: str) -> Entry | None:
    if base.is_setting:
        index = base.kind in ("index", "scoped index")
        name = text if base.kind == "trusted" and not base.name else base.name
        return replace(base, name=name, source=text if index else "", spec=text)
    if base.kind == "image":
        made = image(text) if "$" not in text else None
        return replace(made, line=base.line, last=base.last) if made else None
    if base.ecosystem == "actions":
        name, _, ref = text.partition("@")
        if text.startswith("docker://"):
            return from_text(replace(base, kind="image"), text.removeprefix("docker://"))
        return None if text.startswith(".") or "/" not in name else replace(base, name=name, spec=ref)
    if base.kind in ("pip", "hook") or (base.ecosystem == "pypi" and not base.name):
        if SOURCE.match(text):
            return with_source(replace(base, ecosystem="pypi", name=name_in(text), source=text))
        found = PEP_508.match(text)
        if base.kind == "hook" and (found is None or "/" in text or "@" in text[1:].split("[")[0]):
            return replace(
                base, ecosystem="npm", name=text.rpartition("@")[0] or text, spec=text.rpartition("@")[2]
            )
        if found is None:
            return None
        spec, source = (found["spec"] or "").strip(), found["source"] or ""
        return with_source(replace(base, ecosystem="pypi", name=found["name"], spec=spec, source=source))
    if base.ecosystem == "conda":
        name, _, spec = text.rpartition("::")[2].partition("=")
        return replace(base, name=re.split(r"[\s<>!~]", name)[0], spec=spec.strip("= "))
    if base.ecosystem == "maven" and text.count(":") > 1:
        group, name, spec = text.split(":", 2)
        return replace(base, name=f"{group}:{name}", spec=spec)
    return with_source(replace(base, spec=text))
