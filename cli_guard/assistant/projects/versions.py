"""Versions that manifests and lock files state: of the project, of the language that it needs, of a dependency."""

import re
from collections.abc import Iterable, Iterator, Mapping

from cli_guard.assistant.projects.files import (
    ProjectFiles,
    clip_line,
    line_of,
    nearness,
)
from cli_guard.assistant.request_question import find_versioned
from cli_guard.lazy import frozen
from cli_guard.reviewers.commands.extract.nodes import Node, Scalar, Table
from cli_guard.reviewers.dependencies.reading import formats_of, read

MOST_MANIFESTS = 40
MOST_SHOWN = 5
# What the project itself is called in a question about its version.
OWN_WORDS = frozenset("this project package repository repo library app it we our".split())
# Where a manifest states the version of the project, and that of the language which it needs.
OWN = (
    ("pyproject.toml", ("project", "version")),
    ("pyproject.toml", ("tool", "poetry", "version")),
    ("package.json", ("version",)),
    ("Cargo.toml", ("package", "version")),
    ("composer.json", ("version",)),
)
LANGUAGES = (
    ("python", "pyproject.toml", ("project", "requires-python")),
    ("python", "pyproject.toml", ("tool", "poetry", "dependencies", "python")),
    ("node", "package.json", ("engines", "node")),
    ("rust", "Cargo.toml", ("package", "rust-version")),
    ("php", "composer.json", ("require", "php")),
)
# A file that is a version and nothing else.
PINS = {
    ".python-version": "python",
    ".nvmrc": "node",
    ".node-version": "node",
    ".ruby-version": "ruby",
}
PINNED = re.compile(r"\s*([\w.-]{1,40})\s*")
GO = re.compile(r"(?m)^go (\d[\w.]{0,20})$")


@frozen
class StatedVersion:
    """The version of something as a file states it, with its line."""

    name: str
    version: str
    path: str
    line: int


def describe_versions(request: str, texts: Mapping[str, str]) -> tuple[str, ...]:
    """Return the lines that answer a question for a version; none where no file states what it asks for."""
    words = find_versioned(request)
    files = ProjectFiles(texts)
    found = [*of_languages(files, words), *of_dependencies(files, words)]
    if not found and words & {*OWN_WORDS, *own_names(files)}:
        found = list(of_project(files))
    shown = found[:MOST_SHOWN]
    lines = [
        clip_line(f"{each.path}:{each.line}: {each.name} {each.version}", each.path)
        for each in shown
    ]
    if left := len(found) - len(shown):
        lines.append(f"... and {left} more")
    if shown:
        lines.append(f"Confidence: high (stated in {shown[0].path}).")
    return tuple(lines)


def own_names(files: ProjectFiles) -> Iterator[str]:
    """Yield the names that manifests at the root give the project."""
    for path, steps in OWN:
        name = value_at(files, path, (*steps[:-1], "name"))
        if name is not None:
            yield name.text.lower()


def of_project(files: ProjectFiles) -> Iterator[StatedVersion]:
    """Yield the versions that manifests at the root state of the project."""
    for path, steps in OWN:
        stated = value_at(files, path, steps)
        if stated is not None:
            yield StatedVersion("version", stated.text, path, stated.line)


def of_languages(files: ProjectFiles, words: Iterable[str]) -> Iterator[StatedVersion]:
    """Yield the versions of the languages that are asked for."""
    asked = {word.removesuffix(".js").removesuffix("js") for word in words}
    for language, path, steps in LANGUAGES:
        stated = value_at(files, path, steps) if language in asked else None
        if stated is not None:
            yield StatedVersion(language, stated.text, path, stated.line)
    for path, language in PINS.items():
        pinned = PINNED.fullmatch(files.read(path)) if language in asked else None
        if pinned:
            yield StatedVersion(language, pinned[1], path, 1)
    text = files.read("go.mod")
    if "go" in asked and (found := GO.search(text)):
        yield StatedVersion("go", found[1], "go.mod", line_of(text, GO.pattern))


def of_dependencies(files: ProjectFiles, words: Iterable[str]) -> list[StatedVersion]:
    """Return the versions of the dependencies that are asked for, manifests before lock files."""
    asked = {word for word in words if len(word) > 1 and word not in OWN_WORDS}
    paths = [path for path in files.texts if formats_of(path)]
    found = []
    for path in sorted(paths, key=nearness)[:MOST_MANIFESTS]:
        listing = read(path, files.read(path))
        found += [
            (listing.is_lock, StatedVersion(each.name, each.spec, path, each.line))
            for each in listing.entries
            if each.spec and asked & {each.name.lower(), last_part(each.name)}
        ]
    return [each for _, each in sorted(found, key=lambda pair: pair[0])]


def last_part(name: str) -> str:
    """Return what people call a dependency: `cobra` of `github.com/spf13/cobra`, `core` of `@babel/core`."""
    return re.split(r"[/:]", name)[-1].lower()


def value_at(files: ProjectFiles, path: str, steps: Iterable[str]) -> Scalar | None:
    """Return the value at some keys of a file at the root, None for none."""
    if not files.has(path):
        return None
    node: Node | None = next(iter(files.document(path)), None)
    for step in steps:
        node = node.get(step) if isinstance(node, Table) else None
    return node if isinstance(node, Scalar) else None
