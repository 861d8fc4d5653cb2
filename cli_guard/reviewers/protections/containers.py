"""Whether what a setting, an entry or a block belongs to went: a setting goes with it, a block may stand without it."""

from cli_guard.code.changes.facts import FactKind, has_word, short_name
from cli_guard.reviewers.protections.loss import Loss, calls_inside, list_name


def parent_is_gone(loss: Loss) -> bool:
    """Return whether what a setting belongs to went with it: a key further out, beside one of the keys around it."""
    outer = loss.fact.name.split(".")[:-2]
    around = {".".join(outer[:count]) for count in range(1, len(outer) + 1)}
    return any(
        # A list or table that only lost an entry has no value of its own.
        each.is_option and each.detail and each.name.rpartition(".")[0] in around
        for each in loss.file.went
        if not loss.fact.name.startswith(each.name)
    )


def is_denied_unlisted(loss: Loss) -> bool:
    """Return whether a right went from a list of rights that still stands: what the list leaves out is denied.

    https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax#permissions
    """
    name = loss.fact.name
    rights = name.rpartition(".")[0]
    start = loss.hunk.old_start if loss.hunk else 0
    return (
        short_name(rights) == "permissions"
        and all(new.name != name for new in loss.file.came)
        # The heading of the list stands above what was removed.
        and all(old.name != rights or old.line < start for old in loss.file.went)
    )


def is_list_gone(loss: Loss, text: str) -> bool:
    """Return whether the list of an entry went, and none of its other entries is written where it stood."""
    fact = loss.fact
    if fact.detail.startswith("--"):
        # The end of the options: without what stands behind it, it ends nothing.
        last = fact.operands[-1] if fact.operands else ""
        return loss.hunk is None or not any(last in line for line in loss.hunk.added)
    if has_word(text, list_name(fact)):
        return False
    others = {
        each.detail
        for each in loss.file.went
        if each.kind is FactKind.ENTRY and each.name == fact.name
    }
    came = "\n".join(line for hunk in loss.change.hunks for line in hunk.added)
    return not any(each in came for each in others - {fact.detail} if each)


def stands_without(loss: Loss) -> bool:
    """Return whether what stood in a block stands there without what had the block: `authenticate { get("/x") }`."""
    inside = [each.key for each in calls_inside(loss)]
    kept = {each.key for each in loss.file.new.facts}
    return bool(inside) and kept.issuperset(inside)
