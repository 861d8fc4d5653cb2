"""Find the policy that judges a request, and the repository's own rules after a change."""

from collections.abc import Mapping
from contextlib import suppress

from cli_guard.errors import ConfigError
from cli_guard.policy.config import read_user_config
from cli_guard.policy.decisions import Policy
from cli_guard.policy.recorded import policy_of, work_tree_policy
from cli_guard.policy.user_rules import (
    FOLDER,
    MOST_CHARS,
    UserRules,
    is_rule_file,
    read_rules,
)
from cli_guard.repository.protocol import Blobs, Repository
from cli_guard.repository.pushes import PushedRef
from cli_guard.repository.texts import decode
from cli_guard.review.request import Commit, Message, Push, Range, Request, Staged, Worktree
from cli_guard.rules.catalog import Rule, load_all
from cli_guard.runtime import Env

TRIAL = (
    "tried with the policy of the work tree, and not recorded: hooks use the policy at HEAD"
)


def policy_for(
    request: Request,
    repository: Repository | None,
    env: Env,
    pushed: tuple[PushedRef, ...],
) -> tuple[Policy, list[str]]:
    """Return the policy that judges a request: the one recorded before it, tightened by the user's own.

    A push is judged by that of each pushed tip and by that of the commits it starts from on the remote.
    """
    if repository and isinstance(request, Worktree) and request.own_policy:
        return policy_to_try(repository, env)
    revisions = judging_revisions(request, repository) if repository else ()
    bases = dict.fromkeys(base for ref in pushed for base in (*ref.bases, *ref.starts))
    can_repair = isinstance(request, Staged | Message)
    return policy_of(revisions, repository, env, bases=bases.keys(), can_repair=can_repair)


def policy_to_try(repository: Repository, env: Env) -> tuple[Policy, list[str]]:
    """Return the policy of the work tree, with a note if it is not the one at HEAD."""
    config, source, baseline = work_tree_policy(repository.root)
    user = read_user_config(env)
    own = ("the user's own file",) if user else ()
    tried = Policy(config, user, baseline, (source, *own))
    _, notes = policy_of((), None, env)
    with suppress(ConfigError):  # at HEAD: what is tried may repair it
        recorded, notes = policy_of((repository.head,), repository, env)
        if recorded.identity == tried.identity:
            return recorded, notes
    return tried, [*notes, TRIAL]


def recorded_rules(repository: Repository, revision: str, blobs: Blobs) -> UserRules:
    """Return the repository's own rules of a commit ("": the index). Raises ConfigError for a broken one."""
    from cli_guard.reviewers.code.tree_rules import check_user_rules

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


def every_rule(repository: Repository) -> Mapping[str, Rule]:
    """Return all rules, with those in the index of a repository. Raises ConfigError for a broken one."""
    with repository.blobs(0) as blobs:
        own = recorded_rules(repository, "", blobs).documents
    return {**load_all(), **{name: document.as_rule() for name, document in own.items()}}


def judging_revisions(request: Request, repository: Repository) -> list[str | None]:
    """Return the commits whose policies apply: HEAD if not recorded, a commit's parent, each tip of a range."""
    if isinstance(request, Commit):
        return [*repository.find_commits([f"{request.revision}^1"])] or [None]
    if isinstance(request, Range):
        # Its base first: a range must not appoint its own judge, it can only be stricter.
        return [request.base, request.head]
    if isinstance(request, Push):
        pushed = [each.local_oid for each in request.plan.updates if not each.deletes]
        return [*repository.find_commits(pushed)] or [repository.head]
    return [repository.head]
