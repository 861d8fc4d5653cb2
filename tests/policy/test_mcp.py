"""What may be called of an MCP server, and which servers there are at all."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from examples import table
from hypothesis import given
from hypothesis import strategies as st
from repositories import Repo

from cli_guard.errors import ConfigError
from cli_guard.git.repository import GitRepository
from cli_guard.model import Decision
from cli_guard.policy.config import Config, parse_config, read_config, read_user_config
from cli_guard.policy.decisions import Policy
from cli_guard.policy.loosenings import loosenings
from cli_guard.policy.mcp import Hints, McpTool, ServerConfig, decision
from cli_guard.policy.recorded import policy_at_head

SERVER = '[mcp.git]\ncommand = ["mcp-server-git"]\nallow = ["git_log", "git_status"]\n'


def tool(name: str = "t", hints: Hints = Hints(), unusable: str | None = None) -> McpTool:  # noqa: B008 - frozen
    return McpTool(f"mcp:s.{name}", "s", "", {}, hints, unusable)


@table(
    ("allow", "deny", "hints", "expected", "rule"),
    [
        ((), (), Hints(), Decision.REVIEW, "mcp-review"),
        ((), (), Hints(read_only=True, destructive=False), Decision.REVIEW, "mcp-review"),
        (("t",), (), Hints(), Decision.ALLOW, "mcp-allowed"),
        (("t",), (), Hints(read_only=True), Decision.ALLOW, "mcp-allowed"),
        (("t",), (), Hints(destructive=False), Decision.ALLOW, "mcp-allowed"),
        (("t",), (), Hints(read_only=False), Decision.REVIEW, "mcp-contradicted"),
        (
            ("t",),
            (),
            Hints(read_only=True, destructive=True),
            Decision.REVIEW,
            "mcp-contradicted",
        ),
        (("tt", "T", "*", "t*"), (), Hints(read_only=True), Decision.REVIEW, "mcp-review"),
        (("t",), ("t",), Hints(read_only=True), Decision.DENY, "mcp-denied"),
        (("t",), ("*",), Hints(), Decision.DENY, "mcp-denied"),
        (("t",), ("u", "tt*"), Hints(), Decision.ALLOW, "mcp-allowed"),
    ],
)
def test_a_tool_is_allowed_by_name_alone_and_only_if_its_server_does_not_object(
    allow: tuple[str, ...],
    deny: tuple[str, ...],
    hints: Hints,
    expected: Decision,
    rule: str,
) -> None:
    verdict = decision(
        tool(hints=hints), ServerConfig(command=("x",), allow=allow, deny=deny)
    )
    assert (verdict.decision, verdict.rule) == (expected, rule)
    assert verdict.reason


def test_an_unusable_tool_is_denied_whatever_is_allowed() -> None:
    verdict = decision(
        tool(unusable="its schema is broken"), ServerConfig(command=("x",), allow=("t",))
    )
    assert (verdict.decision, verdict.rule) == (Decision.DENY, "mcp-unusable")


@given(
    hints=st.builds(
        Hints, st.sampled_from([None, True, False]), st.sampled_from([None, True, False])
    ),
    deny=st.lists(st.sampled_from(["t", "u", "t*", "*"])),
)
def test_no_hint_and_no_deny_ever_loosens(hints: Hints, deny: list[str]) -> None:
    order = [Decision.ALLOW, Decision.REVIEW, Decision.DENY]
    for allow in ((), ("t",)):
        plain = decision(tool(), ServerConfig(command=("x",), allow=allow))
        verdict = decision(
            tool(hints=hints), ServerConfig(command=("x",), allow=allow, deny=tuple(deny))
        )
        assert order.index(verdict.decision) >= order.index(plain.decision)


@table(
    ("toml", "says"),
    [
        ("command = []", "'mcp.s.command': is empty"),
        ('command = ["./server"]', "a name on PATH or an absolute path"),
        ('command = ["bin/server"]', "a name on PATH or an absolute path"),
        ('command = [" "]', "the first word must be the program"),
        ('command = ["a\\u0000b"]', "contains a NUL character"),
        ('command = "mcp-server-git --verbose"', "'mcp.s.command'"),
        ('command = ["x"]\nenv = ["TOKEN=abc"]', "'mcp.s.env.0'"),
        ('command = ["x"]\ntimeout_seconds = 0', "'mcp.s.timeout_seconds'"),
        ('command = ["x"]\ntimeout_seconds = 601', "'mcp.s.timeout_seconds'"),
        ('command = ["x"]\ntimeout_seconds = inf', "'mcp.s.timeout_seconds'"),
        ('comand = ["x"]', "unknown key 'mcp.s.comand'; did you mean 'command'?"),
        ('allow = ["t"]', "'mcp.s.command' is missing"),
    ],
)
def test_a_table_that_does_not_hold_is_one_line(
    isolated: dict[str, str], toml: str, says: str
) -> None:
    own(isolated, f"[mcp.s]\n{toml}\n")
    with pytest.raises(ConfigError) as caught:
        read_user_config(isolated)
    assert says in str(caught.value) and "\n" not in str(caught.value)


@table("name", ["a.b", "", "a b", "a" * 65])
def test_a_server_has_a_name_that_a_tool_can_carry(name: str) -> None:
    with pytest.raises(ConfigError):
        parse_config({"mcp": {name: {"deny": ["x"]}}}, "file")


@table(
    "line",
    [
        'command = ["sh"]',
        'allow = ["t"]',
        'env = ["TOKEN"]',
        "timeout_seconds = 5",
        "start_seconds = 5",
    ],
)
def test_a_repository_can_only_deny(line: str) -> None:
    def read(files: Mapping[str, str]) -> None:
        read_config(
            lambda name: files[name].encode() if name in files else None, " in the index"
        )

    with pytest.raises(ConfigError, match=r"'mcp\.s\.\w+' belongs in the user's own file"):
        read({"cli-guard.toml": f'[mcp.s]\n{line}\ndeny = ["u"]\n'})
    with pytest.raises(ConfigError, match="a repository cannot start"):
        read({"pyproject.toml": f"[tool.cli-guard.mcp.s]\n{line}\n"})
    read({"cli-guard.toml": '[mcp.s]\ndeny = ["u"]\n'})


def own(env: Mapping[str, str], text: str) -> None:
    file = Path(env["XDG_CONFIG_HOME"]) / "cli-guard" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def servers(repo: Repo) -> dict[str, ServerConfig]:
    policy, _ = policy_at_head(GitRepository.discover(repo.path, repo.env), repo.env)
    return policy.servers


def test_servers_come_from_the_users_own_file_and_repositories_deny(
    committed: Repo,
) -> None:
    assert servers(committed) == {}
    own(committed.env, SERVER + '[mcp.other]\ndeny = ["x"]\n')
    assert set(servers(committed)) == {"git"}
    committed.write(
        "cli-guard.toml", '[mcp.git]\ndeny = ["git_log"]\n[mcp.elsewhere]\ndeny = ["*"]\n'
    )
    committed.git("add", "-A")
    assert servers(committed)["git"].deny == ()  # not recorded yet
    committed.git("commit", "-q", "-m", "Deny")
    found = servers(committed)
    assert set(found) == {"git"}
    assert found["git"].deny == ("git_log",)
    assert (
        decision(McpTool("mcp:git.git_log", "git", "", {}), found["git"]).decision
        is Decision.DENY
    )
    assert (
        decision(McpTool("mcp:git.git_status", "git", "", {}), found["git"]).decision
        is Decision.ALLOW
    )


def test_a_recorded_command_starts_nothing_and_is_told(committed: Repo) -> None:
    own(committed.env, SERVER)
    committed.write("cli-guard.toml", '[mcp.git]\ncommand = ["sh", "-c", "echo"]\n')
    committed.git("add", "-A")
    committed.git("commit", "-q", "-m", "Take over")
    with pytest.raises(
        ConfigError, match=r"'mcp\.git\.command' belongs in the user's own file"
    ):
        servers(committed)


def test_every_tip_of_a_push_may_deny() -> None:
    def denying(*tools: str) -> Config:
        return Config(mcp={"git": ServerConfig(deny=tools)})

    user = Config(mcp={"git": ServerConfig(command=("x",), deny=("a",))})
    policy = Policy(denying("b"), user, also=(denying("b", "c"), Config()))
    assert policy.servers["git"].deny == ("a", "b", "c")


@table(
    ("before", "after", "told"),
    [
        (("t",), ("t",), 0),
        (("t", "u"), ("t",), 1),
        (("t", "u"), ("*",), 0),
        (("t*",), ("t",), 1),
        (("t*",), ("t*", "u"), 0),
        ((), ("t",), 0),
        (("t",), (), 1),
    ],
)
def test_to_deny_less_is_a_loosening(
    before: tuple[str, ...], after: tuple[str, ...], told: int
) -> None:
    def config(deny: tuple[str, ...]) -> Config:
        return Config(mcp={"s": ServerConfig(deny=deny)} if deny else {})

    found = list(loosenings(config(before), config(after)))
    assert len(found) == told
    assert all("is no longer denied" in each for each in found)
