"""How far a work tree is trusted, through the hooks of the agents: what passes, what needs a person.

In this process; each agent's hook as a process is in test_installed.py.
"""

import shutil
from pathlib import Path

import pytest
from agents_seen import ASKS, NAMES, kinds_of, meaning, path_key, payload
from agents_seen import send as send_request
from in_process import Terminal, guard, stage
from repositories import Repo, key

WORKFLOW = ".github/workflows/ci.yml"
NEW = ".github/workflows/new.yml"
SILENT = {"codex": "a hook of Codex cannot ask", "cursor": "a hook of Cursor cannot ask"}
# Those that can be told to allow.
WORDS = [agent for agent in NAMES if agent not in ("codex", "opencode", "lefthook")]
# What is said about the work in a trusted tree, where an allow leaves the user's own rules in force.
SILENCE = ("nothing", "")
ALLOWED = ("allow", "cli-guard: nothing in it needs a question")
PASSED = {"claude-code": ALLOWED}


@pytest.fixture
def project(committed: Repo) -> Repo:
    """A project with tests, scripts and a CI definition, which nobody trusts yet."""
    committed.commit(
        "Add tests",
        {
            "Makefile": "test:\n\tpytest -q\n",
            "package.json": '{"name": "app"}\n',
            WORKFLOW: "on: push\n",
        },
    )
    return committed


@pytest.fixture
def trusted(project: Repo) -> Repo:
    assert guard(project, "trust", "--agents", stdin=Terminal("yes\n")).code == 0
    return project


def configure(repo: Repo, text: str) -> None:
    path = Path(repo.env["XDG_CONFIG_HOME"], "cli-guard", "config.toml")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def send(repo: Repo, agent: str, data: object) -> tuple[str, str]:
    return meaning(agent, send_request(repo, agent, data))


def run(repo: Repo, agent: str, command: str) -> tuple[str, str]:
    return send(repo, agent, payload(repo, agent, "shell", command=command))


def write(repo: Repo, agent: str, name: str, text: str = "x") -> str:
    """What is said about a file that the agent writes with its own tool."""
    if agent == "codex":
        verb = "Update" if (repo.path / name).exists() else "Add"
        patch = f"*** Begin Patch\n*** {verb} File: {name}\n+{text}\n*** End Patch"
        return send(repo, agent, payload(repo, agent, "apply", command=patch))[0]
    where = path_key(repo, agent, "write")
    return send(
        repo, agent, payload(repo, agent, "write", **{where: str(repo.path / name)})
    )[0]


@pytest.mark.parametrize("agent", NAMES)
def test_the_work_of_a_trusted_tree_passes(trusted: Repo, agent: str) -> None:
    for command in (
        "make test",
        "git add -A",
        "echo x > src/a.txt",
        "curl localhost:8000/health",
    ):
        assert run(trusted, agent, command) == PASSED.get(agent, SILENCE), command
    configure(trusted, f'[agent.{agent}]\nanswer = "allow"\n')
    said, reason = run(trusted, agent, "make test")
    assert said == ("allow" if agent in WORDS else "nothing")
    # Cursor's answer has no reason for what is allowed.
    assert reason == ("" if said == "nothing" or agent == "cursor" else ALLOWED[1])


@pytest.mark.parametrize("agent", NAMES)
def test_what_leaves_a_trusted_tree_needs_a_person(trusted: Repo, agent: str) -> None:
    asked = ASKS.get(agent, "deny")
    said, reason = run(trusted, agent, "npm ci")
    assert said == asked
    effect, _, rest = reason.rstrip().partition("\n")
    if asked == "ask":
        allow = "; to allow it from now on: `cli-guard allow 'npm ci'`"
        assert (effect, rest) == (
            f"cli-guard: npm ci installs packages, whose code runs{allow}",
            "",
        )
    else:
        assert effect == "cli-guard: npm ci installs packages, whose code runs"
        assert (
            rest.startswith("A person must decide, but ") and SILENT.get(agent, "") in rest
        )
        typed = "your user types `cli-guard allow --last` or runs the command itself"
        assert f"do without it, or {typed}, in a terminal of their own" in rest
    assert run(trusted, agent, "rm -rf /")[0] == "deny"


