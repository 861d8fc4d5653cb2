"""The native hooks as Git runs them: commits and pushes through the installed program."""

import os
import shlex
from pathlib import Path

import pytest
from in_process import guard
from preloaded import use_preloaded
from repositories import Repo, key

from cli_guard.hooks import GIT_HOOKS

LEAK = f'KEY = "{key()}"\n'


def install(repo: Repo, *options: str) -> str:
    done = guard(repo, "install", *options)
    assert done.code == 0, done.err
    return done.out


def bare_remote(repo: Repo, name: str = "origin") -> Path:
    path = repo.path.parent / f"{name}.git"
    repo.git("init", "-q", "--bare", str(path))
    repo.git("remote", "add", name, str(path))
    return path


def stage(repo: Repo, content: str, name: str = "app.py") -> None:
    repo.write(name, content)
    repo.git("add", "-A")


def test_a_clean_commit_passes_and_a_secret_is_stopped(guarded: Repo) -> None:
    stage(guarded, "y = 2\n")
    guarded.git("commit", "-qm", "Set y")
    stage(guarded, LEAK)
    done = guarded.try_git("commit", "-qm", "Add the key")
    assert done.code == 1
    assert "app.py:1" in done.all and key() not in done.all
    assert guarded.git("log", "-1", "--format=%s") == "Set y"


def installed_hooks(repo: Repo) -> set[str]:
    return {
        path.name
        for path in (repo.path / ".git/hooks").iterdir()
        if path.suffix != ".sample"
    }


def test_what_is_written_is_the_same_everywhere(committed: Repo, native: Path) -> None:
    """`guarded` rests on it: a copy of what was installed in another repository, by another user."""
    install(committed)
    for one in ("config", *(f"hooks/{name}" for name in installed_hooks(committed))):
        here = committed.path / ".git" / one
        there = native / one
        assert (here.read_bytes(), here.stat().st_mode) == (
            there.read_bytes(),
            there.stat().st_mode,
        ), one


def test_hook_type_pre_push_alone(committed: Repo, preloaded: Path) -> None:
    bare_remote(committed)
    install(committed, "-t", "pre-push")
    use_preloaded(committed.path / ".git/hooks/pre-push", preloaded)
    assert installed_hooks(committed) == {"pre-push"}
    stage(committed, LEAK)
    committed.git("commit", "-qm", "Add the key")
    done = committed.try_git("push", "-q", "origin", "HEAD:refs/heads/new")
    assert done.code == 1 and "app.py" in done.all


def test_hook_type_pre_merge_commit_alone(committed: Repo) -> None:
    """A clean merge brings nothing of its own, unless a hook before ours stages it."""
    committed.git("checkout", "-qb", "side")
    committed.commit("Add a file", {"side.py": "y = 2\n"})
    committed.git("checkout", "-q", "main")
    committed.commit("Go on", {"other.py": "z = 3\n"})
    hook = committed.write(".git/hooks/pre-merge-commit", "#!/bin/sh\ngit add leak.py\n")
    hook.chmod(0o755)
    install(committed, "--hook-type", "pre-merge-commit", "-t", "pre-merge-commit")
    assert installed_hooks(committed) == {
        "pre-merge-commit",
        "pre-merge-commit.before-cli-guard",
    }
    committed.write("leak.py", LEAK)
    done = committed.try_git("merge", "-q", "--no-ff", "-m", "Merge side", "side")
    assert done.code != 0 and "leak.py:1" in done.all
    assert committed.git("log", "-1", "--format=%s") == "Go on"


def test_the_message_hook_reviews_the_message(committed: Repo) -> None:
    install(committed, "-t", "commit-msg")
    done = committed.try_git("commit", "--allow-empty", "-qm", f"Use {key()} for now")
    assert done.code == 1
    assert key() not in done.all


def test_an_unknown_hook_type_is_one_line(committed: Repo) -> None:
    done = guard(committed, "install", "--hook-type", "post-commit")
    assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1)


def test_a_push_shows_every_ref_and_every_commit(guarded: Repo) -> None:
    bare_remote(guarded)
    guarded.git("branch", "first")
    guarded.git("checkout", "-qb", "second")
    guarded.commit("Add the key", {"key.py": LEAK})
    guarded.commit("Take it out again", {"key.py": "KEY = None\n"})
    done = guarded.try_git("push", "-q", "origin", "first", "second")
    assert done.code == 1
    assert "key.py" in done.all
    assert guarded.git("ls-remote", "origin") == ""


