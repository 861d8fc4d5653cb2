"""Beside other hook managers: `doctor` says what would run, `install` names what to add, and nothing runs twice."""

import os
from pathlib import Path

import pytest
from examples import table
from in_process import guard
from repositories import Done, Repo, key

from cli_guard.git.managers import FRAMEWORKS

STAGES = ("pre-commit", "pre-merge-commit", "commit-msg", "pre-push")
WRAPPER = '#!/usr/bin/env sh\n. "$(dirname "$0")/h"\n'
H = """\
#!/usr/bin/env sh
n=$(basename "$0")
s=$(dirname "$(dirname "$0")")/$n
[ ! -f "$s" ] && exit 0
[ "${HUSKY-}" = "0" ] && exit 0
sh -e "$s" "$@"
"""


def doctor(repo: Repo) -> tuple[dict[str, str], list[str]]:
    """What it says of each hook or file, and its alarms about hooks."""
    section = guard(repo, "doctor").out.split("Hooks\n")[1].split("\nPolicy\n")[0]
    lines = [line.strip() for line in section.splitlines()]
    said = dict(line.split(": ", 1) for line in lines if not line.startswith("!"))
    return said, [line for line in lines if line.startswith("!")]


def put(repo: Repo, name: str, text: str) -> None:
    repo.write(name, text).chmod(0o755)


def husky(repo: Repo, folder: str = ".husky") -> None:
    """The files that Husky 9 makes, and its setting."""
    for name in STAGES:
        put(repo, f"{folder}/_/{name}", WRAPPER)
    repo.write(f"{folder}/_/h", H)
    repo.git("config", "core.hooksPath", f"{folder}/_")


def leak(repo: Repo, name: str = "key.py") -> Done:
    repo.write(name, f'KEY = "{key()}"\n')
    repo.git("add", name)
    return repo.try_git("commit", "-qm", "Add the key")


@pytest.mark.parametrize("folder", [".husky", "deep/my hooks"])
def test_husky_from_nothing_to_a_guarded_commit(committed: Repo, folder: str) -> None:
    husky(committed, folder)
    before = {
        path: path.read_bytes() for path in committed.path.rglob("*") if path.is_file()
    }
    said, alarms = doctor(committed)
    assert alarms == [
        "! Husky runs no cli-guard here: `cli-guard install` prints what adds it"
    ]
    done = guard(committed, "install")
    assert (done.code, done.err) == (2, "")
    assert before == {
        path: path.read_bytes() for path in committed.path.rglob("*") if path.is_file()
    }
    lines = [line for line in done.out.splitlines() if line.startswith("  echo ")]
    assert len(lines) == 4
    for line in lines[:-1]:
        assert committed.run("sh", "-c", line).code == 0
    said, alarms = doctor(committed)
    assert alarms == [] and said[folder] == "calls cli-guard"
    assert (
        said["commit-msg"] == "cli-guard, by Husky"
        and said["pre-push"] == "another program"
    )
    done = guard(committed, "install")
    assert (
        done.code == 2
        and [line for line in done.out.splitlines() if line.startswith("  echo ")]
        == lines[-1:]
    )
    assert committed.run("sh", "-c", lines[-1]).code == 0
    done = guard(committed, "install")
    assert done.code == 0 and "a script would be second: commit-msg, pre-commit" in done.out
    done = leak(committed)
    assert done.code == 1 and "key.py:1" in done.all
    # A clone has the files, but not the setting.
    committed.git("config", "--unset", "core.hooksPath")
    if folder == ".husky":
        assert doctor(committed)[1] == [
            "! .husky calls cli-guard, but no hook runs Husky here: run `npx husky`"
        ]
        assert "run `npx husky`" in guard(committed, "install").out


def test_lefthook_is_offered_lines_for_the_stages_that_it_lacks(committed: Repo) -> None:
    committed.write(
        ".lefthook.yaml", "commit-msg:\n  jobs:\n    - run: cli-guard hook commit-msg {1}\n"
    )
    committed.write(
        "lefthook-local.toml",
        '# cli-guard hook pre-push\n[[x]]\nrun = "cli-guard hook pre-merge-commit"\n',
    )
    done = guard(committed, "install")
    assert (done.code, done.err) == (2, "")
    assert done.out.splitlines() == [
        "cli-guard: nothing was changed, because lefthook runs the hooks here",
        "  it runs cli-guard already, a script would be second: commit-msg, pre-merge-commit",
        "  to add it to .lefthook.yaml:",
        *("  pre-commit:", "    jobs:", "      - run: cli-guard hook pre-commit"),
        *(
            "  pre-push:",
            "    jobs:",
            "      - run: cli-guard hook pre-push {1} {2}",
            "        use_stdin: true",
        ),
        "  Git does not run lefthook yet: run `lefthook install`",
    ]
    assert doctor(committed)[1][0].endswith(
        "no hook runs lefthook here: run `lefthook install`"
    )
    put(committed, ".git/hooks/commit-msg", '#!/bin/sh\nlefthook run "commit-msg" "$@"\n')
    said, alarms = doctor(committed)
    assert (said["commit-msg"], said["pre-commit"], alarms) == (
        "cli-guard, by lefthook",
        "not installed",
        [],
    )
    assert guard(committed, "install", "--force", "-t", "pre-push").code == 0
    assert doctor(committed)[0]["pre-push"] == "cli-guard"


