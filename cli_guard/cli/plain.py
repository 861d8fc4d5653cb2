"""Run the commands that programs call all day, in their plainest form, without click.

click takes a quarter of the time in which a command is judged without a server. Any other form of these commands, their
help and every wrong argument go through click, which means the same by what is read here.
"""

from collections.abc import Sequence

from cli_guard.cli.io import Io

FORMATS: tuple[list[str], ...] = ([], ["--format", "text"], ["--format", "json"])


def run_plainly(argv: Sequence[str], io: Io) -> int | None:
    """Run a command in its plainest form; None for any other. Raises CliGuardError."""
    name, *rest = argv or [""]
    if name == "hook" and rest:
        from cli_guard.agents.registry import AGENTS

        agent = AGENTS.get(rest[0])
        if agent is None:
            from cli_guard.cli.hook import answer_git

            return answer_git(io, *rest)
        if rest[1:]:
            return None
        from cli_guard.cli.agent_hook import answer_agent

        return answer_agent(io, agent)
    if name != "check-command" or not rest:
        return None
    if rest == ["--jsonl"]:
        return judge(io, (), is_jsonl=True)
    word, *options = rest
    if options not in FORMATS or (word.startswith("-") and word != "-"):
        return None
    return judge(io, (word,), format=options[-1] if options else "text")


def judge(
    io: Io, words: tuple[str, ...], *, is_jsonl: bool = False, format: str = "text"
) -> int:
    """Judge as `check-command` does without further options."""
    from cli_guard.cli.judging import judge_for_caller

    return judge_for_caller(
        io, words=words, jsonl=is_jsonl, profile=None, format=format, color="auto"
    )
