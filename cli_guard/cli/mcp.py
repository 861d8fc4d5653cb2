"""`cli-guard mcp`: serves coding agents over standard input and output."""

import click

from cli_guard.cli.app import Command
from cli_guard.cli.io import Io
from cli_guard.errors import UsageError


@click.pass_obj
def run(io: Io, /) -> int:
    """Serves until standard input ends."""
    from cli_guard.cli.crash import report_crash
    from cli_guard.cli.explain import page
    from cli_guard.mcp.server.pipes import LINE_BYTES
    from cli_guard.mcp.server.serving import serve
    from cli_guard.mcp.server.tools import Surroundings

    if io.stdin.isatty():
        raise UsageError(
            "this is for coding agents, which write requests to standard input: let one start it"
        )

    def crashed(error: Exception) -> str:
        return report_crash(error, ["mcp"], io.cwd, io.env, go_on="the server goes on")

    around = Surroundings(invocation=lambda: io.invocation, explain=page, crashed=crashed)
    serve(io.byte_lines(LINE_BYTES), io.say, around)
    return 0


command = Command(
    "mcp",
    callback=run,
    help="Serve coding agents over standard input and output (Model Context Protocol): they may review changes, judge"
    " commands, ask about the repository and have rules explained, in the folder where this is started and below."
    " Nothing is changed or approved. Needs the extra cli-guard[mcp].",
)
