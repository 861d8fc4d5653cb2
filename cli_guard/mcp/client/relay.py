"""Run as a program between the SDK's transport and a server: passes bytes on within bounds, and ends the server.

The SDK's transport keeps a line of any length, leaves alone the children of a server that went by itself, says neither
exit code nor last words, and adds variables of its own to the environment. Nothing here knows the protocol.

    relay.py NAME,NAME PROGRAM ARGUMENT...    -> in the end a line on standard error: {"lost": why, "said": last words}

It needs the standard library alone, and no module of cli-guard.
"""

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading

# What a server may send between one request and the next, in bytes; an answer with pictures fits in.
BUDGET = 16_000_000
CHUNK = 65_536
STDERR_KEPT = 4_000
GRACE = 0.5
DRAIN = 0.3


class Relay:
    """A running server, in a process group of its own. The first of `reasons` why it is of no use any more counts."""

    def __init__(self, command: list[str], env: dict[str, str]) -> None:
        self.reasons: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.received = 0
        self.stderr = b""
        pipe = subprocess.PIPE
        self.server = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=pipe, env=env, start_new_session=True
        )

    def pass_requests(self) -> None:
        """Pass on what the client sends; when it closes its end, stop the server: by its input, by asking."""
        assert self.server.stdin  # noqa: S101 - a pipe was asked for
        while data := os.read(0, CHUNK):
            # What was sent so far is answered for: a new request may be answered at full length.
            self.received = 0
            with contextlib.suppress(OSError):
                self.server.stdin.write(data)
                self.server.stdin.flush()
        with contextlib.suppress(OSError):
            self.server.stdin.close()
        self.ends_within(GRACE)
        self.signal(signal.SIGTERM)
        self.ends_within(GRACE)
        self.reasons.put("was stopped")

    def pass_answers(self) -> None:
        """Pass on what the server sends, as far as its budget goes."""
        assert self.server.stdout  # noqa: S101 - a pipe was asked for
        # In whole lines: one that is longer never reaches the SDK, which would keep it.
        while data := self.server.stdout.readline(BUDGET + 1):
            self.received += len(data)
            if self.received > BUDGET:
                self.reasons.put(f"sent more than {BUDGET // 1_000_000} MB")
                return
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        # Its end is the better reason.
        if not self.ends_within(DRAIN):
            self.reasons.put("closed its output")

    def keep_stderr(self) -> None:
        """Keep the end of what the server says on standard error."""
        assert self.server.stderr  # noqa: S101 - a pipe was asked for
        while data := os.read(self.server.stderr.fileno(), CHUNK):
            self.stderr = (self.stderr + data)[-STDERR_KEPT:]

    def ends_within(self, seconds: float) -> bool:
        """Return whether the server ends in time."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.server.wait(seconds)
        return self.server.returncode is not None

    def signal(self, number: int) -> None:
        """Signal the server and the children that it has left in its group."""
        # As long as the group has members its id is nobody else's.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.server.pid, number)

    def run(self) -> str:
        """Pass bytes on until the server is of no use any more; return why."""
        signal.signal(signal.SIGTERM, lambda *_: self.reasons.put("was stopped"))
        parts = (self.pass_requests, self.pass_answers, self.keep_stderr)
        # Only the server works in the folder.
        os.chdir("/")
        threads = [threading.Thread(target=part, daemon=True) for part in parts]
        threads.append(
            threading.Thread(target=self.report_exit, args=(threads[1:],), daemon=True)
        )
        for thread in threads:
            thread.start()
        return self.reasons.get()

    def report_exit(self, readers: list[threading.Thread]) -> None:
        """Wait for the end of the server, and for what it wrote last."""
        code = self.server.wait()
        for reader in readers:
            reader.join(DRAIN)
        self.reasons.put(
            f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
        )


def main() -> None:
    """Start the server and relay; report its end on standard error, and leave no process behind."""
    names, *command = sys.argv[1:]
    try:
        relay = Relay(command, {name: os.environ[name] for name in names.split(",")})
    except OSError as error:
        report = {"lost": f"cannot be started: {error.strerror}; fix its command"}
    else:
        lost = relay.run()
        relay.signal(signal.SIGKILL)
        lines = relay.stderr.decode("utf-8", "replace").split("\n")
        said = next((line.strip() for line in reversed(lines) if line.strip()), "")
        report = {"lost": lost, "said": said}
    sys.stderr.write(json.dumps(report))
    sys.stderr.flush()
    # Without waiting for a thread that still reads or writes.
    os._exit(0)


if __name__ == "__main__":
    main()
