"""Servers and plugins that agents start or call: what is new, what changed, and why a person should look."""

from typing import Any

import pytest
from reviewers.agents.surface_changes import as_json, found, rules

FILE = ".mcp.json"


def server(**words: Any) -> str:
    return as_json(mcpServers={"docs": words})


def npx(package: str, **words: Any) -> str:
    return server(command="npx", args=["-y", package], **words)


# Each row: a server that is fine, one that is not, and a word of the reason.
PAIRS = {
    "no version": (npx("some-mcp@1.2.3"), npx("some-mcp"), "no version"),
    "a scope": (npx("@a/some-mcp@1.2.3"), npx("@a/some-mcp"), "no version"),
    "a moving tag": (npx("some-mcp@1.2.3"), npx("some-mcp@latest"), "moving"),
    "a name like a popular one": (
        npx("@playwright/mcp@0.0.40"),
        npx("@playwrigth/mcp@0.0.40"),
        "nearly the name",
    ),
    "Python": (
        server(command="uvx", args=["mcp-server-git==2026.1.14"]),
        server(command="uvx", args=["mcp-server-git"]),
        "no version",
    ),
    "a repository": (
        server(command="uvx", args=["--from", "git+https://example.com/a@0123abcd", "a"]),
        server(command="uvx", args=["--from", "git+https://example.com/a", "a"]),
        "no commit",
    ),
    "an image": (
        server(command="docker", args=["run", "-i", "--rm", "-e", "A", "a/b:1.2"]),
        server(command="docker", args=["run", "-i", "--rm", "-e", "A", "a/b"]),
        "not fixed",
    ),
    "a mount": (
        server(command="docker", args=["run", "-v", "./data:/data", "a/b:1.2"]),
        server(command="docker", args=["run", "-v", "/var/run/docker.sock:/x", "a/b:1.2"]),
        "mounted",
    ),
    "plain http": (
        server(url="http://127.0.0.1:3000/mcp"),
        server(url="http://mcp.example.com/mcp"),
        "plain http",
    ),
    "a shell": (
        server(command="node", args=["tools/server.js"]),
        server(command="sh", args=["-c", "node tools/server.js"]),
        "shell",
    ),
    "a program elsewhere": (
        server(command="./bin/server"),
        server(command="/tmp/server"),
        "outside",
    ),
    "a secret": (
        npx("a-b-c@1.0.0", env={"API_TOKEN": "${API_TOKEN}"}),
        npx("a-b-c@1.0.0", env={"API_TOKEN": "q8Zr2LmPx7Vn4Ty1"}),
        "in clear",
    ),
    "a variable": (
        npx("a-b-c@1.0.0", env={"NODE_ENV": "production"}),
        npx("a-b-c@1.0.0", env={"NODE_OPTIONS": "--require ./x.js"}),
        "NODE_OPTIONS",
    ),
}
# Each row: before, after, the rules, and a word of the message.
CHANGES = {
    "another address": (
        server(url="https://a.example.com/mcp"),
        server(url="https://b.example.com/mcp"),
        ["server-risky"],
        "its address changed",
    ),
    "another command": (
        server(command="node", args=["tools/a.js"]),
        server(command="node", args=["tools/b.js"]),
        ["server-risky"],
        "its command changed",
    ),
    "a newer version": (
        npx("some-mcp@1.2.3"),
        npx("some-mcp@1.2.4"),
        ["server"],
        "its version changed",
    ),
    "a variable more": (npx("a-b@1.0.0"), npx("a-b@1.0.0", env={"LOG": "1"}), [], ""),
    "what was risky before": (npx("a-b"), npx("a-b", env={"LOG": "1"}), [], ""),
    "gone": (npx("a-b"), as_json(mcpServers={}), [], ""),
}
PLACES = {
    ".cursor/mcp.json": as_json(mcpServers={"a": {"url": "https://a.example.com"}}),
    ".vscode/mcp.json": as_json(servers={"a": {"url": "https://a.example.com"}}),
    ".roo/mcp.json": as_json(mcpServers={"a": {"url": "https://a.example.com"}}),
    ".kiro/settings/mcp.json": as_json(mcpServers={"a": {"url": "https://a.example.com"}}),
    ".gemini/settings.json": as_json(
        mcpServers={"a": {"httpUrl": "https://a.example.com"}}
    ),
    ".codex/config.toml": '[mcp_servers.a]\nurl = "https://a.example.com"\n',
    "opencode.json": as_json(mcp={"a": {"type": "remote", "url": "https://a.example.com"}}),
    ".zed/settings.json": as_json(context_servers={"a": {"url": "https://a.example.com"}}),
    ".amp/settings.json": as_json(
        **{"amp.mcpServers": {"a": {"url": "https://a.example.com"}}}
    ),
    ".junie/mcp/mcp.json": as_json(mcpServers={"a": {"url": "https://a.example.com"}}),
}


@pytest.mark.parametrize(("fine", "risky", "word"), PAIRS.values(), ids=PAIRS)
def test_a_new_server(fine: str, risky: str, word: str) -> None:
    assert rules({}, {FILE: fine}) == ["server"]
    (finding,) = found({}, {FILE: risky})
    assert finding.rule == "agent-server-risky"
    assert word in finding.message


@pytest.mark.parametrize(
    ("before", "after", "expected", "word"), CHANGES.values(), ids=CHANGES
)
def test_a_server_that_was_there(
    before: str, after: str, expected: list[str], word: str
) -> None:
    findings = found({FILE: before}, {FILE: after})
    assert [each.rule.removeprefix("agent-") for each in findings] == expected
    assert all(word in each.message for each in findings)


@pytest.mark.parametrize("path", PLACES)
def test_where_servers_are_named(path: str) -> None:
    assert rules({}, {path: PLACES[path]}) == ["server"]


def test_no_secret_is_shown() -> None:
    key = "q8Zr2LmPx7Vn4Ty1"
    (finding,) = found({}, {FILE: npx("a-b-c@1.0.0", env={"API_TOKEN": key})})
    assert key not in f"{finding.message}{finding.evidence}"


def test_another_index_is_another_command() -> None:
    before = server(command="uvx", args=["some-mcp==1.2.3"])
    index = ["--index-url", "https://x.example/simple", "some-mcp==1.2.3"]
    assert rules({FILE: before}, {FILE: server(command="uvx", args=index)}) == [
        "server-risky"
    ]
    later = server(command="uvx", args=["some-mcp==1.2.4"])
    assert rules({FILE: before}, {FILE: later}) == ["server"]


def test_a_reason_stands_at_its_word() -> None:
    text = npx("some-mcp@latest")
    [finding] = found({}, {FILE: text})
    assert "some-mcp@latest" in text.splitlines()[(finding.line or 0) - 1]
