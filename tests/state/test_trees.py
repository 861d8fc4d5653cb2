"""A work tree that a person trusts: bound to its path and roots, withdrawn, expired, not forged by a file."""

import datetime
import json
import shutil
from dataclasses import fields, replace
from pathlib import Path

import pytest
from in_process import Terminal, call, guard
from repositories import Repo

from cli_guard.approvals.seals import seals_of
from cli_guard.git.repository import GitRepository
from cli_guard.runtime import Invocation
from cli_guard.state.audit import AuditLog, entry
from cli_guard.state.trees import Tree, TrustedTrees

NOW = datetime.datetime(2026, 11, 23, tzinfo=datetime.UTC)


def trust(repo: Repo, *options: str, answer: str = "yes") -> str:
    done = guard(repo, "trust", "--agents", *options, stdin=Terminal(f"{answer}\n"))
    assert done.err == ""
    return done.out


def file_of(repo: Repo) -> Path:
    return Path(repo.env["HOME"]) / ".local" / "state" / "cli-guard" / "trees.json"


def profile(repo: Repo, now: datetime.datetime = NOW) -> str | None:
    repository = GitRepository.discover(repo.path, repo.env)
    tree = TrustedTrees(repo.env).find(repository, now, seals_of(repository, repo.env))
    return tree.profile_in_force if tree else None


def verdict(repo: Repo, command: str = "pytest -q") -> str:
    return str(guard(repo, "check-command", command, "--format", "json").json["verdict"])


def test_one_answer_lets_the_work_of_the_tree_pass(committed: Repo) -> None:
    assert verdict(committed) == "review"
    assert "Trust coding agents in this work tree? " in trust(committed)
    assert (profile(committed), verdict(committed), verdict(committed, "npm ci")) == (
        "workspace",
        "allow",
        "review",
    )
    again = trust(committed)
    assert "coding agents are trusted by" in again and "[y]es" not in again
    assert (
        f"{committed.path.resolve()}: workspace, by "
        in guard(committed, "trust", "--list").out
    )
    assert "coding agents: trusted by " in guard(committed, "doctor").out


@pytest.mark.parametrize("answer", ["no", "", "y e s"])
def test_any_other_answer_is_no(committed: Repo, answer: str) -> None:
    trust(committed, answer=answer)
    assert (profile(committed), file_of(committed).exists()) == (None, False)


def test_nobody_at_a_terminal(committed: Repo) -> None:
    done = guard(committed, "trust", stdin="yes\n")
    assert done.code == 2 and "needs a person at a terminal" in done.err
    done = guard(committed, "trust", stdin=Terminal("yes\n"), env={"CLAUDECODE": "1"})
    assert done.code == 2 and "runs under a coding agent" in done.err
    assert profile(committed) is None


def test_withdrawn(committed: Repo) -> None:
    trust(committed)
    assert (
        guard(committed, "trust", "--revoke").out
        == "cli-guard: coding agents in this work tree: no longer trusted\n"
    )
    assert (profile(committed), verdict(committed)) == (None, "review")
    assert guard(committed, "trust", "--list").out == "cli-guard: no work tree is trusted\n"


def test_it_ends_on_its_last_day(committed: Repo) -> None:
    trust(committed)
    assert " until " not in guard(committed, "doctor").out
    trust(committed, "--expires", "2099-01-31")
    assert ": workspace until 2099-01-31" in guard(committed, "doctor").out
    assert (
        profile(committed, datetime.datetime(2099, 1, 31, 23, tzinfo=datetime.UTC))
        == "workspace"
    )
    assert profile(committed, datetime.datetime(2099, 2, 1, tzinfo=datetime.UTC)) is None
    done = guard(committed, "trust", "--expires", "2001-01-01", stdin=Terminal("yes\n"))
    assert done.code == 2 and "is in the past" in done.err
    assert guard(committed, "trust", "--expires", "soon").code == 2


@pytest.mark.parametrize("kind", ["strict", "workspace", "floors"])
def test_the_profile_of_the_tree(committed: Repo, kind: str) -> None:
    trust(committed, "--profile", kind)
    wanted = {
        "strict": ("review", "review"),
        "workspace": ("allow", "review"),
        "floors": ("allow", "allow"),
    }
    assert (verdict(committed), verdict(committed, "curl https://example.org")) == wanted[
        kind
    ]
    assert verdict(committed, "rm -rf ~") == "deny"


def test_another_repository_in_its_place(committed: Repo) -> None:
    trust(committed)
    shutil.rmtree(committed.path / ".git")
    committed.git("init", "-q")
    committed.commit("Start again", {"a.txt": "another\n"})
    assert (profile(committed), verdict(committed)) == (None, "review")


