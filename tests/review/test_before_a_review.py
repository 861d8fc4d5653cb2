"""What is known before anything heavy is loaded: ranges, whether there is anything to review, whose words count."""

from pathlib import Path

import pytest
from examples import examples, near_misses, table
from in_process import guard
from repositories import Repo

from cli_guard.errors import UsageError
from cli_guard.execution.context import (
    Configuration,
    OtherRepositories,
    repository_configures,
    root_of,
    speaks,
    split_batch,
    user_configures,
)
from cli_guard.git.process import Git
from cli_guard.git.repository import GitRepository
from cli_guard.review.precheck import message_of, nothing_to_review, required_calls
from cli_guard.review.push import PushPlan
from cli_guard.review.request import (
    Commit,
    Message,
    Push,
    Range,
    Staged,
    Worktree,
    parse_range,
)


@table(
    ("text", "base", "head"),
    [
        ("main..topic", "main", "topic"),
        ("origin/main..HEAD", "origin/main", "HEAD"),
        ("main..", "main", "HEAD"),
        ("..topic", "HEAD", "topic"),
        ("v1.0..v1.1", "v1.0", "v1.1"),
        ("HEAD~2..HEAD^", "HEAD~2", "HEAD^"),
        ("main...topic", "main", "topic"),
        ("main...", "main", "HEAD"),
    ],
)
def test_a_range_has_two_sides_and_the_one_left_out_is_head(
    text: str, base: str, head: str
) -> None:
    assert parse_range(text) == Range(base, head)


@near_misses("text", ["main", "", "..", "main....topic", "...", "a.b"])
def test_what_is_no_range_is_named(text: str) -> None:
    with pytest.raises(UsageError, match=r"is not a range: write it as A\.\.B"):
        parse_range(text)


def test_nothing_staged_ends_before_a_policy_is_read(committed: Repo) -> None:
    repository = GitRepository.discover(committed.path, committed.env)
    assert nothing_to_review(Staged(), repository) == "nothing is staged"
    committed.write("app.py", "x = 2\n")
    committed.git("add", "-A")
    assert (
        nothing_to_review(Staged(), GitRepository.discover(committed.path, committed.env))
        is None
    )
    assert nothing_to_review(Worktree(), repository) is None
    assert nothing_to_review(Commit("HEAD"), repository) is None


@table(
    ("text", "reason"),
    [
        ("HEAD..HEAD", "the range has no commits"),
        ("HEAD...HEAD~1", "the range has no commits"),
        ("HEAD~1..HEAD", None),
        ("HEAD~1...HEAD", None),
    ],
)
def test_an_empty_range_is_named(committed: Repo, text: str, reason: str | None) -> None:
    committed.git("commit", "-qm", "Say more", "--allow-empty")
    repository = GitRepository.discover(committed.path, committed.env)
    assert nothing_to_review(parse_range(text), repository) == reason
    for command in ("review", "verify"):
        shown = guard(committed, command, "--range", text).out
        assert (f"nothing to review: {reason}" in shown) is bool(reason), command


def test_a_finding_of_several_commits_names_its_own(committed: Repo) -> None:
    call = 'import subprocess\n\nsubprocess.run("ls " + {}, shell=True)\n'
    ids = [
        committed.commit(f"Add {name}", {f"{name}.py": call.format(name)})[:10]
        for name in ("one", "two", "three")
    ]
    for form, mark in (("text", ":3 in "), ("html", "<td class=commit>")):
        several = ("review", "--range", "HEAD~2..HEAD", "--format", form)
        shown = guard(committed, *several).out
        assert [f"{mark}{each}" in shown for each in ids] == [False, True, True]
        alone = guard(committed, "review", "--range", "HEAD~1..HEAD", "--format", form).out
        assert "three.py" in alone and f"{mark}{ids[2]}" not in alone


def test_three_dots_begin_at_the_merge_base(committed: Repo) -> None:
    committed.git("checkout", "-q", "-b", "topic")
    committed.commit("Go on", {"new.py": "y = 1\n"})
    committed.git("checkout", "-q", "main")
    committed.commit("Go elsewhere", {"other.py": "z = 1\n", "third.py": "z = 1\n"})
    for text in ("main..topic", "main...topic"):
        assert committed.look(parse_range(text)).files == 1


def test_a_push_without_updates_is_up_to_date(committed: Repo) -> None:
    repository = GitRepository.discover(committed.path, committed.env)
    assert nothing_to_review(Push(PushPlan(())), repository) == "everything is up to date"


def test_a_bare_repository_has_no_index(tmp_path: Path, isolated: dict[str, str]) -> None:
    bare = Repo.create(tmp_path / "bare.git", isolated, "--bare")
    repository = GitRepository.discover(bare.path, bare.env)
    for request in (Staged(), Worktree()):
        with pytest.raises(UsageError, match="use --commit REV or --range"):
            nothing_to_review(request, repository)


