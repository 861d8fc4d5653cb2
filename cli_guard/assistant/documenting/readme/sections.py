"""Writes sections into the README: a new one at its place, a known one extended by what it does not say yet."""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from cli_guard.assistant.documenting.model import Proposal
from cli_guard.assistant.documenting.readme.blocks import Block, Commands, Section, Table, Text, lines_of
from cli_guard.assistant.documenting.readme.headings import Heading, headings, place_for, section_end, written
from cli_guard.assistant.documenting.readme.manifests import Project
from cli_guard.assistant.documenting.readme.running import command_line, configuration, usage
from cli_guard.assistant.documenting.readme.setup import development, installation, testing
from cli_guard.assistant.documenting.wanted import Wanted
from cli_guard.code.syntax import Trees
from cli_guard.model import Skipped
from cli_guard.secrets.redact import redact

NAMES = ("README.md", "README.rst", "README.markdown", "README.txt", "README")
EVERY = ("installation", "usage", "configuration", "testing")
NOTHING = {
    "installation": "no pyproject.toml, setup.py, package.json, Cargo.toml or go.mod says how to install it",
    "usage": "no command, entry point or package says how to use it",
    "configuration": "no code reads an environment variable",
    "command line": "no code defines options with argparse or click",
    "testing": "no settings, Makefile or script say how to run tests",
    "development": "no manifest, Makefile or scripts say how to work on it",
}


def readme_sections(
    wanted: Wanted, texts: Mapping[str, str], trees: Trees
) -> tuple[list[Proposal], dict[str, str], list[str], list[Skipped]]:
    """(proposals, path -> new text, what is missing, what was left out) for the sections that are asked for."""
    path = readme_path(wanted, texts)
    text = texts.get(path, "")
    proposals: list[Proposal] = []
    missing: list[str] = []
    skipped: list[Skipped] = []
    if len(text) > 1_000_000:
        return [], {}, [], [Skipped(path, "longer than 1,000,000 characters", by_limit=True)]
    if wanted.unknown_topic:
        # Other sections in its place would be nothing that anybody asked for.
        known = ", ".join(EVERY)
        missing.append(f"{wanted.unknown_topic}: no file tells what to write; sections known here: {known}")
        return [], {}, missing, []
    project = Project(texts)
    new = text or _title(project)
    for topic in wanted.topics or EVERY:
        section, left = _made(topic, project, trees)
        skipped += left
        if section is None:
            if wanted.topics:
                missing.append(f"{topic}: {NOTHING[topic]}")
            continue
        placed = _placed(section, path, new)
        if placed is None:
            skipped.append(Skipped(path, f"its section on {topic} says all of this already"))
            continue
        new, following, shown = placed
        proposals.append(
            Proposal(
                path,
                _line_in(text, following),
                "",
                "readme section",
                redact(shown, path),
                section.note,
                section.grounds,
            )
        )
    if not proposals and not missing and not skipped:
        missing.append("README: no file here says how to install, use, configure or test what is in it")
    return proposals, {path: new} if proposals else {}, missing, skipped


def readme_path(wanted: Wanted, texts: Mapping[str, str]) -> str:
    """The README that is asked for, the one at the root, or the name of a new one."""
    named = [p for p in wanted.paths if PurePosixPath(p).stem.lower() == "readme" and p in texts]
    folders = [p.rstrip("/") for p in wanted.paths if any(t.startswith(p.rstrip("/") + "/") for t in texts)]
    named += [f"{folder}/{n}" for folder in folders for n in NAMES if f"{folder}/{n}" in texts]
    if named:
        return named[0]
    by_name = {path.lower(): path for path in sorted(texts, reverse=True) if "/" not in path}
    return next((by_name[n.lower()] for n in NAMES if n.lower() in by_name), "README.md")


def _title(project: Project) -> str:
    name = (
        project.python_name or str(project.package.get("name") or "") or project.go_module.rpartition("/")[2]
    )
    return f"# {name or 'Read me'}\n"


def _made(topic: str, project: Project, trees: Trees) -> tuple[Section | None, tuple[Skipped, ...]]:
    if topic == "configuration":
        return configuration(project, trees)
    if topic in ("usage", "command line"):
        return (usage if topic == "usage" else command_line)(project, trees), ()
    return {"installation": installation, "testing": testing, "development": development}[topic](project), ()


def _placed(section: Section, path: str, text: str) -> tuple[str, str, str] | None:
    """(new text, the line that follows the section, what was added); None if nothing is left to say."""
    rst = path.lower().endswith(".rst")
    end = "\r" if "\r\n" in text else ""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    while lines and not lines[-1].strip():
        lines.pop()
    found = headings(lines, rst=rst)
    known = _known(section, found)
    if known is not None:
        stop = section_end(found, known, len(lines))
        blocks = _unsaid(section.blocks, "\n".join(lines[known.last + 1 : stop]))
        if not blocks:
            return None
        added, at = lines_of(blocks, rst=rst), stop
    else:
        added = [*written(section.title, found, rst=rst), "", *lines_of(section.blocks, rst=rst)]
        at = place_for(section.topic, found, len(lines))
    before, after = lines[:at], lines[at:]
    while before and not before[-1].strip():
        before.pop()
    whole = [*before, *([""] if before else []), *added, *([""] if after else []), *after]
    return "".join(f"{line}{end}\n" for line in whole), after[0] if after else "", "\n".join(added)


def _known(section: Section, found: list[Heading]) -> Heading | None:
    exact = [h for h in found if h.title.strip().lower() == section.title.lower()]
    about = [h for h in found[1:] if h.topic == section.topic]
    return next(iter(exact or about), None)


def _unsaid(blocks: tuple[Block, ...], text: str) -> tuple[Block, ...]:
    """The blocks without what the section says already."""
    kept: list[Block] = []
    lead: Text | None = None
    for block in blocks:
        if isinstance(block, Text):
            quoted = re.findall(r"`([^`]+)`", block.text)
            lead = block
            if quoted and not all(q in text for q in quoted):
                kept.append(block)
                lead = None
            continue
        rest: Block | None = None
        if isinstance(block, Commands):
            new = tuple(line for line in block.lines if not _said(line, text))
            rest = Commands(new, block.language) if new else None
        else:
            rows = tuple(row for row in block.rows if row[0].strip("`").split("`")[0] not in text)
            rest = Table(block.head, rows) if rows else None
        if rest is not None:
            kept += [lead, rest] if lead is not None else [rest]
        lead = None
    return tuple(kept)


def _said(command: str, text: str) -> bool:
    plain = command.removeprefix("python -m ").removesuffix(" --help")
    return plain in text or re.sub(r" -e | -U ", " ", plain) in text


def _line_in(old: str, following: str) -> int:
    """The line of the old text that the new section stands before."""
    rows = [row.removesuffix("\r") for row in old.split("\n")] if old else []
    while rows and not rows[-1].strip():
        rows.pop()
    return rows.index(following) + 1 if following in rows else len(rows) + 1
