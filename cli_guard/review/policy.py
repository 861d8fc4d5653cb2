"""Find the policy that judges a request: always one that is already recorded."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from cli_guard.errors import ConfigError
from cli_guard.model import POLICY_FILES
from cli_guard.policy.config import Config, read_config, read_user_config
from cli_guard.policy.decisions import BASELINE_FILE, Policy, read_baseline
from cli_guard.policy.user_rules import (
    FOLDER,
    MOST_CHARS,
    UserRules,
    is_rule_file,
    read_rules,
)
from cli_guard.repository.protocol import Blobs, Repository
from cli_guard.repository.pushes import PushedRef
from cli_guard.repository.texts import decode, read_worktree_file
from cli_guard.review.request import Commit, Message, Push, Range, Request, Staged, Worktree

# Of a few revisions, each is read by itself.
FEW_REVISIONS = 2
MOST_BYTES = 50_000_000
TRIAL = (
    "tried with the policy of the work tree, and not recorded: hooks use the policy at HEAD"
)


def policy_for(
    request: Request,
    repository: Repository | None,
    env: Mapping[str, str],
    pushed: tuple[PushedRef, ...] = (),
) -> tuple[Policy, list[str]]:
    """Return the policy that judges a request: the one recorded before it, tightened by the user's own.

    A push is judged by that of each pushed tip and by that of the commits it starts from on the remote.
    """
    user = read_user_config(env)
    own = ("the user's own file",) if user else ()
    notes = (
        [
            f"the user's own file: {each}: it allows nothing"
            for each in user.commands.problems.values()
        ]
        if user
        else []
    )
    revisions = judging_revisions(request, repository) if repository else ()
    if repository and isinstance(request, Worktree) and request.own_policy:
        config, source, baseline = work_tree_policy(repository.root)
        tried = Policy(config, user, baseline, (source, *own))
        with suppress(ConfigError):  # at HEAD: what is tried may repair it
            recorded, notes = policy_for(Worktree(), repository, env)
            if recorded.identity == tried.identity:
                return recorded, notes
        return tried, [*notes, TRIAL]
    if repository is None or not revisions:
        return Policy(user=user, sources=("built-in defaults", *own)), notes
    bases = dict.fromkeys(base for ref in pushed for base in ref.bases)
    if repository and len(revisions) + len(bases) > FEW_REVISIONS:
        repository.read_roots((*revisions, *bases), POLICY_FILES)
    try:
        found = [recorded_policy(repository, revision) for revision in revisions]
    except ConfigError as error:
        if not (isinstance(request, Staged | Message) and repairs(repository)):
            raise
        notes.append(f"{error}; this change repairs it, so the built-in defaults apply")
        return Policy(user=user, sources=("built-in defaults", *own)), notes
    first, *others = [config for config, _, _ in found]
    also = tuple(
        {each.model_dump_json(): each for each in others if each != first}.values()
    )
    baseline = frozenset.intersection(*{baseline for _, _, baseline in found})
    sources = tuple(dict.fromkeys(source for _, source, _ in found))
    policy = Policy(first, user, baseline, (*sources, *own), also)
    if repository is not None:
        for base in bases:
            try:
                config, _, older = recorded_policy(repository, base)
            except ConfigError as error:
                notes.append(f"{error}: the policy of the remote does not count")
                continue
            before = (
                (*policy.before, config) if config not in policy.configs else policy.before
            )
            policy = replace(policy, before=before, baseline=policy.baseline & older)
    return policy, notes


def recorded_policy(
    repository: Repository, revision: str
) -> tuple[Config, str, frozenset[tuple[str, str, str]]]:
    """Return the configuration of a commit (of the index for ""), its source, and the baseline beside it."""
    where = f" at {revision[:12]}" if revision else " in the index"
    # Most commits have none of these files, and one Git call is quicker than three.
    there = repository.holds(revision, POLICY_FILES) if revision else POLICY_FILES

    def read(name: str) -> bytes | None:
        return repository.show(revision, name) if name in there else None

    config, source = read_config(read, where) or (Config(), "built-in defaults")
    return config, source, read_baseline(read(BASELINE_FILE), f"{BASELINE_FILE}{where}")


def work_tree_policy(root: Path) -> tuple[Config, str, frozenset[tuple[str, str, str]]]:
    """Return the same of the work tree. Raises ConfigError."""
    where = " in the work tree"
    found = read_config(lambda name: read_policy_file(root / name, f"{name}{where}"), where)
    config, source = found or (Config(), "built-in defaults")
    raw = read_policy_file(root / BASELINE_FILE, f"{BASELINE_FILE}{where}")
    return config, source, read_baseline(raw, f"{BASELINE_FILE}{where}")


def read_policy_file(path: Path, name: str, most: int = MOST_BYTES) -> bytes | None:
    """Return the content of a file of the work tree, None if there is no regular one. Raises ConfigError."""
    data = read_worktree_file(path.parent, path.name, most)
    if data is None and path.is_file() and not path.is_symlink():
        raise ConfigError(f"{name}: cannot be read, or has more than {most:,} bytes")
    return data


def recorded_rules(repository: Repository, revision: str, blobs: Blobs) -> UserRules:
    """Return the repository's own rules of a commit ("": the index). Raises ConfigError for a broken one."""
    from cli_guard.reviewers.code.trees import check_user_rules

    in_index = (
        "--no-literal-pathspecs",
        "ls-files",
        "-s",
        "-z",
        "--full-name",
        "--",
        f":(top){FOLDER}",
    )
    listed = repository.git.run(
        *(
            ("ls-tree", "-z", "--full-tree", revision, f"{FOLDER}/")
            if revision
            else in_index
        )
    )
    texts: dict[str, str] = {}
    for entry in listed.decode("utf-8", "surrogateescape").split("\0")[:-1]:
        head, _, path = entry.partition("\t")
        mode, *words = head.split()
        if not is_rule_file(path):
            continue
        if mode not in ("100644", "100755"):
            raise ConfigError(f"{path}: is a link: rules are read from regular files")
        raw = blobs.read(words[1] if revision else words[0], limit=4 * MOST_CHARS)
        text = None if raw is None else decode(raw)
        if text is None:
            raise ConfigError(
                f"{path}: is not a text of at most {MOST_CHARS:,} characters: divide it"
            )
        texts[path] = text
    users = read_rules(texts)
    check_user_rules(users)
    return users


def judging_revisions(request: Request, repository: Repository) -> tuple[str, ...]:
    """Return the commits whose policies apply: HEAD if not recorded, a commit's parent, each tip of a range."""
    if isinstance(request, Commit):
        oid = repository.resolve(request.revision)
        wanted = [repository.git.optional("rev-parse", "--quiet", "--verify", f"{oid}^1")]
    elif isinstance(request, Range):
        # Its base first: a range must not appoint its own judge, it can only be stricter.
        wanted = [repository.resolve(request.base), repository.resolve(request.head)]
    elif isinstance(request, Push):
        tips = repository.find_commits(
            (each.local_oid for each in request.plan.updates if not each.deletes),
        )
        wanted = list(tips) or [repository.head]
    else:
        wanted = [repository.head]
    return tuple(dict.fromkeys(revision for revision in wanted if revision))


def repairs(repository: Repository) -> bool:
    """Are the configuration and the baseline in the index valid, or removed?"""
    try:
        recorded_policy(repository, "")
    except ConfigError:
        return False
    return True
