"""Checks before a commit or a push: the schema of `[checks.NAME]`, and what a change to it weakens.

A repository names the commands, so none of them runs before its user has trusted them (`cli-guard trust`).
"""

import hashlib
import json
import shlex
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    model_validator,
)

from cli_guard.lazy import frozen
from cli_guard.policy.schema import Name, Section, Variable

# `git rev-parse --local-env-vars`: these would point a check at the user's repository instead of its scratch checkout.
LEADING_OUT = frozenset(
    """GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_COMMON_DIR GIT_CONFIG GIT_CONFIG_COUNT GIT_CONFIG_PARAMETERS GIT_DIR
    GIT_GRAFT_FILE GIT_IMPLICIT_WORK_TREE GIT_INDEX_FILE GIT_INTERNAL_SUPER_PREFIX GIT_NAMESPACE
    GIT_NO_REPLACE_OBJECTS GIT_OBJECT_DIRECTORY GIT_PREFIX GIT_QUARANTINE_PATH GIT_REPLACE_REF_BASE
    GIT_SHALLOW_FILE GIT_WORK_TREE""".split()
)
MOST_CHECKS = 50
MOST_ENTRIES = 100
MOST_CHARS = 10_000


class Stage(StrEnum):
    """When a check runs; the values are the names of Git's hooks."""

    PRE_COMMIT = "pre-commit"
    PRE_PUSH = "pre-push"


def check_command(text: str) -> str:
    """Return the text of a command. Raises ValueError if it is empty."""
    if not text.strip():
        raise ValueError("is empty: write a command")
    if "\0" in text:
        raise ValueError("contains a NUL character")
    return text


def check_inside(path: str) -> str:
    """Return a folder of the checkout, relative to its top. Raises ValueError for one outside it."""
    parts = path.split("/")
    if path.startswith(("/", "~")) or ".." in parts or "\0" in path:
        raise ValueError(
            "must be inside the repository: a path relative to its top folder, without .."
        )
    return "/".join(part for part in parts if part not in ("", "."))


def stays(name: str) -> str:
    """Return the name of a variable. Raises ValueError for one that points out of the checkout."""
    if name in LEADING_OUT:
        raise ValueError(f"{name} would point the check outside its scratch checkout")
    return name


def as_list(value: object) -> object:
    """Expand a single stage to a list."""
    return (value,) if isinstance(value, str) else value


def check_port(value: object) -> object:
    """Return a port, or `auto`. Raises ValueError."""
    if value == "auto" or (type(value) is int and 1 <= value <= 65_535):
        return value
    raise ValueError('must be a port from 1 to 65535, or "auto" for a free one')


def once(stages: tuple[Stage, ...]) -> tuple[Stage, ...]:
    """Return each stage once, in Git's order. Raises ValueError if there is none."""
    if not stages:
        raise ValueError("is empty: give pre-commit, pre-push or both")
    return tuple(stage for stage in Stage if stage in stages)


Command = Annotated[
    str, Field(min_length=1, max_length=MOST_CHARS), AfterValidator(check_command)
]
Seconds = Annotated[float, Field(gt=0, le=86_400)]
Port = Annotated[int, Field(ge=1, le=65_535)] | Literal["auto"]
Given = Annotated[Variable, AfterValidator(stays)]


