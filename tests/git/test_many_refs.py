"""A push of many refs: as few calls of Git as for some, and each ref still counts."""

import random
import re
import shutil
from pathlib import Path

import pytest
from in_process import guard
from repositories import Repo, key

from cli_guard.git.repository import GitRepository
from cli_guard.model import POLICY_FILES

ZERO = "0" * 40
SECRET = f'KEY = "{key()}"\n'
CONFIG = '[decisions]\nmedium = "{}"\n'
# More than a few, of which each may be asked by itself.
MANY = 12


@pytest.fixture
def pushed(forked: Repo, tmp_path: Path) -> Repo:
    """A repository with our hooks; its remote has `main` with 30 commits, each with a policy of its own."""
    bare = Repo.create(tmp_path / "origin.git", forked.env, "--bare")
    forked.git("remote", "add", "origin", str(bare.path))
    add_commits(
        forked,
        "main",
        [("cli-guard.toml", f"[limits]\nfiles = {n + 2000}\n") for n in range(30)],
    )
    forked.git("reset", "-q", "--hard")
    forked.git("push", "-q", "--no-verify", "origin", "main")
    return forked


def add_commits(
    repo: Repo, branch: str, files: list[tuple[str, str]], start: str = "main^0"
) -> None:
    """Add a commit for each file to a branch, with one call of Git."""
    lines = [f"reset refs/heads/{branch}\nfrom refs/heads/{start}\n\n"]
    lines += [
        f"commit refs/heads/{branch}\ncommitter Ada <ada@example.org> {1_700_000_000 + number} +0000\n"
        f"data 9\nAdd files\nM 100644 inline {name}\ndata {len(content)}\n{content}\n"
        for number, (name, content) in enumerate(files)
    ]
    repo.git("fast-import", "--quiet", "--force", stdin="".join(lines))


def push(repo: Repo, *refspecs: str) -> tuple[int, str]:
    done = repo.try_git("push", "-q", "origin", *refspecs)
    return done.code, done.all


def count_calls(repo: Repo, lines: list[str], folder: Path) -> int:
    """Count the calls of Git that the hook makes for these lines."""
    program = folder / "git"
    log = folder / "log"
    folder.mkdir()
    program.write_text(
        f'#!/bin/sh\necho call >> "{log}"\nexec "{shutil.which("git")}" "$@"\n'
    )
    program.chmod(0o755)
    path = f"{folder}:{repo.env['PATH']}"
    with repo.unchanged():
        done = guard(
            *(repo, "hook", "pre-push", "origin", "url"),
            stdin="".join(lines),
            env={"PATH": path},
        )
    assert done.code in (0, 3), done.all
    return len(log.read_text().splitlines())


@pytest.mark.parametrize(
    "kind", ["tags", "annotated", "deleted", "moved", "rewritten", "branches", "trees"]
)
def test_more_refs_take_no_more_calls_of_git(
    pushed: Repo, tmp_path: Path, kind: str
) -> None:
    known = pushed.git("rev-list", "main").split()[: 2 * MANY]
    lines = []
    for number, oid in enumerate(known):
        name = f"refs/tags/t{number}"
        new = oid
        old = ZERO
        if kind == "annotated":
            pushed.git("tag", "-a", "-m", f"Release {number}", f"t{number}", oid)
            new = pushed.git("rev-parse", f"t{number}")
        elif kind == "deleted":
            new = ZERO
            old = oid
        elif kind == "moved":
            name = f"refs/heads/b{number}"
            new = oid
            old = pushed.git("rev-parse", f"{oid}~1")
        elif kind == "rewritten":
            name = f"refs/heads/b{number}"
            new = pushed.git("rev-parse", f"{oid}~1")
            old = oid
        elif kind == "branches":
            add_commits(pushed, f"b{number}", [(f"file{number}.py", f"a = {number}\n")])
            name = f"refs/heads/b{number}"
            new = pushed.git("rev-parse", f"b{number}")
        elif kind == "trees":
            new = pushed.git("rev-parse", f"{oid}^{{tree}}")
        lines.append(f"{name} {new} {name} {old}\n")
    some, all_of_them = (
        count_calls(pushed, lines[:number], tmp_path / f"{number}")
        for number in (MANY, 2 * MANY)
    )
    assert all_of_them <= some


