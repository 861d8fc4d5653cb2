"""Versions that manifests and lock files state: of the project, of the language that it needs, of a dependency."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from cli_guard.assistant.projects.files import (
    ProjectFiles,
    clip_line,
    line_at,
    nearness,
)
from cli_guard.assistant.projects.purposes import read
from cli_guard.assistant.request_question import find_versioned
from cli_guard.reviewers.commands.extract.nodes import Node, Scalar, Table
from cli_guard.reviewers.dependencies import reading

MOST_MANIFESTS = 40
MOST_SHOWN = 5
TABLES = read("versions")
OWN_WORDS = frozenset(TABLES["own_words"].split())
# A path, a line from 1, and what is stated there: a name and its version.
Stated = tuple[str, int, str]


def describe_versions(request: str, texts: Mapping[str, str]) -> tuple[str, ...]:
    """Return the lines that answer a question for a version; none where no file states what it asks for."""
    words = find_versioned(request)
    files = ProjectFiles(texts)
    found = [*of_languages(files, words), *of_dependencies(files, words)]
    if not found and words & {*OWN_WORDS, *own_names(files)}:
        found = list(stated_in(files, TABLES["own"]))
    lines = [
        clip_line(f"{path}:{line}: {said}", path) for path, line, said in found[:MOST_SHOWN]
    ]
    if left := len(found) - len(lines):
        lines.append(f"... and {left} more")
    if found:
        lines.append(f"Confidence: high (stated in {found[0][0]}).")
    return tuple(lines)


def own_names(files: ProjectFiles) -> Iterator[str]:
    """Yield the names that manifests at the root give the project."""
    for row in TABLES["own"]:
        if name := value_at(files, row["path"], (*row["at"][:-1], "name")):
            yield name.text.lower()


def stated_in(files: ProjectFiles, rows: Iterable[Mapping[str, Any]]) -> Iterator[Stated]:
    """Yield the versions at some keys of manifests at the root."""
    for row in rows:
        if found := value_at(files, row["path"], row["at"]):
            yield row["path"], found.line, f"{row['name']} {found.text}"


def of_languages(files: ProjectFiles, words: Iterable[str]) -> Iterator[Stated]:
    """Yield the versions of the languages that are asked for."""
    asked = {word.removesuffix(".js").removesuffix("js") for word in words}
    yield from stated_in(files, (row for row in TABLES["language"] if row["name"] in asked))
    for row in TABLES["line"]:
        text = files.read(row["path"]) if row["name"] in asked else ""
        if found := re.search(row["form"], text):
            yield row["path"], line_at(text, found), f"{row['name']} {found[1]}"


def of_dependencies(files: ProjectFiles, words: Iterable[str]) -> list[Stated]:
    """Return the versions of the dependencies that are asked for, manifests before lock files."""
    asked = {word for word in words if len(word) > 1 and word not in OWN_WORDS}
    paths = [path for path in files.texts if reading.formats_of(path)]
    listed = []
    for path in sorted(paths, key=nearness)[:MOST_MANIFESTS]:
        listing = reading.read(path, files.read(path))
        found = [
            (path, each.line, f"{each.name} {each.spec}")
            for each in listing.entries
            if each.spec and not asked.isdisjoint(names_of(each.name))
        ]
        listed.append((listing.is_lock, found))
    listed.sort(key=lambda each: each[0])
    return [each for _, found in listed for each in found]


def names_of(dependency: str) -> tuple[str, str]:
    """Return its name, and what people call it: `cobra` of `github.com/spf13/cobra`, `core` of `@babel/core`."""
    name = dependency.lower()
    return name, re.split(r"[/:]", name)[-1]


def value_at(files: ProjectFiles, path: str, steps: Iterable[str]) -> Scalar | None:
    """Return the value at some keys of a file at the root, None for none."""
    if not files.has(path):
        return None
    node: Node | None = next(iter(files.document(path)), None)
    for step in steps:
        node = node.get(step) if isinstance(node, Table) else None
    return node if isinstance(node, Scalar) else None
