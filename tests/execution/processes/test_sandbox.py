"""The sandbox: its command line, and, where bubblewrap works, what a command can and cannot do in it."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import psutil
import pytest
from repositories import Repo
from watching import eventually

from cli_guard.errors import CliGuardError, UsageError
from cli_guard.execution.environment import clean_environment
from cli_guard.execution.processes.sandbox import (
    Sandbox,
    arguments,
    describe_refusal,
    why_not,
    wrap_command,
)

WHY_NOT = why_not()
real = pytest.mark.skipif(WHY_NOT is not None, reason=str(WHY_NOT))
missing = pytest.mark.skipif(WHY_NOT is None, reason="there is a sandbox here")
linux = pytest.mark.skipif(sys.platform != "linux", reason="a sandbox needs Linux")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a key in it, and a tool chain."""
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "id_ed25519").write_text("a key")
    tool = home / ".tools" / "bin" / "greet"
    tool.parent.mkdir(parents=True)
    tool.write_text("#!/bin/sh\necho hello\n")
    tool.chmod(0o755)
    return home


@pytest.fixture
def sandbox(committed: Repo, tmp_path: Path) -> Sandbox:
    """One over a repository with one commit."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    return Sandbox(committed.path, scratch)


def environment(home: Path) -> Mapping[str, str]:
    given = {
        **os.environ,
        "HOME": str(home),
        "PATH": f"{home}/.tools/bin:{os.environ['PATH']}",
    }
    return clean_environment(given).env


def run(
    text: str, sandbox: Sandbox, home: Path, folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    env = environment(home)
    words = wrap_command(("sh", "-c", text), sandbox, folder or sandbox.root, env)
    return subprocess.run(words, env=env, capture_output=True, text=True, timeout=60)


def pairs(given: tuple[str, ...], option: str) -> list[str]:
    return [given[at + 1] for at, word in enumerate(given) if word == option]


@linux
def test_the_command_line_says_what_is_seen(sandbox: Sandbox, home: Path) -> None:
    given = arguments(sandbox, sandbox.root, environment(home))
    assert {"--unshare-all", "--die-with-parent", "--new-session"} <= set(given)
    assert "--share-net" not in given
    assert pairs(given, "--bind") == [str(sandbox.scratch)]
    assert {str(sandbox.root), str(home / ".tools" / "bin")} <= set(
        pairs(given, "--ro-bind")
    )
    assert {"/tmp", str(home)} <= set(pairs(given, "--tmpfs"))
    # What is mounted later lies on top: an empty home would hide the tool chain in it.
    assert given.index(str(home)) < given.index(str(home / ".tools" / "bin"))
    assert given[-2:] == ("--chdir", str(sandbox.root))


@linux
def test_no_folder_that_holds_the_home_is_seen(sandbox: Sandbox, home: Path) -> None:
    """Neither by PATH nor by the file of a virtual environment, which may be the repository's."""
    venv = sandbox.root / ".venv"
    (venv / "bin").mkdir(parents=True)
    env = {
        "HOME": str(home),
        "PATH": f"/:{home.parent}:{home}:{venv}/bin:relative:/nowhere",
        "PYENV_ROOT": str(home),
    }
    for base in (home / ".ssh" / "bin", home, home / "x", Path("/bin")):
        (venv / "pyvenv.cfg").write_text(f"version = 3\nhome = {base}\n")
        seen = {
            path
            for path in pairs(arguments(sandbox, sandbox.root, env), "--ro-bind")
            if path != "/dev/null"
        }
        assert seen == {str(sandbox.root)}


