"""`cli-guard mcp`: serve coding agents over standard input and output."""

import click

from cli_guard.cli.app import Command
from cli_guard.cli.io import Io
from cli_guard.errors import UsageError


@click.pass_obj
def run(io: Io, /) -> int:
    """Serve until standard input ends."""
    from cli_guard.cli.explain import page
    from cli_guard.mcp.server.serving import LINE_BYTES, serve
    from cli_guard.mcp.server.tools import Surroundings
    from cli_guard.state.crash import report_crash

    if io.stdin.isatty():
        raise UsageError(
            "this command is for coding agents, which write requests to standard input: let an agent start it"
        )

    def report_bug(error: Exception) -> str:
        return report_crash(error, ["mcp"], io.cwd, io.env, go_on="the server continues")

    around = Surroundings(
        invocation=lambda: io.invocation,
        explain=lambda rule: page(rule, io),
        report_bug=report_bug,
    )
    serve(io.byte_lines(LINE_BYTES), lambda data: io.write_bytes(data, b""), around)
    return 0


command = Command(
    "mcp",
    callback=run,
    help="Serve coding agents over standard input and output (Model Context Protocol): they can read with a"
    " sandboxed shell, review changes, judge commands, ask about the repository and explain rules, in the folder where"
    " it is started and below. It changes and approves nothing. Requires the extra `mcp`.",
)
