"""The front door: `main` for whoever hands in streams, `run` for a process. Every error ends here as one line."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TextIO

from cli_guard.errors import CliGuardError, ExitCode


def main(
    argv: Sequence[str], stdin: TextIO, stdout: TextIO, stderr: TextIO, cwd: Path, env: Mapping[str, str]
) -> int:
    """Runs `cli-guard` with these arguments and surroundings; gives the exit code. Never raises."""
    import click

    from cli_guard.cli.app import dispatch
    from cli_guard.cli.io import Io

    io = Io(stdin, stdout, stderr, cwd, env)

    def complain(text: str) -> None:
        from cli_guard.report.printable import printable

        io.warn(f"cli-guard: {printable(text)}")

    try:
        return dispatch(list(argv), io)
    except click.exceptions.NoArgsIsHelpError as error:
        io.warn(error.ctx.get_help() if error.ctx else "")
        return ExitCode.USAGE
    except click.ClickException as error:
        complain(f"{error.format_message().rstrip('.')}; see `cli-guard --help`")
        return ExitCode.USAGE
    except CliGuardError as error:
        complain(str(error))
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        complain("interrupted; nothing was changed")
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        raise
    except Exception as error:
        from cli_guard.cli.crash import report_crash

        complain(report_crash(error, argv, cwd, env))
        return ExitCode.INTERNAL


def run() -> None:
    """The console script."""
    try:
        cwd = Path.cwd()
    except FileNotFoundError:
        print("cli-guard: the current folder is gone: change to another one", file=sys.stderr)
        sys.exit(ExitCode.USAGE)
    try:
        code = main(sys.argv[1:], sys.stdin, sys.stdout, sys.stderr, cwd, dict(os.environ))
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read us has had enough; Python would complain about it once more while it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = ExitCode.DENIED
    sys.exit(code)


if __name__ == "__main__":
    run()
