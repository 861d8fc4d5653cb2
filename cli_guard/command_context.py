"""Where commands would run: the folder, the work tree, what its repository configures, the patterns in force.

Git is asked only for what a command makes necessary, and once.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from cli_guard.errors import NotARepository
from cli_guard.git.configuration import own_configuration
from cli_guard.git.process import Git, refusal
from cli_guard.git.repository import Repository
from cli_guard.place import user_file
from cli_guard.policy.commands import Context
from cli_guard.policy.commands.model import Pattern

RECORDED = b"HEAD:cli-guard.toml\nHEAD:pyproject.toml\n"
NO_OWN_FILE = b"HEAD:cli-guard.toml missing\n"


class Configuration(Mapping[str, tuple[str, ...]]):
    """A configuration that is read when somebody looks into it."""

    def __init__(self, read: Callable[[], Mapping[str, tuple[str, ...]]]) -> None:
        self._read = read
        self._data: Mapping[str, tuple[str, ...]] | None = None

    @property
    def data(self) -> Mapping[str, tuple[str, ...]]:
        """The keys and values."""
        if self._data is None:
            self._data = self._read()
        return self._data

    def __getitem__(self, key: str) -> tuple[str, ...]:
        return self.data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)


def command_context(cwd: Path, env: Mapping[str, str]) -> Context:
    """The context of the commands that run in a folder. Raises CliGuardError for a policy that does not hold."""
    git = Git(cwd, env)
    root = root_of(cwd)
    return Context(
        home=env.get("HOME"),
        folder=str(cwd),
        root=str(root) if root else None,
        git_config=Configuration(lambda: own_configuration(git)),
        patterns=patterns_in_force(git, root),
    )


def root_of(folder: Path) -> Path | None:
    """The top folder of the work tree around a folder, by its `.git` alone."""
    return next((each for each in (folder, *folder.parents) if (each / ".git").exists()), None)


def patterns_in_force(git: Git, root: Path | None) -> tuple[Pattern, ...]:
    """The command patterns of the user's own file and of the policy at HEAD. Raises CliGuardError."""
    if not (user_configures(git.env) or (root and repository_configures(git))):
        return ()
    from cli_guard.events.request import Staged
    from cli_guard.in_force import policy_for

    repository = Repository.discover(git.cwd, git.env) if root else None
    policy, _ = policy_for(Staged(), repository, git.env)
    return policy.patterns


def user_configures(env: Mapping[str, str]) -> bool:
    """Could the user's own file speak of commands? One that cannot be read could."""
    path = user_file(env)
    try:
        return path is not None and b"commands" in path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True


def repository_configures(git: Git) -> bool:
    """Could the policy at HEAD speak of commands? Raises GitError where Git cannot tell."""
    code, out, err = git.attempt("cat-file", "--batch", stdin=RECORDED)
    if code != 0:
        error = refusal(err, code)
        if isinstance(error, NotARepository):
            return False
        raise error
    rest = out.removeprefix(NO_OWN_FILE)
    return b"commands" in rest and (rest is out or b"cli-guard" in rest)
