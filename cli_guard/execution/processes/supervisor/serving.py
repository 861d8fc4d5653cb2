"""The keeper: one guardian always ready, every guardian reaped, and nothing left of one that was killed."""

import gc
import os
import select
import signal
import socket
import struct
import sys
from contextlib import suppress

from cli_guard.execution.processes.supervisor import family
from cli_guard.execution.processes.supervisor.launching import PR_SET_CHILD_SUBREAPER, prctl
from cli_guard.execution.processes.supervisor.monitor import BOUND, IDLE, attend

# What a guardian says: a byte of what it is bound by, and its number.
SAID = struct.Struct(">cI")


class Keeper:
    """What stands behind one owner. `folder` is removed with it, unless it is ""."""

    def __init__(self, door: socket.socket, lifeline: int, folder: str) -> None:
        self._door = door
        self._lifeline = lifeline
        self._folder = folder
        self._guardians: dict[int, bytes] = {}
        self._heard, self._saying = os.pipe()
        os.set_blocking(self._heard, False)

    def stay(self) -> None:
        """Holds a guardian ready until the owner is gone, then waits for those that still end their families."""
        woken, waker = os.pipe()
        for fd in (woken, waker):
            os.set_blocking(fd, False)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        prctl(PR_SET_CHILD_SUBREAPER, 1)
        # Its pages stay those of all guardians (gc.freeze, "to maximize page sharing").
        gc.collect()
        gc.freeze()
        owned = True
        # One that outlives the owner is waited for by nobody.
        while owned or BOUND in self._guardians.values():
            if owned and IDLE not in self._guardians.values():
                self._hold_ready()
            ready, _, _ = select.select([self._heard, woken, *([self._lifeline] if owned else [])], [], [])
            if woken in ready:
                os.read(woken, 512)
            self._reap()
            owned = owned and self._lifeline not in ready
        if self._folder:
            import shutil

            shutil.rmtree(self._folder, ignore_errors=True)

    def _hold_ready(self) -> None:
        """Forks a guardian: its start is paid before a command asks for it."""
        guardian = os.fork()
        if guardian == 0:
            code = 1
            try:
                signal.set_wakeup_fd(-1)
                prctl(PR_SET_CHILD_SUBREAPER, 1)
                attend(
                    self._door,
                    self._lifeline,
                    lambda bound: os.write(self._saying, SAID.pack(bound, os.getpid())),
                )
                code = 0
            finally:
                os._exit(code)
        self._guardians[guardian] = IDLE

    def _reap(self) -> None:
        """Takes in those that have ended, and hears the others; what the dead have said was said before."""
        ended: list[tuple[int, int]] = []
        with suppress(ChildProcessError):
            while (one := os.waitpid(-1, os.WNOHANG))[0]:
                ended.append(one)
        with suppress(BlockingIOError):
            while said := os.read(self._heard, SAID.size * 64):
                for bound, guardian in SAID.iter_unpack(said):
                    self._guardians[guardian] = bound
        for pid, status in ended:
            if self._guardians.pop(pid, None) and os.WIFSIGNALED(status):
                self._end_orphans()

    def _end_orphans(self) -> None:
        """The family of a guardian that was killed has become ours."""
        for pid in family.children(os.getpid()):
            if pid not in self._guardians:
                family.tell([pid, *family.descendants(pid)], signal.SIGKILL)


def main(door: int, lifeline: int, folder: str) -> None:
    """Runs a keeper on the two sockets that its owner passed on."""
    # Away from the owner's terminal and folder: Ctrl-C there is the owner's to hear.
    os.setsid()
    os.chdir("/")
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    # What the owner's thread had blocked would be blocked for every command.
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for fd in (door, lifeline):
        os.set_inheritable(fd, False)
    requests = socket.socket(fileno=door)
    requests.setblocking(False)
    Keeper(requests, lifeline, folder).stay()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
