"""The entry point: `main` for callers with their own streams, `run` for a process. Every error ends here as one line.

A run on the warm server loads only this file and the client: see `cli_guard.server`.
"""

import sys
import time

# As `typing` defines it, without loading `typing`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import TextIO

# The exit code with which an agent's hook blocks the tool; agents let it run at any other (`agents.registry.BLOCKED`).
BLOCKED = 2
# `errors.ExitCode`, which takes longer to load than a run on the server.
NEEDS_REVIEW = 3
INTERNAL = 4
# As a shell counts a process that Ctrl-C has ended.
INTERRUPTED = 130


def main(
    argv: "Sequence[str]",
    stdin: "TextIO",
    stdout: "TextIO",
    stderr: "TextIO",
    cwd: "Path",
    env: "Mapping[str, str]",
) -> int:
    """Run `cli-guard` with these arguments, streams and environment; return the exit code.

    Raises only BrokenPipeError, if the reader has closed the pipe.
    """
    try:
        return answer(argv, stdin, stdout, stderr, cwd, env)
    except KeyboardInterrupt:
        return report_interrupt(stderr)


def report_interrupt(stderr: "TextIO") -> int:
    """Print one line and return the exit code."""
    stderr.write("cli-guard: interrupted; nothing was changed\n")
    return INTERRUPTED


def answer(
    argv: "Sequence[str]",
    stdin: "TextIO",
    stdout: "TextIO",
    stderr: "TextIO",
    cwd: "Path",
    env: "Mapping[str, str]",
) -> int:
    """Do the same, but let KeyboardInterrupt through: it may come during imports."""
    import cli_guard.lazy  # noqa: F401 - before any other module imports `dataclasses`
    from cli_guard.cli.io import Io
    from cli_guard.cli.plain import run_plainly
    from cli_guard.errors import CliGuardError, ExitCode

    io = Io(stdin, stdout, stderr, cwd, env)
    try:
        code = run_plainly(argv, io)
        if code is None:
            from cli_guard.cli.app import dispatch

            code = dispatch(list(argv), io)
        return code
    except CliGuardError as error:
        io.complain(str(error))
        return error.exit_code
    except BrokenPipeError:
        raise
    except Exception as error:
        # pydantic builds its schemas in compiled code, which wraps an interrupt into an error of its own.
        if type(error).__name__ == "SchemaError" and "KeyboardInterrupt" in str(error):
            raise KeyboardInterrupt from None
        from cli_guard.state.crash import report_crash

        io.complain(report_crash(error, argv, cwd, env))
        return ExitCode.INTERNAL


def raise_again(unraisable: "sys.UnraisableHookArgs") -> None:
    """Raise an interrupt again that came where nothing can be raised (a callback of compiled code, a `__del__`).

    Python only prints such an exception (`sys.unraisablehook`), so Ctrl-C would do nothing. The signal is sent
    again a moment later, because it would be lost in the same place now.
    """
    if unraisable.exc_type is KeyboardInterrupt:
        import signal
        import threading

        main_thread = threading.main_thread().ident or 0
        threading.Timer(0.01, signal.pthread_kill, (main_thread, signal.SIGINT)).start()
    else:
        sys.__unraisablehook__(unraisable)


def run_in_process(argv: list[str]) -> int:
    """Run in this process, on its streams; return the exit code."""
    import gc
    import os
    from pathlib import Path

    from cli_guard.errors import ExitCode
    from cli_guard.graph.deferred import defer

    defer()
    sys.unraisablehook = raise_again
    # Loading libraries creates thousands of objects, none of them garbage.
    gc.set_threshold(200_000, 20, 50)
    # A stream that the caller has closed is None.
    stdin = sys.stdin or open(os.devnull)  # noqa: SIM115, PTH123 - open until the process ends
    stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115, PTH123
    stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115, PTH123
    try:
        cwd = Path.cwd()
    except FileNotFoundError:
        stderr.write(
            "cli-guard: the current folder no longer exists: change to another one\n"
        )
        return ExitCode.USAGE
    try:
        code = main(argv, stdin, stdout, stderr, cwd, dict(os.environ))
    except BrokenPipeError:
        code = ExitCode.USAGE
    try:
        stdout.flush()
    except OSError:  # the reader has closed the pipe, or a disk is full
        code = code or ExitCode.USAGE
    return code


