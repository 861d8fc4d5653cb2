"""Changes a dependency in the manifests of a project: Maven, Gradle, npm, pyproject, requirements, setup.cfg, Go."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from cli_guard.assistant.editing.edits import Edit
from cli_guard.assistant.editing.migrations import Dependency
from cli_guard.assistant.editing.sources import Sources

MAVEN = re.compile(
    r"(?<![ \t])[ \t]*<dependency>(?:(?!</dependency>).){0,4000}</dependency>[ \t]*\n?", re.DOTALL
)
FIELDS = {
    name: re.compile(rf"(<{name}>\s*)([^<]*?)(\s*</{name}>)") for name in ("groupId", "artifactId", "version")
}
PYTHON_FILES = re.compile(
    r"(?:^|/)(?:pyproject\.toml|setup\.(?:cfg|py)|[^/]*requirements[^/]*\.(?:txt|in)|Pipfile|requirements/[^/]+\.txt)$"
)
LOCKS = frozenset(
    "package-lock.json yarn.lock pnpm-lock.yaml poetry.lock uv.lock Pipfile.lock pdm.lock go.sum Cargo.lock "
    "gradle.lockfile".split()
)


def dependency_edits(sources: Sources, dependency: Dependency) -> Iterator[Edit]:
    """The edits of one dependency in every manifest. A new one that is there already is not written twice."""
    name = dependency.old.rpartition(":")[2]
    for path in sources.mentioning(name):
        pure = PurePosixPath(path)
        if dependency.ecosystem == "maven" and pure.name == "pom.xml":
            yield from maven(sources, path, dependency)
        elif dependency.ecosystem == "maven" and pure.name.endswith((".gradle", ".gradle.kts")):
            yield from gradle(sources, path, dependency)
        elif dependency.ecosystem == "python" and PYTHON_FILES.search(path):
            yield from python(sources, path, dependency)
        elif dependency.ecosystem == "npm" and pure.name == "package.json":
            yield from npm(sources, path, dependency)


def locks(sources: Sources, names: list[str]) -> list[str]:
    """The lock files that name one of these: the tool of the project writes them anew."""
    lasts = [name.rpartition(":")[2] for name in names]
    return [
        p
        for p in sources.texts
        if PurePosixPath(p).name in LOCKS and any(n in sources.texts[p] for n in lasts)
    ]


def maven(sources: Sources, path: str, dependency: Dependency) -> Iterator[Edit]:
    """`<dependency>` elements; a version that is a ${property} stays for a person."""
    text = sources.texts[path]
    group, _, artifact = dependency.old.partition(":")
    new_group, _, new_artifact = dependency.new.partition(":")
    there = bool(new_artifact) and f"<artifactId>{new_artifact}</artifactId>" in text
    for match in MAVEN.finditer(text):
        block = match[0]
        said = {name: found[2] for name, pattern in FIELDS.items() if (found := pattern.search(block))}
        if (said.get("groupId"), said.get("artifactId")) != (group, artifact):
            continue
        if not dependency.new or there:
            yield Edit(path, match.start(), match.end(), "")
            continue
        there = True
        for name, value in (
            ("groupId", new_group),
            ("artifactId", new_artifact),
            ("version", dependency.version),
        ):
            found = FIELDS[name].search(block)
            if found is not None and value:
                start = match.start() + found.start(2)
                yield Edit(path, start, start + len(found[2]), value)


def gradle(sources: Sources, path: str, dependency: Dependency) -> Iterator[Edit]:
    """'group:artifact:version' in any quotes."""
    text = sources.texts[path]
    pattern = re.compile(rf"(?P<quote>['\"]){re.escape(dependency.old)}(?::(?P<version>[^'\"]*))?(?P=quote)")
    there = bool(dependency.new) and dependency.new in text
    for match in pattern.finditer(text):
        if not dependency.new or there:
            start = text.rfind("\n", 0, match.start()) + 1
            end = text.find("\n", match.end())
            yield Edit(path, start, len(text) if end < 0 else end + 1, "")
            continue
        there = True
        version = f":{dependency.version}" if match["version"] is not None and dependency.version else ""
        yield Edit(path, match.start() + 1, match.end() - 1, dependency.new + version)


def python(sources: Sources, path: str, dependency: Dependency) -> Iterator[Edit]:
    """A requirement: at the start of a line, in quotes, or as a key of a table."""
    text = sources.texts[path]
    name = re.sub(r"[-_.]+", "[-_.]+", re.escape(dependency.old).replace("\\-", "-"))
    tail = r"(?P<extras>\[[^\]\n]*\])?(?P<version>\s*(?:[<>=!~]=?|===?)[^;#'\"\n]*)?"
    listed = re.compile(
        rf"(?P<open>^[ \t]*|['\"])(?P<name>{name}){tail}(?P<end>\s*;[^'\"\n]*)?(?=['\"]|\s*(?:#|$))",
        re.IGNORECASE | re.MULTILINE,
    )
    keyed = re.compile(
        rf"^(?P<name>{name})(?P<version>\s*=\s*['\"][^'\"\n]*['\"])", re.IGNORECASE | re.MULTILINE
    )
    new = dependency.new
    there = (
        bool(new)
        and re.search(rf"(?:^|['\"\s]){re.escape(new)}(?=[\s'\"<>=!~\[;]|$)", text, re.MULTILINE) is not None
    )
    is_list = PurePosixPath(path).suffix in (".txt", ".in")
    for match in listed.finditer(text):
        if not match["open"].strip() and not is_list and not path.endswith("setup.cfg"):
            continue
        if new and not there:
            there = True
            yield Edit(
                path,
                match.start("name"),
                match.end("version") if match["version"] else match.end("name"),
                new + dependency.version,
            )
            continue
        yield whole_entry(text, path, match.start(), match.end())
    if path.endswith((".toml", "Pipfile")):
        for match in keyed.finditer(text):
            if new and not there:
                there = True
                wanted = dependency.version or "*"
                yield Edit(path, match.start(), match.end(), f'{new} = "{wanted}"')
            else:
                yield whole_entry(text, path, match.start(), match.end())


def whole_entry(text: str, path: str, start: int, end: int) -> Edit:
    """Takes an entry out: its line, or only itself and its comma where others stand on the line."""
    if text[end : end + 1] in ("'", '"'):
        end += 1
    line_start, newline = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    line_end = len(text) if newline < 0 else newline
    if not text[line_start:start].strip() and text[end:line_end].strip() in ("", ","):
        return Edit(path, line_start, min(line_end + 1, len(text)), "")
    comma = re.compile(r"\s*,\s*").match(text, end)
    if comma is not None:
        return Edit(path, start, comma.end(), "")
    before = re.compile(r",\s*$").search(text, line_start, start)
    return Edit(path, before.start() if before else start, end, "")


def npm(sources: Sources, path: str, dependency: Dependency) -> Iterator[Edit]:
    """An entry of package.json; the last of its object takes the comma before it along."""
    text = sources.texts[path]
    pattern = re.compile(rf"\"{re.escape(dependency.old)}\"\s*:\s*\"[^\"\n]*\"")
    there = bool(dependency.new) and f'"{dependency.new}"' in text
    for match in pattern.finditer(text):
        if dependency.new and not there:
            there = True
            yield Edit(path, match.start(), match.end(), f'"{dependency.new}": "{dependency.version or "*"}"')
            continue
        after = re.compile(r"\s*,").match(text, match.end())
        before = re.compile(r",?\s*$").search(text, max(0, match.start() - 200), match.start())
        start = before.start() if before is not None and after is None else match.start()
        if after is not None and before is not None:
            start = match.start() - len(before[0].replace(",", ""))
        yield Edit(path, start, after.end() if after else match.end(), "")
