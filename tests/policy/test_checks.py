"""What `[checks.NAME]` may say, to what trust is given, and what takes a check away."""

from pathlib import Path
from typing import Any

import pytest
from examples import table
from hypothesis import given
from hypothesis import strategies as st

from cli_guard.commands import judge
from cli_guard.errors import ConfigError
from cli_guard.policy.checks import LEADING_OUT, CheckConfig, Stage, digest_of
from cli_guard.policy.config import Config, parse_config, read_config, read_user_config
from cli_guard.policy.decisions import Policy
from cli_guard.policy.loosenings import loosenings

TABLES = st.fixed_dictionaries(
    {"command": st.sampled_from(["make test", "npm test"])},
    optional={
        "stage": st.sampled_from(["pre-push", "pre-commit", ["pre-push", "pre-commit"]]),
        "files": st.lists(st.sampled_from(["*.py", "src/**", "docs/*"]), unique=True),
        "working_dir": st.sampled_from(["", "web"]),
        "environment": st.dictionaries(
            st.sampled_from(["CI", "MODE"]), st.sampled_from(["1", "fast"])
        ),
        "cache": st.booleans(),
    },
)


def check(**table: Any) -> CheckConfig:
    return CheckConfig.model_validate({"command": "make test", **table})


def config(**checks: CheckConfig) -> Config:
    return Config(checks=checks)


def test_a_table_and_its_defaults() -> None:
    toml = b"""
[checks.tests]
command = "make test"

[checks.web]
command = "npm run e2e"
stage = ["pre-push", "pre-commit", "pre-push"]
files = ["web/**", "*.ts"]
timeout_seconds = 90
environment = {CI = "1"}
pass_environment = ["LANG"]
working_dir = "./web/"
needs_port = "auto"
server = "npm start"
ready_seconds = 5
cache = false
"""
    found = read_config(lambda name: toml if name == "cli-guard.toml" else None, "")
    assert found
    tests = found[0].checks["tests"]
    web = found[0].checks["web"]
    assert tests == CheckConfig(
        command="make test", stage=(Stage.PRE_PUSH,), timeout_seconds=600
    )
    assert (web.stage, web.working_dir, web.needs_port) == (
        (Stage.PRE_COMMIT, Stage.PRE_PUSH),
        "web",
        "auto",
    )
    assert web.commands == ("export CI=1\nnpm run e2e", "export CI=1\nnpm start")
    assert Policy(found[0], also=(Config(),)).checks == (found[0].checks,)