@pytest.mark.parametrize(
    ("refs", "code", "says"),
    [
        (b"", 0, ""),
        (b"refs/heads/main %s refs/heads/main %s", 0, "cli-guard"),
        (b"refs/heads/main %s refs/heads/main %s\n", 0, "cli-guard"),
        (b"refs/heads/main %s", 2, "is not `<local ref>"),
    ],
    ids=["no refs", "no last newline", "last newline", "half a line"],
)
def test_what_git_writes_to_pre_push_arrives_whole(
    forked: Repo, refs: bytes, code: int, says: str
) -> None:
    oid = forked.git("rev-parse", "HEAD").encode()
    line = refs.replace(b"%s", oid, 1).replace(b"%s", b"0" * 40)
    done = forked.run(".git/hooks/pre-push", "origin", "url", stdin=line)
    assert done.code == code, done.err
    assert says in done.all


def test_many_refs_reach_an_earlier_hook_and_the_review(
    committed: Repo, preloaded: Path
) -> None:
    bare_remote(committed)
    hook = committed.write(
        ".git/hooks/pre-push", '#!/bin/sh\nexec head -n 1 > "$(dirname "$0")/first"\n'
    )
    hook.chmod(0o755)
    install(committed, "-t", "pre-push")
    use_preloaded(hook, preloaded)
    head = committed.git("rev-parse", "HEAD")
    # Their lines are more than a pipe holds, 64 KiB: the earlier hook ends before it has read them.
    updates = "".join(
        f"create refs/heads/branch-{number:04} {head}\n" for number in range(600)
    )
    committed.git("update-ref", "--stdin", stdin=updates)
    committed.git("push", "-q", "origin", "refs/heads/*:refs/heads/*")
    assert (
        (committed.path / ".git/hooks/first")
        .read_text()
        .startswith("refs/heads/branch-0000 ")
    )
    assert len(committed.git("ls-remote", "--heads", "origin").splitlines()) == 601


def test_hooks_fire_in_the_main_and_in_a_linked_work_tree(committed: Repo) -> None:
    linked = Repo(committed.path.parent / "linked", committed.env)
    committed.git("worktree", "add", "-q", str(linked.path))
    install(linked)
    assert (committed.path / ".git/hooks/pre-commit").is_file()
    for repo in (committed, linked):
        stage(repo, LEAK)
        done = repo.try_git("commit", "-qm", "Add the key")
        assert done.code == 1 and "app.py:1" in done.all


def test_installing_from_a_subfolder(committed: Repo) -> None:
    committed.write("deep/er/x.py", "x = 1\n")
    done = guard(committed, "install", at="deep/er")
    assert done.code == 0
    committed.write("deep/er/x.py", LEAK)
    committed.git("add", "-A")
    done = committed.try_git("commit", "-qm", "Add the key", at="deep/er")
    assert done.code == 1 and "deep/er/x.py:1" in done.all


def test_installing_inside_a_submodule(committed: Repo) -> None:
    inner = Repo.create(committed.path.parent / "inner", committed.env)
    inner.commit("Start", {"lib.py": "x = 1\n"})
    committed.git(
        "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.path), "lib"
    )
    submodule = Repo(committed.path / "lib", committed.env)
    install(submodule)
    assert not (committed.path / ".git/hooks/pre-commit").exists()
    stage(submodule, LEAK, "lib.py")
    done = submodule.try_git("commit", "-qm", "Add the key")
    assert done.code == 1 and "lib.py:1" in done.all


@pytest.mark.parametrize(
    "name",
    [
        "with space",
        'it\'s "quoted"',
        "größe-日本",
        "-dash",
        "$(touch pwned)",
        "a.legacy",
        "new\nline",
    ],
)
def test_any_name_of_a_repository(
    tmp_path: Path, isolated: dict[str, str], name: str
) -> None:
    repo = Repo.create(tmp_path / name, isolated)
    earlier = repo.write(".git/hooks/pre-commit", "#!/bin/sh\necho earlier ran\n")
    earlier.chmod(0o755)
    install(repo)
    stage(repo, LEAK)
    done = repo.try_git("commit", "-qm", "Add the key")
    assert done.code == 1
    assert "earlier ran" in done.all and "app.py:1" in done.all
    assert not list(tmp_path.rglob("pwned"))


def test_a_missing_hooks_folder_is_made(committed: Repo) -> None:
    for file in (committed.path / ".git/hooks").iterdir():
        file.unlink()
    (committed.path / ".git/hooks").rmdir()
    install(committed)
    stage(committed, LEAK)
    assert committed.try_git("commit", "-qm", "Add the key").code == 1


def test_a_bare_repository_serves_its_work_trees(committed: Repo) -> None:
    bare = Repo(committed.path.parent / "bare.git", committed.env)
    committed.git("clone", "-q", "--bare", str(committed.path), str(bare.path))
    tree = Repo(committed.path.parent / "tree", committed.env)
    bare.git("worktree", "add", "-q", str(tree.path), "main")
    install(bare)
    stage(tree, LEAK)
    done = tree.try_git("commit", "-qm", "Add the key")
    assert done.code == 1 and "app.py:1" in done.all
    tree.git("commit", "-qnm", "Add the key")
    done = bare.try_git("push", "-q", str(committed.path), "main:refs/heads/copy")
    assert done.code == 1 and "app.py" in done.all