SCRIPT = "#!/usr/bin/env bash\n# File generated by {}: https://example.org\n"
IDS = "repos:\n- repo: x\n  hooks:\n  - id: cli-guard\n  # - id: cli-guard-pre-push\n  - {id: cli-guard-merge}\n"


@table(
    ("program", "file", "text", "called"),
    [
        ("pre-commit", ".pre-commit-config.yaml", IDS, {"pre-commit", "pre-merge-commit"}),
        (
            "prek",
            "prek.toml",
            'hooks = [{ id = "cli-guard-commit-msg" }]\n',
            {"commit-msg"},
        ),
        (
            "prek",
            ".pre-commit-config.yml",
            "- id: cli-guard-else\n  entry: cli-guard hook pre-push",
            {"pre-push"},
        ),
        (
            "pre-commit",
            ".pre-commit-config.yaml",
            "- entry: cli-guard\n  args: [hook, pre-push]\n",
            set(STAGES),
        ),
        ("pre-commit", ".pre-commit-config.yaml", "- id: ruff # cli-guard\n", set()),
    ],
)
def test_a_framework_runs_what_its_configuration_names(
    committed: Repo, program: str, file: str, text: str, called: set[str]
) -> None:
    for path in (committed.path / ".git/hooks").glob("*[a-z]"):
        path.unlink()
    for name in FRAMEWORKS:
        (committed.path / name).unlink(missing_ok=True)
    committed.write(file, text)
    assert len(doctor(committed)[1]) == 1
    for stage in STAGES:
        put(committed, f".git/hooks/{stage}", SCRIPT.format(program))
    said, alarms = doctor(committed)
    assert {
        stage for stage in STAGES if said[stage] == f"cli-guard, by {program}"
    } == called
    assert bool(alarms) is not bool(called)
    for stage in called:
        put(committed, f".git/hooks/{stage}.legacy", "#!/bin/sh\n# cli-guard hook: ours\n")
        assert "both review it: remove one" in doctor(committed)[0][stage]


