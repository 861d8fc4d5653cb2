"""Which policy judges a request, and where it is read: always one that is recorded already."""

from collections.abc import Mapping

from cli_guard.errors import ConfigError
from cli_guard.git.prefetch import POLICY_FILES
from cli_guard.git.repository import Repository
from cli_guard.policy.config import Config, read_config, read_user_config
from cli_guard.policy.decisions import BASELINE_FILE, Policy, read_baseline
from cli_guard.review.request import Commit, Message, Push, Range, Request, Staged


def policy_for(
    request: Request, repository: Repository | None, env: Mapping[str, str]
) -> tuple[Policy, list[str]]:
    """The policy that judges a request: the one already recorded before it, tightened by the user's own."""
    user = read_user_config(env)
    own = ("the user's own file",) if user else ()
    revisions = judging_revisions(request, repository) if repository else ()
    if repository is None or not revisions:
        return Policy(user=user, sources=("built-in defaults", *own)), []
    try:
        found = [recorded_policy(repository, revision) for revision in revisions]
    except ConfigError as error:
        if not (isinstance(request, Staged | Message) and repairs(repository)):
            raise
        return Policy(user=user, sources=("built-in defaults", *own)), [
            f"{error}; this change repairs it, the built-in defaults judge"
        ]
    first, *others = [config for config, _, _ in found]
    also = tuple(config for config in others if config != first)
    baseline = frozenset.intersection(*(baseline for _, _, baseline in found))
    sources = tuple(dict.fromkeys(source for _, source, _ in found))
    return Policy(first, user, baseline, (*sources, *own), also), []


def recorded_policy(
    repository: Repository, revision: str
) -> tuple[Config, str, frozenset[tuple[str, str, str]]]:
    """The configuration of a commit, or of the index for "", where it was read, and the baseline beside it."""
    where = f" at {revision[:12]}" if revision else " in the index"
    # Most commits hold none of them, and one question is quicker than three.
    there = repository.holds(revision, POLICY_FILES) if revision else POLICY_FILES

    def read(name: str) -> bytes | None:
        return repository.show(revision, name) if name in there else None

    config, source = read_config(read, where) or (Config(), "built-in defaults")
    return config, source, read_baseline(read(BASELINE_FILE), f"{BASELINE_FILE}{where}")


def judging_revisions(request: Request, repository: Repository) -> tuple[str, ...]:
    """The commits whose policies judge: HEAD for what is not recorded, each tip of what is, a commit's parent."""
    if isinstance(request, Commit):
        oid = repository.resolve(request.revision)
        wanted = [repository.git.optional("rev-parse", "--quiet", "--verify", f"{oid}^1")]
    elif isinstance(request, Range):
        wanted = [repository.resolve(request.head)]
    elif isinstance(request, Push):
        tips = [f"{update.local_oid}^{{commit}}" for update in request.plan.updates if not update.deletes]
        wanted = [
            repository.git.optional("rev-parse", "--quiet", "--verify", tip) for tip in dict.fromkeys(tips)
        ]
        wanted = [tip for tip in wanted if tip] or [repository.head]
    else:
        wanted = [repository.head]
    return tuple(dict.fromkeys(revision for revision in wanted if revision))


def repairs(repository: Repository) -> bool:
    """Does the index hold a configuration and a baseline that can be read, or none any more?"""
    try:
        recorded_policy(repository, "")
    except ConfigError:
        return False
    return True
