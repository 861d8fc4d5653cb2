"""The context in which commands would run: folder, work tree, Git configuration, command patterns.

Git is called only if a command needs it, and only once.
"""

import datetime
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from cli_guard.commands import Context
from cli_guard.commands.effects.environment import runs_nothing
from cli_guard.commands.model import Pattern, Profile
from cli_guard.errors import NotARepository
from cli_guard.execution.work_tree import TrustedTree, follow_links
from cli_guard.git.process import UNREADABLE, Git, own_configuration, refusal
from cli_guard.git.repository import GitRepository
from cli_guard.model import Decision, Presence
from cli_guard.runtime import Env, read_plain, user_file, user_state

if TYPE_CHECKING:
    from cli_guard.policy.config import AgentChoice
    from cli_guard.state.trees import Tree

RECORDED = b"HEAD:cli-guard.toml\nHEAD:pyproject.toml\n"
# As in state/trees.py, which is loaded only if there is such a file.
TREES_FILE = "trees.json"
MOST_NAMES = 2_000
MOST_SUBMODULES = 50
# The mode of a submodule as the index stores it (gitformat-index(5)).
GITLINK = b"\0\0\xe0\0"
MOST_FOLDERS = 20_000
# What makes a folder a repository for Git.
LAYOUT = ("HEAD", "objects", "refs")
# Their text is a command as a whole.
SHELL_ENDINGS = (".sh", ".bash", ".zsh", ".ksh", ".dash")
OTHER_SECTIONS = frozenset("decisions rules ignore limits git message mcp checks".split())


class Configuration(Mapping[str, tuple[str, ...]]):
    """Git's configuration, read on first use."""

    def __init__(self, read: Callable[[], Mapping[str, tuple[str, ...]]]) -> None:
        self._read = read

    @cached_property
    def data(self) -> Mapping[str, tuple[str, ...]]:
        """Return the keys and values."""
        return self._read()

    def __getitem__(self, key: str) -> tuple[str, ...]:
        return self.data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)


class OtherRepositories:
    """What Git takes for repositories of their own below a root, looked for when a command enters a folder."""

    def __init__(self, root: Path) -> None:
        self.root = os.path.realpath(root)

    def find(self, folder: str | None) -> str | None:
        """Return the repository that a folder is in, any if the folder is not known; None if it is the root's."""
        if folder is None:
            return self.any
        path = Path(follow_links(folder))
        root = Path(self.root)
        if not path.is_relative_to(root):
            return folder
        around = (path, *path.parents)[: len(path.parts) - len(root.parts)]
        return next(
            (str(each) for each in around if each != root / ".git" and is_repository(each)),
            None,
        )

    @cached_property
    def any(self) -> str | None:
        """Return one of them: the root itself, which stands for all below it, if there are too many folders."""
        for count, (folder, folders, files) in enumerate(os.walk(self.root)):
            if count > MOST_FOLDERS:
                return self.root
            inside = {*folders, *files}
            if folder == self.root:
                folders[:] = [each for each in folders if each != ".git"]
            elif ".git" in inside or inside.issuperset(LAYOUT):
                return folder
        return None


def is_repository(folder: Path) -> bool:
    """Return whether Git takes a folder for a repository or the top of a work tree."""
    return has(folder, ".git") or all(has(folder, name) for name in LAYOUT)


def has(folder: Path, name: str) -> bool:
    """Return whether a folder holds a name; False where it cannot be asked (Path.exists raises)."""
    return os.path.exists(folder / name)  # noqa: PTH110


