"""The configuration: its schema, how it is read, and errors that name the nearest valid key.

A repository's file is `cli-guard.toml` at the root, or `[tool.cli-guard]` in `pyproject.toml`. A user's own
file may only tighten what the repository says; commands are allowed and MCP servers are started there alone.
"""

import datetime
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from cli_guard.errors import ConfigError
from cli_guard.model import Disposition, Presence, Severity
from cli_guard.policy.checks import CheckConfig, Checks
from cli_guard.policy.command_patterns import CommandPattern, CommandsSection
from cli_guard.policy.globs import USERS_RULE, nearest, rule_matches
from cli_guard.policy.language_model import MODEL_TABLES, ModelSection
from cli_guard.policy.mcp import ServerConfig, Servers, check_shared, check_users
from cli_guard.policy.schema import Section, describe
from cli_guard.rules.catalog import load_all, read_table
from cli_guard.runtime import Env, read_plain, user_file

# The sections of the user's own file alone, each with the reason.
USERS = {
    "server": "a repository cannot start a process",
    "agent": "a repository cannot say how far it is trusted",
    "model": "a repository cannot send its content anywhere",
}
TIGHTENING = ("decisions", "rules", "git", "message", "commands", "mcp", "approvals")
FILE = "cli-guard.toml"
PYPROJECT = "pyproject.toml"
USER_FILE = "~/.config/cli-guard/config.toml"
MOST = 1_000_000_000
ADVICE = "Milliseconds of work of a common machine, 500 characters each, that a hook may read for advice."

DEFAULT_DECISIONS = dict.fromkeys(Severity, Disposition.ADVISE) | {
    Severity.CRITICAL: Disposition.DENY,
    Severity.HIGH: Disposition.REVIEW,
}


def known_rule(pattern: str) -> str:
    """Return a rule pattern. Raises ValueError if it matches no rule."""
    if unknown := unknown_rule(pattern):
        raise ValueError(unknown)
    return pattern


def unknown_rule(pattern: str) -> str:
    """Say what a pattern that matches no rule is called now, or what is nearest; "" if it matches one."""
    known = load_all()
    # A repository's own rules come and go with its revisions.
    if pattern.startswith(USERS_RULE) or any(rule_matches(pattern, rule) for rule in known):
        return ""
    for old, new in read_table("renamed.toml").items():
        if rule_matches(pattern, old):
            return f"the rule {old!r} is now called {new!r}"
    return f"there is no rule {pattern!r}{nearest(pattern, known)}"


class ServerSection(Section):
    """`[server]`: the warm server."""

    enabled: bool = Field(
        default=True, description="Use the warm server. Only in the user's own file."
    )
    prewarm: bool = Field(
        default=True, description="Prepare a review when something is staged."
    )


class Ignore(Section):
    """One `[[ignore]]`: answers the findings of a rule under a path, with a reason."""

    rule: Annotated[str, AfterValidator(known_rule)] = Field(
        min_length=1, description="A rule id, or a prefix with *."
    )
    path: str = Field(
        default="**", min_length=1, description="A path pattern; ** crosses folders."
    )
    fingerprint: str = Field(
        default="",
        pattern=r"^([0-9a-f]{16})?$",
        description="The one finding that it answers, as `cli-guard ignore` writes it; without it, all of the rule"
        " under the path.",
    )
    reason: str = Field(min_length=3, description="Why the findings are accepted.")
    expires: datetime.date | None = Field(
        default=None, description="The last day on which it applies."
    )


class LimitsSection(Section):
    """`[limits]`: the most that one review reads and spends."""

    files: int = Field(
        default=25_000, ge=1, le=MOST, description="Most files of one change."
    )
    file_chars: int = Field(
        default=5_000_000,
        ge=1_000,
        le=MOST,
        description="Largest file, in bytes as Git stores it.",
    )
    total_chars: int = Field(
        default=50_000_000,
        ge=1_000,
        le=MOST,
        description="All files of a change together, in bytes as Git stores them.",
    )
    rounds: int = Field(
        default=4, ge=1, le=20, description="Most rounds of planning and acting."
    )
    seconds: float = Field(
        default=5.0,
        gt=0,
        le=3_600,
        description="Without effect: a review is bounded by counts, not by time.",
    )
    advice_ms: int = Field(default=300, ge=0, le=MOST, description=ADVICE)


class GitSection(Section):
    """`[git]`: settings of the push reviewer."""

    protected_branches: tuple[str, ...] = Field(
        default=("main", "master", "release/*"),
        description="Branch patterns that must not be force-pushed or deleted.",
    )


GUARD_NAME = r"^[A-Za-z_$][\w$.]{0,99}$"
OWN_GUARDS = (
    "Functions, decorators and middleware that protect; a change that removes one asks."
)


