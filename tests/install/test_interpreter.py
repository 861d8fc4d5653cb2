"""The program behind the hooks: gone, moved, or with something hostile in its way."""

import shutil
import subprocess
import sys
from importlib.util import cache_from_source
from pathlib import Path

import pytest
from repositories import Repo, cold, isolated_environment, key

LEAK = f'KEY = "{key()}"\n'
SHORT = "/usr/bin:/bin"
HOOKS = ("pre-commit", "pre-merge-commit", "commit-msg", "pre-push")
IMPOSTORS = (
    "click",
    "json",
    "sitecustomize",
    "usercustomize",
    "cli_guard/__init__",
    "yaml/__init__",
    "encodings",
)


def site_packages(venv: Path) -> Path:
    return next(venv.glob("lib/python3*/site-packages"))


@pytest.fixture(scope="session")
def hooks(
    installed: Path, templates: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """The hooks that an installation out of a copy like `venv` writes, by name, with `VENV` in place of its path."""
    folder = tmp_path_factory.mktemp("borrowed")
    copy = folder / "a venv"
    subprocess.run(("cp", "-a", installed, copy), check=True, timeout=60)
    repo = Repo(
        Path(shutil.copytree(templates[1], folder / "repo")), isolated_environment(folder)
    )
    done = repo.run(str(copy / "bin/python"), "-m", "cli_guard", "install")
    assert done.code == 0, done.err
    texts = {path.name: path.read_text() for path in (repo.path / ".git/hooks").iterdir()}
    assert str(copy) in texts["pre-commit"]
    return {name: text.replace(str(copy), "VENV") for name, text in texts.items()}


@pytest.fixture
def borrowed(committed: Repo, venv: Path, hooks: dict[str, str]) -> Repo:
    """A repository whose hooks were installed out of `venv`."""
    for name, text in hooks.items():
        committed.write(f".git/hooks/{name}", text.replace("VENV", str(venv))).chmod(0o755)
    committed.write("app.py", LEAK)
    committed.git("add", "-A")
    return committed


def test_the_interpreter_of_the_installation_reviews(borrowed: Repo) -> None:
    done = borrowed.try_git("commit", "-qm", "Add the key", env={"PATH": SHORT})
    assert done.code == 1 and "app.py:1" in done.all


def lose(what: str, venv: Path) -> None:
    package = site_packages(venv) / "cli_guard"
    shutil.rmtree(venv if what == "the environment" else package)
    if what == "the package but for its folder":
        # What an uninstallation leaves; Python takes it for a namespace package.
        (package / "__pycache__").mkdir(parents=True)


LOSSES = ("the environment", "the package", "the package but for its folder")


@pytest.mark.parametrize("lost", LOSSES)
def test_path_is_next(borrowed: Repo, venv: Path, lost: str) -> None:
    lose(lost, venv)
    done = borrowed.try_git("commit", "-qm", "Add the key")
    assert done.code == 1 and "app.py:1" in done.all
    if lost != "the environment":
        # What finds the program is the same text in each hook.
        return
    remote = borrowed.path.parent / "remote.git"
    borrowed.git("init", "-q", "--bare", str(remote))
    borrowed.git("commit", "-qnm", "Add the key")
    done = borrowed.try_git("push", "-q", str(remote), "main")
    assert done.code == 1 and "app.py" in done.all


def test_a_package_that_moved_with_a_new_python_is_found(
    borrowed: Repo, venv: Path
) -> None:
    site = site_packages(venv)
    (site / "cli_guard").rename(venv / "cli_guard")
    (site / "moved.pth").write_text(f"{venv}\n")
    done = borrowed.try_git("commit", "-qm", "Add the key", env={"PATH": SHORT})
    assert done.code == 1 and "app.py:1" in done.all


@pytest.mark.parametrize("lost", LOSSES)
def test_nothing_left_blocks_and_says_how_to_go_on(
    borrowed: Repo, venv: Path, lost: str
) -> None:
    lose(lost, venv)
    for hook in HOOKS:
        done = borrowed.run(f".git/hooks/{hook}", env={"PATH": SHORT})
        assert (done.code, done.out) == (1, "")
        assert done.err == (
            "cli-guard: not found, so nothing was reviewed. Install it again and run 'cli-guard install',\n"
            f"or delete .git/hooks/{hook}. To go on once without it: CLI_GUARD=0 git ...\n"
        )
        done = borrowed.run(f".git/hooks/{hook}", env={"PATH": SHORT, "CLI_GUARD": "0"})
        assert (done.code, done.err) == (0, f"cli-guard: {hook} skipped (CLI_GUARD=0)\n")


def test_to_go_on_once_as_the_message_says(borrowed: Repo, venv: Path) -> None:
    shutil.rmtree(venv)
    done = borrowed.try_git("commit", "-qm", "Add the key", env={"PATH": SHORT})
    assert done.code == 1 and "CLI_GUARD=0 git ..." in done.err
    borrowed.git("commit", "-qm", "Add the key", env={"PATH": SHORT, "CLI_GUARD": "0"})


def plant(repo: Repo) -> Path:
    """Modules at the root of the work tree that leave a file when they are imported, and that fail."""
    traces = repo.path.parent / "traces"
    traces.mkdir()
    for name in IMPOSTORS:
        trace = traces / name.partition("/")[0]
        repo.write(
            f"{name}.py", f"open({str(trace)!r}, 'w').close()\nraise SystemExit(0)\n"
        )
    repo.git("add", "-A")
    repo.git("commit", "-qnm", "Plant")
    return traces


MANY = {"PYTHONPATH": ".", "PYTHONHOME": "/nowhere", "PYTHONSTARTUP": "click.py"}


@cold
@pytest.mark.parametrize(
    ("found_by", "variables"),
    [
        pytest.param("its interpreter", {}, id="none"),
        pytest.param("its interpreter", {"PYTHONPATH": ":"}, id="empty entry"),
        pytest.param("its interpreter", {"PYTHONHOME": "."}, id="home"),
        pytest.param("its interpreter", MANY, id="many"),
        pytest.param("PATH", {"PYTHONPATH": ":", "PYTHONHOME": "."}, id="PATH"),
        pytest.param("PATH", MANY, id="PATH, many"),
    ],
)
def test_no_module_of_the_work_tree_is_imported(
    guarded: Repo, variables: dict[str, str], found_by: str
) -> None:
    traces = plant(guarded)
    if found_by == "PATH":
        for hook in HOOKS:
            path = guarded.path / ".git/hooks" / hook
            path.write_text(path.read_text().replace(sys.executable, "/nowhere/python"))
    guarded.write("app.py", LEAK)
    guarded.git("add", "-A")
    done = guarded.try_git("commit", "-qm", "Add the key", env=variables)
    assert [path.name for path in traces.iterdir()] == []
    assert done.code == 1 and "app.py:1" in done.all
    done = guarded.run(".git/hooks/pre-push", "origin", "url", env=variables)
    assert (done.code, done.all) == (0, "")
    assert [path.name for path in traces.iterdir()] == []


@pytest.mark.parametrize(
    ("python", "gone"),
    [("/nowhere/python", "PYTHON"), ("@FAKE@", "PYTHONUSERBASE")],
    ids=["PATH", "its own"],
)
def test_no_variable_decides_whose_packages_are_loaded(
    guarded: Repo, tmp_path: Path, python: str, gone: str
) -> None:
    """With -E Python ignores its variables, but for the user's own folder; a program on PATH has no -E."""
    fake = guarded.write("../bin/cli-guard", "#!/bin/sh\nenv\n")
    fake.chmod(0o755)
    variables = dict.fromkeys(
        ("PYTHONUSERBASE", "PYTHONPYCACHEPREFIX", "PYTHON_X1"), "/nowhere\nx"
    )
    for hook in HOOKS:
        path = guarded.path / ".git/hooks" / hook
        path.write_text(
            path.read_text().replace(sys.executable, python.replace("@FAKE@", str(fake)))
        )
        done = guarded.run(
            f".git/hooks/{hook}", "a", env=variables | {"PATH": f"{fake.parent}:{SHORT}"}
        )
        assert (done.code, gone in done.out) == (0, False), done.all
        assert "GIT_AUTHOR_NAME" in done.out


def test_the_impostors_would_be_imported_without_care(guarded: Repo) -> None:
    """What the test above rests on."""
    traces = plant(guarded)
    guarded.run(sys.executable, "-c", "import click")
    guarded.run(sys.executable, "-c", "pass", env={"PYTHONPATH": "."})
    assert {"click", "sitecustomize"} & {path.name for path in traces.iterdir()}


def test_the_bytecode_is_there_before_the_first_commit(committed: Repo, venv: Path) -> None:
    package = site_packages(venv) / "cli_guard"
    for folder in list(package.rglob("__pycache__")):
        shutil.rmtree(folder)
    guard = (str(venv / "bin" / "python"), "-m", "cli_guard", "install")
    assert committed.run(*guard, env={"PYTHONDONTWRITEBYTECODE": "1"}).code == 0
    assert not list(package.rglob("*.pyc"))
    assert committed.run(*guard, env={"PYTHONDONTWRITEBYTECODE": ""}).code == 0
    compiled = {Path(cache_from_source(str(file))) for file in package.rglob("*.py")}
    assert compiled and all(file.exists() for file in compiled)


@cold
def test_what_lies_beside_an_editable_package_is_searched_last(
    committed: Repo, venv: Path, tmp_path: Path
) -> None:
    clone = tmp_path / "clone"
    clone.mkdir()
    (site_packages(venv) / "cli_guard").rename(clone / "cli_guard")
    (site_packages(venv) / "editable.pth").write_text(f"{clone}\n")
    for name in ("click", "yaml", "pydantic", "tomllib"):
        (clone / f"{name}.py").write_text("raise SystemExit(9)\n")
    assert committed.run(str(venv / "bin/python"), "-m", "cli_guard", "install").code == 0
    committed.write("app.py", LEAK)
    committed.git("add", "-A")
    done = committed.try_git("commit", "-qm", "Add the key", env={"PATH": SHORT})
    assert done.code == 1 and "app.py:1" in done.all