def test_one_guilty_tag_among_many(pushed: Repo) -> None:
    for number in range(40):
        pushed.git(
            "tag", "-a", "-m", f"Release {number}", f"v{number}", f"main~{number % 30}"
        )
    assert push(pushed, "--tags")[0] == 0
    pushed.git("tag", "-a", "-m", f"token {key()}", "inner", "main~3")
    pushed.git("tag", "-a", "-m", "Nothing here", "outer", "inner")
    pushed.git("tag", "-d", "inner")
    code, words = push(pushed, "--tags")
    assert code == 1
    assert pushed.git("rev-parse", "outer")[:10] in words


def test_a_type_that_a_tag_only_claims_hides_no_tag(pushed: Repo) -> None:
    """Git reads the type of the object itself, whatever the tag around it says."""
    pushed.git("tag", "-a", "-m", f"token {key()}", "inner", "main")
    guilty = pushed.git("rev-parse", "inner")
    text = f"object {guilty}\ntype commit\ntag outer\ntagger A <a@example.org> 1700000000 +0000\n\nFine\n"
    outer = pushed.git(
        "hash-object", "-t", "tag", "-w", "--literally", "--stdin", stdin=text
    )
    done = pushed.inspect(
        "hook",
        "pre-push",
        "origin",
        "url",
        stdin=f"refs/tags/outer {outer} refs/tags/outer {ZERO}\n",
    )
    assert done.code != 0
    assert key() not in done.all


def test_one_guilty_branch_among_many(pushed: Repo) -> None:
    names = [f"topic-{number}" for number in range(MANY)]
    for name in names:
        add_commits(pushed, name, [("file.py", f"name = '{name}'\n")])
    add_commits(
        pushed, "guilty", [("file.py", SECRET), ("file.py", "a = 1\n")], start="topic-5^0"
    )
    code, words = push(pushed, *names[:6], "guilty", *names[6:])
    assert code == 1
    assert "file.py:1" in words and pushed.git("rev-parse", "guilty~1")[:10] in words


@pytest.mark.parametrize("at", [0, MANY])
def test_the_strictest_policy_of_many_tips_counts(pushed: Repo, at: int) -> None:
    names = [f"topic-{number}" for number in range(MANY)]
    for name in names:
        add_commits(
            pushed,
            name,
            [("file.py", f"name = '{name}'\n"), ("cli-guard.toml", CONFIG.format("off"))],
        )
    risky = 'import subprocess\n\n\ndef run(x):\n    subprocess.run("a" + x, shell=True)\n'
    add_commits(pushed, "risky", [("risky.py", risky)])
    lax = push(pushed, *names, "risky")
    add_commits(pushed, "strict", [("cli-guard.toml", '[rules]\n"code-*" = "deny"\n')])
    refs = [*names, "risky"]
    refs.insert(at, "strict")
    code, words = push(pushed, *refs)
    assert code == 1, lax
    assert "risky.py" in words