@table(
    ("table", "says"),
    [
        ({}, "'checks.t.command' is missing"),
        ({"comand": "x"}, "unknown key 'checks.t.comand'; did you mean 'command'?"),
        ({"command": "x", "stge": "pre-push"}, "did you mean 'stage'?"),
        ({"command": " \n"}, "'checks.t.command': is empty"),
        ({"command": "a\0b"}, "NUL"),
        ({"command": ["make"]}, "'checks.t.command'"),
        ({"command": "x", "stage": "push"}, "'checks.t.stage.0'"),
        ({"command": "x", "stage": []}, "give pre-commit, pre-push or both"),
        ({"command": "x", "files": [""]}, "'checks.t.files.0'"),
        ({"command": "x", "timeout_seconds": 0}, "'checks.t.timeout_seconds'"),
        ({"command": "x", "timeout_seconds": float("inf")}, "'checks.t.timeout_seconds'"),
        ({"command": "x", "timeout_seconds": float("nan")}, "'checks.t.timeout_seconds'"),
        ({"command": "x", "working_dir": "/etc"}, "must be inside the repository"),
        ({"command": "x", "working_dir": "a/../../b"}, "must be inside the repository"),
        ({"command": "x", "working_dir": "~/x"}, "must be inside the repository"),
        (
            {"command": "x", "needs_port": 0},
            "'checks.t.needs_port': must be a port from 1 to 65535",
        ),
        ({"command": "x", "needs_port": 65_536}, "must be a port from 1 to 65535"),
        ({"command": "x", "needs_port": True}, "must be a port from 1 to 65535"),
        ({"command": "x", "needs_port": "any"}, "must be a port from 1 to 65535"),
        ({"command": "x", "server": "y"}, "'checks.t': a server requires needs_port"),
        ({"command": "x", "environment": {"A=B": "c"}}, "'checks.t.environment"),
        ({"command": "x", "environment": {"A": "b\0"}}, "'checks.t.environment.A'"),
    ],
)
def test_a_table_that_does_not_hold_is_one_line(table: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_config({"checks": {"t": table}}, "file")
    assert says in str(caught.value) and "\n" not in str(caught.value)


@table("name", ["git", "ignore", "mcp", "checks"])
def test_a_check_may_be_called_like_another_table(name: str) -> None:
    with pytest.raises(ConfigError, match="did you mean 'command'"):
        parse_config({"checks": {name: {"comand": "x"}}}, "file")


@table("name", sorted(LEADING_OUT))
def test_no_variable_leads_out_of_the_checkout(name: str) -> None:
    for keys in ({"environment": {name: "x"}}, {"pass_environment": [name]}):
        with pytest.raises(ConfigError, match="outside its scratch checkout"):
            parse_config({"checks": {"t": {"command": "x", **keys}}}, "file")


@table("name", ["a.b", "", "a b", "../a", "a" * 65])
def test_a_check_has_a_name_that_a_file_can_carry(name: str) -> None:
    with pytest.raises(ConfigError):
        parse_config({"checks": {name: {"command": "x"}}}, "file")


def test_a_users_own_file_has_no_checks(isolated: dict[str, str]) -> None:
    file = Path(isolated["XDG_CONFIG_HOME"]) / "cli-guard" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text('[checks.t]\ncommand = "make"\n')
    with pytest.raises(ConfigError, match="'checks' is not allowed in a user file"):
        read_user_config(isolated)


@table(
    ("before", "after", "told"),
    [
        (config(t=check()), config(), "the check t was removed"),
        (config(t=check()), config(u=check()), "the check t was removed"),
        (
            config(t=check(stage=["pre-commit", "pre-push"])),
            config(t=check()),
            "no longer runs at pre-commit",
        ),
        (
            config(t=check()),
            config(t=check(stage="pre-commit")),
            "no longer runs at pre-push",
        ),
        (config(t=check()), config(t=check(files=["*.py"])), "now covers only *.py"),
        (
            config(t=check(files=["*.py", "a"])),
            config(t=check(files=["a"])),
            "no longer covers *.py",
        ),
        (config(t=check()), config(t=check(command="true")), "has a different command"),
        (
            config(t=check()),
            config(t=check(working_dir="empty")),
            "has a different working folder",
        ),
        (
            config(t=check()),
            config(t=check(environment={"PYTEST_ADDOPTS": "--co"})),
            "a different environment",
        ),
        (config(), config(t=check()), None),
        (config(t=check(files=["*.py"])), config(t=check()), None),
        (config(t=check(files=["a"])), config(t=check(files=["a", "b"])), None),
        (config(t=check()), config(t=check(stage=["pre-commit", "pre-push"])), None),
        (config(t=check()), config(t=check(timeout_seconds=5, cache=False)), None),
    ],
)
def test_to_check_less_is_a_loosening(
    before: Config, after: Config, told: str | None
) -> None:
    found = list(loosenings(before, after))
    assert len(found) == (told is not None)
    assert all(told and told in each for each in found)


@given(TABLES, TABLES)
def test_trust_is_in_exactly_one_table(one: dict[str, Any], other: dict[str, Any]) -> None:
    first = CheckConfig.model_validate(one)
    second = CheckConfig.model_validate(other)
    assert (digest_of({"t": first}) == digest_of({"t": second})) is (first == second)
    assert digest_of({"t": first}) != digest_of({"u": first})
    assert digest_of({"a": first, "b": second}) == digest_of({"b": second, "a": first})


@given(TABLES, TABLES)
def test_nothing_is_weaker_than_itself_and_a_change_is_never_lost(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    first, second = (
        Config(checks={"t": CheckConfig.model_validate(each)}) for each in (one, other)
    )
    assert list(loosenings(first, first)) == []
    if first.checks["t"].command != second.checks["t"].command:
        assert list(loosenings(first, second))


@table(
    "command",
    [
        "echo '{}' > ~/.local/state/cli-guard/trusted.json",
        "cp /tmp/x /elsewhere/cli-guard/trusted.json",
        "rm -r ~/.local/state/cli-guard",
        "cli-guard trust",
        "cli-guard trust --rev HEAD",
        "yes | cli-guard trust",
        "cli-guard trust --revoke",
    ],
)
def test_an_agent_cannot_trust(command: str) -> None:
    assert judge(command).verdict == "deny"