@pytest.mark.parametrize(
    "case",
    [
        "no scratch",
        "root is a file",
        "loop",
        "no folder",
        "same",
        "holds home",
        "is home",
        "outside",
    ],
)
def test_folders_that_do_not_fit_together_are_refused(
    case: str, sandbox: Sandbox, home: Path, tmp_path: Path
) -> None:
    root = sandbox.root
    scratch = sandbox.scratch
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    wrong, folder, why = {
        "no scratch": (Sandbox(root, tmp_path / "no"), root, "is not a folder"),
        "root is a file": (Sandbox(root / "app.py", scratch), root, "is not a folder"),
        "loop": (Sandbox(tmp_path / "loop", scratch), root, "is not a folder"),
        "no folder": (sandbox, root / "no", "is not a folder"),
        "same": (Sandbox(root, root), root, "both read-only and scratch"),
        "holds home": (Sandbox(tmp_path, scratch), tmp_path, "holds the home folder"),
        "is home": (Sandbox(root, home), root, "holds the home folder"),
        "outside": (sandbox, tmp_path, "is not visible in the sandbox"),
    }[case]
    with pytest.raises(UsageError, match=why):
        arguments(wrong, folder, {"HOME": str(home)})


def test_it_is_said_what_to_do() -> None:
    said = describe_refusal("warning\nbwrap: No permissions to create \x1b[31mnamespace\n")
    assert "AppArmor" in said and "kernel.unprivileged_userns_clone=1" in said
    assert "No permissions" in said
    assert "\x1b" not in said
    assert "\n" not in said
    assert "no reason given" in describe_refusal("")


@missing
def test_without_bubblewrap_nothing_is_run(sandbox: Sandbox, home: Path) -> None:
    with pytest.raises(CliGuardError):
        wrap_command(("true",), sandbox, sandbox.root, environment(home))


def test_a_bubblewrap_of_the_repository_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "bwrap").write_text("#!/bin/sh\ntouch taken\n")
    (tmp_path / "bwrap").chmod(0o755)
    code = "from cli_guard.execution.processes.sandbox import why_not; print(why_not())"
    env = {**os.environ, "PATH": f".::{'' if WHY_NOT is None else '/nowhere'}"}
    words = (sys.executable, "-c", code)
    said = subprocess.run(
        words, cwd=tmp_path, env=env, capture_output=True, text=True, check=True
    ).stdout
    assert "install" in said or "Linux" in said
    assert not (tmp_path / "taken").exists()


@real
def test_the_repository_is_read_and_scratch_is_written(
    sandbox: Sandbox, home: Path
) -> None:
    done = run(
        f"cat app.py && git log --format=%s && echo made > {sandbox.scratch}/made",
        sandbox,
        home,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "x = 1\nStart\n", "")
    assert (sandbox.scratch / "made").read_text() == "made\n"
    assert run("cat made", sandbox, home, sandbox.scratch).stdout == "made\n"


