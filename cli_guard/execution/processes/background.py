"""A command in the background: started, and watched until it is ready or has failed."""

import shutil
import time
from pathlib import Path
from typing import Any

from cli_guard.errors import CliGuardError
from cli_guard.execution.processes.launcher import Door, Request, Run
from cli_guard.execution.processes.model import Started, State
from cli_guard.execution.processes.ports import (
    find_process_on_port,
    is_port_available,
    wait_until_answers,
)
from cli_guard.execution.processes.preparing import Prepared, Refused
from cli_guard.execution.processes.registry import Registry
from cli_guard.execution.processes.results import (
    clip_stream,
    errors_in,
    not_started,
    notes_of,
    what_went_wrong,
)
from cli_guard.execution.processes.servers import find_expected_port
from cli_guard.secrets.redact import redact

GRACE = 5.0
# A guardian answers at once, also on a machine that is busy.
START_SECONDS = 20.0
UNREACHABLE = "a sandbox without network is a network of its own: nobody outside reaches its ports"


class Watch:
    """What has been heard of a command so far."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.told: dict[str, dict[str, Any]] = {}
        self.gone = False

    def hear(self, seconds: float, until: tuple[str, ...] = ("ended", "failed")) -> bool:
        """Listens for some seconds; True as soon as one of the events is there, or nothing more can come."""
        deadline = time.monotonic() + seconds
        if not self.gone and not self.any(until):
            for event in self._run.events(deadline):
                if event is None:
                    return False
                name, told = event
                if not isinstance(told, bytes):
                    self.told[name] = told
                if self.any(until):
                    return True
            self.gone = True
        return True

    def ask(self) -> None:
        """Asks what has been put out so far."""
        self._run.tell(do="report")
        self.hear(START_SECONDS, ("report", "ended"))

    def any(self, names: tuple[str, ...]) -> bool:
        """Was one of the events heard?"""
        return any(name in self.told for name in names)


def start(
    door: Door,
    registry: Registry,
    prepared: Prepared,
    startup_timeout: float,
    port: int | None,
    respond: str | None,
    *,
    keep: bool,
) -> tuple[Started, Run | None]:
    """Starts a command; what it is bound by to its owner, None where nothing binds it."""
    begun = time.monotonic()
    try:
        sniffed = find_expected_port(prepared.command) if port is None else None
        port = sniffed.port if sniffed else port
        if port is not None and not is_port_available(port):
            if not (sniffed and sniffed.moves):
                return refuse_port(prepared, port).started(), None
            # Told no port, it takes another one, which it alone knows.
            port = None
        if not prepared.reachable:
            port = None
        folder = registry.new()
        run = door.open(request_for(prepared, folder, port, respond, keep=keep))
    except CliGuardError as error:
        return Refused(prepared.command, prepared.folder, str(error)).started(), None
    except OSError as error:
        words = f"no log can be written in {registry.folder}: {error.strerror}"
        return Refused(prepared.command, prepared.folder, words).started(), None
    watch = Watch(run)
    watch.hear(START_SECONDS, ("started", "failed"))
    if "started" not in watch.told:
        run.close()
        shutil.rmtree(folder, ignore_errors=True)
        failed = watch.told.get("failed", {"step": "start", "errno": 0})
        why = not_started(failed["step"], failed["errno"], prepared.words[0], prepared.folder)
        details = {"errno": failed["errno"]} if failed["step"] == "program" else {}
        return Refused(prepared.command, prepared.folder, why, details).started(), None
    answers = observed(watch, startup_timeout, port)
    result = describe_start(watch, prepared, folder / "log", port, answers, time.monotonic() - begun)
    if keep or not is_up(result):
        run.close()
        return result, None
    return result, run


def request_for(
    prepared: Prepared, folder: Path, port: int | None, respond: str | None, *, keep: bool
) -> Request:
    """What is asked of the keeper."""
    return Request(
        words=prepared.words,
        folder=prepared.folder,
        env=prepared.env,
        run=str(folder),
        grace=GRACE,
        respond=respond,
        terminal=prepared.terminal,
        limits=prepared.limits,
        keep=keep,
        keep_family=True,
        # It lies on the disk, and is listed to whoever asks.
        record={"command": redact(prepared.command), "working_dir": prepared.folder, "port": port},
    )


def is_up(result: Started) -> bool:
    """Does it go on running?"""
    return result.state in ("ready", "starting")


def refuse_port(prepared: Prepared, port: int) -> Refused:
    """A port that somebody else has, in the words of seed 004."""
    details = {"port": port, "blocking_pid": find_process_on_port(port)}
    return Refused(prepared.command, prepared.folder, f"Port {port} is already in use", details)


def observed(watch: Watch, startup_timeout: float, port: int | None) -> bool:
    """Does it run, and answer where it should?"""
    if port is None:
        return not watch.hear(startup_timeout)
    return wait_until_answers(port, startup_timeout, lambda: not watch.hear(0.0)) and not watch.hear(0.0)


def describe_start(
    watch: Watch,
    prepared: Prepared,
    log: Path,
    port: int | None,
    answers: bool,
    duration: float,
) -> Started:
    """What there is to say after the start-up time."""
    ended = watch.told.get("ended")
    if ended is None and not watch.gone:
        watch.ask()
        ended = watch.told.get("ended")
    told = ended or watch.told.get("report") or EMPTY
    stdout, cut_out = clip_stream(told["stdout"], str(log), "stdout")
    stderr, cut_err = clip_stream(told["stderr"], str(log), "stderr")
    errors = errors_in(log)
    code = ended["return_code"] if ended else None
    state: State
    error = None
    if ended is not None or watch.gone:
        state = "exited" if code == 0 else "failed"
        error = (
            what_went_wrong(code, errors, stderr) or "ended at once (exit code 0): run it in the foreground"
        )
    elif answers:
        state = "ready"
    else:
        state = "starting"
        error = f"port {port} does not answer yet: look at its log, or wait"
    return Started(
        command=prepared.command,
        working_dir=prepared.folder,
        state=state,
        pid=watch.told["started"]["pid"],
        port=port,
        log_file=str(log),
        return_code=code,
        stdout=stdout,
        stderr=stderr,
        errors=errors,
        output_truncated=cut_out or cut_err,
        duration=round(duration, 4),
        error=error,
        notes=(*prepared.notes, *notes_of(told), *(() if prepared.reachable else (UNREACHABLE,))),
    )


NOTHING: dict[str, object] = {"total": 0, "head": "", "tail": ""}
EMPTY: dict[str, Any] = {"stdout": NOTHING, "stderr": NOTHING, "log_problem": None, "log_rotated": False}