def run() -> None:
    """Run the console script. Every failure of a coding agent's hook blocks the tool."""
    from cli_guard.server import client
    from cli_guard.server.address import system

    argv = change_folder(sys.argv[1:])
    started = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime())
    asked_by_agent = client.is_agent_hook(argv)
    try:
        if asked_by_agent:
            limit_time()
        code = client.ask_server(argv)
        if code is None:
            complete()
            end_as_interrupted()
            code = run_here(argv)
        if code == NEEDS_REVIEW and argv[:1] == ["hook"] and not asked_by_agent:
            code = ask_person(argv, started)
    except KeyboardInterrupt:
        import os

        code = report_interrupt(sys.stderr or open(os.devnull, "w"))  # noqa: SIM115, PTH123
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = INTERNAL
    if code == INTERRUPTED and asked_by_agent:
        code = answer_late(argv)
    # Tearing down the imported libraries would cost a fifth of the whole run.
    system._exit(BLOCKED if code and asked_by_agent else code)


def answer_late(argv: list[str]) -> int:
    """Answer a coding agent whose request was not even read in time; return the exit code."""
    try:
        complete()
        import os
        from pathlib import Path

        from cli_guard.agents.registry import AGENTS
        from cli_guard.cli import agent_hook
        from cli_guard.cli.io import Io

        io = Io(sys.stdin, sys.stdout, sys.stderr, Path.cwd(), dict(os.environ))
        code = agent_hook.answer_late(io, AGENTS[argv[1]], io.read_bytes())
        sys.stdout.flush()
        return code
    except BaseException:
        return BLOCKED


def change_folder(argv: list[str]) -> list[str]:
    """Change to the folder of each leading `-C DIR`, as Git does; return the other arguments.

    What cannot be entered is left to the command line, which reports it. Whatever follows (the client of the server,
    the hooks) knows the folder of the process alone.
    """
    while len(argv) > 1 and argv[0] == "-C":
        import os

        try:
            os.chdir(argv[1])
        except OSError:
            break
        argv = argv[2:]
    return argv


def ask_person(argv: list[str], started: str) -> int:
    """Ask whether the review of a Git hook is approved if there is a terminal; return the exit code."""
    import os

    try:
        terminal = os.open("/dev/tty", os.O_RDWR)
    except OSError:
        return NEEDS_REVIEW
    complete()
    from cli_guard.cli.ask_now import ask_now

    return ask_now(argv, started, terminal)


def limit_time() -> None:
    """Interrupt this process when its time is over, to answer that; end it two seconds later, which blocks the tool.

    Whatever it waits for: standard input, Git, the server, a full pipe.
    """
    import _signal  # type: ignore[import-not-found] # `signal` itself loads `enum`

    from cli_guard.server import client
    from cli_guard.server.address import system, variables

    if not hasattr(_signal, "setitimer"):
        return
    seconds = client.find_hook_limit(variables())

    def interrupt(number: int, frame: object) -> None:
        _signal.signal(_signal.SIGALRM, lambda *_: system._exit(BLOCKED))
        words = f"cli-guard: not judged within {seconds:g} s: ask your user, or let them run it in a terminal\n"
        try:  # noqa: SIM105 - contextlib takes longer to load than all of this
            system.write(2, words.encode())
        except OSError:
            pass
        raise KeyboardInterrupt

    _signal.signal(_signal.SIGALRM, interrupt)
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, (_signal.SIGALRM,))
    _signal.setitimer(_signal.ITIMER_REAL, seconds, 2.0)


def end_as_interrupted() -> None:
    """Let SIGTERM and SIGHUP do what Ctrl-C does: end the processes of Git, which would go on alone."""
    import _signal

    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(_signal, name, None)
        # A signal may be ignored on purpose (nohup).
        if number and _signal.getsignal(number) == _signal.SIG_DFL:
            _signal.signal(number, _signal.default_int_handler)


def complete() -> None:
    """Load site packages, which our hooks skip (`-S`) because a run on the server does not need them."""
    if sys.flags.no_site and "site" not in sys.modules:
        import site

        ours = sys.path.pop()
        site.main()
        if ours not in sys.path:
            sys.path.append(ours)


def run_here(argv: list[str]) -> int:
    """Run without a server; start one for the next run."""
    import os

    from cli_guard import hooks
    from cli_guard.server import client

    if os.environ.get("CLI_GUARD_SERVER") == "require" and client.is_routed(argv):
        from cli_guard.server.control import run_on_server

        return run_on_server(argv)
    if client.is_preparation(argv):
        from cli_guard.server.control import prepare

        prepare(argv)
        return 0
    code = run_in_process(argv)
    hook = hooks.find_hook(argv)
    is_of_commit = hook is not None and hook.is_of_commit
    if (
        is_of_commit
        or "langgraph" in sys.modules
        or argv[:1] == ["check-command"]
        or client.is_agent_hook(argv)
    ):
        from cli_guard.server.control import leave_behind

        leave_behind(argv)
    return code


if __name__ == "__main__":
    run()
