"""The names in files that have no syntax tree here: sections and keys, targets, headings. Line by line."""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import PurePosixPath

from cli_guard.assistant.retrieval.model import SymbolAt

SECTION = re.compile(r"\[{1,2}\s*([^\]\[]{1,120}?)\s*\]{1,2}\s*$")
KEY = re.compile(r"([\w.\"'-]{1,80})\s*[=:]\s*\S?")
VARIABLE = re.compile(r"(?:export\s+)?([A-Za-z_]\w{0,80})\s*=")
TARGET = re.compile(r"([\w./%-]{1,80})\s*:(?!=)")
HEADING = re.compile(r"(#{1,6})\s+(\S.{0,200})")
UNDERLINE = re.compile(r"([=\-~^\"'*+#`:.])\1{2,}\s*$")
INSTRUCTION = re.compile(r"(?:FROM|RUN|CMD|ENTRYPOINT|ENV|ARG|EXPOSE|COPY|WORKDIR|USER)\s+(\S{1,80})")
MOST_LINES = 50_000
LONGEST_LINE = 400


def outline(path: str, text: str) -> tuple[SymbolAt, ...]:
    """The symbols of a settings file, a Makefile, a Dockerfile or a document, in order; else none."""
    name = PurePosixPath(path).name.lower()
    ending = PurePosixPath(path).suffix.lower()
    lines = text.split("\n", MOST_LINES)[:MOST_LINES]
    if (
        ending in (".toml", ".ini", ".cfg", ".conf", ".properties", ".editorconfig")
        or name == ".editorconfig"
    ):
        return tuple(_settings(lines))
    if name.startswith(("makefile", "gnumakefile", "justfile")) or ending == ".mk":
        return tuple(_of_lines(lines, TARGET, "target", VARIABLE))
    if name.startswith((".env", "env.")) or ending == ".env":
        return tuple(_of_lines(lines, VARIABLE, "key"))
    if name.startswith("dockerfile") or ending == ".dockerfile":
        return tuple(_of_lines(lines, INSTRUCTION, "key"))
    if ending in (".md", ".markdown", ".mdx"):
        return tuple(_headings(lines))
    if ending in (".rst", ".txt"):
        return tuple(_underlined(lines))
    return ()


def _settings(lines: list[str]) -> Iterator[SymbolAt]:
    section = ""
    for number, line in enumerate(lines, 1):
        if len(line) > LONGEST_LINE or not line or line[0] in " \t#;":
            continue
        found = SECTION.match(line)
        if found:
            section = found[1]
            yield SymbolAt("section", section, section, number, number, line.strip())
            continue
        found = KEY.match(line)
        if found:
            key = found[1].strip("\"'")
            yield SymbolAt("key", key, f"{section}.{key}" if section else key, number, number, line.strip())


def _of_lines(
    lines: list[str], pattern: re.Pattern[str], kind: str, other: re.Pattern[str] | None = None
) -> Iterator[SymbolAt]:
    for number, line in enumerate(lines, 1):
        if len(line) > LONGEST_LINE or line[:1] in ("", " ", "\t", "#"):
            continue
        found = pattern.match(line)
        what = kind
        if found is None and other is not None:
            found, what = other.match(line), "key"
        if found:
            yield SymbolAt(what, found[1], found[1], number, number, line.strip())


def _headings(lines: list[str]) -> Iterator[SymbolAt]:
    fenced = False
    for number, line in enumerate(lines, 1):
        if line.startswith(("```", "~~~")):
            fenced = not fenced
        found = None if fenced or len(line) > LONGEST_LINE else HEADING.match(line)
        if found:
            title = found[2].rstrip("# ").strip()
            yield SymbolAt("heading", title, title, number, number, line.strip())


def _underlined(lines: list[str]) -> Iterator[SymbolAt]:
    for number, (line, below) in enumerate(pairwise(lines), 1):
        title = line.strip()
        if not title or len(line) > LONGEST_LINE or len(below) > LONGEST_LINE or line[0] in " \t":
            continue
        if UNDERLINE.match(below) and len(below.rstrip()) >= len(title) and not UNDERLINE.match(line):
            yield SymbolAt("heading", title, title, number, number, title)