@real
@pytest.mark.parametrize(
    "text",
    [
        *(
            "touch new",
            "echo x >> app.py",
            "rm app.py",
            "git commit --allow-empty -m x",
            "echo > .git/HEAD",
        ),
        *(
            "mount -o remount,bind,rw $PWD; touch new",
            "umount $PWD; touch new",
            "unshare -Urm sh -c 'mount -o remount,bind,rw $PWD; touch new'",
            "touch /usr/new",
            "touch /etc/new",
            "cat /etc/shadow",
            "ls /root/*",
        ),
        *(
            "cat ~/.ssh/id_ed25519",
            "kill -9 $PPID_OUTSIDE",
            "test -e $OUTSIDE",
            "cat /proc/$PPID_OUTSIDE/environ",
        ),
    ],
)
def test_what_a_command_cannot_do(
    text: str, sandbox: Sandbox, home: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.write_text("x")
    before = Path(sandbox.root, ".git/HEAD").read_text()
    setting = f"OUTSIDE={outside} PPID_OUTSIDE={os.getpid()}; "
    assert run(setting + text, sandbox, home).returncode != 0
    assert sorted(os.listdir(sandbox.root)) == [".git", "app.py"]
    assert (sandbox.root / "app.py").read_text() == "x = 1\n"
    assert Path(sandbox.root, ".git/HEAD").read_text() == before


@real
def test_the_home_is_empty_and_ends_with_the_command(sandbox: Sandbox, home: Path) -> None:
    done = run(
        "greet; ls -A ~; touch ~/kept /tmp/kept && ls ~; echo $TMPDIR", sandbox, home
    )
    assert done.stdout.split() == ["hello", ".tools", "kept"]
    assert not (home / "kept").exists()
    assert not Path("/tmp/kept").exists()


@real
def test_a_home_by_another_name_is_empty_too(
    sandbox: Sandbox, home: Path, tmp_path: Path
) -> None:
    (tmp_path / "other").symlink_to(home)
    done = run(
        f"ls -A ~; ls {home}/.ssh; touch ~/kept && ls ~", sandbox, tmp_path / "other"
    )
    assert done.stdout.split() == [".tools", "kept"]
    assert sorted(os.listdir(home)) == [".ssh", ".tools"]


@real
def test_there_is_no_network_but_a_loopback_of_its_own(
    sandbox: Sandbox, home: Path
) -> None:
    assert run(
        "cat /proc/net/dev | tail -n +3 | cut -d: -f1", sandbox, home
    ).stdout.split() == ["lo"]


@real
def test_exit_codes_pass(sandbox: Sandbox, home: Path) -> None:
    assert run("exit 7", sandbox, home).returncode == 7
    assert run("kill -KILL $$", sandbox, home).returncode == 137


@real
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_command_may_end_by_itself(
    number: signal.Signals, sandbox: Sandbox, home: Path
) -> None:
    env = environment(home)
    text = "trap 'echo bye > bye; exit 5' INT TERM; echo > up; while :; do sleep 0.05; done"
    words = wrap_command(("bash", "-c", text), sandbox, sandbox.scratch, env)
    process = subprocess.Popen(words, env=env, start_new_session=True)
    try:
        assert eventually((sandbox.scratch / "up").exists)
        for each in (process, *psutil.Process(process.pid).children(recursive=True)):
            with contextlib.suppress(psutil.NoSuchProcess):
                each.send_signal(number)
        assert process.wait(30) == 5
        assert (sandbox.scratch / "bye").exists()
    finally:
        process.kill()
        process.wait(30)


@real
def test_whoever_kills_it_kills_the_command(sandbox: Sandbox, home: Path) -> None:
    env = environment(home)
    words = wrap_command(("sleep", "60"), sandbox, sandbox.scratch, env)
    process = subprocess.Popen(words, env=env)
    family: list[psutil.Process] = []

    def is_up() -> bool:
        family[:] = psutil.Process(process.pid).children(recursive=True)
        return any(each.name() == "sleep" for each in family)

    assert eventually(is_up)
    process.kill()
    process.wait(30)
    assert not psutil.wait_procs(family, 30)[1]


@real
def test_a_program_that_is_not_there_is_named(sandbox: Sandbox, home: Path) -> None:
    env = environment(home)
    words = wrap_command(("no-such-program",), sandbox, sandbox.root, env)
    done = subprocess.run(words, env=env, capture_output=True, text=True)
    assert done.returncode != 0
    assert "no-such-program" in done.stderr


@real
def test_a_linked_work_tree_sees_its_repository(
    committed: Repo, home: Path, tmp_path: Path
) -> None:
    linked = tmp_path / "linked"
    scratch = tmp_path / "scratch"
    committed.git("worktree", "add", "-q", str(linked))
    scratch.mkdir()
    sandbox = Sandbox(linked, scratch)
    assert run("git log --format=%s", sandbox, home).stdout == "Start\n"
    assert run(f"touch {committed.path}/.git/new", sandbox, home).returncode != 0


@real
def test_the_python_of_a_virtual_environment_runs(
    sandbox: Sandbox, home: Path, tmp_path: Path
) -> None:
    venv = tmp_path / "venv"
    subprocess.run((sys.executable, "-m", "venv", "--without-pip", str(venv)), check=True)
    done = run(f"{venv}/bin/python -c 'import sys; print(sys.prefix)'", sandbox, home)
    assert done.returncode != 0
    env = {**environment(home), "PATH": f"{venv}/bin:/usr/bin:/bin"}
    words = wrap_command(
        ("python", "-c", "import sys; print(sys.prefix)"), sandbox, sandbox.root, env
    )
    assert (
        subprocess.run(words, env=env, capture_output=True, text=True).stdout == f"{venv}\n"
    )