def test_a_message_is_read_as_git_will_record_it(committed: Repo) -> None:
    committed.git("config", "core.commentChar", ";")
    repository = GitRepository.discover(
        committed.path, committed.env | {"GIT_EDITOR": "vi"}
    )
    assert message_of(Message(b"Add x\n; a comment\n"), repository).subject == "Add x"
    empty = nothing_to_review(Message(b" \n\n"), repository)
    assert empty == "the message is empty: Git will not commit"
    assert nothing_to_review(Message(b"# no comment here\n"), repository) is None


def test_the_calls_that_a_request_needs_in_any_case() -> None:
    assert required_calls(Commit("HEAD")) == ()
    assert set(required_calls(Staged())) < set(required_calls(Message(b"x")))


@examples(
    ("raw", "whole"),
    [
        (b"[commands]\ndeny = []\n", True),
        (b"[comands]\ndeny = []\n", True),
        (b"[tool.cli-guard.commands]\ndeny = []\n", False),
        (b"[decisions]\n[commands]\n", True),
        (b"not toml at all, cli-guard", True),
        (b"\xff\xfe cli-guard", False),
        (b"tool = 'cli-guard'\n", False),
    ],
)
def test_a_configuration_that_may_speak_of_commands(raw: bytes, whole: bool) -> None:
    assert speaks(raw, whole=whole)


@near_misses(
    ("raw", "whole"),
    [
        (b"", True),
        (b"[decisions]\nhigh = 'deny'\n", True),
        (b"[[ignore]]\nrule = 'x'\n[limits]\n", True),
        (b"[tool.ruff]\nline-length = 100\n", False),
        (b"[tool.cli-guard.decisions]\nhigh = 'deny'\n", False),
        (b"[commands]\n", False),
    ],
)
def test_a_configuration_that_does_not(raw: bytes, whole: bool) -> None:
    assert not speaks(raw, whole=whole)


@table(
    ("out", "files"),
    [
        (b"a missing\nb missing\n", (b"", b"")),
        (b"1 blob 2\nhi\nb missing\n", (b"hi", b"")),
        (b"a missing\n1 blob 3\nx\ny\n", (b"", b"x\ny")),
        (b"1 blob 0\n\n2 blob 10\n a missing\n", (b"", b" a missing")),
    ],
)
def test_two_files_of_one_answer(out: bytes, files: tuple[bytes, bytes]) -> None:
    assert split_batch(out) == files


def test_the_policy_at_head_counts_and_the_work_tree_does_not(committed: Repo) -> None:
    git = Git(committed.path, committed.env)
    committed.write("cli-guard.toml", '[commands]\ndeny = ["make deploy"]\n')
    assert not repository_configures(git)
    committed.commit("Policy")
    assert repository_configures(git)


def test_the_users_own_file_counts(tmp_path: Path) -> None:
    env = {"XDG_CONFIG_HOME": str(tmp_path), "HOME": str(tmp_path)}
    assert not user_configures(env)
    file = tmp_path / "cli-guard" / "config.toml"
    file.parent.mkdir()
    file.write_text("[decisions]\n")
    assert not user_configures(env)
    file.write_text("[commands]\n")
    assert user_configures(env)


def test_the_root_is_the_folder_that_holds_git(committed: Repo, tmp_path: Path) -> None:
    inner = committed.path / "a" / "b"
    inner.mkdir(parents=True)
    assert root_of(inner) == root_of(committed.path) == committed.path
    assert root_of(tmp_path) is None


def test_a_configuration_is_read_once_and_only_if_needed() -> None:
    reads: list[int] = []
    configuration = Configuration(lambda: reads.append(1) or {"user.name": ("Ada",)})
    assert reads == []
    assert configuration["user.name"] == ("Ada",)
    assert (list(configuration), len(configuration), reads) == (["user.name"], 1, [1])


def test_another_repository_is_found_by_a_folder_inside(committed: Repo) -> None:
    root = committed.path
    for folder in ("lib/.git", "fx/refs", "fx/objects", "fx/hooks", "src/deep"):
        (root / folder).mkdir(parents=True)
    (root / "fx/HEAD").write_text("ref: refs/heads/main\n")
    (root / "away").symlink_to("/")
    (root / "near").symlink_to("lib")
    find = OtherRepositories(root).find
    inside = {
        each: find(str(root / each)) for each in ("lib", "fx/hooks", "near", "lib/missing")
    }
    assert inside == {
        "lib": f"{root}/lib",
        "fx/hooks": f"{root}/fx",
        "near": f"{root}/lib",
        "lib/missing": f"{root}/lib",
    }
    assert [
        find(str(root / each)) for each in (".", "src/deep", ".git", "src/missing")
    ] == [None] * 4
    assert find(str(root / "away")) == str(root / "away")
    assert find(None) in (f"{root}/lib", f"{root}/fx")


def test_a_tree_without_another_repository_has_none(committed: Repo) -> None:
    assert OtherRepositories(committed.path).find(None) is None
