"""The tasks in a file of the project, by their names, each with the commands that it runs.

A task that it needs is such a command: `test: build` runs `make build` first. The name "" stands for the task that runs
if none is named.
"""

import json
from bisect import bisect_left
from collections.abc import Mapping
from pathlib import Path

from cli_guard.reviewers.commands.extract import Unreadable, snippets
from cli_guard.reviewers.commands.extract.known import BRACES
from cli_guard.reviewers.commands.extract.make import JUST_HEAD, MAKE_HEAD, blocks_in
from cli_guard.reviewers.commands.extract.nodes import at, each_line, named_at, scalars
from cli_guard.reviewers.commands.extract.snippet import Where
from cli_guard.reviewers.commands.extract.yaml_nodes import read_yaml
from cli_guard.runtime import read_plain

# Bytes.
MOST_MANIFEST = 1_000_000
# Where a task of a Taskfile has its commands, and the names of the tasks that it needs.
RUN = ((), ("cmd",), ("cmds",), ("cmds", "[]", "cmd"), ("cmds", "[]", "defer"))
NEEDED = (("deps",), ("deps", "[]", "task"), ("cmds", "[]", "task"))
Tasks = Mapping[str, tuple[str, ...]]


def read_tasks(path: Path) -> Tasks:
    """Return the tasks of a package.json, Makefile, justfile or Taskfile, none if it cannot be read. Raises OSError."""
    raw = read_plain(path, most=MOST_MANIFEST)
    name = path.name.lower()
    if name.endswith(".json"):
        return read_scripts(raw)
    text = raw.decode("utf-8", "replace")
    if name.endswith((".yml", ".yaml")):
        return read_taskfile(text)
    return read_recipes(path.name, text, "just" if "just" in name else "make")


def read_scripts(raw: bytes) -> Tasks:
    """Return the scripts in a package.json."""
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    scripts = data.get("scripts") if isinstance(data, dict) else None
    found = scripts.items() if isinstance(scripts, dict) else ()
    return {name: (text,) for name, text in found if isinstance(text, str)}


def read_taskfile(text: str) -> Tasks:
    """Return the tasks of a Taskfile; `default` runs if none is named."""
    found: dict[str, tuple[str, ...]] = {}
    for name, task in named_at(read_yaml("Taskfile.yml", text).roots, "tasks", "*"):
        run = [
            each.substitute(BRACES).text
            for place in RUN
            for node in at([task], *place)
            for each in each_line(node, Where.BUILD)
        ]
        needed = [
            f"task {each.text}"
            for place in NEEDED
            for node in at([task], *place)
            for each in scalars(node)
        ]
        found[name] = (*needed, *run)
    return {"": found["default"], **found} if "default" in found else found


def read_recipes(name: str, text: str, program: str) -> Tasks:
    """Return the recipes of a Makefile or a justfile; the first runs if none is named."""
    found: dict[str, list[str]] = {}
    needed: dict[str, list[str]] = {}
    # The names of each block, and the number of its last line.
    blocks: list[list[str]] = []
    ends: list[int] = []
    line = 0
    for names, needs, block in blocks_in(
        text, JUST_HEAD if program == "just" else MAKE_HEAD
    ):
        line += block.count("\n")
        blocks.append(names)
        ends.append(line)
        for each in names:
            found.setdefault(each, [])
            needed.setdefault(each, []).extend(needs)
    try:
        for snippet in snippets(name, text):
            at_block = min(bisect_left(ends, snippet.lines[0]), len(blocks) - 1)
            for each in blocks[at_block] if snippet.language in ("sh", "mixed") else ():
                found[each].append(snippet.text)
    except Unreadable:
        pass  # What was read before counts.
    tasks = {
        each: (*(f"{program} {need}" for need in needed[each] if need in found), *run)
        for each, run in found.items()
    }
    first = next((each for each in tasks if each[:1] != "."), None)
    return tasks if first is None else {"": tasks[first], **tasks}
