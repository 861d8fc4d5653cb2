"""Tools of MCP servers inside the graph: asked about by default, and done after an approval."""

import json
from dataclasses import dataclass, fields
from pathlib import Path

import pytest
from in_process import Terminal, guard
from repositories import Done, Repo

from cli_guard.assistant.sandbox import RunLimits


@dataclass(frozen=True)
class Served(Repo):
    """A repository, and the Python that its server runs on."""

    python: str

    def configure(self, text: str) -> None:
        command = json.dumps([self.python, "-m", "mcp_server_git"])
        path = Path(self.env["XDG_CONFIG_HOME"]) / "cli-guard" / "config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f"[mcp.git]\ncommand = {command}\nstart_seconds = 300\ntimeout_seconds = 300\n{text}"
        )


@pytest.fixture
def served(committed: Repo, preloaded: Path) -> Served:
    """Its servers are forks: the real program is started in tests/mcp/client/test_git_server.py."""
    committed.commit("Files", {"a.txt": "one\n"})
    return Served(committed.path, committed.env, str(preloaded / "python"))


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sandboxed command may take long: the server that it calls starts slowly on a busy machine."""
    seconds, *_ = fields(RunLimits)
    monkeypatch.setattr(seconds, "default", 300.0)


def ask(repo: Repo, request: str, *options: str) -> Done:
    with repo.unchanged():
        return guard(repo, "ask", request, *options)


def log_of(repo: Repo) -> str:
    return "call mcp:git.git_log " + json.dumps({"repo_path": str(repo.path)})


def test_a_person_is_asked_and_says_yes(served: Served) -> None:
    served.configure("")
    done = ask(served, log_of(served), "--format", "json")
    state = done.json
    assert (done.code, state["status"]) == (3, "needs_review"), done.all
    assert [each["tool"] for each in state["blocked_actions"]] == ["mcp:git.git_log"]
    approved = guard(served, "approve", state["review_id"], stdin=Terminal("yes\n"))
    assert approved.code == 0
    assert "Files" in approved.out


def test_what_the_configuration_allows_is_called(served: Served) -> None:
    served.configure('allow = ["git_log"]\n')
    done = ask(served, log_of(served))
    assert (done.code, done.err) == (0, "")
    assert "Files" in done.out
    shell = guard(
        served,
        "shell",
        "mcp call git.git_log '" + json.dumps({"repo_path": str(served.path)}) + "'",
    )
    assert "Files" in shell.out


@pytest.mark.parametrize(
    ("config", "request_", "says"),
    [
        ('deny = ["git_*"]\n', 'mcp:git.git_log {"repo_path": "."}', "mcp.git.deny"),
        ("", "mcp:git.git_fly {}", "there is no tool mcp:git.git_fly"),
        ("", "mcp:nobody.git_log {}", "there is no tool mcp:nobody.git_log"),
        ("", "mcp:git.git_log {not json}", "no JSON object"),
        ('allow = ["git_log"]\n', 'mcp:git.git_log {"repo_path": 3}', "repo_path"),
    ],
)
def test_what_is_not_called(served: Served, config: str, request_: str, says: str) -> None:
    served.configure(config)
    done = ask(served, request_)
    assert says in done.all
    assert "Files" not in done.out
    assert "Traceback" not in done.all


def test_a_sandboxed_command_never_calls_what_a_person_must_decide(served: Served) -> None:
    served.configure("")
    done = guard(served, "shell", "mcp call git.git_log '{}'")
    assert "cli-guard ask" in done.out
    assert done.code == 1


def test_a_repository_starts_nothing(served: Served) -> None:
    served.commit(
        "Evil", {"cli-guard.toml": '[mcp.x]\ncommand = ["touch", "/tmp/never"]\n'}
    )
    done = ask(served, "mcp:x.y {}")
    assert (done.code, len(done.err.splitlines())) == (2, 1)
    assert "the user's own file" in done.err
