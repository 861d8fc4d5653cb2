"""Tasks that are written down: in a Makefile, in tables of data files, in lines that a pattern finds."""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from cli_guard.assistant.projects.environments import python_front, script_command
from cli_guard.assistant.projects.files import (
    FoundCommand,
    ProjectFiles,
    folder_of,
    line_at,
    line_of,
    within,
)
from cli_guard.assistant.projects.purposes import read
from cli_guard.reviewers.commands.extract.make import MAKE_HEAD, blocks_in
from cli_guard.reviewers.commands.extract.nodes import (
    Items,
    Node,
    Scalar,
    Table,
    at,
    scalars,
)
from cli_guard.rules.catalog import read_patterns

FORMS = read_patterns("projects/tasks.toml", "patterns")
NO_TEST = re.compile(r"no tests? specified")
BODY_KEYS = "cmds cmd run shell commands command sequence composite script".split()
MOST_LINES = 60
MOST_BODY = 20_000
# Stands for an escaped line end, so that a logical line is one line and the others keep their numbers.
JOINED = "\x1f"


def find_tasks(files: ProjectFiles) -> Iterator[FoundCommand]:
    """Yield every task that is written down, in the order of the data and of each file."""
    for path in files.find_like("(?:gnu)?makefile"):
        yield from _read_makefile(path, files.read(path))
    for read_rule, rules in (
        (_match_tasks, read("tasks")["pattern"]),
        (_list_tasks, read("tasks")["table"]),
    ):
        for rule in rules:
            for path in files.find_like(rule["file"]):
                yield from read_rule(files, path, rule)


def _list_tasks(
    files: ProjectFiles, path: str, rule: Mapping[str, Any]
) -> Iterator[FoundCommand]:
    """Yield the tasks of one table of a data file."""
    text = files.read(path)
    for env, table in _find_tables(files.document(path), rule["at"].split(".")):
        for name, node in table.items():
            body = _body_of(node)
            hidden = isinstance(node, Table) and node.text("internal") == "true"
            if (
                hidden
                or re.fullmatch(rule.get("skip", "(?!)"), name)
                or NO_TEST.search(body)
            ):
                continue
            if not re.fullmatch(rule.get("only", ".*"), name) or not (
                body or isinstance(node, Table)
            ):
                continue
            other = re.fullmatch(rule.get("other", "(?!)"), name)
            words = {
                "name": shlex.quote(name),
                "env": "" if env in ("", "default") else f"{shlex.quote(env)}:",
                "front": python_front(files),
                "script": script_command(files, path, name),
            }
            yield FoundCommand(
                within(folder_of(path), rule["command"].format_map(words)),
                path,
                _line_of(text, name, node),
                rule.get("about", "") + body,
                name,
                rule.get("origin", "task"),
                "other" if other else rule.get("purpose"),
                rule.get("rank", 0) or int(env not in ("", "default")),
            )


def _find_tables(
    nodes: Iterable[Node], keys: list[str], env: str = ""
) -> Iterator[tuple[str, Table]]:
    """Yield the tables that some keys lead to, each with the key that `*` is."""
    for node in nodes:
        if not isinstance(node, Table):
            continue
        if not keys:
            yield env, node
        elif keys[0] == "*":
            for name, value in node.items():
                yield from _find_tables([value], keys[1:], name)
        else:
            yield from _find_tables(at([node], keys[0]), keys[1:], env)


def _line_of(text: str, name: str, node: Node) -> int:
    first = next(scalars(node), None)
    if first:
        return first.line
    key = re.escape(name)
    return line_of(text, rf"^\[[^\]\n]*\b{key}[\"']?\]|^[ \t]*[\"']?{key}[\"']?[ \t]*[:=]")


def _body_of(node: Node | None) -> str:
    """Return the commands of a task on one line: a text, a list of texts or of words, or a table that holds them."""
    if isinstance(node, Table):
        node = next(
            (value for value in map(node.get, BODY_KEYS) if value is not None), None
        )
    if not isinstance(node, Items):
        return node.text.strip() if isinstance(node, Scalar) else ""
    parts = []
    for each in node.nodes[:MOST_LINES]:
        if isinstance(each, Table) and (called := each.text("task") or each.text("ref")):
            parts.append(f"task {called}")
            continue
        plain = " ".join(
            shlex.quote(word.text) if isinstance(each, Items) else word.text
            for word in scalars(each)
        )
        inner = _body_of(each) if isinstance(each, Table) else ""
        parts.append(plain or inner)
    return "; ".join(part.strip() for part in parts if part.strip())