def test_a_folder_of_the_user_s_own_is_read(committed: Repo, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    committed.git("config", "--global", "core.hooksPath", str(own))
    assert "points to" in doctor(committed)[1][0]
    (own / "pre-commit").write_text('#!/bin/sh\nexec cli-guard hook pre-commit "$@"\n')
    assert "points to" in doctor(committed)[1][0], "Git skips what is not executable"
    (own / "pre-commit").chmod(0o755)
    said, alarms = doctor(committed)
    assert (said["pre-commit"], alarms) == ("another program that calls cli-guard", [])
    assert said["core.hooksPath (global)"] == str(own)


def test_hostile_files_of_a_manager_are_read_as_nothing(committed: Repo) -> None:
    os.mkfifo(committed.path / "lefthook.yml")
    committed.write(".pre-commit-config.yaml", "#" * 3_000_000 + "\n- id: cli-guard\n")
    committed.write("prek.toml", "").write_bytes(bytes(range(256)) * 20)
    committed.write(".husky/_/h", "")
    committed.git("config", "core.hooksPath", "\x1b[31mx/_")
    committed.write("\x1b[31mx/_/h", "")
    os.mkfifo(committed.path / "\x1b[31mx/pre-commit")
    done = guard(committed, "doctor")
    assert done.code == 1 and "\x1b" not in done.all
    done = guard(committed, "install")
    assert done.code == 2 and "\x1b" not in done.all
    assert "Husky" in done.out


def configured(repo: Repo) -> list[str]:
    done = repo.try_git("config", "--local", "--list")
    return [line for line in done.out.splitlines() if line.startswith("hook.")]


def test_configured_hooks_are_written_and_taken_out_again(
    committed: Repo, tmp_path: Path
) -> None:
    """The configuration that Git 2.54 runs; an older Git only stores it."""
    committed.git("config", "hook.mine.command", "true")
    config = committed.path / ".git/config"
    before = config.read_bytes()
    fake = put_git(tmp_path, "2.53.1")
    done = guard(committed, "install", "--config", env=fake)
    assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1)
    assert "git version 2.53.1 runs no configured hook (2.54 and newer do)" in done.err
    assert config.read_bytes() == before
    assert guard(committed, "install").code == 0
    assert (
        guard(
            committed, "install", "--config", "--force", "-t", "pre-commit", env=fake
        ).code
        == 0
    )
    assert doctor(committed) == ({**doctor(committed)[0], "pre-commit": "cli-guard"}, []), (
        "needs the script"
    )
    hook = committed.path / ".git/hooks/pre-commit"
    hook.chmod(0o644)
    assert "cannot run" in doctor(committed)[1][0]
    hook.chmod(0o755)
    fake = put_git(tmp_path, "2.54.0.windows.1")
    done = guard(committed, "install", "--config", env=fake)
    assert done.code == 0 and "pre-push: configured as hook.cli-guard-pre-push" in done.out
    assert configured(committed)[1:3] == [
        'hook.cli-guard-pre-commit.command="$(git rev-parse --git-common-dir)/hooks/cli-guard/pre-commit"',
        "hook.cli-guard-pre-commit.event=pre-commit",
    ]
    assert len(configured(committed)) == 11
    assert not (committed.path / ".git/hooks/pre-commit").exists(), "it would run twice"
    newer = Repo(committed.path, committed.env | fake)
    said, alarms = doctor(newer)
    assert (said["commit-msg"], alarms) == (
        "cli-guard, configured as hook.cli-guard-commit-msg",
        [],
    )
    # What was edited, or is gone, is an alarm: no hook of that event would review.
    script = committed.path / ".git/hooks/cli-guard/commit-msg"
    intact = script.read_bytes()
    script.write_bytes(intact.splitlines(True)[0] + b"exit 0\n")
    assert "commit-msg is not as" in doctor(newer)[1][0]
    script.write_bytes(intact)
    committed.git("config", "hook.cli-guard-commit-msg.command", "true cli-guard")
    assert doctor(newer)[0]["commit-msg"] == "not installed"
    # The command as Git starts it, from any work tree.
    committed.git("worktree", "add", "-q", str(tmp_path / "linked"))
    linked = Repo(tmp_path / "linked", committed.env)
    linked.write("key.py", f'KEY = "{key()}"\n')
    linked.git("add", "key.py")
    command = linked.git("config", "hook.cli-guard-pre-commit.command")
    done = linked.run("sh", "-c", f'{command} "$@"', command)
    assert done.code == 1 and "key.py:1" in done.all
    committed.git("config", "hook.cli-guard-pre-commit.enabled", "false")
    assert doctor(newer)[0]["pre-commit"] == "not installed"
    committed.git("config", "--unset", "hook.cli-guard-pre-commit.enabled")
    assert guard(committed, "install", "-t", "pre-push", env=fake).code == 0
    assert not [line for line in configured(committed) if "pre-push" in line]
    assert guard(committed, "uninstall").code == 0
    assert config.read_bytes() == before
    assert not (committed.path / ".git/hooks/cli-guard").exists()
    assert "no cli-guard hook is installed" in guard(committed, "uninstall").out


def put_git(folder: Path, version: str) -> dict[str, str]:
    """A `git` that claims to be of a version, in front of the real one."""
    script = folder / "bin" / "git"
    script.parent.mkdir(exist_ok=True)
    script.write_text(
        f'#!/bin/sh\nfor each; do [ "$each" != version ] || {{ echo git version {version}; exit; }}; done\n'
        f'PATH="${{PATH#*:}}"; exec git "$@"\n'
    )
    script.chmod(0o755)
    return {"PATH": f"{script.parent}:{os.environ['PATH']}"}


def test_a_configuration_that_cannot_be_written(committed: Repo, tmp_path: Path) -> None:
    (committed.path / ".git/config.lock").write_text("")
    done = guard(committed, "install", "--config", env=put_git(tmp_path, "3.0"))
    assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1)
    assert "could not lock config file" in done.err


def test_a_server_needs_the_hook_of_a_push_alone(
    tmp_path: Path, isolated: dict[str, str]
) -> None:
    bare = Repo.create(tmp_path / "bare", isolated, "--bare")
    guard(bare, "install", "-t", "pre-receive")
    said, alarms = doctor(bare)
    assert (said["pre-receive"], alarms) == ("cli-guard", [])
