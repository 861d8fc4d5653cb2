"""What is known of a file without reading it: by its marks only files that may matter are compared again."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from repositories import Repo

from cli_guard.git.repository import GitRepository
from cli_guard.model import FileChange, Report
from cli_guard.repository.protocol import Contents
from cli_guard.reviewers.cache import Cache
from cli_guard.reviewers.clean_files import CleanFiles
from cli_guard.reviewers.per_file_work import PerFileWork
from cli_guard.reviewers.protections import review
from cli_guard.reviewers.protections.marks import Marks, every_mark
from cli_guard.reviewers.review_input import Limits, ReviewInput

BODY = "def show{0}(page, name):\n    page.title = name\n    return page.render({0})\n"
LOST = "def save(user, page):\n    check_permission(user, page)\n    page.save(user)\n"
CHECK = "    check_permission(user, page)\n"


@dataclass
class CountedContents:
    """Contents that remember which files were read before the change."""

    inner: Contents
    read: list[str] = field(default_factory=list)

    def new(self, change: FileChange) -> str | None:
        return self.inner.new(change)

    def old(self, change: FileChange) -> str | None:
        self.read.append(change.path)
        return self.inner.old(change)


def look(repo: Repo, folder: Path, own: tuple[str, ...] = ()) -> tuple[Report, list[str]]:
    """Review what is staged with the results that a cache has, and give what had to be read for it."""
    repository = GitRepository.discover(repo.path, repo.env)
    limits = Limits()
    with repository.blobs(limits.file_chars) as blobs:
        changes = repository.changes(blobs, limits.bounds).index()
        contents = CountedContents(blobs.contents())
        subject = ReviewInput("pre-commit", changes, contents, own_guards=own)
        clean = CleanFiles(Cache(folder), limits, str(own))
        work = PerFileWork(subject, 1, clean)
        known = replace(subject, work=work)
        work.result("protections", changes.files[0])
        contents.read.clear()
        report = review(known)
        read = sorted(contents.read)
        assert review(subject) == report
        return report, read


def stage_pages(repo: Repo, lost: str) -> None:
    pages = {f"app/page{n}.py": BODY.format(n) for n in range(9)}
    repo.commit("Show pages", {**pages, "app/save.py": LOST})
    for name, text in pages.items():
        repo.write(name, text.replace("name\n", "name.title()\n"))
    repo.write("app/save.py", lost)
    repo.git("add", "-A")


def test_only_files_that_matter_are_read_again(repo: Repo, tmp_path: Path) -> None:
    stage_pages(repo, LOST.replace(CHECK, ""))
    for _ in range(2):
        report, read = look(repo, tmp_path / "cache")
        assert [each.rule for each in report.findings] == ["protection-access"]
        assert set(read) == {"app/save.py"}


def test_nothing_is_read_again_where_nothing_is_lost(repo: Repo, tmp_path: Path) -> None:
    stage_pages(repo, LOST.replace("page.save(user)", "page.save(user, 1)"))
    for _ in range(2):
        report, read = look(repo, tmp_path / "cache")
        assert (report.findings, read) == ((), [])


def test_a_policy_with_other_calls_asks_the_cache_for_nothing(
    repo: Repo, tmp_path: Path
) -> None:
    stage_pages(repo, LOST.replace("page.save(user)", "page.store(user)"))
    assert look(repo, tmp_path / "cache")[0].findings == ()
    report, _ = look(repo, tmp_path / "cache", ("page.save",))
    assert [each.rule for each in report.findings] == ["protection-own"]


def test_marks_are_two_numbers() -> None:
    marks = Marks(frozenset(("access",)), frozenset(("access", "moved", "escape")))
    assert Marks.of_numbers(marks.numbers) == marks
    assert Marks.of_numbers(()) == Marks()
    assert len(every_mark()) <= 53