def _match_tasks(
    files: ProjectFiles, path: str, rule: Mapping[str, Any]
) -> Iterator[FoundCommand]:
    """Yield the tasks that a pattern finds in a text."""
    text = files.read(path)
    for found in re.compile(rule["pattern"], re.MULTILINE).finditer(text):
        groups = found.groupdict("")
        body = _body_below(text, found, rule.get("body", ""))
        name = groups.get("name") or rule.get("unnamed", {}).get(body, "")
        words = {
            "name": shlex.quote(name),
            "dashed": name.replace("_", "-"),
            "body": body,
            "bundle": "bundle exec " if files.has("Gemfile") else "",
        }
        yield FoundCommand(
            within(folder_of(path), rule["command"].format_map(words)),
            path,
            line_at(text, found),
            body,
            name or rule["command"],
            "task",
            rule.get("purpose"),
            rule.get("rank", 0),
        )


def _body_below(text: str, found: re.Match[str], kind: str) -> str:
    """Return what a task runs, by the lines below its head or by the head itself."""
    groups = found.groupdict("")
    if not kind:
        return groups.get("body", "")
    below = text[found.end() : found.end() + MOST_BODY]
    if kind == "commands":
        section = re.split(r"^\[", below, maxsplit=1, flags=re.MULTILINE)[0]
        value = FORMS["commands"].search(section)
        lines = (
            line.strip().rstrip("\\").lstrip("-").strip()
            for line in (value[1] if value else "").split("\n")
        )
        return "; ".join(line for line in lines if line and not line.startswith("#"))
    end = re.search(r"\n(?=[^ \t\n])", below)
    inside = below[: end.start()] if end else below
    if kind == "calls":
        return "; ".join(
            " ".join(FORMS["literal"].findall(call[1]))
            for call in FORMS["call"].finditer(inside)
        )
    ran = [
        line.strip().lstrip("@-")
        for line in inside.split("\n")[1 : MOST_LINES + 1]
        if line.strip()
    ]
    needs = groups.get("needs", "").strip()
    return "; ".join(ran) or (f"runs the recipes {needs}" if needs else "")


def _read_makefile(path: str, text: str) -> Iterator[FoundCommand]:
    """Yield the targets that people call; a file that is made (`lib/a.o`) only if it is declared as none."""
    front = f"make -C {shlex.quote(folder_of(path))}" if folder_of(path) else "make"
    if passes_on := FORMS["sphinx"].search(text):
        line = line_at(text, passes_on)
        yield FoundCommand(
            f"{front} html", path, line, "builds the pages with Sphinx", "html"
        )
    # A condition ends no recipe.
    plain = FORMS["condition"].sub("", text)
    blocks = list(blocks_in(plain.replace("\\\n", JOINED), MAKE_HEAD))
    phony = {each for names, needs, _ in blocks if ".PHONY" in names for each in needs}
    seen = set()
    line = 1
    for names, needs, block in blocks:
        # `debug: CFLAGS = -g` sets a variable for a target.
        for name in () if "=" in " ".join(needs) else names:
            made = ("/" in name or "." in name) and name not in phony
            if FORMS["target"].fullmatch(name) and not made and name not in seen:
                seen.add(name)
                yield FoundCommand(
                    f"{front} {name}", path, line, _make_body(block, needs), name
                )
        line += block.count("\n") + block.count(JOINED)


def _make_body(block: str, needs: list[str]) -> str:
    """Return the recipe of a block on one line, without what only prints; else the targets that it needs."""
    head, *below = block[:MOST_BODY].replace(JOINED, " ").split("\n")
    lines = [head.partition(";")[2], *(line for line in below if line.startswith("\t"))]
    recipe = [line.lstrip(" \t@+-").rstrip() for line in lines[:MOST_LINES]]
    ran = [line for line in recipe if line and not FORMS["prints"].match(line)]
    targets = f"runs the targets {' '.join(needs)}" if needs else ""
    return "; ".join(ran or filter(None, recipe)) or targets
