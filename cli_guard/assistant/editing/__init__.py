"""Plans changes over many files, and computes them where a change is mechanical. Writes nothing: texts in, plan out."""

from collections.abc import Collection, Mapping

from cli_guard.assistant.editing.model import Plan, Step, UsageGroup
from cli_guard.assistant.editing.planning import plan_for
from cli_guard.assistant.editing.sources import Sources

__all__ = ["Plan", "Step", "UsageGroup", "plan_refactor", "propose_change"]


def plan_refactor(
    request: str, texts: Mapping[str, str], *, allowed: Collection[str] | None = None, seconds: float = 10.0
) -> Plan:
    """The plan of a refactoring: "rename X to Y", "from log4j to slf4j", "move f to m", "replace f(a) with g(a)".

    `texts` is path -> text of the whole repository, `allowed` the paths, folders or globs that may be looked at
    (all, if None). What is not reached in `seconds` is in `skipped`, and there is no patch then.
    """
    return plan_for(request, Sources(texts, allowed, seconds))


def propose_change(
    request: str, texts: Mapping[str, str], *, allowed: Collection[str] | None = None, seconds: float = 10.0
) -> Plan:
    """The plan of any other change: "change X to Y in path", "bump version to 1.2.3"; a patch if it is mechanical."""
    return plan_for(request, Sources(texts, allowed, seconds))
