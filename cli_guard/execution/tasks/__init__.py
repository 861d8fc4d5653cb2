"""The tasks in a file of the project, by their names, each with the commands that it runs.

A task that it needs is such a command: `test: build` runs `make build` first. What runs to compute a value
(`$(shell ...)`, backquotes, `sh:`) runs with every task. What is not read is said.
"""

import json
import shlex
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from cli_guard.commands.model import TaskFile
from cli_guard.execution.tasks.justfile import Justfile
from cli_guard.execution.tasks.makefile import MOST_FILES, MakefileReader
from cli_guard.execution.tasks.reader import read_text
from cli_guard.execution.tasks.taskfile import Taskfile


def read_tasks(path: Path, given: Mapping[str, str], *, dry: bool) -> TaskFile:
    """Read a package.json, Makefile, justfile or Taskfile. Raises OSError.

    `given` are the variables that the command line sets.
    """
    name = path.name.lower()
    text = read_text(path)
    if text is None:
        return TaskFile(str(path.parent), {}, unread=(f"{path.name} is too long",))
    if name.endswith(".json"):
        return TaskFile(str(path.parent), {} if dry else read_scripts(text))
    if not name.endswith((".yml", ".yaml")) and "just" not in name:
        return read_makefile(path, text, given, dry=dry)
    kind = Justfile if "just" in name else Taskfile
    call = f"{'just -f' if 'just' in name else 'task -t'} {shlex.quote(str(path))}"
    reader = kind(given, call, dry=dry)
    reader.read(path, text, "")
    return TaskFile(
        str(path.parent),
        {task: tuple(run) for task, run in reader.tasks.items()},
        tuple(reader.always),
        tuple(reader.unread),
    )


def read_scripts(text: str) -> Mapping[str, tuple[str, ...]]:
    """Return the scripts in a package.json."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    scripts = data.get("scripts") if isinstance(data, dict) else None
    found = scripts.items() if isinstance(scripts, dict) else ()
    return {name: (text,) for name, text in found if isinstance(text, str)}


def read_makefile(
    path: Path, text: str, given: Mapping[str, str], *, dry: bool
) -> TaskFile:
    """Read a Makefile; its first target is made if none is named, or the default goal."""
    folder = path.parent

    def read(name: str) -> str | None:
        try:
            return read_text(folder / name)
        except (OSError, ValueError):
            return None

    def find(pattern: str) -> list[str]:
        try:
            paths = islice(folder.glob(pattern), MOST_FILES)
            return [str(each.relative_to(folder)) for each in paths]
        except (ValueError, NotImplementedError):
            return [pattern]

    call = f"make -f {shlex.quote(str(path))}"
    found = MakefileReader(read, find, given, call, dry=dry)
    found.read(text)
    always = found.run
    # It first makes the files that it reads, also where it only shows commands.
    always += [
        f"{call} {each}" for each in (path.name, *found.included) if each in found.targets
    ]
    goals = found.words("$(.DEFAULT_GOAL)")
    goals += [each for each in found.targets if each[:1] != "."][:1]
    tasks = Recipes(found, goals[:1])
    return TaskFile(str(folder), tasks, tuple(always), tuple(found.unread))


class Recipes(Mapping[str, tuple[str, ...]]):
    """The commands of each target of a Makefile, filled in when asked for; `goals` are made if none is named."""

    def __init__(self, makefile: MakefileReader, goals: list[str]) -> None:
        self.makefile = makefile
        self.goals = goals

    def __getitem__(self, name: str) -> tuple[str, ...]:
        if not name:
            make = self.makefile
            return tuple(make.make(make.call, goal) for goal in self.goals)
        return self.makefile.list_commands(name)

    def __iter__(self) -> Iterator[str]:
        return iter(("", *self.makefile.targets))

    def __len__(self) -> int:
        return 1 + len(self.makefile.targets)
