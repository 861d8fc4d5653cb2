"""Checks before a commit or a push: what `[checks.NAME]` may say, and what a change of it takes away.

A repository names the commands, so none of them runs before its user has trusted them (`cli-guard trust`).
"""

import hashlib
import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from cli_guard.policy.mcp import Name, Variable

# `git rev-parse --local-env-vars`: they would lead a check from its scratch checkout to the user's repository.
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


def is_command(text: str) -> str:
    """The text of a command. Raises ValueError for none."""
    if not text.strip():
        raise ValueError("is empty: write the command as you would type it")
    if "\0" in text:
        raise ValueError("holds a NUL character")
    return text


def is_inside(path: str) -> str:
    """A folder of the checkout, seen from its top. Raises ValueError for one that leads out of it."""
    parts = path.split("/")
    if path.startswith(("/", "~")) or ".." in parts or "\0" in path:
        raise ValueError("must lie in the repository: a path from its top folder, without ..")
    return "/".join(part for part in parts if part not in ("", "."))


def stays(name: str) -> str:
    """The name of a variable that does not lead out of the checkout. Raises ValueError."""
    if name in LEADING_OUT:
        raise ValueError(f"{name} would lead a check out of its scratch checkout")
    return name


def as_list(value: object) -> object:
    """A stage alone as the list that it is short for."""
    return (value,) if isinstance(value, str) else value


def is_port(value: object) -> object:
    """A port, or `auto`. Raises ValueError."""
    if value == "auto" or (type(value) is int and 1 <= value <= 65_535):
        return value
    raise ValueError('is a port from 1 to 65535, or "auto" for a free one')


def once(stages: tuple[Stage, ...]) -> tuple[Stage, ...]:
    """Each stage once, in the order of Git. Raises ValueError for none."""
    if not stages:
        raise ValueError("is empty: name pre-commit, pre-push or both")
    return tuple(stage for stage in Stage if stage in stages)


Command = Annotated[str, Field(min_length=1, max_length=MOST_CHARS), AfterValidator(is_command)]
Seconds = Annotated[float, Field(gt=0, le=86_400)]
Port = Annotated[int, Field(ge=1, le=65_535)] | Literal["auto"]
Given = Annotated[Variable, AfterValidator(stays)]


class CheckConfig(BaseModel):
    """`[checks.NAME]`: a command that runs over exactly what is pushed, or committed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    command: Annotated[Command, Field(description="What is run, by bash, in a scratch checkout.")]
    stage: Annotated[
        tuple[Stage, ...],
        BeforeValidator(as_list, json_schema_input_type=Stage | list[Stage]),
        AfterValidator(once),
        Field(description="When it runs: pre-push, pre-commit, or a list of both."),
    ] = (Stage.PRE_PUSH,)
    files: Annotated[
        tuple[Annotated[str, Field(min_length=1, max_length=1_000)], ...],
        Field(
            max_length=MOST_ENTRIES,
            description="Path patterns: it runs only where the change touches one; none is all. ** crosses folders.",
        ),
    ] = ()
    timeout_seconds: Annotated[Seconds, Field(description="Seconds after which it has failed.")] = 600.0
    environment: Annotated[
        dict[Given, Annotated[str, Field(max_length=MOST_CHARS, pattern=r"^[^\x00]*$")]],
        Field(max_length=MOST_ENTRIES, description="Variables that it is given, with their values."),
    ] = Field(default_factory=dict)
    pass_environment: Annotated[
        tuple[Given, ...],
        Field(
            max_length=MOST_ENTRIES,
            description="Names of variables that it may see of yours; one that holds a secret is left out.",
        ),
    ] = ()
    working_dir: Annotated[
        str,
        Field(max_length=1_000, description="The folder of the repository that it runs in."),
        AfterValidator(is_inside),
    ] = ""
    needs_port: Annotated[
        int | Literal["auto"] | None,
        BeforeValidator(is_port, json_schema_input_type=Port),
        Field(description="A port that must be free, told to it as $PORT; auto finds a free one."),
    ] = None
    server: Annotated[
        Command | None,
        Field(description="Started before it, waited for until it answers on $PORT, stopped after it."),
    ] = None
    ready_seconds: Annotated[Seconds, Field(description="Seconds until the server must answer.")] = 30.0
    cache: Annotated[
        bool,
        Field(description="Is a tree that has passed not checked again? Not if it looks at more than files."),
    ] = True

    @model_validator(mode="after")
    def server_has_a_port(self) -> Self:
        """A server is ready when it answers, and for that its port must be known. Raises ValueError."""
        if self.server and self.needs_port is None:
            raise ValueError('a server needs needs_port: its number, or "auto" for a free one in $PORT')
        return self

    @property
    def commands(self) -> tuple[str, ...]:
        """All that it runs, as one would type it: the command, and the server."""
        given = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in self.environment.items())
        return tuple(given + command for command in (self.command, self.server) if command)


Checks = Annotated[
    dict[Name, CheckConfig],
    Field(max_length=MOST_CHECKS, description="Commands that run before a push or commit, once trusted."),
]


@dataclass(frozen=True, slots=True)
class PlannedCheck:
    """A check that a commit or push needs.

    `tree` is what it is run over, `commit` what HEAD is there (None before the first commit), `digest` that of the
    table it stands in, `revision` where that was read ("" for HEAD). `trusted` is who trusted the table and when, ""
    for nobody. `denied` says why its command may never run.
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
        """`tests@1a2b3c4d5e`: the check and its tree, and a sign of its table."""
        return f"{self.name}@{self.tree[:10]}.{self.digest[:6]}"

    @property
    def commands(self) -> tuple[str, ...]:
        """All that it runs."""
        return self.config.commands

    @property
    def may_run(self) -> bool:
        """Did its user trust it, and is there nothing in it that never runs?"""
        return bool(self.trusted) and self.denied is None


def digest_of(checks: Mapping[str, CheckConfig]) -> str:
    """The SHA-256 of a table of checks in one spelling: what trust is given to."""
    data = {name: check.model_dump(mode="json") for name, check in checks.items()}
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode("ascii")).hexdigest()


def weaker_checks(before: Mapping[str, CheckConfig], after: Mapping[str, CheckConfig]) -> Iterator[str]:
    """What checks are gone, run less often, or run something else than they did."""
    for name, was in before.items():
        becomes = after.get(name)
        if becomes is None:
            yield f"the check {name} is gone"
            continue
        for stage in was.stage:
            if stage not in becomes.stage:
                yield f"the check {name} runs at {stage} no longer"
        if becomes.files and not was.files:
            yield f"the check {name} looks at {', '.join(becomes.files)} alone"
        elif becomes.files:
            gone = [pattern for pattern in was.files if pattern not in becomes.files]
            if gone:
                yield f"the check {name} looks at {', '.join(gone)} no longer"
        # Nobody can tell whether another command checks as much.
        for key in ("command", "server", "working_dir", "environment"):
            if getattr(was, key) != getattr(becomes, key):
                yield f"the check {name} has another {key.replace('working_dir', 'working folder')}"