class CheckConfig(Section):
    """`[checks.NAME]`: a command that runs on exactly what is pushed or committed."""

    command: Command = Field(description="The command; bash runs it in a scratch checkout.")
    stage: Annotated[
        tuple[Stage, ...],
        BeforeValidator(as_list, json_schema_input_type=Stage | list[Stage]),
        AfterValidator(once),
    ] = Field(
        default=(Stage.PRE_PUSH,),
        description="When it runs: pre-push, pre-commit, or a list of both.",
    )
    files: tuple[Annotated[str, Field(min_length=1, max_length=1_000)], ...] = Field(
        default=(),
        max_length=MOST_ENTRIES,
        description="Path patterns: run only if the change touches a match (empty: always). ** crosses folders.",
    )
    timeout_seconds: Seconds = Field(default=600.0, description="Time limit in seconds.")
    environment: dict[
        Given, Annotated[str, Field(max_length=MOST_CHARS, pattern=r"^[^\x00]*$")]
    ] = Field(
        default_factory=dict,
        max_length=MOST_ENTRIES,
        description="Environment variables to set, with their values.",
    )
    pass_environment: tuple[Given, ...] = Field(
        default=(),
        max_length=MOST_ENTRIES,
        description="Names of your environment variables to pass; one that holds a secret is left out.",
    )
    working_dir: Annotated[str, AfterValidator(check_inside)] = Field(
        default="",
        max_length=1_000,
        description="The folder to run in, relative to the top of the repository.",
    )
    needs_port: Annotated[
        int | Literal["auto"] | None,
        BeforeValidator(check_port, json_schema_input_type=Port),
    ] = Field(
        default=None,
        description="A port that must be free, passed as $PORT; auto finds a free one.",
    )
    server: Command | None = Field(
        default=None,
        description="A server that is started before the check, must answer on $PORT, and is stopped after it.",
    )
    ready_seconds: Seconds = Field(
        default=30.0, description="Seconds until the server must answer."
    )
    report: Literal["sarif", "gcc"] | None = Field(
        default=None,
        description="The command writes findings to $REPORT, as SARIF or as lines path:line: message; those on"
        " added lines are advice. $CHANGED_FILES names a list of the changed files, each with a NUL at its end.",
    )
    cache: bool = Field(
        default=True,
        description="Skip a tree that has passed before; set to false if the check depends on more than files.",
    )

    @model_validator(mode="after")
    def server_has_a_port(self) -> Self:
        """Require a port for a server, which is ready when it answers there. Raises ValueError."""
        if self.server and self.needs_port is None:
            raise ValueError(
                'a server requires needs_port: its number, or "auto" for a free one in $PORT'
            )
        return self

    @property
    def commands(self) -> tuple[str, ...]:
        """Return all commands as typed: the command, and the server."""
        given = "".join(
            f"export {name}={shlex.quote(value)}\n"
            for name, value in self.environment.items()
        )
        return tuple(given + command for command in (self.command, self.server) if command)


Checks = Annotated[
    dict[Name, CheckConfig],
    Field(
        max_length=MOST_CHECKS,
        description="Commands that run before a push or commit, once trusted.",
    ),
]


@frozen
class PlannedCheck:
    """A check that a commit or push needs.

    `tree` is the tree to check, `commit` its HEAD (None before the first commit), `digest` that of the
    table of checks, `revision` where the table was read ("" for HEAD). `trusted` is who trusted it and when ("" if
    it is not trusted). `denied` is the reason if its command may never run.
    """

    name: str
    config: CheckConfig
    tree: str
    commit: str | None
    digest: str
    revision: str = ""
    trusted: str = ""
    denied: str | None = None

    @property
    def id(self) -> str:
        """Return `tests@1a2b3c4d5e`: the check, and a hash of its tree and table."""
        return f"{self.name}@{self.tree[:10]}.{self.digest[:6]}"

    @property
    def commands(self) -> tuple[str, ...]:
        return self.config.commands

    @property
    def may_run(self) -> bool:
        """Return whether it is trusted and none of its commands is denied."""
        return bool(self.trusted) and self.denied is None


def digest_of(checks: Mapping[str, CheckConfig]) -> str:
    """Return the SHA-256 of a table of checks in canonical form; trust is bound to it."""
    # Without a key that is not used: a new version of cli-guard is no reason to ask for trust again.
    data = {
        name: check.model_dump(mode="json", exclude=set() if check.report else {"report"})
        for name, check in checks.items()
    }
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode("ascii")).hexdigest()


def weaker_checks(
    before: Mapping[str, CheckConfig], after: Mapping[str, CheckConfig]
) -> Iterator[str]:
    """Yield which checks were removed, cover less, or run something else."""
    for name, was in before.items():
        becomes = after.get(name)
        if becomes is None:
            yield f"the check {name} was removed"
            continue
        for stage in was.stage:
            if stage not in becomes.stage:
                yield f"the check {name} no longer runs at {stage}"
        if becomes.files and not was.files:
            yield f"the check {name} now covers only {', '.join(becomes.files)}"
        elif becomes.files:
            gone = [pattern for pattern in was.files if pattern not in becomes.files]
            if gone:
                yield f"the check {name} no longer covers {', '.join(gone)}"
        # It cannot be known whether another command checks as much.
        for key in ("command", "server", "working_dir", "environment", "report"):
            if getattr(was, key) != getattr(becomes, key):
                yield f"the check {name} has a different {key.replace('working_dir', 'working folder')}"
