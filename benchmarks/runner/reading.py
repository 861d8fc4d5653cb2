"""Read task files: one TOML file a task, strictly. The format is described in benchmarks/runner/README.md."""

from pathlib import Path
from typing import cast

from benchmarks.runner.fields import Table
from benchmarks.runner.model import (
    Blocked,
    Expected,
    FileState,
    Finding,
    Given,
    Kind,
    Status,
    Task,
    World,
)
from benchmarks.runner.setting import PERSON, check_path, setup_of, step_of
from cli_guard.errors import ConfigError, UsageError
from cli_guard.policy.config import parse_toml
from cli_guard.repository.texts import read_worktree_file

SUFFIX = ".toml"
KEYS = (
    *("instruction", "tags", "difficulty", "time_limit", "world", "kind"),
    *("given", "repository", "expect", "after"),
)
DIFFICULTIES = ("easy", "medium", "hard")
MOST_SECONDS = 600
MOST_FILE_BYTES = 2_000_000
# The keys of `[given]` that each kind of task may have.
GIVEN = {
    "ask": ("paths", "revision", "worktree"),
    "review": ("revision", "worktree", "range"),
    "commit-msg": ("message",),
    "check-command": ("command",),
}
NEEDED = {"commit-msg": "message", "check-command": "command"}
STATUSES = ("ok", "needs_review", "failed")


def tasks_in(folder: Path) -> list[Path]:
    """Return the task files of a folder in the order of their ids. Raises UsageError."""
    if not folder.is_dir():
        raise UsageError(
            f"there is no folder {folder}: name one that holds task files (*{SUFFIX})"
        )
    found = sorted(
        (path for path in folder.iterdir() if path.suffix == SUFFIX),
        key=lambda path: path.stem,
    )
    if not found:
        raise UsageError(f"{folder} holds no task file (*{SUFFIX})")
    return found


def read_task(path: Path) -> Task:
    """Read the task of a file. Raises ConfigError with the file and the key."""
    # A task file is not trusted: reading a FIFO would hang, and /dev/zero never ends.
    raw = read_worktree_file(path.parent, path.name, MOST_FILE_BYTES)
    if raw is None:
        raise ConfigError(
            f"{path.name}: cannot be read: it must be a file, not a link, of at most {MOST_FILE_BYTES:,} bytes"
        )
    return task_of(parse_toml(raw, path.name), path.stem, path.name)


def task_of(data: dict[str, object], name: str, source: str) -> Task:
    """Build a task from its TOML data. Raises ConfigError."""
    table = Table(source, "", data).only(KEYS)
    for key in ("instruction", "difficulty", "time_limit", "world", "kind", "expect"):
        table.require(key)
    kind = cast(Kind, table.choice("kind", GIVEN))
    world = cast(World, table.choice("world", ("memory", "repository")))
    if world == "memory" and kind == "commit-msg":
        raise ConfigError(f"{source}: 'world': commit-msg needs a repository")
    return Task(
        id=name,
        instruction=table.text("instruction"),
        tags=table.words("tags") or (),
        difficulty=table.choice("difficulty", DIFFICULTIES),
        time_limit=table.number("time_limit", 0, least=1, most=MOST_SECONDS),
        world=world,
        kind=kind,
        setup=setup_of(table.table("repository"), world),
        given=given_of(table.table("given"), kind, world),
        expected=expected_of(table.table("expect")),
        after=tuple(step_of(each, PERSON) for each in table.tables("after")),
    )


def given_of(table: Table, kind: str, world: str) -> Given:
    """Read `[given]`. Raises ConfigError."""
    known = GIVEN[kind]
    if world == "memory":
        known = tuple(key for key in known if key in ("paths", "command"))
    table.only(known)
    if kind in NEEDED:
        table.require(NEEDED[kind])
    revision = table.text("revision")
    chosen = table.text("range")
    if sum(map(bool, (revision, chosen, table.flag("worktree")))) > 1:
        raise ConfigError(
            f"{table.source}: 'given' may hold one of revision, range and worktree"
        )
    return Given(
        paths=table.words("paths"),
        revision=revision or None,
        worktree=bool(table.flag("worktree")),
        range=chosen or None,
        message=table.text("message"),
        command=table.text("command"),
    )


def expected_of(table: Table) -> Expected:
    """Read `[expect]`. Raises ConfigError."""
    table.only(Expected.__dataclass_fields__).require("status")
    blocked = tuple(blocked_of(each) for each in table.tables("blocked"))
    return Expected(
        status=cast(Status, table.choice("status", STATUSES)),
        task_type=table.text("task_type") or None,
        decision=table.choice("decision", ("", "allow", "review", "deny")) or None,
        requires_human_review=table.flag("requires_human_review"),
        reason=table.words("reason") or (),
        tools=table.words("tools"),
        tools_include=table.words("tools_include") or (),
        tools_exclude=table.words("tools_exclude") or (),
        blocked=blocked if "blocked" in table.data else None,
        findings=tuple(finding_of(each) for each in table.tables("findings")),
        no_findings=table.words("no_findings") or (),
        paths=table.words("paths"),
        nodes=table.words("nodes"),
        says=table.words("says") or (),
        never_says=table.words("never_says") or (),
        files=file_states(table.table("files")),
    )


def blocked_of(table: Table) -> Blocked:
    """Read one blocked action. Raises ConfigError."""
    table.only(("tool", "path", "command")).require("tool")
    return Blocked(
        table.text("tool"), table.text("path") or None, table.text("command") or None
    )


def finding_of(table: Table) -> Finding:
    """Read one finding. Raises ConfigError."""
    table.only(("rule", "path", "line", "decision")).require("rule")
    decision = table.choice("decision", ("", "deny", "review", "advise"))
    return Finding(
        table.text("rule"),
        table.text("path") or None,
        table.whole("line"),
        decision or None,
    )


def file_states(table: Table) -> dict[str, FileState]:
    """Read the files of the end state. Raises ConfigError."""
    found = {}
    for path, value in table.data.items():
        check_path(table, path)
        if isinstance(value, str):
            found[path] = FileState(text=table.text(path))
            continue
        inner = table.table(path).only(("sha256", "holds", "lacks", "absent"))
        if not inner.data:
            raise ConfigError(
                f"{table.source}: {inner.invocation!r} says nothing: sha256, holds, lacks or absent"
            )
        found[path] = FileState(
            sha256=inner.text("sha256") or None,
            holds=inner.words("holds") or (),
            lacks=inner.words("lacks") or (),
            absent=bool(inner.flag("absent")),
        )
    return found
