"""Plans the checks of a commit or push: from which table, over which trees, and whether they may run."""

from collections.abc import Iterable, Iterator, Mapping

from cli_guard.approvals.seals import seals_of
from cli_guard.commands import Context, judge
from cli_guard.commands.model import Setting
from cli_guard.execution.checks.trust import Trusted
from cli_guard.git.checkout import tree_of_index
from cli_guard.hooks import event_of
from cli_guard.lazy import frozen
from cli_guard.model import ChangeSet, Decision
from cli_guard.policy.checks import CheckConfig, PlannedCheck, Stage, digest_of
from cli_guard.policy.decisions import Policy
from cli_guard.policy.globs import matches
from cli_guard.policy.recorded import recorded_policy
from cli_guard.repository.protocol import Repository
from cli_guard.repository.pushes import PushedRef
from cli_guard.review.request import Push, Request, Staged
from cli_guard.runtime import Invocation


@frozen
class Target:
    """A tree to check, the commit of its HEAD, the revision of its policy, and its checks."""

    tree: str
    commit: str | None
    revision: str
    checks: Mapping[str, CheckConfig]


def stage_of(request: Request) -> Stage | None:
    """Return the stage of a request, None for one that records and sends nothing."""
    stage = event_of(request.event).checks
    return Stage(stage) if stage and isinstance(request, Push | Staged) else None


def plan_checks(
    request: Request,
    repository: Repository,
    policy: Policy,
    changes: ChangeSet,
    pushed: Iterable[PushedRef],
    invocation: Invocation,
) -> tuple[PlannedCheck, ...]:
    """Return the checks that a request needs, each once a tree. Raises CliGuardError, GitError.

    A deletion, and a ref that brings no commit, needs none.
    """
    stage = stage_of(request)
    if stage is None or not any(
        stage in check.stage for table in policy.checks for check in table.values()
    ):
        return ()
    trusted = Trusted(invocation)
    touched = paths_of(changes)
    planned: dict[tuple[str, str, str], PlannedCheck] = {}
    for target in find_targets(stage, repository, policy, pushed):
        digest = digest_of(target.checks)
        trust = trusted.find(
            repository, digest, seals_of(repository, invocation.env, policy)
        )
        for name, check in target.checks.items():
            if stage not in check.stage or not touches(check, touched):
                continue
            planned[target.tree, name, digest] = PlannedCheck(
                name,
                check,
                target.tree,
                target.commit,
                digest,
                target.revision,
                trust.words if trust else "",
                reason_denied(check, repository, policy, invocation),
            )
    return tuple(planned.values())


def find_targets(
    stage: Stage, repository: Repository, policy: Policy, pushed: Iterable[PushedRef]
) -> Iterator[Target]:
    """Yield the trees that are recorded or sent. Raises GitError."""
    if stage is Stage.PRE_COMMIT:
        if policy.config.checks:
            yield Target(
                tree_of_index(repository), repository.head, "", policy.config.checks
            )
        return
    tips = dict.fromkeys(ref.commits.tip for ref in pushed if ref.commits)
    for tip in tips:
        # Only tips whose policies differ need a policy of their own.
        config = recorded_policy(repository, tip)[0] if policy.also else policy.config
        if config.checks:
            revision = "" if tip == repository.head else tip
            yield Target(repository.tree_of(tip), tip, revision, config.checks)


def paths_of(changes: ChangeSet) -> frozenset[str]:
    """Return every path of a change, those that a limit left out included."""
    paths = {path for change in changes for path in (change.path, change.old_path) if path}
    return frozenset(paths | {each.path for each in changes.skipped})


def touches(check: CheckConfig, touched: frozenset[str]) -> bool:
    return not check.files or any(
        matches(pattern, path) for pattern in check.files for path in touched
    )


def reason_denied(
    check: CheckConfig, repository: Repository, policy: Policy, invocation: Invocation
) -> str | None:
    """Return why a check may never run, trusted or not; None if it may."""
    for command in check.commands:
        verdict = judge(command, context_of_checks(repository, policy, invocation))
        if verdict.verdict is Decision.DENY:
            return verdict.reason
    return None


def context_of_checks(
    repository: Repository, policy: Policy, invocation: Invocation
) -> Context:
    """Return the context in which the command engine judges checks: a tree of this repository."""
    root = None if repository.bare else str(repository.root)
    home = invocation.env.get("HOME")
    return Context(
        Setting.PERSON, home=home, folder=root, root=root, patterns=policy.patterns
    )