def command_context(
    cwd: Path, env: Env, *, agent: str = "", profile: Profile | None = None
) -> Context:
    """Build the context of commands that run in a folder. Raises CliGuardError for an invalid policy.

    `agent` is the coding agent that wants to run them, "" for anybody. `profile` replaces the one that is configured.
    """
    git = Git(cwd, env)
    root = root_of(cwd)
    patterns, warnings, wanted = patterns_in_force(git, root)
    trusted = find_tree(git, root, wanted)
    profile = profile or find_profile(env, agent, trusted)
    own = trusted.allow if trusted else ()
    installs = None
    if root and trusted and trusted.installs:
        from cli_guard.execution.installs import AllowedInstalls

        find = partial(GitRepository.discover, root, env)
        installs = AllowedInstalls(root, find, trusted.installs, trusted.installs_at)
    tree = TrustedTree(root, git, installs) if root else None
    return Context(
        home=env.get("HOME"),
        folder=str(cwd),
        root=str(root) if root else None,
        git_config=Configuration(lambda: configuration_of(git, root)),
        patterns=(*patterns, *(Pattern(text, Decision.ALLOW) for text in own)),
        names=names_in(cwd),
        find_repository=OtherRepositories(root).find if root else None,
        follow=follow_links,
        warnings=warnings,
        profile=profile,
        tree=tree,
        read_commands=read_commands,
    )


def read_commands(path: str, text: str) -> tuple[str, ...] | None:
    """See `Context.read_commands`."""
    from cli_guard.reviewers.commands.extract import Unreadable, looks_so, snippets

    if path.endswith(SHELL_ENDINGS) or not looks_so(path, ""):
        return None
    try:
        return tuple(
            each.text for each in snippets(path, text) if each.language in ("sh", "mixed")
        )
    except Unreadable:
        return None


def find_tree(git: Git, root: Path | None, wanted: Presence) -> "Tree | None":
    """Return what a person answered for a work tree, at the level that policy wants. Raises CliGuardError."""
    path = user_state(git.env)
    if root is None or path is None or not has(path, TREES_FILE):
        return None
    from cli_guard.state.trees import TrustedTrees, counts

    tree = TrustedTrees(git.env).at(root)
    now = datetime.datetime.now(datetime.UTC)
    repository = GitRepository.discover(root, git.env) if tree else None
    if tree is None or repository is None or not counts(tree, repository, now):
        return None
    if wanted.rank:
        from cli_guard.approvals.seals import PolicySeals

        return (
            tree
            if PolicySeals(repository, git.env, wanted).holds(tree.payload, tree.seal)
            else None
        )
    return tree


def find_profile(env: Env, agent: str, tree: "Tree | None") -> Profile:
    """Return the profile in force: what the user chose for the agent, or for all, within the trust in the tree.

    Nothing makes an untrusted tree a workspace. Raises CliGuardError.
    """
    trusted = Profile(tree.profile_in_force) if tree else Profile.STRICT
    choice = find_choice(env, agent)
    chosen = choice.profile if choice else None
    return trusted if chosen in (None, "workspace") else Profile(chosen)


def find_choice(env: Env, agent: str) -> "AgentChoice | None":
    """Return what the user chose for an agent in `[agent]`, None if there is no such file. Raises CliGuardError."""
    if not user_configures(env):
        return None
    from cli_guard.policy.config import read_user_config

    config = read_user_config(env)
    return config.agent.choice_for(agent) if config else None


def configuration_of(git: Git, root: Path | None) -> Mapping[str, tuple[str, ...]]:
    """Return the repository's own configuration and what its submodules add: to read its status, Git enters them."""
    found = dict(own_configuration(git))
    folders = find_submodules(git.at(root, git.env)) if root else []
    for count, folder in enumerate(folders):
        if count == MOST_SUBMODULES:
            return found | UNREADABLE
        inner = git.at(folder, git.env)
        folders += find_submodules(inner)
        for key, values in own_configuration(inner).items():
            if not key.startswith("alias.") and not runs_nothing(key, values[-1]):
                found[key] = values
    return found


