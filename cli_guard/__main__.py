"""The front door: `main` for whoever hands in streams, `run` for a process. Every error ends here as one line."""

import gc
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TextIO

from cli_guard.errors import CliGuardError, ExitCode


def main(
    argv: Sequence[str], stdin: TextIO, stdout: TextIO, stderr: TextIO, cwd: Path, env: Mapping[str, str]
) -> int:
    """Runs `cli-guard` with these arguments and surroundings; gives the exit code.

    Raises nothing but BrokenPipeError, for a reader that has had enough.
    """
    try:
        return answer(argv, stdin, stdout, stderr, cwd, env)
    except KeyboardInterrupt:
        stderr.write("cli-guard: interrupted; nothing was changed\n")
        return ExitCode.INTERRUPTED


def answer(
    argv: Sequence[str], stdin: TextIO, stdout: TextIO, stderr: TextIO, cwd: Path, env: Mapping[str, str]
) -> int:
    """The same, but an interrupt goes through: it may come while this still imports what it needs."""
    import click

    from cli_guard.cli.app import dispatch
    from cli_guard.cli.io import Io

    io = Io(stdin, stdout, stderr, cwd, env)

    def complain(text: str) -> None:
        from cli_guard.redact import redact
        from cli_guard.report.printable import printable

        io.warn(f"cli-guard: {printable(redact(text))}")

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
    except BrokenPipeError:
        raise
    except Exception as error:
        from cli_guard.cli.crash import report_crash

        complain(report_crash(error, argv, cwd, env))
        return ExitCode.INTERNAL


def raise_again(unraisable: "sys.UnraisableHookArgs") -> None:
    """Raises an interrupt anew that came where nothing can be raised (a callback of compiled code, a `__del__`).

    Python only prints such an exception (`sys.unraisablehook`), and a Ctrl-C would have done nothing. It is asked for
    again a moment later, because asked for here it would be lost in the same place.
    """
    if unraisable.exc_type is KeyboardInterrupt:
        import signal
        import threading

        main_thread = threading.main_thread().ident or 0
        threading.Timer(0.01, signal.pthread_kill, (main_thread, signal.SIGINT)).start()
    else:
        sys.__unraisablehook__(unraisable)


def run() -> None:
    """The console script."""
    sys.unraisablehook = raise_again
    # Thousands of objects are made while libraries load, and none of them is garbage.
    gc.set_threshold(50_000, 20, 50)
    # A stream that the caller has closed is None.
    stdin = sys.stdin or open(os.devnull)  # noqa: SIM115, PTH123 - open until the process ends
    stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115, PTH123
    stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115, PTH123
    try:
        cwd = Path.cwd()
    except FileNotFoundError:
        stderr.write("cli-guard: the current folder is gone: change to another one\n")
        sys.exit(ExitCode.USAGE)
    try:
        code = main(sys.argv[1:], stdin, stdout, stderr, cwd, dict(os.environ))
    except BrokenPipeError:
        code = ExitCode.DENIED
    try:
        stdout.flush()
    except OSError:  # whoever read us has had enough, or a disk is full
        code = code or ExitCode.DENIED
    # Nothing is left to do, and taking the imported libraries apart again would cost a fifth of the whole run.
    os._exit(code)


if __name__ == "__main__":
    run()
