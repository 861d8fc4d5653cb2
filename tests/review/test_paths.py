"""`review PATH...`: what it selects is what Git would, and nothing that it says is ever trusted."""

from pathlib import Path

from examples import table
from in_process import call, guard, records, stage
from repositories import Repo

from cli_guard.review.paths import Paths, matches

RISKY = '"""Reads."""\n\neval(input())\n'
FILES = (
    "a.py",
    "lib/a.py",
    "lib/deep/b.py",
    "lib2/c.py",
    "docs/x[1].md",
    "docs/y.md",
    "Lib/d.py",
    "lib/e?.txt",
)
SPECS = (
    "lib",
    "lib/",
    "*.py",
    "lib/*.py",
    "lib*",
    "l?b",
    "docs/[a-y]*.md",
    "docs/x[1].md",
    "docs/[^x]*",
)
SPECS += (
    "docs/x\\[1\\].md",
    "**/b.py",
    ".",
    "lib/deep/../a.py",
    "lib/e\\?.txt",
    "LIB",
)


@table("spec", SPECS)
def test_a_path_selects_what_git_selects(committed: Repo, spec: str) -> None:
    if not (committed.path / "lib").exists():
        stage(committed, dict.fromkeys(FILES, "x\n"))
    wanted = committed.git("ls-files", "-z", "--", spec).split("\0")[:-1]
    paths = Paths.parse((spec,), None, committed.path)
    assert [each for each in sorted((*FILES, "app.py")) if paths.has(each)] == sorted(
        wanted
    )


def test_a_hostile_name_costs_no_time() -> None:
    assert not matches("*a" * 40 + "b", "a" * 5_000)


def test_a_limited_review_leaves_no_trace(committed: Repo) -> None:
    stage(committed, {"src/risky.py": RISKY, "docs/page.md": "Hello.\n", "old.py": RISKY})
    state = committed.path / ".git" / "cli-guard"
    clean = guard(committed, "review", "docs")
    assert (clean.code, clean.out) == (
        0,
        "cli-guard: only docs was reviewed: 1 file reviewed, nothing to report\n",
    )
    asked = guard(committed, "review", "--", "*.py", ":!old.py")
    assert asked.code == 3
    last = " ".join(asked.out.split("\n\n")[-1].split())
    assert last.endswith(
        "only *.py without old.py was reviewed: 1 finding to approve (code-python-eval)"
    )
    report = guard(committed, "review", "docs", "--format", "json").json
    assert report["review_id"] is None and report["notes"] == [
        "only these paths were reviewed: docs"
    ]
    assert "/paths/" in guard(committed, "review", "docs", "--format", "sarif").out
    assert not state.exists(), (
        "neither an approval, nor a report, nor anything known to be clean"
    )
    # From a folder, and of what is recorded, a patch and the work tree.
    at = Path(committed.path, "src")
    assert call(at, committed.env, "review", "../docs").code == 0
    assert call(at, committed.env, "review", ".").code == 3
    patch = committed.git("diff", "--cached")
    assert guard(committed, "review", "--patch", "-", "docs", stdin=patch + "\n").code == 0
    assert guard(committed, "review", "--worktree", "docs").code == 0
    # The hook is not impressed by what a limited review of the same content said.
    assert guard(committed, "hook", "pre-commit").code == 3
    assert records(committed).pending()
    committed.commit("Add a page and code that reads")
    committed.commit("Take it away again", {"old.py": '"""Nothing."""\n'})
    assert guard(committed, "review", "--commit", "HEAD~1", "docs").code == 0
    assert guard(committed, "review", "--range", "HEAD~2..HEAD", "docs").code == 0
    gone = guard(committed, "review", "--range", "HEAD~2..HEAD", "old.py")
    assert "old.py" in gone.out and "only old.py was reviewed" in gone.out


@table(
    ("arguments", "says"),
    [
        (["nope"], "'nope' matches no file of this change"),
        (["new.py", "nope/"], "'nope' matches no file of this change"),
        (["new.py", ":!new.py"], "'new.py' matches no file"),
        ([""], "'' is not a path"),
        ([":(icase)NEW.PY"], "pathspec magic only :! is known"),
        (["../x"], "is outside the repository"),
        (["/etc/passwd"], "is outside the repository"),
        (["\x1b[31m"], r"matches no file"),
        (["--shard", "1/2", "new.py"], "--shard needs the whole review"),
        (["--write-baseline", "new.py"], "--write-baseline needs the whole review"),
        (["--commit", "HEAD", "new.py"], "'new.py' matches no file"),
        (["--worktree", "app.py"], "'app.py' matches no file"),
    ],
)
def test_a_wrong_path_is_one_line(committed: Repo, arguments: list[str], says: str) -> None:
    stage(committed, {"new.py": "y = 1\n"})
    done = guard(committed, "review", *arguments)
    assert (done.code, done.out) == (2, "")
    assert says in done.err and done.err.count("\n") == 1 and "\x1b" not in done.err


def test_nothing_staged_matches_no_path(committed: Repo) -> None:
    done = guard(committed, "review", "app.py")
    assert (
        done.code == 2
        and "'app.py' matches no file of this change: nothing is staged" in done.err
    )


def test_the_work_tree_is_judged_by_its_own_policy_and_hooks_are_not(
    committed: Repo,
) -> None:
    committed.commit("Set a policy", {"cli-guard.toml": '[rules]\n"docs-*" = "off"\n'})
    stage(committed, {"risky.py": RISKY})
    plain = guard(committed, "review", "--worktree")
    assert plain.code == 3 and "tried with the policy" not in plain.out
    before = len(records(committed).pending())
    committed.write("cli-guard.toml", '[rules]\n"docs-*" = "off"\n"code-*" = "deny"\n')
    stricter = guard(committed, "review", "--worktree")
    assert stricter.code == 1 and "hooks use the policy at HEAD" in " ".join(
        stricter.out.split()
    )
    committed.write("cli-guard.toml", '[rules]\n"*" = "off"\n')
    lax = guard(committed, "review", "--worktree")
    assert (
        lax.code == 3
        and "policy-weakened" in lax.out
        and "cli-guard approve" not in lax.out
    )
    assert len(records(committed).pending()) == before, "a trial leaves no trace"
    assert guard(committed, "review", "risky.py").code == 3, (
        "what is staged is judged by HEAD"
    )
    assert guard(committed, "hook", "pre-commit").code == 3
    for broken, says in (("[ruls]\n", "did you mean 'rules'?"), ("[", "not valid TOML")):
        committed.write("cli-guard.toml", broken)
        done = guard(committed, "review", "--worktree")
        assert (
            done.code == 2
            and "cli-guard.toml in the work tree: " in done.err
            and says in done.err
        )
        committed.git("add", "cli-guard.toml")
        staged = guard(committed, "hook", "pre-commit")
        assert staged.err == done.err.replace("the work tree", "the index"), (
            "the same words"
        )
        committed.git("reset", "-q", "cli-guard.toml")
    # A repair can be tried before it is recorded.
    committed.commit("Break it", {"cli-guard.toml": "["})
    committed.write("cli-guard.toml", '[rules]\n"code-*" = "deny"\n')
    assert "tried with" in guard(committed, "review", "--worktree").out