def find_submodules(git: Git) -> list[Path]:
    """Return the submodules of a work tree that are checked out; Git runs in its top folder."""
    root = git.cwd
    folder = git.cwd / ".git"
    try:
        # Most repositories have none, and the index says so in a fraction of the time that Git takes.
        if (
            folder.is_dir()
            and GITLINK not in (folder / "index").read_bytes()
            and not any(folder.glob("sharedindex.*"))
        ):
            return []
    except OSError:
        return []
    _, out, _ = git.attempt("ls-files", "--stage", "-z")
    links = [
        os.fsdecode(line.partition(b"\t")[2])
        for line in out.split(b"\0")
        if line.startswith(b"160000 ")
    ]
    return [root / name for name in links if has(root / name, ".git")]


def names_in(folder: Path) -> frozenset[str] | None:
    """List what a folder holds, None if that is too much or cannot be read."""
    try:
        with os.scandir(folder) as entries:
            found = list(islice(entries, MOST_NAMES + 1))
            names = frozenset(
                entry.name
                for entry in found
                if not entry.is_dir()
                or entry.name.startswith("-")
                or is_importable(entry.path)
            )
    except OSError:
        return None
    return names if len(found) <= MOST_NAMES else None


def is_importable(folder: str) -> bool:
    """Return whether Python may import a folder in place of a standard library module."""
    if Path(folder).name not in sys.stdlib_module_names:
        return True
    with os.scandir(folder) as entries:
        return any(entry.name.startswith("__init__.") for entry in entries)


def root_of(folder: Path) -> Path | None:
    """Find the top folder of the work tree around a folder by its `.git`."""
    return next((each for each in (folder, *folder.parents) if has(each, ".git")), None)


def patterns_in_force(
    git: Git, root: Path | None
) -> tuple[tuple[Pattern, ...], tuple[str, ...], Presence]:
    """Return the command patterns of the user's own file and of the policy at HEAD, and what is wrong with them.

    And the level that trust needs. Raises CliGuardError.
    """
    if not (user_configures(git.env) or (root and repository_configures(git))):
        return (), (), Presence.TTY
    from cli_guard.policy.recorded import policy_at_head

    repository = GitRepository.discover(git.cwd, git.env) if root else None
    policy, notes = policy_at_head(repository, git.env)
    return policy.patterns, tuple(notes), policy.trust


def user_configures(env: Env) -> bool:
    """Return whether the user's own file may configure commands; True if it cannot be read."""
    path = user_file(env)
    try:
        return path is not None and speaks(read_plain(path, follow=True), whole=True)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True


def repository_configures(git: Git) -> bool:
    """Return whether the policy at HEAD may configure commands. Raises GitError."""
    code, out, err = git.attempt("cat-file", "--batch", stdin=RECORDED)
    if code != 0:
        error = refusal(err, code)
        if isinstance(error, NotARepository):
            return False
        raise error
    own, shared = split_batch(out)
    return speaks(own, whole=True) or speaks(shared, whole=False)


def split_batch(out: bytes) -> tuple[bytes, bytes]:
    """Split the output of `git cat-file --batch` for two files; a missing one is empty (git-cat-file(1))."""
    files = []
    for _ in range(2):
        line, _, out = out.partition(b"\n")
        size = 0 if line.endswith(b" missing") else int(line.rsplit(b" ", 1)[-1] or 0)
        files.append(out[:size])
        out = out if line.endswith(b" missing") else out[size + 1 :]
    return files[0], files[1]


def speaks(raw: bytes, *, whole: bool) -> bool:
    """Return whether a configuration has `commands`, or an unknown key that may be a misspelling of it."""
    if not raw or (not whole and b"cli-guard" not in raw):
        return False
    import tomllib  # most repositories have no such file

    try:
        data = tomllib.loads(raw.decode("utf-8-sig"))
        table = data if whole else data.get("tool", {}).get("cli-guard", {})
        return not OTHER_SECTIONS.issuperset(table)
    except (ValueError, TypeError, AttributeError, RecursionError):
        return True
