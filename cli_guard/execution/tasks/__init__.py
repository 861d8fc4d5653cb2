"""The tasks in a file of the project, by their names, each with the commands that it runs.

A task that it needs is such a command: `test: build` runs `make build` first. What runs to compute a value
(`$(shell ...)`, backquotes, `sh:`) runs with every task. What is not read is said.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from cli_guard.commands.model import TaskFile
from cli_guard.execution.tasks.makefile import MakefileReader
from cli_guard.execution.tasks.reader import TaskReader


def read_tasks(path: Path, given: Mapping[str, str], *, dry: bool) -> TaskFile | None:
    """Read a package.json, Makefile, justfile or Taskfile; return None if it cannot be read.

    `given` are the variables that the command line sets; `dry`: commands are only shown.
    """
    name = path.name.lower()
    reader: TaskReader = MakefileReader(path, "make -f", given, dry=dry)
    if "just" in name or name.endswith((".yml", ".yaml")):
        # They load what reads the files of a change.
        from cli_guard.execution.tasks.others import JustfileReader, TaskfileReader

        is_just = "just" in name
        reader = (
            JustfileReader(path, "just -f", given, dry=dry)
            if is_just
            else TaskfileReader(path, "task -t", given, dry=dry)
        )
    text = reader.open_file(path.name)
    if text is None:
        return None
    if name.endswith(".json"):
        return TaskFile(str(path.parent), {} if dry else read_scripts(text))
    reader.read(text)
    return reader.finish()


def read_scripts(text: str) -> Mapping[str, tuple[str, ...]]:
    """Return the scripts in a package.json."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    scripts = data.get("scripts") if isinstance(data, dict) else None
    found = scripts.items() if isinstance(scripts, dict) else ()
    return {name: (text,) for name, text in found if isinstance(text, str)}