def test_another_place_of_the_same_repository(committed: Repo, tmp_path: Path) -> None:
    trust(committed)
    copied = shutil.copytree(committed.path, tmp_path / "copied")
    assert profile(Repo(copied, committed.env)) is None
    committed.git("worktree", "add", "-q", str(tmp_path / "linked"))
    assert profile(Repo(tmp_path / "linked", committed.env)) is None


@pytest.mark.parametrize("change", ["profile", "allow", "copied", "log"])
def test_an_edited_file_trusts_nothing(
    committed: Repo, tmp_path: Path, change: str
) -> None:
    trust(committed, "--profile", "strict" if change == "profile" else "workspace")
    data = json.loads(file_of(committed).read_text())
    if change == "profile":
        data["trees"][0]["profile"] = "workspace"
    elif change == "allow":
        data["trees"][0]["allow"] = ["curl *"]
    elif change == "copied":
        other = Repo.create(tmp_path / "other", committed.env)
        other.commit("First", {"a.txt": "x\n"})
        data["trees"].append(
            data["trees"][0]
            | {"path": str(other.path.resolve()), "roots": [other.git("rev-parse", "HEAD")]}
        )
        committed = other
    else:
        (committed.path / ".git" / "cli-guard" / "audit.jsonl").unlink()
    file = Path(committed.env["HOME"]) / ".local" / "state" / "cli-guard" / "trees.json"
    file.write_text(json.dumps(data))
    assert (profile(committed), verdict(committed)) == (None, "review")


@pytest.mark.parametrize("damage", ["text", "list", "others", "folder"])
def test_a_broken_file_is_one_clear_line(committed: Repo, damage: str) -> None:
    trust(committed)
    file = file_of(committed)
    if damage == "others":
        file.chmod(0o666)
    elif damage == "folder":
        file.unlink()
        file.mkdir()
    else:
        file.write_text({"text": "not JSON", "list": "[]"}[damage])
    done = guard(committed, "check-command", "ls")
    assert done.code == 2
    assert len(done.err.splitlines()) == 1 and "trees.json" in done.err


@pytest.mark.parametrize(
    "command",
    [
        "echo '{}' > ~/.local/state/cli-guard/trees.json",
        "cp /elsewhere/trees.json ~/.local/state/cli-guard/",
        "sed -i s/strict/workspace/ ~/.local/state/cli-guard/trees.json",
        "python3 -c \"open('.git/cli-guard/audit.jsonl', 'a').write('x')\"",
        "cli-guard trust",
        "cli-guard trust --agents",
        "cli-guard -C . trust --agents",
        "echo yes | script -qc 'cli-guard trust' /dev/null",
    ],
)
def test_the_judge_keeps_agents_off(committed: Repo, command: str) -> None:
    trust(committed)
    assert verdict(committed, command) == "deny"


def test_nothing_to_bind_it_to(repo: Repo) -> None:
    done = guard(repo, "trust", stdin=Terminal("yes\n"))
    assert done.code == 2 and "there is no commit here yet" in done.err
    assert call(repo.path.parent, repo.env, "trust").code == 2


def test_the_user_can_only_choose_less_for_an_untrusted_tree(committed: Repo) -> None:
    file = Path(committed.env["HOME"]) / ".config" / "cli-guard" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text('[agent]\nprofile = "workspace"\n')
    assert verdict(committed) == "review"
    assert "coding agents: not trusted" in guard(committed, "doctor").out
    trust(committed)
    assert verdict(committed) == "allow"
    file.write_text('[agent]\nprofile = "strict"\n')
    assert verdict(committed) == "review"


def test_a_state_folder_that_cannot_be_written_is_said_in_one_line(committed: Repo) -> None:
    (Path(committed.env["HOME"]) / ".local").write_text("a file\n")
    done = guard(committed, "trust", stdin=Terminal("yes\n"))
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "cannot be written" in done.err and "Traceback" not in done.err


def write_record(repo: Repo, **changed: object) -> None:
    """Change the one record of the file by hand, and let the audit log name it, as only its own user could."""
    data = json.loads(file_of(repo).read_text())
    record = data["trees"][0] | changed
    data["trees"] = [{name: value for name, value in record.items() if value is not None}]
    file_of(repo).write_text(json.dumps(data))
    texts = {each.name for each in fields(Tree)} - {"agents"}
    tree = Tree(**{name: record[name] for name in texts})
    tree = replace(tree, roots=tuple(tree.roots), allow=tuple(tree.allow))
    repository = GitRepository.discover(repo.path, repo.env)
    when = Invocation(repo.path, repo.env, NOW)
    seen = entry("tree", when, path=tree.path, record=tree.digest)
    AuditLog(repository.state_folder).append(seen)


