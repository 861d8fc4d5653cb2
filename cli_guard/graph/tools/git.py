"""The actions that Git takes itself once a hook lets it: planned and judged here, never run."""

from cli_guard.graph.tools.tool import Arguments, Tool, ToolOutput, World


class Recorded(Arguments):
    """What is recorded: the identity of the content, and how many findings stand against it."""

    content: str
    findings: int


def left_to_git(world: World, arguments: Arguments) -> ToolOutput:
    """Git acts by itself when the hook ends with 0; there is nothing to do but to let it."""
    return ToolOutput({"left_to": "git"})


def recording_tools() -> dict[str, Tool]:
    """`git_commit` and `git_push`."""
    return {
        "git_commit": Tool("git_commit", "Git records the commit", "git", Recorded, left_to_git),
        "git_push": Tool("git_push", "Git sends the commits", "git", Recorded, left_to_git),
    }
