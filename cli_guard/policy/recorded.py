"""Read the policy of a commit, of the index or of a work tree: a change is judged by one that is recorded before it."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from cli_guard.errors import ConfigError
from cli_guard.model import POLICY_FILES
from cli_guard.policy.config import Config, default_config, read_config, read_user_config
from cli_guard.policy.decisions import BASELINE_FILE, Policy, read_baseline
from cli_guard.repository.protocol import Repository
from cli_guard.repository.texts import read_worktree_file
from cli_guard.runtime import Env

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 50_000_000
BUILT_IN = "built-in defaults"
Recorded = tuple[Config, str, frozenset[tuple[str, str, str]]]


def policy_at_head(repository: Repository | None, env: Env) -> tuple[Policy, list[str]]:
    """Return the policy that judges the next commit, and notes about it.

    A broken one raises ConfigError, unless what is in the index repairs it.
    """
    heads = (repository.head,) if repository else ()
    return policy_of(heads, repository, env, can_repair=True)


def policy_of(
    revisions: Iterable[str | None],
    repository: Repository | None,
    env: Env,
    *,
    bases: Collection[str] = (),
    can_repair: bool = False,
) -> tuple[Policy, list[str]]:
    """Return the policy that some commits and the user's own file make together, and notes about it.

    That of `bases`, which the remote has, can only make it stricter. Raises ConfigError.
    """
    user = read_user_config(env)
    own = ("the user's own file",) if user else ()
    problems = user.commands.problems.values() if user else ()
    notes = [f"the user's own file: {each}: it allows nothing" for each in problems]
    built_in = Policy(user=user, sources=(BUILT_IN, *own))
    commits = [each for each in dict.fromkeys(revisions) if each]
    if repository is None or not commits:
        return built_in, notes
    repository.read_roots((*commits, *bases), POLICY_FILES)
    try:
        found = [recorded_policy(repository, each) for each in commits]
    except ConfigError as error:
        if not can_repair:
            raise
        if not is_index_valid(repository):
            raise ConfigError(f"{error}; correct it and stage the correction") from error
        notes.append(f"{error}; this change repairs it, so the built-in defaults apply")
        return built_in, notes
    policy = combine(found, user, own)
    for base in bases:
        try:
            config, _, older = recorded_policy(repository, base)
        except ConfigError as error:
            notes.append(f"{error}: the policy of the remote does not count")
            continue
        more = (config,) if config not in policy.configs else ()
        policy = replace(
            policy, before=(*policy.before, *more), baseline=policy.baseline & older
        )
    return policy, notes


def combine(found: list[Recorded], user: Config | None, own: tuple[str, ...]) -> Policy:
    """Return the policy of several commits: the first, with what another one makes stricter."""
    first, *others = [config for config, _, _ in found]
    also = {each.model_dump_json(): each for each in others if each != first}
    baseline = frozenset.intersection(*{baseline for _, _, baseline in found})
    sources = dict.fromkeys(source for _, source, _ in found)
    return Policy(first, user, baseline, (*sources, *own), tuple(also.values()))


def recorded_policy(repository: Repository, revision: str) -> Recorded:
    """Return the configuration of a commit (of the index for ""), its source, and the baseline beside it."""
    where = f" at {revision[:12]}" if revision else " in the index"
    if revision:
        repository.read_roots((revision,), POLICY_FILES)

    return read_state(partial(repository.show, revision), where)


def work_tree_policy(root: "Path") -> Recorded:
    """Return the same of the work tree. Raises ConfigError."""
    where = " in the work tree"

    def read(name: str) -> bytes | None:
        return read_policy_file(root / name, f"{name}{where}")

    return read_state(read, where)


def read_state(read: Callable[[str], bytes | None], where: str) -> Recorded:
    """Return the same of a state, whose files `read` returns by name. Raises ConfigError."""
    config, source = read_config(read, where) or (default_config(), BUILT_IN)
    return config, source, read_baseline(read(BASELINE_FILE), f"{BASELINE_FILE}{where}")


def read_policy_file(path: "Path", name: str, most: int = MOST_BYTES) -> bytes | None:
    """Return the content of a file of the work tree, None if there is no regular one. Raises ConfigError."""
    data = read_worktree_file(path.parent, path.name, most)
    if data is None and path.is_file() and not path.is_symlink():
        raise ConfigError(f"{name}: cannot be read, or has more than {most:,} bytes")
    return data


def is_index_valid(repository: Repository) -> bool:
    """Return whether the configuration and the baseline in the index are valid, or removed."""
    try:
        recorded_policy(repository, "")
    except ConfigError:
        return False
    return True
