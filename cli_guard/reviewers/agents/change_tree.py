"""The tree after a change, as the judge asks about a work tree. No path outside it is looked at, and nothing is run."""

import re

from cli_guard.commands import Context, Setting
from cli_guard.commands.model import Profile
from cli_guard.commands.programs import table
from cli_guard.errors import GitError
from cli_guard.repository.protocol import WithFolders
from cli_guard.reviewers.review_input import ReviewInput

# The tree has no place on a disk: in a range it is another one than what is checked out.
ROOT = "/repository"
HOME = "/home/person"
# What is not recorded and is there once the project is set up.
INSTALLED = ("node_modules", ".venv", "venv", "vendor/bin")
# What is installed there comes from these: a program that they do not name is fetched when it is called.
MANIFESTS = (
    "package.json package-lock.json npm-shrinkwrap.json pnpm-lock.yaml yarn.lock bun.lock pyproject.toml uv.lock "
    "poetry.lock pdm.lock Pipfile Pipfile.lock setup.cfg requirements.txt requirements-dev.txt Gemfile Gemfile.lock "
    "composer.json composer.lock"
).split()


class ChangeTree:
    """See `cli_guard.commands.model.WorkTree`. What is not known of a tree is answered as the worse of the two."""

    def __init__(self, subject: ReviewInput) -> None:
        self._subject = subject

    def text(self, path: str) -> str | None:
        """Return the text of a file by its path from the top, None if there is none."""
        try:
            return self._subject.text_at(path)
        except GitError:
            return None

    def is_recorded(self, path: str) -> bool:
        """Return whether there is a file at a path from the top, also one that is not read as text."""
        change = self._subject.file_at(path)
        if change is None or change.is_deleted:
            return False
        try:
            self._subject.contents.new(change)
        except GitError:
            return False
        return True

    def exists(self, path: str) -> bool:
        inside = path.removeprefix(f"{ROOT}/")
        if path == ROOT:
            return True
        if inside.startswith(INSTALLED):
            folder, _, name = inside.rpartition("/")
            is_program = folder.endswith("bin") and name != "activate"
            return not is_program or self.locks(name)
        return self.is_folder(path) or self.text(inside) is not None

    def is_folder(self, path: str) -> bool:
        contents = self._subject.contents
        if path == ROOT or path.removeprefix(f"{ROOT}/") in INSTALLED:
            return True
        if not path.startswith(f"{ROOT}/") or not isinstance(contents, WithFolders):
            return False
        return contents.has_files_in(path.removeprefix(f"{ROOT}/"))

    def expand(self, pattern: str) -> tuple[str, ...]:
        return ()

    def holds_odd_names(self) -> bool:
        return False

    def list_links(self) -> tuple[str, ...]:
        return ()

    def adds_links(self, revision: str) -> bool:
        return True

    def diff_holds_odd_names(self, revisions: tuple[str, ...]) -> bool:
        return False

    def list_uncommitted(self, most: int) -> tuple[tuple[str, bool], ...]:
        return (("*", False),)

    def locks(self, program: str) -> bool:
        name = re.compile(rf"(?<![\w-]){re.escape(program)}(?![\w-])")
        return table(program) is not None or any(
            name.search(self.text(path) or "") for path in MANIFESTS
        )

    def holds_work(self, path: str) -> bool:
        return True

    def makes_program(self, program: str) -> bool:
        return False

    def allows_install(
        self, lock: tuple[str, ...], needed: tuple[str, ...], settings: tuple[str, ...]
    ) -> bool:
        return False

    def owns_process(self, number: str) -> bool:
        return False

    def read_number(self, path: str) -> str | None:
        return None

    def is_pushed(self) -> bool:
        return False

    def is_on_branch(self, revision: str) -> bool | None:
        return False

    def holds_resolutions(self) -> bool:
        return True

    def reviews_commits(self) -> bool:
        return False

    def find_secret(self, folder: str) -> str | None:
        return None


def context_of(tree: ChangeTree) -> Context:
    """Return the context of a command that starts in the tree, which a person has opened and trusts."""
    return Context(
        setting=Setting.AGENT,
        home=HOME,
        folder=ROOT,
        root=ROOT,
        profile=Profile.WORKSPACE,
        tree=tree,
    )
