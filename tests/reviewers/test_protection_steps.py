"""Which two states show what a change takes away: a commit, a range, a push, a merge, an amend, a revert, a rename."""

import pytest
from repositories import Repo

from cli_guard.model import Finding
from cli_guard.review.request import Commit, Range, Request, Staged

CHECK = "    check_permission(user, page)\n"
SAFE = f"def save(user, page):\n    page.load()\n{CHECK}    page.save(user)\n"
OPEN = SAFE.replace(CHECK, "")
OTHER = "\n\ndef close(page):\n    page.flush()\n    page.close()\n"
FILE = "app/views.py"


def found(repo: Repo, request: Request | None = None) -> list[Finding]:
    """The findings of this reviewer, of what is staged unless told otherwise."""
    every = (each.finding for each in repo.look(request or Staged()).sort_findings())
    return [each for each in every if each.rule.startswith("protection-")]


def since(base: str) -> Range:
    return Range(base, "HEAD")


@pytest.fixture
def base(repo: Repo) -> str:
    return repo.commit("Save pages", {FILE: SAFE})


def test_a_range_is_judged_by_its_commits(repo: Repo, base: str) -> None:
    """The check of a feature that comes hides none that goes: over the whole range the two cancel out."""
    lost = repo.commit("Save more", {FILE: OPEN})
    gained = f"def publish(user, page):\n{CHECK}    page.publish(user)\n"
    repo.commit("Publish pages", {"app/publishing.py": gained.replace("page)", "page, 1)")})
    (finding,) = found(repo, since(base))
    assert (finding.path, finding.line, finding.commit) == (FILE, 3, None)
    repo.commit("Close pages", {FILE: OPEN + OTHER})
    (finding,) = found(repo, since(base))
    assert finding.commit == lost


def test_a_check_that_comes_and_goes_in_one_range_is_gone(repo: Repo) -> None:
    base = repo.commit("Begin", {"README": "pages\n"})
    repo.commit("Save pages", {FILE: SAFE})
    repo.commit("Save more", {FILE: OPEN})
    assert [each.path for each in found(repo, since(base))] == [FILE]


BACK = (
    pytest.param({FILE: SAFE}, id="as it was"),
    pytest.param({FILE: OTHER + SAFE}, id="at another line"),
    pytest.param(
        {"app/gate.py": f"def enter(user, page):\n{CHECK}    return page\n"},
        id="in another file",
    ),
)


@pytest.mark.parametrize("files", BACK)
def test_a_check_that_is_back_at_the_tip_is_silent(
    repo: Repo, base: str, files: dict[str, str | bytes]
) -> None:
    repo.commit("Save more", {FILE: OPEN})
    assert found(repo, since(base))
    repo.commit("Check again", files)
    assert found(repo, since(base)) == []


def test_what_is_deleted_later_took_its_check_along(repo: Repo, base: str) -> None:
    repo.commit("Save more", {FILE: OPEN})
    repo.git("rm", "-q", FILE)
    repo.commit("Save no pages", {"README": "pages\n"})
    assert found(repo, since(base)) == []


def test_a_file_is_followed_through_a_rename(repo: Repo, base: str) -> None:
    lost = repo.commit("Save more", {FILE: OPEN + OTHER})
    repo.git("mv", FILE, "app/saving.py")
    repo.commit("Rename it")
    (finding,) = found(repo, since(base))
    assert (finding.path, finding.commit) == (FILE, lost)
    repo.commit("Check again", {"app/saving.py": SAFE + OTHER})
    assert found(repo, since(base)) == []


def test_a_check_that_goes_while_its_file_is_renamed_is_found(repo: Repo) -> None:
    repo.commit("Save pages", {FILE: SAFE + OTHER})
    repo.git("mv", FILE, "app/saving.py")
    repo.write("app/saving.py", OPEN + OTHER)
    repo.git("add", "-A")
    assert [each.path for each in found(repo)] == ["app/saving.py"]
    repo.write("app/saving.py", SAFE + OTHER)
    repo.git("add", "-A")
    assert found(repo) == []


def test_a_revert_is_no_excuse(repo: Repo) -> None:
    repo.commit("Save pages", {FILE: OPEN})
    fix = repo.commit("Check who saves", {FILE: SAFE})
    repo.git("revert", "--no-edit", fix)
    assert [each.path for each in found(repo, Commit("HEAD"))] == [FILE]
    repo.git("revert", "--no-edit", "HEAD")
    assert found(repo, Commit("HEAD")) == []


