"""lefthook: one hook for the requests of four agents, answered by an exit code."""

import pytest
from agents_seen import payload, send
from in_process import guard
from repositories import Repo

CALLERS = ("claude-code", "codex", "cursor", "copilot")


@pytest.mark.parametrize("caller", CALLERS)
def test_the_requests_of_every_agent_that_it_serves(committed: Repo, caller: str) -> None:
    for command, code in (("git status", 0), ("rm -rf /", 2), ("npm install left-pad", 2)):
        done = send(
            committed, "lefthook", payload(committed, caller, "shell", command=command)
        )
        assert (done.code, done.out) == (code, ""), command
        assert bool(done.err) is bool(code)
    assert "lefthook passes on no question" in done.err


@pytest.mark.parametrize("raw", [b"", b"[]", b'{"toolName": "bash"}', b'{"command": 3}'])
def test_what_is_no_request_blocks(committed: Repo, raw: bytes) -> None:
    done = send(committed, "lefthook", raw)
    assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1)


def test_it_is_not_installed_where_agents_would_not_obey(committed: Repo) -> None:
    done = guard(committed, "install", "--agent", "lefthook")
    assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1)
    assert "--agent claude-code" in done.err
    assert "no cli-guard hook" in guard(committed, "uninstall", "--agent", "lefthook").out
    assert "lefthook" not in guard(committed, "doctor").out