# The commands with which a user could allow it, in a tree that is not trusted and in one that is.
WAYS = [
    ("make test", ["cli-guard allow 'make test'", "cli-guard trust --agents"], None),
    ("npm ci", ["cli-guard allow 'npm ci'"], ["cli-guard allow 'npm ci'"]),
    (
        "frobnicate --all",
        ["cli-guard allow --program frobnicate"],
        ["cli-guard allow --program frobnicate"],
    ),
    ("rm -rf build", ["cli-guard trust --agents"], None),
    # A rule would not lift the folder, and trust covers no other one.
    ("cd /elsewhere && make", [], []),
    ("ssh host ls", [], []),
    # Only in a trusted tree is one rule enough.
    ("npm ci && make test", [], ["cli-guard allow 'npm ci'"]),
]


@pytest.mark.parametrize(("command", "before", "after"), WAYS)
def test_only_what_helps_is_named(
    project: Repo, command: str, before: list[str], after: list[str] | None
) -> None:
    def ways() -> list[str] | None:
        said, reason = run(project, "claude-code", command)
        return None if said == "allow" else reason.split("`")[1::2]

    assert ways() == before
    configure(project, '[agent]\nprofile = "strict"\n')
    assert ways() == [each for each in before if each != "cli-guard trust --agents"]
    configure(project, "")
    assert guard(project, "trust", "--agents", stdin=Terminal("yes\n")).code == 0
    assert ways() == after


@pytest.mark.parametrize("agent", ["claude-code", "codex"])
def test_a_commit_is_reviewed_in_a_trusted_tree(trusted: Repo, agent: str) -> None:
    stage(trusted, {"b.py": '"""A module."""\n'})
    assert run(trusted, agent, "git commit -m x") == PASSED.get(agent, SILENCE)
    stage(trusted, {"settings.py": f'key = "{key()}"\n'})
    said, reason = run(trusted, agent, "git commit -m x")
    assert said == "deny" and "settings.py:1" in reason and key() not in reason


@pytest.mark.parametrize("agent", NAMES)
def test_floors_for_one_agent(trusted: Repo, agent: str) -> None:
    other = next(each for each in NAMES if each != agent)
    configure(trusted, f'[agent.{agent}]\nprofile = "floors"\n')
    assert run(trusted, agent, "npm ci") == ("nothing", "")
    assert run(trusted, agent, "rm -rf /")[0] == "deny"
    assert run(trusted, other, "npm ci")[0] == ASKS.get(other, "deny")


WRITERS = [agent for agent in NAMES if "write" in kinds_of(agent) or agent == "codex"]
ASKED = [
    NEW,
    "Jenkinsfile",
    ".gitea/workflows/ci.yml",
    ".cirrus.yml",
    ".claude/commands/x.md",
    ".cursor/rules/x.mdc",
    ".vscode/tasks.json",
    ".npmrc",
    "node_modules/a/index.js",
]


@pytest.mark.parametrize("agent", WRITERS)
def test_a_file_is_written_as_by_a_command(trusted: Repo, agent: str) -> None:
    asked = ASKS.get(agent, "deny")
    passed = PASSED.get(agent, SILENCE)[0]
    assert write(trusted, agent, WORKFLOW) == passed
    for name in ASKED:
        assert write(trusted, agent, name) == asked, name
        assert run(trusted, agent, f"echo x > {name}")[0] == asked, name
    for name in (".claude/settings.json", ".git/hooks/pre-commit"):
        assert write(trusted, agent, name) == "deny", name
    for name in (
        "src/new.py",
        ".github/CODEOWNERS",
        ".env",
        "claude/x.md",
        "docs/Jenkinsfile",
    ):
        assert write(trusted, agent, name) == (passed if name != ".env" else "nothing"), (
            name
        )


def test_without_trust_an_old_ci_definition_is_asked_about(
    project: Repo, tmp_path: Path
) -> None:
    assert write(project, "claude-code", WORKFLOW) == "ask"
    # Trust in one tree says nothing about another one.
    assert guard(project, "trust", "--agents", stdin=Terminal("yes\n")).code == 0
    other = Repo(tmp_path / "other", project.env)
    other.path.mkdir()
    other.git("init", "-q")
    other.write(WORKFLOW, "on: push\n")
    name = f"../other/{WORKFLOW}"
    assert (project.path / name).exists()
    assert write(project, "claude-code", name) == "ask"


def allow(repo: Repo, command: str = "make test", **more: object) -> bool:
    """Whether an allow is said to Claude Code; `more` are keys of its request."""
    data = payload(repo, "claude-code", "shell", command=command) | more
    return send(repo, "claude-code", data)[0] == "allow"


