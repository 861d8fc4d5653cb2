"""The tree after a change, as the judge asks about a work tree. No path outside it is looked at, and nothing is run."""

import re

from cli_guard.commands import Context, Setting
from cli_guard.commands.model import Profile, WorkTree
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


class ChangeTree(WorkTree):
    """See `cli_guard.commands.model.WorkTree`."""

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

    def locks(self, program: str) -> bool:
        name = re.compile(rf"(?<![\w-]){re.escape(program)}(?![\w-])")
        return table(program) is not None or any(
            name.search(self.text(path) or "") for path in MANIFESTS
        )


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