class ProtectionsSection(Section):
    """`[protections]`: settings of the protections reviewer."""

    calls: tuple[Annotated[str, Field(pattern=GUARD_NAME)], ...] = Field(
        default=(), max_length=200, description=OWN_GUARDS
    )


SURFACE_KINDS = Literal["start", "permission", "server", "plugin", "traffic"]
KNOWN = "Statements of agents' and editors' settings that a person has read: they are not asked about again."


class KnownStatement(Section):
    """One `[[surface.known]]`: a statement of agents' or editors' settings that is not asked about again."""

    kind: SURFACE_KINDS = Field(description="The kind, as the finding says it.")
    name: str = Field(min_length=1, description="The name of the statement.")
    digest: str = Field(
        pattern=r"^[0-9a-f]{32}$", description="The digest, as the finding says it."
    )
    reason: str = Field(min_length=3, description="Why it is accepted.")


class SurfaceSection(Section):
    """`[surface]`: settings of the reviewer of agents."""

    known: tuple[KnownStatement, ...] = Field(
        default=(), max_length=1_000, description=KNOWN
    )


class MessageSection(Section):
    """`[message]`: the form of commit messages."""

    style: Literal["plain", "conventional"] = Field(
        default="plain",
        description="plain, or conventional to require Conventional Commits.",
    )


Level = Annotated[
    Presence, Field(description="The level that an approval of such a finding needs.")
]
PEOPLE = "The number of people who must approve a finding, by path pattern."
TRUST = "The level that trust in a work tree and rules need."


class ApprovalsSection(Section):
    """`[approvals]`: how surely a person must approve, by the severity of the finding."""

    critical: Level = Presence.TTY
    high: Level = Presence.TTY
    medium: Level = Presence.TTY
    low: Level = Presence.TTY
    info: Level = Presence.TTY
    threshold: dict[str, Annotated[int, Field(ge=1, le=9)]] = Field(
        default_factory=dict, description=PEOPLE
    )
    author_may_approve: bool = Field(
        default=True, description="false: a second person must."
    )
    trust: Literal["tty", "key", "touch", "verified"] = Field(
        default="tty", description=TRUST
    )
    prompt: bool = Field(
        default=True, description="Ask in the hook itself, at an interactive terminal."
    )
    push: bool = Field(
        default=False, description="Push the signed approvals with each push."
    )


Profile = Annotated[
    Literal["strict", "workspace", "floors"] | None,
    Field(
        description="strict, workspace (trusted work trees) or floors (only what is denied is answered)."
    ),
]
Reply = Annotated[
    Literal["auto", "defer", "allow"] | None,
    Field(
        description="What an allow says: nothing, so that the agent's own rules decide (defer), allow, or allow in a"
        " trusted work tree where the agent still applies your own rules (auto, the default)."
    ),
]
# The agents of agents/registry.py: `[agent.codex]` is for one of them alone.
AGENT_NAMES = "claude-code codex gemini cursor copilot opencode lefthook".split()


class AgentChoice(Section):
    """What holds for a coding agent; None where nothing was chosen."""

    profile: Profile = None
    answer: Reply = None


class AgentSection(AgentChoice):
    """`[agent]`, in the user's own file: how commands of coding agents are judged and answered."""

    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True)
    __pydantic_extra__: dict[str, AgentChoice] = Field(init=False)

    @model_validator(mode="before")
    @classmethod
    def check_names(cls, data: Any) -> Any:
        """Refuse a table for an agent that is not known. Raises ValueError."""
        known = (*AgentChoice.model_fields, *AGENT_NAMES)
        for name in data if isinstance(data, dict) else ():
            if name not in known:
                raise ValueError(f"unknown key {name!r}{nearest(name, known)}")
        return data

    def choice_for(self, agent: str) -> AgentChoice:
        """Return what holds for an agent: its own table before the common keys."""
        own = self.__pydantic_extra__.get(agent, AgentChoice())
        return AgentChoice(
            profile=own.profile or self.profile, answer=own.answer or self.answer
        )


class Config(Section):
    """The whole cli-guard.toml. Every key has a default; no file is needed."""

    decisions: dict[Severity, Disposition] = Field(
        default_factory=dict,
        description="The decision for a severity: deny, review, advise or off.",
    )
    rules: dict[Annotated[str, AfterValidator(known_rule)], Disposition] = Field(
        default_factory=dict,
        description="The decision for a rule id, or for a prefix with *.",
    )
    ignore: tuple[Ignore, ...] = Field(
        default=(), description="Findings that are accepted, with the reason."
    )
    limits: LimitsSection = LimitsSection.model_construct()
    git: GitSection = GitSection.model_construct()
    message: MessageSection = MessageSection.model_construct()
    protections: ProtectionsSection = ProtectionsSection.model_construct()
    surface: SurfaceSection = SurfaceSection.model_construct()
    commands: CommandsSection = Field(default_factory=CommandsSection.model_construct)
    mcp: Servers = Field(default_factory=dict)
    server: ServerSection = ServerSection.model_construct()
    agent: AgentSection = AgentSection.model_construct()
    approvals: ApprovalsSection = ApprovalsSection.model_construct()
    model: ModelSection = Field(default_factory=ModelSection.model_construct)
    checks: Checks = Field(default_factory=dict)


