"""What a push does to branches; other reviewers read its commits.

Only branches are protected (`git.protected_branches`): a tag or a note is never the subject of a finding.
"""

from cli_guard.model import Finding, Report
from cli_guard.policy.globs import matches
from cli_guard.repository.pushes import PushedRef
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.rules.catalog import one

BRANCH = "refs/heads/"


def review(subject: ReviewInput) -> Report:
    """Report protected branches that are forced or deleted (`git.protected_branches`)."""
    findings = (finding_for(ref, subject.protected_branches) for ref in subject.pushed)
    return Report(tuple(finding for finding in findings if finding))


def finding_for(ref: PushedRef, protected: tuple[str, ...]) -> Finding | None:
    """Return the finding about one ref, None if there is none."""
    name = ref.update.remote_ref
    # A framework names the branch alone.
    branch = name.removeprefix(BRANCH)
    if name.startswith("refs/") and not name.startswith(BRANCH):
        return None
    # With a folder, a pattern matches the whole name: `main` does not protect `topic/main`.
    if not any(matches(BRANCH + pattern, BRANCH + branch) for pattern in protected):
        return None
    if ref.update.deletes:
        rule_id = "push-delete-protected"
        what = "deletes"
    elif ref.forced:
        rule_id = "push-force-protected"
        what = "rewrites"
    else:
        return None
    return one("push", rule_id).finding(
        message=f"the push {what} the protected branch {branch}",
        evidence=f"{ref.update.remote_oid[:12]} -> {ref.update.local_oid[:12]}",
        subject=name,
        content=f"{ref.update.remote_oid} {ref.update.local_oid}",
    )
