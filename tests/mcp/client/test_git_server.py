"""A real server from the registry, mcp-server-git, on a scratch repository."""

import sys
from pathlib import Path

import pytest
from repositories import Repo

from cli_guard.errors import CliGuardError, UsageError
from cli_guard.mcp.client import McpClient, ServerConfig, decision
from cli_guard.model import Decision

READING = [
    "git_branch",
    "git_diff",
    "git_diff_staged",
    "git_diff_unstaged",
    "git_log",
    "git_show",
    "git_status",
]
CONFIG = ServerConfig(
    command=("mcp-server-git",),
    allow=(*READING, "git_commit", "git_reset"),
    deny=("git_checkout",),
)


def processes(folder: Path) -> list[str]:
    """The command lines of running processes that were started in a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").resolve() == folder:
                found.append((process / "cmdline").read_text())
        except OSError:
            continue
    return [each for each in found if each]


def test_its_tools_are_listed_judged_and_called(committed: Repo) -> None:
    committed.write("app.py", "x = 2\n")
    path = str(committed.path)
    with McpClient({"git": CONFIG}, cwd=committed.path, env=committed.env) as client:
        assert not processes(committed.path)  # nothing starts before it is needed
        tools = {tool.name: tool for tool in client.tools("git")}
        assert len(processes(committed.path)) == 1
        decided = {
            name.removeprefix("mcp:git."): decision(tool, CONFIG)
            for name, tool in tools.items()
        }
        assert not [tool.unusable for tool in tools.values() if tool.unusable]
        assert {
            name for name, verdict in decided.items() if verdict.decision is Decision.ALLOW
        } == set(READING)
        # Named by the configuration, but the server itself says that they change things.
        assert decided["git_commit"].rule == decided["git_reset"].rule == "mcp-contradicted"
        assert decided["git_add"].rule == "mcp-review"
        assert decided["git_checkout"].decision is Decision.DENY

        assert "app.py" in client.call("mcp:git.git_status", {"repo_path": path}).text
        diff = client.call("mcp:git.git_diff_unstaged", {"repo_path": path})
        assert "-x = 1\n+x = 2" in diff.text and not diff.is_error
        assert client.call(
            "mcp:git.git_show", {"repo_path": path, "revision": "nowhere"}
        ).is_error
        with pytest.raises(UsageError, match="'repo_path' is a required property"):
            client.call("mcp:git.git_status", {})
        with pytest.raises(
            UsageError,
            match=r"no tool 'mcp:git.git_stat'; did you mean 'mcp:git.git_status'\?",
        ):
            client.call("mcp:git.git_stat", {"repo_path": path})
        assert len(processes(committed.path)) == 1
    assert not processes(committed.path)


@pytest.mark.parametrize("name", ["git_status", "mcp:git", "git.git_status", ""])
def test_a_name_that_is_none_starts_nothing(committed: Repo, name: str) -> None:
    with McpClient({"git": CONFIG}, cwd=committed.path, env=committed.env) as client:
        with pytest.raises(UsageError, match="is not an MCP tool"):
            client.call(name, {})
        assert not processes(committed.path)


def test_a_server_that_is_not_configured_is_not_there(committed: Repo) -> None:
    with McpClient({"git": CONFIG}, cwd=committed.path, env=committed.env) as client:
        with pytest.raises(UsageError, match=r"no MCP server 'gti'; did you mean 'git'\?"):
            client.call("mcp:gti.status", {})
        with pytest.raises(UsageError, match="no MCP server"):
            client.tools("")


@pytest.mark.parametrize("command", ["no-such-program-here", "/no/such/program"])
def test_a_program_that_is_not_there_is_one_line(committed: Repo, command: str) -> None:
    servers = {"x": ServerConfig(command=(command,))}
    with (
        McpClient(servers, cwd=committed.path, env=committed.env) as client,
        pytest.raises(
            CliGuardError, match=r"the MCP server x cannot be started: .* fix its command"
        ),
    ):
        client.tools("x")


def test_nothing_of_the_repository_is_run_in_place_of_a_server(
    repo: Repo, tmp_path: Path
) -> None:
    """A folder of PATH may be relative, and `python -m` looks in the current folder first."""
    touched = tmp_path / "touched"
    repo.write("mcp-server-git", f"#!/bin/sh\ntouch {touched}\n")
    (repo.path / "mcp-server-git").chmod(0o755)
    repo.write("mcp_server_git.py", f"open({str(touched)!r}, 'w')\n")
    module = ServerConfig(command=(sys.executable, "-m", "mcp_server_git"))
    with McpClient({"git": module}, cwd=repo.path, env=repo.env) as client:
        assert client.tools("git")
    env = repo.env | {"PATH": f".:bin::{tmp_path}"}
    with (
        McpClient({"git": CONFIG}, cwd=repo.path, env=env) as client,
        pytest.raises(CliGuardError, match="is not on PATH"),
    ):
        client.tools("git")
    assert not touched.exists()