@cache
def default_config() -> Config:
    """Return the configuration of a repository that has none, made once: pydantic takes half a millisecond for it."""
    return Config.model_construct()


SECTIONS: dict[str, type[BaseModel]] = {
    "ignore": Ignore,
    "limits": LimitsSection,
    "git": GitSection,
    "message": MessageSection,
    "protections": ProtectionsSection,
    "surface": SurfaceSection,
    "known": KnownStatement,
    "commands": CommandsSection,
    "mcp": ServerConfig,
    "server": ServerSection,
    "agent": AgentChoice,
    "approvals": ApprovalsSection,
    **MODEL_TABLES,
    "checks": CheckConfig,
    **dict.fromkeys(("allow", "review", "deny"), CommandPattern),
}


def parse_config(data: Mapping[str, Any], source: str) -> Config:
    """Build a configuration from TOML data. Raises ConfigError: one line with the key and the nearest valid one."""
    try:
        return Config.model_validate(data)
    except ValidationError as error:
        raise ConfigError(f"{source}: {describe(error, keys_of)}") from error


def keys_of(place: list[str]) -> list[str]:
    """Return the keys that a table of the file may have."""
    section: type[BaseModel] = Config
    for part in place:
        if section not in (ServerConfig, CheckConfig):
            section = SECTIONS.get(part, section)
    return list(section.model_fields)


def read_config(
    read: Callable[[str], bytes | None], where: str
) -> tuple[Config, str] | None:
    """Return the configuration of a tree and the name of its source, None if it has none.

    `read` returns the bytes of a file at the root. Raises ConfigError.
    """
    own = read(FILE)
    shared = read(PYPROJECT)
    table = None
    if shared is not None and b"cli-guard" in shared:
        tools = parse_toml(shared, f"{PYPROJECT}{where}").get("tool")
        table = tools.get("cli-guard") if isinstance(tools, dict) else None
    if own is not None and table is not None:
        raise ConfigError(
            f"both {FILE} and [tool.cli-guard] in {PYPROJECT} exist{where}: keep one"
        )
    if own is None and table is None:
        return None
    source = f"{FILE if own is not None else PYPROJECT}{where}"
    data = parse_toml(own, source) if own is not None else table
    if not isinstance(data, dict):
        raise ConfigError(
            f"{source}: tool.cli-guard must be a table: write [tool.cli-guard]"
        )
    config = parse_config(data, source)
    if config.commands.allow:
        raise ConfigError(
            f"{source}: 'commands.allow' belongs in the user's own file, {USER_FILE}: a repository can only tighten"
        )
    check_shared(config.mcp, source, USER_FILE)
    for key in sorted(config.model_fields_set & USERS.keys()):
        raise ConfigError(
            f"{source}: {key!r} belongs in the user's own file, {USER_FILE}: {USERS[key]}"
        )
    return config, source


def parse_toml(raw: bytes, source: str) -> dict[str, Any]:
    """Parse TOML, behind a byte order mark of Windows. Raises ConfigError with the place of the mistake."""
    try:
        return tomllib.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{source}: not UTF-8 at byte {error.start}: save it as UTF-8"
        ) from error
    except ValueError as error:  # a TOMLDecodeError, or a number of thousands of digits
        raise ConfigError(f"{source}: not valid TOML: {error}") from error
    except RecursionError as error:
        raise ConfigError(f"{source}: nested too deeply for a configuration") from error


def read_user_config(env: Env) -> Config | None:
    """Return the user's own configuration, None if there is none. Raises ConfigError if it does more than tighten."""
    path = user_file(env)
    if path is None:
        return None
    try:
        # It may be a link to a file elsewhere, but a FIFO would hold up every commit.
        raw = read_plain(path, follow=True)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    config = parse_config(parse_toml(raw, str(path)), str(path))
    for key in sorted(config.model_fields_set - {*TIGHTENING, *USERS}):
        raise ConfigError(
            f"{path}: {key!r} is not allowed in a user file, which can only tighten"
        )
    off = [str(key) for key, to in config.decisions.items() if to == "off"]
    off += [key for key, to in config.rules.items() if to == "off"]
    for key in off:
        raise ConfigError(
            f"{path}: {key!r} is off, but a user file can only tighten: remove it"
        )
    check_users(config.mcp, str(path))
    return config


def json_schema() -> dict[str, Any]:
    """Return the schema of the file for editors (JSON Schema 2020-12)."""
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return dialect | Config.model_json_schema() | {"title": FILE}