@pytest.mark.parametrize(
    ("is_bare", "work_trees", "missing"),
    [
        (True, 0, {"pre-commit", "pre-merge-commit", "commit-msg", "post-index-change"}),
        (True, 1, set()),
        (False, 0, {"pre-receive"}),
    ],
    ids=["bare", "bare with a work tree", "a work tree"],
)
def test_only_what_git_may_run_is_installed(
    committed: Repo, is_bare: bool, work_trees: int, missing: set[str]
) -> None:
    repo = committed
    if is_bare:
        repo = Repo(committed.path.parent / "bare.git", committed.env)
        committed.git("clone", "-q", "--bare", str(committed.path), str(repo.path))
    for number in range(work_trees):
        repo.git("worktree", "add", "-q", "-b", f"b{number}", f"../tree{number}")
    done = guard(repo, "install", env={"CLI_GUARD_SERVER": "1"})
    assert done.code == 0
    folder = Path(repo.git("rev-parse", "--absolute-git-dir"), "hooks")
    assert {each.name for each in GIT_HOOKS if not (folder / each.name).exists()} == missing
    assert ("git add" in done.out) is ("post-index-change" not in missing)
    assert ("git worktree add" in done.out) is ("pre-commit" in missing)
    listed = guard(repo, "doctor").out.split("Hooks\n")[1].split("\nPolicy")[0]
    assert {each.name for each in GIT_HOOKS if f"  {each.name}:" not in listed} == missing
    assert "not installed" not in listed


@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_no_repository_is_one_line(
    tmp_path: Path, isolated: dict[str, str], command: str
) -> None:
    done = guard(Repo(tmp_path, isolated), command)
    assert (done.code, done.out) == (2, "")
    assert (
        done.err
        == "cli-guard: there is no Git repository here: run this inside one, or `git init` first\n"
    )


def test_a_hooks_folder_that_cannot_be_written_is_one_line(committed: Repo) -> None:
    folder = committed.path / ".git/hooks"
    folder.rename(folder.with_name("aside"))
    folder.write_text("in the way\n")
    done = guard(committed, "install")
    assert (done.code, done.out) == (2, "")
    assert done.err == f"cli-guard: the hooks cannot be written to {folder}: File exists\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only to root")
@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_a_hooks_folder_that_is_read_only_is_one_line(guarded: Repo, command: str) -> None:
    folder = guarded.path / ".git/hooks"
    folder.chmod(0o555)
    done = guard(guarded, command)
    folder.chmod(0o755)
    assert (done.code, done.out, len(done.err.splitlines())) == (1, "", 1)
    assert str(folder) in done.err and "Permission denied" in done.err


def test_the_answer_of_a_hook_started_by_hand_names_its_stage(guarded: Repo) -> None:
    """pre-merge-commit and pre-commit share a script; its name tells which one it is."""
    stage(guarded, LEAK)
    guarded.run(".git/hooks/pre-merge-commit")
    assert '"pre-merge-commit"' in (guarded.path / ".git/cli-guard/audit.jsonl").read_text()


@pytest.mark.parametrize(
    "variable", ["CLI_GUARD=0", "SKIP=cli-guard", "SKIP=other,cli-guard-pre-commit"]
)
def test_a_skip_passes_and_says_so(guarded: Repo, variable: str) -> None:
    stage(guarded, LEAK)
    name, value = variable.split("=")
    done = guarded.try_git("commit", "-qm", "Add the key", env={name: value})
    assert done.code == 0
    assert "pre-commit skipped" in done.err


def test_a_graphical_client_has_a_short_path(guarded: Repo) -> None:
    stage(guarded, LEAK)
    done = guarded.try_git("commit", "-qm", "Add the key", env={"PATH": "/usr/bin:/bin"})
    assert done.code == 1 and "app.py:1" in done.all


def test_what_is_installed_names_no_version(guarded: Repo) -> None:
    """So that a hook does not grow stale when cli-guard is updated."""
    version = guard(guarded, "--version").out.split()[1]
    for name in ("pre-commit", "pre-merge-commit", "commit-msg", "pre-push"):
        assert version not in (guarded.path / ".git/hooks" / name).read_text()


def test_shells_agree_on_the_scripts(guarded: Repo) -> None:
    for name in ("pre-commit", "pre-merge-commit", "commit-msg", "pre-push"):
        for shell in ("sh -n", "bash --posix -n"):
            assert guarded.run(*shlex.split(shell), f".git/hooks/{name}").code == 0