def test_files_read_at_once_are_those_read_one_by_one(pushed: Repo) -> None:
    pushed.git("rm", "-q", "cli-guard.toml")
    pushed.commit("Folder", {"cli-guard.toml/file": "text\n", "pyproject.toml": "a = 1\n"})
    (pushed.path / "cli-guard-baseline.json").symlink_to("pyproject.toml")
    pushed.commit("Link", {"other": ""})
    pushed.git("rm", "-q", "-r", "cli-guard.toml")
    submodule = f"160000,{pushed.git('rev-parse', 'main')},cli-guard.toml"
    pushed.git("update-index", "--add", "--cacheinfo", submodule)
    pushed.git("commit", "-q", "--no-verify", "-m", "Submodule")
    revisions = pushed.git("rev-list", "main").split()[:MANY]
    at_once, one_by_one = (
        GitRepository.discover(pushed.path, pushed.env) for _ in range(2)
    )
    at_once.read_roots(revisions, POLICY_FILES)
    for revision in revisions:
        for name in (*POLICY_FILES, "app.py", "other"):
            assert at_once.show(revision, name) == one_by_one.show(revision, name), (
                revision,
                name,
            )


def test_a_mirror_with_new_moved_and_deleted_refs(pushed: Repo) -> None:
    for number in range(MANY):
        pushed.git("branch", f"old-{number}", f"main~{number}")
    assert push(pushed, "--mirror")[0] == 0
    for number in range(MANY):
        pushed.git("branch", "-q", "-D", f"old-{number}")
        pushed.git("branch", f"new-{number}", f"main~{number}")
    add_commits(pushed, "new-3", [("key.py", SECRET)], start="new-3^0")
    code, words = push(pushed, "--mirror")
    assert code == 1
    assert "key.py:1" in words


def test_protected_branches_that_many_updates_rewrite(pushed: Repo) -> None:
    names = [f"refs/heads/release/{number}" for number in range(MANY)]
    pushed.git("push", "-q", "--no-verify", "origin", *(f"main:{name}" for name in names))
    rewritten = names[::2]
    moved = names[1::2]
    pushed.git(
        "push",
        "-q",
        "--no-verify",
        "--force",
        "origin",
        *(f"main~9:{name}" for name in moved),
    )
    refspecs = (
        *(f"+main~5:{name}" for name in rewritten),
        *(f"main~1:{name}" for name in moved),
    )
    code, words = push(pushed, *refspecs)
    assert code == 1
    found = set(re.findall(r"rewrites the protected branch (\S+)", words))
    assert found == {name.removeprefix("refs/heads/") for name in rewritten}, words


@pytest.mark.parametrize("seed", range(5))
def test_lines_and_bases_are_those_that_git_prints(committed: Repo, seed: int) -> None:
    rng = random.Random(seed)
    commits = [committed.git("rev-parse", "HEAD")]
    tree = committed.git("rev-parse", "HEAD^{tree}")
    for number in range(25):
        parents = rng.sample(
            commits[-6:], min(len(commits), rng.choice((0, 1, 1, 2, 2, 3)))
        )
        date = f"{1_700_000_000 + number // 3 * 10} +0000"
        commits.append(
            committed.git(
                *(
                    "commit-tree",
                    tree,
                    "-m",
                    f"{number}",
                    *(f"-p{each}" for each in parents),
                ),
                env={"GIT_COMMITTER_DATE": date, "GIT_AUTHOR_DATE": date},
            )
        )
    known = rng.sample(commits[:12], 3)
    tips = rng.sample(commits[8:], 8)
    hidden = [f"^{oid}" for oid in known]
    repository = GitRepository.discover(committed.path, committed.env)
    graph = repository.graph(tips, known)
    whole = repository.graph(tips)
    seen = set[str]()
    for tip in tips:
        order = committed.git("rev-list", "--topo-order", "--reverse", tip, *hidden).split()
        assert graph.line(tip, set()) == order
        left = [oid for oid in order if oid not in seen]
        assert graph.line(tip, seen) == left
        if order:
            printed = committed.git("rev-list", "--boundary", tip, *hidden).split()
            met = tuple(oid[1:] for oid in printed if oid.startswith("-"))
            assert graph.bases(tip) == (met[:8] or (None,))
    pairs = [(older, newer) for older in commits for newer in tips]
    for (older, newer), is_one in whole.find_ancestries(pairs).items():
        assert is_one == repository.is_ancestor(older, newer)