def test_an_allow_is_said_only_in_a_trusted_tree(project: Repo, tmp_path: Path) -> None:
    assert not allow(project) and not allow(project, "ls")
    assert guard(project, "trust", "--agents", stdin=Terminal("yes\n")).code == 0
    assert allow(project) and allow(project, "ls")
    other = Repo.create(tmp_path / "other", project.env)
    assert not allow(project, cwd=str(other.path))
    assert not allow(project, f"ls {other.path}; npm ci")
    assert guard(project, "trust", "--revoke").code == 0
    assert not allow(project)


@pytest.mark.parametrize(
    "more",
    [
        {"permission_mode": "plan"},
        {"permission_mode": "auto"},
        {"permission_mode": "bypassPermissions"},
        {"permission_mode": "off"},
        {"permission_mode": ["default"]},
        {"timestamp": "2026-11-29T00:00:00Z"},
        {"turn_id": "1"},
        {"tool_name": "mcp__files__run"},
        {"tool_name": "WebFetch"},
    ],
)
def test_an_allow_is_not_said_to_another_agent_mode_or_tool(
    trusted: Repo, more: dict[str, object]
) -> None:
    assert not allow(trusted, **more)


@pytest.mark.parametrize("key", ["dangerouslyDisableSandbox", "sandbox", "cmd"])
def test_an_allow_answers_no_question_that_it_does_not_know(
    trusted: Repo, key: str
) -> None:
    data = payload(trusted, "claude-code", "shell", command="make test")
    data["tool_input"][key] = True if key != "cmd" else "ls"
    assert send(trusted, "claude-code", data)[0] == "nothing"


@pytest.mark.parametrize("text", ['answer = "defer"', 'profile = "strict"'])
def test_a_user_may_want_silence(trusted: Repo, text: str) -> None:
    configure(trusted, f"[agent]\n{text}\n")
    assert not allow(trusted, "ls")


@pytest.mark.parametrize("profile", ["strict", "floors"])
def test_other_profiles_of_the_tree_say_nothing(project: Repo, profile: str) -> None:
    command = ("trust", "--agents", "--profile", profile)
    assert guard(project, *command, stdin=Terminal("yes\n")).code == 0
    assert not allow(project, "ls")


def test_records_that_come_with_a_clone_are_no_trust(project: Repo, tmp_path: Path) -> None:
    """A clone brings a state folder and a Git folder, and the settings of its agent name them."""
    env = project.env | {"XDG_STATE_HOME": str(project.path / "state")}
    inside = Repo(project.path, env)
    assert guard(inside, "trust", "--agents", stdin=Terminal("yes\n")).code == 0
    assert not allow(inside)
    assert guard(project, "trust", "--agents", stdin=Terminal("yes\n")).code == 0
    assert allow(project)
    shutil.copytree(project.path / ".git", project.path / "brought")
    (project.path / ".git" / "cli-guard" / "audit.jsonl").unlink()
    assert not allow(project)
    moved = {"GIT_DIR": str(project.path / "brought")}
    assert not allow(Repo(project.path, project.env | moved))
    linked = tmp_path / "linked"
    linked.symlink_to(project.path / "state")
    assert not allow(Repo(project.path, project.env | {"XDG_STATE_HOME": str(linked)}))


FORGERIES = [
    "cp /tmp/trees.json {state}/trees.json",
    "mkdir -p {state}; cat > {state}/trees.json <<X\n{{}}\nX",
    "python3 -c \"open('{state}/trees.json', 'w').write('{{}}')\"",
    "echo '{{}}' >> .git/cli-guard/audit.jsonl",
    "cli-guard trust --agents",
    "script -qec 'cli-guard trust --agents' /dev/null <<< yes",
    'python3 -c \'import pty; pty.spawn(["cli-guard", "trust", "--agents"])\'',
    "env -u CLAUDECODE setsid cli-guard trust --agents",
    "printf '[agent]\\nanswer = \"allow\"\\n' > {config}/config.toml",
    "git config core.hooksPath /tmp/x",
    "XDG_STATE_HOME=/tmp/x make test",
]


@pytest.mark.parametrize("command", FORGERIES)
@pytest.mark.parametrize("is_trusted", [False, True])
def test_an_agent_with_a_shell_does_not_get_to_trust(
    project: Repo, command: str, is_trusted: bool
) -> None:
    if is_trusted:
        assert guard(project, "trust", "--agents", stdin=Terminal("yes\n")).code == 0
    state = Path(project.env["HOME"], ".local/state/cli-guard")
    config = Path(project.env["XDG_CONFIG_HOME"], "cli-guard")
    text = command.format(state=state, config=config)
    assert run(project, "claude-code", text)[0] in ("ask", "deny")