def test_an_amended_commit_is_judged_against_its_parent_once_recorded(
    repo: Repo, base: str
) -> None:
    repo.commit("Close pages", {FILE: SAFE + OTHER})
    repo.write(FILE, OPEN + OTHER)
    repo.git("commit", "-qa", "--amend", "--no-edit", "--no-verify")
    assert [each.path for each in found(repo, since(base))] == [FILE]
    repo.write(FILE, SAFE + OTHER)
    repo.git("commit", "-qa", "--amend", "--no-edit", "--no-verify")
    assert found(repo, since(base)) == []


@pytest.fixture
def forked(repo: Repo) -> Repo:
    """On `main` the check was added, on `feature` the same file has grown; `feature` is checked out."""
    repo.commit("Save pages", {FILE: OPEN})
    repo.git("checkout", "-qb", "feature")
    repo.commit("Close pages", {FILE: OPEN + OTHER})
    repo.git("checkout", "-q", "main")
    repo.commit("Check who saves", {FILE: SAFE})
    repo.git("checkout", "-q", "feature")
    return repo


def merge(repo: Repo, other: str, *options: str) -> None:
    repo.git("merge", "-q", "--no-ff", "--no-verify", "--no-edit", *options, other)


@pytest.mark.parametrize("options", ((), ("-X", "ours"), ("-X", "theirs")))
def test_a_merge_that_keeps_the_check_is_silent(
    forked: Repo, options: tuple[str, ...]
) -> None:
    merge(forked, "main", *options)
    assert "check_permission" in (forked.path / FILE).read_text()
    assert found(forked, Commit("HEAD")) == []
    assert found(forked, since("HEAD^1")) == []


def test_a_merge_that_drops_what_the_other_side_fixed_is_found(forked: Repo) -> None:
    merge(forked, "main", "-s", "ours")
    (finding,) = found(forked, Commit("HEAD"))
    assert (finding.path, finding.line) == (FILE, 3)
    assert [each.path for each in found(forked, since("main"))] == [FILE]
    forked.commit("Check again", {FILE: SAFE + OTHER})
    assert found(forked, since("main")) == []


def test_a_merge_that_takes_the_check_back_by_hand_is_found(forked: Repo) -> None:
    forked.git("merge", "-q", "--no-ff", "--no-commit", "main")
    assert found(forked) == []
    forked.write(FILE, OPEN + OTHER)
    forked.git("add", FILE)
    assert [each.path for each in found(forked)] == [FILE]
    forked.git("commit", "-q", "--no-verify", "-m", "Merge")
    assert [each.path for each in found(forked, since("HEAD^1"))] == [FILE]


def test_a_merge_is_silent_about_what_one_side_had_taken_away(
    repo: Repo, base: str
) -> None:
    """That commit was judged itself, wherever it was made."""
    repo.git("checkout", "-qb", "feature")
    repo.commit("Save more", {FILE: OPEN})
    repo.git("checkout", "-q", "main")
    repo.commit("Close pages", {FILE: SAFE + OTHER})
    merge(repo, "feature")
    assert (repo.path / FILE).read_text() == OPEN + OTHER
    assert found(repo, Commit("HEAD")) == []
    (finding,) = found(repo, since("HEAD^1"))
    assert finding.path == FILE
    assert found(repo, Range("HEAD^2", "HEAD")) == []


def test_a_conflict_that_is_resolved_without_the_check_is_found(repo: Repo) -> None:
    repo.commit("Save pages", {FILE: OPEN})
    repo.git("checkout", "-qb", "feature")
    renamed = OPEN.replace("page.load()", "page.load(user)")
    repo.commit("Load as the user", {FILE: renamed})
    repo.git("checkout", "-q", "main")
    repo.commit("Check who saves", {FILE: SAFE})
    assert repo.try_git("merge", "-q", "--no-verify", "feature").code == 1
    repo.write(FILE, SAFE.replace("page.load()", "page.load(user)"))
    repo.git("add", FILE)
    assert found(repo) == []
    repo.write(FILE, renamed)
    repo.git("add", FILE)
    assert [each.path for each in found(repo)] == [FILE]


def test_git_merge_asks_its_hook_about_a_side_that_it_drops(forked: Repo) -> None:
    main = forked.git("rev-parse", "main")
    done = forked.guard("hook", "pre-merge-commit", env={f"GITHEAD_{main}": "main"})
    assert "protection-access" in done.all


def test_a_merge_of_too_many_is_said(forked: Repo) -> None:
    names = [f"topic{number}" for number in range(9)]
    for name in names:
        forked.git("checkout", "-q", "-b", name, "main")
        forked.commit("Note it", {f"{name}.txt": "note\n"})
    forked.git("checkout", "-q", "main")
    forked.git("merge", "-q", "--no-verify", "--no-edit", *names)
    skipped = forked.look(Commit("HEAD")).skipped
    assert any("a merge of more than 8" in each.reason for each in skipped)