@pytest.mark.parametrize("kind", ["workspace", "floors"])
def test_a_record_that_is_not_about_agents_lets_them_do_nothing(
    committed: Repo, kind: str
) -> None:
    trust(committed, "--profile", kind)
    write_record(committed, agents=None)
    assert (profile(committed), verdict(committed)) == ("strict", "review")
    said = guard(committed, "doctor").out
    assert "coding agents: not trusted in this work tree" in said
    shown = guard(committed, "trust", "--show").out
    assert "coding agents are not trusted here" in shown
    # A rule that is saved beside it was a decision of its own, and widens nothing else.
    allowed = guard(committed, "allow", "npm ci", stdin=Terminal("yes\n"))
    assert allowed.code == 0
    assert (verdict(committed, "npm ci"), verdict(committed)) == ("allow", "review")
    trust(committed, "--profile", kind)
    assert (profile(committed), verdict(committed)) == (kind, "allow")
    assert verdict(committed, "npm ci") == "allow"


@pytest.mark.parametrize("agents", [True, 1, "true", "yes", ["x"], {}])
def test_the_file_alone_cannot_say_that_agents_are_trusted(
    committed: Repo, agents: object
) -> None:
    trust(committed)
    write_record(committed, agents=None)
    data = json.loads(file_of(committed).read_text())
    data["trees"][0]["agents"] = agents
    file_of(committed).write_text(json.dumps(data))
    assert (profile(committed), verdict(committed)) == (None, "review")


@pytest.mark.parametrize(
    "name", ["CLI_GUARD_AGENTS", "CLI_GUARD_TRUST", "CLI_GUARD_PROFILE", "CI", "AGENTS"]
)
def test_no_variable_trusts_agents(committed: Repo, name: str) -> None:
    for value in ("1", "true", "workspace", str(committed.path)):
        done = guard(
            committed, "check-command", "pytest -q", "--format", "json", env={name: value}
        )
        assert done.json["verdict"] == "review"


CHECKS = '[checks.tests]\ncommand = "make test"\n'


@pytest.mark.parametrize(
    ("options", "answers", "code", "checks", "agents"),
    [
        ((), "yes\nyes\n", 0, True, True),
        ((), "yes\nno\n", 0, True, False),
        ((), "no\nyes\n", 0, False, True),
        ((), "no\nno\n", 1, False, False),
        ((), "yes\n", 0, True, False),
        (("--checks", "--agents"), "yes\nyes\n", 0, True, True),
        (("--checks",), "yes\nyes\n", 0, True, False),
        (("--agents",), "yes\nyes\n", 0, False, True),
        (("--agents",), "no\nyes\n", 1, False, False),
        (("--show",), "yes\nyes\n", 0, False, False),
        (("--rev", "HEAD~0"), "yes\nyes\n", 0, True, False),
        (("--checks", "--profile", "floors"), "yes\nyes\n", 2, False, False),
        (("--checks", "--expires", "2099-01-31"), "yes\nyes\n", 2, False, False),
        (("--agents", "--rev", "HEAD~0"), "yes\nyes\n", 2, False, False),
    ],
)
def test_two_decisions(
    committed: Repo,
    options: tuple[str, ...],
    answers: str,
    code: int,
    checks: bool,
    agents: bool,
) -> None:
    committed.commit("Check", {"cli-guard.toml": CHECKS})
    done = guard(committed, "trust", *options, stdin=Terminal(answers))
    assert done.code == code, done.all
    said = guard(committed, "doctor").out
    assert ("checks: tests (trusted by " in said) is checks
    assert ("coding agents: trusted by " in said) is agents
    assert verdict(committed) == ("allow" if agents else "review")


@pytest.mark.parametrize(
    ("option", "left"), [("--checks", "agents"), ("--agents", "checks"), ("--revoke", "")]
)
def test_each_is_withdrawn_alone(committed: Repo, option: str, left: str) -> None:
    committed.commit("Check", {"cli-guard.toml": CHECKS})
    guard(committed, "trust", stdin=Terminal("yes\nyes\n"))
    words = {"--revoke", option}
    assert guard(committed, "trust", *sorted(words)).code == 0
    said = guard(committed, "doctor").out
    assert ("checks: tests (trusted by " in said) is (left == "checks")
    assert ("coding agents: trusted by " in said) is (left == "agents")
