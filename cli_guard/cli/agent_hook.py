"""Answer a coding agent on standard input: what `cli-guard hook AGENT` does; loaded without click, see plain.py."""

from contextlib import suppress

from cli_guard.agents.registry import BLOCKED, Agent, ToolDenied
from cli_guard.cli.io import Io
from cli_guard.errors import CliGuardError, UsageError


def answer_agent(io: Io, agent: Agent) -> int:
    """Answer one request of a coding agent. Every failure blocks the tool; `__main__` sees to the time."""
    raw = b""
    answer = None
    try:
        if io.stdin.isatty():
            raise UsageError(
                f"{agent.name} reads a request of {agent.title} from standard input"
            )
        raw = io.read_bytes()
        # Without click, and without what only an installation needs.
        from cli_guard.agents.dialects import respond

        answer = respond(agent.name, raw, io.invocation)
        io.say(answer)
        return 0
    except KeyboardInterrupt as error:
        # Two answers would be none; without a request there is nothing to ask about.
        if answer is None and raw:
            return answer_late(io, agent, raw)
        return block_tool(io, agent, error)
    except Exception as error:
        return block_tool(io, agent, error)


def answer_late(io: Io, agent: Agent, raw: bytes) -> int:
    """Answer a request that was not judged in time; nothing of it is remembered. A failure blocks the tool."""
    try:
        from cli_guard.agents.dialects import respond_late

        io.say(respond_late(agent.name, raw))
        return 0
    except (Exception, KeyboardInterrupt) as error:
        return block_tool(io, agent, error)


def block_tool(io: Io, agent: Agent, error: BaseException) -> int:
    """Print in one line why the tool may not be used; return the exit code that blocks it."""
    # The exit code counts, whatever goes wrong with the line.
    with suppress(Exception):
        if isinstance(error, ToolDenied):
            io.warn(str(error))
            return BLOCKED
        if isinstance(error, CliGuardError | ValueError):
            words = f"the tool use could not be judged: {error}"
        elif isinstance(error, Exception):
            from cli_guard.state.crash import report_crash

            go_on = "ask your user, or let them run it in a terminal"
            words = report_crash(error, ("hook", agent.name), io.cwd, io.env, go_on)
        else:
            words = "interrupted before the tool use was judged"
        from cli_guard.secrets.printable import printable
        from cli_guard.secrets.redact import redact

        io.warn(f"cli-guard: {printable(redact(words))}")
    return BLOCKED
