"""Native hooks and a framework in one repository: either may come first, and each finds the other again."""

from pathlib import Path

import pytest
from frameworks.programs import Framework
from in_process import guard
from preloaded import use_preloaded
from repositories import Repo, key

from cli_guard.hooks import WORK_TREE_HOOKS

LEAK = f'KEY = "{key()}"\n'
EMPTY = """\
repos:
  - repo: local
    hooks:
      - {id: hi, name: framework ran, language: system, entry: echo, always_run: true}
"""


@pytest.fixture(params=["pre-commit", "prek"])
def bare_framework(
    request: pytest.FixtureRequest, tmp_path: Path, preloaded: Path
) -> Framework:
    """A framework without our hooks in it: nothing to install."""
    store = str(tmp_path / "store")
    stores = {"PRE_COMMIT_HOME": store, "PREK_HOME": store}
    return Framework(request.param, stores, preloaded)


@pytest.fixture
def configured(committed: Repo, bare_framework: Framework) -> Repo:
    """A repository with a framework's configuration, and nothing installed yet."""
    committed.commit("Configure", {".pre-commit-config.yaml": EMPTY})
    remote = committed.path.parent / "remote.git"
    committed.git("init", "-q", "--bare", str(remote))
    committed.git("remote", "add", "origin", str(remote))
    return Repo(committed.path, committed.env | bare_framework.env)


def put_own_hook(repo: Repo) -> None:
    repo.write(".git/hooks/pre-commit", "#!/bin/sh\necho my own ran\n").chmod(0o755)


def hooks(repo: Repo) -> dict[str, bytes]:
    folder = repo.path / ".git/hooks"
    return {
        path.name: path.read_bytes()
        for path in folder.iterdir()
        if path.suffix != ".sample"
    }


def fork_ours(repo: Repo, preloaded: Path) -> None:
    """Have our hooks be forks, wherever a framework has moved them."""
    for hook in (repo.path / ".git/hooks").iterdir():
        if "\npython=" in hook.read_text():
            use_preloaded(hook, preloaded)


def each_runs_once(repo: Repo, *others: str) -> None:
    """Commits something clean, then a secret, and counts who ran."""
    repo.write("app.py", f"y = {len(repo.git('log', '--oneline'))}\n")
    repo.git("add", "app.py")
    done = repo.try_git("commit", "-qm", "Set y")
    assert done.code == 0, done.all
    assert done.all.count("cli-guard: 1 file reviewed") == 1
    for other in ("framework ran", *others):
        assert done.all.count(other) == 1, done.all
    repo.write("app.py", LEAK)
    repo.git("add", "app.py")
    done = repo.try_git("commit", "-qm", "Add the key")
    assert done.code == 1 and "app.py:1" in done.all
    repo.git("reset", "-q", "--hard")


def both(repo: Repo, framework: Framework, order: str) -> None:
    for letter in order:
        if letter == "f":
            framework.run(repo, "install", "-t", "pre-commit", "-t", "pre-push")
        else:
            done = guard(repo, "install")
            assert done.code == 0, done.err


@pytest.mark.parametrize("order", ["gf", "fg", "gfgf"])
def test_any_order_of_installing_ends_in_both(
    configured: Repo, bare_framework: Framework, preloaded: Path, order: str
) -> None:
    both(configured, bare_framework, order)
    assert "pre-commit.legacy" in hooks(configured)
    fork_ours(configured, preloaded)
    each_runs_once(configured)


@pytest.mark.parametrize("order", ["gf", "fgfg"])
def test_a_hook_from_before_both_still_runs(
    configured: Repo, bare_framework: Framework, preloaded: Path, order: str
) -> None:
    put_own_hook(configured)
    both(configured, bare_framework, order)
    fork_ours(configured, preloaded)
    each_runs_once(configured, "my own ran")


@pytest.mark.parametrize("order", ["gf", "fg"])
def test_taking_ours_out_leaves_the_rest(
    configured: Repo, bare_framework: Framework, order: str
) -> None:
    put_own_hook(configured)
    bare_framework.run(configured, "install", "-t", "pre-commit", "-t", "pre-push")
    without = hooks(configured)
    bare_framework.run(configured, "uninstall", "-t", "pre-commit", "-t", "pre-push")
    both(configured, bare_framework, order)
    assert guard(configured, "uninstall").code == 0
    assert hooks(configured) == without


def test_taking_the_framework_out_leaves_ours(
    configured: Repo, bare_framework: Framework
) -> None:
    put_own_hook(configured)
    guard(configured, "install")
    alone = hooks(configured)
    both(configured, bare_framework, "fg")
    bare_framework.run(configured, "uninstall", "-t", "pre-commit", "-t", "pre-push")
    assert hooks(configured) == alone


def test_the_native_hook_sees_every_ref_of_a_push(
    configured: Repo, bare_framework: Framework, preloaded: Path
) -> None:
    both(configured, bare_framework, "gf")
    fork_ours(configured, preloaded)
    configured.git("branch", "first")
    configured.git("checkout", "-qb", "second")
    configured.commit("Add the key", {"key.py": LEAK})
    done = configured.try_git("push", "-q", "origin", "first", "second")
    assert done.code == 1 and "key.py:1" in done.all
    assert configured.git("ls-remote", "origin") == ""


def test_force_puts_ours_in_place_of_the_framework(
    configured: Repo, bare_framework: Framework
) -> None:
    both(configured, bare_framework, "gf")
    assert guard(configured, "install", "--force").code == 0
    assert set(hooks(configured)) == {each.name for each in WORK_TREE_HOOKS}


def test_two_frameworks_in_a_row_are_refused(configured: Repo) -> None:
    for name in ("pre-commit", "prek"):
        Framework(name, configured.env).run(configured, "install", "-t", "pre-commit")
    there = hooks(configured)
    done = guard(configured, "install")
    assert (done.code, len(done.err.splitlines())) == (2, 1)
    assert "two frameworks run each other here" in done.err
    assert hooks(configured) == there
